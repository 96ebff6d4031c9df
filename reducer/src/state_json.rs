//! Writes a reduction as `state.json` in the form of the Codex CLI: the same fields in the same order, maps sorted by
//! key as byte strings, two spaces of indentation, and no line feed at the end.
//!
//! The item lists of the requests make up most of the file and grow with the square of a session's length. Lists that
//! share a line of items share its text: the text of a line is made once, and each list is written as a prefix of it.
//!
//! The *compact form* says the same without spelling these lists out. It has the lines once, in `item_lines`, and a list
//! is ranges of them, so that the size follows what is new in each request. [`expand`] makes `state.json` of it, to the
//! byte. `docs/compact/README.md` describes the form.

mod expand;
mod json;
mod lines;

use std::io::{self, Write};

pub use self::expand::{ExpandError, MAX_LINE_ITEMS, expand};
use self::json::Json;
pub use self::json::Style;
use self::lines::{Element, SharedLines};

use crate::diagnostic::{Diagnostics, Severity};
use crate::model::{
    Anchor, ConversationItem, Handle, ItemIdx, ItemList, Moment, Object, OperationIdx, Origin, Part, Producer,
    Requester, SchemaVersion, Symbol, TerminalRequest, ToolKind, ToolSummary, Trace, Window,
};
use crate::reducer::Reduction;

/// Writes the graph of a reduction. If the bundle breaks a rule of its format, the diagnostics follow as `diagnostics`;
/// otherwise the file has only fields that the peer writes.
///
/// # Errors
///
/// Returns an error if `out` returns one.
pub fn write(reduction: &Reduction, style: Style, mut out: impl Write) -> io::Result<()> {
    write_spelt_out(reduction, Json::new(&mut out, style))
}

fn write_spelt_out(reduction: &Reduction, json: Json<'_>) -> io::Result<()> {
    let trace = &reduction.trace;
    let mut writer = StateWriter { trace, json, lists: Lists::spelt_out(trace) };
    writer.json.open(b'{');
    writer.state(&reduction.diagnostics)?;
    writer.json.finish()
}

/// Writes the graph of a reduction in the compact form, without white space.
///
/// # Errors
///
/// Returns an error if `out` returns one.
pub fn write_compact(reduction: &Reduction, mut out: impl Write) -> io::Result<()> {
    write_shared(reduction, Json::new(&mut out, Style::Compact))
}

fn write_shared(reduction: &Reduction, json: Json<'_>) -> io::Result<()> {
    let trace = &reduction.trace;
    let mut writer = StateWriter { trace, json, lists: Lists::Shared(SharedLines::new(trace)) };
    writer.json.open(b'{');
    writer.number(expand::VERSION_MEMBER, expand::VERSION);
    writer.item_lines()?;
    writer.state(&reduction.diagnostics)?;
    writer.json.finish()
}

/// Returns an object's id in `state.json`, and the object's JSON without white space.
///
/// # Errors
///
/// Never returns an error in practice, because it writes to memory.
pub fn object(trace: &Trace, object: Object) -> io::Result<(String, String)> {
    let mut written = Vec::new();
    let mut writer = StateWriter { trace, json: Json::new(&mut written, Style::Compact), lists: Lists::One };
    let text = |symbol: Symbol| trace.text(symbol).to_owned();
    let id = match object {
        Object::Thread(index) => text(trace.threads[index].id),
        Object::Turn(index) => text(trace.turns[index].id),
        Object::Item(index) => format!("conversation_item:{}", index.index() + 1),
        Object::Inference(index) => text(trace.inferences[index].id),
        Object::Cell(index) => text(trace.cells[index].id),
        Object::Tool(index) => text(trace.tools[index].id),
        Object::Session(index) => text(trace.sessions[index].id),
        Object::Operation(index) => format!("terminal_operation:{}", index.index() + 1),
        Object::Compaction(index) => text(trace.compactions[index].id),
        Object::CompactionRequest(index) => text(trace.compaction_requests[index].id),
        Object::Edge(index) => text(trace.edges[index].id),
        Object::Payload(index) => text(trace.payloads[index].id),
    };
    match object {
        Object::Thread(index) => writer.thread(&id, index),
        Object::Turn(index) => writer.turn(&id, index),
        Object::Item(index) => writer.item(&id, index),
        Object::Inference(index) => writer.inference(&id, index),
        Object::Cell(index) => writer.cell(&id, index),
        Object::Tool(index) => writer.tool(&id, index),
        Object::Session(index) => writer.session(&id, index),
        Object::Operation(index) => writer.operation(&id, index),
        Object::Compaction(index) => writer.compaction(&id, index),
        Object::CompactionRequest(index) => writer.compaction_request(&id, index),
        Object::Edge(index) => writer.edge(&id, index),
        Object::Payload(index) => writer.payload(&id, index),
    }
    writer.json.finish()?;
    Ok((id, String::from_utf8(written).map_err(io::Error::other)?))
}

