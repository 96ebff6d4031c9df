//! One client: what it asked for when it introduced itself, and the way to it.
//!
//! A connection begins with nothing. Until `initialize` has been answered it is sent nothing but answers; what it asked for
//! then stays as it is for its lifetime. Everything that is sent passes one queue, so it arrives in the order of the calls.
//! Texts that go to many connections are written once and shared.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use trace_protocol::connection::{ClientInfo, InitializeParams};
use trace_protocol::envelope::{self, EncodeError, RequestId};
use trace_protocol::{ClientMethod, Experimental, RpcError, ServerNotification, ServerRequest, Stability};

use crate::outbound::{Backlog, CloseReason, Outbound, Sent};

/// Names a connection for as long as the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// Standard input and output.
    Stdio,
    /// A WebSocket over TCP.
    WebSocket,
    /// A WebSocket over a unix socket.
    Unix,
    /// HTTP requests and server-sent events.
    Bridge,
    /// A handle in the same process.
    InProcess,
}

/// What a client said about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// Name, title and version.
    pub info: ClientInfo,
    /// Whether it asked for experimental things.
    pub experimental: Experimental,
    opted_out: HashSet<String>,
}

impl Client {
    /// Takes what `initialize` says.
    #[must_use]
    pub fn new(params: InitializeParams) -> Self {
        let capabilities = params.capabilities.unwrap_or_default();
        let experimental = match capabilities.experimental_api {
            true => Experimental::Enabled,
            false => Experimental::Disabled,
        };
        let opted_out = capabilities.opt_out_notification_methods.unwrap_or_default().into_iter().collect();
        Self { info: params.client_info, experimental, opted_out }
    }

    /// Says whether the client gets notifications of a method.
    fn hears(&self, method: &str, stability: Stability) -> bool {
        self.experimental.allows(stability) && !self.opted_out.contains(method)
    }
}

/// What became of a message to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It is on its way.
    Sent,
    /// The client is not to get it: it has not introduced itself, has opted out, or did not ask for experimental things.
    Withheld,
    /// The connection has ended.
    Ended,
}

impl From<Sent> for Delivery {
    fn from(sent: Sent) -> Self {
        match sent {
            Sent::Queued => Self::Sent,
            Sent::Ended => Self::Ended,
        }
    }
}

/// A notification, written once for all who get it.
#[derive(Debug, Clone)]
pub struct Prepared {
    method: &'static str,
    stability: Stability,
    text: Arc<str>,
}

impl Prepared {
    /// Writes a notification that happened at some time (Unix milliseconds).
    ///
    /// # Errors
    ///
    /// The params cannot be written as JSON.
    pub fn new(notification: &ServerNotification, emitted_at_ms: i64) -> Result<Self, EncodeError> {
        let text = notification.encode(emitted_at_ms)?.into();
        Ok(Self { method: notification.method(), stability: notification.stability(), text })
    }

    /// Returns the name of the method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Returns the message.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
}

/// A request of the server, written once for all who get it, now or when they join later.
#[derive(Debug, Clone)]
pub struct PreparedRequest {
    id: RequestId,
    method: &'static str,
    stability: Stability,
    text: Arc<str>,
    /// Without what only experimental clients get.
    stable_text: Arc<str>,
}

impl PreparedRequest {
    /// Writes a request.
    ///
    /// # Errors
    ///
    /// The params cannot be written as JSON.
    pub fn new(id: RequestId, request: &ServerRequest) -> Result<Self, EncodeError> {
        let text: Arc<str> = request.encode(&id, Experimental::Enabled)?.into();
        let stable_text = request.encode(&id, Experimental::Disabled)?;
        let stable_text = if *stable_text == *text { Arc::clone(&text) } else { stable_text.into() };
        Ok(Self { id, method: request.method(), stability: request.stability(), text, stable_text })
    }

    /// Returns the id that an answer has.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Returns the name of the method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }
}

/// One client's connection.
#[derive(Debug)]
pub struct Connection {
    id: ConnectionId,
    transport: TransportKind,
    outbound: Outbound,
    client: OnceLock<Client>,
}

impl Connection {
    /// Returns a connection to a client that has not introduced itself.
    #[must_use]
    pub fn new(id: ConnectionId, transport: TransportKind, outbound: Outbound) -> Self {
        Self { id, transport, outbound, client: OnceLock::new() }
    }

