//! Keeps everything that the server starts below it.
//!
//! A process whose parent ends goes to the nearest one above it that adopts orphans, or else to the first process of the
//! system, where nothing says any more who started it. So the server adopts its own, and takes care of them when they end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, pidfd_open, pidfd_send_signal,
};

use crate::lineage::{descendants, own_pid, stat};

/// How long a process that has ended waits for whoever started it. Those that nobody asked about by then are orphans: the
/// server asks about its own at once.
pub const ORPHAN_PATIENCE: Duration = Duration::from_secs(20);

/// Makes this process adopt what its children leave behind, and takes care of those that end, until the returned task is
/// aborted. To be called inside a tokio runtime, before anything is started.
///
/// # Errors
///
/// The system does not adopt.
pub fn keep_descendants() -> std::io::Result<tokio::task::JoinHandle<()>> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(tokio::spawn(async {
        let mut round = tokio::time::interval(ORPHAN_PATIENCE);
        let mut seen = HashSet::new();
        loop {
            round.tick().await;
            if has_ended_children() {
                let before = std::mem::take(&mut seen);
                // Reads `/proc`, which takes some milliseconds.
                let reaped = tokio::task::spawn_blocking(move || reap(&before));
                seen = reaped.await.unwrap_or_default();
            } else {
                seen.clear();
            }
        }
    }))
}

/// How long it may take to end everything that the server started.
pub const ENDING_PATIENCE: Duration = Duration::from_secs(5);

/// How long is waited for processes that were killed before they are listed again.
const ENDING_PAUSE: Duration = Duration::from_millis(2);

/// Ends everything that this process started and that still runs, whatever sessions and groups it is in: for the next server it would be
/// a client like any other. Returns how many processes are left if they multiply faster than they are ended. To be called when
/// nothing starts processes here any more; it blocks.
pub fn end_descendants() -> usize {
    let Ok(own) = own_pid() else { return 0 };
    let start = Instant::now();
    let mut stopped = HashSet::new();
    loop {
        let mut running = descendants(own).unwrap_or_default();
        running.retain(|process| stat(process.0).is_ok_and(|stat| stat.start == process.1 && !stat.is_zombie));
        if running.is_empty() || start.elapsed() > ENDING_PATIENCE {
            return running.len();
        }
        // Those that are stopped start no others while the rest is still found.
        let fresh: Vec<_> = running.iter().filter(|process| stopped.insert(**process)).copied().collect();
        if fresh.is_empty() {
            running.into_iter().for_each(|process| send(process, Signal::KILL));
            std::thread::sleep(ENDING_PAUSE);
        } else {
            fresh.into_iter().for_each(|process| send(process, Signal::STOP));
        }
    }
}

/// Sends a signal to a process, unless its number is that of another one by now.
fn send((pid, start): (u32, u64), signal: Signal) {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    match pidfd_open(id, PidfdFlags::empty()) {
        Ok(handle) => {
            if stat(pid).is_ok_and(|stat| stat.start == start) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        // Linux before 5.3.
        Err(Errno::NOSYS) => {
            let _ = kill_process(id, signal);
        }
        Err(_) => {}
    }
}

/// Says whether a child has ended that nobody has asked about yet.
fn has_ended_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Ok(Some(_)))
}

/// Lets those go that had ended in the round before too. Returns those that wait since.
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
        // Somebody who asked meanwhile has taken care of it.
        let _ = rustix::process::waitpid(pid, WaitOptions::NOHANG);
    }
    waiting
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn who_was_waited_for_in_vain_is_let_go_in_the_second_round() {
        let mut child = Command::new("true").spawn().expect("it starts");
        let own = own_pid().expect("a number");
        while !stat(child.id()).expect("nobody asked about it").is_zombie {
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
