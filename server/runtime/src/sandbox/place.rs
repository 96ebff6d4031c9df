//! Folders and files that are held fast instead of being found by a path: what lies at a path may be exchanged at any time by a
//! command that runs, a link that leads elsewhere included.
//!
//! No link is followed here, not even on the way: whoever names a folder has resolved its links before, at a time when nobody
//! could have put one there (`folders`).

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

/// What is to lie at a path once views of files are set up for a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mount {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl Mount {
    /// Returns what lies at a path now, if no link is on the way.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let (device, inode) = identity(&open(path).ok()?).ok()?;
        Some(Self { path: path.to_owned(), device, inode })
    }

    /// Tells whether something else is mounted there, so that nobody sees it.
    #[cfg(target_os = "linux")]
    pub(super) fn is_covered(&self) -> bool {
        !self.is_in_place() && Self::of(&self.path).is_some_and(|found| found.is_in_place())
    }

    /// Nothing is mounted here.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_covered(&self) -> bool {
        false
    }

    /// Tells whether it lies there, mounted. Who mounts follows paths, and what lay there may have been exchanged before.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in_place(&self) -> bool {
        use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

        let Ok(found) = open(&self.path) else { return false };
        let is_mounted = statx(&found, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)
            .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
        is_mounted && identity(&found).is_ok_and(|found| found == (self.device, self.inode))
    }

    /// Nothing is mounted here.
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

/// Opens a file or folder to be named by the descriptor, following no link.
///
/// # Errors
///
/// There is none, or a link is on the way.
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
        // Linux before 5.6 does not know the call, and filters around the server refuse it.
        Err(Errno::NOSYS | Errno::PERM) => walk(&folder, path),
        opened => opened.map_err(io::Error::from),
    }
}

/// Does the same step by step.
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

/// Opens a file or folder to be named by the descriptor. No command is confined here that could put a link on the way.
///
/// # Errors
///
/// There is none.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)
}

/// Tells whether a link is on the way to a path, or it is one.
pub(super) fn is_behind_a_link(path: &Path) -> bool {
    cfg!(target_os = "linux")
        && open(path).is_err_and(|error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()))
}

/// A folder that is held fast.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    file: Arc<OwnedFd>,
    #[cfg(not(target_os = "linux"))]
    path: PathBuf,
}

/// A folder that was made.
#[derive(Debug)]
pub(crate) struct Made {
    parent: Folder,
    name: OsString,
}

impl Folder {
    /// Opens a folder, following no link, and makes it and those above it if they are missing.
    ///
    /// # Errors
    ///
    /// It cannot be made, or a link is on the way.
    pub(crate) fn open(path: &Path, made: &mut Vec<Made>) -> io::Result<Self> {
        match open(path) {
            Ok(file) => Ok(Self::held(file, path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(error) };
                let parent = Self::open(parent, made)?;
                match std::fs::create_dir(parent.at(Path::new(name))) {
                    Ok(()) => made.push(Made { parent: parent.clone(), name: name.to_owned() }),
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

    /// Opens a folder that is there, following no link.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none, or a link is on the way.
    pub(crate) fn there(path: &Path) -> io::Result<Self> {
        open(path).map(|file| Self::held(file, path))
    }

    #[cfg_attr(target_os = "linux", expect(unused_variables, reason = "the descriptor says it all"))]
    fn held(file: OwnedFd, path: &Path) -> Self {
        Self {
            file: Arc::new(file),
            #[cfg(not(target_os = "linux"))]
            path: path.to_owned(),
        }
    }

    /// Opens the file that has a name in it for reading, and waits for nobody. A link with that name is followed, since who deletes a link
    /// compares what it leads to; a link of `/proc` is not.
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
                // Linux before 5.6 does not know the call, and filters around the server refuse it.
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

    /// Returns a path to what has a name in it. It leads there for as long as the folder is held.
    pub(crate) fn at(&self, name: &Path) -> PathBuf {
        #[cfg(target_os = "linux")]
        let folder = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        #[cfg(not(target_os = "linux"))]
        let folder = &self.path;
        folder.join(name)
    }
}

impl Made {
    /// Takes the folder away again, unless somebody has put something into it.
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
        assert!(open(&at("a/b")).is_ok() && !is_behind_a_link(&at("a/b")));
        for path in ["link", "link/b", "link/new"] {
            assert!(is_behind_a_link(&at(path)), "{path}");
            assert!(Folder::open(&at(path), &mut Vec::new()).is_err(), "{path}");
        }
        assert!(!is_behind_a_link(&at("missing")));
        // The walk, for systems without the call that does it at once, finds the same.
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
        made.into_iter().rev().for_each(Made::undo);
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
