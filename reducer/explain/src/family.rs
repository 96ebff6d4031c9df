//! The tree of agents, which a bundle may describe badly: parents that are missing, or that are their own children.

use std::collections::HashMap;

use trace_reducer::model::{Handle, Origin, Symbol, ThreadIdx, Trace};

/// Who spawned whom.
#[derive(Debug, Clone)]
pub struct Family {
    parents: Vec<Option<ThreadIdx>>,
    depths: Vec<usize>,
    order: Vec<ThreadIdx>,
}

impl Family {
    /// Finds out who spawned whom.
    pub fn new(trace: &Trace) -> Self {
        let by_id: HashMap<Symbol, ThreadIdx> =
            trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
        let mut parents: Vec<Option<ThreadIdx>> = vec![None; trace.threads.len()];
        let mut children: Vec<Vec<ThreadIdx>> = vec![Vec::new(); trace.threads.len()];
        let mut roots = Vec::new();
        for (index, thread) in trace.threads.iter() {
            let parent = match &thread.origin {
                Origin::Root => None,
                Origin::Spawned { parent_thread_id, .. } => {
                    by_id.get(parent_thread_id).copied().filter(|parent| *parent != index)
                }
            };
            parents[index.index()] = parent;
            parent.map_or(&mut roots, |parent| &mut children[parent.index()]).push(index);
        }
        let mut depths = vec![0; trace.threads.len()];
        let mut order = Vec::with_capacity(trace.threads.len());
        let mut is_placed = vec![false; trace.threads.len()];
        // Threads that spawned each other hang on no root, so each may have to serve as one.
        for root in roots.into_iter().chain(trace.threads.handles()) {
            if is_placed[root.index()] {
                continue;
            }
            parents[root.index()] = None;
            let mut pending = vec![(root, 0)];
            while let Some((index, depth)) = pending.pop() {
                if std::mem::replace(&mut is_placed[index.index()], true) {
                    continue;
                }
                depths[index.index()] = depth;
                order.push(index);
                let below = std::mem::take(&mut children[index.index()]);
                pending.extend(below.into_iter().rev().map(|child| (child, depth + 1)));
            }
        }
        Self { parents, depths, order }
    }

    /// Returns the threads, parents before their children, children in the order in which they began.
    pub fn order(&self) -> &[ThreadIdx] {
        &self.order
    }

    /// Returns the thread that spawned a thread, if it is in the trace.
    pub fn parent(&self, thread: ThreadIdx) -> Option<ThreadIdx> {
        self.parents.get(thread.index()).copied().flatten()
    }

    /// Returns how many threads are above a thread.
    pub fn depth(&self, thread: ThreadIdx) -> usize {
        self.depths.get(thread.index()).copied().unwrap_or(0)
    }
}
