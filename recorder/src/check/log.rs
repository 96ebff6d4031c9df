//! Checks the lines of the log and the numbers of its events.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::finding::{Code, Finding, Findings};
use crate::bundle::Bundle;
use crate::format::{EVENT_LOG_FILE, Event, EventPayload, Manifest, SchemaVersion, Text};
use crate::log::{EventLog, Line, LineError, ParsedLine, parse_lines};

/// Number of lines that are parsed together. This limits the memory for events. Sequence numbers are sorted within a batch.
pub(super) const BATCH_LINES: usize = 1 << 16;

/// A payload reference, with the line and number of its event.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    pub(super) line: u64,
    pub(super) seq: u64,
    pub(super) id: Text<'a>,
    pub(super) path: Text<'a>,
}

/// Content of a log, apart from the findings.
#[derive(Debug, Default)]
pub(super) struct LogView<'a> {
    pub(super) lines: u64,
    pub(super) events: u64,
    pub(super) clock: Clock,
    pub(super) references: Vec<Reference<'a>>,
}

/// Whether a recorder may be writing to the log right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Liveness {
    /// A recorder holds the lock.
    BeingRecorded,
    /// No recorder is known to write.
    Quiet,
}

/// Checks the log of a bundle.
pub(super) fn check_log<'a>(bundle: &'a Bundle, liveness: Liveness, findings: &mut Findings) -> LogView<'a> {
    let log = match bundle.log() {
        Ok(log) => log,
        Err(error) => {
            let message = format!("the event log cannot be read: {}", super::manifest::describe(error));
            findings.push(Finding::new(Code::LogUnreadable, message).of_file(EVENT_LOG_FILE));
            return LogView::default();
        }
    };
    let manifest = bundle.manifest().ok();
    LogCheck::new(log, manifest, liveness, findings).run(log)
}

struct LogCheck<'a, 'f> {
    findings: &'f mut Findings,
    view: LogView<'a>,
    manifest: Option<&'a Manifest>,
    /// Schema of the bundle, from its manifest or else from its first event.
    schema: SchemaVersion,
    /// Rollout of the bundle, from its manifest or else from its first event.
    rollout_id: Option<Text<'a>>,
    liveness: Liveness,
    next_seq: u64,
    /// Number of lines so far that were not events and that no gap in the numbers was attributed to yet.
    lost_lines: u64,
    is_closed: bool,
    has_end: bool,
    unknown_fields: BTreeMap<String, u64>,
}

impl<'a, 'f> LogCheck<'a, 'f> {
    fn new(log: &EventLog, manifest: Option<&'a Manifest>, liveness: Liveness, findings: &'f mut Findings) -> Self {
        let schema =
            manifest.map_or_else(|| crate::manifest_from_log(log).schema_version, |known| known.schema_version);
        Self {
            findings,
            view: LogView::default(),
            manifest,
            schema: if schema.check_readable().is_ok() { schema } else { SchemaVersion::CURRENT },
            rollout_id: manifest.map(|manifest| manifest.rollout_id.as_str().into()),
            liveness,
            next_seq: 1,
            lost_lines: 0,
            is_closed: false,
            has_end: false,
            unknown_fields: BTreeMap::new(),
        }
    }