struct StateWriter<'t, 'o> {
    trace: &'t Trace,
    json: Json<'o>,
    lists: Lists<'t>,
}

/// How item lists are written.
enum Lists<'t> {
    /// Item by item. For each line of items: its text as elements of an array, with the end of each element.
    SpeltOut(Vec<Option<Box<LineText>>>),
    /// Item by item, for one object, which uses no more than a part of a line.
    One,
    /// As ranges of lines.
    Shared(SharedLines<'t>),
}

impl Lists<'_> {
    fn spelt_out(trace: &Trace) -> Self {
        Self::SpeltOut(vec![None; trace.lists.line_count()])
    }

    fn next_line(&mut self) -> Option<Vec<Element>> {
        match self {
            Self::SpeltOut(_) | Self::One => None,
            Self::Shared(lines) => lines.next_line(),
        }
    }

    fn take_text(&mut self, list: ItemList) -> Option<Box<LineText>> {
        match self {
            Self::SpeltOut(texts) => texts[list.line as usize].take(),
            Self::One | Self::Shared(_) => None,
        }
    }

    fn keep_text(&mut self, list: ItemList, text: Box<LineText>) {
        if let Self::SpeltOut(texts) = self {
            texts[list.line as usize] = Some(text);
        }
    }
}

#[derive(Clone)]
struct LineText {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Writes an object with the fields that the block writes.
macro_rules! object {
    ($writer:ident, $body:block) => {{
        $writer.json.open(b'{');
        $body
        $writer.json.close(b'}');
    }};
}

impl StateWriter<'_, '_> {
    fn is_v1(&self) -> bool {
        self.trace.schema_version < SchemaVersion::V2
    }

    fn state(&mut self, diagnostics: &Diagnostics) -> io::Result<()> {
        let trace = self.trace;
        self.number("schema_version", trace.schema_version);
        self.symbol("trace_id", trace.trace_id);
        self.symbol("rollout_id", trace.rollout_id);
        self.number("started_at_unix_ms", trace.started_at_unix_ms);
        self.optional_number("ended_at_unix_ms", trace.ended.map(|ended| ended.unix_ms));
        self.text("status", trace.status.as_str());
        if !self.is_v1() {
            self.json.name("recording_complete");
            self.json.literal(if trace.recording_complete { "true" } else { "false" });
        }
        self.symbol("root_thread_id", trace.root_thread_id);

        self.map("threads", sorted(&trace.threads, |_, thread| trace.text(thread.id)), Self::thread)?;
        self.map("codex_turns", sorted(&trace.turns, |_, turn| trace.text(turn.id)), Self::turn)?;
        self.map("conversation_items", numbered(&trace.items, "conversation_item"), Self::item)?;
        self.map("inference_calls", sorted(&trace.inferences, |_, call| trace.text(call.id)), Self::inference)?;
        self.map("code_cells", sorted(&trace.cells, |_, cell| trace.text(cell.id)), Self::cell)?;
        self.map("tool_calls", sorted(&trace.tools, |_, tool| trace.text(tool.id)), Self::tool)?;
        let mut sessions = sorted(&trace.sessions, |_, session| trace.text(session.id));
        sessions.retain(|(_, session)| !trace.sessions[*session].dissolved);
        self.map("terminal_sessions", sessions, Self::session)?;
        self.map("terminal_operations", numbered(&trace.operations, "terminal_operation"), Self::operation)?;
        self.map(
            "compactions",
            sorted(&trace.compactions, |_, compaction| trace.text(compaction.id)),
            Self::compaction,
        )?;
        let requests = sorted(&trace.compaction_requests, |_, request| trace.text(request.id));
        self.map("compaction_requests", requests, Self::compaction_request)?;
        self.map("interaction_edges", sorted(&trace.edges, |_, edge| trace.text(edge.id)), Self::edge)?;
        self.map("raw_payloads", sorted(&trace.payloads, |_, payload| trace.text(payload.id)), Self::payload)?;
        if diagnostics.is_damaged() {
            self.diagnostics(diagnostics);
        }
        self.json.close(b'}');
        Ok(())
    }

