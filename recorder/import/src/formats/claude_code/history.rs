//! The history of a thread up to a line of its file. The lines form a tree, and one branch of it is the current
//! conversation.

use crate::body::{History, ItemText};

/// Most lines that may be restored from abandoned branches and behind summaries, per line of the file.
const MAX_RESTORED_PER_LINE: usize = 16;

/// Most lines that may be filled into the history again because one before them was rewritten, per line of the file.
const MAX_REFILLED_PER_LINE: usize = 32;

/// Lines for which the limits allow more than a short file would have.
const SHORT_FILE: usize = 64;

/// The message number of all lines that begin a replaced history, so that none of them starts another branch.
const KEPT: u32 = u32::MAX;

/// A block of a line, as a part of the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// Index of the line.
    pub(crate) entry: u32,
    /// Index of the block in the line.
    pub(crate) block: u32,
    /// The message of the model that has the block, or whose call it answers.
    pub(crate) group: Option<u32>,
    /// Whether the model made it.
    pub(crate) is_output: bool,
    /// Its text, once it is written.
    pub(crate) text: Option<ItemText>,
}

/// A line with its place in the tree.
#[derive(Debug)]
struct Node {
    /// Index of the line.
    line: u32,
    /// Its position in the current branch. `None` if it is not part of that branch.
    at: Option<u32>,
    before: Option<u32>,
    group: Option<u32>,
    /// How often the history had been replaced when the line was written.
    epoch: u32,
    pieces: (u32, u32),
    /// Number of pieces of the branch up to here.
    count: u32,
}

/// A line that is not in the tree.
const NONE: u32 = u32::MAX;

/// The history of a thread.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// The place of each line of the file in the tree.
    node_of: Vec<u32>,
    live: Vec<u32>,
    pieces: Vec<Piece>,
    epoch: u32,
    /// Pieces in the order in which the model sees them.
    pushed: Vec<u32>,
    history: History,
    /// Number of lines of the branch whose pieces are pushed.
    filled: usize,
    restored: usize,
    refilled: usize,
    /// Whether a limit left out lines that belong to the history.
    is_cut_short: bool,
}

/// A line that is added to a [`Tree`].
#[derive(Debug)]
pub(crate) struct Added {
    /// Index of the line.
    pub(crate) line: u32,
    /// Index of the line that it follows.
    pub(crate) parent: Option<u32>,
    /// Whether it begins a tree: it says that it follows nothing.
    pub(crate) is_root: bool,
    /// The message that it belongs to. A line that is no message belongs to that of its parent.
    pub(crate) group: Option<u32>,
    /// Whether it is part of the conversation. Others do not begin a branch.
    pub(crate) is_message: bool,
}

