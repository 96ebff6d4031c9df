//! Whether there is room for somebody new.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio_util::task::TaskTracker;

use super::drain::{Phase, Shutdown};
use crate::ingress::Entrance;

/// Most connections at a time, bridge sessions among them.
pub const MAX_CONNECTIONS: usize = 8_192;

/// What somebody is told who finds no room.
pub(super) const TOO_MANY: &str = "too many connections\n";

/// Most connections of one peer at a time: of one process of this machine, or of one address elsewhere. Others find room.
pub const MAX_CONNECTIONS_PER_PEER: usize = MAX_CONNECTIONS / 2;

/// Most connections of all processes of one user of this machine, of one address elsewhere, and of all other machines together.
pub const MAX_CONNECTIONS_PER_OWNER: usize = MAX_CONNECTIONS / 4 * 3;

/// What somebody new needs: the entrance, as long as the server lets anybody in.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) entrance: Entrance,
    pub(super) shutdown: Shutdown,
    /// Everything that runs for a connection.
    pub(super) tasks: TaskTracker,
}

impl Door {
    /// Returns the answer to somebody new, if there is no room.
    pub(super) fn refusal(&self) -> Option<Response> {
        if self.shutdown.phase() != Phase::Serving {
            return Some(Self::ending());
        }
        (self.entrance.connections() >= MAX_CONNECTIONS)
            .then(|| (StatusCode::SERVICE_UNAVAILABLE, TOO_MANY).into_response())
    }

    /// Returns what a server says that ends.
    pub(super) fn ending() -> Response {
        (StatusCode::SERVICE_UNAVAILABLE, "the server ends\n").into_response()
    }
}
