//! Which turn is responsible for the work of an agent, and the ways by which failures are passed up.
//!
//! A turn of an agent is charged to the call that gave the agent its last work: the call that spawned it, or a call of
//! any agent above it that gave it a further task. The way of a failure from turn to turn is stored as *hops*, each
//! with a link to the next hop down. A line of agents therefore needs one hop per agent, however many turns have the
//! same deep cause.

use std::collections::HashMap;

use trace_reducer::model::{Anchor, EdgeKind, ItemIdx, Moment, ThreadIdx, ToolIdx, Trace, TurnIdx};

use crate::family::Family;

/// How a turn came to depend on another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It spawned the agent, by a call if one is known.
    Spawned(Option<ToolIdx>),
    /// It gave the agent a further task; the item is the one that shows the task to the agent.
    Tasked(ToolIdx, ItemIdx),
    /// It waited for the agent, which never finished.
    Waited(ToolIdx),
}

/// A turn that is responsible for the work of another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) turn: TurnIdx,
    /// When it gave the agent the work.
    pub(super) at: Moment,
    pub(super) way: Way,
}

/// One step of a failure: from an agent's turn up to the turn that is charged with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) charge: Charge,
    pub(super) child: ThreadIdx,
    /// The turn that failed; `None` if the agent never began a turn.
    pub(super) child_turn: Option<TurnIdx>,
    /// The next hop down; `None` if the cause is in `child_turn` itself.
    pub(super) below: Option<HopIdx>,
    /// Number of hops from this one down, including this one.
    pub(super) levels: usize,
    /// The last hop down.
    pub(super) lowest: HopIdx,
}

/// Index of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HopIdx(usize);

/// All hops of a session.
#[derive(Debug, Default)]
pub(super) struct Hops {
    all: Vec<Hop>,
    /// For each turn, a hop that leads up from it. All failures of one turn are charged to the same turn.
    up: HashMap<TurnIdx, HopIdx>,
}

impl Hops {
    pub(super) fn add(
        &mut self,
        charge: Charge,
        child: ThreadIdx,
        child_turn: Option<TurnIdx>,
        below: Option<HopIdx>,
    ) -> HopIdx {
        let index = HopIdx(self.all.len());
        let (levels, lowest) = below.map_or((0, index), |below| (self.get(below).levels, self.get(below).lowest));
        self.all.push(Hop { charge, child, child_turn, below, levels: levels + 1, lowest });
        if let Some(turn) = child_turn.filter(|_| !matches!(charge.way, Way::Waited(_))) {
            self.up.entry(turn).or_insert(index);
        }
        index
    }

    pub(super) fn get(&self, index: HopIdx) -> &Hop {
        &self.all[index.0]
    }

    /// Returns the hops from one down to the cause. If there are more than `most`, returns both ends and the number of
    /// hops between them.
    pub(super) fn line(&self, from: HopIdx, most: usize) -> (Vec<&Hop>, Vec<&Hop>, usize) {
        let first = self.get(from);
        let is_whole = first.levels <= most;
        let count = if is_whole { first.levels } else { most / 2 };
        let down = std::iter::successors(Some(first), |hop| hop.below.map(|below| self.get(below)));
        let head: Vec<&Hop> = down.take(count).collect();
        if is_whole {
            return (head, Vec::new(), 0);
        }
        let up = |hop: &&Hop| self.up.get(&hop.charge.turn).map(|above| self.get(*above));
        let mut tail: Vec<&Hop> = std::iter::successors(Some(self.get(first.lowest)), up).take(most - count).collect();
        tail.reverse();
        let between = first.levels - head.len() - tail.len();
        (head, tail, between)
    }
}

/// Returns for each thread the calls that gave it work, in the order of the log.
pub(super) fn charges(trace: &Trace, family: &Family) -> HashMap<ThreadIdx, Vec<Charge>> {
    let mut charges: HashMap<ThreadIdx, Vec<Charge>> = HashMap::new();
    for (child, birth) in family.births() {
        let Some(turn) = birth.turn else { continue };
        let at = birth.tool.map_or(trace.turns[turn].execution.started, |tool| trace.tools[tool].execution.started);
        charges.entry(child).or_default().push(Charge { turn, at, way: Way::Spawned(birth.tool) });
    }
    for edge in trace.edges.values().filter(|edge| edge.kind == EdgeKind::AssignAgentTask) {
        let (Anchor::Tool(tool), Anchor::Item(item)) = (edge.source, edge.target) else { continue };
        let (call, child) = (&trace.tools[tool], trace.items[item].thread);
        let Some(turn) = call.turn.filter(|_| family.is_above(call.thread, child)) else { continue };
        let charge = Charge { turn, at: call.execution.started, way: Way::Tasked(tool, item) };
        charges.entry(child).or_default().push(charge);
    }
    charges.values_mut().for_each(|charges| charges.sort_by_key(|charge| charge.at));
    charges
}

#[cfg(test)]
mod tests {
    use trace_reducer::model::Handle;

    use super::*;

    #[test]
    fn a_long_line_is_told_by_its_ends() {
        let mut hops = Hops::default();
        let mut below = None;
        for level in (0..10).rev() {
            let at = Moment { seq: 0, unix_ms: 0 };
            let charge = Charge { turn: TurnIdx::from_index(level), at, way: Way::Spawned(None) };
            let child = ThreadIdx::from_index(level + 1);
            below = Some(hops.add(charge, child, Some(TurnIdx::from_index(level + 1)), below));
        }
        let top = below.expect("ten hops");
        let children = |hops: &[&Hop]| hops.iter().map(|hop| hop.child.index()).collect::<Vec<_>>();
        let (head, tail, between) = hops.line(top, 4);
        assert_eq!((children(&head), children(&tail), between), (vec![1, 2], vec![9, 10], 6));
        let (head, tail, between) = hops.line(top, 10);
        assert_eq!((head.len(), tail.len(), between), (10, 0, 0));
    }
}
