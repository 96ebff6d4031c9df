//! The origin of a connection, according to its stream.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};

/// The origin of a connection.
#[derive(Debug)]
pub(in crate::transport) enum Origin {
    /// A connection over TCP, with the addresses of both ends.
    Tcp { peer: SocketAddr, local: SocketAddr },
    /// A connection over a unix socket.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells descendants apart"))]
    Unix {
        /// The process that connected. `None` if it is in another PID namespace.
        pid: Option<u32>,
        /// The user of that process.
        uid: u32,
        /// A handle of that process, if the system supports it (Linux 6.5). It tells whether the process still lives.
        #[cfg(target_os = "linux")]
        handle: Option<std::os::fd::OwnedFd>,
    },
    /// The stream has ended, or is not a socket.
    Unknown,
}

/// A stream with an origin.
pub(in crate::transport) trait Arrival {
    fn origin(&self) -> Origin;

    /// Closes the connection at once, without leaving state in the system.
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
        // Otherwise, the system would keep its side of the connection for a while.
        let _ = rustix::net::sockopt::set_socket_linger(&self, Some(Duration::ZERO));
    }
}

impl Arrival for UnixStream {
    fn origin(&self) -> Origin {
        match self.peer_cred() {
            Ok(credentials) => Origin::Unix {
                // Zero stands for a process in another PID namespace.
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
