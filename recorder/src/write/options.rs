//! Options of a writer.

use std::sync::Arc;
use std::time::Duration;

use super::queue::Limits;
use super::storage::{OsStorage, Storage};

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, even by a crash: the operating system has the bytes.
    #[default]
    Buffered,
    /// A power failure as well: the bytes are on the disk. Events that are recorded while one sync runs share the next one.
    Synced,
}

/// Default limit on the bytes of event lines that wait for the disk. This is some ten thousand events.
pub const MAX_QUEUED_LINE_BYTES: usize = 16 << 20;

/// Default limit on the bytes of payloads that wait for the disk.
pub const MAX_QUEUED_BODY_BYTES: usize = 64 << 20;

/// A payload of at most this size counts as a part of its event line, and is dropped only when there is hardly room for
/// events.
pub const SMALL_BODY_BYTES: usize = 4 << 10;

/// Default for the longest time that a caller waits for room in the queue.
pub const MAX_BLOCK: Duration = Duration::from_millis(50);

/// Default for the longest time for which events are collected before they are written.
pub const MAX_LINGER: Duration = Duration::from_millis(10);

/// Default for the longest time that ending a recording, or dropping the last handle of a bundle, waits for the queue.
pub const MAX_CLOSE: Duration = Duration::from_secs(5);

/// What a recording is while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// A directory with a file for each payload, as the Codex CLI writes it.
    #[default]
    Directory,
    /// One file that grows by what is new, and that is a packed bundle when the recording is complete.
    Packed,
}

/// Options of a writer. The defaults suit an interactive session.
#[derive(Debug, Clone)]
pub struct WriterOptions {
    /// What a new recording is.
    pub form: Form,
    /// What an acknowledged event survives.
    pub durability: Durability,
    /// Limit on the bytes of event lines and small payloads in the queue. The last quarter is reserved for event lines. If
    /// a caller finds no room for an event within [`Self::max_block`], the recording stops. While a batch is being written, its lines
    /// stay in memory and no longer count, so memory may hold twice as many.
    pub queued_line_bytes: usize,
    /// Limit on the bytes of other payloads in the queue. If a caller finds no room within [`Self::max_block`], the content
    /// of its payload is dropped. From then on, until at most half of the limit is in use, payloads that do not fit are
    /// dropped without waiting.
    pub queued_body_bytes: usize,
    /// Longest time that a caller waits for room in the queue.
    pub max_block: Duration,
    /// Longest time for which events are collected before they are written. A writer with little to do collects them for a
    /// millisecond; one that records all the time, for 16 times as long as it took to write those before.
    pub max_linger: Duration,
    /// Longest time that ending the recording, or dropping the last handle, waits for the queue to be written.
    pub max_close: Duration,
    /// The file system to write to.
    pub storage: Arc<dyn Storage>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            form: Form::default(),
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
