//! What has to be known of a thread before it is told: which lines are one message, and what follows them.

use std::collections::hash_map::Entry as Slot;

use super::prompt::Said;
use super::records::tokens;
use super::tables::{Map, Set, hash_of};
use super::transcript::Entry;
use crate::summary::Usage;

/// The lines of one message of the model. Each has a block or several.
#[derive(Debug)]
pub(crate) struct Group {
    /// Index of the first line.
    pub(crate) first: usize,
    /// Index of the last line.
    pub(crate) last: usize,
    /// Index of the line with the final usage.
    pub(crate) usage: usize,
    /// All lines.
    pub(crate) lines: Vec<usize>,
    /// Whether results of its tools stand between its lines.
    pub(crate) is_interleaved: bool,
    /// Number of lines with results that stand in front of its last line.
    results: u32,
}

/// The place of a line that no other line repeats.
const NONE: u32 = u32::MAX;

/// What is known of a thread.
#[derive(Debug, Default)]
pub(crate) struct Scan<'a> {
    /// The messages of the model.
    pub(crate) groups: Vec<Group>,
    /// For each line, the message that it belongs to.
    pub(crate) group_of: Vec<Option<usize>>,
    /// For each line, whether the next thing that is said to the model is that the user interrupted.
    pub(crate) is_interrupted: Vec<bool>,
    /// Lines by their ids. The id of a line that repeats another one leads to that.
    by_id: Map<&'a str, u32>,
    /// For each line, the earlier one that it repeats.
    repeats: Vec<u32>,
    /// Requests that got an answer.
    pub(crate) answered: Set<&'a str>,
    /// Whether requests are in the file.
    pub(crate) has_requests: bool,
    /// Whether lines say that the model sees results of tools otherwise than they came.
    pub(crate) has_replacements: bool,
}

impl<'a> Scan<'a> {
    /// Looks over the lines of a thread.
    pub(crate) fn new(entries: &[&'a Entry<'_>]) -> Self {
        let mut scan =
            Self { group_of: vec![None; entries.len()], repeats: vec![NONE; entries.len()], ..Self::default() };
        scan.find_repeats(entries);
        scan.find_groups(entries);
        scan.find_interrupts(entries);
        scan
    }

    /// Returns the line with an id.
    pub(crate) fn line(&self, id: &str) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    /// Returns the earlier line that a line repeats.
    pub(crate) fn repeated(&self, index: usize) -> Option<u32> {
        self.repeats.get(index).copied().filter(|first| *first != NONE)
    }

    /// Finds lines that were written twice: under the same id, or, as some compactions do, under another one behind the same line
    /// at the same time.
    fn find_repeats(&mut self, entries: &[&'a Entry<'_>]) {
        self.by_id.reserve(entries.len());
        let mut said: Map<u64, u32> = Map::default();
        for (index, entry) in entries.iter().enumerate() {
            let number = index as u32;
            let Some(id) = entry.line.uuid.as_deref() else { continue };
            if let Some(first) = self.by_id.get(id) {
                self.repeats[index] = *first;
                continue;
            }
            let parent = entry.line.parent.as_deref().filter(|_| entry.at.is_some() && entry.is_said());
            let mut first = number;
            if let Some(parent) = parent {
                let parent = self.by_id.get(parent).copied().ok_or(parent);
                match said.entry(hash_of(&(parent, entry.glance_hash()))) {
                    Slot::Occupied(known) if entry.says_what(entries[*known.get() as usize]) => {
                        first = *known.get();
                        self.repeats[index] = first;
                    }
                    Slot::Occupied(_) => {}
                    Slot::Vacant(free) => {
                        free.insert(number);
                    }
                }
            }
            self.by_id.insert(id, first);
        }
    }

