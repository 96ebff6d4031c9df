//! Bubblewrap around the launcher: namespaces for mounts, processes and networks in addition to Landlock and the seccomp
//! filter.
//!
//! Landlock makes whole folders writable; mounts can keep a folder inside a writable one read-only. In its own process
//! namespace a command sees no other process. All its descendants end when the first process of the namespace ends, even
//! those in other sessions. The process group that receives signals contains that process.
//!
//! Bubblewrap mounts by path, and a running command may replace what lies at a path. So the launcher compares the mounts
//! from inside with what was found before ([`Mount`]), when nothing can be replaced any more. A mount point cannot be
//! renamed. That keeps a read-only place at its path, if all folders between it and the writable folder around it are
//! mounts too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::confinement::{Confinement, PROTECTED_NAMES};
use super::error::SandboxError;
use super::place::{self, Mount};
use super::{git_file, hidden};
use crate::settings::Network;

/// Whether bubblewrap is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bubblewrap {
    /// It is used if it is installed and works.
    #[default]
    Auto,
    /// It is not used.
    Never,
    /// It is used; commands that need a sandbox fail without it.
    Require,
}

/// Paths where systems install bubblewrap. A program of this name elsewhere was put there by a user and is not used.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

impl Bubblewrap {
    /// Returns the path of bubblewrap if it is to be used. Runs it once, because it may be installed and fail where users
    /// may not create namespaces.
    ///
    /// # Errors
    ///
    /// Returns an error if bubblewrap is required and cannot be used.
    pub fn find(self) -> Result<Option<PathBuf>, SandboxError> {
        if self == Self::Never || cfg!(not(target_os = "linux")) && self == Self::Auto {
            return Ok(None);
        }
        let found = match PLACES.iter().map(Path::new).find(|place| place.is_file()) {
            None => Err("bubblewrap (bwrap) is not installed".to_owned()),
            Some(program) => works(program).map(|()| program.to_owned()),
        };
        match found {
            Ok(program) => Ok(Some(program)),
            Err(what) if self == Self::Require => Err(SandboxError::Unavailable { what }),
            Err(what) => {
                tracing::debug!(what, "bubblewrap is not used");
                Ok(None)
            }
        }
    }
}

fn works(program: &Path) -> Result<(), String> {
    let everything = Confinement::new(vec![PathBuf::from("/tmp")], Network::Closed);
    let mut command = Command::new(program);
    let mounts = mounts(&everything).map_err(|error| error.to_string())?;
    command.args(arguments(&everything, &mounts)).args(["--", "/bin/sh", "-c", ":"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let told = command.output().map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    if told.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&told.stderr);
    Err(format!("{} does not work here: {}", program.display(), why.lines().next().unwrap_or("it gives no reason")))
}

/// How a command sees a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Writable.
    Open,
    /// Writable; a folder around a read-only place, which may be deleted with its content before it is mounted.
    OpenIfThere,
    /// Read-only.
    Closed,
    /// Read-only; a repository, which may be deleted before it is mounted.
    ClosedIfThere,
    /// Empty.
    Hidden(Kind),
}

/// What covers a hidden place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
}

/// Returns the mounts over the read-only root: writable folders, read-only places in them, and hidden places. A place
/// inside another one follows it.
///
/// # Errors
///
/// Returns an error if a place existed a moment ago and cannot be opened now. Without its mount, a read-only place would be
/// writable.
pub(super) fn mounts(confinement: &Confinement) -> Result<Vec<(Mount, View)>, SandboxError> {
    let mut views: BTreeMap<PathBuf, View> = BTreeMap::new();
    let open: Vec<PathBuf> = confinement.open();
    let protected = confinement.protected();
    let hidden = hidden::within_reach(&confinement.hidden)?;
    let is_closed = |path: &Path| protected.iter().chain(&hidden).any(|closed| path.starts_with(closed));
    for path in open.iter().chain(&protected).chain(&confinement.closed).chain(&hidden) {
        // A command that can rename a folder above the place could put another one in its position.
        let above = path.ancestors().skip(1).take_while(|above| open.iter().any(|folder| above.starts_with(folder)));
        views.extend(above.filter(|above| !is_closed(above)).map(|above| (above.to_owned(), View::OpenIfThere)));
    }
    // A symlink cannot be a mount point; its target is handled separately.
    let closed = confinement.closed.iter().filter(|path| !path.is_symlink());
    views.extend(closed.map(|path| (path.clone(), View::ClosedIfThere)));
    views.extend(protected.iter().map(|path| (path.clone(), View::Closed)));
    views.extend(
        confinement.visible.iter().filter(|path| place::open(path).is_ok()).map(|path| (path.clone(), View::Closed)),
    );
    views.extend(open.into_iter().map(|path| (path, View::Open)));
    for path in hidden {
        let kind = if path.is_dir() { Kind::Folder } else { Kind::File };
        // A hidden folder may lie in a folder that a user named.
        views.insert(path, View::Hidden(kind));
    }
    let mut mounts = Vec::with_capacity(views.len());
    for (path, view) in views {
        match (Mount::of(&path), view) {
            (Some(mount), view) => mounts.push((mount, view)),
            (None, View::ClosedIfThere | View::OpenIfThere) if path.symlink_metadata().is_err() => {}
            (None, _) => return Err(exchanged(&path)),
        }
    }
    Ok(mounts)
}

