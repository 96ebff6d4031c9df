//! The source of a session's rows: the session, and values that are computed once if a column needs them.

use std::cell::OnceCell;
use std::collections::HashMap;

use trace_explain::audit::{Audit, JudgedClaim, Ledger, Options, audit_ledger};
use trace_explain::clock::Clock;
use trace_explain::costs::{AgentCosts, CallCost, Costs, Pricing};
use trace_explain::family::Family;
use trace_explain::prices::Prices;
use trace_explain::{Session, Sightings};
use trace_recorder::log::{Line, parse_lines};
use trace_reducer::model::{
    Handle, InferenceIdx, ItemIdx, Moment, Origin, PayloadIdx, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx, Window,
};

use crate::cell::Resolve;
use crate::events::EventRow;
use crate::targets::Targets;

/// Number of lines of the log that are parsed together. This limits the memory for a long log.
const BATCH_LINES: usize = 1 << 14;

/// A session with its id in the database.
pub(crate) struct Source<'a> {
    bundle_id: &'a str,
    pub(crate) session: &'a Session,
    pub(crate) trace: &'a Trace,
    prices: Option<&'a Prices>,
    pricing: OnceCell<Pricing<'a>>,
    family: OnceCell<Family>,
    clock: OnceCell<Clock>,
    costs: OnceCell<Vec<AgentCosts>>,
    targets: OnceCell<Targets>,
    sightings: OnceCell<Sightings>,
    first_seen_by: OnceCell<Vec<Option<InferenceIdx>>>,
    new_items: OnceCell<Vec<u32>>,
    seen_counts: OnceCell<Vec<u32>>,
    positions: OnceCell<Vec<Option<u32>>>,
    requested_by: OnceCell<Vec<Option<InferenceIdx>>>,
    calls_of_threads: OnceCell<Vec<Vec<InferenceIdx>>>,
    counts: OnceCell<Counts>,
    payload_seqs: OnceCell<HashMap<Box<str>, u64>>,
    payload_bytes: OnceCell<HashMap<String, u64>>,
    threads: OnceCell<HashMap<Symbol, ThreadIdx>>,
    answers: OnceCell<HashMap<Symbol, usize>>,
    ledger: OnceCell<Ledger<'a>>,
    audit: OnceCell<(Audit, Vec<JudgedClaim>)>,
}

