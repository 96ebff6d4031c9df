//! A bundle, as a directory, packed into one file or in memory: its manifest, its event log and its payloads.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::format::{EVENT_LOG_FILE, Event, IMPORT_FILE, ImportRecord, MANIFEST_FILE, Manifest};
use crate::hidden::PRUNED_PREFIX;
use crate::log::EventLog;
use crate::pack::{PACKED_EXTENSION, PackedBundle, PackedError, is_packed};
use crate::payloads::{MemoryFiles, PayloadError, PayloadFiles};
use crate::recording::{
    RECORDER_FILE, RECORDER_FILE_BYTES, Recording, is_being_recorded, parse_recording, read_recording,
};

/// Largest manifest that is read. Real manifests have a few hundred bytes.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Most bytes at the start of a log that [`Bundle::open_to_follow`] reads to replace a missing manifest.
pub const MAX_HEAD_BYTES: u64 = 8 << 20;

/// Deepest level of directories that [`find_bundles`] searches.
pub const MAX_SEARCH_DEPTH: usize = 8;

/// An opened bundle.
///
/// Opening requires only a directory, or a packed bundle with its index. A bundle whose manifest or log is missing or
/// damaged can still be opened, as long as one of the two exists; [`Bundle::manifest`] and [`Bundle::log`] return the
/// error.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    manifest: Result<Manifest, BundleError>,
    /// The log. A bundle that was made from events writes it when it is first asked for.
    log: OnceLock<Result<EventLog, BundleError>>,
    /// The events that the bundle was made of.
    events: Option<Vec<Event<'static>>>,
    payloads: PayloadFiles,
    packed: Option<Arc<PackedBundle>>,
    /// Content of `import.json`, read at the first question.
    import: OnceLock<Option<ImportRecord>>,
}

