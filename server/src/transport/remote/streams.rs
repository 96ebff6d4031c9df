//! The streams of the clients that come through a relay.
//!
//! Each stream has two tasks: one passes the client's messages to the server in order, and one takes the server's
//! messages when the queue of the stream has room. A client that is slow, or away, so stops only its own stream.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use trace_protocol::envelope::{self, Incoming as Decoded};
use trace_protocol::{RequestId, RpcError};
use trace_relay::envelope::{FromServer, PongStatus, StreamKey, ToServer, is_initialize, server_message};
use trace_relay::pieces::{Assembler, MAX_WHOLE_BYTES, SERVER_PIECE_BYTES, Taken, split};
use trace_relay::relay::{MAX_WAITING_BYTES, MAX_WAITING_MESSAGES};
use trace_relay::seal::is_sealed;
use trace_relay::stream::{Received, SendQueue};

use super::super::admission::MAX_CONNECTIONS;
use super::super::drain::{Phase, Shutdown};
use super::sealed::{Agreed, Sealing, SharedChannel, Stage, Version};
use crate::connection::{Connection, TransportKind};
use crate::ingress::{ConnectionOpener, Ingress};
use crate::outbound::{CloseReason, OutboundPolicy, OutboundReader};

/// Most envelopes of a stream that are sent and not acknowledged, as in the Codex CLI, which counts them over all
/// streams.
pub const MAX_UNACKNOWLEDGED: usize = 128;

/// Most messages that are being assembled, as in the Codex CLI.
pub const MAX_ASSEMBLIES: usize = 128;

/// How long a stream may be silent before it is closed, as in the Codex CLI.
pub const STREAM_SILENCE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Most bytes of messages that are taken from the server together.
const BATCH_BYTES: usize = 64 << 10;

/// The streams of one process. They outlive the connection to the relay.
#[derive(Debug)]
pub(super) struct Streams {
    opener: ConnectionOpener,
    sealing: Option<Arc<Sealing>>,
    shutdown: Shutdown,
    state: Mutex<State>,
    /// Wakes the task that writes to the relay.
    work: Notify,
}

#[derive(Debug, Default)]
struct State {
    connection: u64,
    streams: HashMap<StreamKey, Stream>,
    assemblers: HashMap<StreamKey, Assembler>,
    begun: u64,
    /// Streams with something to send.
    ready: VecDeque<StreamKey>,
    /// Envelopes of streams that do not exist.
    loose: VecDeque<Utf8Bytes>,
    cursor: Option<String>,
    /// The version of the file with sealing keys in which the clients of all sealed streams are known. `None` if a stream
    /// was sealed since.
    keys: Option<Version>,
}

#[derive(Debug)]
struct Stream {
    /// Tells a stream from an earlier one with the same key.
    number: u64,
    connection: Arc<Connection>,
    queue: SendQueue<Utf8Bytes>,
    received: Received,
    messages: mpsc::UnboundedSender<Incoming>,
    waiting: usize,
    waiting_bytes: usize,
    /// The last number that the server has handled.
    handled: u64,
    is_ack_due: bool,
    is_ready: bool,
    has_ended: bool,
    /// Whether the stream is sealed, or its key agreement has begun.
    is_sealed: bool,
    /// The id of the secret of the client to which the stream is sealed.
    secret: Option<String>,
    last_heard: Instant,
    /// Notified when the queue has room or the stream was closed.
    room: Arc<Notify>,
}

/// A message of a client that waits to be handled.
#[derive(Debug)]
struct Incoming {
    seq: Option<u64>,
    text: String,
}

impl Stream {
    fn has_room(&self) -> bool {
        self.queue.frames() < MAX_UNACKNOWLEDGED && self.queue.bytes() < MAX_WAITING_BYTES - BATCH_BYTES
    }

    fn push(&mut self, key: &StreamKey, text: &str) {
        let seq = self.queue.next_seq();
        let whole = server_message(key, seq, text);
        if whole.len() <= MAX_WHOLE_BYTES {
            self.queue.push([sized(whole)]);
        } else {
            let pieces = split(seq, text, SERVER_PIECE_BYTES);
            self.queue.push(pieces.map(|piece| sized(FromServer::Piece(piece).encode(key))));
        }
    }

    fn push_pong(&mut self, key: &StreamKey, status: PongStatus) {
        let seq = Some(self.queue.next_seq());
        self.queue.push([sized(FromServer::Pong { status, seq }.encode(key))]);
    }
}

