//! The streams of one device, and what waits for its server and its clients.
//!
//! This part knows no socket: connections hand in what they read and take what is to be written. So all rules about
//! numbers, acknowledgements and ends are in one place, behind one lock.
//!
//! Towards the server, messages have the numbers of the client's stream and a *cursor*, a number over all streams, which
//! the server names when it reconnects. Towards the client, they have the numbers of the server. A `pong` of the server
//! takes a number, too, so a client can see gaps in the numbers, but never loses a message.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::devices::Digest;
use crate::envelope::{FromServer, PongStatus, StreamKey, ToServer, is_initialize};
use crate::pieces::{Assembler, MAX_WHOLE_BYTES, RELAY_PIECE_BYTES, Taken, split};
use crate::seal::is_sealed;
use crate::stream::Received;

use super::end::StreamEnd;

/// Most messages of a stream that wait in one direction. Then the sender is not read, or the stream ends.
pub const MAX_WAITING_MESSAGES: usize = 1_024;

/// Most bytes of messages of a stream that wait in one direction. A single message may be larger.
pub const MAX_WAITING_BYTES: usize = 8 << 20;

/// Most streams of a device.
pub const MAX_STREAMS: usize = 64;

/// How long a stream waits for its client or its server to come back.
pub const RESUME_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long new clients are accepted after the server has left, which may be about to reconnect.
pub const SERVER_GRACE: Duration = Duration::from_secs(60);

/// Interval of pings to the server for each stream.
pub const PING_INTERVAL: Duration = Duration::from_secs(120);

/// A server that does not acknowledge is asked by a ping when this many messages of a stream wait.
const ASK_AT_MESSAGES: usize = MAX_WAITING_MESSAGES / 2;

/// A server that does not acknowledge is asked by a ping when this many bytes of a stream wait.
const ASK_AT_BYTES: usize = MAX_WAITING_BYTES / 2;

/// A server acknowledges each piece of a long message to itself; the relay acknowledges every so many pieces to it.
const PIECES_PER_ACK: usize = 32;

/// The first character of the ids of streams that can be resumed.
pub(super) const RESUMABLE: char = 'r';

/// The first character of the ids of other streams.
pub(super) const ORDINARY: char = 'o';

/// The streams of a device.
#[derive(Debug)]
pub(super) struct Link {
    /// Tells cursors of this relay from those of an earlier one.
    epoch: String,
    cursor: u64,
    server: Option<ServerConnection>,
    process: Process,
    /// Whether the server acknowledges messages.
    acknowledges: bool,
    away_since: Instant,
    connections: u64,
    streams: HashMap<StreamKey, Stream>,
    outbox: VecDeque<Out>,
    last_ping: Instant,
}

/// The connection of a server.
#[derive(Debug, Clone)]
pub(super) struct ServerConnection {
    pub(super) number: u64,
    token: Digest,
    /// Wakes the task that writes to the server.
    pub(super) work: Arc<Notify>,
}

/// The process of the server that connected last.
#[derive(Debug, PartialEq, Eq)]
enum Process {
    /// No server has connected yet.
    Never,
    /// It did not say which process it is.
    Unnamed,
    Named(String),
}

/// What is to be sent to the server. The content is looked up when it is written.
#[derive(Debug)]
enum Out {
    Message {
        key: StreamKey,
        seq: u64,
    },
    Ack(StreamKey),
    PieceAck {
        key: StreamKey,
        seq: u64,
        segment: usize,
    },
    Ping(StreamKey),
    Closed(StreamKey),
    /// Further pieces of a message.
    Ready(String),
}

#[derive(Debug)]
struct Stream {
    token: Option<Digest>,
    is_resumable: bool,
    /// The connection of the client.
    client: Option<u64>,
    absent_since: Option<Instant>,
    /// Whether the client does not come back, so that the stream ends when the server has all messages.
    is_finished: bool,
    end: Option<End>,

    from_client: Received,
    to_server: VecDeque<ForServer>,
    to_server_bytes: usize,
    /// The last number that was sent to a server; 0 if the stream is not known to any.
    sent: u64,
    /// The last number that was sent before a ping.
    asked: u64,
    /// The last number that the server has taken.
    taken: u64,
    /// Whether the server knows the stream or can begin it, so that messages may be sent.
    is_verified: bool,

    from_server: Received,
    assembler: Assembler,
    to_client: VecDeque<ForClient>,
    to_client_bytes: usize,
    /// The last number that was given to the connection of the client.
    given: u64,
    /// The last number that the client has said to have.
    held: u64,
    /// The last number that may be acknowledged to the server: pongs that follow the client's number are included.
    arrived: u64,
    is_ack_due: bool,

    /// Wakes the connection that writes to the client.
    work: Arc<Notify>,
    /// Wakes the connection that reads from the client.
    room: Arc<Notify>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    why: StreamEnd,
    /// Whether messages that wait are written before.
    after_messages: bool,
}

#[derive(Debug)]
struct ForServer {
    seq: u64,
    cursor: u64,
    message: Box<RawValue>,
}

#[derive(Debug)]
struct ForClient {
    seq: u64,
    /// The number of the last pong that follows the message, or else that of the message. With the message, the pongs
    /// have arrived, too, so that they need no memory of their own.
    through: u64,
    message: Arc<str>,
}

/// The connection of a client to its stream.
#[derive(Debug, Clone)]
pub(super) struct Attachment {
    pub(super) key: StreamKey,
    pub(super) connection: u64,
    pub(super) work: Arc<Notify>,
    pub(super) room: Arc<Notify>,
}

/// What is to be written to a client.
#[derive(Debug, Default)]
pub(super) struct ForClientBatch {
    pub(super) messages: Vec<(u64, Arc<str>)>,
    /// The last number of the client that the server has taken.
    pub(super) taken: u64,
    /// Why the connection ends after the messages.
    pub(super) end: Option<StreamEnd>,
}

