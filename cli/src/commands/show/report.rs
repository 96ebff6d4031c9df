//! The overview of a session, as the object that `--json` writes.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use trace_recorder::format::{ImportNote, ImportRecord};
use trace_reducer::model::{
    EdgeKind, ExecutionStatus, Handle, InferenceCall, Origin, RolloutStatus, SchemaVersion, Symbol, ThreadIdx,
    ToolCall, ToolKind, Trace, Usage, Window,
};
use trace_reducer::{Diagnostics, Severity};

use super::attention::{self, Attention};
use crate::ui::diagnostics::count_of;
use trace_explain::audit::{FindingCounts, audit_beside};
use trace_explain::label::tool_name;
use trace_explain::outcome::failed_exit_code;

/// Version of the object. It is increased if a field changes its meaning.
const FORMAT: u32 = 1;

/// The object of `trace show --json`.
#[derive(Debug, Serialize)]
pub(super) struct Report<'t> {
    format: u32,
    pub(super) bundle: String,
    pub(super) session: Session<'t>,
    /// What needs attention, worst first.
    pub(super) attention: Vec<Attention<'t>>,
    /// How many findings an audit has of each severity. `None` if the session is too large to audit it beside.
    pub(super) findings: Option<FindingCounts>,
    diagnostics: DiagnosticsReport<'t>,
    /// The threads. Parents come before their children, and children are in the order in which they began.
    pub(super) threads: Vec<ThreadReport<'t>>,
    /// The tools, most used first.
    pub(super) tools: Vec<ToolReport>,
    pub(super) edges: Vec<EdgeReport>,
    /// Where the session comes from, if another agent stored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) import: Option<ImportReport<'t>>,
}

/// Where an imported session comes from, and what its files do not tell.
#[derive(Debug, Serialize)]
pub(super) struct ImportReport<'t> {
    pub(super) format: &'t str,
    pub(super) agent_version: Option<&'t str>,
    pub(super) sources: Vec<&'t str>,
    pub(super) notes: &'t [ImportNote],
}

impl<'t> ImportReport<'t> {
    fn new(record: &'t ImportRecord) -> Self {
        Self {
            format: &record.format,
            agent_version: record.agent_version.as_deref(),
            sources: record.sources.iter().map(|source| source.path.as_str()).collect(),
            notes: &record.notes,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Session<'t> {
    pub(super) schema_version: SchemaVersion,
    trace_id: &'t str,
    pub(super) rollout_id: &'t str,
    root_thread_id: &'t str,
    pub(super) status: RolloutStatus,
    /// Whether the recorder closed the log. `None` for schema 1, which does not record it.
    pub(super) recording_complete: Option<bool>,
    pub(super) started_at_unix_ms: i64,
    pub(super) ended_at_unix_ms: Option<i64>,
    /// The latest time in the graph.
    pub(super) last_activity_unix_ms: i64,
    pub(super) duration_ms: Option<i64>,
    pub(super) tokens: Tokens,
    pub(super) models: Vec<ModelReport<'t>>,
    pub(super) counts: Counts,
}

#[derive(Debug, Serialize)]
pub(super) struct Counts {
    pub(super) threads: u64,
    pub(super) turns: u64,
    pub(super) conversation_items: u64,
    pub(super) inference_calls: u64,
    pub(super) tool_calls: u64,
    pub(super) code_cells: u64,
    pub(super) terminal_sessions: u64,
    pub(super) compactions: u64,
    pub(super) interaction_edges: u64,
    pub(super) raw_payloads: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ModelReport<'t> {
    pub(super) model: &'t str,
    pub(super) provider_name: &'t str,
    pub(super) inference_calls: u64,
    pub(super) tokens: Tokens,
}

/// Sums of tokens. The numbers of a bundle are not trusted, so the sums saturate.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) cached_input: u64,
    pub(super) output: u64,
    pub(super) reasoning_output: u64,
}

impl Tokens {
    fn add(&mut self, usage: Option<Usage>) {
        let usage = usage.unwrap_or_default();
        self.input = self.input.saturating_add(usage.input_tokens);
        self.cached_input = self.cached_input.saturating_add(usage.cached_input_tokens);
        self.output = self.output.saturating_add(usage.output_tokens);
        self.reasoning_output = self.reasoning_output.saturating_add(usage.reasoning_output_tokens);
    }
}

#[derive(Debug, Serialize)]
struct DiagnosticsReport<'t> {
    errors: u64,
    warnings: u64,
    notes: u64,
    list: Vec<DiagnosticReport<'t>>,
}

