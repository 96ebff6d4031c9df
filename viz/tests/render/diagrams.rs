//! Diagrams to render: one with everything in it, and random ones with texts of all kinds.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use trace_explain::ObjectRef;
use trace_viz::diagram::{Diagram, Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};

fn object(kind: &str, id: &str) -> Option<ObjectRef> {
    Some(ObjectRef { kind: kind.to_owned(), id: id.to_owned() })
}

fn texts(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// Returns a small diagram with every shape, mark and style of arrow, and with texts that need escaping.
pub(crate) fn everything() -> Diagram {
    let group = |id: &str, parent: Option<u32>, label: &[&str], mark| Group {
        id: id.to_owned(),
        parent: parent.map(GroupIdx),
        label: texts(label),
        tooltip: "gpt-5, 3 turns\n12,000 tokens".to_owned(),
        mark,
        object: object("thread", id),
    };
    let node = |id: &str, group: Option<u32>, shape, label: &[&str], mark| Node {
        id: id.to_owned(),
        group: group.map(GroupIdx),
        shape,
        label: texts(label),
        tooltip: format!("all of {}", label.join("\n")),
        mark,
        object: object("tool_call", id),
        count: 1,
    };
    let edge = |from, to, style, label: &[&str], mark| Edge {
        from: NodeIdx(from),
        to: NodeIdx(to),
        style,
        label: texts(label),
        tooltip: label.join("\n"),
        mark,
        object: object("interaction_edge", "edge:\"1\" & <2>"),
        count: 1,
    };
    Diagram {
        view: View::Agents,
        title: "Session 0197 \"fix the build\"".to_owned(),
        groups: vec![
            group("root", None, &["root", "gpt-5 · completed · 2 min 10 s"], Mark::Degraded),
            group("root_turn", Some(0), &["turn 1"], Mark::Recovered),
            group("child_a", None, &["reviewer <b>\"a\"</b>", "failed"], Mark::Failed),
            group("child_b", None, &["builder 🦀"], Mark::Unfinished),
            group("child_c", None, &["בודק עברית"], Mark::Cancelled),
            group("empty", None, &["nothing recorded"], Mark::Fine),
        ],
        nodes: vec![
            node("n0", Some(0), Shape::Agent, &["root", "3 turns"], Mark::Degraded),
            node("n1", Some(1), Shape::Turn, &["turn-1"], Mark::Recovered),
            node("n2", Some(1), Shape::Inference, &["gpt-5", "12,000 in · 400 out"], Mark::Fine),
            node("n3", Some(1), Shape::Tool, &["exec_command", r#"grep -n "a\b" *.rs | wc -l; echo \N"#], Mark::Failed),
            node("n4", Some(1), Shape::Cell, &["cell: print(1)"], Mark::Fine),
            node("n5", Some(2), Shape::Agent, &["reviewer", "1 turn"], Mark::Failed),
            node("n6", Some(2), Shape::Item, &["final answer: end; #35; 100%"], Mark::Fine),
            node("n7", Some(3), Shape::Agent, &["builder"], Mark::Unfinished),
            node("n8", Some(3), Shape::Compaction, &["compaction"], Mark::Fine),
            node("n9", Some(3), Shape::Folded, &["17 tool calls"], Mark::Fine),
            node("n10", Some(4), Shape::Agent, &["בודק"], Mark::Cancelled),
            node("n11", None, Shape::Missing, &["/root/gone", "not recorded"], Mark::Fine),
            node("n12", None, Shape::Folded, &["40 agents", "38 completed"], Mark::Failed),
        ],
        edges: vec![
            edge(0, 1, EdgeStyle::Next, &[], Mark::Fine),
            edge(1, 2, EdgeStyle::Next, &[], Mark::Fine),
            edge(2, 3, EdgeStyle::Cause, &["asked for"], Mark::Fine),
            edge(3, 4, EdgeStyle::Next, &[], Mark::Fine),
            edge(3, 5, EdgeStyle::Spawn, &["1 spawn", "review the \"diff\" & <report>"], Mark::Fine),
            edge(0, 7, EdgeStyle::Spawn, &["2 spawn", "build it"], Mark::Fine),
            edge(0, 10, EdgeStyle::Spawn, &["3 spawn"], Mark::Fine),
            edge(0, 12, EdgeStyle::Spawn, &["40 spawns"], Mark::Fine),
            edge(0, 7, EdgeStyle::Task, &["4 task", "and run the tests"], Mark::Fine),
            edge(7, 5, EdgeStyle::Message, &["5 message", "what about line 3?"], Mark::Fine),
            edge(0, 11, EdgeStyle::Message, &["6 message", "nobody got it"], Mark::Unfinished),
            edge(5, 0, EdgeStyle::Result, &["7 result", "it cannot be built"], Mark::Failed),
            edge(7, 0, EdgeStyle::Result, &["8 result"], Mark::Fine),
            edge(0, 10, EdgeStyle::Close, &["9 close"], Mark::Fine),
            edge(7, 8, EdgeStyle::Next, &[], Mark::Fine),
            edge(8, 9, EdgeStyle::Next, &[], Mark::Fine),
        ],
        notes: texts(&["17 tool calls of builder are folded", "40 agents are one box"]),
    }
}

/// Returns a diagram of a tree of `agents` agents, each with a few calls.
pub(crate) fn wide(agents: u32) -> Diagram {
    let mut diagram = everything();
    let (group, node, edge) = (diagram.groups[2].clone(), diagram.nodes[5].clone(), diagram.edges[4].clone());
    diagram.groups.clear();
    diagram.nodes.clear();
    diagram.edges.clear();
    for agent in 0..agents {
        let label = vec![format!("agent {agent}")];
        let id = format!("g{agent}");
        diagram.groups.push(Group { id, parent: None, label, mark: Mark::Fine, ..group.clone() });
        for call in 0..3 {
            let id = format!("n{agent}_{call}");
            let shape = if call == 0 { Shape::Agent } else { Shape::Tool };
            let label = vec![format!("call {call} of {agent}")];
            let here = Some(GroupIdx(agent));
            diagram.nodes.push(Node { id, group: here, shape, label, mark: Mark::Fine, ..node.clone() });
        }
        if agent > 0 {
            let parent = (agent - 1) / 7;
            let (from, to) = (NodeIdx(parent * 3 + 1 + agent % 2), NodeIdx(agent * 3));
            diagram.edges.push(Edge { from, to, ..edge.clone() });
            let style = EdgeStyle::Result;
            diagram.edges.push(Edge { from: to, to: NodeIdx(parent * 3), style, ..edge.clone() });
        }
    }
    diagram
}

/// Texts with a meaning in one of the languages.
const HOSTILE: [&str; 40] = [
    "",
    "\"",
    "\\",
    "\\\"",
    "\\N \\G \\E \\l \\n",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "<script>alert(1)</script>",
    "</svg><img src=x onerror=alert(1)>",
    "<b>bold</b><br/>",
    "&lt; &#0; &amp; &quot; &nbsp; &bogus; &",
    "]]>",
    "<!-- --> <![CDATA[",
    "\u{202e}reversed\u{202c}",
    "שלום",
    "مرحبا",
    "👩‍👩‍👧‍👦🦀🇩🇪",
    "\u{ffff}\u{fffe}\u{fdd0}\u{feff}",
    "z\u{35f}a\u{35f}l\u{35f}g\u{35f}o",
    "end",
    "subgraph",
    "graph TD",
    "%%{init: {'theme':'dark'}}%%",
    "%% comment",
    "---",
    "click n0 callback",
    "#quot; #35; #;",
    "ﬂ°°35¶ß ﬂ°lt¶ß",
    "`markdown **bold**`",
    "1. one",
    "- list",
    "# heading",
    "[link](javascript:alert(1))",
    "https://example.com/?a=1&b=2",
    "$$x^2$$",
    "--> === -.- :::class @{ shape: rect }",
    "style n0 fill:#f00;",
    "{{}} (()) [[]] || >]",
];

/// Generates texts of all kinds: those with a meaning in one of the languages, arbitrary characters, and very long
/// ones.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let hostile = vec(select(&HOSTILE[..]), 0..4).prop_map(|parts| parts.concat());
    prop_oneof![
        4 => hostile,
        2 => vec(any::<char>(), 0..30).prop_map(String::from_iter),
        1 => (select(&HOSTILE[..]), 1000_usize..4000).prop_map(|(part, times)| part.repeat(times)),
    ]
}

/// Generates arbitrary diagrams, including ones that no session makes.
pub(crate) fn any_diagram() -> impl Strategy<Value = Diagram> {
    let mark = || select(&Mark::ALL[..]);
    let object = || {
        let id = any_text().prop_map(|id| ObjectRef { kind: "tool_call".to_owned(), id });
        proptest::option::of(id)
    };
    let label = || vec(any_text(), 0..4);
    let group = (proptest::option::of(0..8_u32), label(), any_text(), mark(), object());
    let node = (proptest::option::of(0..9_u32), select(&Shape::ALL[..]), label(), any_text(), mark(), object());
    let style = select(&EdgeStyle::ALL[..]);
    let edge = (0..13_u32, 0..13_u32, style, label(), any_text(), mark(), object());
    (any_text(), vec(group, 0..7), vec(node, 0..12), vec(edge, 0..20), vec(any_text(), 0..3)).prop_map(
        |(title, groups, nodes, edges, notes)| {
            let groups = groups.into_iter().enumerate().map(|(index, (parent, label, tooltip, mark, object))| {
                let parent = parent.map(GroupIdx);
                Group { id: format!("g{index}"), parent, label, tooltip, mark, object }
            });
            let nodes = nodes.into_iter().enumerate().map(|(index, (group, shape, label, tooltip, mark, object))| {
                let (id, group) = (format!("n{index}"), group.map(GroupIdx));
                Node { id, group, shape, label, tooltip, mark, object, count: 1 }
            });
            let edges = edges.into_iter().map(|(from, to, style, label, tooltip, mark, object)| Edge {
                from: NodeIdx(from),
                to: NodeIdx(to),
                style,
                label,
                tooltip,
                mark,
                object,
                count: 1,
            });
            let (groups, nodes, edges) = (groups.collect(), nodes.collect(), edges.collect());
            Diagram { view: View::Agents, title, groups, nodes, edges, notes }
        },
    )
}
