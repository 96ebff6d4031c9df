//! Session files of one JSON record per line, plain or compressed with zstd.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use trace_recorder::format::import::Place;

use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::surrogates::mend_surrogates;

/// Longest record that is read. Pictures in a session take some megabytes each.
pub const MAX_RECORD_BYTES: usize = 64 << 20;

/// Longest content of a file that is kept in memory as a whole. A compressed file of some kilobytes may have any length.
pub(crate) const MAX_WHOLE_BYTES: usize = 1 << 30;

/// Bytes that are read from the file at once.
const READ_BYTES: usize = 1 << 16;

/// Bytes that are read at once of a file of which only the start is wanted.
pub(crate) const START_BYTES: usize = 1 << 12;

/// First bytes of a file that zstd compressed.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The records of a file, one after the other. Only one is in memory at a time.
pub struct Records {
    path: PathBuf,
    source: u32,
    reader: Box<dyn BufRead>,
    line: u32,
    buffer: Vec<u8>,
}

/// One line of a file.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The file and the number of the line.
    pub place: Place,
    /// The line without its line feed. It is not blank, but may be anything.
    pub bytes: &'a [u8],
    /// Whether a line feed ends the line. A program that was killed, or is still writing, leaves a last line without one.
    pub is_terminated: bool,
}

impl Records {
    /// Opens the file at `path` and adds it to the sources of `draft`.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` is not a plain file or cannot be read.
    pub fn open(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let reader = open(path).map_err(|source| ImportError::io(path, source))?;
        Ok(Self::new(path, reader, draft))
    }

    /// Opens a file that is known to be a plain one, of which probably only the first records are wanted.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn open_start(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let reader = open_plain(path, START_BYTES).map_err(|source| ImportError::io(path, source))?;
        Ok(Self::new(path, reader, draft))
    }

    fn new(path: &Path, reader: Box<dyn BufRead>, draft: &mut Draft) -> Self {
        Self { path: path.to_owned(), source: draft.source(path), reader, line: 0, buffer: Vec::new() }
    }

    /// Reads the next record. Skips blank lines, and lines that are longer than [`MAX_RECORD_BYTES`], which it notes in `draft`.
    /// Returns `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if its compressed data is damaged before the first record. Damage behind
    /// a record ends the file there and is noted.
    pub fn next(&mut self, draft: &mut Draft) -> Result<Option<Record<'_>>, ImportError> {
        loop {
            let place = Place { source: self.source, line: self.line.saturating_add(1) };
            self.buffer.clear();
            let limit = MAX_RECORD_BYTES as u64 + 1;
            match self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if self.line > 0 => {
                    tracing::warn!(path = %self.path.display(), line = place.line, %error, "the rest of the file cannot be read");
                    draft.note(Code::DamagedLine, Some(place));
                    return Ok(None);
                }
                Err(error) => return Err(ImportError::io(&self.path, error)),
            }
            self.line = place.line;
            let is_terminated = self.buffer.last() == Some(&b'\n');
            if mend_surrogates(&mut self.buffer) {
                draft.note(Code::LoneSurrogate, Some(place));
            }
            if !is_terminated && self.buffer.len() > MAX_RECORD_BYTES {
                draft.note(Code::LongLine, Some(place));
                self.skip_line()?;
                continue;
            }
            if self.buffer.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let end = self.buffer.len() - usize::from(is_terminated);
            return Ok(Some(Record { place, bytes: &self.buffer[..end], is_terminated }));
        }
    }

    /// Reads up to the next line feed without keeping anything.
    fn skip_line(&mut self) -> Result<(), ImportError> {
        loop {
            let bytes = self.reader.fill_buf().map_err(|source| ImportError::io(&self.path, source))?;
            let end = memchr::memchr(b'\n', bytes);
            let (length, is_done) = (end.map_or(bytes.len(), |end| end + 1), end.is_some() || bytes.is_empty());
            self.reader.consume(length);
            if is_done {
                return Ok(());
            }
        }
    }
}

