//! Finds the processes that hold sockets, with one pass over all processes for many sockets.
//!
//! A command can open many files to slow down a pass. Its processes, and processes that were refused before, therefore
//! get a limited number of examined files; processes with few open files are examined first. A socket that such a
//! process holds in an unexamined file is still not admitted, because a process outside of the server must hold it too.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;

use super::holders::{each_socket, open_files};
use super::memory::Process;
use super::refused::Refused;
use super::verdict::{is_there, judge_process};
use crate::lineage;

/// Most open files that one pass examines, in refused processes and in descendants of the server separately.
pub(super) const MAX_FILES_OF_REFUSED: usize = 16_384;

/// The holder of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// All holders may be clients. This is one of them.
    Client(Process),
    /// A holder that must not be a client. There may be others.
    Refused(Process, Refused),
}

/// The result of a pass.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The holders of the sockets, by inode number.
    pub(super) holders: HashMap<u64, Holder>,
    /// Whether some open files of descendants were not examined.
    pub(super) is_cut: bool,
}

/// Searches for the processes that hold sockets. `refused` are processes that were refused before, with the reasons.
///
/// # Errors
///
/// Returns an error if the list of processes cannot be read.
pub(super) fn search(wanted: &HashSet<u64>, own: u32, refused: &[(Process, Refused)]) -> io::Result<Findings> {
    let mut findings = Findings::default();
    let mut rest = MAX_FILES_OF_REFUSED;
    for (process, why) in refused {
        let (hits, looked_at) = hits(*process, wanted, rest);
        rest -= looked_at;
        findings.take(hits, |_| Holder::Refused(*process, why.clone()));
    }
    if findings.holders.len() == wanted.len() {
        return Ok(findings);
    }

    let listed = lineage::all()?;
    let below: HashSet<Process> = lineage::below(own, &listed).into_iter().collect();
    let is_refused = |process: &Process| refused.iter().any(|(other, _)| other == process);
    let all = listed.iter().map(|process| (process.pid, process.start));
    let (suspects, others): (Vec<Process>, Vec<Process>) =
        all.filter(|process| !is_refused(process)).partition(|process| below.contains(process));
    for process in others {
        let (hits, _) = hits(process, wanted, usize::MAX);
        findings.judge(process, hits, own);
    }
    let mut suspects: Vec<(u64, Process)> =
        suspects.into_iter().map(|process| (open_files(process.0), process)).collect();
    suspects.sort_unstable();
    let mut rest = MAX_FILES_OF_REFUSED;
    for (_, process) in suspects {
        let (hits, looked_at) = hits(process, wanted, rest);
        rest -= looked_at;
        findings.judge(process, hits, own);
    }
    findings.is_cut = rest == 0;
    Ok(findings)
}

/// Returns the wanted sockets that a process holds, and the number of its open files that were examined.
fn hits(process: Process, wanted: &HashSet<u64>, most: usize) -> (Vec<u64>, usize) {
    let mut hits = Vec::new();
    let looked_at = each_socket(process.0, most, |number| {
        hits.extend(wanted.contains(&number).then_some(number));
        ControlFlow::Continue(())
    });
    // The id may have been reused for another process before or while its files were examined.
    if !hits.is_empty() && !is_there(process) {
        hits.clear();
    }
    (hits, looked_at)
}

impl Findings {
    fn judge(&mut self, process: Process, hits: Vec<u64>, own: u32) {
        if hits.is_empty() {
            return;
        }
        let judged = judge_process(process.0, own);
        if !is_there(process) {
            return;
        }
        self.take(hits, |before| match (&judged, before) {
            (Ok(()), Some(before)) => before,
            (Ok(()), None) => Holder::Client(process),
            (Err(why), _) => Holder::Refused(process, why.clone()),
        });
    }

    fn take(&mut self, hits: Vec<u64>, holder: impl Fn(Option<Holder>) -> Holder) {
        for number in hits {
            let before = self.holders.remove(&number);
            self.holders.insert(number, holder(before));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn number(socket: &impl AsRawFd) -> u64 {
        std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd())).expect("it is open").ino()
    }

    fn process(pid: u32) -> Process {
        (pid, lineage::stat(pid).expect("it runs").start)
    }

    fn socket() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        TcpStream::connect(listener.local_addr().expect("an address")).expect("the listener accepts")
    }

    fn child_with(socket: &TcpStream) -> Child {
        let input = OwnedFd::from(socket.try_clone().expect("a copy"));
        Command::new("sleep").arg("100").stdin(Stdio::from(input)).spawn().expect("it starts")
    }

    #[test]
    fn one_pass_separates_clients_from_descendants() {
        let own = lineage::own_pid().expect("a number");
        let (mine, shared) = (socket(), socket());
        let mut child = child_with(&shared);
        // Children of other tests inherit all sockets for a moment, until they execute their programs.
        let until = |number: u64, before: &[(Process, Refused)], expected: &Holder| {
            (0..10_000).any(|_| {
                let findings = search(&HashSet::from([number, 1]), own, before).expect("read");
                assert!(!findings.is_cut && !findings.holders.contains_key(&1), "no process holds that socket");
                findings.holders.get(&number) == Some(expected)
            })
        };
        assert!(until(number(&mine), &[], &Holder::Client(process(own))));
        let refused = process(child.id());
        assert!(until(number(&shared), &[], &Holder::Refused(refused, Refused::OwnProcess)), "one holder is refused");
        // A process that was refused is recognized as long as it lives.
        let before = [(refused, Refused::ConfinedElsewhere)];
        assert!(until(number(&shared), &before, &Holder::Refused(refused, Refused::ConfinedElsewhere)));
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert!(until(number(&shared), &before, &Holder::Client(process(own))));
    }
}
