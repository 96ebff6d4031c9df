//! The client's side of a relay: it listens on this machine, and gives each local client a stream of its own, which
//! outlives the connection to the relay and can be sealed.
//!
//! Each local client has three tasks in one: one takes its messages, one gives it those of the server, and one keeps a
//! connection to the relay. They meet in a [`State`], so a message that was taken is lost by none of them.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::Uri;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::ORIGIN;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};
use tokio_util::task::TaskTracker;
use trace_relay::file::FileError;
use trace_relay::relay::{MAX_WAITING_BYTES, MAX_WAITING_MESSAGES, STREAM_HEADER, SUBPROTOCOL, StreamEnd};
use trace_relay::seal::server::{SealedServer, SealedServerFile};
use trace_relay::seal::{Channel, ClientAgreement, Key, SealError};
use trace_relay::stream::{Received, SendQueue};

use super::dial::{Dial, DialError, RemoteError, Socket};
use super::{FIRST_RETRY, LAST_RETRY, REMOTE_SILENCE_TIMEOUT, Stop};
use crate::transport::bind::{Bound, Endpoint};
use crate::transport::websocket::{CLOSE_TIMEOUT, MAX_MESSAGE_BYTES};

/// The close code that a local client gets when its stream is not, or no longer, sealed. The codes of the relay are
/// passed on.
pub const UNSEALED_CODE: u16 = 4010;

/// The close code that a local client gets when a message of it is too long to be sealed.
const TOO_LONG_CODE: u16 = 1009;

/// How long a local client may take until its WebSocket is open.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// Most bytes of the reason in a close frame.
const MAX_REASON_BYTES: usize = 120;

/// Columns of a reason of the relay that are shown.
const MAX_SHOWN_REASON: usize = 200;

/// The relay to which local clients are connected.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// The URL of the relay, `wss://HOST:PORT`, or `ws://` on this machine.
    pub url: String,
    /// The client's token.
    pub token: String,
    /// The device, if the token is good for several.
    pub device: Option<String>,
    /// The keys with which streams are sealed. `None` for streams that the relay can read.
    pub keys: Option<SealedServerFile>,
}

/// What happened to a local client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectEvent {
    /// The client is connected to the server, with a stream that is sealed or not.
    Connected {
        /// Whether it is sealed.
        is_sealed: bool,
    },
    /// The connection to the relay was lost or could not be made, and another attempt follows.
    Waiting(String),
    /// The stream has ended.
    Ended(String),
}

impl std::fmt::Display for ConnectEvent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connected { is_sealed: true } => formatter.write_str("a client is connected, sealed"),
            Self::Connected { is_sealed: false } => formatter.write_str("a client is connected, not sealed"),
            Self::Waiting(why) => write!(formatter, "not connected, trying again: {why}"),
            Self::Ended(why) => write!(formatter, "a client's stream has ended: {why}"),
        }
    }
}

/// Connects local clients to a relay.
#[derive(Debug)]
pub struct RelayClient {
    dial: Dial,
    path: String,
    keys: Option<SealedServerFile>,
}

impl RelayClient {
    /// Prepares to connect.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL cannot be dialled safely or the certificates of the machine cannot be read.
    pub fn new(options: &ConnectOptions) -> Result<Self, RemoteError> {
        let url: Uri = options.url.parse().map_err(|_| RemoteError::BadUrl { url: options.url.clone() })?;
        let headers = vec![
            ("authorization", format!("Bearer {}", options.token)),
            ("sec-websocket-protocol", SUBPROTOCOL.into()),
        ];
        let path = options.device.as_ref().map_or_else(|| "/".to_owned(), |device| format!("/d/{device}"));
        Ok(Self { dial: Dial::new(url, &options.url, headers)?, path, keys: options.keys.clone() })
    }

