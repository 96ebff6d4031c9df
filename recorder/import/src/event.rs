//! Events of a draft, and when and where they happened.

use std::sync::Arc;

use trace_recorder::format::EventPayload;
use trace_recorder::format::import::Place;

/// When an event happened, if the file says it.
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

/// The clock of a thread, which never goes back.
///
/// Some agents write events in the order of cause and effect with times that differ by a few milliseconds from that order. An
/// event that would be earlier than the one before it has an unknown time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    last: Option<i64>,
}

impl Clock {
    /// Returns the stamp of an event behind all those that had stamps before.
    pub(crate) fn stamp(&mut self, at: Option<i64>, place: Place) -> Stamp {
        let time = match at {
            Some(at) if self.last.is_none_or(|last| at >= last) => {
                self.last = Some(at);
                Time::At(at)
            }
            _ => Time::Unknown,
        };
        Stamp { time, place }
    }
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
    /// The event. `None` for a reserved place whose event is added later, or never.
    pub(crate) payload: Option<EventPayload<'static>>,
    /// Events of other threads that come before this one whatever the times say.
    pub(crate) causes: Vec<EventRef>,
}
