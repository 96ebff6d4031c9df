//! Keeps all processes that the server starts among its descendants.
//!
//! If the parent of a process ends, the process gets a new parent: the nearest ancestor that adopts orphans, or else
//! the first process of the system. In the second case, nothing shows any more which process started it. The server
//! therefore adopts orphans, and reaps them when they end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, pidfd_open, pidfd_send_signal,
};

use crate::lineage::{descendants, own_pid, stat};

/// How long a zombie waits for the code that started it. After this time it is an orphan, because the server waits for
/// its own children without delay.
pub const ORPHAN_TIMEOUT: Duration = Duration::from_secs(20);

/// Makes this process adopt the orphans of its children. A task reaps the orphans that end, until it is aborted. Call
/// it inside a tokio runtime, before any process is started.
///
/// # Errors
///
/// Returns an error if the system does not support adopting orphans.
pub fn keep_descendants() -> std::io::Result<tokio::task::JoinHandle<()>> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(tokio::spawn(async {
        let mut round = tokio::time::interval(ORPHAN_TIMEOUT);
        let mut seen = HashSet::new();
        loop {
            round.tick().await;
            if has_ended_children() {
                let before = std::mem::take(&mut seen);
                // This reads `/proc`, which takes some milliseconds.
                let reaped = tokio::task::spawn_blocking(move || reap(&before));
                seen = reaped.await.unwrap_or_default();
            } else {
                seen.clear();
            }
        }
    }))
}

/// How long ending all descendants may take.
pub const ENDING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for killed processes before listing them again.
const ENDING_PAUSE: Duration = Duration::from_millis(2);

/// Kills all processes that this process has started, in whatever sessions and groups they are. Otherwise, the next
/// server would take them for clients. Returns the number of processes that are left, which is not zero only if they
/// multiply faster than they are killed. Call it when nothing starts processes any more. It blocks.
pub fn end_descendants() -> usize {
    let Ok(own) = own_pid() else { return 0 };
    let start = Instant::now();
    let mut stopped = HashSet::new();
    loop {
        let mut running = descendants(own).unwrap_or_default();
        running.retain(|process| stat(process.0).is_ok_and(|stat| stat.start == process.1 && !stat.is_zombie));
        if running.is_empty() || start.elapsed() > ENDING_TIMEOUT {
            return running.len();
        }
        // Stop the processes first: a stopped process cannot start others while the rest is searched.
        let fresh: Vec<_> = running.iter().filter(|process| stopped.insert(**process)).copied().collect();
        if fresh.is_empty() {
            running.into_iter().for_each(|process| send(process, Signal::KILL));
            std::thread::sleep(ENDING_PAUSE);
        } else {
            fresh.into_iter().for_each(|process| send(process, Signal::STOP));
        }
    }
}

/// Sends a signal to a process, unless its id has been reused for another process.
fn send((pid, start): (u32, u64), signal: Signal) {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    match pidfd_open(id, PidfdFlags::empty()) {
        Ok(handle) => {
            if stat(pid).is_ok_and(|stat| stat.start == start) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        // The system call is missing before Linux 5.3.
        Err(Errno::NOSYS) => {
            let _ = kill_process(id, signal);
        }
        Err(_) => {}
    }
}

/// Returns whether there is a zombie among the children.
fn has_ended_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Ok(Some(_)))
}

/// Reaps the zombies that were already there in the round before, and returns the other ones.
fn reap(before: &HashSet<(u32, u64)>) -> HashSet<(u32, u64)> {
    let Ok(own) = own_pid() else { return HashSet::new() };
    let ended = descendants(own).unwrap_or_default().into_iter().filter(|(pid, start)| {
        stat(*pid).is_ok_and(|stat| stat.is_zombie && stat.parent == own && stat.start == *start)
    });
    let (orphans, waiting): (Vec<_>, HashSet<_>) =
        ended.fold(Default::default(), |(mut orphans, mut waiting), child| {
            if before.contains(&child) {
                orphans.push(child);
            } else {
                waiting.insert(child);
            }
            (orphans, waiting)
        });
    for (pid, _) in orphans {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        // It may have been reaped in the meantime by the code that started it.
        let _ = rustix::process::waitpid(pid, WaitOptions::NOHANG);
    }
    waiting
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn orphans_are_reaped_in_the_second_round() {
        let mut child = Command::new("true").spawn().expect("it starts");
        let own = own_pid().expect("a number");
        while !stat(child.id()).expect("it was not reaped").is_zombie {
            std::thread::yield_now();
        }
        assert!(has_ended_children());
        let ended = (child.id(), stat(child.id()).expect("still there").start);
        let first = reap(&HashSet::new());
        assert!(first.contains(&ended), "the first round only looks");
        assert_eq!(stat(child.id()).expect("still there").parent, own);
        reap(&HashSet::from([ended]));
        assert!(stat(child.id()).is_err(), "it is gone");
        assert!(child.wait().is_err(), "nothing is left to ask about");
    }
}
