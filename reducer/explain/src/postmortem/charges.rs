//! Who gave an agent what it was doing, and the ways by which its failures rise.
//!
//! A turn of an agent rests on the call that set it to work last: the one that spawned it, or one that gave it a further
//! task, by whichever agent above. Where a failure went from turn to turn is kept as *hops*, each of which knows the next one
//! down, so that a line of agents costs one hop for each of them however many turns name its deep cause.

use std::collections::HashMap;

use trace_reducer::model::{Anchor, EdgeKind, ItemIdx, Moment, ThreadIdx, ToolIdx, Trace, TurnIdx};

use crate::family::Family;

/// How a turn came to depend on another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It spawned the agent, by a call if one is known.
    Spawned(Option<ToolIdx>),
    /// It gave the agent a further task, which an item of the agent shows.
    Tasked(ToolIdx, ItemIdx),
    /// It waited for the agent in vain.
    Waited(ToolIdx),
}

/// A turn that answers for what another agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) turn: TurnIdx,
    /// When it set the agent to work.
    pub(super) at: Moment,
    pub(super) way: Way,
}

/// A step of a failure from an agent's turn up to the turn that is charged with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) charge: Charge,
    pub(super) child: ThreadIdx,
    /// The turn that came out badly; an agent that never began has none.
    pub(super) child_turn: Option<TurnIdx>,
    /// The next step down, if the cause lies deeper.
    pub(super) below: Option<HopIdx>,
    /// How many steps there are from here down, this one included.
    pub(super) levels: usize,
    /// The step at the end of them.
    pub(super) lowest: HopIdx,
}

/// A hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HopIdx(usize);

/// All hops of a session.
#[derive(Debug, Default)]
pub(super) struct Hops {
    all: Vec<Hop>,
    /// A hop that leads up from each turn. What comes from one turn is charged to one turn.
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

    /// Returns the hops from one down to the cause. Of a line longer than `most`, both ends, and how many are between.
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

/// Returns for each thread the calls that set it to work, in the order of the log.
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
