//! Connections to a relay.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use axum::http::header::{HeaderName, HeaderValue};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderMap;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use trace_runtime::tls::Certificates;

use super::super::websocket::MAX_MESSAGE_BYTES;

/// How long it may take to connect, with TLS and the upgrade to a WebSocket.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Most bytes of an answer that are told.
const MAX_TOLD_BYTES: usize = 200;

pub(super) type Socket = WebSocketStream<Box<dyn Wire>>;

/// What a WebSocket runs on: TCP, with or without TLS.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Wire for S {}

/// Why a server cannot dial a relay.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The URL is not one of a relay.
    #[error("`{url}` is not the URL of a relay: expected wss://HOST:PORT")]
    BadUrl {
        /// The URL.
        url: String,
    },
    /// The token and all messages would be readable on the network.
    #[error(
        "`{url}` is not encrypted, so others on the network could read the token; use wss://, or ws:// on this machine"
    )]
    NotEncrypted {
        /// The URL.
        url: String,
    },
    /// The token cannot be sent in a header.
    #[error("the token has characters that a token cannot have")]
    BadToken,
    /// The certificates of the machine cannot be read.
    #[error("cannot read the certificates that this machine trusts")]
    Certificates(#[from] rustls::Error),
    /// The system has no random numbers.
    #[error("the system has no random numbers")]
    NoRandomness,
}

/// Why a connection was not made.
#[derive(Debug)]
pub(super) enum DialError {
    Unauthorized(String),
    /// The relay does not let this client in, whatever its token.
    Refused(String),
    Failed(String),
}

pub(super) struct Dial {
    url: String,
    host: String,
    port: u16,
    headers: Vec<(HeaderName, HeaderValue)>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Dial {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Dial").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Dial {
    pub(super) fn new(url: Uri, text: &str, headers: Vec<(&'static str, String)>) -> Result<Self, RemoteError> {
        let bad = || RemoteError::BadUrl { url: text.to_owned() };
        let parts = url.into_parts();
        let authority = parts.authority.ok_or_else(bad)?;
        let path = parts.path_and_query.as_ref().map_or("", |path| path.as_str());
        if authority.as_str().contains('@') || path.contains('?') {
            return Err(bad());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let (is_encrypted, port) = match parts.scheme.as_ref().map(|scheme| scheme.as_str()) {
            Some("wss") => (true, 443),
            Some("ws") => (false, 80),
            _ => return Err(bad()),
        };
        let is_here = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        if !is_encrypted && !is_here {
            return Err(RemoteError::NotEncrypted { url: text.to_owned() });
        }
        let tls = if is_encrypted {
            let config = Certificates::OfTheMachine.client_config()?;
            let name = ServerName::try_from(host.clone()).map_err(|_| bad())?;
            Some((TlsConnector::from(Arc::new(config)), name))
        } else {
            None
        };
        let header = |(name, value): (&'static str, String)| {
            let mut value = HeaderValue::try_from(value).map_err(|_| RemoteError::BadToken)?;
            value.set_sensitive(true);
            Ok((HeaderName::from_static(name), value))
        };
        Ok(Self {
            url: text.trim_end_matches('/').to_owned(),
            host,
            port: authority.port_u16().unwrap_or(port),
            headers: headers.into_iter().map(header).collect::<Result<_, RemoteError>>()?,
            tls,
        })
    }

    /// Connects to a path of the relay. Returns the headers of the answer, too.
    pub(super) async fn connect(
        &self,
        path: &str,
        more: Option<(&'static str, String)>,
    ) -> Result<(Socket, HeaderMap), DialError> {
        match timeout(CONNECT_TIMEOUT, self.try_connect(path, more)).await {
            Ok(connected) => connected,
            Err(_) => Err(DialError::Failed(format!("no connection within {} seconds", CONNECT_TIMEOUT.as_secs()))),
        }
    }

    async fn try_connect(
        &self,
        path: &str,
        more: Option<(&'static str, String)>,
    ) -> Result<(Socket, HeaderMap), DialError> {
        let failed = |error: &dyn std::fmt::Display| DialError::Failed(error.to_string());
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let wire: Box<dyn Wire> = match &self.tls {
            None => Box::new(stream),
            Some((tls, name)) => Box::new(tls.connect(name.clone(), stream).await.map_err(|error| failed(&error))?),
        };
        let url = format!("{}{path}", self.url);
        let mut request = url.into_client_request().map_err(|error| failed(&error))?;
        request.headers_mut().extend(self.headers.iter().cloned());
        if let Some((name, value)) = more
            && let Ok(value) = HeaderValue::try_from(value)
        {
            request.headers_mut().insert(name, value);
        }
        let most = 2 * MAX_MESSAGE_BYTES;
        let config = WebSocketConfig::default().max_message_size(Some(most)).max_frame_size(Some(most));
        match client_async_with_config(request, wire, Some(config)).await {
            Ok((socket, response)) => Ok((socket, response.headers().clone())),
            Err(Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                let why = String::from_utf8_lossy(&body[..body.len().min(MAX_TOLD_BYTES)]);
                let why = trace_text::preview(why.trim(), trace_text::Usage::Prose, MAX_TOLD_BYTES);
                match response.status().as_u16() {
                    status @ (401 | 403) => Err(DialError::Unauthorized(format!("HTTP {status}: {why}"))),
                    status @ 400 => Err(DialError::Refused(format!("HTTP {status}: {why}"))),
                    status => Err(DialError::Failed(format!("HTTP {status}: {why}"))),
                }
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dial(url: &str) -> Result<Dial, RemoteError> {
        Dial::new(url.parse().map_err(|_| RemoteError::BadUrl { url: url.to_owned() })?, url, Vec::new())
    }

    #[test]
    fn only_urls_of_relays_are_dialled() {
        for (url, host, port) in [
            ("ws://127.0.0.1:4600", "127.0.0.1", 4600),
            ("ws://[::1]:4600/", "::1", 4600),
            ("ws://localhost/behind/a/proxy", "localhost", 80),
        ] {
            let dial = dial(url).expect(url);
            assert_eq!((dial.host.as_str(), dial.port), (host, port));
        }
        assert_eq!(dial("ws://localhost/a/").expect("good").url, "ws://localhost/a");
        for url in ["http://127.0.0.1", "127.0.0.1:4600", "ws://user@127.0.0.1", "ws://127.0.0.1/?a=b", ""] {
            assert!(matches!(dial(url), Err(RemoteError::BadUrl { .. })), "{url}");
        }
        for url in ["ws://192.0.2.1:4600", "ws://relay.example"] {
            assert!(matches!(dial(url), Err(RemoteError::NotEncrypted { .. })), "{url}");
        }
    }
}