    /// Serves local clients until `stop` is cancelled. What happens is passed to `tell`.
    pub async fn run(self, bound: Bound, stop: Stop, tell: impl Fn(ConnectEvent) + Send + Sync + 'static) {
        let (client, tell) = (Arc::new(self), Arc::new(tell));
        let sessions = TaskTracker::new();
        loop {
            let accepted: std::io::Result<Box<dyn super::dial::Wire>> = tokio::select! {
                () = stop.cancelled() => break,
                accepted = accept(&bound) => accepted,
            };
            let wire = match accepted {
                Ok(wire) => wire,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // Without free descriptors, accepting fails until some are closed.
                    tokio::time::sleep(FIRST_RETRY).await;
                    continue;
                }
            };
            let (client, tell, stop) = (Arc::clone(&client), Arc::clone(&tell), stop.clone());
            sessions.spawn(async move { client.serve(wire, &stop, &*tell).await });
        }
        sessions.close();
        let _ = timeout(2 * CLOSE_TIMEOUT, sessions.wait()).await;
    }

    /// Serves one local client.
    async fn serve(
        &self,
        wire: impl AsyncRead + AsyncWrite + Unpin,
        stop: &Stop,
        tell: &(dyn Fn(ConnectEvent) + Sync),
    ) {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let accepting = accept_hdr_async_with_config(wire, refuse_pages, Some(config));
        let socket = match timeout(HANDSHAKE_TIMEOUT, accepting).await {
            Ok(Ok(socket)) => socket,
            Ok(Err(error)) => return tracing::debug!(%error, "a local client did not open a WebSocket"),
            Err(_) => return tracing::debug!("a local client took too long"),
        };
        let session = match Session::new(self.keys.as_ref()) {
            Ok(session) => session,
            Err(why) => {
                tell(ConnectEvent::Ended(why.clone()));
                return close(socket, &End { code: UNSEALED_CODE, why }).await;
            }
        };
        let (mut sink, stream) = socket.split();
        let end = {
            let mut giving = pin!(session.give_local(&mut sink));
            let end = tokio::select! {
                end = session.take_local(stream) => end,
                () = &mut giving => None,
                end = session.keep_connected(self, tell) => Some(end),
                () = stop.cancelled() => Some(End { code: 1001, why: "the program is shutting down".to_owned() }),
            };
            if end.is_some() {
                // What came before the end is given first.
                session.state().has_ended = true;
                session.to_local.notify_one();
                let _ = timeout(CLOSE_TIMEOUT, giving).await;
            }
            end
        };
        if let Some(end) = &end {
            if end.code != 1001 {
                tell(ConnectEvent::Ended(end.why.clone()));
            }
            let _ = timeout(CLOSE_TIMEOUT, sink.send(end.frame())).await;
        }
        // The relay knows of the ends that it tells.
        let is_told = end.is_some_and(|end| end.code >= 4000 && end.code != UNSEALED_CODE);
        if !is_told {
            session.leave(self).await;
        }
    }
}

async fn accept(bound: &Bound) -> std::io::Result<Box<dyn super::dial::Wire>> {
    match &bound.endpoint {
        Endpoint::Unix(endpoint) => Ok(Box::new(endpoint.listener.accept().await?.0)),
        Endpoint::Tcp(listener, _) => {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream))
        }
        // There is nobody to wait for.
        Endpoint::Stdio | Endpoint::Off => std::future::pending().await,
    }
}

#[expect(clippy::result_large_err, reason = "the library wants it so")]
fn refuse_pages(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    if !request.headers().contains_key(ORIGIN) {
        return Ok(response);
    }
    let mut refusal = ErrorResponse::new(Some("requests of web pages are refused\n".to_owned()));
    *refusal.status_mut() = StatusCode::FORBIDDEN;
    Err(refusal)
}

/// Why a local client's connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct End {
    code: u16,
    why: String,
}

impl End {
    fn unsealed(why: impl std::fmt::Display) -> Self {
        Self { code: UNSEALED_CODE, why: format!("the stream cannot be sealed: {why}") }
    }

    fn frame(&self) -> Message {
        let mut reason = trace_text::preview(&self.why, trace_text::Usage::Prose, MAX_REASON_BYTES);
        while reason.len() > MAX_REASON_BYTES {
            reason.pop();
        }
        Message::Close(Some(CloseFrame { code: CloseCode::from(self.code), reason: reason.into() }))
    }
}

async fn close<S: AsyncRead + AsyncWrite + Unpin>(mut socket: WebSocketStream<S>, end: &End) {
    let _ = timeout(CLOSE_TIMEOUT, socket.send(end.frame())).await;
}

/// One local client and its stream.
struct Session {
    keys: Option<SealedServerFile>,
    state: Mutex<State>,
    /// Wakes the task that writes to the relay.
    to_relay: Notify,
    /// Wakes the task that takes messages of the local client.
    room: Notify,
    /// Wakes the task that gives messages to the local client.
    to_local: Notify,
    /// Wakes the task that reads from the relay.
    taken: Notify,
}

struct State {
    stage: Stage,
    stream: Option<String>,
    /// Sealed messages that wait to be sent to the relay.
    queue: SendQueue<Utf8Bytes>,
    received: Received,
    is_ack_due: bool,
    /// What is given to the local client, opened.
    inbox: VecDeque<String>,
    inbox_bytes: usize,
    has_ended: bool,
}

