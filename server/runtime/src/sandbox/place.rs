//! Folders and files that are identified by a descriptor instead of a path: a running command may replace what lies at a
//! path at any time, for example by a symlink.
//!
//! No function here follows a symlink, not even in a parent folder. The caller has resolved the symlinks of a folder
//! earlier, when no command could have put one there (`folders`).

#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
#[cfg(not(target_os = "linux"))]
use std::os::unix::fs::OpenOptionsExt;
#[cfg(target_os = "linux")]
use std::path::Component;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

/// What must lie at a path once the mounts for a command are set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mount {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl Mount {
    /// Returns what lies at `path` now. `None` if it is missing or behind a symlink.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let (device, inode) = identity(&open(path).ok()?).ok()?;
        Some(Self { path: path.to_owned(), device, inode })
    }

    /// Returns whether something else is mounted over the path and hides it.
    #[cfg(target_os = "linux")]
    pub(super) fn is_covered(&self) -> bool {
        !self.is_in_place() && Self::of(&self.path).is_some_and(|found| found.is_in_place())
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_covered(&self) -> bool {
        false
    }

    /// Returns whether it is mounted at its path. Mounting follows paths, so something else may have been mounted if the
    /// path was replaced in between.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in_place(&self) -> bool {
        use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

        let Ok(found) = open(&self.path) else { return false };
        let is_mounted = statx(&found, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)
            .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
        is_mounted && identity(&found).is_ok_and(|found| found == (self.device, self.inode))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_in_place(&self) -> bool {
        false
    }
}

#[expect(clippy::allow_attributes, reason = "the types differ between systems")]
fn identity(file: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    let found = rustix::fs::fstat(file)?;
    #[allow(clippy::cast_sign_loss, clippy::useless_conversion, clippy::unnecessary_cast)]
    Ok((found.st_dev as u64, found.st_ino as u64))
}

/// Opens a file or folder as a location (`O_PATH`), without following symlinks.
///
/// # Errors
///
/// Returns an error if the path does not exist or contains a symlink.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    open_in(rustix::fs::CWD, path)
}

#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
fn open_in(folder: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    use rustix::io::Errno;

    match openat2(&folder, path, HELD, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6 lacks the call, and seccomp filters around the server may refuse it.
        Err(Errno::NOSYS | Errno::PERM) => walk(&folder, path),
        opened => opened.map_err(io::Error::from),
    }
}

/// Does the same as [`open_in`] one path component at a time.
#[cfg(target_os = "linux")]
fn walk(folder: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{FileType, fstat, openat};
    use rustix::io::Errno;

    if path.as_os_str().is_empty() {
        return Err(Errno::NOENT.into());
    }
    let mut held = openat(&folder, if path.is_absolute() { "/" } else { "." }, HELD, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::Normal(name) => name,
            Component::ParentDir => OsStr::new(".."),
            _ => continue,
        };
        held = openat(&held, name, HELD | OFlags::NOFOLLOW, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&held)?.st_mode) == FileType::Symlink {
            return Err(Errno::LOOP.into());
        }
    }
    Ok(held)
}

/// Opens a file or folder as a location. Symlinks are followed: no command is confined on this system, so none needs to be
/// kept from making one.
///
/// # Errors
///
/// Returns an error if the path does not exist.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)
}

/// Returns whether the path is a symlink or has one in a parent folder.
pub(super) fn has_symlink(path: &Path) -> bool {
    cfg!(target_os = "linux")
        && open(path).is_err_and(|error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()))
}

/// A folder that is held open.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    file: Arc<OwnedFd>,
    #[cfg(not(target_os = "linux"))]
    path: PathBuf,
}

/// A folder that [`Folder::open`] created.
#[derive(Debug)]
pub(crate) struct CreatedFolder {
    parent: Folder,
    name: OsString,
}

impl Folder {
    /// Opens a folder without following symlinks. Creates the folder and its parents if they are missing, and adds them to
    /// `made`.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or the path contains a symlink.
    pub(crate) fn open(path: &Path, made: &mut Vec<CreatedFolder>) -> io::Result<Self> {
        match open(path) {
            Ok(file) => Ok(Self::held(file, path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(error) };
                let parent = Self::open(parent, made)?;
                match std::fs::create_dir(parent.at(Path::new(name))) {
                    Ok(()) => made.push(CreatedFolder { parent: parent.clone(), name: name.to_owned() }),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                }
                #[cfg(target_os = "linux")]
                let file = open_in(&*parent.file, Path::new(name))?;
                #[cfg(not(target_os = "linux"))]
                let file = open(path)?;
                Ok(Self::held(file, path))
            }
            Err(error) => Err(error),
        }
    }

