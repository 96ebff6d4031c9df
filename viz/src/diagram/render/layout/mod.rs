//! Finds the place of everything in a picture, without Graphviz.
//!
//! Time goes down, and children are to the right of their parents. The items of a group (nodes and inner groups) are
//! placed in columns: items that an item of the column before spawned, beginning at the height of that item; what a
//! turn or an inference call made, beside it; and everything else from top to bottom. Columns and heights only grow, so
//! groups cannot overlap, and the work is linear except for some sorting.
//!
//! Within their groups, arrows run straight to the side. They bend only between columns, where there is room for their
//! labels.

mod block;
mod labels;
mod level;
mod measure;
mod route;

use super::super::{Diagram, EdgeStyle};
use super::{outline, style, text};
pub(super) use block::{Block, Rect};
use level::{Item, Level, Link};
pub(super) use measure::Measure;
pub(super) use route::Route;
use route::{PORT_GAP, PORT_PITCH};

/// Most groups within groups. Groups that are nested deeper are placed in the group at this depth.
pub(super) const MAX_DEPTH: usize = super::MAX_NESTING;

/// Font size in nodes and headings.
pub(super) const FONT_SIZE: i64 = 12;
/// Font size of labels of arrows, and of all lines of a heading but the first.
pub(super) const SMALL_FONT_SIZE: i64 = 11;
/// Font size of the title.
pub(super) const TITLE_SIZE: i64 = 15;
/// Height of a line in a node or heading.
pub(super) const LINE_HEIGHT: i64 = 17;
/// Height of a line of an arrow's label and of a caption.
pub(super) const SMALL_LINE_HEIGHT: i64 = 15;
/// Space between the border of a node and its text: horizontal, vertical.
pub(super) const NODE_PADDING: (i64, i64) = (12, 8);
/// Space between the border of a group and what is in it.
pub(super) const GROUP_PADDING: i64 = 14;
/// Space around the picture.
pub(super) const MARGIN: i64 = 24;

/// Most columns of a line of an arrow's label.
const MAX_ARROW_COLUMNS: usize = 34;
/// Most height that a node gets because of its arrows.
const MAX_PORTS_HEIGHT: i64 = 360;
/// Most arrows at a side of a node for which each gets as much room as its label needs.
const MAX_ROOMY_PORTS: i64 = 6;

/// The places of everything in a diagram.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: i64,
    pub(super) height: i64,
    /// The title is above the picture, the caption with notes and signs below.
    pub(super) title: String,
    pub(super) caption: Vec<String>,
    /// Groups, in the order of the diagram, with the lines of their headings.
    pub(super) groups: Vec<Block>,
    /// Nodes, in the order of the diagram.
    pub(super) nodes: Vec<Block>,
    /// Arrows, in the order of the diagram. `None` for an arrow with an end that does not exist.
    pub(super) routes: Vec<Option<Route>>,
}

/// Which container each group and node is in: another group, or the picture, whose index is the number of groups.
struct Containers {
    /// The containers of the groups and of the nodes.
    of_group: Vec<usize>,
    of_node: Vec<usize>,
    /// Depth of each container. The picture has depth 0.
    depths: Vec<usize>,
}

impl Containers {
    fn new(diagram: &Diagram) -> Self {
        let picture = diagram.groups.len();
        let parents = outline::parents(diagram, MAX_DEPTH);
        let mut depths = vec![0; picture + 1];
        for (group, parent) in parents.iter().enumerate() {
            depths[group] = parent.map_or(1, |parent| depths[parent] + 1);
        }
        let of_group = parents.into_iter().map(|parent| parent.unwrap_or(picture)).collect();
        let of_node = diagram.nodes.iter().map(|node| outline::group_of(diagram, node).unwrap_or(picture)).collect();
        Self { of_group, of_node, depths }
    }

