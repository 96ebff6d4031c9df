//! A transcript in memory, and its lines.

use std::ops::Range;
use std::path::Path;

use serde_json::value::RawValue;
use trace_recorder::format::import::Place;

use super::prompt::{INTERRUPTED, Said, said};
use super::records::{Attachment, Blocks, Line, Part};
use super::tables::hash_of;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::event::{Stamp, Time};
use crate::note::Code;
use crate::records;
use crate::surrogates::mend_surrogates;

/// The text of a file. Lines borrow from it.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    text: String,
    /// Where each line is in the file and in the text.
    lines: Vec<(Place, Range<usize>)>,
}

/// A line with its place.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) line: Line<'a>,
    pub(crate) place: Place,
    /// When the line was written, in milliseconds since the Unix epoch.
    pub(crate) at: Option<i64>,
    /// What the line adds to the conversation.
    pub(crate) blocks: Vec<Part<'a>>,
    /// What a line of the user is.
    pub(crate) said: Said,
}

impl Transcript {
    /// Reads a file. Lines that are not UTF-8 are noted as damaged. For a summary, lines that change nothing in it are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn read(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let (source, mut bytes) = records::read_whole(path, draft)?;
        let mut lines = Vec::new();
        let mut has_begun = false;
        let mut start = 0;
        let mut number = 0_u32;
        while start < bytes.len() {
            number = number.saturating_add(1);
            let place = Place { source, line: number };
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
            let line = start..end;
            start = end + 1;
            let text = &mut bytes[line.clone()];
            if draft.is_summary() && has_begun && is_beside(text) {
                continue;
            } else if !text.iter().all(u8::is_ascii_whitespace) {
                if mend_surrogates(text) {
                    draft.note(Code::LoneSurrogate, Some(place));
                }
                has_begun = has_begun || memchr::memmem::find(text, b"\"uuid\":\"").is_some();
                lines.push((place, line));
                continue;
            }
            // The text is that of all lines, and only whole characters are a text.
            text.fill(b' ');
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let mut bytes = error.into_bytes();
            lines.retain(|(place, line)| {
                let is_text = std::str::from_utf8(&bytes[line.clone()]).is_ok();
                if !is_text {
                    draft.note(Code::DamagedLine, Some(*place));
                }
                is_text
            });
            // Lines that were left out before may be damaged, too.
            let mut kept = lines.iter().map(|(_, line)| line.clone());
            let mut next = kept.next();
            for (at, byte) in bytes.iter_mut().enumerate() {
                if next.as_ref().is_some_and(|line| at >= line.end) {
                    next = kept.next();
                }
                if *byte != b'\n' && next.as_ref().is_none_or(|line| at < line.start) {
                    *byte = b' ';
                }
            }
            String::from_utf8(bytes).unwrap_or_default()
        });
        Ok(Self { text, lines })
    }

    /// Returns the lines that are JSON objects and notes the others as damaged.
    pub(crate) fn entries(&self, draft: &mut Draft) -> Vec<Entry<'_>> {
        let mut entries = Vec::with_capacity(self.lines.len());
        for (place, line) in &self.lines {
            match self.text.get(line.clone()).and_then(Line::parse) {
                Some(line) => entries.push(Entry::new(line, *place)),
                None => draft.note(Code::DamagedLine, Some(*place)),
            }
        }
        entries
    }
}

impl<'a> Entry<'a> {
    fn new(mut line: Line<'a>, place: Place) -> Self {
        let at = line.at();
        let content = match line.kind() {
            "user" | "assistant" => line.message.as_mut().and_then(|message| message.content.take()),
            "attachment" => queued(&line),
            _ => None,
        };
        let blocks = content.map(Blocks::into_parts).unwrap_or_default();
        let said = if line.kind() == "user" { said(&line, &blocks) } else { Said::Meta };
        Self { line, place, at, blocks, said }
    }