/// What became of a message of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FromClient {
    /// It was taken, or dropped as a duplicate, and the next one may be read.
    Taken,
    /// It was taken, and the next one may be read when there is room.
    Full,
    /// The stream has ended.
    Ended,
}

/// Why a client is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    ServerAway,
    TooManyStreams,
}

impl Stream {
    fn new(token: Option<Digest>, is_resumable: bool) -> Self {
        Self {
            token,
            is_resumable,
            client: None,
            absent_since: None,
            is_finished: false,
            end: None,
            from_client: Received::default(),
            to_server: VecDeque::new(),
            to_server_bytes: 0,
            sent: 0,
            asked: 0,
            taken: 0,
            is_verified: true,
            from_server: Received::default(),
            assembler: Assembler::default(),
            to_client: VecDeque::new(),
            to_client_bytes: 0,
            given: 0,
            held: 0,
            arrived: 0,
            is_ack_due: false,
            work: Arc::default(),
            room: Arc::default(),
        }
    }

    fn attach(&mut self, key: &StreamKey, connection: u64) -> Attachment {
        self.client = Some(connection);
        self.absent_since = None;
        // A connection that this one replaces finds that it is no longer attached.
        self.work.notify_one();
        self.work = Arc::default();
        self.room.notify_one();
        self.room = Arc::default();
        self.work.notify_one();
        Attachment { key: key.clone(), connection, work: Arc::clone(&self.work), room: Arc::clone(&self.room) }
    }

    /// Returns whether a server may know the stream.
    fn is_known(&self) -> bool {
        self.sent > 0 || self.from_server.last() > 0
    }

    fn is_full(&self) -> bool {
        self.to_server.len() >= MAX_WAITING_MESSAGES || self.to_server_bytes >= MAX_WAITING_BYTES
    }

    /// Whether too much waits for the client to take another message.
    fn is_behind(&self) -> bool {
        self.to_client.len() >= MAX_WAITING_MESSAGES || self.to_client_bytes >= MAX_WAITING_BYTES
    }

    /// Lets go of the messages that the server has.
    fn server_has(&mut self, is_with_server: impl Fn(&ForServer) -> bool) {
        while let Some(message) = pop_if(&mut self.to_server, &is_with_server) {
            self.to_server_bytes -= message.message.get().len();
            self.taken = self.taken.max(message.seq);
        }
        self.room.notify_one();
        self.work.notify_one();
    }

    /// Lets go of the messages that the client has.
    fn client_has(&mut self, seq: u64) {
        // A client cannot have what it was not given.
        let seq = seq.min(self.given);
        self.held = self.held.max(seq);
        while let Some(item) = pop_if(&mut self.to_client, |item| item.seq <= seq) {
            self.to_client_bytes -= item.message.len();
            self.arrived = self.arrived.max(item.through);
        }
    }

    /// Lets go of the messages for a client that does not come back. For the server, they have arrived, so that it does
    /// not wait for room.
    fn forget_client(&mut self) {
        self.to_client.clear();
        self.to_client_bytes = 0;
        self.arrived = self.arrived.max(self.from_server.last());
    }

    /// Takes the number of a pong, which arrives with the message before it.
    fn take_pong(&mut self, seq: u64) {
        match self.to_client.back_mut() {
            Some(item) => item.through = seq,
            None => self.arrived = self.arrived.max(seq),
        }
    }

    fn finish(&mut self, why: StreamEnd, after_messages: bool) {
        if self.end.is_none_or(|end| end.after_messages && !after_messages) {
            self.end = Some(End { why, after_messages });
        }
        self.to_server.clear();
        self.to_server_bytes = 0;
        if !after_messages {
            self.to_client.clear();
            self.to_client_bytes = 0;
        }
        self.work.notify_one();
        self.room.notify_one();
    }
}

impl Link {
    pub(super) fn new(epoch: String, now: Instant) -> Self {
        Self {
            epoch,
            cursor: 0,
            server: None,
            process: Process::Never,
            acknowledges: false,
            away_since: now,
            connections: 0,
            streams: HashMap::new(),
            outbox: VecDeque::new(),
            last_ping: now,
        }
    }

    /// Returns the number of streams.
    pub(super) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Returns whether the server is connected.
    pub(super) fn has_server(&self) -> bool {
        self.server.is_some()
    }

    // Clients

    /// Begins a stream.
    pub(super) fn begin(&mut self, key: &StreamKey, token: Digest, now: Instant) -> Result<Attachment, Refusal> {
        self.check_room(now)?;
        let is_resumable = key.stream.starts_with(RESUMABLE);
        let connection = self.next_connection();
        let stream = self.streams.entry(key.clone()).or_insert_with(|| Stream::new(Some(token), is_resumable));
        Ok(stream.attach(key, connection))
    }

    /// Continues a stream after the number `after`.
    pub(super) fn resume(
        &mut self,
        key: &StreamKey,
        token: Digest,
        after: u64,
        now: Instant,
    ) -> Result<Attachment, StreamEnd> {
        let connection = self.next_connection();
        if !self.streams.contains_key(key) {
            // This relay was restarted, or the stream has ended. The server knows.
            self.check_room(now).map_err(|why| match why {
                Refusal::ServerAway => StreamEnd::ServerAway,
                Refusal::TooManyStreams => StreamEnd::TooManyStreams,
            })?;
            let mut stream = Stream::new(Some(token), true);
            stream.from_server = Received::after(after);
            stream.arrived = after;
            stream.is_verified = false;
            self.streams.insert(key.clone(), stream);
            if after > 0 {
                self.put(Out::Ping(key.clone()));
            }
        }
        let Some(stream) = self.streams.get_mut(key).filter(|stream| !stream.is_finished) else {
            return Err(StreamEnd::Gone);
        };
        if let Some(end) = stream.end.filter(|end| !end.after_messages) {
            self.streams.remove(key);
            return Err(end.why);
        }
        if stream.token.is_none() {
            // After a restart of the relay, the server sends again what the client may have.
            stream.from_server = Received::after(after.max(stream.from_server.last()));
        }
        if after < stream.held || after > stream.from_server.last() {
            // What the client misses was let go of, or it has what was never sent.
            self.close(key, StreamEnd::Gone);
            self.streams.remove(key);
            return Err(StreamEnd::Gone);
        }
        stream.token = Some(token);
        stream.given = after;
        stream.client_has(after);
        // The client may have more than the server has repeated so far.
        stream.arrived = stream.arrived.max(after);
        let attachment = stream.attach(key, connection);
        self.ack_due(key);
        Ok(attachment)
    }

