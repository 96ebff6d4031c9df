//! The bundle directory that is packed: its files, and whether they changed.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::PackError;
use super::index::MAX_FILES;
use super::limits::MAX_PACKED_LOG_BYTES;
use super::names::MAX_DIRECTORIES;
use super::paths::{self, PathProblem};
use crate::bundle::is_bundle_directory;
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE};
use crate::lock::{DeletionLock, HiddenBundle};
use crate::parts::Part;
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// Deepest level of directories in a bundle that is packed. A bundle that a recorder writes has one level.
pub const MAX_SOURCE_DEPTH: usize = 16;

/// A bundle directory at the time when it was listed.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    lock: Option<DeletionLock>,
    listing: Listing,
}

/// The files and directories of a bundle directory.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    /// The manifest first, then the log, then the other files by name with numbers in numerical order.
    files: Vec<SourceFile>,
    empty_directories: Vec<String>,
    /// All directories below the bundle, sorted.
    directories: Vec<String>,
}

/// Most files and directories of a bundle directory.
#[derive(Debug, Clone, Copy)]
struct Most {
    files: usize,
    directories: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { files: MAX_FILES, directories: MAX_DIRECTORIES }
    }
}

/// A file, with the attributes that show whether it changed.
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
    /// Returns an error if the bundle is being recorded, cannot be listed, or has something that cannot be packed.
    pub fn list(path: &Path) -> Result<Self, PackError> {
        Self::list_with(path, None)
    }

    /// Lists the bundle directory at `path` and keeps recorders away from it until the value is dropped or the directory is
    /// deleted.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`Source::list`], and if the lock cannot be taken because nothing can
    /// be written to the directory.
    pub fn hold(path: &Path) -> Result<Self, PackError> {
        if !is_bundle_directory(path) {
            // No lock file is created in a directory that is not a bundle.
            return Self::list(path);
        }
        // If something other than a plain file has the name of the lock file, listing reports it.
        Self::list_with(path, Some(Self::lock(path)?))
    }

    fn lock(path: &Path) -> Result<DeletionLock, PackError> {
        // The path may be that of a symlink to the bundle. The bundle is deleted, not the symlink.
        let lock = path.canonicalize().and_then(|bundle| DeletionLock::take(&bundle));
        lock.map_err(|source| Self::lock_error(path, source))
    }

    fn lock_error(path: &Path, source: io::Error) -> PackError {
        match source.kind() {
            io::ErrorKind::WouldBlock => PackError::BeingRecorded { path: path.to_owned() },
            _ => PackError::Io { action: "lock", path: path.to_owned(), source },
        }
    }

    fn list_with(path: &Path, lock: Option<DeletionLock>) -> Result<Self, PackError> {
        let io = |source| PackError::Io { action: "read", path: path.to_owned(), source };
        let is_locked = lock.as_ref().is_some_and(DeletionLock::is_exclusive);
        if !is_locked && fs::metadata(path).map_err(io)?.is_dir() && is_being_recorded(path).map_err(io)? {
            return Err(PackError::BeingRecorded { path: path.to_owned() });
        }
        if !is_bundle_directory(path) {
            return Err(PackError::NotABundle { path: path.to_owned() });
        }
        let listing = Listing::of(path, lock.as_ref())?;
        Ok(Self { path: path.to_owned(), lock, listing })
    }

    /// Returns the bundle directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of all files.
    pub fn bytes(&self) -> u64 {
        self.files().iter().map(|file| file.bytes).sum()
    }

    /// Returns when the log was last modified. If there is no log, returns when the latest file was.
    pub fn modified(&self) -> Option<SystemTime> {
        let log = self.files().iter().find(|file| file.path == EVENT_LOG_FILE);
        log.map_or_else(|| self.files().iter().filter_map(|file| file.modified).max(), |log| log.modified)
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files().iter().map(|file| file.path.as_str())
    }

    /// Returns the files: the manifest and the log first, then the others by name.
    pub(super) fn files(&self) -> &[SourceFile] {
        &self.listing.files
    }

    /// Returns the directories without any content, sorted.
    pub(super) fn empty_directories(&self) -> &[String] {
        &self.listing.empty_directories
    }

    /// Checks that the directory has the same content as when it was listed.
    ///
    /// # Errors
    ///
    /// Returns an error if something changed or the directory cannot be listed again.
    pub fn check_unchanged(&self) -> Result<(), PackError> {
        // Without the lock, a recorder may have started to work on the bundle.
        if !self.lock.as_ref().is_some_and(DeletionLock::is_exclusive) {
            Self::list(&self.path)?;
        }
        self.check_unchanged_at(&self.path, self.lock.as_ref())
    }

    fn check_unchanged_at(&self, path: &Path, lock: Option<&DeletionLock>) -> Result<(), PackError> {
        let now = Listing::of(path, lock)?;
        if now == self.listing {
            return Ok(());
        }
        let before = self.files().iter().map(Some).chain(std::iter::repeat(None));
        let changed = before
            .zip(now.files.iter().map(Some).chain(std::iter::repeat(None)))
            .take(self.files().len().max(now.files.len()))
            .find(|(before, now)| before != now)
            .and_then(|(before, now)| before.or(now))
            .map_or_else(|| self.path.clone(), |file| self.path.join(&file.path));
        Err(PackError::Changed { path: changed })
    }

    /// Deletes the directory. It is first renamed to a hidden name, so that nobody finds a partly deleted bundle, and then
    /// checked again for changes. A directory that changed gets its name back.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory changed or cannot be deleted. If only a part of it could be deleted, or it did not
    /// get its name back, the rest keeps the hidden name, and the error has the path.
    pub fn delete(mut self) -> Result<(), PackError> {
        self.check_unchanged()?;
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => Self::lock(&self.path)?,
        };
        let hidden = lock.hide().map_err(|error| self.io("delete", error))?;
        self.delete_hidden(hidden)
    }

    fn delete_hidden(&self, hidden: HiddenBundle) -> Result<(), PackError> {
        if let Err(changed) = self.check_unchanged_at(hidden.hidden_path(), Some(hidden.lock())) {
            hidden.give_back().map_err(|error| self.io("give its name back to", error))?;
            return Err(changed);
        }
        hidden.remove().map_err(|error| self.io("delete", error))
    }

    fn io(&self, action: &'static str, source: io::Error) -> PackError {
        PackError::Io { action, path: self.path.clone(), source }
    }
}

