//! The tree of agents: which agent spawned which, in which turn, and which agent closed which.

use std::collections::HashMap;

use trace_reducer::model::{
    Anchor, EdgeKind, ExecutionStatus, Handle, Origin, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx,
};

/// The spawn of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Birth {
    /// The parent: the thread that spawned it.
    pub parent: ThreadIdx,
    /// The tool call that spawned it; `None` if no edge shows it.
    pub tool: Option<ToolIdx>,
    /// The turn of the parent during the spawn; `None` if it is not known.
    pub turn: Option<TurnIdx>,
}

/// The tree of agents.
#[derive(Debug)]
pub struct Family {
    births: Vec<Option<Birth>>,
    children: Vec<Vec<ThreadIdx>>,
    /// All threads; a parent comes before its children.
    order: Vec<ThreadIdx>,
    /// For each thread, the number of threads above it.
    depths: Vec<usize>,
    /// For each thread, its index in `order`, and the end of the range of threads below it.
    places: Vec<(usize, usize)>,
    /// For each thread, the root of its tree.
    roots: Vec<ThreadIdx>,
    /// For each thread, its turns in the order of the log.
    turns: Vec<Vec<TurnIdx>>,
    /// For each thread, the turns of its children, sorted by start.
    work_below: Vec<Vec<WorkBelow>>,
}

/// A turn of a child.
#[derive(Debug, Clone, Copy)]
struct WorkBelow {
    turn: TurnIdx,
    started: u64,
    ended: u64,
    /// Largest `ended` of this turn and the turns before it.
    latest_end: u64,
}

/// Most turns that [`Family::at_work`] looks at. In practice no agent waits for more agents at once.
pub const MAX_AT_WORK: usize = 64;

impl Family {
    /// Builds the tree of a session.
    pub fn new(trace: &Trace) -> Self {
        let mut turns = vec![Vec::new(); trace.threads.len()];
        for (index, turn) in trace.turns.iter() {
            turns[turn.thread.index()].push(index);
        }
        for list in &mut turns {
            list.sort_by_key(|turn: &TurnIdx| trace.turns[*turn].execution.started);
        }
        let by_id: HashMap<Symbol, ThreadIdx> =
            trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
        let mut births: Vec<Option<Birth>> = vec![None; trace.threads.len()];
        let spawns = trace.edges.values().filter(|edge| edge.kind == EdgeKind::SpawnAgent);
        for edge in spawns {
            let Anchor::Tool(tool) = edge.source else { continue };
            let child = match edge.target {
                Anchor::Thread(thread) => thread,
                Anchor::Item(item) => trace.items[item].thread,
                Anchor::Tool(_) => continue,
            };
            let parent = trace.tools[tool].thread;
            if child != parent {
                births[child.index()].get_or_insert(Birth { parent, tool: Some(tool), turn: trace.tools[tool].turn });
            }
        }
        for (child, thread) in trace.threads.iter() {
            let Origin::Spawned { parent_thread_id, .. } = thread.origin else { continue };
            let Some(parent) = by_id.get(&parent_thread_id).copied().filter(|parent| *parent != child) else {
                continue;
            };
            // No edge shows the spawn: assume the turn that the parent was in.
            let list = &turns[parent.index()];
            let until = list.partition_point(|turn| trace.turns[*turn].execution.started < thread.execution.started);
            let turn = until.checked_sub(1).map(|last| list[last]);
            births[child.index()].get_or_insert(Birth { parent, tool: None, turn });
        }
        let mut children = vec![Vec::new(); trace.threads.len()];
        for (child, birth) in trace.threads.handles().zip(&births) {
            if let Some(birth) = birth {
                children[birth.parent.index()].push(child);
            }
        }
        let order = parents_first(trace, &mut births, &mut children);
        let mut depths = vec![0; births.len()];
        let mut roots: Vec<ThreadIdx> = trace.threads.handles().collect();
        let mut places = vec![(0, 0); births.len()];
        for (place, thread) in order.iter().enumerate() {
            places[thread.index()] = (place, place + 1);
            if let Some(birth) = births[thread.index()] {
                depths[thread.index()] = depths[birth.parent.index()] + 1;
                roots[thread.index()] = roots[birth.parent.index()];
            }
        }
        for thread in order.iter().rev() {
            if let Some(birth) = births[thread.index()] {
                let (_, until) = places[thread.index()];
                let above = &mut places[birth.parent.index()].1;
                *above = (*above).max(until);
            }
        }
        let work_below = work_below(trace, &births, &turns);
        Self { births, children, order, depths, places, roots, turns, work_below }
    }

    /// Returns the spawn of a thread, or `None` for a root.
    pub fn birth(&self, thread: ThreadIdx) -> Option<Birth> {
        self.births[thread.index()]
    }

