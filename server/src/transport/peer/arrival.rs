//! What a stream says about where it comes from.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};

/// Where a connection comes from, as its stream says.
#[derive(Debug)]
pub(in crate::transport) enum Origin {
    /// A connection over TCP: both of its ends.
    Tcp { peer: SocketAddr, local: SocketAddr },
    /// A connection over a unix socket.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells descendants apart"))]
    Unix {
        /// The process that connected. `None` if it lives in another process namespace.
        pid: Option<u32>,
        /// The user of that process.
        uid: u32,
        /// A handle on that process, where the system gives one (Linux 6.5): it tells whether the process still lives.
        #[cfg(target_os = "linux")]
        handle: Option<std::os::fd::OwnedFd>,
    },
    /// The stream does not say it, because it has ended or was never a socket.
    Unknown,
}

/// A stream that says where it comes from.
pub(in crate::transport) trait Arrival {
    /// Returns where the stream comes from.
    fn origin(&self) -> Origin;

    /// Closes the connection so that nothing of it is left in the system, without a word.
    fn cut(self);
}

impl Arrival for TcpStream {
    fn origin(&self) -> Origin {
        match (self.peer_addr(), self.local_addr()) {
            (Ok(peer), Ok(local)) => Origin::Tcp { peer, local },
            _ => Origin::Unknown,
        }
    }

    fn cut(self) {
        // Otherwise the system would keep its side for a while after it was closed.
        let _ = rustix::net::sockopt::set_socket_linger(&self, Some(Duration::ZERO));
    }
}

impl Arrival for UnixStream {
    fn origin(&self) -> Origin {
        match self.peer_cred() {
            Ok(credentials) => Origin::Unix {
                // Zero stands for a process of another namespace.
                pid: credentials.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0),
                uid: credentials.uid(),
                #[cfg(target_os = "linux")]
                handle: nix::sys::socket::getsockopt(self, nix::sys::socket::sockopt::PeerPidfd).ok(),
            },
            Err(_) => Origin::Unknown,
        }
    }

    fn cut(self) {}
}

#[cfg(test)]
impl Arrival for tokio::io::DuplexStream {
    fn origin(&self) -> Origin {
        Origin::Tcp { peer: ([192, 0, 2, 1], 1).into(), local: ([192, 0, 2, 2], 2).into() }
    }

    fn cut(self) {}
}
