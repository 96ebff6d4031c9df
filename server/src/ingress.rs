//! What clients say: read, held against the rules of the protocol, and handed to the service.
//!
//! The task that reads from a connection hands every text to its [`Ingress`], one after the other. A text that is no
//! message is dropped. A request is answered exactly once, whatever happens: by the service, by a refusal here, or, if the
//! service fails to, by its [`Responder`] as it goes away. Only so many requests of one connection are under way at a time,
//! and only so many bytes of them; when more come, the reader waits a little, and then refuses until there is room again. Before it takes a request in, it
//! waits until the answers so far have mostly been written, so that neither an answer nor a refusal is ever lost to a full
//! queue. A client's answers to the server's own requests never need room.
//!
//! Requests take their place in the line of their scope here, in order of arrival, and run in tasks of their own. When the
//! connection ends, those that wait are dropped; those that run finish, and their answers go nowhere.

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

/// Most requests of one connection that wait or run at a time.
pub const MAX_REQUESTS_IN_FLIGHT: usize = 128;

/// Most bytes of requests of one connection that wait or run at a time. One request may have more if it is alone.
pub const MAX_BYTES_IN_FLIGHT: usize = 64 << 20;

/// What has room is counted in pieces of so many bytes.
const PIECE_BYTES: usize = 1 << 10;

/// How long the reader of a connection waits for room before it refuses a request.
pub const ADMISSION_TIMEOUT: Duration = Duration::from_millis(200);

/// What clients are connected to.
///
/// All calls but [`handle`](Self::handle)'s future return at once: they are made by the task that reads from a connection.
pub trait Service: Send + Sync + 'static {
    /// Answers `initialize`. An error leaves the connection as it was, and the client may try again.
    ///
    /// # Errors
    ///
    /// The client is not to be served as it asks.
    fn initialize(
        &self,
        connection: &Arc<Connection>,
        params: &InitializeParams,
    ) -> Result<InitializeResponse, RpcError>;

    /// Hears that a client has introduced itself. The answer to `initialize` was sent before, and everything that is sent
    /// from now on arrives.
    fn initialized(&self, connection: &Arc<Connection>);

    /// Serves a request. It comes when its turn in the line of its scope has come, and the next one's comes when the future
    /// has completed or is dropped.
    fn handle(
        &self,
        connection: Arc<Connection>,
        request: ClientRequest,
        responder: Responder,
    ) -> BoxFuture<'static, ()>;

    /// Takes the answer of a client that has introduced itself. Nothing says that somebody asked.
    fn answered(&self, connection: &Arc<Connection>, id: RequestId, answer: Result<Box<RawValue>, RpcError>);

    /// Hears that a connection has ended, once for every connection, also for one that never introduced itself.
    fn closed(&self, connection: &Arc<Connection>);

    /// Brings what runs to an end, as the server is about to: completes when running turns have.
    fn drain(&self) -> BoxFuture<'static, ()>;
}

/// Where connections come in. Clones are the same entrance.
#[derive(Clone)]
pub struct Entrance(Arc<Shared>);

struct Shared {
    service: Arc<dyn Service>,
    scopes: ScopeQueues,
    next_connection: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    connections: HashMap<ConnectionId, Arc<Connection>>,
    /// Why the server ends. What is opened then ends at once.
    end: Option<CloseReason>,
}

impl Entrance {
    /// Returns the entrance to a service, whose requests wait in some lines.
    #[must_use]
    pub fn new(service: Arc<dyn Service>, scopes: ScopeQueues) -> Self {
        Self(Arc::new(Shared { service, scopes, next_connection: AtomicU64::new(1), open: Mutex::default() }))
    }

    /// Opens a connection: what its texts are handed to, and what comes back.
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
            entrance: self.clone(),
            connection,
            slots: Arc::new(Semaphore::new(MAX_REQUESTS_IN_FLIGHT)),
            pieces: Arc::new(Semaphore::new(MAX_BYTES_IN_FLIGHT / PIECE_BYTES)),
            has_refused: false,
        };
        (ingress, reader)
    }

    /// Returns how many connections are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.opened().connections.len()
    }

    /// Ends every connection, also those that are opened from now on, when what was sent to it has been written.
    pub fn end_all(&self, reason: CloseReason) {
        for connection in self.all_for_the_end(reason) {
            connection.end(reason);
        }
    }

    /// Ends every connection, also those that are opened from now on, at once.
    pub fn cut_all(&self, reason: CloseReason) {
        for connection in self.all_for_the_end(reason) {
            connection.cut(reason);
        }
    }

    /// Completes when what runs has come to an end.
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

impl std::fmt::Debug for Entrance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Entrance").field("connections", &self.connections()).finish_non_exhaustive()
    }
}

/// The one way to answer a request. It answers exactly once: who drops it without an answer sends an internal error.
#[derive(Debug)]
pub struct Responder {
    connection: Arc<Connection>,
    id: RequestId,
    trace: Option<TraceContext>,
    method: &'static str,
    has_answered: bool,
    /// Makes room for other requests.
    _place: Place,
}

