//! Serves file operations of clients.
//!
//! Paths are absolute, which decoding of the params ensures. Errors name the path. Only regular files are read and
//! written, because opening a pipe could block a thread of the server forever. A file system that hangs blocks a thread
//! too, so each operation has a time limit and the threads of a connection are limited.

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

use super::file_operations::{FILE_TIMEOUT, Slots, TREE_TIMEOUT};
use super::notify::Notifier;
use crate::connection::ConnectionId;
use crate::fifo::{Guard, Queues};

/// Most bytes of a file that is read for a client. In base64, such a file still fits into a message that clients
/// accept.
pub const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
/// Most entries of a folder that is listed for a client.
pub const MAX_DIRECTORY_ENTRIES: usize = 100_000;

/// Size in bytes from which on a file is large. The large files of a connection are read one after the other, each one
/// after most of the response before it was written. Smaller files need no such limit: the responses to all requests
/// that a connection may have running at the same time fit into its queue.
pub const LARGE_FILE_BYTES: u64 = 256 * 1024;
/// Most large files of all connections that are in memory at the same time while they are encoded.
pub const LARGE_FILES_AT_ONCE: usize = 4;

/// Serves `fs/*`, except watches.
#[derive(Debug)]
pub struct FsService {
    /// The order in which the requests of each connection read large files.
    large: Queues<ConnectionId>,
    large_slots: Semaphore,
    slots: Slots,
}

/// The turn of a request to read a large file. Dropping it starts the turn of the next request.
pub(super) type ReadTurn = Option<Guard<ConnectionId>>;

impl Default for FsService {
    fn default() -> Self {
        Self { large: Queues::new(), large_slots: Semaphore::new(LARGE_FILES_AT_ONCE), slots: Slots::default() }
    }
}

impl FsService {
    /// Reads a file. If it is large, the result contains a guard, which the caller holds until the response is in the
    /// client's queue.
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
        let _slot = self.large_slots.acquire().await;
        (Some(turn), self.read_file(connection, params).await)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not a regular file, or if the file is too large or cannot be read.
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

    /// Writes a file and replaces an existing one.
    ///
    /// # Errors
    ///
    /// Returns an error if the data are not valid base64, or if the file cannot be written.
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

    /// Creates a folder, and its parents unless `recursive` is false.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
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

    /// Returns the metadata of a file or folder. Symlinks are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the path does not exist.
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

    /// Lists a folder, sorted by name.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read or has too many entries.
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
                // The kind of a symlink is that of its target. A dangling symlink is neither a file nor a folder.
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

    /// Removes a file, or a folder with all its content. A symlink itself is removed, not its target.
    ///
    /// # Errors
    ///
    /// Returns an error if the path cannot be removed, or if it does not exist and `force` is false.
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

    /// Copies a file, a symlink, or a folder with all its content. The content of a folder is merged into an existing
    /// folder.
    ///
    /// # Errors
    ///
    /// Returns an error if something cannot be copied. Files that were already copied stay.
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
            // Copying a file onto itself would empty it, and copying a folder into itself would never end.
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
        self.slots.run(connection, path.as_path(), time_limit, move || work(worked_on.as_path())).await
    }
}

/// Copies a file, a symlink, or a folder with all its content.
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
                // Either file can be the cause, so name both.
                RpcError::internal(format_args!(
                    "cannot copy {} to {}: {error}",
                    source.display(),
                    destination.display()
                ))
            })?;
        } else {
            return Err(RpcError::invalid_request(format_args!(
                "{} is neither a file, a folder nor a symlink and cannot be copied",
                source.display()
            )));
        }
    }
    Ok(())
}

/// Copies the content and the permissions of a file. If one of the files was replaced since it was checked, for example
/// by a pipe, opening it does not block.
fn copy_file(source: &Path, destination: &Path) -> Result<io::Result<()>, RpcError> {
    let mut from = open_regular(source, File::options().read(true), "copy")?;
    let mut to = open_regular(destination, File::options().write(true).create(true), "write")?;
    Ok(from.metadata().and_then(|metadata| {
        to.set_len(0)?;
        io::copy(&mut from, &mut to)?;
        to.set_permissions(metadata.permissions())
    }))
}

/// Returns an error if a file would be copied over itself, which would empty it, or over a pipe, which would block a
/// thread forever. It compares inodes, so that it also detects symlinks and hard links to the file.
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

/// Resolves a path. If the path itself is a symlink, only the folders above it are resolved.
fn real(path: &Path, kind: &FileType) -> Option<PathBuf> {
    if !kind.is_symlink() {
        return path.canonicalize().ok();
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Resolves a path whose last component need not exist.
fn nearest_real(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|ancestor| ancestor.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    Some(existing.canonicalize().ok()?.join(rest))
}

/// Decodes the base64 of a field.
pub(super) fn decoded(field: &str, text: &str) -> Result<Vec<u8>, RpcError> {
    STANDARD
        .decode(text)
        .map_err(|error| RpcError::new(INVALID_PARAMS, format_args!("`{field}` is not valid base64: {error}")))
}

/// Opens a regular file, or returns an error for any other kind of file. It does not block: without `O_NONBLOCK`,
/// opening a pipe waits for its other end, and opening some device files waits for data.
fn open_regular(path: &Path, options: &mut OpenOptions, what: &str) -> Result<File, RpcError> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("flags of the system fit");
    let file = match options.custom_flags(flags).open(path) {
        Ok(file) => file,
        // A pipe without a reader, or a socket.
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

/// Returns the error for a failed operation.
pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> RpcError {
    RpcError::internal(format_args!("cannot {what} {}: {error}", path.display()))
}

/// Returns a time in milliseconds since 1970, or 0 if the file system does not support it.
fn milliseconds(time: io::Result<SystemTime>) -> i64 {
    let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0)
}
