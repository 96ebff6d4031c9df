//! The single changes that a repair makes.

use std::fmt;

use crate::bounded::{Bounded, Coded};
use crate::check::payloads::PayloadDamage;
use crate::recording::RECORDER_FILE;
use crate::write::Gap;

/// One change that a repair makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An empty log is created.
    LogCreated,
    /// The manifest is written anew from its remains and from the log.
    ManifestRebuilt,
    /// The payload directory is created.
    PayloadsCreated,
    /// The last line is incomplete and is cut off.
    TailCut {
        /// Number of the line.
        line: u64,
        /// Length of the line in bytes.
        bytes: u64,
    },
    /// The last line gets its line feed.
    TailEnded {
        /// Number of the line.
        line: u64,
    },
    /// A line that is not an event is removed.
    LineRemoved {
        /// Number of the line.
        line: u64,
    },
    /// An event of another rollout is removed.
    ForeignEventRemoved {
        /// Number of the line.
        line: u64,
    },
    /// An event that repeats another one is removed.
    RepeatedEventRemoved {
        /// Number of the line.
        line: u64,
    },
    /// An event after the end of the recording is removed.
    LateEventRemoved {
        /// Number of the line.
        line: u64,
    },
    /// An event that has no meaning without its lost payload is removed.
    EmptyEventRemoved {
        /// Number of the line.
        line: u64,
        /// Path of the payload.
        path: String,
    },
    /// The events are sorted by their numbers.
    EventsSorted,
    /// Events get new numbers.
    EventsRenumbered {
        /// Number of events that get a new number.
        events: u64,
    },
    /// An event gets the schema number of its bundle.
    SchemaSet {
        /// Number of the line.
        line: u64,
    },
    /// A reference to a lost payload becomes null.
    ReferenceCleared {
        /// Number of the line.
        line: u64,
        /// Path of the payload.
        path: String,
        /// What is wrong with the payload.
        damage: PayloadDamage,
    },
    /// A minimal document replaces a lost payload.
    PayloadReplaced {
        /// Path in the events.
        path: String,
        /// Path of the document. `None` if it is the path of the lost payload.
        moved_to: Option<String>,
        /// What was wrong with the payload.
        damage: PayloadDamage,
    },
    /// An event is added that describes a gap.
    GapRecorded {
        /// Number of the event.
        seq: u64,
        /// Path of its payload.
        path: String,
        /// Content of the payload.
        gap: Gap,
    },
    /// The file of a recorder that died is removed.
    RecorderFileRemoved,
    /// A growing bundle, whose recorder died, becomes a packed bundle.
    Finished {
        /// Bytes of an incomplete record that are left out.
        torn_bytes: u64,
    },
}

impl Change {
    /// Returns whether the change may lose an event that readers would need.
    pub(super) fn loses_event(&self) -> bool {
        matches!(self, Self::LineRemoved { .. } | Self::ForeignEventRemoved { .. } | Self::EmptyEventRemoved { .. })
    }

    /// Returns the stable name of the change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::LogCreated => "log_created",
            Self::ManifestRebuilt => "manifest_rebuilt",
            Self::PayloadsCreated => "payload_directory_created",
            Self::TailCut { .. } => "tail_cut",
            Self::TailEnded { .. } => "tail_ended",
            Self::LineRemoved { .. } => "line_removed",
            Self::ForeignEventRemoved { .. } => "foreign_event_removed",
            Self::RepeatedEventRemoved { .. } => "repeated_event_removed",
            Self::LateEventRemoved { .. } => "late_event_removed",
            Self::EmptyEventRemoved { .. } => "empty_event_removed",
            Self::EventsSorted => "events_sorted",
            Self::EventsRenumbered { .. } => "events_renumbered",
            Self::SchemaSet { .. } => "schema_set",
            Self::ReferenceCleared { .. } => "reference_cleared",
            Self::PayloadReplaced { .. } => "payload_replaced",
            Self::GapRecorded { .. } => "gap_recorded",
            Self::RecorderFileRemoved => "recorder_file_removed",
            Self::Finished { .. } => "finished",
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LogCreated => f.write_str("an empty log is created"),
            Self::ManifestRebuilt => f.write_str("the manifest is rebuilt"),
            Self::PayloadsCreated => f.write_str("the payload directory is created"),
            Self::TailCut { line, bytes } => {
                write!(f, "line {line}, which breaks off after {bytes} bytes, is cut off")
            }
            Self::TailEnded { line } => write!(f, "line {line} gets its line feed"),
            Self::LineRemoved { line } => write!(f, "line {line}, which is not an event, is removed"),
            Self::ForeignEventRemoved { line } => write!(f, "line {line}, of another rollout, is removed"),
            Self::RepeatedEventRemoved { line } => write!(f, "line {line}, which repeats an event, is removed"),
            Self::LateEventRemoved { line } => write!(f, "line {line}, after the end of the recording, is removed"),
            Self::EmptyEventRemoved { line, path } => {
                write!(f, "line {line}, which has no meaning without {path}, is removed")
            }
            Self::EventsSorted => f.write_str("the events are sorted by their numbers"),
            Self::EventsRenumbered { events: 1 } => f.write_str("1 event gets a new number"),
            Self::EventsRenumbered { events } => write!(f, "{events} events get new numbers"),
            Self::SchemaSet { line } => write!(f, "line {line} gets the schema number of the bundle"),
            Self::ReferenceCleared { line, path, damage } => {
                write!(f, "line {line} no longer refers to {path}: {damage}")
            }
            Self::PayloadReplaced { path, moved_to: None, damage } => {
                write!(f, "an empty document replaces {path}: {damage}")
            }
            Self::PayloadReplaced { path, moved_to: Some(target), damage } => {
                write!(f, "an empty document, {target}, replaces {path}: {damage}")
            }
            Self::GapRecorded { seq, path, gap } => {
                let Gap { after_seq, lost_events, dropped_bodies, .. } = gap;
                let events = (*lost_events > 0).then(|| count(*lost_events, "event"));
                let payloads = (*dropped_bodies > 0).then(|| count(*dropped_bodies, "payload"));
                let lost = [events, payloads].into_iter().flatten().collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "event {seq}, which reports what is lost after event {after_seq} ({lost}), is added with {path}"
                )
            }
            Self::RecorderFileRemoved => write!(f, "{RECORDER_FILE} of a recorder that died is removed"),
            Self::Finished { torn_bytes: 0 } => f.write_str("the growing bundle becomes a packed bundle"),
            Self::Finished { torn_bytes } => {
                let bytes = count(*torn_bytes, "byte");
                write!(f, "the growing bundle becomes a packed bundle without {bytes} of an incomplete record")
            }
        }
    }
}

impl Coded for Change {
    type Code = &'static str;

    fn code(&self) -> &'static str {
        self.code()
    }
}

/// The changes of one repair, with a limit per code, because a log can consist of nothing but lines that must be removed.
/// Changes of lines are in the order of the log.
pub type Changes = Bounded<Change>;
