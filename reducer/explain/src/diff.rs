//! Compares two sessions of the same task: what differs first, what only one of them has, how the same steps ended, and
//! what both cost.
//!
//! Sessions are aligned by structure. Agents correspond if they have the same name below corresponding agents. Turns of
//! two such agents correspond by what the agents are told, and then by order. Steps of two such turns correspond by
//! what they are (`steps.rs` has the table), in the order in which they began. Texts are compared without ids, times
//! and temporary directories (`normalise.rs` has the list).
//!
//! Differences are ordered by the events that show them. For example, a wait that began before its child failed, and
//! that returned the failure when it ended, comes after the child's failure.
//!
//! A session does not differ from itself. The comparison takes time close to proportional to the size of the two
//! graphs, however different they are.

mod align;
mod aspect;
mod normalise;
mod pairs;
mod steps;

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use trace_reducer::model::{Handle, ThreadIdx, TurnIdx};

pub use self::align::MAX_EXACT_ENTRIES;
use self::align::{Run, align};
pub use self::aspect::Aspect;
use self::pairs::{Pairs, Tree};
use self::steps::{Step, Steps};
use crate::activity::describe;
use crate::clock::Clock;
use crate::costs::{Costs, Sums};
use crate::object::{Object, ObjectRef};
use crate::prices::Prices;
use crate::session::Session;

/// Most characters of a text that a difference quotes.
pub const MAX_QUOTE_CHARS: usize = 160;

/// Differences between two sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// Whether the sessions are the same.
    pub is_same: bool,
    /// The first difference; `None` if there is none.
    pub first: Option<Difference>,
    /// Numbers of differences by kind.
    pub counts: Counts,
    /// All differences, in the order of the events of the first session that show them.
    pub differences: Vec<Difference>,
    /// Corresponding agents in the order of the first session, then those that only the second session has.
    pub agents: Vec<AgentPair>,
    /// Currency of all amounts; `None` without a price table.
    pub currency: Option<String>,
    /// Duration and costs of the sessions.
    pub totals: Both<Total>,
}

/// Numbers of steps that are the same and of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Steps that are the same in both sessions.
    pub same_steps: u64,
    /// Things that both sessions have and that differ.
    pub changed: u64,
    /// Things that only the first session has.
    pub only_a: u64,
    /// Things that only the second session has.
    pub only_b: u64,
}

/// One value for each of the two sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Both<T> {
    /// Value of the first session.
    pub a: T,
    /// Value of the second session.
    pub b: T,
}

/// Duration and costs of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// Duration in milliseconds.
    pub wall_ms: u64,
    /// Costs.
    pub sums: Sums,
}

/// Kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Both sessions have it, and it differs.
    Changed,
    /// Only the first session has it.
    OnlyA,
    /// Only the second session has it.
    OnlyB,
}

/// One difference. An agent or a turn that only one session has is one difference, including everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Kind of the difference.
    pub kind: Kind,
    /// Aspects that differ. Empty for something that only one session has.
    pub aspects: Vec<Aspect>,
    /// The thing in the first session; `None` if only the second has it.
    pub a: Option<Side>,
    /// The thing in the second session; `None` if only the first has it.
    pub b: Option<Side>,
}

/// One side of a difference: the thing in one of the sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// The object.
    pub object: ObjectRef,
    /// Description of the object.
    pub label: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Agent path of the thread.
    pub agent_path: String,
    /// Id of the turn that it belongs to or is; `None` if it belongs to no turn.
    pub turn_id: Option<String>,
    /// Sequence number of the event that started it.
    pub seq: u64,
    /// Its start, in milliseconds since the start of its session.
    pub at_ms: u64,
    /// The text of the first aspect that differs, from a little before the first differing character.
    pub quote: Option<String>,
}

/// Two corresponding agents, or an agent that only one session has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPair {
    /// The agent of the first session.
    pub a: Option<AgentTotal>,
    /// The agent of the second session.
    pub b: Option<AgentTotal>,
}

/// What one agent did itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTotal {
    /// Id of its thread.
    pub thread_id: String,
    /// Its agent path.
    pub agent_path: String,
    /// Sums over what it did.
    pub sums: Sums,
}

