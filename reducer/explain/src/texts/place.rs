//! Where a text stands.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{ItemIdx, ThreadIdx};

use super::birth::Birth;
use crate::object::Object;

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The object.
    pub object: Object,
    /// The agent.
    pub thread: ThreadIdx,
    /// What of the object it is.
    pub aspect: Aspect,
    /// The first event that tells of it.
    pub seq: u64,
    /// When it came into being.
    pub birth: Birth,
}

impl Place {
    /// Returns the conversation item, if the text is a part of one.
    pub fn item(&self) -> Option<ItemIdx> {
        match self.object {
            Object::Item(item) => Some(item),
            _ => None,
        }
    }
}

/// What of its object a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Text of an item.
    Text,
    /// Summary of reasoning.
    Summary,
    /// What the provider calls encrypted. Without a provider that encrypts, it is readable.
    Encoded,
    /// JSON of an item, such as the arguments of a call.
    Json,
    /// Code of an item.
    Code,
    /// What a tool call took.
    Arguments,
    /// What a tool's runtime says that it was asked for, such as the command.
    Request,
    /// What a tool call returned.
    Result,
    /// What a tool or a code cell printed, whoever got to see it.
    Printed,
    /// The source of a code cell.
    Source,
    /// A message between agents, delivered or not.
    Message,
    /// Instructions of requests.
    Instructions,
    /// Descriptions of tools in requests.
    Tools,
}

impl Aspect {
    /// Returns the name of the aspect.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Summary => "summary",
            Self::Encoded => "encoded",
            Self::Json => "json",
            Self::Code => "code",
            Self::Arguments => "arguments",
            Self::Request => "request",
            Self::Result => "result",
            Self::Printed => "printed",
            Self::Source => "source",
            Self::Message => "message",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
        }
    }
}