/// Reads a whole file into memory and adds it to the sources of `draft`. Returns its number and its content.
///
/// Lines that are longer than [`MAX_RECORD_BYTES`] are left empty and noted. They are dropped while they are read, so that they take no
/// memory. Content beyond [`MAX_WHOLE_BYTES`] is left out and noted.
///
/// # Errors
///
/// Returns an error if `path` is not a plain file or cannot be read, or if its compressed data is damaged from the start. Damage behind
/// that ends the content there and is noted.
pub(crate) fn read_whole(path: &Path, draft: &mut Draft) -> Result<(u32, Vec<u8>), ImportError> {
    let failed = |source| ImportError::io(path, source);
    let mut reader = open(path).map_err(failed)?;
    let source = draft.source(path);
    let length = std::fs::metadata(path).map_or(0, |data| data.len());
    let mut whole = Whole { source, content: Vec::new(), line_start: 0, is_in_long_line: false };
    // A plain file is then read without copies, unless it grows meanwhile.
    whole.content.reserve(usize::try_from(length).unwrap_or(usize::MAX).min(MAX_WHOLE_BYTES));
    if let Err(error) = whole.read(&mut *reader, MAX_WHOLE_BYTES, draft) {
        if whole.content.is_empty() {
            return Err(failed(error));
        }
        let place = whole.place();
        tracing::warn!(path = %path.display(), line = place.line, %error, "the rest of the file cannot be read");
        draft.note(Code::DamagedLine, Some(place));
    }
    Ok((source, whole.content))
}

/// The content of a file while it is read.
struct Whole {
    source: u32,
    content: Vec<u8>,
    /// Where the last line begins.
    line_start: usize,
    /// Whether the last line is too long and dropped up to its line feed.
    is_in_long_line: bool,
}

impl Whole {
    /// Reads up to the end, or up to `limit` bytes of content.
    fn read(&mut self, reader: &mut dyn BufRead, limit: usize, draft: &mut Draft) -> io::Result<()> {
        loop {
            let bytes = match reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                return Ok(());
            }
            let length = bytes.len();
            self.add(bytes, draft);
            reader.consume(length);
            if self.content.len() > limit {
                self.line_start = memchr::memrchr(b'\n', &self.content[..limit]).map_or(0, |end| end + 1);
                self.content.truncate(self.line_start);
                // The place is that of the first line that is left out.
                draft.note(Code::LongFile, Some(self.place()));
                return Ok(());
            }
        }
    }

    fn add(&mut self, mut bytes: &[u8], draft: &mut Draft) {
        if !self.is_in_long_line && self.content.len() - self.line_start + bytes.len() <= MAX_RECORD_BYTES {
            // No line in these bytes can be too long.
            if let Some(end) = memchr::memrchr(b'\n', bytes) {
                self.line_start = self.content.len() + end + 1;
            }
            self.content.extend_from_slice(bytes);
            return;
        }
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes);
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if !self.is_in_long_line && self.content.len() - self.line_start + part.len() > MAX_RECORD_BYTES {
                self.is_in_long_line = true;
                self.content.truncate(self.line_start);
                draft.note(Code::LongLine, Some(self.place()));
            }
            if !self.is_in_long_line {
                self.content.extend_from_slice(part);
            }
            if end.is_some() {
                self.is_in_long_line = false;
                self.content.push(b'\n');
                self.line_start = self.content.len();
            }
            bytes = rest.get(1..).unwrap_or_default();
        }
    }

    /// Returns the place of the last line.
    fn place(&self) -> Place {
        let before = memchr::memchr_iter(b'\n', &self.content[..self.line_start]).count();
        Place { source: self.source, line: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1) }
    }
}

/// Opens a plain file, and unpacks it if it is compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    // The type is checked before the file is opened, because opening a named pipe blocks.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    open_plain(path, READ_BYTES)
}

