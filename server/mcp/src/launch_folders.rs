//! The working folders of server processes. Each process starts in a new, empty folder below the server home.
//!
//! Package runners, interpreters and version managers look for code and settings in their working folder and in all
//! folders above it. So this must not be a folder that commands can write to, and it must not contain anything from an
//! earlier start. The folder is removed when the server has ended. Folders of a program that was killed are removed at
//! the next start.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use trace_runtime::sandbox::{WritableFolderRegistry, WritableFolders};
use trace_runtime::settings::SandboxPolicy;

/// Name of the folder in the server home that contains these folders.
pub const FOLDER_NAME: &str = "mcp";

/// A lock file. While it is locked, the folder is in use and is not removed.
const LOCK_NAME: &str = "lock";

/// Most folders that are checked when leftovers are removed.
const MAX_LEFT: usize = 256;

/// Where servers are started, and what commands can write to.
#[derive(Debug, Clone)]
pub(crate) struct LaunchFolders {
    /// The server home, as an absolute path.
    pub(crate) home: PathBuf,
    /// The working folder of the agents. Relative paths of a configuration are resolved against it.
    pub(crate) cwd: PathBuf,
    /// The folders that commands may have changed.
    pub(crate) writable: Arc<WritableFolders>,
}

/// What a server may be started from. Commands make more folders writable while a thread runs, so what they can write to is looked
/// up at each start.
#[derive(Debug, Clone)]
pub struct LaunchPolicy {
    /// The server home, as an absolute path.
    pub home: PathBuf,
    /// The working folder of the agents.
    pub cwd: PathBuf,
    /// What commands of the agents may write to.
    pub sandbox: SandboxPolicy,
    /// What commands of all agents could write to before.
    pub folders: Arc<WritableFolderRegistry>,
}

impl LaunchPolicy {
    /// Returns where servers are started now, and what commands can write to.
    pub(crate) fn now(&self) -> LaunchFolders {
        let writable = Arc::new(self.folders.writable(&self.cwd, &self.sandbox));
        LaunchFolders { home: self.home.clone(), cwd: self.cwd.clone(), writable }
    }
}

/// The folder of one server. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    folder: TempDir,
    _lock: File,
}

impl OwnFolder {
    /// Creates the folder for a server.
    pub(crate) fn new(home: &Path, server: &str) -> io::Result<Self> {
        let all = home.join(FOLDER_NAME);
        DirBuilder::new().recursive(true).mode(0o700).create(&all)?;
        fs::set_permissions(&all, fs::Permissions::from_mode(0o700))?;
        // The working folder that the system reports has no symlinks, so the path that the server gets has none either.
        let all = all.canonicalize()?;
        remove_left(&all);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(&format!("{server}-"))
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(&all)?;
            let lock = File::create_new(folder.path().join(LOCK_NAME))?;
            match lock.try_lock() {
                // Before the lock was taken, another program may have removed the folder as a leftover.
                Ok(()) if is_at(&lock, &folder.path().join(LOCK_NAME)) => {
                    let folder = Self { folder, _lock: lock };
                    for part in [folder.cwd(), folder.temporary(), folder.user_home()] {
                        DirBuilder::new().mode(0o700).create(part)?;
                    }
                    return Ok(folder);
                }
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Returns the working folder.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Returns a home folder, for an environment that names none.
    pub(crate) fn user_home(&self) -> PathBuf {
        self.folder.path().join("home")
    }
}

/// Returns whether a path still refers to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let named = path.symlink_metadata().map(identity);
    named.is_ok_and(|named| file.metadata().map(identity).is_ok_and(|open| open == named))
}

/// Removes the folders of servers whose program has ended.
fn remove_left(all: &Path) {
    let Ok(entries) = fs::read_dir(all) else { return };
    for folder in entries.take(MAX_LEFT).flatten().map(|entry| entry.path()) {
        // A folder without a lock file is being created.
        let Ok(lock) = File::open(folder.join(LOCK_NAME)) else { continue };
        if lock.try_lock().is_ok()
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            tracing::debug!(folder = %folder.display(), %error, "cannot remove the folder of an ended MCP server");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_empty_and_gone_at_the_end() {
        let home = tempfile::tempdir().expect("a folder");
        let all = home.path().join("deep").join(FOLDER_NAME);
        let own = OwnFolder::new(&home.path().join("deep"), "docs").expect("a folder");
        let other = OwnFolder::new(&home.path().join("deep"), "docs").expect("a folder");
        assert_ne!(own.cwd(), other.cwd());
        let mode = |path: &Path| path.metadata().expect("is there").permissions().mode() & 0o777;
        for folder in [&home.path().join("deep"), &all, &own.cwd(), &own.temporary(), &own.user_home()] {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
        assert_eq!(fs::read_dir(own.cwd()).expect("a folder").count(), 0);
        assert!(own.cwd().is_absolute());
        drop((own, other));
        assert_eq!(fs::read_dir(&all).expect("a folder").count(), 0);
    }

    #[test]
    fn what_a_killed_program_left_is_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let left = home.path().join(FOLDER_NAME).join("docs-left");
        fs::create_dir_all(left.join("work")).expect("a folder");
        fs::write(left.join(LOCK_NAME), "").expect("writes");
        let made = home.path().join(FOLDER_NAME).join("docs-being-made");
        fs::create_dir(&made).expect("a folder");
        let own = OwnFolder::new(home.path(), "docs").expect("a folder");
        let other = OwnFolder::new(home.path(), "docs").expect("a folder");
        assert!(!left.exists() && made.exists() && own.cwd().exists() && other.cwd().exists());
    }

    #[test]
    fn folders_that_are_made_at_the_same_time_stay() {
        let home = tempfile::tempdir().expect("a folder");
        let make = || {
            for _ in 0..50 {
                let own = OwnFolder::new(home.path(), "docs").expect("a folder");
                assert!(own.cwd().is_dir() && own.temporary().is_dir());
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(make))));
        assert_eq!(fs::read_dir(home.path().join(FOLDER_NAME)).expect("a folder").count(), 0);
    }
}
