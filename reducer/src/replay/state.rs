//! State of replay between two events: the graph so far, and the indexes into it.

use std::sync::Arc;

use foldhash::fast::FixedState;
use trace_recorder::format::Manifest;

use super::chains::Chains;
use super::draft::{Draft, Step, Table};
use super::edges::Edges;
use super::shapes::Invocation;
use super::terminals::Terminals;
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::{ItemProblem, Normalized, RunItem};
use crate::model::{
    Arena, CellIdx, CellStatus, Channel, CompactionIdx, CompactionRequestIdx, Handle, InferenceIdx, ItemIdx, ItemKind,
    ItemList, Moment, Part, Role, SchemaVersion, Symbol, ThreadIdx, ToolIdx, TurnIdx,
};

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

/// A normalized item in [`Replay::norms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NormIdx(u32);

impl NormIdx {
    /// Returns the index of an item of the run whose first item this is.
    pub(super) fn in_run(self, item: RunItem) -> Self {
        Self(self.0 + item.0)
    }
}

impl Handle for NormIdx {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("an arena holds fewer than 2^32 objects"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

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
    /// Inference calls whose response contained a call item of the tool, and that were not linked since.
    pub(super) unlinked: Vec<InferenceIdx>,
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

/// The second half of a reduction.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(super) draft: Draft,
    pub(super) terminals: Terminals,
    pub(super) edges: Edges,
    pub(super) norms: Arena<NormIdx, Norm>,
    pub(super) items: Arena<ItemIdx, ItemState>,
    pub(super) threads: Table<ThreadIdx, ThreadState>,
    /// By thread id, because a request refers to the request before even if its thread is not known yet.
    pub(super) writings: Table<Symbol, Writing>,
    pub(super) tools: Arena<ToolIdx, ToolState>,
    /// Lines of lists in which [`ItemState::place`] may not be the first position of an item.
    pub(super) unordered_lines: hashbrown::HashSet<u32, FixedState>,
    /// Keys of the invalid items that were reported.
    pub(super) told_items: hashbrown::HashSet<u64, FixedState>,
    /// Number of lists that were placed; see [`ItemState::used_by`].
    pub(super) lists_placed: u64,

    pub(super) inferences_by_id: Table<Symbol, InferenceIdx>,
    pub(super) tools_by_id: Table<Symbol, ToolIdx>,
    pub(super) tools_by_call: Table<Symbol, ToolIdx>,
    pub(super) cells_by_id: Table<Symbol, CellIdx>,
    pub(super) compactions_by_id: Table<Symbol, CompactionIdx>,
    pub(super) compaction_requests_by_id: Table<Symbol, CompactionRequestIdx>,

    pub(super) items_by_key: Chains<(ThreadIdx, u64)>,
    pub(super) items_by_responses_id: Chains<(ThreadIdx, Symbol)>,
    pub(super) items_by_call: Chains<(ThreadIdx, Symbol)>,
    pub(super) items_by_call_anywhere: Chains<Symbol>,
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
    pub(super) requests_by_compaction: Table<Symbol, Vec<CompactionRequestIdx>>,
}

impl Replay {
    pub(crate) fn new(schema: SchemaVersion, manifest: &Manifest, strict: bool) -> Self {
        Self {
            draft: Draft::new(schema, manifest, strict),
            terminals: Terminals::default(),
            edges: Edges::default(),
            norms: Arena::new(),
            items: Arena::new(),
            threads: Table::default(),
            writings: Table::default(),
            tools: Arena::new(),
            unordered_lines: hashbrown::HashSet::default(),
            told_items: hashbrown::HashSet::default(),
            lists_placed: 0,
            inferences_by_id: Table::default(),
            tools_by_id: Table::default(),
            tools_by_call: Table::default(),
            cells_by_id: Table::default(),
            compactions_by_id: Table::default(),
            compaction_requests_by_id: Table::default(),
            items_by_key: Chains::default(),
            items_by_responses_id: Chains::default(),
            items_by_call: Chains::default(),
            items_by_call_anywhere: Chains::default(),
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
            requests_by_compaction: Table::default(),
        }
    }

    /// Returns what the model of a thread has read.
    pub(super) fn history(&mut self, thread: ThreadIdx) -> &mut ThreadState {
        self.threads.entry(thread).or_default()
    }

    /// Interns the strings of a normalized item and adds it to [`Self::norms`].
    pub(super) fn take_norm(&mut self, normalized: Normalized) -> NormIdx {
        let call_id = normalized.call_id.map(|id| self.draft.intern(&id));
        let responses_item_id = normalized.responses_item_id.map(|id| self.draft.intern(&id));
        let agent_message = normalized
            .agent_message
            .map(|(author, recipient)| (self.draft.intern(&author), self.draft.intern(&recipient)));
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
        })
    }

    /// Reports items of an unknown type or form.
    pub(super) fn check_items(&mut self, payload: Symbol, norms: &[NormIdx]) -> Step {
        for norm in norms {
            let Norm { problem, key, .. } = self.norms[*norm];
            // Every request repeats the items of the request before, so report each item once.
            if let Some(problem) = problem.filter(|_| self.told_items.insert(key)) {
                let payload: Box<str> = self.draft.trace.text(payload).into();
                let diagnostic = Diagnostic::new(Code::ItemUnknown, problem.to_string());
                self.draft.report(diagnostic.at_seq(self.draft.event.at.seq).of_payload(payload))?;
            }
        }
        Ok(())
    }

    /// Marks an item that must be linked again when it is seen again.
    pub(super) fn mark_stale(&mut self, item: ItemIdx) {
        if !std::mem::replace(&mut self.items[item].stale, true) {
            let thread = self.draft.trace.items[item].thread;
            self.history(thread).stale.push(item);
        }
    }
}

/// Returns the sort key for the order of items by the text of their ids.
pub(super) fn item_id_order(item: ItemIdx) -> String {
    (item.index() + 1).to_string()
}
