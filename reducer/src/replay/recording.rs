//! What the recorder reports about its own recording. The format of the peer does not have it, so it is never an error.

use trace_recorder::recording::Stopped;
use trace_recorder::write::{Gap, GapReason};

use super::draft::as_json;
use super::state::Replay;
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::Ingested;

impl Replay {
    /// Adds a diagnostic about what the recorder could not record.
    pub(super) fn recording_gap(&mut self, ingested: Ingested) {
        let gap = as_json(ingested).and_then(|value| serde_json::from_value::<Gap>(value).ok());
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
        self.draft.remark(Diagnostic::new(Code::RecordingGap, message).at_seq(self.draft.event.at.seq));
    }

    /// Adds a diagnostic if the recorder stopped before the session ended.
    pub(crate) fn recording_stopped(&mut self, stopped: &Stopped) {
        let Stopped { after_seq, lost_events, reason, .. } = stopped;
        let lost = match lost_events {
            0 => "what came later is lost".to_owned(),
            _ => format!("at least {lost_events} later events are lost"),
        };
        let message = format!("the recorder stopped after seq {after_seq} ({reason}); {lost}");
        self.draft.remark(Diagnostic::new(Code::RecordingStopped, message));
    }
}
