//! A diagram in DOT, the language of Graphviz.
//!
//! The output depends only on the diagram and is valid DOT for any texts in it. Each object has its permalink as `URL`,
//! and its kind and outcome as `class`, so that a page that shows the picture can restyle it.

use std::collections::HashSet;

use graphviz_rust::dot_structures::{
    Attribute, Edge as DotEdge, EdgeTy, Graph, GraphAttributes, Id, Node as DotNode, NodeId, Stmt, Subgraph, Vertex,
};
use graphviz_rust::printer::{DotPrinter, PrinterContext};

use super::super::{Diagram, Edge, EdgeStyle, Group, Mark, Node, NodeIdx};
use super::{outline, style, text};

/// Most groups within groups. Groups that are nested deeper are placed in the group at this depth, because Graphviz
/// recurses once for each level.
pub const MAX_NESTING: usize = 32;

/// Font families, most wanted first. Texts are measured in the first one.
pub(super) const FONTS: &str = "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif";

/// Returns a diagram in DOT.
pub fn dot(diagram: &Diagram) -> String {
    let mut stmts = vec![
        Stmt::GAttribute(GraphAttributes::Graph(graph_attributes(diagram))),
        Stmt::GAttribute(GraphAttributes::Node(vec![
            plain("fontname", FONTS),
            plain("fontsize", "11"),
            plain("fontcolor", style::TEXT.light),
            plain("margin", "0.12,0.07"),
            plain("height", "0.3"),
            plain("width", "0.3"),
        ])),
        Stmt::GAttribute(GraphAttributes::Edge(vec![
            plain("fontname", FONTS),
            plain("fontsize", "10"),
            plain("arrowsize", "0.8"),
        ])),
    ];
    stmts.extend(boxes(diagram));
    let edges = diagram.edges.iter().enumerate();
    let ranked = ranked(diagram);
    stmts.extend(edges.filter_map(|(index, edge)| edge_stmt(diagram, &ranked, index, edge)));
    let graph = Graph::DiGraph { id: quoted("trace"), strict: false, stmts };
    let mut text = graph.print(&mut PrinterContext::default());
    text.push('\n');
    text
}

/// Returns the lines below a picture: its title, what it leaves out, and what its signs mean.
pub(super) fn caption(diagram: &Diagram) -> Vec<String> {
    let title = std::iter::once(diagram.title.as_str());
    let lines = title.chain(diagram.notes.iter().map(String::as_str));
    let mut lines: Vec<String> = lines.map(|line| text::line(line, text::MAX_NOTE_COLUMNS)).collect();
    lines.retain(|line| !line.is_empty());
    lines.extend(style::legend(diagram));
    lines
}

fn graph_attributes(diagram: &Diagram) -> Vec<Attribute> {
    vec![
        plain("rankdir", style::direction(diagram.view)),
        plain("bgcolor", style::GROUND.light),
        plain("fontname", FONTS),
        plain("fontsize", "11"),
        plain("fontcolor", style::FAINT_TEXT.light),
        plain("labelloc", "b"),
        plain("labeljust", "l"),
        plain("nodesep", "0.22"),
        plain("ranksep", "0.55"),
        plain("pad", "0.2"),
        label("label", &caption(diagram), "\\l"),
    ]
}

/// Returns the statements for the nodes, within their groups.
fn boxes(diagram: &Diagram) -> Vec<Stmt> {
    let parents = outline::parents(diagram, MAX_NESTING);
    let marks = outline::border_marks(diagram);
    let mut outside = Vec::new();
    let mut inside: Vec<Vec<Stmt>> = diagram.groups.iter().map(|_| Vec::new()).collect();
    for node in &diagram.nodes {
        let place = outline::group_of(diagram, node).map_or(&mut outside, |group| &mut inside[group]);
        place.push(Stmt::Node(node_stmt(node)));
    }
    // Children come after their parents, so going backwards each group is complete before it is put into its parent.
    let mut around: Vec<Vec<Stmt>> = diagram.groups.iter().map(|_| Vec::new()).collect();
    let mut outermost = Vec::new();
    for (index, group) in diagram.groups.iter().enumerate().rev() {
        let nodes = std::mem::take(&mut inside[index]);
        let children = std::mem::take(&mut around[index]);
        let subgraph = Stmt::Subgraph(group_subgraph(group, marks[index], nodes, children));
        parents[index].map_or(&mut outermost, |parent| &mut around[parent]).push(subgraph);
    }
    outside.extend(outermost.into_iter().rev());
    outside
}

