//! Decides whether the server accepts new connections.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio_util::task::TaskTracker;

use super::drain::{Phase, Shutdown};
use crate::ingress::ConnectionOpener;

/// Most connections at the same time, including bridge sessions.
pub const MAX_CONNECTIONS: usize = 8_192;

/// Response to a client if there are too many connections.
pub(super) const TOO_MANY: &str = "too many connections\n";

/// Most connections of one peer at the same time: of one process of this machine, or of one address of another machine.
/// The limit leaves room for other peers.
pub const MAX_CONNECTIONS_PER_PEER: usize = MAX_CONNECTIONS / 2;

/// Most connections of all processes of one user of this machine, of one address of another machine, and of all other
/// machines together.
pub const MAX_CONNECTIONS_PER_OWNER: usize = MAX_CONNECTIONS / 4 * 3;

/// Admits new connections as long as the server is serving.
#[derive(Debug)]
pub(super) struct AdmissionControl {
    pub(super) opener: ConnectionOpener,
    pub(super) shutdown: Shutdown,
    /// The tasks of all connections.
    pub(super) tasks: TaskTracker,
}

impl AdmissionControl {
    /// Returns the response to a new client if the server does not accept it.
    pub(super) fn refusal(&self) -> Option<Response> {
        if self.shutdown.phase() != Phase::Serving {
            return Some(Self::ending());
        }
        (self.opener.connections() >= MAX_CONNECTIONS)
            .then(|| (StatusCode::SERVICE_UNAVAILABLE, TOO_MANY).into_response())
    }

    /// Returns the response of a server that is shutting down.
    pub(super) fn ending() -> Response {
        (StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down\n").into_response()
    }
}
