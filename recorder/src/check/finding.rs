//! The findings of a check and their codes.

use std::fmt;

use crate::bounded::{Bounded, Coded};
use crate::codes;
use crate::severity::{Severity, cut_message};

/// A part of the check, in the order in which a report lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// The manifest, and whether the log agrees with it.
    Manifest,
    /// The lines of the log, each on its own.
    Log,
    /// The sequence numbers of the events.
    Sequence,
    /// The wall clock of the events.
    Clock,
    /// The end of the log.
    End,
    /// The payload references of the events.
    References,
    /// The payload files.
    Payloads,
    /// The recorder's own file.
    Recorder,
    /// Permissions, and files that do not belong to a bundle.
    Files,
}

impl Area {
    /// All areas.
    pub const ALL: &'static [Self] = &[
        Self::Manifest,
        Self::Log,
        Self::Sequence,
        Self::Clock,
        Self::End,
        Self::References,
        Self::Payloads,
        Self::Recorder,
        Self::Files,
    ];

    /// Returns the stable name of the area.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Log => "log",
            Self::Sequence => "sequence",
            Self::Clock => "clock",
            Self::End => "end",
            Self::References => "references",
            Self::Payloads => "payloads",
            Self::Recorder => "recorder",
            Self::Files => "files",
        }
    }
}

codes! {
    areas Area;

    /// The manifest is missing.
    ManifestMissing = "manifest_missing" Error in Manifest,
    /// The manifest cannot be read.
    ManifestInvalid = "manifest_invalid" Error in Manifest,
    /// The schema of the bundle is unknown to this version.
    UnknownSchema = "unknown_schema" Error in Manifest,
    /// The manifest gives the log or the payload directory another name. Readers ignore that name.
    ManifestNames = "manifest_names" Warning in Manifest,
    /// The manifest and the first event give the session different ids. Readers use the ids of the event.
    ManifestDisagrees = "manifest_disagrees" Warning in Manifest,
    /// The event log is missing or cannot be read.
    LogUnreadable = "log_unreadable" Error in Log,
    /// The log has no events.
    LogEmpty = "log_empty" Note in Log,
    /// The last line is incomplete: the process died while it wrote it.
    TornTail = "torn_tail" Error in Log,
    /// The last line is complete except for its line feed.
    UnterminatedTail = "unterminated_tail" Warning in Log,
    /// A line is not an event.
    InvalidLine = "invalid_line" Error in Log,
    /// An event has a type that this version does not know, usually of a later release.
    UnknownEvent = "unknown_event" Error in Log,
    /// An event has a value that this version does not know, usually of a later release.
    UnknownValue = "unknown_value" Error in Log,
    /// Events have fields that this version does not know. Readers ignore them.
    UnknownFields = "unknown_fields" Note in Log,
    /// An event has a type that the format reserves.
    ReservedEvent = "reserved_event" Error in Log,
    /// An event cannot occur in the schema of the bundle.
    EventOfOtherSchema = "event_of_other_schema" Error in Log,
    /// An event has another schema number than the manifest.
    SchemaDiffers = "schema_differs" Error in Log,
    /// An event has another rollout id than the manifest.
    OtherRollout = "other_rollout" Error in Log,
    /// A line follows the event with which the recorder closed the log.
    AfterRecordingCompleted = "after_recording_completed" Error in Log,
    /// Sequence numbers are missing.
    SeqGap = "seq_gap" Error in Sequence,
    /// Events are not in the order of their sequence numbers.
    SeqOutOfOrder = "seq_out_of_order" Error in Sequence,
    /// Two events have the same sequence number.
    SeqRepeated = "seq_repeated" Error in Sequence,
    /// The envelope of an event of schema 1 is not as a recorder writes it. Readers of schema 1 ignore this.
    LooseEnvelope = "loose_envelope" Warning in Sequence,
    /// The wall clock went back between two events.
    ClockBackward = "clock_backward" Warning in Clock,
    /// Much time passed between two events.
    ClockForward = "clock_forward" Note in Clock,
    /// The log has no end event: the session is still running, or its process died.
    NoEnd = "no_end" Note in End,
    /// The recorder did not close the log.
    RecordingIncomplete = "recording_incomplete" Note in End,
    /// A payload reference leads out of the bundle.
    PayloadOutsideBundle = "payload_outside_bundle" Error in References,
    /// A payload file is missing.
    PayloadMissing = "payload_missing" Error in References,
    /// The payload directory is missing.
    PayloadDirectoryMissing = "payload_directory_missing" Warning in References,
    /// A payload path is not `payloads/<number>.json`.
    PayloadPathUnusual = "payload_path_unusual" Warning in References,
    /// Two payload files have the same id.
    PayloadIdReused = "payload_id_reused" Warning in References,
    /// A payload file has two ids.
    PayloadShared = "payload_shared" Warning in References,
    /// A payload file cannot be read.
    PayloadUnreadable = "payload_unreadable" Error in Payloads,
    /// A payload file is larger than a payload may be.
    PayloadTooLarge = "payload_too_large" Error in Payloads,
    /// A payload file is empty.
    PayloadEmpty = "payload_empty" Error in Payloads,
    /// A payload file is not one JSON document.
    PayloadNotJson = "payload_not_json" Error in Payloads,
    /// A payload without its content: the recorder could not keep it, or a repair replaced it.
    PayloadDropped = "payload_dropped" Note in Payloads,
    /// No event refers to a payload file: the process died before it wrote the event.
    PayloadOrphan = "payload_orphan" Note in Payloads,
    /// A recorder is at work on the bundle.
    BeingRecorded = "being_recorded" Note in Recorder,
    /// The recorder died.
    RecorderDied = "recorder_died" Warning in Recorder,
    /// The recorder stopped before the end of the session. Later events are lost.
    RecorderStopped = "recorder_stopped" Warning in Recorder,
    /// The recorder's own file cannot be read.
    RecorderFileInvalid = "recorder_file_invalid" Warning in Recorder,
    /// Other users than the owner may read the recording.
    ReadableByOthers = "readable_by_others" Note in Files,
    /// A temporary file was left behind.
    LeftoverFile = "leftover_file" Note in Files,
    /// A file does not belong to a bundle.
    UnknownFile = "unknown_file" Note in Files,
    /// The copies of an earlier repair are still there.
    EarlierRepair = "earlier_repair" Note in Files,
    /// A part of a packed bundle is damaged: a block, or a file whose checksum does not match.
    PackedDamaged = "packed_damaged" Error in Files,
}

