//! Refuses connections that come out of what the server runs.
//!
//! **Over a unix socket** the kernel names the process that connected. **Over TCP** it names the socket at the other end, and
//! `/proc` the processes that hold it. A process that descends from this one is refused: commands in a sandbox, whatever its
//! network policy, and everything else that the server starts, such as servers of tools that fetch what a model names. So is
//! a process that another program of the same name has shut in. Of the others, those are let in that are seen to be none:
//! what cannot be found out is refused, so nothing is won by ending early, or by handing the socket on.
//!
//! Some clients do not let anybody look which sockets they hold (`PR_SET_DUMPABLE`; the Codex terminal client is one). Then
//! it is shown that no command can be meant: none was ever started with an open network, or none is there any more, or none
//! of those that are there is shut in. If none of this holds, the connection is refused.
//!
//! Users other than the server's are judged by tokens alone: a command does not become another user, unless the server is
//! root's, and then every process can be looked into. So are other machines.
//!
//! What this cannot see is a process outside that passes on what a command tells it to: a command with an open network
//! reaches everything that listens.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions};
use tokio::sync::Semaphore;

use super::arrival::Origin;
use super::diag::{self, PeerSocket};
use super::holders::{holders, holds};
use super::share::{Owner, Peer};
use crate::lineage::{self, Lineage};

/// How long it may take to find out who connects.
const JUDGING_PATIENCE: Duration = Duration::from_secs(5);

/// Connections that are looked into at the same time. A look takes some milliseconds of one core.
const JUDGED_AT_ONCE: usize = 2;

/// Processes of which is remembered that they are not the server's. They are looked at first, so that a client with many
/// connections costs one search.
const MAX_KNOWN: usize = 16;

/// How often the descendants are listed until two lists are equal.
const LISTING_ATTEMPTS: usize = 8;

/// What a client is told whose sockets nobody can see.
const HIDES: &str =
    "it hides its open files, and so might something that this server started; connect over a unix socket";

/// Why a connection is refused.
#[derive(Debug, thiserror::Error)]
pub(in crate::transport) enum Refused {
    /// The server itself runs the process.
    #[error("this server does not take connections of what it runs itself")]
    OwnProcess,
    /// Another server runs the process and has shut it in.
    #[error("this server does not take connections of commands in a sandbox")]
    ConfinedElsewhere,
    /// Nobody holds the other end.
    #[error("the process that connected is gone")]
    Gone,
    /// It cannot be told who connects.
    #[error(
        "this server cannot tell which process connects ({0}), and refuses it: connect over a unix socket (--listen unix://)"
    )]
    Unknown(String),
}

impl Refused {
    fn unknown(error: impl std::fmt::Display) -> Self {
        Self::Unknown(error.to_string())
    }
}

/// Judges connections. Clones are the same judge.
#[derive(Debug, Clone)]
pub(in crate::transport) struct Judge(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    places: Semaphore,
    known: Mutex<VecDeque<(u32, u64)>>,
}

impl Default for Judge {
    fn default() -> Self {
        Self(Arc::new(Shared { places: Semaphore::new(JUDGED_AT_ONCE), known: Mutex::default() }))
    }
}

impl Judge {
    /// Returns who is at the other end of a connection.
    ///
    /// # Errors
    ///
    /// The connection must not be served.
    pub(in crate::transport) async fn judge(&self, origin: Origin) -> Result<Peer, Refused> {
        let judged = async {
            let _place = self.0.places.acquire().await;
            let shared = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || shared.judge(&origin)).await
        };
        match tokio::time::timeout(JUDGING_PATIENCE, judged).await {
            Ok(Ok(judged)) => judged,
            Ok(Err(error)) => Err(Refused::unknown(error)),
            Err(_) => Err(Refused::Unknown("it takes too long to find out".to_owned())),
        }
    }
}

