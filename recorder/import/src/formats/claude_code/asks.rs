//! Requests of a thread: those that the file holds, and those that are rebuilt from the history.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::items::BlockKind;
use super::recorded::{Fit, Origin};
use super::records::{Block, Blocks};
use super::teller::{Attempt, Teller, role, text_key};
use crate::body::{History, ItemText};
use crate::note::Code;
use crate::thread::{Answer, InferenceId, Request};

/// The provider of all models, as far as the files say it.
const PROVIDER: &str = "anthropic";

impl<'a> Teller<'_, 'a> {
    /// Sends the request of a message, unless the file has told of it already.
    pub(super) fn ask(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let message = entry.line.message.as_ref();
        let model = message.and_then(|message| message.model.as_deref()).unwrap_or_default();
        if model.is_empty() {
            self.draft.note(Code::NoModel, Some(entry.place));
        }
        model.clone_into(&mut self.model);
        let awaited = entry.line.request_ref.as_deref().and_then(|request| self.awaited.remove(request));
        let call = match awaited {
            Some(call) => call,
            None => self.rebuilt(index),
        };
        self.inferences.insert(group, call);
    }

    /// Sends a request with the history as the lines tell it.
    pub(super) fn rebuilt(&mut self, index: usize) -> InferenceId {
        let entry = self.entry(index);
        for code in [Code::RequestRebuilt, Code::NoSystemPrompt, Code::NoToolDefinitions, Code::NoRequestStart] {
            self.draft.note(code, Some(entry.place));
        }
        if self.material.is_linear {
            self.draft.note(Code::RequestIncomplete, Some(entry.place));
        }
        let history = if self.draft.is_summary() { History::default() } else { self.history() };
        let head = json!({"model": self.model});
        let request = Request { model: &self.model, provider: PROVIDER, head: &head, input: &history };
        self.writer.request(self.draft, &request, entry.untimed())
    }

    pub(super) fn api_request(&mut self, index: usize) {
        let entry = self.entry(index);
        let line = &entry.line;
        let id = line.id.as_deref().unwrap_or_default();
        let is_answered = self.scan.answered.contains(id);
        let source = line.source.as_deref().unwrap_or_default();
        let is_own =
            source.is_empty() || ["sdk", "repl_main_thread", "agent:"].iter().any(|own| source.starts_with(own));
        if let Some(attempt) = self.failing.take() {
            self.draft.note(Code::OutcomeUnknown, Some(attempt.stamp.place));
            let answer = Answer::Failed { error: "no answer; the request was sent again", request_id: None };
            self.answer_failing(&attempt, answer, entry.untimed());
        }
        if !is_answered && !is_own {
            return self.draft.note(Code::OutcomeUnknown, Some(entry.place));
        }
        self.ensure_turn(index);
        let call = self.recorded(index);
        if is_answered {
            self.awaited.insert(id, call);
        } else {
            self.failing = Some(Attempt { call, stamp: entry.stamp() });
        }
    }

    /// Sends a request that the file holds.
    pub(super) fn recorded(&mut self, index: usize) -> InferenceId {
        let entry = self.entry(index);
        let line = &entry.line;
        let params = line.params.filter(|params| params.get().starts_with('{'));
        let model =
            params.and_then(|params| super::records::Message::parse(params.get())).and_then(|params| params.model);
        let model = model.map(super::records::Borrowed::into_inner).unwrap_or_default();
        if self.draft.is_summary() {
            let (head, input) = (json!({}), &History::default());
            let request = Request { model: &model, provider: PROVIDER, head: &head, input };
            return self.writer.request(self.draft, &request, entry.stamp());
        }
        let mut requests = std::mem::take(&mut self.requests);
        let shape = line.shape_hash.as_deref().unwrap_or_default();
        if !self.shapes.contains_key(shape) {
            let lists = requests.shape(line).map(|shape| {
                let lane = self.writer.lane();
                let mut list = |list: Option<super::records::RawList<'_>>| -> History {
                    list.into_iter().flat_map(|list| list.0).map(|raw| self.draft.raw_item(lane, raw)).collect()
                };
                (list(shape.system), list(shape.tools))
            });
            if lists.is_none() {
                self.draft.note(Code::RequestIncomplete, Some(entry.place));
            }
            self.shapes.insert(shape, lists.unwrap_or_default());
        }
        let (history, fit) = requests.history(line, |hash, origin| self.message(hash, origin, index));
        let code = match fit {
            Fit::Verified => Code::RequestVerified,
            Fit::Mismatch => Code::RequestMismatch,
            Fit::Incomplete => Code::RequestIncomplete,
        };
        self.draft.note(code, Some(entry.place));
        let (system, tools) = &self.shapes[shape];
        let made = to_raw_value(&json!({"model": model})).expect("plain data becomes JSON");
        let head = params.unwrap_or(&made);
        let request = Request { model: &model, provider: PROVIDER, head: &head, input: history };
        let mut lists = Vec::new();
        lists.extend((!system.is_empty()).then_some(("system", system)));
        lists.extend((!tools.is_empty()).then_some(("tools", tools)));
        let call = self.writer.request_with_lists(self.draft, &request, &lists, entry.stamp());
        self.requests = requests;
        self.seen = (line.source.as_deref().unwrap_or_default(), Vec::new());
        call
    }

    /// Returns the items of a message of a request.
    pub(super) fn message(&mut self, hash: &str, origin: Origin, request: usize) -> Vec<ItemText> {
        let index = match origin {
            Origin::Group(group) => match self.outputs.get(&group) {
                Some(items) => return items.clone(),
                None => self.scan.groups[group].first,
            },
            Origin::Blob(index) | Origin::User(index) => index,
        };
        if let Some(items) = self.messages.get(hash) {
            return items.clone();
        }
        let entry = self.entry(index);
        let role = role(entry);
        let held = entry.line.message.as_ref().and_then(|message| message.content.clone()).map(Blocks::into_parts);
        let blocks = held.as_ref().unwrap_or(&entry.blocks);
        let mut items = Vec::with_capacity(blocks.len());
        for (number, (block, raw)) in blocks.iter().enumerate() {
            let known = block.id.as_deref().filter(|_| block.what() == BlockKind::Call);
            if let Some(known) = known.and_then(|call| self.calls.get(call)) {
                items.push(known.text);
                continue;
            }
            let id = self.place_of(block).map(|(index, number, count)| self.item_id(index, number, count));
            let id = id.unwrap_or_else(|| {
                let id = format!("{}:{number}", hash.get(..16).unwrap_or(hash));
                let stamp = self.entry(request).stamp();
                self.writer.accept(self.draft, &id, stamp);
                id
            });
            items.push(self.write(&id, role, block, *raw));
        }
        self.messages.insert(hash.to_owned(), items.clone());
        items
    }

    /// Returns the line that a block of a request comes from, the number of the block, and how many blocks the line has.
    pub(super) fn place_of(&mut self, block: &Block<'_>) -> Option<(usize, usize, usize)> {
        let (index, number) = match (block.what(), block.tool_use_id.as_deref(), block.text.as_deref()) {
            (BlockKind::Result, Some(call), _) => *self.results.get(call)?,
            (BlockKind::Text, _, Some(text)) => self.texts.get_mut(&text_key(text))?.pop_front()?,
            _ => return None,
        };
        let entry = self.entry(index);
        let count = entry.blocks.len().max(1);
        Some((index, number, count))
    }
}
