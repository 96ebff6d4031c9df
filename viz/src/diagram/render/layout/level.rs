//! The layout of the items of one group.

use std::collections::HashMap;

use super::super::super::{Diagram, EdgeStyle, Shape, View};
use super::block::{Block, Rect};

/// Space between two items of a column.
const ROW_GAP: i64 = 16;
/// Space between two items of a column that an arrow joins.
const ARROW_GAP: i64 = 30;
/// Least space between two columns.
const COLUMN_GAP: i64 = 44;
/// Width that arrows between two columns need for their bends. The rest of the space between the columns is for their
/// labels.
pub(super) const BEND: i64 = 64;
/// Space between a label and the item before which it is placed.
const LABEL_GAP: i64 = 20;

/// What a group contains: a node or another group, by its index in the diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    Node(usize),
    Group(usize),
}

/// An arrow between two items of a group, or between nodes inside of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) edge: usize,
    pub(super) from: Item,
    pub(super) to: Item,
    pub(super) style: EdgeStyle,
    /// Size of the label.
    pub(super) label: Rect,
}

/// The inside of a group, or of the whole picture.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The items, each with the index of its first node, which orders them.
    pub(super) items: Vec<(usize, Item)>,
    pub(super) links: Vec<Link>,
    /// For each of `items`, its place relative to the top left.
    spots: Vec<Spot>,
    indexes: HashMap<Item, usize>,
    /// Left and right side of each column.
    columns: Vec<(i64, i64)>,
    /// Width and height of the whole inside.
    pub(super) size: (i64, i64),
}

#[derive(Debug, Clone, Copy, Default)]
struct Spot {
    x: i64,
    y: i64,
    column: usize,
    /// Its number in its column.
    row: usize,
    height: i64,
}

/// Where an item is relative to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The second is in a column to the right.
    Right,
    /// The second is in a column to the left.
    Left,
    /// The second directly follows the first in the same column.
    Below,
    /// The second is directly before the first in the same column.
    Above,
    /// Both are in the same column without being neighbours, or they are the same item.
    Aside,
}

impl Level {
    /// Returns the place of an item in the group.
    pub(super) fn position(&self, item: Item) -> (i64, i64) {
        let spot = self.spots[self.indexes[&item]];
        (spot.x, spot.y)
    }

    /// Returns the sides of the column of an item.
    pub(super) fn column(&self, item: Item) -> (i64, i64) {
        self.columns[self.spots[self.indexes[&item]].column]
    }

    /// Returns the space to the left of the column of an item.
    pub(super) fn room_before(&self, item: Item) -> i64 {
        let column = self.spots[self.indexes[&item]].column;
        let before = column.checked_sub(1).map_or(0, |before| self.columns[before].1);
        self.columns[column].0 - before
    }

    /// Returns where the second item is relative to the first.
    pub(super) fn relation(&self, from: Item, to: Item) -> Relation {
        let (a, b) = (self.spots[self.indexes[&from]], self.spots[self.indexes[&to]]);
        let are_nodes = matches!((from, to), (Item::Node(_), Item::Node(_)));
        match b.column.cmp(&a.column) {
            std::cmp::Ordering::Greater => Relation::Right,
            std::cmp::Ordering::Less => Relation::Left,
            std::cmp::Ordering::Equal if are_nodes && b.row == a.row + 1 => Relation::Below,
            std::cmp::Ordering::Equal if are_nodes && b.row + 1 == a.row => Relation::Above,
            std::cmp::Ordering::Equal => Relation::Aside,
        }
    }

    /// Finds a place for every item.
    pub(super) fn arrange(&mut self, diagram: &Diagram, groups: &[Block], nodes: &[Block]) {
        self.items.sort_unstable();
        self.indexes = self.items.iter().enumerate().map(|(index, &(_, item))| (item, index)).collect();
        let sizes: Vec<Rect> = self.items.iter().map(|&(_, item)| size_of(item, groups, nodes)).collect();
        let parents = self.parents();
        let order = depth_first(&parents);
        let columns = self.columns_of(diagram, &parents, &order);
        self.stack(&sizes, &parents, &order, &columns);
        self.spread(&sizes);
    }

    /// Returns for each item the one that spawned it, gave it a task, sent it a message or, between groups, caused it.
    fn parents(&self) -> Vec<Option<usize>> {
        // A smaller number is a better reason. Of equal reasons the earliest counts.
        let rank = |link: &Link| match link.style {
            EdgeStyle::Spawn => Some(0),
            EdgeStyle::Task => Some(1),
            EdgeStyle::Message => Some(2),
            EdgeStyle::Cause if matches!((link.from, link.to), (Item::Group(_), Item::Group(_))) => Some(3),
            EdgeStyle::Cause | EdgeStyle::Result | EdgeStyle::Close | EdgeStyle::Next => None,
        };
        let mut best: Vec<Option<(u8, usize)>> = vec![None; self.items.len()];
        for link in &self.links {
            let (from, to) = (self.indexes[&link.from], self.indexes[&link.to]);
            if let Some(rank) = rank(link).filter(|_| from < to)
                && best[to].is_none_or(|(other, _)| rank < other)
            {
                best[to] = Some((rank, from));
            }
        }
        best.into_iter().map(|best| best.map(|(_, parent)| parent)).collect()
    }

