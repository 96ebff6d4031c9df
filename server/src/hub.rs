//! Everybody who is connected, for what everybody is told.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use trace_protocol::ServerNotification;

use crate::connection::{Connection, ConnectionId, Prepared};

/// The connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    connections: RwLock<BTreeMap<ConnectionId, Arc<Connection>>>,
}

impl Hub {
    /// Adds a connection that was initialized.
    pub(crate) fn join(&self, connection: &Arc<Connection>) {
        let mut connections = self.connections.write().unwrap_or_else(PoisonError::into_inner);
        connections.insert(connection.id(), Arc::clone(connection));
    }

    /// Takes a connection out.
    pub(crate) fn leave(&self, connection: ConnectionId) {
        let mut connections = self.connections.write().unwrap_or_else(PoisonError::into_inner);
        connections.remove(&connection);
    }

    /// Returns everybody who is connected.
    pub(crate) fn everybody(&self) -> Vec<Arc<Connection>> {
        self.connections.read().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }

    /// Returns how many are connected.
    pub(crate) fn count(&self) -> usize {
        self.connections.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Tells everybody.
    pub(crate) fn broadcast(&self, notification: impl Into<ServerNotification>) {
        let Some(prepared) = prepared(&notification.into()) else { return };
        for connection in self.connections.read().unwrap_or_else(PoisonError::into_inner).values() {
            connection.notify(&prepared);
        }
    }
}

/// Writes a notification that happens now.
pub(crate) fn prepared(notification: &ServerNotification) -> Option<Prepared> {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    Prepared::new(notification, now_ms)
        .inspect_err(
            |error| tracing::error!(method = notification.method(), %error, "a notification cannot be written"),
        )
        .ok()
}

/// Tells one connection.
pub(crate) fn tell(connection: &Connection, notification: impl Into<ServerNotification>) {
    if let Some(prepared) = prepared(&notification.into()) {
        connection.notify(&prepared);
    }
}