/// Returns the statement for a group whose border shows `mark`. `children` begins with the last child.
fn group_subgraph(group: &Group, mark: Mark, nodes: Vec<Stmt>, children: Vec<Stmt>) -> Subgraph {
    let border = style::border(mark, style::GROUP_BORDER);
    let look = match border.dash {
        style::Dash::Solid => "rounded,filled".to_owned(),
        dash => format!("rounded,filled,{}", dash.as_dot()),
    };
    let mut attributes = vec![
        label("label", &style::with_sign(group.mark, text::label(&group.label)), "\\l"),
        plain("labelloc", "t"),
        plain("labeljust", "l"),
        plain("margin", "10"),
        plain("style", &look),
        plain("fillcolor", style::GROUP.light),
        plain("color", border.color.light),
        plain("penwidth", border.width),
        plain("fontcolor", style::TEXT.light),
    ];
    if border.lines > 1 {
        attributes.push(plain("peripheries", "2"));
    }
    attributes.extend(identity(&group.id, &format!("group {}", mark.as_str())));
    attributes.extend(more(&group.tooltip, group.object.as_ref().and_then(text::permalink)));
    let mut stmts: Vec<Stmt> = attributes.into_iter().map(Stmt::Attribute).collect();
    if nodes.is_empty() && children.is_empty() {
        // Graphviz does not draw an empty group, so add an invisible node.
        let id = NodeId(quoted(&format!("{}.", group.id)), None);
        let attributes = vec![plain("style", "invis"), plain("shape", "point"), plain("label", "")];
        stmts.push(Stmt::Node(DotNode { id, attributes }));
    }
    stmts.extend(nodes);
    stmts.extend(children.into_iter().rev());
    Subgraph { id: quoted(&format!("cluster_{}", group.id)), stmts }
}

fn node_stmt(node: &Node) -> DotNode {
    let look = style::node(node.shape);
    let border = style::border(node.mark, look.border);
    let dash = if border.dash == style::Dash::Solid { "" } else { border.dash.as_dot() };
    let styles: Vec<&str> = ["filled", look.dot_style, dash].into_iter().filter(|part| !part.is_empty()).collect();
    let mut attributes = vec![
        label("label", &style::with_sign(node.mark, text::label(&node.label)), "\\l"),
        plain("shape", look.dot_shape),
        plain("style", &styles.join(",")),
        plain("fillcolor", look.fill.light),
        plain("color", border.color.light),
        plain("penwidth", border.width),
    ];
    if border.lines > 1 {
        attributes.push(plain("peripheries", "2"));
    }
    attributes.extend(identity(&node.id, &format!("{} {}", look.class, node.mark.as_str())));
    attributes.extend(more(&node.tooltip, node.object.as_ref().and_then(text::permalink)));
    DotNode { id: NodeId(quoted(&node.id), None), attributes }
}

/// Returns whether an arrow points back at a parent. Graphviz ignores such arrows when it ranks nodes, so that a child is
/// always to the right of its parent.
fn goes_back(edge: &Edge) -> bool {
    matches!(edge.style, EdgeStyle::Result | EdgeStyle::Close)
}

