//! One client on standard input and output, with one message per line.
//!
//! After the end of the input, running requests have some time to be answered, so that a file of requests can be piped
//! in. Then the connection ends.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::drain::Shutdown;
use super::lines::{Lines, push_line};
use super::websocket::CLOSE_TIMEOUT;
use crate::connection::TransportKind;
use crate::ingress::{ConnectionOpener, Ingress};
use crate::outbound::{CloseReason, OutboundPolicy, OutboundReader};

/// Most bytes of one line. Longer lines are dropped.
pub const MAX_LINE_BYTES: usize = 256 << 20;

/// How long requests may take to be answered after the end of the input.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Most bytes of messages that are written together.
const BATCH_BYTES: usize = 256 << 10;

/// Serves one client until its input ends, its output fails or the server shuts down. Returns why it ended.
pub async fn serve_stdio(
    opener: &ConnectionOpener,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    shutdown: &Shutdown,
) -> CloseReason {
    let (ingress, reader) = opener.open(TransportKind::Stdio, OutboundPolicy::Wait);
    let outbound = reader.outbound();
    let end_when_told = async {
        shutdown.draining().await;
        shutdown.unless_forced(opener.drain()).await;
        outbound.end(CloseReason::ServerEnds);
        // A client that does not read must not prevent the shutdown.
        shutdown.unless_forced(tokio::time::sleep(CLOSE_TIMEOUT)).await;
        outbound.cut(CloseReason::ServerEnds);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = async { tokio::join!(read(ingress, input), write(reader, output)) } => {}
        () = end_when_told => {}
    }
    outbound.reason().unwrap_or(CloseReason::ClientLeft)
}

async fn read(mut ingress: Ingress, input: impl AsyncRead + Unpin) {
    let connection = std::sync::Arc::clone(ingress.connection());
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let reason = loop {
        let line = tokio::select! {
            biased;
            () = connection.ended() => return,
            line = lines.next() => line,
        };
        match line {
            Ok(Some(line)) => ingress.receive_bytes(line).await,
            Ok(None) => break CloseReason::ClientLeft,
            Err(error) => {
                tracing::warn!(%error, "input broke");
                break CloseReason::Broken;
            }
        }
    };
    tokio::select! {
        biased;
        () = connection.ended() => {}
        _ = tokio::time::timeout(ANSWER_TIMEOUT, ingress.all_answered()) => connection.end(reason),
    }
}

async fn write(mut reader: OutboundReader, mut output: impl AsyncWrite + Unpin) {
    let outbound = reader.outbound();
    let mut buffer = Vec::new();
    while let Some(texts) = reader.next(BATCH_BYTES).await {
        for text in &texts {
            push_line(&mut buffer, text);
        }
        drop(texts);
        let written = async {
            output.write_all(&buffer).await?;
            output.flush().await
        };
        let written = tokio::select! {
            biased;
            () = outbound.was_cut() => return,
            written = written => written,
        };
        if let Err(error) = written {
            tracing::warn!(%error, "output broke");
            outbound.cut(CloseReason::Broken);
            return;
        }
        buffer.clear();
        buffer.shrink_to(2 * BATCH_BYTES);
    }
}
