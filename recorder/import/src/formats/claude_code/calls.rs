//! Calls of tools, their results, and the children that they spawn.

use std::borrow::Cow;
use std::cell::LazyCell;

use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::items::{BlockKind, after_exit_code, exit_code, item, tool_kind};
use super::kin::{ChildAnswer, ChildResult, Spawned};
use super::prompt::INTERRUPTED;
use super::records::{Block, CallInput, Flag, ToolUseResult};
use super::teller::{OpenCall, Teller};
use super::transcript::Entry;
use crate::body::ItemText;
use crate::item::Role;
use crate::note::Code;
use crate::thread::{Call, CallResult, ToolId};

/// Lines of an answer behind a call in which the result is looked for that the provider made.
const MAX_LINES_TO_RESULT: usize = 64;

impl<'a> Teller<'_, 'a> {
    pub(super) fn begin_calls(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let blocks = &entry.blocks;
        for (number, (block, _)) in blocks.iter().enumerate().filter(|(_, (block, _))| block.what() == BlockKind::Call)
        {
            let call_id = match block.id.as_deref() {
                Some(id) => Cow::Borrowed(id),
                None => {
                    self.draft.note(Code::CallIdMade, Some(entry.place));
                    Cow::Owned(self.item_id(index, number, blocks.len()))
                }
            };
            let name = block.name.as_deref().unwrap_or_default();
            let call = Call {
                call_id: &call_id,
                name,
                namespace: None,
                kind: tool_kind(name),
                arguments: block.arguments(),
                is_custom: false,
            };
            let tool = self.writer.begin_call(self.draft, &call, entry.stamp());
            let input = match call.kind {
                ToolKind::ExecCommand | ToolKind::SpawnAgent => CallInput::parse(block.arguments()),
                _ => None,
            };
            let input = input.unwrap_or_default();
            let spawned = self.spawn(&tool, &input, entry);
            let command = input.command.filter(|_| call.kind == ToolKind::ExecCommand);
            let open = OpenCall {
                tool,
                began: entry.stamp(),
                command: command.map(|command| command.into_inner().into_owned()),
                spawned,
            };
            if !block.is_server_call() {
                self.open.insert(call_id, open);
            } else {
                self.end_server_call(index, group, open);
            }
        }
    }

    /// Ends a call of a tool that the provider runs: its result is a part of the same answer.
    pub(super) fn end_server_call(&mut self, index: usize, group: usize, open: OpenCall) {
        let lines = &self.scan.groups[group].lines;
        let from = lines.partition_point(|line| *line < index);
        let near: Vec<usize> = lines[from..].iter().take(MAX_LINES_TO_RESULT).copied().collect();
        for line in near {
            let blocks = &self.entry(line).blocks;
            let is_result = |block: &Block<'_>| {
                block.what() == BlockKind::Result && block.tool_use_id.as_deref() == Some(open.tool.call_id())
            };
            if let Some(number) = blocks.iter().position(|(block, _)| is_result(block)) {
                return self.end_call(line, (number, blocks.len()), &open, &blocks[number].0, None);
            }
        }
        self.open.insert(Cow::Owned(open.tool.call_id().to_owned()), open);
    }

    pub(super) fn spawn(&mut self, tool: &ToolId, input: &CallInput<'_>, entry: &Entry<'_>) -> Option<usize> {
        let child = *self.material.kin.by_call.get(tool.call_id())?;
        if tool.as_str() != tool.call_id() || self.told.spawned.iter().any(|spawned| spawned.child == child) {
            return None;
        }
        let found = &self.material.kin.children[child];
        if found.is_by_text {
            self.draft.note(Code::ChildByText, Some(entry.place));
        }
        let prompt = input.prompt.as_deref().unwrap_or_default();
        let event = self.writer.spawned(self.draft, tool, &found.thread, prompt, entry.stamp());
        let text = |text: &Option<super::records::Borrowed<'_>>| text.as_deref().map(str::to_owned);
        let (task, role) = (text(&input.description), text(&input.subagent_type));
        self.told.spawned.push(Spawned { child, event, result: None, task, role });
        Some(self.told.spawned.len() - 1)
    }

    pub(super) fn results(&mut self, index: usize) {
        self.keep(index);
        let entry = self.entry(index);
        let blocks = &entry.blocks;
        for (number, (block, _)) in blocks.iter().enumerate() {
            let Some(call) = block.tool_use_id.as_deref().filter(|_| block.what() == BlockKind::Result) else {
                continue;
            };
            if let Some(open) = self.open.remove(call) {
                let written = self.kept.get(number).copied();
                self.end_call(index, (number, blocks.len()), &open, block, written);
            }
        }
        self.touch(index);
        if let Some(turn) = &mut self.turn {
            turn.is_answered = false;
            turn.has_results = true;
        }
    }

    /// Ends a call whose result is the block with this number, of so many that the line has. `written` is its item, if there is one.
    pub(super) fn end_call(
        &mut self,
        index: usize,
        (number, count): (usize, usize),
        open: &OpenCall,
        block: &Block<'_>,
        written: Option<ItemText>,
    ) {
        let entry = self.entry(index);
        let stamp = entry.stamp();
        // The results of most calls need not be read.
        let text = LazyCell::new(|| block.result_text());
        let status = self.result_status(index, open, block);
        let code = if status == ExecutionStatus::Completed { None } else { exit_code(&text) };
        if let (Some(code), Some(command)) = (code, &open.command) {
            let span = (open.began, stamp);
            self.writer.command(self.draft, &open.tool, &[command], code, after_exit_code(&text), span);
        }
        let raw = if self.draft.is_summary() || written.is_some() {
            None
        } else {
            let id = self.item_id(index, number, count);
            let item = item(&id, Role::User, block, None, open.tool.call_id());
            Some(to_raw_value(&item).expect("an item is plain data"))
        };
        let result = written.map(CallResult::Text).or_else(|| raw.as_deref().map(CallResult::Item));
        // A call that was stopped, or whose child works in the background, got no answer.
        let has_waited = open.spawned.is_some() && !is_background(entry);
        let has_answer = has_waited && matches!(status, ExecutionStatus::Completed | ExecutionStatus::Failed);
        let answer = has_answer.then(|| ChildAnswer {
            awaited: self.writer.await_answer(self.draft, format!("{}:answer", open.tool.as_str()), stamp),
            message: text.to_string(),
            stamp,
        });
        let event = self.writer.end_call(self.draft, &open.tool, status, result, stamp);
        self.told.last = event;
        match open.spawned {
            Some(spawned) if has_waited => {
                self.told.spawned[spawned].result = Some(ChildResult { event, status, answer });
            }
            None if *open.tool.kind() == ToolKind::SpawnAgent && status == ExecutionStatus::Completed => {
                self.draft.note(Code::ChildMissing, Some(entry.place));
            }
            _ => {}
        }
    }

    pub(super) fn result_status(&self, index: usize, open: &OpenCall, block: &Block<'_>) -> ExecutionStatus {
        let line = &self.entry(index).line;
        if line.denial.as_deref() == Some("interrupted") || block.result_starts_with("[Tool call interrupted:") {
            return ExecutionStatus::Aborted;
        }
        if block.is_failure() {
            let text = block.result_text();
            let is_stopped = text.starts_with("The user doesn't want to")
                // An exit code may stand in front of it.
                || text.lines().take(2).any(|line| line.starts_with(INTERRUPTED));
            let is_interrupted = is_stopped && self.scan.is_interrupted[index];
            return if is_interrupted { ExecutionStatus::Cancelled } else { ExecutionStatus::Failed };
        }
        let raw = line.tool_use_result.map_or("", RawValue::get);
        // The flag is left out of some results, which are errors by their words for the program itself.
        if block.is_error.is_none() && raw.starts_with("\"Error:") {
            return ExecutionStatus::Failed;
        }
        let is_interrupted = memchr::memmem::find(raw.as_bytes(), b"\"interrupted\":true").is_some()
            && ToolUseResult::parse(raw).is_some_and(|result| Flag::is_set(&result.interrupted));
        if is_interrupted {
            return ExecutionStatus::Cancelled;
        }
        let child = open.spawned.map(|spawned| &self.material.kin.children[self.told.spawned[spawned].child]);
        // Version 2.1.197 reports a child as completed even if its last request failed. The error is its answer then.
        let answers_error = *open.tool.kind() == ToolKind::SpawnAgent && block.result_starts_with("API Error:");
        let has_failed = child.is_some_and(|child| child.has_failed) || answers_error;
        let has_failed = has_failed && !is_background(self.entry(index));
        if has_failed { ExecutionStatus::Failed } else { ExecutionStatus::Completed }
    }
}

fn is_background(entry: &Entry<'_>) -> bool {
    let raw = entry.line.tool_use_result.map_or("", RawValue::get);
    memchr::memmem::find(raw.as_bytes(), b"async_launched").is_some()
        && ToolUseResult::parse(raw).is_some_and(|result| result.status.as_deref() == Some("async_launched"))
}
