//! What a command prints: gathered or told, up to a limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trace_protocol::ServerNotification;

use crate::services::notify::Notifier;

/// The most bytes of one stream that are gathered in memory, whatever a client asks for.
pub const MAX_BUFFERED_OUTPUT_BYTES: usize = 128 * 1024 * 1024;
/// How long output is waited for that others still hold open after the command has ended.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes that are read at once.
const PIECE_BYTES: usize = 32 * 1024;

/// Which of its outputs a command printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// The standard output, or the terminal.
    Out,
    /// The standard error.
    Err,
}

/// A piece of output that is told.
pub(super) struct Piece<'a> {
    pub(super) stream: Stream,
    pub(super) bytes: &'a [u8],
    /// Whether this is the last that is told of the stream, because of the limit.
    pub(super) cap_reached: bool,
}

/// Makes the notification for a piece.
pub(super) type Wording = Arc<dyn Fn(Piece<'_>) -> ServerNotification + Send + Sync>;

/// What becomes of output.
#[derive(Clone)]
pub(super) enum Destination {
    /// It is gathered.
    Gathered,
    /// It is told as it comes.
    Told(Notifier, Wording),
}

/// What was read of one stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Captured {
    /// What was gathered.
    pub(super) bytes: Vec<u8>,
    /// Whether there were as many bytes as the limit, or more.
    pub(super) cap_reached: bool,
    /// Whether somebody still held the stream open when it was no longer waited for.
    pub(super) drain_timed_out: bool,
}

/// What was read so far.
pub(super) type Capture = Arc<Mutex<Captured>>;

/// Reads a stream to its end. What is over the limit is read and dropped, so that the command can go on.
///
/// After `ended` the command itself is gone, and only others can hold the stream open. They are waited for as long as
/// [`DRAIN_TIMEOUT`]; a client that takes its time does not use that up.
pub(super) async fn read(
    mut from: impl AsyncRead + Unpin,
    stream: Stream,
    destination: Destination,
    cap: Option<usize>,
    capture: Capture,
    ended: CancellationToken,
) {
    let limit = match destination {
        Destination::Gathered => Some(cap.unwrap_or(usize::MAX).min(MAX_BUFFERED_OUTPUT_BYTES)),
        Destination::Told(..) => cap,
    };
    let mut taken = 0_usize;
    let mut is_full = false;
    let mut remaining = DRAIN_TIMEOUT;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        if is_full && ended.is_cancelled() {
            return;
        }
        if let Destination::Told(notifier, _) = &destination {
            notifier.ready().await;
        }
        let had_ended = ended.is_cancelled();
        if had_ended && remaining.is_zero() {
            // Somebody who was left behind never stops printing.
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
        // A terminal whose last user has gone fails to read instead of ending.
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
            Destination::Gathered => captured.bytes.extend_from_slice(bytes),
            Destination::Told(notifier, wording) => {
                drop(captured);
                notifier.notify(wording(Piece { stream, bytes, cap_reached: is_full }));
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

    /// Has something to say, first every two milliseconds and then at once; nobody is to listen for long then.
    struct Endless {
        pause: Pin<Box<tokio::time::Sleep>>,
        said: u32,
    }

    /// Until nobody waits any more.
    const PAUSES: u32 = 2_000;

    impl AsyncRead for Endless {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            assert!(self.said < 2 * PAUSES, "somebody listens for ever");
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
    async fn who_never_stops_printing_is_not_waited_for_when_the_command_has_ended() {
        let wording = |piece: Piece<'_>| {
            assert_eq!((piece.stream, piece.bytes, piece.cap_reached), (Stream::Out, &b"y"[..], false));
            WarningNotification::default().into()
        };
        let told = Destination::Told(Arc::new(|_: ServerNotification| {}), Arc::new(wording));
        let ended = CancellationToken::new();
        ended.cancel();
        let capture = Capture::default();
        let endless = Endless { pause: Box::pin(tokio::time::sleep(Duration::ZERO)), said: 0 };
        read(endless, Stream::Out, told, None, Arc::clone(&capture), ended).await;
        assert!(capture.lock().expect("no panic").drain_timed_out);
    }
}
