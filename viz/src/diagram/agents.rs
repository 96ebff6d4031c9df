//! The view of agents: their tree, their outcomes, and what they handed to each other.
//!
//! An agent that is shown by itself is a group with the agent's name as its heading and one node with its facts. Agents
//! that are folded together share a node. An arrow stands for all hand-overs of the same style and outcome between the
//! same two nodes. Its label has the numbers of these hand-overs in the order of the whole session, so that a reader
//! can follow the picture as a story.
//!
//! The tool call that started a hand-over gets a node of its own in the group of its agent if the call did not come out
//! well or a verdict blames it. For all other hand-overs, the tooltip of the arrow names the call and the item at its
//! ends. A hand-over that never arrived ends at a node of its own, which names the agent that it was meant for.

use std::collections::{HashMap, HashSet};

use trace_explain::Object;
use trace_explain::costs::Sums;
use trace_reducer::model::{Handle, Symbol, ThreadIdx, ToolIdx, ToolKind, Window};

use super::Diagram;
use super::facts::{Facts, calls, is_trouble, tally, tokens, word};
use super::fold::longest_fit;
use super::handovers::{Handover, handovers};
use super::model::{Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};
use super::options::{DiagramError, Options};
use super::text::{MAX_ARROW_COLUMNS, count, duration, label, line, number, parts, since_start, tooltip};
use super::tree::{Boxes, Likeness, Tree, are_alike};

/// Most hand-overs that an arrow lists one by one. An arrow for more of them has a summary.
const MAX_TOLD: usize = 3;

/// Most names of agents in the tooltip of a folded node.
const MAX_NAMES: usize = 16;

pub(super) fn agents(facts: &Facts<'_>, options: &Options) -> Result<Diagram, DiagramError> {
    if options.turn.is_some() {
        return Err(DiagramError::NoTurnsInView);
    }
    let top = facts.asked_thread(options)?;
    let is_asked = |thread: &ThreadIdx| top.is_none_or(|top| top == *thread || facts.family.is_above(top, *thread));
    let threads: Vec<ThreadIdx> = facts.family.order().iter().copied().filter(is_asked).collect();
    let all = handovers(facts);
    let (inside, outside): (Vec<&Handover>, Vec<&Handover>) = all
        .iter()
        .filter(|handover| is_asked(&handover.from) || handover.to.as_ref().is_some_and(is_asked))
        .partition(|handover| is_asked(&handover.from) && handover.to.as_ref().is_none_or(is_asked));
    let tree = Tree::new(facts, threads, options);
    let picture = Picture::new(facts, &tree, inside, options.max_nodes.max(1));
    Ok(picture.draw(top, outside.len()))
}

/// Returns how many entries of a tree are shown by themselves, and by which likeness the others are folded.
pub(super) fn choose(
    entries: usize,
    of_trouble: usize,
    max_nodes: usize,
    nodes: impl Fn(usize, Likeness) -> usize,
) -> (usize, Likeness) {
    let mut best: Option<(usize, usize, Likeness)> = None;
    for likeness in Likeness::ALL {
        let Some(fit) = longest_fit(entries, max_nodes, |entries| nodes(entries, likeness)) else { continue };
        // Agents that look alike are folded together, unless a coarser folding shows more entries with trouble.
        if best.is_none_or(|(trouble, _, _)| fit.min(of_trouble) > trouble) {
            best = Some((fit.min(of_trouble), fit, likeness));
        }
    }
    best.map_or((0, Likeness::Parent), |(_, fit, likeness)| (fit, likeness))
}

/// Where an arrow begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum End {
    /// An agent by itself, or folded with others: an index into [`Boxes::members`].
    Box(usize),
    /// A call of an agent.
    Tool(ToolIdx),
    /// The end of hand-overs to one agent that never arrived. The id is the id of the thread that they were meant for.
    Lost(Symbol),
    /// The same for hand-overs to any agent of one box.
    LostInBox(usize),
}