    fn map<K: AsRef<str>, I>(
        &mut self,
        name: &str,
        entries: Vec<(K, I)>,
        write: fn(&mut Self, &str, I),
    ) -> io::Result<()> {
        self.json.name(name);
        self.json.open(b'{');
        for (key, index) in entries {
            self.json.key(key.as_ref());
            write(self, key.as_ref(), index);
            self.json.flush_if_full()?;
        }
        self.json.close(b'}');
        Ok(())
    }

    fn thread(&mut self, id: &str, index: crate::model::ThreadIdx) {
        let thread = &self.trace.threads[index];
        object!(self, {
            self.text("thread_id", id);
            self.symbol("agent_path", thread.agent_path);
            self.optional_symbol("nickname", thread.nickname);
            self.json.name("origin");
            object!(self, {
                match &thread.origin {
                    Origin::Root => self.text("type", "root"),
                    Origin::Spawned { parent_thread_id, spawn_edge_id, task_name, agent_role } => {
                        self.text("type", "spawned");
                        self.symbol("parent_thread_id", *parent_thread_id);
                        self.symbol("spawn_edge_id", *spawn_edge_id);
                        self.symbol("task_name", *task_name);
                        self.symbol("agent_role", *agent_role);
                    }
                }
            });
            self.window("execution", &thread.execution);
            self.optional_symbol("default_model", thread.default_model);
            self.items("conversation_item_ids", &thread.items);
        });
    }

    fn turn(&mut self, id: &str, index: crate::model::TurnIdx) {
        let turn = &self.trace.turns[index];
        object!(self, {
            self.text("codex_turn_id", id);
            self.symbol("thread_id", self.trace.threads[turn.thread].id);
            self.window("execution", &turn.execution);
            self.items("input_item_ids", &[]);
        });
    }

    fn item(&mut self, id: &str, index: ItemIdx) {
        let item = &self.trace.items[index];
        let is_v1 = self.is_v1();
        object!(self, {
            self.text("item_id", id);
            if let Some(id) = item.responses_item_id.filter(|_| !is_v1) {
                self.symbol("responses_item_id", id);
            }
            if let Some(accepted) = item.accepted.filter(|_| !is_v1) {
                self.number("accepted_at_unix_ms", accepted.unix_ms);
                self.number("accepted_seq", accepted.seq);
            }
            self.symbol("thread_id", self.trace.threads[item.thread].id);
            self.optional_symbol("codex_turn_id", item.codex_turn_id);
            self.number("first_seen_at_unix_ms", item.first_seen.unix_ms);
            self.text("role", item.role.as_str());
            self.optional_text("channel", item.channel.map(crate::model::Channel::as_str));
            self.text("kind", item.kind.as_str());
            if let Some((author, recipient)) = item.agent_message {
                self.json.name("agent_message");
                object!(self, {
                    self.symbol("author", author);
                    self.symbol("recipient", recipient);
                });
            }
            self.json.name("body");
            object!(self, {
                self.json.name("parts");
                self.json.open(b'[');
                for part in &*item.parts {
                    self.json.element();
                    self.part(item, part);
                }
                self.json.close(b']');
            });
            self.optional_symbol("call_id", item.call_id);
            self.json.name("produced_by");
            self.json.open(b'[');
            for producer in &item.produced_by {
                self.json.element();
                object!(self, {
                    match producer {
                        Producer::Inference(call) => {
                            self.text("type", "inference");
                            self.symbol("inference_call_id", self.trace.inferences[*call].id);
                        }
                        Producer::Tool(tool) => {
                            self.text("type", "tool");
                            self.symbol("tool_call_id", self.trace.tools[*tool].id);
                        }
                        Producer::Cell(cell) => {
                            self.text("type", "code_cell");
                            self.symbol("code_cell_id", self.trace.cells[*cell].id);
                        }
                        Producer::Compaction(compaction) => {
                            self.text("type", "compaction");
                            self.symbol("compaction_id", self.trace.compactions[*compaction].id);
                        }
                    }
                });
            }
            self.json.close(b']');
        });
    }

