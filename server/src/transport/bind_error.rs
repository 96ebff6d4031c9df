//! Why a server cannot listen.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// All machines of the network could connect.
    #[error(
        "refusing to listen on {address} without a token: other machines can reach it; use --ws-auth, or 127.0.0.1"
    )]
    NeedsAuth {
        /// The address.
        address: SocketAddr,
    },
    /// Authorization was configured for a transport without it.
    #[error("--ws-auth works only with ws://, not with {listen}")]
    AuthWithoutTcp {
        /// The transport.
        listen: String,
    },
    /// The web client was asked for on a transport that browsers cannot reach.
    #[error("the web client needs an address that a browser can open; use --listen ws://IP:PORT")]
    WebWithoutTcp,
    /// The port is in use, or the address does not belong to this machine.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// Another server is listening on the socket.
    #[error("cannot listen on {}: another server is listening there", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The path leads to a file that is not a socket.
    #[error("cannot listen on {}: it is not a socket; remove it or choose another path", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {what} the socket {}", path.display())]
    Socket {
        /// The file.
        path: PathBuf,
        /// The operation, as it continues "cannot ... the socket".
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
}
