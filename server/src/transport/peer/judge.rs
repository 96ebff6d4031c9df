//! Refuses connections from processes that this server started.
//!
//! **Over a unix socket**, the kernel names the process that connected. **Over TCP**, it names the socket at the other
//! end, and `/proc` lists the processes that hold this socket. A process is refused if it descends from this server.
//! That applies to commands in a sandbox, whatever their network policy is, and to everything else that the server
//! starts, such as MCP servers that fetch URLs which a model names. A process is also refused if another server has
//! confined it. Any other process is admitted if the server can determine what it is. A connection is refused if that
//! is not possible, so a command gains nothing by ending early or by passing its socket to another process.
//!
//! Some clients hide which sockets they hold (`PR_SET_DUMPABLE`; the Codex terminal client is one of them). Such a
//! client is admitted only if three conditions hold: this server has never started a confined command with network
//! access, no confined command of another server that has network access hides its sockets, and no unconfined
//! descendant of this server hides its sockets. Otherwise the connection is refused.
//!
//! Other users than the server's are authorized only by tokens, because a command cannot become another user, unless
//! the server runs as root. But then it can examine every process. Other machines are authorized only by tokens, too.
//!
//! This check cannot detect a process outside of the server that forwards the requests of a command: a command with
//! network access can reach everything that listens.
//!
//! Connections are judged in two steps, and each step handles all connections that are waiting when it starts
//! ([`Batch`]). The first step handles unix sockets, other machines, and clients that were admitted before. The second
//! step searches all processes. Known clients therefore do not wait for the second step, and new clients wait for two
//! passes at most, however many connections a command opens.

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

/// How long it may take to judge a connection.
pub(in crate::transport) const JUDGING_TIMEOUT: Duration = Duration::from_secs(5);

/// How often the descendants are listed until two successive lists are equal.
const LISTING_ATTEMPTS: usize = 8;

/// Reason for refusing a client whose sockets cannot be seen.
const HIDES: &str =
    "it hides its open files, and a process that this server started could do the same; connect over a unix socket";

/// Judges connections. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Judge(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    arrived: Batch<Arrived>,
    sought: Batch<PendingSearch>,
    /// Processes that were admitted. Their connections are recognized without a search.
    clients: Memory<()>,
    /// Processes that were refused, with the reasons.
    refused: Memory<Refused>,
}

/// A connection that waits for the first step.
#[derive(Debug)]
struct Arrived {
    origin: Origin,
    answer: Answer,
}

/// A connection that waits for the second step: the processes that hold its socket are not known yet.
#[derive(Debug)]
struct PendingSearch {
    socket: PeerSocket,
    peer: SocketAddr,
    local: SocketAddr,
    answer: Answer,
}

type Answer = oneshot::Sender<Result<Peer, Refused>>;

impl Judge {
    /// Determines which peer is at the other end of a connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection must not be served.
    pub(in crate::transport) async fn judge(&self, origin: Origin) -> Result<Peer, Refused> {
        let (answer, judged) = oneshot::channel();
        let shared = Arc::clone(&self.0);
        self.0.arrived.add([Arrived { origin, answer }], move |arrived| shared.recognise(arrived));
        match tokio::time::timeout(JUDGING_TIMEOUT, judged).await {
            Ok(Ok(judged)) => judged,
            Ok(Err(_)) => Err(Refused::unknown("the search for its process failed")),
            Err(_) => Err(Refused::Busy),
        }
    }
}

/// Sends a verdict. The caller may have stopped waiting for it.
fn send_verdict(answer: Answer, judged: Result<Peer, Refused>) {
    let _ = answer.send(judged);
}

impl Shared {
    /// Judges the connections that need no search, and passes the others to the second step.
    fn recognise(self: &Arc<Self>, arrived: Vec<Arrived>) {
        let mut sought = Vec::new();
        for Arrived { origin, answer } in arrived {
            if answer.is_closed() {
                continue;
            }
            match origin {
                Origin::Unix { pid, uid, handle } => send_verdict(answer, self.judge_unix(pid, uid, handle.as_ref())),
                Origin::Tcp { peer, local } => match judge_addresses(peer, local) {
                    Ok(judged) => send_verdict(answer, judged),
                    Err(socket) => sought.push(PendingSearch { socket, peer, local, answer }),
                },
                Origin::Unknown => send_verdict(answer, Err(Refused::Gone)),
            }
        }
        let sought = self.without_known_clients(sought);
        let shared = Arc::clone(self);
        self.sought.add(sought, move |sought| shared.search(sought));
    }