    fn part(&mut self, item: &ConversationItem, part: &Part) {
        object!(self, {
            match part {
                Part::Text(text) => {
                    self.text("type", "text");
                    self.text("text", text);
                }
                Part::Summary(text) => {
                    self.text("type", "summary");
                    self.text("text", text);
                }
                Part::Encoded { label, value } => {
                    self.text("type", "encoded");
                    self.text("label", label);
                    self.text("value", value);
                }
                Part::Json { summary } => {
                    self.text("type", "json");
                    self.text("summary", summary);
                    self.optional_symbol("raw_payload_id", item.payload_id);
                }
                Part::Code { language, source } => {
                    self.text("type", "code");
                    self.text("language", language);
                    self.text("source", source);
                }
                Part::PayloadRef { label, content_sha256 } => {
                    self.text("type", "payload_ref");
                    self.text("label", label);
                    self.optional_symbol("raw_payload_id", item.payload_id);
                    if let Some(hash) = content_sha256 {
                        self.text("content_sha256", hash);
                    }
                }
            }
        });
    }

    fn inference(&mut self, id: &str, index: crate::model::InferenceIdx) {
        let call = &self.trace.inferences[index];
        object!(self, {
            self.text("inference_call_id", id);
            self.symbol("thread_id", self.trace.threads[call.thread].id);
            self.symbol("codex_turn_id", self.trace.turns[call.turn].id);
            self.window("execution", &call.execution);
            self.symbol("model", call.model);
            self.symbol("provider_name", call.provider_name);
            self.optional_symbol("response_id", call.response_id);
            self.optional_symbol("upstream_request_id", call.upstream_request_id);
            self.item_list("request_item_ids", call.request_items);
            self.items("response_item_ids", &call.response_items);
            self.symbols(
                "tool_call_ids_started_by_response",
                call.tools_started.iter().map(|tool| self.trace.tools[*tool].id),
            );
            self.json.name("usage");
            match &call.usage {
                None => self.json.literal("null"),
                Some(usage) => object!(self, {
                    self.number("input_tokens", usage.input_tokens);
                    self.number("cached_input_tokens", usage.cached_input_tokens);
                    self.number("cache_write_input_tokens", usage.cache_write_input_tokens);
                    self.number("output_tokens", usage.output_tokens);
                    self.number("reasoning_output_tokens", usage.reasoning_output_tokens);
                }),
            }
            self.symbol("raw_request_payload_id", call.request_payload_id);
            self.optional_symbol("raw_response_payload_id", call.response_payload_id);
        });
    }

    fn cell(&mut self, id: &str, index: crate::model::CellIdx) {
        let cell = &self.trace.cells[index];
        let is_v1 = self.is_v1();
        object!(self, {
            self.text("code_cell_id", id);
            self.symbol("model_visible_call_id", cell.model_visible_call_id);
            self.symbol("thread_id", self.trace.threads[cell.thread].id);
            self.symbol("codex_turn_id", self.trace.turns[cell.turn].id);
            self.item_id("source_item_id", cell.source_item);
            self.items("output_item_ids", &cell.output_items);
            self.optional_symbol("runtime_cell_id", cell.runtime_cell_id);
            self.window("execution", &cell.execution);
            self.text("runtime_status", cell.runtime_status.as_str());
            self.optional_number("initial_response_at_unix_ms", cell.initial_response.map(|at| at.unix_ms));
            self.optional_number("initial_response_seq", cell.initial_response.map(|at| at.seq));
            if !is_v1 {
                let status = cell.initial_response_status.map(crate::model::CellStatus::as_str);
                self.optional_text("initial_response_status", status);
                self.optional_symbol("raw_initial_response_payload_id", cell.initial_response_payload_id);
                self.optional_symbol("raw_result_payload_id", cell.result_payload_id);
            }
            self.optional_number("yielded_at_unix_ms", cell.yielded.map(|at| at.unix_ms));
            self.optional_number("yielded_seq", cell.yielded.map(|at| at.seq));
            self.text("source_js", &cell.source_js);
            self.symbols("nested_tool_call_ids", cell.nested_tools.iter().map(|tool| self.trace.tools[*tool].id));
            self.symbols("wait_tool_call_ids", cell.wait_tools.iter().map(|tool| self.trace.tools[*tool].id));
        });
    }

