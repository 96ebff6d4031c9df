//! Costs of a session: calls, time, tokens and money, per agent, turn, model and tool.
//!
//! Times are added call by call: of two calls that ran side by side both count, and a call that a code cell made counts
//! in addition to the call that ran the cell. See [`critical_path`](crate::critical_path) for what determined how long
//! the session took.
//!
//! Token counts are those that the provider reported. The log has none for a call that failed or was cancelled,
//! although its provider may have charged for it, and none for a compaction request. Such calls are counted separately.

mod ranks;
mod sums;

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use trace_reducer::model::{CompactionRequest, Handle, InferenceCall, Symbol, ThreadIdx, ToolCall, Trace, TurnIdx};

use self::ranks::Ranks;
use self::sums::Gathered;
pub use self::sums::{CallCost, Calls, Cost, Times, Tokens};
use crate::clock::Clock;
use crate::family::Family;
use crate::label::tool_name;
use crate::outcome::Outcome;
use crate::prices::{ModelPrices, Prices};

/// Costs of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// Currency of all amounts; `None` without a price table.
    pub currency: Option<String>,
    /// Models that were used but are not in the price table.
    pub unpriced_models: Vec<String>,
    /// The whole session.
    pub total: Sums,
    /// Agents; a parent comes before its children.
    pub agents: Vec<AgentCosts>,
    /// Models, sorted by number of calls, most first.
    pub models: Vec<ModelCosts>,
    /// Tools, sorted by total time, longest first.
    pub tools: Vec<ToolCosts>,
    /// Turns, in the order of the log.
    pub turns: Vec<TurnCosts>,
}

/// Sums over a session or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sums {
    /// Turns.
    pub turns: Calls,
    /// Requests to models.
    pub inference_calls: Calls,
    /// Compaction requests.
    pub compaction_requests: Calls,
    /// Tool calls, including those that code cells made.
    pub tool_calls: Calls,
    /// Tokens.
    pub tokens: Tokens,
    /// Money; `None` without a price table.
    pub cost: Option<Cost>,
}

/// Costs of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCosts {
    /// Id of its thread.
    pub thread_id: String,
    /// Id of the thread that spawned it; `None` if that thread is not in the trace.
    pub parent_thread_id: Option<String>,
    /// Its place in the tree of agents.
    pub agent_path: String,
    /// Name that is shown to users.
    pub nickname: Option<String>,
    /// Number of agents above it in the tree.
    pub depth: usize,
    /// Number of agents below it in the tree.
    pub descendants: u64,
    /// What the agent did itself.
    pub own: Sums,
    /// What the agent and all agents below it did.
    pub subtree: Sums,
}

/// Costs of one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCosts {
    /// Name of the model.
    pub model: String,
    /// Provider of the model.
    pub provider_name: String,
    /// Requests to it.
    pub inference_calls: Calls,
    /// Compaction requests.
    pub compaction_requests: Calls,
    /// Tokens.
    pub tokens: Tokens,
    /// Money; `None` without a price table.
    pub cost: Option<Cost>,
}

/// Costs of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCosts {
    /// Name of the tool.
    pub tool: String,
    /// Its calls.
    pub calls: Calls,
}

/// Costs of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCosts {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Agent path of its thread.
    pub agent_path: String,
    /// Number of the turn within its thread, from 1.
    pub number: u64,
    /// Start of the turn, in milliseconds since the start of the session.
    pub started_ms: u64,
    /// How the turn ended.
    pub outcome: Outcome,
    /// What was done in the turn.
    pub sums: Sums,
}

/// Computes the costs of single calls. Looks up each model only once.
#[derive(Debug)]
pub struct Pricing<'p> {
    models: Option<HashMap<Symbol, ModelPrices<'p>>>,
}

impl<'p> Pricing<'p> {
    /// Looks up the models of a session.
    pub fn new(trace: &Trace, prices: Option<&'p Prices>) -> Self {
        let names: BTreeSet<&str> = trace.inferences.values().map(|call| trace.text(call.model)).collect();
        let models = prices.map(|prices| {
            let symbols = names.into_iter().filter_map(|name| Some((trace.symbols.get(name)?, prices.of_model(name))));
            symbols.collect()
        });
        Self { models }
    }

