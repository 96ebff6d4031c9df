//! Item lists as ranges of lines, for the compact form.
//!
//! The lines are those of the graph that requests use, as far as a request uses them, numbered in the order in which they
//! arose. A line that was copied from another one, because a request changed something that the requests before it
//! had, consists of ranges of earlier lines and of the items that are new.

use crate::model::{Handle, ItemIdx, ItemList, Trace};

/// Fewest items for which a range is written. One item is shorter by its id.
const MIN_RANGE: usize = 2;

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// One item.
    Item(ItemIdx),
    /// The items from `start` to before `end` of a line.
    Range {
        /// Number of the line.
        line: u32,
        /// Position of the first item.
        start: u32,
        /// Position behind the last item.
        end: u32,
    },
}

/// Where an item stands: in the line with this number, at this position.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u32,
    position: u32,
}

/// The lines of a graph.
#[derive(Debug)]
pub(super) struct SharedLines<'t> {
    trace: &'t Trace,
    /// The lines by their numbers, each as the longest list on it that a request has.
    lines: Vec<ItemList>,
    /// For each line of the graph, its number.
    numbers: Vec<Option<u32>>,
    /// For each item, its place in the last line with it of those that were handed out.
    places: Vec<Option<Place>>,
    /// Number of the lines that were handed out.
    handed_out: usize,
}

impl<'t> SharedLines<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let mut longest = vec![0; trace.lists.line_count()];
        for (line, len) in trace.inferences.iter().filter_map(|(_, call)| call.request_items.on_line()) {
            let known = &mut longest[line as usize];
            *known = len.max(*known);
        }
        let mut lines = Vec::new();
        let mut numbers = vec![None; longest.len()];
        for (line, len) in (0..).zip(longest).filter(|(_, len)| *len > 0) {
            numbers[line as usize] = Some(lines.len() as u32);
            lines.push(ItemList { line, len });
        }
        Self { trace, lines, numbers, places: vec![None; trace.items.len()], handed_out: 0 }
    }

    /// Returns the next line. Its ranges are of lines before it.
    pub(super) fn next_line(&mut self) -> Option<Vec<Element>> {
        let items = self.trace.lists.get(*self.lines.get(self.handed_out)?);
        let elements = self.elements(items);
        let line = self.handed_out as u32;
        for (position, item) in (0..).zip(items) {
            self.places[item.index()] = Some(Place { line, position });
        }
        self.handed_out += 1;
        Some(elements)
    }

    /// Returns the range of the list of a request, or `None` if it is empty.
    pub(super) fn range(&self, list: ItemList) -> Option<Element> {
        let (line, end) = list.on_line()?;
        let line = self.numbers[line as usize]?;
        Some(Element::Range { line, start: 0, end })
    }

    /// Returns a list of items as ranges of the lines that were handed out, where they have it.
    pub(super) fn elements(&self, items: &[ItemIdx]) -> Vec<Element> {
        let mut elements = Vec::new();
        let mut rest = items;
        while let Some((item, behind)) = rest.split_first() {
            let Some((place, len)) = self.common(*item, rest).filter(|(_, len)| *len >= MIN_RANGE) else {
                elements.push(Element::Item(*item));
                rest = behind;
                continue;
            };
            let end = place.position + len as u32;
            elements.push(Element::Range { line: place.line, start: place.position, end });
            rest = &rest[len..];
        }
        elements
    }

    /// Returns where an item stands, and how many of the `items` that begin with it are the same there.
    fn common(&self, item: ItemIdx, items: &[ItemIdx]) -> Option<(Place, usize)> {
        let place = self.places[item.index()]?;
        let line = self.trace.lists.get(self.lines[place.line as usize]);
        let same = line[place.position as usize..].iter().zip(items).take_while(|(known, item)| known == item);
        Some((place, same.count()))
    }
}
