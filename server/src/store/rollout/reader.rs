//! Reads a rollout line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::line::MAX_LINE_BYTES;

/// Properties of a file after its lines were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Number of bytes that were read.
    pub(crate) bytes: u64,
    /// Whether the last line has no line break. A writer has to append one first.
    pub(crate) open: bool,
}

/// The text of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    /// A line that ends with a line break.
    Whole(&'a str),
    /// The last line, without a line break. It may be complete otherwise. The text is empty if the line is not UTF-8 or
    /// is too long.
    Open(&'a str),
    /// A line that is too long or not UTF-8.
    Unreadable,
}

/// Calls `take` with each line and its offset, up to a number of bytes or until `take` breaks.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(crate) fn each_line(
    path: &Path,
    limit: Option<u64>,
    take: impl FnMut(u64, Text<'_>) -> ControlFlow<()>,
) -> io::Result<Ending> {
    let file = File::open(path)?;
    read_lines(BufReader::with_capacity(1 << 16, file.take(limit.unwrap_or(u64::MAX))), MAX_LINE_BYTES, take)
}

fn read_lines(
    mut from: impl BufRead,
    max_len: usize,
    mut take: impl FnMut(u64, Text<'_>) -> ControlFlow<()>,
) -> io::Result<Ending> {
    let mut ending = Ending::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let offset = ending.bytes;
        let max = u64::try_from(max_len).unwrap_or(u64::MAX);
        let read = from.by_ref().take(max + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(ending);
        }
        ending.bytes += read as u64;
        ending.open = line.last() != Some(&b'\n');
        if ending.open && line.len() > max_len {
            ending = skip_line(&mut from, ending)?;
            let text = if ending.open { Text::Open("") } else { Text::Unreadable };
            if take(offset, text).is_break() {
                return Ok(ending);
            }
            continue;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let flow = match std::str::from_utf8(text) {
            // An empty line separates an incomplete line from the lines that were appended later.
            Ok("") => ControlFlow::Continue(()),
            Ok(text) if ending.open => take(offset, Text::Open(text)),
            Ok(text) => take(offset, Text::Whole(text)),
            // The line may be torn in the middle of a character.
            Err(_) if ending.open => take(offset, Text::Open("")),
            Err(_) => take(offset, Text::Unreadable),
        };
        if flow.is_break() {
            return Ok(ending);
        }
    }
}

/// Skips the rest of a line.
fn skip_line(from: &mut impl BufRead, mut ending: Ending) -> io::Result<Ending> {
    loop {
        let buffer = from.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        from.consume(used);
        ending.bytes += used as u64;
        ending.open = end.is_none();
        if used == 0 || end.is_some() {
            return Ok(ending);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], max: usize, capacity: usize) -> (Vec<String>, Ending) {
        let mut found = Vec::new();
        let ending = read_lines(BufReader::with_capacity(capacity, bytes), max, |offset, text| {
            if let Text::Whole(text) | Text::Open(text) = text {
                assert!(bytes[usize::try_from(offset).unwrap()..].starts_with(text.as_bytes()));
            }
            found.push(format!("{text:?}"));
            ControlFlow::Continue(())
        })
        .unwrap();
        (found, ending)
    }

    #[test]
    fn all_kinds_of_lines_are_recognized() {
        for capacity in [1, 3, 64] {
            let (found, ending) = lines(b"one\n\ntwo\n\xff\nlonger than that\nend", 8, capacity);
            assert_eq!(found, ["Whole(\"one\")", "Whole(\"two\")", "Unreadable", "Unreadable", "Open(\"end\")"]);
            assert_eq!(ending, Ending { bytes: 31, open: true });
        }
    }

    #[test]
    fn reading_stops_on_break() {
        let mut seen = 0;
        let ending = read_lines(&b"a\nb\nc\n"[..], 8, |offset, _| {
            seen += 1;
            if offset == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((seen, ending.unwrap().bytes), (2, 4));
    }

    #[test]
    fn a_line_of_the_greatest_length_is_read() {
        let (found, _) = lines(b"12345678\n123456789\n", 8, 4);
        assert_eq!(found, ["Whole(\"12345678\")", "Unreadable"]);
    }

    #[test]
    fn a_long_line_without_end_leaves_the_file_open() {
        let (found, ending) = lines(b"ok\n1234567890123", 4, 2);
        assert_eq!(found, ["Whole(\"ok\")", "Open(\"\")"]);
        assert_eq!(ending, Ending { bytes: 16, open: true });
        assert_eq!(lines(b"ok\n\xc3", 4, 2).0, ["Whole(\"ok\")", "Open(\"\")"]);
        assert_eq!(lines(b"", 4, 2), (Vec::new(), Ending::default()));
    }
}
