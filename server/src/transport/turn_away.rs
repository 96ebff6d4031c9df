//! Tells refused clients why they are refused, at limited cost.
//!
//! A refused client can connect again at once. Therefore, only a limited number of refused connections is answered at
//! the same time, and only for a short time. Further ones are closed without an answer.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse as _, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::peer::{Arrival, Refused};

/// How long a refused connection may last, from the first byte of its request to the last byte of the response.
pub const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);

/// Most refused connections that are answered at the same time. Connections that may be retried have a limit of their
/// own, so that refused commands do not keep clients from getting an answer.
pub const MAX_TURNED_AWAY: usize = 128;

/// Shortest time between two log entries about refused connections.
const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Why a connection is refused.
#[derive(Debug, Clone)]
pub(super) enum Reason {
    /// The peer must not be served.
    Refused(Refused),
    /// There is no slot at the moment.
    NoRoom(String),
}

/// Refuses connections. Clones share their limits.
#[derive(Debug, Clone)]
pub(super) struct Refusals(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    refused: Semaphore,
    busy: Semaphore,
    unlogged: AtomicU64,
    logged: Mutex<Option<Instant>>,
}

impl Reason {
    fn is_for_now(&self) -> bool {
        matches!(self, Self::Refused(Refused::Busy) | Self::NoRoom(_))
    }

    fn answer(&self) -> Response {
        let text = match self {
            Self::Refused(why) => format!("{why}\n"),
            Self::NoRoom(text) => text.clone(),
        };
        if self.is_for_now() {
            (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "1")], text).into_response()
        } else {
            (StatusCode::FORBIDDEN, text).into_response()
        }
    }
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared {
            refused: Semaphore::new(MAX_TURNED_AWAY),
            busy: Semaphore::new(MAX_TURNED_AWAY),
            unlogged: AtomicU64::new(0),
            logged: Mutex::new(None),
        }))
    }

    /// Answers one request with the reason and closes the connection. If too many refused connections are being
    /// answered, it is closed at once.
    pub(super) async fn turn_away<S>(&self, stream: S, reason: Reason, stop: &CancellationToken)
    where
        S: Arrival + AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.log(&reason);
        let slots = if reason.is_for_now() { &self.0.busy } else { &self.0.refused };
        let Ok(_slot) = slots.try_acquire() else { return stream.cut() };
        let answers = Router::new().fallback(move || async move { reason.answer() });
        let connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REFUSAL_TIMEOUT)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(answers))
        );
        tokio::select! {
            ended = tokio::time::timeout(REFUSAL_TIMEOUT, connection) => {
                tracing::debug!(?ended, "a refused connection ended");
            }
            () = stop.cancelled() => {}
        }
    }

    /// Logs a reason, with the number of refusals that were not logged since the last entry.
    fn log(&self, reason: &Reason) {
        let mut logged = self.0.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_some_and(|time| time.elapsed() < LOG_PAUSE) {
            self.0.unlogged.fetch_add(1, Ordering::Relaxed);
            return;
        }
        *logged = Some(Instant::now());
        drop(logged);
        let others = self.0.unlogged.swap(0, Ordering::Relaxed);
        match reason {
            Reason::Refused(error) => tracing::warn!(%error, others, "connection refused"),
            Reason::NoRoom(why) => tracing::warn!(why = why.trim_end(), others, "connection refused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    async fn answer(reason: Reason) -> String {
        let (mut client, server) = duplex(1 << 10);
        let stop = CancellationToken::new();
        let told = tokio::spawn(async move { Refusals::new().turn_away(server, reason, &stop).await });
        // The second request gets no response.
        client.write_all(&b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2)).await.expect("the server reads");
        let mut text = String::new();
        client.read_to_string(&mut text).await.expect("the server writes and closes");
        told.await.expect("it ends");
        text.to_lowercase()
    }

    #[tokio::test]
    async fn only_busy_refusals_invite_a_retry() {
        for (reason, status, comes_again) in [
            (Reason::Refused(Refused::OwnProcess), "403", false),
            (Reason::Refused(Refused::Gone), "403", false),
            (Reason::Refused(Refused::Unknown("x".to_owned())), "403", false),
            (Reason::Refused(Refused::Busy), "503", true),
            (Reason::NoRoom("full\n".to_owned()), "503", true),
        ] {
            let answer = answer(reason).await;
            assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{answer}");
            assert_eq!(answer.contains("retry-after: 1"), comes_again, "{answer}");
            assert!(answer.contains("connection: close") && answer.matches("http/1.1").count() == 1, "{answer}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refused_connections_have_few_slots_for_a_short_time() {
        let (porter, stop) = (Refusals::new(), CancellationToken::new());
        let mut clients = Vec::new();
        for _ in 0..MAX_TURNED_AWAY {
            let (client, server) = duplex(64);
            let (porter, stop) = (porter.clone(), stop.clone());
            clients.push(client);
            tokio::spawn(async move { porter.turn_away(server, Reason::Refused(Refused::OwnProcess), &stop).await });
        }
        while porter.0.refused.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let start = tokio::time::Instant::now();
        let (mut client, server) = duplex(64);
        porter.turn_away(server, Reason::Refused(Refused::Gone), &stop).await;
        assert_eq!(client.read(&mut [0]).await.expect("closed"), 0);
        assert_eq!(start.elapsed(), Duration::ZERO, "no slot is left for an answer");
        let (_client, server) = duplex(64);
        porter.turn_away(server, Reason::Refused(Refused::Busy), &stop).await;
        assert_eq!(start.elapsed(), REFUSAL_TIMEOUT, "retryable refusals have their own slots");
        for client in &mut clients {
            assert_eq!(client.read(&mut [0]).await.expect("closed"), 0, "a silent client is disconnected");
        }
        assert_eq!(start.elapsed(), REFUSAL_TIMEOUT);
    }
}
