//! What happens to lines before they are applied: they are parsed, checked and sorted, and their payloads are read.
//!
//! Nothing here depends on the graph, so the next lines are read while the last ones are applied.

use std::collections::BTreeMap;

use trace_recorder::format::{Event, EventPayload, SchemaVersion};
use trace_recorder::log::{Line, LineError, ParsedLine, parse_lines};
use trace_recorder::payloads::PayloadFiles;

use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::{Batch, Ingest};

/// Most invalid lines between two events whose numbers are kept. Lines beyond the limit do not explain missing events.
const MAX_LOST_LINES: usize = 1 << 16;

/// Reads the lines of a log, piece after piece.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    ingest: Ingest,
    schema: SchemaVersion,
    /// Whether events are reported that the peer refuses and a lenient reduction takes as they are.
    pub(crate) strict: bool,
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

/// Events with the payloads that they name.
#[derive(Debug)]
pub(crate) struct Piece<E> {
    pub(crate) events: E,
    pub(crate) batch: Batch,
    pub(crate) notes: Notes,
    /// Whether the recorder has completed the recording with one of the events.
    pub(crate) completes: bool,
}

/// What is wrong with lines and events, in the order in which it is reported: first what concerns lines.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) of_lines: Vec<Diagnostic>,
    pub(crate) of_events: Vec<Diagnostic>,
}

impl Reading {
    pub(crate) fn new(ingest: Ingest, schema: SchemaVersion, strict: bool, rollout_id: String) -> Self {
        Self {
            ingest,
            schema,
            strict,
            rollout_id,
            next_seq: 1,
            lost_lines: Vec::new(),
            last_line: 0,
            unknown_fields: BTreeMap::new(),
            closed: false,
            has_late_events: false,
        }
    }

    /// Returns whether an event came in a later piece than an event with a higher sequence number.
    pub(crate) fn has_late_events(&self) -> bool {
        self.has_late_events
    }

    /// Returns how many fields that are not known the events of each type had.
    pub(crate) fn unknown_fields(&self) -> &BTreeMap<String, u64> {
        &self.unknown_fields
    }

