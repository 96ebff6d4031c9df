//! Files of the machine, for clients.
//!
//! Paths are absolute; decoding sees to that. Errors of the system name the path. Only regular files are read and
//! written: a pipe would keep a thread of the server waiting for ever. A file system that hangs keeps it all the same, so
//! whoever asks is answered after a while, and each connection has its share of such threads.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::sync::Semaphore;
use trace_protocol::common::AbsolutePath;
use trace_protocol::error::INVALID_PARAMS;
use trace_protocol::fs::{
    FsCopyParams, FsCopyResponse, FsCreateDirectoryParams, FsCreateDirectoryResponse, FsGetMetadataParams,
    FsGetMetadataResponse, FsReadDirectoryEntry, FsReadDirectoryParams, FsReadDirectoryResponse, FsReadFileParams,
    FsReadFileResponse, FsRemoveParams, FsRemoveResponse, FsWriteFileParams, FsWriteFileResponse,
};
use trace_protocol::{Access, RpcError};

use super::file_operations::{FILE_TIMEOUT, Places, TREE_TIMEOUT};
use super::notify::Notifier;
use crate::connection::ConnectionId;
use crate::fifo::{Guard, Lines};

/// The largest file that is read for a client. In base64 it still fits into a message that clients take.
pub const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
/// The most entries of a folder that are listed for a client.
pub const MAX_DIRECTORY_ENTRIES: usize = 100_000;

/// Bytes from which on a file is large: of one connection, such files are read one after the other, each when the answers
/// before it have mostly been written. As many smaller ones as a connection may ask for at a time fit into its queue.
pub const LARGE_FILE_BYTES: u64 = 256 * 1024;
/// The most large files that are held in memory while they are made into answers; others wait.
pub const LARGE_FILES_AT_ONCE: usize = 4;

/// Reads and changes files.
#[derive(Debug)]
pub struct FsService {
    /// Lines of those who read large files.
    large: Lines<ConnectionId>,
    large_places: Semaphore,
    places: Places,
}

/// The turn of a connection that reads a large file. The next one comes when it is dropped.
pub(super) type ReadTurn = Option<Guard<ConnectionId>>;

impl Default for FsService {
    fn default() -> Self {
        Self { large: Lines::new(), large_places: Semaphore::new(LARGE_FILES_AT_ONCE), places: Places::default() }
    }
}

impl FsService {
    /// Returns what is in a file, and the right to put it into the queue of the client, if it is large.
    pub(super) async fn read_file_in_turn(
        &self,
        connection: ConnectionId,
        params: FsReadFileParams,
        notifier: &Notifier,
    ) -> (ReadTurn, Result<FsReadFileResponse, RpcError>) {
        let path = params.path.clone();
        let is_large = self
            .blocking(connection, path, FILE_TIMEOUT, |path| {
                Ok(fs::metadata(path).is_ok_and(|metadata| metadata.len() >= LARGE_FILE_BYTES))
            })
            .await;
        match is_large {
            Ok(true) => {}
            Ok(false) => return (None, self.read_file(connection, params).await),
            Err(error) => return (None, Err(error)),
        }
        let turn = self.large.enter(connection, Access::Exclusive).await;
        notifier.ready().await;
        let _place = self.large_places.acquire().await;
        (Some(turn), self.read_file(connection, params).await)
    }

