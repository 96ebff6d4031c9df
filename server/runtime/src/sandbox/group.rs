//! Control groups of commands: they limit processes even for root and make it possible to kill everything that a command
//! left behind.
//!
//! Each command gets a group if the server may create groups below its own group, its parent group, or the root of the
//! hierarchy. The server creates the group, the launcher joins it before anything else, and the server kills what is left
//! in it and removes it. A starting server removes groups of killed servers. The name of a group contains the process
//! namespace, the pid and the start time of its server, so that a server can tell whether another one still runs; groups of
//! other namespaces are left alone. A command is never moved out of a group that limits anything except processes, such as
//! memory. If no group can be created, commands run without one and nothing fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::SandboxError;

/// Prefix of group names. The server follows, formatted as [`Owner`], and then a number.
const PREFIX: &str = "trace-command-";

/// Files with limits that a command must not escape by moving to another group, with their content if no limit is set. The
/// limit on processes is not among them, because each group of a command has one.
const LIMITS: [(&str, &str); 9] = [
    ("memory.max", "max"),
    ("memory.high", "max"),
    ("memory.swap.max", "max"),
    ("memory.swap.high", "max"),
    ("memory.zswap.max", "max"),
    ("cpu.max", "max"),
    ("io.max", ""),
    ("cpuset.cpus", ""),
    ("cpuset.mems", ""),
];

/// Number of checks whether killed processes have ended, before the group is left to the next server.
const TRIES: usize = 200;

/// Creates control groups for commands, where the system permits it.
#[derive(Debug, Default)]
pub struct ControlGroups {
    base: Option<PathBuf>,
    owner: Option<Owner>,
    next: AtomicU64,
}

/// Identifies a server in group names: `NAMESPACE-PROCESS-START`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    /// Number of the process namespace. Pids are unique only within one.
    namespace: u64,
    pid: u32,
    /// Start time in clock ticks since boot. It distinguishes processes that got the same pid one after the other.
    start: u64,
}

/// The group of one command. Dropping it kills the processes in it and removes the group.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
}

impl ControlGroups {
    /// Finds a place where groups can be created, and removes groups that killed servers left there.
    #[must_use]
    pub fn find() -> Self {
        let own = if cfg!(target_os = "linux") { Owner::own() } else { None };
        let Some(owner) = own else { return Self::default() };
        let base = bases().into_iter().find(|base| works(base, owner));
        if let Some(base) = &base {
            sweep(base, owner);
        }
        Self { base, owner: Some(owner), next: AtomicU64::new(0) }
    }

    /// Returns whether commands get groups.
    #[must_use]
    pub fn are_there(&self) -> bool {
        self.base.is_some()
    }

    /// Creates a group for a command that limits its processes and threads.
    #[must_use]
    pub fn make(&self, processes: u32) -> Option<Arc<ControlGroup>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.base.as_ref()?.join(self.owner?.group(number));
        let group = make(path, processes);
        group.inspect_err(|error| tracing::debug!(%error, "a command runs without a control group")).ok().map(Arc::new)
    }
}

impl Owner {
    /// Returns the identity of this process. `None` if `/proc` shows another process namespace, where the pid has another
    /// meaning.
    fn own() -> Option<Self> {
        let pid = std::process::id();
        let seen = fs::read_link("/proc/self").ok()?;
        if seen.to_str()?.parse() != Ok(pid) {
            return None;
        }
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        let namespace = namespace.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()?;
        Some(Self { namespace, pid, start: start(pid)? })
    }

    fn group(self, number: u64) -> String {
        let Self { namespace, pid, start } = self;
        format!("{PREFIX}{namespace}-{pid}-{start}-{number}")
    }

    /// Parses the owner from the name of a group.
    fn of(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let owner = Self {
            namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
        };
        parts.next()?.parse::<u64>().ok()?;
        parts.next().is_none().then_some(owner)
    }

    /// Returns whether this server has ended, as seen by another one. A server cannot see processes of other namespaces.
    fn has_ended(self, seen_by: Self) -> bool {
        self.namespace == seen_by.namespace && start(self.pid) != Some(self.start)
    }
}