struct Picture<'a> {
    facts: &'a Facts<'a>,
    boxes: Boxes,
    /// Nodes beside the agents, each with the number of hand-overs or calls that it stands for.
    extra: Vec<(End, u32)>,
    handovers: Vec<&'a Handover>,
    /// Calls that should have handed something over and failed.
    failed: Vec<ToolIdx>,
    /// How many more of these nodes there would be if there were room.
    extra_folded: usize,
}

impl<'a> Picture<'a> {
    fn new(facts: &'a Facts<'a>, tree: &Tree, handovers: Vec<&'a Handover>, max_nodes: usize) -> Self {
        let failed = failed_calls(facts, tree, &handovers);
        let is_lost = |handover: &&&Handover| !handover.arrived;
        let lost_to: HashSet<Symbol> = handovers.iter().filter(is_lost).map(|handover| handover.to_id).collect();
        let mut ends: Vec<ToolIdx> = (handovers.iter())
            .filter(|handover| handover.arrived)
            .filter_map(|handover| handover.tool)
            .filter(|tool| is_trouble(facts.mark(Object::Tool(*tool))))
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let of_thread = |tool: ToolIdx| facts.trace.tools[tool].thread;
        // Agents get most of the room, since the labels of arrows can say everything else.
        let most = lost_to.len() + ends.len() + failed.len();
        let for_agents = max_nodes - most.min(max_nodes / 3);
        let nodes = |entries: usize, likeness: Likeness| tree.boxes(entries, likeness).members.len();
        let (shown, likeness) = choose(tree.entries.len(), tree.entries_of_trouble, for_agents, nodes);
        let boxes = tree.boxes(shown, likeness);
        let is_single = |thread: ThreadIdx| boxes.of[thread.index()].is_some_and(|place| boxes.is_single[place]);
        let mut extra: Vec<(End, u32)> = Vec::new();
        let mut places: HashMap<End, usize> = HashMap::new();
        for handover in handovers.iter().filter(is_lost) {
            let end = lost_end(&boxes, handover);
            let place = *places.entry(end).or_insert_with(|| {
                extra.push((end, 0));
                extra.len() - 1
            });
            extra[place].1 += 1;
        }
        for tool in failed.iter().chain(&ends).copied().filter(|tool| is_single(of_thread(*tool))) {
            extra.push((End::Tool(tool), 1));
        }
        let ends_of_folded = failed.iter().chain(&ends).filter(|tool| !is_single(of_thread(**tool))).count();
        let wanted = extra.len() + ends_of_folded;
        extra.truncate(max_nodes.saturating_sub(boxes.members.len()));
        let extra_folded = wanted - extra.len();
        Self { facts, boxes, extra, handovers, failed, extra_folded }
    }

    fn draw(&self, top: Option<ThreadIdx>, outside: usize) -> Diagram {
        let facts = self.facts;
        let mut diagram = Diagram {
            view: View::Agents,
            title: String::new(),
            groups: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            notes: Vec::new(),
        };
        let mut places: HashMap<End, NodeIdx> = HashMap::new();
        let mut groups: HashMap<ThreadIdx, GroupIdx> = HashMap::new();
        for (place, members) in self.boxes.members.iter().enumerate() {
            let node = if self.boxes.is_single[place] {
                let group = GroupIdx(index_of(diagram.groups.len()));
                groups.insert(members[0], group);
                diagram.groups.push(group_of(facts, members[0]));
                agent_node(facts, members[0], group)
            } else {
                folded_node(facts, members)
            };
            places.insert(End::Box(place), NodeIdx(index_of(diagram.nodes.len())));
            diagram.nodes.push(node);
        }
        for (end, count) in &self.extra {
            let node = match end {
                End::Tool(tool) => {
                    let group = groups.get(&facts.trace.tools[*tool].thread).copied();
                    tool_node(facts, *tool, group)
                }
                End::Lost(to) => {
                    let thread = facts.threads_by_id.get(to);
                    lost_node(facts, *to, *count, thread.and_then(|thread| groups.get(thread).copied()))
                }
                End::LostInBox(place) => lost_in_box(facts, &self.boxes.members[*place], *count),
                End::Box(_) => continue,
            };
            places.insert(*end, NodeIdx(index_of(diagram.nodes.len())));
            diagram.nodes.push(node);
        }
        let inside = self.draw_arrows(&places, &mut diagram);
        self.tell(&mut diagram, top, inside, outside);
        diagram
    }