/// How far the key agreement is.
enum Stage {
    Plain,
    Begun(Box<(ClientAgreement, SealedServer)>),
    /// The key of the server is kept after the first message that was opened.
    Sealed {
        channel: Box<Channel>,
        unproved: Option<Key>,
    },
    /// A step has failed.
    Failed,
}

/// A frame of the relay.
#[derive(Deserialize)]
struct Frame<'a> {
    seq: Option<u64>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    ack: Option<u64>,
}

/// What a server says instead of its part of a key agreement. Nobody vouches for it.
#[derive(Deserialize)]
struct Refused {
    refused: String,
}

impl Session {
    fn new(keys: Option<&SealedServerFile>) -> Result<Self, String> {
        let mut queue = SendQueue::new(usize::MAX);
        let stage = match keys {
            None => Stage::Plain,
            Some(keys) => {
                let known = keys.read().map_err(|error| error.to_string())?;
                let (agreement, message) = known.begin().map_err(|error| error.to_string())?;
                push(&mut queue, &message);
                Stage::Begun(Box::new((agreement, known)))
            }
        };
        Ok(Self {
            keys: keys.cloned(),
            state: Mutex::new(State {
                stage,
                stream: None,
                queue,
                received: Received::default(),
                is_ack_due: false,
                inbox: VecDeque::new(),
                inbox_bytes: 0,
                has_ended: false,
            }),
            to_relay: Notify::new(),
            room: Notify::new(),
            to_local: Notify::new(),
            taken: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the messages of the local client, until it leaves. Returns an end if one cannot be sealed.
    async fn take_local<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut stream: SplitStream<WebSocketStream<S>>,
    ) -> Option<End> {
        loop {
            let text = match stream.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => continue,
            };
            // Anything else would break the frame of the relay.
            if let Err(error) = serde_json::from_str::<&RawValue>(&text) {
                tracing::debug!(%error, "a message that is not JSON was dropped");
                continue;
            }
            loop {
                let has_room = self.room.notified();
                match self.state().take_local(&text) {
                    Some(Ok(())) => break,
                    Some(Err(error)) => return Some(End { code: TOO_LONG_CODE, why: error.to_string() }),
                    None => {}
                }
                has_room.await;
            }
            self.to_relay.notify_one();
        }
    }

    /// Gives the messages of the server to the local client, until it leaves or the stream has ended.
    async fn give_local<S: AsyncRead + AsyncWrite + Unpin>(&self, sink: &mut SplitSink<WebSocketStream<S>, Message>) {
        loop {
            let has_ended = self.state().has_ended;
            if !self.give_some(sink).await || has_ended {
                return;
            }
            self.to_local.notified().await;
        }
    }

    /// Gives what has come. Returns whether the client takes it.
    async fn give_some<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        sink: &mut SplitSink<WebSocketStream<S>, Message>,
    ) -> bool {
        loop {
            let text = {
                let mut state = self.state();
                let Some(text) = state.inbox.pop_front() else { break };
                state.inbox_bytes -= text.len();
                text
            };
            self.taken.notify_one();
            if sink.feed(Message::text(text)).await.is_err() {
                return false;
            }
        }
        sink.flush().await.is_ok()
    }

    /// Keeps a connection to the relay, until the stream ends.
    async fn keep_connected(&self, client: &RelayClient, tell: &(dyn Fn(ConnectEvent) + Sync)) -> End {
        let mut retry = FIRST_RETRY;
        let mut last = None;
        let mut tell = |event: ConnectEvent| {
            if last.as_ref() != Some(&event) {
                last = Some(event.clone());
                tell(event);
            }
        };
        loop {
            let why = match client.dial.connect(&self.path(client), None).await {
                Ok((socket, headers)) => {
                    {
                        let mut state = self.state();
                        let named = headers.get(STREAM_HEADER).and_then(|stream| stream.to_str().ok());
                        match (&state.stream, named) {
                            (Some(_), _) => {}
                            (None, Some(named)) => state.stream = Some(named.to_owned()),
                            (None, None) => return End { code: 1002, why: "the server is not a relay".to_owned() },
                        }
                        state.queue.reconnected();
                        state.is_ack_due = state.received.last() > 0;
                    }
                    match self.talk(socket, &mut retry, &mut tell).await {
                        Ok(why) => why,
                        Err(end) => return end,
                    }
                }
                Err(DialError::Unauthorized(why) | DialError::Refused(why)) => {
                    return End {
                        code: StreamEnd::Revoked.code(),
                        why: format!("the relay refuses the client: {why}"),
                    };
                }
                Err(DialError::Failed(why)) => why,
            };
            tell(ConnectEvent::Waiting(why));
            tokio::time::sleep(retry).await;
            retry = (retry * 2).min(LAST_RETRY);
        }
    }

