//! What the recorder reports about its own recording. The format of the peer does not have it, so it is never an error.

use trace_recorder::recording::Stopped;
use trace_recorder::write::{Gap, GapReason};

use super::draft::Draft;
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::Ingested;
use crate::model::RolloutStatus;

/// Adds a diagnostic about what the recorder could not record.
pub(super) fn gap(draft: &mut Draft, ingested: Ingested) {
    let gap = match ingested {
        Ingested::Gap(gap) => gap,
        _ => None,
    };
    let message = match gap {
        None => "the recorder could not keep everything; what, it does not say".to_owned(),
        Some(Gap { reason: GapReason::QueueFull, after_seq, dropped_bodies, dropped_bytes, .. }) => format!(
            "after seq {after_seq} the disk was slower than the session: {dropped_bodies} payloads were kept without \
             their bodies ({dropped_bytes} bytes)"
        ),
        Some(Gap { reason: GapReason::Reopened, after_seq, lost_events, .. }) => {
            let lost = match lost_events {
                0 => "whatever happened between is not recorded".to_owned(),
                _ => format!("at least {lost_events} events between are lost"),
            };
            format!("the recording was interrupted after seq {after_seq}, and went on later; {lost}")
        }
        Some(Gap { reason: GapReason::Repaired, after_seq, lost_events, dropped_bodies, .. }) => {
            let count = |number: u64, noun: &str| match number {
                0 => None,
                1 => Some(format!("1 {noun}")),
                _ => Some(format!("{number} {noun}s")),
            };
            let lost: Vec<String> =
                [count(lost_events, "event"), count(dropped_bodies, "payload")].into_iter().flatten().collect();
            let lost = if lost.is_empty() {
                "lines that were no events were taken out".to_owned()
            } else {
                format!("lost: {}", lost.join(", "))
            };
            format!("the bundle was damaged after seq {after_seq}, and was repaired; {lost}")
        }
    };
    draft.remark(Diagnostic::new(Code::RecordingGap, message).at_seq(draft.event.at.seq));
}

/// Adds a diagnostic if the recorder stopped before the session ended.
pub(super) fn stopped(draft: &mut Draft, stopped: &Stopped) {
    let Stopped { after_seq, lost_events, reason, .. } = stopped;
    let lost = match lost_events {
        0 => "what came later is lost".to_owned(),
        _ => format!("at least {lost_events} later events are lost"),
    };
    let message = format!("the recorder stopped after seq {after_seq} ({reason}); {lost}");
    draft.remark(Diagnostic::new(Code::RecordingStopped, message));
}

/// Adds a diagnostic if the log has no end. Called at the end of the log.
pub(super) fn remark_end(draft: &mut Draft) {
    if draft.trace.status == RolloutStatus::Running && draft.trace.ended.is_none() {
        let message = "the log has no end: the session still runs, or its process died";
        draft.remark(Diagnostic::new(Code::NoEnd, message));
    } else if !draft.trace.recording_complete && !draft.is_v1() {
        let message = "the recorder did not close the log; what happened after its last event is not known";
        draft.remark(Diagnostic::new(Code::RecordingIncomplete, message));
    }
}
