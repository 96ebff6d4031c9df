//! What is known of a thread without reading its turns.

use std::path::PathBuf;

use serde_json::Value;
use trace_protocol::common::AbsolutePath;
use trace_protocol::thread::{GitInfo, SessionSource, Thread, ThreadHistoryMode, ThreadStatus};
use trace_runtime::{Settings, ThreadId};

/// What a thread is, before anything happens in it.
#[derive(Debug, Clone)]
pub struct NewThread {
    /// Its id.
    pub id: ThreadId,
    /// The thread at the root of its tree; itself for a root.
    pub session: ThreadId,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// What it works with at first.
    pub settings: Settings,
    /// Name of the client that made it.
    pub originator: Option<String>,
    /// Version of the program that made it.
    pub version: String,
    /// What kind of program made it, or which agent.
    pub source: SessionSource,
    /// The client's word for what it is for.
    pub thread_source: Option<String>,
    /// How its history is kept.
    pub history_mode: ThreadHistoryMode,
    /// The thread that it is a copy of.
    pub forked_from: Option<ThreadId>,
    /// The thread of the agent that started it.
    pub parent: Option<ThreadId>,
    /// The agent's name for people.
    pub agent_nickname: Option<String>,
    /// What kind of agent it is.
    pub agent_role: Option<String>,
    /// Where in the tree of agents it is.
    pub agent_path: Option<String>,
    /// Tools that the client registered.
    pub dynamic_tools: Vec<Value>,
    /// Where its folder is in a repository.
    pub git: Option<GitInfo>,
}

/// A thread of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadSummary {
    /// Its id.
    pub id: ThreadId,
    /// The rollout that is written to at present.
    pub path: PathBuf,
    /// Whether it is put away.
    pub archived: bool,
    /// The thread at the root of its tree; itself for a root.
    pub session: ThreadId,
    /// The thread that it is a copy of.
    pub forked_from: Option<ThreadId>,
    /// The thread of the agent that started it.
    pub parent: Option<ThreadId>,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// When something was last written to it.
    pub updated_at_ms: i64,
    /// When its last turn began, or it was made.
    pub recency_at_ms: i64,
    /// First text of a user, cut to [`MAX_PREVIEW_CHARS`].
    pub preview: String,
    /// The name that somebody gave it.
    pub name: Option<String>,
    /// Folder that it works in.
    pub cwd: AbsolutePath,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: Option<String>,
    /// How much the model reasons.
    pub effort: Option<String>,
    /// Name of the client that made it.
    pub originator: Option<String>,
    /// Version of the program that made it.
    pub version: String,
    /// What kind of program made it, or which agent.
    pub source: SessionSource,
    /// The client's word for what it is for.
    pub thread_source: Option<String>,
    /// How its history is kept.
    pub history_mode: ThreadHistoryMode,
    /// The agent's name for people.
    pub agent_nickname: Option<String>,
    /// What kind of agent it is.
    pub agent_role: Option<String>,
    /// Where in the tree of agents it is.
    pub agent_path: Option<String>,
    /// Where its folder is in a repository.
    pub git: Option<GitInfo>,
    /// All tokens that it used.
    pub tokens_used: u64,
}

/// Most characters of a first message that lists show.
pub const MAX_PREVIEW_CHARS: usize = 4096;

/// What is known of an id.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// The thread is there.
    Found(ThreadSummary),
    /// The thread is put away.
    Archived(ThreadSummary),
    /// There is no such thread.
    Unknown,
}

/// Whether an agent still belongs to the one that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeStatus {
    /// It does.
    Open,
    /// It was closed.
    Closed,
}

/// A change of what is known of a repository: `None` keeps, `Some(None)` clears.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitChange {
    /// The commit.
    pub sha: Option<Option<String>>,
    /// The branch.
    pub branch: Option<Option<String>>,
    /// The address of the repository.
    pub origin_url: Option<Option<String>>,
}

impl GitChange {
    /// Returns what is known after the change; nothing if nothing is left.
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
    /// Returns the thread as clients know it, without turns.
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
