//! Arguments of the collaboration tools.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::fork::Fork;
use super::refused::Refused;
use crate::tool::ToolInput;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spawn {
    pub(super) task_name: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) fork_turns: Fork,
    pub(super) role: Option<String>,
    pub(super) model: Option<String>,
    pub(super) reasoning_effort: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tell {
    pub(super) target: String,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Target {
    pub(super) target: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    pub(super) timeout_ms: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    pub(super) path_prefix: Option<String>,
}

/// Parses the arguments of a tool.
///
/// # Errors
///
/// Returns an error that says which argument is invalid.
pub(super) fn read<T: DeserializeOwned>(tool: &'static str, input: &ToolInput) -> Result<T, Refused> {
    let bad = |reason: String| Refused::BadArguments { tool, reason };
    match input {
        ToolInput::Arguments(text) => serde_json::from_str(text).map_err(|error| bad(error.to_string())),
        ToolInput::Text(_) => Err(bad("it is called with a JSON object".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        read::<T>("t", &ToolInput::Arguments(text.to_owned())).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert!(refused::<Tell>(r#"{"target":"a","message":"x","also":1}"#).contains("unknown field `also`"));
        assert!(refused::<Tell>(r#"{"target":"a"}"#).contains("missing field `message`"));
        assert!(refused::<Tell>(r#"{"target":"a","target":"b","message":"x"}"#).contains("duplicate field `target`"));
        assert!(refused::<Target>(r#"{"target":7}"#).contains("expected a string"));
        assert!(refused::<List>("{bad").contains("line 1"));
        assert!(refused::<Wait>(r#"{"timeout_ms":"10"}"#).contains("invalid type"));
        assert!(
            refused::<Spawn>(r#"{"task_name":"a","message":"x","fork_turns":"few"}"#).contains("fork_turns must be")
        );
        let text = ToolInput::Text("x".to_owned());
        assert!(read::<List>("t", &text).expect_err("it is refused").to_string().contains("JSON object"));
    }

    #[test]
    fn what_may_be_left_out_may_be_null() {
        let read = |text: &str| read::<Spawn>("t", &ToolInput::Arguments(text.to_owned())).expect("it fits");
        let spawn = read(r#"{"task_name":"a","message":"x","model":null}"#);
        assert_eq!((spawn.fork_turns, spawn.model, spawn.reasoning_effort), (Fork::All, None, None));
        assert_eq!(read(r#"{"task_name":"a","message":"x","fork_turns":"none"}"#).fork_turns, Fork::None);
    }
}
