//! Serves clients until the server is shut down.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::{Listener, ListenerExt as _};
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::accept::accept_all;
use super::admission::AdmissionControl;
use super::bind::{Bound, Endpoint};
use super::bridge::Bridge;
use super::drain::{Finished, Shutdown};
use super::http::{App, Gate, router};
use super::peer::Arrival;
use super::stdio::serve_stdio;
use super::web::{self, WebClient};
use super::websocket::CLOSE_TIMEOUT;
use crate::ingress::ConnectionOpener;
use crate::outbound::CloseReason;

/// How long a TCP connection is idle before the system checks whether the client is still there.
pub const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(60);

/// Serves clients. Returns when the only client on standard input and output has disconnected, or when the server has
/// shut down: running work has finished, and the connections are closed. The second signal skips the rest of the
/// shutdown.
pub async fn serve(bound: Bound, opener: &ConnectionOpener, shutdown: &Shutdown) {
    let Bound { endpoint, auth, web } = bound;
    match endpoint {
        Endpoint::Stdio => {
            let reason = serve_stdio(opener, tokio::io::stdin(), tokio::io::stdout(), shutdown).await;
            tracing::debug!(%reason, "the client on standard input and output has disconnected");
        }
        Endpoint::Tcp(listener, address) => {
            let listener = listener.tap_io(tune);
            let web = web.map(|web| (web, address));
            serve_http(listener, Gate::Tcp(auth), web, opener, shutdown).await;
        }
        Endpoint::Unix(endpoint) => {
            let file = endpoint.file;
            serve_http(endpoint.listener, Gate::Unix, None, opener, shutdown).await;
            drop(file);
        }
        Endpoint::Off => {
            shutdown.draining().await;
            shutdown.unless_forced(opener.drain()).await;
        }
    }
}

/// Serves the routes of another protocol over TCP, until `end` completes. Like [`serve`], it refuses connections of processes that
/// this process started, limits the number of connections, and disconnects a client that sends no request. Responses that are being
/// written at the end have a short time to finish.
pub async fn serve_routes(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    tokio::select! {
        () = accept_all(listener.tap_io(tune), router, tasks.clone(), stop.clone()) => {}
        () = end => {}
    }
    stop.cancel();
    tasks.close();
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, tasks.wait()).await;
}

/// Makes the system send small messages without delay, and detect clients that vanish without closing the connection.
fn tune(stream: &mut TcpStream) {
    let set = || -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&*stream, true)?;
        sockopt::set_tcp_keepidle(&*stream, KEEP_ALIVE_AFTER)?;
        Ok(())
    };
    if let Err(error) = set() {
        tracing::debug!(%error, "cannot set the options of a connection");
    }
}

async fn serve_http(
    listener: impl Listener<Io: Arrival>,
    gate: Gate,
    web: Option<(WebClient, SocketAddr)>,
    opener: &ConnectionOpener,
    shutdown: &Shutdown,
) {
    let admission = AdmissionControl { opener: opener.clone(), shutdown: shutdown.clone(), tasks: TaskTracker::new() };
    let app = Arc::new(App { admission, gate, bridge: Bridge::default() });
    let mut routes = router(Arc::clone(&app));
    if let Some((web, address)) = web {
        routes = routes.merge(web::routes(web, address, Arc::clone(&app)));
    }
    let stop = CancellationToken::new();
    let tasks = app.admission.tasks.clone();
    let serving = tokio::spawn(accept_all(listener, routes, tasks, stop.clone()));

    shutdown.draining().await;
    // While work is running, connected clients are still served, because a user may have to answer an approval. New
    // clients are refused.
    tracing::info!(connections = opener.connections(), "waiting for running work");
    shutdown.unless_forced(opener.drain()).await;
    opener.end_all(CloseReason::ServerEnds);
    stop.cancel();
    app.admission.tasks.close();
    let closing = tokio::time::timeout(2 * CLOSE_TIMEOUT, app.admission.tasks.wait());
    let finished = shutdown.unless_forced(async { drop(closing.await) }).await;
    if finished == Finished::Forced || opener.connections() > 0 {
        tracing::warn!(connections = opener.connections(), "connections were closed before they ended");
    }
    opener.cut_all(CloseReason::ServerEnds);
    serving.abort();
}
