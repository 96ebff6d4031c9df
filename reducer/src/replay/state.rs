//! State of replay between two events: the graph so far, and the indexes into it.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::Value;

use super::chains::Chains;
use super::shapes::Invocation;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::{ItemProblem, Normalized, PayloadProblem};
use crate::model::{
    Arena, CellIdx, CellStatus, Channel, CompactionIdx, CompactionRequestIdx, EdgeIdx, ExecutionStatus, Handle,
    InferenceIdx, ItemIdx, ItemKind, ItemList, ItemLists, Moment, OperationIdx, Origin, Part, PayloadIdx, Role,
    RolloutStatus, SchemaVersion, SessionIdx, Symbol, Symbols, Thread, ThreadIdx, ToolIdx, Trace, Turn, TurnIdx,
    Window,
};

pub(super) type Table<K, V> = HashMap<K, V, FixedState>;

/// The diagnostic with which a strict reduction ends.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub Diagnostic);

/// Result of a step. A strict reduction ends at the first refusal; a lenient reduction never returns an error.
pub(super) type Step<T = ()> = Result<T, Box<Refusal>>;

/// A normalized item with interned strings.
#[derive(Debug, Clone)]
pub(super) struct Norm {
    pub(super) role: Role,
    pub(super) channel: Option<Channel>,
    pub(super) kind: ItemKind,
    pub(super) call_id: Option<Symbol>,
    pub(super) responses_item_id: Option<Symbol>,
    pub(super) agent_message: Option<(Symbol, Symbol)>,
    pub(super) parts: Arc<[Part]>,
    pub(super) key: u64,
    pub(super) unrepeatable: bool,
    pub(super) problem: Option<ItemProblem>,
}

/// Index into [`Replay::norms`].
pub(super) type NormIdx = u32;

/// State of an item that is not part of the graph.
#[derive(Debug, Clone)]
pub(super) struct ItemState {
    /// Content key: equal items have equal keys.
    pub(super) key: u64,
    /// First position of the item in a line of lists, as the list that ends with the item.
    pub(super) place: ItemList,
    /// Number of the list that last used the item; see [`Replay::lists_placed`].
    pub(super) used_by: u64,
    /// The tool call with the item's call id, once the two are linked.
    pub(super) tool: Option<ToolIdx>,
    /// Inference calls whose response contains the item.
    pub(super) response_of: Vec<InferenceIdx>,
    /// Whether the item was part of a request or of a checkpoint.
    pub(super) listed: bool,
    /// Key of the item in [`Replay::items_by_delivery`]; `None` if it is not indexed there.
    pub(super) delivery_key: Option<(ThreadIdx, Symbol, u64)>,
    /// Whether an edge ends at the item.
    pub(super) is_edge_target: bool,
    /// Whether the item must be linked again when it is seen again.
    pub(super) stale: bool,
}

/// State of a thread that is not part of the graph.
#[derive(Debug, Clone)]
pub(super) struct ThreadState {
    /// The newest context of the model.
    pub(super) live: ItemList,
    /// The inference call that made it.
    pub(super) newest: Option<InferenceIdx>,
    /// The replacement history of a compaction, until the next full request.
    pub(super) installed: Option<ItemList>,
    /// The items of the last full request, if the next request may be compared with it.
    pub(super) comparable: Option<ItemList>,
    /// Items that must be linked again when they are seen again.
    pub(super) stale: Vec<ItemIdx>,
}

impl Default for ThreadState {
    fn default() -> Self {
        Self { live: ItemList::EMPTY, newest: None, installed: None, comparable: None, stale: Vec::new() }
    }
}

/// The last request of a thread, item by item.
#[derive(Debug, Clone, Default)]
pub(super) struct Writing {
    /// The normalized items by position; `None` for an item without a place.
    pub(super) items: Vec<Option<NormIdx>>,
    /// Positions of the items without a place.
    pub(super) placeless: Vec<u32>,
}

/// State of a tool call that is not part of the graph.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolState {
    pub(super) invocation: Option<Invocation>,
    /// Process id of the tool's terminal operation, once it is known.
    pub(super) process_id: Option<Symbol>,
    /// Inference calls whose response contained a call item of the tool, and that were not linked since.
    pub(super) unlinked: Vec<InferenceIdx>,
    /// Edges that start at the tool call.
    pub(super) edges: Vec<EdgeIdx>,
}

