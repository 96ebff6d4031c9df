//! Messages as JSON, in the forms in which providers and instrumentations have them: messages of chats with tool calls, parts of the
//! semantic conventions, blocks, and items of the Responses API. All become items.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::item::{Content, Output, Role};

/// Something that a model was given or said.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    /// The provider's id of the item.
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) what: What<'a>,
}

#[derive(Debug, Clone)]
pub(super) enum What<'a> {
    Message {
        role: Role,
        content: Vec<Content<'a>>,
    },
    Reasoning {
        summary: Vec<Content<'a>>,
        content: Vec<Content<'a>>,
        encrypted: Option<Cow<'a, str>>,
    },
    /// A call of a tool. The id of the call is empty if the source has none.
    Call {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    /// The output of a tool. The id of the call is empty if the source has none.
    Output {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
}

impl<'a> From<What<'a>> for Said<'a> {
    fn from(what: What<'a>) -> Self {
        Self { id: None, what }
    }
}

/// Any of the objects that messages are made of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// Returns the items of a list of messages as JSON, or `None` if the text is no such list.
pub(super) fn list(text: &str) -> Option<Vec<Said<'_>>> {
    let text = text.trim();
    let entries: Vec<&RawValue> =
        if text.starts_with('{') { vec![serde_json::from_str(text).ok()?] } else { serde_json::from_str(text).ok()? };
    let mut said = Vec::new();
    for entry in entries {
        push(entry, Role::User, &mut said);
    }
    Some(said)
}

/// Returns the items of one message, which may also be a plain text.
pub(super) fn one(text: &str, role: Role) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) if text.trim_start().starts_with(['{', '[', '"']) => content(value, role, &mut said),
        _ => said.push(message(role, Cow::Borrowed(text))),
    }
    said
}

/// Returns a message of one text.
pub(super) fn message<'a>(role: Role, text: Cow<'a, str>) -> Said<'a> {
    What::Message { role, content: vec![spoken(role, text)] }.into()
}

/// Returns a text that the model read or wrote.
pub(super) fn spoken(role: Role, text: Cow<'_, str>) -> Content<'_> {
    if role == Role::Assistant { Content::OutputText { text } } else { Content::InputText { text } }
}

/// Returns who speaks. Tools speak in outputs, so that their name is none.
pub(super) fn role(name: &str) -> Option<Role> {
    match name {
        "system" => Some(Role::System),
        "developer" => Some(Role::Developer),
        "user" | "human" => Some(Role::User),
        "assistant" | "model" | "ai" => Some(Role::Assistant),
        _ => None,
    }
}

/// Returns whether a role is that of a tool.
pub(super) fn is_tool(name: &str) -> bool {
    matches!(name, "tool" | "function" | "ipython")
}

/// Returns a text: that of a JSON text, or any other value as it is.
fn text_of(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let json = value?.get();
    match json.as_bytes().first()? {
        b'"' => {
            let inner = &json[1..json.len() - 1];
            if inner.contains('\\') {
                serde_json::from_str(json).ok().map(Cow::Owned)
            } else {
                Some(Cow::Borrowed(inner))
            }
        }
        b'n' => None,
        _ => Some(Cow::Borrowed(json)),
    }
}

fn first<'a, const N: usize>(values: [Option<&'a RawValue>; N]) -> Option<Cow<'a, str>> {
    values.into_iter().find_map(text_of)
}

/// Adds the items of a message, a part or an item.
fn push<'a>(value: &'a RawValue, speaker: Role, said: &mut Vec<Said<'a>>) {
    if value.get().starts_with('"') {
        said.extend(text_of(Some(value)).map(|text| message(speaker, text)));
        return;
    }
    let Ok(entry) = serde_json::from_str::<Entry<'a>>(value.get()) else { return };
    // The choice of a chat has the message inside.
    if let (Some(inner), None) = (entry.message, entry.role) {
        return push(inner, Role::Assistant, said);
    }
    let kind = text_of(entry.kind).unwrap_or_default();
    if push_part(&entry, &kind, said) {
        return;
    }
    let name = text_of(entry.role);
    if name.as_deref().is_some_and(is_tool) {
        let call_id = first([entry.tool_call_id, entry.call_id, entry.id]).unwrap_or_default();
        match entry.parts {
            Some(parts) => content(parts, Role::User, said),
            None => said.push(What::Output { call_id, output: output(entry.content) }.into()),
        }
        return;
    }
    let is_message = matches!(&*kind, "" | "message" | "text" | "human" | "ai" | "system");
    if !is_message {
        return;
    }
    let speaker = name.as_deref().and_then(role).or_else(|| role(&kind)).unwrap_or(speaker);
    if let Some(text) = text_of(entry.reasoning_content).filter(|text| !text.is_empty()) {
        said.push(thought(text, None));
    }
    let from = said.len();
    for value in [entry.parts, entry.content, entry.text].into_iter().flatten() {
        content(value, speaker, said);
    }
    if let Some(first) = said.get_mut(from).filter(|said| matches!(said.what, What::Message { .. })) {
        first.id = text_of(entry.id);
    }
    let calls = entry.tool_calls.and_then(|calls| serde_json::from_str::<Vec<&RawValue>>(calls.get()).ok());
    for call in calls.into_iter().flatten() {
        if let Ok(entry) = serde_json::from_str::<Entry<'a>>(call.get()) {
            said.push(call_of(&entry));
        }
    }
}

