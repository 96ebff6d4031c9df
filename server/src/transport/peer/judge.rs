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
//!
//! Connections are judged in two steps, each of them for all connections that wait at that moment ([`Batch`]). The first step knows
//! unix sockets, other machines and clients that were let in before; the second one looks through all processes. So clients that are
//! known do not wait for the second step, and new ones wait for two passes at most, however many connections a command opens.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions};
use tokio::sync::oneshot;
use trace_runtime::sandbox;
use trace_runtime::settings::Network;

use super::arrival::Origin;
use super::batch::Batch;
use super::diag::{self, PeerSocket};
use super::here::is_here;
use super::holders::each_socket;
use super::memory::{Memory, Process};
use super::refused::Refused;
use super::search::{Holder, search};
use super::share::{Owner, Peer};
use super::verdict::{is_there, judge_process};
use crate::lineage;

/// How long it may take to find out who connects.
pub(in crate::transport) const JUDGING_PATIENCE: Duration = Duration::from_secs(5);

/// How often the descendants are listed until two lists are equal.
const LISTING_ATTEMPTS: usize = 8;

/// What a client is told whose sockets nobody can see.
const HIDES: &str =
    "it hides its open files, and so might something that this server started; connect over a unix socket";

/// Judges connections. Clones are the same judge.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Judge(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    arrived: Batch<Arrived>,
    sought: Batch<Sought>,
    /// Processes that were let in. Connections of these are recognised without a search.
    clients: Memory<()>,
    /// Processes that were refused, and why.
    refused: Memory<Refused>,
}

/// A connection that waits to be judged.
#[derive(Debug)]
struct Arrived {
    origin: Origin,
    answer: Answer,
}

/// A connection whose holder has to be searched for.
#[derive(Debug)]
struct Sought {
    socket: PeerSocket,
    peer: SocketAddr,
    local: SocketAddr,
    answer: Answer,
}

type Answer = oneshot::Sender<Result<Peer, Refused>>;

impl Judge {
    /// Returns who is at the other end of a connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection must not be served.
    pub(in crate::transport) async fn judge(&self, origin: Origin) -> Result<Peer, Refused> {
        let (answer, judged) = oneshot::channel();
        let shared = Arc::clone(&self.0);
        self.0.arrived.add([Arrived { origin, answer }], move |arrived| shared.recognise(arrived));
        match tokio::time::timeout(JUDGING_PATIENCE, judged).await {
            Ok(Ok(judged)) => judged,
            Ok(Err(_)) => Err(Refused::unknown("the search for it failed")),
            Err(_) => Err(Refused::Busy),
        }
    }
}

/// Hands a verdict over, unless nobody waits for it any more.
fn tell(answer: Answer, judged: Result<Peer, Refused>) {
    let _ = answer.send(judged);
}

impl Shared {
    /// Judges what can be judged without a search, and hands the rest to one.
    fn recognise(self: &Arc<Self>, arrived: Vec<Arrived>) {
        let mut sought = Vec::new();
        for Arrived { origin, answer } in arrived {
            if answer.is_closed() {
                continue;
            }
            match origin {
                Origin::Unix { pid, uid, handle } => tell(answer, self.judge_unix(pid, uid, handle.as_ref())),
                Origin::Tcp { peer, local } => match judge_addresses(peer, local) {
                    Ok(judged) => tell(answer, judged),
                    Err(socket) => sought.push(Sought { socket, peer, local, answer }),
                },
                Origin::Unknown => tell(answer, Err(Refused::Gone)),
            }
        }
        let sought = self.without_known_clients(sought);
        let shared = Arc::clone(self);
        self.sought.add(sought, move |sought| shared.search(sought));
    }

