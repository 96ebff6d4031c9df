//! The connection of a client.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::end::StreamEnd;
use super::link::{Attachment, FromClient};
use super::registry::Device;
use crate::pieces::MAX_MESSAGE_BYTES;

/// Interval of pings to clients and servers.
pub const WEBSOCKET_PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long a connection may be silent, which includes answers to pings.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a connection may take to take what is written to it.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the other side may take to close a connection.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes of messages that are written together.
pub(super) const BATCH_BYTES: usize = 64 << 10;

/// The subprotocol of clients that number their messages and resume their streams.
pub const SUBPROTOCOL: &str = "trace.relay.v1";

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    /// Messages without numbers, as to any app-server.
    Plain,
    /// The subprotocol [`SUBPROTOCOL`].
    Numbered,
}

/// A frame of a client that numbers its messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame<'a> {
    seq: Option<u64>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    ack: Option<u64>,
}

/// Serves a client until either side ends the connection.
pub(super) async fn serve(
    socket: WebSocket,
    device: Arc<Device>,
    at: Attachment,
    speech: Speech,
    stop: CancellationToken,
) {
    let (sink, stream) = socket.split();
    let bad = CancellationToken::new();
    let has_finished = {
        let mut reading = pin!(read(stream, &device, &at, speech, &bad));
        let mut writing = pin!(write(sink, &device, &at, speech, &stop, &bad));
        tokio::select! {
            has_finished = &mut reading => has_finished,
            () = &mut writing => {
                // The other side answers the close frame, with the same code.
                let _ = timeout(CLOSE_TIMEOUT, reading).await;
                false
            }
        }
    };
    if has_finished {
        device.link().client_finished(&at, Instant::now());
    } else {
        device.link().client_left(&at, Instant::now());
    }
}

/// Ends a connection before it has a stream.
pub(super) async fn refuse(mut socket: WebSocket, why: StreamEnd) {
    let closing = async {
        let _ = socket.send(close(why)).await;
        while let Some(Ok(_)) = socket.recv().await {}
    };
    let _ = timeout(CLOSE_TIMEOUT, closing).await;
}

pub(super) fn close(why: StreamEnd) -> Message {
    Message::Close(Some(CloseFrame { code: why.code(), reason: Utf8Bytes::from(why.to_string()) }))
}

/// Returns whether the client has said that it does not come back.
async fn read(
    mut stream: SplitStream<WebSocket>,
    device: &Device,
    at: &Attachment,
    speech: Speech,
    bad: &CancellationToken,
) -> bool {
    let mut has_ended = false;
    loop {
        let text = match timeout(SILENCE_TIMEOUT, stream.next()).await {
            Err(_) => {
                tracing::debug!(stream = %at.key, "a client is silent");
                return false;
            }
            Ok(None) => return false,
            Ok(Some(Ok(Message::Close(frame)))) => return frame.is_some_and(|frame| frame.code == close_code::NORMAL),
            Ok(Some(Err(error))) => {
                tracing::debug!(stream = %at.key, %error, "a client's connection broke");
                return false;
            }
            Ok(Some(Ok(Message::Text(text)))) => text,
            Ok(Some(Ok(_))) => continue,
        };
        if has_ended {
            // A close frame may follow.
            continue;
        }
        let (seq, message) = match speech {
            Speech::Plain => match serde_json::from_str::<&RawValue>(&text) {
                Ok(message) => (None, message),
                Err(error) => {
                    tracing::debug!(stream = %at.key, %error, "a message that is not JSON was dropped");
                    continue;
                }
            },
            Speech::Numbered => match serde_json::from_str::<Frame<'_>>(&text) {
                Ok(Frame { seq: None, message: None, ack: Some(ack) }) => {
                    device.link().client_has(at, ack);
                    continue;
                }
                Ok(Frame { seq: Some(seq), message: Some(message), ack: None }) if seq > 0 => (Some(seq), message),
                _ => {
                    has_ended = true;
                    bad.cancel();
                    continue;
                }
            },
        };
        if message.get().len() > MAX_MESSAGE_BYTES {
            // No server takes it in pieces.
            has_ended = true;
            bad.cancel();
            continue;
        }
        let taken = device.link().take_from_client(at, seq, message.to_owned());
        drop(text);
        match taken {
            FromClient::Taken => {}
            FromClient::Ended => has_ended = true,
            // Until there is room, the client is not read, so that it stops sending.
            FromClient::Full => {
                while !device.link().has_room(at) {
                    at.room.notified().await;
                }
            }
        }
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    device: &Device,
    at: &Attachment,
    speech: Speech,
    stop: &CancellationToken,
    bad: &CancellationToken,
) {
    if speech == Speech::Numbered {
        let greeting = format!(r#"{{"method":"relay/stream","params":{{"stream":"{}"}}}}"#, at.key.stream);
        if sink.send(Message::text(greeting)).await.is_err() {
            return;
        }
    }
    let mut pings = interval(WEBSOCKET_PING_INTERVAL);
    pings.tick().await;
    let mut told = 0;
    loop {
        let batch = device.link().for_client(at, BATCH_BYTES);
        let last = batch.messages.last().map(|(seq, _)| *seq);
        let is_news = speech == Speech::Numbered && batch.taken > told;
        let end = if bad.is_cancelled() { Some(StreamEnd::BadFrame) } else { batch.end };
        if last.is_some() || is_news || end.is_some() {
            let writing = async {
                for (seq, message) in batch.messages {
                    sink.feed(frame(speech, seq, &message)).await?;
                }
                if is_news {
                    told = batch.taken;
                    sink.feed(Message::text(format!(r#"{{"ack":{told}}}"#))).await?;
                }
                if let Some(why) = end {
                    sink.feed(close(why)).await?;
                }
                sink.flush().await
            };
            match timeout(WRITE_TIMEOUT, writing).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return tracing::debug!(stream = %at.key, %error, "a client's connection broke"),
                Err(_) => return tracing::warn!(stream = %at.key, "a client does not take its messages"),
            }
            if end.is_some() {
                return;
            }
            if let (Speech::Plain, Some(seq)) = (speech, last) {
                device.link().client_has(at, seq);
            }
            if last.is_some() {
                continue;
            }
        }
        tokio::select! {
            () = at.work.notified() => {}
            () = bad.cancelled() => {}
            () = stop.cancelled() => {
                let _ = timeout(CLOSE_TIMEOUT, sink.send(close(StreamEnd::RelayEnds))).await;
                return;
            }
            _ = pings.tick() => {
                if !matches!(timeout(WRITE_TIMEOUT, sink.send(Message::Ping(Default::default()))).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
}

fn frame(speech: Speech, seq: u64, message: &str) -> Message {
    match speech {
        Speech::Plain => Message::text(message),
        Speech::Numbered => Message::text(format!(r#"{{"seq":{seq},"message":{message}}}"#)),
    }
}
