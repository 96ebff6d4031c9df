//! Why a server cannot listen.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server cannot listen where it is told to.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Everybody could connect.
    #[error("refusing to listen on {address} without a token: other machines reach it; use --ws-auth, or 127.0.0.1")]
    NeedsAuth {
        /// Where.
        address: SocketAddr,
    },
    /// A token is asked for where none is looked at.
    #[error("--ws-auth works with ws:// alone, not with {listen}")]
    AuthWithoutTcp {
        /// Where.
        listen: String,
    },
    /// The port is taken, or the address is not ours.
    #[error("cannot listen on {address}")]
    Address {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// A server answers there.
    #[error("cannot listen on {}: another server does", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Something else than a socket is there.
    #[error("cannot listen on {}: it is a file, but no socket; remove it or choose another path", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {what} the socket {}", path.display())]
    Socket {
        /// The file.
        path: PathBuf,
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}
