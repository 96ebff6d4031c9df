//! The state of a thread while its lines are turned into events, and the tree of its lines.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::value::RawValue;
use trace_recorder::format::ExecutionStatus;

use super::history::{Added, Piece, Tree};
use super::items::{BlockKind, item, replacement};
use super::kin::{ChildAnswer, Kin, Told};
use super::recorded::Requests;
use super::records::{Block, Part, Replacement};
use super::scan::Scan;
use super::tables::{Map, Set, hash_of};
use super::transcript::Entry;
use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::event::Stamp;
use crate::item::Role;
use crate::note::Code;
use crate::thread::{InferenceId, ThreadWriter, ToolId};

/// A turn that has not ended.
#[derive(Debug)]
pub(super) struct Turn {
    /// The id that its lines repeat.
    pub(super) prompt: Option<String>,
    /// Whether the model has given its final answer.
    pub(super) is_answered: bool,
    /// Whether results of tools are the last thing that was said.
    pub(super) has_results: bool,
    /// The last line of the turn.
    pub(super) last: Stamp,
}

/// A call that has no result yet.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) tool: ToolId,
    pub(super) began: Stamp,
    pub(super) command: Option<String>,
    /// The child that it spawned, as an index of those that the thread spawned.
    pub(super) spawned: Option<usize>,
}

/// A call of the thread.
#[derive(Debug)]
pub(super) struct KnownCall<'a> {
    /// The message that made it.
    pub(super) group: usize,
    /// The text of its item.
    pub(super) text: ItemText,
    /// Its arguments.
    pub(super) arguments: &'a str,
}

/// A request that gets no answer.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) call: InferenceId,
    pub(super) stamp: Stamp,
}

/// What a thread is told from.
pub(crate) struct Material<'m, 'a> {
    /// The lines of the thread.
    pub(crate) entries: &'a [&'a Entry<'a>],
    /// Ids of lines that another file, or another thread, has too.
    pub(crate) copied: &'m Set<&'a str>,
    /// The children of the session.
    pub(crate) kin: &'m Kin,
    /// How the call that spawned the thread ended, for a child.
    pub(crate) parent_status: Option<ExecutionStatus>,
    /// What the parent got as the answer of the thread.
    pub(crate) answer: Option<&'m ChildAnswer>,
    /// Whether the thread is a child.
    pub(crate) is_child: bool,
    /// Whether the lines follow one another, and do not name the line that they follow.
    pub(crate) is_linear: bool,
}