impl Diff {
    /// Compares two sessions.
    pub fn new(a: &Session, b: &Session, prices: Option<&Prices>) -> Self {
        let (a, b) = (One::new(a, prices), One::new(b, prices));
        let (tree_a, tree_b) = (Tree::new(a.session.trace()), Tree::new(b.session.trace()));
        let pairs = Pairs::new(&tree_a, &tree_b);
        let mut comparison = Comparison { a: &a, b: &b, found: Vec::new(), counts: Counts::default() };
        for (in_a, in_b) in &pairs.both {
            comparison.agents(*in_a, *in_b);
        }
        for thread in &pairs.only_a {
            let at = a.session.trace().threads[*thread].execution.started.seq;
            comparison.only_a(at, Object::Thread(*thread), None);
        }
        for thread in &pairs.only_b {
            comparison.only_b(u64::MAX, Object::Thread(*thread), None);
        }
        let Comparison { mut found, counts, .. } = comparison;
        // A thing that only the second session has comes after the thing that it follows.
        found.sort_by_key(|(at, difference)| {
            let began = difference.a.as_ref().map_or(*at, |side| side.seq);
            (*at, began, difference.kind == Kind::OnlyB)
        });
        let differences: Vec<Difference> = found.into_iter().map(|(_, difference)| difference).collect();
        Self {
            is_same: differences.is_empty(),
            first: differences.first().cloned(),
            counts,
            differences,
            agents: agent_pairs(&a, &b, &pairs),
            currency: prices.map(|prices| prices.currency().to_owned()),
            totals: Both { a: a.total(), b: b.total() },
        }
    }
}

fn agent_pairs(a: &One<'_>, b: &One<'_>, pairs: &Pairs) -> Vec<AgentPair> {
    let both = pairs.both.iter().map(|(in_a, in_b)| AgentPair { a: Some(a.agent(*in_a)), b: Some(b.agent(*in_b)) });
    let only_a = pairs.only_a.iter().map(|thread| AgentPair { a: Some(a.agent(*thread)), b: None });
    let only_b = pairs.only_b.iter().map(|thread| AgentPair { a: None, b: Some(b.agent(*thread)) });
    both.chain(only_a).chain(only_b).collect()
}

/// One of the two sessions, with indexes.
struct One<'s> {
    session: &'s Session,
    clock: Clock,
    steps: Steps<'s>,
    by_turn: Vec<Vec<Step>>,
    turns: Vec<Vec<TurnIdx>>,
    total: Sums,
    own: Vec<Sums>,
}

impl<'s> One<'s> {
    fn new(session: &'s Session, prices: Option<&Prices>) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let steps = Steps::new(session);
        let by_turn = steps.by_turn();
        let mut turns = vec![Vec::new(); trace.threads.len()];
        for (index, turn) in trace.turns.iter() {
            turns[turn.thread.index()].push(index);
        }
        let family = crate::family::Family::new(trace);
        let costs = Costs::with(trace, prices, &clock, &family);
        let mut own = vec![Sums::default(); trace.threads.len()];
        for (thread, agent) in family.order().iter().zip(&costs.agents) {
            own[thread.index()] = agent.own;
        }
        Self { session, clock, steps, by_turn, turns, total: costs.total, own }
    }

    fn total(&self) -> Total {
        Total { wall_ms: self.clock.wall_ms(), sums: self.total }
    }

    fn agent(&self, thread: ThreadIdx) -> AgentTotal {
        let trace = self.session.trace();
        AgentTotal {
            thread_id: trace.text(trace.threads[thread].id).to_owned(),
            agent_path: trace.text(trace.threads[thread].agent_path).to_owned(),
            sums: self.own[thread.index()],
        }
    }

    fn side(&self, object: Object, turn: Option<TurnIdx>) -> Option<Side> {
        let trace = self.session.trace();
        let thread = &trace.threads[self.session.thread_of(object)?];
        let seq = self.session.seq_of(object)?;
        let label = match object {
            Object::Thread(_) => format!("agent {}", trace.text(thread.agent_path)),
            Object::Turn(_) => "turn".to_owned(),
            Object::Item(item) => match &trace.items[item] {
                item if item.agent_message.is_some() => "message from an agent".to_owned(),
                item => format!("{} message", item.role.as_str()),
            },
            Object::CompactionRequest(_) => "compaction".to_owned(),
            object => describe(trace, object).unwrap_or_else(|| object.type_name().to_owned()),
        };
        Some(Side {
            object: self.session.name(object),
            label,
            thread_id: trace.text(thread.id).to_owned(),
            agent_path: trace.text(thread.agent_path).to_owned(),
            turn_id: turn.map(|turn| trace.text(trace.turns[turn].id).to_owned()),
            seq,
            at_ms: self.clock.at(seq),
            quote: None,
        })
    }
}

/// State of a comparison.
struct Comparison<'c, 's> {
    a: &'c One<'s>,
    b: &'c One<'s>,
    /// Differences, each with the sequence number of its place in the first session's log.
    found: Vec<(u64, Difference)>,
    counts: Counts,
}