    /// Draws all arrows. Returns how many hand-overs have none because both their ends are in one node.
    fn draw_arrows(&self, places: &HashMap<End, NodeIdx>, diagram: &mut Diagram) -> usize {
        let box_of = |thread: ThreadIdx| self.boxes.of[thread.index()].and_then(|place| places.get(&End::Box(place)));
        let mut merged: Vec<(NodeIdx, NodeIdx, EdgeStyle, Vec<&Handover>)> = Vec::new();
        // Hand-overs with different outcomes do not share an arrow: its mark would be wrong for some of them.
        let mut known: HashMap<(NodeIdx, NodeIdx, EdgeStyle, bool, Mark), usize> = HashMap::new();
        let mut inside = 0;
        for handover in &self.handovers {
            let at_tool = handover.tool.and_then(|tool| places.get(&End::Tool(tool)));
            let Some(from) = at_tool.or_else(|| box_of(handover.from)) else { continue };
            let at_lost = if handover.arrived { None } else { places.get(&lost_end(&self.boxes, handover)) };
            let to = at_lost.or_else(|| handover.to.and_then(box_of));
            let Some(to) = to.filter(|to| *to != from) else {
                inside += 1;
                continue;
            };
            let place =
                *known.entry((*from, *to, handover.style, handover.arrived, handover.mark)).or_insert_with(|| {
                    merged.push((*from, *to, handover.style, Vec::new()));
                    merged.len() - 1
                });
            merged[place].3.push(handover);
        }
        for (from, to, style, handovers) in merged {
            diagram.edges.push(self.arrow(from, to, style, &handovers));
        }
        for tool in &self.failed {
            let from = box_of(self.facts.trace.tools[*tool].thread);
            let (Some(from), Some(to)) = (from, places.get(&End::Tool(*tool))) else { continue };
            diagram.edges.push(self.failed_arrow(*from, *to, *tool));
        }
        inside
    }

    fn arrow(&self, from: NodeIdx, to: NodeIdx, style: EdgeStyle, handovers: &[&Handover]) -> Edge {
        let facts = self.facts;
        let told = |handover: &&Handover| {
            let mut told = format!("{}. {} {}", handover.number, handover.word, facts.since_start(handover.seq));
            if handover.mark != Mark::Fine {
                told = format!("{told} · {}", how(handover));
            }
            told
        };
        let mut lines: Vec<String> = Vec::new();
        if handovers.len() <= MAX_TOLD {
            for handover in handovers {
                lines.push(told(handover));
                lines.push(handover.text.clone());
            }
        } else {
            let (first, last) = (handovers[0], handovers[handovers.len() - 1]);
            lines.push(format!("{} × {}", number(handovers.len() as u64), first.word));
            let (from, until) = (facts.since_start(first.seq), facts.since_start(last.seq));
            lines.push(format!("{}.–{}. {from} to {until}", first.number, last.number));
            if !first.arrived {
                lines.push("never arrived".to_owned());
            } else {
                let bad = handovers.iter().map(|handover| handover.mark).filter(|mark| *mark != Mark::Fine);
                lines.push(tally(bad));
            }
        }
        let lines: Vec<String> = lines.iter().map(|text| line(text, MAX_ARROW_COLUMNS)).collect();
        let about = |handover: &&Handover| {
            let (source, target) = &handover.ends;
            let name = |end: &Option<_>| end.as_ref().map(ToString::to_string).unwrap_or_default();
            let arrow = if handover.arrived { " → " } else { " → nowhere" };
            [told(handover), format!("{}{arrow}{}", name(source), name(target)), handover.text.clone()]
        };
        let is_one = handovers.len() == 1;
        Edge {
            from,
            to,
            style,
            label: label(lines),
            tooltip: tooltip(handovers.iter().flat_map(about)),
            mark: handovers.iter().map(|handover| handover.mark).max().unwrap_or(Mark::Fine),
            object: handovers[0].object.clone().filter(|_| is_one),
            count: index_of(handovers.len()),
        }
    }

