//! One thing that happened in a session.

use serde::Serialize;
use trace_reducer::model::Usage;

use crate::object::ObjectRef;

/// Longest text of a happening, in characters; what is longer is cut, and ends with `…`.
pub const MAX_TEXT_CHARS: usize = 2000;

/// What happened. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// An agent was started.
    AgentStarted,
    /// An agent that had ended was woken again.
    AgentResumed,
    /// An agent has ended.
    AgentEnded,
    /// A turn was started.
    TurnStarted,
    /// A turn has ended.
    TurnEnded,
    /// The model was asked.
    InferenceStarted,
    /// The model has answered, or did not.
    InferenceEnded,
    /// A tool was called.
    ToolStarted,
    /// A tool call has ended.
    ToolEnded,
    /// The command of a tool call that had ended before has exited.
    CommandExited,
    /// A code cell was started.
    CellStarted,
    /// A code cell has ended.
    CellEnded,
    /// An agent spawned another one.
    Spawned,
    /// An agent gave another one a task.
    TaskAssigned,
    /// An agent sent another one a message.
    MessageSent,
    /// An agent closed or interrupted another one.
    AgentClosed,
    /// A child's answer was handed to its parent.
    ResultReported,
    /// A compaction was asked of the provider.
    CompactionStarted,
    /// The provider gave none.
    CompactionFailed,
    /// A history was replaced by a compacted one.
    Compacted,
    /// A request lacks most of what the one before it had, and no compaction was recorded.
    ContextRewritten,
    /// The client was told of an error.
    Error,
    /// The client was told of a warning.
    Warning,
    /// Somebody has to approve of something.
    ApprovalRequested,
    /// A turn was interrupted.
    Interrupted,
    /// The recorder could not keep everything.
    RecordingGap,
    /// The bundle is damaged.
    Damage,
    /// The session has ended.
    SessionEnded,
    /// The recorder closed the log.
    RecordingCompleted,
}

/// One thing that happened. What is not known, or does not apply, is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Happening {
    /// Sequence number of the event that told of it.
    pub seq: Option<u64>,
    /// When, in milliseconds since the Unix epoch.
    pub at_unix_ms: Option<i64>,
    /// Milliseconds since the session began.
    pub elapsed_ms: Option<i64>,
    /// What happened.
    pub event: Event,
    /// What it happened to.
    pub object: Option<ObjectRef>,
    /// Id of the agent's thread.
    pub thread_id: Option<String>,
    /// Path of the agent.
    pub agent_path: Option<String>,
    /// Path of the agent that a hand-over is meant for.
    pub to_agent_path: Option<String>,
    /// How what has ended stands.
    pub status: Option<String>,
    /// What it is about: a model, a tool.
    pub subject: Option<String>,
    /// What was said, asked for or came of it.
    pub detail: Option<String>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// How long what has ended took.
    pub duration_ms: Option<i64>,
    /// Tokens of an inference call.
    pub tokens: Option<Tokens>,
}

/// Tokens of an inference call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tokens {
    /// Tokens that the model read.
    pub input: u64,
    /// Of these, read from a cache.
    pub cached_input: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Of these, for reasoning.
    pub reasoning_output: u64,
}

impl Tokens {
    /// Adds those of another call. A bundle may claim any number.
    pub(super) fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.output = self.output.saturating_add(other.output);
        self.reasoning_output = self.reasoning_output.saturating_add(other.reasoning_output);
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input_tokens,
            cached_input: usage.cached_input_tokens,
            output: usage.output_tokens,
            reasoning_output: usage.reasoning_output_tokens,
        }
    }
}

/// Returns the beginning of a text.
pub(super) fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns what was called, with both of its ends: what is run must not hide behind what it begins with.
pub(super) fn both_ends(text: &str) -> String {
    let text = text.trim();
    let chars = text.chars().count();
    if chars <= MAX_TEXT_CHARS {
        return text.to_owned();
    }
    let end_of = |count| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (MAX_TEXT_CHARS / 2, MAX_TEXT_CHARS - MAX_TEXT_CHARS / 2);
    format!("{}…{}", &text[..end_of(head)], &text[end_of(chars - tail)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_keep_both_ends() {
        assert_eq!(both_ends(" ls\n"), "ls");
        let shown = both_ends(&format!("echo {}; rm -rf é", "a".repeat(20_000)));
        assert!(shown.starts_with("echo aaa") && shown.ends_with("aaa; rm -rf é") && shown.contains('…'));
        assert_eq!(shown.chars().count(), MAX_TEXT_CHARS + 1);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(cut("  short\n"), "short");
        let long = "é".repeat(MAX_TEXT_CHARS);
        assert_eq!(cut(&long), long);
        assert_eq!(cut(&format!("{long}x")).chars().count(), MAX_TEXT_CHARS + 1);
    }
}
