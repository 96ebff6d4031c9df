//! Drives a reduction: log to events, events to ingest, ingest to replay.

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

/// Lines that are parsed and ingested together. Bounds the memory that a long log takes before its events are applied,
/// and is more than most sessions have.
pub(crate) const BATCH_LINES: usize = 1 << 16;

/// Most lines that are no events that are remembered between two events. Those beyond it explain no missing ones.
const MAX_LOST_LINES: usize = 1 << 16;

/// How to reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Refuse what the peer refuses, instead of going on with what is left.
    pub strict: bool,
    /// Parse every request whole instead of comparing it with its predecessor. Slow; the result must be the same.
    pub verify: bool,
}

/// A graph, and what there is to say about the bundle that it came from.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The graph.
    pub trace: Trace,
    /// What is damaged, missing or worth knowing.
    pub diagnostics: Diagnostics,
}

/// Why a bundle was not reduced.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    /// A strict reduction met something that the format does not allow.
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
/// Returns an error only when the options ask for a strict reduction and the bundle breaks a rule of its format.
pub fn reduce(bundle: &Bundle, options: Options) -> Result<Reduction, ReduceError> {
    let empty = EventLog::from_bytes(Vec::new());
    let log = bundle.log().unwrap_or(&empty);
    let mut reducer = Reducer::begin(bundle, options)?;
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

/// Returns an error's text with those of its causes.
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

/// A reduction that gets its log piece by piece, as a live view does.
///
/// Feeding a log in pieces gives what feeding it at once gives, as long as its events are in order. A clone can be
/// finished while the original goes on.
#[derive(Debug, Clone)]
pub struct Reducer {
    ingest: Ingest,
    replay: Replay,
    schema: SchemaVersion,
    rollout_id: String,
    next_seq: u64,
    /// Numbers of lines that are no events; they explain sequence numbers that are missing around them.
    lost_lines: Vec<u64>,
    /// Line of the last event.
    last_line: u64,
    unknown_fields: BTreeMap<String, u64>,
    /// Whether the recorder said that nothing follows.
    closed: bool,
    /// Whether an event came in a later piece than one that follows it.
    has_late_events: bool,
}

impl Reducer {
    /// Begins the reduction of a bundle with what stands beside its log. Where the manifest is missing, what the log has
    /// so far stands in for it.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and the bundle breaks a rule of its format.
    pub fn begin(bundle: &Bundle, options: Options) -> Result<Self, ReduceError> {
        let mut reducer = match bundle.manifest() {
            Ok(manifest) => Self::new(manifest, options)?,
            Err(error) => {
                let code = if error.is_missing() { Code::ManifestMissing } else { Code::ManifestInvalid };
                let empty = EventLog::from_bytes(Vec::new());
                let manifest = manifest_from_log(bundle.log().unwrap_or(&empty));
                let mut reducer = Self::new(&manifest, Options { strict: false, ..options })?;
                reducer.set_strict(options.strict);
                reducer.note(Diagnostic::new(code, format!("{}; the log stands in for it", with_causes(error))))?;
                reducer
            }
        };
        if let Err(error) = bundle.log() {
            let message = format!("{}; there are no events", with_causes(error));
            reducer.note(Diagnostic::new(Code::LogUnreadable, message))?;
        }
        // A file that is not the recorder's says nothing about the session.
        if let Some(stopped) = bundle.recording().ok().flatten().and_then(|recording| recording.stopped) {
            reducer.replay.recording_stopped(&stopped);
        }
        Ok(reducer)
    }

    /// Begins the reduction of the bundle with this manifest.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and the schema is not known.
    pub fn new(manifest: &Manifest, options: Options) -> Result<Self, ReduceError> {
        let readable = manifest.schema_version.check_readable();
        let schema = if readable.is_ok() { manifest.schema_version } else { SchemaVersion::CURRENT };
        let replay = Replay::new(
            schema,
            &manifest.trace_id,
            &manifest.rollout_id,
            &manifest.root_thread_id,
            manifest.started_at_unix_ms,
            options.strict,
        );
        let mut reducer = Self {
            ingest: Ingest::new(schema, options.verify),
            replay,
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

    /// Returns the graph as the lines so far make it. What only the end of the log decides is not in it yet; see
    /// [`finish`](Self::finish).
    pub fn trace(&self) -> &Trace {
        self.replay.trace()
    }

    /// Returns what there is to say about the lines so far.
    pub fn diagnostics(&self) -> &Diagnostics {
        self.replay.diagnostics()
    }

    /// Says whether an event came in a later piece than one that follows it. Fed at once, the log would have been sorted,
    /// so that the graph may be another one.
    pub fn has_late_events(&self) -> bool {
        self.has_late_events
    }

    /// Remembers from here on which objects of the graph are touched.
    pub(crate) fn watch(&mut self) {
        self.replay.trace_mut().watch();
    }

    /// Returns the objects that were touched since this was last asked, type by type, some of them often.
    pub(crate) fn take_touched(&mut self) -> Vec<Object> {
        self.replay.trace_mut().take_touched()
    }

    fn set_strict(&mut self, strict: bool) {
        self.replay.set_strict(strict);
    }

    fn note(&mut self, diagnostic: Diagnostic) -> Result<(), ReduceError> {
        Ok(self.replay.note(diagnostic)?)
    }

    /// Applies further lines of the log, whose payloads are in `payloads`.
    ///
    /// # Errors
    ///
    /// Returns an error when the reduction is strict and a line breaks a rule of the format. The reducer is then of no
    /// further use.
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
            if matches!(event.payload, EventPayload::RecordingCompleted(_)) {
                self.closed = true;
                // Without its line feed the line may not be all that was to be written.
                if line.terminated && self.schema >= SchemaVersion::V2 {
                    self.replay.set_recording_complete();
                }
            }
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

    /// Checks what schema 2 promises of envelopes, and sorts events that are out of order. Each comes with its line.
    fn check_envelopes(&mut self, events: &mut Vec<(u64, Event<'_>)>) -> Result<(), ReduceError> {
        let in_order = events.iter().zip(events.iter().skip(1)).all(|((_, a), (_, b))| a.seq < b.seq);
        if !in_order {
            self.sort(events)?;
        }
        self.has_late_events |= events.first().is_some_and(|(_, event)| event.seq < self.next_seq);
        for (line, event) in events.iter() {
            if event.schema_version != self.schema {
                let message =
                    format!("an event of schema {} in a bundle of schema {}", event.schema_version, self.schema);
                self.note(Diagnostic::new(Code::UnknownSchema, message).at_seq(event.seq))?;
            }
            if event.seq > self.next_seq {
                let missing = event.seq - self.next_seq;
                let is_explained = missing <= self.lines_lost_before(*line);
                if !is_explained || self.replay.is_strict() {
                    let message = match missing {
                        1 => format!("event {} is missing", self.next_seq),
                        _ => format!("events {} to {} are missing", self.next_seq, event.seq - 1),
                    };
                    self.note(Diagnostic::new(Code::SeqGap, message).at_seq(event.seq))?;
                }
            } else if event.seq.saturating_add(1) < self.next_seq {
                let message = format!("event {} comes after event {}", event.seq, self.next_seq - 1);
                self.note(Diagnostic::new(Code::SeqOutOfOrder, message).at_seq(event.seq))?;
            } else if event.seq < self.next_seq && self.replay.is_strict() {
                self.note(Diagnostic::new(Code::SeqRepeated, "two events share it").at_seq(event.seq))?;
            }
            self.last_line = *line;
            self.next_seq = self.next_seq.max(event.seq.saturating_add(1));
            if *event.rollout_id != *self.rollout_id {
                let message = format!("an event of rollout {}", event.rollout_id);
                self.note(Diagnostic::new(Code::OtherRollout, message).at_seq(event.seq))?;
            }
        }
        // What was lost before the last event has explained what it can.
        let last_line = self.last_line;
        self.lost_lines.retain(|line| *line > last_line);
        Ok(())
    }

    /// Counts the lines between the last event and this line that are no events.
    fn lines_lost_before(&self, line: u64) -> u64 {
        let until = |line| self.lost_lines.partition_point(|lost| *lost < line);
        until(line).saturating_sub(until(self.last_line)) as u64
    }

    /// Sorts events by their sequence numbers and leaves out those that stand twice.
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
    /// Returns an error when the reduction is strict and the log as a whole breaks a rule of the format.
    pub fn finish(mut self) -> Result<Reduction, ReduceError> {
        for (event, count) in &self.unknown_fields {
            let fields = if *count == 1 { "a field" } else { "fields" };
            let message = format!("`{event}` events have {fields} that this version does not know ({count} in all)");
            self.replay.remark(Diagnostic::new(Code::UnknownFields, message));
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
