//! Routes of arrows.

use std::collections::{BTreeMap, HashMap};

use super::block::{Block, Rect};
use super::labels::Labels;
use super::level::{BEND, Item, Level, Relation};
use crate::diagram::Diagram;
use crate::diagram::render::outline;

/// The direction of an arrow at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    Right,
    Left,
    Down,
    Up,
}

impl Heading {
    /// Returns the unit vector of this direction.
    pub(crate) fn step(self) -> (i64, i64) {
        match self {
            Self::Right => (1, 0),
            Self::Left => (-1, 0),
            Self::Down => (0, 1),
            Self::Up => (0, -1),
        }
    }
}

/// Least space between two arrows at the side of a node.
pub(super) const PORT_PITCH: i64 = 9;
/// Space between the label of an arrow and the arrow above it.
pub(super) const PORT_GAP: i64 = 6;
/// Space between a line and the label beside it.
const LABEL_INDENT: i64 = 6;

/// A point of the picture.
pub(crate) type Point = (i64, i64);

/// The route of an arrow: straight from `start` to the first point of `curve`, along the curve, and straight to `end`.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) start: Point,
    /// A cubic curve: its first point, two control points, and its last point.
    pub(crate) curve: [Point; 4],
    pub(crate) end: Point,
    pub(crate) heading: Heading,
    /// The label and its place.
    pub(crate) label: Block,
}

/// A side of a node at which arrows begin or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// An arrow whose route is not known yet.
struct Plan {
    edge: usize,
    from: usize,
    to: usize,
    relation: Relation,
    /// Left and right sides of the columns of its ends, in the picture.
    from_column: (i64, i64),
    to_column: (i64, i64),
    /// Space before the column to the right.
    room: i64,
}

/// Returns the route of each arrow. `None` for an arrow with an end that does not exist.
pub(super) fn routes(
    diagram: &Diagram,
    levels: &[Level],
    groups: &[Block],
    nodes: &[Block],
    mut labels: Vec<Block>,
) -> Vec<Option<Route>> {
    let plans = plans(diagram, levels, groups, nodes);
    let ports = ports(&plans, nodes, &labels);
    let shafts = shafts(&plans, nodes);
    let mut routes: Vec<Option<Route>> = diagram.edges.iter().map(|_| None).collect();
    let mut placed = Labels::new(nodes);
    for plan in &plans {
        let label = std::mem::take(&mut labels[plan.edge]);
        let mut route = route(plan, &ports, &shafts, nodes);
        route.label = label;
        if !route.label.lines.is_empty() {
            route.label.place = placed.place(route.label_place(route.label.place));
        }
        routes[plan.edge] = Some(route);
    }
    routes
}

fn plans(diagram: &Diagram, levels: &[Level], groups: &[Block], nodes: &[Block]) -> Vec<Plan> {
    let mut plans = Vec::with_capacity(diagram.edges.len());
    for level in levels {
        for link in &level.links {
            let edge = &diagram.edges[link.edge];
            let (from, to) = (outline::index_of_node(edge.from), outline::index_of_node(edge.to));
            // An item begins at the left side of its column, so its place in the picture gives the place of the column.
            let columns = |item: Item| {
                let place = match item {
                    Item::Node(node) => nodes[node].place,
                    Item::Group(group) => groups[group].place,
                };
                let (left, right) = level.column(item);
                (place.x, place.x + right - left)
            };
            let relation = level.relation(link.from, link.to);
            let (from_column, to_column) = (columns(link.from), columns(link.to));
            let right = if relation == Relation::Left { link.from } else { link.to };
            let room = level.room_before(right);
            plans.push(Plan { edge: link.edge, from, to, relation, from_column, to_column, room });
        }
    }
    plans.sort_unstable_by_key(|plan| plan.edge);
    plans
}

/// Returns the sides at which an arrow begins and ends. `None` if it runs down or up.
fn sides(relation: Relation) -> Option<(Side, Side)> {
    match relation {
        Relation::Right => Some((Side::Right, Side::Left)),
        Relation::Left => Some((Side::Left, Side::Right)),
        Relation::Aside => Some((Side::Right, Side::Right)),
        Relation::Below | Relation::Above => None,
    }
}

/// Heights of the ends of arrows. The key is the index of the arrow, and true for its end or false for its beginning.
type Ports = HashMap<(usize, bool), i64>;

/// An end of an arrow at the side of a node: the height of the node at the other end, the index of the arrow, and true
/// for its end or false for its beginning.
type End = (i64, usize, bool);