/// Returns the start time of a process. `None` if there is no such process.
fn start(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The process name may contain any character. The state, field 3, follows it, and the start time is field 22.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn make(path: PathBuf, processes: u32) -> io::Result<ControlGroup> {
    fs::create_dir(&path)?;
    let group = ControlGroup { path };
    fs::write(group.path.join("pids.max"), processes.to_string())?;
    Ok(group)
}

impl ControlGroup {
    /// Returns the path of the group.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kills all processes in the group.
    pub fn kill(&self) {
        kill(&self.path);
    }
}

impl ControlGroup {
    /// Kills all processes in the group and waits about a second at most until they have ended.
    fn end(self) {
        for _ in 0..TRIES {
            kill(&self.path);
            if remove(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if remove(&self.path).is_ok() {
            return;
        }
        // Killed processes need a moment to end.
        let path = self.path.clone();
        let patient = move || {
            for _ in 0..TRIES {
                kill(&path);
                if remove(&path).is_ok() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            tracing::warn!(group = %path.display(), "cannot remove the control group of a command");
        };
        let _ = std::thread::Builder::new().name("trace-group".to_owned()).spawn(patient);
    }
}

/// Moves the calling process into a group.
///
/// # Errors
///
/// Returns an error if the system refuses. The command must not start then, because it would have no limit.
pub(super) fn join(group: &Path) -> Result<(), SandboxError> {
    fs::write(group.join("cgroup.procs"), "0")
        .map_err(|error| SandboxError::Step { step: "joining the control group", reason: error.to_string() })
}

fn kill(path: &Path) {
    // `cgroup.kill` exists since Linux 5.14, and only in version 2 of the hierarchy.
    if fs::write(path.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // A limit of 0 keeps the group from growing while its processes are killed one by one.
    let _ = fs::write(path.join("pids.max"), "0");
    let Ok(processes) = fs::read_to_string(path.join("cgroup.procs")) else { return };
    let ids = processes.lines().filter_map(|line| rustix::process::Pid::from_raw(line.parse().ok()?));
    for id in ids {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes groups of servers that have ended.
fn sweep(base: &Path, own: Owner) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(Owner::of);
        if owner.is_some_and(|owner| owner.has_ended(own)) {
            ControlGroup { path: entry.path() }.end();
        }
    }
}

/// Returns whether this process can create a group with a limit there and a child can join it.
fn works(base: &Path, own: Owner) -> bool {
    let path = base.join(own.group(u64::MAX));
    let Ok(group) = make(path, 1) else { return false };
    let file = group.path.join("cgroup.procs");
    let mut child = std::process::Command::new("/bin/sh");
    child.args(["-c", "echo 0 > \"$0\""]).arg(file).stdin(std::process::Stdio::null());
    child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    child.status().is_ok_and(|status| status.success())
}

/// Returns the places where groups may be created: below the group of this process, its parent group, and the root of the
/// hierarchy that limits processes, as far as commands escape no other limit there.
fn bases() -> Vec<PathBuf> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    let (groups, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    hierarchies(&groups, &mounts)
        .into_iter()
        .flat_map(|(mount, own)| {
            let own = mount.join(own.trim_start_matches('/'));
            let around = own.parent().filter(|around| around.starts_with(&mount)).map(Path::to_owned);
            let mut bases = vec![own.clone()];
            bases.extend(around);
            bases.push(mount);
            bases.dedup();
            bases.retain(|base| keeps_limits(&own, base));
            bases
        })
        .collect()
}

/// Returns whether a process that moves from the group `own` to one below `base`, which is `own` or an ancestor, keeps all
/// its limits.
fn keeps_limits(own: &Path, base: &Path) -> bool {
    own.ancestors().take_while(|group| *group != base).all(|group| !has_limits(group))
}

fn has_limits(group: &Path) -> bool {
    LIMITS.iter().any(|(file, none)| {
        fs::read_to_string(group.join(file))
            .is_ok_and(|limit| limit.split_whitespace().next().unwrap_or_default() != *none)
    })
}

/// Returns the hierarchies that can limit processes: their mount points, and the group of this process in each.
fn hierarchies(groups: &str, mounts: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let Some((before, behind)) = line.split_once(" - ") else { continue };
        let mut point = before.split(' ').skip(3);
        let (Some("/"), Some(point)) = (point.next(), point.next()) else { continue };
        let mut behind = behind.split(' ');
        let kind = behind.next();
        let options = behind.nth(1).unwrap_or_default();
        let is_wanted = |names: &str| match kind {
            Some("cgroup2") => names.is_empty(),
            Some("cgroup") => {
                options.split(',').any(|option| option == "pids") && names.split(',').any(|name| name == "pids")
            }
            _ => false,
        };
        let own = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (names, path) = (parts.next()?, parts.next()?);
            is_wanted(names).then(|| path.to_owned())
        });
        found.extend(own.map(|own| (PathBuf::from(point), own)));
    }
    found
}

#[cfg(test)]
mod tests {
    use trace_needs::{Need, skip};

    use super::*;

    #[test]
    fn both_kinds_of_hierarchies_are_found() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      2 0 0:2 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      3 0 0:3 / /sys/fs/cgroup/unified rw shared:1 - cgroup2 cgroup2 rw\n\
                      4 0 0:3 /part /mnt rw - cgroup2 cgroup2 rw\n5 0 0:4 / / rw - ext4 /dev/a rw\n";
        let groups = "9:x:/y\n8:pids:/a/b\n1:name=systemd:/\n0::/c\n";
        assert_eq!(
            hierarchies(groups, mounts),
            [("/sys/fs/cgroup/pids".into(), "/a/b".to_owned()), ("/sys/fs/cgroup/unified".into(), "/c".to_owned())]
        );
        assert!(hierarchies("", mounts).is_empty() && hierarchies(groups, "").is_empty());
    }

    #[test]
    fn a_group_goes_with_its_processes_and_those_of_dead_servers_too() {
        let groups = ControlGroups::find();
        let Some(base) = &groups.base else {
            return skip(Need::ControlGroups, "the end of a control group, and of those that dead servers left");
        };
        let group = groups.make(16).expect("it can be made");
        let path = group.path().to_owned();
        let mut child = std::process::Command::new("sleep");
        let mut child = child.arg("1000").spawn().expect("starts");
        fs::write(path.join("cgroup.procs"), child.id().to_string()).expect("moves");
        group.kill();
        child.wait().expect("ends");
        drop(group);
        while path.exists() {
            std::thread::yield_now();
        }
        let own = Owner::own().expect("known");
        let others = [
            (Owner { pid: u32::MAX, ..own }, "nobody has the number", true),
            (Owner { start: own.start + 1, ..own }, "another process had the number", true),
            (Owner { namespace: own.namespace + 1, pid: u32::MAX, ..own }, "another namespace", false),
            (own, "it runs", false),
        ];
        let others = others.map(|(owner, what, is_swept)| (base.join(owner.group(7)), what, is_swept));
        for (path, what, _) in &others {
            fs::create_dir(path).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        let _ = ControlGroups::find();
        for (path, what, is_swept) in &others {
            if *is_swept {
                while path.exists() {
                    std::thread::yield_now();
                }
            } else {
                fs::remove_dir(path).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
        }
    }

    #[test]
    fn names_tell_the_server() {
        let owner = Owner { namespace: 4_026_531_836, pid: 7, start: 123 };
        assert_eq!(owner.group(5), "trace-command-4026531836-7-123-5");
        assert_eq!(Owner::of(&owner.group(5)), Some(owner));
        for name in [
            "trace-command-7-5",
            "trace-command-1-2-3",
            "trace-command-1-2-3-4-5",
            "trace-command-1-2-x-4",
            "a-1-2-3-4",
        ] {
            assert_eq!(Owner::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_command_is_not_moved_out_of_a_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("slice/unit/part")).expect("folders");
        let set = |group: &str, file: &str, limit: &str| fs::write(at(group).join(file), limit).expect("writes");
        for group in ["slice", "slice/unit", "slice/unit/part"] {
            set(group, "memory.max", "max\n");
            set(group, "cpu.max", "max 100000\n");
            set(group, "io.max", "");
            set(group, "pids.max", "100\n");
        }
        let own = at("slice/unit/part");
        let keeps = |base: &str| keeps_limits(&own, &at(base));
        assert!(keeps("slice/unit/part") && keeps("slice/unit") && keeps(""), "there is no limit but on processes");
        for (file, limit) in [("memory.max", "1000\n"), ("cpu.max", "50000 100000\n"), ("io.max", "8:0 rbps=1\n")] {
            let none = fs::read_to_string(at("slice/unit").join(file)).expect("reads");
            set("slice/unit", file, limit);
            assert!(keeps("slice/unit/part") && keeps("slice/unit") && !keeps("slice") && !keeps(""), "{file}");
            set("slice/unit", file, &none);
        }
    }
}