impl Shared {
    fn judge(&self, origin: &Origin) -> Result<Peer, Refused> {
        match origin {
            Origin::Tcp { peer, local } => self.judge_tcp(*peer, *local),
            Origin::Unix { pid, uid, handle } => judge_unix(*pid, *uid, handle.as_ref()),
            Origin::Unknown => Err(Refused::Gone),
        }
    }

    fn judge_tcp(&self, peer: SocketAddr, local: SocketAddr) -> Result<Peer, Refused> {
        let Some(socket) = diag::find(peer, local).map_err(Refused::unknown)? else {
            return match is_of_this_machine(peer.ip()) {
                true => Err(Refused::Unknown("its socket is not to be found".to_owned())),
                false => Ok(Owner::at(peer.ip()).into()),
            };
        };
        if let Some(judged) = judge_socket(&socket) {
            return judged;
        }
        let owner = Owner::User(socket.uid);
        let own = lineage::own_pid().map_err(Refused::unknown)?;
        for known in self.known().clone() {
            if is_there(known) && holds(known.0, socket.inode) {
                return Ok(Peer { process: Some(known), owner });
            }
        }
        let holders = holders(socket.inode).map_err(Refused::unknown)?;
        let Some(first) = holders.first() else {
            no_command_can_be_meant(own)?;
            // Looked at last: whoever holds it now was there while no command was.
            return match diag::find(peer, local) {
                Ok(Some(again)) if again == socket => Ok(owner.into()),
                Ok(_) => Err(Refused::Gone),
                Err(error) => Err(Refused::unknown(error)),
            };
        };
        let first = (*first, lineage::stat(*first).map_err(|_| Refused::Gone)?.start);
        for pid in &holders {
            judge_process(*pid, own)?;
        }
        if !(is_there(first) && holds(first.0, socket.inode)) {
            return Err(Refused::Gone);
        }
        let mut known = self.known();
        known.truncate(MAX_KNOWN - 1);
        known.push_front(first);
        Ok(Peer { process: Some(first), owner })
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<(u32, u64)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Judges what a socket alone tells; `None` if the processes that hold it have to be looked at.
fn judge_socket(socket: &PeerSocket) -> Option<Result<Peer, Refused>> {
    // Of a socket that was closed the kernel keeps neither inode nor user. It reports zeros, which are no proof of another user.
    if socket.inode == 0 {
        return Some(Err(Refused::Gone));
    }
    is_other_user(socket.uid).then(|| Ok(Owner::User(socket.uid).into()))
}

fn judge_unix(pid: Option<u32>, uid: u32, handle: Option<&OwnedFd>) -> Result<Peer, Refused> {
    let owner = Owner::User(uid);
    // What the server runs lives in its process namespace or below, where it can be seen.
    let (false, Some(pid)) = (is_other_user(uid), pid) else { return Ok(owner.into()) };
    let own = lineage::own_pid().map_err(Refused::unknown)?;
    if own != std::process::id() {
        return Err(Refused::Unknown("/proc is that of another process namespace".to_owned()));
    }
    let process = (pid, lineage::stat(pid).map_err(|_| Refused::Gone)?.start);
    judge_process(pid, own)?;
    // The number may be that of another process by now.
    if handle.is_some_and(|handle| !lives(handle)) {
        return Err(Refused::Gone);
    }
    Ok(Peer { process: Some(process), owner })
}

fn judge_process(pid: u32, own: u32) -> Result<(), Refused> {
    match lineage::lineage(pid, own) {
        Ok(Lineage::Own | Lineage::Outside) => Ok(()),
        Ok(Lineage::Descendant) => Err(Refused::OwnProcess),
        Ok(Lineage::ConfinedElsewhere) => Err(Refused::ConfinedElsewhere),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::Gone),
        Err(error) => Err(Refused::unknown(error)),
    }
}

/// Returns an error if a socket whose holder cannot be seen may belong to something that this server started.
///
/// A command can leave a socket in a queue of another program and end, so that no process holds it. That there is no such command
/// now proves nothing: it is enough that there was one with a network.
fn no_command_can_be_meant(own: u32) -> Result<(), Refused> {
    if trace_runtime::sandbox::has_opened_network() {
        return Err(Refused::Unknown(HIDES.to_owned()));
    }
    if has_no_children() {
        return Ok(());
    }
    for _ in 0..LISTING_ATTEMPTS {
        let before = lineage::descendants(own).map_err(Refused::unknown)?;
        for (pid, _) in &before {
            // Nothing that is confined has a network so far. What is not confined may hide its sockets like the client.
            let hides = std::fs::read_dir(format!("/proc/{pid}/fd"))
                .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
            // One that has ended is missing in the second list.
            if hides && !lineage::is_confined(*pid).unwrap_or(false) {
                return Err(Refused::Unknown(HIDES.to_owned()));
            }
        }
        if lineage::descendants(own).map_err(Refused::unknown)? == before {
            return Ok(());
        }
    }
    Err(Refused::Unknown(HIDES.to_owned()))
}

/// Says whether this process has no children at all. Whatever its children leave behind becomes its child, so there are no
/// descendants either.
fn has_no_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD))
}