#[derive(Debug, Serialize)]
struct DiagnosticReport<'t> {
    code: &'static str,
    severity: &'static str,
    seq: Option<u64>,
    line: Option<u64>,
    raw_payload_id: Option<&'t str>,
    message: &'t str,
}

/// A thread, with sums over its objects.
#[derive(Debug, Serialize)]
pub(super) struct ThreadReport<'t> {
    thread_id: &'t str,
    parent_thread_id: Option<&'t str>,
    /// Number of threads above it.
    pub(super) depth: usize,
    /// Whether it is the last child of its parent.
    #[serde(skip)]
    pub(super) is_last: bool,
    pub(super) agent_path: &'t str,
    pub(super) nickname: Option<&'t str>,
    agent_role: Option<&'t str>,
    pub(super) model: Option<&'t str>,
    pub(super) status: ExecutionStatus,
    started_at_unix_ms: i64,
    ended_at_unix_ms: Option<i64>,
    pub(super) duration_ms: Option<i64>,
    pub(super) turns: u64,
    pub(super) inference_calls: u64,
    pub(super) inference_calls_failed: u64,
    pub(super) tool_calls: u64,
    pub(super) tool_calls_failed: u64,
    conversation_items: u64,
    pub(super) tokens: Tokens,
}

/// Sums over the calls of a tool.
#[derive(Debug, Serialize)]
pub(super) struct ToolReport {
    pub(super) tool: String,
    pub(super) calls: u64,
    /// The number of calls that failed, or whose command had a nonzero exit code.
    pub(super) failed: u64,
    /// The number of calls that did not end.
    pub(super) unfinished: u64,
    /// Total duration of the calls that ended.
    pub(super) duration_ms: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct EdgeReport {
    pub(super) kind: &'static str,
    pub(super) count: u64,
}

impl<'t> Report<'t> {
    pub(super) fn new(bundle: &Path, asked: &'t trace_explain::Session) -> Self {
        let (trace, diagnostics) = (asked.trace(), asked.diagnostics());
        Self {
            format: FORMAT,
            bundle: bundle.to_string_lossy().into_owned(),
            session: session(trace),
            attention: attention::find(trace, diagnostics),
            findings: audit_beside(asked).map(|audit| FindingCounts::of(&audit.findings)),
            diagnostics: diagnostics_report(diagnostics),
            threads: threads(trace),
            tools: tools(trace),
            edges: edges(trace),
            import: asked.bundle().import().map(ImportReport::new),
        }
    }
}

fn session(trace: &Trace) -> Session<'_> {
    let last_activity_unix_ms = last_activity(trace);
    Session {
        schema_version: trace.schema_version,
        trace_id: trace.text(trace.trace_id),
        rollout_id: trace.text(trace.rollout_id),
        root_thread_id: trace.text(trace.root_thread_id),
        status: trace.status,
        recording_complete: (trace.schema_version >= SchemaVersion::V2).then_some(trace.recording_complete),
        started_at_unix_ms: trace.started_at_unix_ms,
        ended_at_unix_ms: trace.ended.map(|ended| ended.unix_ms),
        last_activity_unix_ms,
        duration_ms: trace.ended.map(|end| end.unix_ms.saturating_sub(trace.started_at_unix_ms)),
        tokens: sum_tokens(trace.inferences.values()),
        models: models(trace),
        counts: Counts {
            threads: trace.threads.len() as u64,
            turns: trace.turns.len() as u64,
            conversation_items: trace.items.len() as u64,
            inference_calls: trace.inferences.len() as u64,
            tool_calls: trace.tools.len() as u64,
            code_cells: trace.cells.len() as u64,
            terminal_sessions: trace.sessions.values().filter(|session| !session.dissolved).count() as u64,
            compactions: trace.compactions.len() as u64,
            interaction_edges: trace.edges.len() as u64,
            raw_payloads: trace.payloads.len() as u64,
        },
    }
}