    /// Takes a message of a client. An ordinary client has no numbers.
    pub(super) fn take_from_client(&mut self, at: &Attachment, seq: Option<u64>, message: Box<RawValue>) -> FromClient {
        let Some(stream) = attached(&mut self.streams, at) else { return FromClient::Ended };
        if stream.end.is_some() {
            return FromClient::Ended;
        }
        let seq = seq.unwrap_or(stream.from_client.last() + 1);
        let is_first = stream.sent == 0 && stream.to_server.is_empty();
        if is_first && seq == 1 && stream.from_server.last() == 0 {
            if !begins_stream(message.get()) {
                self.close(&at.key, StreamEnd::NotInitialize);
                return FromClient::Ended;
            }
            stream.is_verified = true;
        } else if is_first && !stream.is_verified {
            self.outbox.push_back(Out::Ping(at.key.clone()));
        }
        if stream.from_client.note(seq) {
            self.cursor += 1;
            stream.to_server_bytes += message.get().len();
            stream.to_server.push_back(ForServer { seq, cursor: self.cursor, message });
            if stream.is_verified && self.server.is_some() {
                self.outbox.push_back(Out::Message { key: at.key.clone(), seq });
                let is_long = stream.to_server.len() >= ASK_AT_MESSAGES || stream.to_server_bytes >= ASK_AT_BYTES;
                if is_long && !self.acknowledges && stream.asked <= stream.taken {
                    stream.asked = seq;
                    self.outbox.push_back(Out::Ping(at.key.clone()));
                }
            }
        }
        let is_full = stream.is_full();
        self.wake();
        if is_full { FromClient::Full } else { FromClient::Taken }
    }

    /// Returns whether another message of the client can be taken.
    pub(super) fn has_room(&self, at: &Attachment) -> bool {
        let stream = self.streams.get(&at.key).filter(|stream| stream.client == Some(at.connection));
        stream.is_none_or(|stream| !stream.is_full() || stream.end.is_some())
    }

    /// Notes that messages up to `seq` have reached the client.
    pub(super) fn client_has(&mut self, at: &Attachment, seq: u64) {
        if let Some(stream) = attached(&mut self.streams, at) {
            stream.client_has(seq);
            self.ack_due(&at.key);
        }
    }

    /// Returns what is to be written to a client.
    pub(super) fn for_client(&mut self, at: &Attachment, most_bytes: usize) -> ForClientBatch {
        let Some(stream) = attached(&mut self.streams, at) else {
            return ForClientBatch { end: Some(StreamEnd::Replaced), ..ForClientBatch::default() };
        };
        let mut batch = ForClientBatch { taken: stream.taken, ..ForClientBatch::default() };
        let mut bytes = 0_usize;
        let start = stream.to_client.partition_point(|item| item.seq <= stream.given);
        for item in stream.to_client.range(start..) {
            if !batch.messages.is_empty() && bytes + item.message.len() > most_bytes {
                return batch;
            }
            bytes += item.message.len();
            batch.messages.push((item.seq, Arc::clone(&item.message)));
            stream.given = item.seq;
        }
        batch.end = stream.end.map(|end| end.why);
        batch
    }

    /// Notes that the connection of a client has ended.
    pub(super) fn client_left(&mut self, at: &Attachment, now: Instant) {
        let Some(stream) = attached(&mut self.streams, at) else { return };
        if stream.is_resumable && stream.end.is_none() {
            stream.client = None;
            stream.absent_since = Some(now);
        } else {
            let is_told = stream.end.is_some_and(|end| !end.after_messages) || !stream.is_known();
            self.streams.remove(&at.key);
            if !is_told {
                self.put(Out::Closed(at.key.clone()));
            }
        }
    }

    /// Ends the stream of a client that does not come back, as soon as the server has the messages that were taken, and
    /// after [`RESUME_TIMEOUT`] at the latest.
    pub(super) fn client_finished(&mut self, at: &Attachment, now: Instant) {
        let Some(stream) = attached(&mut self.streams, at) else { return };
        if stream.end.is_some() || stream.to_server.is_empty() {
            self.close(&at.key, StreamEnd::Gone);
            self.streams.remove(&at.key);
            return;
        }
        stream.client = None;
        stream.absent_since = Some(now);
        stream.is_finished = true;
        stream.forget_client();
        self.ack_due(&at.key);
        self.continue_finished(&at.key);
    }

    /// Ends a stream whose client does not come back if the server has all its messages, or else asks a server that does
    /// not acknowledge them.
    fn continue_finished(&mut self, key: &StreamKey) {
        let Some(stream) = self.streams.get_mut(key).filter(|stream| stream.is_finished) else { return };
        match stream.to_server.back() {
            None => self.close(key, StreamEnd::Gone),
            Some(last) if !self.acknowledges && stream.is_verified && stream.asked == 0 && self.server.is_some() => {
                stream.asked = last.seq;
                self.put(Out::Ping(key.clone()));
            }
            // The answer to an earlier ping, or the server, is awaited.
            Some(_) => {}
        }
    }

