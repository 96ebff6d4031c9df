//! The views of turns and of calls: what each agent did, in the order of time.
//!
//! In the view of turns, each turn has a node, which is followed by the turn's tool calls. In the view of calls, each
//! turn is a group with its inference calls and tool calls, and arrows show which inference call asked for which tool
//! call and which one was the first to read its output. In both views an agent is a group around its turns. Nodes for
//! which there is no room are folded with their neighbours: calls of one tool in a row, then the calls of a turn between
//! two that are shown, then whole turns, then whole agents.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use trace_explain::costs::Sums;
use trace_explain::{CausalGraph, Object, Relation};
use trace_reducer::model::{Handle, ThreadIdx, TurnIdx, Window};

use super::Diagram;
use super::agents::{choose, folded_node, group_of, index_of, window_text};
use super::facts::{Facts, calls, is_trouble, tally, tokens, word};
use super::model::{Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};
use super::options::{DiagramError, MIN_EQUAL_CALLS, Options};
use super::text::{count, duration, label, line, number, parts, tooltip};
use super::tree::{Boxes, Likeness, Tree};

/// Most kinds of calls that a folded node names.
const MAX_KINDS: usize = 4;

pub(super) fn chain(facts: &Facts<'_>, options: &Options) -> Result<Diagram, DiagramError> {
    let turn = facts.asked_turn(options)?;
    let thread = facts.asked_thread(options)?.or_else(|| turn.map(|turn| facts.trace.turns[turn].thread));
    let threads = match thread {
        Some(thread) => vec![thread],
        None => facts.family.order().to_vec(),
    };
    let work = Work::new(facts, &threads, turn, options);
    let tree = Tree::new(facts, threads, options);
    let plan = Plan::new(facts, &work, &tree, options.view);
    let nodes = |entries: usize, likeness: Likeness| plan.boxes(entries, likeness).0.len();
    let (shown, likeness) = choose(plan.entries.len(), plan.entries_of_trouble, options.max_nodes.max(1), nodes);
    let (boxes, agents) = plan.boxes(shown, likeness);
    let picture = Picture { facts, work: &work, view: options.view, tree: &tree };
    let mut diagram = picture.draw(&boxes, &agents);
    let what = match (turn, thread) {
        (Some(turn), _) => {
            format!("turn {} of {}", facts.turn_number(turn), facts.thread_name(facts.trace.turns[turn].thread))
        }
        (None, Some(thread)) => facts.thread_name(thread),
        (None, None) => format!("session {}", facts.trace.text(facts.trace.rollout_id)),
    };
    let heading = if options.view == View::Turns { "Turns" } else { "Requests and calls" };
    let turns = work.slots.iter().filter(|slot| slot.turn.is_some()).count();
    let all = work.items.iter().map(|item| item.objects.len()).sum::<usize>();
    let noun = if options.view == View::Turns { "call" } else { "request and call" };
    let all = if options.view == View::Turns {
        count(all as u64, noun)
    } else {
        format!("{} requests and calls", number(all as u64))
    };
    diagram.title = parts([
        format!("{heading} of {}", line(&what, 80)),
        count(tree.threads.len() as u64, "agent"),
        count(turns as u64, "turn"),
        all,
        duration(facts.clock.wall_ms()),
    ]);
    Ok(diagram)
}

/// A call, or several of the same kind in a row.
struct Item {
    objects: Vec<Object>,
    name: String,
    mark: Mark,
    slot: usize,
}

/// A turn, or what a thread did outside of turns.
struct Slot {
    thread: ThreadIdx,
    turn: Option<TurnIdx>,
    items: Range<usize>,
    mark: Mark,
}

/// Objects with the seqs of the events that started them.
type Begun = Vec<(u64, Object)>;

/// Everything that a picture is about, in the order in which it is drawn.
struct Work {
    items: Vec<Item>,
    slots: Vec<Slot>,
    /// For each thread, the range of its slots.
    lanes: Vec<Range<usize>>,
}

