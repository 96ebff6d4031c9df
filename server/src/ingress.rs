//! Receives the messages of clients: decodes them, enforces the rules of the protocol, and passes requests to the
//! service.
//!
//! The task that reads from a connection passes every message to its [`Ingress`]. An invalid message is dropped. A
//! request is answered exactly once: by the service, by an error of this module, or by the [`Responder`] when it is
//! dropped without an answer. The number and the bytes of requests that are in flight are limited for each connection.
//! If the limit is reached, the reader waits for a short time, and then refuses requests until there is room. Before it
//! accepts a request, it waits until most responses so far have been written, so that no response is lost because a
//! queue is full. The limit does not apply to responses of the client to requests of the server.
//!
//! Requests enter the queue of their scope in the order of arrival, and run in separate tasks. When the connection
//! ends, waiting requests are dropped. Running requests continue, and their responses are dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderValue;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trace_protocol::connection::{InitializeParams, InitializeResponse};
use trace_protocol::envelope::{self, Incoming, RequestId, TraceContext};
use trace_protocol::{ClientMethod, ClientRequest, Experimental, RpcError, methods};

use crate::connection::{Client, Connection, ConnectionId, TransportKind};
use crate::outbound::{CloseReason, OutboundPolicy, OutboundReader, outbound};
use crate::scopes::ScopeQueues;

/// Most requests of one connection that wait or run at the same time.
pub const MAX_REQUESTS_IN_FLIGHT: usize = 128;

/// Most bytes of the requests of one connection that wait or run at the same time. A request that is alone may be
/// larger.
pub const MAX_BYTES_IN_FLIGHT: usize = 64 << 20;

/// Unit in which the bytes of requests are counted.
const PIECE_BYTES: usize = 1 << 10;

/// How long the reader of a connection waits for room before it refuses a request.
pub const ADMISSION_TIMEOUT: Duration = Duration::from_millis(200);

/// The implementation of the requests of clients.
///
/// All methods return at once, because the task that reads from a connection calls them. Only the future of
/// [`handle`](Self::handle) may take long.
pub trait Service: Send + Sync + 'static {
    /// Handles `initialize`. After an error, the connection is unchanged, and the client may try again.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot serve the client with these params.
    fn initialize(
        &self,
        connection: &Arc<Connection>,
        params: &InitializeParams,
    ) -> Result<InitializeResponse, RpcError>;

    /// Called after `initialize` was answered. From now on, all messages to the connection are sent.
    fn initialized(&self, connection: &Arc<Connection>);

    /// Handles a request. It is called when the request may run in the queue of its scope. The next request of the
    /// scope runs when the future has completed or was dropped.
    fn handle(
        &self,
        connection: Arc<Connection>,
        request: ClientRequest,
        responder: Responder,
    ) -> BoxFuture<'static, ()>;

    /// Handles a response of an initialized client. The server may not have sent a request with this id.
    fn answered(&self, connection: &Arc<Connection>, id: RequestId, answer: Result<Box<RawValue>, RpcError>);

    /// Called once for each connection that has ended, even if it was never initialized.
    fn closed(&self, connection: &Arc<Connection>);

    /// Drains running work before a shutdown. The future completes when the running turns have ended.
    fn drain(&self) -> BoxFuture<'static, ()>;
}

/// Opens connections to a service. Clones share their state.
#[derive(Clone)]
pub struct ConnectionOpener(Arc<Shared>);

struct Shared {
    service: Arc<dyn Service>,
    scopes: ScopeQueues,
    next_connection: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    connections: HashMap<ConnectionId, Arc<Connection>>,
    /// Why the server shuts down. A connection that is opened after this ends at once.
    end: Option<CloseReason>,
}

impl ConnectionOpener {
    /// Creates the ingress of a service. `scopes` are the queues of its requests.
    #[must_use]
    pub fn new(service: Arc<dyn Service>, scopes: ScopeQueues) -> Self {
        Self(Arc::new(Shared { service, scopes, next_connection: AtomicU64::new(1), open: Mutex::default() }))
    }

