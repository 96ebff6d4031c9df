//! What has to be known of a thread before it is told: which lines are one message, and what follows them.

use super::prompt::Said;
use super::records::Number;
use super::tables::{Map, Set};
use super::transcript::Entry;

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
}

/// What is known of a thread.
#[derive(Debug, Default)]
pub(crate) struct Scan<'a> {
    /// The messages of the model.
    pub(crate) groups: Vec<Group>,
    /// For each line, the message that it belongs to.
    pub(crate) group_of: Vec<Option<usize>>,
    /// For each line, whether the next thing that is said to the model is that the user interrupted.
    pub(crate) is_interrupted: Vec<bool>,
    /// Requests that got an answer.
    pub(crate) answered: Set<&'a str>,
    /// Whether requests are in the file.
    pub(crate) has_requests: bool,
}

impl<'a> Scan<'a> {
    /// Looks over the lines of a thread.
    pub(crate) fn new(entries: &[&'a Entry<'_>]) -> Self {
        let mut scan = Self { group_of: vec![None; entries.len()], ..Self::default() };
        scan.find_groups(entries);
        scan.find_interrupts(entries);
        scan
    }

    fn find_groups(&mut self, entries: &[&'a Entry<'_>]) {
        let mut open: Map<(&str, &str), usize> = Map::default();
        let mut results_since = Set::default();
        for (index, entry) in entries.iter().enumerate() {
            let line = &entry.line;
            match line.kind() {
                "api-request" => self.has_requests = true,
                // Some providers give the same id to all answers, but hardly behind another prompt.
                "user" => match entry.said {
                    Said::Prompt => open.clear(),
                    Said::Results => results_since.extend(open.values().copied()),
                    _ => {}
                },
                "assistant" => {
                    if let Some(request) = line.request_ref.as_deref().filter(|_| !line.is_synthetic()) {
                        self.answered.insert(request);
                    }
                    let id = line.message.as_ref().and_then(|message| message.id.as_deref());
                    let key = id.map(|id| (id, line.request_id.as_deref().unwrap_or_default()));
                    let known = key.and_then(|key| open.get(&key)).copied();
                    let group = known.unwrap_or_else(|| {
                        let group =
                            Group { first: index, last: index, usage: index, lines: Vec::new(), is_interleaved: false };
                        self.groups.push(group);
                        self.groups.len() - 1
                    });
                    self.group_of[index] = Some(group);
                    let is_interleaved = results_since.remove(&group);
                    let group_index = group;
                    let group = &mut self.groups[group];
                    group.is_interleaved |= is_interleaved;
                    group.last = index;
                    group.lines.push(index);
                    if output(entry) >= output(entries[group.usage]) {
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

fn output(entry: &Entry<'_>) -> u64 {
    let usage = entry.line.message.as_ref().and_then(|message| message.usage.as_ref());
    usage.map_or(0, |usage| Number::or_zero(&usage.output))
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