fn sized(frame: String) -> (Utf8Bytes, usize) {
    let bytes = frame.len();
    (frame.into(), bytes)
}

impl Streams {
    pub(super) fn new(opener: ConnectionOpener, sealing: Option<Sealing>, shutdown: Shutdown) -> Self {
        Self { opener, sealing: sealing.map(Arc::new), shutdown, state: Mutex::default(), work: Notify::new() }
    }

    /// Begins a connection to the relay, on which everything is sent again that was not acknowledged. Returns its
    /// number.
    pub(super) fn connected(&self) -> u64 {
        let mut state = self.state();
        state.connection += 1;
        state.assemblers.clear();
        state.loose.clear();
        let keys: Vec<StreamKey> = state.streams.keys().cloned().collect();
        for key in &keys {
            if let Some(stream) = state.streams.get_mut(key) {
                stream.queue.reconnected();
                stream.is_ack_due = stream.handled > 0;
            }
            state.ready(key);
        }
        state.connection
    }

    /// Returns the cursor of the last envelope that was taken.
    pub(super) fn cursor(&self) -> Option<String> {
        self.state().cursor.clone()
    }

    /// Waits until there may be something to send.
    pub(super) async fn work(&self) {
        self.work.notified().await;
    }

    /// Returns the next frames to send: at least one, if there is one, and more as long as they have at most
    /// `most_bytes` together.
    pub(super) fn frames(&self, connection: u64, most_bytes: usize) -> Vec<Utf8Bytes> {
        let mut frames = Vec::new();
        let mut bytes = 0;
        let mut state = self.state();
        if state.connection != connection {
            return frames;
        }
        while bytes < most_bytes {
            let frame = match state.loose.pop_front() {
                Some(frame) => Some(frame),
                None => match state.ready.pop_front() {
                    Some(key) => state.next_frame(&key),
                    None => break,
                },
            };
            if let Some(frame) = frame {
                bytes += frame.len();
                frames.push(frame);
            }
        }
        frames
    }

    /// Takes a frame of the relay.
    pub(super) fn take(self: &Arc<Self>, text: &str) {
        let (key, envelope) = match ToServer::decode(text) {
            Ok(decoded) => decoded,
            Err(error) => return tracing::warn!(%error, "a frame of the relay was dropped"),
        };
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(stream) = state.streams.get_mut(&key) {
            stream.last_heard = Instant::now();
        }
        match envelope {
            ToServer::Message { seq, cursor, message } => {
                self.take_message(state, &key, seq, message.get());
                state.handled(cursor.as_deref());
            }
            ToServer::Piece(piece) => {
                if state.streams.get(&key).is_some_and(|stream| !stream.received.is_new(piece.seq)) {
                    state.ack_due(&key);
                } else if state.assemblers.len() >= MAX_ASSEMBLIES && !state.assemblers.contains_key(&key) {
                    let why = format!("{MAX_ASSEMBLIES} long messages of other clients are incomplete");
                    state.refuse(&key, &why);
                } else {
                    match state.assemblers.entry(key.clone()).or_default().take(&piece) {
                        Ok(Taken::Complete(message)) => {
                            state.assemblers.remove(&key);
                            self.take_message(state, &key, Some(piece.seq), &message);
                        }
                        Ok(Taken::Incomplete | Taken::Repeated) => {}
                        Err(error) => {
                            state.assemblers.remove(&key);
                            state.refuse(&key, &format!("a long message cannot be put together: {error}"));
                        }
                    }
                }
                state.handled(piece.cursor.as_deref());
            }
            ToServer::Ack { seq, segment } => {
                if let Some(stream) = state.streams.get_mut(&key) {
                    stream.queue.ack(seq, segment);
                    stream.room.notify_one();
                    if stream.has_ended && stream.queue.frames() == 0 {
                        state.streams.remove(&key);
                    } else {
                        state.ready(&key);
                    }
                }
            }
            ToServer::Ping => match state.streams.get_mut(&key) {
                // The end of the stream is in its queue.
                Some(stream) if stream.has_ended => {}
                Some(stream) => {
                    if stream.queue.frames() < 2 * MAX_UNACKNOWLEDGED {
                        stream.push_pong(&key, PongStatus::Active);
                        state.ready(&key);
                    }
                }
                None => state.pong_unknown(&key),
            },
            ToServer::ClientClosed => state.close(&key, CloseReason::ClientLeft),
        }
        drop(guard);
        self.work.notify_one();
    }

