//! How services send notifications to a client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use trace_protocol::ServerNotification;

use crate::connection::{Connection, SerializedNotification};

/// Sends notifications to one client.
pub trait Notify: Send + Sync + 'static {
    /// Sends a notification, without blocking.
    fn notify(&self, notification: ServerNotification);

    /// Waits until the client's queue has room. Services that send many notifications call this between them.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns whether the connection of the client has ended.
    fn has_ended(&self) -> bool {
        false
    }
}

/// A shared [`Notify`].
pub type Notifier = Arc<dyn Notify>;

impl<F: Fn(ServerNotification) + Send + Sync + 'static> Notify for F {
    fn notify(&self, notification: ServerNotification) {
        self(notification);
    }
}

impl Notify for Connection {
    fn notify(&self, notification: ServerNotification) {
        match SerializedNotification::new(&notification, jiff::Timestamp::now().as_millisecond()) {
            Ok(serialized) => {
                Connection::notify(self, &serialized);
            }
            Err(error) => tracing::error!(%error, method = notification.method(), "cannot write a notification"),
        }
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(Connection::ready(self))
    }

    fn has_ended(&self) -> bool {
        Connection::has_ended(self)
    }
}