    fn failed_arrow(&self, from: NodeIdx, to: NodeIdx, tool: ToolIdx) -> Edge {
        let facts = self.facts;
        let call = &facts.trace.tools[tool];
        let (style, word) = match call.kind {
            ToolKind::SpawnAgent => (EdgeStyle::Spawn, "spawn"),
            ToolKind::AssignAgentTask => (EdgeStyle::Task, "task"),
            ToolKind::CloseAgent => (EdgeStyle::Close, "close"),
            _ => (EdgeStyle::Message, "message"),
        };
        let mark = facts.mark(Object::Tool(tool));
        let told = format!("{word} {} · {}", facts.since_start(call.execution.started.seq), mark.as_str());
        let object = facts.name(Object::Tool(tool));
        Edge {
            from,
            to,
            style,
            label: label([line(&told, MAX_ARROW_COLUMNS)]),
            tooltip: tooltip([told, object.to_string()]),
            mark,
            object: Some(object),
            count: 1,
        }
    }

    fn tell(&self, diagram: &mut Diagram, top: Option<ThreadIdx>, inside: usize, outside: usize) {
        let facts = self.facts;
        let agents: usize = self.boxes.members.iter().map(Vec::len).sum();
        let what = match top {
            Some(top) => format!("{} and all agents below it", facts.thread_name(top)),
            None => format!("session {}", facts.trace.text(facts.trace.rollout_id)),
        };
        diagram.title = parts([
            format!("Agents of {}", line(&what, 80)),
            count(agents as u64, "agent"),
            count(self.handovers.len() as u64, "hand-over"),
            duration(facts.clock.wall_ms()),
        ]);
        let folded = (0..self.boxes.members.len()).filter(|place| !self.boxes.is_single[*place]);
        let (boxes, hidden) =
            folded.fold((0, 0), |(boxes, hidden), place| (boxes + 1, hidden + self.boxes.members[place].len()));
        let mut note = |text: String| diagram.notes.push(text);
        if hidden > 0 {
            let all = count(agents as u64, "agent");
            note(format!("{} of {all} are folded into {}", number(hidden as u64), count(boxes, "node")));
        }
        if inside > 0 {
            note(format!("{} within one node are not drawn", count(inside as u64, "hand-over")));
        }
        if outside > 0 {
            note(format!("{} with agents outside of the picture are not drawn", count(outside as u64, "hand-over")));
        }
        if self.extra_folded > 0 {
            let told = count(self.extra_folded as u64, "end");
            note(format!("{told} of hand-overs that failed or never arrived have no node of their own"));
        }
    }
}

/// Returns the node at which a hand-over ends that never arrived.
fn lost_end(boxes: &Boxes, handover: &Handover) -> End {
    let place = handover.to.and_then(|thread| boxes.of[thread.index()]);
    match place.filter(|place| !boxes.is_single[*place]) {
        Some(place) => End::LostInBox(place),
        None => End::Lost(handover.to_id),
    }
}

/// Returns the outcome of a hand-over, in words.
fn how(handover: &Handover) -> String {
    match (handover.arrived, handover.style) {
        (false, _) => "never arrived".to_owned(),
        (true, EdgeStyle::Result) => format!("{} turn", handover.mark.as_str()),
        (true, _) => format!("call {}", handover.mark.as_str()),
    }
}