    fn take_message(self: &Arc<Self>, state: &mut State, key: &StreamKey, seq: Option<u64>, text: &str) {
        let mut begins_sealed = false;
        if let Some(stream) = state.streams.get_mut(key) {
            if let Some(seq) = seq
                && !stream.received.note(seq)
            {
                return state.ack_due(key);
            }
            // In a sealed stream, this is a message that was not sealed.
            if stream.is_sealed || !is_initialize(text) {
                stream.waiting += 1;
                stream.waiting_bytes += text.len();
                let is_too_much = stream.waiting > MAX_WAITING_MESSAGES
                    || (stream.waiting > 1 && stream.waiting_bytes - text.len() > MAX_WAITING_BYTES);
                if is_too_much {
                    tracing::warn!(stream = %key, "a relay sends more than a stream may have waiting");
                    return stream.connection.cut(CloseReason::TooSlow);
                }
                // The task has ended if the stream has.
                let _ = stream.messages.send(Incoming { seq, text: text.to_owned() });
                return;
            }
        } else if !is_initialize(text) {
            begins_sealed = is_sealed(text);
            if !begins_sealed {
                tracing::debug!(stream = %key, "a message of an unknown stream was dropped");
                return;
            }
        }
        if self.shutdown.phase() != Phase::Serving || self.opener.connections() >= MAX_CONNECTIONS {
            return state.pong_unknown(key);
        }
        // A stream that begins again continues its numbers, so that nothing is taken for a duplicate.
        let before = state.streams.remove(key);
        if let Some(before) = &before {
            before.connection.end(CloseReason::ClientLeft);
            before.room.notify_one();
        }
        let queue = before.map_or_else(|| SendQueue::new(MAX_UNACKNOWLEDGED), |before| before.queue);
        let (ingress, reader) = self.opener.open(TransportKind::Relay, OutboundPolicy::SHARED);
        let (messages, incoming) = mpsc::unbounded_channel();
        state.begun += 1;
        let number = state.begun;
        let room = Arc::new(Notify::new());
        let connection = Arc::clone(ingress.connection());
        let (ready, is_ready) = oneshot::channel();
        let (stage, ready) = match &self.sealing {
            _ if begins_sealed => (Stage::First, Some(ready)),
            Some(sealing) if sealing.is_required => (Stage::MustBeSealed, Some(ready)),
            _ => {
                let _ = ready.send(None);
                (Stage::Plain, None)
            }
        };
        let _ = messages.send(Incoming { seq, text: text.to_owned() });
        let stream = Stream {
            number,
            connection,
            queue,
            received: Received::after(seq.unwrap_or(0)),
            messages,
            waiting: 1,
            waiting_bytes: text.len(),
            handled: 0,
            is_ack_due: false,
            is_ready: false,
            has_ended: false,
            is_sealed: begins_sealed,
            secret: None,
            last_heard: Instant::now(),
            room: Arc::clone(&room),
        };
        state.streams.insert(key.clone(), stream);
        let listener = Listener { streams: Arc::clone(self), key: key.clone(), number, stage, ready };
        tokio::spawn(listener.listen(ingress, incoming));
        tokio::spawn(send(Arc::clone(self), key.clone(), number, is_ready, reader, room));
    }

    /// Closes the streams of which nothing was heard for too long.
    pub(super) fn close_silent(&self) {
        let mut state = self.state();
        let is_silent = |stream: &Stream| stream.last_heard.elapsed() >= STREAM_SILENCE_TIMEOUT;
        let silent: Vec<StreamKey> =
            state.streams.iter().filter(|(_, stream)| is_silent(stream)).map(|(key, _)| key.clone()).collect();
        for key in silent {
            tracing::info!(stream = %key, "a stream is silent");
            state.close(&key, CloseReason::Abandoned);
        }
    }

    /// Ends the streams that are sealed to clients which are no longer known.
    pub(super) fn end_revoked(&self) {
        let Some(sealing) = &self.sealing else { return };
        let version = sealing.version();
        if self.state().keys == Some(version) {
            return;
        }
        let clients = match sealing.keys.read() {
            Ok(clients) => clients,
            Err(error) => return tracing::error!(%error, "sealed streams stay as they were"),
        };
        let mut state = self.state();
        state.keys = Some(version);
        for (key, stream) in &state.streams {
            if stream.secret.as_ref().is_some_and(|secret| !clients.knows(secret)) {
                tracing::info!(stream = %key, "the client of a sealed stream was revoked");
                tell(&stream.connection, "the sealing code of the client was revoked");
            }
        }
    }

