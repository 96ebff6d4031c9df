//! Files and folders that only their owner may read, whatever the umask: threads hold what people said and what tools saw.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Permissions of folders.
const FOLDER_MODE: u32 = 0o700;
/// Permissions of files.
const FILE_MODE: u32 = 0o600;
/// Permissions that nobody but the owner may have.
const OTHERS: u32 = 0o077;

/// Entries of a home whose permissions are looked at before the server goes on; those of the rest are looked at beside it.
pub(crate) const TIGHTENED_AT_ONCE: usize = 20_000;
/// Most entries that are looked at. What lies deeper is out of reach of others as soon as the home is closed.
const MAX_TIGHTENED: usize = 5_000_000;

/// Makes a folder, and those that it lies in. Those that are there are left alone.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Returns options that make files private when they make one.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Makes an empty file unless there is one.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    options().append(true).create(true).open(path)
}

/// Takes permissions away from everybody but the owner: of a folder, and of all that is in it, nearest first. Links are
/// neither changed nor followed. What cannot be changed is left, and told in the log. A folder with very many entries is
/// finished by a thread of its own.
///
/// # Errors
///
/// Returns the error of the system when the folder itself cannot be closed to others.
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
    /// Looks at about so many entries. Says whether there are more.
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
                    tracing::warn!(path = %path.display(), %error, "others may be able to read this");
                }
                if kind.is_dir() {
                    self.rest.push_back(path);
                }
            }
        }
        !self.rest.is_empty() && self.room > 0
    }
}

/// Takes permissions away from everybody but the owner of one file or folder, unless it is a link.
fn close(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() || metadata.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    set_mode(path, metadata.permissions().mode() & 0o7777 & !OTHERS)
}

/// Sets the mode of what is at a path, also if it is a socket or a pipe, and never of what a link leads to.
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
    fn everything_below_is_closed_to_others_and_links_are_not_followed() {
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
    fn what_is_made_is_private() {
        let folder = tempfile::tempdir().unwrap();
        create_folders(&folder.path().join("a/b")).unwrap();
        create_file(&folder.path().join("a/b/c")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b/c")), 0o600);
    }
}
