//! The connection of one client: the options that the client chose, and the queue of messages to it.
//!
//! Until `initialize` has been answered, a client gets only responses. The options that it chose in `initialize` hold
//! as long as the connection lasts. All messages to the client pass through one queue, so they arrive in the order of
//! the calls. A notification to many connections is serialized once and shared.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use trace_protocol::connection::{ClientInfo, InitializeParams};
use trace_protocol::envelope::{self, EncodeError, RequestId};
use trace_protocol::{ClientMethod, Experimental, RpcError, ServerNotification, ServerRequest, Stability};

use crate::outbound::{Backlog, CloseReason, Outbound, Sent};

/// Identifies a connection as long as the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// The transport of a client.
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
    /// A relay that the server dials.
    Relay,
    /// A handle in the same process.
    InProcess,
}

/// What a client sent in `initialize`.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// Name, title and version.
    pub info: ClientInfo,
    /// Whether it has enabled experimental methods and fields.
    pub experimental: Experimental,
    /// Whether it attests requests to providers.
    pub attests: bool,
    opted_out: HashSet<String>,
}

impl Client {
    /// Reads the params of `initialize`.
    #[must_use]
    pub fn new(params: InitializeParams) -> Self {
        let capabilities = params.capabilities.unwrap_or_default();
        let experimental = match capabilities.experimental_api {
            true => Experimental::Enabled,
            false => Experimental::Disabled,
        };
        let attests = capabilities.request_attestation;
        let opted_out = capabilities.opt_out_notification_methods.unwrap_or_default().into_iter().collect();
        Self { info: params.client_info, experimental, attests, opted_out }
    }

    /// Returns whether the client wants the notifications of a method.
    fn hears(&self, method: &str, stability: Stability) -> bool {
        self.experimental.allows(stability) && !self.opted_out.contains(method)
    }
}

/// What happened to a message to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The message is in the queue.
    Sent,
    /// The message is not for this client: the client has not initialized the connection, has opted out of the method,
    /// or has not enabled experimental methods.
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

/// A notification that was serialized once for all clients.
#[derive(Debug, Clone)]
pub struct SerializedNotification {
    method: &'static str,
    stability: Stability,
    text: Arc<str>,
}

impl SerializedNotification {
    /// Serializes a notification. `emitted_at_ms` is the time of its event in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// Returns an error if the params cannot be serialized.
    pub fn new(notification: &ServerNotification, emitted_at_ms: i64) -> Result<Self, EncodeError> {
        let text = notification.encode(emitted_at_ms)?.into();
        Ok(Self { method: notification.method(), stability: notification.stability(), text })
    }

    /// Returns the name of the method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Returns the serialized message.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }
}

/// A request of the server that was serialized once for all clients, also for those that get it later.
#[derive(Debug, Clone)]
pub struct SerializedRequest {
    id: RequestId,
    method: &'static str,
    stability: Stability,
    text: Arc<str>,
    /// The message without experimental fields.
    stable_text: Arc<str>,
}

impl SerializedRequest {
    /// Serializes a request.
    ///
    /// # Errors
    ///
    /// Returns an error if the params cannot be serialized.
    pub fn new(id: RequestId, request: &ServerRequest) -> Result<Self, EncodeError> {
        let text: Arc<str> = request.encode(&id, Experimental::Enabled)?.into();
        let stable_text = request.encode(&id, Experimental::Disabled)?;
        let stable_text = if *stable_text == *text { Arc::clone(&text) } else { stable_text.into() };
        Ok(Self { id, method: request.method(), stability: request.stability(), text, stable_text })
    }

    /// Returns the id that responses have.
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

/// The connection of one client.
#[derive(Debug)]
pub struct Connection {
    id: ConnectionId,
    transport: TransportKind,
    outbound: Outbound,
    client: OnceLock<Client>,
}

impl Connection {
    /// Creates a connection whose client has not sent `initialize` yet.
    #[must_use]
    pub fn new(id: ConnectionId, transport: TransportKind, outbound: Outbound) -> Self {
        Self { id, transport, outbound, client: OnceLock::new() }
    }

