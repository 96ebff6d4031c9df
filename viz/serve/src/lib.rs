//! Serves the page of a session, or of a lake of sessions, on the loopback interface.
//!
//! The address of a page is secret: a random [`Token`] is the first part of every path, and a request with another token
//! gets status 404. The page of a lake has it in the fragment of its address, and shows it as a bearer token when it requests
//! data. A request for a host other than the loopback interface, such as one from a page that rebinds a
//! domain name, and a request from another origin are refused. The server writes nothing, and
//! serves only the page and the data that the page requests.

mod fleet;
mod guard;
mod keeper;
mod recordings;
mod routes;
mod search;
mod token;
mod web;

use std::future::{Future, IntoFuture};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use trace_explain::Session;

pub use fleet::{MAX_ADDRESS_BYTES, address_of};
pub use keeper::{MAX_BODIES_BYTES, MAX_WAITING, Newer};
pub use recordings::{Locate, MAX_KEPT_RECORDINGS, OpenRecording, Opened, RecordingSource};
pub use routes::{MAX_BODIES, MAX_HITS};
pub use token::Token;
pub use web::{WebRoutes, web};

/// The server of a page, which listens but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    url: String,
    app: axum::Router,
}

impl Server {
    /// Binds a port of the loopback interface for the page of a session. Port 0 selects any free port. `name` is the
    /// name of the session that the page displays. `newer` looks for a newer state of a session that is still written; a
    /// page asks for it every few seconds.
    ///
    /// # Errors
    ///
    /// Returns an error if the port cannot be bound or the thread for the session cannot be started.
    pub async fn bind(session: Session, newer: Option<Newer>, name: &str, port: u16, token: Token) -> io::Result<Self> {
        let (listener, address) = listen(port).await?;
        let keeper = keeper::Keeper::start(session, name, newer)?;
        let app = guard::guarded(routes::routes(keeper, name, &format!("/{}", token.as_str())), address, &token);
        let url = format!("http://{address}/{}/", token.as_str());
        Ok(Self { listener, url, app })
    }

    /// Binds a port of the loopback interface for the page of a lake and for the pages of its sessions. Port 0 selects any free
    /// port. `data` has the routes of the data that the page requests, below `/data/`; they are reached only with the token.
    /// `source` finds a session by the id that the page makes of its day and its address.
    ///
    /// The token is in the fragment of the page's address, since the page links to those of sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the port cannot be bound.
    pub async fn bind_fleet(data: axum::Router, source: RecordingSource, port: u16, token: Token) -> io::Result<Self> {
        let (listener, address) = listen(port).await?;
        let fleet::Routes { open, closed } = fleet::routes(data, source);
        let app = guard::guarded_by_bearer(open, closed, address, &token);
        let url = format!("http://{address}/#token={}", token.as_str());
        Ok(Self { listener, url, app })
    }

    /// Returns the address of the page.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Serves the page until the future `end` completes.
    ///
    /// # Errors
    ///
    /// Returns an error if the listener fails.
    pub async fn run(self, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        // Do not wait for open connections: a browser keeps idle ones open.
        tokio::select! {
            result = axum::serve(self.listener, self.app).into_future() => result,
            () = end => Ok(()),
        }
    }
}

async fn listen(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