    /// Admits the connections of known clients, and returns the others.
    fn without_known_clients(&self, mut sought: Vec<PendingSearch>) -> Vec<PendingSearch> {
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
            // This is checked last, so that the id cannot have been reused before.
            if !is_there(process) {
                self.clients.forget(process);
                continue;
            }
            let (theirs, others) =
                sought.into_iter().partition(|sought: &PendingSearch| held.contains(&sought.socket.inode));
            sought = others;
            for sought in theirs {
                let peer = Peer { process: Some(process), owner: Owner::User(sought.socket.uid) };
                send_verdict(sought.answer, Ok(peer));
            }
        }
        sought
    }

    /// Judges connections by searching for the processes that hold their sockets.
    fn search(&self, mut sought: Vec<PendingSearch>) {
        sought.retain(|sought| !sought.answer.is_closed());
        let wanted = sought.iter().map(|sought| sought.socket.inode).collect();
        let found = lineage::own_pid().and_then(|own| Ok((own, search(&wanted, own, &self.living_refused())?)));
        let (own, findings) = match found {
            Ok(found) => found,
            Err(error) => {
                return sought
                    .into_iter()
                    .for_each(|sought| send_verdict(sought.answer, Err(Refused::unknown(&error))));
            }
        };
        let mut hidden = Vec::new();
        for sought in sought {
            match findings.holders.get(&sought.socket.inode) {
                Some(Holder::Client(process)) => {
                    self.clients.remember(*process, ());
                    let owner = Owner::User(sought.socket.uid);
                    send_verdict(sought.answer, Ok(Peer { process: Some(*process), owner }));
                }
                Some(Holder::Refused(process, why)) => {
                    self.remember_refused(*process, why);
                    send_verdict(sought.answer, Err(why.clone()));
                }
                None => hidden.push(sought),
            }
        }
        if hidden.is_empty() {
            return;
        }
        let verdict = check_hidden_holder(own);
        // A process whose files were not examined may hold the socket.
        let verdict = if findings.is_cut { verdict.and(Err(Refused::Busy)) } else { verdict };
        for PendingSearch { socket, peer, local, answer } in hidden {
            // The socket is looked up again last: if it is still the same, its holder already existed when no command
            // could have held it.
            let judged = match diag::find(peer, local) {
                Ok(Some(again)) if again == socket => verdict.clone().map(|()| Owner::User(socket.uid).into()),
                Ok(_) => Err(Refused::Gone),
                Err(error) => Err(Refused::unknown(error)),
            };
            send_verdict(answer, judged);
        }
    }

    /// Remembers a process that was refused because of what it is, and not because of an error.
    fn remember_refused(&self, process: Process, why: &Refused) {
        match why {
            Refused::OwnProcess | Refused::ConfinedElsewhere => self.refused.remember(process, why.clone()),
            Refused::Gone | Refused::Busy | Refused::Unknown(_) => {}
        }
    }

    /// Returns the refused processes that have not ended.
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
        // Processes that the server starts are in its PID namespace or in one below it, so they have an id here.
        let (false, Some(pid)) = (is_other_user(uid), pid) else { return Ok(owner.into()) };
        let own = lineage::own_pid().map_err(Refused::unknown)?;
        if own != std::process::id() {
            return Err(Refused::unknown("/proc belongs to another PID namespace"));
        }
        let process = (pid, lineage::stat(pid).map_err(|_| Refused::Gone)?.start);
        let judged = match (self.refused.of(process), self.clients.of(process)) {
            (Some(why), _) => Err(why),
            (None, Some(())) => Ok(()),
            (None, None) => judge_process(pid, own),
        };
        // The id may have been reused for another process.
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