    fn tool(&mut self, id: &str, index: crate::model::ToolIdx) {
        let tool = &self.trace.tools[index];
        let is_v1 = self.is_v1();
        object!(self, {
            self.text("tool_call_id", id);
            self.optional_symbol("mcp_call_id", tool.mcp_call_id);
            self.optional_symbol("model_visible_call_id", tool.model_visible_call_id);
            self.optional_symbol("code_mode_runtime_tool_id", tool.code_mode_runtime_tool_id);
            if let Some(cell) = tool.started_code_cell.filter(|_| !is_v1) {
                self.symbol("started_code_cell_id", self.trace.cells[cell].id);
            }
            self.symbol("thread_id", self.trace.threads[tool.thread].id);
            self.optional_symbol("started_by_codex_turn_id", tool.turn.map(|turn| self.trace.turns[turn].id));
            self.window("execution", &tool.execution);
            self.json.name("requester");
            object!(self, {
                match tool.requester {
                    Requester::Model => self.text("type", "model"),
                    Requester::CodeCell(cell) => {
                        self.text("type", "code_cell");
                        self.symbol("code_cell_id", cell);
                    }
                }
            });
            self.json.name("kind");
            object!(self, {
                self.text("type", tool.kind.as_str());
                match tool.kind {
                    ToolKind::Mcp { server, tool } => {
                        self.symbol("server", server);
                        self.symbol("tool", tool);
                    }
                    ToolKind::Other { name } => self.symbol("name", name),
                    _ => {}
                }
            });
            self.items("model_visible_call_item_ids", &tool.call_items);
            self.items("model_visible_output_item_ids", &tool.output_items);
            self.operation_id("terminal_operation_id", tool.operation);
            self.summary(&tool.summary);
            self.optional_symbol("raw_invocation_payload_id", tool.invocation_payload_id);
            self.optional_symbol("raw_result_payload_id", tool.result_payload_id);
            self.symbols("raw_runtime_payload_ids", tool.runtime_payload_ids.iter().copied());
        });
    }

    fn summary(&mut self, summary: &ToolSummary) {
        self.json.name("summary");
        object!(self, {
            match summary {
                ToolSummary::Terminal { operation_id } => {
                    self.text("type", "terminal");
                    self.symbol("operation_id", *operation_id);
                }
                ToolSummary::Agent { target_agent_path, task_name, message_preview } => {
                    self.text("type", "agent");
                    self.symbol("target_agent_path", *target_agent_path);
                    self.optional_symbol("task_name", *task_name);
                    self.text("message_preview", message_preview);
                }
                ToolSummary::WaitAgent { target_agent_path, timeout_ms } => {
                    self.text("type", "wait_agent");
                    self.optional_symbol("target_agent_path", *target_agent_path);
                    self.optional_number("timeout_ms", *timeout_ms);
                }
                ToolSummary::Generic { label, input_preview, output_preview } => {
                    self.text("type", "generic");
                    self.symbol("label", *label);
                    self.optional_text("input_preview", input_preview.as_deref());
                    self.optional_text("output_preview", output_preview.as_deref());
                }
            }
        });
    }

    fn session(&mut self, id: &str, index: crate::model::SessionIdx) {
        let session = &self.trace.sessions[index];
        object!(self, {
            self.text("terminal_id", id);
            self.symbol("thread_id", self.trace.threads[session.thread].id);
            self.operation_id("created_by_operation_id", Some(session.created_by));
            self.json.name("operation_ids");
            self.json.open(b'[');
            for operation in &session.operations {
                self.json.element();
                self.operation_name(*operation);
            }
            self.json.close(b']');
            self.window("execution", &Window::running(session.started));
        });
    }