    /// Returns the connection's name.
    #[must_use]
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns how the client is connected.
    #[must_use]
    pub fn transport(&self) -> TransportKind {
        self.transport
    }

    /// Returns what the client said about itself, when it has.
    #[must_use]
    pub fn client(&self) -> Option<&Client> {
        self.client.get()
    }

    /// Says whether the client has introduced itself.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.client.get().is_some()
    }

    /// Returns whether the client asked for experimental things.
    #[must_use]
    pub fn experimental(&self) -> Experimental {
        self.client.get().map_or(Experimental::Disabled, |client| client.experimental)
    }

    /// Keeps what the client said about itself. What it says a second time is ignored.
    pub(crate) fn introduce(&self, client: Client) {
        // A connection is introduced by the one task that reads from it, which has looked before.
        let _ = self.client.set(client);
    }

    /// Answers a request of the client.
    pub fn respond<M: ClientMethod>(&self, id: &RequestId, answer: &Result<M::Result, RpcError>) -> Delivery {
        match answer {
            Ok(result) => self.respond_with(id, result),
            Err(error) => self.refuse(id, error),
        }
    }

    /// Answers a request of the client with anything that can be written as JSON.
    pub fn respond_with<T: Serialize + ?Sized>(&self, id: &RequestId, result: &T) -> Delivery {
        match envelope::response(id, result) {
            Ok(text) => self.send(text),
            Err(error) => self.refuse(id, &RpcError::internal(error)),
        }
    }

    /// Answers a request of the client with an error.
    pub fn refuse(&self, id: &RequestId, error: &RpcError) -> Delivery {
        self.send(envelope::error(id, error))
    }

    /// Tells the client something, if it wants to hear it.
    pub fn notify(&self, notification: &Prepared) -> Delivery {
        self.tell(notification, Outbound::send)
    }

    /// Tells the client something, if it wants to hear it, once [`wake`](Self::wake) is called or something else is sent.
    pub(crate) fn notify_quietly(&self, notification: &Prepared) -> Delivery {
        self.tell(notification, Outbound::send_quietly)
    }

    /// Has what was told quietly sent.
    pub(crate) fn wake(&self) {
        self.outbound.wake();
    }

    fn tell(&self, notification: &Prepared, send: fn(&Outbound, Arc<str>) -> Sent) -> Delivery {
        match self.client.get() {
            Some(client) if client.hears(notification.method, notification.stability) => {
                send(&self.outbound, Arc::clone(&notification.text)).into()
            }
            _ => Delivery::Withheld,
        }
    }

    /// Asks the client something, if it may be asked.
    pub fn request(&self, request: &PreparedRequest) -> Delivery {
        let text = match self.client.get() {
            Some(client) if !client.experimental.allows(request.stability) => return Delivery::Withheld,
            Some(Client { experimental: Experimental::Enabled, .. }) => &request.text,
            Some(Client { experimental: Experimental::Disabled, .. }) => &request.stable_text,
            None => return Delivery::Withheld,
        };
        self.outbound.send(Arc::clone(text)).into()
    }

    /// Waits until what was sent has mostly been written, or the connection has ended. Whoever takes work from the client
    /// waits here first.
    pub async fn ready(&self) {
        self.outbound.ready().await;
    }

    /// Waits as [`ready`](Self::ready) does, but only if this connection is one that producers wait for: a slow client of a
    /// shared server is left behind instead.
    pub async fn producers_ready(&self) {
        self.outbound.producers_ready().await;
    }

    /// Returns what waits to be written.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.outbound.backlog()
    }

    /// Ends the connection when what was sent has been written.
    pub fn end(&self, reason: CloseReason) {
        self.outbound.end(reason);
    }

    /// Ends the connection at once.
    pub fn cut(&self, reason: CloseReason) {
        self.outbound.cut(reason);
    }

    /// Waits until the connection has ended.
    pub async fn ended(&self) {
        self.outbound.ended().await;
    }

    /// Says whether the connection has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.outbound.has_ended()
    }

    /// Returns why the connection ended, if it has.
    #[must_use]
    pub fn end_reason(&self) -> Option<CloseReason> {
        self.outbound.reason()
    }

    pub(crate) fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    fn send(&self, text: String) -> Delivery {
        self.outbound.send(text.into()).into()
    }
}