/// Opens a file that is known to be a plain one, and unpacks it if it is compressed. So many bytes are read at once.
pub(crate) fn open_plain(path: &Path, bytes: usize) -> io::Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(bytes, File::open(path)?);
    if reader.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        let decoder = zstd::Decoder::with_buffer(reader)?;
        return Ok(Box::new(BufReader::with_capacity(READ_BYTES, decoder)));
    }
    Ok(Box::new(reader))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file: their number, text, and whether a line feed ends them.
    fn lines(content: &[u8]) -> (Vec<(u32, String, bool)>, Draft) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("session.jsonl");
        std::fs::write(&path, content).expect("writes");
        let mut draft = Draft::new("test");
        let mut records = Records::open(&path, &mut draft).expect("opens");
        let mut lines = Vec::new();
        while let Some(record) = records.next(&mut draft).expect("reads") {
            let text = String::from_utf8_lossy(record.bytes).into_owned();
            lines.push((record.place.line, text, record.is_terminated));
        }
        (lines, draft)
    }

    fn codes(draft: &Draft) -> Vec<(Code, u64)> {
        draft.noted().collect()
    }

    #[test]
    fn lines_are_numbered_and_blank_ones_are_skipped() {
        let (found, draft) = lines(b"{\"a\":1}\n\n  \n{\"b\":2}");
        let expected = [(1, "{\"a\":1}".to_owned(), true), (4, "{\"b\":2}".to_owned(), false)];
        assert_eq!(found, expected);
        assert!(codes(&draft).is_empty());
    }

    #[test]
    fn a_compressed_file_is_read_as_its_content() {
        let compressed = zstd::encode_all(&b"one\ntwo\n"[..], 1).expect("compresses");
        let (found, _) = lines(&compressed);
        assert_eq!(found, [(1, "one".to_owned(), true), (2, "two".to_owned(), true)]);
        // A cut file gives the lines before the cut, and says that the rest is missing.
        let long: String =
            (0..40_000_u64).map(|number| format!("{}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)).collect();
        let compressed = zstd::encode_all(long.as_bytes(), 1).expect("compresses");
        let (found, draft) = lines(&compressed[..compressed.len() / 2]);
        assert!(!found.is_empty() && found.len() < 40_000, "{} lines", found.len());
        assert_eq!(codes(&draft), [(Code::DamagedLine, 1)]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut content = vec![b'x'; MAX_RECORD_BYTES + 1];
        content.extend_from_slice(b"\nnext\n");
        let (found, draft) = lines(&content);
        assert_eq!(found, [(2, "next".to_owned(), true)]);
        assert_eq!(codes(&draft), [(Code::LongLine, 1)]);
        content.drain(..1);
        assert_eq!(lines(&content).0.len(), 2, "a line of exactly the limit is read");
    }

    #[test]
    fn a_long_line_takes_no_memory_and_leaves_an_empty_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("session.jsonl.zst");
        let mut packer = zstd::Encoder::new(File::create(&path).expect("creates"), 1).expect("packs");
        let mut write = |bytes: &[u8]| io::Write::write_all(&mut packer, bytes).expect("writes");
        write(b"one\n");
        let part = vec![b'x'; MAX_RECORD_BYTES / 4];
        (0..12).for_each(|_| write(&part));
        write(b"\nthree\n");
        (0..4).for_each(|_| write(&part));
        write(b"\nfive\n");
        (0..4).for_each(|_| write(&part));
        write(b"xx");
        packer.finish().expect("finishes");
        let mut draft = Draft::new("test");
        let (_, content) = read_whole(&path, &mut draft).expect("reads");
        let mut wanted = b"one\n\nthree\n".to_vec();
        wanted.resize(wanted.len() + MAX_RECORD_BYTES, b'x');
        wanted.extend_from_slice(b"\nfive\n");
        assert!(content == wanted, "{} bytes", content.len());
        // Buffers grow to twice the bytes that are in them.
        let most = 2 * (wanted.len() + READ_BYTES);
        assert!(content.capacity() <= most, "{} bytes of memory", content.capacity());
        assert_eq!(codes(&draft), [(Code::LongLine, 2)]);
    }

    #[test]
    fn a_content_over_the_limit_ends_with_its_last_whole_line() {
        let read = |content: &[u8], limit| {
            let mut draft = Draft::new("test");
            let mut whole = Whole { source: 0, content: Vec::new(), line_start: 0, is_in_long_line: false };
            whole.read(&mut BufReader::with_capacity(4, content), limit, &mut draft).expect("reads");
            (String::from_utf8(whole.content).expect("UTF-8"), codes(&draft))
        };
        let content = b"one\ntwo\nthree\n";
        assert_eq!(read(content, content.len()), ("one\ntwo\nthree\n".to_owned(), Vec::new()));
        assert_eq!(read(content, content.len() - 1), ("one\ntwo\n".to_owned(), vec![(Code::LongFile, 1)]));
        assert_eq!(read(content, 3), (String::new(), vec![(Code::LongFile, 1)]));
        assert_eq!(read(content, 10), ("one\ntwo\n".to_owned(), vec![(Code::LongFile, 1)]));
    }

    #[test]
    fn a_directory_is_not_a_file_of_records() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(matches!(Records::open(directory.path(), &mut Draft::new("test")), Err(ImportError::Io { .. })));
    }
}