    /// Reads the events of lines, and their payloads.
    pub(crate) fn read<'a>(&mut self, lines: &[Line<'a>], payloads: &PayloadFiles) -> Piece<Vec<Event<'a>>> {
        let mut notes = Notes::default();
        let mut completes = false;
        // A loop: optimised by Rust 1.95, the same closure in `filter_map(..).collect()`, which collects in place, was seen to take events of
        // other types for the end of the recording.
        let mut events = Vec::with_capacity(lines.len());
        for parsed in parse_lines(lines) {
            let ParsedLine { line, unknown_fields, event } = parsed;
            let is_blank = matches!(event, Ok(None));
            if self.closed && !is_blank && self.schema >= SchemaVersion::V2 {
                let message = "the log goes on after the recorder closed it";
                notes.of_lines.push(Diagnostic::new(Code::AfterRecordingCompleted, message).at_line(line.number));
            }
            let event = match event {
                Ok(None) => continue,
                Ok(Some(event)) => event,
                Err(error) => {
                    if self.lost_lines.len() < MAX_LOST_LINES {
                        self.lost_lines.push(line.number);
                    }
                    notes.of_lines.push(describe_line(line, &error));
                    continue;
                }
            };
            // A last line without a line feed may be incomplete, so it does not prove that the recording is complete.
            completes |= self.look_for_end(&event) && line.terminated;
            if unknown_fields > 0 {
                *self.unknown_fields.entry(event.payload.tag().to_owned()).or_default() += u64::from(unknown_fields);
            }
            events.push((line.number, event));
        }
        if self.schema >= SchemaVersion::V2 {
            self.check_envelopes(&mut events, &mut notes.of_events);
        }
        let events: Vec<Event<'_>> = events.into_iter().map(|(_, event)| event).collect();
        let batch = self.ingest.read(&events, payloads);
        Piece { events, batch, notes, completes: completes && self.schema >= SchemaVersion::V2 }
    }

    /// Reads the payloads of events, which are complete, in order, and need no log.
    pub(crate) fn read_payloads<'e, 'a>(
        &mut self,
        events: &'e [Event<'a>],
        payloads: &PayloadFiles,
    ) -> Piece<&'e [Event<'a>]> {
        let mut notes = Notes::default();
        let mut completes = false;
        for event in events {
            completes |= self.look_for_end(event);
        }
        if self.schema >= SchemaVersion::V2 {
            self.check_order(events.iter().map(|event| (event.seq, event)), &mut notes.of_events);
        }
        let batch = self.ingest.read(events, payloads);
        Piece { events, batch, notes, completes: completes && self.schema >= SchemaVersion::V2 }
    }

    /// Returns whether an event is the one with which a recorder closes the log.
    fn look_for_end(&mut self, event: &Event<'_>) -> bool {
        let is_end = matches!(event.payload, EventPayload::RecordingCompleted(_));
        self.closed |= is_end;
        is_end
    }

    /// Checks the fields that schema 2 guarantees in each event, and sorts events that are out of order. Each event
    /// comes with its line number.
    fn check_envelopes(&mut self, events: &mut Vec<(u64, Event<'_>)>, notes: &mut Vec<Diagnostic>) {
        let in_order = events.iter().zip(events.iter().skip(1)).all(|((_, a), (_, b))| a.seq < b.seq);
        if !in_order {
            sort(events, notes);
        }
        self.has_late_events |= events.first().is_some_and(|(_, event)| event.seq < self.next_seq);
        self.check_order(events.iter().map(|(line, event)| (*line, event)), notes);
    }

    /// Checks the fields that schema 2 guarantees in each event. The events are in order, each with its line number.
    fn check_order<'e, 'a: 'e>(
        &mut self,
        events: impl Iterator<Item = (u64, &'e Event<'a>)>,
        notes: &mut Vec<Diagnostic>,
    ) {
        for (line, event) in events {
            if event.schema_version != self.schema {
                let message =
                    format!("an event of schema {} in a bundle of schema {}", event.schema_version, self.schema);
                notes.push(Diagnostic::new(Code::UnknownSchema, message).at_seq(event.seq));
            }
            if event.seq > self.next_seq {
                let missing = event.seq - self.next_seq;
                let is_explained = missing <= self.lines_lost_before(line);
                if !is_explained || self.strict {
                    let message = match missing {
                        1 => format!("event {} is missing", self.next_seq),
                        _ => format!("events {} to {} are missing", self.next_seq, event.seq - 1),
                    };
                    notes.push(Diagnostic::new(Code::SeqGap, message).at_seq(event.seq));
                }
            } else if event.seq.saturating_add(1) < self.next_seq {
                let message = format!("event {} comes after event {}", event.seq, self.next_seq - 1);
                notes.push(Diagnostic::new(Code::SeqOutOfOrder, message).at_seq(event.seq));
            } else if event.seq < self.next_seq && self.strict {
                notes.push(Diagnostic::new(Code::SeqRepeated, "two events share it").at_seq(event.seq));
            }
            self.last_line = line;
            self.next_seq = self.next_seq.max(event.seq.saturating_add(1));
            if *event.rollout_id != *self.rollout_id {
                let message = format!("an event of rollout {}", event.rollout_id);
                notes.push(Diagnostic::new(Code::OtherRollout, message).at_seq(event.seq));
            }
        }
        // Invalid lines before the last event cannot explain gaps that come later.
        let last_line = self.last_line;
        self.lost_lines.retain(|line| *line > last_line);
    }

    /// Counts the lines between the last event and `line` that are not events.
    fn lines_lost_before(&self, line: u64) -> u64 {
        let until = |line| self.lost_lines.partition_point(|lost| *lost < line);
        until(line).saturating_sub(until(self.last_line)) as u64
    }
}

/// Sorts events by sequence number and removes exact duplicates.
fn sort(events: &mut Vec<(u64, Event<'_>)>, notes: &mut Vec<Diagnostic>) {
    if let Some(((_, a), (_, b))) = events.iter().zip(events.iter().skip(1)).find(|((_, a), (_, b))| a.seq > b.seq) {
        let message = format!("seq {} stands after {}; the events are sorted", b.seq, a.seq);
        notes.push(Diagnostic::new(Code::SeqOutOfOrder, message).at_seq(b.seq));
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
        notes.push(Diagnostic::new(Code::SeqRepeated, what).at_seq(seq));
    }
}

/// Describes a line that is not an event.
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
