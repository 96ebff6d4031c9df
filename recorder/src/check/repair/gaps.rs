//! Events that describe what is missing, so that readers of a repaired log notice it.
//!
//! They have the form that the recorder itself writes when it drops events: a [`GAP_EVENT`] with a [`Gap`] as its payload,
//! which every reader of the format accepts. A repair adds one wherever events are lost, and one at the end of the log for
//! all lost payloads. It adds none for an incomplete last line: the event of that line was never acknowledged, and the
//! missing end of the log shows enough. It adds none behind the end of a recording either.

use super::change::Change;
use super::line::Kept;
use super::numbers::PayloadNumbers;
use crate::format::event::ProtocolEventObserved;
use crate::format::{Event, EventPayload, Manifest, PayloadKind, SchemaVersion};
use crate::write::{GAP_EVENT, Gap, GapReason, payload_ref};

/// Most gap events that are added for lost events. The last one covers everything missing from its place on.
pub const MAX_GAP_EVENTS: usize = 100;

/// The lost payloads of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LostPayloads {
    /// Index of the first line that refers to one.
    pub(super) first_line: usize,
    pub(super) count: u64,
    /// Total size in bytes of their damaged files.
    pub(super) bytes: u64,
}

/// A place in the log where something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Number of lines before the first missing event.
    after: usize,
    /// Number of lines before the event that describes the gap.
    at: usize,
    events: u64,
    bodies: u64,
    bytes: u64,
}

/// A gap event that a repair adds.
#[derive(Debug)]
pub(super) struct GapLine {
    /// Number of lines of the log before the event.
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) payload_path: String,
    pub(super) payload: Vec<u8>,
    pub(super) change: Change,
}