/// Adds an item that is no message. Returns whether it was one.
fn push_part<'a>(entry: &Entry<'a>, kind: &str, said: &mut Vec<Said<'a>>) -> bool {
    match kind {
        "reasoning" | "thinking" => {
            let id = text_of(entry.id);
            let mut texts = Vec::new();
            for value in [entry.content, entry.text, entry.thinking].into_iter().flatten() {
                texts.extend(plain_texts(value).into_iter().map(|text| Content::ReasoningText { text }));
            }
            let summary = entry.summary.map(plain_texts).unwrap_or_default();
            let summary = summary.into_iter().map(|text| Content::SummaryText { text }).collect();
            let encrypted = first([entry.encrypted_content, entry.signature]);
            said.extend(reasoning(summary, texts, encrypted).map(|what| Said { id, what }));
        }
        "function_call" | "tool_call" | "tool_use" | "custom_tool_call" => said.push(call_of(entry)),
        "function_call_output" | "custom_tool_call_output" | "tool_call_response" | "tool_result" => {
            let call_id = [entry.call_id, entry.tool_call_id, entry.tool_use_id];
            // The id of an item of the Responses API is not that of the call.
            let id = if entry.call_id.is_some() { text_of(entry.id) } else { None };
            let call_id = first(call_id).or_else(|| text_of(entry.id)).unwrap_or_default();
            let value = [entry.output, entry.response, entry.result, entry.content].into_iter().flatten().next();
            said.push(Said { id, what: What::Output { call_id, output: output(value) } });
        }
        _ => return false,
    }
    true
}

fn call_of<'a>(entry: &Entry<'a>) -> Said<'a> {
    let function = entry.function.and_then(|function| serde_json::from_str::<Entry<'a>>(function.get()).ok());
    let function = function.unwrap_or_default();
    // The id of an item of the Responses API is not that of the call.
    let id = if entry.call_id.is_some() { text_of(entry.id) } else { None };
    let call_id = first([entry.call_id, entry.id]).unwrap_or_default();
    let name = first([entry.name, function.name]).unwrap_or_default();
    let arguments = first([entry.arguments, entry.input, function.arguments]).unwrap_or_default();
    Said { id, what: What::Call { call_id, name, arguments } }
}

/// Returns what the model thought, or `None` if there is nothing.
fn reasoning<'a>(
    summary: Vec<Content<'a>>,
    content: Vec<Content<'a>>,
    encrypted: Option<Cow<'a, str>>,
) -> Option<What<'a>> {
    let is_empty = summary.is_empty() && content.is_empty() && encrypted.is_none();
    (!is_empty).then_some(What::Reasoning { summary, content, encrypted })
}

/// Returns a thought in the clear.
pub(super) fn thought<'a>(text: Cow<'a, str>, encrypted: Option<Cow<'a, str>>) -> Said<'a> {
    let content = if text.is_empty() { Vec::new() } else { vec![Content::ReasoningText { text }] };
    What::Reasoning { summary: Vec::new(), content, encrypted }.into()
}

/// Returns the texts of a value: a text, or a list of texts and of parts with a text.
fn plain_texts(value: &RawValue) -> Vec<Cow<'_, str>> {
    if !value.get().starts_with('[') {
        return text_of(Some(value)).into_iter().filter(|text| !text.is_empty()).collect();
    }
    let values: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    values.into_iter().filter_map(plain_text).collect()
}

/// Returns the text of a text, or of a part with one.
fn plain_text(value: &RawValue) -> Option<Cow<'_, str>> {
    match value.get().as_bytes().first()? {
        b'"' => text_of(Some(value)),
        b'{' => {
            let entry: Entry<'_> = serde_json::from_str(value.get()).ok()?;
            first([entry.text, entry.content])
        }
        _ => None,
    }
}