pub(super) fn exchanged(path: &Path) -> SandboxError {
    let reason = format!("{} was replaced in the meantime; run the command again", path.display());
    SandboxError::Step { step: "mounting folders", reason }
}

/// Returns the arguments for bubblewrap that set up the mounts and namespaces of one command.
pub(super) fn arguments(confinement: &Confinement, mounts: &[(Mount, View)]) -> Vec<OsString> {
    // The root comes first, so that the other mounts lie over it.
    let mut words: Vec<OsString> = [
        "--ro-bind",
        "/",
        "/",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        // A server that is killed cannot end its commands itself.
        "--die-with-parent",
    ]
    .map(OsString::from)
    .into();
    if confinement.network == Network::Closed {
        words.push("--unshare-net".into());
    }
    for (option, place) in [("--dev", "/dev"), ("--proc", "/proc")] {
        words.extend([option.into(), place.into()]);
    }
    for (mount, view) in mounts {
        let path = || mount.path.clone().into_os_string();
        match view {
            View::Open => words.extend(["--bind".into(), path(), path()]),
            View::OpenIfThere => words.extend(["--bind-try".into(), path(), path()]),
            View::Closed => words.extend(["--ro-bind".into(), path(), path()]),
            View::ClosedIfThere => words.extend(["--ro-bind-try".into(), path(), path()]),
            View::Hidden(Kind::Folder) => words.extend(["--tmpfs".into(), path()]),
            View::Hidden(Kind::File) => words.extend(["--ro-bind".into(), "/dev/null".into(), path()]),
        }
    }
    // The mounts inside the empty folders exist by now.
    for (mount, _) in mounts.iter().filter(|(_, view)| *view == View::Hidden(Kind::Folder)) {
        words.extend(["--remount-ro".into(), mount.path.clone().into_os_string()]);
    }
    words
}

impl Confinement {
    /// Returns the places in writable folders that stay read-only, with symlinks resolved: those that decide which programs
    /// run later. Places that are writable by themselves, were created by a command, or do not exist are left out. For
    /// commands, only bubblewrap enforces this.
    pub fn protected(&self) -> Vec<PathBuf> {
        let open = self.open();
        let mut protected: Vec<PathBuf> = Vec::new();
        for folder in &open {
            for name in PROTECTED_NAMES {
                let path = folder.join(name);
                if self.made.contains(&path) {
                    continue;
                }
                let Ok(path) = path.canonicalize() else { continue };
                protected.extend(pointed_to(&path, folder));
                protected.push(path);
            }
        }
        protected.retain(|path| !open.contains(path) && open.iter().any(|folder| path.starts_with(folder)));
        protected.sort();
        protected.dedup();
        protected
    }

    /// Returns the writable folders that exist.
    pub(super) fn open(&self) -> Vec<PathBuf> {
        self.writable.iter().filter(|folder| place::open(folder).is_ok()).cloned().collect()
    }
}

