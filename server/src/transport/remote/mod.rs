//! Clients that come through a relay, which the server dials. All of them share one connection to the relay.
//!
//! A stream of a client is a connection like any other. It outlives the connection to the relay: its messages are
//! numbered, kept until the relay has acknowledged them, and sent again after a reconnect.

mod connect;
mod dial;
mod sealed;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use trace_relay::relay::{CURSOR_HEADER, StreamEnd};

use self::dial::{Dial, DialError, Socket};
use self::streams::Streams;
use super::drain::Shutdown;
use super::websocket::CLOSE_TIMEOUT;
use crate::ingress::ConnectionOpener;

/// Ends [`Remote::run`] when it is cancelled.
pub use tokio_util::sync::CancellationToken as Stop;

pub use self::connect::{ConnectEvent, ConnectOptions, RelayClient, UNSEALED_CODE};
pub use self::dial::RemoteError;
pub use self::sealed::Sealing;
pub use self::streams::{MAX_ASSEMBLIES, MAX_UNACKNOWLEDGED, STREAM_SILENCE_TIMEOUT};

/// Interval of pings to the relay.
pub const REMOTE_PING_INTERVAL: Duration = Duration::from_secs(10);

/// How long the relay may be silent before the server dials again.
pub const REMOTE_SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Pause before the first attempt to dial again. It doubles with each failed attempt.
pub const FIRST_RETRY: Duration = Duration::from_millis(100);

/// Longest pause between two attempts.
pub const LAST_RETRY: Duration = Duration::from_secs(30);

/// Interval in which the server looks whether sealed clients were revoked.
pub const REVOCATION_INTERVAL: Duration = Duration::from_secs(1);

/// The path of servers.
const SERVER_PATH: &str = "/server";

/// Most bytes of frames that are written together.
const BATCH_BYTES: usize = 64 << 10;

/// Columns of the reason for which a relay closes a connection that are shown.
const MAX_SHOWN_REASON: usize = 200;

/// The relay that a server dials.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// The URL of the relay, `wss://HOST:PORT`, or `ws://` on this machine.
    pub url: String,
    /// The token of the device.
    pub token: String,
    /// The clients whose streams are sealed. `None` if no stream is.
    pub sealing: Option<Sealing>,
}

/// Where the server stands with its relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteStatus {
    /// Clients can come.
    Connected,
    /// The connection was lost or could not be made, and the server dials again.
    Disconnected(String),
    /// The relay does not accept the token. The server tries again, but rarely.
    Unauthorized(String),
    /// Another server with the same token has connected. This one does not dial again.
    Replaced,
}

impl std::fmt::Display for RemoteStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connected => formatter.write_str("connected"),
            Self::Disconnected(why) => write!(formatter, "not connected, trying again: {why}"),
            Self::Unauthorized(why) => write!(formatter, "the relay does not accept the device token: {why}"),
            Self::Replaced => formatter.write_str("another server with the same token has taken the place of this one"),
        }
    }
}

/// A server's connection to a relay, before it is made.
#[derive(Debug)]
pub struct Remote {
    dial: Dial,
    streams: Arc<Streams>,
}

/// Why a connection to the relay ended.
enum Lost {
    /// The server shuts down.
    Stopped,
    Replaced,
    Revoked,
    Broken(String),
}

impl Remote {
    /// Prepares to dial a relay.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL cannot be dialled safely or the certificates of the machine cannot be read.
    pub fn new(options: &RemoteOptions, opener: &ConnectionOpener, shutdown: &Shutdown) -> Result<Self, RemoteError> {
        let url: Uri = options.url.parse().map_err(|_| RemoteError::BadUrl { url: options.url.clone() })?;
        let mut instance = [0; 16];
        getrandom::fill(&mut instance).map_err(|_| RemoteError::NoRandomness)?;
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let installation = hex(&Sha256::digest(format!("installation {}", options.token))[..16]);
        let headers = vec![
            ("authorization", format!("Bearer {}", options.token)),
            ("x-codex-protocol-version", "3".to_owned()),
            ("x-codex-name", STANDARD.encode(name)),
            ("x-codex-server-id", installation.clone()),
            ("x-codex-installation-id", installation),
            // The numbers of streams are known to this process only.
            (trace_relay::relay::INSTANCE_HEADER, hex(&instance)),
        ];
        let streams = Arc::new(Streams::new(opener.clone(), options.sealing.clone(), shutdown.clone()));
        Ok(Self { dial: Dial::new(url, &options.url, headers)?, streams })
    }

    /// Dials the relay, again and again, and serves its clients until `stop` is cancelled. Then the streams end after
    /// their messages have been sent. Each change of the status is passed to `tell`.
    ///
    /// Meanwhile, the streams of sealed clients that were revoked end within [`REVOCATION_INTERVAL`], whatever the relay
    /// does.
    pub async fn run(self, stop: Stop, tell: impl FnMut(RemoteStatus)) {
        tokio::select! {
            () = watch_revocations(&self.streams) => {}
            () = self.keep_connected(stop, tell) => {}
        }
    }

