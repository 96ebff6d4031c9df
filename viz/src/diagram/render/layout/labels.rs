//! Places the labels of arrows beside their lines, such that they cover no node and no other label.

use std::collections::HashMap;

use super::block::{Block, Rect};

/// Side length of the squares of the index of occupied places.
const SQUARE: i64 = 96;

/// Offsets from its best place at which a label is tried, up and down.
const SHIFTS: [i64; 11] = [0, -8, 8, -16, 16, -24, 24, -32, 32, -48, 48];

/// The places that labels must not cover.
pub(super) struct Labels {
    squares: HashMap<(i64, i64), Vec<Rect>>,
}

fn squares(rect: Rect) -> impl Iterator<Item = (i64, i64)> {
    let xs = rect.x.div_euclid(SQUARE)..=rect.right().div_euclid(SQUARE);
    let ys = rect.y.div_euclid(SQUARE)..=rect.bottom().div_euclid(SQUARE);
    xs.flat_map(move |x| ys.clone().map(move |y| (x, y)))
}

impl Labels {
    pub(super) fn new(nodes: &[Block]) -> Self {
        let mut labels = Self { squares: HashMap::new() };
        nodes.iter().for_each(|node| labels.add(node.place));
        labels
    }

    fn add(&mut self, rect: Rect) {
        squares(rect).for_each(|square| self.squares.entry(square).or_default().push(rect));
    }

    fn is_free(&self, rect: Rect) -> bool {
        let mut there = squares(rect).filter_map(|square| self.squares.get(&square)).flatten();
        rect.x >= 0 && rect.y >= 0 && !there.any(|other| other.overlaps(rect))
    }

    /// Finds a place for the label of an arrow. If no place is free, the label gets its best place: overlapping text is
    /// still better than none.
    pub(super) fn place(&mut self, best: Rect) -> Rect {
        let mut places = SHIFTS.into_iter().map(|shift| Rect { y: best.y + shift, ..best });
        let place = places.find(|&place| self.is_free(place)).unwrap_or(best);
        let place = Rect { x: place.x.max(0), y: place.y.max(0), ..place };
        self.add(place);
        place
    }
}
