//! What `grep` writes for programs: one JSON object a line.

use serde::{Deserialize, Serialize};

use super::search::{Found, Line, LineKind, TextHits};
use crate::object::ObjectRef;
use crate::texts::Aspect;
use crate::why::Kind;

/// One line of output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// A line that matches.
    Match(LineRecord),
    /// A line near one that does.
    Context(LineRecord),
    /// All lines of a bundle were written. Bundles without any have no record.
    End {
        /// The bundle.
        bundle: String,
        /// Its matching lines.
        matched_lines: u64,
        /// Its texts that have any.
        matched_texts: u64,
    },
    /// All is done.
    Summary {
        /// Bundles that were searched.
        bundles: u64,
        /// Bundles with matching lines.
        bundles_with_matches: u64,
        /// Matching lines.
        matched_lines: u64,
        /// Bundles that could not be read.
        unreadable: u64,
        /// Payloads of the others that could not be searched.
        unread_payloads: u64,
    },
}

/// A line of a text, and where the text stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRecord {
    /// The bundle.
    pub bundle: String,
    /// What brought the text.
    pub kind: Kind,
    /// The object that has it first.
    pub object: ObjectRef,
    /// What of the object it is.
    pub aspect: Aspect,
    /// The thread.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// The turn, if it belongs to one.
    pub turn_id: Option<String>,
    /// The turn's number in its thread.
    pub turn: Option<u64>,
    /// The event that first tells of the text.
    pub seq: u64,
    /// The line's number in the text, from 1.
    pub line_number: u64,
    /// The line.
    pub text: String,
    /// Its matches.
    pub submatches: Vec<Submatch>,
}

/// A match in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submatch {
    /// What matched.
    pub text: String,
    /// Its first byte in the line.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}

/// Returns the records of what was found in a bundle.
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
