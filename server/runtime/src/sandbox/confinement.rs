//! A sandbox policy applied to one command.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hidden::{self, HiddenPlace};
use super::paths::{real_path, slash_tmp};
use super::place;
use crate::settings::{Network, SandboxPolicy};

/// Default limit of processes and threads that one command may have at a time. The kernel counts all processes of the user,
/// so the launcher adds the number that exist when the command starts. The kernel does not apply the limit to root.
pub const MAX_PROCESSES: u32 = 4096;

/// Names of folders that stay read-only at the top of writable folders, for patches and, where bubblewrap is used, for
/// commands. Git executes what its folder contains (hooks, filters, editors), and a server obeys the configuration in
/// `.trace`.
pub(super) const PROTECTED_NAMES: [&str; 2] = [".git", ".trace"];

/// Which folder `/dev` a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// The folder of the machine.
    Shared,
    /// A folder that bubblewrap made for this command.
    Private,
}

/// What one command may access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Folders that the command may write to recursively, by paths without symlinks. Missing folders and folders behind a
    /// symlink are skipped: an earlier command may have made the symlink.
    pub writable: Vec<PathBuf>,
    /// The folders of `writable` that are for temporary files and were not named by a user. Other programs create and
    /// delete repositories there all the time, so these folders are not searched for repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temporary: Vec<PathBuf>,
    /// Folders and files that the command may not read, recursively.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<HiddenPlace>,
    /// Folders in hidden places that the command may read nevertheless, because a user named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<PathBuf>,
    /// Places in writable folders that stay read-only, beside `.git` and `.trace` at their top: repositories, and folders
    /// that were not searched for repositories. Patches respect them, and commands do where bubblewrap is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<PathBuf>,
    /// The `.git` folders at the top of writable folders that commands of this server created. They stay writable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// Whether the command may use the network.
    pub network: Network,
    /// Number of processes and threads that the command may have at a time, in addition to those that exist when it starts;
    /// see [`MAX_PROCESSES`].
    pub processes: u32,
    /// The control group that the command joins, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<PathBuf>,
}

impl Confinement {
    /// Returns a confinement with these writable folders and without hidden places.
    pub fn new(writable: Vec<PathBuf>, network: Network) -> Self {
        let (temporary, hidden, visible, closed, made) = Default::default();
        Self { writable, temporary, hidden, visible, closed, made, network, processes: MAX_PROCESSES, group: None }
    }

    /// Adds hidden places. A folder below a hidden place becomes visible if a user named it as the working folder or as a
    /// writable folder. Naming the hidden place itself has no effect.
    pub(super) fn hide(&mut self, hidden: &[HiddenPlace], cwd: &Path) {
        hidden.clone_into(&mut self.hidden);
        let is_hidden = |folder: &Path| hidden.iter().any(|place| place.path() == folder);
        self.writable.retain(|folder| !is_hidden(folder));
        let named = self.writable.iter().map(PathBuf::as_path).chain([cwd]);
        let inside = |folder: &&Path| hidden.iter().any(|place| folder.starts_with(place.path()));
        self.visible = named.filter(inside).filter(|folder| !is_hidden(folder)).map(Path::to_owned).collect();
        self.visible.sort();
        self.visible.dedup();
    }

