//! Laws of the layout.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::diagram::{Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};

fn any_diagram() -> impl Strategy<Value = Diagram> {
    let label = || vec("[a-z ]{0,30}", 0..3);
    let group = (proptest::option::of(0..10_u32), label());
    let node = (proptest::option::of(0..12_u32), select(&Shape::ALL[..]), label());
    let edge = (0..40_u32, 0..40_u32, select(&EdgeStyle::ALL[..]), label());
    (vec(group, 0..10), vec(node, 0..40), vec(edge, 0..60)).prop_map(|(groups, nodes, edges)| {
        let (tooltip, mark, object, count) = (String::new(), Mark::Fine, None, 1);
        let groups = groups.into_iter().enumerate().map(|(index, (parent, label))| Group {
            id: format!("g{index}"),
            parent: parent.map(GroupIdx),
            label,
            tooltip: tooltip.clone(),
            mark,
            object: object.clone(),
        });
        let nodes = nodes.into_iter().enumerate().map(|(index, (group, shape, label))| Node {
            id: format!("n{index}"),
            group: group.map(GroupIdx),
            shape,
            label,
            tooltip: tooltip.clone(),
            mark,
            object: object.clone(),
            count,
        });
        let edges = edges.into_iter().map(|(from, to, style, label)| Edge {
            from: NodeIdx(from),
            to: NodeIdx(to),
            style,
            label,
            tooltip: tooltip.clone(),
            mark,
            object: object.clone(),
            count,
        });
        let (groups, nodes, edges) = (groups.collect(), nodes.collect(), edges.collect());
        Diagram { view: View::Agents, title: "title".to_owned(), groups, nodes, edges, notes: Vec::new() }
    })
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x && outer.y <= inner.y && inner.right() <= outer.right() && inner.bottom() <= outer.bottom()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn boxes_lie_in_their_boxes_and_on_no_other(diagram in any_diagram()) {
        let layout = lay_out(&diagram, &Measure::new());
        let containers = Containers::new(&diagram);
        let picture = Rect { x: 0, y: 0, width: layout.width, height: layout.height };
        let around = |container: usize| layout.groups.get(container).map_or(picture, |group| group.place);
        let mut by_container = vec![Vec::new(); diagram.groups.len() + 1];
        for (index, node) in layout.nodes.iter().enumerate() {
            by_container[containers.of_node[index]].push(node.place);
        }
        for (index, group) in layout.groups.iter().enumerate() {
            by_container[containers.of_group[index]].push(group.place);
        }
        for (container, places) in by_container.iter().enumerate() {
            for (index, &place) in places.iter().enumerate() {
                prop_assert!(contains(around(container), place), "{place:?} is not in {:?}", around(container));
                for &other in &places[index + 1..] {
                    prop_assert!(!place.overlaps(other), "{place:?} is on {other:?}");
                }
            }
        }
        for (index, route) in layout.routes.iter().enumerate() {
            let edge = &diagram.edges[index];
            let has_ends = outline::ends(&diagram, edge).is_some();
            prop_assert_eq!(route.is_some(), has_ends);
            if let Some(route) = route {
                let touches = |node: usize, (x, y): (i64, i64)| {
                    contains(layout.nodes[node].place, Rect { x, y, width: 0, height: 0 })
                };
                prop_assert!(touches(outline::index_of_node(edge.from), route.start));
                prop_assert!(touches(outline::index_of_node(edge.to), route.end));
            }
        }
    }
}

fn node(group: Option<u32>, shape: Shape) -> Node {
    Node {
        id: String::new(),
        group: group.map(GroupIdx),
        shape,
        label: vec!["node".to_owned()],
        tooltip: String::new(),
        mark: Mark::Fine,
        object: None,
        count: 1,
    }
}

fn arrow(from: u32, to: u32, style: EdgeStyle) -> Edge {
    Edge {
        from: NodeIdx(from),
        to: NodeIdx(to),
        style,
        label: vec!["arrow".to_owned()],
        tooltip: String::new(),
        mark: Mark::Fine,
        object: None,
        count: 1,
    }
}

fn assert_stand_below_each_other(blocks: &[Block]) {
    for pair in blocks.windows(2) {
        assert_eq!(pair[0].place.x, pair[1].place.x);
        assert!(pair[0].place.bottom() < pair[1].place.y);
    }
}

#[test]
fn the_steps_of_one_way_stand_below_each_other() {
    let nodes = [Shape::Item, Shape::Turn, Shape::Tool, Shape::Inference].map(|shape| node(None, shape)).to_vec();
    let edges = (1..4).map(|to| arrow(to - 1, to, EdgeStyle::Cause)).collect();
    let title = "title".to_owned();
    let diagram = Diagram { view: View::Causal, title, groups: Vec::new(), nodes, edges, notes: Vec::new() };
    assert_stand_below_each_other(&lay_out(&diagram, &Measure::new()).nodes);
}

/// Otherwise its arrow would pass behind the agent and seem to come from it.
#[test]
fn what_never_arrived_stands_below_whom_it_was_meant_for() {
    let groups = ["sender", "target"].map(|id| Group {
        id: id.to_owned(),
        parent: None,
        label: vec![id.to_owned()],
        tooltip: String::new(),
        mark: Mark::Fine,
        object: None,
    });
    let nodes = vec![node(Some(0), Shape::Agent), node(Some(1), Shape::Agent), node(Some(1), Shape::Missing)];
    let edges = vec![arrow(0, 1, EdgeStyle::Spawn), arrow(0, 2, EdgeStyle::Message)];
    let title = "title".to_owned();
    let diagram = Diagram { view: View::Agents, title, groups: groups.to_vec(), nodes, edges, notes: Vec::new() };
    let layout = lay_out(&diagram, &Measure::new());
    assert!(layout.nodes[0].place.right() < layout.nodes[1].place.x);
    assert_stand_below_each_other(&layout.nodes[1..]);
}

/// A tall label has its room above its arrow, so that no other arrow crosses it.
#[test]
fn labels_of_all_heights_stand_between_arrows() {
    let nodes = vec![node(None, Shape::Agent), node(None, Shape::Agent)];
    let heights = [(EdgeStyle::Spawn, 2), (EdgeStyle::Task, 6), (EdgeStyle::Message, 1), (EdgeStyle::Result, 4)];
    let edges = heights.map(|(style, lines)| {
        let (from, to) = if style == EdgeStyle::Result { (1, 0) } else { (0, 1) };
        Edge { label: vec!["line".to_owned(); lines], ..arrow(from, to, style) }
    });
    let title = "title".to_owned();
    let edges = edges.to_vec();
    let diagram = Diagram { view: View::Agents, title, groups: Vec::new(), nodes, edges, notes: Vec::new() };
    let layout = lay_out(&diagram, &Measure::new());
    let routes: Vec<_> = layout.routes.iter().flatten().collect();
    // The end beside which labels are placed, at the left of the second node.
    let height = |route: &Route| if route.start.0 > route.end.0 { route.start.1 } else { route.end.1 };
    for route in &routes {
        let label = route.label.place;
        let struck = routes.iter().filter(|other| label.y < height(other) && height(other) < label.bottom());
        assert_eq!(struck.count(), 0, "{label:?}");
    }
}
