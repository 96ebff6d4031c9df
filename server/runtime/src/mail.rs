//! Messages from other agents.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::id::TurnId;

/// A message from another agent, on its way to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// Its id, which the item has that the model gets. No two messages have one.
    pub id: String,
    /// Path of the agent that wrote it.
    pub author: String,
    /// Path of the agent that gets it.
    pub recipient: String,
    /// Its parts, in the words of the Responses API.
    pub content: Vec<Value>,
    /// What it does beside waiting for the next request.
    pub wake: Wake,
    /// The turn that it stems from, for a turn that it starts.
    pub root_turn: Option<TurnId>,
}

/// What mail does to an agent that has nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wake {
    /// Nothing: it waits for the next turn.
    Nobody,
    /// It starts a turn, or keeps one from ending before the model has seen it.
    Agent,
}

impl Mail {
    /// Returns an id that no other message has.
    pub(crate) fn new_id() -> String {
        format!("amsg_{}", Uuid::now_v7())
    }

    /// Returns the id of the message that says what came of a turn: always the same for one turn.
    pub(crate) fn id_of_result(turn: &TurnId) -> String {
        format!("amsg_result_{turn}")
    }

    /// Returns the item that the model gets.
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

/// What there is for an agent that waits: both only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attention {
    /// How many messages came.
    pub mail: u64,
    /// How often its user said something while a turn ran.
    pub steers: u64,
}
