//! Where a recording is written to: a directory, or one file that grows.

use std::fmt;
use std::io;

use super::body::Pieces;
use crate::recording::Stopped;

/// A file operation that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Path of the file relative to the bundle, or what could not be done.
    pub(crate) name: String,
    pub(crate) error: io::Error,
}

impl Failure {
    pub(crate) fn new(name: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let name = name.into();
        move |error| Self { name, error }
    }
}

/// A bundle that is being written. It holds the lock of the bundle.
pub(crate) trait Target: fmt::Debug + Send {
    /// Takes a payload. It is in the bundle after the next [`commit`](Self::commit) at the latest.
    fn payload(&mut self, ordinal: u64, conversation: u64, document: Pieces) -> Result<(), Failure>;

    /// Returns whether so many payloads were taken since the last commit that the lines which refer to them should be written.
    fn is_full(&self) -> bool;

    /// Writes the payloads that were taken and complete lines that may refer to them. If this fails, none of the lines is kept.
    /// When it returns, payloads and lines survive what the durability of the recording promises.
    fn commit(&mut self, lines: &[u8]) -> Result<(), Failure>;

    /// Gives up memory that is not needed while nothing is recorded.
    fn rest(&mut self);

    /// Writes into the recorder's file why the recording stopped.
    fn mark_stopped(&mut self, stopped: Stopped) -> io::Result<()>;

    /// Closes the bundle behind its last line, and releases its lock.
    fn complete(self: Box<Self>) -> Result<(), Failure>;
}