fn last_activity(trace: &Trace) -> i64 {
    let windows = trace
        .threads
        .values()
        .map(|thread| &thread.execution)
        .chain(trace.turns.values().map(|turn| &turn.execution))
        .chain(trace.inferences.values().map(|call| &call.execution))
        .chain(trace.tools.values().map(|tool| &tool.execution));
    let moments = windows.map(|window| window.ended.unwrap_or(window.started).unix_ms);
    moments
        .chain(trace.ended.map(|ended| ended.unix_ms))
        .chain([trace.started_at_unix_ms])
        .max()
        .unwrap_or(trace.started_at_unix_ms)
}

fn sum_tokens<'c>(calls: impl Iterator<Item = &'c InferenceCall>) -> Tokens {
    let mut tokens = Tokens::default();
    for call in calls {
        tokens.add(call.usage);
    }
    tokens
}

fn models(trace: &Trace) -> Vec<ModelReport<'_>> {
    let mut models: Vec<ModelReport<'_>> = Vec::new();
    let mut index: HashMap<(Symbol, Symbol), usize> = HashMap::new();
    for call in trace.inferences.values() {
        let at = *index.entry((call.model, call.provider_name)).or_insert_with(|| {
            models.push(ModelReport {
                model: trace.text(call.model),
                provider_name: trace.text(call.provider_name),
                inference_calls: 0,
                tokens: Tokens::default(),
            });
            models.len() - 1
        });
        models[at].inference_calls += 1;
        models[at].tokens.add(call.usage);
    }
    models.sort_by_key(|model| std::cmp::Reverse(model.inference_calls));
    models
}

fn diagnostics_report(diagnostics: &Diagnostics) -> DiagnosticsReport<'_> {
    DiagnosticsReport {
        errors: count_of(diagnostics, Severity::Error),
        warnings: count_of(diagnostics, Severity::Warning),
        notes: count_of(diagnostics, Severity::Note),
        list: diagnostics
            .iter()
            .map(|diagnostic| DiagnosticReport {
                code: diagnostic.code.as_str(),
                severity: diagnostic.severity().as_str(),
                seq: diagnostic.seq,
                line: diagnostic.line,
                raw_payload_id: diagnostic.payload_id.as_deref(),
                message: &diagnostic.message,
            })
            .collect(),
    }
}

/// Returns the threads in depth-first order.
fn threads(trace: &Trace) -> Vec<ThreadReport<'_>> {
    let by_id: HashMap<Symbol, ThreadIdx> = trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
    let mut children: Vec<Vec<ThreadIdx>> = vec![Vec::new(); trace.threads.len()];
    let mut roots = Vec::new();
    for (index, thread) in trace.threads.iter() {
        let parent = match &thread.origin {
            Origin::Root => None,
            Origin::Spawned { parent_thread_id, .. } => by_id.get(parent_thread_id).filter(|parent| **parent != index),
        };
        parent.map_or(&mut roots, |parent| &mut children[parent.index()]).push(index);
    }
    let sums = sums(trace);
    let mut reports: Vec<ThreadReport<'_>> = Vec::with_capacity(trace.threads.len());
    let mut is_placed = vec![false; trace.threads.len()];
    // In a damaged bundle, two threads can have spawned each other. They are not reachable from a root, so each thread
    // is tried as a root.
    for root in roots.into_iter().chain(trace.threads.handles()) {
        let mut pending = vec![(root, 0, true)];
        while let Some((index, depth, is_last)) = pending.pop() {
            if std::mem::replace(&mut is_placed[index.index()], true) {
                continue;
            }
            reports.push(thread_report(trace, index, depth, is_last, &sums[index.index()]));
            let below = std::mem::take(&mut children[index.index()]);
            pending
                .extend(below.iter().enumerate().rev().map(|(at, child)| (*child, depth + 1, at + 1 == below.len())));
        }
    }
    reports
}

/// Sums over the objects of one thread.
#[derive(Clone, Default)]
struct Sums {
    turns: u64,
    inference_calls: u64,
    inference_calls_failed: u64,
    tool_calls: u64,
    tool_calls_failed: u64,
    tokens: Tokens,
}

