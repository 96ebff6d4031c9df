//! A line that a repair keeps.

use super::edit::Edit;
use crate::check::stand_in::Field;
use crate::format::{Event, EventPayload, SchemaVersion, Text};
use crate::log::Line;

/// A line that a repair keeps, with the changes to it.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    pub(super) line: Line<'a>,
    pub(super) seq: u64,
    pub(super) schema: SchemaVersion,
    pub(super) unix_ms: i64,
    pub(super) is_end: bool,
    pub(super) is_foreign: bool,
    /// Number of removed lines directly before this one that may have been events and are lost.
    pub(super) lost_before: u64,
    pub(super) reference: Option<KeptReference<'a>>,
    pub(super) edit: Edit,
}

#[derive(Debug)]
pub(super) struct KeptReference<'a> {
    pub(super) field: Field<'a>,
    pub(super) path: Text<'a>,
}

impl<'a> Kept<'a> {
    /// Collects what a repair needs to know about a line with an event.
    pub(super) fn event(line: Line<'a>, event: &Event<'a>) -> Self {
        let path = event.payload.payload_refs().first().map(|reference| reference.path.clone());
        let reference = Field::of(&event.payload).zip(path).map(|(field, path)| KeptReference { field, path });
        let is_end = matches!(event.payload, EventPayload::RecordingCompleted(_));
        Self {
            line,
            seq: event.seq,
            schema: event.schema_version,
            unix_ms: event.wall_time_unix_ms,
            is_end,
            is_foreign: false,
            lost_before: 0,
            reference,
            edit: Edit::default(),
        }
    }
}