    /// Opens an existing folder without following symlinks.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder is missing or the path contains a symlink.
    pub(crate) fn open_existing(path: &Path) -> io::Result<Self> {
        open(path).map(|file| Self::held(file, path))
    }

    #[cfg_attr(target_os = "linux", expect(unused_variables, reason = "the descriptor is enough"))]
    fn held(file: OwnedFd, path: &Path) -> Self {
        Self {
            file: Arc::new(file),
            #[cfg(not(target_os = "linux"))]
            path: path.to_owned(),
        }
    }

    /// Opens the file `name` of the folder for reading, without blocking. A symlink is followed, because a caller that
    /// deletes a symlink compares the content of its target. A magic link of `/proc` is not followed.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, or if it cannot be opened.
    pub(crate) fn file(&self, name: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat, openat2};
            use rustix::io::Errno;

            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            match openat2(&*self.file, name, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
                // Linux before 5.6 lacks the call, and seccomp filters around the server may refuse it.
                Err(Errno::NOSYS | Errno::PERM) => {
                    Ok(File::from(openat(&*self.file, name, flags | OFlags::NOFOLLOW, Mode::empty())?))
                }
                opened => Ok(File::from(opened?)),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(self.at(name))
        }
    }

    /// Returns a path to the entry `name`. The path stays valid as long as the folder is held open.
    pub(crate) fn at(&self, name: &Path) -> PathBuf {
        #[cfg(target_os = "linux")]
        let folder = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        #[cfg(not(target_os = "linux"))]
        let folder = &self.path;
        folder.join(name)
    }
}

impl CreatedFolder {
    /// Removes the folder unless it is no longer empty.
    pub(crate) fn undo(self) {
        let _ = std::fs::remove_dir(self.parent.at(Path::new(&self.name)));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir_all(at("a/b")).expect("a folder");
        symlink(at("a"), at("link")).expect("a link");
        assert!(open(&at("a/b")).is_ok() && !has_symlink(&at("a/b")));
        for path in ["link", "link/b", "link/new"] {
            assert!(has_symlink(&at(path)), "{path}");
            assert!(Folder::open(&at(path), &mut Vec::new()).is_err(), "{path}");
        }
        assert!(!has_symlink(&at("missing")));
        // The fallback for systems without `openat2` returns the same.
        let base = open(folder.path()).expect("is there");
        for path in [
            "a",
            "a/b",
            "a/../a/b",
            ".",
            "link",
            "link/b",
            "link/..",
            "missing",
            "a/missing/b",
            "a/file",
            "a/file/b",
            "",
        ] {
            fs::write(at("a/file"), "").expect("writes");
            let kind = |opened: io::Result<OwnedFd>| match opened {
                Ok(file) => Ok(identity(&file).expect("is open")),
                Err(error) => Err(error.raw_os_error()),
            };
            assert_eq!(kind(walk(&base, Path::new(path))), kind(open_in(&base, Path::new(path))), "{path}");
            assert_eq!(kind(walk(rustix::fs::CWD, &at(path))), kind(open(&at(path))), "{path}");
        }
        assert_eq!(fs::read_dir(at("a/b")).expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_stays_the_same_when_its_path_leads_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        let mut made = Vec::new();
        let held = Folder::open(&at("a/b/c"), &mut made).expect("is made");
        assert_eq!(made.len(), 3);
        fs::create_dir_all(at("other/b/c")).expect("a folder");
        fs::rename(at("a"), at("was")).expect("renames");
        symlink(at("other"), at("a")).expect("a link");
        fs::write(held.at(Path::new("file")), "x").expect("writes");
        assert!(at("was/b/c/file").exists() && !at("other/b/c/file").exists());
        fs::remove_file(at("was/b/c/file")).expect("removes");
        made.into_iter().rev().for_each(CreatedFolder::undo);
        assert!(at("other/b/c").exists() && !at("was/b").exists());
    }

    #[test]
    fn what_is_mounted_nowhere_is_not_in_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        assert!(!Mount::of(&path).expect("is there").is_in_place());
        assert_eq!(Mount::of(&path.join("missing")), None);
        let proc = Mount::of(Path::new("/proc")).expect("is there");
        assert!(proc.is_in_place() && !Mount { inode: 0, ..proc }.is_in_place());
    }
}
