//! Reads, compares and renames files of repositories, and knows which names decide what Git runs.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::sandbox::place::Folder;

/// Size of the largest configuration that is read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Size of the largest file whose content is compared. A larger one counts as changed if its inode, change time or size
/// differs.
const MAX_COMPARED_BYTES: u64 = 256 * 1024;

/// Names of the configurations of a repository and of one of its work trees.
pub(super) const CONFIGURATIONS: [&str; 2] = ["config", "config.worktree"];

/// Suffix that is added to the name of a renamed file.
const ASIDE: &str = ".untrusted";

/// State of a file, used to find out whether it changed. Tools rewrite hooks with the same content (`npm install` with
/// Husky), so the content is compared where it can be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum FileState {
    /// Permissions and SHA-256 of a plain file of at most [`MAX_COMPARED_BYTES`] with one hard link.
    Content(Rights, Vec<u8>),
    /// Target of a symlink.
    Link(OsString),
    /// Any other file: inode, change time and size.
    Stamp(u64, (i64, i64), u64),
}

/// Permissions of a file that matter. The others may differ because tools rewrite hooks under another umask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rights {
    can_be_run: bool,
    can_be_written_by_all: bool,
}

impl FileState {
    pub(super) fn of(path: &Path, data: &fs::Metadata) -> Self {
        let stamp = || Self::Stamp(data.ino(), (data.ctime(), data.ctime_nsec()), data.size());
        if data.is_symlink() {
            return fs::read_link(path).map_or_else(|_| stamp(), |led| Self::Link(led.into()));
        }
        // A file with a second hard link can be changed later through a path that is not checked.
        if data.size() > MAX_COMPARED_BYTES || data.nlink() > 1 {
            return stamp();
        }
        let mode = data.mode();
        let rights = Rights { can_be_run: mode & 0o111 != 0, can_be_written_by_all: mode & 0o002 != 0 };
        read_plain(path).map_or_else(|_| stamp(), |content| Self::Content(rights, Sha256::digest(content).to_vec()))
    }
}

/// Renames an entry of a folder so that Git does not find it.
pub(super) fn aside(folder: &Path, name: &OsStr) -> io::Result<String> {
    let held = Folder::open_existing(folder)?;
    let from = held.at(Path::new(name));
    let mut other = name.to_owned();
    other.push(ASIDE);
    if held.at(Path::new(&other)).symlink_metadata().is_ok() {
        other.push(format!("-{}", Uuid::now_v7()));
    }
    let to = held.at(Path::new(&other));
    match fs::rename(&from, &to) {
        // A command can remove the write permission of the folder; its owner can restore it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(held.at(Path::new("")), Permissions::from_mode(0o700))?;
            fs::rename(&from, &to)?;
        }
        renamed => renamed?,
    }
    Ok(format!("`{}` is now `{}`", Path::new(name).display(), Path::new(&other).display()))
}

/// Returns whether an entry of a repository with this name decides what Git runs.
pub(super) fn is_control(name: &OsStr) -> bool {
    CONFIGURATIONS.iter().chain(&["commondir", "hooks"]).any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns whether this is the name of a renamed file.
pub(super) fn is_aside(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.windows(ASIDE.len()).any(|part| part == ASIDE.as_bytes())
}

/// Returns whether this can be the name of a hook. Hooks have no dot in their names; samples and renamed files do.
pub(super) fn is_name_of_hook(name: &OsStr) -> bool {
    !name.as_encoded_bytes().contains(&b'.')
}

/// Reads a plain file without following a symlink and without blocking.
pub(super) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    read(path, libc::O_NOFOLLOW)
}

/// Reads a file, possibly through a symlink, without blocking.
pub(super) fn read_behind_links(path: &Path) -> io::Result<Vec<u8>> {
    read(path, 0)
}

fn read(path: &Path, flags: libc::c_int) -> io::Result<Vec<u8>> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() || data.len() > MAX_CONFIG_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
