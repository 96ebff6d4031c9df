//! One order for the events of all threads: by time, and by cause and effect.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use trace_recorder::format::import::Place;

use crate::event::{EventRef, Pending, Time};

/// An event at its place in the order.
#[derive(Debug)]
pub(crate) struct Merged {
    /// Index of the thread.
    pub(crate) lane: usize,
    /// Its time, or the time of the last event of its thread that has one.
    pub(crate) time: i64,
    pub(crate) event: Pending,
}

/// Brings the events of threads into one order, in which `emit` gets them. Returns where an event had to wait for a cause that is
/// later by its time, or where causes form a circle and one was given up.
///
/// The order of each thread is kept. Between threads, the earlier time comes first, unless an event has a cause in another
/// thread: it waits for that. If causes form a circle, the earliest event of the circle waits no longer.
pub(crate) fn merge(lanes: Vec<Vec<Pending>>, mut emit: impl FnMut(Merged)) -> Vec<Place> {
    let mut reordered = Vec::new();
    let mut times: Vec<i64> = lanes.iter().map(|lane| first_time(lane)).collect();
    let mut lanes: Vec<_> = lanes.into_iter().map(|lane| lane.into_iter().peekable()).collect();
    let mut next = vec![0; lanes.len()];
    let mut waiting: HashMap<EventRef, Vec<usize>> = HashMap::new();
    let mut ready = BinaryHeap::new();
    let mut latest = i64::MIN;
    // The time at which the next event of a thread wants its turn. A clock that was set back holds up nobody.
    let key = |time: i64, event: &Pending| match event.stamp.time {
        Time::At(at) => time.max(at),
        Time::Unknown => time,
    };
    for (lane, events) in lanes.iter_mut().enumerate() {
        if let Some(event) = events.peek() {
            ready.push(Reverse((key(times[lane], event), lane)));
        }
    }
    let mut given_up = None;
    loop {
        let Some(Reverse((_, lane))) = ready.pop() else {
            // All threads that are left wait for one another.
            let blocked = waiting.values().flatten().copied();
            let first = blocked.min_by_key(|lane| {
                let time = lanes[*lane].peek().map(|event| key(times[*lane], event));
                (time, *lane)
            });
            let Some(lane) = first else { break };
            waiting.values_mut().for_each(|lanes| lanes.retain(|other| *other != lane));
            waiting.retain(|_, lanes| !lanes.is_empty());
            given_up = Some(lane);
            ready.push(Reverse((times[lane], lane)));
            continue;
        };
        let Some(event) = lanes[lane].peek() else { continue };
        if given_up.take() == Some(lane) {
            reordered.push(event.stamp.place);
        } else if let Some(cause) =
            event.causes.iter().find(|cause| next.get(cause.lane).is_some_and(|done| *done <= cause.index))
        {
            waiting.entry(*cause).or_default().push(lane);
            continue;
        }
        let Some(event) = lanes[lane].next() else { continue };
        let at = key(times[lane], &event);
        times[lane] = at;
        if !event.causes.is_empty() && at < latest {
            reordered.push(event.stamp.place);
        }
        latest = latest.max(at);
        let time = if let Time::At(exact) = event.stamp.time { exact } else { at };
        let done = EventRef { lane, index: next[lane] };
        next[lane] += 1;
        emit(Merged { lane, time, event });
        for lane in waiting.remove(&done).into_iter().flatten().chain([lane]) {
            if let Some(event) = lanes[lane].peek() {
                ready.push(Reverse((key(times[lane], event), lane)));
            }
        }
    }
    reordered
}

/// Returns the first time that a thread has, for the events before it. Returns 0 for a thread without times.
fn first_time(lane: &[Pending]) -> i64 {
    let time = |event: &Pending| match event.stamp.time {
        Time::At(at) => Some(at),
        Time::Unknown => None,
    };
    lane.iter().find_map(time).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trace_recorder::format::EventPayload;
    use trace_recorder::format::event::ThreadResumed;

    use super::{EventRef, Merged, Pending, Place, Time};
    use crate::event::Stamp;

    fn event(time: impl Into<Option<i64>>, causes: &[(usize, usize)]) -> Pending {
        Pending {
            stamp: Stamp { time: time.into().map_or(Time::Unknown, Time::At), place: Place { source: 0, line: 1 } },
            turn: None,
            payload: Some(EventPayload::ThreadResumed(ThreadResumed { thread_id: "t".into() })),
            causes: causes.iter().map(|(lane, index)| EventRef { lane: *lane, index: *index }).collect(),
        }
    }

    struct Order {
        events: Vec<Merged>,
        reordered: Vec<Place>,
    }

    fn merge(lanes: Vec<Vec<Pending>>) -> Order {
        let mut events = Vec::new();
        let reordered = super::merge(lanes, |event| events.push(event));
        Order { events, reordered }
    }

    fn shown(order: &Order) -> Vec<(usize, i64)> {
        order.events.iter().map(|event| (event.lane, event.time)).collect()
    }

    #[test]
    fn the_earlier_time_comes_first_and_an_unknown_one_with_its_neighbour() {
        let order =
            merge(vec![vec![event(1, &[]), event(None, &[]), event(9, &[])], vec![event(None, &[]), event(5, &[])]]);
        assert_eq!(shown(&order), [(0, 1), (0, 1), (1, 5), (1, 5), (0, 9)]);
        assert!(order.reordered.is_empty());
    }

    #[test]
    fn an_effect_waits_for_its_cause() {
        let order = merge(vec![vec![event(1, &[]), event(9, &[])], vec![event(5, &[(0, 1)]), event(6, &[])]]);
        assert_eq!(shown(&order), [(0, 1), (0, 9), (1, 5), (1, 6)]);
        assert_eq!(order.reordered.len(), 1);
    }

    #[test]
    fn a_circle_of_causes_is_given_up_at_its_earliest_event() {
        let order = merge(vec![vec![event(3, &[(1, 0)])], vec![event(2, &[(0, 0)])]]);
        assert_eq!(shown(&order), [(1, 2), (0, 3)]);
        assert_eq!(order.reordered.len(), 1);
    }

    #[test]
    fn a_clock_that_is_set_back_holds_up_nobody() {
        let order = merge(vec![vec![event(9, &[]), event(2, &[])], vec![event(10, &[])]]);
        assert_eq!(shown(&order), [(0, 9), (0, 2), (1, 10)]);
    }

    proptest! {
        /// Whatever the times and causes are, each event comes once, and each thread keeps its order.
        #[test]
        fn every_event_comes_once_and_in_the_order_of_its_thread(
            lanes in prop::collection::vec(
                prop::collection::vec((prop::option::of(0i64..20), prop::option::of((0usize..4, 0usize..8))), 0..8), 0..4)
        ) {
            let lengths: Vec<_> = lanes.iter().map(Vec::len).collect();
            let mut made = Vec::new();
            for lane in lanes {
                let mut events = Vec::new();
                for (line, (time, cause)) in lane.into_iter().enumerate() {
                    let mut event = event(time, cause.as_slice());
                    event.stamp.place.line = line as u32;
                    events.push(event);
                }
                made.push(events);
            }
            let order = merge(made);
            for (lane, length) in lengths.iter().enumerate() {
                let lines = order.events.iter().filter(|event| event.lane == lane);
                let lines: Vec<_> = lines.map(|event| event.event.stamp.place.line as usize).collect();
                prop_assert_eq!(lines, (0..*length).collect::<Vec<_>>());
            }
        }
    }
}