/// One finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the finding reports.
    pub code: Code,
    /// Number of the line in the log, if the finding is about a line.
    pub line: Option<u64>,
    /// Sequence number of the event, if the finding is about an event.
    pub seq: Option<u64>,
    /// Path relative to the bundle, if the finding is about a file.
    pub path: Option<Box<str>>,
    /// One sentence for people.
    pub message: Box<str>,
}

impl Finding {
    pub(super) fn new(code: Code, message: impl Into<Box<str>>) -> Self {
        Self { code, line: None, seq: None, path: None, message: cut_message(message.into()) }
    }

    pub(super) fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    pub(super) fn at_seq(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    pub(super) fn of_file(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = Some(cut_message(path.into()));
        self
    }

    /// Returns the severity of the finding.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity().as_str(), self.code)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(seq) = self.seq {
            write!(f, " seq {seq}")?;
        }
        if let Some(path) = &self.path {
            write!(f, " {path}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Coded for Finding {
    type Code = Code;

    fn code(&self) -> Code {
        self.code
    }
}

/// The findings of one check, with a limit per code.
pub type Findings = Bounded<Finding>;

impl Findings {
    /// Returns the number of findings of a severity in an area, kept or not.
    pub fn count_in(&self, area: Area, severity: Severity) -> u64 {
        self.count_where(|code| code.area() == area && code.severity() == severity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::severity::MAX_PER_CODE;

    #[test]
    fn the_documentation_lists_every_code() {
        let documented = include_str!("../../../docs/check.md");
        for code in Code::ALL {
            let row = format!("| `{code}` | {} | {} |", code.area().as_str(), code.severity().as_str());
            assert!(documented.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_flood_is_counted_but_not_kept() {
        let mut findings = Findings::default();
        for line in 0..1000 {
            findings.push(Finding::new(Code::InvalidLine, "x".repeat(5000)).at_line(line));
        }
        assert_eq!(findings.iter().count(), MAX_PER_CODE);
        assert!(findings.iter().all(|finding| finding.message.len() < 700));
        assert_eq!((findings.count(Code::InvalidLine), findings.count_of(Severity::Error)), (1000, 1000));
        assert_eq!(findings.count_in(Area::Log, Severity::Error), 1000);
        assert_eq!(findings.left_out().collect::<Vec<_>>(), [(Code::InvalidLine, 900)]);
    }

    #[test]
    fn it_reads_as_one_line() {
        let finding = Finding::new(Code::PayloadMissing, "gone").at_line(3).at_seq(2).of_file("payloads/1.json");
        insta::assert_snapshot!(finding.to_string(), @"error[payload_missing] line 3 seq 2 payloads/1.json: gone");
    }
}
