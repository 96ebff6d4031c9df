//! Messages of the model.

use serde_json::value::RawValue;

use super::history::Piece;
use super::items::BlockKind;
use super::prompt::INTERRUPTED;
use super::records::{Block, Iteration, Line, Usage as Tokens, tokens};
use super::teller::{KnownCall, Teller};
use super::transcript::Entry;
use crate::body::History;
use crate::item::Role;
use crate::note::Code;
use crate::thread::Answer;

impl<'a> Teller<'_, 'a> {
    pub(super) fn assistant(&mut self, index: usize) {
        let Some(group) = self.scan.group_of[index] else { return };
        if index == self.scan.groups[group].first {
            self.ensure_turn(index);
            self.ask(index, group);
        }
        self.outputs_of(index);
        self.touch(index);
        if index == self.scan.groups[group].first && self.children_are_early(group) {
            self.scan.groups[group].is_interleaved = true;
        }
        if self.scan.groups[group].is_interleaved {
            self.begin_calls(index, group);
        }
        if index == self.scan.groups[group].last {
            self.answer(index, group);
            if !self.scan.groups[group].is_interleaved {
                for line in self.scan.groups[group].lines.clone() {
                    self.begin_calls(line, group);
                }
            }
        }
    }

    /// Returns whether a child began before the message that spawned it was complete.
    pub(super) fn children_are_early(&self, group: usize) -> bool {
        let group = &self.scan.groups[group];
        let Some(end) = self.entry(group.last).at.filter(|_| group.first != group.last) else { return false };
        let kin = self.material.kin;
        !kin.by_call.is_empty()
            && group.lines.iter().any(|line| {
                let entry = self.entry(*line);
                let children = entry.blocks.iter().filter_map(|(block, _)| kin.by_call.get(block.id.as_deref()?));
                children.into_iter().any(|child| kin.children[*child].began.is_some_and(|began| began < end))
            })
    }

    /// Writes the items of a line of the model.
    pub(super) fn outputs_of(&mut self, index: usize) {
        let entry = self.entry(index);
        let group = self.scan.group_of[index];
        let blocks = &entry.blocks;
        let mut pieces = Vec::with_capacity(blocks.len());
        for (number, (block, raw)) in blocks.iter().enumerate() {
            let id = self.item_id(index, number, blocks.len());
            let text = self.write(&id, Role::Assistant, block, *raw);
            self.writer.accept(self.draft, &id, entry.stamp());
            self.register(index, number, block);
            if let Some(group) = group {
                self.outputs.entry(group).or_default().push(text);
                if let Some(call) = block.id.as_deref().filter(|_| block.what() == BlockKind::Call) {
                    self.calls.entry(call).or_insert(KnownCall { group, text, arguments: block.arguments() });
                }
            }
            self.seen.1.push(text);
            pieces.push(Piece {
                entry: index as u32,
                block: number as u32,
                group: group.map(|group| group as u32),
                is_output: true,
                text: Some(text),
            });
        }
        self.grow(index, group, true, pieces);
    }

    pub(super) fn answer(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let Some(call) = self.inferences.remove(&group) else { return };
        let last = self.entry(self.scan.groups[group].usage);
        let line = &last.line;
        let message = line.message.as_ref();
        let usage = message.and_then(|message| message.usage.as_ref()).map(tokens);
        // In the output for programs, a line has the token counts from the start of the answer, unless the line says
        // how the answer ended.
        let is_final = !self.material.is_linear || message.is_some_and(|message| message.stop_reason.is_some());
        if usage.is_none() || !is_final {
            self.draft.note(Code::NoUsage, Some(entry.place));
        }
        let response_id = message.and_then(|message| message.id.as_deref());
        let request_id = line.request_id.as_deref();
        let key = response_id.map(|id| call_key(id, request_id, line));
        let items: History = self.outputs.get(&group).into_iter().flatten().copied().collect();
        let is_open = entry.line.message.as_ref().is_none_or(|message| message.stop_reason.is_none());
        let calls_tools = self.scan.groups[group].lines.iter().any(|line| has_calls(self.entry(*line)));
        let answer = if is_open && !calls_tools && self.scan.is_interrupted[index] {
            Answer::Cancelled { reason: INTERRUPTED }
        } else {
            Answer::Completed { response_id, request_id }
        };
        self.told.last = self.writer.answer(self.draft, &call, answer, &items, usage, key, entry.stamp());
        if let Some(spent) = message.and_then(|message| message.usage.as_ref()) {
            if spent.speed.as_deref() == Some(FAST) {
                self.draft.spent_at(FAST);
            }
            self.advisors(spent, response_id, request_id, index);
        }
        if let Some(turn) = &mut self.turn {
            turn.is_answered = !calls_tools;
            turn.has_results = false;
        }
    }
}

/// A speed of answers that has a price of its own.
const FAST: &str = "fast";

impl<'a> Teller<'_, 'a> {
    /// Counts the tokens of other models that were asked within an answer.
    fn advisors(&mut self, usage: &Tokens<'_>, response: Option<&str>, request: Option<&str>, index: usize) {
        let Some(raw) = usage.iterations.filter(|raw| memchr::memmem::find(raw.get().as_bytes(), ADVISOR).is_some())
        else {
            return;
        };
        let entry = self.entry(index);
        let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        let asked = list.into_iter().filter_map(|raw| {
            let model =
                Iteration::parse(raw.get()).filter(|one| one.kind.as_deref().map(str::as_bytes) == Some(ADVISOR))?;
            Some((model.model.filter(|model| !model.is_empty())?, Tokens::parse(raw.get())?))
        });
        for (number, (model, usage)) in asked.enumerate() {
            let key = response.map(|id| call_key(&format!("{id}:advisor:{number}"), request, &entry.line));
            self.draft.spent_beside(&model, tokens(&usage), key, entry.stamp());
        }
    }

    /// Counts the tokens of a copy that lost the id of its request, as version 1.0 made them. A session counts such a copy under the id of
    /// the session, so that sums count it again, as `ccusage` does.
    pub(super) fn count_copy(&mut self, index: usize) {
        let Some(group) = self.scan.group_of[index].map(|group| &self.scan.groups[group]) else { return };
        let entry = self.entry(group.usage);
        let is_known = entry.line.request_id.as_deref().is_some_and(|request| !request.is_empty());
        if index != group.first || is_known || entry.line.is_synthetic() {
            return;
        }
        let Some(message) = &entry.line.message else { return };
        let (Some(id), Some(usage)) = (message.id.as_deref(), &message.usage) else { return };
        let key = call_key(id, None, &entry.line);
        self.draft.spent_beside(message.model.as_deref().unwrap_or_default(), tokens(usage), Some(key), entry.stamp());
    }
}

/// Returns what identifies a call in all files that have copies of it. An id that no request goes with is one of its session.
pub(crate) fn call_key(response: &str, request: Option<&str>, line: &Line<'_>) -> String {
    let of = request.filter(|request| !request.is_empty()).or(line.session.as_deref());
    format!("{response}:{}", of.unwrap_or_default())
}

/// The type of an iteration in which another model was asked.
const ADVISOR: &[u8] = b"advisor_message";

fn has_calls(entry: &Entry<'_>) -> bool {
    let is_open = |block: &Block<'_>| block.what() == BlockKind::Call && !block.is_server_call();
    entry.blocks.iter().any(|(block, _)| is_open(block))
}
