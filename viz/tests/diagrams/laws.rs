//! Laws of all diagrams.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use trace_explain::{Family, Object, ObjectRef, Session};
use trace_reducer::model::ThreadIdx;
use trace_samples::faults;
use trace_viz::diagram::{
    Diagram, DiagramError, MAX_LABEL_LINES, MAX_TOOLTIP_COLUMNS, MAX_TOOLTIP_LINES, Mark, Options, Rule, Shape, View,
};

use crate::sessions::{fleet, for_each_recording, recorded, tree};

fn options(view: View, max_nodes: usize, collapse: &[Rule]) -> Options {
    Options { max_nodes, collapse: collapse.to_vec(), ..Options::new(view) }
}

/// Draws a session and checks the laws of a single diagram.
fn drawn(session: &Session, options: &Options) -> Option<Diagram> {
    let diagram = match Diagram::new(session, options) {
        Ok(diagram) => diagram,
        Err(DiagramError::NothingWrong { .. }) if options.view == View::Causal => return None,
        Err(error) => panic!("{error}"),
    };
    assert!(diagram.nodes.len() <= options.max_nodes.max(1), "{} of {options:?}", diagram.nodes.len());
    let mut ids = HashSet::new();
    let all_ids = diagram.groups.iter().map(|group| &group.id).chain(diagram.nodes.iter().map(|node| &node.id));
    for id in all_ids {
        assert!(!id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{id:?}");
        assert!(ids.insert(id), "two elements have the id {id}");
    }
    for (index, group) in diagram.groups.iter().enumerate() {
        assert!(group.parent.is_none_or(|parent| (parent.0 as usize) < index), "parents come first");
        check_texts(&group.label, &group.tooltip);
    }
    for node in &diagram.nodes {
        assert!(node.group.is_none_or(|group| (group.0 as usize) < diagram.groups.len()));
        assert!(!node.label.is_empty(), "{} has no label", node.id);
        assert!(node.count > 0, "{} stands for no objects", node.id);
        check_texts(&node.label, &node.tooltip);
    }
    let mut seen = HashSet::new();
    for edge in &diagram.edges {
        assert!((edge.from.0 as usize) < diagram.nodes.len() && (edge.to.0 as usize) < diagram.nodes.len());
        assert!(edge.from != edge.to, "an arrow joins a node with itself");
        assert!(edge.count > 0);
        // Hand-overs that arrived and hand-overs that did not have different arrows with different tooltips.
        assert!(seen.insert((edge.from, edge.to, edge.style, edge.tooltip.clone())), "equal arrows must be merged");
        check_texts(&edge.label, &edge.tooltip);
    }
    check_texts(std::slice::from_ref(&diagram.title), "");
    check_texts(&diagram.notes, "");
    let text = serde_json::to_string(&diagram).expect("serializes");
    assert_eq!(serde_json::from_str::<Diagram>(&text).expect("parses"), diagram);
    Some(diagram)
}

fn check_texts(lines: &[String], tooltip: &str) {
    let is_well = |text: &str| !text.chars().any(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    for line in lines {
        assert!(is_well(line), "{line:?}");
    }
    assert!(lines.len() <= MAX_LABEL_LINES.max(8));
    assert!(tooltip.lines().count() <= MAX_TOOLTIP_LINES + 1);
    for line in tooltip.lines() {
        assert!(is_well(line) && line.chars().count() <= MAX_TOOLTIP_COLUMNS * 2, "{line:?}");
    }
}

fn total(diagram: &Diagram) -> u64 {
    diagram.nodes.iter().map(|node| u64::from(node.count)).sum()
}

/// Checks the laws that relate several diagrams of a session.
fn check(session: &Session) {
    let trace = session.trace();
    let mut ids: HashMap<(View, ObjectRef, Shape), String> = HashMap::new();
    for &view in View::ALL {
        let whole = drawn(session, &options(view, 1_000_000, &[]));
        for max_nodes in [1, 2, 5, 17, 60] {
            let collapse = if max_nodes == 17 { vec![Rule::Depth(1)] } else { Options::new(view).collapse };
            let diagram = drawn(session, &options(view, max_nodes, &collapse));
            let (Some(whole), Some(diagram)) = (&whole, &diagram) else { continue };
            if view != View::Agents {
                assert_eq!(total(whole), total(diagram), "{view:?} with {max_nodes} nodes counts all objects");
            }
            for node in whole.nodes.iter().chain(&diagram.nodes) {
                let Some(object) = node.object.clone().filter(|_| view != View::Causal) else { continue };
                let id = ids.entry((view, object, node.shape)).or_insert_with(|| node.id.clone());
                assert_eq!(*id, node.id, "ids are stable");
            }
            if view == View::Agents {
                check_agents(session, diagram);
            }
        }
        let labels: HashSet<_> =
            whole.iter().flat_map(|whole| &whole.nodes).filter(|node| node.count > 1).collect_ids();
        assert!(view == View::Causal || labels.iter().all(|id| id.starts_with("lost_")), "{view:?} folds {labels:?}");
    }
    let turns = drawn(session, &options(View::Turns, 60, &[])).expect("is drawn");
    let cells_of_tools: HashSet<_> = trace.tools.values().filter_map(|tool| tool.started_code_cell).collect();
    let idle = trace.threads.handles().filter(|thread| Family::new(trace).turns(*thread).is_empty());
    let idle = idle.filter(|thread| trace.tools.values().all(|tool| tool.thread != *thread)).count();
    let objects = trace.turns.len() + trace.tools.len() + trace.compactions.len();
    let least = (objects + idle) as u64;
    assert!((least..=least + (trace.cells.len() - cells_of_tools.len()) as u64).contains(&total(&turns)));
}

trait CollectIds {
    fn collect_ids(self) -> HashSet<String>;
}

impl<'a, I: Iterator<Item = &'a trace_viz::diagram::Node>> CollectIds for I {
    fn collect_ids(self) -> HashSet<String> {
        self.map(|node| node.id.clone()).collect()
    }
}

/// Checks that every agent is in one node, and that no agent that went well is shown by itself while one with trouble
/// is folded.
fn check_agents(session: &Session, diagram: &Diagram) {
    let trace = session.trace();
    let family = Family::new(trace);
    let of_agents = diagram.nodes.iter().filter(|node| matches!(node.shape, Shape::Agent | Shape::Folded));
    let agents: u64 = of_agents.map(|node| u64::from(node.count)).sum();
    assert_eq!(agents, trace.threads.len() as u64, "every agent is in one node");
    let hidden_trouble = diagram.nodes.iter().any(|node| node.shape == Shape::Folded && node.mark > Mark::Recovered);
    if !hidden_trouble {
        return;
    }
    let whole = Diagram::new(session, &options(View::Agents, 1_000_000, &[])).expect("is drawn");
    let thread_of = |object: &Option<ObjectRef>| match object.as_ref().and_then(|object| session.find(object)) {
        Some(Object::Thread(thread)) => Some(thread),
        _ => None,
    };
    let troubled: Vec<ThreadIdx> = (whole.nodes.iter())
        .filter(|node| node.shape == Shape::Agent && node.mark > Mark::Recovered)
        .filter_map(|node| thread_of(&node.object))
        .collect();
    for node in diagram.nodes.iter().filter(|node| node.shape == Shape::Agent && node.mark <= Mark::Recovered) {
        let thread = thread_of(&node.object).expect("stands for an agent");
        let is_on_the_way = troubled.iter().any(|lower| family.is_above(thread, *lower));
        assert!(is_on_the_way, "{} is shown while an agent that failed is folded", node.id);
    }
}

#[test]
fn of_planted_faults() {
    // Sessions of one kind of fault are much alike, so take only some of them.
    for planted in faults::all().iter().step_by(7) {
        check(&recorded(|path| planted.write(path)));
    }
}

#[test]
fn of_recordings() {
    for_each_recording(|_, session| check(session));
}

#[test]
fn of_trees() {
    for (width, depth, steps) in [(0, 0, 1), (1, 40, 1), (12, 1, 3), (3, 4, 1), (200, 1, 1)] {
        check(&tree(width, depth, steps));
    }
}

/// A diagram of 500 agents has few nodes and few arrows, with and without rules, and still counts all objects.
#[test]
fn of_a_fleet() {
    let session = fleet();
    let trace = session.trace();
    assert_eq!((trace.threads.len(), trace.turns.len()), (501, 501));
    let all = [
        (View::Agents, trace.threads.len()),
        (View::Turns, trace.turns.len() + trace.tools.len()),
        (View::Calls, trace.inferences.len() + trace.tools.len()),
    ];
    for (view, objects) in all {
        let by_rule = drawn(&session, &Options::new(view)).expect("is drawn");
        assert!(by_rule.nodes.len() <= 12, "{view:?} has {} nodes", by_rule.nodes.len());
        let by_room = drawn(&session, &options(view, 60, &[])).expect("is drawn");
        assert!(by_room.edges.len() <= 2 * by_room.nodes.len(), "{view:?} has {} arrows", by_room.edges.len());
        for diagram in [by_rule, by_room] {
            assert_eq!(total(&diagram), objects as u64, "{view:?} counts all objects");
        }
    }
    assert_eq!(drawn(&session, &Options::new(View::Causal)), None);
}

#[test]
fn alike_children_are_folded_even_where_there_is_room() {
    let session = tree(12, 1, 3);
    let by_rule = drawn(&session, &options(View::Agents, 60, &[Rule::Siblings])).expect("is drawn");
    assert_eq!(by_rule.nodes.len(), 2);
    assert_eq!(by_rule.nodes[1].count, 12);
    let without = drawn(&session, &options(View::Agents, 60, &[])).expect("is drawn");
    assert_eq!(without.nodes.len(), 13);
    assert!(by_rule.nodes[1].label[0].starts_with("12 agents like /root/"), "{:?}", by_rule.nodes[1].label);
    let mixed = recorded(trace_samples::scenes::three_children);
    let mixed = drawn(&mixed, &options(View::Agents, 3, &[])).expect("is drawn");
    assert_eq!(mixed.nodes.iter().map(|node| node.count).max(), Some(2));
    assert!(mixed.nodes.iter().any(|node| node.label[0] == "2 agents, one of them /root/docs (Borges)"), "{mixed:?}");
    let deep = drawn(&tree(2, 3, 1), &options(View::Agents, 60, &[Rule::Depth(1)])).expect("is drawn");
    assert_eq!(deep.nodes.len(), 5, "the root, its two children, and one node below each");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn of_any_options(which in 0..5usize, view in 0..View::ALL.len(), max_nodes in 0..80usize, siblings: bool, tools: bool, depth in prop::option::of(0..5usize)) {
        let session = match which {
            0 => recorded(trace_samples::scenes::three_children),
            1 => recorded(trace_samples::scenes::one_agent),
            2 => recorded(trace_samples::scenes::damaged),
            3 => tree(4, 2, 2),
            _ => tree(30, 1, 1),
        };
        let mut collapse = Vec::new();
        collapse.extend(siblings.then_some(Rule::Siblings));
        collapse.extend(tools.then_some(Rule::Tools));
        collapse.extend(depth.map(Rule::Depth));
        let diagram = drawn(&session, &options(View::ALL[view], max_nodes, &collapse));
        let again = drawn(&session, &options(View::ALL[view], max_nodes, &collapse));
        prop_assert_eq!(diagram, again);
    }
}
