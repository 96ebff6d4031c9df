//! Serves the page of a session on the loopback interface.
//!
//! A page is behind an address that only those know who were told it: a random [`Token`] is the first part of every path. What
//! does not name it is not found; what names another host than the loopback interface, as a page that rebinds a name would, or
//! comes from another origin, is refused. Nothing is written, and there are no answers but the page and what it asks for.

mod guard;
mod keeper;
mod routes;
mod search;
mod token;

use std::future::{Future, IntoFuture};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use trace_explain::Session;

pub use keeper::{MAX_BODIES_BYTES, MAX_WAITING};
pub use routes::{MAX_BODIES, MAX_HITS};
pub use token::Token;

/// A page that waits to be served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    app: axum::Router,
}

impl Server {
    /// Takes a port of the loopback interface for the page of a session; any free one for 0. `name` is what the page calls
    /// the session.
    ///
    /// # Errors
    ///
    /// Returns the error of the system when the port cannot be had.
    pub async fn bind(session: Session, name: &str, port: u16, token: Token) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let keeper = keeper::Keeper::start(session, name)?;
        let app = guard::guarded(routes::routes(keeper, name, &format!("/{}", token.as_str())), address, &token);
        Ok(Self { listener, address, token, app })
    }

    /// Returns the address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token.as_str())
    }

    /// Serves the page until `end` comes.
    ///
    /// # Errors
    ///
    /// Returns the error of the system when no more connections can be taken.
    pub async fn run(self, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        // A page keeps connections open that nobody uses; they end with the program, not the program with them.
        tokio::select! {
            result = axum::serve(self.listener, self.app).into_future() => result,
            () = end => Ok(()),
        }
    }
}
