//! Messages whose parts are attributes of their own, such as `llm.input_messages.0.message.role` and `gen_ai.prompt.0.content`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::item::{Output, Role};

use super::message::{Said, What, is_tool, message, one, role, thought};
use super::span::{Attributes, Value};

#[derive(Debug, Default)]
struct Message<'a> {
    role: Option<&'a str>,
    content: Option<&'a str>,
    reasoning: Option<&'a str>,
    tool_call_id: Option<&'a str>,
    parts: BTreeMap<usize, Part<'a>>,
    calls: BTreeMap<usize, Call<'a>>,
}

#[derive(Debug, Default)]
struct Part<'a> {
    kind: Option<&'a str>,
    text: Option<&'a str>,
    id: Option<&'a str>,
    encrypted: Option<&'a str>,
}

#[derive(Debug, Default)]
struct Call<'a> {
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: Option<Cow<'a, str>>,
}

/// Returns the messages below a prefix such as `llm.input_messages.`, or `None` if there are none. `speaker` is the role of
/// messages that have none.
pub(super) fn messages<'a>(attributes: &'a Attributes, prefix: &'a str, speaker: Role) -> Option<Vec<Said<'a>>> {
    let mut messages: BTreeMap<usize, Message<'a>> = BTreeMap::new();
    for (name, value) in attributes.below(prefix) {
        let Some((number, name)) = numbered(name) else { continue };
        let message = messages.entry(number).or_default();
        message.take(name.strip_prefix("message.").unwrap_or(name), value);
    }
    if messages.is_empty() {
        return None;
    }
    let mut said = Vec::new();
    messages.into_values().for_each(|message| message.say(speaker, &mut said));
    Some(said)
}

/// Splits the number off the beginning of a name.
fn numbered(name: &str) -> Option<(usize, &str)> {
    let (number, rest) = name.split_once('.')?;
    Some((number.parse().ok()?, rest))
}

impl<'a> Message<'a> {
    fn take(&mut self, name: &'a str, value: &'a Value) {
        let text = value.as_text();
        match name {
            "role" => self.role = text,
            "content" => self.content = text,
            "reasoning" | "reasoning_content" => self.reasoning = text,
            "tool_call_id" => self.tool_call_id = text,
            _ => {}
        }
        if let Some((number, name)) = name.strip_prefix("contents.").and_then(numbered) {
            let part = self.parts.entry(number).or_default();
            match name.strip_prefix("message_content.").unwrap_or(name) {
                "type" => part.kind = text,
                "text" => part.text = text,
                "id" => part.id = text,
                "encrypted_content" | "signature" => part.encrypted = text,
                _ => {}
            }
        }
        if let Some((number, name)) = name.strip_prefix("tool_calls.").and_then(numbered) {
            let call = self.calls.entry(number).or_default();
            let name = name.strip_prefix("tool_call.").unwrap_or(name);
            match name.strip_prefix("function.").unwrap_or(name) {
                "id" => call.id = text,
                "name" => call.name = text,
                "arguments" => {
                    call.arguments = match value {
                        Value::Text(text) => Some(Cow::Borrowed(text)),
                        other => serde_json::to_string(other).ok().map(Cow::Owned),
                    }
                }
                _ => {}
            }
        }
    }

    fn say(self, speaker: Role, said: &mut Vec<Said<'a>>) {
        if self.role.is_some_and(is_tool) {
            let call_id = Cow::Borrowed(self.tool_call_id.unwrap_or_default());
            let texts = self.parts.values().find_map(|part| part.text);
            let text = self.content.or(texts).unwrap_or_default();
            said.push(What::Output { call_id, output: Output::Text(Cow::Borrowed(text)) }.into());
            return;
        }
        let speaker = self.role.and_then(role).unwrap_or(speaker);
        said.extend(self.reasoning.map(|text| thought(Cow::Borrowed(text), None)));
        let has_texts = self.parts.values().any(|part| part.text.is_some() && part.kind != Some("reasoning"));
        for part in self.parts.into_values() {
            let text = Cow::Borrowed(part.text.unwrap_or_default());
            let mut new = match part.kind {
                Some("reasoning" | "thinking") if part.text.is_none() && part.encrypted.is_none() => continue,
                Some("reasoning" | "thinking") => thought(text, part.encrypted.map(Cow::Borrowed)),
                _ if part.text.is_none() => continue,
                _ => message(speaker, text),
            };
            new.id = part.id.map(Cow::Borrowed);
            said.push(new);
        }
        // The content repeats the texts of the parts, if there are any.
        if let Some(content) = self.content.filter(|_| !has_texts) {
            said.extend(one(content, speaker));
        }
        said.extend(self.calls.into_values().map(|call| {
            let call_id = Cow::Borrowed(call.id.unwrap_or_default());
            let name = Cow::Borrowed(call.name.unwrap_or_default());
            What::Call { call_id, name, arguments: call.arguments.unwrap_or_default() }.into()
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(list: &[(&str, &str)]) -> Attributes {
        list.iter().map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned()))).collect()
    }

    #[test]
    fn both_spellings_are_read_in_the_order_of_their_numbers() {
        let attributes = attributes(&[
            ("gen_ai.prompt.10.role", "assistant"),
            ("gen_ai.prompt.10.tool_calls.0.id", "c1"),
            ("gen_ai.prompt.10.tool_calls.0.name", "f"),
            ("gen_ai.prompt.10.tool_calls.0.arguments", "{}"),
            ("gen_ai.prompt.2.role", "user"),
            ("gen_ai.prompt.2.content", "Hi"),
            ("gen_ai.prompt.11.role", "tool"),
            ("gen_ai.prompt.11.content", "out"),
            ("gen_ai.prompt.11.tool_call_id", "c1"),
            ("llm.output_messages.0.message.contents.0.message_content.type", "text"),
            ("llm.output_messages.0.message.contents.0.message_content.text", "done"),
            ("llm.output_messages.0.message.content", "done"),
            ("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "g"),
        ]);
        let prompt = messages(&attributes, "gen_ai.prompt.", Role::User).expect("messages");
        assert!(matches!(prompt[0].what, What::Message { role: Role::User, .. }));
        assert!(matches!(&prompt[1].what, What::Call { call_id, name, .. } if call_id == "c1" && name == "f"));
        assert!(matches!(&prompt[2].what, What::Output { call_id, .. } if call_id == "c1"));
        let answer = messages(&attributes, "llm.output_messages.", Role::Assistant).expect("messages");
        assert_eq!(answer.len(), 2, "{answer:?}");
        assert!(messages(&attributes, "gen_ai.completion.", Role::Assistant).is_none());
    }
}