    // The server

    /// Begins a connection of the server, which takes the place of another one. `instance` identifies its process, and
    /// `cursor` is the last one that it has handled.
    pub(super) fn server_came(
        &mut self,
        token: Digest,
        instance: Option<&str>,
        cursor: Option<&str>,
    ) -> ServerConnection {
        let connection = ServerConnection { number: self.next_connection(), token, work: Arc::default() };
        if let Some(replaced) = self.server.replace(connection.clone()) {
            replaced.work.notify_one();
        }
        let handled = cursor.and_then(|cursor| cursor.strip_prefix(&self.epoch)?.strip_prefix('-')?.parse().ok());
        let process = instance.map_or(Process::Unnamed, |instance| Process::Named(instance.to_owned()));
        let is_lost = |stream: &Stream| match (&self.process, &process) {
            (Process::Never, _) => false,
            // A process that has handled messages names the last one. Without its cursor, it is another process, or it
            // has handled none.
            (Process::Unnamed, Process::Unnamed) => handled.is_none() && stream.from_server.last() > 0,
            (before, now) => before != now && stream.is_known(),
        };
        let lost: Vec<StreamKey> =
            self.streams.iter().filter(|(_, stream)| is_lost(stream)).map(|(key, _)| key.clone()).collect();
        for key in lost {
            self.end(&key, StreamEnd::ServerLeft, false);
        }
        self.acknowledges = instance.is_some();
        self.process = process;
        self.outbox.retain(|out| matches!(out, Out::Closed(_)));
        let mut again = Vec::new();
        let mut pings = Vec::new();
        for (key, stream) in &mut self.streams {
            stream.assembler.clear();
            stream.asked = 0;
            stream.is_ack_due = false;
            // Messages of a stream that the server has not confirmed yet have cursors, but were not sent.
            if let Some(handled) = handled.filter(|_| stream.is_verified) {
                stream.server_has(|message| message.cursor <= handled);
            }
            if stream.arrived > 0 {
                stream.is_ack_due = true;
                self.outbox.push_back(Out::Ack(key.clone()));
            }
            if stream.is_verified {
                again.extend(stream.to_server.iter().map(|message| (message.cursor, key.clone(), message.seq)));
            }
            let is_unsure = !stream.is_verified && (stream.from_server.last() > 0 || !stream.to_server.is_empty());
            if stream.sent > 0 || is_unsure {
                pings.push(Out::Ping(key.clone()));
            }
        }
        again.sort_unstable_by_key(|(cursor, ..)| *cursor);
        self.outbox.extend(again.into_iter().map(|(_, key, seq)| Out::Message { key, seq }));
        self.outbox.extend(pings);
        let finished: Vec<StreamKey> =
            self.streams.iter().filter(|(_, stream)| stream.is_finished).map(|(key, _)| key.clone()).collect();
        for key in finished {
            self.continue_finished(&key);
        }
        self.wake();
        connection
    }

    /// Takes an envelope of the server.
    pub(super) fn take_from_server(
        &mut self,
        connection: u64,
        key: &StreamKey,
        envelope: FromServer<'_>,
        now: Instant,
    ) {
        if self.server_number() != Some(connection) {
            return;
        }
        if !self.streams.contains_key(key) {
            let seq = match &envelope {
                FromServer::Message { seq, .. } => Some(*seq),
                FromServer::Piece(piece) => Some(piece.seq),
                FromServer::Pong { seq, status: PongStatus::Active } => *seq,
                FromServer::Pong { .. } | FromServer::Ack { .. } => None,
            };
            let Some(seq) = seq else { return };
            if !key.stream.starts_with(RESUMABLE) || self.streams.len() >= MAX_STREAMS {
                return self.put(Out::Closed(key.clone()));
            }
            // This relay was restarted, and the client may come back.
            let mut stream = Stream::new(None, true);
            stream.from_server = Received::after(seq.saturating_sub(1));
            stream.arrived = seq.saturating_sub(1);
            stream.absent_since = Some(now);
            // What the server has had of the client is not known. It is more than nothing.
            stream.sent = 1;
            self.streams.insert(key.clone(), stream);
        }
        let Some(stream) = self.streams.get_mut(key) else { return };
        match envelope {
            FromServer::Message { seq, message } => {
                stream.assembler.clear();
                self.take_message(key, seq, message.get());
            }
            FromServer::Piece(piece) => {
                if !stream.from_server.is_new(piece.seq) {
                    return self.ack_due(key);
                }
                match stream.assembler.take(&piece) {
                    Ok(Taken::Complete(message)) => self.take_message(key, piece.seq, &message),
                    Ok(Taken::Incomplete | Taken::Repeated) => {
                        if (piece.segment + 1) % PIECES_PER_ACK == 0 {
                            let (seq, segment) = (piece.seq, piece.segment);
                            self.put(Out::PieceAck { key: key.clone(), seq, segment });
                        }
                    }
                    Err(error) => {
                        tracing::warn!(stream = %key, %error, "a message of a server cannot be assembled");
                        self.close(key, StreamEnd::Gone);
                    }
                }
            }
            FromServer::Pong { status: PongStatus::Unknown, seq } => {
                if let Some(seq) = seq
                    && !stream.from_server.note(seq)
                {
                    return self.ack_due(key);
                }
                self.end(key, StreamEnd::ServerLeft, true);
            }
            FromServer::Pong { status: PongStatus::Active, seq } => {
                if let Some(seq) = seq
                    && stream.from_server.note(seq)
                {
                    stream.take_pong(seq);
                }
                if !self.acknowledges && stream.asked > 0 {
                    let asked = std::mem::take(&mut stream.asked);
                    stream.server_has(|message| message.seq <= asked);
                }
                if !std::mem::replace(&mut stream.is_verified, true) {
                    for message in &mut stream.to_server {
                        self.cursor += 1;
                        message.cursor = self.cursor;
                        self.outbox.push_back(Out::Message { key: key.clone(), seq: message.seq });
                    }
                    // The server has had the beginning of the stream.
                    stream.sent = stream.sent.max(1);
                }
                self.ack_due(key);
                self.continue_finished(key);
                self.wake();
            }
            FromServer::Ack { seq } => {
                self.acknowledges = true;
                let seq = seq.min(stream.sent);
                stream.server_has(|message| message.seq <= seq);
                self.continue_finished(key);
            }
        }
    }

