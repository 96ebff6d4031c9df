//! Turns of a thread, and what the user says in them.

use serde_json::value::RawValue;
use trace_recorder::format::ExecutionStatus;

use super::kin::{ChildAnswer, Notice};
use super::prompt::{INTERRUPTED, Said, is_command, is_hook_feedback, notified_agent};
use super::records::Attachment;
use super::teller::{Teller, Turn, text_key};
use crate::event::{EventRef, Stamp};
use crate::note::Code;
use crate::thread::Answer;

impl<'a> Teller<'_, 'a> {
    pub(super) fn touch(&mut self, index: usize) {
        let entry = self.entry(index);
        if let Some(turn) = &mut self.turn {
            turn.last = if entry.at.is_some() { entry.stamp() } else { turn.last };
        }
    }

    pub(super) fn begin_turn(&mut self, index: usize) -> EventRef {
        let entry = self.entry(index);
        self.turns += 1;
        let prompt = entry.line.prompt.as_deref().map(str::to_owned);
        let id = match &prompt {
            Some(id) => id.clone(),
            None => {
                self.draft.note(Code::TurnIdMade, Some(entry.place));
                format!("{}:turn-{}", self.writer.id(), self.turns)
            }
        };
        let event = self.writer.begin_turn(self.draft, &id, entry.stamp());
        self.turn = Some(Turn { prompt, is_answered: false, has_results: false, last: entry.stamp() });
        self.pending = None;
        event
    }

    /// Begins a turn if none is open: the model is asked.
    pub(super) fn ensure_turn(&mut self, index: usize) {
        if self.turn.is_none() {
            let first = self.pending.unwrap_or(index);
            self.begin_turn(first);
        }
    }

    pub(super) fn end_turn(&mut self, status: ExecutionStatus, stamp: Stamp) {
        if let Some(event) = self.writer.end_turn(self.draft, status, stamp) {
            self.told.last = event;
        }
        self.turn = None;
    }

    /// Ends a turn because the next one begins, or because the file ends.
    pub(super) fn conclude(&mut self, is_end_of_file: bool) {
        let Some(turn) = &self.turn else { return };
        let last = turn.last;
        let status = if turn.is_answered {
            ExecutionStatus::Completed
        } else if let Some(status) = self.material.parent_status.filter(|_| is_end_of_file) {
            status
        } else {
            self.draft.note(Code::TurnEndUnknown, Some(last.place));
            if is_end_of_file {
                return;
            }
            // Another turn began, so this one runs no more.
            ExecutionStatus::Aborted
        };
        self.draft.note(Code::TurnEndInferred, Some(last.place));
        self.end_turn(status, last);
    }

    pub(super) fn user(&mut self, index: usize) {
        let entry = self.entry(index);
        match entry.said {
            Said::Results => {
                self.results(index);
                if entry.is_interrupted() {
                    self.interrupt(index);
                }
            }
            Said::Summary => self.summary(index),
            Said::Interrupt => {
                self.keep(index);
                self.interrupt(index);
            }
            Said::Prompt => self.prompt(index),
            Said::Local | Said::Meta => {
                let has_other_prompt = self.turn.as_ref().is_some_and(|turn| {
                    let prompt = entry.line.prompt.as_deref();
                    turn.prompt.as_deref().zip(prompt).map_or(turn.is_answered, |(own, other)| own != other)
                });
                // A hook makes the model go on.
                let is_sent_on = entry.said == Said::Meta && entry.first_text().is_some_and(is_hook_feedback);
                if let Some(turn) = self.turn.as_mut().filter(|_| is_sent_on) {
                    turn.is_answered = false;
                } else if has_other_prompt && !self.material.is_child {
                    self.conclude(false);
                }
                self.keep(index);
                self.touch(index);
                if self.turn.is_none() {
                    // A command may stand for a prompt. The lines after it belong to it.
                    let is_command = entry.first_text().is_some_and(is_command);
                    self.pending = self.pending.filter(|_| !is_command).or(Some(index));
                }
            }
        }
    }

    fn interrupt(&mut self, index: usize) {
        let stamp = self.entry(index).stamp();
        if let Some(attempt) = self.failing.take() {
            self.answer_failing(&attempt, Answer::Cancelled { reason: INTERRUPTED }, stamp);
        }
        self.end_turn(ExecutionStatus::Cancelled, stamp);
    }

    pub(super) fn prompt(&mut self, index: usize) {
        let entry = self.entry(index);
        if let Some(text) = entry.first_text() {
            self.draft.prompted(self.writer.lane(), text);
        }
        let is_dequeued = std::mem::take(&mut self.is_dequeued);
        let continues = self.turn.as_ref().is_some_and(|turn| {
            let prompt = entry.line.prompt.as_deref();
            let is_same = prompt.is_some() && prompt == turn.prompt.as_deref() && entry.line.turn_position.is_none();
            // Version 1.0 has no ids of prompts. What the user says between a result and the answer to it is part of the turn.
            let is_between =
                prompt.is_none() && turn.has_results && turn.prompt.is_none() && self.open.is_empty() && !is_dequeued;
            !turn.is_answered && (is_same || is_between || self.material.is_child)
        });
        if !continues {
            self.conclude(false);
            let event = self.begin_turn(index);
            self.notice(index, Some(event));
        }
        self.keep(index);
        self.touch(index);
    }

    /// Keeps a place for the answer of a child if a line tells that it ended. `event` is the start of the turn that the line began.
    fn notice(&mut self, index: usize, event: Option<EventRef>) {
        let entry = self.entry(index);
        let Some(text) = entry.first_text() else { return };
        let Some(child) = notified_agent(text).and_then(|agent| self.material.kin.by_agent.get(agent)) else { return };
        let id = format!("{}:answer", self.item_id(index, 0, 1));
        let awaited = self.writer.await_answer(self.draft, id, entry.stamp());
        let event = event.unwrap_or(awaited.event());
        let answer = ChildAnswer { awaited, message: text.to_owned(), stamp: entry.stamp() };
        self.told.notices.push(Notice { child: *child, event, answer });
    }

    pub(super) fn attachment(&mut self, index: usize) {
        let entry = self.entry(index);
        if self.scan.has_requests {
            self.register_rendered(index);
        }
        if !entry.blocks.is_empty() {
            self.notice(index, None);
            self.keep(index);
            self.touch(index);
        } else {
            self.link(index);
        }
    }

    pub(super) fn register_rendered(&mut self, index: usize) {
        let Some(raw) = self.entry(index).line.rendered else { return };
        let Ok(rendered) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { return };
        for (number, part) in rendered.into_iter().enumerate() {
            let text = Attachment::parse(part.get()).and_then(|part| part.content);
            if let Some(text) = text {
                self.texts.entry(text_key(&text)).or_default().push_back((index, number));
            }
        }
    }
}
