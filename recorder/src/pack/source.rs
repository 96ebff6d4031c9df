//! The directory that is packed: what is in it, and whether it stays so.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::PackError;
use super::index::MAX_FILES;
use super::paths::{self, PathProblem};
use super::reader::MAX_PACKED_LOG_BYTES;
use crate::bundle::is_bundle_directory;
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, STATE_FILE};
use crate::recording::is_being_recorded;

/// Deepest nesting of directories in a bundle that is packed; a bundle has one level.
pub const MAX_SOURCE_DEPTH: usize = 16;

/// A bundle directory as it was when it was listed.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    /// Manifest and log first, then by name with numbers in their order.
    pub(super) files: Vec<SourceFile>,
    pub(super) empty_directories: Vec<String>,
    /// All directories below the bundle, parents first.
    directories: Vec<String>,
}

/// A file, and what shows whether it changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
}

impl Source {
    /// Lists the bundle directory at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error when the bundle is being recorded, cannot be listed, or has something that cannot be packed.
    pub fn list(path: &Path) -> Result<Self, PackError> {
        let io = |source| PackError::Io { action: "read", path: path.to_owned(), source };
        if fs::metadata(path).map_err(io)?.is_dir() && is_being_recorded(path).map_err(io)? {
            return Err(PackError::BeingRecorded { path: path.to_owned() });
        }
        if !is_bundle_directory(path) {
            return Err(PackError::NotABundle { path: path.to_owned() });
        }
        let mut source =
            Self { path: path.to_owned(), files: Vec::new(), empty_directories: Vec::new(), directories: Vec::new() };
        source.list_directory("", 0)?;
        source.files.sort_by_cached_key(|file| order(&file.path));
        source.directories.sort_unstable();
        source.empty_directories.sort_unstable();
        Ok(source)
    }

    /// Returns the bundle directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Checks that the directory holds what it held when it was listed.
    ///
    /// # Errors
    ///
    /// Returns what changed, or why the directory cannot be listed again.
    pub fn check_unchanged(&self) -> Result<(), PackError> {
        let now = Self::list(&self.path)?;
        if now == *self {
            return Ok(());
        }
        let before = self.files.iter().map(Some).chain(std::iter::repeat(None));
        let changed = before
            .zip(now.files.iter().map(Some).chain(std::iter::repeat(None)))
            .take(self.files.len().max(now.files.len()))
            .find(|(before, now)| before != now)
            .and_then(|(before, now)| before.or(now))
            .map_or_else(|| self.path.clone(), |file| self.path.join(&file.path));
        Err(PackError::Changed { path: changed })
    }

    /// Deletes what was listed, `state.json`, and then the directories. Whatever else has come since stays, and so do the
    /// directories that hold it. The manifest goes last: until then what is left is still known as a bundle.
    ///
    /// # Errors
    ///
    /// Returns an error when something cannot be deleted; what was deleted before is gone.
    pub fn delete(self) -> Result<(), PackError> {
        self.check_unchanged()?;
        let remove = |name: &str| {
            let path = self.path.join(name);
            fs::remove_file(&path).map_err(|source| PackError::Io { action: "delete", path, source })
        };
        if fs::symlink_metadata(self.path.join(STATE_FILE)).is_ok() {
            remove(STATE_FILE)?;
        }
        for file in self.files.iter().rev() {
            remove(&file.path)?;
        }
        let inner = self.directories.iter().rev().map(|name| self.path.join(name));
        // The bundle may have been named through a link, which is not a directory itself.
        let outer = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        for path in inner.chain([outer]) {
            fs::remove_dir(&path).map_err(|source| PackError::Io { action: "delete", path, source })?;
        }
        Ok(())
    }

