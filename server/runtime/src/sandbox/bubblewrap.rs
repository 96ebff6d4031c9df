//! Bubblewrap around the launcher: views of files, processes and networks of a command's own, beside what Landlock and the
//! filter refuse.
//!
//! Landlock opens whole folders; mounts can keep a folder inside an open one closed. In a process namespace of its own a command
//! sees no other process, and all that it started ends when the first process of the namespace is ended, sessions of their own
//! included. The group that is signalled holds that process.
//!
//! Bubblewrap mounts by paths, and a command that runs already may exchange what lies on them. So it is held against what was
//! looked up before ([`Mount`]), from inside, when nothing can be exchanged any more. A mount cannot be renamed: that keeps what is
//! closed where it is, if all folders between it and the open one around it are mounts too.

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
    /// Where it is installed and works.
    #[default]
    Auto,
    /// It is not.
    Never,
    /// It is, or nothing is confined at all.
    Require,
}

/// Where systems have it. A program of this name elsewhere is somebody's own.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

impl Bubblewrap {
    /// Returns the program if it is to be used. It is tried once: where users may have no namespaces of their own, it is there
    /// and does not work.
    ///
    /// # Errors
    ///
    /// When it is required and cannot be used.
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
    Err(format!("{} does not work here: {}", program.display(), why.lines().next().unwrap_or("it does not say why")))
}

/// How a command sees a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// It can be written.
    Open,
    /// The same for a folder above a closed one, which may be gone before it is mounted, with what is in it.
    OpenIfThere,
    /// It can be read.
    Closed,
    /// The same for a repository, which may be gone before it is mounted.
    ClosedIfThere,
    /// It is empty.
    Hidden(Kind),
}

/// What is put over a hidden place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
}

/// Returns what is mounted over everything else, which can be read only: the open folders, what stays closed in them, and what
/// is hidden. What lies in another one comes behind it.
///
/// # Errors
///
/// One of them was there a moment ago and cannot be held now. What should be closed would be open without it.
pub(super) fn mounts(confinement: &Confinement) -> Result<Vec<(Mount, View)>, SandboxError> {
    let mut views: BTreeMap<PathBuf, View> = BTreeMap::new();
    let open: Vec<PathBuf> = confinement.open();
    let protected = confinement.protected();
    let hidden = hidden::within_reach(&confinement.hidden)?;
    let is_closed = |path: &Path| protected.iter().chain(&hidden).any(|closed| path.starts_with(closed));
    for path in open.iter().chain(&protected).chain(&confinement.closed).chain(&hidden) {
        // Who could rename a folder above it could put another one in its place.
        let above = path.ancestors().skip(1).take_while(|above| open.iter().any(|folder| above.starts_with(folder)));
        views.extend(above.filter(|above| !is_closed(above)).map(|above| (above.to_owned(), View::OpenIfThere)));
    }
    // A link cannot be mounted over; what it leads to is looked at by itself.
    let closed = confinement.closed.iter().filter(|path| !path.is_symlink());
    views.extend(closed.map(|path| (path.clone(), View::ClosedIfThere)));
    views.extend(protected.iter().map(|path| (path.clone(), View::Closed)));
    views.extend(
        confinement.visible.iter().filter(|path| place::open(path).is_ok()).map(|path| (path.clone(), View::Closed)),
    );
    views.extend(open.into_iter().map(|path| (path, View::Open)));
    for path in hidden {
        let kind = if path.is_dir() { Kind::Folder } else { Kind::File };
        // A hidden folder may itself lie in one that a person named.
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
    let reason = format!("{} was exchanged meanwhile; run the command again", path.display());
    SandboxError::Step { step: "mounting folders", reason }
}

/// Returns the words behind the program that set up the views of one command.
pub(super) fn arguments(confinement: &Confinement, mounts: &[(Mount, View)]) -> Vec<OsString> {
    // First of all, so that all others lie over it.
    let mut words: Vec<OsString> = [
        "--ro-bind",
        "/",
        "/",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        // A server that is killed ends nothing any more.
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
    // What lies in them is mounted by now.
    for (mount, _) in mounts.iter().filter(|(_, view)| *view == View::Hidden(Kind::Folder)) {
        words.extend(["--remount-ro".into(), mount.path.clone().into_os_string()]);
    }
    words
}

impl Confinement {
    /// Returns what stays closed inside of open folders, links resolved: what decides which programs are run later on. What is
    /// open by itself is left out, and so is what a command made and what does not exist. Only bubblewrap can see to it for commands.
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

    /// Returns the open folders that are there.
    pub(super) fn open(&self) -> Vec<PathBuf> {
        self.writable.iter().filter(|folder| place::open(folder).is_ok()).cloned().collect()
    }
}

/// Returns the folder that a `.git` file names, which work trees and submodules have instead of the folder. `around` is the folder in
/// which Git finds the file.
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
        // What is not open need not be closed.
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
                // Its folders above go with it.
                fs::create_dir_all(path.join("above/it")).expect("a folder");
                confinement.closed.extend([path.join(name), path.join("above/it/gone")]);
            } else {
                // Somebody puts a link there between two looks.
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
        assert!(error.to_string().contains("was exchanged meanwhile"), "{error}");
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
        // A folder that is named by itself is open, whatever is around it; one behind a link is not.
        let inner = ("a/b/c/.trace/open", View::Open);
        assert_eq!(
            views(&["a/b/c", "a/b/c/.trace/open", "link/d"]),
            expected(&[&around[2..], &closed, &[inner]].concat())
        );
    }
}