    fn path(&self, client: &RelayClient) -> String {
        let state = self.state();
        match &state.stream {
            None => client.path.clone(),
            Some(stream) => format!("{}?stream={stream}&after={}", client.path, state.received.last()),
        }
    }

    /// Talks to the relay until the connection breaks, which is no error, or the stream ends.
    async fn talk(
        &self,
        socket: Socket,
        retry: &mut Duration,
        tell: &mut impl FnMut(ConnectEvent),
    ) -> Result<String, End> {
        let (sink, stream) = socket.split();
        tokio::select! {
            broken = self.write(sink) => Ok(broken),
            ended = self.read(stream, retry, tell) => ended,
        }
    }

    async fn write(&self, mut sink: SplitSink<Socket, Message>) -> String {
        loop {
            let work = self.to_relay.notified();
            let frames = self.state().frames();
            let writing = async {
                for frame in frames {
                    sink.feed(Message::Text(frame)).await?;
                }
                sink.flush().await
            };
            match timeout(REMOTE_SILENCE_TIMEOUT, writing).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return "the relay does not take messages".to_owned(),
            }
            if self.state().queue.can_send() {
                continue;
            }
            work.await;
        }
    }

    async fn read(
        &self,
        mut stream: SplitStream<Socket>,
        retry: &mut Duration,
        tell: &mut impl FnMut(ConnectEvent),
    ) -> Result<String, End> {
        loop {
            // While the local client takes nothing, the relay is not read.
            loop {
                let taken = self.taken.notified();
                if self.state().has_room() {
                    break;
                }
                taken.await;
            }
            match timeout(REMOTE_SILENCE_TIMEOUT, stream.next()).await {
                Err(_) => return Ok("the relay is silent".to_owned()),
                Ok(None) => return Ok("the connection has ended".to_owned()),
                Ok(Some(Err(error))) => return Ok(error.to_string()),
                Ok(Some(Ok(Message::Close(frame)))) => {
                    let Some(frame) = frame else { return Ok("the relay closed the connection".to_owned()) };
                    let why = trace_text::preview(&frame.reason, trace_text::Usage::Prose, MAX_SHOWN_REASON);
                    return match u16::from(frame.code) {
                        code @ 4000.. => Err(End { code, why }),
                        code => Ok(format!("the relay closed the connection: {why} ({code})")),
                    };
                }
                Ok(Some(Ok(Message::Text(text)))) => {
                    *retry = FIRST_RETRY;
                    let proved = self.state().take(&text)?;
                    if let (Some(server), Some(keys)) = (proved, &self.keys) {
                        keep(keys, server).await.map_err(End::unsealed)?;
                        self.state().stage.kept();
                    }
                    if self.state().stage.is_open() {
                        tell(ConnectEvent::Connected { is_sealed: self.keys.is_some() });
                    }
                    self.to_local.notify_one();
                    self.to_relay.notify_one();
                    self.room.notify_one();
                }
                Ok(Some(Ok(_))) => {}
            }
        }
    }

    /// Tells the relay that the stream is over, after the last messages of the client, if that can be done at once.
    async fn leave(&self, client: &RelayClient) {
        if self.state().stream.is_none() {
            return;
        }
        let telling = async {
            let Ok((mut socket, _)) = client.dial.connect(&self.path(client), None).await else { return };
            self.state().queue.reconnected();
            loop {
                let (frames, is_done) = {
                    let mut state = self.state();
                    (state.frames(), state.queue.frames() == 0)
                };
                if is_done {
                    break;
                }
                for frame in frames {
                    let _ = socket.feed(Message::Text(frame)).await;
                }
                let _ = socket.flush().await;
                if self.state().queue.can_send() {
                    continue;
                }
                match socket.next().await {
                    Some(Ok(Message::Text(text))) => {
                        if let Ok(Frame { ack: Some(ack), .. }) = serde_json::from_str::<Frame<'_>>(&text) {
                            self.state().queue.ack(ack, None);
                        }
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => {}
                }
            }
            let frame = CloseFrame { code: CloseCode::Normal, reason: "the client has left".into() };
            let _ = socket.send(Message::Close(Some(frame))).await;
            while let Some(Ok(_)) = socket.next().await {}
        };
        let _ = timeout(CLOSE_TIMEOUT, telling).await;
    }
}