    /// Returns the cost of an inference call.
    pub fn of(&self, call: &InferenceCall) -> CallCost {
        let Some(models) = &self.models else { return CallCost::NotAsked };
        let Some(usage) = &call.usage else { return CallCost::NoUsage };
        let known = models.get(&call.model).and_then(|model| model.cost(call.execution.started.unix_ms, usage));
        known.map_or(CallCost::Unpriced, CallCost::Known)
    }

    /// Returns the cost of a compaction request, for which the log has no token counts.
    pub fn of_compaction(&self) -> CallCost {
        if self.models.is_some() { CallCost::NoUsage } else { CallCost::NotAsked }
    }
}

impl Costs {
    /// Adds up the costs of a session. Takes time proportional to the graph, plus the sorting of durations.
    pub fn new(trace: &Trace, prices: Option<&Prices>) -> Self {
        Self::with(trace, prices, &Clock::new(trace), &Family::new(trace))
    }

    /// Like [`new`](Self::new), for callers that already have the clock and the tree of agents.
    pub fn with(trace: &Trace, prices: Option<&Prices>, clock: &Clock, family: &Family) -> Self {
        let pricing = Pricing::new(trace, prices);
        let mut sheet = Sheet::new(trace, clock, prices);
        for (turn, of) in trace.turns.iter() {
            sheet.turn(turn, of.thread);
        }
        for call in trace.inferences.values() {
            sheet.inference(call, pricing.of(call));
        }
        for request in trace.compaction_requests.values() {
            sheet.compaction(request, pricing.of_compaction());
        }
        for call in trace.tools.values() {
            sheet.tool(call);
        }
        sheet.finish(family, prices)
    }
}

/// Sums while they are being added up.
#[derive(Debug, Clone, Default)]
struct Account {
    turns: Gathered,
    inference_calls: Gathered,
    compaction_requests: Gathered,
    tool_calls: Gathered,
    tokens: Tokens,
    cost: Option<Cost>,
}

impl Account {
    fn charge(&mut self, cost: CallCost) {
        if let (Some(sum), Some(cost)) = (&mut self.cost, Option::<Cost>::from(cost)) {
            sum.add(&cost);
        }
    }

    fn finish(self) -> Sums {
        Sums {
            turns: self.turns.finish(),
            inference_calls: self.inference_calls.finish(),
            compaction_requests: self.compaction_requests.finish(),
            tool_calls: self.tool_calls.finish(),
            tokens: self.tokens,
            cost: self.cost,
        }
    }
}

impl Sums {
    /// Adds other sums to these.
    pub fn add(&mut self, other: &Self) {
        self.turns.add(&other.turns);
        self.inference_calls.add(&other.inference_calls);
        self.compaction_requests.add(&other.compaction_requests);
        self.tool_calls.add(&other.tool_calls);
        self.tokens.add(&other.tokens);
        if let Some(cost) = &other.cost {
            self.cost.get_or_insert(Cost::NONE).add(cost);
        }
    }
}

/// All sums of a session while they are being added up.
struct Sheet<'t> {
    trace: &'t Trace,
    clock: &'t Clock,
    total: Account,
    threads: Vec<Account>,
    turns: Vec<Account>,
    models: Vec<((Symbol, Symbol), Account)>,
    model_index: HashMap<(Symbol, Symbol), usize>,
    tools: HashMap<String, Gathered>,
    unpriced: BTreeSet<Symbol>,
    empty: Account,
}

impl<'t> Sheet<'t> {
    fn new(trace: &'t Trace, clock: &'t Clock, prices: Option<&Prices>) -> Self {
        let empty = Account { cost: prices.map(|_| Cost::NONE), ..Account::default() };
        Self {
            trace,
            clock,
            total: empty.clone(),
            threads: vec![empty.clone(); trace.threads.len()],
            turns: vec![empty.clone(); trace.turns.len()],
            models: Vec::new(),
            model_index: HashMap::new(),
            tools: HashMap::new(),
            unpriced: BTreeSet::new(),
            empty,
        }
    }

