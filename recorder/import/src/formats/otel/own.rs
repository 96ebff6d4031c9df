//! The dialect of this program's own exports: the semantic conventions with the names below `rollout.`, which `docs/export.md` describes.

use trace_recorder::format::{ExecutionStatus, RolloutStatus};

use crate::thread::named_tool_kind;

use super::facts::{Agent, Ending, Model, Part, Thread, Tool, Turn};
use super::gen_ai;
use super::span::Span;

/// The object of the graph that a span is an export of.
const OBJECT: &str = "rollout.object";

/// Returns what a span is, or `None` if it is of another dialect.
pub(super) fn part(span: &Span) -> Option<Part> {
    if span.text(OBJECT).is_none() {
        // The span of the session is no object.
        return span.text("rollout.trace_id").map(|_| Part::Other);
    }
    Some(if object(span, "thread").is_some() {
        Part::Agent
    } else if object(span, "codex_turn").is_some() {
        Part::Turn
    } else if object(span, "inference_call").is_some() {
        Part::Model
    } else if object(span, "tool_call").is_some() {
        Part::Tool
    } else {
        Part::Other
    })
}

/// Returns the id of the object if it is of a type.
fn object<'s>(span: &'s Span, kind: &str) -> Option<&'s str> {
    span.text(OBJECT)?.strip_prefix(kind)?.strip_prefix(':')
}

/// Returns how the object ended.
fn ending(span: &Span) -> Option<Ending> {
    Some(match span.text("rollout.outcome")? {
        "completed" => Ending::With(ExecutionStatus::Completed),
        "failed" => Ending::With(ExecutionStatus::Failed),
        "cancelled" => Ending::With(ExecutionStatus::Cancelled),
        _ => Ending::Open,
    })
}

/// Returns what the span of an agent tells, or that of another span of the agent.
pub(super) fn agent(span: &Span) -> Agent<'_> {
    let id = span.text("gen_ai.agent.id").or_else(|| object(span, "thread"));
    let path = span.text("gen_ai.agent.name").unwrap_or_default();
    let status = match span.text("rollout.status") {
        Some("completed") => Some(RolloutStatus::Completed),
        Some("failed") => Some(RolloutStatus::Failed),
        Some("aborted" | "cancelled") => Some(RolloutStatus::Aborted),
        _ => None,
    };
    let thread = id.map(|id| Thread {
        id,
        path,
        nickname: span.text("rollout.agent.nickname"),
        task: span.text("rollout.agent.task"),
        role: span.text("rollout.agent.role"),
        status,
    });
    Agent { name: path, key: id, conversation: id, thread }
}

/// Returns what the span of a turn tells.
pub(super) fn turn(span: &Span) -> Turn<'_> {
    Turn { id: object(span, "codex_turn"), ending: ending(span) }
}

/// Returns what the span of a model call tells.
pub(super) fn model(span: &Span) -> Model<'_> {
    let model = gen_ai::model(span);
    Model {
        provider: span.text("rollout.provider.name").unwrap_or(model.provider),
        id: object(span, "inference_call"),
        request_id: span.text("rollout.upstream_request_id"),
        ending: ending(span),
        ..model
    }
}

/// Returns what the span of a tool tells.
pub(super) fn tool(span: &Span) -> Tool<'_> {
    let mut tool = gen_ai::tool(span);
    // An export gives a call this id only if the model knows it.
    tool.is_nested = tool.call_id.is_none();
    tool.call_id = tool.call_id.or_else(|| object(span, "tool_call"));
    tool.kind = span
        .text("rollout.tool.kind")
        .map(|kind| named_tool_kind(kind, span.text("rollout.tool.name").unwrap_or(tool.name)));
    tool.exit_code = span.attributes.get("process.exit.code").and_then(|code| i32::try_from(code.as_int()?).ok());
    tool.ending = ending(span);
    // The call itself completed; it is its command that failed.
    if span.text("error.type") == Some("nonzero_exit") && tool.exit_code.is_some() {
        tool.ending = Some(Ending::With(ExecutionStatus::Completed));
    }
    tool
}