    fn operation(&mut self, id: &str, index: OperationIdx) {
        let operation = &self.trace.operations[index];
        let tool = &self.trace.tools[operation.tool];
        object!(self, {
            self.text("operation_id", id);
            self.optional_symbol("terminal_id", operation.session.map(|session| self.trace.sessions[session].id));
            self.symbol("tool_call_id", tool.id);
            match &operation.request {
                TerminalRequest::ExecCommand { .. } => self.text("kind", "exec_command"),
                TerminalRequest::WriteStdin { .. } => self.text("kind", "write_stdin"),
            }
            self.window("execution", &operation.execution);
            self.json.name("request");
            object!(self, {
                match &operation.request {
                    TerminalRequest::ExecCommand { command, cwd } => {
                        self.text("type", "exec_command");
                        self.json.name("command");
                        self.json.open(b'[');
                        for word in command {
                            self.json.element();
                            self.json.string(word);
                        }
                        self.json.close(b']');
                        self.text("display_command", &command.join(" "));
                        self.text("cwd", cwd);
                        self.optional_number::<u64>("yield_time_ms", None);
                        self.optional_number::<u64>("max_output_tokens", None);
                    }
                    TerminalRequest::WriteStdin { stdin, yield_time_ms, max_output_tokens } => {
                        self.text("type", "write_stdin");
                        self.text("stdin", stdin);
                        self.optional_number("yield_time_ms", *yield_time_ms);
                        self.optional_number("max_output_tokens", *max_output_tokens);
                    }
                }
            });
            self.json.name("result");
            match &operation.result {
                None => self.json.literal("null"),
                Some(result) => object!(self, {
                    self.optional_number("exit_code", result.exit_code);
                    self.text("stdout", &result.stdout);
                    self.text("stderr", &result.stderr);
                    self.optional_text("formatted_output", result.formatted_output.as_deref());
                    self.optional_number("original_token_count", result.original_token_count);
                    self.optional_text("chunk_id", result.chunk_id.as_deref());
                }),
            }
            self.json.name("model_observations");
            self.json.open(b'[');
            if operation.observed {
                self.json.element();
                object!(self, {
                    self.items("call_item_ids", &tool.call_items);
                    self.items("output_item_ids", &tool.output_items);
                    self.text("source", "direct_tool_call");
                });
            }
            self.json.close(b']');
            self.symbols("raw_payload_ids", operation.payload_ids.iter().copied());
        });
    }

    fn compaction(&mut self, id: &str, index: crate::model::CompactionIdx) {
        let compaction = &self.trace.compactions[index];
        object!(self, {
            self.text("compaction_id", id);
            self.symbol("thread_id", self.trace.threads[compaction.thread].id);
            self.symbol("codex_turn_id", self.trace.turns[compaction.turn].id);
            self.number("installed_at_unix_ms", compaction.installed.unix_ms);
            self.item_id("marker_item_id", compaction.marker_item);
            let requests = compaction.requests.iter().map(|request| self.trace.compaction_requests[*request].id);
            self.symbols("request_ids", requests);
            self.history("input_item_ids", &compaction.input_items);
            self.history("replacement_item_ids", &compaction.replacement_items);
        });
    }

    fn compaction_request(&mut self, id: &str, index: crate::model::CompactionRequestIdx) {
        let request = &self.trace.compaction_requests[index];
        object!(self, {
            self.text("compaction_request_id", id);
            self.symbol("compaction_id", request.compaction_id);
            self.symbol("thread_id", self.trace.threads[request.thread].id);
            self.symbol("codex_turn_id", self.trace.turns[request.turn].id);
            self.window("execution", &request.execution);
            self.symbol("model", request.model);
            self.symbol("provider_name", request.provider_name);
            self.symbol("raw_request_payload_id", request.request_payload_id);
            self.optional_symbol("raw_response_payload_id", request.response_payload_id);
        });
    }

