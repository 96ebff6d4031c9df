//! Requests as version 2.1.330 records them: what is left of an earlier request, and the hashes of the messages behind it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::canonical::{message_hash, text_block};
use super::records::{Blocks, Line, Message, Number, Shape};
use super::scan::Scan;
use super::tables::{Map, Set};
use super::transcript::Entry;
use crate::body::{History, ItemText};

/// Where a message of a request is in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// A line that holds a message of a request.
    Blob(usize),
    /// The lines of a message of the model.
    Group(usize),
    /// A line of the user.
    User(usize),
}

/// A message of a request, as one of the lists that requests share.
#[derive(Debug)]
struct Node<'a> {
    before: Option<u32>,
    depth: usize,
    hash: &'a str,
    /// How far the list up to here could be put together.
    fit: Fit,
}

/// A list of messages whose items are written.
#[derive(Debug, Default)]
struct Written {
    history: History,
    items: Vec<Vec<ItemText>>,
    nodes: Vec<u32>,
}

/// The requests of a thread.
#[derive(Debug, Default)]
pub(crate) struct Requests<'a> {
    origins: Map<&'a str, Origin>,
    /// Hashes that fit the messages that they name.
    verified: Set<&'a str>,
    shapes: Map<&'a str, &'a RawValue>,
    nodes: Vec<Node<'a>>,
    ends: Map<&'a str, Option<u32>>,
    /// The list of the last request of each kind.
    written: Map<&'a str, Written>,
}

/// How far a request could be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// All messages have the hashes that the request names.
    Verified,
    /// A message has another hash.
    Mismatch,
    /// A message or an earlier request is missing.
    Incomplete,
}

impl<'a> Requests<'a> {
    /// Finds the messages of all requests of a thread.
    pub(crate) fn new(entries: &[&'a Entry<'_>], scan: &Scan<'_>) -> Self {
        let mut requests = Self::default();
        if !scan.has_requests {
            return requests;
        }
        let mut wanted: Set<&str> = Set::default();
        for (index, entry) in entries.iter().enumerate() {
            let line = &entry.line;
            match (line.kind(), line.hash.as_deref(), line.shape_hash.as_deref(), line.shape) {
                ("api-request-blob", Some(hash), _, _) => {
                    requests.origins.insert(hash, Origin::Blob(index));
                    if line.message.as_ref().and_then(hash_of).is_some_and(|found| found == hash) {
                        requests.verified.insert(hash);
                    }
                }
                ("api-request-shape", _, Some(hash), Some(shape)) => {
                    requests.shapes.insert(hash, shape);
                }
                ("api-request", ..) => {
                    wanted.extend(line.tail.iter().flat_map(|tail| tail.0.iter().map(AsRef::as_ref)));
                }
                _ => {}
            }
        }
        wanted.retain(|hash| !requests.origins.contains_key(hash));
        requests.find(entries, scan, &mut wanted);
        requests
    }

    /// Finds the messages that are only in lines of the conversation.
    fn find(&mut self, entries: &[&'a Entry<'_>], scan: &Scan<'_>, wanted: &mut Set<&'a str>) {
        for (index, group) in scan.groups.iter().enumerate() {
            if wanted.is_empty() {
                return;
            }
            let blocks: Vec<_> = group.lines.iter().flat_map(|line| blocks(entries[*line])).collect();
            let hash = message_hash("assistant", blocks.iter().map(AsRef::as_ref));
            self.take(hash, Origin::Group(index), wanted);
        }
        for (index, entry) in entries.iter().enumerate() {
            if wanted.is_empty() {
                return;
            }
            if entry.line.kind() == "user" {
                let blocks: Vec<_> = blocks(entry).collect();
                let hash = message_hash("user", blocks.iter().map(AsRef::as_ref));
                self.take(hash, Origin::User(index), wanted);
            }
        }
    }

    fn take(&mut self, hash: Option<String>, origin: Origin, wanted: &mut Set<&'a str>) {
        if let Some(hash) = hash.and_then(|hash| wanted.take(hash.as_str())) {
            self.origins.insert(hash, origin);
            self.verified.insert(hash);
        }
    }

