//! The records of a file: requests as lines or as one document of JSON, or as messages of protobuf.

use std::io::{self, BufRead, Read};
use std::path::Path;

use serde_json::value::RawValue;
use trace_recorder::format::import::Place;

use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::records::{self, MAX_RECORD_BYTES, Records};

/// Largest document of JSON over several lines that is read.
const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// How the records of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

/// What is in front of each message of protobuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// Nothing: the file is one message, whose parts are read one by one.
    Whole,
    /// The length in four bytes, the highest first.
    Length,
    /// The length as a number of protobuf.
    Varint,
}

/// Whether the reader of records could read one.
pub(super) type IsRead = bool;

/// Calls `read` with each record of a file, in their order. A record that it cannot read is noted in `draft`.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(super) fn each_record(
    path: &Path,
    encoding: Encoding,
    draft: &mut Draft,
    mut read: impl FnMut(Place, &[u8]) -> IsRead,
) -> Result<(), ImportError> {
    match encoding {
        Encoding::Protobuf => each_message(path, draft, &mut read),
        Encoding::Json if is_document(path)? => whole_document(path, draft, &mut read),
        Encoding::Json => each_line(path, draft, &mut read),
    }
}

fn each_line(path: &Path, draft: &mut Draft, read: &mut impl FnMut(Place, &[u8]) -> IsRead) -> Result<(), ImportError> {
    let mut records = Records::open(path, draft)?;
    loop {
        let Some(record) = records.next(draft)? else { return Ok(()) };
        let place = record.place;
        if !each_request(record.bytes, |request| read(place, request)) {
            draft.note(Code::DamagedLine, Some(place));
        }
    }
}

fn whole_document(
    path: &Path,
    draft: &mut Draft,
    read: &mut impl FnMut(Place, &[u8]) -> IsRead,
) -> Result<(), ImportError> {
    let place = Place { source: draft.source(path), line: 1 };
    let mut bytes = Vec::new();
    let reader = records::open(path).map_err(|source| ImportError::io(path, source))?;
    let length = reader.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes);
    if length.map_err(|source| ImportError::io(path, source))? as u64 > MAX_DOCUMENT_BYTES {
        draft.note(Code::LongLine, Some(place));
    } else if !each_request(&bytes, |request| read(place, request)) {
        draft.note(Code::DamagedLine, Some(place));
    }
    Ok(())
}

/// Calls `read` with a request, or with each request of a list.
fn each_request(bytes: &[u8], mut read: impl FnMut(&[u8]) -> IsRead) -> IsRead {
    if !bytes.trim_ascii_start().starts_with(b"[") {
        return read(bytes);
    }
    let Ok(requests) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else { return false };
    // All are read, whether or not one before them could be.
    let unread = requests.into_iter().filter(|request| !read(request.get().as_bytes())).count();
    unread == 0
}

/// Returns whether a file is one document over several lines. Its first line is an opening bracket then.
fn is_document(path: &Path) -> Result<bool, ImportError> {
    let mut head = Vec::new();
    let reader = records::open(path).map_err(|source| ImportError::io(path, source))?;
    reader.take(256).read_to_end(&mut head).map_err(|source| ImportError::io(path, source))?;
    let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(matches!(line.trim_ascii(), b"{" | b"[" | b"[{" | b"[ {"))
}

/// Returns whether the beginning of a file is that of requests as JSON.
pub(super) fn is_json(head: &[u8]) -> bool {
    let is_request = |line: &[u8]| {
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"{") else { return false };
        let rest = rest.trim_ascii_start();
        rest.starts_with(b"\"resourceSpans\"") || rest.starts_with(b"\"resource_spans\"")
    };
    let head = head.trim_ascii_start();
    let head = head.strip_prefix(b"[").map_or(head, <[u8]>::trim_ascii_start);
    // A file of all signals may begin with logs or metrics.
    is_request(head) || head.split(|byte| *byte == b'\n').any(is_request)
}

/// Returns whether the beginning of a file is that of requests as protobuf.
pub(super) fn is_protobuf(head: &[u8]) -> bool {
    framing(head).is_some()
}

fn framing(head: &[u8]) -> Option<Framing> {
    // Fields of: the request, the spans of a resource, the spans of a scope.
    const WAY: [u64; 3] = [1, 2, 2];
    if has_span(head, &WAY) {
        return Some(Framing::Whole);
    }
    if head.len() > 4 && head[..4] != [0; 4] && has_span(&head[4..], &WAY) {
        return Some(Framing::Length);
    }
    let (length, bytes) = varint(head)?;
    (length > 0 && has_span(&head[bytes..], &WAY)).then_some(Framing::Varint)
}

