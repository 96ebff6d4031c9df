//! What a thread is loaded with: what stays as it is, and what changes from then on.

use std::path::PathBuf;

use trace_protocol::goal::ThreadGoal;
use trace_protocol::queue::QueuedSubmission;
use trace_protocol::thread::{GitInfo, SessionSource, ThreadHistoryMode};
use trace_protocol::turn::Turn;
use trace_runtime::event::ThreadUsage;
use trace_runtime::{Settings, ThreadId, TurnId};

use crate::store::{NewThread, ThreadWriter};

/// What does not change while a thread is loaded.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Thread that this one was copied from.
    pub(crate) forked_from: Option<String>,
    /// The thread leaves no file.
    pub(crate) is_ephemeral: bool,
    /// When it was made, in seconds since 1970.
    pub(crate) created_at: i64,
    /// Its rollout file, unless it leaves none.
    pub(crate) path: Option<PathBuf>,
    /// Where it came from.
    pub(crate) source: SessionSource,
    /// What its client wants it for.
    pub(crate) thread_source: Option<String>,
    /// Name of the client that made it.
    pub(crate) originator: Option<String>,
    /// How its history is kept.
    pub(crate) history_mode: ThreadHistoryMode,
    /// Version of the server that made it.
    pub(crate) version: String,
    /// The agent's nickname.
    pub(crate) agent_nickname: Option<String>,
    /// The agent's role.
    pub(crate) agent_role: Option<String>,
}

impl Origin {
    /// Returns what a root agent's new thread is stored with.
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

/// What a thread begins with when it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// Its turns so far.
    pub(crate) turns: Vec<Turn>,
    /// What was used up so far, and by which turn last.
    pub(crate) usage: Option<(TurnId, ThreadUsage)>,
    /// Its name.
    pub(crate) name: Option<String>,
    /// The first thing that was said.
    pub(crate) preview: String,
    /// The state of its repository.
    pub(crate) git_info: Option<GitInfo>,
    /// When it last changed, in seconds since 1970.
    pub(crate) updated_at: i64,
    /// What it is to reach.
    pub(crate) goal: Option<ThreadGoal>,
    /// Prompts that wait for it.
    pub(crate) queue: Vec<QueuedSubmission>,
    /// Writes its rollout file.
    pub(crate) writer: Option<ThreadWriter>,
}