    /// Returns the id of the connection.
    #[must_use]
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns the transport of the client.
    #[must_use]
    pub fn transport(&self) -> TransportKind {
        self.transport
    }

    /// Returns what the client sent in `initialize`, or `None` before that.
    #[must_use]
    pub fn client(&self) -> Option<&Client> {
        self.client.get()
    }

    /// Returns whether the client has sent `initialize`.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.client.get().is_some()
    }

    /// Returns whether the client has enabled experimental methods and fields.
    #[must_use]
    pub fn experimental(&self) -> Experimental {
        self.client.get().map_or(Experimental::Disabled, |client| client.experimental)
    }

    /// Stores what the client sent in `initialize`. A second call is ignored.
    pub(crate) fn introduce(&self, client: Client) {
        // Only the task that reads from the connection calls this, and it has checked that the client is not set.
        let _ = self.client.set(client);
    }

    /// Answers a request of the client.
    pub fn respond<M: ClientMethod>(&self, id: &RequestId, answer: &Result<M::Result, RpcError>) -> Delivery {
        match answer {
            Ok(result) => self.respond_with(id, result),
            Err(error) => self.refuse(id, error),
        }
    }

    /// Answers a request of the client with any serializable value.
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

    /// Sends a notification, if the client wants it.
    pub fn notify(&self, notification: &SerializedNotification) -> Delivery {
        self.tell(notification, Outbound::send)
    }

    /// Queues a notification, if the client wants it. It is sent after a call of [`wake`](Self::wake), or with the next
    /// message.
    pub(crate) fn notify_quietly(&self, notification: &SerializedNotification) -> Delivery {
        self.tell(notification, Outbound::send_quietly)
    }

    /// Sends notifications that were queued with [`notify_quietly`](Self::notify_quietly).
    pub(crate) fn wake(&self) {
        self.outbound.wake();
    }

    fn tell(&self, notification: &SerializedNotification, send: fn(&Outbound, Arc<str>) -> Sent) -> Delivery {
        match self.client.get() {
            Some(client) if client.hears(notification.method, notification.stability) => {
                send(&self.outbound, Arc::clone(&notification.text)).into()
            }
            _ => Delivery::Withheld,
        }
    }

    /// Sends a request to the client, if the client supports it.
    pub fn request(&self, request: &SerializedRequest) -> Delivery {
        let text = match self.client.get() {
            Some(client) if !client.experimental.allows(request.stability) => return Delivery::Withheld,
            Some(Client { experimental: Experimental::Enabled, .. }) => &request.text,
            Some(Client { experimental: Experimental::Disabled, .. }) => &request.stable_text,
            None => return Delivery::Withheld,
        };
        self.outbound.send(Arc::clone(text)).into()
    }

    /// Waits until the queue has room, or the connection has ended. Call this before accepting the next request of the
    /// client.
    pub async fn ready(&self) {
        self.outbound.ready().await;
    }

    /// Waits as [`ready`](Self::ready) does, if the policy of the connection is to wait for a slow client. Otherwise it
    /// returns at once, because the connection of a slow client is closed.
    pub async fn producers_ready(&self) {
        self.outbound.producers_ready().await;
    }

    /// Returns the size of the queue.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.outbound.backlog()
    }

    /// Ends the connection after the queued messages have been written.
    pub fn end(&self, reason: CloseReason) {
        self.outbound.end(reason);
    }

    /// Ends the connection at once, without writing queued messages.
    pub fn cut(&self, reason: CloseReason) {
        self.outbound.cut(reason);
    }

    /// Waits until the connection has ended.
    pub async fn ended(&self) {
        self.outbound.ended().await;
    }

    /// Returns whether the connection has ended.
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