/// Adds the content of a message. Texts that follow one another are one message; calls and thoughts between them are items of
/// their own.
fn content<'a>(value: &'a RawValue, speaker: Role, said: &mut Vec<Said<'a>>) {
    if !value.get().starts_with('[') {
        match text_of(Some(value)) {
            Some(text) if value.get().starts_with('"') && !text.is_empty() => said.push(message(speaker, text)),
            Some(_) if value.get().starts_with('{') => push(value, speaker, said),
            _ => {}
        }
        return;
    }
    let values: Vec<&'a RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    let mut parts = Vec::new();
    let flush = |parts: &mut Vec<Content<'a>>, said: &mut Vec<Said<'a>>| {
        if !parts.is_empty() {
            said.push(What::Message { role: speaker, content: std::mem::take(parts) }.into());
        }
    };
    for value in values {
        if value.get().starts_with('"') {
            parts.extend(text_of(Some(value)).map(|text| spoken(speaker, text)));
            continue;
        }
        let Ok(entry) = serde_json::from_str::<Entry<'a>>(value.get()) else { continue };
        let kind = text_of(entry.kind).unwrap_or_default();
        let mut other = Vec::new();
        if push_part(&entry, &kind, &mut other) {
            flush(&mut parts, said);
            said.append(&mut other);
            continue;
        }
        match (&*kind, first([entry.text, entry.content])) {
            ("" | "text" | "input_text" | "output_text" | "refusal", Some(text)) => parts.push(spoken(speaker, text)),
            ("" | "text" | "input_text" | "output_text" | "refusal", None) => {}
            // Items know these two only as parts of thoughts.
            ("reasoning_text" | "summary_text", text) => parts.extend(text.map(|text| spoken(speaker, text))),
            _ => parts.push(Content::Other(Cow::Borrowed(value))),
        }
    }
    flush(&mut parts, said);
}

fn output(value: Option<&RawValue>) -> Output<'_> {
    let Some(raw) = value else { return Output::Text(Cow::Borrowed("")) };
    let mut said = Vec::new();
    if raw.get().starts_with("[{") || raw.get().starts_with("[ {") {
        content(raw, Role::User, &mut said);
    }
    match said.pop().map(|said| said.what) {
        Some(What::Message { content, .. }) if said.is_empty() => Output::Parts(content),
        _ => Output::Text(text_of(value).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let texts = |content: &[Content<'_>]| serde_json::to_string(content).expect("writes");
        let show = |said: &Said<'_>| {
            let id = said.id.as_deref().map(|id| format!(" #{id}")).unwrap_or_default();
            match &said.what {
                What::Message { role, content } => format!("{role:?} {}{id}", texts(content)),
                What::Reasoning { summary, content, encrypted } => {
                    format!("thought {} {} {encrypted:?}{id}", texts(summary), texts(content))
                }
                What::Call { call_id, name, arguments } => format!("call {call_id} {name} {arguments}{id}"),
                What::Output { call_id, output } => {
                    format!("output {call_id} {}{id}", serde_json::to_string(output).expect("writes"))
                }
            }
        };
        list(text).expect("messages").iter().map(show).collect()
    }

    #[test]
    fn a_chat_with_tool_calls() {
        let text = r#"[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"a\n"},{"type":"image_url","image_url":{}}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"out"},{"role":"assistant","content":"done"}]"#;
        assert_eq!(
            shown(text),
            [
                r#"System [{"type":"input_text","text":"S"}]"#,
                r#"User [{"type":"input_text","text":"a\n"},{"type":"image_url","image_url":{}}]"#,
                r#"call c1 f {"x":1}"#,
                r#"output c1 "out""#,
                r#"Assistant [{"type":"output_text","text":"done"}]"#,
            ]
        );
    }

    #[test]
    fn parts_of_the_conventions() {
        let text = r#"[{"role":"user","parts":[{"type":"text","content":"Hi"}]},
            {"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"I look."},
              {"type":"tool_call","id":"c1","name":"f","arguments":{"x":1}}],"finish_reason":"tool_call"},
            {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"ok":true}}]}]"#;
        assert_eq!(
            shown(text),
            [
                r#"User [{"type":"input_text","text":"Hi"}]"#,
                r#"thought [] [{"type":"reasoning_text","text":"hm"}] None"#,
                r#"Assistant [{"type":"output_text","text":"I look."}]"#,
                r#"call c1 f {"x":1}"#,
                r#"output c1 "{\"ok\":true}""#,
            ]
        );
    }

    #[test]
    fn blocks_and_items() {
        let text = r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"sig"},
              {"type":"tool_use","id":"u1","name":"f","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":[{"type":"text","text":"r"}]}]},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"},
            {"type":"function_call","id":"fc_1","call_id":"c2","name":"g","arguments":"{}"},
            {"type":"function_call_output","call_id":"c2","output":"x"},
            {"type":"item_reference","id":"i"},
            {"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"y","annotations":[]}]}]"#;
        assert_eq!(
            shown(text),
            [
                r#"thought [] [{"type":"reasoning_text","text":"t"}] Some("sig")"#,
                "call u1 f {}",
                r#"output u1 [{"type":"input_text","text":"r"}]"#,
                r#"thought [{"type":"summary_text","text":"s"}] [] Some("e") #rs_1"#,
                "call c2 g {} #fc_1",
                r#"output c2 "x""#,
                r#"Assistant [{"type":"output_text","text":"y"}] #msg_1"#,
            ]
        );
    }

    #[test]
    fn what_is_no_message_is_none() {
        assert!(list("hello").is_none());
        assert!(list("[1,null,{\"role\":5,\"content\":{}}]").is_some());
        assert_eq!(one("plain [text", Role::User).len(), 1);
        assert_eq!(one("[{\"type\":\"text\",\"text\":\"x\"}]", Role::User).len(), 1);
    }
}
