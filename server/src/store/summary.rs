//! Information about a thread that does not require reading its turns.

use std::path::PathBuf;

use serde_json::Value;
use trace_protocol::common::AbsolutePath;
use trace_protocol::thread::{GitInfo, SessionSource, Thread, ThreadHistoryMode, ThreadStatus};
use trace_runtime::{Settings, ThreadId};

/// The parameters of a new thread.
#[derive(Debug, Clone)]
pub struct NewThread {
    /// The id of the thread.
    pub id: ThreadId,
    /// The root thread of its tree, which is the thread itself for a root agent.
    pub session: ThreadId,
    /// Time of its creation, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// Its first settings.
    pub settings: Settings,
    /// Name of the client that created it.
    pub originator: Option<String>,
    /// Version of the program that created it.
    pub version: String,
    /// The kind of program or agent that created it.
    pub source: SessionSource,
    /// The purpose of the thread, as the client named it.
    pub thread_source: Option<String>,
    /// The format in which its history is stored.
    pub history_mode: ThreadHistoryMode,
    /// The thread that it was forked from.
    pub forked_from: Option<ThreadId>,
    /// The thread of the parent agent.
    pub parent: Option<ThreadId>,
    /// The name of the agent that users see.
    pub agent_nickname: Option<String>,
    /// The role of the agent.
    pub agent_role: Option<String>,
    /// The path of the agent in its tree.
    pub agent_path: Option<String>,
    /// Tools that the client registered.
    pub dynamic_tools: Vec<Value>,
    /// The Git repository of its folder.
    pub git: Option<GitInfo>,
}

/// A summary of a stored thread.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadSummary {
    /// The id of the thread.
    pub id: ThreadId,
    /// The rollout to which new lines are appended.
    pub path: PathBuf,
    /// Whether the thread is archived.
    pub archived: bool,
    /// The root thread of its tree, which is the thread itself for a root agent.
    pub session: ThreadId,
    /// The thread that it was forked from.
    pub forked_from: Option<ThreadId>,
    /// The thread of the parent agent.
    pub parent: Option<ThreadId>,
    /// Time of its creation, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// Time of its last line, in milliseconds since 1970.
    pub updated_at_ms: i64,
    /// Time at which its last turn started, or of its creation if it has no turns.
    pub recency_at_ms: i64,
    /// The text of the first user message, shortened to [`MAX_PREVIEW_CHARS`].
    pub preview: String,
    /// The name that a user gave it.
    pub name: Option<String>,
    /// Its working folder.
    pub cwd: AbsolutePath,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: Option<String>,
    /// The reasoning effort.
    pub effort: Option<String>,
    /// Name of the client that created it.
    pub originator: Option<String>,
    /// Version of the program that created it.
    pub version: String,
    /// The kind of program or agent that created it.
    pub source: SessionSource,
    /// The purpose of the thread, as the client named it.
    pub thread_source: Option<String>,
    /// The format in which its history is stored.
    pub history_mode: ThreadHistoryMode,
    /// The name of the agent that users see.
    pub agent_nickname: Option<String>,
    /// The role of the agent.
    pub agent_role: Option<String>,
    /// The path of the agent in its tree.
    pub agent_path: Option<String>,
    /// The Git repository of its folder.
    pub git: Option<GitInfo>,
    /// All tokens that the thread has used.
    pub tokens_used: u64,
}

/// Most characters of [`ThreadSummary::preview`].
pub const MAX_PREVIEW_CHARS: usize = 4096;

/// The result of looking up an id.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// The thread exists and is not archived.
    Found(ThreadSummary),
    /// The thread is archived.
    Archived(ThreadSummary),
    /// There is no such thread.
    Unknown,
}

/// The state of the edge between an agent and its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeStatus {
    /// The agent belongs to its parent.
    Open,
    /// The agent was closed.
    Closed,
}

/// A change of the Git information. `None` keeps a value, and `Some(None)` clears it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitChange {
    /// The commit.
    pub sha: Option<Option<String>>,
    /// The branch.
    pub branch: Option<Option<String>>,
    /// The URL of the repository.
    pub origin_url: Option<Option<String>>,
}

impl GitChange {
    /// Returns the information after the change, or `None` if no value is left.
    pub fn apply(self, git: Option<GitInfo>) -> Option<GitInfo> {
        let mut git = git.unwrap_or_default();
        if let Some(sha) = self.sha {
            git.sha = sha;
        }
        if let Some(branch) = self.branch {
            git.branch = branch;
        }
        if let Some(origin_url) = self.origin_url {
            git.origin_url = origin_url;
        }
        (git != GitInfo::default()).then_some(git)
    }
}

impl ThreadSummary {
    /// Converts the summary to a thread for clients, without turns.
    pub fn to_thread(&self, status: ThreadStatus) -> Thread {
        Thread {
            id: self.id.to_string(),
            session_id: self.session.to_string(),
            forked_from_id: self.forked_from.as_ref().map(ToString::to_string),
            parent_thread_id: self.parent.as_ref().map(ToString::to_string),
            preview: self.preview.clone(),
            name: self.name.clone(),
            ephemeral: false,
            history_mode: self.history_mode,
            model_provider: self.provider.clone(),
            model: self.model.clone(),
            reasoning_effort: self.effort.clone(),
            created_at: self.created_at_ms.div_euclid(1000),
            updated_at: self.updated_at_ms.div_euclid(1000),
            recency_at: Some(self.recency_at_ms.div_euclid(1000)),
            status,
            path: Some(self.path.to_string_lossy().into_owned()),
            cwd: self.cwd.clone(),
            cli_version: self.version.clone(),
            originator: self.originator.clone(),
            source: self.source.clone(),
            thread_source: self.thread_source.clone(),
            agent_nickname: self.agent_nickname.clone(),
            agent_role: self.agent_role.clone(),
            git_info: self.git.clone(),
            turns: Vec::new(),
            project_id: None,
            attached_to_thread_id: None,
            can_accept_direct_input: None,
            daybreak_enabled: None,
            environments: None,
            extra: None,
            section: None,
            section_entered_at: None,
        }
    }
}
