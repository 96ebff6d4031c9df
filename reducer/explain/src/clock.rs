//! Time within a session: milliseconds since its start, which never decrease.
//!
//! Events are ordered by sequence number, and each has a reading of the wall clock. A reading may be smaller than an
//! earlier one: the threads of a recorder may read the clock a moment before they get a sequence number, or the clock
//! may be set back. A reading that is slightly smaller counts as equal to the largest earlier one. A reading that is
//! smaller by more than [`JITTER_MS`] means that the clock was set back: the difference is added to it and to all later
//! readings. So a later event never has an earlier time, and the time after a change of the clock is not lost.

use trace_reducer::model::{Moment, Trace, Window};

/// By how many milliseconds a reading may be smaller than an earlier one before the clock counts as set back.
pub const JITTER_MS: u64 = 1000;

/// Clock of one session. Creating it sorts the moments of the graph.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Sequence numbers and times in milliseconds, both ascending. Each number appears once.
    readings: Vec<(u64, u64)>,
    started_at_unix_ms: i64,
    set_back_ms: u64,
}

impl Clock {
    /// Reads the moments of a session.
    pub fn new(trace: &Trace) -> Self {
        let mut moments = moments(trace);
        moments.push(Moment { seq: 0, unix_ms: trace.started_at_unix_ms });
        moments.sort_unstable();
        // If an event has several readings, which no recorder writes, use the first.
        moments.dedup_by_key(|moment| moment.seq);
        let mut readings = Vec::with_capacity(moments.len());
        let (mut latest, mut set_back_ms) = (0u64, 0u64);
        for moment in moments {
            let since = i128::from(moment.unix_ms) - i128::from(trace.started_at_unix_ms) + i128::from(set_back_ms);
            let behind = u64::try_from(i128::from(latest) - since).unwrap_or(0);
            if behind > JITTER_MS {
                set_back_ms = set_back_ms.saturating_add(behind);
            } else {
                latest = latest.max(u64::try_from(since.max(0)).unwrap_or(u64::MAX));
            }
            readings.push((moment.seq, latest));
        }
        Self { readings, started_at_unix_ms: trace.started_at_unix_ms, set_back_ms }
    }

    /// Returns the time of an event, or of the last event before it whose time is known, in milliseconds.
    pub fn at(&self, seq: u64) -> u64 {
        let after = self.readings.partition_point(|(known, _)| *known <= seq);
        after.checked_sub(1).and_then(|index| self.readings.get(index)).map_or(0, |(_, ms)| *ms)
    }

    /// Returns how long something took, in milliseconds, or `None` if it did not end.
    pub fn duration(&self, window: &Window) -> Option<u64> {
        window.ended.map(|ended| self.between(window.started.seq, ended.seq))
    }

    /// Returns the milliseconds between two events, or 0 if they are in the other order.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        self.at(to).saturating_sub(self.at(from))
    }

    /// Returns the sequence number of the last event whose time is known.
    pub fn last_seq(&self) -> u64 {
        self.readings.last().map_or(0, |(seq, _)| *seq)
    }

    /// Returns the time of the last event: how long the session took, in milliseconds.
    pub fn wall_ms(&self) -> u64 {
        self.readings.last().map_or(0, |(_, ms)| *ms)
    }

    /// Returns the time of the session's start, in milliseconds since the Unix epoch.
    pub fn started_at_unix_ms(&self) -> i64 {
        self.started_at_unix_ms
    }

    /// Returns by how many milliseconds the wall clock was set back during the session.
    pub fn set_back_ms(&self) -> u64 {
        self.set_back_ms
    }
}

/// Returns the moments of the graph, unordered.
fn moments(trace: &Trace) -> Vec<Moment> {
    let windows = (trace.threads.values().map(|thread| thread.execution))
        .chain(trace.turns.values().map(|turn| turn.execution))
        .chain(trace.inferences.values().map(|call| call.execution))
        .chain(trace.cells.values().map(|cell| cell.execution))
        .chain(trace.tools.values().flat_map(|tool| [Some(tool.execution), tool.runtime]).flatten())
        .chain(trace.operations.values().map(|operation| operation.execution))
        .chain(trace.compaction_requests.values().map(|request| request.execution));
    let mut moments: Vec<Moment> = Vec::new();
    for window in windows {
        moments.push(window.started);
        moments.extend(window.ended);
    }
    moments.extend(trace.threads.values().flat_map(|thread| thread.resumed.iter().copied()));
    moments.extend(trace.cells.values().flat_map(|cell| [cell.initial_response, cell.yielded]).flatten());
    moments.extend(trace.compactions.values().map(|compaction| compaction.installed));
    moments.extend(trace.items.values().flat_map(|item| [Some(item.first_seen), item.accepted]).flatten());
    moments.extend(trace.agent_results.iter().map(|result| result.at));
    moments.extend(trace.protocol_events.iter().map(|event| event.at));
    moments.extend([trace.ended, trace.last_event].into_iter().flatten());
    moments
}
