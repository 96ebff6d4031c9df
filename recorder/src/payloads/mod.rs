//! Payload files. They are opened when needed, and never outside of their bundle: a directory, a packed bundle, or a bundle in
//! memory.

mod error;
mod memory;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::format::PAYLOADS_DIR;
use crate::pack::{MAX_BLOCK_BYTES, PackedBundle, PackedFile};

pub use error::{MAX_PAYLOAD_BYTES, PayloadError};
pub use memory::{MemoryFiles, Slice};

/// The payload files of one bundle.
///
/// Payload references come from the bundle itself, which may come from a stranger. A path that leaves the bundle directory
/// through `..`, as an absolute path or through a symlink is rejected, and only plain files are read.
#[derive(Debug)]
pub struct PayloadFiles {
    place: Place,
}

/// Bytes of decompressed blocks that are kept of a bundle that is followed. A server follows many.
const FOLLOWED_CACHE_BYTES: usize = 4 * MAX_BLOCK_BYTES;

/// Where the files are.
#[derive(Debug)]
enum Place {
    Directory(Directory),
    Packed(Arc<PackedBundle>),
    /// A bundle that is being recorded. It is read again when a file is asked for that it does not have yet.
    Growing(Arc<RwLock<PackedBundle>>),
    Memory(MemoryFiles),
}

#[derive(Debug)]
struct Directory {
    root: PathBuf,
    #[cfg(target_os = "linux")]
    opened: File,
}

impl PayloadFiles {
    /// Opens the bundle directory.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of opening the directory.
    pub fn open(root: &Path) -> io::Result<Self> {
        let directory = Directory {
            root: root.to_owned(),
            #[cfg(target_os = "linux")]
            opened: File::open(root)?,
        };
        Ok(Self { place: Place::Directory(directory) })
    }

    /// Makes a value for the files of a packed bundle.
    pub fn from_packed(packed: Arc<PackedBundle>) -> Self {
        Self { place: Place::Packed(packed) }
    }

    /// Makes a value for the files of a growing bundle, including those that it gets later.
    pub(crate) fn from_growing(mut packed: PackedBundle) -> Self {
        packed.limit_cache(FOLLOWED_CACHE_BYTES);
        Self { place: Place::Growing(Arc::new(RwLock::new(packed))) }
    }

    /// Returns another handle of the files of a growing bundle, and what a function returns for the bundle. `None` for any other
    /// bundle.
    pub(crate) fn share_growing<T>(&self, use_it: impl FnOnce(&PackedBundle) -> T) -> Option<(Self, T)> {
        let Place::Growing(growing) = &self.place else { return None };
        let result = with(growing, &[], use_it);
        Some((Self { place: Place::Growing(Arc::clone(growing)) }, result))
    }

    /// Makes a value for files that are in memory.
    pub fn from_memory(files: MemoryFiles) -> Self {
        Self { place: Place::Memory(files) }
    }