    /// Returns the innermost container of two nodes, and its items that contain them.
    fn common(&self, from: usize, to: usize) -> (usize, Item, Item) {
        let (mut a, mut b) = ((self.of_node[from], Item::Node(from)), (self.of_node[to], Item::Node(to)));
        while a.0 != b.0 {
            let deeper = if self.depths[a.0] >= self.depths[b.0] { &mut a } else { &mut b };
            *deeper = (self.of_group[deeper.0], Item::Group(deeper.0));
        }
        (a.0, a.1, b.1)
    }
}

/// Returns the places of everything in a diagram.
pub(super) fn lay_out(diagram: &Diagram, measure: &Measure) -> Layout {
    let containers = Containers::new(diagram);
    let picture = diagram.groups.len();
    let mut levels: Vec<Level> = (0..=picture).map(|_| Level::default()).collect();

    let labels: Vec<Block> = diagram.edges.iter().map(|edge| arrow_label(edge, measure)).collect();
    let mut nodes: Vec<Block> = diagram.nodes.iter().map(|node| node_block(node, measure)).collect();
    make_room_for_ports(diagram, &labels, &mut nodes);
    for (index, edge) in diagram.edges.iter().enumerate() {
        if outline::ends(diagram, edge).is_some() {
            let (from, to) = (outline::index_of_node(edge.from), outline::index_of_node(edge.to));
            let (container, from, to) = containers.common(from, to);
            let label = labels[index].place;
            levels[container].links.push(Link { edge: index, from, to, style: edge.style, label });
        }
    }

    // The first node of each group tells when the group begins. Groups without nodes come last.
    let mut begins = vec![usize::MAX; picture + 1];
    for index in 0..nodes.len() {
        let container = containers.of_node[index];
        begins[container] = begins[container].min(index);
        levels[container].items.push((index, Item::Node(index)));
    }
    let mut groups: Vec<Block> = diagram.groups.iter().map(|group| heading(group, measure)).collect();
    // Start with the innermost groups, because the size of a group depends on what is in it.
    for index in (0..picture).rev().chain([picture]) {
        let level = &mut levels[index];
        level.arrange(diagram, &groups, &nodes);
        if let Some(group) = groups.get_mut(index) {
            let heading = group.place;
            group.place.width = heading.width.max(level.size.0) + 2 * GROUP_PADDING;
            group.place.height = heading.height + level.size.1 + 2 * GROUP_PADDING;
            if level.size.1 > 0 {
                group.place.height += GROUP_PADDING / 2;
            }
            let parent = containers.of_group[index];
            begins[parent] = begins[parent].min(begins[index]);
            levels[parent].items.push((begins[index], Item::Group(index)));
        }
    }

    let title = text::line(&diagram.title, text::MAX_NOTE_COLUMNS);
    let caption: Vec<String> = super::dot::caption(diagram).into_iter().skip(usize::from(!title.is_empty())).collect();
    let top = MARGIN + if title.is_empty() { 0 } else { TITLE_SIZE + 18 };
    place(&levels, &containers, (MARGIN, top), &mut groups, &mut nodes);
    let routes = route::routes(diagram, &levels, &groups, &nodes, labels);

    let title_width = measure.bold_width(&title, TITLE_SIZE);
    let caption_width = caption.iter().map(|line| measure.width(line, SMALL_FONT_SIZE)).max().unwrap_or(0);
    let label_ends = routes.iter().flatten().map(|route| route.label.place);
    let (right, bottom) =
        label_ends.fold((0, 0), |(right, bottom), label| (label.right().max(right), label.bottom().max(bottom)));
    let (width, height) = levels[picture].size;
    let width = (MARGIN + width.max(title_width).max(caption_width)).max(right) + MARGIN;
    let caption_height = if caption.is_empty() { 0 } else { caption.len() as i64 * SMALL_LINE_HEIGHT + 16 };
    let height = (top + height).max(bottom) + caption_height + MARGIN;
    Layout { width, height, title, caption, groups, nodes, routes }
}

