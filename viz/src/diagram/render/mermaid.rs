//! A diagram in Mermaid, which many places that show Markdown can draw.
//!
//! Programs that draw Mermaid have limits. A diagram beyond them is an error; the caller can fold it further and try
//! again. The output has no links, since the page that shows the picture is not the page of the session.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::{Diagram, Mark, Shape};
use super::{outline, style, text};

/// Most characters that Mermaid draws: the default of its `maxTextSize`. It counts UTF-16 code units, so characters
/// beyond U+FFFF count twice.
pub const MAX_MERMAID_CHARS: usize = 50_000;

/// Most arrows that Mermaid draws: the default of its `maxEdges`.
pub const MAX_MERMAID_EDGES: usize = 500;

/// Why Mermaid would not draw the diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MermaidError {
    /// The text is longer than [`MAX_MERMAID_CHARS`].
    #[error("the diagram has {chars} characters in Mermaid, which draws at most {MAX_MERMAID_CHARS}")]
    TooLong {
        /// Length of the text in UTF-16 code units.
        chars: usize,
    },
    /// There are more arrows than [`MAX_MERMAID_EDGES`].
    #[error("the diagram has {edges} arrows, of which Mermaid draws at most {MAX_MERMAID_EDGES}")]
    TooManyEdges {
        /// Number of arrows.
        edges: usize,
    },
}

/// Returns a diagram in Mermaid, as a flowchart.
///
/// # Errors
///
/// Returns an error if the diagram has more characters or arrows than Mermaid draws.
pub fn mermaid(diagram: &Diagram) -> Result<String, MermaidError> {
    if diagram.edges.len() > MAX_MERMAID_EDGES {
        return Err(MermaidError::TooManyEdges { edges: diagram.edges.len() });
    }
    let text = flowchart(diagram);
    let chars = text.encode_utf16().count();
    if chars > MAX_MERMAID_CHARS {
        return Err(MermaidError::TooLong { chars });
    }
    Ok(text)
}

fn flowchart(diagram: &Diagram) -> String {
    let mut text = format!("flowchart {}\n", style::direction(diagram.view));
    let title = text::line(&diagram.title, text::MAX_NOTE_COLUMNS);
    if !title.is_empty() {
        text.push_str("  accTitle: ");
        text::push_mermaid(&mut text, &title);
        text.push('\n');
    }
    push_boxes(&mut text, diagram);
    let mut links: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let ends = diagram.edges.iter().filter(|edge| outline::ends(diagram, edge).is_some());
    for (index, edge) in ends.enumerate() {
        let look = style::arrow(edge.style, edge.mark);
        let label = quoted(&style::with_sign(edge.mark, text::label(&edge.label)));
        let label = if label == "\"\"" { String::new() } else { format!("|{label}|") };
        push(&mut text, format_args!("  n{} {}{label} n{}\n", edge.from.0, look.mermaid, edge.to.0));
        let dash = look.dash.as_svg().map(|dash| format!(",stroke-dasharray:{dash}")).unwrap_or_default();
        let color = look.color.light;
        let line = format!("stroke:{color},stroke-width:{}px,color:{color}{dash}", look.width);
        links.entry(line).or_default().push(index);
    }
    push_classes(&mut text, diagram);
    for (line, indexes) in links {
        let indexes: Vec<String> = indexes.iter().map(usize::to_string).collect();
        push(&mut text, format_args!("  linkStyle {} {line}\n", indexes.join(",")));
    }
    text
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to a string cannot fail");
}

/// The next step of a walk through nested groups.
enum Step {
    Enter(usize),
    Leave(usize),
}