impl Listing {
    /// Lists a directory. The file that a lock created in it is left out.
    fn of(path: &Path, lock: Option<&DeletionLock>) -> Result<Self, PackError> {
        let mut listing = Self::default();
        listing.list_directory(path, "", 0, Most::default())?;
        if lock.is_some_and(DeletionLock::has_made_file) {
            listing.files.retain(|file| file.path != RECORDER_FILE);
        }
        listing.files.sort_by_cached_key(|file| order(&file.path));
        listing.directories.sort_unstable();
        listing.empty_directories.sort_unstable();
        Ok(listing)
    }

    fn list_directory(&mut self, root: &Path, directory: &str, depth: usize, most: Most) -> Result<(), PackError> {
        let place = root.join(directory);
        let io = |path: &Path, source| PackError::Io { action: "read", path: path.to_owned(), source };
        let too_large = |what| PackError::TooLarge { path: root.to_owned(), what };
        if depth > MAX_SOURCE_DEPTH {
            return Err(too_large("its directories are nested too deeply"));
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
            if directory.is_empty() && Part::of(&entry.file_name(), metadata.file_type()) == Some(Part::State) {
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
            if self.files.len() > most.files {
                return Err(too_large("it has too many files"));
            }
            if self.directories.len() + below.len() > most.directories {
                return Err(too_large("it has too many directories"));
            }
        }
        if is_empty && !directory.is_empty() {
            self.empty_directories.push(directory.to_owned());
        }
        self.directories.extend(below.iter().cloned());
        below.iter().try_for_each(|inner| self.list_directory(root, inner, depth + 1, most))
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

/// Returns the sort key of a file: the manifest comes first, then the log, then the others by name, with numbers in
/// numerical order.
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

/// Opens a file of a listed bundle. Fails if the file changed or a symlink took its place.
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
        let paths: Vec<_> = source.files().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["manifest.json", "trace.jsonl", "a.txt", "payloads/9.json", "payloads/10.json"]);
        assert_eq!(source.empty_directories(), ["payloads/empty"]);
        source.check_unchanged().expect("nothing changed");
        source.delete().expect("deletes");
        assert!(!root.path().exists());
    }