/// Numbers of turns and calls, per thread and per turn.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    turns_of_threads: Vec<u32>,
    inferences_of_threads: Vec<u32>,
    inferences_of_turns: Vec<u32>,
    tools_of_threads: Vec<u32>,
    tools_of_turns: Vec<u32>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bundle_id: &'a str, session: &'a Session, prices: Option<&'a Prices>) -> Self {
        Self {
            bundle_id,
            session,
            trace: session.trace(),
            prices,
            pricing: OnceCell::new(),
            family: OnceCell::new(),
            clock: OnceCell::new(),
            costs: OnceCell::new(),
            targets: OnceCell::new(),
            sightings: OnceCell::new(),
            first_seen_by: OnceCell::new(),
            new_items: OnceCell::new(),
            seen_counts: OnceCell::new(),
            positions: OnceCell::new(),
            requested_by: OnceCell::new(),
            calls_of_threads: OnceCell::new(),
            counts: OnceCell::new(),
            payload_seqs: OnceCell::new(),
            payload_bytes: OnceCell::new(),
            threads: OnceCell::new(),
            answers: OnceCell::new(),
            ledger: OnceCell::new(),
            audit: OnceCell::new(),
        }
    }

    pub(crate) fn bundle_id(&self) -> &str {
        self.bundle_id
    }

    /// Returns the text of a symbol, or of an optional symbol.
    pub(crate) fn text<S: Resolve>(&self, symbol: S) -> S::Text<'_> {
        symbol.resolve(&self.trace.symbols)
    }

    pub(crate) fn thread_id(&self, thread: ThreadIdx) -> &str {
        self.text(self.trace.threads[thread].id)
    }

    pub(crate) fn agent_path(&self, thread: ThreadIdx) -> &str {
        self.text(self.trace.threads[thread].agent_path)
    }

    pub(crate) fn turn_id(&self, turn: TurnIdx) -> &str {
        self.text(self.trace.turns[turn].id)
    }

    pub(crate) fn inference_id(&self, inference: InferenceIdx) -> &str {
        self.text(self.trace.inferences[inference].id)
    }

    /// Returns the id of the thread that spawned a thread. That thread need not be in the trace.
    pub(crate) fn parent_id(&self, thread: ThreadIdx) -> Option<&str> {
        match self.trace.threads[thread].origin {
            Origin::Root => None,
            Origin::Spawned { parent_thread_id, .. } => Some(self.text(parent_thread_id)),
        }
    }

    /// Returns the number of threads above a thread.
    pub(crate) fn depth(&self, thread: ThreadIdx) -> usize {
        self.family().depth(thread)
    }

    fn family(&self) -> &Family {
        self.family.get_or_init(|| Family::new(self.trace))
    }

    fn clock(&self) -> &Clock {
        self.clock.get_or_init(|| Clock::new(self.trace))
    }

    /// Returns the time of an event in milliseconds since the start of the session. Times never decrease; see
    /// [`Clock`].
    pub(crate) fn at(&self, seq: u64) -> u64 {
        self.clock().at(seq)
    }

    /// Returns how long something took, in milliseconds, or `None` if it did not end.
    pub(crate) fn duration(&self, window: &Window) -> Option<u64> {
        self.clock().duration(window)
    }

    /// Returns the costs of the agents; a parent comes before its children.
    pub(crate) fn agent_costs(&self) -> &[AgentCosts] {
        self.costs.get_or_init(|| Costs::with(self.trace, self.prices, self.clock(), self.family()).agents)
    }

    /// Returns what the log shows of the agents that calls address, and of the timeouts of waits.
    pub(crate) fn targets(&self) -> &Targets {
        self.targets.get_or_init(|| Targets::new(self.trace))
    }

    /// Returns the first inference call whose request contains an item.
    pub(crate) fn first_seen_by(&self, item: ItemIdx) -> Option<InferenceIdx> {
        self.first()[item.index()]
    }

    fn sightings(&self) -> &Sightings {
        self.sightings.get_or_init(|| Sightings::new(self.trace))
    }

    fn first(&self) -> &[Option<InferenceIdx>] {
        self.first_seen_by.get_or_init(|| self.sightings().first(self.trace))
    }

    /// Returns the number of items that the request of an inference call is the first to contain.
    pub(crate) fn new_items(&self, inference: InferenceIdx) -> u32 {
        self.new_items.get_or_init(|| {
            let mut counts = vec![0; self.trace.inferences.len()];
            for inference in self.first().iter().flatten() {
                counts[inference.index()] += 1;
            }
            counts
        })[inference.index()]
    }

    /// Returns the number of inference calls whose requests contain an item.
    pub(crate) fn seen_count(&self, item: ItemIdx) -> u32 {
        self.seen_counts.get_or_init(|| self.sightings().counts())[item.index()]
    }

    /// Returns the index of an item among those of its thread, or `None` if it is not one of them.
    pub(crate) fn position(&self, item: ItemIdx) -> Option<u32> {
        self.positions.get_or_init(|| {
            let mut positions = vec![None; self.trace.items.len()];
            for thread in self.trace.threads.values() {
                for (position, item) in (0..).zip(&thread.items) {
                    positions[item.index()] = Some(position);
                }
            }
            positions
        })[item.index()]
    }

    /// Returns the inference call whose response contains a tool call.
    pub(crate) fn requested_by(&self, tool: ToolIdx) -> Option<InferenceIdx> {
        self.requested_by.get_or_init(|| {
            let mut requested_by = vec![None; self.trace.tools.len()];
            for (inference, call) in self.trace.inferences.iter() {
                for tool in &call.tools_started {
                    requested_by[tool.index()].get_or_insert(inference);
                }
            }
            requested_by
        })[tool.index()]
    }

    /// Returns two inference calls of a thread with token counts: the last that began before `at`, and the first after
    /// it.
    pub(crate) fn calls_around(&self, thread: ThreadIdx, at: Moment) -> (Option<InferenceIdx>, Option<InferenceIdx>) {
        let calls = self.calls_of_threads.get_or_init(|| {
            let mut calls = vec![Vec::new(); self.trace.threads.len()];
            for (inference, call) in self.trace.inferences.iter().filter(|(_, call)| call.usage.is_some()) {
                calls[call.thread.index()].push(inference);
            }
            for calls in &mut calls {
                calls.sort_by_key(|call: &InferenceIdx| self.trace.inferences[*call].execution.started);
            }
            calls
        });
        let calls = &calls[thread.index()];
        let after = calls.partition_point(|call| self.trace.inferences[*call].execution.started < at);
        (after.checked_sub(1).map(|before| calls[before]), calls.get(after).copied())
    }

    fn counts(&self) -> &Counts {
        self.counts.get_or_init(|| {
            let trace = self.trace;
            let mut counts = Counts {
                turns_of_threads: vec![0; trace.threads.len()],
                inferences_of_threads: vec![0; trace.threads.len()],
                inferences_of_turns: vec![0; trace.turns.len()],
                tools_of_threads: vec![0; trace.threads.len()],
                tools_of_turns: vec![0; trace.turns.len()],
            };
            for turn in trace.turns.values() {
                counts.turns_of_threads[turn.thread.index()] += 1;
            }
            for call in trace.inferences.values() {
                counts.inferences_of_threads[call.thread.index()] += 1;
                counts.inferences_of_turns[call.turn.index()] += 1;
            }
            for tool in trace.tools.values() {
                counts.tools_of_threads[tool.thread.index()] += 1;
                if let Some(turn) = tool.turn {
                    counts.tools_of_turns[turn.index()] += 1;
                }
            }
            counts
        })
    }

    pub(crate) fn turns_of(&self, thread: ThreadIdx) -> u32 {
        self.counts().turns_of_threads[thread.index()]
    }

    pub(crate) fn inferences_of(&self, thread: ThreadIdx) -> u32 {
        self.counts().inferences_of_threads[thread.index()]
    }

    pub(crate) fn tools_of(&self, thread: ThreadIdx) -> u32 {
        self.counts().tools_of_threads[thread.index()]
    }

    pub(crate) fn inferences_of_turn(&self, turn: TurnIdx) -> u32 {
        self.counts().inferences_of_turns[turn.index()]
    }

    pub(crate) fn tools_of_turn(&self, turn: TurnIdx) -> u32 {
        self.counts().tools_of_turns[turn.index()]
    }

    /// Returns the thread with this id, if there is one.
    pub(crate) fn thread_with_id(&self, id: Symbol) -> Option<ThreadIdx> {
        let by_id = self.threads.get_or_init(|| threads_by_id(self.trace));
        by_id.get(&id).copied()
    }

    /// Returns the text of the answer that an edge carried.
    pub(crate) fn answer(&self, edge: Symbol) -> Option<&str> {
        let answers = self.answers.get_or_init(|| {
            self.trace.agent_results.iter().enumerate().map(|(index, answer)| (answer.edge_id, index)).collect()
        });
        answers.get(&edge).map(|index| &*self.trace.agent_results[*index].message)
    }

    /// Returns what an audit knows of the session.
    pub(crate) fn ledger(&self) -> &Ledger<'a> {
        self.ledger.get_or_init(|| Ledger::new(self.session))
    }

    /// Returns what an audit tells of the session.
    pub(crate) fn audit(&self) -> &(Audit, Vec<JudgedClaim>) {
        self.audit.get_or_init(|| audit_ledger(self.ledger(), Options::default()))
    }

    /// Returns the cost of an inference call; `None` without a price table, without token counts or without a price.
    pub(crate) fn money(&self, inference: InferenceIdx) -> Option<f64> {
        let pricing = self.pricing.get_or_init(|| Pricing::new(self.trace, self.prices));
        match pricing.of(&self.trace.inferences[inference]) {
            CallCost::Known(money) => Some(money.to_f64()),
            CallCost::NotAsked | CallCost::NoUsage | CallCost::Unpriced => None,
        }
    }

    /// Returns the currency of the price table.
    pub(crate) fn currency(&self) -> Option<&str> {
        self.prices.map(Prices::currency)
    }

    /// Returns the sequence number of the first event that refers to a payload.
    pub(crate) fn payload_seq(&self, payload: PayloadIdx) -> Option<u64> {
        let seqs = self.payload_seqs.get_or_init(|| {
            let mut seqs = HashMap::new();
            self.each_batch(|lines| {
                for line in parse_lines(lines) {
                    let Ok(Some(event)) = line.event else { continue };
                    for payload in event.payload.payload_refs() {
                        let id = payload.raw_payload_id.as_str();
                        if !seqs.contains_key(id) {
                            seqs.insert(id.into(), event.seq);
                        }
                    }
                }
                Ok::<_, std::convert::Infallible>(())
            })
            .unwrap_or_else(|never| match never {});
            seqs
        });
        seqs.get(self.text(self.trace.payloads[payload].id)).copied()
    }

    /// Returns the size of a payload's file in bytes, or `None` if the file is missing.
    pub(crate) fn payload_bytes(&self, payload: PayloadIdx) -> Option<u64> {
        let sizes = self.payload_bytes.get_or_init(|| {
            let files = self.session.bundle().payloads().list_all().unwrap_or_default();
            files.into_iter().map(|file| (file.path, file.bytes)).collect()
        });
        sizes.get(self.text(self.trace.payloads[payload].path)).copied()
    }

    /// Calls `take` with each event of the log, in the order of the lines.
    pub(crate) fn each_event<E>(&self, mut take: impl FnMut(&EventRow) -> Result<(), E>) -> Result<(), E> {
        self.each_batch(|lines| {
            for line in parse_lines(lines) {
                let at = line.line;
                if let Ok(Some(event)) = line.event {
                    take(&EventRow::new(at, &event))?;
                }
            }
            Ok(())
        })
    }

    fn each_batch<E>(&self, mut take: impl FnMut(&[Line<'_>]) -> Result<(), E>) -> Result<(), E> {
        let Ok(log) = self.session.bundle().log() else { return Ok(()) };
        let mut lines = log.lines();
        loop {
            let batch: Vec<Line<'_>> = lines.by_ref().take(BATCH_LINES).collect();
            if batch.is_empty() {
                return Ok(());
            }
            take(&batch)?;
        }
    }

    /// Returns the line of an event.
    pub(crate) fn line(&self, event: &EventRow) -> Option<&str> {
        let log = self.session.bundle().log().ok()?;
        std::str::from_utf8(log.as_bytes().get(event.range.clone())?).ok()
    }
}

fn threads_by_id(trace: &Trace) -> HashMap<Symbol, ThreadIdx> {
    trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect()
}