    fn edge(&mut self, id: &str, index: crate::model::EdgeIdx) {
        let edge = &self.trace.edges[index];
        object!(self, {
            self.text("edge_id", id);
            self.text("kind", edge.kind.as_str());
            self.anchor("source", edge.source);
            self.anchor("target", edge.target);
            self.number("started_at_unix_ms", edge.started_at_unix_ms);
            self.optional_number("ended_at_unix_ms", edge.ended_at_unix_ms);
            self.items("carried_item_ids", &edge.carried_items);
            self.symbols("carried_raw_payload_ids", edge.carried_payload_ids.iter().copied());
        });
    }

    fn anchor(&mut self, name: &str, anchor: Anchor) {
        self.json.name(name);
        object!(self, {
            match anchor {
                Anchor::Item(item) => {
                    self.text("type", "conversation_item");
                    self.item_id("item_id", item);
                }
                Anchor::Tool(tool) => {
                    self.text("type", "tool_call");
                    self.symbol("tool_call_id", self.trace.tools[tool].id);
                }
                Anchor::Thread(thread) => {
                    self.text("type", "thread");
                    self.symbol("thread_id", self.trace.threads[thread].id);
                }
            }
        });
    }

    fn payload(&mut self, id: &str, index: crate::model::PayloadIdx) {
        let payload = &self.trace.payloads[index];
        object!(self, {
            self.text("raw_payload_id", id);
            self.json.name("kind");
            object!(self, {
                self.symbol("type", payload.kind);
            });
            self.symbol("path", payload.path);
        });
    }

    fn diagnostics(&mut self, diagnostics: &Diagnostics) {
        self.json.name("diagnostics");
        self.json.open(b'[');
        for diagnostic in diagnostics {
            self.json.element();
            object!(self, {
                self.text("code", diagnostic.code.as_str());
                self.text("severity", diagnostic.severity().as_str());
                if let Some(seq) = diagnostic.seq {
                    self.number("seq", seq);
                }
                if let Some(line) = diagnostic.line {
                    self.number("line", line);
                }
                if let Some(payload) = &diagnostic.payload_id {
                    self.text("raw_payload_id", payload);
                }
                self.text("message", &diagnostic.message);
            });
        }
        for (code, count) in diagnostics.left_out() {
            self.json.element();
            object!(self, {
                self.text("code", code.as_str());
                self.text("severity", Severity::as_str(code.severity()));
                self.text("message", &format!("{count} more of this kind are left out"));
            });
        }
        self.json.close(b']');
    }

    fn text(&mut self, key: &str, value: &str) {
        self.json.name(key);
        self.json.string(value);
    }

    fn optional_text(&mut self, key: &str, value: Option<&str>) {
        self.json.name(key);
        match value {
            Some(value) => self.json.string(value),
            None => self.json.literal("null"),
        }
    }

    fn symbol(&mut self, key: &str, value: Symbol) {
        self.text(key, &self.trace.symbols[value]);
    }

    fn optional_symbol(&mut self, key: &str, value: Option<Symbol>) {
        self.optional_text(key, value.map(|value| &self.trace.symbols[value]));
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.json.name(key);
        self.json.number(value);
    }

    fn optional_number<N: std::fmt::Display>(&mut self, key: &str, value: Option<N>) {
        self.json.name(key);
        match value {
            Some(value) => self.json.number(value),
            None => self.json.literal("null"),
        }
    }

    fn symbols(&mut self, key: &str, values: impl Iterator<Item = Symbol>) {
        self.json.name(key);
        self.json.open(b'[');
        for value in values {
            self.json.element();
            self.json.string(&self.trace.symbols[value]);
        }
        self.json.close(b']');
    }

    fn item_id(&mut self, key: &str, item: ItemIdx) {
        self.json.name(key);
        self.item_name(item);
    }

    fn item_name(&mut self, item: ItemIdx) {
        self.json.literal("\"conversation_item:");
        self.json.number(item.index() + 1);
        self.json.literal("\"");
    }

    fn operation_id(&mut self, key: &str, operation: Option<OperationIdx>) {
        self.json.name(key);
        match operation {
            Some(operation) => self.operation_name(operation),
            None => self.json.literal("null"),
        }
    }

