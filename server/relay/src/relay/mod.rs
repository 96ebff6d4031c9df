//! The relay: it accepts servers and clients, and passes messages between them.

mod client;
mod end;
mod http;
mod link;
mod registry;
mod server;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::devices::{DevicesError, DevicesFile};
use crate::random::hex;
use client::CLOSE_TIMEOUT;
use http::{App, Slot, router};
use registry::Registry;

pub use client::{SILENCE_TIMEOUT, SUBPROTOCOL, WEBSOCKET_PING_INTERVAL, WRITE_TIMEOUT};
pub use end::StreamEnd;
pub use http::{CURSOR_HEADER, HANDSHAKE_TIMEOUT, INSTANCE_HEADER, MAX_PAIR_BYTES, STREAM_HEADER};
pub use link::{MAX_STREAMS, MAX_WAITING_BYTES, MAX_WAITING_MESSAGES, PING_INTERVAL, RESUME_TIMEOUT, SERVER_GRACE};
pub use registry::WATCH_INTERVAL;

/// Most connections at the same time.
pub const MAX_CONNECTIONS: usize = 8_192;

/// Where and how a relay listens.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// The address.
    pub address: SocketAddr,
    /// The files with the certificate and its key in PEM. `None` for unencrypted connections.
    pub tls: Option<TlsFiles>,
    /// Whether unencrypted connections of other machines are allowed, because a proxy decrypts them.
    pub is_behind_proxy: bool,
    /// The file with the devices.
    pub devices: PathBuf,
}

/// The files of a certificate.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and those between it and a root.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why a relay cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Tokens and messages would be readable on the network.
    #[error(
        "refusing to listen on {address} without TLS: others on the network could read tokens and messages; use wss://, \
         127.0.0.1, or --behind-proxy"
    )]
    NeedsTls {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// A file of the certificate cannot be read.
    #[error("cannot read {what} in {}", path.display())]
    Pem {
        /// What the file has to hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate and the key cannot be used.
    #[error("cannot use the certificate")]
    Tls(#[from] rustls::Error),
    /// The devices file cannot be used.
    #[error(transparent)]
    Devices(#[from] DevicesError),
    /// The system has no random numbers.
    #[error("the system has no random numbers")]
    NoRandomness,
}

/// A relay that listens.
pub struct Relay {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
    stop: CancellationToken,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Relay").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Relay {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// Returns an error if the address, the certificate or the devices file cannot be used.
    pub async fn bind(options: &RelayOptions) -> Result<Self, RelayError> {
        let address = options.address;
        let is_open = options.tls.is_none() && !options.is_behind_proxy && !address.ip().to_canonical().is_loopback();
        if is_open {
            return Err(RelayError::NeedsTls { address });
        }
        let tls =
            options.tls.as_ref().map(server_config).transpose()?.map(|config| TlsAcceptor::from(Arc::new(config)));
        // Cursors of an earlier relay mean nothing to this one.
        let mut epoch = [0; 8];
        getrandom::fill(&mut epoch).map_err(|_| RelayError::NoRandomness)?;
        let registry = Registry::open(DevicesFile::new(&options.devices), hex(&epoch))?;
        let failed = |source| RelayError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let app = Arc::new(App {
            registry,
            clients: TaskTracker::new(),
            servers: TaskTracker::new(),
            stop_clients: CancellationToken::new(),
            stop_servers: CancellationToken::new(),
        });
        Ok(Self { listener, address, tls, app, stop: CancellationToken::new() })
    }

    /// Returns the address, with the real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for servers and clients.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the token that ends [`serve`](Self::serve) when it is cancelled.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Serves until it is stopped. Then connections are closed; streams that can be resumed continue at the next
    /// relay.
    pub async fn serve(self) {
        let Self { listener, tls, app, stop, .. } = self;
        let router = router(Arc::clone(&app));
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let accepting = async {
            loop {
                let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
                let stream = match listener.accept().await {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        // Without free descriptors, accepting fails until some are closed.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                };
                let router = router.clone().layer(Extension::<Slot>(Arc::new(slot)));
                let (tls, stop) = (tls.clone(), app.stop_clients.clone());
                app.clients.spawn(async move {
                    tokio::select! {
                        () = connect(stream, tls, router) => {}
                        () = stop.cancelled() => {}
                    }
                });
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = accepting => {}
            () = app.registry.watch() => {}
        }
        for (tasks, stop) in [(&app.clients, &app.stop_clients), (&app.servers, &app.stop_servers)] {
            stop.cancel();
            tasks.close();
            let _ = timeout(2 * CLOSE_TIMEOUT, tasks.wait()).await;
        }
    }
}

/// What HTTP is spoken on.
trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Socket for S {}

async fn connect(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set the options of a connection");
    }
    let socket: Box<dyn Socket> = match tls {
        None => Box::new(stream),
        Some(tls) => match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => Box::new(stream),
            Ok(Err(error)) => return tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => return tracing::debug!("a TLS handshake took too long"),
        },
    };
    let connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HANDSHAKE_TIMEOUT)
            .serve_connection(TokioIo::new(socket), TowerToHyperService::new(router))
            .with_upgrades()
    );
    if let Err(error) = connection.await {
        tracing::debug!(%error, "an HTTP connection failed");
    }
}

fn server_config(files: &TlsFiles) -> Result<ServerConfig, RelayError> {
    let failed = |what, path: &Path| {
        let path = path.to_owned();
        move |source| RelayError::Pem { what, path, source }
    };
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(failed("certificates", &files.certificate))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(failed("a private key", &files.key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_no_client_auth().with_single_cert(certificates, key)?)
}
