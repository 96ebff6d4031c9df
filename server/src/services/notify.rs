//! How a service tells one client something.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use trace_protocol::ServerNotification;

use crate::connection::{Connection, Prepared};

/// One client, for those who tell it things.
pub trait Notify: Send + Sync + 'static {
    /// Tells something. Returns at once.
    fn notify(&self, notification: ServerNotification);

    /// Waits until the client has taken enough of what it was told. Who produces much waits here between its pieces.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Tells whether the client has gone.
    fn has_ended(&self) -> bool {
        false
    }
}

/// One client, shared by those who tell it things.
pub type Notifier = Arc<dyn Notify>;

impl<F: Fn(ServerNotification) + Send + Sync + 'static> Notify for F {
    fn notify(&self, notification: ServerNotification) {
        self(notification);
    }
}

impl Notify for Connection {
    fn notify(&self, notification: ServerNotification) {
        match Prepared::new(&notification, jiff::Timestamp::now().as_millisecond()) {
            Ok(prepared) => {
                Connection::notify(self, &prepared);
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