/// The room that a request takes.
#[derive(Debug)]
struct Place {
    _slot: OwnedSemaphorePermit,
    _pieces: OwnedSemaphorePermit,
}

impl Responder {
    /// Returns the id of the request.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Returns the connection that asks.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Returns the trace that the request belongs to.
    #[must_use]
    pub fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    /// Answers.
    pub fn respond<M: ClientMethod>(mut self, answer: &Result<M::Result, RpcError>) {
        self.has_answered = true;
        self.connection.respond::<M>(&self.id, answer);
    }

    /// Answers with anything that can be written as JSON.
    pub fn respond_with<T: Serialize + ?Sized>(mut self, result: &T) {
        self.has_answered = true;
        self.connection.respond_with(&self.id, result);
    }

    /// Answers with an error.
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
        tracing::error!(connection = %self.connection.id(), method = self.method, "request was left without an answer");
        let error = RpcError::internal(format_args!("`{}` failed without an answer", self.method));
        self.connection.refuse(&self.id, &error);
    }
}

/// Takes the texts of one connection. Dropping it ends the connection.
#[derive(Debug)]
pub struct Ingress {
    entrance: Entrance,
    connection: Arc<Connection>,
    slots: Arc<Semaphore>,
    pieces: Arc<Semaphore>,
    /// Whether the last request found no room. Then the next one is not waited for.
    has_refused: bool,
}

impl Ingress {
    /// Returns the connection.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Takes one text, and returns when the next one may come.
    pub async fn receive(&mut self, text: &str) {
        self.take(envelope::decode(text), text.len()).await;
    }

    /// Takes one text that came as bytes, and returns when the next one may come.
    pub async fn receive_bytes(&mut self, bytes: &[u8]) {
        self.take(envelope::decode_bytes(bytes), bytes.len()).await;
    }

    /// Waits until every request has been answered.
    pub async fn all_answered(&self) {
        let all = u32::try_from(MAX_REQUESTS_IN_FLIGHT).expect("few requests");
        // The semaphore is never closed.
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
                tracing::debug!(connection = %self.connection.id(), %why, "text was dropped");
            }
        }
    }

    fn answered(&self, id: RequestId, answer: Result<Box<RawValue>, RpcError>) {
        if self.connection.is_initialized() {
            self.entrance.0.service.answered(&self.connection, id, answer);
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
                    match self.place(bytes).await {
                        Some(place) => return self.start(id, trace, request, place),
                        None => RpcError::overloaded(),
                    }
                }
                Err(error) => error,
            },
        };
        self.connection.refuse(&id, &refusal);
        // A flood of refusals leaves others room to work.
        tokio::task::yield_now().await;
    }

    /// Returns room for a request of so many bytes, if there is or will be some.
    async fn place(&mut self, bytes: usize) -> Option<Place> {
        let pieces = bytes.div_ceil(PIECE_BYTES).min(MAX_BYTES_IN_FLIGHT / PIECE_BYTES);
        let pieces = u32::try_from(pieces).expect("few pieces");
        let slot = Arc::clone(&self.slots).acquire_owned();
        let pieces = Arc::clone(&self.pieces).acquire_many_owned(pieces);
        let both = async { Some(Place { _slot: slot.await.ok()?, _pieces: pieces.await.ok()? }) };
        let timeout = if self.has_refused { Duration::ZERO } else { ADMISSION_TIMEOUT };
        // What is there is taken before anybody looks at the time.
        let place = tokio::time::timeout(timeout, both).await.ok().flatten();
        self.has_refused = place.is_none();
        place
    }

    fn initialize(&self, id: &RequestId, params: Option<&RawValue>) {
        let service = &self.entrance.0.service;
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

    fn start(&self, id: RequestId, trace: Option<TraceContext>, request: ClientRequest, place: Place) {
        let connection = Arc::clone(&self.connection);
        let ticket = self.entrance.0.scopes.enter(request.scope(), connection.id());
        let responder = Responder {
            connection: Arc::clone(&connection),
            id,
            trace,
            method: request.method(),
            has_answered: false,
            _place: place,
        };
        let service = Arc::clone(&self.entrance.0.service);
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
        self.entrance.opened().connections.remove(&self.connection.id());
        let reason = self.connection.end_reason().unwrap_or(CloseReason::ClientLeft);
        tracing::debug!(connection = %self.connection.id(), %reason, "connection ended");
        self.entrance.0.service.closed(&self.connection);
    }
}

/// Reads what a client says about itself.
fn introduction(params: Option<&RawValue>) -> Result<InitializeParams, RpcError> {
    let request = ClientRequest::decode(methods::method::Initialize::NAME, params, Experimental::Disabled)?;
    let ClientRequest::Initialize(params) = request else {
        return Err(RpcError::internal("initialize is not declared as a method"));
    };
    // The name goes into the user agent, which clients and providers send as a header.
    if HeaderValue::from_str(&params.client_info.name).is_err() {
        return Err(RpcError::invalid_request("clientInfo.name is not a valid value of an HTTP header"));
    }
    Ok(*params)
}
