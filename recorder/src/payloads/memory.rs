//! Files of a bundle that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::{MAX_PAYLOAD_BYTES, PayloadEntry, PayloadError};
use crate::format::PAYLOADS_DIR;

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
    /// The slices of all files, one file after the other.
    slices: Vec<Slice>,
    /// For each numbered payload, from 1, where its slices end.
    numbered: Vec<usize>,
    /// Where the slices of the other files are.
    named: BTreeMap<String, Range<usize>>,
    /// Whether each file is a JSON document.
    are_documents: bool,
}

impl MemoryFiles {
    /// Makes a value without files over `buffers`.
    pub fn new(buffers: Vec<Vec<u8>>) -> Self {
        Self { buffers, ..Self::default() }
    }

    /// Makes a value without files over `buffers`, of which the caller promises that each file that is added is a JSON document.
    /// A reader then does not parse a file only to find that out.
    pub fn of_documents(buffers: Vec<Vec<u8>>) -> Self {
        Self { are_documents: true, ..Self::new(buffers) }
    }

    /// Adds payloads: `slices` has the slices of all of them, and `ends` where those of each end. The first is
    /// `payloads/1.json`, the second `payloads/2.json`. Such files need no table of names.
    ///
    /// # Panics
    ///
    /// Panics if there are files already, if a slice lies outside of the buffers, or if `ends` does not divide the slices.
    pub fn add_payloads(&mut self, slices: Vec<Slice>, ends: Vec<usize>) {
        assert!(self.slices.is_empty(), "the payloads are added first");
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == slices.len(), "the ends divide the slices");
        slices.iter().for_each(|slice| self.check(slice));
        (self.slices, self.numbered) = (slices, ends);
    }

    /// Adds a file, or replaces the one at `path` (relative to the bundle).
    ///
    /// # Panics
    ///
    /// Panics if a slice lies outside of the buffers, or if the file is one of the numbered payloads.
    pub fn insert(&mut self, path: String, slices: Vec<Slice>) {
        assert!(self.number(&path).is_none(), "`{path}` is a payload already");
        slices.iter().for_each(|slice| self.check(slice));
        let start = self.slices.len();
        self.slices.extend(slices);
        self.named.insert(path, start..self.slices.len());
    }

    fn check(&self, slice: &Slice) {
        let buffer = &self.buffers[slice.buffer as usize];
        assert!(buffer.get(slice.bytes.clone()).is_some(), "slice {slice:?} of a buffer of {} bytes", buffer.len());
    }

    /// Returns the index of a numbered payload.
    fn number(&self, path: &str) -> Option<usize> {
        let digits = path.strip_prefix(PAYLOADS_DIR)?.strip_prefix('/')?.strip_suffix(".json")?;
        // Other spellings of a number name no file.
        if !matches!(digits.as_bytes().first(), Some(b'1'..=b'9')) {
            return None;
        }
        let number: usize = digits.parse().ok()?;
        (number <= self.numbered.len()).then(|| number - 1)
    }

    /// Returns the slices of a file.
    fn get(&self, path: &str) -> Option<&[Slice]> {
        let range = match self.number(path) {
            Some(index) => self.range(index),
            None => self.named.get(path)?.clone(),
        };
        Some(&self.slices[range])
    }

    fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.numbered[before]);
        start..self.numbered[index]
    }

    /// Returns whether the file at `path` exists and is known to be a JSON document that may be read.
    pub(super) fn is_document(&self, path: &str) -> bool {
        self.are_documents && self.get(path).is_some_and(|slices| length(slices) <= MAX_PAYLOAD_BYTES)
    }

    /// Returns the size of the file at `path` in bytes.
    pub(super) fn bytes_of(&self, path: &str) -> Option<u64> {
        self.get(path).map(length)
    }

    /// Reads the file at `path` into `buffer`, which is cleared first.
    pub(super) fn read(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        buffer.clear();
        let slices = self.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
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
        let slices = self.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
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
        let (Some(one), Some(other)) = (self.get(one), self.get(other)) else { return 0 };
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

    /// Lists the files in no particular order.
    pub(super) fn list(&self) -> impl Iterator<Item = PayloadEntry> + '_ {
        let entry = |path, slices: Range<usize>| PayloadEntry { path, bytes: length(&self.slices[slices]) };
        let numbered = (0..self.numbered.len())
            .map(move |index| entry(format!("{PAYLOADS_DIR}/{}.json", index + 1), self.range(index)));
        numbered.chain(self.named.iter().map(move |(path, slices)| entry(path.clone(), slices.clone())))
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
        assert_eq!((files.bytes_of("payloads/1.json"), files.bytes_of("payloads/2.json")), (Some(6), None));
        assert_eq!(files.list().map(|entry| entry.bytes).collect::<Vec<_>>(), [6]);
        assert!(
            matches!(files.read("payloads/2.json", &mut read), Err(PayloadError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
        );
    }

    #[test]
    fn numbered_payloads_are_found_by_their_names() {
        let mut files = MemoryFiles::new(vec![b"[1,2]{}".to_vec()]);
        let slice = |bytes| Slice { buffer: 0, bytes };
        files.add_payloads(vec![slice(0..5), slice(5..6), slice(6..7)], vec![1, 3, 3]);
        files.insert("import.json".to_owned(), vec![slice(5..7)]);
        let read = |path: &str| {
            let mut read = Vec::new();
            files.read(path, &mut read).ok().map(|()| String::from_utf8(read).expect("text"))
        };
        let expected =
            [("payloads/1.json", "[1,2]"), ("payloads/2.json", "{}"), ("payloads/3.json", ""), ("import.json", "{}")];
        for (path, text) in expected {
            assert_eq!(read(path).as_deref(), Some(text), "{path}");
        }
        for path in
            ["payloads/0.json", "payloads/01.json", "payloads/+1.json", "payloads/4.json", "payloads/1", "1.json"]
        {
            assert_eq!(read(path), None, "{path}");
        }
        let listed: Vec<_> = files.list().map(|entry| (entry.path, entry.bytes)).collect();
        let expected = expected.map(|(path, text)| (path.to_owned(), text.len() as u64));
        assert_eq!(listed, expected);
    }

    #[test]
    #[should_panic(expected = "is a payload already")]
    fn a_numbered_payload_is_not_replaced() {
        let mut files = MemoryFiles::new(vec![b"{}".to_vec()]);
        files.add_payloads(vec![Slice { buffer: 0, bytes: 0..2 }], vec![1]);
        files.insert("payloads/1.json".to_owned(), Vec::new());
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
    fn a_promise_counts_for_files_that_exist() {
        let slice = Slice { buffer: 0, bytes: 0..2 };
        let (mut known, mut unknown) =
            (MemoryFiles::of_documents(vec![b"{}".to_vec()]), MemoryFiles::new(vec![b"{}".to_vec()]));
        known.insert("payloads/1.json".to_owned(), vec![slice.clone()]);
        unknown.insert("payloads/1.json".to_owned(), vec![slice]);
        assert!(known.is_document("payloads/1.json") && !known.is_document("payloads/2.json"));
        assert!(!unknown.is_document("payloads/1.json"));
    }

    #[test]
    #[should_panic(expected = "of a buffer of 2 bytes")]
    fn a_slice_outside_of_its_buffer_is_refused() {
        let mut files = MemoryFiles::new(vec![b"{}".to_vec()]);
        files.insert("payloads/1.json".to_owned(), vec![Slice { buffer: 0, bytes: 1..3 }]);
    }
}
