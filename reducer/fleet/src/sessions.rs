//! The sessions of sources: finding them, telling whether they changed, and reading their rows.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;
use trace_explain::Session;
use trace_import::{Catalog, ImportError, SessionRef};
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE};
use trace_recorder::pack::{PACKED_EXTENSION, PackedBundle, PackedError, ReadAt};
use trace_recorder::{Bundle, BundleError};
use trace_reducer::{Options, ReduceError, reduce};

use crate::causes::with_causes;
use crate::remote::RemoteFile;
use crate::store::{Listed, Store, StoreError};
use crate::tables::{Origin, SessionRows, Source, Unreadable};

pub use crate::tables::Given;

/// Separates the id of a session from the store that it is in, as in all commands of `trace`.
pub const OF_STORE: char = '#';

/// Largest packed session that is fetched from object storage, in bytes. A larger one counts as unreadable.
pub const MAX_FETCHED_BYTES: u64 = 8 << 30;

/// Most files that are opened to find the session of an address.
const MAX_FILES_OF_SESSION: usize = 64;

/// Deepest folder of children beside the file of a session that counts for its fingerprint.
const MAX_CHILD_DEPTH: usize = 3;

/// Where a session lies.
#[derive(Debug, Clone)]
pub enum Place {
    /// A bundle, as a directory or packed.
    Bundle(PathBuf),
    /// The session of another agent.
    Imported(SessionRef),
    /// A packed bundle in object storage.
    Remote {
        /// The store.
        store: Arc<Store>,
        /// Path in the store.
        path: String,
    },
}

/// A session that a source has.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its address.
    pub address: String,
    /// Where it lies.
    pub place: Place,
    /// What the listing tells of it.
    pub origin: Origin,
}

/// Why a source cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder cannot be listed.
    #[error(transparent)]
    Bundles(#[from] BundleError),
    /// There is nothing at this path.
    #[error("there is no session at or below {path}")]
    Nothing {
        /// The path.
        path: String,
    },
}

/// Why a session could not be read and has no rows yet. The next ingest reads it again.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// It vanished after it was listed.
    #[error("it vanished after it was listed")]
    Vanished,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no place for a copy of it.
    #[error("a copy of it cannot be kept in a temporary file")]
    Temporary(#[source] io::Error),
}

fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// Returns what a file's size and time say, to the nanosecond where the system has it.
fn stamp(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", metadata.len(), modified.map_or(0, |time| time.as_nanos()))
}

/// Finds the sessions of a source: a bundle, a session of another agent, a folder with such below it, or the URL of a folder
/// of object storage with packed bundles. Of a folder that has bundles, these are the sessions.
///
/// # Errors
///
/// Returns an error if the source cannot be listed, or a path has nothing.
pub fn find(source: &str, options: &[(String, String)], runtime: &Handle) -> Result<Vec<Candidate>, SourceError> {
    let url = crate::store::url_of(source)?;
    match url.to_file_path() {
        Ok(path) if url.scheme() == "file" => find_local(&path),
        _ => {
            let store = Arc::new(Store::open(source, options)?);
            let listed = runtime.block_on(store.list("", None))?;
            Ok(find_remote(&store, listed))
        }
    }
}

/// Returns the packed bundles of a listing.
pub fn find_remote(store: &Arc<Store>, listed: Vec<Listed>) -> Vec<Candidate> {
    let suffix = format!(".{PACKED_EXTENSION}");
    let is_session = |it: &Listed| it.path.ends_with(&suffix);
    let candidate = |it: Listed| Candidate {
        address: store.address(&it.path),
        origin: Origin {
            fingerprint: it.e_tag.unwrap_or_else(|| format!("{}-{}", it.bytes, it.modified_unix_ms)),
            bytes: Some(it.bytes),
            modified_unix_ms: Some(it.modified_unix_ms),
            cwd: None,
        },
        place: Place::Remote { store: Arc::clone(store), path: it.path },
    };
    listed.into_iter().filter(is_session).map(candidate).collect()
}

fn find_local(path: &Path) -> Result<Vec<Candidate>, SourceError> {
    let nothing = || SourceError::Nothing { path: path.display().to_string() };
    if is_bundle(path) {
        return Ok(bundle_candidate(path.to_owned()).into_iter().collect());
    }
    if !path.exists() {
        return Err(nothing());
    }
    if path.is_dir() {
        let bundles = find_bundles(path)?;
        if !bundles.is_empty() {
            return Ok(bundles.into_iter().filter_map(bundle_candidate).collect());
        }
    }
    let sessions = Catalog::default().find(path);
    if sessions.is_empty() && path.is_file() {
        return Err(nothing());
    }
    Ok(sessions.into_iter().filter_map(imported_candidate).collect())
}

