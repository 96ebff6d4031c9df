//! The end of the log: what only the whole log can decide.

use super::draft::Step;
use super::state::Replay;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::model::{Requester, RolloutStatus, ToolKind, Trace};

impl Replay {
    /// Finishes the reduction.
    pub(crate) fn finish(mut self) -> Step<(Trace, Diagnostics)> {
        self.draft.check_payloads()?;
        self.edges.settle_pending(&mut self.draft)?;
        self.edges.remark_undelivered(&mut self.draft);
        self.remark_end();
        if !self.draft.is_v1() {
            self.mark_accepted();
            self.link_started_cells();
            self.filter_thread_items();
        }
        Ok((self.draft.trace, self.draft.diagnostics))
    }

    fn remark_end(&mut self) {
        if self.draft.trace.status == RolloutStatus::Running && self.draft.trace.ended.is_none() {
            let message = "the log has no end: the session still runs, or its process died";
            self.draft.remark(Diagnostic::new(Code::NoEnd, message));
        } else if !self.draft.trace.recording_complete && !self.draft.is_v1() {
            let message = "the recorder did not close the log; what happened after its last event is not known";
            self.draft.remark(Diagnostic::new(Code::RecordingIncomplete, message));
        }
        let cells: Vec<_> = self.queued_cells.iter().map(|cell| (cell.started.seq, cell.call_id)).collect();
        for (seq, call_id) in cells {
            let message =
                format!("call {} of a code cell was never seen; the cell is left out", self.draft.trace.text(call_id));
            self.draft.remark(Diagnostic::new(Code::CellWithoutCall, message).at_seq(seq));
        }
    }

    fn mark_accepted(&mut self) {
        for ((thread, id), moment) in &self.accepted {
            for item in self.items_by_responses_id.get(&(*thread, *id)) {
                self.draft.trace.items[item].accepted = Some(*moment);
            }
        }
    }

    fn link_started_cells(&mut self) {
        let exec = self.draft.trace.symbols.get("exec");
        for tool in self.draft.trace.tools.handles() {
            let call = &self.draft.trace.tools[tool];
            let is_exec = matches!(call.kind, ToolKind::Other { name } if Some(name) == exec);
            let Some(call_id) = call.model_visible_call_id else { continue };
            if !is_exec || call.requester != Requester::Model {
                continue;
            }
            let id = format!("code_cell:{}", self.draft.trace.text(call_id));
            let cell = self.draft.trace.symbols.get(&id).and_then(|id| self.cells_by_id.get(&id).copied());
            let Some(cell) = cell else { continue };
            let started = &self.draft.trace.cells[cell];
            if started.thread == call.thread && call.turn.is_none_or(|turn| turn == started.turn) {
                self.draft.trace.tools[tool].started_code_cell = Some(cell);
            }
        }
    }

    /// Removes from the threads' lists the items that never became part of a history.
    fn filter_thread_items(&mut self) {
        for thread in self.draft.trace.threads.handles() {
            let mut items = std::mem::take(&mut self.draft.trace.threads[thread].items);
            items.retain(|item| self.draft.trace.items[*item].accepted.is_some() || self.items[*item].listed);
            self.draft.trace.threads[thread].items = items;
        }
    }
}
