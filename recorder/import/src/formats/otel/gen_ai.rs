//! The dialect of the semantic conventions for generative AI (`gen_ai.*`), in its versions, and of OpenLLMetry, which has names of its
//! own (`traceloop.*`, `llm.*`) beside them.

use std::borrow::Cow;

use serde_json::json;

use crate::item::Role;

use super::facts::{Agent, Model, Part, Tool, raw, usage};
use super::flat;
use super::message::{self, Said, What};
use super::span::{Attributes, Span};

/// Names of the model that was asked for.
const MODELS: [&str; 3] = ["gen_ai.request.model", "gen_ai.response.model", "llm.request.model"];
const INPUT_TOKENS: [&str; 3] = ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"];
const OUTPUT_TOKENS: [&str; 3] =
    ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"];
const CACHE_READ_TOKENS: [&str; 4] = [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.cached_input_tokens",
];
const CACHE_WRITE_TOKENS: [&str; 3] = [
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
];
const REASONING_TOKENS: [&str; 3] =
    ["gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.output_tokens.reasoning"];

/// Events that carry messages. The first word after `gen_ai.` is the role.
const MESSAGE_EVENTS: [&str; 4] =
    ["gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message"];

/// Returns what a span is, or `None` if it is of another dialect.
pub(super) fn part(span: &Span) -> Option<Part> {
    if let Some(operation) = span.text("gen_ai.operation.name") {
        return Some(match operation {
            "chat" | "generate_content" | "text_completion" | "completion" | "responses" => Part::Model,
            "invoke_agent" => Part::Agent,
            "execute_tool" => Part::Tool,
            _ => Part::Other,
        });
    }
    match span.text("traceloop.span.kind") {
        Some("agent") => return Some(Part::Agent),
        Some("tool") => return Some(Part::Tool),
        Some(_) => return Some(Part::Other),
        None => {}
    }
    match span.text("llm.request.type") {
        Some("chat" | "completion") => return Some(Part::Model),
        Some(_) => return Some(Part::Other),
        None => {}
    }
    if MODELS.iter().any(|name| span.text(name).is_some()) {
        return Some(Part::Model);
    }
    if span.text("gen_ai.tool.name").is_some() {
        return Some(Part::Tool);
    }
    span.attributes.has_below("gen_ai.").then_some(Part::Other)
}

/// Returns what the span of an agent tells, or that of another span of the agent.
pub(super) fn agent(span: &Span) -> Agent<'_> {
    let name = span.any_text(&["gen_ai.agent.name", "traceloop.entity.name"]).unwrap_or_default();
    let key = span.text("gen_ai.agent.id").or((!name.is_empty()).then_some(name));
    Agent { name, key, conversation: span.text("gen_ai.conversation.id"), thread: None }
}

/// Returns an attribute as JSON: of the span, or of one of its events.
fn anywhere<'a>(span: &'a Span, name: &str) -> Option<Cow<'a, str>> {
    let of_events = || span.events.iter().find_map(|event| event.attributes.json(name));
    span.attributes.json(name).or_else(of_events)
}

/// Returns what the span of a model call tells.
pub(super) fn model(span: &Span) -> Model<'_> {
    let mut parameters = serde_json::Map::new();
    for name in ["temperature", "top_p", "max_tokens"] {
        let value = span.attributes.get(&format!("gen_ai.request.{name}"));
        parameters.extend(value.and_then(|value| Some((name.to_owned(), serde_json::to_value(value).ok()?))));
    }
    let parameters = (!parameters.is_empty()).then(|| raw(json!(parameters).to_string().into())).flatten();
    Model {
        model: span.any_text(&MODELS).unwrap_or_default(),
        provider: span.any_text(&["gen_ai.provider.name", "gen_ai.system", "llm.vendor"]).unwrap_or_default(),
        response_id: span.text("gen_ai.response.id").map(Cow::Borrowed),
        usage: usage(
            span.count(&INPUT_TOKENS),
            span.count(&OUTPUT_TOKENS),
            span.count(&CACHE_READ_TOKENS),
            span.count(&CACHE_WRITE_TOKENS),
            span.count(&REASONING_TOKENS),
        ),
        instructions: anywhere(span, "gen_ai.system_instructions").and_then(|text| instructions(&text).map(Cow::Owned)),
        tools: anywhere(span, "gen_ai.tool.definitions").and_then(raw),
        parameters,
        ..Model::default()
    }
}

/// Returns the texts of instructions, which are a text or a list of parts.
fn instructions(text: &str) -> Option<String> {
    let mut texts = Vec::new();
    for said in message::one(text, Role::System) {
        let What::Message { content, .. } = said.what else { continue };
        for part in content {
            if let crate::item::Content::InputText { text } = part {
                texts.push(text.into_owned());
            }
        }
    }
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns messages that an attribute has as JSON.
fn listed<'a>(attributes: &'a Attributes, name: &str) -> Option<Vec<Said<'a>>> {
    match attributes.json(name)? {
        Cow::Borrowed(text) => message::list(text),
        Cow::Owned(text) => message::list(&text).map(|said| said.into_iter().map(owned).collect()),
    }
}