impl Bundle {
    /// Opens the bundle at `path`, a directory or a packed bundle of any name.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` is neither a directory nor a readable packed bundle, or if it has neither a manifest nor
    /// a log.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        let metadata = std::fs::metadata(path).map_err(|source| BundleError::io(path, source))?;
        if !metadata.is_dir() {
            return Self::from_packed(open_packed(path)?);
        }
        let payloads = PayloadFiles::open(path).map_err(|source| BundleError::io(path, source))?;
        let manifest = read_manifest(path);
        let log_path = path.join(EVENT_LOG_FILE);
        let log = open_log(path, &log_path);
        let log = log.map_err(|source| BundleError::io(&log_path, source));
        if matches!((&manifest, &log), (Err(manifest), Err(log)) if manifest.is_missing() && log.is_missing()) {
            return Err(BundleError::NotABundle { path: path.to_owned() });
        }
        Ok(Self::of_parts(path.to_owned(), manifest, log, payloads))
    }

    /// Opens the bundle at `path` for a caller that follows the log and reads it in pieces. For a directory,
    /// [`Bundle::log`] has only the first [`MAX_HEAD_BYTES`] of the log if the manifest cannot be read, and nothing
    /// otherwise. The same holds for a growing bundle.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`Bundle::open`].
    pub fn open_to_follow(path: &Path) -> Result<Self, BundleError> {
        let metadata = std::fs::metadata(path).map_err(|source| BundleError::io(path, source))?;
        if !metadata.is_dir() {
            let packed = open_packed(path)?;
            return if packed.is_growing() { Self::from_growing(packed) } else { Self::from_packed(packed) };
        }
        let payloads = PayloadFiles::open(path).map_err(|source| BundleError::io(path, source))?;
        let manifest = read_manifest(path);
        let log_path = path.join(EVENT_LOG_FILE);
        let head_bytes = if manifest.is_ok() { 0 } else { MAX_HEAD_BYTES };
        let log = EventLog::read_head(&log_path, head_bytes).map_err(|source| BundleError::io(&log_path, source));
        if matches!((&manifest, &log), (Err(manifest), Err(log)) if manifest.is_missing() && log.is_missing()) {
            return Err(BundleError::NotABundle { path: path.to_owned() });
        }
        Ok(Self::of_parts(path.to_owned(), manifest, log, payloads))
    }

    /// Opens the bundle of this value once more, see [`Bundle::open_to_follow`]. The records of a growing bundle that were read
    /// are not read again.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`Bundle::open`].
    pub fn follow_again(&self) -> Result<Self, BundleError> {
        match self.payloads.share_growing(read_packed_manifest) {
            Some((payloads, manifest)) => {
                let log = Ok(EventLog::from_bytes(Vec::new()));
                Ok(Self::of_parts(self.path.clone(), manifest, log, payloads))
            }
            None => Self::open_to_follow(&self.path),
        }
    }

    /// Makes a bundle of an open packed one. Unlike [`Bundle::open`], it may have been opened from bytes that are not a file.
    ///
    /// # Errors
    ///
    /// Returns an error if it has neither a manifest nor an event log.
    pub fn from_packed(packed: PackedBundle) -> Result<Self, BundleError> {
        let path = packed.path().to_owned();
        let packed = Arc::new(packed);
        let manifest = read_packed_manifest(&packed);
        let log = packed.unpack_log(EVENT_LOG_FILE).map(EventLog::from_memory).map_err(BundleError::Packed);
        if matches!((&manifest, &log), (Err(manifest), Err(log)) if manifest.is_missing() && log.is_missing()) {
            return Err(BundleError::NotABundle { path });
        }
        let payloads = PayloadFiles::from_packed(Arc::clone(&packed));
        Ok(Self { packed: Some(packed), ..Self::of_parts(path, manifest, log, payloads) })
    }

    /// Makes a bundle of a growing one, for a caller that follows it: the payloads include those that come later, and the log
    /// has only its beginning if the manifest cannot be read.
    fn from_growing(packed: PackedBundle) -> Result<Self, BundleError> {
        let path = packed.path().to_owned();
        let manifest = read_packed_manifest(&packed);
        let mut head = Vec::new();
        let head_bytes = if manifest.is_ok() { 0 } else { MAX_HEAD_BYTES };
        let log = packed.read_range(EVENT_LOG_FILE, 0..head_bytes, &mut head);
        let log = log.map(|()| EventLog::from_bytes(head)).map_err(BundleError::Packed);
        Ok(Self::of_parts(path, manifest, log, PayloadFiles::from_growing(packed)))
    }

    fn of_parts(
        path: PathBuf,
        manifest: Result<Manifest, BundleError>,
        log: Result<EventLog, BundleError>,
        payloads: PayloadFiles,
    ) -> Self {
        let log = OnceLock::from(log);
        Self { path, manifest, log, events: None, payloads, packed: None, import: OnceLock::new() }
    }

    /// Makes a bundle of parts in memory. `path` names what they were made from, for messages. `files` has all other files
    /// of the bundle: payloads, and [`IMPORT_FILE`] for an imported session.
    pub fn from_memory(path: &Path, manifest: Manifest, log: Vec<u8>, files: MemoryFiles) -> Self {
        let (log, payloads) = (EventLog::from_bytes(log), PayloadFiles::from_memory(files));
        Self::of_parts(path.to_owned(), Ok(manifest), Ok(log), payloads)
    }

    /// Makes a bundle of events in memory, as [`Bundle::from_memory`] makes one of a log. The events are numbered from 1 without
    /// gaps, and have the schema version and the rollout of the manifest. Their log is written when [`Bundle::log`] is called for
    /// the first time.
    pub fn from_events(path: &Path, manifest: Manifest, events: Vec<Event<'static>>, files: MemoryFiles) -> Self {
        debug_assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "events are numbered from 1");
        Self {
            path: path.to_owned(),
            manifest: Ok(manifest),
            log: OnceLock::new(),
            events: Some(events),
            payloads: PayloadFiles::from_memory(files),
            packed: None,
            import: OnceLock::new(),
        }
    }

    /// Returns the path of the bundle: a directory, a packed bundle, or what a bundle in memory was made from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the manifest, or the error of reading it.
    pub fn manifest(&self) -> Result<&Manifest, &BundleError> {
        self.manifest.as_ref()
    }

    /// Returns the event log, or the error of reading it.
    pub fn log(&self) -> Result<&EventLog, &BundleError> {
        let written = || {
            let mut bytes = Vec::new();
            for event in self.events.iter().flatten() {
                serde_json::to_writer(&mut bytes, event).expect("an event is plain data");
                bytes.push(b'\n');
            }
            Ok(EventLog::from_bytes(bytes))
        };
        self.log.get_or_init(written).as_ref()
    }

    /// Returns the events of a bundle that was made of events, so that nobody has to parse its log. Returns `None` for any other
    /// bundle.
    pub fn events(&self) -> Option<&[Event<'static>]> {
        self.events.as_deref()
    }

    /// Returns the payload files.
    pub fn payloads(&self) -> &PayloadFiles {
        &self.payloads
    }

    /// Returns the payload files and drops the rest of the bundle.
    pub fn into_payloads(self) -> PayloadFiles {
        self.payloads
    }

    /// Returns the packed bundle behind this value. Returns `None` for a directory, and for a growing bundle that is followed.
    pub fn packed(&self) -> Option<&PackedBundle> {
        self.packed.as_deref()
    }

    /// Returns the record of the import that made the bundle. Returns `None` for a bundle that was recorded, and for one whose
    /// record cannot be read: a bundle is whole without it.
    pub fn import(&self) -> Option<&ImportRecord> {
        let read = || {
            let mut text = Vec::new();
            match self.payloads.read(IMPORT_FILE, &mut text) {
                Ok(()) => {}
                Err(PayloadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return None,
                Err(error) => {
                    tracing::warn!(path = %self.path.display(), %error, "{IMPORT_FILE} cannot be read");
                    return None;
                }
            }
            let record = serde_json::from_slice(&text);
            record
                .inspect_err(|error| tracing::warn!(path = %self.path.display(), %error, "{IMPORT_FILE} is damaged"))
                .ok()
        };
        self.import.get_or_init(read).as_ref()
    }

    /// Reads `recorder.json`, in which the recorder describes itself. Returns `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if the file cannot be read or is not in the format that a recorder writes.
    pub fn recording(&self) -> io::Result<Option<Recording>> {
        if self.payloads.are_in_memory() {
            return Ok(None);
        }
        let Some(packed) = &self.packed else { return read_recording(&self.path) };
        match packed.file(RECORDER_FILE) {
            None => Ok(None),
            Some(file) if file.bytes > RECORDER_FILE_BYTES as u64 => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "larger than the file of a recorder"))
            }
            Some(file) => {
                let mut text = Vec::new();
                packed.read(file.path, &mut text).map_err(io::Error::other)?;
                Ok(Some(parse_recording(&text)?))
            }
        }
    }
}

