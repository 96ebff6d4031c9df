//! Drives a reduction: parses lines into events, lets ingest read their payloads, and lets replay apply them.

use std::error::Error;

use trace_recorder::format::{Event, Manifest, SchemaVersion};
use trace_recorder::log::{EventLog, Line};
use trace_recorder::payloads::PayloadFiles;
use trace_recorder::{Bundle, manifest_from_log};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::Ingest;
use crate::model::{Object, Trace};
use crate::reading::{Piece, Reading};
use crate::replay::{Refusal, Replay};

/// Lines that are parsed and ingested together. The limit bounds the memory of a long log before its events are
/// applied. Most sessions are shorter.
pub(crate) const BATCH_LINES: usize = 1 << 16;

/// Lines of a long log that are read while the lines before them are applied. Few enough that the events take little memory, and enough
/// that all cores have work.
const PIECE_LINES: usize = 1 << 11;

/// Options of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Return an error for a bundle that the peer refuses, instead of recovering what is left.
    pub strict: bool,
    /// Parse each request as a whole instead of comparing it with the request before. Slow; the result must be the
    /// same.
    pub verify: bool,
}

/// A graph, and the diagnostics of the bundle that it was made from.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The graph.
    pub trace: Trace,
    /// What is damaged, missing or worth knowing about the bundle.
    pub diagnostics: Diagnostics,
}

/// Why a bundle was not reduced.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    /// A strict reduction found something that the format does not allow.
    #[error("the bundle is refused: {0}")]
    Refused(Diagnostic),
}

impl From<Box<Refusal>> for ReduceError {
    fn from(refusal: Box<Refusal>) -> Self {
        Self::Refused(refusal.0)
    }
}

/// Reduces a bundle.
///
/// # Errors
///
/// Returns an error only if the options ask for a strict reduction and the bundle breaks a rule of its format.
pub fn reduce(bundle: &Bundle, options: Options) -> Result<Reduction, ReduceError> {
    let mut reducer = Reducer::begin(bundle, options)?;
    if let Some(events) = bundle.events() {
        for batch in events.chunks(BATCH_LINES) {
            reducer.apply(batch, bundle.payloads())?;
        }
        return reducer.finish();
    }
    let empty = EventLog::from_bytes(Vec::new());
    let log = bundle.log().unwrap_or(&empty);
    let mut lines = log.lines();
    loop {
        let batch: Vec<Line<'_>> = lines.by_ref().take(BATCH_LINES).collect();
        if batch.is_empty() {
            break;
        }
        reducer.feed(&batch, bundle.payloads())?;
    }
    reducer.finish()
}

/// Returns the text of an error followed by the texts of its causes.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// A reduction that gets its log in pieces, as a live view does.
///
/// The result is the same as for the whole log at once, as long as the events come in order. A clone can be finished
/// while the original continues.
#[derive(Debug, Clone)]
pub struct Reducer {
    reading: Reading,
    replay: Replay,
}

impl Reducer {
    /// Starts the reduction of a bundle from its manifest and its recording notes. If the manifest cannot be read, one
    /// is made from what the log contains so far.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the bundle breaks a rule of its format.
    pub fn begin(bundle: &Bundle, options: Options) -> Result<Self, ReduceError> {
        let mut reducer = match bundle.manifest() {
            Ok(manifest) => Self::new(manifest, options)?,
            Err(error) => {
                let code = if error.is_missing() { Code::ManifestMissing } else { Code::ManifestInvalid };
                let empty = EventLog::from_bytes(Vec::new());
                let manifest = manifest_from_log(bundle.log().unwrap_or(&empty));
                let mut reducer = Self::new(&manifest, Options { strict: false, ..options })?;
                reducer.replay.draft.strict = options.strict;
                reducer.reading.strict = options.strict;
                reducer.note(Diagnostic::new(code, format!("{}; the log stands in for it", with_causes(error))))?;
                reducer
            }
        };
        // The events of a bundle in memory stand for its log, which is not written for this question.
        if bundle.events().is_none()
            && let Err(error) = bundle.log()
        {
            let message = format!("{}; there are no events", with_causes(error));
            reducer.note(Diagnostic::new(Code::LogUnreadable, message))?;
        }
        // Errors are ignored: a file that the recorder did not write says nothing about the session.
        if let Some(stopped) = bundle.recording().ok().flatten().and_then(|recording| recording.stopped) {
            reducer.replay.recording_stopped(&stopped);
        }
        Ok(reducer)
    }