/// Distributes the arrows along the sides of nodes, in the order of the heights of their other ends. The end with the
/// label gets room for it.
fn ports(plans: &[Plan], nodes: &[Block], labels: &[Block]) -> Ports {
    let mut by_side: BTreeMap<(usize, Side), Vec<End>> = BTreeMap::new();
    let middle = |node: usize| nodes[node].place.y + nodes[node].place.height / 2;
    for plan in plans {
        if let Some((begin, end)) = sides(plan.relation) {
            by_side.entry((plan.from, begin)).or_default().push((middle(plan.to), plan.edge, false));
            by_side.entry((plan.to, end)).or_default().push((middle(plan.from), plan.edge, true));
        }
    }
    let mut ports = Ports::new();
    for ((node, side), mut ends) in by_side {
        ends.sort_unstable();
        let place = nodes[node].place;
        let room = |&(_, edge, _): &End| match side {
            Side::Left => PORT_PITCH.max(labels[edge].place.height + PORT_GAP),
            Side::Right => PORT_PITCH,
        };
        let all: i64 = ends.iter().map(room).sum();
        // A label is above its arrow, so the room that it needs beyond the least is above the arrow too.
        let least = ends.iter().map(room).min().unwrap_or(0);
        let mut until = 0;
        for end in &ends {
            until += room(end);
            let height = place.height * (2 * until - least) / (2 * all);
            ports.insert((end.1, end.2), place.y + height);
        }
    }
    ports
}

/// Returns the horizontal places of arrows that run down or up. Those that join the same nodes are beside each other.
fn shafts(plans: &[Plan], nodes: &[Block]) -> HashMap<usize, i64> {
    let mut by_pair: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for plan in plans.iter().filter(|plan| sides(plan.relation).is_none()) {
        by_pair.entry((plan.from.min(plan.to), plan.from.max(plan.to))).or_default().push(plan.edge);
    }
    let mut shafts = HashMap::new();
    for ((from, to), edges) in by_pair {
        let width = nodes[from].place.width.min(nodes[to].place.width);
        let count = edges.len() as i64;
        for (index, edge) in edges.into_iter().enumerate() {
            shafts.insert(edge, nodes[from].place.x + width * (index as i64 + 1) / (count + 1));
        }
    }
    shafts
}

fn route(plan: &Plan, ports: &Ports, shafts: &HashMap<usize, i64>, nodes: &[Block]) -> Route {
    let (from, to) = (nodes[plan.from].place, nodes[plan.to].place);
    let Some((begin, end)) = sides(plan.relation) else {
        return shaft(shafts[&plan.edge], from, to);
    };
    let side = |place: Rect, side: Side| match side {
        Side::Left => place.x,
        Side::Right => place.right(),
    };
    let column_side = |column: (i64, i64), side: Side| match side {
        Side::Left => column.0,
        Side::Right => column.1,
    };
    let start = (side(from, begin), ports[&(plan.edge, false)]);
    let finish = (side(to, end), ports[&(plan.edge, true)]);
    let (out, back) = (column_side(plan.from_column, begin), column_side(plan.to_column, end));
    // Arrows bend right after the column to the left, and run straight past their labels.
    let (out, back, pulls) = match plan.relation {
        Relation::Right => {
            let bend = (back - plan.room, back - plan.room + BEND);
            (bend.0, bend.1, (i64::midpoint(bend.0, bend.1), i64::midpoint(bend.0, bend.1)))
        }
        Relation::Left => {
            let bend = (out - plan.room, out - plan.room + BEND);
            (bend.1, bend.0, (i64::midpoint(bend.0, bend.1), i64::midpoint(bend.0, bend.1)))
        }
        _ => {
            let pull = out.max(back) + BEND / 2 + (finish.1 - start.1).abs().min(240) / 8;
            (out, back, (pull, pull))
        }
    };
    let heading = if end == Side::Left { Heading::Right } else { Heading::Left };
    let curve = [(out, start.1), (pulls.0, start.1), (pulls.1, finish.1), (back, finish.1)];
    Route { start, curve, end: finish, heading, label: Block::default() }
}

fn shaft(x: i64, from: Rect, to: Rect) -> Route {
    let is_down = from.y < to.y;
    let (start, end) = if is_down { (from.bottom(), to.y) } else { (from.y, to.bottom()) };
    let curve = [(x, start), (x, (2 * start + end) / 3), (x, (start + 2 * end) / 3), (x, end)];
    let heading = if is_down { Heading::Down } else { Heading::Up };
    Route { start: (x, start), curve, end: (x, end), heading, label: Block::default() }
}

impl Route {
    /// Returns the best place for a label of this size.
    fn label_place(&self, size: Rect) -> Rect {
        let [(out, out_y), (pull, _), _, (back, back_y)] = self.curve;
        let (x, y) = match self.heading {
            // Beside the line.
            Heading::Down | Heading::Up => (out + 8, i64::midpoint(out_y, back_y) - size.height / 2),
            // Above the straight part at the right end.
            Heading::Right => (back + LABEL_INDENT, back_y - size.height - 1),
            Heading::Left if self.start.0 > self.end.0 && out > back => (out + LABEL_INDENT, out_y - size.height - 1),
            // To the right of the curve, which reaches three quarters of the way to its control points.
            Heading::Left => {
                let bow = i64::midpoint(i64::midpoint(out.max(back), pull), pull);
                (bow + LABEL_INDENT, i64::midpoint(out_y, back_y) - size.height / 2)
            }
        };
        Rect { x, y, ..size }
    }
}
