//! One thing that happened in a session.

use serde::Serialize;
use trace_reducer::model::{Trace, Usage};

use crate::audit::Finding;
use crate::object::ObjectRef;

/// Most characters of a text in a happening. A longer text is cut and ends with `…`.
pub const MAX_TEXT_CHARS: usize = 2000;

/// Kind of a happening. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// An agent was started.
    AgentStarted,
    /// An agent that had ended was resumed.
    AgentResumed,
    /// An agent has ended.
    AgentEnded,
    /// A turn was started.
    TurnStarted,
    /// A turn has ended.
    TurnEnded,
    /// A request was sent to the model.
    InferenceStarted,
    /// The request to the model has ended, with or without an answer.
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
    /// An agent gave another agent a task.
    TaskAssigned,
    /// An agent sent another agent a message.
    MessageSent,
    /// An agent closed or interrupted another agent.
    AgentClosed,
    /// A parent received its child's answer.
    ResultReported,
    /// A compaction was requested from the provider.
    CompactionStarted,
    /// A compaction request failed.
    CompactionFailed,
    /// A compacted history replaced the history of a thread.
    Compacted,
    /// A request lacks most items of the request before it, and no compaction was recorded.
    ContextRewritten,
    /// The client received an error.
    Error,
    /// The client received a warning.
    Warning,
    /// An approval was requested.
    ApprovalRequested,
    /// A turn was interrupted.
    Interrupted,
    /// The recorder could not record everything.
    RecordingGap,
    /// The bundle is damaged.
    Damage,
    /// An audit has a finding of high severity in a turn that has ended.
    AuditFinding,
    /// The session has ended.
    SessionEnded,
    /// The recorder closed the log.
    RecordingCompleted,
}

/// One thing that happened in a session. In JSON, a value that is unknown or does not apply is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Happening {
    /// Sequence number of the event that reported it.
    pub seq: Option<u64>,
    /// Time of that event, in milliseconds since the Unix epoch.
    pub at_unix_ms: Option<i64>,
    /// Milliseconds since the start of the session.
    pub elapsed_ms: Option<i64>,
    /// Kind of the happening.
    pub event: Event,
    /// The object that it is about.
    pub object: Option<ObjectRef>,
    /// Id of the agent's thread.
    pub thread_id: Option<String>,
    /// Path of the agent.
    pub agent_path: Option<String>,
    /// Path of the agent that receives a task, message or result.
    pub to_agent_path: Option<String>,
    /// Status of what has ended.
    pub status: Option<String>,
    /// The model or tool that it is about.
    pub subject: Option<String>,
    /// What was said or requested, or what the result is.
    pub detail: Option<String>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// Duration of what has ended, in milliseconds.
    pub duration_ms: Option<i64>,
    /// Token counts of an inference call.
    pub tokens: Option<Tokens>,
}

impl Happening {
    /// Returns a happening of which only the kind is known.
    pub fn new(event: Event) -> Self {
        Self {
            seq: None,
            at_unix_ms: None,
            elapsed_ms: None,
            event,
            object: None,
            thread_id: None,
            agent_path: None,
            to_agent_path: None,
            status: None,
            subject: None,
            detail: None,
            exit_code: None,
            duration_ms: None,
            tokens: None,
        }
    }

    /// Returns the happening of a finding. Its time is that of the end of the turn, when it can be told.
    pub fn of_finding(trace: &Trace, finding: &Finding) -> Self {
        let turn = finding.turn_id.as_deref().and_then(|id| trace.symbols.get(id));
        let turn = trace.turns.values().find(|it| Some(it.id) == turn);
        let at_unix_ms = turn.and_then(|turn| turn.execution.ended).map(|ended| ended.unix_ms);
        let claim = finding.claim.as_ref();
        let object = claim.map(|claim| &claim.object);
        let object = object.or_else(|| finding.evidence.first().map(|evidence| &evidence.object));
        let detail = match claim {
            Some(claim) => format!("{} (“{}”)", finding.message, claim.text),
            None => finding.message.clone(),
        };
        Self {
            seq: finding.seq(),
            at_unix_ms,
            elapsed_ms: at_unix_ms.map(|at| at.saturating_sub(trace.started_at_unix_ms)),
            object: object.cloned(),
            thread_id: Some(finding.thread_id.clone()),
            agent_path: Some(finding.agent_path.clone()),
            subject: Some(finding.kind.as_str().to_owned()),
            detail: Some(cut(&detail)),
            ..Self::new(Event::AuditFinding)
        }
    }
}

/// Token counts of an inference call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tokens {
    /// Tokens that the model read.
    pub input: u64,
    /// Input tokens that were read from a cache.
    pub cached_input: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Output tokens that were used for reasoning.
    pub reasoning_output: u64,
}

impl Tokens {
    /// Adds other token counts. A bundle may contain any numbers, so the additions saturate.
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

/// Returns the beginning of a text, at most [`MAX_TEXT_CHARS`] characters.
pub(super) fn cut(text: &str) -> String {
    trace_text::cut(text.trim(), MAX_TEXT_CHARS).into_owned()
}

/// Returns the beginning and the end of a command, at most [`MAX_TEXT_CHARS`] characters.
pub(super) fn both_ends(text: &str) -> String {
    trace_text::cut_middle(text.trim(), MAX_TEXT_CHARS).into_owned()
}
