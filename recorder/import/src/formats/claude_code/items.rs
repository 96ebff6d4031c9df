//! Blocks of messages as items of a history.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use trace_recorder::format::ToolKind;

use super::records::{Block, Blocks, Flag};
use crate::item::{Content, Item, Output, Role};
use crate::text::is_written_alike;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A text of whoever speaks.
    Text,
    /// A thought.
    Thinking,
    /// A call of a tool.
    Call,
    /// The result of a tool.
    Result,
    /// Anything else, such as a picture.
    Other,
}

impl Block<'_> {
    /// Returns what the block is.
    pub(crate) fn what(&self) -> BlockKind {
        match self.kind.as_deref().unwrap_or_default() {
            "text" if self.text.is_some() => BlockKind::Text,
            "thinking" | "redacted_thinking" => BlockKind::Thinking,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => BlockKind::Call,
            kind if kind.ends_with("tool_result") && self.tool_use_id.is_some() => BlockKind::Result,
            _ => BlockKind::Other,
        }
    }

    /// Returns whether the block is a call of a tool that the provider runs. Its result is a part of the same answer.
    pub(crate) fn is_server_call(&self) -> bool {
        let kind = self.kind.as_deref().unwrap_or_default();
        self.what() == BlockKind::Call && (kind.starts_with("server_") || kind == "mcp_tool_use")
    }

    /// Returns the arguments of a call as JSON text.
    pub(crate) fn arguments(&self) -> &str {
        self.input.map_or("{}", RawValue::get)
    }

    /// Returns whether the block is a result that says that the call failed.
    pub(crate) fn is_failure(&self) -> bool {
        Flag::is_set(&self.is_error)
    }

    /// Returns whether the text of a result begins with `start`, which is a text without escapes.
    pub(crate) fn result_starts_with(&self, start: &str) -> bool {
        let text = self.content.and_then(|raw| raw.get().strip_prefix('"'));
        match text.and_then(|text| text.as_bytes().get(..start.len())) {
            // The rest of the text need not be read.
            Some(head) if !head.contains(&b'\\') => head == start.as_bytes(),
            _ => self.result_text().starts_with(start),
        }
    }

    /// Returns the text of a result: the texts of its parts, one below the other.
    pub(crate) fn result_text(&self) -> Cow<'_, str> {
        let Some(raw) = self.content else { return Cow::Borrowed("") };
        match Blocks::deserialize(raw) {
            Ok(Blocks::Text(text)) => text,
            Ok(blocks @ Blocks::List(_)) => {
                let parts = blocks.into_parts();
                let texts: Vec<&str> = parts.iter().filter_map(|(part, _)| part.text.as_deref()).collect();
                Cow::Owned(texts.join("\n"))
            }
            Err(_) => Cow::Borrowed(""),
        }
    }
}

/// Returns the item of a block. `call_id` replaces the block's id of the call.
pub(crate) fn item<'b>(
    id: &'b str,
    role: Role,
    block: &'b Block<'_>,
    raw: Option<&'b RawValue>,
    call_id: &'b str,
) -> Item<'b> {
    match block.what() {
        BlockKind::Text => message(id, role, text(role, block.text.as_deref().unwrap_or_default())),
        BlockKind::Thinking => {
            let thought = block.thinking.as_deref().unwrap_or_default();
            let encrypted = block.signature.as_deref().or(block.data.as_deref()).filter(|text| !text.is_empty());
            // An item without any part is refused by readers of bundles.
            let is_shown = !thought.is_empty() || encrypted.is_none();
            let content = is_shown.then_some(Content::ReasoningText { text: thought.into() });
            Item::Reasoning {
                id: id.into(),
                summary: Vec::new(),
                content: content.into_iter().collect(),
                encrypted_content: encrypted.map(Cow::Borrowed),
            }
        }
        BlockKind::Call => Item::FunctionCall {
            id: id.into(),
            name: block.name.as_deref().unwrap_or_default().into(),
            arguments: block.arguments().into(),
            call_id: call_id.into(),
        },
        BlockKind::Result => {
            Item::FunctionCallOutput { id: id.into(), call_id: call_id.into(), output: output(block.content) }
        }
        BlockKind::Other => match raw {
            Some(raw) => message(id, role, Content::Other(Cow::Borrowed(raw))),
            None => message(id, role, text(role, "")),
        },
    }
}