/// Returns the calls of the agents in the picture that should have handed something over and failed, so that no
/// hand-over belongs to them.
fn failed_calls(facts: &Facts<'_>, tree: &Tree, handovers: &[&Handover]) -> Vec<ToolIdx> {
    let told: HashSet<ToolIdx> = handovers.iter().filter_map(|handover| handover.tool).collect();
    let agents: HashSet<ThreadIdx> = tree.threads.iter().copied().collect();
    let hands_over = |kind: &ToolKind| {
        matches!(kind, ToolKind::SpawnAgent | ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent)
    };
    let calls = facts
        .trace
        .tools
        .iter()
        .filter(|(tool, call)| hands_over(&call.kind) && agents.contains(&call.thread) && !told.contains(tool));
    calls.map(|(tool, _)| tool).filter(|tool| is_trouble(facts.mark(Object::Tool(*tool)))).collect()
}

pub(super) fn group_of(facts: &Facts<'_>, thread: ThreadIdx) -> Group {
    let known = &facts.trace.threads[thread];
    let object = facts.name(Object::Thread(thread));
    Group {
        id: format!("thread_{}", thread.index()),
        parent: None,
        label: label([facts.thread_name(thread)]),
        tooltip: tooltip([facts.thread_name(thread), object.to_string(), window_text(facts, &known.execution)]),
        mark: facts.thread_mark(thread),
        object: Some(object),
    }
}

/// Returns the start and the end of a span of time, for people.
pub(super) fn window_text(facts: &Facts<'_>, window: &Window) -> String {
    let from = facts.since_start(window.started.seq);
    match window.ended {
        Some(ended) => format!("{from} to {}", facts.since_start(ended.seq)),
        None => format!("{from}, no end in the recording"),
    }
}

fn agent_node(facts: &Facts<'_>, thread: ThreadIdx, group: GroupIdx) -> Node {
    let known = &facts.trace.threads[thread];
    let sums = facts.thread_sums(thread);
    let mark = facts.thread_mark(thread);
    let model = known.default_model.map(|model| facts.trace.text(model).to_owned()).unwrap_or_default();
    let turns = match sums.turns.count {
        0 => "no turns".to_owned(),
        1 => "1 turn".to_owned(),
        turns => {
            let marks = facts.family.turns(thread).iter().map(|turn| facts.turn_mark(*turn));
            let bad = tally(marks.filter(|mark| is_trouble(*mark)));
            let all = count(turns, "turn");
            if bad.is_empty() { all } else { format!("{all}: {bad}") }
        }
    };
    let cause = facts.worst_turn(thread).map(|turn| facts.cause_of(turn)).unwrap_or_default();
    let verdict = facts.worst_turn(thread).and_then(|turn| facts.verdict(turn)).map(|verdict| verdict.verdict.clone());
    let lines = [
        parts([word(mark).to_owned(), model]),
        parts([turns, calls(sums)]),
        parts([tokens(sums), facts.took(&known.execution)]),
    ];
    let lines = lines.into_iter().chain(cause);
    let object = facts.name(Object::Thread(thread));
    let about = [facts.thread_name(thread), object.to_string(), window_text(facts, &known.execution)];
    Node {
        id: format!("agent_{}", thread.index()),
        group: Some(group),
        shape: Shape::Agent,
        label: label(lines),
        tooltip: tooltip(about.into_iter().chain(verdict)),
        mark,
        object: Some(object),
        count: 1,
    }
}

/// Describes several agents that are folded into one node by the name of one of them.
fn several(facts: &Facts<'_>, members: &[ThreadIdx], example: ThreadIdx) -> String {
    let name = facts.thread_name(example);
    let all = count(members.len() as u64, "agent");
    if are_alike(facts, members) { format!("{all} like {name}") } else { format!("{all}, one of them {name}") }
}

