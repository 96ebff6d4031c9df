//! What a reduction reports about its bundle besides the graph: typed diagnostics, each with a stable code.

use std::fmt;
use std::ops::Deref;

use trace_recorder::bounded::{Bounded, Coded};
use trace_recorder::codes;
use trace_recorder::severity::cut_message;
pub use trace_recorder::severity::{MAX_MESSAGE_BYTES, MAX_PER_CODE, Severity};

codes! {
    /// The log has no end: the session still runs, or its process died.
    NoEnd = "no_end" Note,
    /// The recorder did not close the log.
    RecordingIncomplete = "recording_incomplete" Note,
    /// Something is not recorded: the disk was too slow, the recording was interrupted, or a repair left out what was
    /// damaged.
    RecordingGap = "recording_gap" Note,
    /// The recorder stopped before the session ended.
    RecordingStopped = "recording_stopped" Note,
    /// A message, task or result was sent, and the log does not show that it arrived.
    MessageUndelivered = "message_undelivered" Note,
    /// Events have fields that this version does not know; the fields are ignored.
    UnknownFields = "unknown_fields" Note,
    /// The log never shows the tool call that started a code cell.
    CellWithoutCall = "cell_without_call" Note,
    /// The manifest is missing; its values are taken from the log.
    ManifestMissing = "manifest_missing" Warning,
    /// The manifest cannot be read; its values are taken from the log.
    ManifestInvalid = "manifest_invalid" Warning,
    /// The event log is missing or cannot be read.
    LogUnreadable = "log_unreadable" Error,
    /// The bundle has a schema version that this program does not know; it is read as the newest known schema.
    UnknownSchema = "unknown_schema" Warning,
    /// The last line is incomplete: the process died while it wrote the line.
    TornTail = "torn_tail" Error,
    /// A line is not an event.
    InvalidLine = "invalid_line" Error,
    /// The event type is of a later release; the event is skipped.
    UnknownEvent = "unknown_event" Error,
    /// A field of an event has a value of a later release.
    UnknownValue = "unknown_value" Warning,
    /// The schema of the bundle does not have this event.
    EventOfOtherSchema = "event_of_other_schema" Warning,
    /// The event type is reserved by the format; the event is skipped.
    ReservedEvent = "reserved_event" Warning,
    /// Sequence numbers are missing.
    SeqGap = "seq_gap" Error,
    /// Events are not in the order of their sequence numbers; they are sorted.
    SeqOutOfOrder = "seq_out_of_order" Warning,
    /// Two events have the same sequence number.
    SeqRepeated = "seq_repeated" Warning,
    /// An event belongs to another rollout.
    OtherRollout = "other_rollout" Warning,
    /// Events follow after the recorder closed the log.
    AfterRecordingCompleted = "after_recording_completed" Warning,
    /// A payload file is missing.
    PayloadMissing = "payload_missing" Error,
    /// A payload does not have the form that its event requires.
    PayloadInvalid = "payload_invalid" Error,
    /// The path of a payload leads out of the bundle; the file is not read.
    PayloadOutsideBundle = "payload_outside_bundle" Error,
    /// A model item has an unknown type or form.
    ItemUnknown = "item_unknown" Warning,
    /// An event refers to a thread that no event declares.
    ThreadUnknown = "thread_unknown" Warning,
    /// An event refers to a turn that no event declares.
    TurnUnknown = "turn_unknown" Warning,
    /// An event refers to an inference call that no event declares.
    InferenceUnknown = "inference_unknown" Error,
    /// An event refers to a tool call that no event declares.
    ToolUnknown = "tool_unknown" Warning,
    /// An event refers to a code cell that no event declares.
    CellUnknown = "cell_unknown" Error,
    /// An event refers to a compaction request that no event declares.
    CompactionRequestUnknown = "compaction_request_unknown" Error,
    /// A request continues a response that its thread does not have.
    ResponseUnknown = "response_unknown" Warning,
    /// An event names neither its thread nor a known turn, although it must.
    ContextMissing = "context_missing" Error,
    /// The same object starts twice.
    StartedTwice = "started_twice" Warning,
    /// A thread is resumed although it had not ended.
    ResumedWhileRunning = "resumed_while_running" Warning,
    /// A thread of an earlier session continues in this one.
    ThreadOfEarlierSession = "thread_of_earlier_session" Warning,
    /// An event names a thread, and a turn that belongs to another thread.
    TurnOfOtherThread = "turn_of_other_thread" Warning,
    /// The content of a call or output changed under the same id.
    CallChanged = "call_changed" Warning,
    /// An item of an incremental request contradicts the conversation.
    HistoryContradicted = "history_contradicted" Warning,
    /// A payload of a tool call contradicts what earlier events say about the call.
    ToolContradicted = "tool_contradicted" Warning,
    /// A payload of a terminal operation contradicts what earlier events say about the terminal.
    TerminalContradicted = "terminal_contradicted" Warning,
    /// An event of a code cell contradicts what earlier events say about the cell.
    CellContradicted = "cell_contradicted" Warning,
    /// An event of a compaction contradicts what earlier events say about it.
    CompactionContradicted = "compaction_contradicted" Warning,
    /// Two events disagree about an edge between agents.
    EdgeContradicted = "edge_contradicted" Warning,
}