    fn run(mut self, log: &'a EventLog) -> LogView<'a> {
        let mut lines = log.lines();
        loop {
            let batch: Vec<Line<'a>> = lines.by_ref().take(BATCH_LINES).collect();
            if batch.is_empty() {
                break;
            }
            self.view.lines += batch.len() as u64;
            let mut numbers = Vec::with_capacity(batch.len());
            for parsed in parse_lines(&batch) {
                if let Some((line, event)) = self.look_at_line(parsed) {
                    numbers.push((line, event.seq));
                    self.look_at_event(line, &event);
                }
            }
            self.look_at_numbers(numbers);
        }
        self.look_at_end();
        self.view
    }

    /// Checks a line on its own. Returns its line number and event, unless the line has no event or follows the end of the
    /// recording.
    fn look_at_line(&mut self, parsed: ParsedLine<'a>) -> Option<(u64, Event<'a>)> {
        let ParsedLine { line, unknown_fields, event } = parsed;
        let is_blank = matches!(event, Ok(None));
        let is_behind_end = self.is_closed && !is_blank && self.schema >= SchemaVersion::V2;
        if is_behind_end {
            let message = "the log continues after the recorder closed it";
            self.findings.push(Finding::new(Code::AfterRecordingCompleted, message).at_line(line.number));
        }
        let event = match event {
            Ok(event) => event?,
            Err(error) => {
                self.lost_lines += 1;
                if !is_behind_end {
                    self.tell_damaged_line(line, &error);
                }
                return None;
            }
        };
        self.view.events += 1;
        if !line.terminated && self.liveness == Liveness::Quiet {
            let message = "the last line has no line feed; an event after it would run into it";
            self.findings.push(Finding::new(Code::UnterminatedTail, message).at_line(line.number).at_seq(event.seq));
        }
        if unknown_fields > 0 {
            *self.unknown_fields.entry(event.payload.tag().to_owned()).or_default() += u64::from(unknown_fields);
        }
        (!is_behind_end).then_some((line.number, event))
    }

    fn tell_damaged_line(&mut self, line: Line<'_>, error: &LineError) {
        if line.terminated || !error.is_cut() {
            self.findings.push(Finding::new(Code::InvalidLine, error.to_string()).at_line(line.number));
        } else if self.liveness == Liveness::Quiet {
            let message = format!("the last line breaks off after {} bytes; its event is lost", line.bytes.len());
            self.findings.push(Finding::new(Code::TornTail, message).at_line(line.number));
        }
    }

    fn look_at_event(&mut self, line: u64, event: &Event<'a>) {
        let seq = event.seq;
        let tell = |code, message: String| Finding::new(code, message).at_line(line).at_seq(seq);
        let tag = event.payload.tag();
        let is_v1 = self.schema == SchemaVersion::V1;
        match &event.payload {
            EventPayload::Unknown(_) => {
                self.findings.push(tell(Code::UnknownEvent, format!("the event `{tag}` is not known to this version")));
            }
            EventPayload::Other(_) => {
                self.findings.push(tell(Code::ReservedEvent, "the event `other` is reserved by the format".to_owned()));
            }
            EventPayload::RecordingCompleted(_) => self.is_closed = true,
            EventPayload::RolloutEnded(_) => self.has_end = true,
            EventPayload::RolloutStarted(started) => {
                let ids = self.manifest.map(|known| (known.trace_id.as_str(), known.root_thread_id.as_str()));
                if ids.is_some_and(|ids| ids != (started.trace_id.as_str(), started.root_thread_id.as_str())) {
                    let message =
                        "the first event gives the session other ids than the manifest; readers use those of the event";
                    self.findings.push(tell(Code::ManifestDisagrees, message.to_owned()));
                }
            }
            _ => {}
        }
        if event.payload.is_of_schema(self.schema) {
            let is_unread = is_v1 && matches!(event.payload, EventPayload::ToolCallRuntimeStarted(_));
            if let Some((field, value)) = event.payload.unknown_value().filter(|_| !is_unread) {
                let message = format!("{tag} has an unknown {field} `{value}`");
                self.findings.push(tell(Code::UnknownValue, message));
            }
        } else {
            let message = format!("`{tag}` in this form does not belong to schema {}", self.schema);
            self.findings.push(tell(Code::EventOfOtherSchema, message));
        }
        let rollout_id = self.rollout_id.get_or_insert_with(|| event.rollout_id.clone());
        if event.schema_version != self.schema && !is_v1 {
            let message = format!("an event of schema {} in a bundle of schema {}", event.schema_version, self.schema);
            self.findings.push(tell(Code::SchemaDiffers, message));
        }
        if event.rollout_id != *rollout_id && !is_v1 {
            self.findings.push(tell(Code::OtherRollout, format!("an event of rollout {}", event.rollout_id)));
        }
        if is_v1 && (event.schema_version != self.schema || event.rollout_id != *rollout_id) {
            let message = "an event of another schema or rollout, which readers of schema 1 ignore".to_owned();
            self.findings.push(tell(Code::LooseEnvelope, message));
        }
        self.view.clock.look(line, seq, event.wall_time_unix_ms, self.findings);
        let references = event.payload.payload_refs().iter();
        self.view.references.extend(references.map(|reference| Reference {
            line,
            seq,
            id: reference.raw_payload_id.clone(),
            path: reference.path.clone(),
        }));
    }

    /// Checks the sequence numbers of a batch. `numbers` holds pairs of line number and sequence number.
    fn look_at_numbers(&mut self, mut numbers: Vec<(u64, u64)>) {
        if self.schema == SchemaVersion::V1 {
            for (line, seq) in numbers {
                if seq != self.next_seq {
                    let message = format!("event {} was expected here; readers of schema 1 ignore this", self.next_seq);
                    self.findings.push(Finding::new(Code::LooseEnvelope, message).at_line(line).at_seq(seq));
                }
                self.next_seq = seq.saturating_add(1);
            }
            return;
        }
        let tell = |code, message: String, (line, seq)| Finding::new(code, message).at_line(line).at_seq(seq);
        for pair in numbers.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
            let message = format!("the event stands after event {}", pair[0].1);
            self.findings.push(tell(Code::SeqOutOfOrder, message, pair[1]));
        }
        numbers.sort_by_key(|(_, seq)| *seq);
        for (line, seq) in numbers {
            if seq > self.next_seq {
                let missing = seq - self.next_seq;
                if missing <= self.lost_lines {
                    self.lost_lines -= missing;
                } else {
                    let message = match missing {
                        1 => format!("event {} is missing", self.next_seq),
                        _ => format!("events {} to {} are missing", self.next_seq, seq - 1),
                    };
                    self.findings.push(tell(Code::SeqGap, message, (line, seq)));
                }
            } else if seq < self.next_seq {
                let (code, message) = if seq.saturating_add(1) == self.next_seq {
                    (Code::SeqRepeated, "two events have this number".to_owned())
                } else if seq == 0 {
                    (Code::SeqOutOfOrder, "events are counted from 1".to_owned())
                } else {
                    (Code::SeqOutOfOrder, format!("the event comes after event {}", self.next_seq - 1))
                };
                self.findings.push(tell(code, message, (line, seq)));
            }
            self.next_seq = self.next_seq.max(seq.saturating_add(1));
        }
    }

    fn look_at_end(&mut self) {
        for (tag, count) in std::mem::take(&mut self.unknown_fields) {
            let fields = if count == 1 { "a field" } else { "fields" };
            let message = format!("`{tag}` events have {fields} that this version does not know ({count} in all)");
            self.findings.push(Finding::new(Code::UnknownFields, message));
        }
        if self.view.events == 0 {
            self.findings.push(Finding::new(Code::LogEmpty, "the log has no events").of_file(EVENT_LOG_FILE));
        } else if !self.has_end {
            let message = "the log has no end: the session still runs, or its process died";
            self.findings.push(Finding::new(Code::NoEnd, message));
        } else if !self.is_closed && self.schema >= SchemaVersion::V2 {
            let message = "the recorder did not close the log; what happened after its last event is not known";
            self.findings.push(Finding::new(Code::RecordingIncomplete, message));
        }
    }
}
