//! Events of a draft, and when and where they happened.

use std::sync::Arc;

use trace_recorder::format::EventPayload;
use trace_recorder::format::import::Place;

/// When an event happened, as far as a file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// At this time, in milliseconds since the Unix epoch.
    At(i64),
    /// The file does not say it. The event happened no earlier than the events of its thread before it.
    Unknown,
}

/// Where a file shows an event, and when it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The time of the event.
    pub time: Time,
    /// The line of the file.
    pub place: Place,
}

/// An event of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventRef {
    pub(crate) lane: usize,
    pub(crate) index: usize,
}

/// An event that waits for its place in the order of all threads.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) stamp: Stamp,
    pub(crate) turn: Option<Arc<str>>,
    pub(crate) payload: EventPayload<'static>,
    /// Events of other threads that come before this one whatever the times say.
    pub(crate) causes: Vec<EventRef>,
}