    /// Returns the confinement that a policy asks for, without hidden places. `None` if the policy does not confine
    /// commands.
    pub(super) fn for_policy(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Option<Self> {
        match policy {
            SandboxPolicy::FullAccess | SandboxPolicy::External { .. } => None,
            SandboxPolicy::ReadOnly { network } => Some(Self::new(Vec::new(), *network)),
            SandboxPolicy::WorkspaceWrite { writable_roots, network, closed } => {
                let mut writable = vec![cwd.to_owned()];
                writable.extend(writable_roots.iter().filter(|root| root.is_absolute()).cloned());
                let mut temporary = Vec::new();
                if !closed.slash_tmp {
                    temporary.push(slash_tmp().to_owned());
                }
                if let Some(tmpdir) = tmpdir.filter(|tmpdir| !closed.tmpdir && tmpdir.is_absolute()) {
                    temporary.push(tmpdir.to_owned());
                }
                temporary.retain(|folder| !writable.contains(folder));
                writable.extend(temporary.iter().cloned());
                let mut seen = HashSet::new();
                writable.retain(|folder| seen.insert(folder.clone()));
                // A policy is passed as text, so a folder whose name is not UTF-8 cannot be in it and is not writable.
                writable.retain(|folder| folder.to_str().is_some());
                Some(Self { temporary, ..Self::new(writable, *network) })
            }
        }
    }

    /// Returns whether a file lies in a writable folder after resolving symlinks, and not in a `.git` or `.trace` folder of
    /// it. The file need not exist.
    pub fn allows_writing(&self, path: &Path) -> bool {
        real_path(path).is_some_and(|real| self.allows_writing_at(&real))
    }

    /// Returns the same as [`Self::allows_writing`] for a path without symlinks.
    pub(crate) fn allows_writing_at(&self, real: &Path) -> bool {
        !self.hides(real)
            && !self.closed.iter().any(|closed| real.starts_with(closed))
            && self.writable.iter().any(|root| {
                real.strip_prefix(root).is_ok_and(|below| {
                    // Some file systems do not distinguish upper case from lower case.
                    let is_free = |part: &OsStr| PROTECTED_NAMES.iter().all(|name| !part.eq_ignore_ascii_case(name));
                    below.components().all(|part| is_free(part.as_os_str()))
                })
            })
    }

    /// Returns whether a path without symlinks lies in a hidden place, possibly reached by another mount. Returns `true`
    /// for every path if a hidden folder was replaced: the original may be anywhere.
    pub(crate) fn hides(&self, real: &Path) -> bool {
        let is_in = |place: &Path| {
            real.starts_with(place)
                && !self.visible.iter().any(|folder| folder.starts_with(place) && real.starts_with(folder))
        };
        self.hidden.iter().any(|place| is_in(place.path()))
            || hidden::within_reach(&self.hidden).map_or(true, |paths| paths.iter().any(|path| is_in(path)))
    }

    /// Returns whether a folder contains a hidden place.
    pub(crate) fn hides_below(&self, folder: &Path) -> bool {
        self.hidden.iter().any(|place| place.path().starts_with(folder))
    }

    /// Returns writable folders of the policy that are not writable because a symlink leads to them: whoever can replace
    /// the symlink could make any folder writable.
    pub fn behind_links(&self) -> Vec<&Path> {
        self.writable.iter().map(PathBuf::as_path).filter(|folder| place::has_symlink(folder)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use trace_needs::{Need, skip};

    use super::super::paths::is_inside;
    use super::*;
    use crate::settings::ClosedTemporary;

    fn workspace(closed: ClosedTemporary) -> SandboxPolicy {
        SandboxPolicy::WorkspaceWrite {
            writable_roots: vec!["/data".into(), "relative".into()],
            network: Network::Closed,
            closed,
        }
    }

    #[test]
    fn a_policy_opens_what_it_names() {
        let opening = |policy: &SandboxPolicy| {
            Confinement::for_policy(policy, Path::new("/work"), Some(Path::new("/var/tmp/me")))
        };
        let open = |policy: &SandboxPolicy| opening(policy).map(|confinement| confinement.writable);
        let paths = |paths: &[&str]| Some(paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(open(&SandboxPolicy::FullAccess), None);
        assert_eq!(open(&SandboxPolicy::External { network: Network::Open }), None);
        assert_eq!(open(&SandboxPolicy::ReadOnly { network: Network::Closed }), paths(&[]));
        assert_eq!(open(&workspace(ClosedTemporary::default())), paths(&["/work", "/data", "/tmp", "/var/tmp/me"]));
        assert_eq!(open(&workspace(ClosedTemporary { tmpdir: true, slash_tmp: true })), paths(&["/work", "/data"]));
        let twice = SandboxPolicy::WorkspaceWrite {
            writable_roots: vec!["/data".into(), "/work".into(), "/data".into()],
            network: Network::Closed,
            closed: ClosedTemporary { tmpdir: true, slash_tmp: true },
        };
        assert_eq!(open(&twice), paths(&["/work", "/data"]));
        let odd = Path::new(OsStr::from_bytes(b"/\xff"));
        let confinement = Confinement::for_policy(&workspace(ClosedTemporary::default()), odd, None).expect("a policy");
        assert_eq!(Some(confinement.writable), paths(&["/data", "/tmp"]));
    }

    #[test]
    fn what_is_hidden_stays_hidden_but_for_folders_that_a_person_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        std::fs::create_dir_all(root.join("home/traces/work")).expect("a folder");
        let hidden = ["home", "home/traces"].map(|name| HiddenPlace::new(&root.join(name))).to_vec();
        let of = |cwd: &str| {
            let policy = workspace(ClosedTemporary { tmpdir: true, slash_tmp: true });
            let mut confinement = Confinement::for_policy(&policy, &root.join(cwd), None).expect("a confinement");
            confinement.hide(&hidden, &root.join(cwd));
            confinement
        };
        for (cwd, path, is_hidden) in [
            ("other", "home", true),
            ("other", "home/config.toml", true),
            ("other", "home2", false),
            ("other", "other", false),
            ("", "home/traces/x", true),
            ("", "x", false),
            // A folder in the home that a user names, and its siblings.
            ("home/work", "home/work/x", false),
            ("home/work", "home/config.toml", true),
            ("home/traces/work", "home/traces/work/x", false),
            ("home/traces/work", "home/traces/x", true),
            // Naming a hidden folder itself has no effect.
            ("home", "home/x", true),
            ("home/traces", "home/traces/x", true),
        ] {
            let (confinement, path) = (of(cwd), root.join(path));
            assert_eq!(confinement.hides(&path), is_hidden, "{cwd}: {}", path.display());
            assert!(!is_hidden || !confinement.allows_writing_at(&path), "{cwd}: {}", path.display());
        }
        assert_eq!(of("home").writable, [PathBuf::from("/data")]);
    }

    /// Root can mount a hidden folder, a part of it, or a folder around it in a mount namespace of its own.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_hidden_is_hidden_by_other_mounts_too() {
        const INSIDE: &str = "TRACE_TEST_MOUNTS";
        if let Some(root) = std::env::var_os(INSIDE).map(PathBuf::from) {
            let mut confinement = Confinement::new(vec![root.join("work")], Network::Open);
            confinement.hidden = vec![HiddenPlace::new(&root.join("around/home"))];
            for (name, is_hidden) in [
                ("work/whole/config.toml", true),
                ("work/whole/threads/x", true),
                ("work/whole/new", true),
                ("work/part/x", true),
                ("work/around/home/config.toml", true),
                ("work/around/other", false),
                ("work/file", false),
            ] {
                let path = root.join(name);
                assert_eq!(confinement.hides(&path), is_hidden, "{name}");
                assert_eq!(confinement.allows_writing(&path), !is_hidden, "{name}");
                if path.exists() {
                    let opened = crate::tool::regular::open(&path, Some(&confinement));
                    assert_eq!(opened.is_err(), is_hidden, "{name}: {opened:?}");
                }
            }
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        for name in ["around/home/threads", "work/whole", "work/part", "work/around"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        for name in ["around/home/config.toml", "around/home/threads/x", "around/other", "work/file"] {
            std::fs::write(root.join(name), "x").expect("writes");
        }
        let mounts = "mount --bind around/home work/whole && mount --bind around/home/threads work/part && \
                      mount --bind around work/around";
        let unshared = |line: &str| {
            let mut command = std::process::Command::new("unshare");
            command.args(["--mount", "sh", "-c", line]).current_dir(&root);
            command
        };
        if !unshared(mounts).output().is_ok_and(|output| output.status.success()) {
            return skip(Need::Mounts, "hidden places behind mounts: mounting takes root and `unshare`");
        }
        let name = std::thread::current().name().expect("a test").to_owned();
        let mut inside = unshared(&format!("{mounts} && exec \"$0\" --exact {name} --nocapture"));
        let status = inside.arg(std::env::current_exe().expect("a program")).env(INSIDE, &root).status();
        assert!(status.expect("it runs").success());
    }

    #[test]
    fn links_and_git_folders_lead_out_of_the_open_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path").join("work");
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::create_dir(folder.path().join("other")).expect("a folder");
        std::os::unix::fs::symlink(folder.path().join("other"), root.join("link")).expect("a link");
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("broken")).expect("a link");
        let confinement = Confinement::new(vec![root.clone()], Network::Closed);
        for (path, allowed) in [
            ("a", true),
            ("sub/new/deep/file", true),
            ("sub/../a", true),
            (".", true),
            ("link/a", false),
            ("../other/a", false),
            ("broken", false),
            ("broken/x", false),
            ("new/../../other/a", false),
            (".git/config", false),
            ("sub/.git", false),
            (".trace/config.toml", false),
            (".gitignore", true),
        ] {
            assert_eq!(confinement.allows_writing(&root.join(path)), allowed, "{path}");
        }
        assert!(!confinement.allows_writing(Path::new("relative")));
        assert!(is_inside(&root.join("sub"), &root) && !is_inside(&root.join("link/x"), &root));
    }
}
