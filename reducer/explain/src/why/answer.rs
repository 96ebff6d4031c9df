//! The answer, as programs read it.

use serde::{Deserialize, Serialize};

use crate::object::ObjectRef;

/// Where a text came from and where it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The text.
    pub text: String,
    /// The object whose text it is, if it was asked for by object.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub object: Option<ObjectRef>,
    /// Where it first came into being. Nothing, if the session does not have the text.
    pub origin: Option<Origin>,
    /// How it came into each agent and left it, in the order of causes. The origin is the first.
    pub path: Vec<Hop>,
    /// Inference calls whose requests showed it.
    pub seen_by: Vec<SeenBy>,
    /// Tool calls that these inference calls asked for.
    pub followed_by: Vec<Followed>,
    /// Payloads that could not be looked through, so that something may be missing.
    pub unread_payloads: u64,
}

/// Where a text first came into being.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What brought it.
    pub kind: Kind,
    /// The object that brought it.
    pub object: ObjectRef,
    /// The agent that it came into being in.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// The event that first tells of it.
    pub seq: u64,
}

/// What brings texts into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A person, or a program in the place of one.
    UserInput,
    /// A tool: what it printed or returned.
    ToolOutput,
    /// The model, as arguments or input of a tool call, or code as arguments of the tool that it called.
    ToolArguments,
    /// The model, as a message or reasoning.
    ModelOutput,
    /// The model, as a message to another agent.
    AgentMessage,
    /// Instructions: those of the application, files such as `AGENTS.md`, the environment that the client describes, and
    /// the descriptions of tools.
    Instructions,
    /// The recording does not tell.
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

/// How a longer text holds the one that is asked for. The first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It is the text.
    Verbatim,
    /// The text is a part of it.
    Within,
    /// The text stands in it as a JSON string, or a part of one, and looks different for that.
    JsonEscaped,
    /// Something was cut out of it, and with that a part of the text.
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

/// A station of a text on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// What brought it here, or took it away.
    pub object: ObjectRef,
    /// The agent.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// The event that tells of it.
    pub seq: u64,
    /// How the text stands there.
    pub form: Form,
    /// What the station is.
    pub way: Way,
}

/// How a text comes into an agent or leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A user's message.
    User,
    /// Instructions, or descriptions of tools.
    Instructions,
    /// The agent's model wrote it.
    Said,
    /// The agent's model, or its code, handed it to a tool.
    Called,
    /// A tool brought it.
    Returned,
    /// It was sent to another agent.
    Sent,
    /// It came from another agent.
    Received,
    /// It was part of the history that the agent began with.
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

/// An inference call whose request showed a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenBy {
    /// The call.
    pub inference_call_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The event that began it.
    pub seq: u64,
    /// How the request showed the text, at its best.
    pub form: Form,
}

/// A tool call that an inference call asked for which had seen a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// The tool call.
    pub tool_call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// The inference call that asked for it, itself or through code.
    pub inference_call_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The agent's place in the tree of agents.
    pub agent_path: String,
    /// The event that began it.
    pub seq: u64,
}