/// Returns the pairs of nodes that Graphviz places in different ranks because of an arrow that does not go back.
fn ranked(diagram: &Diagram) -> HashSet<(NodeIdx, NodeIdx)> {
    let forward = diagram.edges.iter().filter(|edge| !goes_back(edge));
    forward.flat_map(|edge| [(edge.from, edge.to), (edge.to, edge.from)]).collect()
}

fn edge_stmt(diagram: &Diagram, ranked: &HashSet<(NodeIdx, NodeIdx)>, index: usize, edge: &Edge) -> Option<Stmt> {
    let (from, to) = outline::ends(diagram, edge)?;
    let look = style::arrow(edge.style, edge.mark);
    let mut lines = style::with_sign(edge.mark, text::label(&edge.label));
    if style::direction(diagram.view) == "TB" {
        // Beside an arrow that runs down, a label would touch the line.
        lines.iter_mut().for_each(|line| line.insert(0, ' '));
    }
    let mut attributes = Vec::new();
    // Graphviz may lose a labelled arrow between nodes that no other arrow puts into different ranks. It keeps the arrow
    // if the text is an `xlabel`.
    let may_be_flat = goes_back(edge) && !ranked.contains(&(edge.from, edge.to));
    if !lines.is_empty() {
        attributes.push(label(if may_be_flat { "xlabel" } else { "label" }, &lines, "\\l"));
    }
    attributes.extend([
        plain("style", look.dash.as_dot()),
        plain("color", look.color.light),
        plain("fontcolor", look.color.light),
        plain("penwidth", look.width),
        plain("arrowhead", look.head.as_dot()),
    ]);
    if goes_back(edge) {
        attributes.push(plain("constraint", "false"));
    }
    attributes.extend(identity(&format!("edge_{index}"), &format!("{} {}", look.class, edge.mark.as_str())));
    let link = edge.object.as_ref().and_then(text::permalink);
    let mut more = more(&edge.tooltip, link);
    if let Some(tooltip) = more.iter().find(|attribute| attribute.0 == Id::Plain("tooltip".to_owned())) {
        more.push(Attribute(Id::Plain("labeltooltip".to_owned()), tooltip.1.clone()));
    }
    attributes.extend(more);
    let end = |node: &Node| Vertex::N(NodeId(quoted(&node.id), None));
    Some(Stmt::Edge(DotEdge { ty: EdgeTy::Pair(end(from), end(to)), attributes }))
}

/// Returns the id and the class by which a page finds an element.
fn identity(id: &str, class: &str) -> [Attribute; 2] {
    [Attribute(Id::Plain("id".to_owned()), quoted(id)), plain("class", class)]
}

/// Returns the tooltip and the link of an element.
fn more(tooltip: &str, link: Option<String>) -> Vec<Attribute> {
    let lines = text::tooltip(tooltip);
    let mut attributes = Vec::new();
    if !lines.is_empty() {
        attributes.push(label("tooltip", &lines, "\\n"));
    }
    attributes.extend(link.map(|link| plain("URL", &link)));
    attributes
}

/// Returns an attribute with untrusted lines. `end` is the escape of DOT for the end of a line.
fn label(name: &str, lines: &[String], end: &str) -> Attribute {
    let mut value = String::from("\"");
    for (index, line) in lines.iter().enumerate() {
        // `\l` ends each line, `\n` is written between two lines.
        if index > 0 && end == "\\n" {
            value.push_str(end);
        }
        text::push_dot(&mut value, line);
        if end != "\\n" {
            value.push_str(end);
        }
    }
    value.push('"');
    Attribute(Id::Plain(name.to_owned()), Id::Escaped(value))
}

/// Returns an attribute whose value comes from this crate and not from a session.
fn plain(name: &str, value: &str) -> Attribute {
    Attribute(Id::Plain(name.to_owned()), quoted(value))
}

fn quoted(text: &str) -> Id {
    let mut value = String::from("\"");
    text::push_dot(&mut value, text);
    value.push('"');
    Id::Escaped(value)
}