/// Makes the gap events for `lines`. `lost_at_end` is the number of lost events behind the last of these lines.
pub(super) fn tell_gaps(
    lines: &[Kept<'_>],
    lost_at_end: u64,
    payloads: Option<LostPayloads>,
    manifest: &Manifest,
    numbers: impl FnOnce() -> PayloadNumbers,
) -> Vec<GapLine> {
    let is_v1 = manifest.schema_version == SchemaVersion::V1;
    let places = find_places(lines, lost_at_end, payloads, is_v1);
    if places.is_empty() {
        return Vec::new();
    }
    let mut numbers = numbers();
    let make = |(index, place): (usize, &Place)| {
        let last = lines[..place.at].last();
        // Events of schema 1 keep their numbers.
        let (seq, after_seq) = if is_v1 {
            let number_of = |count: usize| lines[..count].last().map_or(0, |kept| kept.seq);
            let beside = places[..index].iter().filter(|other| other.at == place.at).count() as u64;
            (number_of(place.at).saturating_add(1 + beside), number_of(place.after))
        } else {
            let told_before = places.iter().filter(|other| other.at < place.after).count();
            ((place.at + index + 1) as u64, (place.after + told_before) as u64)
        };
        let gap = Gap {
            reason: GapReason::Repaired,
            after_seq,
            dropped_bodies: place.bodies,
            dropped_bytes: place.bytes,
            lost_events: place.events,
        };
        let reference = payload_ref(numbers.take(), PayloadKind::ProtocolEvent);
        let payload_path = reference.path.to_string();
        let neighbour = last.or(lines.first());
        let event = Event {
            // If all events have another schema than the manifest, this event has their schema, too.
            schema_version: match neighbour {
                Some(kept) if !is_v1 => kept.edit.schema.unwrap_or(kept.schema),
                _ => manifest.schema_version,
            },
            seq,
            wall_time_unix_ms: neighbour.map_or(manifest.started_at_unix_ms, |kept| kept.unix_ms),
            rollout_id: manifest.rollout_id.as_str().into(),
            thread_id: None,
            codex_turn_id: None,
            payload: EventPayload::ProtocolEventObserved(ProtocolEventObserved {
                event_type: GAP_EVENT.into(),
                event_payload: reference,
            }),
        };
        GapLine {
            at: place.at,
            text: serde_json::json!(event).to_string(),
            payload: (serde_json::json!(gap).to_string() + "\n").into_bytes(),
            change: Change::GapRecorded { seq, path: payload_path.clone(), gap },
            payload_path,
        }
    };
    places.iter().enumerate().map(make).collect()
}

fn find_places(lines: &[Kept<'_>], lost_at_end: u64, payloads: Option<LostPayloads>, is_v1: bool) -> Vec<Place> {
    let Some(last) = lines.last() else { return Vec::new() };
    let lost = |at: usize, events: u64| Place { after: at, at, events, bodies: 0, bytes: 0 };
    let mut places = Vec::new();
    let mut missing = MissingNumbers::default();
    for (index, kept) in lines.iter().enumerate() {
        // In schema 1 the numbers do not show what is missing. In later schemas a removed line that leaves no gap in the
        // numbers was not an event.
        let events = if is_v1 { kept.lost_before } else { missing.before(kept.seq) };
        if events > 0 {
            places.push(lost(index, events));
        }
    }
    if lost_at_end > 0 && !last.is_end {
        places.push(lost(lines.len(), lost_at_end));
    }
    sum_up(&mut places);
    if let Some(LostPayloads { first_line, count, bytes }) = payloads {
        let at = lines.len() - usize::from(last.is_end);
        places.push(Place { after: first_line, at, events: 0, bodies: count, bytes });
    }
    places
}

/// Merges all places beyond [`MAX_GAP_EVENTS`] into one, which is at the last of them.
fn sum_up(places: &mut Vec<Place>) {
    if places.len() <= MAX_GAP_EVENTS {
        return;
    }
    let rest = places.split_off(MAX_GAP_EVENTS - 1);
    let events = rest.iter().fold(0_u64, |sum, place| sum.saturating_add(place.events));
    let sum = rest.first().zip(rest.last()).map(|(first, last)| Place { at: last.at, events, ..*first });
    places.extend(sum);
}

/// Counts missing events by the sequence numbers of the events that are present.
#[derive(Debug, Default)]
struct MissingNumbers {
    last: u64,
    /// Number of events with a number that an earlier event has or exceeds. Each of them explains one missing number.
    misnumbered: u64,
}

impl MissingNumbers {
    fn before(&mut self, seq: u64) -> u64 {
        if seq <= self.last {
            self.misnumbered += 1;
            return 0;
        }
        let missing = seq - self.last - 1;
        self.last = seq;
        let explained = missing.min(self.misnumbered);
        self.misnumbered -= explained;
        missing - explained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(numbers: &[u64]) -> Vec<u64> {
        let mut missing = MissingNumbers::default();
        numbers.iter().map(|seq| missing.before(*seq)).collect()
    }

    #[test]
    fn numbers_tell_what_is_missing() {
        assert_eq!(missing(&[1, 2, 3]), [0, 0, 0]);
        assert_eq!(missing(&[3, 4, 7]), [2, 0, 2]);
        assert_eq!(missing(&[1, 1, 3, 5]), [0, 0, 0, 1], "one has the number of another");
        assert_eq!(missing(&[0, 2]), [0, 0], "the first is misnumbered");
        assert_eq!(missing(&[u64::MAX, u64::MAX]), [u64::MAX - 1, 0]);
    }

    #[test]
    fn places_beyond_the_limit_are_summed_up() {
        let place = |at: usize| Place { after: at, at, events: 2, bodies: 0, bytes: 0 };
        let mut places: Vec<Place> = (1..=MAX_GAP_EVENTS).map(place).collect();
        sum_up(&mut places);
        assert_eq!(places.len(), MAX_GAP_EVENTS);
        assert_eq!(places.last(), Some(&place(MAX_GAP_EVENTS)));
        places.extend((MAX_GAP_EVENTS + 1..=3 * MAX_GAP_EVENTS).map(place));
        sum_up(&mut places);
        assert_eq!(places.len(), MAX_GAP_EVENTS);
        let events = 2 * (2 * MAX_GAP_EVENTS as u64 + 1);
        let sum = Place { after: MAX_GAP_EVENTS, at: 3 * MAX_GAP_EVENTS, events, bodies: 0, bytes: 0 };
        assert_eq!(places.last(), Some(&sum));
    }
}