/// Moves the items of each group to their places in the picture.
fn place(levels: &[Level], containers: &Containers, origin: (i64, i64), groups: &mut [Block], nodes: &mut [Block]) {
    let picture = groups.len();
    let mut origins = vec![origin; picture + 1];
    // The picture comes first, and parents come before their children.
    for index in std::iter::once(picture).chain(0..picture) {
        if index != picture {
            let parent = &levels[containers.of_group[index]];
            let (x, y) = origins[containers.of_group[index]];
            let (left, top) = parent.position(Item::Group(index));
            groups[index].place.x = x + left;
            groups[index].place.y = y + top;
            let place = groups[index].place;
            let inner = place.height - levels[index].size.1;
            origins[index] = (place.x + GROUP_PADDING, place.y + inner - GROUP_PADDING);
        }
        let (x, y) = origins[index];
        for &(_, item) in &levels[index].items {
            if let Item::Node(node) = item {
                let (left, top) = levels[index].position(item);
                nodes[node].place.x = x + left;
                nodes[node].place.y = y + top;
            }
        }
    }
}

fn block(lines: Vec<String>, width: i64, line_height: i64) -> Block {
    let height = lines.len() as i64 * line_height;
    Block { lines, place: Rect { width, height, ..Rect::default() } }
}

fn arrow_label(edge: &super::super::Edge, measure: &Measure) -> Block {
    let lines = text::label(&edge.label).iter().map(|line| text::line(line, MAX_ARROW_COLUMNS)).collect();
    let lines = style::with_sign(edge.mark, lines);
    let width = lines.iter().map(|line| measure.width(line, SMALL_FONT_SIZE)).max().unwrap_or(0);
    block(lines, width, SMALL_LINE_HEIGHT)
}

fn node_block(node: &super::super::Node, measure: &Measure) -> Block {
    let lines = style::with_sign(node.mark, text::label(&node.label));
    let width = lines.iter().map(|line| measure.width(line, FONT_SIZE)).max().unwrap_or(0);
    let mut block = block(lines, width, LINE_HEIGHT);
    block.place.width += 2 * NODE_PADDING.0 + style::extra_width(node.shape);
    block.place.height = block.place.height.max(LINE_HEIGHT) + 2 * NODE_PADDING.1;
    block
}

fn heading(group: &super::super::Group, measure: &Measure) -> Block {
    let lines = style::with_sign(group.mark, text::label(&group.label));
    let widths = lines.iter().enumerate().map(|(index, line)| match index {
        0 => measure.bold_width(line, FONT_SIZE),
        _ => measure.width(line, SMALL_FONT_SIZE),
    });
    let width = widths.max().unwrap_or(0);
    block(lines, width, LINE_HEIGHT)
}

/// Makes nodes tall enough for the arrows at their sides. Labels are at the end of the child.
fn make_room_for_ports(diagram: &Diagram, labels: &[Block], nodes: &mut [Block]) {
    let mut counts = vec![(0_i64, 0_i64); nodes.len()];
    for (edge, label) in diagram.edges.iter().zip(labels) {
        if outline::ends(diagram, edge).is_none() || edge.style == EdgeStyle::Next {
            continue;
        }
        let labelled = if edge.style == EdgeStyle::Result { edge.from } else { edge.to };
        for end in [edge.from, edge.to] {
            let (count, height) = &mut counts[outline::index_of_node(end)];
            *count += 1;
            *height += if end == labelled { (label.place.height + PORT_GAP).max(PORT_PITCH) } else { PORT_PITCH };
        }
    }
    for (node, (count, height)) in nodes.iter_mut().zip(counts) {
        let height = if count <= MAX_ROOMY_PORTS { height } else { count * PORT_PITCH };
        let height = if count <= 1 { 0 } else { height };
        node.place.height = node.place.height.max(height.min(MAX_PORTS_HEIGHT));
    }
}

#[cfg(test)]
mod tests;