    fn operation_name(&mut self, operation: OperationIdx) {
        self.json.literal("\"terminal_operation:");
        self.json.number(operation.index() + 1);
        self.json.literal("\"");
    }

    fn items(&mut self, key: &str, items: &[ItemIdx]) {
        self.json.name(key);
        self.json.open(b'[');
        for item in items {
            self.json.element();
            self.item_name(*item);
        }
        self.json.close(b']');
    }

    /// Writes the lines of the compact form.
    fn item_lines(&mut self) -> io::Result<()> {
        self.json.name(expand::LINES_MEMBER);
        self.json.open(b'[');
        while let Some(elements) = self.lists.next_line() {
            self.json.element();
            self.elements(&elements);
            self.json.flush_if_full()?;
        }
        self.json.close(b']');
        Ok(())
    }

    /// Writes the items of a history that was copied and is no list of the graph.
    fn history(&mut self, key: &str, items: &[ItemIdx]) {
        match &self.lists {
            Lists::SpeltOut(_) | Lists::One => self.items(key, items),
            Lists::Shared(lines) => {
                let elements = lines.elements(items);
                self.json.name(key);
                self.elements(&elements);
            }
        }
    }

    /// Writes a list: as a prefix of the text of its line, or as a range of it.
    fn item_list(&mut self, key: &str, list: ItemList) {
        match &self.lists {
            Lists::SpeltOut(_) => {}
            Lists::One => return self.items(key, self.trace.lists.get(list)),
            Lists::Shared(lines) => {
                let range = lines.range(list);
                self.json.name(key);
                return self.elements(range.as_slice());
            }
        }
        self.json.name(key);
        self.json.open(b'[');
        if !list.is_empty() {
            let text = match self.lists.take_text(list) {
                Some(text) => text,
                None => Box::new(self.line_text(list)),
            };
            self.json.buffer.extend_from_slice(&text.text[..text.ends[list.len() - 1]]);
            self.json.is_first = false;
            self.lists.keep_text(list, text);
        }
        self.json.close(b']');
    }

    fn elements(&mut self, elements: &[Element]) {
        self.json.open(b'[');
        for element in elements {
            self.json.element();
            match *element {
                Element::Item(item) => self.item_name(item),
                Element::Range { line, start, end } => object!(self, {
                    self.number("line", line);
                    if start > 0 {
                        self.number("start", start);
                    }
                    self.number("end", end);
                }),
            }
        }
        self.json.close(b']');
    }

    fn line_text(&mut self, list: ItemList) -> LineText {
        let start = self.json.buffer.len();
        let mut ends = Vec::new();
        for item in self.trace.lists.line(list.line) {
            self.json.element();
            self.item_name(*item);
            ends.push(self.json.buffer.len() - start);
        }
        LineText { text: self.json.buffer.split_off(start), ends }
    }

    fn window(&mut self, key: &str, window: &Window) {
        self.json.name(key);
        object!(self, {
            self.number("started_at_unix_ms", window.started.unix_ms);
            self.number("started_seq", window.started.seq);
            self.optional_number("ended_at_unix_ms", window.ended.map(|ended: Moment| ended.unix_ms));
            self.optional_number("ended_seq", window.ended.map(|ended: Moment| ended.seq));
            self.text("status", window.status.as_str());
        });
    }
}

/// Returns the objects of an arena with their ids, sorted by id.
fn sorted<'a, I: Handle, T>(
    arena: &'a crate::model::Arena<I, T>,
    id: impl Fn(I, &'a T) -> &'a str,
) -> Vec<(&'a str, I)> {
    let mut entries: Vec<(&str, I)> = arena.iter().map(|(index, object)| (id(index, object), index)).collect();
    entries.sort_unstable_by_key(|(id, _)| *id);
    entries
}

/// Returns the objects of an arena with ids made of `name` and a number from 1, sorted by id as text.
fn numbered<I: Handle, T>(arena: &crate::model::Arena<I, T>, name: &str) -> Vec<(String, I)> {
    let mut entries: Vec<(String, I)> =
        arena.handles().map(|index| (format!("{name}:{}", index.index() + 1), index)).collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    entries
}
