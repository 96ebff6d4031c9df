//! A client in the same process, for the command line and for tests.
//!
//! It exchanges the same messages as any other client, as texts, but without a socket. Responses go to the callers of
//! requests. All other messages come out of [`Events`], in the order in which the server sent them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use trace_protocol::connection::{ClientInfo, InitializeCapabilities, InitializeParams, InitializeResponse};
use trace_protocol::envelope::{self, EncodeError, Incoming, RequestId};
use trace_protocol::methods::method;
use trace_protocol::{ClientMethod, Experimental, RpcError};

use crate::connection::TransportKind;
use crate::ingress::{ConnectionOpener, Ingress};
use crate::outbound::{CloseReason, Outbound, OutboundPolicy, OutboundReader, outbound};

/// Messages of the client that wait to be handled.
const WAITING_TEXTS: usize = 128;

/// Most bytes of messages that are handled before yielding.
const BATCH_BYTES: usize = 64 << 10;

/// A client. Clones share the connection, which ends when the last one is dropped. [`Events`] ends with it.
#[derive(Debug, Clone)]
pub struct ClientHandle(Arc<Shared>);

/// The notifications and requests of the server.
#[derive(Debug)]
pub struct Events {
    texts: OutboundReader,
    batch: std::vec::IntoIter<Arc<str>>,
}

#[derive(Debug)]
struct Shared {
    texts: mpsc::Sender<String>,
    requests: Arc<PendingRequests>,
    next_id: AtomicI64,
}

type Answer = Result<Box<RawValue>, RpcError>;

/// The requests that have no response yet.
#[derive(Debug, Default)]
struct PendingRequests(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    waiting: HashMap<RequestId, oneshot::Sender<Answer>>,
    /// Whether the connection has ended, so that no more responses come.
    has_ended: bool,
}