/// A code cell whose call has not been seen yet.
#[derive(Debug, Clone)]
pub(super) struct QueuedCell {
    pub(super) id: Symbol,
    /// Id of the thread, which need not exist before the call is seen.
    pub(super) thread: Symbol,
    pub(super) turn: Option<Symbol>,
    pub(super) call_id: Symbol,
    pub(super) runtime_cell_id: Symbol,
    pub(super) started: Moment,
    pub(super) source_js: Box<str>,
}

/// An event of a code cell after its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellEvent {
    pub(super) at: Moment,
    pub(super) runtime_cell_id: Option<Symbol>,
    pub(super) status: CellStatus,
    pub(super) payload_id: Option<Symbol>,
    pub(super) is_end: bool,
}

/// A message, task, result or spawn whose arrival has not been seen yet.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) edge_id: Symbol,
    pub(super) kind: crate::model::EdgeKind,
    pub(super) source: crate::model::Anchor,
    pub(super) target_thread: Symbol,
    pub(super) author: Symbol,
    pub(super) text: Box<str>,
    pub(super) started_at_unix_ms: i64,
    pub(super) ended_at_unix_ms: Option<i64>,
    pub(super) carried: Vec<Symbol>,
    /// Id of the thread where the edge ends if no item shows the arrival. Only spawns have one.
    pub(super) fallback: Option<Symbol>,
    pub(super) seq: u64,
}

/// State of the file that the last reference to a payload id names.
#[derive(Debug, Clone)]
pub(super) struct PayloadState {
    pub(super) problem: Option<(Code, Box<str>)>,
    pub(super) seq: u64,
    /// Whether an event that needed the payload has reported the problem.
    pub(super) reported: bool,
}

/// Time, thread and turn of the current event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) at: Moment,
    pub(super) thread: Option<Symbol>,
    pub(super) turn: Option<Symbol>,
}

/// The second half of a reduction.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(super) trace: Trace,
    pub(super) strict: bool,
    pub(super) diagnostics: Diagnostics,
    pub(super) norms: Vec<Norm>,
    pub(super) items: Arena<ItemIdx, ItemState>,
    pub(super) threads: Arena<ThreadIdx, ThreadState>,
    /// By thread id, because a request refers to the request before even if its thread is not known yet.
    pub(super) writings: Table<Symbol, Writing>,
    pub(super) tools: Arena<ToolIdx, ToolState>,
    pub(super) payloads: Arena<PayloadIdx, PayloadState>,
    /// Lines of lists in which [`ItemState::place`] may not be the first position of an item.
    pub(super) unordered_lines: hashbrown::HashSet<u32, FixedState>,
    /// Keys of the invalid items that were reported.
    pub(super) told_items: hashbrown::HashSet<u64, FixedState>,
    /// Number of lists that were placed; see [`ItemState::used_by`].
    pub(super) lists_placed: u64,

    pub(super) threads_by_id: Table<Symbol, ThreadIdx>,
    pub(super) turns_by_id: Table<Symbol, TurnIdx>,
    pub(super) inferences_by_id: Table<Symbol, InferenceIdx>,
    pub(super) tools_by_id: Table<Symbol, ToolIdx>,
    pub(super) tools_by_call: Table<Symbol, ToolIdx>,
    pub(super) cells_by_id: Table<Symbol, CellIdx>,
    pub(super) sessions_by_id: Table<Symbol, SessionIdx>,
    pub(super) compactions_by_id: Table<Symbol, CompactionIdx>,
    pub(super) compaction_requests_by_id: Table<Symbol, CompactionRequestIdx>,
    pub(super) edges_by_id: Table<Symbol, EdgeIdx>,
    pub(super) payloads_by_id: Table<Symbol, PayloadIdx>,

    pub(super) items_by_key: Chains<(ThreadIdx, u64)>,
    pub(super) items_by_responses_id: Chains<(ThreadIdx, Symbol)>,
    pub(super) items_by_call: Chains<(ThreadIdx, Symbol)>,
    pub(super) items_by_call_anywhere: Chains<Symbol>,
    pub(super) items_by_delivery: Chains<(ThreadIdx, Symbol, u64)>,
    pub(super) answers_by_turn: Table<(ThreadIdx, Option<Symbol>), Vec<ItemIdx>>,
    pub(super) accepted: Table<(ThreadIdx, Symbol), Moment>,
    pub(super) receipts: Table<(ThreadIdx, Symbol), ItemIdx>,
    pub(super) inferences_by_turn: Table<TurnIdx, Vec<InferenceIdx>>,
    pub(super) inferences_by_response: Table<(ThreadIdx, Symbol), Vec<InferenceIdx>>,
    pub(super) cells_by_turn: Table<TurnIdx, Vec<CellIdx>>,
    /// For each thread id, the cells by their id in the runtime.
    pub(super) cells_by_runtime_id: Table<Symbol, Table<Symbol, Symbol>>,
    pub(super) queued_cells: Vec<QueuedCell>,
    /// Whether an item that may be the source of a queued cell was created since the queue was last looked at.
    pub(super) has_new_code: bool,
    /// Events of cells that do not exist yet, by cell id.
    pub(super) queued_cell_events: Table<Symbol, Vec<CellEvent>>,
    pub(super) tools_by_cell: Table<Symbol, Vec<ToolIdx>>,
    pub(super) tools_by_invocation: Table<Symbol, Vec<ToolIdx>>,
    /// Pairs that are already in [`InferenceCall::tools_started`](crate::model::InferenceCall::tools_started).
    pub(super) told_starts: hashbrown::HashSet<(InferenceIdx, ToolIdx), FixedState>,
    /// For each thread, the newest session of each process id.
    pub(super) latest_sessions: Table<ThreadIdx, Table<Symbol, Symbol>>,
    pub(super) requests_by_compaction: Table<Symbol, Vec<CompactionRequestIdx>>,
    pub(super) pending: Vec<Option<Delivery>>,
    pub(super) pending_count: usize,
    pub(super) pending_by_edge: Table<Symbol, usize>,
    pub(super) pending_by_text: Table<(Symbol, Symbol, u64), Vec<usize>>,
    pub(super) pending_by_tool: Table<ToolIdx, Vec<usize>>,
    /// Agent paths that activities name, by thread id, for threads that no event declares.
    pub(super) agent_paths: Table<Symbol, Symbol>,
}