fn open_packed(path: &Path) -> Result<PackedBundle, BundleError> {
    PackedBundle::open(path).map_err(|error| match error {
        PackedError::NotPacked { path } => BundleError::NotADirectory { path },
        PackedError::Io { path, source } => BundleError::Io { path, source },
        error => BundleError::Packed(error),
    })
}

/// Reads the manifest of a packed bundle.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is larger than [`MAX_MANIFEST_BYTES`] or is not a manifest.
pub fn read_packed_manifest(packed: &PackedBundle) -> Result<Manifest, BundleError> {
    let path = packed.path().join(MANIFEST_FILE);
    if let Some(file) = packed.file(MANIFEST_FILE).filter(|file| file.bytes > MAX_MANIFEST_BYTES) {
        return Err(BundleError::LargeManifest { path, bytes: file.bytes });
    }
    let mut text = Vec::new();
    packed.read(MANIFEST_FILE, &mut text)?;
    serde_json::from_slice(&text).map_err(|source| BundleError::Manifest { path, source })
}

/// Reads the manifest of the bundle at `path`, a directory or a packed bundle.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is larger than [`MAX_MANIFEST_BYTES`] or is not a manifest.
pub fn read_manifest(path: &Path) -> Result<Manifest, BundleError> {
    if is_packed(path) {
        return read_packed_manifest(&open_packed(path)?);
    }
    let path = path.join(MANIFEST_FILE);
    let metadata = std::fs::metadata(&path).map_err(|source| BundleError::io(&path, source))?;
    if !metadata.is_file() {
        // Opening a named pipe would block until a writer opens it.
        return Err(BundleError::io(&path, io::Error::new(io::ErrorKind::InvalidInput, "not a plain file")));
    }
    if metadata.len() > MAX_MANIFEST_BYTES {
        return Err(BundleError::LargeManifest { path, bytes: metadata.len() });
    }
    let text = std::fs::read(&path).map_err(|source| BundleError::io(&path, source))?;
    serde_json::from_slice(&text).map_err(|source| BundleError::Manifest { path, source })
}

