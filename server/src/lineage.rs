//! Determines whether a process descends from this one.
//!
//! Every process that the server starts is its descendant, and stays so when its parents end, because the server adopts
//! orphans ([`keep_descendants`](crate::transport::keep_descendants)). A process cannot change its parent. A command
//! can therefore not hide its origin by changing its session, group, environment, name, user or namespaces.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use trace_runtime::sandbox;

/// Most ancestors of a process that are examined.
const MAX_GENERATIONS: usize = 1_024;

/// How often to start again if an ancestor has ended in the meantime.
const WALK_ATTEMPTS: usize = 32;

/// A part of the content of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) name: String,
    pub(crate) parent: u32,
    /// Start time in clock ticks since the system started. Together with the id, it identifies a process.
    pub(crate) start: u64,
    pub(crate) is_zombie: bool,
}

/// The relation of a process to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lineage {
    /// It is this process.
    Own,
    /// This process is an ancestor of it.
    Descendant,
    /// It runs in the sandbox of another server, which may have ended.
    ConfinedElsewhere,
    /// None of the above.
    Outside,
}

/// Returns the id of this process in the PID namespace of `/proc`.
pub(crate) fn own_pid() -> io::Result<u32> {
    let target = fs::read_link("/proc/self")?;
    target.to_str().and_then(|pid| pid.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads the state of a process.
///
/// # Errors
///
/// Returns an error of kind [`io::ErrorKind::NotFound`] if there is no such process.
pub(crate) fn stat(pid: u32) -> io::Result<Stat> {
    parse_stat(&read(pid, "stat")?).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn read(pid: u32, file: &str) -> io::Result<String> {
    let bytes = fs::read(Path::new("/proc").join(pid.to_string()).join(file)).map_err(|error| {
        // The process may end between opening and reading the file.
        match error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) {
            true => io::ErrorKind::NotFound.into(),
            false => error,
        }
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name can contain any characters, also parentheses and line breaks.
    let (head, rest) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = rest.split_ascii_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    // `starttime` is field 22, and the state is field 3.
    let start = fields.nth(17)?.parse().ok()?;
    Some(Stat { name, parent, start, is_zombie })
}

/// Returns whether a process is confined in the way in which this program confines commands: without new privileges,
/// and behind a filter of system calls. This also holds for other programs, such as services and containers.
pub(crate) fn is_confined(pid: u32) -> io::Result<bool> {
    let status = read(pid, "status")?;
    let has = |name: &str, value: &str| {
        status.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.trim() == value))
    };
    Ok(has("NoNewPrivs:", "1") && has("Seccomp:", "2"))
}

/// Returns whether a process runs for a user. It compares the real, effective, saved and file system user ids.
pub(crate) fn runs_for(pid: u32, user: u32) -> io::Result<bool> {
    Ok(has_user(&read(pid, "status")?, user))
}

fn has_user(status: &str, user: u32) -> bool {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    users.split_ascii_whitespace().any(|uid| uid.parse() == Ok(user))
}

/// Follows the ancestors of a process, until it reaches this process or the first process of the system.
///
/// # Errors
///
/// Returns an error if the process has ended, or if its ancestors end too often during the walk.
pub(crate) fn lineage(pid: u32, own: u32) -> io::Result<Lineage> {
    for _ in 0..WALK_ATTEMPTS {
        if let Some(chain) = chain(pid, own)? {
            return judged(&chain, own);
        }
    }
    Err(io::Error::other("its ancestors change too often to be determined"))
}

/// A process in a chain of ancestors.
struct Link {
    pid: u32,
    stat: Stat,
}

/// Returns a process and its ancestors up to this process. Returns `None` if one of them has ended in the meantime.
fn chain(pid: u32, own: u32) -> io::Result<Option<Vec<Link>>> {
    let mut chain = vec![Link { pid, stat: stat(pid)? }];
    if chain[0].stat.is_zombie {
        return Err(io::ErrorKind::NotFound.into());
    }
    while let Some(last) = chain.last() {
        if last.pid == own || last.stat.parent == 0 {
            return Ok(Some(chain));
        }
        if chain.len() == MAX_GENERATIONS {
            return Err(io::Error::other("it has too many ancestors"));
        }
        let parent = match stat(last.stat.parent) {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // If the child still has this parent, the parent was alive all the time, and its id was not reused.
        match stat(last.pid) {
            Ok(again) if again == last.stat && parent.start <= again.start => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let pid = last.stat.parent;
        chain.push(Link { pid, stat: parent });
    }
    Ok(None)
}

fn judged(chain: &[Link], own: u32) -> io::Result<Lineage> {
    if chain[0].pid == own {
        return Ok(Lineage::Own);
    }
    if chain.last().is_some_and(|last| last.pid == own) {
        return Ok(Lineage::Descendant);
    }
    // A command whose server has ended has no ancestor that shows its origin, but it has a mark.
    if sandbox::marked(chain[0].pid)?.is_some() {
        return Ok(Lineage::ConfinedElsewhere);
    }
    let name = stat(own)?.name;
    let Some(server) = chain.iter().skip(1).rposition(|link| link.stat.name == name).map(|place| place + 1) else {
        return Ok(Lineage::Outside);
    };
    for link in &chain[..server] {
        if is_confined(link.pid)? {
            // If the server is itself confined by the program that started it, all of its children are confined too.
            return match is_confined(chain[server].pid)? {
                true => Ok(Lineage::Outside),
                false => Ok(Lineage::ConfinedElsewhere),
            };
        }
    }
    Ok(Lineage::Outside)
}

/// A process in a list of all processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    parent: u32,
}

/// Lists all processes. Processes start and end during the listing, so the result is not a proof for a single process.
///
/// # Errors
///
/// Returns an error if the list of processes cannot be read.
pub(crate) fn all() -> io::Result<Vec<Listed>> {
    // If a process has ended in the meantime, an ancestor has adopted its children.
    let listed = |pid| stat(pid).ok().map(|stat| Listed { pid, start: stat.start, parent: stat.parent });
    Ok(pids()?.filter_map(listed).collect())
}

/// Returns the listed processes that descend from a process.
pub(crate) fn below(of: u32, listed: &[Listed]) -> Vec<(u32, u64)> {
    let mut children: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
    for process in listed {
        children.entry(process.parent).or_default().push((process.pid, process.start));
    }
    let mut found = Vec::new();
    let mut rest = vec![of];
    while let Some(parent) = rest.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            rest.push(child.0);
            found.push(child);
        }
    }
    found.sort_unstable();
    found
}

/// Returns the current descendants of a process.
///
/// # Errors
///
/// Returns an error if the list of processes cannot be read.
pub(crate) fn descendants(of: u32) -> io::Result<Vec<(u32, u64)>> {
    Ok(below(of, &all()?))
}

/// Returns the ids of all processes.
fn pids() -> io::Result<impl Iterator<Item = u32>> {
    Ok(fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn any_name_of_a_process_can_be_parsed() {
        let rest = "S 1 2 2 0 -1 4194304 1 0 0 0 1 0 0 0 20 0 1 0 12345 100 5";
        for name in ["sh", "a b", "x) S 9 (y", ")\n(", ""] {
            let read = parse_stat(&format!("7 ({name}) {rest}")).expect("it is complete");
            assert_eq!(read, Stat { name: name.to_owned(), parent: 1, start: 12345, is_zombie: false });
        }
        assert_eq!(parse_stat("7 (sh) S 1"), None);
    }

    #[test]
    fn any_of_the_users_of_a_process_counts() {
        let status = "Name:\tsh\nUid:\t0\t7\t8\t9\nGid:\t5\t5\t5\t5\n";
        assert!([0, 7, 8, 9].iter().all(|user| has_user(status, *user)));
        assert!(!has_user(status, 5) && !has_user("", 0));
        let user = rustix::process::geteuid().as_raw();
        assert!(runs_for(std::process::id(), user).expect("it runs"));
    }

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn children_descend_and_parents_do_not() {
        let own = own_pid().expect("a number");
        let child = Running(Command::new("sleep").arg("100").stdout(Stdio::null()).spawn().expect("it starts"));
        assert_eq!(lineage(child.0.id(), own).expect("it runs"), Lineage::Descendant);
        assert_eq!(lineage(own, own).expect("it runs"), Lineage::Own);
        assert_eq!(lineage(stat(own).expect("it runs").parent, own).expect("it runs"), Lineage::Outside);
        assert!(descendants(own).expect("read").iter().any(|(pid, _)| *pid == child.0.id()));
    }

    #[test]
    fn an_ended_process_has_no_lineage() {
        let own = own_pid().expect("a number");
        let mut child = Command::new("true").spawn().expect("it starts");
        child.wait().expect("it ends");
        assert_eq!(lineage(child.id(), own).expect_err("gone").kind(), io::ErrorKind::NotFound);
    }
}