    async fn keep_connected(&self, stop: Stop, mut tell: impl FnMut(RemoteStatus)) {
        let Self { dial, streams } = self;
        let mut retry = FIRST_RETRY;
        let mut last = None;
        let mut tell = |status: RemoteStatus| {
            if last.as_ref() != Some(&status) {
                last = Some(status.clone());
                tell(status);
            }
        };
        loop {
            let dialled = tokio::select! {
                () = stop.cancelled() => return,
                dialled = dial.connect(SERVER_PATH, streams.cursor().map(|cursor| (CURSOR_HEADER, cursor))) => dialled,
            };
            match dialled {
                Ok((socket, _)) => {
                    tell(RemoteStatus::Connected);
                    let mut has_heard = false;
                    match serve(socket, streams, &stop, &mut has_heard).await {
                        Lost::Stopped => return,
                        Lost::Replaced => {
                            tell(RemoteStatus::Replaced);
                            streams.end_all();
                            return stop.cancelled().await;
                        }
                        Lost::Revoked => {
                            retry = LAST_RETRY;
                            tell(RemoteStatus::Unauthorized(StreamEnd::Revoked.to_string()));
                        }
                        Lost::Broken(why) => {
                            if has_heard {
                                retry = FIRST_RETRY;
                            }
                            tell(RemoteStatus::Disconnected(why));
                        }
                    }
                }
                Err(DialError::Unauthorized(why)) => {
                    retry = LAST_RETRY;
                    tell(RemoteStatus::Unauthorized(why));
                }
                Err(DialError::Refused(why) | DialError::Failed(why)) => tell(RemoteStatus::Disconnected(why)),
            }
            streams.close_silent();
            let pause = tokio::time::sleep(retry);
            retry = (retry * 2).min(LAST_RETRY);
            tokio::select! {
                () = stop.cancelled() => return,
                () = pause => {}
            }
        }
    }
}

/// Ends the streams of sealed clients that were revoked. A relay that stops reading, or is away, cannot delay this.
async fn watch_revocations(streams: &Arc<Streams>) {
    let mut looks = interval(REVOCATION_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let streams = Arc::clone(streams);
        if let Err(error) = tokio::task::spawn_blocking(move || streams.end_revoked()).await {
            tracing::error!(%error, "cannot look for revoked clients");
        }
    }
}

/// Serves all clients on one connection.
async fn serve(socket: Socket, streams: &Arc<Streams>, stop: &Stop, has_heard: &mut bool) -> Lost {
    let connection = streams.connected();
    let (mut sink, mut stream) = socket.split();
    let reading = async {
        loop {
            match timeout(REMOTE_SILENCE_TIMEOUT, stream.next()).await {
                Err(_) => return Lost::Broken("the relay is silent".to_owned()),
                Ok(None) => return Lost::Broken("the connection has ended".to_owned()),
                Ok(Some(Err(error))) => return Lost::Broken(error.to_string()),
                Ok(Some(Ok(Message::Close(frame)))) => return closed(frame),
                Ok(Some(Ok(Message::Text(text)))) => {
                    *has_heard = true;
                    streams.take(&text);
                }
                Ok(Some(Ok(_))) => *has_heard = true,
            }
        }
    };
    let writing = async {
        let mut pings = interval(REMOTE_PING_INTERVAL);
        pings.tick().await;
        let mut last_moment = None;
        loop {
            let frames = streams.frames(connection, BATCH_BYTES);
            let is_idle = frames.is_empty();
            let batch = async {
                for frame in frames {
                    sink.feed(Message::Text(frame)).await?;
                }
                sink.flush().await
            };
            let written = tokio::select! {
                written = timeout(REMOTE_SILENCE_TIMEOUT, batch) => written,
                () = some_time_after(stop) => {
                    streams.end_all();
                    return Lost::Stopped;
                }
            };
            match written {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Lost::Broken(error.to_string()),
                Err(_) => return Lost::Broken("the relay does not take messages".to_owned()),
            }
            if !is_idle {
                continue;
            }
            let deadline = last_moment.unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600));
            if last_moment.is_some() && (streams.are_done() || Instant::now() >= deadline) {
                let frame = CloseFrame { code: CloseCode::Away, reason: "the server is shutting down".into() };
                let _ = timeout(CLOSE_TIMEOUT, sink.send(Message::Close(Some(frame)))).await;
                return Lost::Stopped;
            }
            tokio::select! {
                () = streams.work() => {}
                () = stop.cancelled(), if last_moment.is_none() => {
                    streams.end_all();
                    last_moment = Some(Instant::now() + CLOSE_TIMEOUT);
                }
                () = tokio::time::sleep_until(deadline), if last_moment.is_some() => {}
                _ = pings.tick() => {
                    streams.close_silent();
                    if let Err(error) = sink.send(Message::Ping(bytes::Bytes::new())).await {
                        return Lost::Broken(error.to_string());
                    }
                }
            }
        }
    };
    tokio::select! {
        lost = reading => lost,
        lost = writing => lost,
    }
}

/// Waits until a relay that takes nothing is not waited for any more, because the server shuts down.
async fn some_time_after(stop: &Stop) {
    stop.cancelled().await;
    tokio::time::sleep(CLOSE_TIMEOUT).await;
}

fn closed(frame: Option<CloseFrame>) -> Lost {
    let Some(frame) = frame else { return Lost::Broken("the relay closed the connection".to_owned()) };
    let code = u16::from(frame.code);
    if code == StreamEnd::Replaced.code() {
        Lost::Replaced
    } else if code == StreamEnd::Revoked.code() {
        Lost::Revoked
    } else {
        let reason = trace_text::preview(&frame.reason, trace_text::Usage::Prose, MAX_SHOWN_REASON);
        Lost::Broken(format!("the relay closed the connection: {reason} ({code})"))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
