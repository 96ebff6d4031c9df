//! What replay knows between two events: the graph so far, and the tables that find things in it.

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

/// Why a strict reduction stops.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub Diagnostic);

/// The outcome of a step: strict reductions stop at the first refusal, others never do.
pub(super) type Step<T = ()> = Result<T, Box<Refusal>>;

/// A normalized item with its strings interned.
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

/// What replay knows of an item beside the graph.
#[derive(Debug, Clone)]
pub(super) struct ItemState {
    /// Key under which equal content is found.
    pub(super) key: u64,
    /// Where the item stands first in a line of lists.
    pub(super) place: ItemList,
    /// The list that was being placed when the item was last used.
    pub(super) used_by: u64,
    /// The tool of the item's call id, once the two are linked.
    pub(super) tool: Option<ToolIdx>,
    /// Inference calls whose response shows the item.
    pub(super) response_of: Vec<InferenceIdx>,
    /// Whether the item ever stood in a request or belongs to a checkpoint.
    pub(super) listed: bool,
    /// Key under which the item is found as a delivery from another agent.
    pub(super) delivery_key: Option<(ThreadIdx, Symbol, u64)>,
    /// Whether an edge ends at the item.
    pub(super) is_edge_target: bool,
    /// Whether seeing the item again can change something.
    pub(super) stale: bool,
}

/// What replay knows of a thread beside the graph.
#[derive(Debug, Clone)]
pub(super) struct ThreadState {
    /// The newest model-visible context.
    pub(super) live: ItemList,
    /// The inference call that owns it.
    pub(super) newest: Option<InferenceIdx>,
    /// The replacement of a checkpoint that no full request has met yet.
    pub(super) installed: Option<ItemList>,
    /// The last full request as it was placed, if the next one may be compared with it.
    pub(super) comparable: Option<ItemList>,
    /// Items that must be linked again when they are seen again.
    pub(super) stale: Vec<ItemIdx>,
}

impl Default for ThreadState {
    fn default() -> Self {
        Self { live: ItemList::EMPTY, newest: None, installed: None, comparable: None, stale: Vec::new() }
    }
}

/// The last request of a thread as it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Writing {
    /// Its items by position; `None` takes no place.
    pub(super) items: Vec<Option<NormIdx>>,
    /// Positions of [`Self::items`] that take no place.
    pub(super) placeless: Vec<u32>,
}

/// What replay knows of a tool call beside the graph.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolState {
    pub(super) invocation: Option<Invocation>,
    /// Process id of the tool's operation, once it is known.
    pub(super) process_id: Option<Symbol>,
    /// Inference calls that showed one of the tool's call items since the two were last linked.
    pub(super) unlinked: Vec<InferenceIdx>,
    /// Edges that come from the tool.
    pub(super) edges: Vec<EdgeIdx>,
}

/// A code cell whose call was not seen yet.
#[derive(Debug, Clone)]
pub(super) struct QueuedCell {
    pub(super) id: Symbol,
    /// The thread, which need not exist before the call is seen.
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

/// A hand-over whose arrival was not seen yet.
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
    /// Thread that the edge ends at when no item shows the arrival.
    pub(super) fallback: Option<Symbol>,
    pub(super) seq: u64,
}

/// How the last reference to a payload id turned out.
#[derive(Debug, Clone)]
pub(super) struct PayloadState {
    pub(super) problem: Option<(Code, Box<str>)>,
    pub(super) seq: u64,
    /// Whether the problem was reported by the event that needed the payload.
    pub(super) reported: bool,
}

/// Where and when the present event happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) at: Moment,
    pub(super) thread: Option<Symbol>,
    pub(super) turn: Option<Symbol>,
}