/// Tells a thread to a draft.
pub(crate) struct Teller<'m, 'a> {
    pub(super) draft: &'m mut Draft,
    pub(super) writer: ThreadWriter,
    pub(super) material: Material<'m, 'a>,
    pub(super) scan: Scan<'a>,
    pub(super) tree: Tree,
    pub(super) requests: Requests<'a>,
    pub(super) shapes: Map<&'a str, (History, History)>,
    /// Lines that have a text, by its hash.
    pub(super) texts: Map<u64, VecDeque<(usize, usize)>>,
    /// Lines that have the result of a call.
    pub(super) results: Map<&'a str, (usize, usize)>,
    /// Items of messages of requests, by the hashes of the messages.
    pub(super) messages: Map<String, Vec<ItemText>>,
    /// The texts of the last line of the user, block by block, if they are written.
    pub(super) kept: Vec<ItemText>,
    /// What the model sees in place of results, by line and block, and the line that says so.
    pub(super) replaced: Map<(u32, u32), (Cow<'a, str>, Stamp)>,
    /// Items that the model made, by message.
    pub(super) outputs: Map<usize, Vec<ItemText>>,
    /// The message of each call, and the text of its item.
    pub(super) calls: Map<&'a str, KnownCall<'a>>,
    pub(super) open: Map<Cow<'a, str>, OpenCall>,
    pub(super) inferences: Map<usize, InferenceId>,
    pub(super) awaited: Map<&'a str, InferenceId>,
    pub(super) failing: Option<Attempt>,
    pub(super) turn: Option<Turn>,
    pub(super) turns: usize,
    /// Whether the program took the next prompt out of its queue, which begins a turn.
    pub(super) is_dequeued: bool,
    /// A line outside of all turns that may have made the model answer.
    pub(super) pending: Option<usize>,
    pub(super) compaction: Option<(usize, History)>,
    /// Kind of the last request, and the items that the model made since.
    pub(super) seen: (&'a str, Vec<ItemText>),
    pub(super) model: String,
    pub(super) told: Told,
}

impl<'m, 'a> Teller<'m, 'a> {
    /// Prepares to tell a thread, which `writer` began.
    pub(crate) fn new(draft: &'m mut Draft, writer: ThreadWriter, material: Material<'m, 'a>) -> Self {
        let scan = Scan::new(material.entries);
        let requests = if draft.is_summary() { Requests::default() } else { Requests::new(material.entries, &scan) };
        let started = writer.began();
        Self {
            draft,
            writer,
            material,
            scan,
            tree: Tree::default(),
            requests,
            shapes: Map::default(),
            texts: Map::default(),
            results: Map::default(),
            messages: Map::default(),
            kept: Vec::new(),
            replaced: Map::default(),
            outputs: Map::default(),
            calls: Map::default(),
            open: Map::default(),
            inferences: Map::default(),
            awaited: Map::default(),
            failing: None,
            turn: None,
            turns: 0,
            is_dequeued: false,
            pending: None,
            compaction: None,
            seen: ("", Vec::new()),
            model: String::new(),
            told: Told { started, last: started, spawned: Vec::new(), notices: Vec::new() },
        }
    }

    pub(super) fn entry(&self, index: usize) -> &'a Entry<'a> {
        self.material.entries[index]
    }

    /// Adds a line that is not part of the conversation.
    pub(super) fn link(&mut self, index: usize) {
        self.grow(index, None, false, Vec::new());
    }

    pub(super) fn grow(&mut self, index: usize, group: Option<usize>, is_message: bool, pieces: Vec<Piece>) {
        let line = &self.entry(index).line;
        let is_root = line.parent.is_none() && line.uuid.is_some() && !self.material.is_linear;
        let parent = line.parent.as_deref().and_then(|parent| self.scan.line(parent));
        let group = group.map(|group| group as u32);
        let added = Added { line: index as u32, parent, is_root, group, is_message };
        let left = self.tree.add(&added, pieces);
        for piece in left {
            let place = self.entry(piece.entry as usize).place;
            self.draft.note(Code::DeadBranch, Some(place));
        }
        self.note_cut_short(index);
    }

    /// Notes that requests from this line on lack parts of the history.
    pub(super) fn note_cut_short(&mut self, index: usize) {
        if self.tree.take_cut_short() {
            self.draft.note(Code::RequestIncomplete, Some(self.entry(index).place));
        }
    }

    /// Adds a line of the user and accepts its items.
    pub(super) fn keep(&mut self, index: usize) {
        let entry = self.entry(index);
        let blocks = &entry.blocks;
        self.kept.clear();
        if blocks.is_empty() {
            return self.link(index);
        }
        let group = blocks.iter().find_map(|(block, _)| {
            let call = block.tool_use_id.as_deref().filter(|_| block.what() == BlockKind::Result)?;
            self.calls.get(call).map(|known| known.group)
        });
        let count = blocks.len();
        let mut pieces = Vec::with_capacity(count);
        let writes = self.writes_at_once();
        for (number, (block, raw)) in blocks.iter().enumerate() {
            self.register(index, number, block);
            let id = self.item_id(index, number, count);
            let text = writes.then(|| self.write(&id, role(entry), block, *raw));
            self.kept.extend(text);
            pieces.push(Piece {
                entry: index as u32,
                block: number as u32,
                group: group.map(|group| group as u32),
                is_output: false,
                text,
            });
            self.writer.accept(self.draft, &id, entry.stamp());
        }
        // A result that comes late belongs to its call, whatever was said since.
        self.grow(index, group, group.is_none(), pieces);
    }

    /// Returns whether lines are written when they come. Requests in the file have lines of the user in their own words.
    fn writes_at_once(&self) -> bool {
        !self.scan.has_requests && !self.draft.is_summary()
    }

    /// Remembers where a block is, for requests that name only its content.
    pub(super) fn register(&mut self, index: usize, number: usize, block: &'a Block<'a>) {
        if !self.scan.has_requests && !self.scan.has_replacements {
            return;
        }
        match (block.what(), block.tool_use_id.as_deref(), block.text.as_deref()) {
            (BlockKind::Result, Some(call), _) => {
                self.results.insert(call, (index, number));
            }
            (BlockKind::Text, _, Some(text)) => {
                self.texts.entry(text_key(text)).or_default().push_back((index, number));
            }
            _ => {}
        }
    }

    pub(super) fn item_id(&mut self, index: usize, block: usize, count: usize) -> String {
        let entry = self.entry(index);
        let id = match entry.line.uuid.as_deref() {
            Some(id) => Cow::Borrowed(id),
            None => {
                self.draft.note(Code::ItemIdMade, Some(entry.place));
                Cow::Owned(format!("line-{}-{}", entry.place.source, entry.place.line))
            }
        };
        if count == 1 { id.into_owned() } else { format!("{id}:{block}") }
    }

    /// Writes the item of a block.
    pub(super) fn write(&mut self, id: &str, role: Role, block: &Block<'_>, raw: Option<&RawValue>) -> ItemText {
        let call = match block.what() {
            BlockKind::Call => block.id.as_deref(),
            _ => block.tool_use_id.as_deref(),
        };
        let call = call.unwrap_or(id);
        // Two calls of one id that differ are refused by readers of bundles.
        let is_other = block.what() == BlockKind::Call
            && self.calls.get(call).is_some_and(|known| known.arguments != block.arguments());
        let call = if is_other { Cow::Owned(format!("{call}:{id}")) } else { Cow::Borrowed(call) };
        let item = item(id, role, block, raw, &call);
        self.draft.item(self.writer.lane(), &item).expect("an item is plain data")
    }

    /// Writes the item of a result that the model sees otherwise than the line has it.
    fn write_replaced(&mut self, id: &str, part: Option<&Part<'_>>, text: &str, stamp: Stamp) -> ItemText {
        let id = format!("{id}:replaced");
        self.writer.accept(self.draft, &id, stamp);
        let call = part.and_then(|(block, _)| block.tool_use_id.as_deref()).unwrap_or(&id);
        let item = replacement(&id, text, call);
        self.draft.item(self.writer.lane(), &item).expect("an item is plain data")
    }

    /// Replaces results by what the model sees from here on.
    pub(super) fn replace_results(&mut self, index: usize) {
        let entry = self.entry(index);
        // Requests in the file have the results as they were sent.
        let Some(list) = entry.line.replacements.as_ref().filter(|_| !self.scan.has_requests) else { return };
        for raw in &list.0 {
            let Some(Replacement { call: Some(call), text: Some(text) }) = Replacement::parse(raw.get()) else {
                continue;
            };
            let Some((line, block)) = self.results.get(&*call).copied() else { continue };
            self.replaced.insert((line as u32, block as u32), (text.into_inner(), entry.stamp()));
            self.tree.rewrite(line as u32);
        }
        self.note_cut_short(index);
    }

    /// Returns the history as the lines tell it.
    pub(super) fn history(&mut self) -> History {
        let mut tree = std::mem::take(&mut self.tree);
        let history = tree
            .fill(|piece| {
                let index = piece.entry as usize;
                let entry = self.entry(index);
                let blocks = &entry.blocks;
                let id = self.item_id(index, piece.block as usize, blocks.len());
                if let Some((text, stamp)) = self.replaced.get(&(piece.entry, piece.block)).cloned() {
                    return self.write_replaced(&id, blocks.get(piece.block as usize), &text, stamp);
                }
                match blocks.get(piece.block as usize) {
                    Some((block, raw)) => self.write(&id, role(entry), block, *raw),
                    None => self.write(&id, role(entry), &Block::default(), None),
                }
            })
            .clone();
        self.tree = tree;
        history
    }
}

pub(super) fn role(entry: &Entry<'_>) -> Role {
    let role = entry.line.message.as_ref().and_then(|message| message.role.as_deref());
    match role {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    }
}

/// Returns the hash by which a text is found again. Requests repeat some texts with another line feed at the end.
pub(super) fn text_key(text: &str) -> u64 {
    hash_of(text.trim_end())
}
