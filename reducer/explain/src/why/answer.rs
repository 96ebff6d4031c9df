//! The answer as a data structure.

use serde::{Deserialize, Serialize};

use crate::object::ObjectRef;

/// Where a text came from and where it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The text.
    pub text: String,
    /// The object whose text was asked for; `None` if the text itself was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub object: Option<ObjectRef>,
    /// Where the text first appeared. `None` if the session does not contain the text.
    pub origin: Option<Origin>,
    /// The ways by which the text entered and left each agent, in the order of causes. The origin is the first.
    pub path: Vec<Hop>,
    /// Inference calls whose requests contained it.
    pub seen_by: Vec<SeenBy>,
    /// Tool calls that these inference calls made.
    pub followed_by: Vec<Followed>,
    /// Number of payloads that could not be searched, so that occurrences may be missing.
    pub unread_payloads: u64,
}

/// Where a text first appeared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Kind of source.
    pub kind: Kind,
    /// The object that the text came from.
    pub object: ObjectRef,
    /// The agent in which the text first appeared.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// Sequence number of the event that first shows it.
    pub seq: u64,
}

/// Kind of the source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A user, or a program that acts as one.
    UserInput,
    /// A tool: its printed or returned output.
    ToolOutput,
    /// The model, in the arguments or the input of a tool call. Code counts as arguments.
    ToolArguments,
    /// The model, in a message or in reasoning.
    ModelOutput,
    /// The model, in a message to another agent.
    AgentMessage,
    /// Instructions of the application, files such as `AGENTS.md`, the client's description of the environment, and
    /// descriptions of tools.
    Instructions,
    /// The recording does not show the source.
    Unknown,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::UserInput,
        Self::ToolOutput,
        Self::ToolArguments,
        Self::ModelOutput,
        Self::AgentMessage,
        Self::Instructions,
        Self::Unknown,
    ];

    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserInput => "user_input",
            Self::ToolOutput => "tool_output",
            Self::ToolArguments => "tool_arguments",
            Self::ModelOutput => "model_output",
            Self::AgentMessage => "agent_message",
            Self::Instructions => "instructions",
            Self::Unknown => "unknown",
        }
    }
}

/// How a longer text contains the text that was asked for, best form first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It is equal to the text.
    Verbatim,
    /// It contains the text.
    Within,
    /// It contains the text as a JSON string, or part of one, with escapes.
    JsonEscaped,
    /// It was shortened, and only a part of the text is left.
    Truncated,
}

impl Form {
    /// Returns the name of the form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Within => "within",
            Self::JsonEscaped => "json_escaped",
            Self::Truncated => "truncated",
        }
    }
}

/// One station of a text: its arrival in an agent or its departure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// The object by which the text came or went.
    pub object: ObjectRef,
    /// The agent.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// Sequence number of the event that shows it.
    pub seq: u64,
    /// How the object contains the text.
    pub form: Form,
    /// How the text came or went.
    pub way: Way,
}

/// How a text enters or leaves an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A user's message.
    User,
    /// Instructions or descriptions of tools.
    Instructions,
    /// The agent's model wrote it.
    Said,
    /// The agent's model or its code passed it to a tool.
    Called,
    /// A tool returned it.
    Returned,
    /// The agent sent it to another agent.
    Sent,
    /// Another agent sent it.
    Received,
    /// It was part of the history that the agent inherited.
    Inherited,
}

impl Way {
    /// Returns the name of the way.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Instructions => "instructions",
            Self::Said => "said",
            Self::Called => "called",
            Self::Returned => "returned",
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Inherited => "inherited",
        }
    }
}

/// An inference call whose request contained a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenBy {
    /// The call.
    pub inference_call_id: String,
    /// Its thread.
    pub thread_id: String,
    /// Sequence number of the event that started it.
    pub seq: u64,
    /// The best form in which the request contained the text.
    pub form: Form,
}

/// A tool call that an inference call made after it had seen a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// The tool call.
    pub tool_call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// The inference call that made it, directly or through a code cell.
    pub inference_call_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// Sequence number of the event that started it.
    pub seq: u64,
}