impl Tree {
    /// Adds a line. Returns the pieces of the branch that is left because of it.
    pub(crate) fn add(&mut self, added: &Added, pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
        let parent = added.parent.and_then(|parent| self.node(parent));
        let mut left = Vec::new();
        if added.is_message {
            if let Some(parent) = parent {
                left = self.go_to(parent, added.group);
            } else if added.is_root && !self.live.is_empty() {
                left = self.cut(0);
            }
        }
        let inherited = || parent.filter(|_| !added.is_message).and_then(|parent| self.nodes[parent as usize].group);
        let group = added.group.or_else(inherited);
        let start = self.pieces.len() as u32;
        self.pieces.extend(pieces);
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            line: added.line,
            at: None,
            before: None,
            group,
            epoch: self.epoch,
            pieces: (start, self.pieces.len() as u32),
            count: 0,
        });
        self.append(number);
        let line = added.line as usize;
        if self.node_of.len() <= line {
            self.node_of.resize(line + 1, NONE);
        }
        self.node_of[line] = number;
        left
    }

    fn node(&self, line: u32) -> Option<u32> {
        self.node_of.get(line as usize).copied().filter(|node| *node != NONE)
    }

    /// Brings a line back that was said before the history was replaced, and was written again since.
    pub(crate) fn revive(&mut self, line: u32) {
        let Some(number) = self.node(line) else { return };
        let node = &mut self.nodes[number as usize];
        if node.at.is_none() && node.epoch != self.epoch {
            node.epoch = self.epoch;
            self.append(number);
        }
    }

    /// Counts a line that is restored. Returns whether it may be.
    fn may_restore(&mut self) -> bool {
        self.restored += 1;
        let is_allowed = self.restored <= MAX_RESTORED_PER_LINE * (self.nodes.len() + SHORT_FILE);
        self.is_cut_short |= !is_allowed;
        is_allowed
    }

    /// Returns whether a limit left out lines that belong to the history, or the new text of some, since this was asked last.
    pub(crate) fn take_cut_short(&mut self) -> bool {
        std::mem::take(&mut self.is_cut_short)
    }

    /// Returns the lines from one to another, in the order in which the model saw them. Returns nothing if the first one does not
    /// stand in front of the last one, or if too many lines were restored.
    pub(crate) fn span(&mut self, head: u32, tail: u32) -> Vec<u32> {
        let (Some(head), Some(tail)) = (self.node(head), self.node(tail)) else { return Vec::new() };
        let mut span = Vec::new();
        let mut next = Some(tail);
        while let Some(number) = next.filter(|_| span.len() < self.nodes.len()) {
            if !self.may_restore() {
                return Vec::new();
            }
            span.push(self.nodes[number as usize].line);
            if number == head {
                span.reverse();
                return span;
            }
            next = self.nodes[number as usize].before;
        }
        Vec::new()
    }

    /// Forgets the text of a line, which the model sees otherwise from now on. The line keeps it if too many lines were filled in again
    /// because of such lines.
    pub(crate) fn rewrite(&mut self, line: u32) {
        let Some(number) = self.node(line) else { return };
        let node = &self.nodes[number as usize];
        let (from, to) = node.pieces;
        let group = node.group;
        if let Some(mut at) = node.at.map(|at| at as usize).filter(|at| *at < self.filled) {
            // The model sees the parts of a message in another order than the lines have.
            while at > 0 && group.is_some() && self.nodes[self.live[at - 1] as usize].group == group {
                at -= 1;
            }
            self.refilled += self.filled - at;
            if self.refilled > MAX_REFILLED_PER_LINE * (self.nodes.len() + SHORT_FILE) {
                self.is_cut_short = true;
                return;
            }
            self.unfill(at);
        }
        self.pieces[from as usize..to as usize].iter_mut().for_each(|piece| piece.text = None);
    }

    fn append(&mut self, number: u32) {
        let before = self.live.last().copied();
        let counted = before.map_or(0, |before| self.nodes[before as usize].count);
        let at = self.live.len() as u32;
        let node = &mut self.nodes[number as usize];
        node.before = before;
        node.at = Some(at);
        node.count = counted + (node.pieces.1 - node.pieces.0);
        self.live.push(number);
    }

    /// Makes the branch of `parent` the current one.
    fn go_to(&mut self, parent: u32, group: Option<u32>) -> Vec<Piece> {
        if self.nodes[parent as usize].epoch != self.epoch {
            return Vec::new();
        }
        let mut back = Vec::new();
        let mut node = parent;
        let alive = loop {
            let found = &self.nodes[node as usize];
            if found.at.is_some() {
                break Some(node);
            }
            let before = found.before;
            if !self.may_restore() {
                return Vec::new();
            }
            back.push(node);
            match before {
                Some(before) => node = before,
                None => break None,
            }
        };
        let end = alive.map_or(0, |alive| self.end_of(alive, group));
        let left = self.cut(end);
        for number in back.into_iter().rev() {
            self.append(number);
        }
        left
    }

    /// Returns the number of lines of the branch up to `node` and everything that belongs to the same message.
    fn end_of(&self, node: u32, group: Option<u32>) -> usize {
        let found = &self.nodes[node as usize];
        let mut end = found.at.map_or(0, |at| at as usize + 1);
        let last = self.live.last().and_then(|last| self.nodes[*last as usize].group);
        // The blocks of a message and the results of its calls follow one another in any order.
        if last.is_some() && (last == found.group || last == group) {
            return self.live.len();
        }
        while found.group.is_some()
            && self.live.get(end).is_some_and(|next| self.nodes[*next as usize].group == found.group)
        {
            end += 1;
        }
        end
    }

    /// Removes the lines of the branch after the first `end` ones.
    fn cut(&mut self, end: usize) -> Vec<Piece> {
        let mut left = Vec::new();
        for number in self.live.drain(end.min(self.live.len())..) {
            let node = &mut self.nodes[number as usize];
            node.at = None;
            left.extend_from_slice(&self.pieces[node.pieces.0 as usize..node.pieces.1 as usize]);
        }
        if self.filled > end {
            self.unfill(end);
        }
        left
    }

    /// Takes the lines of the branch behind the first `end` ones out of the history.
    fn unfill(&mut self, end: usize) {
        let last = end.checked_sub(1).and_then(|last| self.live.get(last));
        let count = last.map_or(0, |last| self.nodes[*last as usize].count as usize);
        while self.pushed.len() > count {
            let piece = self.pushed.pop().map(|index| self.pieces[index as usize]);
            if let Some(text) = piece.and_then(|piece| piece.text) {
                self.history.pop(text);
            }
        }
        self.filled = end;
    }

    /// Returns the history. `write` writes the texts of the pieces that have none yet.
    pub(crate) fn fill(&mut self, mut write: impl FnMut(&Piece) -> ItemText) -> &History {
        let start = self.pushed.len();
        for number in &self.live[self.filled.min(self.live.len())..] {
            let (from, to) = self.nodes[*number as usize].pieces;
            self.pushed.extend(from..to);
        }
        self.filled = self.live.len();
        let tail = in_order(&self.pushed[start..], &self.pieces);
        self.pushed.truncate(start);
        for index in tail {
            let text = match self.pieces[index as usize].text {
                Some(text) => text,
                None => write(&self.pieces[index as usize]),
            };
            self.pieces[index as usize].text = Some(text);
            self.history.push(text);
            self.pushed.push(index);
        }
        &self.history
    }

    /// Replaces the history: what was said so far is not seen any more.
    pub(crate) fn replace(&mut self) {
        self.epoch += 1;
        for number in self.live.drain(..) {
            self.nodes[number as usize].at = None;
        }
        self.pushed.clear();
        self.history = History::default();
        self.filled = 0;
    }

    /// Restores lines after the history was replaced. They come after the lines that replace it. The rest is left out once too many
    /// lines were restored.
    pub(crate) fn keep(&mut self, lines: impl IntoIterator<Item = u32>) {
        for line in lines {
            let Some(number) = self.node(line) else { continue };
            if self.nodes[number as usize].at.is_none() {
                if !self.may_restore() {
                    break;
                }
                self.nodes[number as usize].epoch = self.epoch;
                self.append(number);
            }
        }
        for number in &self.live {
            self.nodes[*number as usize].group = Some(KEPT);
        }
    }
}