fn is_there((pid, start): (u32, u64)) -> bool {
    lineage::stat(pid).is_ok_and(|stat| stat.start == start && !stat.is_zombie)
}

/// Says whether the process of a handle has not ended.
fn lives(handle: &OwnedFd) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", handle.as_raw_fd()));
    info.is_ok_and(|info| {
        info.lines()
            .any(|line| line.strip_prefix("Pid:").is_some_and(|pid| pid.trim().parse().is_ok_and(|pid: i64| pid > 0)))
    })
}

/// Says whether a user is neither the server's nor one that commands of the server could become.
fn is_other_user(uid: u32) -> bool {
    let own = rustix::process::geteuid();
    !own.is_root() && uid != own.as_raw()
}

/// Says whether an address is one of this machine: then the system lets a socket have it.
fn is_of_this_machine(address: IpAddr) -> bool {
    let address = address.to_canonical();
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        // A link-local address needs its interface, which says nothing about whose it is.
        Err(error) => address.is_loopback() || error.kind() != io::ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_socket_is_nobodys() {
        for uid in [0, 12_345, rustix::process::geteuid().as_raw()] {
            let judged = judge_socket(&PeerSocket { uid, inode: 0 });
            assert!(matches!(judged, Some(Err(Refused::Gone))), "{uid}");
        }
        let own = PeerSocket { uid: rustix::process::geteuid().as_raw(), inode: 7 };
        assert!(judge_socket(&own).is_none());
    }

    #[test]
    fn loopback_is_this_machine_and_examples_are_not() {
        for (address, expected) in
            [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("192.0.2.7", false)]
        {
            assert_eq!(is_of_this_machine(address.parse().expect("an address")), expected, "{address}");
        }
    }

    #[test]
    fn a_local_address_whose_socket_is_not_there_is_refused_and_another_machine_is_not() {
        let shared = Shared { places: Semaphore::new(1), known: Mutex::default() };
        let at = |address: &str| address.parse().expect("an address");
        let refused = shared.judge_tcp(at("127.0.0.1:1"), at("127.0.0.1:2"));
        assert!(matches!(refused, Err(Refused::Unknown(_))), "{refused:?}");
        let taken = shared.judge_tcp(at("192.0.2.7:1"), at("192.0.2.8:2")).expect("it comes from elsewhere");
        assert_eq!(taken.owner, Owner::at([192, 0, 2, 7].into()));
    }

    #[test]
    fn a_handle_tells_when_its_process_has_ended() {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};

        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("it starts");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("not zero");
        let handle = pidfd_open(pid, PidfdFlags::empty()).expect("a handle");
        assert!(lives(&handle));
        drop(child.stdin.take());
        child.wait().expect("it ends");
        assert!(!lives(&handle));
    }
}