    fn find_groups(&mut self, entries: &[&'a Entry<'_>]) {
        let mut open: Map<(&str, &str), usize> = Map::default();
        let mut results = 0;
        for (index, entry) in entries.iter().enumerate() {
            if self.repeated(index).is_some() {
                continue;
            }
            let line = &entry.line;
            match line.kind() {
                "api-request" => self.has_requests = true,
                "content-replacement" => self.has_replacements = true,
                // Some providers give the same id to all answers, but hardly behind another prompt.
                "user" => match entry.said {
                    Said::Prompt => open.clear(),
                    Said::Results => results += 1,
                    _ => {}
                },
                "assistant" => {
                    if let Some(request) = line.request_ref.as_deref().filter(|_| !line.is_synthetic()) {
                        self.answered.insert(request);
                    }
                    let id = line.message.as_ref().and_then(|message| message.id.as_deref());
                    let key = id.map(|id| (id, line.request_id.as_deref().unwrap_or_default()));
                    let known = key.and_then(|key| open.get(&key)).copied();
                    let known = known.filter(|known| {
                        let group = &self.groups[*known];
                        group.results == results || !is_other_answer(entries[group.last], entry)
                    });
                    let group = known.unwrap_or_else(|| {
                        let group = Group {
                            first: index,
                            last: index,
                            usage: index,
                            lines: Vec::new(),
                            is_interleaved: false,
                            results,
                        };
                        self.groups.push(group);
                        self.groups.len() - 1
                    });
                    self.group_of[index] = Some(group);
                    let group_index = group;
                    let group = &mut self.groups[group];
                    group.is_interleaved |= group.results != results;
                    group.results = results;
                    group.last = index;
                    group.lines.push(index);
                    let (spent, known) = (usage(entry), usage(entries[group.usage]));
                    if spent == known || total(spent) > total(known) {
                        group.usage = index;
                    }
                    if let Some(key) = key {
                        open.insert(key, group_index);
                    }
                }
                _ => {}
            }
        }
    }

    fn find_interrupts(&mut self, entries: &[&'a Entry<'_>]) {
        self.is_interrupted = vec![false; entries.len()];
        let mut is_next = false;
        for (index, entry) in entries.iter().enumerate().rev() {
            if self.repeated(index).is_some() {
                continue;
            }
            // The mark of an interrupt may stand behind the results that it stopped.
            is_next |= entry.is_interrupted();
            self.is_interrupted[index] = is_next;
            match entry.line.kind() {
                "assistant" if !entry.line.is_synthetic() => is_next = false,
                "user" => match entry.said {
                    Said::Interrupt => is_next = true,
                    Said::Prompt => is_next = false,
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

fn usage(entry: &Entry<'_>) -> Usage {
    let usage = entry.line.message.as_ref().and_then(|message| message.usage.as_ref());
    usage.map(tokens).unwrap_or_default()
}

fn total(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.output)
}

/// Returns whether two lines of one id, with results of tools between them, are of two answers. Some providers give the same id to
/// all answers.
fn is_other_answer(last: &Entry<'_>, next: &Entry<'_>) -> bool {
    let is_complete = last.line.message.as_ref().is_some_and(|message| message.stop_reason.is_some());
    let request = |entry: &Entry<'_>| Usage { output: 0, reasoning_output: 0, ..usage(entry) };
    is_complete && request(last) != request(next)
}

/// Returns whether the last thing that a thread says is an error of the model's provider.
pub(crate) fn ends_in_api_error(entries: &[&Entry<'_>]) -> bool {
    let last = entries.iter().rev().find(|entry| match entry.line.kind() {
        "assistant" => true,
        "user" => matches!(entry.said, Said::Prompt | Said::Results),
        _ => false,
    });
    last.is_some_and(|entry| is_api_error(entry))
}

/// Returns whether a line tells of an error of the model's provider.
pub(crate) fn is_api_error(entry: &Entry<'_>) -> bool {
    use super::records::Flag;
    let line = &entry.line;
    let text = || entry.first_text();
    line.kind() == "assistant"
        && line.is_synthetic()
        && (Flag::is_set(&line.is_api_error) || text().is_some_and(|text| text.starts_with("API Error")))
}
