//! The part of the parent's conversation that a new agent gets.

use std::num::NonZeroUsize;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use super::letter;
use crate::instructions;
use crate::item::ModelItem;
use crate::settings::Settings;

/// The part of the parent's conversation that a new agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Fork {
    /// All of it.
    #[default]
    All,
    /// Nothing.
    None,
    /// The last turns, including the current one. The number counts the inputs of the user or tasks from which they start.
    Last(NonZeroUsize),
}

impl<'de> Deserialize<'de> for Fork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let turns = match Value::deserialize(deserializer)? {
            Value::String(word) if word == "all" => return Ok(Self::All),
            Value::String(word) if word == "none" => return Ok(Self::None),
            Value::String(word) => word.parse().ok(),
            Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
            _ => None,
        };
        let last = turns.and_then(NonZeroUsize::new).map(Self::Last);
        last.ok_or_else(|| D::Error::custom("fork_turns must be `all`, `none` or a number of turns from 1 on"))
    }
}

impl Fork {
    /// Returns the part of a conversation. Reasoning is kept only if parent and child have the same model, because no other
    /// model can read it.
    pub(super) fn cut(self, mut items: Vec<ModelItem>, parent: &Settings, child: &Settings) -> Vec<ModelItem> {
        let begin = match self {
            Self::All => 0,
            Self::None => items.len(),
            Self::Last(turns) => {
                let mut begins = items.iter().enumerate().rev().filter(|(_, item)| is_asked(item));
                begins.nth(turns.get() - 1).map_or(0, |(index, _)| index)
            }
        };
        items.drain(..begin);
        if (&parent.model, &parent.provider) != (&child.model, &child.provider) {
            items.retain(|item| item.get("type").is_none_or(|kind| kind != "reasoning"));
        }
        items
    }
}

/// Returns whether an item is an input or a task for the agent.
fn is_asked(item: &Value) -> bool {
    let is_users = item.get("type").is_some_and(|kind| kind == "message")
        && item.get("role").is_some_and(|role| role == "user")
        && !instructions::is_context(item);
    is_users || letter::is_task(item)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use crate::history::text_message;
    use crate::settings::{ApprovalPolicy, Mode, SandboxPolicy};

    fn settings(model: &str) -> Settings {
        Settings {
            model: model.to_owned(),
            provider: "p".to_owned(),
            effort: None,
            summary: None,
            service_tier: None,
            cwd: PathBuf::from("/"),
            approval: ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox: SandboxPolicy::FullAccess,
            base_instructions: None,
            developer_instructions: None,
            personality: None,
            mode: Mode::Default,
            mode_instructions: None,
        }
    }

    #[test]
    fn forks_are_words_or_numbers() {
        let read = |value: Value| serde_json::from_value::<Fork>(value).map_err(|error| error.to_string());
        assert_eq!(read(json!("all")), Ok(Fork::All));
        assert_eq!(read(json!("none")), Ok(Fork::None));
        let two = Fork::Last(NonZeroUsize::new(2).expect("it fits"));
        assert_eq!((read(json!("2")), read(json!(2))), (Ok(two), Ok(two)));
        for bad in [json!("some"), json!(0), json!("0"), json!(-1), json!(1.5), json!(true), json!(null)] {
            assert!(read(bad).expect_err("it is refused").contains("must be"));
        }
    }

    #[test]
    fn a_fork_begins_where_something_was_asked() {
        let items = vec![
            text_message("user", "<environment_context>\nx\n</environment_context>"),
            text_message("user", "one"),
            json!({ "type": "reasoning", "summary": [] }).into(),
            text_message("assistant", "1"),
            letter::write("/root", "/root/a", letter::Purpose::Task, "two", None).item().into(),
            letter::write("/root", "/root/a", letter::Purpose::Message, "by the way", None).item().into(),
            text_message("assistant", "2"),
        ];
        let same = settings("m");
        let cut = |fork: Fork, child: &Settings| fork.cut(items.clone(), &same, child).len();
        let last = |turns| Fork::Last(NonZeroUsize::new(turns).expect("it fits"));
        assert_eq!([Fork::All, Fork::None, last(1), last(2), last(9)].map(|fork| cut(fork, &same)), [7, 0, 3, 6, 7]);
        assert_eq!(cut(Fork::All, &settings("other")), 6);
    }
}
