//! A transcript in memory, and its lines.

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
use crate::records::Records;

/// Bytes that are reserved for a file before it is read.
const MAX_RESERVED_BYTES: usize = 1 << 30;

/// The text of a file. Lines borrow from it.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    text: String,
    /// Where each line is, and the end of its text.
    lines: Vec<(Place, usize)>,
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
    /// Reads a file. Lines that are not UTF-8 are noted as damaged.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn read(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let mut records = Records::open(path, draft)?;
        let mut transcript = Self::default();
        let size = std::fs::metadata(path).map_or(0, |file| file.len());
        transcript.text.reserve(usize::try_from(size).unwrap_or_default().min(MAX_RESERVED_BYTES));
        while let Some(record) = records.next(draft)? {
            if let Ok(text) = std::str::from_utf8(record.bytes) {
                transcript.text.push_str(text);
                transcript.lines.push((record.place, transcript.text.len()));
            } else {
                draft.note(Code::DamagedLine, Some(record.place));
            }
        }
        Ok(transcript)
    }

    /// Returns the lines that are JSON objects and notes the others as damaged.
    pub(crate) fn entries(&self, draft: &mut Draft) -> Vec<Entry<'_>> {
        let mut entries = Vec::with_capacity(self.lines.len());
        let mut start = 0;
        for (place, end) in &self.lines {
            match Line::parse(&self.text[start..*end]) {
                Some(line) => entries.push(Entry::new(line, *place)),
                None => draft.note(Code::DamagedLine, Some(*place)),
            }
            start = *end;
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

    /// Returns whether another line says the same at the same time.
    pub(crate) fn says_what(&self, other: &Self) -> bool {
        let is_alike = self.at == other.at && self.line.kind() == other.line.kind();
        is_alike && self.blocks.iter().map(said_by).eq(other.blocks.iter().map(said_by))
    }

    /// Returns when and where the line happened.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { time: self.at.map_or(Time::Unknown, Time::At), place: self.place }
    }

    /// Returns the place of the line, without a time, for an event whose time the line does not say.
    pub(crate) fn untimed(&self) -> Stamp {
        Stamp { time: Time::Unknown, place: self.place }
    }
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
