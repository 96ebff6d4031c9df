//! What a reduction has to say about its bundle beside the graph.

use std::fmt;
use std::ops::Deref;

use trace_recorder::bounded::{Bounded, Coded, Weighed};
use trace_recorder::severity::cut_message;
pub use trace_recorder::severity::{MAX_MESSAGE_BYTES, MAX_PER_CODE, Severity};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal $severity:ident,)*) => {
        /// What kind of thing a diagnostic reports. The names are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the stable name of the code.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Returns how much diagnostics of this code matter.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)*
                }
            }
        }
    };
}

codes! {
    /// The log has no end: the session still runs, or its process died.
    NoEnd = "no_end" Note,
    /// The recorder did not close the log.
    RecordingIncomplete = "recording_incomplete" Note,
    /// Something is not recorded: the disk was too slow, the recorder was interrupted, or a repair did without.
    RecordingGap = "recording_gap" Note,
    /// The recorder stopped before the session ended.
    RecordingStopped = "recording_stopped" Note,
    /// A message, task or result was sent, and the log does not show that it arrived.
    MessageUndelivered = "message_undelivered" Note,
    /// Fields that this version does not know; they are passed over.
    UnknownFields = "unknown_fields" Note,
    /// A code cell whose call was never seen.
    CellWithoutCall = "cell_without_call" Note,
    /// The manifest is missing; the log stands in for it.
    ManifestMissing = "manifest_missing" Warning,
    /// The manifest cannot be read; the log stands in for it.
    ManifestInvalid = "manifest_invalid" Warning,
    /// The event log is missing or cannot be read.
    LogUnreadable = "log_unreadable" Error,
    /// The bundle has a schema that this version does not know; it is read by the rules of the newest.
    UnknownSchema = "unknown_schema" Warning,
    /// The last line breaks off: the process died while it wrote.
    TornTail = "torn_tail" Error,
    /// A line is not an event.
    InvalidLine = "invalid_line" Error,
    /// An event of a later release; it is passed over.
    UnknownEvent = "unknown_event" Error,
    /// A value of a later release in an event.
    UnknownValue = "unknown_value" Warning,
    /// An event that the schema of the bundle does not have.
    EventOfOtherSchema = "event_of_other_schema" Warning,
    /// An event that the format reserves; it is passed over.
    ReservedEvent = "reserved_event" Warning,
    /// Sequence numbers are missing.
    SeqGap = "seq_gap" Error,
    /// Events stand in another order than their sequence numbers say; they are sorted.
    SeqOutOfOrder = "seq_out_of_order" Warning,
    /// Two events have the same sequence number.
    SeqRepeated = "seq_repeated" Warning,
    /// An event of another rollout.
    OtherRollout = "other_rollout" Warning,
    /// Events after the recorder closed the log.
    AfterRecordingCompleted = "after_recording_completed" Warning,
    /// A payload file is missing.
    PayloadMissing = "payload_missing" Error,
    /// A payload is not what its event calls for.
    PayloadInvalid = "payload_invalid" Error,
    /// A payload reference leads out of the bundle; it is not followed.
    PayloadOutsideBundle = "payload_outside_bundle" Error,
    /// A model item that the rules do not know.
    ItemUnknown = "item_unknown" Warning,
    /// An event speaks of a thread that no event declares.
    ThreadUnknown = "thread_unknown" Warning,
    /// An event speaks of a turn that no event declares.
    TurnUnknown = "turn_unknown" Warning,
    /// An event speaks of an inference call that no event declares.
    InferenceUnknown = "inference_unknown" Error,
    /// An event speaks of a tool call that no event declares.
    ToolUnknown = "tool_unknown" Warning,
    /// An event speaks of a code cell that no event declares.
    CellUnknown = "cell_unknown" Error,
    /// An event speaks of a compaction request that no event declares.
    CompactionRequestUnknown = "compaction_request_unknown" Error,
    /// An event speaks of a response that nobody gave.
    ResponseUnknown = "response_unknown" Warning,
    /// An event says neither its thread nor its turn, but it should.
    ContextMissing = "context_missing" Error,
    /// Something begins twice.
    StartedTwice = "started_twice" Warning,
    /// A thread that had not ended is resumed.
    ResumedWhileRunning = "resumed_while_running" Warning,
    /// A thread of an earlier session goes on in this one.
    ThreadOfEarlierSession = "thread_of_earlier_session" Warning,
    /// An event names a turn of one thread and another thread.
    TurnOfOtherThread = "turn_of_other_thread" Warning,
    /// A call or output changed under its id.
    CallChanged = "call_changed" Warning,
    /// An item of an incremental request contradicts the conversation.
    HistoryContradicted = "history_contradicted" Warning,
    /// A tool call's payload contradicts what is known of the call.
    ToolContradicted = "tool_contradicted" Warning,
    /// A terminal's payload contradicts what is known of it.
    TerminalContradicted = "terminal_contradicted" Warning,
    /// A code cell's event contradicts what is known of the cell.
    CellContradicted = "cell_contradicted" Warning,
    /// A compaction's event contradicts what is known of it.
    CompactionContradicted = "compaction_contradicted" Warning,
    /// Two events disagree about a hand-over between agents.
    EdgeContradicted = "edge_contradicted" Warning,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that a reduction has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of thing it is.
    pub code: Code,
    /// Sequence number of the event, if it is about one.
    pub seq: Option<u64>,
    /// Number of the line in the log, if it is about a line that is no event.
    pub line: Option<u64>,
    /// Id of the payload, if it is about one.
    pub payload_id: Option<Box<str>>,
    /// One sentence for people.
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

    /// Returns how much it matters.
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

impl Weighed for Code {
    fn severity(self) -> Severity {
        self.severity()
    }
}

/// The diagnostics of one reduction, bounded per code, in the order in which they were found: what is wrong with the lines
/// of a batch before what is wrong with its events, and what only the whole log tells last.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(Bounded<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Says whether the bundle breaks a rule of its format, so that the peer refuses it.
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
    fn names_are_unique_and_in_snake_case() {
        let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }

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
