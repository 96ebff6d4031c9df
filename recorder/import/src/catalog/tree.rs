//! The files of a store with their sizes and times. No file is opened.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::format::{Format, Source};
use crate::formats::FORMATS;
use crate::sessions::{EXTENSIONS, MAX_DEPTH, format};

/// Folders below a store that is a folder.
const MAX_STORE_DEPTH: usize = 16;

/// A file, or a folder that a format reads as one store.
#[derive(Debug)]
pub(super) struct File {
    /// Its path.
    pub(super) path: PathBuf,
    /// A number for its size and time.
    pub(super) stamp: u64,
    /// When it was last written to. The time of a folder is that of its newest file.
    pub(super) written: Option<SystemTime>,
    /// Whether it may hold sessions.
    pub(super) is_candidate: bool,
}

/// All files below a folder.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The files, in the order of their paths.
    pub(super) files: Vec<File>,
}

/// Returns a number for a value. It stays the same from one run to the next.
pub(super) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a number for the size and the time of a file, or `None` if there is none.
pub(super) fn stamp(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| stamp_of(&data))
}

fn stamp_of(data: &fs::Metadata) -> u64 {
    let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    hash(&(data.len(), modified.map(|time| time.as_nanos())))
}

fn is_store(path: &Path) -> Option<&'static dyn Format> {
    let source = Source { path, head: &[], is_dir: true };
    FORMATS.iter().copied().find(|format| format.recognizes(&source))
}

impl Tree {
    /// Lists the files of a folder, or the one file. A folder that cannot be listed is skipped with a warning.
    pub(super) fn walk(root: &Path) -> Self {
        let mut tree = Self::default();
        match fs::metadata(root) {
            Ok(data) if data.is_dir() => tree.folder(root, 0),
            Ok(data) if data.is_file() => tree.add(root.to_owned(), &data, true),
            _ => {}
        }
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        tree
    }

    fn add(&mut self, path: PathBuf, data: &fs::Metadata, is_candidate: bool) {
        let stamp = with_companions(path_format(&path), &path, stamp_of(data));
        self.files.push(File { path, stamp, written: data.modified().ok(), is_candidate });
    }

    fn folder(&mut self, folder: &Path, depth: usize) {
        if let Some(format) = is_store(folder) {
            let mut store = Vec::new();
            let written = all_below(folder, 0, &mut store);
            store.sort();
            let stamp = with_companions(Some(format), folder, hash(&store));
            self.files.push(File { path: folder.to_owned(), stamp, written, is_candidate: true });
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                tracing::warn!(path = %folder.display(), %error, "skipped");
                return;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_file() {
                let Ok(data) = entry.metadata() else { continue };
                let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
                let is_candidate = depth < MAX_DEPTH && EXTENSIONS.contains(&extension);
                self.add(path, &data, is_candidate);
            } else if kind.is_dir() && depth < MAX_DEPTH && !entry.file_name().to_string_lossy().starts_with('.') {
                self.folder(&path, depth + 1);
            }
        }
    }

    /// Returns a number for the paths of all files that may hold sessions.
    pub(super) fn names(&self) -> u64 {
        hash(&self.files.iter().filter(|file| file.is_candidate).map(|file| &file.path).collect::<Vec<_>>())
    }

    /// Returns the stamps of all files by their paths.
    pub(super) fn stamps(&self) -> HashMap<&Path, u64> {
        self.files.iter().map(|file| (file.path.as_path(), file.stamp)).collect()
    }
}

/// Returns the format that databases are of. The list of the sessions of one is in its write-ahead log, too.
fn path_format(path: &Path) -> Option<&'static dyn Format> {
    format("opencode").filter(|_| path.extension().is_some_and(|extension| extension == "db"))
}

fn with_companions(format: Option<&'static dyn Format>, path: &Path, own: u64) -> u64 {
    let Some(format) = format else { return own };
    let companions = format.companions(path);
    hash(&(own, companions.iter().map(|path| stamp(path)).collect::<Vec<_>>()))
}

/// Lists the files below a folder with their stamps. Returns the time of the newest one.
fn all_below(folder: &Path, depth: usize, found: &mut Vec<(PathBuf, u64)>) -> Option<SystemTime> {
    let mut newest = None;
    let Ok(entries) = fs::read_dir(folder) else { return newest };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_STORE_DEPTH {
            newest = newest.max(all_below(&entry.path(), depth + 1, found));
        } else if let (true, Ok(data)) = (kind.is_file(), entry.metadata()) {
            newest = newest.max(data.modified().ok());
            found.push((entry.path(), stamp_of(&data)));
        }
    }
    newest
}

/// Sums over the files that may belong to sessions, by folder.
#[derive(Debug, Default)]
pub(super) struct Parts<'t> {
    folders: HashMap<&'t Path, Folder>,
}

#[derive(Debug, Default)]
struct Folder {
    /// Files that may belong to any session of the folder.
    shared: u64,
    /// Files in folders that are named after a session.
    owned: HashMap<String, u64>,
}

impl<'t> Parts<'t> {
    /// Adds up the files that a format may read. Files that are sessions are no parts of others.
    pub(super) fn new(tree: &'t Tree, sessions: &HashSet<&Path>, name: &str) -> Self {
        let mut parts = Self::default();
        let owners: HashSet<(&Path, &str)> =
            sessions.iter().filter_map(|session| Some((session.parent()?, stem(session)?))).collect();
        let folders: HashSet<&Path> = sessions.iter().filter_map(|session| session.parent()).collect();
        let Some(format) = format(name) else { return parts };
        for file in &tree.files {
            if sessions.contains(file.path.as_path()) || !format.may_read(&file.path) {
                continue;
            }
            let number = hash(&(&file.path, file.stamp));
            let mut below: Option<&Path> = None;
            for folder in file.path.ancestors().skip(1).take(MAX_DEPTH + 1) {
                if folders.contains(folder) {
                    let sums = parts.folders.entry(folder).or_default();
                    let name = below.and_then(Path::file_name).and_then(|name| name.to_str());
                    // The sums do not depend on an order.
                    match name.filter(|name| owners.contains(&(folder, *name))) {
                        Some(name) => {
                            let sum = sums.owned.entry(name.to_owned()).or_default();
                            *sum = sum.wrapping_add(number);
                        }
                        None => sums.shared = sums.shared.wrapping_add(number),
                    }
                }
                below = Some(folder);
            }
        }
        parts
    }

    /// Returns a number for the files that may belong to a session.
    pub(super) fn of(&self, session: &Path) -> u64 {
        let folder = session.parent().and_then(|folder| self.folders.get(folder));
        folder.map_or(0, |folder| {
            let owned = stem(session).and_then(|stem| folder.owned.get(stem)).copied().unwrap_or(0);
            hash(&(folder.shared, owned))
        })
    }
}

/// Returns the name of a file up to its first extension.
fn stem(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.split('.').next()
}