    /// Calls `add` for each account that a call with this thread and turn belongs to.
    fn each(&mut self, thread: ThreadIdx, turn: Option<TurnIdx>, add: impl Fn(&mut Account)) {
        add(&mut self.total);
        add(&mut self.threads[thread.index()]);
        if let Some(turn) = turn {
            add(&mut self.turns[turn.index()]);
        }
    }

    fn model(&mut self, model: Symbol, provider: Symbol) -> &mut Account {
        let models = &mut self.models;
        let empty = &self.empty;
        let index = *self.model_index.entry((model, provider)).or_insert_with(|| {
            models.push(((model, provider), empty.clone()));
            models.len() - 1
        });
        &mut models[index].1
    }

    fn turn(&mut self, turn: TurnIdx, thread: ThreadIdx) {
        let window = &self.trace.turns[turn].execution;
        let (outcome, duration) = (Outcome::of_window(window), self.clock.duration(window));
        self.each(thread, Some(turn), |account| account.turns.add(outcome, duration));
    }

    fn inference(&mut self, call: &InferenceCall, cost: CallCost) {
        let (outcome, duration) = (Outcome::of_window(&call.execution), self.clock.duration(&call.execution));
        let add = |account: &mut Account| {
            account.inference_calls.add(outcome, duration);
            account.tokens.add_call(call.usage.as_ref());
            account.charge(cost);
        };
        self.each(call.thread, Some(call.turn), add);
        add(self.model(call.model, call.provider_name));
        if cost == CallCost::Unpriced {
            self.unpriced.insert(call.model);
        }
    }

    fn compaction(&mut self, request: &CompactionRequest, cost: CallCost) {
        let window = &request.execution;
        let (outcome, duration) = (Outcome::of_window(window), self.clock.duration(window));
        let add = |account: &mut Account| {
            account.compaction_requests.add(outcome, duration);
            account.tokens.add_call(None);
            account.charge(cost);
        };
        self.each(request.thread, Some(request.turn), add);
        add(self.model(request.model, request.provider_name));
    }

    fn tool(&mut self, call: &ToolCall) {
        let outcome = Outcome::of_tool(self.trace, call);
        // A command that was stopped has no end of its own, but its runtime may have one.
        let duration = self.clock.duration(&call.execution).or_else(|| self.clock.duration(call.runtime.as_ref()?));
        self.each(call.thread, call.turn, |account| account.tool_calls.add(outcome, duration));
        self.tools.entry(tool_name(self.trace, call)).or_default().add(outcome, duration);
    }

    fn finish(self, family: &Family, prices: Option<&Prices>) -> Costs {
        let Self { trace, clock, .. } = self;
        let mut unpriced_models: Vec<String> =
            self.unpriced.into_iter().map(|model| trace.text(model).to_owned()).collect();
        unpriced_models.sort_unstable();
        let models = self.models.into_iter().map(|((model, provider), account)| {
            let sums = account.finish();
            ModelCosts {
                model: trace.text(model).to_owned(),
                provider_name: trace.text(provider).to_owned(),
                inference_calls: sums.inference_calls,
                compaction_requests: sums.compaction_requests,
                tokens: sums.tokens,
                cost: sums.cost,
            }
        });
        let mut models: Vec<ModelCosts> = models.collect();
        models.sort_by_key(|model| std::cmp::Reverse(model.inference_calls.count));
        let tools = self.tools.into_iter().map(|(tool, calls)| ToolCosts { tool, calls: calls.finish() });
        let mut tools: Vec<ToolCosts> = tools.collect();
        tools.sort_by(|a, b| (b.calls.time.sum_ms, &a.tool).cmp(&(a.calls.time.sum_ms, &b.tool)));
        Costs {
            currency: prices.map(|prices| prices.currency().to_owned()),
            unpriced_models,
            total: self.total.finish(),
            agents: agents(trace, family, self.threads),
            models,
            tools,
            turns: turns(trace, clock, self.turns),
        }
    }
}

/// Accessors of one kind of calls: in an account, and in the finished sums.
struct CallKind {
    gathered: fn(&Account) -> &Gathered,
    calls: fn(&mut Sums) -> &mut Calls,
}

