//! The first line of a rollout: the metadata of its thread, and where its history begins.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use trace_protocol::thread::{GitInfo, SessionSource, SubAgentSource, ThreadHistoryMode};

use super::line::{stamp, time};
use super::spelling::{put, text};
use crate::store::summary::NewThread;

/// The part of another rollout in which the history begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistoryBase {
    /// The rollout id of the other rollout.
    pub(crate) rollout: String,
    /// Number of the first line that does not belong to this history.
    pub(crate) end_ordinal: u64,
    /// Length in bytes of the lines that belong to this history.
    pub(crate) end_bytes: u64,
}

/// The metadata of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) id: String,
    /// The root thread of its tree.
    pub(crate) session: String,
    /// Time of its creation, in milliseconds since 1970.
    pub(crate) created_at_ms: i64,
    /// Its first working folder.
    pub(crate) cwd: String,
    /// Name of the client that created it.
    pub(crate) originator: Option<String>,
    /// Version of the program that created it.
    pub(crate) version: String,
    /// The kind of program or agent that created it.
    pub(crate) source: SessionSource,
    /// The purpose of the thread, as the client named it.
    pub(crate) thread_source: Option<String>,
    /// Its first provider.
    pub(crate) provider: String,
    /// Instructions that replace those of the runtime.
    pub(crate) base_instructions: Option<String>,
    /// The format in which its history is stored.
    pub(crate) history_mode: ThreadHistoryMode,
    /// The thread that it was forked from.
    pub(crate) forked_from: Option<String>,
    /// The thread of the parent agent.
    pub(crate) parent: Option<String>,
    /// The name of the agent that users see.
    pub(crate) agent_nickname: Option<String>,
    /// The role of the agent.
    pub(crate) agent_role: Option<String>,
    /// The path of the agent in its tree.
    pub(crate) agent_path: Option<String>,
    /// Tools that the client registered.
    pub(crate) dynamic_tools: Vec<Value>,
    /// The Git repository of its folder.
    pub(crate) git: Option<GitInfo>,
    /// The other rollout in which the history begins, if there is one.
    pub(crate) base: Option<HistoryBase>,
}

impl Meta {
    /// Returns the metadata of a new thread.
    pub(crate) fn of(thread: &NewThread) -> Self {
        Self {
            id: thread.id.to_string(),
            session: thread.session.to_string(),
            created_at_ms: thread.created_at_ms,
            cwd: thread.settings.cwd.to_string_lossy().into_owned(),
            originator: thread.originator.clone(),
            version: thread.version.clone(),
            source: thread.source.clone(),
            thread_source: thread.thread_source.clone(),
            provider: thread.settings.provider.clone(),
            base_instructions: thread.settings.base_instructions.clone(),
            history_mode: thread.history_mode,
            forked_from: thread.forked_from.as_ref().map(ToString::to_string),
            parent: thread.parent.as_ref().map(ToString::to_string),
            agent_nickname: thread.agent_nickname.clone(),
            agent_role: thread.agent_role.clone(),
            agent_path: thread.agent_path.clone(),
            dynamic_tools: thread.dynamic_tools.clone(),
            git: thread.git.clone(),
            base: None,
        }
    }

    /// Returns the payload of the line.
    pub(crate) fn payload(&self) -> Value {
        let mut members = Map::new();
        members.insert("session_id".into(), self.session.clone().into());
        members.insert("id".into(), self.id.clone().into());
        put(&mut members, "forked_from_id", self.forked_from.clone());
        put(&mut members, "parent_thread_id", self.parent.clone());
        members.insert("timestamp".into(), stamp(self.created_at_ms).into());
        members.insert("cwd".into(), self.cwd.clone().into());
        members.insert("runtime_workspace_roots".into(), json!([self.cwd]));
        members.insert("originator".into(), self.originator.clone().unwrap_or_default().into());
        members.insert("cli_version".into(), self.version.clone().into());
        members.insert("source".into(), stored_source(&self.source));
        put(&mut members, "thread_source", self.thread_source.clone());
        put(&mut members, "agent_nickname", self.agent_nickname.clone());
        put(&mut members, "agent_role", self.agent_role.clone());
        put(&mut members, "agent_path", self.agent_path.clone());
        members.insert("model_provider".into(), self.provider.clone().into());
        put(&mut members, "base_instructions", self.base_instructions.as_ref().map(|text| json!({"text": text})));
        if !self.dynamic_tools.is_empty() {
            members.insert("dynamic_tools".into(), self.dynamic_tools.clone().into());
        }
        members.insert("history_mode".into(), json!(self.history_mode));
        if let Some(base) = &self.base {
            let base = json!({
                "thread_id": base.rollout,
                "end_ordinal_exclusive": base.end_ordinal,
                "end_byte_offset": base.end_bytes,
            });
            members.insert("history_base".into(), base);
        }
        put(&mut members, "git", self.git.as_ref().map(stored_git));
        Value::Object(members)
    }

