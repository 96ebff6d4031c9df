//! The dialect of OpenInference: kinds of spans in `openinference.span.kind`, messages as attributes, and whole inputs and outputs
//! as JSON in `input.value` and `output.value`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::item::Role;

use super::facts::{Agent, Model, Part, Tool, raw, usage};
use super::flat;
use super::message::{self, Said, What};
use super::span::Span;

/// Name of the spans that instrumentations make of a request and the tools that its answer calls.
const TURN: &str = "turn";

/// The members of a response of the Responses API that are read.
#[derive(Debug, Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

/// Returns what a span is, or `None` if it is of another dialect.
pub(super) fn part(span: &Span) -> Option<Part> {
    let kind = span.text("openinference.span.kind")?;
    Some(match kind.to_ascii_uppercase().as_str() {
        "AGENT" => Part::Agent,
        "LLM" => Part::Model,
        "TOOL" => Part::Tool,
        "CHAIN" if span.name == TURN => Part::Turn,
        _ => Part::Other,
    })
}

/// Returns what the span of an agent tells.
pub(super) fn agent(span: &Span) -> Agent<'_> {
    let name = span.any_text(&["agent.name", "graph.node.id"]).unwrap_or_default();
    Agent { name, key: span.any_text(&["agent.id", "agent.name", "graph.node.id"]), ..Agent::default() }
}

fn response(span: &Span) -> Option<Response<'_>> {
    let text = span.text("output.value")?;
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Returns what the span of a model call tells.
pub(super) fn model(span: &Span) -> Model<'_> {
    let response = response(span);
    let is_response =
        |response: &Response<'_>| response.object.as_deref() == Some("response") || response.output.is_some();
    let whole = response.as_ref().filter(|response| is_response(response));
    let text = |value: Option<&RawValue>| serde_json::from_str::<String>(value?.get()).ok();
    let instructions = whole.and_then(|response| text(response.instructions));
    let tools = whole.and_then(|response| response.tools).filter(|tools| !matches!(tools.get(), "null" | "[]"));
    Model {
        model: span.any_text(&["llm.model_name", "gen_ai.response.model", "gen_ai.request.model"]).unwrap_or_default(),
        provider: span.any_text(&["llm.provider", "llm.system"]).unwrap_or_default(),
        usage: usage(
            span.count(&["llm.token_count.prompt"]),
            span.count(&["llm.token_count.completion"]),
            span.count(&["llm.token_count.prompt_details.cache_read"]),
            span.count(&["llm.token_count.prompt_details.cache_write"]),
            span.count(&["llm.token_count.completion_details.reasoning"]),
        ),
        instructions: instructions.map(Cow::Owned),
        tools: tools.map(ToOwned::to_owned).or_else(|| definitions(span)),
        parameters: span.attributes.json("llm.invocation_parameters").and_then(raw),
        response_id: response.and_then(|response| response.id).map(|id| Cow::Owned(id.into_owned())),
        ..Model::default()
    }
}

/// Returns the definitions of tools that are attributes of their own.
fn definitions(span: &Span) -> Option<Box<RawValue>> {
    let list: Vec<&RawValue> = span
        .attributes
        .below("llm.tools.")
        .filter(|(name, _)| name.ends_with(".tool.json_schema"))
        .filter_map(|(_, value)| serde_json::from_str(value.as_text()?).ok())
        .collect();
    if list.is_empty() { None } else { serde_json::value::to_raw_value(&list).ok() }
}

/// Returns what the model was given, or `None` if the span does not say it.
pub(super) fn input(span: &Span) -> Option<Vec<Said<'_>>> {
    let flat = || flat::messages(&span.attributes, "llm.input_messages.", Role::User);
    // Items have more than messages: their ids, and thoughts that only the provider reads.
    let items = span.text("input.value").filter(|text| is_list_of_items(text)).and_then(message::list);
    let Some(mut items) = items.filter(|items| !items.is_empty()) else {
        return flat().or_else(|| Some(message::one(span.text("input.value")?, Role::User)));
    };
    // The messages begin with the system prompt, which the items leave out.
    let is_rule = |said: &Said<'_>| matches!(said.what, What::Message { role: Role::System | Role::Developer, .. });
    if !items.first().is_some_and(is_rule)
        && span.text("llm.input_messages.0.message.role").and_then(message::role) == Some(Role::System)
    {
        let rule = flat().into_iter().flatten().next().filter(is_rule);
        items.splice(0..0, rule);
    }
    Some(items)
}

fn is_list_of_items(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Item<'a> {
        #[serde(borrow)]
        role: Option<&'a RawValue>,
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
    }
    if !text.trim_start().starts_with('[') {
        return false;
    }
    let items: Result<Vec<Item<'_>>, _> = serde_json::from_str(text);
    items.is_ok_and(|items| items.iter().all(|item| item.role.is_some() || item.kind.is_some()))
}

/// Returns what the model answered.
pub(super) fn output(span: &Span) -> Vec<Said<'_>> {
    let items = response(span).and_then(|response| message::list(response.output?.get()));
    if let Some(items) = items.filter(|items| !items.is_empty()) {
        return items;
    }
    if let Some(messages) = flat::messages(&span.attributes, "llm.output_messages.", Role::Assistant) {
        return messages;
    }
    let is_text = span.text("output.mime_type").is_none_or(|kind| kind == "text/plain");
    let text = span.text("output.value").filter(|text| is_text && !text.trim_start().starts_with('{'));
    text.map(|text| vec![message::message(Role::Assistant, Cow::Borrowed(text))]).unwrap_or_default()
}

/// Returns what the span of a tool tells.
pub(super) fn tool(span: &Span) -> Tool<'_> {
    Tool {
        name: span.text("tool.name").unwrap_or(&span.name),
        call_id: span.any_text(&["tool_call.id", "tool.id"]),
        arguments: span.attributes.json("input.value").or_else(|| span.attributes.json("tool.parameters")),
        result: span.attributes.json("output.value"),
        ..Tool::default()
    }
}
