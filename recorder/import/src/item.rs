//! Items of a model's history, in the form in which the Responses API has them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

/// An item of a history. Agents of other providers write blocks and parts, which importers bring into this form.
///
/// The `id` of an item names its record in the file. A [`ThreadWriter`](crate::ThreadWriter) accepts items by it.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item<'a> {
    /// A text of the user, of the developer or of the model.
    Message {
        /// Id of the item.
        id: Cow<'a, str>,
        /// Who speaks.
        role: Role,
        /// What was said.
        content: Vec<Content<'a>>,
    },
    /// What the model thought.
    Reasoning {
        /// Id of the item.
        id: Cow<'a, str>,
        /// A summary of it. The field is required, but may be empty.
        summary: Vec<Content<'a>>,
        /// The thought itself, if the provider shows it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Content<'a>>,
        /// The thought, or a signature of it, in a form that only the provider reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<Cow<'a, str>>,
    },
    /// A call of a tool.
    FunctionCall {
        /// Id of the item.
        id: Cow<'a, str>,
        /// Name of the tool.
        name: Cow<'a, str>,
        /// The arguments, usually as JSON text.
        arguments: Cow<'a, str>,
        /// The id that the output of the call repeats.
        call_id: Cow<'a, str>,
    },
    /// The output of a tool.
    FunctionCallOutput {
        /// Id of the item.
        id: Cow<'a, str>,
        /// The id of the call.
        call_id: Cow<'a, str>,
        /// What the model saw.
        output: Output<'a>,
    },
}

impl Item<'_> {
    /// Returns the id of the item.
    pub fn id(&self) -> &str {
        match self {
            Self::Message { id, .. }
            | Self::Reasoning { id, .. }
            | Self::FunctionCall { id, .. }
            | Self::FunctionCallOutput { id, .. } => id,
        }
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Rules of the program.
    System,
    /// Rules and context from the agent.
    Developer,
    /// The user, or the agent in the user's place.
    User,
    /// The model.
    Assistant,
}

/// A part of an item.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content<'a> {
    /// Text that the model read.
    InputText {
        /// The text.
        text: Cow<'a, str>,
    },
    /// Text that the model wrote.
    OutputText {
        /// The text.
        text: Cow<'a, str>,
    },
    /// A thought in the clear.
    ReasoningText {
        /// The text.
        text: Cow<'a, str>,
    },
    /// A summary of thoughts.
    SummaryText {
        /// The text.
        text: Cow<'a, str>,
    },
    /// A part that is not text, such as a picture, as the file has it. Its `type` must not be one of the above.
    #[serde(untagged)]
    Other(Cow<'a, RawValue>),
}

/// The output of a tool as the model saw it.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Output<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A text as the JSON string that the file has.
    Written(Cow<'a, RawValue>),
    /// Several parts, such as texts and pictures.
    Parts(Vec<Content<'a>>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_those_of_the_responses_api() {
        let picture = RawValue::from_string(r#"{"type":"image","source":{}}"#.to_owned()).expect("JSON");
        let items = [
            Item::Message { id: "m".into(), role: Role::User, content: vec![Content::InputText { text: "Hi".into() }] },
            Item::Reasoning {
                id: "r".into(),
                summary: Vec::new(),
                content: Vec::new(),
                encrypted_content: Some("x".into()),
            },
            Item::FunctionCall { id: "f".into(), name: "Bash".into(), arguments: "{}".into(), call_id: "c".into() },
            Item::FunctionCallOutput {
                id: "o".into(),
                call_id: "c".into(),
                output: Output::Parts(vec![Content::Other(Cow::Owned(picture))]),
            },
        ];
        let text = serde_json::to_string(&items).expect("writes");
        assert_eq!(
            text,
            concat!(
                r#"[{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"Hi"}]},"#,
                r#"{"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"},"#,
                r#"{"type":"function_call","id":"f","name":"Bash","arguments":"{}","call_id":"c"},"#,
                r#"{"type":"function_call_output","id":"o","call_id":"c","output":[{"type":"image","source":{}}]}]"#,
            )
        );
    }
}
