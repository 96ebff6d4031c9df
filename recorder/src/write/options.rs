//! How a writer records.

use std::sync::Arc;
use std::time::Duration;

use super::queue::Limits;
use super::storage::{OsStorage, Storage};

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however it ends: the bytes are with the operating system.
    #[default]
    Buffered,
    /// A loss of power as well: the bytes are on the disk. What was recorded while one sync ran is synced together by the
    /// next.
    Synced,
}

/// Most bytes of event lines that wait for the disk. Some ten thousand events.
pub const MAX_QUEUED_LINE_BYTES: usize = 16 << 20;

/// Most bytes of payload bodies that wait for the disk.
pub const MAX_QUEUED_BODY_BYTES: usize = 64 << 20;

/// A body of at most so many bytes travels with its event, and is dropped only when there is hardly room for events.
pub const SMALL_BODY_BYTES: usize = 4 << 10;

/// Longest time that a caller waits for room in the queue.
pub const MAX_BLOCK: Duration = Duration::from_millis(50);

/// Longest time that events gather before they are written.
pub const MAX_LINGER: Duration = Duration::from_millis(1);

/// Longest time that ending a recording, or dropping the last handle of a bundle, waits for what is still in the queue.
pub const MAX_CLOSE: Duration = Duration::from_secs(5);

/// How a writer records. The default is good for a session that people use.
#[derive(Debug, Clone)]
pub struct WriterOptions {
    /// What an acknowledged event survives.
    pub durability: Durability,
    /// Most bytes of event lines in the queue, small bodies among them; when they are reached, and a caller finds no room
    /// within [`Self::max_block`], the recording stops. The last quarter is for events alone.
    pub queued_line_bytes: usize,
    /// Most bytes of payload bodies in the queue; when a caller finds no room within [`Self::max_block`], its body is
    /// dropped, and until the queue has drained to a half nobody waits for a body that does not fit.
    pub queued_body_bytes: usize,
    /// Longest time that a caller waits for room in the queue.
    pub max_block: Duration,
    /// Longest time that events gather before they are written.
    pub max_linger: Duration,
    /// Longest time that ending the recording, or dropping the last handle, waits for what is still in the queue.
    pub max_close: Duration,
    /// Where the files are.
    pub storage: Arc<dyn Storage>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            queued_line_bytes: MAX_QUEUED_LINE_BYTES,
            queued_body_bytes: MAX_QUEUED_BODY_BYTES,
            max_block: MAX_BLOCK,
            max_linger: MAX_LINGER,
            max_close: MAX_CLOSE,
            storage: Arc::new(OsStorage),
        }
    }
}

impl WriterOptions {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            line_bytes: self.queued_line_bytes,
            body_bytes: self.queued_body_bytes,
            patience: self.max_block,
            linger: self.max_linger,
        }
    }
}