/// Returns the candidate of a bundle, or `None` if it vanished.
fn bundle_candidate(path: PathBuf) -> Option<Candidate> {
    let own = fs::metadata(&path).ok()?;
    let (fingerprint, modified, bytes) = if own.is_dir() {
        // Payloads are written before the lines that name them, so the log changes whenever a session goes on.
        let parts = [EVENT_LOG_FILE, MANIFEST_FILE].map(|name| fs::metadata(path.join(name)).ok());
        let stamps = parts.iter().map(|part| part.as_ref().map_or_else(String::new, stamp));
        let log = parts[0].as_ref();
        let modified = log.or(parts[1].as_ref()).and_then(|it| it.modified().ok());
        (stamps.collect::<Vec<_>>().join(" "), modified, log.map(Metadata::len))
    } else {
        (stamp(&own), own.modified().ok(), Some(own.len()))
    };
    let origin = Origin { fingerprint, bytes, modified_unix_ms: modified.and_then(unix_ms), cwd: None };
    Some(Candidate { address: path.to_string_lossy().into_owned(), place: Place::Bundle(path), origin })
}

/// Returns the candidate of the session of another agent, or `None` if it vanished.
fn imported_candidate(session: SessionRef) -> Option<Candidate> {
    let own = fs::metadata(&session.path).ok()?;
    let mut stamps = vec![stamp(&own)];
    let mut modified = own.modified().ok();
    let companions = trace_import::format(session.format).map(|it| it.companions(&session.path)).unwrap_or_default();
    let mut log = session.path.clone().into_os_string();
    log.push("-wal");
    for beside in companions.into_iter().chain([PathBuf::from(log)]) {
        stamps.extend(fs::metadata(&beside).ok().map(|it| stamp(&it)));
    }
    // Agents keep the files of children in a folder with the name of the session.
    let folder = if own.is_dir() { session.path.clone() } else { session.path.with_extension("") };
    if folder.is_dir() {
        children(&folder, 0, &mut |it| {
            stamps.push(stamp(it));
            modified = modified.max(it.modified().ok());
        });
    }
    stamps[1..].sort_unstable();
    let address = match &session.id {
        None => session.path.to_string_lossy().into_owned(),
        Some(id) => format!("{}{OF_STORE}{id}", session.path.display()),
    };
    let origin = Origin {
        fingerprint: stamps.join(" "),
        bytes: own.is_file().then_some(own.len()),
        modified_unix_ms: modified.and_then(unix_ms),
        cwd: None,
    };
    Some(Candidate { address, place: Place::Imported(session), origin })
}

fn children(folder: &Path, depth: usize, take: &mut dyn FnMut(&Metadata)) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() {
            take(&metadata);
        } else if metadata.is_dir() && depth < MAX_CHILD_DEPTH {
            children(&entry.path(), depth + 1, take);
        }
    }
}

/// Drops candidates that two sources have.
pub fn unique(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.address.clone()));
    candidates
}

/// Opens and reduces the session of an address, for a reader. What lies in object storage is read by ranges. The error is a text
/// for people.
///
/// # Errors
///
/// Returns an error if there is no session any more, it cannot be fetched, or cannot be read.
pub fn open_address(address: &str, options: &[(String, String)], runtime: &Handle) -> Result<Session, String> {
    if is_remote(address) {
        let file = RemoteFile::at(address, options, runtime.clone());
        let file = runtime.block_on(file).map_err(|error| with_causes(&error))?;
        let file: Arc<dyn ReadAt> = Arc::new(file);
        return open_remote(&file, Path::new(address));
    }
    let place = local_place(address).ok_or_else(|| {
        format!("there is no session at {address}; it was moved or deleted, or lies on another machine")
    })?;
    let origin = Origin { fingerprint: String::new(), bytes: None, modified_unix_ms: None, cwd: None };
    let candidate = Candidate { address: address.to_owned(), place, origin };
    match open(&candidate, runtime) {
        Ok(Ok((session, _))) => Ok(session),
        Ok(Err(why)) => Err(why.message),
        Err(error) => Err(with_causes(&error)),
    }
}

/// Opens and reduces a packed session that is read at positions. The error is a text for people.
///
/// # Errors
///
/// Returns an error if it is no packed bundle, is refused, or a read failed.
pub fn open_remote(file: &Arc<dyn ReadAt>, address: &Path) -> Result<Session, String> {
    let packed = match PackedBundle::from_positioned(Arc::clone(file), address) {
        Err(PackedError::NeedsFile { .. }) => {
            let copied = tempfile::tempfile().and_then(|mut copy| file.copy_to(&mut copy).map(|()| copy));
            let copy = copied.map_err(|error| format!("a copy of {} cannot be made: {error}", address.display()))?;
            PackedBundle::from_file(copy, address)
        }
        packed => packed,
    };
    let bundle =
        packed.map_err(BundleError::from).and_then(Bundle::from_packed).map_err(|error| with_causes(&error))?;
    let reduction = reduce(&bundle, Options::default()).map_err(|error| error.to_string())?;
    // A store that failed would look like damage.
    match bundle.packed().and_then(PackedBundle::failure) {
        Some(error) => Err(format!("{} cannot be read: {error}", address.display())),
        None => Ok(Session::new(bundle, reduction)),
    }
}

/// Returns whether an address is that of an object of a store, not of a file of this machine.
pub fn is_remote(address: &str) -> bool {
    address.contains("://") && !address.starts_with("file://")
}

