//! Connects standard input and output to a server on a unix socket.

use std::io;
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// Why a proxy failed.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// No server is listening.
    #[error("cannot connect to {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Reading or writing failed.
    #[error("connection to {} failed", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Copies bytes in both directions until the server ends the connection. The output continues after the end of the
/// input.
///
/// # Errors
///
/// Returns an error if no server is listening on the socket, or if reading or writing fails.
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
