//! The structure of a diagram that may be inconsistent: which group contains what, and which nodes an arrow joins.
//!
//! Diagrams can be read from files, so an index in them may point nowhere. Such an index is ignored.

use std::collections::HashSet;

use trace_explain::ObjectRef;

use super::super::{Diagram, Edge, GroupIdx, Mark, Node, NodeIdx};

/// Returns the index of the group of a node.
pub(super) fn group_of(diagram: &Diagram, node: &Node) -> Option<usize> {
    node.group.map(index_of_group).filter(|&group| group < diagram.groups.len())
}

/// Returns the index of the parent of each group. Groups that are nested deeper than `max_depth` get the ancestor at
/// that depth. A parent that does not come before its child is ignored.
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

/// Returns the mark that the border of each group shows. A group that contains a node for the same object has a plain
/// border, since the node shows the mark already.
pub(super) fn border_marks(diagram: &Diagram) -> Vec<Mark> {
    let told = diagram.nodes.iter().filter_map(|node| Some((group_of(diagram, node)?, node.object.as_ref()?)));
    let told: HashSet<(usize, &ObjectRef)> = told.collect();
    let is_told =
        |index: usize, object: Option<&ObjectRef>| object.is_some_and(|object| told.contains(&(index, object)));
    let groups = diagram.groups.iter().enumerate();
    groups.map(|(index, group)| if is_told(index, group.object.as_ref()) { Mark::Fine } else { group.mark }).collect()
}

/// Returns the nodes at both ends of an arrow. `None` if one of them does not exist.
pub(super) fn ends<'a>(diagram: &'a Diagram, edge: &Edge) -> Option<(&'a Node, &'a Node)> {
    Some((diagram.nodes.get(index_of_node(edge.from))?, diagram.nodes.get(index_of_node(edge.to))?))
}

fn index_of_group(group: GroupIdx) -> usize {
    usize::try_from(group.0).unwrap_or(usize::MAX)
}

/// Returns the index of a node as a `usize`.
pub(super) fn index_of_node(node: NodeIdx) -> usize {
    usize::try_from(node.0).unwrap_or(usize::MAX)
}
