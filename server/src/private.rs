//! Files and folders that only their owner may read, regardless of the umask. The server home contains private data of
//! users and the output of tools.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Permissions of folders.
const FOLDER_MODE: u32 = 0o700;
/// Permissions of files.
const FILE_MODE: u32 = 0o600;
/// Permissions that are removed: all those of the group and of other users.
const OTHERS: u32 = 0o077;

/// Entries of a server home whose permissions are checked before the server starts. The permissions of further entries
/// are checked in the background.
pub(crate) const TIGHTENED_AT_ONCE: usize = 20_000;
/// Most entries that are checked. Entries beyond the limit cannot be reached by other users once the permissions of the
/// server home are set.
const MAX_TIGHTENED: usize = 5_000_000;

/// Creates a folder and its parents. Existing folders are left unchanged.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Returns options with which new files are private.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Creates an empty file unless it exists.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    options().append(true).create(true).open(path)
}

/// Removes the permissions of the group and of other users from a folder and everything in it, the entries with the
/// shortest paths first. Symlinks are neither changed nor followed. An entry that cannot be changed is logged and
/// skipped. If a folder has very many entries, a background thread continues.
///
/// # Errors
///
/// Returns an error if the permissions of the folder itself cannot be changed.
pub(crate) fn tighten(folder: &Path) -> io::Result<()> {
    close(folder)?;
    let mut walk = Walk { rest: vec![folder.to_owned()].into(), room: MAX_TIGHTENED };
    if walk.go_on(TIGHTENED_AT_ONCE) {
        let run = move || {
            let _ = walk.go_on(MAX_TIGHTENED);
        };
        std::thread::Builder::new().name("permissions".to_owned()).spawn(run)?;
    }
    Ok(())
}

struct Walk {
    rest: std::collections::VecDeque<PathBuf>,
    room: usize,
}

impl Walk {
    /// Processes about `entries` entries. Returns whether there are more.
    fn go_on(&mut self, entries: usize) -> bool {
        let end = self.room.saturating_sub(entries);
        while self.room > end {
            let Some(folder) = self.rest.pop_front() else { return false };
            let Ok(found) = fs::read_dir(&folder) else { continue };
            for entry in found.filter_map(Result::ok) {
                self.room = self.room.saturating_sub(1);
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    continue;
                }
                let path = entry.path();
                if let Err(error) = close(&path) {
                    tracing::warn!(path = %path.display(), %error, "other users may be able to read this file");
                }
                if kind.is_dir() {
                    self.rest.push_back(path);
                }
            }
        }
        !self.rest.is_empty() && self.room > 0
    }
}

/// Removes the permissions of the group and of other users from one file or folder. A symlink is left unchanged.
fn close(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() || metadata.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    set_mode(path, metadata.permissions().mode() & 0o7777 & !OTHERS)
}

/// Sets the mode of a file, which may be a socket or a pipe. The target of a symlink is never changed.
#[cfg(target_os = "linux")]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{Mode, OFlags};

    let file = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == rustix::fs::FileType::Symlink {
        return Ok(());
    }
    fs::set_permissions(format!("/proc/self/fd/{}", file.as_raw_fd()), fs::Permissions::from_mode(mode))
}

#[cfg(not(target_os = "linux"))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    fn open_to_all(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn everything_below_becomes_private_and_symlinks_are_not_followed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("sessions/2026/01/02")).unwrap();
        for (name, before) in [("config.toml", 0o644), ("sessions/2026/01/02/a.jsonl", 0o666), ("skill.sh", 0o755)] {
            fs::write(at(name), "x").unwrap();
            open_to_all(&at(name), before);
        }
        for folder in ["", "sessions", "sessions/2026", "sessions/2026/01", "sessions/2026/01/02"] {
            open_to_all(&at(folder), 0o755);
        }
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        open_to_all(&at("socket"), 0o777);
        let victim = elsewhere.path().join("victim");
        fs::write(&victim, "x").unwrap();
        open_to_all(&victim, 0o644);
        open_to_all(elsewhere.path(), 0o755);
        std::os::unix::fs::symlink(&victim, at("link")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), at("folder")).unwrap();

        tighten(home.path()).unwrap();
        for folder in ["", "sessions", "sessions/2026", "sessions/2026/01", "sessions/2026/01/02"] {
            assert_eq!(mode(&at(folder)), 0o700, "{folder}");
        }
        assert_eq!(mode(&at("config.toml")), 0o600);
        assert_eq!(mode(&at("sessions/2026/01/02/a.jsonl")), 0o600);
        assert_eq!(mode(&at("skill.sh")), 0o700, "the owner keeps what he had");
        assert_eq!(mode(&at("socket")), 0o700);
        assert_eq!((mode(&victim), mode(elsewhere.path())), (0o644, 0o755));
    }

    #[test]
    fn new_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        create_folders(&folder.path().join("a/b")).unwrap();
        create_file(&folder.path().join("a/b/c")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b/c")), 0o600);
    }
}
