//! Sessions over plain HTTP, for clients without WebSockets. A client sends messages in requests, and receives messages
//! in one stream of server-sent events.
//!
//! A session is a connection like any other. Its events are numbered, and the last ones are kept. A client whose stream
//! broke sends the number of the last event that it received, and continues after it. A session has one stream at a
//! time. A new stream replaces the old one, which may have broken without an error. A session without a stream ends
//! after a while.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{ALLOW, CACHE_CONTROL, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use super::admission::AdmissionControl;
use super::peer::{Owner, Peer};
use super::sessions::{Admission, ExistingSession, admission};
use super::websocket::{CLOSE_TIMEOUT, MAX_MESSAGE_BYTES};
use crate::connection::{Connection, TransportKind};
use crate::ingress::Ingress;
use crate::outbound::{CloseReason, OutboundPolicy, OutboundReader};

/// How long a session lasts without a stream of its events.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a client may take to send a message.
pub const CONTENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval of comments in a stream without events, which keep the connection alive.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Most messages of a session that wait to be handled. Further messages are refused until there is room.
pub const MAX_WAITING_MESSAGES: usize = 128;

/// Most bytes of the messages of a session that wait to be handled.
pub const MAX_WAITING_BYTES: usize = MAX_MESSAGE_BYTES;

/// Most events that are kept for a client that reconnects.
pub const MAX_KEPT_EVENTS: usize = 1_024;

/// Most bytes of the events that are kept for a client that reconnects.
pub const MAX_KEPT_BYTES: usize = 4 << 20;

/// The header with the number of the last event that a client received before it reconnects.
const LAST_EVENT_ID: &str = "last-event-id";

/// Most bytes of messages that are added to a stream together.
const BATCH_BYTES: usize = 64 << 10;

/// Batches that a stream buffers before its client has read them.
const STREAM_BATCHES: usize = 2;

/// Unit in which the bytes of waiting messages are counted.
const PIECE_BYTES: usize = 1 << 10;

#[derive(Debug, Default)]
pub(super) struct Bridge {
    sessions: Arc<Mutex<HashMap<String, Session>>>,
    begun: AtomicU64,
}

/// The channels of a session.
#[derive(Debug, Clone)]
struct Session {
    messages: mpsc::Sender<Message>,
    readers: mpsc::Sender<Reader>,
    /// Limits the bytes of the waiting messages.
    room: Arc<Semaphore>,
    connection: Arc<Connection>,
    peer: Peer,
    number: u64,
    is_read: Arc<AtomicBool>,
}

/// A message of the client, with its permit in [`Session::room`].
#[derive(Debug)]
struct Message {
    text: Bytes,
    _room: OwnedSemaphorePermit,
}

/// A stream of events that a client has opened.
#[derive(Debug)]
struct Reader {
    batches: mpsc::Sender<Vec<NumberedText>>,
    last_seen: Option<u64>,
}

#[derive(Debug, Clone)]
struct NumberedText {
    number: u64,
    text: Arc<str>,
}

impl Bridge {
    /// Serves a request whose path starts with `/bridge`.
    pub(super) async fn answer(&self, admission: &AdmissionControl, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let names: Vec<&str> = parts.uri.path().split('/').skip(2).collect();
        match (&parts.method, names.as_slice()) {
            (&Method::POST, []) => {
                let peer = parts.extensions.get().cloned().unwrap_or_else(|| Owner::Unknown.into());
                self.create(admission, peer, body).await
            }
            (&Method::POST, [session]) => match self.session(session) {
                Some(session) => session.post(body).await,
                None => unknown_session(),
            },
            (&Method::GET, [session, "events"]) => match self.session(session) {
                Some(session) => session.events(&parts.headers).await,
                None => unknown_session(),
            },
            (&Method::DELETE, [session]) => match self.session(session) {
                Some(session) => {
                    session.connection.end(CloseReason::ClientLeft);
                    StatusCode::NO_CONTENT.into_response()
                }
                None => unknown_session(),
            },
            (_, []) => not_allowed("POST"),
            (_, [_, "events"]) => not_allowed("GET"),
            (_, [_]) => not_allowed("POST, DELETE"),
            _ => unknown_session(),
        }
    }