/// Returns the pieces in the order in which the model sees them: all blocks of its message, then the results of its calls.
fn in_order(indices: &[u32], pieces: &[Piece]) -> Vec<u32> {
    let mut ordered: Vec<u32> = Vec::with_capacity(indices.len());
    let mut rest = indices;
    while let Some(first) = rest.first() {
        let group = pieces[*first as usize].group;
        let end = match group {
            Some(_) => rest.iter().take_while(|index| pieces[**index as usize].group == group).count(),
            None => 1,
        };
        let (run, behind) = rest.split_at(end);
        let of = |is_output| run.iter().copied().filter(move |index| pieces[*index as usize].is_output == is_output);
        ordered.extend(of(true));
        ordered.extend(of(false));
        rest = behind;
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation without branches, of lines with one block each.
    fn conversation(lines: u32) -> Tree {
        let mut tree = Tree::default();
        for line in 0..lines {
            let parent = line.checked_sub(1);
            let added = Added { line, parent, is_root: parent.is_none(), group: None, is_message: true };
            tree.add(&added, [Piece { entry: line, block: 0, group: None, is_output: false, text: None }]);
        }
        tree
    }

    #[test]
    fn segments_behind_summaries_are_kept_up_to_a_limit() {
        let mut tree = conversation(100);
        let most = MAX_RESTORED_PER_LINE * (100 + SHORT_FILE);
        let mut restored = 0;
        loop {
            tree.replace();
            let span = tree.span(0, 99);
            tree.keep(span.iter().copied());
            if tree.take_cut_short() {
                assert!(tree.live.len() < 100, "a part is missing");
                break;
            }
            assert_eq!(tree.live.len(), 100);
            restored += span.len() + tree.live.len();
        }
        assert!(restored <= most && restored > most - 200, "{restored} lines of {most}");
        tree.replace();
        assert!(tree.span(0, 99).is_empty());
        tree.keep(0..100);
        assert!(tree.live.is_empty() && tree.take_cut_short());
    }

    #[test]
    fn branches_are_restored_up_to_a_limit() {
        let mut tree = conversation(100);
        // Two branches, of which the conversation goes from one to the other.
        let mut lines = 100;
        let mut go = |tree: &mut Tree, parent| {
            let added = Added { line: lines, parent: Some(parent), is_root: false, group: None, is_message: true };
            tree.add(&added, []);
            lines += 1;
            tree.live.len()
        };
        let (mut went, mut stayed) = (0, 0);
        for _ in 0..200 {
            assert!(go(&mut tree, 0) > 1);
            match go(&mut tree, 99) {
                101 => went += 1,
                _ => stayed += 1,
            }
        }
        assert!(went > 20 && stayed > 20, "{went} restored, {stayed} not");
        assert!(tree.take_cut_short());
    }

    #[test]
    fn lines_are_rewritten_up_to_a_limit() {
        let mut tree = conversation(100);
        let mut written = 0;
        let mut fill = |tree: &mut Tree| {
            tree.fill(|_| {
                written += 1;
                ItemText::empty(0)
            });
            written
        };
        assert_eq!(fill(&mut tree), 100);
        let rewrites = MAX_REFILLED_PER_LINE * (100 + SHORT_FILE) / 100;
        for number in 1..=rewrites {
            tree.rewrite(0);
            assert_eq!(fill(&mut tree), 100 + number);
            assert!(!tree.take_cut_short());
        }
        tree.rewrite(0);
        assert_eq!(fill(&mut tree), 100 + rewrites, "the line keeps its text");
        assert!(tree.take_cut_short());
        assert!(!tree.take_cut_short(), "it is told once");
    }
}