/// Returns whether the field that `way` leads to is a span. The message may be cut.
fn has_span(message: &[u8], way: &[u64]) -> bool {
    let Some((field, rest)) = way.split_first() else {
        // A span begins with the id of its trace and its own.
        return message.starts_with(&[0x0a, 16]) && message.get(18..20) == Some(&[0x12, 8]);
    };
    let mut at = 0;
    while let Some((tag, bytes)) = varint(&message[at..]) {
        at += bytes;
        // Only fields with a length come before the spans.
        if tag & 7 != 2 {
            return false;
        }
        let Some((length, bytes)) = varint(&message[at..]) else { return false };
        at += bytes;
        let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length)).unwrap_or(usize::MAX);
        if tag >> 3 == *field {
            return has_span(&message[at..end.min(message.len())], rest);
        }
        if tag >> 3 > 3 || end >= message.len() {
            return false;
        }
        at = end;
    }
    false
}

/// Returns a number of protobuf at the beginning of some bytes, and how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

fn each_message(
    path: &Path,
    draft: &mut Draft,
    read: &mut impl FnMut(Place, &[u8]) -> IsRead,
) -> Result<(), ImportError> {
    let source = draft.source(path);
    let io = |source| ImportError::io(path, source);
    let mut head = Vec::new();
    let reader = records::open(path).map_err(io)?;
    reader.take(crate::format::HEAD_BYTES as u64).read_to_end(&mut head).map_err(io)?;
    let Some(framing) = framing(&head) else {
        return Err(ImportError::Empty { path: path.to_owned(), reason: "it has no spans" });
    };
    let mut reader = records::open(path).map_err(io)?;
    let mut message = Vec::new();
    for line in 1.. {
        let place = Place { source, line };
        message.clear();
        let length = match next_length(&mut reader, framing, &mut message) {
            Ok(Some(length)) => length,
            Ok(None) => break,
            Err(_) => {
                draft.note(Code::DamagedLine, Some(place));
                break;
            }
        };
        let wanted = if length > MAX_RECORD_BYTES as u64 { 0 } else { length };
        let got = (&mut reader).take(wanted).read_to_end(&mut message);
        if wanted < length {
            draft.note(Code::LongLine, Some(place));
            if io::copy(&mut (&mut reader).take(length), &mut io::sink()).is_err() {
                break;
            }
        } else if got.is_ok_and(|got| got as u64 == length) && read(place, &message) {
            continue;
        } else {
            draft.note(Code::DamagedLine, Some(place));
        }
    }
    Ok(())
}

/// Reads the length of the next message. A field of a whole message becomes a message of its own: what is in front of its
/// content is kept in `message`. Returns `None` at the end of the file.
fn next_length(reader: &mut impl BufRead, framing: Framing, message: &mut Vec<u8>) -> io::Result<Option<u64>> {
    if reader.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut byte = [0];
    match framing {
        Framing::Length => {
            let mut length = [0; 4];
            reader.read_exact(&mut length)?;
            return Ok(Some(u32::from_be_bytes(length).into()));
        }
        Framing::Whole => {
            reader.read_exact(&mut byte)?;
            if byte != [0x0a] {
                return Err(io::ErrorKind::InvalidData.into());
            }
            message.push(byte[0]);
        }
        Framing::Varint => {}
    }
    let from = message.len();
    loop {
        reader.read_exact(&mut byte)?;
        message.push(byte[0]);
        if byte[0] & 0x80 == 0 {
            break;
        }
        if message.len() - from >= 10 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let length = varint(&message[from..]).map(|(length, _)| length);
    if framing == Framing::Varint {
        message.clear();
    }
    length.map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_with_spans_are_json_of_this_format() {
        assert!(is_json(b"{\"resourceSpans\":[]}\n"));
        assert!(is_json(b"\n{\n  \"resourceSpans\" : ["));
        assert!(is_json(b"[{\"resource_spans\":[]}]"));
        assert!(is_json(b"{\"resourceLogs\":[]}\n{\"resourceSpans\":[]}\n"));
        assert!(!is_json(b"{\"text\":\"{\\\"resourceSpans\\\":1}\"}"));
        assert!(!is_json(b"resourceSpans"));
    }

    #[test]
    fn framings_are_told_apart() {
        let mut span = vec![0x0a, 16];
        span.extend([7; 16]);
        span.extend([0x12, 8]);
        span.extend([9; 8]);
        let mut message = span;
        for field in [0x12, 0x12, 0x0a] {
            message = [&[field, message.len() as u8], &message[..]].concat();
        }
        assert_eq!(framing(&message), Some(Framing::Whole));
        let length = message.len() as u8;
        assert_eq!(framing(&[&[0, 0, 0, length], &message[..]].concat()), Some(Framing::Length));
        assert_eq!(framing(&[&[length], &message[..]].concat()), Some(Framing::Varint));
        assert_eq!(framing(b"\n\n{\"resourceSpans\":[]}"), None);
        assert_eq!(framing(b"SQLite format 3\0"), None);
        assert_eq!(framing(b""), None);
    }
}
