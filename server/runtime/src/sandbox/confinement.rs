//! A policy made concrete for one command.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hidden::{self, HiddenPlace};
use super::paths::{real_path, slash_tmp};
use super::place;
use crate::settings::{Network, SandboxPolicy};

/// Processes and threads that one command may have at a time, unless a policy says otherwise. They count for the user as a
/// whole, so those that there are when the command begins come on top. The kernel does not count those of root.
pub const MAX_PROCESSES: u32 = 4096;

/// Folders that stay closed for patches in open folders, and for commands at the top of open folders where bubblewrap is used.
/// Git runs what its folder says (hooks, filters, editors), a server what its configuration says.
pub(super) const PROTECTED_NAMES: [&str; 2] = [".git", ".trace"];

/// Whose the folder `/dev` is that a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// The one of the machine.
    Shared,
    /// One that bubblewrap made for this command.
    Private,
}

/// What one command may touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Folders that it may write to, with all that is in them, by paths without links. Those that are missing are passed over,
    /// and so are those to which a link leads: a command before this one may have made it.
    pub writable: Vec<PathBuf>,
    /// Those of them that are for temporary files and that no person named. Other programs make and remove repositories there all
    /// the time, so repositories in them are not looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temporary: Vec<PathBuf>,
    /// Folders and files that it may not read, with all that is in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<HiddenPlace>,
    /// Folders in hidden ones that it may read all the same, since a person named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<PathBuf>,
    /// What stays closed in open folders beside `.git` and `.trace` at their top: repositories, and what was not searched for them.
    /// Patches heed it, and commands where bubblewrap is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<PathBuf>,
    /// The `.git` folders at the top of open folders that commands of this server made. They stay open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// Whether it reaches the network.
    pub network: Network,
    /// How many processes and threads it may have at a time, beside those that there are; see [`MAX_PROCESSES`].
    pub processes: u32,
    /// The control group that it joins, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<PathBuf>,
}

impl Confinement {
    /// Returns a confinement to some folders, in which nothing is hidden.
    pub fn new(writable: Vec<PathBuf>, network: Network) -> Self {
        let (temporary, hidden, visible, closed, made) = Default::default();
        Self { writable, temporary, hidden, visible, closed, made, network, processes: MAX_PROCESSES, group: None }
    }

    /// Hides places. A folder in a hidden one that a person named can be read; the hidden one itself cannot, whoever names it.
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

    /// Returns what a policy opens, with nothing hidden.
    pub(super) fn opening(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Option<Self> {
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
                // A policy is handed over as text. A folder that is none stays closed.
                writable.retain(|folder| folder.to_str().is_some());
                Some(Self { temporary, ..Self::new(writable, *network) })
            }
        }
    }

    /// Tells whether a file lies in a folder that is open for writing, links resolved, and in no `.git` or `.trace`
    /// of it. The file need not exist.
    pub fn allows_writing(&self, path: &Path) -> bool {
        real_path(path).is_some_and(|real| self.allows_writing_at(&real))
    }

    /// Tells the same of a path without links.
    pub(crate) fn allows_writing_at(&self, real: &Path) -> bool {
        !self.hides(real)
            && !self.closed.iter().any(|closed| real.starts_with(closed))
            && self.writable.iter().any(|root| {
                real.strip_prefix(root).is_ok_and(|below| {
                    // Some file systems do not tell capital letters from small ones.
                    let is_free = |part: &OsStr| PROTECTED_NAMES.iter().all(|name| !part.eq_ignore_ascii_case(name));
                    below.components().all(|part| is_free(part.as_os_str()))
                })
            })
    }

    /// Tells whether a path without links lies in a hidden place, also if that is reached by another mount. If another folder lies where a
    /// hidden one was, everything counts as hidden: the first one may lie anywhere.
    pub(crate) fn hides(&self, real: &Path) -> bool {
        let is_in = |place: &Path| {
            real.starts_with(place)
                && !self.visible.iter().any(|folder| folder.starts_with(place) && real.starts_with(folder))
        };
        self.hidden.iter().any(|place| is_in(place.path()))
            || hidden::within_reach(&self.hidden).map_or(true, |paths| paths.iter().any(|path| is_in(path)))
    }

    /// Tells whether a hidden place lies below a folder.
    pub(crate) fn hides_below(&self, folder: &Path) -> bool {
        self.hidden.iter().any(|place| place.path().starts_with(folder))
    }

    /// Returns folders that stay closed although they should be open: a link leads to them, and whoever made it could open
    /// any folder by it.
    pub fn behind_links(&self) -> Vec<&Path> {
        self.writable.iter().map(PathBuf::as_path).filter(|folder| place::is_behind_a_link(folder)).collect()
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
        let opening =
            |policy: &SandboxPolicy| Confinement::opening(policy, Path::new("/work"), Some(Path::new("/var/tmp/me")));
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
        let confinement = Confinement::opening(&workspace(ClosedTemporary::default()), odd, None).expect("a policy");
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
            let mut confinement = Confinement::opening(&policy, &root.join(cwd), None).expect("a confinement");
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
            // A folder in the home that a person names, and what lies beside it.
            ("home/work", "home/work/x", false),
            ("home/work", "home/config.toml", true),
            ("home/traces/work", "home/traces/work/x", false),
            ("home/traces/work", "home/traces/x", true),
            // The hidden folders themselves are named in vain.
            ("home", "home/x", true),
            ("home/traces", "home/traces/x", true),
        ] {
            let (confinement, path) = (of(cwd), root.join(path));
            assert_eq!(confinement.hides(&path), is_hidden, "{cwd}: {}", path.display());
            assert!(!is_hidden || !confinement.allows_writing_at(&path), "{cwd}: {}", path.display());
        }
        assert_eq!(of("home").writable, [PathBuf::from("/data")]);
    }

    /// Mounts made by root in a view of files of its own: the whole hidden folder, a part of it, and one around it.
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
