//! Accepts connections and serves HTTP on them.
//!
//! Before a byte is read, the server determines which process has connected, and refuses processes that it started
//! itself. Only a limited number of connections is judged at the same time; further ones wait in the backlog of the
//! system. A connection that is admitted takes a slot. A client that sends no request, or sends it very slowly, is
//! disconnected, so that it does not occupy a slot forever.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::peer::{Arrival, Judge};
use super::slots::ConnectionSlots;
use super::turn_away::{Reason, Refusals};

/// How long a client may take to send the whole head of a request.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Most connections that are judged at the same time. A process with a low limit of open files uses a quarter of that
/// limit.
const MAX_UNJUDGED: u64 = 1_024;

/// Serves requests until `stop` is cancelled. Requests that have started by then are still answered. The task of a
/// connection ends when the whole response has been written.
pub(super) async fn accept_all<L>(mut listener: L, router: Router, tasks: TaskTracker, stop: CancellationToken)
where
    L: Listener<Io: Arrival>,
{
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let unjudged = usize::try_from(MAX_UNJUDGED.min(files / 4)).unwrap_or(1).max(1);
    let unjudged = Arc::new(Semaphore::new(unjudged));
    let (judge, slots, refusals) = (Judge::default(), Arc::new(ConnectionSlots::new()), Refusals::new());
    loop {
        let next = async {
            let waiting = Arc::clone(&unjudged).acquire_owned().await;
            (listener.accept().await.0, waiting)
        };
        let (stream, waiting) = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            next = next => next,
        };
        let (router, stop) = (router.clone(), stop.clone());
        let (judge, slots, refusals) = (judge.clone(), Arc::clone(&slots), refusals.clone());
        tasks.spawn(async move {
            let judged = judge.judge(stream.origin()).await;
            let admitted = match judged {
                Ok(peer) => slots.take(&peer).map(|held| (peer, held)).map_err(Reason::NoRoom),
                Err(why) => Err(Reason::Refused(why)),
            };
            drop(waiting);
            match admitted {
                // A WebSocket keeps its slot after the upgrade from HTTP.
                Ok((peer, held)) => serve(stream, router.layer(Extension(peer)).layer(Extension(held)), &stop).await,
                Err(reason) => refusals.turn_away(stream, reason, &stop).await,
            }
        });
    }
}

async fn serve<S>(stream: S, router: Router, stop: &CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "HTTP connection failed");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;

    /// A listener that accepts one client.
    struct One(Option<DuplexStream>);

    impl Listener for One {
        type Io = DuplexStream;
        type Addr = ();

        async fn accept(&mut self) -> (DuplexStream, ()) {
            match self.0.take() {
                Some(stream) => (stream, ()),
                None => std::future::pending().await,
            }
        }

        fn local_addr(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_client_is_disconnected() {
        for said in ["", "GET / HTTP/1.1\r\nHost: "] {
            let (mut client, server) = duplex(1 << 10);
            let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
            tokio::spawn(accept_all(One(Some(server)), Router::new(), tasks, stop));
            client.write_all(said.as_bytes()).await.expect("the server reads");
            let start = Instant::now();
            client.read_to_end(&mut Vec::new()).await.expect("the server writes");
            assert_eq!(start.elapsed(), HEAD_TIMEOUT, "{said}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_its_head_slowly_is_disconnected() {
        let (mut client, server) = duplex(1 << 10);
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tokio::spawn(accept_all(One(Some(server)), Router::new(), tasks.clone(), stop));
        let start = Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\n").await.expect("the server reads");
        while client.write_all(b"X: y\r\n").await.is_ok() {
            assert!(start.elapsed() < 2 * HEAD_TIMEOUT, "the server still listens");
            tokio::time::sleep(HEAD_TIMEOUT / 10).await;
        }
        tasks.close();
        tasks.wait().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_is_written_before_the_shutdown_completes() {
        let (mut client, server) = duplex(1 << 10);
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let router = Router::new().fallback(|| async { "x".repeat(1 << 20) });
        tokio::spawn(accept_all(One(Some(server)), router, tasks.clone(), stop.clone()));
        client.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").await.expect("the server reads");
        client.read_u8().await.expect("the answer begins");
        stop.cancel();
        tasks.close();
        assert!(tokio::time::timeout(HEAD_TIMEOUT, tasks.wait()).await.is_err(), "the client has not read it");
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.expect("the server writes");
        assert!(rest.ends_with(&[b'x'; 1 << 20]));
        tasks.wait().await;
    }
}
