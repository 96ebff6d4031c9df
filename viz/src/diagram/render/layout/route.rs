//! Ways of arrows.

use std::collections::{BTreeMap, HashMap};

use super::level::{Item, Level, Relation};
use super::{Block, Labels, Rect};
use crate::diagram::Diagram;
use crate::diagram::render::outline;

/// Where an arrow points at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    Right,
    Left,
    Down,
    Up,
}

impl Heading {
    /// Returns the step in this direction.
    pub(crate) fn step(self) -> (i64, i64) {
        match self {
            Self::Right => (1, 0),
            Self::Left => (-1, 0),
            Self::Down => (0, 1),
            Self::Up => (0, -1),
        }
    }
}

/// A point.
pub(crate) type Point = (i64, i64);

/// The way of an arrow: straight from `start` to the first point of `curve`, along it, and straight to `end`.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) start: Point,
    /// A cubic curve: where it begins, two points that it is drawn to, and where it ends.
    pub(crate) curve: [Point; 4],
    pub(crate) end: Point,
    pub(crate) heading: Heading,
    /// Its text and where that stands.
    pub(crate) label: Block,
}

/// A side of a node that arrows begin or end at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// An arrow on its way to a route.
struct Plan {
    edge: usize,
    from: usize,
    to: usize,
    relation: Relation,
    /// Sides of the columns that its ends stand in, in the picture.
    from_column: (i64, i64),
    to_column: (i64, i64),
}

/// Returns the way of each arrow.
pub(super) fn routes(
    diagram: &Diagram,
    levels: &[Level],
    groups: &[Block],
    nodes: &[Block],
    labels: Vec<Block>,
) -> Vec<Option<Route>> {
    let plans = plans(diagram, levels, groups, nodes);
    let ports = ports(&plans, nodes);
    let shafts = shafts(&plans, nodes);
    let mut routes: Vec<Option<Route>> = diagram.edges.iter().map(|_| None).collect();
    let mut placed = Labels::new(nodes);
    let mut labels = labels;
    for plan in &plans {
        let label = std::mem::take(&mut labels[plan.edge]);
        let mut route = route(plan, &ports, &shafts, nodes);
        route.label = label;
        placed.place(&mut route);
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
            // Columns are known from the left side of their box, which each of its items tells.
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
            plans.push(Plan { edge: link.edge, from, to, relation, from_column, to_column });
        }
    }
    plans.sort_unstable_by_key(|plan| plan.edge);
    plans
}

/// Returns the sides at which an arrow begins and ends. Null if it runs from top to bottom.
fn sides(relation: Relation) -> Option<(Side, Side)> {
    match relation {
        Relation::Right => Some((Side::Right, Side::Left)),
        Relation::Left => Some((Side::Left, Side::Right)),
        Relation::Aside => Some((Side::Right, Side::Right)),
        Relation::Below | Relation::Above => None,
    }
}

/// Heights of the ends of arrows: number of the arrow, and whether it is its end.
type Ports = HashMap<(usize, bool), i64>;

/// Shares the sides of nodes out among the arrows there, in the order of where they come from and go to.
fn ports(plans: &[Plan], nodes: &[Block]) -> Ports {
    // Where the other end is, the arrow, and whether it ends here.
    type End = (i64, usize, bool);
    let mut by_side: BTreeMap<(usize, Side), Vec<End>> = BTreeMap::new();
    let middle = |node: usize| nodes[node].place.y + nodes[node].place.height / 2;
    for plan in plans {
        if let Some((begin, end)) = sides(plan.relation) {
            by_side.entry((plan.from, begin)).or_default().push((middle(plan.to), plan.edge, false));
            by_side.entry((plan.to, end)).or_default().push((middle(plan.from), plan.edge, true));
        }
    }
    let mut ports = Ports::new();
    for ((node, _), mut ends) in by_side {
        ends.sort_unstable();
        let place = nodes[node].place;
        let count = ends.len() as i64;
        for (index, (_, edge, is_end)) in ends.into_iter().enumerate() {
            ports.insert((edge, is_end), place.y + place.height * (index as i64 + 1) / (count + 1));
        }
    }
    ports
}

/// Returns where arrows stand that run from top to bottom: beside each other if they join the same nodes.
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
    let out = column_side(plan.from_column, begin);
    let back = column_side(plan.to_column, end);
    let (out_pull, back_pull) = if plan.relation == Relation::Aside {
        let pull = 30 + (finish.1 - start.1).abs().min(240) / 6;
        (out.max(back) + pull, out.max(back) + pull)
    } else {
        let middle = i64::midpoint(out, back);
        (middle, middle)
    };
    let heading = if end == Side::Left { Heading::Right } else { Heading::Left };
    let curve = [(out, start.1), (out_pull, start.1), (back_pull, finish.1), (back, finish.1)];
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
    /// Returns the point of the curve at so many sixteenths of its way.
    pub(super) fn at(&self, sixteenths: i64) -> Point {
        let (t, u) = (sixteenths, 16 - sixteenths);
        let weights = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
        let sum = |part: fn(Point) -> i64| -> i64 {
            let parts = self.curve.iter().zip(weights).map(|(&point, weight)| part(point) * weight);
            parts.sum::<i64>().div_euclid(16 * 16 * 16)
        };
        (sum(|point| point.0), sum(|point| point.1))
    }
}