/// Returns the sums of all threads. Each kind of object is read once for all threads.
fn sums(trace: &Trace) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); trace.threads.len()];
    for turn in trace.turns.values() {
        sums[turn.thread.index()].turns += 1;
    }
    for call in trace.inferences.values() {
        let sums = &mut sums[call.thread.index()];
        sums.inference_calls += 1;
        sums.inference_calls_failed += u64::from(is_failure(call.execution.status));
        sums.tokens.add(call.usage);
    }
    for tool in trace.tools.values() {
        let sums = &mut sums[tool.thread.index()];
        sums.tool_calls += 1;
        sums.tool_calls_failed += u64::from(has_failed(trace, tool));
    }
    sums
}

fn thread_report<'t>(trace: &'t Trace, index: ThreadIdx, depth: usize, is_last: bool, sums: &Sums) -> ThreadReport<'t> {
    let thread = &trace.threads[index];
    let (parent, role) = match &thread.origin {
        Origin::Root => (None, None),
        Origin::Spawned { parent_thread_id, agent_role, .. } => (Some(*parent_thread_id), Some(*agent_role)),
    };
    ThreadReport {
        thread_id: trace.text(thread.id),
        parent_thread_id: parent.map(|parent| trace.text(parent)),
        depth,
        is_last,
        agent_path: trace.text(thread.agent_path),
        nickname: thread.nickname.map(|nickname| trace.text(nickname)),
        agent_role: role.map(|role| trace.text(role)).filter(|role| !role.is_empty()),
        model: thread.default_model.map(|model| trace.text(model)),
        status: thread.execution.status,
        started_at_unix_ms: thread.execution.started.unix_ms,
        ended_at_unix_ms: thread.execution.ended.map(|ended| ended.unix_ms),
        duration_ms: duration(&thread.execution),
        turns: sums.turns,
        inference_calls: sums.inference_calls,
        inference_calls_failed: sums.inference_calls_failed,
        tool_calls: sums.tool_calls,
        tool_calls_failed: sums.tool_calls_failed,
        conversation_items: thread.items.len() as u64,
        tokens: sums.tokens,
    }
}

fn tools(trace: &Trace) -> Vec<ToolReport> {
    let mut tools: Vec<ToolReport> = Vec::new();
    let mut index: HashMap<(&str, Option<Symbol>, Option<Symbol>), usize> = HashMap::new();
    for tool in trace.tools.values() {
        let key = match tool.kind {
            ToolKind::Mcp { server, tool } => ("mcp", Some(server), Some(tool)),
            ToolKind::Other { name } => ("other", Some(name), None),
            kind => (kind.as_str(), None, None),
        };
        let at = *index.entry(key).or_insert_with(|| {
            let name = tool_name(trace, tool);
            tools.push(ToolReport { tool: name, calls: 0, failed: 0, unfinished: 0, duration_ms: 0 });
            tools.len() - 1
        });
        let report = &mut tools[at];
        report.calls += 1;
        report.failed += u64::from(has_failed(trace, tool));
        let is_running = tool.execution.status == ExecutionStatus::Running;
        report.unfinished += u64::from(is_running && !has_failed(trace, tool));
        report.duration_ms = report.duration_ms.saturating_add(duration(&tool.execution).unwrap_or(0));
    }
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    tools
}

fn edges(trace: &Trace) -> Vec<EdgeReport> {
    [
        EdgeKind::SpawnAgent,
        EdgeKind::AssignAgentTask,
        EdgeKind::SendMessage,
        EdgeKind::AgentResult,
        EdgeKind::CloseAgent,
    ]
    .into_iter()
    .map(|kind| EdgeReport {
        kind: kind.as_str(),
        count: trace.edges.values().filter(|edge| edge.kind == kind).count() as u64,
    })
    .filter(|report| report.count > 0)
    .collect()
}

fn has_failed(trace: &Trace, tool: &ToolCall) -> bool {
    is_failure(tool.execution.status) || failed_exit_code(trace, tool.operation).is_some()
}

/// Returns whether an operation failed, was cancelled or was aborted.
fn is_failure(status: ExecutionStatus) -> bool {
    !matches!(status, ExecutionStatus::Completed | ExecutionStatus::Running)
}

fn duration(window: &Window) -> Option<i64> {
    window.ended.map(|ended| ended.unix_ms.saturating_sub(window.started.unix_ms))
}