/// Returns the folder that a `.git` file names. Work trees and submodules have such a file instead of a folder. `around` is
/// the folder in which Git finds the file.
fn pointed_to(path: &Path, around: &Path) -> Option<PathBuf> {
    if !path.metadata().is_ok_and(|data| data.is_file() && data.len() <= git_file::MAX_GIT_FILE_BYTES) {
        return None;
    }
    git_file::named_folder(&std::fs::read(path).ok()?, around)?.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_decides_what_runs_later_is_closed_unless_it_is_open_by_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        for name in ["work/.git", "work/.trace", "tree", "main/.git/worktrees/tree", "plain"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        fs::write(root.join("tree/.git"), "gitdir: ../main/.git/worktrees/tree\n").expect("writes");
        let protected = |open: &[&str]| {
            let open = open.iter().map(|name| root.join(name)).collect();
            let found = Confinement::new(open, Network::Closed).protected();
            let names = found.iter().map(|path| path.strip_prefix(&root).expect("inside").display().to_string());
            names.collect::<Vec<_>>()
        };
        assert_eq!(protected(&["work"]), ["work/.git", "work/.trace"]);
        assert_eq!(protected(&["work", "work/.git"]), ["work/.trace"]);
        assert_eq!(protected(&["plain", "missing"]), [""; 0]);
        // A folder that is not writable needs no read-only mount.
        assert_eq!(protected(&["tree"]), ["tree/.git"]);
        assert_eq!(protected(&["tree", "main"]), ["main/.git", "main/.git/worktrees/tree", "tree/.git"]);
    }

    #[test]
    fn inner_mounts_lie_over_outer_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        fs::create_dir_all(root.join("a/.git")).expect("a folder");
        let confinement = Confinement::new(vec![root.join("a"), root.clone(), root.join("gone")], Network::Open);
        let words = arguments(&confinement, &mounts(&confinement).expect("are there"));
        let words: Vec<String> = words.into_iter().map(|word| word.to_str().expect("a text").to_owned()).collect();
        let root = root.to_str().expect("a text");
        let line = words.join(" ");
        assert!(line.starts_with("--ro-bind / / ") && !line.contains("--unshare-net"), "{line}");
        assert!(
            line.ends_with(&format!(
                "--bind {root} {root} --bind {root}/a {root}/a --ro-bind {root}/a/.git {root}/a/.git"
            )),
            "{line}"
        );
    }

    #[test]
    fn nothing_is_left_out_that_is_not_there_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        for (name, is_left_out) in [("repository", true), ("open", false)] {
            let mut confinement = Confinement::new(vec![path.clone()], Network::Closed);
            if is_left_out {
                // The folders around it are deleted too.
                fs::create_dir_all(path.join("above/it")).expect("a folder");
                confinement.closed.extend([path.join(name), path.join("above/it/gone")]);
            } else {
                // The folder is replaced by a symlink between two checks.
                confinement.hidden.push(crate::sandbox::HiddenPlace::new(&path));
                fs::rename(&path, path.with_extension("was")).expect("renames");
                fs::create_dir(&path).expect("a folder");
            }
            let mounts = mounts(&confinement);
            assert_eq!(mounts.is_ok(), is_left_out, "{name}: {mounts:?}");
            if let Ok(mounts) = mounts {
                assert_eq!(mounts.len(), 3);
                fs::remove_dir_all(path.join("above")).expect("removes");
                assert_eq!(super::mounts(&confinement).expect("they need not be there").len(), 1);
            }
        }
        let error = exchanged(&path.join("gone"));
        assert!(error.to_string().contains("was replaced in the meantime"), "{error}");
        let _ = fs::remove_dir(path.with_extension("was"));
    }

    #[test]
    fn what_is_hidden_lies_over_all_but_what_a_person_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        for name in ["a/home/work", "a/home/traces"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        fs::write(root.join("token"), "x").expect("writes");
        let mut confinement = Confinement::new(vec![root.join("a"), root.join("a/home/work")], Network::Closed);
        confinement.hidden =
            ["a/home", "token"].map(|name| crate::sandbox::HiddenPlace::new(&root.join(name))).to_vec();
        confinement.visible = vec![root.join("a/home/work")];
        let mounts = mounts(&confinement).expect("are there");
        let views: Vec<_> = mounts
            .iter()
            .map(|(mount, view)| (mount.path.strip_prefix(&root).expect("inside").to_str(), *view))
            .collect();
        assert_eq!(
            views,
            [
                (Some("a"), View::Open),
                (Some("a/home"), View::Hidden(Kind::Folder)),
                (Some("a/home/work"), View::Open),
                (Some("token"), View::Hidden(Kind::File)),
            ]
        );
        let words = arguments(&confinement, &mounts);
        assert_eq!(words[words.len() - 2..], ["--remount-ro".into(), root.join("a/home").into_os_string()]);
    }

    #[test]
    fn folders_above_what_is_closed_cannot_be_renamed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        for name in ["a/b/c/.git", "a/b/c/.trace/open", "a/d"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        std::os::unix::fs::symlink(root.join("a"), root.join("link")).expect("a link");
        let views = |open: &[&str]| {
            let open = open.iter().map(|name| root.join(name)).collect();
            let mounts = mounts(&Confinement::new(open, Network::Closed)).expect("are there");
            let name = |path: &Path| path.strip_prefix(&root).expect("inside").display().to_string();
            mounts.iter().map(|(mount, view)| (name(&mount.path), *view)).collect::<Vec<_>>()
        };
        let expected =
            |views: &[(&str, View)]| views.iter().map(|(name, view)| ((*name).to_owned(), *view)).collect::<Vec<_>>();
        let closed = [("a/b/c/.git", View::Closed), ("a/b/c/.trace", View::Closed)];
        let around = [("a", View::Open), ("a/b", View::Open), ("a/b/c", View::Open)];
        assert_eq!(views(&["a/b/c"]), expected(&[&around[2..], &closed].concat()));
        let mut nested = around;
        nested[1].1 = View::OpenIfThere;
        assert_eq!(views(&["a", "a/b/c"]), expected(&[&nested[..], &closed].concat()));
        assert_eq!(views(&["a"]), expected(&around[..1]));
        // A folder that is named by itself is writable, whatever is around it; one behind a symlink is not.
        let inner = ("a/b/c/.trace/open", View::Open);
        assert_eq!(
            views(&["a/b/c", "a/b/c/.trace/open", "link/d"]),
            expected(&[&around[2..], &closed, &[inner]].concat())
        );
    }
}