    fn take_message(&mut self, key: &StreamKey, seq: u64, message: &str) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        if !stream.from_server.is_new(seq) {
            return self.ack_due(key);
        }
        if stream.end.is_some() {
            return;
        }
        if stream.is_finished {
            let _ = stream.from_server.note(seq);
            stream.forget_client();
            return self.ack_due(key);
        }
        if stream.is_behind() {
            tracing::warn!(stream = %key, "a stream ended: its client takes too little");
            return self.close(key, StreamEnd::TooMuchWaiting);
        }
        let _ = stream.from_server.note(seq);
        stream.to_client_bytes += message.len();
        stream.to_client.push_back(ForClient { seq, through: seq, message: message.into() });
        stream.work.notify_one();
    }

    /// Returns frames for the server: at least one, if there is one, and more as long as they have at most `most_bytes`
    /// together. Returns `None` if another connection has taken the place of this one.
    pub(super) fn for_server(&mut self, connection: u64, most_bytes: usize) -> Option<Vec<String>> {
        if self.server_number() != Some(connection) {
            return None;
        }
        let mut frames = Vec::new();
        let mut bytes = 0;
        while bytes < most_bytes {
            let Some(out) = self.outbox.pop_front() else { break };
            let frame = match out {
                Out::Ready(frame) => Some(frame),
                Out::Message { key, seq } => self.message(&key, seq),
                Out::Ack(key) => self.streams.get_mut(&key).map(|stream| {
                    stream.is_ack_due = false;
                    ToServer::Ack { seq: stream.arrived, segment: None }.encode(&key)
                }),
                Out::PieceAck { key, seq, segment } => Some(ToServer::Ack { seq, segment: Some(segment) }.encode(&key)),
                Out::Ping(key) => Some(ToServer::Ping.encode(&key)),
                Out::Closed(key) => Some(ToServer::ClientClosed.encode(&key)),
            };
            if let Some(frame) = frame {
                bytes += frame.len();
                frames.push(frame);
            }
        }
        Some(frames)
    }

    /// Writes a message. If it is long, its further pieces come next.
    fn message(&mut self, key: &StreamKey, seq: u64) -> Option<String> {
        let stream = self.streams.get_mut(key)?;
        let at = stream.to_server.binary_search_by_key(&seq, |message| message.seq).ok()?;
        let waiting = &stream.to_server[at];
        stream.sent = stream.sent.max(seq);
        let cursor = format!("{}-{}", self.epoch, waiting.cursor);
        let message = &*waiting.message;
        if message.get().len() <= MAX_WHOLE_BYTES {
            return Some(ToServer::Message { seq: Some(seq), cursor: Some(cursor.into()), message }.encode(key));
        }
        let pieces = split(seq, message.get(), RELAY_PIECE_BYTES);
        let last = pieces.len() - 1;
        let mut frames: Vec<String> = pieces
            .map(|mut piece| {
                // Only the last piece has the cursor: with it, the whole message has been handled.
                piece.cursor = (piece.segment == last).then(|| cursor.clone().into());
                ToServer::Piece(piece).encode(key)
            })
            .collect();
        for frame in frames.drain(1..).rev() {
            self.outbox.push_front(Out::Ready(frame));
        }
        frames.pop()
    }

    /// Notes that a connection of the server has ended.
    pub(super) fn server_left(&mut self, connection: u64, now: Instant) {
        if self.server_number() == Some(connection) {
            self.server = None;
            self.away_since = now;
            self.outbox.retain(|out| matches!(out, Out::Closed(_)));
        }
    }

    fn drop_server(&mut self, now: Instant) {
        if let Some(server) = self.server.take() {
            self.away_since = now;
            server.work.notify_one();
        }
    }

    // Both

    /// Ends what has a token that is no longer valid, and streams whose client or server has been away for too long.
    /// Sends pings that keep streams alive. The first function is for the tokens of servers, the second for those of
    /// clients.
    pub(super) fn tick(
        &mut self,
        now: Instant,
        is_server: impl Fn(&Digest) -> bool,
        is_client: impl Fn(&Digest) -> bool,
    ) {
        if self.server.as_ref().is_some_and(|server| !is_server(&server.token)) {
            self.drop_server(now);
        }
        let is_server_away = self.server.is_none() && now - self.away_since >= RESUME_TIMEOUT;
        let ends: Vec<(StreamKey, StreamEnd)> = self
            .streams
            .iter()
            .filter_map(|(key, stream)| {
                let is_absent = stream.absent_since.is_some_and(|since| now - since >= RESUME_TIMEOUT);
                let why = match stream.token {
                    Some(token) if !is_client(&token) => StreamEnd::Revoked,
                    _ if is_absent => StreamEnd::Gone,
                    _ if is_server_away => StreamEnd::ServerAway,
                    _ => return None,
                };
                Some((key.clone(), why))
            })
            .collect();
        for (key, why) in ends {
            self.close(&key, why);
        }
        if self.server.is_some() && now - self.last_ping >= PING_INTERVAL {
            self.last_ping = now;
            let known = self.streams.iter().filter(|(_, stream)| stream.sent > 0);
            self.outbox.extend(known.map(|(key, _)| Out::Ping(key.clone())));
            self.wake();
        }
    }

    /// Ends a stream at once, and tells a server that knows it.
    fn close(&mut self, key: &StreamKey, why: StreamEnd) {
        let is_known = self.streams.get(key).is_some_and(Stream::is_known);
        self.end(key, why, false);
        if is_known {
            self.put(Out::Closed(key.clone()));
        }
    }

    fn end(&mut self, key: &StreamKey, why: StreamEnd, after_messages: bool) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        stream.finish(why, after_messages);
        if stream.client.is_none() && (!after_messages || stream.to_client.is_empty()) {
            self.streams.remove(key);
        }
    }

    fn put(&mut self, out: Out) {
        // A server that is away gets the rest when it comes.
        if self.server.is_some() || matches!(out, Out::Closed(_)) {
            self.outbox.push_back(out);
            self.wake();
        }
    }

    /// Wakes the task that writes to the server.
    fn wake(&self) {
        if let Some(server) = &self.server {
            server.work.notify_one();
        }
    }

    fn server_number(&self) -> Option<u64> {
        self.server.as_ref().map(|server| server.number)
    }

    /// Acknowledges to the server what has arrived at the client.
    fn ack_due(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.get_mut(key)
            && stream.arrived > 0
            && !std::mem::replace(&mut stream.is_ack_due, true)
        {
            self.put(Out::Ack(key.clone()));
        }
    }

    fn check_room(&self, now: Instant) -> Result<(), Refusal> {
        if self.server.is_none() && now - self.away_since >= SERVER_GRACE {
            return Err(Refusal::ServerAway);
        }
        if self.streams.len() >= MAX_STREAMS {
            return Err(Refusal::TooManyStreams);
        }
        Ok(())
    }

    fn next_connection(&mut self) -> u64 {
        self.connections += 1;
        self.connections
    }
}

