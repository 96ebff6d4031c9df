//! Finds entries of a repository, other than its configuration and hooks, that make Git write elsewhere or that can be
//! changed from outside: symlinks, files with a second hard link, and files with URLs of other repositories.
//!
//! Git follows symlinks when it writes many of its files (`logs/HEAD`, `FETCH_HEAD`, `packed-refs`, ...), and a command
//! decides what Git writes there: names, addresses, messages. So a symlink in a repository could make the user's next `git
//! commit` write to a shell start-up file. Which files Git writes through symlinks differs between releases, so all count
//! except objects, whose names are hashes.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use uuid::Uuid;

use super::files::{FileState, is_control};
use super::risk::Risk;
use super::walk::Marks;
use crate::sandbox::place::Folder;

/// Most entries of one repository that are examined, objects excluded.
const MAX_ENTRIES: usize = 256 * 1024;

/// Folders and files that Git writes, in a repository that may be a source tree as well.
const OF_GIT: [&str; 17] = [
    "branches",
    "description",
    "index",
    "info",
    "lfs",
    "logs",
    "modules",
    "packed-refs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "remotes",
    "rr-cache",
    "sequencer",
    "shallow",
    "worktrees",
];

/// Folders whose files contain URLs of repositories, one file each.
const ADDRESSES: [&str; 2] = ["branches", "remotes"];

/// Returns the risks, each with its description for users.
pub(super) fn risks(repository: &Path) -> Vec<(Risk, String)> {
    let mut found = Vec::new();
    let mut count = 0;
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        // The search reports folders that cannot be listed.
        let Ok(entries) = fs::read_dir(repository.join(&below)) else { continue };
        let entries: Vec<_> = entries.flatten().take(MAX_ENTRIES).collect();
        count += entries.len();
        if count >= MAX_ENTRIES {
            found.push((Risk::Crowd, format!("there are more than {MAX_ENTRIES} files in it")));
            return found;
        }
        let mut marks = Marks::default();
        entries.iter().for_each(|entry| marks.note(entry.file_name().to_str().unwrap_or_default()));
        let is_top = below.as_os_str().is_empty();
        if !is_top && marks.are_of_a_repository(&repository.join(&below)) {
            // A nested repository is examined separately.
            continue;
        }
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if is_top && !belongs_to_git(repository, &name, kind.is_dir(), &marks) {
                continue;
            }
            if kind.is_dir() {
                let folder = below.join(name);
                folders.extend((!holds_objects(&folder)).then_some(folder));
            } else if kind.is_symlink() {
                found.extend(of_link(repository, below.join(name)));
            } else if kind.is_file() {
                // There are many files, and few of them are a risk.
                found.extend(of_file(&entry, &below));
            }
        }
    }
    found
}

/// Returns whether an entry at the top of a repository is examined here. Hooks, and symlinks in place of configurations,
/// are examined elsewhere.
fn belongs_to_git(repository: &Path, name: &OsStr, is_folder: bool, marks: &Marks) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    if ["hooks", "objects"].iter().any(is) {
        return false;
    }
    // A bare repository may contain work trees, and a source tree may look like a repository.
    let is_git_folder = repository.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    let is_shouted = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_git_folder || OF_GIT.iter().any(is) || !is_folder && (marks.head || name.to_str().is_some_and(is_shouted))
}

/// Returns whether a folder holds objects of Git or of an extension. The names of branches may contain the word too.
fn holds_objects(path: &Path) -> bool {
    let mut parts = path.components().map(Component::as_os_str);
    let (first, second) = (parts.next(), parts.next());
    first.is_some_and(|name| ["lfs", "annex"].iter().any(|known| name == *known))
        && second == Some(OsStr::new("objects"))
}

fn of_link(repository: &Path, path: PathBuf) -> Option<(Risk, String)> {
    let is_top = path.components().count() == 1;
    if is_top && is_control(path.as_os_str()) {
        return None;
    }
    let led = fs::read_link(repository.join(&path)).ok()?;
    // Old versions of Git wrote `HEAD` as a symlink. What Git writes through it is a hash.
    let is_ref = led.starts_with("refs") && led.components().all(|part| matches!(part, Component::Normal(_)));
    if is_ref && path.file_name() == Some(OsStr::new("HEAD")) && !path.starts_with("logs") {
        return None;
    }
    let told = format!("its `{}` is a symlink", path.display());
    Some((Risk::Link { path: path.into(), led: led.into() }, told))
}

fn of_file(entry: &DirEntry, below: &Path) -> Option<(Risk, String)> {
    let mut parts = below.components().map(Component::as_os_str);
    let is_address = parts.next().is_some_and(|first| ADDRESSES.iter().any(|known| first.eq_ignore_ascii_case(known)));
    let data = entry.metadata().ok()?;
    if !is_address && data.nlink() == 1 {
        return None;
    }
    let path = below.join(entry.file_name());
    if is_address {
        let told = format!("it has an address of another repository in `{}`", path.display());
        let state = FileState::of(&entry.path(), &data);
        return Some((Risk::Address { path: path.into(), state }, told));
    }
    let told = format!("its file `{}` has a second name, by which it can be changed", path.display());
    Some((Risk::Shared { path: path.into(), inode: data.ino() }, told))
}

/// Replaces a file that has a second hard link by a copy.
///
/// # Errors
///
/// Returns an error if the file cannot be copied or renamed.
pub(super) fn unshare(repository: &Path, path: &Path) -> io::Result<String> {
    let whole = repository.join(path);
    let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let held = Folder::open_existing(folder)?;
    let from = held.at(Path::new(name));
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let mut file = File::options().read(true).custom_flags(flags).open(&from)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let new = held.at(Path::new(&format!("own-{}", Uuid::now_v7())));
    let copied = (|| {
        let mut own = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        io::copy(&mut file, &mut own)?;
        own.set_permissions(Permissions::from_mode(data.mode() & 0o777))?;
        fs::rename(&new, &from)
    })();
    if copied.is_err() {
        let _ = fs::remove_file(&new);
    }
    copied.map(|()| "it has a file of its own now".to_owned())
}