    /// Reads the payload of the line. Returns `None` if it does not name a thread. `at_ms` is the time of the line.
    pub(crate) fn read(value: &Value, at_ms: Option<i64>) -> Option<Self> {
        let id = text(value, "id")?;
        let source = value.get("source").map(read_source).unwrap_or_default();
        let parent = text(value, "parent_thread_id").or_else(|| match &source {
            SessionSource::SubAgent(SubAgentSource::ThreadSpawn { parent_thread_id, .. }) => {
                Some(parent_thread_id.clone())
            }
            _ => None,
        });
        Some(Self {
            session: text(value, "session_id").unwrap_or_else(|| id.clone()),
            id,
            created_at_ms: text(value, "timestamp").and_then(|text| time(&text)).or(at_ms).unwrap_or(0),
            cwd: text(value, "cwd").map(|cwd| super::spelling::path_of(&cwd)).unwrap_or_default(),
            originator: text(value, "originator").filter(|name| !name.is_empty()),
            version: text(value, "cli_version").unwrap_or_default(),
            source,
            thread_source: text(value, "thread_source"),
            provider: text(value, "model_provider").unwrap_or_default(),
            base_instructions: value.get("base_instructions").and_then(read_instructions),
            history_mode: match text(value, "history_mode").as_deref() {
                Some("paginated") => ThreadHistoryMode::Paginated,
                _ => ThreadHistoryMode::Legacy,
            },
            forked_from: text(value, "forked_from_id"),
            parent,
            agent_nickname: text(value, "agent_nickname"),
            agent_role: text(value, "agent_role"),
            agent_path: text(value, "agent_path"),
            dynamic_tools: value.get("dynamic_tools").and_then(Value::as_array).cloned().unwrap_or_default(),
            git: value.get("git").and_then(read_git),
            base: value.get("history_base").and_then(|base| {
                Some(HistoryBase {
                    rollout: text(base, "thread_id")?,
                    end_ordinal: base.get("end_ordinal_exclusive")?.as_u64()?,
                    end_bytes: base.get("end_byte_offset").and_then(Value::as_u64).unwrap_or(u64::MAX),
                })
            }),
        })
    }

    /// Returns the first working folder, or the root of the file system if the metadata contain no absolute folder.
    pub(crate) fn folder(&self) -> &Path {
        let path = Path::new(&self.cwd);
        if path.is_absolute() { path } else { Path::new("/") }
    }
}

/// Reads the instructions that replace those of the runtime. The Codex CLI also stores its own default instructions
/// here, which replace nothing.
fn read_instructions(value: &Value) -> Option<String> {
    let is_its_own = value.pointer("/provenance/type").and_then(Value::as_str) == Some("model");
    match value {
        Value::String(text) => Some(text.clone()),
        other => text(other, "text").filter(|_| !is_its_own),
    }
}

/// Converts Git information to its form in rollouts.
pub(crate) fn stored_git(git: &GitInfo) -> Value {
    let mut members = Map::new();
    put(&mut members, "commit_hash", git.sha.clone());
    put(&mut members, "branch", git.branch.clone());
    put(&mut members, "repository_url", git.origin_url.clone());
    Value::Object(members)
}

/// Reads Git information. Returns `None` if no value is set.
pub(crate) fn read_git(value: &Value) -> Option<GitInfo> {
    let git = GitInfo {
        branch: text(value, "branch"),
        origin_url: text(value, "repository_url"),
        sha: text(value, "commit_hash"),
    };
    (git != GitInfo::default()).then_some(git)
}

fn stored_source(source: &SessionSource) -> Value {
    match source {
        // Rollouts use the name of an earlier protocol for an app-server.
        SessionSource::AppServer => json!("mcp"),
        SessionSource::SubAgent(agent) => json!({"subagent": agent}),
        other => json!(other),
    }
}

fn read_source(value: &Value) -> SessionSource {
    match value {
        Value::String(word) if word == "mcp" => SessionSource::AppServer,
        Value::Object(members) => members
            .get("subagent")
            .and_then(|agent| serde_json::from_value(agent.clone()).ok())
            .map(SessionSource::SubAgent)
            .or_else(|| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default(),
        other => serde_json::from_value(other.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    fn meta(source: SessionSource) -> Meta {
        Meta {
            id: "t".into(),
            session: "s".into(),
            created_at_ms: 1_795_344_783_728,
            cwd: "/work".into(),
            originator: Some("client".into()),
            version: "1".into(),
            source,
            thread_source: Some("user".into()),
            provider: "p".into(),
            base_instructions: Some("base".into()),
            history_mode: ThreadHistoryMode::Paginated,
            forked_from: Some("f".into()),
            parent: Some("parent".into()),
            agent_nickname: Some("n".into()),
            agent_role: None,
            agent_path: Some("/root/a".into()),
            dynamic_tools: vec![json!({"type": "function"})],
            git: Some(GitInfo { sha: Some("abc".into()), branch: None, origin_url: Some("u".into()) }),
            base: Some(HistoryBase { rollout: "r".into(), end_ordinal: 4, end_bytes: 100 }),
        }
    }

    #[test]
    fn metadata_survive_conversion() {
        for source in [
            SessionSource::Cli,
            SessionSource::Vscode,
            SessionSource::Exec,
            SessionSource::AppServer,
            SessionSource::Unknown,
            SessionSource::Custom("x".into()),
            SessionSource::SubAgent(SubAgentSource::Review),
            SessionSource::SubAgent(SubAgentSource::Other("y".into())),
            SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
                depth: 2,
                parent_thread_id: "p".into(),
                agent_nickname: None,
                agent_path: Some("/root/a/b".into()),
                agent_role: None,
            }),
        ] {
            let meta = meta(source);
            assert_eq!(Meta::read(&meta.payload(), None), Some(meta));
        }
    }

    #[test]
    fn old_metadata_are_read() {
        let meta = Meta::read(&json!({"id": "t", "source": {"later": 1}}), Some(5)).unwrap();
        assert_eq!((meta.session.as_str(), meta.created_at_ms), ("t", 5));
        assert_eq!((meta.source.clone(), meta.history_mode), (SessionSource::Unknown, ThreadHistoryMode::Legacy));
        assert_eq!(meta.folder(), Path::new("/"));
        let own = json!({"id": "t", "base_instructions": {"text": "x", "provenance": {"type": "model"}}});
        assert_eq!(Meta::read(&own, None).unwrap().base_instructions, None);
        assert_eq!(Meta::read(&json!({"session_id": "t"}), Some(5)), None);
    }
}
