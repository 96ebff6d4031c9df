//! Messages between agents, in the form in which the receiving model reads them.

use serde_json::{Value, json};

use super::limits::MAX_MESSAGE_BYTES;
use super::refused::Refused;
use super::status;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::{Mail, Wake};

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A task: the receiver starts a turn for it, or takes it up in its running turn.
    Task,
    /// Information only.
    Message,
}

/// Checks the text of a message.
///
/// # Errors
///
/// Returns an error if the text is empty or too long.
pub(super) fn check(message: &str) -> Result<(), Refused> {
    if message.trim().is_empty() {
        return Err(Refused::EmptyMessage);
    }
    if message.len() > MAX_MESSAGE_BYTES {
        return Err(Refused::LongMessage { bytes: message.len() });
    }
    Ok(())
}

/// Returns a message from one agent to another. The text is a content part of its own, so that readers of recordings can
/// find it.
pub(super) fn write(author: &str, recipient: &str, purpose: Purpose, message: &str, root_turn: Option<TurnId>) -> Mail {
    let (kind, wake) = match purpose {
        Purpose::Task => ("NEW_TASK", Wake::Agent),
        Purpose::Message => ("MESSAGE", Wake::Nobody),
    };
    let content = vec![
        text(&header(kind, author, recipient)),
        json!({ "type": "encrypted_content", "encrypted_content": message }),
    ];
    Mail { id: Mail::new_id(), author: author.to_owned(), recipient: recipient.to_owned(), content, wake, root_turn }
}

/// The result of an agent's turn for its parent.
pub(super) struct FinalAnswer {
    /// The text that the parent's model reads.
    pub(super) text: String,
    pub(super) mail: Mail,
}

/// Returns the message to the parent about a turn that ended.
pub(super) fn final_answer(author: &str, recipient: &str, turn: &TurnId, outcome: &TurnOutcome) -> FinalAnswer {
    let said = match outcome {
        TurnOutcome::Completed { .. } => match status::last_message(outcome) {
            Some(said) => cut(said),
            None => "The agent ended its turn without a word.".to_owned(),
        },
        TurnOutcome::Failed(error) => {
            format!("The agent's turn failed: {}\n\n{AGAIN}", cut(&error.message))
        }
        TurnOutcome::Interrupted => format!("The agent was interrupted before it was done.\n\n{AGAIN}"),
    };
    let text_of_all = format!("{}{said}", header("FINAL_ANSWER", author, recipient));
    let mail = Mail {
        id: Mail::id_of_result(turn),
        author: author.to_owned(),
        recipient: recipient.to_owned(),
        content: vec![text(&text_of_all)],
        wake: Wake::Nobody,
        root_turn: None,
    };
    FinalAnswer { text: text_of_all, mail }
}

const AGAIN: &str = "It keeps what it has seen: followup_task gives it another task.";

fn header(kind: &str, author: &str, recipient: &str) -> String {
    format!("Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n")
}

fn text(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

fn cut(said: &str) -> String {
    if said.len() <= MAX_MESSAGE_BYTES {
        return said.to_owned();
    }
    let end = (0..=MAX_MESSAGE_BYTES).rev().find(|end| said.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n[The rest is left out: it is too long.]", &said[..end])
}

/// Returns whether an item of a history is a task from another agent.
pub(super) fn is_task(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "agent_message")
        && item
            .pointer("/content/0/text")
            .and_then(Value::as_str)
            .is_some_and(|text| text.starts_with("Message Type: NEW_TASK\n"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::{ErrorKind, TurnError};
    use crate::id::ItemId;
    use crate::item::{Item, ItemKind};

    #[test]
    fn what_is_said_keeps_to_limits() {
        assert_eq!(check("x"), Ok(()));
        assert_eq!(check(" \n"), Err(Refused::EmptyMessage));
        assert_eq!(check(&"x".repeat(MAX_MESSAGE_BYTES)), Ok(()));
        assert!(matches!(check(&"x".repeat(MAX_MESSAGE_BYTES + 1)), Err(Refused::LongMessage { .. })));
    }

    #[test]
    fn words_of_a_tool_are_a_part_of_their_own() {
        let mail = write("/root", "/root/a", Purpose::Task, "do it", None);
        assert_eq!(mail.wake, Wake::Agent);
        assert_eq!(
            mail.content,
            [
                json!({ "type": "input_text",
                    "text": "Message Type: NEW_TASK\nTask name: /root/a\nSender: /root\nPayload:\n" }),
                json!({ "type": "encrypted_content", "encrypted_content": "do it" }),
            ]
        );
        assert!(is_task(&mail.item()));
        assert!(!is_task(&write("/root", "/root/a", Purpose::Message, "know it", None).item()));
    }

    #[test]
    fn every_end_of_a_turn_is_told() {
        let error = TurnError { message: "no answer".to_owned(), details: None, kind: ErrorKind::Other };
        let long = ItemKind::AgentMessage { text: "é".repeat(MAX_MESSAGE_BYTES), phase: None };
        let long = Some(Arc::new(Item { id: ItemId::from("m"), kind: long }));
        for (outcome, expected) in [
            (TurnOutcome::Completed { last_message: None }, "without a word"),
            (TurnOutcome::Completed { last_message: long }, "too long"),
            (TurnOutcome::Failed(error), "failed: no answer"),
            (TurnOutcome::Interrupted, "interrupted"),
        ] {
            let answer = final_answer("/root/a", "/root", &TurnId::from("t"), &outcome);
            assert!(answer.text.contains(expected), "{expected}");
            assert!(answer.text.starts_with("Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/a\n"));
            assert!(answer.text.len() < MAX_MESSAGE_BYTES + 1000);
            assert_eq!(answer.mail.content, [text(&answer.text)]);
        }
    }
}
