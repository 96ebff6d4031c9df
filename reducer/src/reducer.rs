//! Drives a reduction: parses lines into events, lets ingest read their payloads, and lets replay apply them.

use std::collections::BTreeMap;
use std::error::Error;

use trace_recorder::format::{Event, EventPayload, Manifest, SchemaVersion};
use trace_recorder::log::{EventLog, Line, LineError, ParsedLine, parse_lines};
use trace_recorder::payloads::PayloadFiles;
use trace_recorder::{Bundle, manifest_from_log};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::Ingest;
use crate::model::{Object, Trace};
use crate::replay::{Refusal, Replay};

/// Lines that are parsed and ingested together. The limit bounds the memory of a long log before its events are
/// applied. Most sessions are shorter.
pub(crate) const BATCH_LINES: usize = 1 << 16;

/// Most invalid lines between two events whose numbers are kept. Lines beyond the limit do not explain missing events.
const MAX_LOST_LINES: usize = 1 << 16;

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
    ingest: Ingest,
    replay: Replay,
    schema: SchemaVersion,
    rollout_id: String,
    next_seq: u64,
    /// Numbers of the lines that are not events. They explain missing sequence numbers around them.
    lost_lines: Vec<u64>,
    /// Line number of the last event.
    last_line: u64,
    unknown_fields: BTreeMap<String, u64>,
    /// Whether the recorder has written that no event follows.
    closed: bool,
    /// Whether an event came in a later piece than an event with a higher sequence number.
    has_late_events: bool,
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
        let mut reducer = Self {
            ingest: Ingest::new(schema, options.verify),
            replay: Replay::new(schema, manifest, options.strict),
            schema,
            rollout_id: manifest.rollout_id.clone(),
            next_seq: 1,
            lost_lines: Vec::new(),
            last_line: 0,
            unknown_fields: BTreeMap::new(),
            closed: false,
            has_late_events: false,
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
        self.has_late_events
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
        let mut events = Vec::with_capacity(lines.len());
        for parsed in parse_lines(lines) {
            let ParsedLine { line, unknown_fields, event } = parsed;
            let is_blank = matches!(event, Ok(None));
            if self.closed && !is_blank && self.schema >= SchemaVersion::V2 {
                let message = "the log goes on after the recorder closed it";
                self.note(Diagnostic::new(Code::AfterRecordingCompleted, message).at_line(line.number))?;
            }
            let event = match event {
                Ok(None) => continue,
                Ok(Some(event)) => event,
                Err(error) => {
                    if self.lost_lines.len() < MAX_LOST_LINES {
                        self.lost_lines.push(line.number);
                    }
                    self.note(describe_line(line, &error))?;
                    continue;
                }
            };
            // A last line without a line feed may be incomplete, so it does not prove that the recording is complete.
            self.look_for_end(&event, line.terminated);
            if unknown_fields > 0 {
                *self.unknown_fields.entry(event.payload.tag().to_owned()).or_default() += u64::from(unknown_fields);
            }
            events.push((line.number, event));
        }
        if self.schema >= SchemaVersion::V2 {
            self.check_envelopes(&mut events)?;
        }
        let events: Vec<Event<'_>> = events.into_iter().map(|(_, event)| event).collect();
        let batch = self.ingest.read(&events, payloads);
        self.replay.apply_batch(&events, batch)?;
        Ok(())
    }

    /// Applies more events, which are complete, in order, and need no log.
    fn apply(&mut self, events: &[Event<'_>], payloads: &PayloadFiles) -> Result<(), ReduceError> {
        for event in events {
            self.look_for_end(event, true);
        }
        if self.schema >= SchemaVersion::V2 {
            self.check_order(events.iter().map(|event| (event.seq, event)))?;
        }
        let batch = self.ingest.read(events, payloads);
        self.replay.apply_batch(events, batch)?;
        Ok(())
    }

    /// Notes whether an event is the one with which a recorder closes the log. `is_whole` means that its line is complete.
    fn look_for_end(&mut self, event: &Event<'_>, is_whole: bool) {
        if matches!(event.payload, EventPayload::RecordingCompleted(_)) {
            self.closed = true;
            if is_whole && self.schema >= SchemaVersion::V2 {
                self.replay.draft.trace.recording_complete = true;
            }
        }
    }

    /// Checks the fields that schema 2 guarantees in each event, and sorts events that are out of order. Each event
    /// comes with its line number.
    fn check_envelopes(&mut self, events: &mut Vec<(u64, Event<'_>)>) -> Result<(), ReduceError> {
        let in_order = events.iter().zip(events.iter().skip(1)).all(|((_, a), (_, b))| a.seq < b.seq);
        if !in_order {
            self.sort(events)?;
        }
        self.has_late_events |= events.first().is_some_and(|(_, event)| event.seq < self.next_seq);
        self.check_order(events.iter().map(|(line, event)| (*line, event)))
    }

    /// Checks the fields that schema 2 guarantees in each event. The events are in order, each with its line number.
    fn check_order<'e, 'a: 'e>(
        &mut self,
        events: impl Iterator<Item = (u64, &'e Event<'a>)>,
    ) -> Result<(), ReduceError> {
        for (line, event) in events {
            if event.schema_version != self.schema {
                let message =
                    format!("an event of schema {} in a bundle of schema {}", event.schema_version, self.schema);
                self.note(Diagnostic::new(Code::UnknownSchema, message).at_seq(event.seq))?;
            }
            if event.seq > self.next_seq {
                let missing = event.seq - self.next_seq;
                let is_explained = missing <= self.lines_lost_before(line);
                if !is_explained || self.replay.draft.strict {
                    let message = match missing {
                        1 => format!("event {} is missing", self.next_seq),
                        _ => format!("events {} to {} are missing", self.next_seq, event.seq - 1),
                    };
                    self.note(Diagnostic::new(Code::SeqGap, message).at_seq(event.seq))?;
                }
            } else if event.seq.saturating_add(1) < self.next_seq {
                let message = format!("event {} comes after event {}", event.seq, self.next_seq - 1);
                self.note(Diagnostic::new(Code::SeqOutOfOrder, message).at_seq(event.seq))?;
            } else if event.seq < self.next_seq && self.replay.draft.strict {
                self.note(Diagnostic::new(Code::SeqRepeated, "two events share it").at_seq(event.seq))?;
            }
            self.last_line = line;
            self.next_seq = self.next_seq.max(event.seq.saturating_add(1));
            if *event.rollout_id != *self.rollout_id {
                let message = format!("an event of rollout {}", event.rollout_id);
                self.note(Diagnostic::new(Code::OtherRollout, message).at_seq(event.seq))?;
            }
        }
        // Invalid lines before the last event cannot explain gaps that come later.
        let last_line = self.last_line;
        self.lost_lines.retain(|line| *line > last_line);
        Ok(())
    }

    /// Counts the lines between the last event and `line` that are not events.
    fn lines_lost_before(&self, line: u64) -> u64 {
        let until = |line| self.lost_lines.partition_point(|lost| *lost < line);
        until(line).saturating_sub(until(self.last_line)) as u64
    }

    /// Sorts events by sequence number and removes exact duplicates.
    fn sort(&mut self, events: &mut Vec<(u64, Event<'_>)>) -> Result<(), ReduceError> {
        if let Some(((_, a), (_, b))) = events.iter().zip(events.iter().skip(1)).find(|((_, a), (_, b))| a.seq > b.seq)
        {
            let message = format!("seq {} stands after {}; the events are sorted", b.seq, a.seq);
            self.note(Diagnostic::new(Code::SeqOutOfOrder, message).at_seq(b.seq))?;
        }
        events.sort_by_key(|(_, event)| event.seq);
        let mut repeated = Vec::new();
        events.dedup_by(|(_, later), (_, first)| {
            let same = later == first;
            if later.seq == first.seq {
                repeated.push((later.seq, same));
            }
            same
        });
        for (seq, same) in repeated {
            let what = if same { "the same event stands twice; once is enough" } else { "two events share it" };
            self.note(Diagnostic::new(Code::SeqRepeated, what).at_seq(seq))?;
        }
        Ok(())
    }

    /// Finishes the reduction.
    ///
    /// # Errors
    ///
    /// Returns an error if the reduction is strict and the log as a whole breaks a rule of the format.
    pub fn finish(mut self) -> Result<Reduction, ReduceError> {
        for (event, count) in &self.unknown_fields {
            let fields = if *count == 1 { "a field" } else { "fields" };
            let message = format!("`{event}` events have {fields} that this version does not know ({count} in all)");
            self.replay.draft.remark(Diagnostic::new(Code::UnknownFields, message));
        }
        let (trace, diagnostics) = self.replay.finish()?;
        Ok(Reduction { trace, diagnostics })
    }
}

fn describe_line(line: Line<'_>, error: &LineError) -> Diagnostic {
    let code = if !line.terminated && error.is_cut() { Code::TornTail } else { Code::InvalidLine };
    let message = match code {
        Code::TornTail => format!("the last line breaks off after {} bytes; its event is lost", line.bytes.len()),
        _ if matches!(error, LineError::TooLong { .. }) => {
            let offset = line.offset;
            format!("at byte {offset}: {error}; the line is passed over, and `trace check --repair` takes it out")
        }
        _ => format!("{error}; the line is passed over"),
    };
    Diagnostic::new(code, message).at_line(line.number)
}
