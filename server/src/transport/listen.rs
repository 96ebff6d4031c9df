//! The `--listen` option: where a server listens.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Path of the socket for `unix://`, relative to the server home.
pub const DEFAULT_SOCKET: &str = "app-server-control/app-server-control.sock";

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// Standard input and output: `stdio://`.
    Stdio,
    /// A unix socket: `unix://PATH`, or `unix://` for the one in the server home.
    Unix(PathBuf),
    /// TCP: `ws://IP:PORT`. With port 0, the system chooses a free port.
    WebSocket(SocketAddr),
    /// Nowhere: `off`.
    Off,
}

/// The value of `--listen` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// The scheme is unknown.
    #[error("cannot listen on `{url}`: expected stdio://, unix://, unix://PATH, ws://IP:PORT or off")]
    UnknownScheme {
        /// The value.
        url: String,
    },
    /// The text after `ws://` is not an address.
    #[error("cannot listen on `{url}`: expected an IP address and a port, as in ws://127.0.0.1:4500")]
    NoAddress {
        /// The value.
        url: String,
    },
}

impl Listen {
    /// Parses the value of `--listen`. `home` is the server home.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is invalid.
    pub fn parse(url: &str, home: &Path) -> Result<Self, ListenError> {
        match url.split_once("://") {
            None if url == "off" => Ok(Self::Off),
            Some(("stdio", "")) => Ok(Self::Stdio),
            Some(("unix", "")) => Ok(Self::Unix(home.join(DEFAULT_SOCKET))),
            Some(("unix", path)) => Ok(Self::Unix(PathBuf::from(path))),
            Some(("ws", address)) => address
                .strip_suffix('/')
                .unwrap_or(address)
                .parse()
                .map(Self::WebSocket)
                .map_err(|_| ListenError::NoAddress { url: url.to_owned() }),
            _ => Err(ListenError::UnknownScheme { url: url.to_owned() }),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio => formatter.write_str("stdio://"),
            Self::Unix(path) => write!(formatter, "unix://{}", path.display()),
            Self::WebSocket(address) => write!(formatter, "ws://{address}"),
            Self::Off => formatter.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let home = Path::new("/home/me/.trace");
        let table = [
            ("stdio://", Ok(Listen::Stdio)),
            ("off", Ok(Listen::Off)),
            ("unix:///tmp/s.sock", Ok(Listen::Unix("/tmp/s.sock".into()))),
            ("unix://s.sock", Ok(Listen::Unix("s.sock".into()))),
            ("unix://", Ok(Listen::Unix(home.join("app-server-control/app-server-control.sock")))),
            ("ws://127.0.0.1:0", Ok(Listen::WebSocket(([127, 0, 0, 1], 0).into()))),
            ("ws://127.0.0.1:4500/", Ok(Listen::WebSocket(([127, 0, 0, 1], 4500).into()))),
            ("ws://[::1]:80", Ok(Listen::WebSocket("[::1]:80".parse().expect("an address")))),
        ];
        for (url, expected) in table {
            assert_eq!(Listen::parse(url, home), expected, "{url}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for url in ["", "stdio", "stdio:///x", "tcp://127.0.0.1:1", "wss://127.0.0.1:1", "OFF", "/tmp/s.sock"] {
            let refused = Listen::parse(url, Path::new("/"));
            assert_eq!(refused, Err(ListenError::UnknownScheme { url: url.to_owned() }), "{url}");
        }
        for url in ["ws://", "ws://localhost:80", "ws://127.0.0.1", "ws://127.0.0.1:70000", "ws://127.0.0.1:1/x"] {
            let refused = Listen::parse(url, Path::new("/"));
            assert_eq!(refused, Err(ListenError::NoAddress { url: url.to_owned() }), "{url}");
        }
    }

    #[test]
    fn addresses_survive_formatting_and_parsing() {
        for url in ["stdio://", "off", "unix:///a/b", "ws://127.0.0.1:80", "ws://[::1]:80"] {
            assert_eq!(Listen::parse(url, Path::new("/")).map(|listen| listen.to_string()).as_deref(), Ok(url));
        }
    }
}
