//! The JSON output of `grep`: one object per line.

use serde::{Deserialize, Serialize};

use super::search::{Found, Line, LineKind, TextHits};
use crate::object::ObjectRef;
use crate::texts::Aspect;
use crate::why::Kind;

/// One line of output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// A matching line.
    Match(LineRecord),
    /// A line near a matching line.
    Context(LineRecord),
    /// End of the lines of a bundle. Bundles without a matching line have no such record.
    End {
        /// The bundle.
        bundle: String,
        /// Number of its matching lines.
        matched_lines: u64,
        /// Number of its texts with matching lines.
        matched_texts: u64,
    },
    /// End of the search.
    Summary {
        /// Number of bundles that were searched.
        bundles: u64,
        /// Number of bundles with matching lines.
        bundles_with_matches: u64,
        /// Number of matching lines.
        matched_lines: u64,
        /// Number of bundles that could not be read.
        unreadable: u64,
        /// Number of payloads in the other bundles that could not be searched.
        unread_payloads: u64,
    },
}

/// A line of a text, and the place of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRecord {
    /// The bundle.
    pub bundle: String,
    /// Kind of the text's source.
    pub kind: Kind,
    /// The object with the first occurrence of the text.
    pub object: ObjectRef,
    /// Which text of the object it is.
    pub aspect: Aspect,
    /// The thread.
    pub thread_id: String,
    /// Place of the agent in the tree of agents.
    pub agent_path: String,
    /// The turn; `None` if the text belongs to no turn.
    pub turn_id: Option<String>,
    /// Number of the turn within its thread, from 1.
    pub turn: Option<u64>,
    /// Sequence number of the event that first shows the text.
    pub seq: u64,
    /// Number of the line in the text, from 1.
    pub line_number: u64,
    /// The line.
    pub text: String,
    /// The matches in the line.
    pub submatches: Vec<Submatch>,
}

/// A match in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submatch {
    /// The matching text.
    pub text: String,
    /// Offset of its first byte in the line.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
}

/// Returns the records for the results of a bundle.
pub fn records<'f>(bundle: &'f str, found: &'f Found) -> impl Iterator<Item = Record> + 'f {
    let lines = found.texts.iter().flat_map(move |hits| hits.lines.iter().map(move |line| record(bundle, hits, line)));
    let end = (found.lines > 0).then(|| Record::End {
        bundle: bundle.to_owned(),
        matched_lines: found.lines,
        matched_texts: found.texts.len() as u64,
    });
    lines.chain(end)
}

fn record(bundle: &str, hits: &TextHits, line: &Line) -> Record {
    let submatches = line.submatches.iter().map(|span| Submatch {
        text: line.text.get(span.start..span.end).unwrap_or_default().to_owned(),
        start: span.start,
        end: span.end,
    });
    let record = LineRecord {
        bundle: bundle.to_owned(),
        kind: hits.kind,
        object: hits.object.clone(),
        aspect: hits.aspect,
        thread_id: hits.thread_id.clone(),
        agent_path: hits.agent_path.clone(),
        turn_id: hits.turn_id.clone(),
        turn: hits.turn,
        seq: hits.seq,
        line_number: line.line_number,
        text: line.text.clone(),
        submatches: submatches.collect(),
    };
    match line.kind {
        LineKind::Match => Record::Match(record),
        LineKind::Context => Record::Context(record),
    }
}
