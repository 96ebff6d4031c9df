//! Files of a bundle that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::{MAX_PAYLOAD_BYTES, PayloadEntry, PayloadError};

/// A piece of a file: a range of one of the buffers of its [`MemoryFiles`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// Index of the buffer.
    pub buffer: u32,
    /// The bytes in the buffer.
    pub bytes: Range<usize>,
}

/// The files of a bundle that was made in memory.
///
/// A file is a list of slices of shared buffers. Each request of a session repeats the one before it, so the files together
/// take the memory of what is new in each.
#[derive(Debug, Default)]
pub struct MemoryFiles {
    buffers: Vec<Vec<u8>>,
    files: BTreeMap<String, Vec<Slice>>,
}

impl MemoryFiles {
    /// Makes a value without files over `buffers`.
    pub fn new(buffers: Vec<Vec<u8>>) -> Self {
        Self { buffers, files: BTreeMap::new() }
    }

    /// Adds a file, or replaces the one at `path` (relative to the bundle).
    ///
    /// # Panics
    ///
    /// Panics if a slice lies outside of the buffers.
    pub fn insert(&mut self, path: String, slices: Vec<Slice>) {
        for slice in &slices {
            let buffer = &self.buffers[slice.buffer as usize];
            assert!(buffer.get(slice.bytes.clone()).is_some(), "slice {slice:?} of a buffer of {} bytes", buffer.len());
        }
        self.files.insert(path, slices);
    }

    /// Reads the file at `path` into `buffer`, which is cleared first.
    pub(super) fn read(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        buffer.clear();
        let slices = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let bytes = length(slices);
        if bytes > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLarge { bytes });
        }
        buffer.reserve(bytes as usize);
        for slice in slices {
            buffer.extend_from_slice(&self.buffers[slice.buffer as usize][slice.bytes.clone()]);
        }
        Ok(())
    }

    /// Appends the bytes of the file at `path` from `start` on to `buffer`.
    pub(super) fn read_from(&self, path: &str, start: usize, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        let slices = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let bytes = length(slices);
        if bytes > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLarge { bytes });
        }
        let mut skipped = start;
        for slice in slices {
            let bytes = self.bytes(slice);
            buffer.extend_from_slice(bytes.get(skipped..).unwrap_or_default());
            skipped = skipped.saturating_sub(bytes.len());
        }
        Ok(())
    }

    /// Returns with how many equal bytes two files begin. Slices of the same place are equal without a look at their bytes.
    pub(super) fn known_prefix(&self, one: &str, other: &str) -> usize {
        let (Some(one), Some(other)) = (self.files.get(one), self.files.get(other)) else { return 0 };
        let mut known = 0;
        for (a, b) in one.iter().zip(other) {
            let shorter = a.bytes.len().min(b.bytes.len());
            let equal = if (a.buffer, a.bytes.start) == (b.buffer, b.bytes.start) {
                shorter
            } else {
                self.bytes(a).iter().zip(self.bytes(b)).take_while(|(a, b)| a == b).count()
            };
            known += equal;
            if equal < a.bytes.len().max(b.bytes.len()) {
                break;
            }
        }
        known
    }

    fn bytes(&self, slice: &Slice) -> &[u8] {
        &self.buffers[slice.buffer as usize][slice.bytes.clone()]
    }

    /// Lists the files in the order of their paths.
    pub(super) fn list(&self) -> impl Iterator<Item = PayloadEntry> + '_ {
        self.files.iter().map(|(path, slices)| PayloadEntry { path: path.clone(), bytes: length(slices) })
    }
}

fn length(slices: &[Slice]) -> u64 {
    slices.iter().map(|slice| slice.bytes.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_bytes_of_its_slices_in_order() {
        let mut files = MemoryFiles::new(vec![b"[1,2]".to_vec(), b"{}".to_vec()]);
        let slice = |buffer, bytes| Slice { buffer, bytes };
        files.insert("payloads/1.json".to_owned(), vec![slice(0, 0..3), slice(1, 0..2), slice(0, 4..5)]);
        let mut read = vec![7];
        files.read("payloads/1.json", &mut read).expect("reads");
        assert_eq!(read, b"[1,{}]");
        assert_eq!(files.list().map(|entry| entry.bytes).collect::<Vec<_>>(), [6]);
        assert!(
            matches!(files.read("payloads/2.json", &mut read), Err(PayloadError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
        );
    }

    #[test]
    fn files_are_read_behind_what_they_share() {
        let mut files = MemoryFiles::new(vec![b"{[{[1,2,3]}".to_vec()]);
        let slice = |bytes| Slice { buffer: 0, bytes };
        files.insert("one".to_owned(), vec![slice(0..2), slice(4..7), slice(9..11)]);
        files.insert("two".to_owned(), vec![slice(2..4), slice(4..9), slice(9..11)]);
        assert_eq!((files.known_prefix("one", "two"), files.known_prefix("two", "one")), (5, 5));
        assert_eq!((files.known_prefix("one", "one"), files.known_prefix("one", "none")), (7, 0));
        for (start, rest) in [(0, "{[1,2,3]}"), (1, "[1,2,3]}"), (2, "1,2,3]}"), (5, ",3]}"), (9, ""), (12, "")] {
            let mut read = Vec::new();
            files.read_from("two", start, &mut read).expect("reads");
            assert_eq!(String::from_utf8(read).expect("text"), rest, "from {start}");
        }
    }

    #[test]
    #[should_panic(expected = "of a buffer of 2 bytes")]
    fn a_slice_outside_of_its_buffer_is_refused() {
        let mut files = MemoryFiles::new(vec![b"{}".to_vec()]);
        files.insert("payloads/1.json".to_owned(), vec![Slice { buffer: 0, bytes: 1..3 }]);
    }
}