/// Returns the path that a local address names: a path, or a URL of a file.
pub fn local_path(address: &str) -> PathBuf {
    let url = crate::store::url_of(address).ok();
    let path = url.filter(|_| address.starts_with("file://")).and_then(|url| url.to_file_path().ok());
    path.unwrap_or_else(|| PathBuf::from(address))
}

/// Returns where the session of a local address is. Folders are not searched: an address is that of one session.
fn local_place(address: &str) -> Option<Place> {
    let path = local_path(address);
    if is_bundle(&path) {
        return Some(Place::Bundle(path));
    }
    let (path, id) = match path.exists() {
        true => (path, None),
        false => {
            let (store, id) = address.rsplit_once(OF_STORE)?;
            (PathBuf::from(store), Some(id.to_owned()))
        }
    };
    // The session of some agents is a folder, of which the files are few.
    let mut sessions = Catalog::default().find_quickly(&path, MAX_FILES_OF_SESSION);
    sessions.retain(|session| session.path == path && (id.is_none() || session.id == id));
    let session = sessions.pop()?;
    sessions.is_empty().then_some(Place::Imported(session))
}

/// Reads the rows of a session. A session that cannot be read has rows, too: they say why.
///
/// # Errors
///
/// Returns an error if the session vanished or the store failed. Such a session is tried again by the next ingest.
pub fn rows(candidate: &Candidate, given: &Given, runtime: &Handle) -> Result<SessionRows, FetchError> {
    let opened = catch_unwind(AssertUnwindSafe(|| open(candidate, runtime)));
    let opened = match opened {
        Ok(opened) => opened?,
        Err(panic) => Err(panicked(panic.as_ref())),
    };
    let rows = opened.and_then(|(session, origin)| {
        let read = || SessionRows::new(&Source::new(&candidate.address, given, origin, &session));
        catch_unwind(AssertUnwindSafe(read)).map_err(|panic| panicked(panic.as_ref()))
    });
    Ok(rows.unwrap_or_else(|why| unreadable(candidate, given, why)))
}

fn unreadable(candidate: &Candidate, given: &Given, why: Unreadable) -> SessionRows {
    tracing::warn!(address = candidate.address, code = why.code, message = why.message, "a session cannot be read");
    let origin = candidate.origin.clone();
    SessionRows::new(&Source::unreadable(&candidate.address, given, origin, why))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Unreadable {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Unreadable { code: "session_panicked", message: format!("a bug of the program: {text}") }
}

/// Opens and reduces a session. The inner error is a defect of the session.
fn open(candidate: &Candidate, runtime: &Handle) -> Result<Result<(Session, Origin), Unreadable>, FetchError> {
    let mut origin = candidate.origin.clone();
    let bundle = match &candidate.place {
        Place::Bundle(path) => Bundle::open(path).map_err(|error| bundle_problem(&error)),
        Place::Imported(session) => {
            if let Ok(summary) = trace_import::summarize(session) {
                origin.cwd = summary.cwd;
            }
            trace_import::open(session).map_err(|error| import_problem(&error))
        }
        Place::Remote { store, path } => {
            if origin.bytes.is_some_and(|bytes| bytes > MAX_FETCHED_BYTES) {
                let message = format!("it is larger than {MAX_FETCHED_BYTES} bytes");
                return Ok(Err(Unreadable { code: "session_unreadable", message }));
            }
            let mut file = tempfile::NamedTempFile::new().map_err(FetchError::Temporary)?;
            match runtime.block_on(store.download(path, file.as_file_mut())) {
                Ok(()) => {}
                Err(error) if error.is_missing() => return Err(FetchError::Vanished),
                Err(error) => return Err(error.into()),
            }
            // An open bundle keeps its file, also when the name of it is gone after this.
            let copy = file.path().to_string_lossy().into_owned();
            Bundle::open(file.path()).map_err(|error| bundle_problem(&error)).map_err(|problem| match problem {
                Problem::Defect(message) => Problem::Defect(message.replace(&copy, &candidate.address)),
                Problem::Vanished => Problem::Vanished,
            })
        }
    };
    let bundle = match bundle {
        Ok(bundle) => bundle,
        Err(Problem::Vanished) => return Err(FetchError::Vanished),
        Err(Problem::Defect(message)) => return Ok(Err(Unreadable { code: "session_unreadable", message })),
    };
    let reduction = match reduce(&bundle, Options::default()) {
        Ok(reduction) => reduction,
        Err(ReduceError::Refused(refused)) => {
            return Ok(Err(Unreadable { code: "session_refused", message: refused.to_string() }));
        }
    };
    Ok(Ok((Session::new(bundle, reduction), origin)))
}

enum Problem {
    Vanished,
    Defect(String),
}

fn bundle_problem(error: &BundleError) -> Problem {
    match error {
        BundleError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Problem::Vanished,
        error => Problem::Defect(with_causes(error)),
    }
}

fn import_problem(error: &ImportError) -> Problem {
    match error {
        ImportError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Problem::Vanished,
        error => Problem::Defect(with_causes(error)),
    }
}