/// Returns the node of agents that are folded.
pub(super) fn folded_node(facts: &Facts<'_>, members: &[ThreadIdx]) -> Node {
    let marks = || members.iter().map(|thread| facts.thread_mark(*thread));
    let mut sums = Sums::default();
    members.iter().for_each(|thread| sums.add(facts.thread_sums(*thread)));
    let worst = members.iter().max_by_key(|thread| (facts.thread_mark(**thread), std::cmp::Reverse(**thread)));
    let troubled = worst.filter(|thread| is_trouble(facts.thread_mark(**thread)));
    let example = troubled.copied().unwrap_or(members[0]);
    let cause = troubled.and_then(|thread| facts.worst_turn(*thread)).map(|turn| facts.cause_of(turn));
    let names: Vec<String> = members.iter().take(MAX_NAMES).map(|thread| facts.thread_name(*thread)).collect();
    let more = members.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { vec![format!("and {} more", number(more as u64))] } else { Vec::new() };
    let lines = [
        match members.len() {
            1 => facts.thread_name(example),
            _ => several(facts, members, example),
        },
        tally(marks()),
        parts([count(sums.turns.count, "turn"), calls(&sums)]),
        tokens(&sums),
    ];
    Node {
        id: format!("agents_{}", members[0].index()),
        group: None,
        shape: Shape::Folded,
        label: label(lines.into_iter().chain(cause.unwrap_or_default())),
        tooltip: tooltip(names.into_iter().chain(more)),
        mark: marks().max().unwrap_or(Mark::Fine),
        object: None,
        count: index_of(members.len()),
    }
}

fn tool_node(facts: &Facts<'_>, tool: ToolIdx, group: Option<GroupIdx>) -> Node {
    let object = facts.name(Object::Tool(tool));
    let blame =
        facts.blame(Object::Tool(tool)).map(|(category, message)| [category.as_str().to_owned(), message.clone()]);
    let lines = [facts.tool_name(tool), facts.tool_end(tool)].into_iter().chain(blame.into_iter().flatten());
    let started = facts.trace.tools[tool].execution.started.seq;
    Node {
        id: format!("tool_{}", tool.index()),
        group,
        shape: Shape::Tool,
        label: label(lines),
        tooltip: tooltip([object.to_string(), since_start(facts.clock.at(started)), facts.tool_subject(tool)]),
        mark: facts.mark(Object::Tool(tool)),
        object: Some(object),
        count: 1,
    }
}

fn lost_node(facts: &Facts<'_>, to: Symbol, count: u32, group: Option<GroupIdx>) -> Node {
    let id = facts.trace.text(to);
    let lines = match (count, group) {
        (1, Some(_)) => vec!["never arrived".to_owned()],
        (n, Some(_)) => vec![format!("{n} never arrived")],
        (1, None) => vec!["never arrived:".to_owned(), format!("{id} is not in the recording")],
        (n, None) => vec![format!("{n} never arrived:"), format!("{id} is not in the recording")],
    };
    Node {
        id: format!("lost_{}", to.index()),
        group,
        shape: Shape::Missing,
        label: label(lines),
        tooltip: tooltip([
            format!("meant for thread:{id}"),
            "no item of that agent's conversation shows it".to_owned(),
        ]),
        mark: Mark::Unfinished,
        object: None,
        count,
    }
}

fn lost_in_box(facts: &Facts<'_>, members: &[ThreadIdx], count: u32) -> Node {
    let to = match members.len() {
        1 => facts.thread_name(members[0]),
        _ => several(facts, members, members[0]),
    };
    let told = if count == 1 { "never arrived:".to_owned() } else { format!("{count} never arrived:") };
    Node {
        id: format!("lost_agents_{}", members[0].index()),
        group: None,
        shape: Shape::Missing,
        label: label([told, format!("meant for {to}")]),
        tooltip: tooltip(["no item of the agents' conversations shows it".to_owned()]),
        mark: Mark::Unfinished,
        object: None,
        count,
    }
}

pub(super) fn index_of(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