    fn list_directory(&mut self, directory: &str, depth: usize) -> Result<(), PackError> {
        let place = self.path.join(directory);
        let io = |path: &Path, source| PackError::Io { action: "read", path: path.to_owned(), source };
        let too_large = |what| PackError::TooLarge { path: self.path.clone(), what };
        if depth > MAX_SOURCE_DEPTH {
            return Err(too_large("its directories are nested too deeply"));
        }
        if self.files.len() + self.directories.len() > MAX_FILES {
            return Err(too_large("it has too many files"));
        }
        let mut below = Vec::new();
        let mut is_empty = true;
        for entry in fs::read_dir(&place).map_err(|error| io(&place, error))? {
            let entry = entry.map_err(|error| io(&place, error))?;
            let path = entry.path();
            let problem = |problem| PackError::Path { path: path.clone(), problem };
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| problem(PathProblem::NotText))?;
            let metadata = entry.metadata().map_err(|error| io(&path, error))?;
            if directory.is_empty() && name == STATE_FILE && metadata.is_file() {
                continue;
            }
            is_empty = false;
            let inner = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            paths::check(&inner).map_err(problem)?;
            if metadata.is_dir() {
                below.push(inner);
            } else if metadata.is_file() {
                if inner == EVENT_LOG_FILE && metadata.len() > MAX_PACKED_LOG_BYTES {
                    return Err(PackError::LargeLog { path, bytes: metadata.len() });
                }
                self.files.push(SourceFile::new(inner, &metadata));
            } else {
                return Err(PackError::NotAFile { path });
            }
        }
        if is_empty && !directory.is_empty() {
            self.empty_directories.push(directory.to_owned());
        }
        for inner in below {
            self.list_directory(&inner, depth + 1)?;
            self.directories.push(inner);
        }
        Ok(())
    }
}

impl SourceFile {
    fn new(path: String, metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let identity = None;
        Self { path, bytes: metadata.len(), modified: metadata.modified().ok(), identity }
    }
}

/// Orders files: the manifest, the log, and then names, with the numbers in them by value.
fn order(path: &str) -> (u8, Vec<(String, u64)>, String) {
    let rank = match path {
        MANIFEST_FILE => 0,
        EVENT_LOG_FILE => 1,
        _ => 2,
    };
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| start + end);
        parts.push((rest[..start].to_owned(), rest[start..digits].parse().unwrap_or(u64::MAX)));
        rest = &rest[digits..];
    }
    parts.push((rest.to_owned(), 0));
    (rank, parts, path.to_owned())
}

/// Returns a file of a listed bundle, opened without following a link that took its place.
pub(super) fn open(source: &Source, file: &SourceFile) -> Result<fs::File, PackError> {
    let path = source.path.join(&file.path);
    let io = |source| PackError::Io { action: "read", path: path.clone(), source };
    let metadata = fs::symlink_metadata(&path).map_err(io)?;
    let is_same = metadata.is_file() && SourceFile::new(file.path.clone(), &metadata) == *file;
    if !is_same {
        return Err(PackError::Changed { path });
    }
    let opened = fs::File::open(&path).map_err(io)?;
    let metadata: io::Result<Metadata> = opened.metadata();
    if SourceFile::new(file.path.clone(), &metadata.map_err(io)?) != *file {
        return Err(PackError::Changed { path });
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(root.path().join("payloads/empty")).expect("a directory");
        for name in ["manifest.json", "trace.jsonl", "state.json", "payloads/10.json", "payloads/9.json", "a.txt"] {
            fs::write(root.path().join(name), name).expect("writes");
        }
        root
    }

    #[test]
    fn files_are_listed_in_order_and_without_the_state() {
        let root = bundle();
        let source = Source::list(root.path()).expect("lists");
        let paths: Vec<_> = source.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["manifest.json", "trace.jsonl", "a.txt", "payloads/9.json", "payloads/10.json"]);
        assert_eq!(source.empty_directories, ["payloads/empty"]);
        source.check_unchanged().expect("nothing changed");
        source.delete().expect("deletes");
        assert!(!root.path().exists());
    }

    #[test]
    fn what_changed_is_seen_and_not_deleted() {
        let root = bundle();
        let source = Source::list(root.path()).expect("lists");
        fs::write(root.path().join("payloads/9.json"), "longer than it was").expect("writes");
        let changed = source.check_unchanged().expect_err("changed");
        assert!(matches!(&changed, PackError::Changed { path } if path.ends_with("payloads/9.json")), "{changed}");
        assert!(source.delete().is_err());
        let source = Source::list(root.path()).expect("lists");
        fs::write(root.path().join("payloads/11.json"), "new").expect("writes");
        assert!(matches!(source.delete(), Err(PackError::Changed { .. })));
        assert!(root.path().join("payloads/10.json").exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_refused_by_name() {
        let root = bundle();
        std::os::unix::fs::symlink("10.json", root.path().join("payloads/link.json")).expect("links");
        let refused = Source::list(root.path()).expect_err("a link");
        assert!(matches!(&refused, PackError::NotAFile { path } if path.ends_with("payloads/link.json")), "{refused}");
        let root = tempfile::tempdir().expect("a directory");
        assert!(matches!(Source::list(root.path()), Err(PackError::NotABundle { .. })));
    }
}