/// Returns whether a message begins a stream. A sealed stream begins with a key agreement.
fn begins_stream(message: &str) -> bool {
    is_initialize(message) || is_sealed(message)
}

fn pop_if<T>(queue: &mut VecDeque<T>, condition: impl Fn(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(condition) { queue.pop_front() } else { None }
}

/// Returns the stream of a connection, unless another one has taken its place.
fn attached<'a>(streams: &'a mut HashMap<StreamKey, Stream>, at: &Attachment) -> Option<&'a mut Stream> {
    streams.get_mut(&at.key).filter(|stream| stream.client == Some(at.connection))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZE: &str = r#"{"id":0,"method":"initialize"}"#;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    fn message(number: u64) -> Box<RawValue> {
        raw(&number.to_string())
    }

    fn key(kind: char) -> StreamKey {
        StreamKey::new("c", &format!("{kind}1"))
    }

    struct World {
        link: Link,
        server: u64,
        now: Instant,
    }

    impl World {
        fn new() -> Self {
            let now = Instant::now();
            let mut link = Link::new("e".to_owned(), now);
            let server = link.server_came(Digest::of("server"), Some("i"), None).number;
            Self { link, server, now }
        }

        fn begin(&mut self, kind: char) -> Attachment {
            let at = self.link.begin(&key(kind), Digest::of("client"), self.now).expect("room");
            assert_eq!(self.link.take_from_client(&at, Some(1), raw(INITIALIZE)), FromClient::Taken);
            at
        }

        fn for_server(&mut self) -> Vec<String> {
            self.link.for_server(self.server, usize::MAX).expect("it is connected")
        }

        fn take_from_server(&mut self, kind: char, envelope: FromServer<'_>) {
            self.link.take_from_server(self.server, &key(kind), envelope, self.now);
        }

        fn say(&mut self, kind: char, seq: u64) {
            let message = message(seq);
            self.take_from_server(kind, FromServer::Message { seq, message: &message });
        }

        fn numbers(&mut self, at: &Attachment) -> Vec<u64> {
            self.link.for_client(at, usize::MAX).messages.iter().map(|(seq, _)| *seq).collect()
        }
    }

    #[tokio::test]
    async fn a_client_is_not_read_while_too_much_waits_for_the_server() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        for number in 2..MAX_WAITING_MESSAGES as u64 {
            assert_eq!(world.link.take_from_client(&at, Some(number), message(number)), FromClient::Taken);
        }
        let last = MAX_WAITING_MESSAGES as u64;
        assert_eq!(world.link.take_from_client(&at, Some(last), message(last)), FromClient::Full);
        assert!(!world.link.has_room(&at));
        world.for_server();
        world.take_from_server(RESUMABLE, FromServer::Ack { seq: 1 });
        assert!(world.link.has_room(&at));
        assert_eq!(world.link.for_client(&at, 0).taken, 1);
        world.take_from_server(RESUMABLE, FromServer::Ack { seq: last });
        let long = raw(&format!("\"{}\"", "x".repeat(MAX_WAITING_BYTES)));
        assert_eq!(world.link.take_from_client(&at, Some(last + 1), long), FromClient::Full, "bytes count, too");
    }

    #[tokio::test]
    async fn a_client_that_takes_too_little_ends_its_stream() {
        let mut world = World::new();
        let at = world.begin(ORDINARY);
        world.for_server();
        for seq in 1..=MAX_WAITING_MESSAGES as u64 {
            world.say(ORDINARY, seq);
        }
        assert_eq!(world.link.for_client(&at, 0).end, None);
        world.say(ORDINARY, MAX_WAITING_MESSAGES as u64 + 1);
        let batch = world.link.for_client(&at, usize::MAX);
        assert_eq!((batch.messages.len(), batch.end), (0, Some(StreamEnd::TooMuchWaiting)));
        assert!(world.for_server().iter().any(|frame| frame.contains("client_closed")));
    }

    #[tokio::test]
    async fn acknowledgements_to_the_server_are_those_of_the_client_and_pongs_that_follow() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        world.for_server();
        world.say(RESUMABLE, 1);
        world.take_from_server(RESUMABLE, FromServer::Pong { status: PongStatus::Active, seq: Some(2) });
        world.say(RESUMABLE, 3);
        assert_eq!(world.for_server(), Vec::<String>::new(), "nothing has arrived");
        world.link.client_has(&at, 3);
        assert_eq!(world.for_server(), Vec::<String>::new(), "a client cannot have what it was not given");
        assert_eq!(world.numbers(&at), [1, 3]);
        world.link.client_has(&at, 1);
        let ack = |seq| vec![ToServer::Ack { seq, segment: None }.encode(&key(RESUMABLE))];
        assert_eq!(world.for_server(), ack(2));
        world.link.client_has(&at, 3);
        assert_eq!(world.for_server(), ack(3));
    }

    #[tokio::test]
    async fn pongs_take_no_room() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        world.for_server();
        let pongs = 4 * MAX_WAITING_MESSAGES as u64;
        let pong = |world: &mut World, seq| {
            world.take_from_server(RESUMABLE, FromServer::Pong { status: PongStatus::Active, seq: Some(seq) });
        };
        for seq in 1..=pongs {
            pong(&mut world, seq);
        }
        for number in 1..=MAX_WAITING_MESSAGES as u64 {
            world.say(RESUMABLE, pongs + 2 * number);
            pong(&mut world, pongs + 2 * number + 1);
        }
        let stream = &world.link.streams[&key(RESUMABLE)];
        assert_eq!((stream.to_client.len(), stream.end.is_some()), (MAX_WAITING_MESSAGES, false));
        let last = *world.numbers(&at).last().expect("messages");
        world.link.client_has(&at, last);
        let ack = ToServer::Ack { seq: last + 1, segment: None }.encode(&key(RESUMABLE));
        assert!(world.for_server().contains(&ack), "the last pong has arrived with the last message");
    }

    #[tokio::test]
    async fn a_cursor_says_nothing_about_messages_that_were_held_back() {
        // The relay was restarted, and a client resumes a stream that the server has not confirmed to this relay.
        let mut world = World::new();
        let unsure = world.link.resume(&key(RESUMABLE), Digest::of("client"), 7, world.now).expect("room");
        assert_eq!(world.link.take_from_client(&unsure, Some(5), message(5)), FromClient::Taken);
        let ping = ToServer::Ping.encode(&key(RESUMABLE));
        let held = world.for_server();
        let is_message = |frame: &String| frame.contains("client_message");
        assert!(held.contains(&ping) && !held.iter().any(is_message), "the server is asked first: {held:?}");
        // Another stream goes on, so the server names a cursor behind the message that it never had.
        let begun = world.link.begin(&StreamKey::new("c", "r2"), Digest::of("client"), world.now).expect("room");
        world.link.take_from_client(&begun, Some(1), raw(INITIALIZE));
        assert!(world.for_server().iter().any(|frame| frame.contains(r#""cursor":"e-2""#)));
        world.link.server_left(world.server, world.now);
        world.server = world.link.server_came(Digest::of("server"), Some("i"), Some("e-2")).number;
        let again = world.for_server();
        let is_early = again.iter().any(|frame| is_message(frame) && frame.contains("r1"));
        assert!(again.contains(&ping) && !is_early, "it is asked again: {again:?}");
        assert_eq!(world.link.for_client(&unsure, 0).taken, 0, "the client keeps its message");
        world.take_from_server(RESUMABLE, FromServer::Pong { status: PongStatus::Active, seq: Some(8) });
        let sent: Vec<_> = world.for_server().into_iter().filter(is_message).collect();
        assert!(sent.len() == 1 && sent[0].contains(r#""seq_id":5,"cursor":"e-3""#), "{sent:?}");
    }

    #[tokio::test]
    async fn a_cut_client_gets_what_it_misses_or_is_told_that_it_is_gone() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        world.for_server();
        for seq in 1..=4 {
            world.say(RESUMABLE, seq);
        }
        assert_eq!(world.numbers(&at), [1, 2, 3, 4]);
        world.link.client_has(&at, 2);
        world.link.client_left(&at, world.now);
        world.say(RESUMABLE, 5);
        let token = Digest::of("client");
        let again = world.link.resume(&key(RESUMABLE), token, 3, world.now).expect("it is there");
        assert_eq!(world.numbers(&again), [4, 5]);
        assert_eq!(world.link.for_client(&at, 0).end, Some(StreamEnd::Replaced), "the old connection is over");
        assert_eq!(
            world.link.resume(&key(RESUMABLE), token, 1, world.now).err(),
            Some(StreamEnd::Gone),
            "2 was let go of"
        );
        assert_eq!(world.link.streams(), 0, "the stream does not go on with a gap");
    }

    #[tokio::test]
    async fn what_the_server_names_by_its_cursor_is_not_sent_again() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        for number in 2..=4 {
            world.link.take_from_client(&at, Some(number), message(number));
        }
        let frames = world.for_server();
        assert!(frames[1].contains(r#""seq_id":2,"cursor":"e-2""#), "{frames:?}");
        world.link.server_left(world.server, world.now);
        world.server = world.link.server_came(Digest::of("server"), Some("i"), Some("e-2")).number;
        let seqs: Vec<_> = world.for_server().into_iter().filter(|frame| frame.contains("client_message")).collect();
        assert!(seqs.len() == 2 && seqs[0].contains(r#""seq_id":3"#) && seqs[1].contains(r#""seq_id":4"#), "{seqs:?}");
        // The cursor of another relay means nothing.
        world.server = world.link.server_came(Digest::of("server"), Some("i"), Some("f-4")).number;
        assert_eq!(world.for_server().iter().filter(|frame| frame.contains("client_message")).count(), 2);
        assert_eq!(world.link.for_client(&at, 0).end, None);
        world.server = world.link.server_came(Digest::of("server"), Some("j"), None).number;
        assert_eq!(world.link.for_client(&at, 0).end, Some(StreamEnd::ServerLeft), "another process");
    }

    #[tokio::test]
    async fn what_a_client_says_before_it_finishes_arrives() {
        let closed = ToServer::ClientClosed.encode(&key(RESUMABLE));
        for acknowledges in [true, false] {
            let mut world = World::new();
            let instance = acknowledges.then_some("i");
            world.server = world.link.server_came(Digest::of("server"), instance, None).number;
            let at = world.begin(RESUMABLE);
            world.say(RESUMABLE, 1);
            world.for_server();
            world.link.take_from_client(&at, Some(2), message(2));
            world.link.client_finished(&at, world.now);
            let again = world.link.resume(&key(RESUMABLE), Digest::of("client"), 0, world.now);
            assert_eq!(again.err(), Some(StreamEnd::Gone), "it does not come back");
            // What the server says meanwhile takes no room, neither here nor there.
            for seq in 2..=2 * MAX_WAITING_MESSAGES as u64 {
                world.say(RESUMABLE, seq);
            }
            let frames = world.for_server();
            assert!(frames[0].contains(r#""seq_id":2"#) && !frames.contains(&closed), "{frames:?}");
            let ack = ToServer::Ack { seq: 2 * MAX_WAITING_MESSAGES as u64, segment: None }.encode(&key(RESUMABLE));
            assert!(frames.contains(&ack), "{frames:?}");
            assert_eq!(frames.contains(&ToServer::Ping.encode(&key(RESUMABLE))), !acknowledges, "{frames:?}");
            // The server connects again and has not had the second message.
            world.link.server_left(world.server, world.now);
            world.server = world.link.server_came(Digest::of("server"), instance, Some("e-1")).number;
            let frames = world.for_server();
            assert!(frames.iter().any(|frame| frame.contains(r#""seq_id":2,"cursor""#)), "{frames:?}");
            assert!(!frames.contains(&closed), "{frames:?}");
            if acknowledges {
                world.take_from_server(RESUMABLE, FromServer::Ack { seq: 2 });
            } else {
                world.take_from_server(RESUMABLE, FromServer::Pong { status: PongStatus::Active, seq: None });
            }
            assert_eq!(world.for_server().last(), Some(&closed));
            assert_eq!(world.link.streams(), 0);
        }
    }

    #[tokio::test]
    async fn a_server_that_takes_nothing_does_not_keep_finished_streams() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        world.link.client_finished(&at, world.now);
        world.link.tick(world.now + RESUME_TIMEOUT - Duration::from_secs(1), |_| true, |_| true);
        assert_eq!(world.link.streams(), 1);
        world.link.tick(world.now + RESUME_TIMEOUT, |_| true, |_| true);
        assert_eq!(world.link.streams(), 0);
        // Nothing waits, so there is nothing to wait for.
        let at = world.begin(RESUMABLE);
        world.for_server();
        world.take_from_server(RESUMABLE, FromServer::Ack { seq: 1 });
        world.link.client_finished(&at, world.now);
        assert_eq!(world.link.streams(), 0);
        // Another process does not know the stream.
        let at = world.begin(RESUMABLE);
        world.for_server();
        world.link.client_finished(&at, world.now);
        world.server = world.link.server_came(Digest::of("server"), Some("j"), None).number;
        assert_eq!(world.link.streams(), 0);
    }

    #[tokio::test]
    async fn a_server_that_acknowledges_nothing_is_asked() {
        let mut world = World::new();
        world.server = world.link.server_came(Digest::of("server"), None, None).number;
        let at = world.begin(RESUMABLE);
        for number in 2..=ASK_AT_MESSAGES as u64 + 7 {
            world.link.take_from_client(&at, Some(number), message(number));
        }
        let frames = world.for_server();
        let pings = frames.iter().filter(|frame| frame.contains(r#""type":"ping""#)).count();
        assert_eq!((pings, frames.len()), (1, ASK_AT_MESSAGES + 8));
        world.take_from_server(RESUMABLE, FromServer::Pong { status: PongStatus::Active, seq: Some(1) });
        assert_eq!(world.link.for_client(&at, 0).taken, ASK_AT_MESSAGES as u64, "what was sent before the ping");
    }

    #[tokio::test]
    async fn what_is_away_for_too_long_ends() {
        let mut world = World::new();
        let at = world.begin(RESUMABLE);
        world.link.client_left(&at, world.now);
        let later = world.now + RESUME_TIMEOUT;
        world.link.tick(later - Duration::from_secs(1), |_| true, |_| true);
        assert_eq!(world.link.streams(), 1);
        world.link.tick(later, |_| true, |_| true);
        assert_eq!(world.link.streams(), 0);
        // Without a server, new clients are accepted for a while, and streams last longer.
        let at = world.begin(RESUMABLE);
        world.link.server_left(world.server, world.now);
        let begin = |world: &mut World, after| {
            world.link.begin(&StreamKey::new("c", "r2"), Digest::of("client"), world.now + after).err()
        };
        assert_eq!(begin(&mut world, SERVER_GRACE), Some(Refusal::ServerAway));
        assert_eq!(begin(&mut world, SERVER_GRACE - Duration::from_secs(1)), None);
        world.link.tick(world.now + RESUME_TIMEOUT, |_| true, |_| true);
        assert_eq!(world.link.for_client(&at, 0).end, Some(StreamEnd::ServerAway));
    }

    #[tokio::test]
    async fn pings_keep_streams_alive() {
        let mut world = World::new();
        world.begin(RESUMABLE);
        world.for_server();
        world.link.tick(world.now + PING_INTERVAL, |_| true, |_| true);
        assert_eq!(world.for_server(), [ToServer::Ping.encode(&key(RESUMABLE))]);
    }
}
