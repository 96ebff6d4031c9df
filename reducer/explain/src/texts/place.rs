//! The place of a text.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{ItemIdx, ThreadIdx};

use super::birth::Birth;
use crate::object::Object;

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The object.
    pub object: Object,
    /// The agent.
    pub thread: ThreadIdx,
    /// Which text of the object it is.
    pub aspect: Aspect,
    /// Sequence number of the first event that shows it.
    pub seq: u64,
    /// Position of the text in the order of causes.
    pub birth: Birth,
}

impl Place {
    /// Returns the conversation item if the text is a part of one.
    pub fn item(&self) -> Option<ItemIdx> {
        match self.object {
            Object::Item(item) => Some(item),
            _ => None,
        }
    }
}

/// Which text of its object a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Text of an item.
    Text,
    /// Summary of reasoning.
    Summary,
    /// A field that the provider calls encrypted. If the provider does not encrypt, it is readable.
    Encoded,
    /// JSON of an item, such as the arguments of a call.
    Json,
    /// Code of an item.
    Code,
    /// Arguments of a tool call.
    Arguments,
    /// Request to a tool's runtime, such as the command.
    Request,
    /// Result of a tool call.
    Result,
    /// Printed output of a tool or a code cell, whether or not a model got it.
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