fn owned(said: Said<'_>) -> Said<'static> {
    use crate::item::{Content, Output};
    let text = |text: Cow<'_, str>| Cow::<'static, str>::Owned(text.into_owned());
    let parts = |content: Vec<Content<'_>>| -> Vec<Content<'static>> {
        let part = |part: Content<'_>| match part {
            Content::InputText { text: one } => Content::InputText { text: text(one) },
            Content::OutputText { text: one } => Content::OutputText { text: text(one) },
            Content::ReasoningText { text: one } => Content::ReasoningText { text: text(one) },
            Content::SummaryText { text: one } => Content::SummaryText { text: text(one) },
            Content::Other(value) => Content::Other(Cow::Owned(value.into_owned())),
        };
        content.into_iter().map(part).collect()
    };
    let what = match said.what {
        What::Message { role, content } => What::Message { role, content: parts(content) },
        What::Reasoning { summary, content, encrypted } => {
            What::Reasoning { summary: parts(summary), content: parts(content), encrypted: encrypted.map(text) }
        }
        What::Call { call_id, name, arguments } => {
            What::Call { call_id: text(call_id), name: text(name), arguments: text(arguments) }
        }
        What::Output { call_id, output } => {
            let output = match output {
                Output::Text(one) => Output::Text(text(one)),
                Output::Written(json) => Output::Written(Cow::Owned(json.into_owned())),
                Output::Parts(content) => Output::Parts(parts(content)),
            };
            What::Output { call_id: text(call_id), output }
        }
    };
    Said { id: said.id.map(text), what }
}

/// Returns what the model was given, or `None` if the span does not say it.
pub(super) fn input(span: &Span) -> Option<Vec<Said<'_>>> {
    let names = ["gen_ai.input.messages", "gen_ai.prompt"];
    let all = || std::iter::once(&span.attributes).chain(span.events.iter().map(|event| &event.attributes));
    let listed = names.iter().find_map(|name| all().find_map(|attributes| listed(attributes, name)));
    listed
        .or_else(|| flat::messages(&span.attributes, "gen_ai.prompt.", Role::User))
        .or_else(|| flat::messages(&span.attributes, "llm.prompts.", Role::User))
        .or_else(|| of_events(span))
}

/// Returns the messages that are events of their own.
fn of_events(span: &Span) -> Option<Vec<Said<'_>>> {
    let mut said = Vec::new();
    for event in &span.events {
        let Some(named) = MESSAGE_EVENTS.iter().find(|name| **name == event.name) else { continue };
        let speaker = named.split('.').nth(1).unwrap_or_default();
        let content = event.attributes.json("content");
        if speaker == "tool" {
            let call_id = Cow::Borrowed(event.attributes.text("id").unwrap_or_default());
            let output = crate::item::Output::Text(content.unwrap_or_default());
            said.push(What::Output { call_id, output }.into());
            continue;
        }
        let speaker = message::role(speaker).unwrap_or(Role::User);
        said.extend(
            content
                .into_iter()
                .flat_map(|text| message::one(&text, speaker).into_iter().map(owned).collect::<Vec<_>>()),
        );
        said.extend(listed(&event.attributes, "tool_calls").into_iter().flatten());
    }
    (!said.is_empty()).then_some(said)
}

/// Returns what the model answered.
pub(super) fn output(span: &Span) -> Vec<Said<'_>> {
    let names = ["gen_ai.output.messages", "gen_ai.completion"];
    let all = || std::iter::once(&span.attributes).chain(span.events.iter().map(|event| &event.attributes));
    let found = names.iter().find_map(|name| all().find_map(|attributes| listed(attributes, name)));
    let found = found
        .or_else(|| flat::messages(&span.attributes, "gen_ai.completion.", Role::Assistant))
        .or_else(|| flat::messages(&span.attributes, "llm.completions.", Role::Assistant));
    let mut said = found.unwrap_or_else(|| {
        let choices = span.events.iter().filter(|event| event.name == "gen_ai.choice");
        let mut said = Vec::new();
        for choice in choices {
            said.extend(listed(&choice.attributes, "message").into_iter().flatten());
            said.extend(choice.attributes.json("content").map(|text| message::message(Role::Assistant, text)));
            said.extend(listed(&choice.attributes, "tool_calls").into_iter().flatten());
        }
        said
    });
    // Some writers leave out the role of an answer.
    for said in &mut said {
        if let What::Message { role, content } = &mut said.what
            && *role != Role::Assistant
        {
            *role = Role::Assistant;
            for part in content {
                if let crate::item::Content::InputText { text } = part {
                    *part = crate::item::Content::OutputText { text: std::mem::take(text) };
                }
            }
        }
    }
    said
}

/// Returns what the span of a tool tells.
pub(super) fn tool(span: &Span) -> Tool<'_> {
    let json = |names: [&str; 3]| names.into_iter().find_map(|name| anywhere(span, name));
    let operation = span.name.strip_prefix("execute_tool ").unwrap_or(&span.name);
    Tool {
        name: span.any_text(&["gen_ai.tool.name", "traceloop.entity.name"]).unwrap_or(operation),
        call_id: span.text("gen_ai.tool.call.id"),
        arguments: json(["gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "traceloop.entity.input"]),
        result: json(["gen_ai.tool.call.result", "gen_ai.tool.message", "traceloop.entity.output"]),
        ..Tool::default()
    }
}