    /// Ends all streams after their messages have been sent.
    pub(super) fn end_all(&self) {
        for stream in self.state().streams.values() {
            stream.connection.end(CloseReason::ServerEnds);
        }
    }

    /// Returns whether everything was sent and acknowledged.
    pub(super) fn are_done(&self) -> bool {
        self.state().streams.values().all(|stream| stream.has_ended && stream.queue.frames() == 0)
    }

    /// Calls a function with a stream, if it still exists, and wakes the task that writes to the relay.
    fn with(&self, key: &StreamKey, number: u64, change: impl FnOnce(&mut Stream)) {
        let mut state = self.state();
        if let Some(stream) = state.streams.get_mut(key).filter(|stream| stream.number == number) {
            change(stream);
            state.ready(key);
            drop(state);
            self.work.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the next frame of a stream. If it has more, it comes again after the other streams.
    fn next_frame(&mut self, key: &StreamKey) -> Option<Utf8Bytes> {
        let stream = self.streams.get_mut(key)?;
        stream.is_ready = false;
        let frame = if std::mem::take(&mut stream.is_ack_due) {
            Some(FromServer::Ack { seq: stream.handled }.encode(key).into())
        } else {
            stream.queue.send_next().cloned()
        };
        if stream.queue.can_send() {
            self.ready(key);
        }
        frame
    }

    fn ready(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.get_mut(key)
            && (stream.is_ack_due || stream.queue.can_send())
            && !std::mem::replace(&mut stream.is_ready, true)
        {
            self.ready.push_back(key.clone());
        }
    }

    fn ack_due(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.get_mut(key) {
            stream.is_ack_due = stream.handled > 0;
            self.ready(key);
        }
    }

    fn pong_unknown(&mut self, key: &StreamKey) {
        self.loose.push_back(FromServer::Pong { status: PongStatus::Unknown, seq: None }.encode(key).into());
    }

    /// Ends a stream of which a message is missing.
    fn refuse(&mut self, key: &StreamKey, why: &str) {
        tracing::warn!(stream = %key, why, "a stream ended");
        match self.streams.get(key) {
            Some(stream) => tell(&stream.connection, why),
            None => self.pong_unknown(key),
        }
    }

    fn handled(&mut self, cursor: Option<&str>) {
        if let Some(cursor) = cursor {
            self.cursor = Some(cursor.to_owned());
        }
    }

    fn close(&mut self, key: &StreamKey, why: CloseReason) {
        self.assemblers.remove(key);
        if let Some(stream) = self.streams.remove(key) {
            stream.connection.end(why);
            stream.room.notify_one();
        }
    }
}

/// Tells a client why its stream ends, and ends it.
fn tell(connection: &Connection, why: &str) {
    // There is no request that this could answer.
    let error = json!({"id": null, "error": RpcError::invalid_request(format!("the stream ends: {why}"))});
    connection.outbound().send(error.to_string().into());
    connection.end(CloseReason::Refused);
}

/// The task that passes the messages of a client to the server until the stream ends.
struct Listener {
    streams: Arc<Streams>,
    key: StreamKey,
    number: u64,
    stage: Stage,
    /// Tells the task that sends whether and how the stream is sealed. If it is dropped, there is no stream.
    ready: Option<oneshot::Sender<Option<SharedChannel>>>,
}

impl Listener {
    async fn listen(mut self, mut ingress: Ingress, mut messages: mpsc::UnboundedReceiver<Incoming>) {
        let connection = Arc::clone(ingress.connection());
        loop {
            let message = tokio::select! {
                biased;
                () = connection.ended() => return,
                message = messages.recv() => message,
            };
            let Some(Incoming { seq, text }) = message else { return };
            let bytes = text.len();
            match self.take(&connection, text).await {
                None => {}
                Some(text) => ingress.receive(&text).await,
            }
            self.streams.with(&self.key, self.number, |stream| {
                stream.waiting -= 1;
                stream.waiting_bytes -= bytes;
                if let Some(seq) = seq {
                    stream.handled = seq;
                    stream.is_ack_due = true;
                }
            });
        }
    }

    /// Takes a message. Returns what the server has to hear of it.
    async fn take(&mut self, connection: &Connection, text: String) -> Option<String> {
        let why = match std::mem::replace(&mut self.stage, Stage::Plain) {
            Stage::Plain => return Some(text),
            Stage::Sealed(channel) => match channel.open(&text) {
                Ok(text) => {
                    self.stage = Stage::Sealed(channel);
                    return Some(text);
                }
                Err(error) => {
                    tracing::warn!(stream = %self.key, %error, "a sealed stream ended");
                    tell(connection, &error.to_string());
                    return None;
                }
            },
            Stage::MustBeSealed => {
                // The client is told in the words that it understands.
                let error = RpcError::invalid_request(
                    "this server takes sealed streams only: connect with `trace relay connect`",
                );
                let id = match envelope::decode(&text) {
                    Decoded::Request { id, .. } => id,
                    _ => RequestId::Integer(0),
                };
                tracing::info!(stream = %self.key, "a stream that is not sealed was refused");
                let _ = self.ready.take().map(|ready| ready.send(None));
                connection.refuse(&id, &error);
                connection.end(CloseReason::Refused);
                return None;
            }
            Stage::First => {
                let begun = self.work(move |sealing| sealing.begin(&text)).await;
                match begun {
                    Ok((begun, answer)) => {
                        self.stage = Stage::Last(begun);
                        self.push(&answer);
                        return None;
                    }
                    Err(why) => why,
                }
            }
            Stage::Last(begun) => match self.work(move |sealing| sealing.finish(begun, &text)).await {
                Ok(Agreed { channel, secret, name }) => {
                    tracing::info!(stream = %self.key, client = name, "a stream is sealed");
                    self.streams.with(&self.key, self.number, |stream| stream.secret = Some(secret));
                    // The client may have been revoked a moment ago.
                    self.streams.state().keys = None;
                    let _ = self.ready.take().map(|ready| ready.send(Some(channel.clone())));
                    self.stage = Stage::Sealed(channel);
                    return None;
                }
                Err(why) => why,
            },
        };
        tracing::warn!(stream = %self.key, why, "a sealed stream was refused");
        self.push(&json!({"refused": why}).to_string());
        connection.end(CloseReason::Refused);
        self.ready = None;
        None
    }

    /// Runs a step of the key agreement, which reads a file.
    async fn work<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Sealing) -> Result<T, super::sealed::Refusal> + Send + 'static,
    ) -> Result<T, String> {
        let Some(sealing) = self.streams.sealing.clone() else {
            return Err("this server opens no sealed streams".to_owned());
        };
        match tokio::task::spawn_blocking(move || step(&sealing)).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(_) => Err("the server has an internal error".to_owned()),
        }
    }

    /// Sends a message of the key agreement.
    fn push(&self, message: &str) {
        self.streams.with(&self.key, self.number, |stream| stream.push(&self.key, message));
    }
}