impl Work {
    fn new(facts: &Facts<'_>, threads: &[ThreadIdx], only: Option<TurnIdx>, options: &Options) -> Self {
        let trace = facts.trace;
        let mut by_turn: HashMap<(ThreadIdx, Option<TurnIdx>), Begun> = HashMap::new();
        let mut add = |thread: ThreadIdx, turn: Option<TurnIdx>, seq: u64, object: Object| {
            // Only a forged bundle has a call that names a turn of another thread. Treat it as a call outside of turns.
            let turn = turn.filter(|turn| trace.turns[*turn].thread == thread);
            by_turn.entry((thread, turn)).or_default().push((seq, object));
        };
        for (index, call) in trace.tools.iter() {
            add(call.thread, call.turn, call.execution.started.seq, Object::Tool(index));
        }
        for (index, compaction) in trace.compactions.iter() {
            add(compaction.thread, Some(compaction.turn), compaction.installed.seq, Object::Compaction(index));
        }
        let started: HashSet<usize> =
            trace.tools.values().filter_map(|call| call.started_code_cell).map(Handle::index).collect();
        for (index, cell) in trace.cells.iter().filter(|(index, _)| !started.contains(&index.index())) {
            add(cell.thread, Some(cell.turn), cell.execution.started.seq, Object::Cell(index));
        }
        if options.view == View::Calls {
            for (index, call) in trace.inferences.iter() {
                add(call.thread, Some(call.turn), call.execution.started.seq, Object::Inference(index));
            }
            for (index, request) in trace.compaction_requests.iter() {
                let seq = request.execution.started.seq;
                add(request.thread, Some(request.turn), seq, Object::CompactionRequest(index));
            }
        }
        let mut work = Self { items: Vec::new(), slots: Vec::new(), lanes: vec![0..0; trace.threads.len()] };
        for thread in threads {
            let from = work.slots.len();
            let turns = facts.family.turns(*thread).iter().copied().map(Some);
            for turn in std::iter::once(None).chain(turns) {
                let objects = by_turn.remove(&(*thread, turn));
                let is_asked = only.is_none() || only == turn;
                if is_asked && (turn.is_some() || objects.is_some()) {
                    work.add_slot(facts, *thread, turn, objects.unwrap_or_default(), options);
                }
            }
            work.lanes[thread.index()] = from..work.slots.len();
        }
        work
    }

    fn add_slot(
        &mut self,
        facts: &Facts<'_>,
        thread: ThreadIdx,
        turn: Option<TurnIdx>,
        mut objects: Begun,
        options: &Options,
    ) {
        objects.sort_unstable();
        let slot = self.slots.len();
        let from = self.items.len();
        let mut run: Vec<Item> = Vec::new();
        for (_, object) in objects {
            let item = Item { objects: vec![object], name: name_of(facts, object), mark: facts.mark(object), slot };
            let joins = |last: &Item| last.name == item.name && last.mark == Mark::Fine && item.mark == Mark::Fine;
            let is_tool = matches!(object, Object::Tool(_)) && options.folds_tools();
            if !(is_tool && run.last().is_some_and(joins)) {
                self.end_run(&mut run);
            }
            run.push(item);
        }
        self.end_run(&mut run);
        if options.view == View::Calls && options.folds_tools() {
            self.fold_equal_steps(from);
        }
        let mark = turn.map_or(Mark::Fine, |turn| facts.turn_mark(turn));
        self.slots.push(Slot { thread, turn, items: from..self.items.len(), mark });
    }

    /// Merges steps in a row that did the same into one item, if there are at least [`MIN_EQUAL_CALLS`] of them. The
    /// steps begin at the item with index `from`.
    fn fold_equal_steps(&mut self, from: usize) {
        let mut alike: Vec<Vec<Item>> = Vec::new();
        for step in steps(self.items.split_off(from)) {
            if !alike.last().is_some_and(|last| are_equal(last, &step)) {
                self.end_steps(&mut alike);
            }
            alike.push(step);
        }
        self.end_steps(&mut alike);
    }

    fn end_steps(&mut self, alike: &mut Vec<Vec<Item>>) {
        let is_many = alike.len() >= MIN_EQUAL_CALLS;
        let mut items = alike.drain(..).flatten();
        if is_many && let Some(mut first) = items.next() {
            first.objects.extend(items.flat_map(|item| item.objects));
            self.items.push(first);
        } else {
            self.items.extend(items);
        }
    }

    /// Appends calls of the same tool in a row, as one item if there are at least [`MIN_EQUAL_CALLS`] of them.
    fn end_run(&mut self, run: &mut Vec<Item>) {
        if run.len() < MIN_EQUAL_CALLS {
            self.items.append(run);
        } else if let Some(mut first) = run.drain(..).reduce(|mut first, next| {
            first.objects.extend(next.objects);
            first
        }) {
            first.objects.shrink_to_fit();
            self.items.push(first);
        }
    }
}

