//! One client on a WebSocket: one message per text frame.
//!
//! Binary frames are ignored, and the WebSocket library answers pings. If a client does not read, its socket is
//! dropped, even if messages wait to be written. Otherwise, a close frame tells why the connection ends, and the client
//! has some time to answer it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use bytes::Bytes;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};

use crate::ingress::Ingress;
use crate::outbound::{CloseReason, OutboundReader};

/// Most bytes of one message of a client.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How long the other side may take to close a connection.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes of messages that are written together.
const BATCH_BYTES: usize = 64 << 10;

/// Size of the read buffer. Every connection has such a buffer, even if it is idle.
const READ_BYTES: usize = 16 << 10;

/// Limits the size of messages and of the buffers of idle connections.
pub(super) fn limited(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES).read_buffer_size(READ_BYTES)
}

/// Serves one client until either side ends the connection.
pub(super) async fn run(socket: WebSocket, ingress: Ingress, reader: OutboundReader) {
    let outbound = reader.outbound();
    let (sink, stream) = socket.split();
    let mut reading = pin!(read(stream, ingress));
    let mut writing = pin!(write(sink, reader));
    let rest = async {
        tokio::select! {
            () = &mut reading => writing.await,
            () = &mut writing => reading.await,
        }
    };
    let too_late = async {
        outbound.ended().await;
        tokio::time::sleep(CLOSE_TIMEOUT).await;
    };
    tokio::select! {
        () = rest => {}
        () = too_late => outbound.cut(CloseReason::Broken),
    }
}

async fn read(mut stream: impl Stream<Item = Result<Message, axum::Error>> + Unpin, mut ingress: Ingress) {
    let connection = Arc::clone(ingress.connection());
    let outbound = connection.outbound().clone();
    let reason = loop {
        let message = tokio::select! {
            biased;
            () = outbound.was_cut() => return,
            message = stream.next() => message,
        };
        match message {
            // After the end, messages are read but ignored, in order to find a close frame behind them.
            Some(Ok(Message::Text(_))) if connection.has_ended() => {}
            Some(Ok(Message::Text(text))) => ingress.receive(&text).await,
            Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_))) | None => break CloseReason::ClientLeft,
            Some(Err(error)) => {
                tracing::debug!(connection = %connection.id(), %error, "connection broke");
                break CloseReason::Broken;
            }
        }
    };
    connection.end(reason);
}

async fn write(mut sink: impl Sink<Message, Error = axum::Error> + Unpin, mut reader: OutboundReader) {
    let outbound = reader.outbound();
    let all = async {
        while let Some(texts) = reader.next(BATCH_BYTES).await {
            for text in texts {
                sink.feed(Message::Text(frame(text))).await?;
            }
            sink.flush().await?;
        }
        let reason = outbound.reason().unwrap_or(CloseReason::ClientLeft);
        let code = match reason {
            CloseReason::ServerEnds => close_code::AWAY,
            CloseReason::TooSlow | CloseReason::Abandoned | CloseReason::Refused => close_code::POLICY,
            CloseReason::ClientLeft | CloseReason::Broken => close_code::NORMAL,
        };
        let frame = CloseFrame { code, reason: Utf8Bytes::from(reason.to_string()) };
        sink.send(Message::Close(Some(frame))).await
    };
    let written = tokio::select! {
        biased;
        () = outbound.was_cut() => return,
        written = all => written,
    };
    if let Err(error) = written {
        tracing::debug!(%error, "connection broke");
        outbound.cut(CloseReason::Broken);
    }
}

/// Returns the content of a frame without copying the text, which other connections may share.
fn frame(text: Arc<str>) -> Utf8Bytes {
    struct Shared(Arc<str>);

    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }

    Utf8Bytes::try_from(Bytes::from_owner(Shared(text))).expect("a text is UTF-8")
}
