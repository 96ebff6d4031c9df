//! Which items of a rollout have a form that readers of bundles accept.
//!
//! A reader refuses a whole request for one item that it does not know. A rollout of a newer version, or a damaged one, may
//! have such items; they are left out, and noted.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Whether an item can be part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Readable,
    /// The type of the item is not known.
    Unknown,
    /// The item lacks what items of its type have.
    Damaged,
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(rename = "type", borrow)]
    tag: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    role: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    author: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    recipient: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    output: Option<&'a RawValue>,
}

/// Reads a member that is there, also if it is null.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(member).map(Some)
}

/// A part of the content of an item.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    tag: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    encrypted_content: Option<&'a RawValue>,
}

/// Returns the form of an item.
pub(super) fn form_of(item: &RawValue) -> Form {
    let Ok(item) = serde_json::from_str::<Shape<'_>>(item.get()) else { return Form::Damaged };
    let is_whole = match &*item.tag {
        "message" => item.role.is_some_and(|role| ROLES.contains(&role.get())),
        "reasoning" => is_reasoning(&item),
        "compaction" | "compaction_summary" | "context_compaction" => item.encrypted_content.is_some_and(is_text),
        "agent_message" => is_agent_message(&item),
        // Readers take the same call without arguments for another one each time.
        "function_call" => item.arguments.is_some(),
        "function_call_output" | "custom_tool_call_output" => item.output.is_some(),
        "additional_tools"
        | "custom_tool_call"
        | "tool_search_call"
        | "tool_search_output"
        | "web_search_call"
        | "image_generation_call"
        | "local_shell_call"
        | "mcp_tool_call_output" => true,
        _ => return Form::Unknown,
    };
    if is_whole { Form::Readable } else { Form::Damaged }
}

/// Returns the type of an item, or nothing if it is damaged.
pub(super) fn type_of(item: &RawValue) -> String {
    serde_json::from_str::<Shape<'_>>(item.get()).map(|item| item.tag.into_owned()).unwrap_or_default()
}

const ROLES: [&str; 5] = [r#""system""#, r#""developer""#, r#""user""#, r#""assistant""#, r#""tool""#];

fn is_text(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// A reasoning item has parts of the right types, or an encrypted text.
fn is_reasoning(item: &Shape<'_>) -> bool {
    let count = |parts: Option<&RawValue>, tags: &[&str]| match parts {
        None => Some(0),
        Some(parts) => {
            let parts: Vec<Part<'_>> = serde_json::from_str(parts.get()).ok()?;
            let is_good = |part: &Part<'_>| tags.contains(&&*part.tag) && part.text.is_some_and(is_text);
            parts.iter().all(is_good).then_some(parts.len())
        }
    };
    let thoughts = count(item.content.filter(|content| !is_null(content)), &["reasoning_text", "text"]);
    let summaries = count(item.summary, &["summary_text"]);
    let encrypted = item.encrypted_content.filter(|text| !is_null(text));
    match (thoughts, summaries) {
        (Some(thoughts), Some(summaries)) => {
            encrypted.is_none_or(is_text) && thoughts + summaries + usize::from(encrypted.is_some()) > 0
        }
        _ => false,
    }
}

/// A message between agents has an author, a recipient and a text.
fn is_agent_message(item: &Shape<'_>) -> bool {
    let parts = item.content.and_then(|content| serde_json::from_str::<Vec<Part<'_>>>(content.get()).ok());
    let is_good = |part: &Part<'_>| match &*part.tag {
        "input_text" => part.text.is_some_and(is_text),
        "encrypted_content" => part.encrypted_content.is_some_and(is_text),
        _ => false,
    };
    let has_id = item.id.is_none_or(|id| is_text(id) || is_null(id));
    let has_ends = [item.author, item.recipient].iter().all(|end| end.is_some_and(is_text));
    has_id && has_ends && parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_readers_refuse_are_told_apart() {
        let form = |text: &str| form_of(&RawValue::from_string(text.to_owned()).expect("JSON"));
        for readable in [
            r#"{"type":"message","role":"user","content":[]}"#,
            r#"{"type":"reasoning","summary":[],"encrypted_content":"x","content":null}"#,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}]}"#,
            r#"{"type":"function_call","arguments":"{}"}"#,
            r#"{"type":"agent_message","id":null,"author":"/root","recipient":"/root/a","content":[{"type":"input_text","text":"t"}]}"#,
            r#"{"type":"compaction","encrypted_content":"x"}"#,
        ] {
            assert_eq!(form(readable), Form::Readable, "{readable}");
        }
        for damaged in [
            r#"{"type":"message","role":"use r"}"#,
            r#"{"type":"reasoning","summary":[]}"#,
            r#"{"type":"reasoning","summary":null,"encrypted_content":"x"}"#,
            r#"{"type":"reasoning","summary":[{"type":"text","text":"t"}]}"#,
            r#"{"type":"agent_message","author":"/root","content":[{"type":"input_text","text":"t"}]}"#,
            r#"{"type":"compaction"}"#,
            r#"{"type":"function_call","call_id":"c"}"#,
            r#"{"type":"custom_tool_call_output","call_id":"c"}"#,
            r#"{"role":"user"}"#,
            "[]",
        ] {
            assert_eq!(form(damaged), Form::Damaged, "{damaged}");
        }
        assert_eq!(form(r#"{"type":"hologram_call"}"#), Form::Unknown);
    }
}