    /// Returns system prompt and tools of a request.
    pub(crate) fn shape(&self, line: &Line<'_>) -> Option<Shape<'a>> {
        let shape: &'a RawValue = self.shapes.get(line.shape_hash.as_deref()?)?;
        Shape::parse(shape.get())
    }

    /// Puts a request together. `write` writes the items of a message.
    pub(crate) fn history(
        &mut self,
        line: &'a Line<'_>,
        mut write: impl FnMut(&str, Origin) -> Vec<ItemText>,
    ) -> (&History, Fit) {
        let (end, fit) = self.extend(line);
        if let Some(id) = line.id.as_deref() {
            self.ends.insert(id, end);
        }
        let depth = end.map_or(0, |end| self.nodes[end as usize].depth);
        let source = line.source.as_deref().unwrap_or_default();
        let mut written = self.written.remove(source).unwrap_or_default();
        let missing = self.path(end, depth, &mut written);
        for node in missing {
            let hash = self.nodes[node as usize].hash;
            let items = match self.origins.get(hash) {
                Some(origin) => write(hash, *origin),
                None => Vec::new(),
            };
            items.iter().for_each(|item| written.history.push(*item));
            written.items.push(items);
            written.nodes.push(node);
        }
        (&self.written.entry(source).insert_entry(written).into_mut().history, fit)
    }

    /// Returns the items of the last request of a kind.
    pub(crate) fn last(&self, source: &str) -> Option<&History> {
        self.written.get(source).map(|written| &written.history)
    }

    /// Adds the messages of a request to the lists.
    fn extend(&mut self, line: &'a Line<'_>) -> (Option<u32>, Fit) {
        let keep = usize::try_from(Number::or_zero(&line.keep)).unwrap_or(usize::MAX);
        let base = line.base.as_deref().map(|base| self.ends.get(base));
        let is_known = !matches!(base, Some(None));
        let mut end = base.flatten().copied().flatten();
        while let Some(node) = end.map(|end| &self.nodes[end as usize]).filter(|node| node.depth > keep) {
            end = node.before;
        }
        let (mut depth, mut fit) = end.map_or((0, Fit::Verified), |end| {
            let node = &self.nodes[end as usize];
            (node.depth, node.fit)
        });
        if !is_known || (line.base.is_some() && depth < keep) {
            fit = Fit::Incomplete;
        }
        for hash in line.tail.iter().flat_map(|tail| &tail.0) {
            depth += 1;
            let own = if !self.origins.contains_key(&**hash) {
                Fit::Incomplete
            } else if self.verified.contains(&**hash) {
                Fit::Verified
            } else {
                Fit::Mismatch
            };
            fit = fit.max(own);
            self.nodes.push(Node { before: end, depth, hash, fit });
            end = Some(self.nodes.len() as u32 - 1);
        }
        (end, fit)
    }

    /// Removes from `written` what the list that ends with `end` does not have, and returns what is missing in it.
    fn path(&self, end: Option<u32>, depth: usize, written: &mut Written) -> Vec<u32> {
        let mut missing = Vec::with_capacity(depth.saturating_sub(written.nodes.len()));
        let mut node = end;
        while let Some(number) = node {
            let found = &self.nodes[number as usize];
            let is_written = written.nodes.get(found.depth - 1) == Some(&number);
            // The same message at the same place has the same items, whichever list it was added for.
            if is_written {
                break;
            }
            missing.push(number);
            node = found.before;
        }
        let common = depth - missing.len();
        missing.reverse();
        while written.nodes.len() > common {
            written.nodes.pop();
            for item in written.items.pop().into_iter().flatten().rev() {
                written.history.pop(item);
            }
        }
        missing
    }
}

/// Returns the blocks of a line as JSON.
fn blocks<'e>(entry: &'e Entry<'_>) -> impl Iterator<Item = Cow<'e, str>> {
    entry.blocks.iter().map(|(block, raw)| match raw {
        Some(raw) => Cow::Borrowed(raw.get()),
        None => Cow::Owned(text_block(block.text.as_deref().unwrap_or_default())),
    })
}

fn hash_of(message: &Message<'_>) -> Option<String> {
    let role = message.role.as_deref().unwrap_or_default();
    match message.content.as_ref()? {
        Blocks::Text(text) => message_hash(role, [text_block(text).as_str()]),
        Blocks::List(list) => message_hash(role, list.iter().map(|raw| raw.get())),
    }
}