    /// Returns whether the files are in memory, not on disk.
    pub fn are_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory(_))
    }

    /// Returns whether the file at `path` exists and is known to be a JSON document of an allowed size without being read. That is
    /// known of the files of some bundles in memory, see [`MemoryFiles::of_documents`].
    pub fn is_document(&self, path: &str) -> bool {
        match &self.place {
            Place::Memory(files) => files.is_document(path),
            Place::Directory(_) | Place::Packed(_) | Place::Growing(_) => false,
        }
    }

    /// Reads the file at `path` (relative to the bundle) into `buffer`, which is cleared first.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads out of the bundle, or if the file cannot be read, is not a plain file or is
    /// larger than [`MAX_PAYLOAD_BYTES`]. The content of `buffer` is then unspecified.
    pub fn read(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        let directory = match &self.place {
            Place::Directory(directory) => directory,
            Place::Packed(packed) => return packed.read_payload(path, 0, buffer),
            Place::Growing(growing) => {
                return with(growing, &[path], |packed| packed.read_payload(path, 0, buffer));
            }
            Place::Memory(files) => return files.read(path, buffer),
        };
        buffer.clear();
        let mut file = directory.open_inside(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(PayloadError::NotAFile);
        }
        if metadata.len() > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLarge { bytes: metadata.len() });
        }
        let expected = metadata.len() as usize;
        // One extra byte lets `read_to_end` see the end of the file without growing the buffer.
        buffer.reserve(expected + 1);
        file.by_ref().take(MAX_PAYLOAD_BYTES).read_to_end(buffer)?;
        Ok(())
    }

    /// Returns the size in bytes of the file at `path` without reading it. `None` if the path leads out of the bundle, or if there is
    /// no such plain file.
    pub fn bytes_of(&self, path: &str) -> Option<u64> {
        match &self.place {
            Place::Directory(directory) => {
                directory.open_inside(path).ok()?.metadata().ok().filter(std::fs::Metadata::is_file).map(|it| it.len())
            }
            Place::Packed(packed) => packed.file(path).map(|file| file.bytes),
            Place::Growing(growing) => with(growing, &[path], |packed| packed.file(path).map(|file| file.bytes)),
            Place::Memory(files) => files.bytes_of(path),
        }
    }

    /// Returns whether files share bytes, so that [`known_prefix`](Self::known_prefix) finds out what two have in common.
    pub fn share_bytes(&self) -> bool {
        !matches!(self.place, Place::Directory(_))
    }

    /// Returns with how many equal bytes two files begin, as far as that is known without reading them. Files of a directory
    /// share no bytes, and for them it is 0.
    pub fn known_prefix(&self, one: &str, other: &str) -> usize {
        match &self.place {
            Place::Memory(files) => files.known_prefix(one, other),
            Place::Packed(packed) => usize::try_from(packed.known_prefix(one, other)).unwrap_or(usize::MAX),
            Place::Growing(growing) => {
                let shared = with(growing, &[one, other], |packed| packed.known_prefix(one, other));
                usize::try_from(shared).unwrap_or(usize::MAX)
            }
            Place::Directory(_) => 0,
        }
    }

    /// Returns where the bytes of a file begin in a packed bundle. Files with the same place may begin with the same bytes, see
    /// [`known_prefix`](Self::known_prefix). Returns `None` for an empty file, and for files that share no bytes.
    pub(crate) fn start_of(&self, path: &str) -> Option<u64> {
        match &self.place {
            Place::Packed(packed) => packed.start_of(path),
            Place::Growing(growing) => with(growing, &[path], |packed| packed.start_of(path)),
            Place::Directory(_) | Place::Memory(_) => None,
        }
    }

    /// Reads the file at `path` from byte `start` on into `buffer`, which is cleared first.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](Self::read).
    pub fn read_from(&self, path: &str, start: usize, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        match &self.place {
            Place::Memory(files) => {
                buffer.clear();
                files.read_from(path, start, buffer)
            }
            Place::Packed(packed) => packed.read_payload(path, start as u64, buffer),
            Place::Growing(growing) => with(growing, &[path], |packed| packed.read_payload(path, start as u64, buffer)),
            Place::Directory(_) => {
                self.read(path, buffer)?;
                buffer.drain(..start.min(buffer.len()));
                Ok(())
            }
        }
    }

    /// Lists all plain files of the bundle with UTF-8 paths, including manifest and log, in the order of their paths.
    /// Symlinks are not followed. Each file can be read with [`PayloadFiles::read`].
    ///
    /// # Errors
    ///
    /// Returns the I/O error of listing a directory.
    pub fn list_all(&self) -> io::Result<Vec<PayloadEntry>> {
        let mut found = Vec::new();
        match &self.place {
            Place::Directory(directory) => directory.list_below("", 0, &mut found)?,
            Place::Packed(packed) => {
                let entry = |file: PackedFile<'_>| PayloadEntry { path: file.path.to_owned(), bytes: file.bytes };
                found.extend(packed.files().map(entry));
            }
            Place::Growing(growing) => with(growing, &[], |packed| {
                let entry = |file: PackedFile<'_>| PayloadEntry { path: file.path.to_owned(), bytes: file.bytes };
                found.extend(packed.files().map(entry));
            }),
            Place::Memory(files) => found.extend(files.list()),
        }
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Lists the plain files of the payload directory with UTF-8 names, in the order of their paths. Returns an empty list
    /// if the directory is missing.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of listing the directory.
    pub fn list(&self) -> io::Result<Vec<PayloadEntry>> {
        let mut found = match &self.place {
            Place::Directory(directory) => directory.list()?,
            Place::Packed(packed) => {
                let files = packed.files().filter(|file| is_payload(file.path));
                files.map(|file| PayloadEntry { path: file.path.to_owned(), bytes: file.bytes }).collect()
            }
            Place::Growing(growing) => with(growing, &[], |packed| {
                let files = packed.files().filter(|file| is_payload(file.path));
                files.map(|file| PayloadEntry { path: file.path.to_owned(), bytes: file.bytes }).collect()
            }),
            Place::Memory(files) => files.list().filter(|file| is_payload(&file.path)).collect(),
        };
        found.sort_unstable_by(|a: &PayloadEntry, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

/// Calls a function with a growing bundle. If it lacks one of the files, what was appended to it is read first.
fn with<T>(growing: &RwLock<PackedBundle>, wanted: &[&str], use_it: impl FnOnce(&PackedBundle) -> T) -> T {
    let has_all = |packed: &PackedBundle| wanted.iter().all(|path| packed.file(path).is_some());
    let packed = growing.read().unwrap_or_else(PoisonError::into_inner);
    if has_all(&packed) {
        return use_it(&packed);
    }
    drop(packed);
    let mut packed = growing.write().unwrap_or_else(PoisonError::into_inner);
    if !has_all(&packed)
        && let Err(error) = packed.catch_up()
    {
        // The file that is asked for is missing then, which is told.
        tracing::warn!(path = %packed.path().display(), %error, "what was appended cannot be read");
    }
    drop(packed);
    use_it(&growing.read().unwrap_or_else(PoisonError::into_inner))
}

/// Returns whether `path` (relative to a bundle) names a file of the payload directory.
fn is_payload(path: &str) -> bool {
    let name = path.strip_prefix(PAYLOADS_DIR).and_then(|rest| rest.strip_prefix('/'));
    name.is_some_and(|name| !name.contains('/'))
}

impl Directory {
    fn list_below(&self, directory: &str, depth: usize, found: &mut Vec<PayloadEntry>) -> io::Result<()> {
        for entry in std::fs::read_dir(self.root.join(directory))? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            if metadata.is_file() {
                found.push(PayloadEntry { path, bytes: metadata.len() });
            } else if metadata.is_dir() && depth < MAX_LIST_DEPTH {
                self.list_below(&path, depth + 1, found)?;
            }
        }
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<PayloadEntry>> {
        let entries = match std::fs::read_dir(self.root.join(PAYLOADS_DIR)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let metadata = entry.metadata()?;
            // No payload reference can name a file whose name is not UTF-8.
            if let (true, Some(name)) = (metadata.is_file(), entry.file_name().to_str()) {
                found.push(PayloadEntry { path: format!("{PAYLOADS_DIR}/{name}"), bytes: metadata.len() });
            }
        }
        Ok(found)
    }

    #[cfg(target_os = "linux")]
    fn open_inside(&self, path: &str) -> Result<File, PayloadError> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;

        // Without NONBLOCK, opening a named pipe in the payload directory would block forever.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        loop {
            match openat2(&self.opened, path, flags, Mode::empty(), resolve) {
                Ok(file) => return Ok(file.into()),
                Err(Errno::XDEV | Errno::LOOP) => return Err(PayloadError::OutsideBundle),
                // The kernel has no openat2, or a sandbox forbids it.
                Err(Errno::NOSYS | Errno::PERM) => return self.open_checked(path),
                // A rename raced with the lookup, or a signal interrupted it: try again.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_inside(&self, path: &str) -> Result<File, PayloadError> {
        self.open_checked(path)
    }

    /// Resolves the path, checks it and opens it. This is safe against a malicious bundle, but not against a process that
    /// changes the bundle meanwhile.
    fn open_checked(&self, path: &str) -> Result<File, PayloadError> {
        let root = self.root.canonicalize()?;
        let target = root.join(path).canonicalize()?;
        if !target.starts_with(&root) {
            return Err(PayloadError::OutsideBundle);
        }
        if !target.metadata()?.is_file() {
            return Err(PayloadError::NotAFile);
        }
        Ok(File::open(target)?)
    }
}

/// Deepest level of directories that [`PayloadFiles::list_all`] lists.
const MAX_LIST_DEPTH: usize = 16;

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadEntry {
    /// Path relative to the bundle, as in payload references.
    pub path: String,
    /// Size of the file.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("payloads")).expect("payloads");
        std::fs::write(directory.path().join("payloads/1.json"), "{}").expect("a payload");
        directory
    }

    fn read(files: &PayloadFiles, path: &str) -> Result<Vec<u8>, PayloadError> {
        let mut buffer = vec![1, 2, 3];
        files.read(path, &mut buffer).map(|()| buffer)
    }

    #[test]
    fn reads_a_payload() {
        let directory = bundle();
        let files = PayloadFiles::open(directory.path()).expect("opens");
        assert_eq!(read(&files, "payloads/1.json").expect("reads"), b"{}");
        assert_eq!(read(&files, "payloads/../payloads/1.json").expect("stays inside"), b"{}");
        assert!(matches!(read(&files, "payloads/2.json"), Err(PayloadError::Io(_))));
        assert!(matches!(read(&files, "payloads"), Err(PayloadError::NotAFile)));
    }

    #[test]
    #[cfg(unix)]
    fn never_leaves_the_bundle() {
        let outer = tempfile::tempdir().expect("a directory");
        let secret = outer.path().join("secret.json");
        std::fs::write(&secret, "{}").expect("a secret");
        let directory = bundle();
        std::os::unix::fs::symlink(&secret, directory.path().join("payloads/link.json")).expect("a link");
        std::os::unix::fs::symlink(outer.path(), directory.path().join("dir")).expect("a link");
        let files = PayloadFiles::open(directory.path()).expect("opens");
        let up = format!("../{}/secret.json", outer.path().file_name().expect("a name").to_string_lossy());
        let absolute = secret.to_string_lossy();
        for path in [up.as_str(), &absolute, "payloads/link.json", "dir/secret.json", "payloads/../../x"] {
            assert!(matches!(read(&files, path), Err(PayloadError::OutsideBundle)), "{path}");
            let Place::Directory(opened) = &files.place else { panic!("it is a directory") };
            assert!(opened.open_checked(path).is_err(), "{path} without openat2");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_not_a_payload() {
        let directory = bundle();
        let pipe = directory.path().join("payloads/pipe.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        let files = PayloadFiles::open(directory.path()).expect("opens");
        assert!(matches!(read(&files, "payloads/pipe.json"), Err(PayloadError::NotAFile)));
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let directory = bundle();
        let huge = File::create(directory.path().join("payloads/3.json")).expect("creates");
        huge.set_len(MAX_PAYLOAD_BYTES + 1).expect("a sparse file");
        let files = PayloadFiles::open(directory.path()).expect("opens");
        assert!(matches!(read(&files, "payloads/3.json"), Err(PayloadError::TooLarge { .. })));
    }
}