impl Replay {
    pub(crate) fn new(
        schema_version: SchemaVersion,
        trace_id: &str,
        rollout_id: &str,
        root_thread_id: &str,
        started_at_unix_ms: i64,
        strict: bool,
    ) -> Self {
        let mut symbols = Symbols::default();
        let trace = Trace {
            schema_version,
            trace_id: symbols.intern(trace_id),
            rollout_id: symbols.intern(rollout_id),
            root_thread_id: symbols.intern(root_thread_id),
            started_at_unix_ms,
            ended: None,
            run_ends: Vec::new(),
            last_event: None,
            status: RolloutStatus::Running,
            recording_complete: false,
            threads: Arena::new(),
            turns: Arena::new(),
            items: Arena::new(),
            inferences: Arena::new(),
            cells: Arena::new(),
            tools: Arena::new(),
            sessions: Arena::new(),
            operations: Arena::new(),
            compactions: Arena::new(),
            compaction_requests: Arena::new(),
            edges: Arena::new(),
            payloads: Arena::new(),
            protocol_events: Vec::new(),
            undelivered: Vec::new(),
            agent_results: Vec::new(),
            lists: ItemLists::default(),
            symbols,
        };
        Self {
            trace,
            strict,
            diagnostics: Diagnostics::default(),
            norms: Vec::new(),
            items: Arena::new(),
            threads: Arena::new(),
            writings: Table::default(),
            tools: Arena::new(),
            payloads: Arena::new(),
            unordered_lines: hashbrown::HashSet::default(),
            told_items: hashbrown::HashSet::default(),
            lists_placed: 0,
            threads_by_id: Table::default(),
            turns_by_id: Table::default(),
            inferences_by_id: Table::default(),
            tools_by_id: Table::default(),
            tools_by_call: Table::default(),
            cells_by_id: Table::default(),
            sessions_by_id: Table::default(),
            compactions_by_id: Table::default(),
            compaction_requests_by_id: Table::default(),
            edges_by_id: Table::default(),
            payloads_by_id: Table::default(),
            items_by_key: Chains::default(),
            items_by_responses_id: Chains::default(),
            items_by_call: Chains::default(),
            items_by_call_anywhere: Chains::default(),
            items_by_delivery: Chains::default(),
            answers_by_turn: Table::default(),
            accepted: Table::default(),
            receipts: Table::default(),
            inferences_by_turn: Table::default(),
            inferences_by_response: Table::default(),
            cells_by_turn: Table::default(),
            cells_by_runtime_id: Table::default(),
            queued_cells: Vec::new(),
            has_new_code: false,
            queued_cell_events: Table::default(),
            tools_by_cell: Table::default(),
            tools_by_invocation: Table::default(),
            told_starts: hashbrown::HashSet::default(),
            latest_sessions: Table::default(),
            requests_by_compaction: Table::default(),
            pending: Vec::new(),
            pending_count: 0,
            pending_by_edge: Table::default(),
            pending_by_text: Table::default(),
            pending_by_tool: Table::default(),
            agent_paths: Table::default(),
        }
    }

