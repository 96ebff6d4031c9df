//! The time of a session: milliseconds since its start that never go back.
//!
//! Events are ordered by their sequence number, and the wall clock beside it is only a reading. Threads of a recorder may
//! note their readings a moment before they get their number, and a clock may be set. Here a reading that lies behind an
//! earlier one counts as that one, and if it lies far behind ([`JITTER_MS`]), the clock was set back: it and all later
//! readings are moved on by as much as was lost. So what an event stands before in the log never comes later in time, and
//! a clock that was set does not swallow the time after it.

use trace_reducer::model::{Moment, Trace, Window};

/// How far a reading may lie behind an earlier one before the clock counts as set back.
pub const JITTER_MS: u64 = 1000;

/// The time of one session. Making it sorts the moments of the graph.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Sequence numbers and times, both ascending; each number once.
    readings: Vec<(u64, u64)>,
    started_at_unix_ms: i64,
    set_back_ms: u64,
}

impl Clock {
    /// Takes the readings of a session.
    pub fn new(trace: &Trace) -> Self {
        let mut moments = moments(trace);
        moments.push(Moment { seq: 0, unix_ms: trace.started_at_unix_ms });
        moments.sort_unstable();
        // Of several readings of one event, which no recorder writes, the first counts.
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

    /// Returns the time of an event, or of the last one before it whose time is known.
    pub fn at(&self, seq: u64) -> u64 {
        let after = self.readings.partition_point(|(known, _)| *known <= seq);
        after.checked_sub(1).and_then(|index| self.readings.get(index)).map_or(0, |(_, ms)| *ms)
    }

    /// Returns how long something took, if it ended.
    pub fn duration(&self, window: &Window) -> Option<u64> {
        window.ended.map(|ended| self.between(window.started.seq, ended.seq))
    }

    /// Returns the time between two events; none, if they come in another order.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        self.at(to).saturating_sub(self.at(from))
    }

    /// Returns the sequence number of the last event whose time is known.
    pub fn last_seq(&self) -> u64 {
        self.readings.last().map_or(0, |(seq, _)| *seq)
    }

    /// Returns the time of the last event, which is how long the session took.
    pub fn wall_ms(&self) -> u64 {
        self.readings.last().map_or(0, |(_, ms)| *ms)
    }

    /// Returns when time 0 was, in milliseconds since the Unix epoch.
    pub fn started_at_unix_ms(&self) -> i64 {
        self.started_at_unix_ms
    }

    /// Returns by how much the wall clock was set back during the session.
    pub fn set_back_ms(&self) -> u64 {
        self.set_back_ms
    }
}

/// Returns the moments of the graph, in no order.
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
