//! Finds corresponding agents of two sessions.
//!
//! The root agents correspond. Below two corresponding agents, children with the same name correspond, in the order in
//! which they began; the remaining children correspond in order.

use std::collections::{HashMap, HashSet, VecDeque};

use trace_reducer::model::{Handle, ThreadIdx, Trace};

use crate::family::Family;

/// Corresponding agents of two sessions, and agents that only one session has.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) both: Vec<(ThreadIdx, ThreadIdx)>,
    pub(super) only_a: Vec<ThreadIdx>,
    pub(super) only_b: Vec<ThreadIdx>,
}

/// A session and the tree of its agents.
pub(super) struct Tree<'t> {
    pub(super) trace: &'t Trace,
    children: Vec<Vec<ThreadIdx>>,
    roots: Vec<ThreadIdx>,
    order: Vec<ThreadIdx>,
}

impl<'t> Tree<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let family = Family::new(trace);
        let mut children = vec![Vec::new(); trace.threads.len()];
        let mut roots = Vec::new();
        for thread in family.order() {
            family.parent(*thread).map_or(&mut roots, |parent| &mut children[parent.index()]).push(*thread);
        }
        // The session's first thread comes before other threads without a parent.
        roots.sort_by_key(|root| trace.threads[*root].id != trace.root_thread_id);
        Self { trace, children, roots, order: family.order().to_vec() }
    }

    /// Returns the last segment of an agent's path.
    fn name(&self, thread: ThreadIdx) -> &str {
        let path = self.trace.text(self.trace.threads[thread].agent_path);
        path.rsplit('/').next().unwrap_or(path)
    }
}

impl Pairs {
    pub(super) fn new(a: &Tree<'_>, b: &Tree<'_>) -> Self {
        let mut pairs = Self::default();
        let mut pending = VecDeque::from([(a.roots.as_slice(), b.roots.as_slice())]);
        while let Some((siblings_a, siblings_b)) = pending.pop_front() {
            for (in_a, in_b) in siblings(a, siblings_a, b, siblings_b) {
                pairs.both.push((in_a, in_b));
                pending.push_back((&a.children[in_a.index()], &b.children[in_b.index()]));
            }
        }
        let paired_a: HashSet<usize> = pairs.both.iter().map(|(in_a, _)| in_a.index()).collect();
        let paired_b: HashSet<usize> = pairs.both.iter().map(|(_, in_b)| in_b.index()).collect();
        pairs.only_a = a.order.iter().copied().filter(|thread| !paired_a.contains(&thread.index())).collect();
        pairs.only_b = b.order.iter().copied().filter(|thread| !paired_b.contains(&thread.index())).collect();
        pairs
    }
}

/// Pairs the children of two agents, first by name and then in order.
fn siblings(a: &Tree<'_>, of_a: &[ThreadIdx], b: &Tree<'_>, of_b: &[ThreadIdx]) -> Vec<(ThreadIdx, ThreadIdx)> {
    let mut by_name: HashMap<&str, VecDeque<ThreadIdx>> = HashMap::new();
    for thread in of_b {
        by_name.entry(b.name(*thread)).or_default().push_back(*thread);
    }
    let mut partners: Vec<Option<ThreadIdx>> =
        of_a.iter().map(|thread| by_name.get_mut(a.name(*thread))?.pop_front()).collect();
    let taken: HashSet<usize> = partners.iter().flatten().map(|thread| thread.index()).collect();
    let mut rest = of_b.iter().copied().filter(|thread| !taken.contains(&thread.index()));
    for partner in &mut partners {
        if partner.is_none() {
            *partner = rest.next();
        }
    }
    of_a.iter().zip(partners).filter_map(|(in_a, partner)| Some((*in_a, partner?))).collect()
}
