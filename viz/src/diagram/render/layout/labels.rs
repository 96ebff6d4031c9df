//! Places of the labels of arrows: on their way, beside nodes and other labels.

use std::collections::HashMap;

use super::route::{Heading, Route};
use super::{Block, Rect};

/// Side of the squares in which what stands there is looked up.
const SQUARE: i64 = 96;

/// Between a label and what else is there.
const DISTANCE: i64 = 2;

/// Where on the way of an arrow its label is tried, in sixteenths.
const TRIED: [i64; 7] = [8, 6, 10, 4, 12, 3, 13];

/// How far up and down it is tried then.
const SHIFTS: [i64; 9] = [0, -9, 9, -18, 18, -27, 27, -36, 36];

/// What is in the way of labels.
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

    /// Finds a place for the label of an arrow. Where none is free it stands in the middle: a text over another one is
    /// still better than none.
    pub(super) fn place(&mut self, route: &mut Route) {
        let size = route.label.place;
        if route.label.lines.is_empty() {
            return;
        }
        let is_upright = matches!(route.heading, Heading::Down | Heading::Up);
        let at = |sixteenths: i64, shift: i64| {
            let (x, y) = route.at(sixteenths);
            let x = if is_upright { x + 7 } else { x - size.width / 2 };
            Rect { x, y: y - size.height / 2 + shift, ..size }
        };
        let tried = SHIFTS.into_iter().flat_map(|shift| TRIED.into_iter().map(move |sixteenths| (sixteenths, shift)));
        let mut places = tried.map(|(sixteenths, shift)| at(sixteenths, shift));
        let with_distance = |place: Rect| Rect {
            x: place.x - DISTANCE,
            y: place.y - DISTANCE,
            width: place.width + 2 * DISTANCE,
            height: place.height + 2 * DISTANCE,
        };
        let place = places.find(|&place| self.is_free(with_distance(place))).unwrap_or_else(|| at(8, 0));
        let place = Rect { x: place.x.max(0), y: place.y.max(0), ..place };
        self.add(place);
        route.label.place = place;
    }
}
