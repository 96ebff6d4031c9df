//! The output of a command: buffered or sent in notifications, up to a limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trace_protocol::ServerNotification;

use crate::services::notify::Notifier;

/// Most bytes of one stream that are buffered, even if a client asks for more.
pub const MAX_BUFFERED_OUTPUT_BYTES: usize = 128 * 1024 * 1024;
/// How long the server reads output after the command has ended, if other processes still hold the stream open.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes of one read.
const PIECE_BYTES: usize = 32 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// The standard output, or the terminal.
    Out,
    /// The standard error.
    Err,
}

/// A piece of output for a notification.
pub(super) struct Piece<'a> {
    pub(super) stream: Stream,
    pub(super) bytes: &'a [u8],
    /// Whether this is the last piece of the stream, because the limit was reached.
    pub(super) cap_reached: bool,
}

/// Converts a piece of output to a notification.
pub(super) type ToNotification = Arc<dyn Fn(Piece<'_>) -> ServerNotification + Send + Sync>;

/// What happens to the output.
#[derive(Clone)]
pub(super) enum Destination {
    /// It is buffered.
    Buffered,
    /// It is sent in notifications.
    Streamed(Notifier, ToNotification),
}

/// What was read of one stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Captured {
    /// The buffered output.
    pub(super) bytes: Vec<u8>,
    /// Whether the output reached the limit.
    pub(super) cap_reached: bool,
    /// Whether another process still held the stream open when [`DRAIN_TIMEOUT`] was over.
    pub(super) drain_timed_out: bool,
}

/// What was read of one stream so far.
pub(super) type Capture = Arc<Mutex<Captured>>;

/// Reads a stream to its end. Output beyond the limit is read and dropped, so that the command does not block.
///
/// After `ended`, the command itself has ended and only other processes can hold the stream open. They get
/// [`DRAIN_TIMEOUT`] to close it. The time that a slow client takes does not count.
pub(super) async fn read(
    mut from: impl AsyncRead + Unpin,
    stream: Stream,
    destination: Destination,
    cap: Option<usize>,
    capture: Capture,
    ended: CancellationToken,
) {
    let limit = match destination {
        Destination::Buffered => Some(cap.unwrap_or(usize::MAX).min(MAX_BUFFERED_OUTPUT_BYTES)),
        Destination::Streamed(..) => cap,
    };
    let mut taken = 0_usize;
    let mut is_full = false;
    let mut remaining = DRAIN_TIMEOUT;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        if is_full && ended.is_cancelled() {
            return;
        }
        if let Destination::Streamed(notifier, _) = &destination {
            notifier.ready().await;
        }
        let had_ended = ended.is_cancelled();
        if had_ended && remaining.is_zero() {
            // A process that the command left behind never stops printing.
            capture.lock().unwrap_or_else(PoisonError::into_inner).drain_timed_out = true;
            return;
        }
        let began = Instant::now();
        let read = tokio::select! {
            biased;
            read = from.read(&mut piece) => read,
            () = async { ended.cancelled().await; tokio::time::sleep(remaining).await } => {
                capture.lock().unwrap_or_else(PoisonError::into_inner).drain_timed_out = !is_full;
                return;
            }
        };
        if had_ended {
            remaining = remaining.saturating_sub(began.elapsed());
        }
        // Reading from a terminal returns an error, not the end of the file, when the last process has closed it.
        let length = match read {
            Ok(0) | Err(_) => return,
            Ok(length) => length,
        };
        if is_full {
            continue;
        }
        let room = limit.map_or(usize::MAX, |limit| limit - taken);
        let bytes = &piece[..length.min(room)];
        taken += bytes.len();
        is_full = limit == Some(taken);
        let mut captured = capture.lock().unwrap_or_else(PoisonError::into_inner);
        captured.cap_reached = is_full;
        match &destination {
            Destination::Buffered => captured.bytes.extend_from_slice(bytes),
            Destination::Streamed(notifier, to_notification) => {
                drop(captured);
                notifier.notify(to_notification(Piece { stream, bytes, cap_reached: is_full }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::ReadBuf;
    use trace_protocol::notification::WarningNotification;

    use super::*;

    /// Output that has data every two milliseconds, and later at once. By then, the reader should have stopped.
    struct Endless {
        pause: Pin<Box<tokio::time::Sleep>>,
        said: u32,
    }

    /// Number of reads that wait, after which the reader should have stopped.
    const PAUSES: u32 = 2_000;

    impl AsyncRead for Endless {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            assert!(self.said < 2 * PAUSES, "the reader should have stopped");
            if self.said < PAUSES {
                std::task::ready!(self.pause.as_mut().poll(context));
                self.pause.as_mut().reset(Instant::now() + Duration::from_millis(2));
            }
            self.said += 1;
            into.put_slice(b"y");
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn endless_output_ends_soon_after_the_command() {
        let to_notification = |piece: Piece<'_>| {
            assert_eq!((piece.stream, piece.bytes, piece.cap_reached), (Stream::Out, &b"y"[..], false));
            WarningNotification::default().into()
        };
        let streamed = Destination::Streamed(Arc::new(|_: ServerNotification| {}), Arc::new(to_notification));
        let ended = CancellationToken::new();
        ended.cancel();
        let capture = Capture::default();
        let endless = Endless { pause: Box::pin(tokio::time::sleep(Duration::ZERO)), said: 0 };
        read(endless, Stream::Out, streamed, None, Arc::clone(&capture), ended).await;
        assert!(capture.lock().expect("no panic").drain_timed_out);
    }
}