/// One report of a reduction about its bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Kind of the report.
    pub code: Code,
    /// Sequence number of the event that the report is about; `None` if it is not about one event.
    pub seq: Option<u64>,
    /// Line number in the log, for a line that is not an event.
    pub line: Option<u64>,
    /// Id of the payload that the report is about; `None` if it is not about one payload.
    pub payload_id: Option<Box<str>>,
    /// One sentence for the user, at most [`MAX_MESSAGE_BYTES`] long.
    pub message: Box<str>,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, message: impl Into<Box<str>>) -> Self {
        Self { code, seq: None, line: None, payload_id: None, message: cut_message(message.into()) }
    }

    pub(crate) fn at_seq(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    pub(crate) fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn of_payload(mut self, payload: impl Into<Box<str>>) -> Self {
        self.payload_id = Some(cut_message(payload.into()));
        self
    }

    /// Returns the severity of the diagnostic's code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity().as_str(), self.code)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(seq) = self.seq {
            write!(f, " seq {seq}")?;
        }
        if let Some(payload) = &self.payload_id {
            write!(f, " {payload}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Coded for Diagnostic {
    type Code = Code;

    fn code(&self) -> Code {
        self.code
    }
}

/// Diagnostics of one reduction, at most [`MAX_PER_CODE`] per code, in the order in which they were found: for each
/// batch, first the problems of its lines, then those of its events; last what only the whole log can show.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(Bounded<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds a diagnostic before the one at position `at`. Returns whether it was kept.
    pub(crate) fn insert(&mut self, at: usize, diagnostic: Diagnostic) -> bool {
        self.0.insert(at, diagnostic)
    }

    /// Returns whether the bundle breaks a rule of its format. The peer refuses such a bundle.
    pub fn is_damaged(&self) -> bool {
        self.count_at_least(Severity::Warning) > 0
    }
}

impl Deref for Diagnostics {
    type Target = Bounded<Diagnostic>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_code() {
        let documented = include_str!("../../docs/diagnostics.md");
        for code in Code::ALL {
            let row = format!("| `{code}` | {} |", code.severity().as_str());
            assert!(documented.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_flood_is_counted_but_not_kept() {
        let mut diagnostics = Diagnostics::default();
        for seq in 0..1000 {
            diagnostics.push(Diagnostic::new(Code::SeqGap, "gap").at_seq(seq));
        }
        assert_eq!(diagnostics.iter().count(), MAX_PER_CODE);
        assert_eq!(diagnostics.count(Code::SeqGap), 1000);
        assert_eq!(diagnostics.left_out().collect::<Vec<_>>(), [(Code::SeqGap, 900)]);
        assert!(diagnostics.is_damaged());
    }

    #[test]
    fn an_endless_id_is_cut_message() {
        let diagnostic = Diagnostic::new(Code::ThreadUnknown, "é".repeat(10_000));
        assert!(diagnostic.message.len() <= MAX_MESSAGE_BYTES + "…".len());
        assert!(diagnostic.message.ends_with('…'));
    }

    #[test]
    fn it_reads_as_one_line() {
        let diagnostic =
            Diagnostic::new(Code::PayloadMissing, "the request is missing").at_seq(7).of_payload("raw_payload:3");
        insta::assert_snapshot!(diagnostic.to_string(), @"error[payload_missing] seq 7 raw_payload:3: the request is missing");
    }
}