    /// Creates a session. The body of the request is its first message.
    async fn create(&self, admission: &AdmissionControl, peer: Peer, body: Body) -> Response {
        if let Some(refusal) = admission.refusal() {
            return refusal;
        }
        let first = match read(body).await {
            Ok(first) => first,
            Err(refusal) => return refusal,
        };
        let mut id = [0; 16];
        if let Err(error) = getrandom::fill(&mut id) {
            tracing::error!(%error, "no random numbers for the id of a session");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        let id = format!("{:032x}", u128::from_ne_bytes(id));
        let mut sessions = self.sessions();
        if let Some(refusal) = make_room(&mut sessions, &peer) {
            return refusal;
        }
        let (ingress, outbound) = admission.opener.open(TransportKind::Bridge, OutboundPolicy::SHARED);
        let (messages, waiting) = mpsc::channel(MAX_WAITING_MESSAGES);
        let (readers, coming) = mpsc::channel(1);
        let session = Session {
            messages,
            readers,
            room: Arc::new(Semaphore::new(MAX_WAITING_BYTES / PIECE_BYTES)),
            connection: Arc::clone(ingress.connection()),
            peer,
            number: self.begun.fetch_add(1, Ordering::Relaxed),
            is_read: Arc::default(),
        };
        let is_read = Arc::clone(&session.is_read);
        if !first.is_empty() && session.push(first).is_err() {
            return busy();
        }
        sessions.insert(id.clone(), session);
        drop(sessions);
        let location = format!("/bridge/{id}");
        let answer = serde_json::json!({ "session": id }).to_string();
        let sessions = Arc::clone(&self.sessions);
        admission.tasks.spawn(async move {
            // Dropping the entry removes the session from the table, also after a panic.
            let _entry = Entry { sessions, id };
            let end = outbound.outbound();
            let served = async { tokio::join!(listen(ingress, waiting), send_messages(outbound, coming, &is_read)) };
            let too_late = async {
                end.ended().await;
                tokio::time::sleep(CLOSE_TIMEOUT).await;
            };
            tokio::select! {
                _ = served => {}
                // A stalled stream would otherwise keep the rest of the messages as long as its connection lasts.
                () = too_late => {}
            }
        });
        (StatusCode::CREATED, [(LOCATION, location)], answer).into_response()
    }

    fn session(&self, id: &str) -> Option<Session> {
        self.sessions().get(id).cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a session from the table when it is dropped.
struct Entry {
    sessions: Arc<Mutex<HashMap<String, Session>>>,
    id: String,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Session {
    async fn post(&self, body: Body) -> Response {
        match read(body).await {
            Ok(text) => match self.push(text) {
                Ok(()) => StatusCode::ACCEPTED.into_response(),
                Err(Full) if self.messages.is_closed() => unknown_session(),
                Err(Full) => busy(),
            },
            Err(refusal) => refusal,
        }
    }

    fn push(&self, text: Bytes) -> Result<(), Full> {
        let pieces = u32::try_from(text.len().div_ceil(PIECE_BYTES)).map_err(|_| Full)?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(pieces).map_err(|_| Full)?;
        self.messages.try_send(Message { text, _room: room }).map_err(|_| Full)
    }

    async fn events(&self, headers: &HeaderMap) -> Response {
        let last_seen = match headers.get(LAST_EVENT_ID).map(|value| value.to_str().ok().and_then(|id| id.parse().ok()))
        {
            None => None,
            Some(Some(number)) => Some(number),
            Some(None) => return (StatusCode::BAD_REQUEST, "Last-Event-ID is not a number\n").into_response(),
        };
        let (batches, events) = mpsc::channel(STREAM_BATCHES);
        if self.readers.send(Reader { batches, last_seen }).await.is_err() {
            return unknown_session();
        }
        let events = stream::unfold((events, Vec::new().into_iter()), |(mut events, mut batch)| async {
            loop {
                if let Some(NumberedText { number, text }) = batch.next() {
                    let event = Event::default().id(number.to_string()).data(text);
                    return Some((Ok::<_, Infallible>(event), (events, batch)));
                }
                batch = events.recv().await?.into_iter();
            }
        });
        let answer = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
        ([(CACHE_CONTROL, "no-store")], answer).into_response()
    }
}

/// Makes room for another session of a peer. Returns a response if there is no room.
fn make_room(sessions: &mut HashMap<String, Session>, peer: &Peer) -> Option<Response> {
    let seats = sessions.values().map(|session| ExistingSession {
        peer: &session.peer,
        number: session.number,
        is_read: session.is_read.load(Ordering::Relaxed),
    });
    match admission(seats, peer) {
        Admission::Free => None,
        Admission::InPlaceOf(number) => {
            tracing::warn!("a session without a stream ended to make room for another one");
            sessions.retain(|_, session| {
                let stays = session.number != number;
                if !stays {
                    session.connection.cut(CloseReason::Abandoned);
                }
                stays
            });
            None
        }
        Admission::Full => {
            let why = "too many sessions: end some, or read them\n";
            Some((StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "1")], why).into_response())
        }
    }
}

/// There is no room for a message.
struct Full;

/// Passes the messages of the client to the server until the session ends.
async fn listen(mut ingress: Ingress, mut messages: mpsc::Receiver<Message>) {
    let connection = Arc::clone(ingress.connection());
    loop {
        let message = tokio::select! {
            biased;
            () = connection.ended() => return,
            message = messages.recv() => message,
        };
        let Some(message) = message else { return };
        ingress.receive_bytes(&message.text).await;
    }
}

/// Passes the messages of the server to the open stream until the session ends.
async fn send_messages(mut outbound: OutboundReader, mut readers: mpsc::Receiver<Reader>, is_read: &AtomicBool) {
    let connection = outbound.outbound();
    let mut buffer = EventBuffer::default();
    let mut present: Option<mpsc::Sender<Vec<NumberedText>>> = None;
    let mut alone_since = Instant::now();
    loop {
        let step = match &present {
            None => tokio::select! {
                biased;
                () = connection.ended() => Step::End,
                reader = readers.recv() => Step::reader(reader),
                () = tokio::time::sleep_until(alone_since + SESSION_TIMEOUT) => Step::Abandon,
            },
            Some(batches) => tokio::select! {
                biased;
                () = connection.was_cut() => Step::End,
                reader = readers.recv() => Step::reader(reader),
                () = batches.closed() => Step::Leave,
                // Messages leave the queue only when the stream has room for them. If the stream stalls, the queue
                // fills.
                texts = next(&mut outbound, batches) => match texts {
                    Some(texts) => Step::Send(texts),
                    None => Step::End,
                },
            },
        };
        match step {
            Step::Send(texts) => {
                let numbered = buffer.append(texts);
                if let Some(batches) = &present {
                    // The channel has room, because this is its only sender. If the client has disconnected, it gets
                    // the messages when it reconnects.
                    let _ = batches.try_send(numbered);
                }
            }
            Step::Read(reader) => match buffer.after(reader.last_seen) {
                Some(missed) => {
                    if !missed.is_empty() {
                        // The stream is new, so its channel has room.
                        let _ = reader.batches.try_send(missed);
                    }
                    present = Some(reader.batches);
                    is_read.store(true, Ordering::Relaxed);
                }
                None => {
                    tracing::warn!("a session ended, because events were dropped that its client has not received");
                    connection.cut(CloseReason::Abandoned);
                }
            },
            Step::Leave => {
                present = None;
                is_read.store(false, Ordering::Relaxed);
                alone_since = Instant::now();
            }
            Step::Abandon => connection.cut(CloseReason::Abandoned),
            Step::End => return,
        }
    }
}

enum Step {
    Send(Vec<Arc<str>>),
    Read(Reader),
    Leave,
    Abandon,
    End,
}

impl Step {
    fn reader(reader: Option<Reader>) -> Self {
        reader.map_or(Self::End, Self::Read)
    }
}

async fn next(outbound: &mut OutboundReader, batches: &mpsc::Sender<Vec<NumberedText>>) -> Option<Vec<Arc<str>>> {
    // The caller also waits for the stream to close.
    let Ok(room) = batches.reserve().await else { return std::future::pending().await };
    drop(room);
    outbound.next(BATCH_BYTES).await
}

/// The last events of a session.
#[derive(Debug, Default)]
struct EventBuffer {
    kept: VecDeque<NumberedText>,
    kept_bytes: usize,
    last_number: u64,
}

impl EventBuffer {
    /// Numbers texts and keeps them.
    fn append(&mut self, texts: Vec<Arc<str>>) -> Vec<NumberedText> {
        let numbered: Vec<_> = texts
            .into_iter()
            .map(|text| {
                self.last_number += 1;
                NumberedText { number: self.last_number, text }
            })
            .collect();
        for event in &numbered {
            self.kept_bytes += event.text.len();
            self.kept.push_back(event.clone());
        }
        while self.kept.len() > MAX_KEPT_EVENTS || (self.kept_bytes > MAX_KEPT_BYTES && self.kept.len() > 1) {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.kept_bytes -= oldest.text.len();
        }
        numbered
    }

    /// Returns the events after a number, or `None` if some of them have been dropped. Without a number, it returns no
    /// events.
    fn after(&self, last_seen: Option<u64>) -> Option<Vec<NumberedText>> {
        let Some(last_seen) = last_seen else { return Some(Vec::new()) };
        let first_kept = self.last_number + 1 - self.kept.len() as u64;
        (last_seen <= self.last_number && last_seen + 1 >= first_kept)
            .then(|| self.kept.iter().filter(|event| event.number > last_seen).cloned().collect())
    }
}

async fn read(body: Body) -> Result<Bytes, Response> {
    let content = axum::body::to_bytes(body, MAX_MESSAGE_BYTES);
    match tokio::time::timeout(CONTENT_TIMEOUT, content).await {
        Ok(Ok(content)) => Ok(content),
        Ok(Err(_)) => {
            let why = format!("the message is longer than {MAX_MESSAGE_BYTES} bytes, or is incomplete\n");
            Err((StatusCode::PAYLOAD_TOO_LARGE, why).into_response())
        }
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the message took too long to arrive\n").into_response()),
    }
}

fn unknown_session() -> Response {
    (StatusCode::NOT_FOUND, "there is no such session\n").into_response()
}

fn busy() -> Response {
    let headers = [(RETRY_AFTER, "1")];
    (StatusCode::TOO_MANY_REQUESTS, headers, "too many messages of the session are waiting; send it again later\n")
        .into_response()
}

fn not_allowed(methods: &'static str) -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, methods)]).into_response()
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;
    use crate::outbound::outbound;

    #[tokio::test(start_paused = true)]
    async fn a_session_without_a_stream_ends() {
        let (outbound, reader) = outbound(OutboundPolicy::SHARED);
        let (_readers, coming) = mpsc::channel(1);
        let start = Instant::now();
        send_messages(reader, coming, &AtomicBool::default()).await;
        assert_eq!(start.elapsed(), SESSION_TIMEOUT);
        assert_eq!(outbound.reason(), Some(CloseReason::Abandoned));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_with_a_stream_lasts() {
        let (outbound, reader) = outbound(OutboundPolicy::SHARED);
        let (readers, coming) = mpsc::channel(1);
        let session = tokio::spawn(async move { send_messages(reader, coming, &AtomicBool::default()).await });
        let (batches, mut events) = mpsc::channel(STREAM_BATCHES);
        readers.send(Reader { batches, last_seen: None }).await.expect("it lasts");
        tokio::time::sleep(10 * SESSION_TIMEOUT).await;
        outbound.send(Arc::from("a"));
        assert_eq!(events.recv().await.map(|batch| batch[0].number), Some(1));
        let start = Instant::now();
        drop(events);
        session.await.expect("no panic");
        assert_eq!(start.elapsed(), SESSION_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_has_limits() {
        let status = |read: Result<Bytes, Response>| read.map_err(|refusal| refusal.status()).err();
        assert_eq!(status(read(Body::from(vec![b' '; MAX_MESSAGE_BYTES])).await), None);
        let long = read(Body::from(vec![b' '; MAX_MESSAGE_BYTES + 1])).await;
        assert_eq!(status(long), Some(StatusCode::PAYLOAD_TOO_LARGE));
        let begun = stream::iter([Ok::<_, Infallible>("{")]).chain(stream::pending());
        let start = Instant::now();
        assert_eq!(status(read(Body::from_stream(begun)).await), Some(StatusCode::REQUEST_TIMEOUT));
        assert_eq!(start.elapsed(), CONTENT_TIMEOUT);
    }

    fn texts(numbers: std::ops::Range<u64>) -> Vec<Arc<str>> {
        numbers.map(|number| Arc::from(number.to_string())).collect()
    }

    fn numbers(events: Option<Vec<NumberedText>>) -> Option<Vec<u64>> {
        events.map(|events| events.iter().map(|event| event.number).collect())
    }

    #[test]
    fn a_reconnecting_client_gets_missed_events() {
        let mut buffer = EventBuffer::default();
        assert_eq!(numbers(buffer.after(None)), Some(vec![]));
        assert_eq!(numbers(buffer.after(Some(1))), None, "there is no such event");
        buffer.append(texts(0..3));
        assert_eq!(numbers(buffer.after(None)), Some(vec![]));
        assert_eq!(numbers(buffer.after(Some(0))), Some(vec![1, 2, 3]));
        assert_eq!(numbers(buffer.after(Some(2))), Some(vec![3]));
        assert_eq!(numbers(buffer.after(Some(3))), Some(vec![]));
        assert_eq!(numbers(buffer.after(Some(u64::MAX))), None);
    }

    #[test]
    fn old_events_are_dropped() {
        let mut buffer = EventBuffer::default();
        buffer.append(texts(0..MAX_KEPT_EVENTS as u64 + 10));
        assert_eq!(buffer.kept.len(), MAX_KEPT_EVENTS);
        assert_eq!(numbers(buffer.after(Some(9))), None);
        assert_eq!(numbers(buffer.after(Some(10))).map(|numbers| numbers.len()), Some(MAX_KEPT_EVENTS));

        buffer.append(vec![Arc::from("x".repeat(MAX_KEPT_BYTES + 1))]);
        assert_eq!(buffer.kept.len(), 1);
        buffer.append(texts(0..1));
        assert_eq!((buffer.kept.len(), buffer.kept_bytes), (1, 1));
    }
}
