//! A part of the bytes from which files are made.

/// A part of the content, or of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

impl Slice {
    pub(crate) fn end(self) -> u64 {
        self.start + self.bytes
    }
}