    /// Returns what is in a file.
    ///
    /// # Errors
    ///
    /// It is no file, is too large, or cannot be read.
    pub async fn read_file(
        &self,
        connection: ConnectionId,
        params: FsReadFileParams,
    ) -> Result<FsReadFileResponse, RpcError> {
        self.blocking(connection, params.path, FILE_TIMEOUT, |path| {
            let file = open_regular(path, File::options().read(true), "read")?;
            let mut bytes = Vec::new();
            file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed("read", path, &error))?;
            if bytes.len() as u64 > MAX_READ_BYTES {
                return Err(RpcError::invalid_request(format_args!(
                    "{} has more than {MAX_READ_BYTES} bytes",
                    path.display()
                )));
            }
            Ok(FsReadFileResponse { data_base64: STANDARD.encode(bytes) })
        })
        .await
    }

    /// Makes a file of some bytes, in place of the one that is there.
    ///
    /// # Errors
    ///
    /// The bytes are no base64, or the file cannot be written.
    pub async fn write_file(
        &self,
        connection: ConnectionId,
        params: FsWriteFileParams,
    ) -> Result<FsWriteFileResponse, RpcError> {
        let FsWriteFileParams { data_base64, path } = params;
        self.blocking(connection, path, FILE_TIMEOUT, move |path| {
            let bytes = decoded("dataBase64", &data_base64)?;
            let mut file = open_regular(path, File::options().write(true).create(true), "write")?;
            file.set_len(0).and_then(|()| file.write_all(&bytes)).map_err(|error| failed("write", path, &error))?;
            Ok(FsWriteFileResponse {})
        })
        .await
    }

    /// Makes a folder, and unless it is told otherwise those around it.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub async fn create_directory(
        &self,
        connection: ConnectionId,
        params: FsCreateDirectoryParams,
    ) -> Result<FsCreateDirectoryResponse, RpcError> {
        let recursive = params.recursive.unwrap_or(true);
        self.blocking(connection, params.path, FILE_TIMEOUT, move |path| {
            let made = if recursive { fs::create_dir_all(path) } else { fs::create_dir(path) };
            made.map_err(|error| failed("create", path, &error))?;
            Ok(FsCreateDirectoryResponse {})
        })
        .await
    }

    /// Returns what a path leads to. Links are followed.
    ///
    /// # Errors
    ///
    /// It leads nowhere.
    pub async fn get_metadata(
        &self,
        connection: ConnectionId,
        params: FsGetMetadataParams,
    ) -> Result<FsGetMetadataResponse, RpcError> {
        self.blocking(connection, params.path, FILE_TIMEOUT, |path| {
            let itself = fs::symlink_metadata(path).map_err(|error| failed("look at", path, &error))?;
            let target = fs::metadata(path).map_err(|error| failed("look at", path, &error))?;
            Ok(FsGetMetadataResponse {
                created_at_ms: milliseconds(target.created()),
                is_directory: target.is_dir(),
                is_file: target.is_file(),
                is_symlink: itself.is_symlink(),
                modified_at_ms: milliseconds(target.modified()),
            })
        })
        .await
    }

    /// Returns what is in a folder, by name.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has too much in it.
    pub async fn read_directory(
        &self,
        connection: ConnectionId,
        params: FsReadDirectoryParams,
    ) -> Result<FsReadDirectoryResponse, RpcError> {
        self.blocking(connection, params.path, FILE_TIMEOUT, |path| {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path).map_err(|error| failed("list", path, &error))? {
                let entry = entry.map_err(|error| failed("list", path, &error))?;
                if entries.len() == MAX_DIRECTORY_ENTRIES {
                    return Err(RpcError::invalid_request(format_args!(
                        "{} has more than {MAX_DIRECTORY_ENTRIES} entries",
                        path.display()
                    )));
                }
                // What a link leads to counts; one that leads nowhere is neither file nor folder.
                let kind = match entry.file_type() {
                    Ok(kind) if !kind.is_symlink() => Some(kind),
                    _ => fs::metadata(entry.path()).ok().map(|metadata| metadata.file_type()),
                };
                entries.push(FsReadDirectoryEntry {
                    file_name: entry.file_name().to_string_lossy().into_owned(),
                    is_directory: kind.is_some_and(|kind| kind.is_dir()),
                    is_file: kind.is_some_and(|kind| kind.is_file()),
                });
            }
            entries.sort_by(|one, other| one.file_name.cmp(&other.file_name));
            Ok(FsReadDirectoryResponse { entries })
        })
        .await
    }

    /// Takes away a file, or a folder with all that is in it. Links are taken away themselves.
    ///
    /// # Errors
    ///
    /// It cannot be taken away, or is not there and `force` is false.
    pub async fn remove(&self, connection: ConnectionId, params: FsRemoveParams) -> Result<FsRemoveResponse, RpcError> {
        let (recursive, force) = (params.recursive.unwrap_or(true), params.force.unwrap_or(true));
        self.blocking(connection, params.path, TREE_TIMEOUT, move |path| {
            if path.parent().is_none() {
                return Err(RpcError::invalid_request("the root of the file system cannot be removed"));
            }
            let removed = fs::symlink_metadata(path).and_then(|metadata| match (metadata.is_dir(), recursive) {
                (true, true) => fs::remove_dir_all(path),
                (true, false) => fs::remove_dir(path),
                (false, _) => fs::remove_file(path),
            });
            match removed {
                Err(error) if force && error.kind() == ErrorKind::NotFound => {}
                removed => removed.map_err(|error| failed("remove", path, &error))?,
            }
            Ok(FsRemoveResponse {})
        })
        .await
    }

    /// Copies a file, a link, or a folder with all that is in it. A folder joins the one that is there.
    ///
    /// # Errors
    ///
    /// Something cannot be copied. What was copied before it stays.
    pub async fn copy(&self, connection: ConnectionId, params: FsCopyParams) -> Result<FsCopyResponse, RpcError> {
        let FsCopyParams { destination_path, source_path, recursive } = params;
        self.blocking(connection, source_path, TREE_TIMEOUT, move |source| {
            let destination = destination_path.as_path();
            let metadata = fs::symlink_metadata(source).map_err(|error| failed("copy", source, &error))?;
            if metadata.is_dir() && !recursive {
                return Err(RpcError::invalid_request(format_args!(
                    "{} is a folder, which is copied only with `recursive`",
                    source.display()
                )));
            }
            // A file that is copied onto itself would be emptied, a folder copied into itself would never end.
            if let (Some(from), Some(to)) = (real(source, &metadata.file_type()), nearest_real(destination))
                && (to == from || (metadata.is_dir() && to.starts_with(&from)))
            {
                return Err(RpcError::invalid_request(format_args!(
                    "{} cannot be copied into itself",
                    source.display()
                )));
            }
            copy_tree(source, destination)?;
            Ok(FsCopyResponse {})
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        connection: ConnectionId,
        path: AbsolutePath,
        time_limit: Duration,
        work: impl FnOnce(&Path) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let worked_on = path.clone();
        self.places.run(connection, path.as_path(), time_limit, move || work(worked_on.as_path())).await
    }
}

/// Copies something with all that is in it.
fn copy_tree(source: &Path, destination: &Path) -> Result<(), RpcError> {
    let mut rest = vec![(source.to_owned(), destination.to_owned())];
    while let Some((source, destination)) = rest.pop() {
        let fails = |error: io::Error| failed("copy", &source, &error);
        let kind = fs::symlink_metadata(&source).map_err(fails)?.file_type();
        if kind.is_dir() {
            if !destination.is_dir() {
                fs::create_dir(&destination).map_err(|error| failed("create", &destination, &error))?;
            }
            for entry in fs::read_dir(&source).map_err(fails)? {
                let entry = entry.map_err(fails)?;
                rest.push((entry.path(), destination.join(entry.file_name())));
            }
        } else if kind.is_symlink() {
            let target = fs::read_link(&source).map_err(fails)?;
            if fs::symlink_metadata(&destination).is_ok_and(|there| !there.is_dir()) {
                fs::remove_file(&destination).map_err(|error| failed("replace", &destination, &error))?;
            }
            std::os::unix::fs::symlink(target, &destination).map_err(|error| failed("create", &destination, &error))?;
        } else if kind.is_file() {
            check_copy(&source, &destination)?;
            copy_file(&source, &destination)?.map_err(|error| {
                // The error may be the fault of either end.
                RpcError::internal(format_args!(
                    "cannot copy {} to {}: {error}",
                    source.display(),
                    destination.display()
                ))
            })?;
        } else {
            return Err(RpcError::invalid_request(format_args!(
                "{} is neither file, folder nor link and cannot be copied",
                source.display()
            )));
        }
    }
    Ok(())
}

/// Copies the content and the permissions of a file. Whatever was put in the place of either since it was looked at is not
/// waited for.
fn copy_file(source: &Path, destination: &Path) -> Result<io::Result<()>, RpcError> {
    let mut from = open_regular(source, File::options().read(true), "copy")?;
    let mut to = open_regular(destination, File::options().write(true).create(true), "write")?;
    Ok(from.metadata().and_then(|metadata| {
        to.set_len(0)?;
        io::copy(&mut from, &mut to)?;
        to.set_permissions(metadata.permissions())
    }))
}

/// Refuses to copy a file over itself, which would empty it, also where a link leads back to it; and over a pipe, which
/// would keep a thread of the server waiting for ever.
fn check_copy(source: &Path, destination: &Path) -> Result<(), RpcError> {
    let Ok(there) = fs::metadata(destination) else { return Ok(()) };
    if !there.is_file() && !there.is_dir() {
        return Err(not_a_file(destination));
    }
    let itself = fs::metadata(source).map_err(|error| failed("copy", source, &error))?;
    if (itself.dev(), itself.ino()) == (there.dev(), there.ino()) {
        return Err(RpcError::invalid_request(format_args!("{} cannot be copied into itself", source.display())));
    }
    Ok(())
}

/// Returns where a path leads when all links are followed, but the last one of a link itself.
fn real(path: &Path, kind: &FileType) -> Option<PathBuf> {
    if !kind.is_symlink() {
        return path.canonicalize().ok();
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Returns where a path that may not exist would be.
fn nearest_real(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|ancestor| ancestor.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    Some(existing.canonicalize().ok()?.join(rest))
}

/// Returns the bytes of a field.
pub(super) fn decoded(field: &str, text: &str) -> Result<Vec<u8>, RpcError> {
    STANDARD
        .decode(text)
        .map_err(|error| RpcError::new(INVALID_PARAMS, format_args!("`{field}` is no base64: {error}")))
}

/// Opens a file, and refuses what is none. Nothing is waited for: a pipe would wait for its other end, and some files of the
/// kernel for something to tell.
fn open_regular(path: &Path, options: &mut OpenOptions, what: &str) -> Result<File, RpcError> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("flags of the system fit");
    let file = match options.custom_flags(flags).open(path) {
        Ok(file) => file,
        // A pipe that nobody reads, or a socket.
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => return Err(not_a_file(path)),
        Err(error) => return Err(failed(what, path, &error)),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(not_a_file(path)),
        Err(error) => Err(failed(what, path, &error)),
    }
}

fn not_a_file(path: &Path) -> RpcError {
    RpcError::invalid_request(format_args!("{} is not a file", path.display()))
}

/// Returns the error for what the system refused.
pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> RpcError {
    RpcError::internal(format_args!("cannot {what} {}: {error}", path.display()))
}

/// Returns a time in milliseconds since 1970; 0 where the file system does not know it.
fn milliseconds(time: io::Result<SystemTime>) -> i64 {
    let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0)
}
