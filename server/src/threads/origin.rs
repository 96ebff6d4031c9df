//! What a thread is loaded with: its constant properties, and the beginning of its state.

use std::path::PathBuf;

use trace_protocol::goal::ThreadGoal;
use trace_protocol::queue::QueuedSubmission;
use trace_protocol::thread::{GitInfo, SessionSource, ThreadHistoryMode};
use trace_protocol::turn::Turn;
use trace_runtime::event::ThreadUsage;
use trace_runtime::tool::plan::Plan;
use trace_runtime::{Settings, ThreadId, TurnId};

use crate::store::{NewThread, ThreadWriter};

/// Properties that do not change while a thread is loaded.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Thread that this one was copied from.
    pub(crate) forked_from: Option<String>,
    /// Whether the thread is not stored.
    pub(crate) is_ephemeral: bool,
    /// Creation time in seconds since 1970.
    pub(crate) created_at: i64,
    /// Rollout file, or `None` if the thread is not stored.
    pub(crate) path: Option<PathBuf>,
    pub(crate) source: SessionSource,
    /// Purpose of the thread, as its client names it.
    pub(crate) thread_source: Option<String>,
    /// Name of the client that started the thread.
    pub(crate) originator: Option<String>,
    pub(crate) history_mode: ThreadHistoryMode,
    /// Version of the server that started the thread.
    pub(crate) version: String,
    pub(crate) agent_nickname: Option<String>,
    pub(crate) agent_role: Option<String>,
}

impl Origin {
    /// Returns what the store needs for a new thread, as it is for a root agent.
    pub(crate) fn new_thread(&self, id: &ThreadId, settings: &Settings, created_at_ms: i64) -> NewThread {
        NewThread {
            id: id.clone(),
            session: id.clone(),
            created_at_ms,
            settings: settings.clone(),
            originator: self.originator.clone(),
            version: self.version.clone(),
            source: self.source.clone(),
            thread_source: self.thread_source.clone(),
            history_mode: self.history_mode,
            forked_from: None,
            parent: None,
            agent_nickname: self.agent_nickname.clone(),
            agent_role: self.agent_role.clone(),
            agent_path: None,
            dynamic_tools: Vec::new(),
            git: None,
        }
    }
}

/// State of a thread when it is loaded.
#[derive(Debug, Default)]
pub(crate) struct InitialState {
    pub(crate) turns: Vec<Turn>,
    /// Token usage so far, and the last turn that added to it.
    pub(crate) usage: Option<(TurnId, ThreadUsage)>,
    /// The plan of the last turn.
    pub(crate) plan: Option<(TurnId, Plan)>,
    pub(crate) name: Option<String>,
    /// Beginning of the first message.
    pub(crate) preview: String,
    pub(crate) git_info: Option<GitInfo>,
    /// Time of the last change in seconds since 1970.
    pub(crate) updated_at: i64,
    pub(crate) goal: Option<ThreadGoal>,
    pub(crate) queue: Vec<QueuedSubmission>,
    pub(crate) writer: Option<ThreadWriter>,
}