/// The ordered half of a reduction.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(super) trace: Trace,
    pub(super) strict: bool,
    pub(super) diagnostics: Diagnostics,
    pub(super) norms: Vec<Norm>,
    pub(super) items: Arena<ItemIdx, ItemState>,
    pub(super) threads: Arena<ThreadIdx, ThreadState>,
    /// By thread id: what a request adds is told by the log whether or not its thread is known yet.
    pub(super) writings: Table<Symbol, Writing>,
    pub(super) tools: Arena<ToolIdx, ToolState>,
    pub(super) payloads: Arena<PayloadIdx, PayloadState>,
    /// Lines of lists in which [`ItemState::place`] need not be an item's first place.
    pub(super) unordered_lines: hashbrown::HashSet<u32, FixedState>,
    /// Keys of the odd items that were told of.
    pub(super) told_items: hashbrown::HashSet<u64, FixedState>,
    /// Counts placed lists; see [`ItemState::used_by`].
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
    /// Per thread id, the cell of each runtime id.
    pub(super) cells_by_runtime_id: Table<Symbol, Table<Symbol, Symbol>>,
    pub(super) queued_cells: Vec<QueuedCell>,
    /// Whether an item was created since that can be the source of a queued cell.
    pub(super) has_new_code: bool,
    /// Events of cells that do not exist yet, by the cell's id.
    pub(super) queued_cell_events: Table<Symbol, Vec<CellEvent>>,
    pub(super) tools_by_cell: Table<Symbol, Vec<ToolIdx>>,
    pub(super) tools_by_invocation: Table<Symbol, Vec<ToolIdx>>,
    /// Which inference calls were told which tools they started.
    pub(super) told_starts: hashbrown::HashSet<(InferenceIdx, ToolIdx), FixedState>,
    /// Per thread, the newest session of each process id.
    pub(super) latest_sessions: Table<ThreadIdx, Table<Symbol, Symbol>>,
    pub(super) requests_by_compaction: Table<Symbol, Vec<CompactionRequestIdx>>,
    pub(super) pending: Vec<Option<Delivery>>,
    pub(super) pending_count: usize,
    pub(super) pending_by_edge: Table<Symbol, usize>,
    pub(super) pending_by_text: Table<(Symbol, Symbol, u64), Vec<usize>>,
    pub(super) pending_by_tool: Table<ToolIdx, Vec<usize>>,
    /// Agent paths that activities name, for threads that nothing declares.
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

    /// Says whether the bundle follows the rules of schema 1.
    pub(super) fn is_v1(&self) -> bool {
        self.trace.schema_version < SchemaVersion::V2
    }

    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        self.trace.symbols.intern(text)
    }

    /// Takes note of something that the peer refuses, or refuses it too.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Step {
        if self.strict {
            return Err(Box::new(Refusal(diagnostic)));
        }
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    /// Takes note of something at the present event; see [`Self::report`].
    pub(super) fn odd(&mut self, context: Context, code: Code, message: impl Into<Box<str>>) -> Step {
        self.report(Diagnostic::new(code, message).at_seq(context.at.seq))
    }

    /// Takes note of a payload that the present event needed.
    pub(super) fn bad_payload(&mut self, context: Context, payload: Symbol, problem: &PayloadProblem) -> Step {
        if let Some(index) = self.payloads_by_id.get(&payload) {
            self.payloads[*index].reported = true;
        }
        let (code, message) = describe_problem(problem);
        let payload: Box<str> = self.trace.text(payload).into();
        self.report(Diagnostic::new(code, message).at_seq(context.at.seq).of_payload(payload))
    }

    /// Returns the thread, or one that stands in for a thread that no event declares.
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

    /// Tells from an agent's path which thread spawned it.
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

    /// Returns the turn, or one that stands in for a turn that no event declares. Takes note of a turn that belongs to
    /// another thread.
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

    /// Takes a normalized item into the arena of items that replay knows.
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

    /// Takes note of items that the rules do not know.
    pub(super) fn check_items(&mut self, context: Context, payload: Symbol, norms: &[NormIdx]) -> Step {
        for norm in norms {
            let Norm { problem, key, .. } = self.norms[*norm as usize];
            // Every request repeats what the one before had; it is told once.
            if let Some(problem) = problem.filter(|_| self.told_items.insert(key)) {
                let payload: Box<str> = self.trace.text(payload).into();
                let diagnostic = Diagnostic::new(Code::ItemUnknown, problem.to_string());
                self.report(diagnostic.at_seq(context.at.seq).of_payload(payload))?;
            }
        }
        Ok(())
    }

    /// Says that items have to be linked again when they are seen again.
    pub(super) fn mark_stale(&mut self, item: ItemIdx) {
        if !std::mem::replace(&mut self.items[item].stale, true) {
            let thread = self.trace.items[item].thread;
            self.threads[thread].stale.push(item);
        }
    }
}

/// Returns the code and the sentence of a payload problem.
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

/// A status of a later release still says that something ended.
pub(super) fn known_rollout_status(status: RolloutStatus) -> RolloutStatus {
    if status == RolloutStatus::Unknown { RolloutStatus::Aborted } else { status }
}

/// A status of a later release still says that something ended.
pub(super) fn known_status(status: ExecutionStatus) -> ExecutionStatus {
    if status == ExecutionStatus::Unknown { ExecutionStatus::Aborted } else { status }
}

/// Returns the value that an operation's handle stands for in generated ids.
pub(super) fn operation_number(operation: OperationIdx) -> usize {
    operation.index() + 1
}

/// Orders items as the texts of their ids do.
pub(super) fn item_id_order(item: ItemIdx) -> String {
    (item.index() + 1).to_string()
}

/// Appends unless it is there already.
pub(super) fn push_unique<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

/// Returns the value of a JSON payload that was read for an event.
pub(super) fn as_json(ingested: crate::ingest::Ingested) -> Option<Value> {
    match ingested {
        crate::ingest::Ingested::Json(value) => Some(value),
        _ => None,
    }
}