    /// Returns the column of each item.
    fn columns_of(&self, diagram: &Diagram, parents: &[Option<usize>], order: &[usize]) -> Vec<usize> {
        let is_aside = |item: Item| match item {
            // The steps of a chain are in one column, whatever they are.
            _ if diagram.view == View::Causal => false,
            // The arrow to what never arrived comes from the left. To the right of the agent, it would seem to come
            // from the agent.
            Item::Node(node) if diagram.view == View::Agents && diagram.nodes[node].shape == Shape::Missing => false,
            Item::Node(node) => matches!(
                diagram.nodes[node].shape,
                Shape::Tool | Shape::Cell | Shape::Item | Shape::Folded | Shape::Missing
            ),
            Item::Group(_) => false,
        };
        // What a turn made is placed beside the turn. If there is nothing else, it needs no column of its own.
        let has_main = self.items.iter().any(|&(_, item)| !is_aside(item));
        let mut columns = vec![0; self.items.len()];
        for &index in order {
            columns[index] = match parents[index] {
                Some(parent) => columns[parent] + 1,
                None => usize::from(has_main && is_aside(self.items[index].1)),
            };
        }
        columns
    }

    /// Finds the height of each item: below the items before it in its column, and not above its parent.
    fn stack(&mut self, sizes: &[Rect], parents: &[Option<usize>], order: &[usize], columns: &[usize]) {
        let count = columns.iter().max().map_or(0, |&column| column + 1);
        // For each column, where its next item may begin, and its last item.
        let mut bottoms: Vec<i64> = vec![0; count + 1];
        let mut last: Vec<Option<usize>> = vec![None; count];
        let mut rows = vec![0; count];
        let mut into: Vec<Vec<(usize, i64)>> = vec![Vec::new(); sizes.len()];
        let mut has_children = vec![false; sizes.len()];
        for parent in parents.iter().flatten() {
            has_children[*parent] = true;
        }
        for link in &self.links {
            let (from, to) = (self.indexes[&link.from], self.indexes[&link.to]);
            into[to].push((from, link.label.height));
            into[from].push((to, link.label.height));
        }
        let mut placed: Vec<Option<Spot>> = vec![None; sizes.len()];
        for &index in order {
            let column = columns[index];
            let mut y = bottoms[column];
            if let Some(above) = last[column] {
                let label = into[index].iter().filter(|(other, _)| *other == above).map(|(_, label)| *label).max();
                y += label.map_or(ROW_GAP, |label| if label > 0 { label + 20 } else { ARROW_GAP });
            }
            for &(other, _) in &into[index] {
                let Some(spot) = placed[other] else { continue };
                if spot.column < column {
                    y = y.max(spot.y);
                } else if spot.column > column && parents[index].is_none() {
                    y = y.max(spot.y + spot.height + ROW_GAP);
                }
            }
            if has_children[index] && last.get(column + 1).is_some_and(Option::is_some) {
                y = y.max(bottoms[column + 1] + ROW_GAP);
            }
            let height = sizes[index].height;
            placed[index] = Some(Spot { x: 0, y, column, row: rows[column], height });
            rows[column] += 1;
            bottoms[column] = y + height;
            last[column] = Some(index);
        }
        self.spots = placed.into_iter().map(Option::unwrap_or_default).collect();
        self.size.1 = bottoms.into_iter().max().unwrap_or(0);
    }

    /// Finds the sides of each column: as wide as its widest item, and far enough apart for the labels between.
    fn spread(&mut self, sizes: &[Rect]) {
        let count = self.spots.iter().map(|spot| spot.column + 1).max().unwrap_or(0);
        let mut widths = vec![0; count];
        for (spot, size) in self.spots.iter().zip(sizes) {
            widths[spot.column] = size.width.max(widths[spot.column]);
        }
        // The space to the right of each column. The space of the last column is zero unless arrows return to it.
        let mut rooms = vec![COLUMN_GAP; count];
        if let Some(last) = rooms.last_mut() {
            *last = 0;
        }
        for link in &self.links {
            let (from, to) = (self.spots[self.indexes[&link.from]].column, self.spots[self.indexes[&link.to]].column);
            match self.relation(link.from, link.to) {
                // The label is beside the arrow, over the right half of the items that it joins.
                Relation::Below | Relation::Above => {
                    let width = size_of_both(self, sizes, link) / 2 + link.label.width + 12;
                    widths[from] = width.max(widths[from]);
                }
                // The label is in front of the item to the right, or to the right of both.
                relation => {
                    let gap = if relation == Relation::Aside { from } else { from.max(to) - 1 };
                    let label = if link.label.width > 0 { link.label.width + LABEL_GAP } else { 0 };
                    rooms[gap] = rooms[gap].max(BEND + label + ROW_GAP);
                }
            }
        }
        let mut x = 0;
        self.columns = Vec::with_capacity(count);
        for (width, room) in widths.into_iter().zip(rooms) {
            self.columns.push((x, x + width));
            x += width + room;
        }
        self.size.0 = x;
        for spot in &mut self.spots {
            spot.x = self.columns[spot.column].0;
        }
    }
}

fn size_of_both(level: &Level, sizes: &[Rect], link: &Link) -> i64 {
    sizes[level.indexes[&link.from]].width.min(sizes[level.indexes[&link.to]].width)
}

fn size_of(item: Item, groups: &[Block], nodes: &[Block]) -> Rect {
    match item {
        Item::Node(node) => nodes[node].place,
        Item::Group(group) => groups[group].place,
    }
}

/// Returns all items, each followed by its children.
fn depth_first(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut next: Vec<usize> = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        match *parent {
            Some(parent) => children[parent].push(index),
            None => next.push(index),
        }
    }
    next.reverse();
    let mut order = Vec::with_capacity(parents.len());
    while let Some(index) = next.pop() {
        order.push(index);
        next.extend(children[index].iter().rev());
    }
    order
}