    /// Starts the reduction of a bundle that has this manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the schema version is not known.
    pub fn new(manifest: &Manifest, options: Options) -> Result<Self, ReduceError> {
        let readable = manifest.schema_version.check_readable();
        let schema = if readable.is_ok() { manifest.schema_version } else { SchemaVersion::CURRENT };
        let ingest = Ingest::new(schema, options.verify);
        let mut reducer = Self {
            reading: Reading::new(ingest, schema, options.strict, manifest.rollout_id.clone()),
            replay: Replay::new(schema, manifest, options.strict),
        };
        if let Err(error) = readable {
            let message = format!("{error}; the bundle is read by the rules of schema {schema}");
            reducer.note(Diagnostic::new(Code::UnknownSchema, message))?;
        }
        Ok(reducer)
    }

    /// Returns the graph after the lines so far. What is decided only at the end of the log is missing; see
    /// [`finish`](Self::finish).
    pub fn trace(&self) -> &Trace {
        &self.replay.draft.trace
    }

    /// Returns the diagnostics of the lines so far.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.replay.draft.diagnostics
    }

    /// Returns whether an event came in a later piece than an event with a higher sequence number. A reduction of the
    /// whole log sorts such events, so its graph may differ.
    pub fn has_late_events(&self) -> bool {
        self.reading.has_late_events()
    }

    /// Starts to record which objects of the graph are touched.
    pub(crate) fn watch(&mut self) {
        self.replay.draft.trace.watch();
    }

    /// Returns the objects that were touched since the last call, grouped by type. An object may appear more than once.
    pub(crate) fn take_touched(&mut self) -> Vec<Object> {
        self.replay.draft.trace.take_touched()
    }

    fn note(&mut self, diagnostic: Diagnostic) -> Result<(), ReduceError> {
        Ok(self.replay.draft.report(diagnostic)?)
    }

    /// Applies more lines of the log. Their payloads are read from `payloads`.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and a line breaks a rule of the format. The reducer cannot be used
    /// after an error.
    pub fn feed(&mut self, lines: &[Line<'_>], payloads: &PayloadFiles) -> Result<(), ReduceError> {
        let has_pieces = self.has_pieces(lines.len(), payloads) && are_in_order(lines);
        self.apply_pieces(lines, has_pieces, |reading, lines| reading.read(lines, payloads))
    }

    /// Applies more events, which are complete, in order, and need no log.
    fn apply(&mut self, events: &[Event<'_>], payloads: &PayloadFiles) -> Result<(), ReduceError> {
        let has_pieces = self.has_pieces(events.len(), payloads);
        self.apply_pieces(events, has_pieces, |reading, events| reading.read_payloads(events, payloads))
    }

    /// Returns whether so many lines or events are read in pieces. A strict reduction ends with the first line that is no event,
    /// whatever the events before it say. Requests in a directory are read in runs, each of which begins with reading a whole one.
    fn has_pieces(&self, count: usize, payloads: &PayloadFiles) -> bool {
        count > PIECE_LINES && payloads.share_bytes() && !self.replay.draft.strict
    }

    /// Reads lines or events, and applies them. If there are several pieces, the next one is read while one is applied: that takes two
    /// cores, and a small part of the memory.
    fn apply_pieces<'i, 'e, I: Sync, E: AsRef<[Event<'e>]> + Send>(
        &mut self,
        input: &'i [I],
        has_pieces: bool,
        read: impl Fn(&mut Reading, &'i [I]) -> Piece<E> + Sync,
    ) -> Result<(), ReduceError> {
        let size = if has_pieces { PIECE_LINES } else { input.len().max(1) };
        let mut pieces = input.chunks(size);
        let Some(first) = pieces.next() else { return Ok(()) };
        // What is wrong with lines and events stands before what is found when they are applied.
        let mut place = self.replay.draft.diagnostics.iter().len();
        let mut place_of_events = place;
        let mut piece = read(&mut self.reading, first);
        loop {
            let Piece { events, batch, notes, completes } = piece;
            for note in notes.of_lines {
                let is_kept = self.note_at(place, note)?;
                place += usize::from(is_kept);
                place_of_events += usize::from(is_kept);
            }
            for note in notes.of_events {
                place_of_events += usize::from(self.note_at(place_of_events, note)?);
            }
            self.replay.draft.trace.recording_complete |= completes;
            let Some(following) = pieces.next() else {
                self.replay.apply_batch(events.as_ref(), batch)?;
                return Ok(());
            };
            let (reading, mut next) = (&mut self.reading, None);
            let applied = rayon::in_place_scope(|scope| {
                scope.spawn(|_| next = Some(read(reading, following)));
                self.replay.apply_batch(events.as_ref(), batch)
            });
            applied?;
            piece = next.expect("the scope waits for what it spawned");
        }
    }

    /// Reports something before the diagnostic at position `at`. Returns whether the diagnostic was kept.
    fn note_at(&mut self, at: usize, diagnostic: Diagnostic) -> Result<bool, ReduceError> {
        if self.replay.draft.strict {
            return Err(ReduceError::Refused(diagnostic));
        }
        Ok(self.replay.draft.diagnostics.insert(at, diagnostic))
    }

    /// Finishes the reduction.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the log as a whole breaks a rule of the format.
    pub fn finish(mut self) -> Result<Reduction, ReduceError> {
        for (event, count) in self.reading.unknown_fields() {
            let fields = if *count == 1 { "a field" } else { "fields" };
            let message = format!("`{event}` events have {fields} that this version does not know ({count} in all)");
            self.replay.draft.remark(Diagnostic::new(Code::UnknownFields, message));
        }
        let (trace, diagnostics) = self.replay.finish()?;
        Ok(Reduction { trace, diagnostics })
    }
}

/// Returns whether all lines begin as recorders write events, with sequence numbers that increase. Lines of which that is not known are
/// read at once, because events out of order are sorted.
fn are_in_order(lines: &[Line<'_>]) -> bool {
    let mut last = None;
    lines.iter().all(|line| {
        let seq = seq_of(line.bytes);
        seq.is_some() && std::mem::replace(&mut last, seq) < seq
    })
}

/// Returns the sequence number of a line that begins with the schema version and the sequence number.
fn seq_of(line: &[u8]) -> Option<u64> {
    let (_, rest) = digits(line.strip_prefix(br#"{"schema_version":"#)?)?;
    let (seq, rest) = digits(rest.strip_prefix(br#","seq":"#)?)?;
    rest.starts_with(b",").then_some(seq)
}

/// Returns the number with which a text begins, and what follows it.
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_in_order_if_their_beginnings_say_so() {
        let lines = |text: &str| are_in_order(&EventLog::from_bytes(text.into()).lines().collect::<Vec<_>>());
        let event = |seq: &str| format!("{{\"schema_version\":2,\"seq\":{seq},\"x\":1}}\n");
        assert!(
            lines("") && lines(&event("7")) && lines(&(event("7") + &event("9") + "{\"schema_version\":2,\"seq\":10,"))
        );
        for other in ["9", "8", "18446744073709551616", "-1", "", "10.5", "\"10\""] {
            assert!(!lines(&(event("9") + &event(other))), "{other}");
        }
        for other in [
            "\n",
            "{\"seq\":10,\"schema_version\":2}\n",
            "{ \"schema_version\":2,\"seq\":10,",
            "{\"schema_version\":2,\"seq\":10",
        ] {
            assert!(!lines(&(event("9") + other)), "{other}");
        }
    }
}
