//! What lists of sessions show, and what sums of tokens are made of.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use trace_recorder::format::ExecutionStatus;

/// Tokens of one model call, counted as the Responses API counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, those that came from a cache or went into one included.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    /// Tokens of the request that came from a cache.
    #[serde(rename = "cached_input_tokens")]
    pub cached_input: u64,
    /// Tokens of the request that were written to a cache.
    #[serde(rename = "cache_write_input_tokens")]
    pub cache_write_input: u64,
    /// Tokens of the answer, thoughts included.
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Tokens of thoughts.
    #[serde(rename = "reasoning_output_tokens")]
    pub reasoning_output: u64,
}

/// The tokens of one model call of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// When the call ended, in milliseconds since the Unix epoch. `None` if the file does not say it.
    pub at: Option<i64>,
    /// The model, or an empty text if the file does not name it.
    pub model: String,
    /// What identifies the call in all files that have copies of it. `None` if nothing does.
    pub key: Option<String>,
    /// Its tokens.
    pub usage: Usage,
}

/// What lists show of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Id of the session, as its agent knows it.
    pub id: String,
    /// Version of the program that wrote the session.
    pub agent_version: Option<String>,
    /// A name that the agent or the user gave to the session.
    pub title: Option<String>,
    /// The beginning of the user's first message to the root thread, at most [`MAX_PROMPT_CHARS`].
    pub first_prompt: Option<String>,
    /// The directory in which the agent worked.
    pub cwd: Option<String>,
    /// The model of the last call of the root thread.
    pub model: Option<String>,
    /// Time of the first event.
    pub started_at: Option<i64>,
    /// Time of the last event.
    pub ended_at: Option<i64>,
    /// Number of threads.
    pub threads: u64,
    /// Number of turns in all threads.
    pub turns: u64,
    /// Number of turns that failed.
    pub failed_turns: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of tool calls that failed.
    pub failed_tool_calls: u64,
    /// How the last turn of the root thread ended: `completed`, `failed`, `cancelled`, `aborted` or `running`. `None` if there was
    /// no turn.
    pub outcome: Option<String>,
    /// The tokens of each model call.
    pub spent: Vec<Spent>,
}

/// What a summary was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// Files that were read, whole or in part.
    pub files: Vec<PathBuf>,
    /// Whether files of the same store that were not read yet may change the summary.
    pub looks_around: bool,
}

/// Most characters of the first prompt in a summary.
pub const MAX_PROMPT_CHARS: usize = 200;

/// Beginnings of messages with the user's role that a program wrote: descriptions of the environment and files of instructions.
const NOT_BY_USER: [&str; 3] = ["<", "# AGENTS.md", "Caveat: "];

impl Summary {
    /// Records a message with the user's role in the root thread. The first one that a user wrote stays.
    pub fn prompted(&mut self, text: &str) {
        let text = text.trim();
        let is_by_user = !text.is_empty() && !NOT_BY_USER.iter().any(|start| text.starts_with(start));
        if self.first_prompt.is_none() && is_by_user {
            self.first_prompt = Some(text.chars().take(MAX_PROMPT_CHARS).collect());
        }
    }

    /// Records the status of the last turn of the root thread.
    pub(crate) fn set_outcome(&mut self, status: ExecutionStatus) {
        self.outcome = Some(status.as_str().to_owned());
    }

    /// Records that something happened at a time.
    pub(crate) fn happened_at(&mut self, at: i64) {
        self.started_at = Some(self.started_at.map_or(at, |first| first.min(at)));
        self.ended_at = Some(self.ended_at.map_or(at, |last| last.max(at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_prompt_is_what_a_user_wrote() {
        let mut summary = Summary::default();
        for text in
            ["<environment_context>\n</environment_context>", "# AGENTS.md instructions", " ", " fix it\n", "and this"]
        {
            summary.prompted(text);
        }
        assert_eq!(summary.first_prompt.as_deref(), Some("fix it"));
        let mut long = Summary::default();
        long.prompted(&"é".repeat(MAX_PROMPT_CHARS + 1));
        assert_eq!(long.first_prompt.map(|prompt| prompt.chars().count()), Some(MAX_PROMPT_CHARS));
    }
}
