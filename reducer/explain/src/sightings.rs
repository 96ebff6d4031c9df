//! Which inference calls saw which items.
//!
//! Requests repeat each other, so the sightings of a session, spelt out, grow with its square. Here they stay what they are
//! in the graph: an item stands at a place of a shared line, and a request shows the beginning of one.

use trace_reducer::model::{Handle, InferenceIdx, ItemIdx, Trace};

/// Answers which inference calls saw an item. Making it takes time proportional to the graph.
#[derive(Debug)]
pub struct Sightings {
    /// For each item its places: line, and index on the line.
    places: Vec<Vec<(u32, u32)>>,
    /// For each line the calls whose requests show a beginning of it, in the order of the log, with the beginning's length.
    calls: Vec<Vec<(InferenceIdx, u32)>>,
}

impl Sightings {
    /// Looks through the requests of a session.
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

    /// Returns the inference calls whose requests show an item, in the order of the log.
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

    /// Returns for each item how many inference calls saw it, in time proportional to the graph.
    pub fn counts(&self) -> Vec<u32> {
        // For each line, how many calls show at least so many of its items.
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
            // The places on a line stand together, the first of them first; a call shows one line alone.
            let firsts = places.iter().filter(|(line, _)| last_line.replace(*line) != Some(*line));
            firsts.map(|(line, index)| showing[*line as usize].get(*index as usize + 1).copied().unwrap_or(0)).sum()
        };
        self.places.iter().map(count).collect()
    }

    /// Returns for each item the first inference call whose request shows it.
    pub fn first(&self, trace: &Trace) -> Vec<Option<InferenceIdx>> {
        let mut first: Vec<Option<InferenceIdx>> = vec![None; self.places.len()];
        // What a line had shown by its earlier calls needs no second look.
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
