//! Messages from other agents.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::id::TurnId;

/// A message from another agent to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// Unique id of the message. The item that the model gets has the same id.
    pub id: String,
    /// Path of the agent that sent it.
    pub author: String,
    /// Path of the agent that receives it.
    pub recipient: String,
    /// Content parts in the format of the Responses API.
    pub content: Vec<Value>,
    /// What the message does to an idle agent.
    pub wake: Wake,
    /// The turn of the root agent from which it stems, for a turn that the message starts.
    pub root_turn: Option<TurnId>,
}

/// What a message does to an idle agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wake {
    /// Nothing: the message waits for the next turn.
    Nobody,
    /// It starts a turn, or keeps a turn from ending before the model has seen it.
    Agent,
}

impl Mail {
    /// Returns a unique id.
    pub(crate) fn new_id() -> String {
        format!("amsg_{}", Uuid::now_v7())
    }

    /// Returns the id of the message with the result of a turn. It is always the same for one turn.
    pub(crate) fn id_of_result(turn: &TurnId) -> String {
        format!("amsg_result_{turn}")
    }

    /// Returns the item for the model.
    pub(crate) fn item(&self) -> Value {
        json!({
            "type": "agent_message",
            "id": self.id,
            "author": self.author,
            "recipient": self.recipient,
            "content": self.content,
        })
    }
}

/// Counters for an agent that waits. They only increase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attention {
    /// Number of messages that arrived.
    pub mail: u64,
    /// Number of steering inputs of the user.
    pub steers: u64,
}
