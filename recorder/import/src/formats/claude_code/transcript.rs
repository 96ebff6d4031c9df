//! A transcript in memory, and its lines.

use std::path::Path;

use trace_recorder::format::import::Place;

use super::records::Line;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::event::{Stamp, Time};
use crate::note::Code;
use crate::records::Records;

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
                Some(line) => {
                    let at = line.at();
                    entries.push(Entry { line, place: *place, at });
                }
                None => draft.note(Code::DamagedLine, Some(*place)),
            }
            start = *end;
        }
        entries
    }
}

impl Entry<'_> {
    /// Returns when and where the line happened.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { time: self.at.map_or(Time::Unknown, Time::At), place: self.place }
    }

    /// Returns the place of the line for an event whose time it does not tell.
    pub(crate) fn untimed(&self) -> Stamp {
        Stamp { time: Time::Unknown, place: self.place }
    }
}