    /// Returns whether the bundle follows the rules of schema 1.
    pub(super) fn is_v1(&self) -> bool {
        self.trace.schema_version < SchemaVersion::V2
    }

    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        self.trace.symbols.intern(text)
    }

    /// Reports something that the peer refuses: records a diagnostic, or returns an error if the reduction is strict.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Step {
        if self.strict {
            return Err(Box::new(Refusal(diagnostic)));
        }
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    /// Reports something at the current event; see [`Self::report`].
    pub(super) fn odd(&mut self, context: Context, code: Code, message: impl Into<Box<str>>) -> Step {
        self.report(Diagnostic::new(code, message).at_seq(context.at.seq))
    }

    /// Reports a problem of a payload that the current event needs.
    pub(super) fn bad_payload(&mut self, context: Context, payload: Symbol, problem: &PayloadProblem) -> Step {
        if let Some(index) = self.payloads_by_id.get(&payload) {
            self.payloads[*index].reported = true;
        }
        let (code, message) = describe_problem(problem);
        let payload: Box<str> = self.trace.text(payload).into();
        self.report(Diagnostic::new(code, message).at_seq(context.at.seq).of_payload(payload))
    }

    /// Returns the thread with this id. If no event declares it, reports that and adds a thread in its place.
    pub(super) fn thread(&mut self, context: Context, id: Symbol) -> Step<ThreadIdx> {
        if let Some(thread) = self.threads_by_id.get(&id) {
            return Ok(*thread);
        }
        let message = format!("thread {} was never started; it is added without its start", self.trace.text(id));
        self.odd(context, Code::ThreadUnknown, message)?;
        Ok(self.imply_thread(context, id))
    }

    /// Adds a thread that no event declares, with what is known of it.
    pub(super) fn imply_thread(&mut self, context: Context, id: Symbol) -> ThreadIdx {
        let path = match self.agent_paths.get(&id) {
            Some(path) => *path,
            None if id == self.trace.root_thread_id => self.intern("/root"),
            None => {
                let path = format!("/unknown/{}", self.trace.text(id));
                self.intern(&path)
            }
        };
        let origin = self.origin_of_path(id, path);
        let thread = Thread {
            id,
            agent_path: path,
            nickname: None,
            origin,
            execution: Window::running(context.at),
            resumed: Vec::new(),
            default_model: None,
            items: Vec::new(),
            implied: true,
        };
        self.add_thread(thread)
    }

    /// Returns the origin of a thread according to its agent path.
    pub(super) fn origin_of_path(&mut self, id: Symbol, path: Symbol) -> Origin {
        let text = self.trace.text(path).to_owned();
        let Some((parent_path, task_name)) = text.rsplit_once('/') else { return Origin::Root };
        let parent = self
            .trace
            .symbols
            .get(parent_path)
            .and_then(|path| self.trace.threads.values().find(|thread| thread.agent_path == path));
        let Some(parent_thread_id) = parent.map(|thread| thread.id) else { return Origin::Root };
        let spawn_edge_id = self.spawn_edge_id(parent_thread_id, id);
        let task_name = self.intern(task_name);
        let agent_role = self.intern("");
        Origin::Spawned { parent_thread_id, spawn_edge_id, task_name, agent_role }
    }

    pub(super) fn spawn_edge_id(&mut self, parent: Symbol, child: Symbol) -> Symbol {
        let id = format!("edge:spawn:{}:{}", self.trace.text(parent), self.trace.text(child));
        self.intern(&id)
    }

    pub(super) fn add_thread(&mut self, thread: Thread) -> ThreadIdx {
        let id = thread.id;
        let index = self.trace.threads.push(thread);
        self.threads.push(ThreadState::default());
        self.threads_by_id.insert(id, index);
        index
    }

    /// Returns the turn with this id. If no event declares it, reports that and adds a turn in its place. Reports a
    /// turn of another thread.
    pub(super) fn turn_of(&mut self, context: Context, thread: ThreadIdx, id: Symbol) -> Step<TurnIdx> {
        let Some(turn) = self.turns_by_id.get(&id).copied() else {
            let message = format!("turn {} was never started; it is added without its start", self.trace.text(id));
            self.odd(context, Code::TurnUnknown, message)?;
            return Ok(self.add_turn(id, thread, context.at));
        };
        if self.trace.turns[turn].thread != thread {
            let message = format!("turn {} belongs to another thread", self.trace.text(id));
            self.odd(context, Code::TurnOfOtherThread, message)?;
        }
        Ok(turn)
    }

    /// Adds a turn that no event has declared yet.
    pub(super) fn add_turn(&mut self, id: Symbol, thread: ThreadIdx, at: Moment) -> TurnIdx {
        let turn = self.trace.turns.push(Turn { id, thread, execution: Window::running(at), implied: true });
        self.turns_by_id.insert(id, turn);
        turn
    }

    /// Interns the strings of a normalized item and adds it to [`Self::norms`].
    pub(super) fn take_norm(&mut self, normalized: Normalized) -> NormIdx {
        let call_id = normalized.call_id.map(|id| self.intern(&id));
        let responses_item_id = normalized.responses_item_id.map(|id| self.intern(&id));
        let agent_message =
            normalized.agent_message.map(|(author, recipient)| (self.intern(&author), self.intern(&recipient)));
        let index = self.norms.len() as NormIdx;
        self.norms.push(Norm {
            role: normalized.role,
            channel: normalized.channel,
            kind: normalized.kind,
            call_id,
            responses_item_id,
            agent_message,
            parts: normalized.parts,
            key: normalized.key,
            unrepeatable: normalized.unrepeatable,
            problem: normalized.problem,
        });
        index
    }

    /// Reports items of an unknown type or form.
    pub(super) fn check_items(&mut self, context: Context, payload: Symbol, norms: &[NormIdx]) -> Step {
        for norm in norms {
            let Norm { problem, key, .. } = self.norms[*norm as usize];
            // Every request repeats the items of the request before, so report each item once.
            if let Some(problem) = problem.filter(|_| self.told_items.insert(key)) {
                let payload: Box<str> = self.trace.text(payload).into();
                let diagnostic = Diagnostic::new(Code::ItemUnknown, problem.to_string());
                self.report(diagnostic.at_seq(context.at.seq).of_payload(payload))?;
            }
        }
        Ok(())
    }

    /// Marks an item that must be linked again when it is seen again.
    pub(super) fn mark_stale(&mut self, item: ItemIdx) {
        if !std::mem::replace(&mut self.items[item].stale, true) {
            let thread = self.trace.items[item].thread;
            self.threads[thread].stale.push(item);
        }
    }
}

