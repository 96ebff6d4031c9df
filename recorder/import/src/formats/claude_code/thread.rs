//! A thread, told line by line.

use trace_recorder::format::ExecutionStatus;

use super::kin::Told;
use super::prompt::Said;
use super::records::Flag;
use super::scan::is_api_error;
use super::teller::Teller;
use crate::note::Code;

impl<'a> Teller<'_, 'a> {
    /// Tells all lines.
    pub(crate) fn tell(mut self) -> Told {
        for index in 0..self.material.entries.len() {
            self.line(index);
        }
        self.finish();
        self.told
    }

    fn line(&mut self, index: usize) {
        let entry = self.entry(index);
        let line = &entry.line;
        if let Some(first) = self.scan.repeated(index) {
            self.tree.revive(first);
            return self.draft.note(Code::CopiedRecord, Some(entry.place));
        }
        if line.uuid.as_deref().is_some_and(|id| self.material.copied.contains(id)) {
            return self.copy(index);
        }
        match (line.kind(), line.subtype.as_deref().unwrap_or_default()) {
            ("user", _) => self.user(index),
            ("assistant", _) if line.is_synthetic() => self.synthetic(index),
            ("assistant", _) => self.assistant(index),
            ("system", "api_error") => {
                self.link(index);
                self.api_error(index);
            }
            ("system", "compact_boundary") | ("compact_boundary", _) => self.boundary(index),
            ("content-replacement", _) => {
                self.replace_results(index);
                if line.uuid.is_some() {
                    self.link(index);
                }
            }
            ("system", "init") => {
                self.link(index);
                self.conclude(false);
                self.pending = Some(index);
            }
            ("result", subtype) => {
                let has_failed = Flag::is_set(&line.is_error) || subtype.starts_with("error");
                let status = if has_failed { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
                self.end_turn(status, entry.stamp());
            }
            ("system", "turn_duration") => {
                self.link(index);
                if let Some(turn) = self.turn.take_if(|turn| turn.is_answered) {
                    let stamp = if entry.at.is_some() { entry.stamp() } else { turn.last };
                    self.end_turn(ExecutionStatus::Completed, stamp);
                }
            }
            ("attachment", _) => self.attachment(index),
            ("api-request", _) => self.api_request(index),
            ("queue-operation", _) => {
                self.is_dequeued = line.operation.as_deref() == Some("dequeue");
            }
            _ if line.uuid.is_some() => self.link(index),
            _ => {}
        }
    }

    /// Shows a line that was told elsewhere.
    fn copy(&mut self, index: usize) {
        let entry = self.entry(index);
        self.draft.note(Code::CopiedRecord, Some(entry.place));
        match (entry.line.kind(), entry.line.subtype.as_deref()) {
            ("user", _) if entry.said == Said::Summary => self.summary(index),
            ("user", _) => {
                self.keep(index);
            }
            ("assistant", _) if is_api_error(entry) => self.link(index),
            ("assistant", _) => {
                self.count_copy(index);
                self.outputs_of(index);
            }
            ("system", Some("compact_boundary")) | ("compact_boundary", _) => self.boundary(index),
            _ => self.link(index),
        }
    }

    fn finish(&mut self) {
        self.conclude(true);
        if let Some(answer) = self.material.answer.filter(|_| !self.writer.is_in_turn()) {
            self.writer.answered(self.draft, &answer.awaited, &answer.message, answer.stamp);
        }
        let mut open: Vec<_> = self.open.values().map(|call| call.began.place).collect();
        open.sort_by_key(|place| (place.source, place.line));
        for place in open {
            self.draft.note(Code::OutcomeUnknown, Some(place));
        }
        if !self.scan.has_requests && self.turns > 0 {
            let place = self.material.entries.first().map(|entry| entry.place);
            self.draft.note(Code::NoFailedAttempts, place);
        }
    }
}