    /// Opens a connection. The caller passes the messages of the client to the first value, and sends those of the
    /// second value to the client.
    #[must_use]
    pub fn open(&self, transport: TransportKind, policy: OutboundPolicy) -> (Ingress, OutboundReader) {
        let (outbound, reader) = outbound(policy);
        let id = ConnectionId(self.0.next_connection.fetch_add(1, Ordering::Relaxed));
        let connection = Arc::new(Connection::new(id, transport, outbound));
        let mut open = self.opened();
        open.connections.insert(id, Arc::clone(&connection));
        if let Some(reason) = open.end {
            connection.end(reason);
        }
        drop(open);
        tracing::debug!(connection = %id, ?transport, "connection opened");
        let ingress = Ingress {
            opener: self.clone(),
            connection,
            slots: Arc::new(Semaphore::new(MAX_REQUESTS_IN_FLIGHT)),
            pieces: Arc::new(Semaphore::new(MAX_BYTES_IN_FLIGHT / PIECE_BYTES)),
            has_refused: false,
        };
        (ingress, reader)
    }

    /// Returns the number of open connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.opened().connections.len()
    }

    /// Ends every connection after its queued messages have been written. This includes connections that are opened
    /// later.
    pub fn end_all(&self, reason: CloseReason) {
        for connection in self.all_for_the_end(reason) {
            connection.end(reason);
        }
    }

    /// Ends every connection at once. This includes connections that are opened later.
    pub fn cut_all(&self, reason: CloseReason) {
        for connection in self.all_for_the_end(reason) {
            connection.cut(reason);
        }
    }

    /// Waits until running work has ended.
    pub async fn drain(&self) {
        self.0.service.drain().await;
    }

    fn all_for_the_end(&self, reason: CloseReason) -> Vec<Arc<Connection>> {
        let mut open = self.opened();
        open.end.get_or_insert(reason);
        open.connections.values().cloned().collect()
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ConnectionOpener {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ingress").field("connections", &self.connections()).finish_non_exhaustive()
    }
}

/// Answers a request exactly once. If it is dropped without an answer, it sends an internal error.
#[derive(Debug)]
pub struct Responder {
    connection: Arc<Connection>,
    id: RequestId,
    trace: Option<TraceContext>,
    method: &'static str,
    has_answered: bool,
    /// Limits the requests in flight. Dropping it makes room for others.
    _permits: Permits,
}

/// The permits that a request holds.
#[derive(Debug)]
struct Permits {
    _slot: OwnedSemaphorePermit,
    _pieces: OwnedSemaphorePermit,
}

impl Responder {
    /// Returns the id of the request.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Returns the connection that sent the request.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Returns the trace context of the request.
    #[must_use]
    pub fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    /// Answers the request.
    pub fn respond<M: ClientMethod>(mut self, answer: &Result<M::Result, RpcError>) {
        self.has_answered = true;
        self.connection.respond::<M>(&self.id, answer);
    }

    /// Answers the request with any serializable value.
    pub fn respond_with<T: Serialize + ?Sized>(mut self, result: &T) {
        self.has_answered = true;
        self.connection.respond_with(&self.id, result);
    }

    /// Answers the request with an error.
    pub fn refuse(mut self, error: &RpcError) {
        self.has_answered = true;
        self.connection.refuse(&self.id, error);
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.has_answered || self.connection.has_ended() {
            return;
        }
        tracing::error!(connection = %self.connection.id(), method = self.method, "a request was dropped without an answer");
        let error = RpcError::internal(format_args!("`{}` failed without an answer", self.method));
        self.connection.refuse(&self.id, &error);
    }
}

/// Receives the messages of one connection. Dropping it ends the connection.
#[derive(Debug)]
pub struct Ingress {
    opener: ConnectionOpener,
    connection: Arc<Connection>,
    slots: Arc<Semaphore>,
    pieces: Arc<Semaphore>,
    /// Whether the last request was refused. If so, the reader does not wait for room for the next one.
    has_refused: bool,
}

impl Ingress {
    /// Returns the connection.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Handles one message, and returns when the next one may be passed.
    pub async fn receive(&mut self, text: &str) {
        self.take(envelope::decode(text), text.len()).await;
    }

    /// Handles one message in bytes, and returns when the next one may be passed.
    pub async fn receive_bytes(&mut self, bytes: &[u8]) {
        self.take(envelope::decode_bytes(bytes), bytes.len()).await;
    }

    /// Waits until every request has been answered.
    pub async fn all_answered(&self) {
        let all = u32::try_from(MAX_REQUESTS_IN_FLIGHT).expect("few requests");
        // Neither semaphore is ever closed.
        drop(self.slots.acquire_many(all).await);
    }

    async fn take(&mut self, incoming: Incoming, bytes: usize) {
        match incoming {
            Incoming::Request { id, method, params, trace } => {
                self.connection.ready().await;
                self.request(id, &method, params, trace, bytes).await;
            }
            Incoming::Response { id, result } => self.answered(id, Ok(result)),
            Incoming::Error { id, error } => self.answered(id, Err(error)),
            Incoming::Notification { .. } => {}
            Incoming::Dropped(why) => {
                tracing::debug!(connection = %self.connection.id(), %why, "a message was dropped");
            }
        }
    }

