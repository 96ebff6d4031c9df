//! All connections, for notifications to all clients.
//!
//! A notification is serialized once, and put into all queues at once, so its position in the order is the same for all
//! clients. The tasks that write to connections are woken in small groups, with pauses between the groups. Otherwise, a
//! thousand of them would delay the next request. Notifications that come in during these pauses are sent together with
//! the first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use trace_protocol::ServerNotification;

use crate::connection::{Connection, ConnectionId, SerializedNotification};

/// Number of connections in a group that is woken together.
const WOKEN_AT_ONCE: usize = 32;

/// The connections of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hub(Arc<Everybody>);

#[derive(Debug, Default)]
struct Everybody {
    connections: RwLock<Connections>,
    /// Number of notifications since all connections were known to be awake. If it is not zero, a task is waking them.
    told: AtomicUsize,
}

type Connections = BTreeMap<ConnectionId, Arc<Connection>>;

impl Hub {
    /// Adds an initialized connection.
    pub(crate) fn join(&self, connection: &Arc<Connection>) {
        self.0.change().insert(connection.id(), Arc::clone(connection));
    }

    /// Removes a connection.
    pub(crate) fn leave(&self, connection: ConnectionId) {
        self.0.change().remove(&connection);
    }

    /// Returns all connections.
    pub(crate) fn everybody(&self) -> Vec<Arc<Connection>> {
        self.0.everybody()
    }

    /// Returns the number of connections.
    pub(crate) fn count(&self) -> usize {
        self.0.connections().len()
    }

    /// Sends a notification to all clients.
    pub(crate) fn broadcast(&self, notification: impl Into<ServerNotification>) {
        let Some(serialized) = serialized(&notification.into()) else { return };
        let connections = self.0.connections();
        let waking = tokio::runtime::Handle::try_current().ok().filter(|_| connections.len() > WOKEN_AT_ONCE);
        let Some(waking) = waking else {
            for connection in connections.values() {
                connection.notify(&serialized);
            }
            return;
        };
        for connection in connections.values() {
            connection.notify_quietly(&serialized);
        }
        drop(connections);
        if self.0.told.fetch_add(1, Ordering::AcqRel) == 0 {
            waking.spawn(wake(Arc::clone(&self.0)));
        }
    }
}

impl Everybody {
    fn everybody(&self) -> Vec<Arc<Connection>> {
        self.connections().values().map(Arc::clone).collect()
    }

    fn connections(&self) -> RwLockReadGuard<'_, Connections> {
        self.connections.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Connections> {
        self.connections.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes all connections, and repeats that until there were no notifications since the start of the last round.
async fn wake(everybody: Arc<Everybody>) {
    loop {
        let told = everybody.told.load(Ordering::Acquire);
        for some in everybody.everybody().chunks(WOKEN_AT_ONCE) {
            some.iter().for_each(|connection| connection.wake());
            tokio::task::yield_now().await;
        }
        if everybody.told.compare_exchange(told, 0, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return;
        }
    }
}

/// Serializes a notification whose event happens now.
pub(crate) fn serialized(notification: &ServerNotification) -> Option<SerializedNotification> {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    SerializedNotification::new(notification, now_ms)
        .inspect_err(
            |error| tracing::error!(method = notification.method(), %error, "a notification cannot be serialized"),
        )
        .ok()
}

/// Sends a notification to one client.
pub(crate) fn tell(connection: &Connection, notification: impl Into<ServerNotification>) {
    if let Some(serialized) = serialized(&notification.into()) {
        connection.notify(&serialized);
    }
}

#[cfg(test)]
mod tests {
    use trace_protocol::connection::InitializeParams;
    use trace_protocol::notification::WarningNotification;

    use super::*;
    use crate::connection::{Client, TransportKind};
    use crate::outbound::{OutboundPolicy, OutboundReader, outbound};

    fn joined(hub: &Hub, id: u64) -> OutboundReader {
        let (outbound, reader) = outbound(OutboundPolicy::SHARED);
        let connection = Connection::new(ConnectionId(id), TransportKind::InProcess, outbound);
        connection.introduce(Client::new(InitializeParams::default()));
        hub.join(&Arc::new(connection));
        reader
    }

    fn warn(hub: &Hub, message: &str) {
        hub.broadcast(WarningNotification { message: message.to_owned(), thread_id: None });
    }

    #[tokio::test]
    async fn all_clients_get_all_notifications_in_order() {
        for count in [1, WOKEN_AT_ONCE, WOKEN_AT_ONCE + 1, 5 * WOKEN_AT_ONCE] {
            let hub = Hub::default();
            let mut readers: Vec<_> = (0..count as u64).map(|id| joined(&hub, id)).collect();
            for round in 0..3 {
                warn(&hub, "one");
                warn(&hub, "two");
                for reader in &mut readers {
                    let mut heard = String::new();
                    while heard.matches("warning").count() < 2 {
                        heard.push_str(&reader.next(usize::MAX).await.expect("it lasts").concat());
                    }
                    assert!(heard.find("one") < heard.find("two"), "{count} {round}: {heard}");
                }
            }
        }
    }

    #[tokio::test]
    async fn other_tasks_run_before_all_connections_are_woken() {
        let hub = Hub::default();
        let readers: Vec<_> = (0..4 * WOKEN_AT_ONCE as u64).map(|id| joined(&hub, id)).collect();
        let mut writers = tokio::task::JoinSet::new();
        for mut reader in readers {
            writers.spawn(async move { reader.next(usize::MAX).await.expect("it lasts").len() });
        }
        tokio::task::yield_now().await;
        warn(&hub, "one");
        // A connection that is woken late gets the notifications that came in while the first ones were woken.
        tokio::task::yield_now().await;
        warn(&hub, "two");
        let taken: Vec<usize> = writers.join_all().await;
        assert!(taken.contains(&1) && taken.contains(&2), "{taken:?}");
    }

    #[test]
    fn without_a_runtime_all_connections_are_woken_at_once() {
        let hub = Hub::default();
        let readers: Vec<_> = (0..2 * WOKEN_AT_ONCE as u64).map(|id| joined(&hub, id)).collect();
        warn(&hub, "one");
        assert!(readers.iter().all(|reader| reader.outbound().backlog().messages == 1));
    }
}
