//! What lies in what, and what leads where, of a diagram that may not hold what it promises.
//!
//! Diagrams can be read from files. A number that names nothing is as if it was not there.

use std::collections::HashSet;

use trace_explain::ObjectRef;

use super::super::{Diagram, Edge, GroupIdx, Mark, Node, NodeIdx};

/// Returns the number of the box around a node.
pub(super) fn group_of(diagram: &Diagram, node: &Node) -> Option<usize> {
    node.group.map(index_of_group).filter(|&group| group < diagram.groups.len())
}

/// Returns the number of the box around each box, with nothing deeper than `max_depth` boxes. Parents that do not come
/// before their children are none.
pub(super) fn parents(diagram: &Diagram, max_depth: usize) -> Vec<Option<usize>> {
    let mut depths: Vec<usize> = Vec::with_capacity(diagram.groups.len());
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(diagram.groups.len());
    for (index, group) in diagram.groups.iter().enumerate() {
        let parent = group.parent.map(index_of_group).filter(|&parent| parent < index);
        let parent = parent.and_then(|parent| if depths[parent] >= max_depth { parents[parent] } else { Some(parent) });
        depths.push(parent.map_or(1, |parent| depths[parent] + 1));
        parents.push(parent);
    }
    parents
}

/// Returns the mark that the border of each box shows. A box that has a node for the very same object in it leaves it to
/// that node: two heavy borders around each other say nothing more than one.
pub(super) fn border_marks(diagram: &Diagram) -> Vec<Mark> {
    let told = diagram.nodes.iter().filter_map(|node| Some((group_of(diagram, node)?, node.object.as_ref()?)));
    let told: HashSet<(usize, &ObjectRef)> = told.collect();
    let is_told =
        |index: usize, object: Option<&ObjectRef>| object.is_some_and(|object| told.contains(&(index, object)));
    let groups = diagram.groups.iter().enumerate();
    groups.map(|(index, group)| if is_told(index, group.object.as_ref()) { Mark::Fine } else { group.mark }).collect()
}

/// Returns the ends of an arrow.
pub(super) fn ends<'a>(diagram: &'a Diagram, edge: &Edge) -> Option<(&'a Node, &'a Node)> {
    Some((diagram.nodes.get(index_of_node(edge.from))?, diagram.nodes.get(index_of_node(edge.to))?))
}

fn index_of_group(group: GroupIdx) -> usize {
    usize::try_from(group.0).unwrap_or(usize::MAX)
}

/// Returns the number of a node.
pub(super) fn index_of_node(node: NodeIdx) -> usize {
    usize::try_from(node.0).unwrap_or(usize::MAX)
}