/// Opens the log of a bundle directory. It is mapped unless a recorder is at work.
fn open_log(bundle: &Path, log_path: &Path) -> io::Result<EventLog> {
    let is_at_work = || is_being_recorded(bundle).unwrap_or(true);
    if !is_at_work() {
        // SAFETY: nothing reads the mapping before it is known that no recorder could shorten the log meanwhile. A recorder
        // that takes up the bundle later only appends: a log with an incomplete last line is replaced by a copy without it,
        // as a repair does, and lines that cannot be written are cut off behind the mapped bytes.
        let log = unsafe { EventLog::map(log_path) }?;
        if !is_at_work() && std::fs::metadata(log_path)?.len() >= log.as_bytes().len() as u64 {
            return Ok(log);
        }
    }
    EventLog::read(log_path)
}

/// Returns whether `path` looks like a bundle: a directory with a manifest or an event log, or a packed bundle.
pub fn is_bundle(path: &Path) -> bool {
    is_bundle_directory(path) || is_packed(path)
}

/// Returns whether `path` looks like a bundle directory: one with a manifest or an event log.
pub fn is_bundle_directory(path: &Path) -> bool {
    path.join(MANIFEST_FILE).is_file() || path.join(EVENT_LOG_FILE).is_file()
}

/// Returns whether this program gives such a name to a bundle that is partly written or partly deleted. A process that
/// was killed may have left it behind. The name is hidden and of one of three forms: a deletion (see `retention`), a
/// redaction (`.NAME.redacting-PID`), or another bundle that is renamed when it is complete (`.NAME.RANDOM.tmp`).
fn is_unfinished(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let is_redacted = || {
        let pid = name.rsplit(|byte| *byte == b'-').next().unwrap_or_default();
        let before = &name[..name.len() - pid.len()];
        !pid.is_empty() && pid.iter().all(u8::is_ascii_digit) && before.ends_with(b".redacting-")
    };
    let is_temporary = || name.len() > b".tmp".len() && name.ends_with(b".tmp");
    name.starts_with(b".") && (name.starts_with(PRUNED_PREFIX.as_bytes()) || is_temporary() || is_redacted())
}

