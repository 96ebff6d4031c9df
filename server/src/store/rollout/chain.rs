//! The files that a thread consists of: its rollout, and other rollouts in which its history begins.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::line::{Line, LineKind};
use super::meta::{HistoryBase, Meta};
use super::reader::{Text, each_line};
use crate::store::error::StoreError;
use crate::store::stored::Damage;

/// Most files of a thread.
pub const MAX_PARTS: usize = 1000;

/// A file of a thread, and the part of it that belongs to the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    /// Number of the first line that does not belong to the thread, and the length in bytes of the lines before it.
    /// `None` if the whole file belongs to it.
    pub(crate) end: Option<(u64, u64)>,
}

/// The files of a thread, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// The first line of the newest file.
    pub(crate) meta: Meta,
    pub(crate) parts: Vec<Part>,
    /// Whether the rollout in which the history begins is missing.
    pub(crate) lost_beginning: bool,
}

impl Chain {
    /// Finds the files of a rollout's thread. `find` returns the paths of rollouts by their ids.
    ///
    /// # Errors
    ///
    /// Returns an error if the rollout cannot be read or its first line does not name a thread.
    pub(crate) fn of(path: &Path, find: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, StoreError> {
        let meta = read_meta(path)?;
        let mut parts = vec![Part { path: path.to_owned(), end: None }];
        let mut seen = HashSet::from([path.to_owned()]);
        let mut base = meta.base.clone();
        let mut lost_beginning = false;
        while let Some(HistoryBase { rollout, end_ordinal, end_bytes }) = base {
            let found = find(&rollout).filter(|path| parts.len() < MAX_PARTS && seen.insert(path.clone()));
            let Some((path, meta)) = found.and_then(|path| read_meta(&path).ok().map(|meta| (path, meta))) else {
                lost_beginning = true;
                break;
            };
            parts.push(Part { path, end: Some((end_ordinal, end_bytes)) });
            base = meta.base;
        }
        parts.reverse();
        Ok(Self { meta, parts, lost_beginning })
    }

    /// Calls `take` with each line of the thread and its place, until `take` breaks.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    pub(crate) fn each(&self, mut take: impl FnMut(Place, &Line<'_>) -> ControlFlow<()>) -> Result<Damage, StoreError> {
        let mut damage = Damage { lost_beginning: self.lost_beginning, ..Damage::default() };
        for (part, Part { path, end }) in self.parts.iter().enumerate() {
            let mut flow = ControlFlow::Continue(());
            let ending = each_line(path, end.map(|(_, bytes)| bytes), |offset, text| {
                let line = match text {
                    Text::Whole(text) | Text::Open(text) => Line::read(text),
                    Text::Unreadable => None,
                };
                match line {
                    Some(line) => {
                        let is_beyond = end.is_some_and(|(ordinal, _)| line.ordinal >= Some(ordinal));
                        if !is_beyond {
                            flow = take(Place { part, offset }, &line);
                        }
                    }
                    None if matches!(text, Text::Open(_)) => damage.torn_end = true,
                    None => damage.skipped_lines += 1,
                }
                flow
            });
            ending.map_err(StoreError::io("read the rollout", path))?;
            if flow.is_break() {
                break;
            }
        }
        Ok(damage)
    }
}

/// The place of a line: a file of the thread, and an offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Index of the file.
    pub(crate) part: usize,
    /// Offset of the line in bytes.
    pub(crate) offset: u64,
}

/// Reads the metadata of a rollout's thread.
pub(crate) fn read_meta(path: &Path) -> Result<Meta, StoreError> {
    let mut meta = None;
    each_line(path, None, |_, text| {
        let line = match text {
            Text::Whole(text) | Text::Open(text) => Line::read(text),
            Text::Unreadable => None,
        };
        // Only the first line counts: if it is invalid, the thread is not known.
        if let Some(line) = line
            && line.kind == LineKind::SessionMeta
        {
            meta = Meta::read(&line.payload(), line.at_ms);
        }
        ControlFlow::Break(())
    })
    .map_err(StoreError::io("read the rollout", path))?;
    meta.ok_or(StoreError::NoRollout { path: path.to_owned(), reason: "its first line does not name its thread" })
}
