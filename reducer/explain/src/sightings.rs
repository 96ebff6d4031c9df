//! Which inference calls read which items.
//!
//! Each request repeats the one before, so a list of all sightings would grow with the square of a session's length.
//! Here they stay in the form of the graph: an item has a position in a shared line, and a request contains a prefix of
//! a line.

use trace_reducer::model::{Handle, InferenceIdx, ItemIdx, Trace};

/// Index from items to the inference calls that read them. Building it takes time proportional to the graph.
#[derive(Debug)]
pub struct Sightings {
    /// For each item, its positions: line, and index in the line.
    places: Vec<Vec<(u32, u32)>>,
    /// For each line, the calls whose requests contain a prefix of it, in the order of the log, with the length of the
    /// prefix.
    calls: Vec<Vec<(InferenceIdx, u32)>>,
}

impl Sightings {
    /// Builds the index for a session.
    pub fn new(trace: &Trace) -> Self {
        let mut places = vec![Vec::new(); trace.items.len()];
        for line in 0..trace.lists.line_count() {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            for (index, item) in (0u32..).zip(trace.lists.line(line)) {
                places[item.index()].push((line, index));
            }
        }
        let mut calls = vec![Vec::new(); trace.lists.line_count()];
        for (inference, call) in trace.inferences.iter() {
            if let Some((line, length)) = call.request_items.on_line() {
                calls[line as usize].push((inference, length));
            }
        }
        Self { places, calls }
    }

    /// Returns the inference calls whose requests contain an item, in the order of the log.
    pub fn of(&self, item: ItemIdx) -> Vec<InferenceIdx> {
        let mut seen_by: Vec<InferenceIdx> = self
            .places
            .get(item.index())
            .into_iter()
            .flatten()
            .flat_map(|(line, index)| self.calls[*line as usize].iter().filter(move |(_, length)| length > index))
            .map(|(inference, _)| *inference)
            .collect();
        seen_by.sort_unstable_by_key(|inference| inference.index());
        seen_by.dedup();
        seen_by
    }

    /// Returns for each item how many inference calls read it. Takes time proportional to the graph.
    pub fn counts(&self) -> Vec<u32> {
        // For each line and length, how many calls contain a prefix that is at least this long.
        let showing: Vec<Vec<u32>> = self
            .calls
            .iter()
            .map(|calls| {
                let longest = calls.iter().map(|(_, length)| *length as usize).max().unwrap_or(0);
                let mut showing = vec![0; longest + 1];
                for (_, length) in calls {
                    showing[*length as usize] += 1;
                }
                for index in (0..longest).rev() {
                    showing[index] += showing[index + 1];
                }
                showing
            })
            .collect();
        let count = |places: &Vec<(u32, u32)>| {
            let mut last_line = None;
            // The positions in one line are adjacent, smallest first. A request contains a prefix of one line only.
            let firsts = places.iter().filter(|(line, _)| last_line.replace(*line) != Some(*line));
            firsts.map(|(line, index)| showing[*line as usize].get(*index as usize + 1).copied().unwrap_or(0)).sum()
        };
        self.places.iter().map(count).collect()
    }

    /// Returns the inference calls whose requests contain at least one of the items, in the order of the log. Takes
    /// time proportional to the graph, however many items there are.
    pub fn of_any(&self, items: &[ItemIdx]) -> Vec<InferenceIdx> {
        let mut first_on_line: Vec<Option<u32>> = vec![None; self.calls.len()];
        for (line, index) in items.iter().filter_map(|item| self.places.get(item.index())).flatten() {
            let first = &mut first_on_line[*line as usize];
            *first = Some(first.map_or(*index, |first| first.min(*index)));
        }
        let lines = first_on_line.iter().zip(&self.calls);
        let mut seen_by: Vec<InferenceIdx> = lines
            .filter_map(|(first, calls)| first.map(|first| (first, calls)))
            .flat_map(|(first, calls)| calls.iter().filter(move |(_, length)| *length > first))
            .map(|(inference, _)| *inference)
            .collect();
        seen_by.sort_unstable_by_key(|inference| inference.index());
        seen_by
    }

    /// Returns for each item the first inference call whose request contains it.
    pub fn first(&self, trace: &Trace) -> Vec<Option<InferenceIdx>> {
        let mut first: Vec<Option<InferenceIdx>> = vec![None; self.places.len()];
        // The part of a line that earlier calls contained need not be looked at again.
        let mut shown = vec![0usize; self.calls.len()];
        for (inference, call) in trace.inferences.iter() {
            let Some((line, length)) = call.request_items.on_line() else { continue };
            let items = trace.lists.get(call.request_items);
            let shown = &mut shown[line as usize];
            let from = *shown;
            *shown = from.max(length as usize);
            for item in items.iter().skip(from) {
                first[item.index()].get_or_insert(inference);
            }
        }
        first
    }
}