    /// Returns all spawns with the threads that they started.
    pub fn births(&self) -> impl Iterator<Item = (ThreadIdx, Birth)> + '_ {
        let births = self.births.iter().enumerate();
        births.filter_map(|(child, birth)| Some((ThreadIdx::from_index(child), (*birth)?)))
    }

    /// Returns the children of a thread in the order of the log.
    pub fn children(&self, thread: ThreadIdx) -> &[ThreadIdx] {
        &self.children[thread.index()]
    }

    /// Returns all threads; a parent comes before its children, and children are in the order of the log.
    pub fn order(&self) -> &[ThreadIdx] {
        &self.order
    }

    /// Returns the thread that spawned a thread, or `None` if there is none in the trace.
    pub fn parent(&self, thread: ThreadIdx) -> Option<ThreadIdx> {
        self.birth(thread).map(|birth| birth.parent)
    }

    /// Returns the number of threads above a thread.
    pub fn depth(&self, thread: ThreadIdx) -> usize {
        self.depths[thread.index()]
    }

    /// Returns the root of a thread's tree.
    pub fn root(&self, thread: ThreadIdx) -> ThreadIdx {
        self.roots[thread.index()]
    }

    /// Returns whether `upper` is an ancestor of `lower`.
    pub fn is_above(&self, upper: ThreadIdx, lower: ThreadIdx) -> bool {
        let (from, until) = self.places[upper.index()];
        upper != lower && (from..until).contains(&self.places[lower.index()].0)
    }

    /// Returns whether a child of a thread ran a turn at the event `seq`.
    pub fn is_awaited(&self, thread: ThreadIdx, seq: u64) -> bool {
        let work = &self.work_below[thread.index()];
        let begun = work.partition_point(|turn| turn.started < seq);
        begun.checked_sub(1).is_some_and(|last| work[last].latest_end > seq)
    }

    /// Returns the turns of a thread's children that ran at the event `seq`, latest start first. Only the last
    /// [`MAX_AT_WORK`] turns that began before the event are considered.
    pub fn at_work(&self, thread: ThreadIdx, seq: u64) -> Vec<TurnIdx> {
        let work = &self.work_below[thread.index()];
        let begun = work.partition_point(|turn| turn.started < seq);
        let last = work[begun.saturating_sub(MAX_AT_WORK)..begun].iter().rev();
        last.filter(|turn| turn.ended > seq).map(|turn| turn.turn).collect()
    }

    /// Returns the turns of a thread in the order of the log.
    pub fn turns(&self, thread: ThreadIdx) -> &[TurnIdx] {
        &self.turns[thread.index()]
    }

    /// Returns the turn of `target` that ran when `tool` closed that agent, if the close ended the turn.
    pub fn turn_ended_by(&self, trace: &Trace, tool: ToolIdx, target: ThreadIdx) -> Option<TurnIdx> {
        let call = &trace.tools[tool].execution;
        let turns = self.turns(target);
        // A turn that began after the call is a later one.
        let until = turns.partition_point(|turn| trace.turns[*turn].execution.started.seq < call.started.seq);
        let turn = turns[until.checked_sub(1)?];
        let window = &trace.turns[turn].execution;
        let went_on = window.ended.is_none_or(|ended| ended.seq > call.started.seq);
        // A turn that failed was not ended by the close.
        let was_ended = !matches!(window.status, ExecutionStatus::Completed | ExecutionStatus::Failed);
        (went_on && was_ended).then_some(turn)
    }
}

/// Returns for each thread the turns of its children, sorted by start.
fn work_below(trace: &Trace, births: &[Option<Birth>], turns: &[Vec<TurnIdx>]) -> Vec<Vec<WorkBelow>> {
    let mut work: Vec<Vec<WorkBelow>> = vec![Vec::new(); births.len()];
    for (birth, turns) in births.iter().zip(turns) {
        let Some(birth) = birth else { continue };
        work[birth.parent.index()].extend(turns.iter().map(|turn| {
            let window = &trace.turns[*turn].execution;
            let ended = window.ended.map_or(u64::MAX, |ended| ended.seq);
            WorkBelow { turn: *turn, started: window.started.seq, ended, latest_end: ended }
        }));
    }
    for list in &mut work {
        list.sort_by_key(|turn| turn.started);
        let mut latest_end = 0;
        for turn in list {
            latest_end = turn.ended.max(latest_end);
            turn.latest_end = latest_end;
        }
    }
    work
}

/// Orders threads so that a parent comes before its children. A thread that is its own ancestor, which only a forged
/// bundle has, loses its parent.
fn parents_first(trace: &Trace, births: &mut [Option<Birth>], children: &mut [Vec<ThreadIdx>]) -> Vec<ThreadIdx> {
    let mut order: Vec<ThreadIdx> = Vec::with_capacity(births.len());
    let mut reached = vec![false; births.len()];
    let mut stack: Vec<ThreadIdx> = Vec::new();
    let roots: Vec<ThreadIdx> = trace.threads.handles().filter(|thread| births[thread.index()].is_none()).collect();
    // A thread that no root leads to is part of a cycle or below one.
    for start in roots.into_iter().chain(trace.threads.handles()) {
        if reached[start.index()] {
            continue;
        }
        if let Some(birth) = births[start.index()].take() {
            children[birth.parent.index()].retain(|child| *child != start);
        }
        stack.push(start);
        while let Some(thread) = stack.pop() {
            if !std::mem::replace(&mut reached[thread.index()], true) {
                order.push(thread);
                stack.extend(children[thread.index()].iter().rev());
            }
        }
    }
    order
}
