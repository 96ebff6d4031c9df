//! Decides which agents are shown by themselves, and which are folded into a box with others.
//!
//! An agent that is not shown is folded into the box of its parent if the parent is folded too. If the parent is shown,
//! its folded children share a box with those that are alike. So the boxes form a tree like the agents do.

use std::collections::HashMap;

use trace_explain::postmortem::Category;
use trace_reducer::model::{Handle, Origin, Symbol, ThreadIdx};

use super::facts::{Facts, is_trouble};
use super::model::Mark;
use super::options::{MIN_ALIKE_SIBLINGS, Options};

/// What the agents of one box have in common besides their parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Name without digits, role, model, outcome, and whether they have children.
    Looks,
    /// Whether they or agents below them had trouble.
    Trouble,
    /// Nothing.
    Parent,
}

impl Likeness {
    pub(super) const ALL: [Self; 3] = [Self::Looks, Self::Trouble, Self::Parent];
}

/// The properties that agents that look alike have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Look {
    stem: String,
    role: Option<Symbol>,
    model: Option<Symbol>,
    is_parent: bool,
    worst_below: Mark,
    cause: Option<Category>,
}

/// The agents of a picture.
pub(super) struct Tree {
    /// The threads of the picture, parents first.
    pub(super) threads: Vec<ThreadIdx>,
    /// For each thread, its parent. `None` if the parent is not in the picture.
    parents: Vec<Option<ThreadIdx>>,
    /// For each thread, the worst mark of it and of all threads below it.
    worst_below: Vec<Mark>,
    /// For each thread, the number of its look. Threads that look alike have the same number.
    looks: Vec<u32>,
    /// What can be shown by itself, the most important first. The threads of one entry are shown together.
    pub(super) entries: Vec<Vec<ThreadIdx>>,
    /// How many entries at the beginning are agents with trouble or their ancestors.
    pub(super) entries_of_trouble: usize,
}

/// The boxes of a picture.
pub(super) struct Boxes {
    /// For each box, its agents, parents first.
    pub(super) members: Vec<Vec<ThreadIdx>>,
    /// For each thread, its box. `None` if the thread is not in the picture.
    pub(super) of: Vec<Option<usize>>,
    /// For each box, whether it is one agent that is shown by itself.
    pub(super) is_single: Vec<bool>,
}

impl Tree {
    /// Finds what can be shown of the agents of a picture. The threads must be given parents first.
    pub(super) fn new(facts: &Facts<'_>, threads: Vec<ThreadIdx>, options: &Options) -> Self {
        let all = facts.trace.threads.len();
        let mut is_in = vec![false; all];
        threads.iter().for_each(|thread| is_in[thread.index()] = true);
        let mut parents = vec![None; all];
        let mut worst_below = vec![Mark::Fine; all];
        let mut is_parent = vec![false; all];
        for thread in threads.iter().rev() {
            let index = thread.index();
            worst_below[index] = worst_below[index].max(facts.thread_mark(*thread));
            if let Some(parent) = facts.family.parent(*thread).filter(|parent| is_in[parent.index()]) {
                parents[index] = Some(parent);
                is_parent[parent.index()] = true;
                worst_below[parent.index()] = worst_below[parent.index()].max(worst_below[index]);
            }
        }
        let mut known: HashMap<Look, u32> = HashMap::new();
        let mut looks = vec![0; all];
        for thread in &threads {
            let number = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let look = look(facts, *thread, is_parent[thread.index()], worst_below[thread.index()]);
            looks[thread.index()] = *known.entry(look).or_insert(number);
        }
        let mut tree = Self { threads, parents, worst_below, looks, entries: Vec::new(), entries_of_trouble: 0 };
        tree.list_entries(facts, options);
        tree
    }

    pub(super) fn parent(&self, thread: ThreadIdx) -> Option<ThreadIdx> {
        self.parents[thread.index()]
    }

    fn list_entries(&mut self, facts: &Facts<'_>, options: &Options) {
        let mut is_listed = vec![false; facts.trace.threads.len()];
        // Of the agents with the same trouble below the same parent, the first is listed early. The others are listed
        // after each kind of trouble has had one.
        let mut seen: HashMap<(Option<ThreadIdx>, Mark, Option<Category>), usize> = HashMap::new();
        let mut troubled = Vec::new();
        for (place, thread) in self.threads.iter().enumerate() {
            let mark = facts.thread_mark(*thread);
            if is_trouble(mark) {
                let before = seen.entry((self.parent(*thread), mark, cause(facts, *thread))).or_default();
                troubled.push((*before, std::cmp::Reverse(mark), place));
                *before += 1;
            }
        }
        troubled.sort_unstable();
        let mut entries = Vec::new();
        let mut way = Vec::new();
        for (_, _, place) in troubled {
            let thread = self.threads[place];
            let mut next = Some(thread);
            while let Some(upper) = next.filter(|upper| !is_listed[upper.index()]) {
                is_listed[upper.index()] = true;
                way.push(upper);
                next = self.parent(upper);
            }
            // The agent itself comes first, then its ancestors from the top.
            if way.first() == Some(&thread) {
                entries.push(vec![way.remove(0)]);
            }
            entries.extend(way.drain(..).rev().map(|upper| vec![upper]));
        }
        self.entries_of_trouble = entries.len();
        entries.extend(self.well(facts, options, &is_listed));
        self.entries = entries;
    }