    #[test]
    fn a_directory_with_more_than_a_packed_bundle_may_have_is_refused() {
        let root = bundle();
        let list = |files, directories| {
            Listing::default()
                .list_directory(root.path(), "", 0, Most { files, directories })
                .map_err(|error| error.to_string())
        };
        assert_eq!(list(5, 2), Ok(()));
        assert!(list(4, 2).expect_err("a file too many").ends_with("it has too many files"));
        assert!(list(5, 1).expect_err("a directory too many").ends_with("it has too many directories"));

        let deep = (0..MAX_SOURCE_DEPTH).fold(root.path().to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(&deep).expect("creates");
        Source::list(root.path()).expect("is not too deep");
        fs::create_dir(deep.join("d")).expect("creates");
        let refused = Source::list(root.path()).expect_err("is too deep").to_string();
        assert!(refused.ends_with("its directories are nested too deeply"), "{refused}");
        fs::remove_dir_all(root.path().join("d")).expect("removes");

        let log = fs::File::options().write(true).open(root.path().join("trace.jsonl")).expect("opens");
        log.set_len(MAX_PACKED_LOG_BYTES).expect("a sparse file");
        Source::list(root.path()).expect("is not too large");
        log.set_len(MAX_PACKED_LOG_BYTES + 1).expect("a sparse file");
        let refused = Source::list(root.path()).expect_err("is too large");
        assert!(matches!(refused, PackError::LargeLog { bytes, .. } if bytes == MAX_PACKED_LOG_BYTES + 1), "{refused}");
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
    fn what_is_held_is_listed_without_the_lock() {
        let root = bundle();
        let held = Source::hold(root.path()).expect("holds");
        assert!(root.path().join(RECORDER_FILE).exists());
        assert!(matches!(Source::hold(root.path()), Err(PackError::BeingRecorded { .. })));
        assert!(matches!(Source::list(root.path()), Err(PackError::BeingRecorded { .. })));
        assert!(held.paths().all(|path| path != RECORDER_FILE) && held.paths().count() == 5);
        held.check_unchanged().expect("nothing changed");
        drop(held);
        assert!(!root.path().join(RECORDER_FILE).exists());

        // A file that another recorder left belongs to the bundle.
        fs::write(root.path().join(RECORDER_FILE), "{}").expect("writes");
        let held = Source::hold(root.path()).expect("holds");
        assert!(held.paths().any(|path| path == RECORDER_FILE));
        fs::write(root.path().join("state.json"), "another state is no change").expect("writes");
        held.delete().expect("deletes");
        assert!(!root.path().exists());
    }

    #[test]
    fn what_changed_gets_its_name_back() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("one");
        fs::rename(bundle().keep(), &path).expect("renames");
        let mut source = Source::hold(&path).expect("holds");
        // The steps of a deletion, with a change after the bundle got its hidden name.
        let hidden = source.lock.take().expect("is held").hide().expect("hides");
        source
            .check_unchanged_at(hidden.hidden_path(), Some(hidden.lock()))
            .expect("under another name it is the same");
        fs::write(hidden.hidden_path().join("a.txt"), "longer than it was").expect("writes");
        let changed = source.delete_hidden(hidden).expect_err("changed");
        assert!(matches!(&changed, PackError::Changed { path } if path.ends_with("one/a.txt")), "{changed}");
        assert!(matches!(source.delete(), Err(PackError::Changed { .. })));
        assert_eq!(fs::read_dir(place.path()).expect("lists").count(), 1);
        assert!(path.join("manifest.json").exists() && !path.join(RECORDER_FILE).exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_name_that_cannot_be_given_back_is_told_with_the_hidden_one() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("one");
        fs::rename(bundle().keep(), &path).expect("renames");
        let mut source = Source::hold(&path).expect("holds");
        let hidden = source.lock.take().expect("is held").hide().expect("hides");
        fs::write(hidden.hidden_path().join("a.txt"), "longer than it was").expect("writes");
        fs::rename(bundle().keep(), &path).expect("another bundle takes the name");
        let error = source.delete_hidden(hidden).expect_err("the name is taken");
        assert_eq!(error.to_string(), format!("cannot give its name back to {}", path.display()));
        let cause = std::error::Error::source(&error).expect("a cause").to_string();
        assert!(cause.ends_with("/.pruned-one"), "{cause}");
    }

    #[test]
    #[cfg(unix)]
    fn a_bundle_is_deleted_through_a_symlink_to_it() {
        let place = tempfile::tempdir().expect("a directory");
        let (path, link) = (place.path().join("one"), place.path().join("link"));
        fs::rename(bundle().keep(), &path).expect("renames");
        std::os::unix::fs::symlink(&path, &link).expect("links");
        Source::hold(&link).expect("holds").delete().expect("deletes");
        assert!(link.is_symlink() && !path.exists());
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