impl Stage {
    /// Returns whether the client talks to the server. In a sealed stream, the server has proved that it knows the code.
    fn is_open(&self) -> bool {
        matches!(self, Self::Plain | Self::Sealed { unproved: None, .. })
    }

    /// Notes that the key of the server was kept.
    fn kept(&mut self) {
        if let Self::Sealed { unproved, .. } = self {
            *unproved = None;
        }
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.inbox.len() < MAX_WAITING_MESSAGES && self.inbox_bytes < MAX_WAITING_BYTES
    }

    /// Takes a message of the local client. Returns `None` if it has to wait.
    fn take_local(&mut self, text: &str) -> Option<Result<(), SealError>> {
        if self.queue.frames() >= MAX_WAITING_MESSAGES || self.queue.bytes() >= MAX_WAITING_BYTES {
            return None;
        }
        match &mut self.stage {
            Stage::Begun(_) | Stage::Failed => return None,
            Stage::Plain => push(&mut self.queue, text),
            Stage::Sealed { channel, .. } => match channel.seal(text) {
                Ok(sealed) => push(&mut self.queue, &sealed),
                Err(error) => return Some(Err(error)),
            },
        }
        Some(Ok(()))
    }

    /// Returns the next frames for the relay.
    fn frames(&mut self) -> Vec<Utf8Bytes> {
        let mut frames = Vec::new();
        if std::mem::take(&mut self.is_ack_due) {
            frames.push(format!(r#"{{"ack":{}}}"#, self.received.last()).into());
        }
        let mut bytes = 0;
        while bytes < super::BATCH_BYTES
            && let Some(frame) = self.queue.send_next()
        {
            bytes += frame.len();
            frames.push(frame.clone());
        }
        frames
    }

    /// Takes a frame of the relay. Returns the key of the server when it is proved, until it was kept.
    fn take(&mut self, text: &str) -> Result<Option<Key>, End> {
        let frame: Frame<'_> = serde_json::from_str(text).map_err(|error| End {
            code: StreamEnd::BadFrame.code(),
            why: format!("the relay sent no frame: {error}"),
        })?;
        if let Some(ack) = frame.ack {
            self.queue.ack(ack, None);
        }
        let (Some(seq), Some(message)) = (frame.seq, frame.message) else { return Ok(None) };
        if !self.received.note(seq) {
            self.is_ack_due = true;
            return Ok(None);
        }
        self.is_ack_due = true;
        let message = message.get();
        let mut proved = None;
        let text = match std::mem::replace(&mut self.stage, Stage::Failed) {
            Stage::Plain => {
                self.stage = Stage::Plain;
                message.to_owned()
            }
            Stage::Begun(begun) => {
                let (agreement, known) = *begun;
                if let Ok(Refused { refused }) = serde_json::from_str(message) {
                    let refused = trace_text::preview(&refused, trace_text::Usage::Prose, MAX_SHOWN_REASON);
                    return Err(End::unsealed(format_args!("the server, or the relay, says: {refused}")));
                }
                let (channel, server, last) = known.finish(agreement, message).map_err(End::unsealed)?;
                push(&mut self.queue, &last);
                self.stage = Stage::Sealed { channel: Box::new(channel), unproved: Some(server) };
                return Ok(None);
            }
            Stage::Sealed { mut channel, unproved } => {
                let refused = || serde_json::from_str::<Refused>(message).ok();
                let text = channel.open(message).map_err(|error| match refused() {
                    Some(Refused { refused }) if unproved.is_some() => {
                        let refused = trace_text::preview(&refused, trace_text::Usage::Prose, MAX_SHOWN_REASON);
                        End::unsealed(format_args!("the server, or the relay, says: {refused}"))
                    }
                    _ => End::unsealed(error),
                })?;
                proved = unproved;
                self.stage = Stage::Sealed { channel, unproved };
                text
            }
            Stage::Failed => return Err(End::unsealed(SealError::Ended)),
        };
        self.inbox_bytes += text.len();
        self.inbox.push_back(text);
        Ok(proved)
    }
}

fn push(queue: &mut SendQueue<Utf8Bytes>, message: &str) {
    let frame = format!(r#"{{"seq":{},"message":{message}}}"#, queue.next_seq());
    let bytes = frame.len();
    queue.push([(frame.into(), bytes)]);
}

/// Keeps the key of the server, or checks that it is the one that was kept.
async fn keep(keys: &SealedServerFile, server: Key) -> Result<(), String> {
    let keys = keys.clone();
    let keeping = move || keys.update::<_, FileError>(|kept| Ok(kept.keep(server)));
    match tokio::task::spawn_blocking(keeping).await {
        Ok(Ok(Ok(_))) => Ok(()),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