    /// Returns the first text of the line.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.blocks.iter().find_map(|(block, _)| block.text.as_deref())
    }

    /// Returns whether the line may be a part of the conversation.
    pub(crate) fn is_said(&self) -> bool {
        matches!(self.line.kind(), "user" | "assistant") && !self.blocks.is_empty()
    }

    /// Returns whether a line with results also says that the user interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        let texts = || self.blocks.iter().filter_map(|(block, _)| block.text.as_deref());
        self.said == Said::Results && texts().any(|text| text.starts_with(INTERRUPTED))
    }

    /// Returns a hash of what the line says, and when.
    pub(crate) fn said_hash(&self) -> u64 {
        let texts = self.blocks.iter().map(said_by);
        texts.fold(hash_of(&(self.at, self.line.kind())), |hash, text| hash_of(&(hash, text)))
    }

    /// Returns a hash of a part of what the line says, and when. Lines that say the same have the same.
    pub(crate) fn glance_hash(&self) -> u64 {
        let blocks = self.blocks.iter().map(said_by);
        blocks.fold(hash_of(&(self.at, self.line.kind())), |hash, text| {
            let text = text.as_bytes();
            let (start, end) = (text.len().min(GLANCE_BYTES), text.len().saturating_sub(GLANCE_BYTES));
            hash_of(&(hash, text.len(), &text[..start], &text[end..]))
        })
    }

    /// Returns whether another line says the same at the same time.
    pub(crate) fn says_what(&self, other: &Self) -> bool {
        let is_alike = self.at == other.at && self.line.kind() == other.line.kind();
        is_alike && self.blocks.iter().map(said_by).eq(other.blocks.iter().map(said_by))
    }

    /// Returns when and where the line happened. A prompt that was queued while a turn ran has the time at which the user gave it; when the
    /// model got it is unknown.
    pub(crate) fn stamp(&self) -> Stamp {
        let at = self.at.filter(|_| self.line.kind() != "attachment");
        Stamp { time: at.map_or(Time::Unknown, Time::At), place: self.place }
    }

    /// Returns the place of the line, without a time, for an event whose time the line does not say.
    pub(crate) fn untimed(&self) -> Stamp {
        Stamp { time: Time::Unknown, place: self.place }
    }
}

/// Bytes at the start and at the end of a block that [`Entry::glance_hash`] reads.
const GLANCE_BYTES: usize = 64;

/// Bytes at the start of a line in which its type is looked for.
const HEAD_BYTES: usize = 1 << 10;

/// Returns whether a line changes nothing in a summary: parts of requests, injected context, the progress of tools. Only lines as the
/// program writes them are known; others are read.
fn is_beside(line: &[u8]) -> bool {
    let kinds = ["api-request-shape", "api-request-blob", "file-history-snapshot"];
    let rest = line.strip_prefix(b"{\"type\":\"");
    if rest.is_some_and(|rest| kinds.iter().any(|kind| rest.starts_with(kind.as_bytes()))) {
        return true;
    }
    let head = &line[..line.len().min(HEAD_BYTES)];
    // An object is a member of the line itself if no other one begins in front of it.
    let member = |name: &[u8]| {
        let at = memchr::memmem::find(head, name)?;
        (memchr::memchr_iter(b'{', &head[..at]).count() == 1).then(|| &head[at + name.len()..])
    };
    let is_of_type = |kind: &[u8]| memchr::memmem::find(line, kind).is_some();
    if let Some(kind) = member(b"\"attachment\":{\"type\":\"") {
        // A line of the conversation into which a part of an attachment was torn is read.
        let others: [&[u8]; 3] = [b"\"type\":\"assistant\"", b"\"type\":\"user\"", b"\"type\":\"system\""];
        let is_attachment = is_of_type(b"\"type\":\"attachment\"") && !others.into_iter().any(is_of_type);
        return is_attachment && !kind.starts_with(b"queued_command");
    }
    member(b"\"data\":{\"type\":\"").is_some() && is_of_type(b"\"type\":\"progress\"")
}

/// Returns the text of a block: its JSON, or what it says if it is a whole message.
fn said_by<'e>((block, raw): &'e Part<'_>) -> &'e str {
    raw.map_or_else(|| block.text.as_deref().unwrap_or_default(), RawValue::get)
}

/// Returns the prompt of a line for one that was given while a turn ran.
fn queued<'a>(line: &Line<'a>) -> Option<Blocks<'a>> {
    let attachment = Attachment::parse(line.attachment?.get())?;
    attachment.prompt.filter(|_| attachment.kind.as_deref() == Some("queued_command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_summary_does_not_need_are_known_by_their_start() {
        let beside = [
            r#"{"type":"api-request-shape","shape":{}}"#,
            r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{}}"#,
            r#"{"parentUuid":"x","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":[]},"type":"attachment"}"#,
            r#"{"parentUuid":"x","type":"progress","data":{"type":"hook_progress"}}"#,
        ];
        assert!(beside.iter().all(|line| is_beside(line.as_bytes())));
        let needed = [
            r#"{"type":"api-request","id":"x"}"#,
            r#"{"parentUuid":"x","attachment":{"type":"queued_command","prompt":"x"},"type":"attachment"}"#,
            r#"{"type":"assistant","message":{"content":[{"input":{"attachment":{"type":"x"}}}]}}"#,
            r#"{"parentUuid":"x","attachment":{"type":"prompt_snapshot"},"type":"assistant"}"#,
            r#"{"parentUuid":"x","attachment":{"type":"model","type":"attachment"},"type":"assistant"}"#,
            r#"{"type":"user","toolUseResult":{"data":{"type":"x"}},"message":{"content":"\"type\":\"progress\""}}"#,
            "",
        ];
        assert!(!needed.iter().any(|line| is_beside(line.as_bytes())));
    }
}
