//! What is written to a command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Bytes that may wait for a command to read them; while as many wait, no more are taken.
pub const PENDING_INPUT_BYTES: usize = 8 * 1024 * 1024;

/// What a piece of input counts for beside its bytes, so that many small ones are bounded as well.
const PIECE_OVERHEAD_BYTES: usize = 64;

/// The character with which a terminal's user says that nothing more comes.
const END_OF_TRANSMISSION: u8 = 4;

/// Why something cannot be written to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteError {
    /// Nothing more was to come, or the command reads no more.
    Closed,
    /// The command reads too slowly.
    Full,
}

/// How the end of input is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The pipe is closed.
    Close,
    /// A terminal gets the character for it.
    Character,
}

/// The way to the standard input of a command. Writing never waits: other requests for the same command stand behind it.
pub(super) struct Input {
    queue: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    pending: Arc<AtomicUsize>,
}

/// What was written and has not been read.
pub(super) struct InputQueue {
    queue: mpsc::UnboundedReceiver<Vec<u8>>,
    pending: Arc<AtomicUsize>,
}

impl Input {
    /// Returns both ends.
    pub(super) fn new() -> (Self, InputQueue) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let pending = Arc::new(AtomicUsize::new(0));
        (
            Self { queue: Mutex::new(Some(sender)), pending: Arc::clone(&pending) },
            InputQueue { queue: receiver, pending },
        )
    }

    /// Writes some bytes.
    pub(super) fn write(&self, bytes: Vec<u8>) -> Result<(), WriteError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = &*queue else { return Err(WriteError::Closed) };
        if self.pending.load(Ordering::Relaxed) >= PENDING_INPUT_BYTES {
            return Err(WriteError::Full);
        }
        self.pending.fetch_add(weight(&bytes), Ordering::Relaxed);
        sender.send(bytes).map_err(|_| WriteError::Closed)
    }

    /// Says that nothing more comes.
    pub(super) fn close(&self) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl InputQueue {
    /// Writes what comes, until nothing more does or nobody reads it.
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
            // Within a line the character only hands over what there is of it; the second one is the end.
            let ends = if is_at_line_start { 1 } else { 2 };
            // A command that has ended needs no end of its input.
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
    async fn small_pieces_are_bounded_and_make_room_when_they_are_read() {
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