/// Passes the messages of the server to the queue of the stream until the stream ends.
async fn send(
    streams: Arc<Streams>,
    key: StreamKey,
    number: u64,
    ready: oneshot::Receiver<Option<SharedChannel>>,
    mut reader: OutboundReader,
    room: Arc<Notify>,
) {
    // Before both ends have agreed on a key, there is nothing that the client may hear.
    if let Ok(channel) = ready.await {
        send_all(&streams, &key, number, channel, &mut reader, &room).await;
    }
    // The relay ends the client's connection when the messages before this have arrived.
    streams.with(&key, number, |stream| {
        stream.has_ended = true;
        stream.push_pong(&key, PongStatus::Unknown);
    });
}

async fn send_all(
    streams: &Streams,
    key: &StreamKey,
    number: u64,
    channel: Option<SharedChannel>,
    reader: &mut OutboundReader,
    room: &Notify,
) {
    let outbound = reader.outbound();
    loop {
        let has_room = {
            let state = streams.state();
            match state.streams.get(key).filter(|stream| stream.number == number) {
                Some(stream) => stream.has_room(),
                None => return,
            }
        };
        if !has_room {
            tokio::select! {
                () = room.notified() => continue,
                () = outbound.was_cut() => return,
            }
        }
        let Some(texts) = reader.next(BATCH_BYTES).await else { return };
        let Some(channel) = &channel else {
            streams.with(key, number, |stream| texts.iter().for_each(|text| stream.push(key, text)));
            continue;
        };
        for text in &texts {
            match channel.seal(text) {
                Ok(sealed) => streams.with(key, number, |stream| stream.push(key, &sealed)),
                Err(error) => {
                    // The client would miss a message.
                    tracing::warn!(stream = %key, %error, "a sealed stream ended");
                    return outbound.cut(CloseReason::Broken);
                }
            }
        }
    }
}