/// Cuts items into steps: an inference call with the tool calls that follow it.
fn steps(items: Vec<Item>) -> Vec<Vec<Item>> {
    let mut steps: Vec<Vec<Item>> = Vec::new();
    for item in items {
        match steps.last_mut() {
            Some(step) if !matches!(item.objects[0], Object::Inference(_)) => step.push(item),
            _ => steps.push(vec![item]),
        }
    }
    steps
}

/// Returns whether two steps made the same calls and all of them went well.
fn are_equal(a: &[Item], b: &[Item]) -> bool {
    let is_equal = |(a, b): (&Item, &Item)| {
        a.name == b.name && a.objects.len() == b.objects.len() && a.mark == Mark::Fine && b.mark == Mark::Fine
    };
    a.len() > 1 && a.len() == b.len() && a.iter().zip(b).all(is_equal)
}

/// Returns the name of a kind of call.
fn name_of(facts: &Facts<'_>, object: Object) -> String {
    match object {
        Object::Tool(tool) => facts.tool_name(tool),
        Object::Inference(_) => "request".to_owned(),
        Object::CompactionRequest(_) => "request for a compaction".to_owned(),
        Object::Compaction(_) => "compaction".to_owned(),
        _ => "code".to_owned(),
    }
}

/// Something that can be shown by itself. The turn and the agent that contain it are then shown too.
enum Entry {
    Threads(Vec<ThreadIdx>),
    Slot(usize),
    Item(usize),
}

/// A node of the picture.
#[derive(Debug, Clone)]
enum Place {
    /// Agents that are folded: the index of a box of the tree.
    Agents(usize),
    /// An agent that did nothing.
    Nothing(ThreadIdx),
    /// A turn.
    Slot(usize),
    /// Turns that are folded.
    Slots(Range<usize>),
    /// Calls. Several items are folded into one node.
    Items(Range<usize>),
}

struct Plan<'a> {
    work: &'a Work,
    tree: &'a Tree,
    entries: Vec<Entry>,
    entries_of_trouble: usize,
    /// Whether turns have nodes. Otherwise they are groups.
    turns_are_nodes: bool,
}

impl<'a> Plan<'a> {
    fn new(facts: &Facts<'_>, work: &'a Work, tree: &'a Tree, view: View) -> Self {
        let (troubled, well) = tree.entries.split_at(tree.entries_of_trouble);
        let mut entries: Vec<Entry> = troubled.iter().cloned().map(Entry::Threads).collect();
        let slots = |wanted: fn(Mark) -> bool| {
            let slots = work.slots.iter().enumerate().filter(move |(_, slot)| wanted(slot.mark));
            slots.map(|(index, _)| Entry::Slot(index))
        };
        entries.extend(slots(is_trouble));
        let is_troubled = |item: &Item| is_trouble(item.mark);
        let is_blamed = |item: &Item| item.objects.iter().any(|object| facts.blame(*object).is_some());
        let items = |wanted: &dyn Fn(&Item) -> bool| -> Vec<Entry> {
            let items = work.items.iter().enumerate().filter(|(_, item)| wanted(item));
            items.map(|(index, _)| Entry::Item(index)).collect()
        };
        entries.extend(items(&|item| is_troubled(item) && is_blamed(item)));
        entries.extend(items(&|item| is_troubled(item) && !is_blamed(item)));
        let entries_of_trouble = entries.len();
        entries.extend(well.iter().cloned().map(Entry::Threads));
        let mut can_show = vec![false; facts.trace.threads.len()];
        tree.entries.iter().flatten().for_each(|thread| can_show[thread.index()] = true);
        let shows = |slot: usize| can_show[work.slots[slot].thread.index()];
        let of_slots = slots(|mark| !is_trouble(mark));
        entries.extend(of_slots.filter(|entry| matches!(entry, Entry::Slot(slot) if shows(*slot))));
        entries.extend(items(&|item| !is_troubled(item) && shows(item.slot)));
        Self { work, tree, entries, entries_of_trouble, turns_are_nodes: view == View::Turns }
    }