impl Comparison<'_, '_> {
    fn agents(&mut self, in_a: ThreadIdx, in_b: ThreadIdx) {
        let (a, b) = (self.a, self.b);
        let (turns_a, turns_b) = (&a.turns[in_a.index()], &b.turns[in_b.index()]);
        let told = |one: &One<'_>, turns: &[TurnIdx]| -> Vec<u64> {
            turns.iter().map(|turn| one.steps.told(&one.by_turn[turn.index()])).collect()
        };
        let trace = a.session.trace();
        let mut last = trace.threads[in_a].execution.started.seq;
        let (mut at_a, mut at_b) = (0, 0);
        for run in align(&told(a, turns_a), &told(b, turns_b)) {
            let (count_a, count_b) = run.counts();
            for index in 0..count_a.max(count_b) {
                let in_a = turns_a[at_a..at_a + count_a].get(index);
                match (in_a, turns_b[at_b..at_b + count_b].get(index)) {
                    (Some(turn_a), Some(turn_b)) => last = self.turns(*turn_a, *turn_b),
                    (Some(turn), None) => {
                        last = trace.turns[*turn].execution.started.seq;
                        self.only_a(last, Object::Turn(*turn), Some(*turn));
                    }
                    (None, Some(turn)) => self.only_b(last, Object::Turn(*turn), Some(*turn)),
                    (None, None) => {}
                }
            }
            (at_a, at_b) = (at_a + count_a, at_b + count_b);
        }
    }

    /// Compares two turns. Returns the sequence number where the turn of the first session ends.
    fn turns(&mut self, turn_a: TurnIdx, turn_b: TurnIdx) -> u64 {
        let (a, b) = (self.a, self.b);
        let (steps_a, steps_b) = (&a.by_turn[turn_a.index()], &b.by_turn[turn_b.index()]);
        let identities = |steps: &[Step]| steps.iter().map(|step| step.identity).collect::<Vec<u64>>();
        let (mut at_a, mut at_b) = (0, 0);
        let execution = &a.session.trace().turns[turn_a].execution;
        let mut last = execution.started.seq;
        for run in align(&identities(steps_a), &identities(steps_b)) {
            let (count_a, count_b) = run.counts();
            let (run_a, run_b) = (&steps_a[at_a..at_a + count_a], &steps_b[at_b..at_b + count_b]);
            match run {
                Run::Same(_) => {
                    for (step_a, step_b) in run_a.iter().zip(run_b) {
                        self.same(step_a, step_b, turn_a, turn_b);
                    }
                }
                Run::Other(..) => self.other(run_a, run_b, turn_a, turn_b, last),
            }
            last = run_a.last().map_or(last, |step| step.seq);
            (at_a, at_b) = (at_a + count_a, at_b + count_b);
        }
        let end = execution.ended.map_or(last, |ended| ended.seq);
        let (object_a, object_b) = (Object::Turn(turn_a), Object::Turn(turn_b));
        if a.steps.text(object_a, Aspect::Status) != b.steps.text(object_b, Aspect::Status) {
            self.changed(end, vec![Aspect::Status], (object_a, turn_a), (object_b, turn_b));
        }
        end
    }

    /// Compares two corresponding steps.
    fn same(&mut self, step_a: &Step, step_b: &Step, turn_a: TurnIdx, turn_b: TurnIdx) {
        let aspects = step_a.aspects.iter().zip(&step_b.aspects);
        let differing: Vec<Aspect> = aspects.filter(|(a, b)| a.1 != b.1).map(|(a, _)| a.0).collect();
        if differing.is_empty() {
            self.counts.same_steps += 1;
        } else {
            let at = self.shown(step_a, &differing);
            self.changed(at, differing, (step_a.object, turn_a), (step_b.object, turn_b));
        }
    }

    /// Returns the sequence number of the event of the first session that shows a difference. Inputs of a step are
    /// shown when it begins, results when it ends. If it never ended, that is shown at the end of the log.
    fn shown(&self, step: &Step, aspects: &[Aspect]) -> u64 {
        let is_given = |aspect: &Aspect| match aspect {
            Aspect::Text | Aspect::Model | Aspect::Tool | Aspect::Arguments => true,
            Aspect::Status | Aspect::Error | Aspect::Said | Aspect::ExitCode | Aspect::Output => false,
        };
        if aspects.iter().any(is_given) { step.seq } else { step.ended_seq.unwrap_or_else(|| self.a.clock.last_seq()) }
    }

    /// Compares steps that do not correspond. Steps of the same kind are paired in order. If each side then has a
    /// single tool call left, these two are paired.
    fn other(&mut self, run_a: &[Step], run_b: &[Step], turn_a: TurnIdx, turn_b: TurnIdx, mut last: u64) {
        let mut by_kind: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (index, step) in run_b.iter().enumerate() {
            by_kind.entry(step.kind).or_default().push_back(index);
        }
        // For each step of the second session, its partner in the first session.
        let mut partners: Vec<Option<usize>> = vec![None; run_b.len()];
        let mut left = Vec::new();
        for (index, step) in run_a.iter().enumerate() {
            match by_kind.get_mut(&step.kind).and_then(VecDeque::pop_front) {
                Some(partner) => partners[partner] = Some(index),
                None => left.push(index),
            }
        }
        let is_tool = |step: &Step| matches!(step.object, Object::Tool(_));
        let mut tools_a = left.iter().copied().filter(|index| is_tool(&run_a[*index]));
        let mut tools_b = (0..run_b.len()).filter(|index| partners[*index].is_none() && is_tool(&run_b[*index]));
        let single = (tools_a.next(), tools_a.next(), tools_b.next(), tools_b.next());
        if let (Some(in_a), None, Some(in_b), None) = single {
            partners[in_b] = Some(in_a);
            left.retain(|index| *index != in_a);
        }
        for index in left {
            self.only_a(run_a[index].seq, run_a[index].object, Some(turn_a));
        }
        // A step that replaces another one comes after it.
        last = run_a.first().map_or(last, |step| step.seq);
        for (step, partner) in run_b.iter().zip(partners) {
            let Some(step_a) = partner.and_then(|index| run_a.get(index)) else {
                self.only_b(last, step.object, Some(turn_b));
                continue;
            };
            last = step_a.seq;
            let aspects = step_a.aspects.iter().zip(&step.aspects);
            let mut differing: Vec<Aspect> = match (is_tool(step_a), step_a.kind == step.kind) {
                (true, false) => vec![Aspect::Tool],
                (true, true) if step_a.identity != step.identity => vec![Aspect::Arguments],
                _ => Vec::new(),
            };
            differing.extend(aspects.filter(|(a, b)| a.1 != b.1).map(|(a, _)| a.0));
            if differing.is_empty() {
                self.counts.same_steps += 1;
            } else {
                let at = self.shown(step_a, &differing);
                self.changed(at, differing, (step_a.object, turn_a), (step.object, turn_b));
            }
        }
    }

    fn changed(&mut self, at: u64, aspects: Vec<Aspect>, a: (Object, TurnIdx), b: (Object, TurnIdx)) {
        self.counts.changed += 1;
        let (mut side_a, mut side_b) = (self.a.side(a.0, Some(a.1)), self.b.side(b.0, Some(b.1)));
        if let Some(aspect) = aspects.first() {
            let (text_a, text_b) = (self.a.steps.text(a.0, *aspect), self.b.steps.text(b.0, *aspect));
            let (quote_a, quote_b) = quotes(&text_a, &text_b);
            side_a.iter_mut().for_each(|side| side.quote = Some(quote_a.clone()));
            side_b.iter_mut().for_each(|side| side.quote = Some(quote_b.clone()));
        }
        self.found.push((at, Difference { kind: Kind::Changed, aspects, a: side_a, b: side_b }));
    }

    fn only_a(&mut self, at: u64, object: Object, turn: Option<TurnIdx>) {
        self.counts.only_a += 1;
        let a = self.a.side(object, turn);
        self.found.push((at, Difference { kind: Kind::OnlyA, aspects: Vec::new(), a, b: None }));
    }

    fn only_b(&mut self, at: u64, object: Object, turn: Option<TurnIdx>) {
        self.counts.only_b += 1;
        let b = self.b.side(object, turn);
        self.found.push((at, Difference { kind: Kind::OnlyB, aspects: Vec::new(), a: None, b }));
    }
}

/// Number of characters before a difference that are quoted.
const QUOTE_BEFORE_CHARS: usize = 40;

/// Returns quotes of two texts from a little before the place where they begin to differ.
fn quotes(a: &str, b: &str) -> (String, String) {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let skip = common.saturating_sub(QUOTE_BEFORE_CHARS);
    let quote = |text: &str| {
        let mut quote = String::new();
        if skip > 0 {
            quote.push('…');
        }
        let mut rest = text.chars().skip(skip);
        quote.extend(rest.by_ref().take(MAX_QUOTE_CHARS));
        if rest.next().is_some() {
            quote.push('…');
        }
        quote
    };
    (quote(a), quote(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_begin_a_little_before_the_difference() {
        let (a, b) = (format!("{}old{}", "x".repeat(100), "y".repeat(500)), format!("{}new", "x".repeat(100)));
        let (quote_a, quote_b) = quotes(&a, &b);
        assert_eq!(quote_b, format!("…{}new", "x".repeat(40)));
        assert_eq!(quote_a.chars().count(), MAX_QUOTE_CHARS + 2);
        assert_eq!(quotes("a", "b"), ("a".to_owned(), "b".to_owned()));
    }
}
