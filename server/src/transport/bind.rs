//! Binds the address or socket on which a server listens.

use std::fmt;
use std::net::SocketAddr;

use tokio::net::TcpListener;

use super::auth::Auth;
use super::bind_error::BindError;
use super::listen::Listen;
use super::unix::{self, UnixEndpoint};
use super::web::WebClient;

/// Connections over TCP that may wait to be accepted. Linux uses `net.core.somaxconn` if that is smaller.
const BACKLOG: i32 = 4_096;

/// An address or socket on which a server listens.
#[derive(Debug)]
pub struct Bound {
    pub(super) endpoint: Endpoint,
    pub(super) auth: Option<Auth>,
    pub(super) web: Option<WebClient>,
}

#[derive(Debug)]
pub(super) enum Endpoint {
    Stdio,
    Unix(UnixEndpoint),
    Tcp(TcpListener, SocketAddr),
    Off,
}

/// The URLs of a server, one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Banner {
    /// The URL to connect to. Its port is the real one.
    pub url: String,
    /// URL that tells whether the server accepts clients. `None` unless the server listens on TCP.
    pub ready: Option<String>,
    /// URL that tells whether the server runs. `None` unless the server listens on TCP.
    pub health: Option<String>,
    /// URL that creates sessions over plain HTTP. `None` unless the server listens on TCP.
    pub bridge: Option<String>,
    /// URL of the web client, with the token that it needs. `None` if it is not served.
    pub web: Option<String>,
}

impl fmt::Display for Banner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "listening on: {}", self.url)?;
        let urls = [("readyz", &self.ready), ("healthz", &self.health), ("bridge", &self.bridge), ("web", &self.web)];
        for (name, url) in urls {
            if let Some(url) = url {
                write!(formatter, "\n  {name}: {url}")?;
            }
        }
        Ok(())
    }
}

/// Starts to listen. `auth` is used for TCP only.
///
/// # Errors
///
/// Returns an error if unauthorized clients could connect, if another server is listening there, or if a system call
/// fails.
pub async fn bind(listen: &Listen, auth: Option<Auth>) -> Result<Bound, BindError> {
    if auth.is_some() && !matches!(listen, Listen::WebSocket(_)) {
        return Err(BindError::AuthWithoutTcp { listen: listen.to_string() });
    }
    let endpoint = match listen {
        Listen::Stdio => Endpoint::Stdio,
        Listen::Off => Endpoint::Off,
        Listen::Unix(path) => Endpoint::Unix(unix::bind(path).await?),
        Listen::WebSocket(address) => {
            let address = *address;
            if !address.ip().to_canonical().is_loopback() && auth.is_none() {
                return Err(BindError::NeedsAuth { address });
            }
            let failed = |source| BindError::Address { address, source };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            rustix::net::listen(&listener, BACKLOG).map_err(|errno| failed(errno.into()))?;
            let real = listener.local_addr().map_err(failed)?;
            Endpoint::Tcp(listener, real)
        }
    };
    Ok(Bound { endpoint, auth, web: None })
}

impl Bound {
    /// Serves the web client at the same address.
    ///
    /// # Errors
    ///
    /// Returns an error unless the server listens on TCP.
    pub fn with_web(mut self, web: WebClient) -> Result<Self, BindError> {
        if self.address().is_none() {
            return Err(BindError::WebWithoutTcp);
        }
        self.web = Some(web);
        Ok(self)
    }

    /// Returns the URLs of the server, or `None` if clients need none.
    #[must_use]
    pub fn banner(&self) -> Option<Banner> {
        match &self.endpoint {
            Endpoint::Stdio | Endpoint::Off => None,
            Endpoint::Unix(endpoint) => {
                let url = format!("unix://{}", endpoint.file.path().display());
                Some(Banner { url, ready: None, health: None, bridge: None, web: None })
            }
            Endpoint::Tcp(_, address) => Some(Banner {
                url: format!("ws://{address}"),
                ready: Some(format!("http://{address}/readyz")),
                health: Some(format!("http://{address}/healthz")),
                bridge: Some(format!("http://{address}/bridge")),
                web: self.web.as_ref().map(|web| web.url(*address)),
            }),
        }
    }

    /// Returns the address of a server that listens on TCP.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.endpoint {
            Endpoint::Tcp(_, address) => Some(*address),
            Endpoint::Stdio | Endpoint::Unix(_) | Endpoint::Off => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::auth::{AuthMode, AuthOptions};

    fn auth() -> Option<Auth> {
        let options = AuthOptions {
            mode: Some(AuthMode::CapabilityToken),
            token_sha256: Some("0".repeat(64)),
            ..AuthOptions::default()
        };
        Auth::from_options(&options).expect("good options")
    }

    fn any_port(ip: &str) -> Listen {
        Listen::WebSocket(SocketAddr::new(ip.parse().expect("an address"), 0))
    }

    #[tokio::test]
    async fn other_machines_need_a_token() {
        for ip in ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"] {
            let refused = bind(&any_port(ip), None).await.expect_err("refused");
            assert!(matches!(refused, BindError::NeedsAuth { .. }), "{ip}: {refused}");
        }
        assert!(bind(&any_port("0.0.0.0"), auth()).await.is_ok());
        assert!(bind(&any_port("127.0.0.1"), None).await.is_ok());
        let refused = bind(&Listen::Stdio, auth()).await.expect_err("refused");
        assert!(matches!(refused, BindError::AuthWithoutTcp { .. }), "{refused}");
    }

    #[tokio::test]
    async fn the_banner_names_the_real_port() {
        let bound = bind(&any_port("127.0.0.1"), None).await.expect("bound");
        let address = bound.address().expect("an address");
        assert_ne!(address.port(), 0);
        let banner = bound.banner().expect("a banner");
        assert_eq!(
            banner.to_string(),
            format!(
                "listening on: ws://{address}\n  readyz: http://{address}/readyz\n  healthz: http://{address}/healthz\n  \
                 bridge: http://{address}/bridge"
            )
        );
        let taken = bind(&Listen::WebSocket(address), None).await.expect_err("taken");
        assert!(matches!(taken, BindError::Address { .. }), "{taken}");
        assert_eq!(bind(&Listen::Off, None).await.expect("bound").banner(), None);
    }
}