const KINDS: [CallKind; 4] = [
    CallKind { gathered: |account| &account.turns, calls: |sums| &mut sums.turns },
    CallKind { gathered: |account| &account.inference_calls, calls: |sums| &mut sums.inference_calls },
    CallKind { gathered: |account| &account.compaction_requests, calls: |sums| &mut sums.compaction_requests },
    CallKind { gathered: |account| &account.tool_calls, calls: |sums| &mut sums.tool_calls },
];

/// Durations of the calls of one kind, ordered by agent.
struct Percentiles {
    ranks: Ranks,
    /// Index of the first call of each agent, in the order of the tree, and one entry for the end.
    starts: Vec<usize>,
}

impl Percentiles {
    fn new(family: &Family, accounts: &[Account], gathered: fn(&Account) -> &Gathered) -> Self {
        let (mut values, mut starts) = (Vec::new(), vec![0]);
        for thread in family.order() {
            values.extend_from_slice(gathered(&accounts[thread.index()]).durations_ms());
            starts.push(values.len());
        }
        Self { ranks: Ranks::new(&values), starts }
    }

    /// Returns a percentile over the agents `from..until` in the order of the tree.
    fn of(&self, from: usize, until: usize, percent: usize) -> Option<u64> {
        self.ranks.percentile(*self.starts.get(from)?, *self.starts.get(until)?, percent)
    }
}

fn agents(trace: &Trace, family: &Family, accounts: Vec<Account>) -> Vec<AgentCosts> {
    let percentiles = KINDS.map(|kind| Percentiles::new(family, &accounts, kind.gathered));
    let own: Vec<Sums> = accounts.into_iter().map(Account::finish).collect();
    let mut subtrees = own.clone();
    let mut descendants = vec![0u64; own.len()];
    // From the leaves up, each thread adds its sums to its parent. This needs no walk per thread, however deep the tree
    // is.
    for thread in family.order().iter().rev() {
        if let Some(parent) = family.parent(*thread) {
            let sums = subtrees[thread.index()];
            subtrees[parent.index()].add(&sums);
            descendants[parent.index()] += descendants[thread.index()] + 1;
        }
    }
    // The threads below a thread follow it directly in the order.
    for (place, thread) in family.order().iter().enumerate() {
        let until = place + 1 + descendants[thread.index()] as usize;
        for (kind, percentiles) in KINDS.iter().zip(&percentiles) {
            let times = &mut (kind.calls)(&mut subtrees[thread.index()]).time;
            (times.p50_ms, times.p95_ms) = (percentiles.of(place, until, 50), percentiles.of(place, until, 95));
        }
    }
    let agent = |thread: &ThreadIdx| {
        let (index, of) = (thread.index(), &trace.threads[*thread]);
        AgentCosts {
            thread_id: trace.text(of.id).to_owned(),
            parent_thread_id: family.parent(*thread).map(|parent| trace.text(trace.threads[parent].id).to_owned()),
            agent_path: trace.text(of.agent_path).to_owned(),
            nickname: of.nickname.map(|name| trace.text(name).to_owned()),
            depth: family.depth(*thread),
            descendants: descendants[index],
            own: own[index],
            subtree: subtrees[index],
        }
    };
    family.order().iter().map(agent).collect()
}

fn turns(trace: &Trace, clock: &Clock, accounts: Vec<Account>) -> Vec<TurnCosts> {
    let mut numbers = vec![0u64; trace.threads.len()];
    let costs = trace.turns.iter().zip(accounts).map(|((_, turn), account)| {
        let number = &mut numbers[turn.thread.index()];
        *number += 1;
        let thread = &trace.threads[turn.thread];
        TurnCosts {
            turn_id: trace.text(turn.id).to_owned(),
            thread_id: trace.text(thread.id).to_owned(),
            agent_path: trace.text(thread.agent_path).to_owned(),
            number: *number,
            started_ms: clock.at(turn.execution.started.seq),
            outcome: Outcome::of_window(&turn.execution),
            sums: account.finish(),
        }
    });
    costs.collect()
}