/// Finds the bundles at or below `root`, in the order of their paths: directories, and packed bundles whose names end in
/// `.trace`. The search skips partly written and partly deleted bundles, does not look inside bundles for more bundles,
/// and does not follow symlinks.
///
/// # Errors
///
/// Returns an error if `root` cannot be listed. Directories below it that cannot be listed are skipped.
pub fn find_bundles(root: &Path) -> Result<Vec<PathBuf>, BundleError> {
    if is_bundle(root) {
        return Ok(vec![root.to_owned()]);
    }
    let mut found = Vec::new();
    let mut pending = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(source) if depth == 0 => return Err(BundleError::io(&directory, source)),
            Err(error) => {
                tracing::warn!(path = %directory.display(), %error, "directory cannot be listed");
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if is_unfinished(&entry.file_name()) {
                continue;
            }
            if kind.is_file() && path.extension().is_some_and(|extension| extension == PACKED_EXTENSION) {
                if is_packed(&path) {
                    found.push(path);
                }
                continue;
            }
            if !kind.is_dir() {
                continue;
            }
            if is_bundle_directory(&path) {
                found.push(path);
            } else if depth + 1 < MAX_SEARCH_DEPTH {
                pending.push((path, depth + 1));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Why a bundle, or a part of it, cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The directory holds neither a manifest nor an event log.
    #[error("{} is not a bundle: it has neither {MANIFEST_FILE} nor {EVENT_LOG_FILE}", path.display())]
    NotABundle {
        /// The directory.
        path: PathBuf,
    },
    /// The path names something that is neither a directory nor a packed bundle.
    #[error("{} is neither a directory nor a packed bundle", path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// A packed bundle, or a part of it, is damaged or cannot be read.
    #[error(transparent)]
    Packed(#[from] PackedError),
    /// The manifest file is not valid.
    #[error("{} is not a manifest", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The manifest is larger than [`MAX_MANIFEST_BYTES`].
    #[error("{} has {bytes} bytes, more than the {MAX_MANIFEST_BYTES} that a manifest may have", path.display())]
    LargeManifest {
        /// The manifest.
        path: PathBuf,
        /// Size of the manifest.
        bytes: u64,
    },
}

impl BundleError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Returns whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::Packed(error) => error.is_missing(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_found_at_any_depth_and_in_order() {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["b", "a/deep/er", "c/no-bundle", ".pruned-d"] {
            std::fs::create_dir_all(root.path().join(name)).expect("a directory");
        }
        std::fs::write(root.path().join("b/manifest.json"), "{}").expect("writes");
        std::fs::write(root.path().join("a/deep/er/trace.jsonl"), "").expect("writes");
        std::fs::write(root.path().join(".pruned-d/trace.jsonl"), "").expect("writes");
        let found = find_bundles(root.path()).expect("lists");
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).expect("below")).collect();
        assert_eq!(found, [Path::new("a/deep/er"), Path::new("b")]);
        assert_eq!(find_bundles(&root.path().join("b")).expect("is one").len(), 1);
    }

    #[test]
    fn what_is_half_made_or_half_deleted_is_no_bundle() {
        let root = tempfile::tempdir().expect("a directory");
        for name in [
            ".pruned-a",
            ".a.x1Y2z3.tmp",
            ".a.redacting-12",
            ".hidden",
            ".tmp",
            "a.tmp",
            ".a.redacting-",
            "redacting-1",
        ] {
            std::fs::create_dir(root.path().join(name)).expect("a directory");
            std::fs::write(root.path().join(name).join(MANIFEST_FILE), "{}").expect("writes");
        }
        // Packed bundles are written and deleted under hidden names, too.
        for name in [".pruned-b.trace", ".b.trace.x1Y2z3.tmp", ".b.trace", "b.trace"] {
            std::fs::write(root.path().join(name), b"\x89TRACE\r\n").expect("writes");
        }
        let found = find_bundles(root.path()).expect("lists");
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).expect("below")).collect();
        let expected = [".a.redacting-", ".b.trace", ".hidden", ".tmp", "a.tmp", "b.trace", "redacting-1"];
        assert_eq!(found, expected.map(Path::new));
    }

    #[test]
    fn a_directory_without_any_bundle_file_is_refused() {
        let root = tempfile::tempdir().expect("a directory");
        assert!(matches!(Bundle::open(root.path()), Err(BundleError::NotABundle { .. })));
        assert!(Bundle::open(&root.path().join("none")).is_err_and(|error| error.is_missing()));
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_in_place_of_a_file_does_not_hold_the_reader() {
        let root = tempfile::tempdir().expect("a directory");
        for name in [MANIFEST_FILE, EVENT_LOG_FILE] {
            let made = std::process::Command::new("mkfifo").arg(root.path().join(name)).status().expect("mkfifo runs");
            assert!(made.success());
        }
        let bundle = Bundle::open(root.path()).expect("opens");
        assert!(bundle.manifest().is_err() && bundle.log().is_err());
        let file = root.path().join("file");
        std::fs::write(&file, "").expect("writes");
        assert!(matches!(Bundle::open(&file), Err(BundleError::NotADirectory { .. })));
    }

    #[test]
    fn a_manifest_over_the_limit_is_not_read() {
        let root = tempfile::tempdir().expect("a directory");
        let manifest = std::fs::File::create(root.path().join(MANIFEST_FILE)).expect("creates");
        manifest.set_len(MAX_MANIFEST_BYTES + 1).expect("a sparse file");
        assert!(matches!(read_manifest(root.path()), Err(BundleError::LargeManifest { .. })));
    }
}
