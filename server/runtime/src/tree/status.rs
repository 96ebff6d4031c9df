//! The status of an agent.

use serde_json::{Value, json};

use crate::event::TurnOutcome;
use crate::item::ItemKind;

/// Most characters of a last message or an error in a status.
pub const MAX_STATUS_CHARS: usize = 2000;

/// The status of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentStatus {
    /// It works, or is about to.
    Running,
    /// Its turn completed. Contains the beginning of its last message.
    Completed(Option<String>),
    /// Its turn failed with this error.
    Failed(String),
    /// Its turn was interrupted.
    Interrupted,
}

impl AgentStatus {
    pub(super) fn of(outcome: &TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Completed { .. } => Self::Completed(last_message(outcome).map(beginning)),
            TurnOutcome::Failed(error) => Self::Failed(beginning(&error.message)),
            TurnOutcome::Interrupted => Self::Interrupted,
        }
    }

    /// Returns the status in the format of the tools.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Running => json!("running"),
            Self::Completed(message) => json!({ "completed": message }),
            Self::Failed(error) => json!({ "errored": error }),
            Self::Interrupted => json!("interrupted"),
        }
    }
}

/// Returns the last message of a turn.
pub(super) fn last_message(outcome: &TurnOutcome) -> Option<&str> {
    match outcome {
        TurnOutcome::Completed { last_message: Some(item) } => match &item.kind {
            ItemKind::AgentMessage { text, .. } => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(MAX_STATUS_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::id::ItemId;
    use crate::item::Item;

    fn said(text: &str) -> TurnOutcome {
        let kind = ItemKind::AgentMessage { text: text.to_owned(), phase: None };
        TurnOutcome::Completed { last_message: Some(Arc::new(Item { id: ItemId::from("m"), kind })) }
    }

    #[test]
    fn statuses_are_short() {
        assert_eq!(AgentStatus::of(&said("done")).json(), json!({ "completed": "done" }));
        assert_eq!(
            AgentStatus::of(&TurnOutcome::Completed { last_message: None }).json(),
            json!({ "completed": null })
        );
        assert_eq!(AgentStatus::of(&TurnOutcome::Interrupted).json(), json!("interrupted"));
        let AgentStatus::Completed(Some(text)) = AgentStatus::of(&said(&"é".repeat(MAX_STATUS_CHARS + 1))) else {
            panic!("a message was said")
        };
        assert_eq!(text.chars().count(), MAX_STATUS_CHARS + 3);
    }
}
