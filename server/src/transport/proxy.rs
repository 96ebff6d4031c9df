//! Brings the bytes of a client that has standard input and output alone to a server on a unix socket, and back.

use std::io;
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// The bytes could not be brought.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// Nobody listens.
    #[error("cannot connect to {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// One side broke.
    #[error("connection to {} broke", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Copies bytes both ways until the server ends the connection. What comes after the end of the input still comes out.
///
/// # Errors
///
/// Nobody listens on the socket, or one side broke.
pub async fn proxy(
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    socket: &Path,
) -> Result<(), ProxyError> {
    let path = || socket.to_owned();
    let stream = UnixStream::connect(socket).await.map_err(|source| ProxyError::Connect { path: path(), source })?;
    let (mut from_server, mut to_server) = stream.into_split();
    let forth = async {
        tokio::io::copy(&mut input, &mut to_server).await?;
        to_server.shutdown().await?;
        std::future::pending::<io::Result<()>>().await
    };
    let back = async {
        tokio::io::copy(&mut from_server, &mut output).await?;
        output.flush().await
    };
    tokio::select! {
        biased;
        ended = back => ended,
        broke = forth => broke,
    }
    .map_err(|source| ProxyError::Broken { path: path(), source })
}
