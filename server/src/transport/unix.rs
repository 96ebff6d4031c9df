//! A unix socket that only its owner can connect to.
//!
//! The socket has its final mode from the beginning. A file that a killed server left behind is removed. A socket on
//! which a server answers, or a file that is not a socket, is left alone. The folder is locked meanwhile: if two
//! servers start at the same time, the second one checks the file after the first one has started to listen. On
//! shutdown the file is removed, unless another file has replaced it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode};
use rustix::io::Errno;
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::time::Instant;

use super::bind_error::BindError;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// How long to wait for another server that is starting to listen in the same folder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between two attempts to lock the folder.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A socket that listens. Dropping [`file`](Self::file) removes its file.
#[derive(Debug)]
pub(super) struct UnixEndpoint {
    pub(super) listener: UnixListener,
    pub(super) file: SocketFile,
}

/// The file of a socket. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Creates a socket and listens on it.
pub(super) async fn bind(path: &Path) -> Result<UnixEndpoint, BindError> {
    let failed = |what| move |source| BindError::Socket { path: path.to_owned(), what, source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder
        && !folder.exists()
    {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("create the folder of"))?;
    }
    // The lock is held until the socket listens.
    let _lock = locked(folder.unwrap_or(Path::new("."))).await;
    remove_stale(path).await?;
    let socket = UnixSocket::new_stream().map_err(failed("create"))?;
    // On Linux, the file that `bind` creates has the mode of the socket.
    let owner_only = Mode::RUSR | Mode::WUSR;
    rustix::fs::fchmod(&socket, owner_only).map_err(|errno| failed("protect")(errno.into()))?;
    socket.bind(path).map_err(failed("bind"))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed("protect"))?;
    let metadata = path.symlink_metadata().map_err(failed("look at"))?;
    let file = SocketFile { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() };
    let listener = socket.listen(BACKLOG).map_err(failed("listen on"))?;
    Ok(UnixEndpoint { listener, file })
}

/// Locks a folder against other servers that check for left-behind files. Returns `None` if the lock cannot be taken or
/// takes too long; the caller continues without it.
async fn locked(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    let start = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(file),
            Err(Errno::WOULDBLOCK) if start.elapsed() < LOCK_TIMEOUT => tokio::time::sleep(LOCK_PAUSE).await,
            Err(error) => {
                tracing::debug!(folder = %folder.display(), %error, "cannot lock the folder of the socket");
                return None;
            }
        }
    }
}

/// Removes the socket of a server that no longer runs.
async fn remove_stale(path: &Path) -> Result<(), BindError> {
    let failed = |what| move |source| BindError::Socket { path: path.to_owned(), what, source };
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at")(error)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(BindError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path).await {
        Ok(_) => Err(BindError::InUse { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(failed("remove"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A server whose backlog is full answers in this way.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(BindError::InUse { path: path.to_owned() }),
        Err(error) => Err(failed("connect to")(error)),
    }
}

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours =
            self.path.symlink_metadata().is_ok_and(|file| file.dev() == self.device && file.ino() == self.inode);
        if is_ours && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the socket");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().expect("a file").permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn the_socket_is_private_and_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/s.sock");
        let endpoint = bind(&path).await.expect("bound");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().expect("a folder")), 0o700);
        assert!(matches!(bind(&path).await, Err(BindError::InUse { .. })));
        drop(endpoint);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_stale_socket_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
        assert!(path.exists());
        let endpoint = bind(&path).await.expect("bound");
        UnixStream::connect(&path).await.expect("the listener accepts");
        drop(endpoint);
    }

    #[tokio::test]
    async fn a_file_that_is_not_a_socket_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sock");
        std::fs::write(&path, "text").expect("written");
        assert!(matches!(bind(&path).await, Err(BindError::NotASocket { .. })));
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), "text");
    }

    #[tokio::test]
    async fn the_socket_of_another_server_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sock");
        let endpoint = bind(&path).await.expect("bound");
        std::fs::rename(&path, folder.path().join("old.sock")).expect("moved");
        let _other = std::os::unix::net::UnixListener::bind(&path).expect("bound");
        drop(endpoint);
        assert!(path.exists());
    }
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_several_concurrent_servers_one_listens() {
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..20 {
            let path = folder.path().join(format!("{round}.sock"));
            drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
            let mut starting = tokio::task::JoinSet::new();
            for _ in 0..8 {
                let path = path.clone();
                starting.spawn(async move { bind(&path).await });
            }
            let (listening, refused): (Vec<_>, Vec<_>) =
                starting.join_all().await.into_iter().partition(|bound| bound.is_ok());
            assert_eq!(listening.len(), 1, "{refused:?}");
            assert!(refused.iter().all(|error| matches!(error, Err(BindError::InUse { .. }))), "{refused:?}");
            UnixStream::connect(&path).await.expect("the remaining socket is that of the server that listens");
        }
    }
}
