//! The files that a thread consists of: its rollout, and the beginning that it shares with others.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::line::{Line, LineKind};
use super::meta::{HistoryBase, Meta};
use super::reader::{Text, each_line};
use crate::store::error::StoreError;
use crate::store::stored::Damage;

/// Most files that a thread may consist of.
pub const MAX_PARTS: usize = 1000;

/// A file of a thread, and how much of it belongs to the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The file.
    pub(crate) path: PathBuf,
    /// Number of the first line that does not belong to it, and the bytes before that line.
    pub(crate) end: Option<(u64, u64)>,
}

/// The files of a thread, in the order in which they are read.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// The first line of the newest file.
    pub(crate) meta: Meta,
    /// The files.
    pub(crate) parts: Vec<Part>,
    /// Whether a file is missing that the others begin in.
    pub(crate) lost_beginning: bool,
}

impl Chain {
    /// Follows a rollout back to its beginning. `find` knows where rollouts are by their ids.
    ///
    /// # Errors
    ///
    /// Returns an error when the rollout cannot be read or does not say whose it is.
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

    /// Hands every line of the thread to `take` with the place where it begins, until `take` has had enough.
    ///
    /// # Errors
    ///
    /// Returns an error when a file cannot be read.
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

/// Where a line is: in which file of a thread, and at which byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file, counted from the beginning.
    pub(crate) part: usize,
    /// The byte.
    pub(crate) offset: u64,
}

/// Reads whose rollout a file is.
pub(crate) fn read_meta(path: &Path) -> Result<Meta, StoreError> {
    let mut meta = None;
    each_line(path, None, |_, text| {
        let line = match text {
            Text::Whole(text) | Text::Open(text) => Line::read(text),
            Text::Unreadable => None,
        };
        // A broken line before it is a broken beginning, and the thread is not told.
        if let Some(line) = line
            && line.kind == LineKind::SessionMeta
        {
            meta = Meta::read(&line.payload(), line.at_ms);
        }
        ControlFlow::Break(())
    })
    .map_err(StoreError::io("read the rollout", path))?;
    meta.ok_or(StoreError::NoRollout { path: path.to_owned(), reason: "its first line does not say whose it is" })
}