    /// Returns the nodes, agent by agent, such that the first `entries` entries are shown by themselves.
    fn boxes(&self, entries: usize, likeness: Likeness) -> (Vec<Place>, Boxes) {
        let work = self.work;
        let mut threads = vec![false; work.lanes.len()];
        let mut slots = vec![false; work.slots.len()];
        let mut items = vec![false; work.items.len()];
        for entry in &self.entries[..entries] {
            match entry {
                Entry::Threads(shown) => shown.iter().for_each(|thread| threads[thread.index()] = true),
                Entry::Slot(slot) => slots[*slot] = true,
                Entry::Item(item) => items[*item] = true,
            }
        }
        for (index, item) in work.items.iter().enumerate() {
            slots[item.slot] |= items[index];
        }
        for (index, slot) in work.slots.iter().enumerate() {
            threads[slot.thread.index()] |= slots[index];
        }
        let agents = self.tree.boxes_around(&threads, likeness);
        let mut places = Vec::new();
        for (place, members) in agents.members.iter().enumerate() {
            if !agents.is_single[place] {
                places.push(Place::Agents(place));
                continue;
            }
            let lane = work.lanes[members[0].index()].clone();
            if lane.is_empty() {
                places.push(Place::Nothing(members[0]));
            }
            for slots in runs(lane, |slot| slots[slot]) {
                if !slots.1 {
                    places.push(Place::Slots(slots.0));
                    continue;
                }
                let slot = &work.slots[slots.0.start];
                let has_node = slot.turn.is_some() && (self.turns_are_nodes || slot.items.is_empty());
                if has_node {
                    places.push(Place::Slot(slots.0.start));
                }
                let runs = runs(slot.items.clone(), |item| items[item]);
                places.extend(runs.into_iter().map(|(items, _)| Place::Items(items)));
            }
        }
        (places, agents)
    }
}

/// Cuts a range into the indexes that are shown, one by one, and runs of indexes that are not.
fn runs(range: Range<usize>, is_shown: impl Fn(usize) -> bool) -> Vec<(Range<usize>, bool)> {
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    for index in range {
        let shown = is_shown(index);
        match runs.last_mut() {
            Some((last, false)) if !shown => last.end = index + 1,
            _ => runs.push((index..index + 1, shown)),
        }
    }
    runs
}

struct Picture<'a> {
    facts: &'a Facts<'a>,
    work: &'a Work,
    view: View,
    tree: &'a Tree,
}

/// The nodes in which objects are found.
#[derive(Default)]
struct Where {
    objects: HashMap<Object, NodeIdx>,
    turns: HashMap<TurnIdx, NodeIdx>,
    /// The first node of each thread.
    threads: HashMap<ThreadIdx, NodeIdx>,
    /// Nodes that follow each other in one thread.
    neighbours: Vec<(NodeIdx, NodeIdx)>,
}

