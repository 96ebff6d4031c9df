//! The standard input of a command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Most bytes that may wait for a command to read them. Further input is refused.
pub const PENDING_INPUT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes that each piece of input counts in addition to its content, so that many small pieces reach the limit too.
const PIECE_OVERHEAD_BYTES: usize = 64;

/// The character that ends the input of a terminal.
const END_OF_TRANSMISSION: u8 = 4;

/// Why input was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteError {
    /// The input was closed, or the command does not read any more.
    Closed,
    /// Too much input waits for the command.
    Full,
}

/// How the end of the input is signalled to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The pipe is closed.
    Close,
    /// [`END_OF_TRANSMISSION`] is written to the terminal.
    Character,
}

/// The sending end of a command's standard input. Writing never blocks, because other requests for the same command are
/// waiting behind it.
pub(super) struct Input {
    queue: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    pending: Arc<AtomicUsize>,
}

/// The receiving end: the input that the command has not read yet.
pub(super) struct InputQueue {
    queue: mpsc::UnboundedReceiver<Vec<u8>>,
    pending: Arc<AtomicUsize>,
}

impl Input {
    /// Creates both ends.
    pub(super) fn new() -> (Self, InputQueue) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let pending = Arc::new(AtomicUsize::new(0));
        (
            Self { queue: Mutex::new(Some(sender)), pending: Arc::clone(&pending) },
            InputQueue { queue: receiver, pending },
        )
    }

    pub(super) fn write(&self, bytes: Vec<u8>) -> Result<(), WriteError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = &*queue else { return Err(WriteError::Closed) };
        if self.pending.load(Ordering::Relaxed) >= PENDING_INPUT_BYTES {
            return Err(WriteError::Full);
        }
        self.pending.fetch_add(weight(&bytes), Ordering::Relaxed);
        sender.send(bytes).map_err(|_| WriteError::Closed)
    }

    /// Ends the input after what was written so far.
    pub(super) fn close(&self) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl InputQueue {
    /// Writes the input to the command until the input is closed or the command does not read any more.
    pub(super) async fn write_to(mut self, mut to: impl AsyncWrite + Unpin, ending: Ending) {
        let mut is_at_line_start = true;
        while let Some(bytes) = self.queue.recv().await {
            let written = to.write_all(&bytes).await;
            self.pending.fetch_sub(weight(&bytes), Ordering::Relaxed);
            if written.is_err() || to.flush().await.is_err() {
                return;
            }
            if let Some(last) = bytes.last() {
                is_at_line_start = *last == b'\n';
            }
        }
        if ending == Ending::Character {
            // In the middle of a line, the first character only delivers the line so far, and a second one ends the
            // input.
            let ends = if is_at_line_start { 1 } else { 2 };
            // An error means that the command has ended, so it needs no end of its input.
            let _ = to.write_all(&[END_OF_TRANSMISSION; 2][..ends]).await;
        }
    }
}

fn weight(bytes: &[u8]) -> usize {
    bytes.len().saturating_add(PIECE_OVERHEAD_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn small_pieces_count_and_are_released_when_read() {
        let (input, queue) = Input::new();
        let fits = PENDING_INPUT_BYTES / PIECE_OVERHEAD_BYTES;
        for _ in 0..fits {
            assert_eq!(input.write(Vec::new()), Ok(()));
        }
        assert_eq!(input.write(Vec::new()), Err(WriteError::Full));
        input.close();
        let pending = Arc::clone(&queue.pending);
        queue.write_to(tokio::io::sink(), Ending::Close).await;
        assert_eq!(pending.load(Ordering::Relaxed), 0);
    }
}