/// Judges a connection by its addresses and its socket. Returns the socket as an error if the processes that hold it
/// have to be searched.
fn judge_addresses(peer: SocketAddr, local: SocketAddr) -> Result<Result<Peer, Refused>, PeerSocket> {
    match diag::find(peer, local) {
        Err(error) => Ok(Err(Refused::unknown(error))),
        Ok(Some(socket)) => judge_socket(&socket).ok_or(socket),
        Ok(None) => Ok(match is_here(peer) {
            true => Err(Refused::unknown("its socket cannot be found")),
            false => Ok(Owner::at(peer.ip()).into()),
        }),
    }
}

/// Judges a socket without its holder. Returns `None` if the processes that hold it have to be searched.
fn judge_socket(socket: &PeerSocket) -> Option<Result<Peer, Refused>> {
    // For a closed socket, the kernel reports zeros as inode and user. The zero does not prove that the user is root.
    if socket.inode == 0 {
        return Some(Err(Refused::Gone));
    }
    is_other_user(socket.uid).then(|| Ok(Owner::User(socket.uid).into()))
}

/// Returns an error if a socket whose holder cannot be seen may belong to a process that this server started.
///
/// A command can send a socket over a unix socket to another program and end, so that no process holds it. It is
/// therefore not enough that no command with network access is running: none may ever have been started.
fn check_hidden_holder(own: u32) -> Result<(), Refused> {
    if sandbox::has_opened_network() {
        return Err(Refused::Unknown(HIDES.to_owned()));
    }
    let listed = lineage::all().map_err(Refused::unknown)?;
    let below = lineage::below(own, &listed);
    let others = listed.iter().map(|process| (process.pid, process.start)).filter(|process| !below.contains(process));
    // A command that another server runs for this user, or that was left running when that server ended. Sockets of
    // other users have been judged before.
    let user = rustix::process::geteuid().as_raw();
    let may_hold_it = |pid: u32| {
        hides(pid)
            && lineage::runs_for(pid, user).unwrap_or(false)
            && matches!(sandbox::marked(pid), Ok(Some(Network::Open)))
    };
    if others.into_iter().any(|(pid, _)| may_hold_it(pid)) {
        return Err(Refused::Unknown(HIDES.to_owned()));
    }
    if has_no_children() {
        return Ok(());
    }
    for _ in 0..LISTING_ATTEMPTS {
        let before = lineage::descendants(own).map_err(Refused::unknown)?;
        for (pid, _) in &before {
            // No confined process has had network access so far. An unconfined one may hide its sockets, as the client
            // does. A process that has ended is missing in the second list.
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

/// Returns whether a process hides its open files from other processes.
fn hides(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/fd")).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns whether this process has no children. It adopts the orphans of its children, so it has no descendants either
/// in this case.
fn has_no_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Returns whether the process of a handle is still running.
fn lives(handle: &OwnedFd) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", handle.as_raw_fd()));
    info.is_ok_and(|info| {
        info.lines()
            .any(|line| line.strip_prefix("Pid:").is_some_and(|pid| pid.trim().parse().is_ok_and(|pid: i64| pid > 0)))
    })
}

/// Returns whether a user is neither the server's user nor one that a command of the server could become.
fn is_other_user(uid: u32) -> bool {
    let own = rustix::process::geteuid();
    !own.is_root() && uid != own.as_raw()
}

#[cfg(test)]
mod tests {
    use trace_needs::{Need, skip};

    use super::*;

    #[test]
    fn a_closed_socket_has_no_owner() {
        for uid in [0, 12_345, rustix::process::geteuid().as_raw()] {
            let judged = judge_socket(&PeerSocket { uid, inode: 0 });
            assert!(matches!(judged, Some(Err(Refused::Gone))), "{uid}");
        }
        let own = PeerSocket { uid: rustix::process::geteuid().as_raw(), inode: 7 };
        assert!(judge_socket(&own).is_none());
    }

    #[test]
    fn only_local_addresses_without_a_socket_are_refused() {
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

    /// The other end of the connection is closed in different ways before the connection is judged.
    #[test]
    fn a_client_that_has_left_is_refused_also_by_a_server_without_root() {
        const INSIDE: &str = "TRACE_TEST_USER";
        if rustix::process::geteuid().is_root() && std::env::var_os(INSIDE).is_none() {
            use std::os::unix::process::CommandExt as _;

            // For a closed socket, the kernel reports root as its user. A server that does not run as root could take
            // that for another user.
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
            // As long as the socket is open, its holder has to be searched.
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