/// A message that is not a response.
#[derive(Debug, Clone)]
pub enum Event {
    /// A notification.
    Notification {
        /// The method.
        method: String,
        /// The params, undecoded.
        params: Option<Box<RawValue>>,
    },
    /// A request.
    Request {
        /// The id for the response.
        id: RequestId,
        /// The method.
        method: String,
        /// The params, undecoded.
        params: Option<Box<RawValue>>,
    },
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server returned an error.
    #[error(transparent)]
    Refused(#[from] RpcError),
    /// The connection has ended.
    #[error("connection to the server has ended")]
    Disconnected,
    /// The params cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The result has another type than the method defines.
    #[error("result of `{method}` cannot be read")]
    Decode {
        /// The method.
        method: &'static str,
        /// The cause.
        source: serde_json::Error,
    },
}

/// Connects a client. With [`OutboundPolicy::Wait`], the server waits for a client that does not read its events, and
/// such a client gets no responses either.
#[must_use]
pub fn connect(opener: &ConnectionOpener, policy: OutboundPolicy) -> (ClientHandle, Events) {
    let (ingress, reader) = opener.open(TransportKind::InProcess, policy);
    let (texts, waiting) = mpsc::channel(WAITING_TEXTS);
    let (events, event_reader) = outbound(policy);
    let requests = Arc::new(PendingRequests::default());
    tokio::spawn(listen(ingress, waiting));
    tokio::spawn(dispatch(reader, events, Arc::clone(&requests)));
    let client = ClientHandle(Arc::new(Shared { texts, requests, next_id: AtomicI64::new(1) }));
    (client, Events { texts: event_reader, batch: Vec::new().into_iter() })
}

impl ClientHandle {
    /// Sends a text unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended.
    pub async fn send_text(&self, text: impl Into<String>) -> Result<(), CallError> {
        self.0.texts.send(text.into()).await.map_err(|_| CallError::Disconnected)
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses the request or the connection has ended.
    pub async fn request<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<Box<RawValue>, CallError> {
        let id = RequestId::Integer(self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let text = envelope::request(&id, method, Some(params), None)?;
        let answer = self.0.requests.ask(id).ok_or(CallError::Disconnected)?;
        self.send_text(text).await?;
        Ok(answer.await.map_err(|_| CallError::Disconnected)??)
    }

    /// Calls a method and waits for its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses the request, the connection has ended, or the result has another type.
    pub async fn call<M: ClientMethod>(&self, params: &M::Params) -> Result<M::Result, CallError> {
        let result = self.request(M::NAME, params).await?;
        serde_json::from_str(result.get()).map_err(|source| CallError::Decode { method: M::NAME, source })
    }

    /// Sends `initialize` and `initialized`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`call`](Self::call).
    pub async fn initialize(
        &self,
        name: &str,
        version: &str,
        experimental: Experimental,
    ) -> Result<InitializeResponse, CallError> {
        let response = self
            .call::<method::Initialize>(&InitializeParams {
                client_info: ClientInfo { name: name.to_owned(), version: version.to_owned(), title: None },
                capabilities: Some(InitializeCapabilities {
                    experimental_api: experimental == Experimental::Enabled,
                    ..InitializeCapabilities::default()
                }),
            })
            .await?;
        self.notify::<()>("initialized", None).await?;
        Ok(response)
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// Returns an error if the params cannot be encoded or the connection has ended.
    pub async fn notify<P: Serialize + ?Sized>(&self, method: &str, params: Option<&P>) -> Result<(), CallError> {
        self.send_text(envelope::client_notification(method, params)?).await
    }

    /// Answers a request of the server.
    ///
    /// # Errors
    ///
    /// Returns an error if the result cannot be encoded or the connection has ended.
    pub async fn answer<T: Serialize + ?Sized>(&self, id: &RequestId, result: &T) -> Result<(), CallError> {
        self.send_text(envelope::response(id, result)?).await
    }

    /// Answers a request of the server with an error.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended.
    pub async fn refuse(&self, id: &RequestId, error: &RpcError) -> Result<(), CallError> {
        self.send_text(envelope::error(id, error)).await
    }
}

impl Events {
    /// Returns the next message that is not a response, or `None` after the connection has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            for text in self.batch.by_ref() {
                match envelope::decode(&text) {
                    Incoming::Notification { method, params } => return Some(Event::Notification { method, params }),
                    Incoming::Request { id, method, params, .. } => return Some(Event::Request { id, method, params }),
                    Incoming::Response { .. } | Incoming::Error { .. } | Incoming::Dropped(_) => {}
                }
            }
            self.batch = self.texts.next(BATCH_BYTES).await?.into_iter();
        }
    }
}

impl PendingRequests {
    /// Returns a receiver for the response to a request, or `None` if the connection has ended.
    fn ask(&self, id: RequestId) -> Option<oneshot::Receiver<Answer>> {
        let mut pending = self.lock();
        let (sender, receiver) = oneshot::channel();
        if pending.has_ended {
            return None;
        }
        pending.waiting.insert(id, sender);
        Some(receiver)
    }

    fn answer(&self, id: &RequestId, answer: Answer) {
        if let Some(asker) = self.lock().waiting.remove(id) {
            // The caller may have stopped waiting.
            let _ = asker.send(answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn listen(mut ingress: Ingress, mut texts: mpsc::Receiver<String>) {
    let connection = Arc::clone(ingress.connection());
    loop {
        let text = tokio::select! {
            biased;
            () = connection.ended() => return,
            text = texts.recv() => text,
        };
        let Some(text) = text else { return };
        ingress.receive(&text).await;
    }
}

/// Passes responses to their callers, and all other messages to the events.
async fn dispatch(mut texts: OutboundReader, events: Outbound, requests: Arc<PendingRequests>) {
    let everything = async {
        while let Some(batch) = texts.next(BATCH_BYTES).await {
            for text in batch {
                match envelope::decode(&text) {
                    Incoming::Response { id, result } => requests.answer(&id, Ok(result)),
                    Incoming::Error { id, error } => requests.answer(&id, Err(error)),
                    _ => drop(events.send(text)),
                }
            }
            events.producers_ready().await;
        }
    };
    everything.await;
    let mut pending = requests.lock();
    pending.has_ended = true;
    pending.waiting.clear();
    drop(pending);
    events.end(texts.outbound().reason().unwrap_or(CloseReason::ClientLeft));
}
