//! The event log: mapped into memory, split into lines, parsed in parallel.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use rayon::prelude::*;

use crate::format::Event;
use crate::memory::Memory;

/// Longest line that is parsed. An event has a few hundred bytes, and a few megabytes at most if it carries a text.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Largest log that is read, from a directory or a packed bundle. Large contents of a session are in its payloads.
pub const MAX_LOG_BYTES: u64 = 1 << 30;

/// Fewest lines that are parsed in parallel. For fewer, a second thread does not pay off.
const PARALLEL_LINES: usize = 512;

/// Smallest log that is mapped. Reading is cheaper for smaller files.
const MAP_BYTES: u64 = 1 << 16;

/// The bytes of an event log as they were when it was opened.
#[derive(Debug)]
pub struct EventLog {
    bytes: LogBytes,
}

#[derive(Debug)]
enum LogBytes {
    Mapped(Mmap),
    Read(Vec<u8>),
    /// A part of memory that was decompressed.
    Unpacked(Arc<Memory>, Range<usize>),
}

impl EventLog {
    /// Maps the log at `path` into memory, or reads a log that is too small for a mapping. The value has the bytes that the
    /// log had when it was opened.
    ///
    /// # Safety
    ///
    /// The mapped bytes must not be truncated or overwritten while the value lives: accessing a mapped page that no longer
    /// exists kills the process. A recorder that is at work may truncate a line that it failed to write, so such a log must be
    /// opened with [`read`](Self::read). A recorder that takes up the bundle later leaves the mapped bytes as they are, and so
    /// does a repair: both replace a file that becomes shorter.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of opening, mapping or reading the file, or `FileTooLarge` if it has more than
    /// [`MAX_LOG_BYTES`].
    pub unsafe fn map(path: &Path) -> io::Result<Self> {
        let file = open_log(path)?;
        let bytes = file.metadata()?.len();
        check_size(bytes)?;
        if bytes >= MAP_BYTES {
            // SAFETY: the mapping is read-only and private, and the caller promises that nothing changes the bytes below it.
            let mapped = unsafe { memmap2::MmapOptions::new().len(bytes as usize).map_copy_read_only(&file)? };
            return Ok(Self { bytes: LogBytes::Mapped(mapped) });
        }
        let mut small = Vec::new();
        file.take(bytes).read_to_end(&mut small)?;
        Ok(Self::from_bytes(small))
    }

    /// Reads the log at `path` into memory. The log may have an active recorder.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of opening or reading the file, or `FileTooLarge` if it has more than [`MAX_LOG_BYTES`].
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = open_log(path)?;
        let mut bytes = Vec::new();
        // The file may grow while it is read, so its size is checked after reading.
        file.take(MAX_LOG_BYTES + 1).read_to_end(&mut bytes)?;
        check_size(bytes.len() as u64)?;
        Ok(Self::from_bytes(bytes))
    }

    /// Reads the first `max_bytes` of the log at `path`, or all of a shorter log.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`read`](Self::read).
    pub(crate) fn read_head(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        open_log(path)?.take(max_bytes).read_to_end(&mut bytes)?;
        Ok(Self::from_bytes(bytes))
    }

    /// Makes a log of bytes that are in memory already.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: LogBytes::Read(bytes) }
    }

    /// Makes a log of a part of memory.
    pub(crate) fn from_memory((memory, part): (Arc<Memory>, Range<usize>)) -> Self {
        Self { bytes: LogBytes::Unpacked(memory, part) }
    }

    /// Returns the bytes of the log.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            LogBytes::Mapped(bytes) => bytes,
            LogBytes::Read(bytes) => bytes,
            LogBytes::Unpacked(memory, part) => &memory[part.clone()],
        }
    }

    /// Splits the log into its lines, without their line feeds.
    pub fn lines(&self) -> Lines<'_> {
        self.lines_from(0)
    }

    /// Splits the log behind `offset` into lines, as [`lines`](Self::lines) does. The first of them has the number 1.
    /// Returns no lines if `offset` is at or behind the end.
    pub fn lines_from(&self, offset: u64) -> Lines<'_> {
        let bytes = self.as_bytes();
        let offset = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        Lines { bytes, offset, number: 0 }
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    // The type is checked before the file is opened, because opening a named pipe blocks.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    check_size(metadata.len())?;
    File::open(path)
}

/// Returns an error of kind `FileTooLarge` if `bytes` exceeds [`MAX_LOG_BYTES`].
pub(crate) fn check_size(bytes: u64) -> io::Result<()> {
    if bytes <= MAX_LOG_BYTES {
        return Ok(());
    }
    let what = format!("it has {bytes} bytes, more than the {MAX_LOG_BYTES} that a log may have");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
}

/// One line of the log before it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number of the line, from 1.
    pub number: u64,
    /// Offset of the line in the log.
    pub offset: u64,
    /// The line without its line feed.
    pub bytes: &'a [u8],
    /// Whether the line ended with a line feed. Only the last line can lack it.
    pub terminated: bool,
}

/// Iterates over the lines of a log.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    offset: usize,
    number: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = &self.bytes[self.offset..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest);
        self.number += 1;
        let line = Line {
            number: self.number,
            offset: self.offset as u64,
            bytes: &rest[..end.unwrap_or(rest.len())],
            terminated: end.is_some(),
        };
        self.offset += end.map_or(rest.len(), |at| at + 1);
        Some(line)
    }
}

