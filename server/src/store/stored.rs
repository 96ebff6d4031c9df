//! The content of a rollout.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use trace_protocol::goal::ThreadGoal;
use trace_protocol::turn::Turn;
use trace_runtime::event::ThreadUsage;
use trace_runtime::item::ModelItem;
use trace_runtime::mail::Mail;
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy};
use trace_runtime::tool::plan::Plan;
use trace_runtime::{Settings, TurnId};

use super::summary::ThreadSummary;

/// The content of a thread's rollout.
#[derive(Debug, Clone)]
pub struct StoredThread {
    /// The summary of the thread.
    pub summary: ThreadSummary,
    /// The turns, oldest first, with all of their items. A turn without an end is `interrupted`.
    pub turns: Vec<Turn>,
    /// The history that the model sees.
    pub history: Vec<ModelItem>,
    /// The last settings.
    pub settings: StoredSettings,
    /// The token usage, if the rollout contains it.
    pub usage: Option<ThreadUsage>,
    /// The plan of the last turn, if its model made one.
    pub plan: Option<(TurnId, Plan)>,
    /// The goal.
    pub goal: Option<ThreadGoal>,
    /// Messages of other agents.
    pub mail: StoredMail,
    /// Tools that the client registered.
    pub dynamic_tools: Vec<Value>,
    /// Which parts of the rollout could not be read.
    pub damage: Damage,
}

/// The messages of other agents to a thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredMail {
    /// Ids of all messages that the thread received, as far as the rollout contains them.
    pub known: BTreeSet<String>,
    /// The messages that the model has not seen, in their order.
    pub open: Vec<Mail>,
    /// The newest turn that did work for the user, not only a compaction or a command of the user.
    pub last_work: Option<TurnId>,
}

impl StoredMail {
    /// Applies an event that stores a message, or that lists messages which were read in turns that have been dropped.
    pub(super) fn received(&mut self, event: &Value) {
        let read = event.get("read").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for id in read {
            self.open.retain(|mail| mail.id != id);
            self.known.insert(id.to_owned());
        }
        let mail = event.get("mail").cloned().unwrap_or_default();
        if let Ok(mail) = serde_json::from_value::<Mail>(mail)
            && self.known.insert(mail.id.clone())
        {
            self.open.push(mail);
        }
    }

    /// Applies an item that the model sees: its message has been read.
    pub(super) fn mark_read(&mut self, item: &Value) {
        if item.get("type").is_some_and(|kind| kind == "agent_message")
            && let Some(id) = item.get("id").and_then(Value::as_str)
        {
            self.open.retain(|mail| mail.id != id);
        }
    }
}

/// Which parts of a rollout could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Invalid or too long lines before the last line. They were skipped.
    pub skipped_lines: u64,
    /// Whether the last line is incomplete. It was skipped.
    pub torn_end: bool,
    /// Whether the rollout in which the history begins is missing.
    pub lost_beginning: bool,
}

/// How much of a thread is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkPoint {
    /// The whole thread.
    End,
    /// The thread up to and including a turn.
    Through(TurnId),
    /// The thread up to a turn, without the turn.
    Before(TurnId),
}

/// The last settings of a thread, as far as its rollout contains them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredSettings {
    /// See [`Settings::model`].
    pub model: Option<String>,
    /// See [`Settings::provider`].
    pub provider: Option<String>,
    /// See [`Settings::effort`].
    pub effort: Option<Option<String>>,
    /// See [`Settings::summary`].
    pub summary: Option<Option<String>>,
    /// See [`Settings::service_tier`].
    pub service_tier: Option<Option<String>>,
    /// See [`Settings::cwd`].
    pub cwd: Option<PathBuf>,
    /// See [`Settings::approval`].
    pub approval: Option<ApprovalPolicy>,
    /// See [`Settings::approvals_reviewer`].
    pub approvals_reviewer: Option<String>,
    /// See [`Settings::sandbox`].
    pub sandbox: Option<SandboxPolicy>,
    /// See [`Settings::base_instructions`].
    pub base_instructions: Option<Option<String>>,
    /// See [`Settings::developer_instructions`].
    pub developer_instructions: Option<Option<String>>,
    /// See [`Settings::personality`].
    pub personality: Option<Option<String>>,
    /// See [`Settings::mode`].
    pub mode: Option<Mode>,
    /// See [`Settings::mode_instructions`].
    pub mode_instructions: Option<Option<String>>,
}

impl StoredSettings {
    /// Returns the settings. A setting that the rollout does not contain has its value in `default`.
    pub fn over(&self, default: Settings) -> Settings {
        let stored = self.clone();
        Settings {
            model: stored.model.unwrap_or(default.model),
            provider: stored.provider.unwrap_or(default.provider),
            effort: stored.effort.unwrap_or(default.effort),
            summary: stored.summary.unwrap_or(default.summary),
            service_tier: stored.service_tier.unwrap_or(default.service_tier),
            cwd: stored.cwd.unwrap_or(default.cwd),
            approval: stored.approval.unwrap_or(default.approval),
            approvals_reviewer: stored.approvals_reviewer.or(default.approvals_reviewer),
            sandbox: stored.sandbox.unwrap_or(default.sandbox),
            base_instructions: stored.base_instructions.unwrap_or(default.base_instructions),
            developer_instructions: stored.developer_instructions.unwrap_or(default.developer_instructions),
            personality: stored.personality.unwrap_or(default.personality),
            mode: stored.mode.unwrap_or(default.mode),
            mode_instructions: stored.mode_instructions.unwrap_or(default.mode_instructions),
        }
    }
}
