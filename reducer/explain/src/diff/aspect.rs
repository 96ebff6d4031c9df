//! Aspects in which two corresponding things may differ.

use serde::{Deserialize, Serialize};

/// Aspect in which two corresponding things may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The text that the agent was given.
    Text,
    /// The model that was requested.
    Model,
    /// How it ended.
    Status,
    /// Why a request failed or was cancelled.
    Error,
    /// What the model wrote: messages and calls.
    Said,
    /// The tool that was called.
    Tool,
    /// Arguments of a tool call.
    Arguments,
    /// Exit code of a command.
    ExitCode,
    /// Output of a tool.
    Output,
}

impl Aspect {
    /// Returns the name of the aspect.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Model => "model",
            Self::Status => "status",
            Self::Error => "error",
            Self::Said => "said",
            Self::Tool => "tool",
            Self::Arguments => "arguments",
            Self::ExitCode => "exit_code",
            Self::Output => "output",
        }
    }
}