    fn answered(&self, id: RequestId, answer: Result<Box<RawValue>, RpcError>) {
        if self.connection.is_initialized() {
            self.opener.0.service.answered(&self.connection, id, answer);
        }
    }

    async fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Option<Box<RawValue>>,
        trace: Option<TraceContext>,
        bytes: usize,
    ) {
        let is_initialize = method == methods::method::Initialize::NAME;
        let refusal = match (self.connection.is_initialized(), is_initialize) {
            (false, true) => return self.initialize(&id, params.as_deref()),
            (false, false) => RpcError::not_initialized(),
            (true, true) => RpcError::already_initialized(),
            (true, false) => match ClientRequest::decode(method, params.as_deref(), self.connection.experimental()) {
                Ok(request) => {
                    drop(params);
                    match self.permits(bytes).await {
                        Some(permits) => return self.start(id, trace, request, permits),
                        None => RpcError::overloaded(),
                    }
                }
                Err(error) => error,
            },
        };
        self.connection.refuse(&id, &refusal);
        // Yield, so that a flood of refused requests does not starve other tasks.
        tokio::task::yield_now().await;
    }

    /// Returns the permits for a request. Returns `None` if there is no room in time.
    async fn permits(&mut self, bytes: usize) -> Option<Permits> {
        let pieces = bytes.div_ceil(PIECE_BYTES).min(MAX_BYTES_IN_FLIGHT / PIECE_BYTES);
        let pieces = u32::try_from(pieces).expect("few pieces");
        let slot = Arc::clone(&self.slots).acquire_owned();
        let pieces = Arc::clone(&self.pieces).acquire_many_owned(pieces);
        let both = async { Some(Permits { _slot: slot.await.ok()?, _pieces: pieces.await.ok()? }) };
        let timeout = if self.has_refused { Duration::ZERO } else { ADMISSION_TIMEOUT };
        // Permits that are available are taken even if the timeout is zero.
        let permits = tokio::time::timeout(timeout, both).await.ok().flatten();
        self.has_refused = permits.is_none();
        permits
    }

    fn initialize(&self, id: &RequestId, params: Option<&RawValue>) {
        let service = &self.opener.0.service;
        let answer = introduction(params).and_then(|params| {
            let response = service.initialize(&self.connection, &params)?;
            Ok((params, response))
        });
        match answer {
            Ok((params, response)) => {
                self.connection.respond_with(id, &response);
                self.connection.introduce(Client::new(params));
                service.initialized(&self.connection);
            }
            Err(error) => drop(self.connection.refuse(id, &error)),
        }
    }

    fn start(&self, id: RequestId, trace: Option<TraceContext>, request: ClientRequest, permits: Permits) {
        let connection = Arc::clone(&self.connection);
        let ticket = self.opener.0.scopes.enter(request.scope(), connection.id());
        let responder = Responder {
            connection: Arc::clone(&connection),
            id,
            trace,
            method: request.method(),
            has_answered: false,
            _permits: permits,
        };
        let service = Arc::clone(&self.opener.0.service);
        tokio::spawn(async move {
            let _guard = tokio::select! {
                biased;
                () = connection.ended() => return,
                guard = ticket => guard,
            };
            service.handle(connection, request, responder).await;
        });
    }
}

impl Drop for Ingress {
    fn drop(&mut self) {
        self.connection.end(CloseReason::ClientLeft);
        self.opener.opened().connections.remove(&self.connection.id());
        let reason = self.connection.end_reason().unwrap_or(CloseReason::ClientLeft);
        tracing::debug!(connection = %self.connection.id(), %reason, "connection ended");
        self.opener.0.service.closed(&self.connection);
    }
}

/// Decodes the params of `initialize`.
fn introduction(params: Option<&RawValue>) -> Result<InitializeParams, RpcError> {
    let request = ClientRequest::decode(methods::method::Initialize::NAME, params, Experimental::Disabled)?;
    let ClientRequest::Initialize(params) = request else {
        return Err(RpcError::internal("initialize is not declared as a method"));
    };
    // The name becomes a part of the user agent, which clients and providers send as a header.
    if HeaderValue::from_str(&params.client_info.name).is_err() {
        return Err(RpcError::invalid_request("clientInfo.name is not a valid value of an HTTP header"));
    }
    Ok(*params)
}
