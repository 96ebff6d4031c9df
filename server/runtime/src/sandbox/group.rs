//! Control groups of commands: a limit on processes that holds for root too, and a way to end all that a command left behind.
//!
//! Where the server may make groups below its own, below the one around it, or below the root of the hierarchy, each command
//! gets one. The server makes it, the launcher joins it before anything else, and the server ends what is left in it and
//! takes it away. Groups of servers that were killed are taken away when another one starts. Where groups cannot be made,
//! commands run without; nothing fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::SandboxError;

/// How names of groups begin; the process id of the server and a number follow.
const PREFIX: &str = "trace-command-";

/// How often the end of processes that were killed is looked for before a group is left to the next server.
const TRIES: usize = 200;

/// Where groups of commands are made, if they can be.
#[derive(Debug, Default)]
pub struct ControlGroups {
    base: Option<PathBuf>,
    next: AtomicU64,
}

/// The group of one command. It ends with what is in it when it is dropped.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
}

impl ControlGroups {
    /// Finds a place where groups can be made, and takes away what servers left there that were killed.
    #[must_use]
    pub fn find() -> Self {
        let base = if cfg!(target_os = "linux") { bases().into_iter().find(|base| works(base)) } else { None };
        if let Some(base) = &base {
            sweep(base);
        }
        Self { base, next: AtomicU64::new(0) }
    }

    /// Tells whether commands have groups.
    #[must_use]
    pub fn are_there(&self) -> bool {
        self.base.is_some()
    }

    /// Makes a group for a command with a limit on its processes and threads.
    #[must_use]
    pub fn make(&self, processes: u32) -> Option<Arc<ControlGroup>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.base.as_ref()?.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let group = make(path, processes);
        group.inspect_err(|error| tracing::debug!(%error, "a command runs without a control group")).ok().map(Arc::new)
    }
}

fn make(path: PathBuf, processes: u32) -> io::Result<ControlGroup> {
    fs::create_dir(&path)?;
    let group = ControlGroup { path };
    fs::write(group.path.join("pids.max"), processes.to_string())?;
    Ok(group)
}

impl ControlGroup {
    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends everything that is in it.
    pub fn kill(&self) {
        kill(&self.path);
    }
}

impl ControlGroup {
    /// Ends what is in it and waits for that, for about a second at most.
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
        // What was killed takes a moment to end.
        let path = self.path.clone();
        let patient = move || {
            for _ in 0..TRIES {
                kill(&path);
                if remove(&path).is_ok() {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            tracing::warn!(group = %path.display(), "the control group of a command cannot be taken away");
        };
        let _ = std::thread::Builder::new().name("trace-group".to_owned()).spawn(patient);
    }
}

/// Moves the calling process into a group.
///
/// # Errors
///
/// The system refuses. The command would have no limit then, so it is not started.
pub(super) fn join(group: &Path) -> Result<(), SandboxError> {
    fs::write(group.join("cgroup.procs"), "0")
        .map_err(|error| SandboxError::Step { step: "joining the control group", reason: error.to_string() })
}

fn kill(path: &Path) {
    // Linux 5.14, and only in the newer hierarchy.
    if fs::write(path.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // Nothing more is started while they are ended one by one.
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

/// Takes away groups of servers that are no more.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let server = rest.split_once('-').and_then(|(id, _)| id.parse::<u32>().ok());
        if server.is_some_and(|id| id != std::process::id() && !Path::new(&format!("/proc/{id}")).exists()) {
            ControlGroup { path: entry.path() }.end();
        }
    }
}

/// Tells whether a group with a limit can be made there, and entered by a child of this process.
fn works(base: &Path) -> bool {
    let path = base.join(format!("{PREFIX}{}-try", std::process::id()));
    let Ok(group) = make(path, 1) else { return false };
    let file = group.path.join("cgroup.procs");
    let mut child = std::process::Command::new("/bin/sh");
    child.args(["-c", "echo 0 > \"$0\""]).arg(file).stdin(std::process::Stdio::null());
    child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    child.status().is_ok_and(|status| status.success())
}

/// Returns where groups may be made: below the group of this process, the one around it, and the root, in the hierarchy that
/// limits processes.
fn bases() -> Vec<PathBuf> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    let (groups, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    hierarchies(&groups, &mounts)
        .into_iter()
        .flat_map(|(mount, own)| {
            let own = mount.join(own.trim_start_matches('/'));
            let around = own.parent().filter(|around| around.starts_with(&mount)).map(Path::to_owned);
            let mut bases = vec![own];
            bases.extend(around);
            bases.push(mount);
            bases.dedup();
            bases
        })
        .collect()
}

/// Returns the hierarchies in which processes can be counted: where they are mounted, and the group of this process.
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
            #[expect(clippy::print_stderr, reason = "what is not tried is said")]
            {
                eprintln!("SKIPPED: control groups cannot be made here");
            }
            return;
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
        // A number that no process has.
        let dead = base.join(format!("{PREFIX}{}-7", u32::MAX));
        fs::create_dir(&dead).expect("it can be made");
        let _ = ControlGroups::find();
        while dead.exists() {
            std::thread::yield_now();
        }
    }
}