    /// Lists the agents without trouble, the highest in the tree first. Agents that look alike form one entry.
    fn well(&self, facts: &Facts<'_>, options: &Options, is_listed: &[bool]) -> Vec<Vec<ThreadIdx>> {
        let mut alike: HashMap<(Option<ThreadIdx>, u32), usize> = HashMap::new();
        let mut families: Vec<Vec<ThreadIdx>> = Vec::new();
        for thread in self.threads.iter().filter(|thread| !is_listed[thread.index()]) {
            let family = *alike.entry((self.parent(*thread), self.looks[thread.index()])).or_insert_with(|| {
                families.push(Vec::new());
                families.len() - 1
            });
            families[family].push(*thread);
        }
        // If an agent is never shown by itself, neither are the agents below it.
        let mut can_show = is_listed.to_vec();
        families.sort_by_key(|family| facts.family.depth(family[0]));
        families.retain(|family| {
            let parent_shows = self.parent(family[0]).is_none_or(|parent| can_show[parent.index()]);
            let is_many = options.folds_siblings() && family.len() >= MIN_ALIKE_SIBLINGS;
            let shows = parent_shows && !is_many && facts.family.depth(family[0]) <= options.max_depth();
            family.iter().for_each(|thread| can_show[thread.index()] = shows);
            shows
        });
        families
    }

    /// Puts agents into boxes such that the first `entries` entries are shown by themselves.
    pub(super) fn boxes(&self, entries: usize, likeness: Likeness) -> Boxes {
        let mut is_shown = vec![false; self.parents.len()];
        self.entries[..entries].iter().flatten().for_each(|thread| is_shown[thread.index()] = true);
        self.boxes_around(&is_shown, likeness)
    }

    /// Puts agents into boxes such that the agents in `is_shown` are shown by themselves.
    pub(super) fn boxes_around(&self, is_shown: &[bool], likeness: Likeness) -> Boxes {
        let all = self.parents.len();
        // An agent with a shown agent below it does not share a box with one that has none.
        let mut leads_on = vec![false; all];
        for thread in self.threads.iter().rev() {
            if let Some(parent) = self.parent(*thread) {
                leads_on[parent.index()] |= leads_on[thread.index()] || is_shown[thread.index()];
            }
        }
        let mut boxes = Boxes { members: Vec::new(), of: vec![None; all], is_single: Vec::new() };
        let mut folded: HashMap<(Option<ThreadIdx>, bool, u32), usize> = HashMap::new();
        for thread in &self.threads {
            let index = thread.index();
            let parent = self.parent(*thread);
            let place = if is_shown[index] {
                boxes.add(true)
            } else if let Some(parent) = parent.filter(|parent| !is_shown[parent.index()]) {
                boxes.of[parent.index()].unwrap_or_default()
            } else {
                let kind = match likeness {
                    Likeness::Looks => (parent, leads_on[index], self.looks[index]),
                    Likeness::Trouble => (parent, false, u32::from(is_trouble(self.worst_below[index]))),
                    Likeness::Parent => (parent, false, 0),
                };
                *folded.entry(kind).or_insert_with(|| boxes.add(false))
            };
            boxes.of[index] = Some(place);
            boxes.members[place].push(*thread);
        }
        boxes
    }
}

impl Boxes {
    fn add(&mut self, is_single: bool) -> usize {
        self.members.push(Vec::new());
        self.is_single.push(is_single);
        self.members.len() - 1
    }
}

fn look(facts: &Facts<'_>, thread: ThreadIdx, is_parent: bool, worst_below: Mark) -> Look {
    let known = &facts.trace.threads[thread];
    let role = match known.origin {
        Origin::Root => None,
        Origin::Spawned { agent_role, .. } => Some(agent_role),
    };
    Look {
        stem: stem(facts, thread),
        role,
        model: known.default_model,
        is_parent,
        worst_below,
        cause: cause(facts, thread),
    }
}

/// Returns the name of an agent without digits.
fn stem(facts: &Facts<'_>, thread: ThreadIdx) -> String {
    let path = facts.trace.text(facts.trace.threads[thread].agent_path);
    let name = path.rsplit('/').next().unwrap_or(path);
    name.chars().filter(|c| !c.is_numeric()).collect()
}

/// Returns whether a folded node may describe its agents as alike: they have the same parent and the same outcome, and
/// their names differ only by digits.
pub(super) fn are_alike(facts: &Facts<'_>, members: &[ThreadIdx]) -> bool {
    let looks = |thread: &ThreadIdx| (facts.family.parent(*thread), facts.thread_mark(*thread), stem(facts, *thread));
    members.split_first().is_none_or(|(first, others)| {
        let first = looks(first);
        others.iter().all(|other| looks(other) == first)
    })
}

/// Returns the category of the root cause of a thread's trouble.
fn cause(facts: &Facts<'_>, thread: ThreadIdx) -> Option<Category> {
    let verdict = facts.verdict(facts.worst_turn(thread)?)?;
    verdict.root_cause.as_ref().filter(|_| verdict.outcome.needs_attention()).map(|cause| cause.category)
}