fn push_boxes(text: &mut String, diagram: &Diagram) {
    let parents = outline::parents(diagram, super::MAX_NESTING);
    let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); diagram.groups.len()];
    for (index, node) in diagram.nodes.iter().enumerate() {
        match outline::group_of(diagram, node) {
            Some(group) => nodes[group].push(index),
            None => push_node(text, diagram, index, 1),
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); diagram.groups.len()];
    let mut depths = vec![1; diagram.groups.len()];
    let mut steps = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        match *parent {
            Some(parent) => {
                depths[index] = depths[parent] + 1;
                children[parent].push(index);
            }
            None => steps.push(Step::Enter(index)),
        }
    }
    steps.reverse();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(index) => {
                let group = &diagram.groups[index];
                // A heading has room for one line. More would be hidden behind the nodes.
                let heading = text::label(&group.label).into_iter().take(1).collect();
                let label = quoted(&style::with_sign(group.mark, heading));
                // Mermaid shows the id of a group whose heading is empty.
                let label = if label == "\"\"" { "\" \"".to_owned() } else { label };
                push(text, format_args!("{}subgraph g{index}[{label}]\n", indent(depths[index])));
                for &node in &nodes[index] {
                    push_node(text, diagram, node, depths[index] + 1);
                }
                steps.push(Step::Leave(index));
                steps.extend(children[index].iter().rev().map(|&child| Step::Enter(child)));
            }
            Step::Leave(index) => push(text, format_args!("{}end\n", indent(depths[index]))),
        }
    }
    let notes: Vec<String> = diagram.notes.iter().map(|note| text::line(note, text::MAX_NOTE_COLUMNS)).collect();
    let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).chain(style::legend(diagram)).collect();
    if !notes.is_empty() {
        push(text, format_args!("  notes[{}]\n  style notes fill:none,stroke:none\n", quoted(&notes)));
    }
}

fn push_node(text: &mut String, diagram: &Diagram, index: usize, depth: usize) {
    let node = &diagram.nodes[index];
    let (open, close) = style::node(node.shape).mermaid;
    let label = quoted(&style::with_sign(node.mark, text::label(&node.label)));
    let label = if label == "\"\"" { "\" \"".to_owned() } else { label };
    push(text, format_args!("{}n{index}{open}{label}{close}\n", indent(depth)));
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Returns lines as a quoted string.
fn quoted(lines: &[String]) -> String {
    let mut value = String::from("\"");
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            value.push_str("<br/>");
        }
        text::push_mermaid(&mut value, line);
    }
    value.push('"');
    value
}

/// Writes the styles of nodes and groups: first by shape, then by mark, which overrides parts of the first.
fn push_classes(text: &mut String, diagram: &Diagram) {
    let mut assign = |name: &str, look: String, members: Vec<String>| {
        if !members.is_empty() {
            push(text, format_args!("  classDef {name} {look}\n  class {} {name}\n", members.join(",")));
        }
    };
    let color = style::TEXT.light;
    let groups = (0..diagram.groups.len()).map(|index| format!("g{index}")).collect();
    let look = format!("fill:{},stroke:{},color:{color}", style::GROUP.light, style::GROUP_BORDER.light);
    assign("group", look, groups);
    for shape in Shape::ALL {
        let look = style::node(shape);
        let dash = if shape == Shape::Missing { ",stroke-dasharray:6 4" } else { "" };
        let of_shape = diagram.nodes.iter().enumerate().filter(|(_, node)| node.shape == shape);
        let members = of_shape.map(|(index, _)| format!("n{index}")).collect();
        assign(
            look.class,
            format!("fill:{},stroke:{},color:{color}{dash}", look.fill.light, look.border.light),
            members,
        );
    }
    let of_groups = outline::border_marks(diagram);
    for mark in Mark::ALL.into_iter().filter(|&mark| mark != Mark::Fine) {
        let border = style::border(mark, style::TEXT);
        let dash = border.dash.as_svg().map(|dash| format!(",stroke-dasharray:{dash}")).unwrap_or_default();
        let groups = of_groups.iter().enumerate().filter(|(_, of_group)| **of_group == mark);
        let nodes = diagram.nodes.iter().enumerate().filter(|(_, node)| node.mark == mark);
        let groups = groups.map(|(index, _)| format!("g{index}"));
        let members = groups.chain(nodes.map(|(index, _)| format!("n{index}"))).collect();
        // Mermaid has no double borders, so use a thicker one.
        let width = if border.lines > 1 { "4" } else { border.width };
        assign(mark.as_str(), format!("stroke:{},stroke-width:{width}px{dash}", border.color.light), members);
    }
}
