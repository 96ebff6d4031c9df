//! Bubblewrap around the launcher: views of files, processes and networks of a command's own, beside what Landlock and the
//! filter refuse.
//!
//! Landlock opens whole folders; mounts can keep a folder inside an open one closed. In a process namespace of its own a command
//! sees no other process, and all that it started ends when the first process of the namespace is ended, sessions of their own
//! included. The group that is signalled holds that process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::confinement::{Confinement, PROTECTED_NAMES, real_path};
use super::error::SandboxError;
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
    command.args(arguments(&everything)).args(["--", "/bin/sh", "-c", ":"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let told = command.output().map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    if told.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&told.stderr);
    Err(format!("{} does not work here: {}", program.display(), why.lines().next().unwrap_or("it does not say why")))
}

/// Returns the words behind the program that set up the views of one command.
pub(super) fn arguments(confinement: &Confinement) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"].map(OsString::from).into();
    if confinement.network == Network::Closed {
        words.push("--unshare-net".into());
    }
    for (option, place) in [("--dev", "/dev"), ("--proc", "/proc")] {
        words.extend([option.into(), place.into()]);
    }
    let mut mount = |option: &str, path: PathBuf| {
        let path = path.into_os_string();
        words.extend([option.into(), path.clone(), path]);
    };
    let mut writable: Vec<PathBuf> =
        confinement.writable.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    // What lies in another one is mounted over it.
    writable.sort();
    writable.dedup();
    for folder in writable {
        mount("--bind", folder);
    }
    for path in confinement.protected() {
        mount("--ro-bind", path);
    }
    // First of all, so that all others lie over it.
    let mut all: Vec<OsString> = ["--ro-bind", "/", "/"].map(OsString::from).into();
    all.append(&mut words);
    all
}

impl Confinement {
    /// Returns what stays closed inside of open folders, links resolved: what decides which programs are run later on. What is
    /// open by itself is left out, and so is what does not exist. Only bubblewrap can see to it for commands.
    pub fn protected(&self) -> Vec<PathBuf> {
        let open: Vec<PathBuf> = self.writable.iter().filter_map(|folder| real_path(folder)).collect();
        let mut protected: Vec<PathBuf> = Vec::new();
        for folder in &open {
            for name in PROTECTED_NAMES {
                let Ok(path) = folder.join(name).canonicalize() else { continue };
                protected.extend(pointed_to(&path));
                protected.push(path);
            }
        }
        protected.retain(|path| !open.contains(path) && open.iter().any(|folder| path.starts_with(folder)));
        protected.sort();
        protected.dedup();
        protected
    }
}

/// Longest `.git` file that is read.
const MAX_POINTER_BYTES: u64 = 4096;

/// Returns the folder that a `.git` file names, which work trees and submodules have instead of the folder.
fn pointed_to(path: &Path) -> Option<PathBuf> {
    if !path.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_POINTER_BYTES) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let folder = text.strip_prefix("gitdir:")?.trim();
    path.parent()?.join(folder).canonicalize().ok()
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
        let words: Vec<String> =
            arguments(&confinement).into_iter().map(|word| word.to_str().expect("a text").to_owned()).collect();
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
}