/// Returns the code and the message for a payload problem.
pub(super) fn describe_problem(problem: &PayloadProblem) -> (Code, Box<str>) {
    use trace_recorder::payloads::PayloadError;
    match problem {
        PayloadProblem::Missing => (Code::PayloadMissing, "the payload file is missing".into()),
        PayloadProblem::File(PayloadError::OutsideBundle) => {
            (Code::PayloadOutsideBundle, "the payload path leads out of the bundle and is not followed".into())
        }
        problem => (Code::PayloadInvalid, format!("the payload cannot be used: {problem}").into()),
    }
}

/// Returns the status, or `Aborted` for a status of a later release, which still ends the thread or session.
pub(super) fn known_rollout_status(status: RolloutStatus) -> RolloutStatus {
    if status == RolloutStatus::Unknown { RolloutStatus::Aborted } else { status }
}

/// Returns the status, or `Aborted` for a status of a later release, which still ends the object.
pub(super) fn known_status(status: ExecutionStatus) -> ExecutionStatus {
    if status == ExecutionStatus::Unknown { ExecutionStatus::Aborted } else { status }
}

/// Returns the number of an operation in generated ids.
pub(super) fn operation_number(operation: OperationIdx) -> usize {
    operation.index() + 1
}

/// Returns the sort key for the order of items by the text of their ids.
pub(super) fn item_id_order(item: ItemIdx) -> String {
    (item.index() + 1).to_string()
}

/// Appends an entry if the list does not have it.
pub(super) fn push_unique<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

/// Returns the JSON value that ingest read, or `None` if it read something else.
pub(super) fn as_json(ingested: crate::ingest::Ingested) -> Option<Value> {
    match ingested {
        crate::ingest::Ingested::Json(value) => Some(value),
        _ => None,
    }
}
