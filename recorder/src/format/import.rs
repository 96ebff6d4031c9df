//! `import.json`: where the events of an imported session come from, and what its files do not tell.
//!
//! Only bundles that were made from the session files of another program have this file. Readers of the format ignore it,
//! as they ignore every file that no event refers to.

use serde::{Deserialize, Serialize};

/// Name of the file in a bundle.
pub const IMPORT_FILE: &str = "import.json";

/// Version of the layout of [`ImportRecord`].
pub const IMPORT_VERSION: u32 = 1;

/// Codes of [`ImportNote`] that say how far the requests of a session are those that its model received.
pub const CODES_OF_REQUESTS: [&str; 8] = [
    "request-rebuilt",
    "request-verified",
    "request-mismatch",
    "request-incomplete",
    "no-system-prompt",
    "no-tool-definitions",
    "history-missing",
    "dead-branch",
];

/// Content of `import.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    /// Version of this layout, [`IMPORT_VERSION`].
    pub version: u32,
    /// Name of the format, such as `claude-code`.
    pub format: String,
    /// Version of the program that wrote the session, as its files say it. `None` if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The files that the session was read from.
    pub sources: Vec<ImportSource>,
    /// What was rebuilt, what is missing and what was not understood: one note per code.
    pub notes: Vec<ImportNote>,
    /// For each event, in the order of their sequence numbers, where it comes from.
    pub origins: Vec<Origin>,
}

/// A file that a session was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSource {
    /// Path of the file.
    pub path: String,
}

/// One thing that everybody who reads an imported session should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportNote {
    /// Stable code, such as `request-rebuilt`. `docs/import.md` lists all.
    pub code: String,
    /// What the code means for this session, as a sentence for people.
    pub message: String,
    /// How often it applies.
    pub count: u64,
    /// The first place to which it applies. `None` if it applies to the whole session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Place>,
}

/// A line of a source, or a record of a source that has no lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Place {
    /// Index into [`ImportRecord::sources`].
    pub source: u32,
    /// Number of the line or record, from 1.
    pub line: u32,
}

impl From<(u32, u32)> for Place {
    fn from((source, line): (u32, u32)) -> Self {
        Self { source, line }
    }
}

impl From<Place> for (u32, u32) {
    fn from(place: Place) -> Self {
        (place.source, place.line)
    }
}

/// Where an event of an imported session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u8)", into = "(u32, u32, u8)")]
pub struct Origin {
    /// The line that shows the event.
    pub place: Place,
    /// Whether the time of the event is in the file. Otherwise the event has the time of the last event of its thread that
    /// has one: it happened at that time or later.
    pub is_timed: bool,
}

impl From<(u32, u32, u8)> for Origin {
    fn from((source, line, is_timed): (u32, u32, u8)) -> Self {
        Self { place: Place { source, line }, is_timed: is_timed != 0 }
    }
}

impl From<Origin> for (u32, u32, u8) {
    fn from(origin: Origin) -> Self {
        (origin.place.source, origin.place.line, u8::from(origin.is_timed))
    }
}

impl ImportRecord {
    /// Returns where the event with this sequence number comes from, or `None` if there is no such event.
    pub fn origin(&self, seq: u64) -> Option<Origin> {
        let index = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.origins.get(index).copied()
    }

    /// Returns the path of the file that `place` is in, or `None` if the record names no such file.
    pub fn path(&self, place: Place) -> Option<&str> {
        Some(self.sources.get(place.source as usize)?.path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_leads_from_an_event_to_its_line() {
        let text =
            r#"{"version":1,"format":"x","sources":[{"path":"a.jsonl"}],"notes":[],"origins":[[0,1,1],[0,7,0]]}"#;
        let record: ImportRecord = serde_json::from_str(text).expect("parses");
        assert_eq!(serde_json::to_string(&record).expect("writes"), text);
        let origin = record.origin(2).expect("an event");
        assert_eq!((origin.place.line, origin.is_timed, record.path(origin.place)), (7, false, Some("a.jsonl")));
        assert_eq!((record.origin(0), record.origin(3)), (None, None));
    }
}