impl Picture<'_> {
    fn draw(&self, places: &[Place], agents: &Boxes) -> Diagram {
        let mut diagram = Diagram {
            view: self.view,
            title: String::new(),
            groups: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            notes: Vec::new(),
        };
        let mut found = Where::default();
        let mut groups: HashMap<ThreadIdx, GroupIdx> = HashMap::new();
        let mut turn_groups: HashMap<usize, GroupIdx> = HashMap::new();
        let mut last: HashMap<ThreadIdx, NodeIdx> = HashMap::new();
        let mut hidden = Hidden::default();
        for place in places {
            let index = NodeIdx(index_of(diagram.nodes.len()));
            let thread = match place {
                Place::Agents(place) => {
                    let members = &agents.members[*place];
                    hidden.agents += members.len();
                    for thread in members {
                        found.threads.insert(*thread, index);
                        self.find_slots(self.work.lanes[thread.index()].clone(), index, &mut found);
                    }
                    diagram.nodes.push(self.agents_node(members));
                    continue;
                }
                Place::Nothing(thread) => *thread,
                Place::Slot(slot) => self.work.slots[*slot].thread,
                Place::Slots(slots) => self.work.slots[slots.start].thread,
                Place::Items(items) => self.work.slots[self.work.items[items.start].slot].thread,
            };
            let group = *groups.entry(thread).or_insert_with(|| {
                diagram.groups.push(group_of(self.facts, thread));
                GroupIdx(index_of(diagram.groups.len() - 1))
            });
            found.threads.entry(thread).or_insert(index);
            if let Some(before) = last.insert(thread, index) {
                found.neighbours.push((before, index));
            }
            let node = match place {
                Place::Agents(_) => continue,
                Place::Nothing(thread) => self.nothing_node(*thread, group),
                Place::Slot(slot) => {
                    found.turns.extend(self.work.slots[*slot].turn.map(|turn| (turn, index)));
                    self.turn_node(*slot, group)
                }
                Place::Slots(slots) => {
                    self.find_slots(slots.clone(), index, &mut found);
                    hidden.turns += slots.len();
                    self.turns_node(slots.clone(), group)
                }
                Place::Items(items) => {
                    self.find_items(items.clone(), index, &mut found);
                    let slot = self.work.items[items.start].slot;
                    let group = match (self.view, self.work.slots[slot].turn) {
                        (View::Calls, Some(turn)) => *turn_groups.entry(slot).or_insert_with(|| {
                            diagram.groups.push(self.turn_group(turn, group));
                            GroupIdx(index_of(diagram.groups.len() - 1))
                        }),
                        _ => group,
                    };
                    let node = self.items_node(items.clone(), group);
                    if node.count > 1 {
                        hidden.calls += node.count as usize;
                    }
                    node
                }
            };
            diagram.nodes.push(node);
        }
        diagram.edges = self.edges(&found);
        diagram.notes = hidden.notes();
        if diagram.edges.iter().any(|edge| edge.style == EdgeStyle::Cause) {
            let told = "arrows lead from a request to the calls that it asked for, and from a call to the first request that read its output";
            diagram.notes.push(told.to_owned());
        }
        diagram
    }

    fn find_slots(&self, slots: Range<usize>, node: NodeIdx, found: &mut Where) {
        for slot in &self.work.slots[slots] {
            found.turns.extend(slot.turn.map(|turn| (turn, node)));
            self.find_items(slot.items.clone(), node, found);
        }
    }

    fn find_items(&self, items: Range<usize>, node: NodeIdx, found: &mut Where) {
        for item in &self.work.items[items] {
            if let Some(turn) = self.work.slots[item.slot].turn {
                found.turns.entry(turn).or_insert(node);
            }
            found.objects.extend(item.objects.iter().map(|object| (*object, node)));
        }
    }

    fn edges(&self, found: &Where) -> Vec<Edge> {
        let mut arrows = Arrows::default();
        if self.view == View::Calls {
            let graph = CausalGraph::new(self.facts.session);
            for item in self.work.items.iter().flat_map(|item| &item.objects) {
                self.add_calls(&graph, *item, found, &mut arrows);
            }
        }
        let mut linked: HashSet<(NodeIdx, NodeIdx)> = arrows.all.iter().map(|edge| (edge.from, edge.to)).collect();
        linked.extend(arrows.all.iter().map(|edge| (edge.to, edge.from)));
        for (from, to) in found.neighbours.iter().filter(|ends| !linked.contains(ends)) {
            arrows.add(*from, *to, EdgeStyle::Next, "next");
        }
        for thread in &self.tree.threads {
            let Some(birth) = self.facts.family.birth(*thread) else { continue };
            let of_tool = birth.tool.and_then(|tool| found.objects.get(&Object::Tool(tool)));
            let of_turn = || birth.turn.and_then(|turn| found.turns.get(&turn));
            let from = of_tool.or_else(of_turn).or_else(|| found.threads.get(&birth.parent));
            let (Some(from), Some(to)) = (from, found.threads.get(thread)) else { continue };
            arrows.add(*from, *to, EdgeStyle::Spawn, "spawn");
        }
        let mut edges = arrows.all;
        for edge in &mut edges {
            let times = if edge.count > 1 { format!("{} × ", number(edge.count.into())) } else { String::new() };
            // Chains are long, and words on each arrow would double their length. A note tells what the arrows mean.
            edge.label = match edge.style {
                EdgeStyle::Spawn => label([format!("{times}{}", edge.tooltip)]),
                EdgeStyle::Cause if edge.count > 1 => label([format!("× {}", number(edge.count.into()))]),
                _ => Vec::new(),
            };
            edge.tooltip = format!("{times}{}", edge.tooltip);
        }
        edges
    }

    /// Adds the arrows from an inference call to the calls that it asked for, or from a call to the inference call that
    /// read its output first.
    fn add_calls(&self, graph: &CausalGraph, object: Object, found: &Where, arrows: &mut Arrows) {
        let Some(node) = found.objects.get(&object) else { return };
        for (effect, link) in graph.effects(object) {
            match link.relation {
                Relation::Requested => {
                    if let Some(to) = found.objects.get(&effect) {
                        arrows.add(*node, *to, EdgeStyle::Cause, "asked for");
                    }
                }
                Relation::ProducedBy if !matches!(object, Object::Inference(_)) => {
                    for (reader, link) in graph.effects(effect) {
                        let to = found.objects.get(&reader).filter(|_| link.relation == Relation::Observed);
                        if let Some(to) = to {
                            arrows.add(*node, *to, EdgeStyle::Cause, "read by");
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn agents_node(&self, members: &[ThreadIdx]) -> Node {
        let node = folded_node(self.facts, members);
        let slots = members.iter().flat_map(|thread| &self.work.slots[self.work.lanes[thread.index()].clone()]);
        let objects: usize = slots.map(|slot| self.weight(slot)).sum();
        let idle = members.iter().filter(|thread| self.work.lanes[thread.index()].is_empty()).count();
        Node { count: index_of(objects + idle), ..node }
    }

    /// Returns how many objects a turn stands for: its calls, and the turn itself if it has a node.
    fn weight(&self, slot: &Slot) -> usize {
        let calls: usize = self.work.items[slot.items.clone()].iter().map(|item| item.objects.len()).sum();
        calls + usize::from(slot.turn.is_some() && (self.view == View::Turns || calls == 0))
    }

    fn nothing_node(&self, thread: ThreadIdx, group: GroupIdx) -> Node {
        let mark = self.facts.thread_mark(thread);
        Node {
            id: format!("agent_{}", thread.index()),
            group: Some(group),
            shape: Shape::Agent,
            label: label([
                "no turns".to_owned(),
                if mark == Mark::Fine { String::new() } else { mark.as_str().to_owned() },
            ]),
            tooltip: tooltip([self.facts.thread_name(thread)]),
            mark,
            object: Some(self.facts.name(Object::Thread(thread))),
            count: 1,
        }
    }

    fn turn_lines(&self, turn: TurnIdx) -> Vec<String> {
        let (facts, known) = (self.facts, &self.facts.trace.turns[turn]);
        let sums = facts.turn_sums(turn);
        let mut lines = vec![
            parts([format!("turn {}", facts.turn_number(turn)), word(facts.turn_mark(turn)).to_owned()]),
            parts([facts.since_start(known.execution.started.seq), facts.took(&known.execution)]),
            calls(sums),
            tokens(sums),
        ];
        lines.extend(facts.cause_of(turn));
        lines
    }

    fn turn_tooltip(&self, turn: TurnIdx) -> String {
        let (facts, known) = (self.facts, &self.facts.trace.turns[turn]);
        let verdict = facts.verdict(turn).map(|verdict| verdict.verdict.clone());
        let lines = [facts.name(Object::Turn(turn)).to_string(), window_text(facts, &known.execution)];
        tooltip(lines.into_iter().chain(verdict))
    }

    fn turn_group(&self, turn: TurnIdx, parent: GroupIdx) -> Group {
        Group {
            id: format!("turn_{}", turn.index()),
            parent: Some(parent),
            label: label(self.turn_lines(turn)),
            tooltip: self.turn_tooltip(turn),
            mark: self.facts.turn_mark(turn),
            object: Some(self.facts.name(Object::Turn(turn))),
        }
    }

    fn turn_node(&self, slot: usize, group: GroupIdx) -> Node {
        let slot = &self.work.slots[slot];
        let (lines, about, object) = match slot.turn {
            Some(turn) => (self.turn_lines(turn), self.turn_tooltip(turn), Some(Object::Turn(turn))),
            None => (Vec::new(), String::new(), None),
        };
        Node {
            id: format!("turn_{}", slot.turn.map_or(0, Handle::index)),
            group: Some(group),
            shape: Shape::Turn,
            label: label(lines),
            tooltip: about,
            mark: slot.mark,
            object: object.map(|object| self.facts.name(object)),
            count: 1,
        }
    }

    fn turns_node(&self, slots: Range<usize>, group: GroupIdx) -> Node {
        let facts = self.facts;
        let slots = &self.work.slots[slots];
        let turns: Vec<TurnIdx> = slots.iter().filter_map(|slot| slot.turn).collect();
        let mut sums = Sums::default();
        turns.iter().for_each(|turn| sums.add(facts.turn_sums(*turn)));
        let heading = match (turns.first(), turns.last()) {
            (Some(first), Some(last)) if first != last => {
                let (from, until) = (facts.turn_number(*first), facts.turn_number(*last));
                format!("turns {} to {}", number(from as u64), number(until as u64))
            }
            (Some(turn), _) => format!("turn {}", facts.turn_number(*turn)),
            (None, _) => "outside of turns".to_owned(),
        };
        let marks = || slots.iter().map(|slot| slot.mark);
        let worst = turns.iter().rev().max_by_key(|turn| facts.turn_mark(**turn));
        let cause = worst.map(|turn| facts.cause_of(*turn)).unwrap_or_default();
        let lines = [heading, tally(marks()), calls(&sums), tokens(&sums)];
        let names = turns.iter().map(|turn| facts.name(Object::Turn(*turn)).to_string());
        Node {
            id: match turns.first() {
                Some(turn) => format!("turns_{}", turn.index()),
                None => format!("outside_{}", slots[0].thread.index()),
            },
            group: Some(group),
            shape: Shape::Folded,
            label: label(lines.into_iter().chain(cause)),
            tooltip: tooltip(names),
            mark: marks().max().unwrap_or(Mark::Fine),
            object: None,
            count: index_of(slots.iter().map(|slot| self.weight(slot)).sum()),
        }
    }

    fn items_node(&self, items: Range<usize>, group: GroupIdx) -> Node {
        let items = &self.work.items[items];
        let objects: Vec<Object> = items.iter().flat_map(|item| &item.objects).copied().collect();
        if let [object] = objects[..] {
            return self.call_node(object, items[0].mark, group);
        }
        let marks = || items.iter().flat_map(|item| item.objects.iter().map(|_| item.mark));
        let mut counts: HashMap<String, u64> = HashMap::new();
        for object in &objects {
            *counts.entry(name_of(self.facts, *object)).or_default() += 1;
        }
        let mut kinds: Vec<(String, u64)> = counts.into_iter().collect();
        kinds.sort_by(|(a, a_count), (b, b_count)| (b_count, a).cmp(&(a_count, b)));
        let all = if kinds.len() > 1 { count(objects.len() as u64, "call") } else { String::new() };
        let more = kinds.len().saturating_sub(MAX_KINDS);
        let kinds = kinds.iter().take(MAX_KINDS).map(|(name, calls)| format!("{name} × {}", number(*calls)));
        let mut lines: Vec<String> = std::iter::once(all).chain(kinds).collect();
        if more > 0 {
            lines.push(format!("and {}", count(more as u64, "other kind")));
        }
        let bad = marks().filter(|mark| *mark != Mark::Fine);
        lines.push(tally(bad));
        let took: u64 =
            objects.iter().filter_map(|object| self.facts.clock.duration(&window_of(self.facts, *object)?)).sum();
        // This is a sum of durations and not a span of time: calls can run at the same time.
        lines.push(parts([self.since_start(objects[0]), format!("{} in all", duration(took))]));
        let about = objects.iter().map(|object| parts([name_of(self.facts, *object), self.subject(*object)]));
        Node {
            id: format!("calls_{}", id_of(objects[0])),
            group: Some(group),
            shape: Shape::Folded,
            label: label(lines),
            tooltip: tooltip(about),
            mark: marks().max().unwrap_or(Mark::Fine),
            object: None,
            count: index_of(objects.len()),
        }
    }

    fn call_node(&self, object: Object, mark: Mark, group: GroupIdx) -> Node {
        let facts = self.facts;
        let took = window_of(facts, object).map(|window| facts.took(&window)).unwrap_or_default();
        let mut lines = vec![name_of(facts, object), self.subject(object)];
        let end = match object {
            Object::Tool(tool) => facts.tool_end(tool),
            _ => {
                if mark == Mark::Fine {
                    String::new()
                } else {
                    mark.as_str().to_owned()
                }
            }
        };
        let made_good = if mark == Mark::Recovered { "made good later" } else { "" };
        lines.push(parts([end, made_good.to_owned()]));
        if let Some((category, message)) = facts.blame(object) {
            lines.extend([format!("cause: {}", category.as_str()), message.clone()]);
        }
        lines.push(parts([self.since_start(object), took]));
        let name = facts.name(object);
        Node {
            id: id_of(object),
            group: Some(group),
            shape: shape_of(object),
            label: label(lines),
            tooltip: tooltip([name.to_string(), self.subject(object)]),
            mark,
            object: Some(name),
            count: 1,
        }
    }

    fn since_start(&self, object: Object) -> String {
        self.facts.session.seq_of(object).map(|seq| self.facts.since_start(seq)).unwrap_or_default()
    }

    /// Returns what a call was about: the subject of a tool call, the model and the tokens of an inference call, and so
    /// on.
    fn subject(&self, object: Object) -> String {
        let trace = self.facts.trace;
        match object {
            Object::Tool(tool) => self.facts.tool_subject(tool),
            Object::Inference(inference) => {
                let call = &trace.inferences[inference];
                let usage = call
                    .usage
                    .map(|usage| format!("{} in, {} out", number(usage.input_tokens), number(usage.output_tokens)));
                parts([trace.text(call.model).to_owned(), usage.unwrap_or_default()])
            }
            Object::CompactionRequest(request) => trace.text(trace.compaction_requests[request].model).to_owned(),
            Object::Compaction(compaction) => {
                let compaction = &trace.compactions[compaction];
                let (before, after) = (compaction.input_items.len(), compaction.replacement_items.len());
                format!("{} became {}", count(before as u64, "item"), number(after as u64))
            }
            Object::Cell(cell) => trace.cells[cell].source_js.chars().take(200).collect(),
            _ => String::new(),
        }
    }
}

/// The arrows of a picture. Arrows with the same words between the same nodes are merged.
#[derive(Default)]
struct Arrows {
    all: Vec<Edge>,
    known: HashMap<(NodeIdx, NodeIdx, EdgeStyle, &'static str), usize>,
}

impl Arrows {
    fn add(&mut self, from: NodeIdx, to: NodeIdx, style: EdgeStyle, words: &'static str) {
        if from == to {
            return;
        }
        if let Some(place) = self.known.get(&(from, to, style, words)) {
            self.all[*place].count += 1;
            return;
        }
        self.known.insert((from, to, style, words), self.all.len());
        self.all.push(Edge {
            from,
            to,
            style,
            label: Vec::new(),
            tooltip: words.to_owned(),
            mark: Mark::Fine,
            object: None,
            count: 1,
        });
    }
}

/// How many objects a picture does not show by themselves.
#[derive(Default)]
struct Hidden {
    agents: usize,
    turns: usize,
    calls: usize,
}

impl Hidden {
    fn notes(&self) -> Vec<String> {
        let told = [(self.agents, "agent"), (self.turns, "turn"), (self.calls, "call")];
        let told = told.into_iter().filter(|(hidden, _)| *hidden > 0);
        told.map(|(hidden, noun)| {
            let verb = if hidden == 1 { "is" } else { "are" };
            format!("{} {verb} folded", count(hidden as u64, noun))
        })
        .collect()
    }
}

fn window_of(facts: &Facts<'_>, object: Object) -> Option<Window> {
    let trace = facts.trace;
    Some(match object {
        Object::Tool(tool) => {
            let call = &trace.tools[tool];
            // A command that was stopped has no end of its own, but its runtime has.
            if call.execution.ended.is_some() { call.execution } else { call.runtime.unwrap_or(call.execution) }
        }
        Object::Inference(inference) => trace.inferences[inference].execution,
        Object::Cell(cell) => trace.cells[cell].execution,
        Object::CompactionRequest(request) => trace.compaction_requests[request].execution,
        _ => return None,
    })
}

fn shape_of(object: Object) -> Shape {
    match object {
        Object::Inference(_) => Shape::Inference,
        Object::Cell(_) => Shape::Cell,
        Object::Compaction(_) | Object::CompactionRequest(_) => Shape::Compaction,
        Object::Thread(_) => Shape::Agent,
        Object::Turn(_) => Shape::Turn,
        Object::Item(_) => Shape::Item,
        _ => Shape::Tool,
    }
}

fn id_of(object: Object) -> String {
    match object {
        Object::Tool(tool) => format!("tool_{}", tool.index()),
        Object::Inference(inference) => format!("inference_{}", inference.index()),
        Object::Cell(cell) => format!("cell_{}", cell.index()),
        Object::Compaction(compaction) => format!("compaction_{}", compaction.index()),
        Object::CompactionRequest(request) => format!("compaction_request_{}", request.index()),
        _ => "object".to_owned(),
    }
}