/// A line and the result of parsing it.
#[derive(Debug)]
pub struct ParsedLine<'a> {
    /// The line, not parsed.
    pub line: Line<'a>,
    /// Number of fields of the event that this crate does not know.
    pub unknown_fields: u32,
    /// The event, `None` for a blank line, or the reason why the line is not an event.
    pub event: Result<Option<Event<'a>>, LineError>,
}

/// Why a line is not an event.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line is not UTF-8.
    #[error("invalid UTF-8 at byte {at} of the line")]
    Utf8 {
        /// Offset of the first invalid byte in the line.
        at: usize,
        /// Whether the line ends in the middle of a character.
        is_cut: bool,
    },
    /// The line is longer than [`MAX_LINE_BYTES`].
    #[error("line of {bytes} bytes is longer than the {MAX_LINE_BYTES} that an event may have")]
    TooLong {
        /// Length of the line.
        bytes: usize,
    },
    /// The line is not a single JSON object with the fields of an event.
    #[error("not an event: {0}")]
    Json(#[from] serde_json::Error),
}

impl LineError {
    /// Returns whether the line ends where more JSON was expected, as after an interrupted write.
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Json(error) => error.is_eof(),
            Self::Utf8 { is_cut, .. } => *is_cut,
            Self::TooLong { .. } => false,
        }
    }
}

/// Parses lines, in parallel if there are many. The result has the order of the lines.
pub fn parse_lines<'a>(lines: &[Line<'a>]) -> Vec<ParsedLine<'a>> {
    if lines.len() < PARALLEL_LINES {
        lines.iter().map(|line| parse_line(*line)).collect()
    } else {
        lines.par_iter().with_min_len(PARALLEL_LINES / 4).map(|line| parse_line(*line)).collect()
    }
}

fn parse_line(line: Line<'_>) -> ParsedLine<'_> {
    let mut unknown_fields = 0;
    let event = (|| {
        if line.bytes.len() > MAX_LINE_BYTES {
            return Err(LineError::TooLong { bytes: line.bytes.len() });
        }
        let text = std::str::from_utf8(line.bytes)
            .map_err(|error| LineError::Utf8 { at: error.valid_up_to(), is_cut: error.error_len().is_none() })?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let (event, unknown) = Event::parse(text)?;
        unknown_fields = unknown;
        Ok(Some(event))
    })();
    ParsedLine { line, unknown_fields, event }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"schema_version":2,"seq":1,"wall_time_unix_ms":5,"rollout_id":"r","thread_id":null,"payload":{"type":"recording_completed","later":1}}"#;

    fn parse(bytes: &[u8]) -> Vec<(u64, u64, Result<Option<u64>, String>)> {
        let log = EventLog::from_bytes(bytes.to_vec());
        let lines: Vec<_> = log.lines().collect();
        parse_lines(&lines)
            .into_iter()
            .map(|parsed| {
                let event = parsed.event.map(|event| event.map(|event| event.seq)).map_err(|error| error.to_string());
                (parsed.line.number, parsed.line.offset, event)
            })
            .collect()
    }

    #[test]
    fn lines_are_split_and_counted() {
        let text = format!("{EVENT}\r\n\n  \n{EVENT}");
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.len(), 4);
        assert_eq!(parsed[0], (1, 0, Ok(Some(1))));
        assert_eq!((parsed[1].2.clone(), parsed[2].2.clone()), (Ok(None), Ok(None)));
        assert_eq!(parsed[3].2, Ok(Some(1)));
    }

    #[test]
    fn damage_stays_in_its_line() {
        let text = [EVENT.as_bytes(), b"\n\xff\xfe\n{\"a\":", &EVENT.as_bytes()[..40]].concat();
        let parsed = parse(&text);
        assert_eq!(parsed[0].2, Ok(Some(1)));
        insta::assert_snapshot!(parsed[1].2.as_ref().expect_err("not text"), @"invalid UTF-8 at byte 0 of the line");
        assert!(parsed[2].2.as_ref().expect_err("not JSON").starts_with("not an event: "));
    }

    #[test]
    fn unknown_fields_are_counted() {
        let log = EventLog::from_bytes(EVENT.into());
        let lines: Vec<_> = log.lines().collect();
        assert_eq!(parse_lines(&lines)[0].unknown_fields, 1);
    }

    #[test]
    fn a_line_over_the_limit_is_refused_unread() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("trace.jsonl");
        File::create(&path).expect("creates").set_len(MAX_LINE_BYTES as u64 + 1).expect("a sparse file");
        // SAFETY: nothing else knows the file.
        let log = unsafe { EventLog::map(&path) }.expect("opens");
        let lines: Vec<_> = log.lines().collect();
        assert!(matches!(parse_lines(&lines)[0].event, Err(LineError::TooLong { .. })));
    }

    #[test]
    fn a_log_over_the_limit_is_refused_unread() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("trace.jsonl");
        File::create(&path).expect("creates").set_len(MAX_LOG_BYTES + 1).expect("a sparse file");
        // SAFETY: nothing else knows the file.
        let mapped = unsafe { EventLog::map(&path) };
        for opened in [mapped, EventLog::read(&path)] {
            let error = opened.expect_err("too large");
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            insta::allow_duplicates! {
                insta::assert_snapshot!(error, @"it has 1073741825 bytes, more than the 1073741824 that a log may have");
            }
        }
    }

    #[test]
    fn many_lines_keep_their_order() {
        let text: String = (1..=3000).map(|seq| EVENT.replace("\"seq\":1", &format!("\"seq\":{seq}")) + "\n").collect();
        let parsed = parse(text.as_bytes());
        assert!(parsed.iter().zip(1..).all(|(line, seq)| line.2 == Ok(Some(seq))));
    }
}