    /// Lets connections of known clients in, and returns the others.
    fn without_known_clients(&self, mut sought: Vec<Sought>) -> Vec<Sought> {
        for (process, ()) in self.clients.all() {
            if sought.is_empty() {
                break;
            }
            let wanted: HashSet<u64> = sought.iter().map(|sought| sought.socket.inode).collect();
            let mut held: HashSet<u64> = HashSet::new();
            each_socket(process.0, usize::MAX, |number| {
                held.extend(wanted.get(&number));
                if held.len() < wanted.len() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            // Looked at last: its number was not given to another process meanwhile.
            if !is_there(process) {
                self.clients.forget(process);
                continue;
            }
            let (theirs, others) = sought.into_iter().partition(|sought: &Sought| held.contains(&sought.socket.inode));
            sought = others;
            for sought in theirs {
                let peer = Peer { process: Some(process), owner: Owner::User(sought.socket.uid) };
                tell(sought.answer, Ok(peer));
            }
        }
        sought
    }

    /// Judges connections by a search for the processes that hold them.
    fn search(&self, mut sought: Vec<Sought>) {
        sought.retain(|sought| !sought.answer.is_closed());
        let wanted = sought.iter().map(|sought| sought.socket.inode).collect();
        let found = lineage::own_pid().and_then(|own| Ok((own, search(&wanted, own, &self.living_refused())?)));
        let (own, findings) = match found {
            Ok(found) => found,
            Err(error) => {
                return sought.into_iter().for_each(|sought| tell(sought.answer, Err(Refused::unknown(&error))));
            }
        };
        let mut hidden = Vec::new();
        for sought in sought {
            match findings.holders.get(&sought.socket.inode) {
                Some(Holder::Client(process)) => {
                    self.clients.remember(*process, ());
                    let owner = Owner::User(sought.socket.uid);
                    tell(sought.answer, Ok(Peer { process: Some(*process), owner }));
                }
                Some(Holder::Refused(process, why)) => {
                    self.remember_refused(*process, why);
                    tell(sought.answer, Err(why.clone()));
                }
                None => hidden.push(sought),
            }
        }
        if hidden.is_empty() {
            return;
        }
        let meant = no_command_can_be_meant(own);
        // A process that was not looked at may hold it.
        let meant = if findings.is_cut { meant.and(Err(Refused::Busy)) } else { meant };
        for Sought { socket, peer, local, answer } in hidden {
            // Looked at last: whoever holds it now was there while no command was.
            let judged = match diag::find(peer, local) {
                Ok(Some(again)) if again == socket => meant.clone().map(|()| Owner::User(socket.uid).into()),
                Ok(_) => Err(Refused::Gone),
                Err(error) => Err(Refused::unknown(error)),
            };
            tell(answer, judged);
        }
    }

    /// Remembers a process that was refused for what it is, and not because something went wrong.
    fn remember_refused(&self, process: Process, why: &Refused) {
        match why {
            Refused::OwnProcess | Refused::ConfinedElsewhere => self.refused.remember(process, why.clone()),
            Refused::Gone | Refused::Busy | Refused::Unknown(_) => {}
        }
    }

    /// Returns the processes that were refused and have not ended.
    fn living_refused(&self) -> Vec<(Process, Refused)> {
        let mut refused = self.refused.all();
        refused.retain(|(process, _)| {
            let lives = is_there(*process);
            if !lives {
                self.refused.forget(*process);
            }
            lives
        });
        refused
    }

    fn judge_unix(&self, pid: Option<u32>, uid: u32, handle: Option<&OwnedFd>) -> Result<Peer, Refused> {
        let owner = Owner::User(uid);
        // What the server runs lives in its process namespace or below, where it can be seen.
        let (false, Some(pid)) = (is_other_user(uid), pid) else { return Ok(owner.into()) };
        let own = lineage::own_pid().map_err(Refused::unknown)?;
        if own != std::process::id() {
            return Err(Refused::unknown("/proc is that of another process namespace"));
        }
        let process = (pid, lineage::stat(pid).map_err(|_| Refused::Gone)?.start);
        let judged = match (self.refused.of(process), self.clients.of(process)) {
            (Some(why), _) => Err(why),
            (None, Some(())) => Ok(()),
            (None, None) => judge_process(pid, own),
        };
        // The number may be that of another process by now.
        if handle.map_or_else(|| !is_there(process), |handle| !lives(handle)) {
            return Err(Refused::Gone);
        }
        match judged {
            Ok(()) => {
                self.clients.remember(process, ());
                Ok(Peer { process: Some(process), owner })
            }
            Err(why) => {
                self.remember_refused(process, &why);
                Err(why)
            }
        }
    }
}

/// Judges a connection by its addresses and what its socket alone tells. Returns the socket if the processes that hold it have to be
/// looked for.
fn judge_addresses(peer: SocketAddr, local: SocketAddr) -> Result<Result<Peer, Refused>, PeerSocket> {
    match diag::find(peer, local) {
        Err(error) => Ok(Err(Refused::unknown(error))),
        Ok(Some(socket)) => judge_socket(&socket).ok_or(socket),
        Ok(None) => Ok(match is_here(peer) {
            true => Err(Refused::unknown("its socket is not to be found")),
            false => Ok(Owner::at(peer.ip()).into()),
        }),
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

/// Returns an error if a socket whose holder cannot be seen may belong to something that this server started.
///
/// A command can leave a socket in a queue of another program and end, so that no process holds it. That there is no such command
/// now proves nothing: it is enough that there was one with a network.
fn no_command_can_be_meant(own: u32) -> Result<(), Refused> {
    if sandbox::has_opened_network() {
        return Err(Refused::Unknown(HIDES.to_owned()));
    }
    let listed = lineage::all().map_err(Refused::unknown)?;
    let below = lineage::below(own, &listed);
    let others = listed.iter().map(|process| (process.pid, process.start)).filter(|process| !below.contains(process));
    // A command that another server runs for this user, or left running when it ended. Sockets of other users were judged before.
    let user = rustix::process::geteuid().as_raw();
    let is_meant = |pid: u32| {
        hides(pid)
            && lineage::runs_for(pid, user).unwrap_or(false)
            && matches!(sandbox::marked(pid), Ok(Some(Network::Open)))
    };
    if others.into_iter().any(|(pid, _)| is_meant(pid)) {
        return Err(Refused::Unknown(HIDES.to_owned()));
    }
    if has_no_children() {
        return Ok(());
    }
    for _ in 0..LISTING_ATTEMPTS {
        let before = lineage::descendants(own).map_err(Refused::unknown)?;
        for (pid, _) in &before {
            // Nothing that is confined has a network so far. What is not confined may hide its sockets like the client.
            // One that has ended is missing in the second list.
            if hides(*pid) && !lineage::is_confined(*pid).unwrap_or(false) {
                return Err(Refused::Unknown(HIDES.to_owned()));
            }
        }
        if lineage::descendants(own).map_err(Refused::unknown)? == before {
            return Ok(());
        }
    }
    Err(Refused::Unknown(HIDES.to_owned()))
}

/// Says whether a process lets nobody look which files it has open.
fn hides(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/fd")).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Says whether this process has no children at all. Whatever its children leave behind becomes its child, so there are no
/// descendants either.
fn has_no_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD))
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

#[cfg(test)]
mod tests {
    use trace_needs::{Need, skip};

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
    fn a_local_address_whose_socket_is_not_there_is_refused_and_another_machine_is_not() {
        let at = |address: &str| address.parse().expect("an address");
        let refused = judge_addresses(at("127.0.0.1:1"), at("127.0.0.1:2"));
        assert!(matches!(refused, Ok(Err(Refused::Unknown(_)))), "{refused:?}");
        let taken = judge_addresses(at("192.0.2.7:1"), at("192.0.2.8:2"));
        assert_eq!(taken, Ok(Ok(Owner::at([192, 0, 2, 7].into()).into())), "it comes from elsewhere");
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

    /// A connection whose other end was closed before it is judged, however that was done.
    #[test]
    fn who_is_gone_when_he_is_judged_is_nobody_also_for_a_server_that_is_not_roots() {
        const INSIDE: &str = "TRACE_TEST_USER";
        if rustix::process::geteuid().is_root() && std::env::var_os(INSIDE).is_none() {
            use std::os::unix::process::CommandExt as _;

            // The kernel says of a closed socket that it is root's, who is another user then.
            let name = std::thread::current().name().expect("a test").to_owned();
            let mut other = std::process::Command::new(std::env::current_exe().expect("a program"));
            other.args(["--exact", &name, "--nocapture"]).env(INSIDE, "1").uid(65_534).gid(65_534);
            match other.current_dir("/").status() {
                Ok(status) => assert!(status.success()),
                Err(error) => {
                    skip(Need::OtherUser, format_args!("who is gone, judged by another user than root: {error}"));
                }
            }
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("an address");
        for how in
            ["closed", "closed with a message", "reset", "reset with a message", "closed, then the server's end too"]
        {
            let client = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
            let (server, peer) = listener.accept().expect("a client");
            let local = server.local_addr().expect("an address");
            // As long as it is open, somebody has to be found.
            assert!(judge_addresses(peer, local).is_err_and(|socket| socket.inode != 0), "{how}");
            if how.contains("message") {
                io::Write::write_all(&mut &client, b"GET / HTTP/1.1\r\n\r\n").expect("it takes it");
            }
            if how.contains("reset") {
                rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).expect("an option");
            }
            drop(client);
            if how.contains("the server's end") {
                drop(server);
            }
            let judged = judge_addresses(peer, local);
            assert!(matches!(judged, Ok(Err(_))), "{how}: {judged:?}");
        }
    }
}