/// Returns the item of a result that is no block of the file.
pub(crate) fn replacement<'b>(id: &'b str, text: &'b str, call_id: &'b str) -> Item<'b> {
    Item::FunctionCallOutput { id: id.into(), call_id: call_id.into(), output: Output::Text(text.into()) }
}

fn message<'b>(id: &'b str, role: Role, content: Content<'b>) -> Item<'b> {
    Item::Message { id: id.into(), role, content: vec![content] }
}

fn text(role: Role, text: &str) -> Content<'_> {
    match role {
        Role::Assistant => Content::OutputText { text: text.into() },
        _ => Content::InputText { text: text.into() },
    }
}

fn output(content: Option<&RawValue>) -> Output<'_> {
    let Some(raw) = content else { return Output::Text("".into()) };
    if is_written_alike(raw) {
        return Output::Written(Cow::Borrowed(raw));
    }
    match Blocks::deserialize(raw) {
        Ok(Blocks::Text(text)) => Output::Text(text),
        Ok(Blocks::List(list)) => Output::Parts(list.into_iter().map(part).collect()),
        Err(_) => Output::Parts(vec![Content::Other(Cow::Borrowed(raw))]),
    }
}

fn part(raw: &RawValue) -> Content<'_> {
    match Block::parse(raw.get()) {
        Some(Block { kind: Some(kind), text: Some(text), .. }) if &*kind == "text" => {
            Content::InputText { text: text.into_inner() }
        }
        _ => Content::Other(Cow::Borrowed(raw)),
    }
}

/// Returns the kind of a tool by the name that this agent gives it.
pub(crate) fn tool_kind(name: &str) -> ToolKind<'static> {
    if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        return ToolKind::Mcp { server: server.to_owned().into(), tool: tool.to_owned().into() };
    }
    match name {
        "Bash" | "PowerShell" => ToolKind::ExecCommand,
        "Task" | "Agent" => ToolKind::SpawnAgent,
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => ToolKind::ApplyPatch,
        "WebSearch" | "WebFetch" | "web_search" | "web_fetch" => ToolKind::Web,
        _ => ToolKind::Other { name: name.to_owned().into() },
    }
}

/// Returns the exit code that the output of a failed command begins with.
pub(crate) fn exit_code(output: &str) -> Option<i32> {
    let rest = output.strip_prefix("Exit code ")?;
    let end = rest.find(|char: char| !char.is_ascii_digit() && char != '-').unwrap_or(rest.len());
    let code = rest[..end].parse().ok()?;
    (rest[end..].is_empty() || rest[end..].starts_with('\n')).then_some(code)
}

/// Returns the output of a failed command without the line of its exit code.
pub(crate) fn after_exit_code(output: &str) -> &str {
    output.split_once('\n').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_is_the_first_line() {
        let codes = ["Exit code 3\nout", "Exit code 127", "Exit code 3x", "exit 3", "Exit code "].map(exit_code);
        assert_eq!(codes, [Some(3), Some(127), None, None, None]);
        assert_eq!(after_exit_code("Exit code 3\na\nb"), "a\nb");
    }

    #[test]
    fn tools_have_the_kinds_of_the_codex_cli() {
        assert_eq!(tool_kind("Bash"), ToolKind::ExecCommand);
        assert_eq!(tool_kind("Agent"), ToolKind::SpawnAgent);
        assert_eq!(tool_kind("mcp__git__log_all"), ToolKind::Mcp { server: "git".into(), tool: "log_all".into() });
        assert_eq!(tool_kind("Grep"), ToolKind::Other { name: "Grep".into() });
    }

    #[test]
    fn a_thought_without_text_is_still_an_item() {
        let shown = |json: &str| {
            let block = Block::parse(json).expect("an object");
            serde_json::to_string(&item("i", Role::Assistant, &block, None, "c")).expect("writes")
        };
        assert_eq!(
            shown(r#"{"type":"thinking","thinking":"","signature":"s"}"#),
            r#"{"type":"reasoning","id":"i","summary":[],"encrypted_content":"s"}"#
        );
        assert_eq!(
            shown(r#"{"type":"thinking"}"#),
            r#"{"type":"reasoning","id":"i","summary":[],"content":[{"type":"reasoning_text","text":""}]}"#
        );
        assert_eq!(
            shown(
                r#"{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"a"},{"type":"image"}]}"#
            ),
            concat!(
                r#"{"type":"function_call_output","id":"i","call_id":"c","#,
                r#""output":[{"type":"input_text","text":"a"},{"type":"image"}]}"#
            )
        );
    }
}
