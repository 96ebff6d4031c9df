//! Delivers progress reports to calls in the order in which they arrived, and before the result of the call if they
//! arrived before it.
//!
//! The protocol library handles each notification in a task of its own, and these tasks can run in any order. So
//! progress reports are taken out of the transport, where the messages are still in order.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::TryFutureExt;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ProgressNotificationParam, ProgressToken, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use crate::failure::bounded;

/// Most progress reports that are kept for calls that are not registered yet. A server can be faster than the task that
/// made the call.
pub const MAX_EARLY_PROGRESS: usize = 32;

/// Most progress reports that wait for one call. Further ones are dropped, since a later report makes them obsolete.
const MAX_WAITING_PROGRESS: usize = 64;

/// The calls that receive progress reports.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<Listeners>);

#[derive(Debug, Default)]
struct Listeners {
    calls: HashMap<ProgressToken, mpsc::Sender<String>>,
    early: VecDeque<(ProgressToken, String)>,
}

impl Progress {
    /// Registers a call. Reports that have already arrived are delivered too.
    pub(crate) fn listen(&self, token: &ProgressToken) -> mpsc::Receiver<String> {
        let (sender, receiver) = mpsc::channel(MAX_WAITING_PROGRESS);
        let mut listeners = self.lock();
        let early = std::mem::take(&mut listeners.early);
        for (of, text) in early {
            if of == *token {
                let _ = sender.try_send(text);
            } else {
                listeners.early.push_back((of, text));
            }
        }
        listeners.calls.insert(token.clone(), sender);
        receiver
    }

    /// Removes a call.
    pub(crate) fn forget(&self, token: &ProgressToken) {
        self.lock().calls.remove(token);
    }

    fn tell(&self, progress: &ProgressNotificationParam) {
        let text = shown(progress);
        let mut listeners = self.lock();
        match listeners.calls.get(&progress.progress_token) {
            Some(listener) => {
                let _ = listener.try_send(text);
            }
            None => {
                listeners.early.push_back((progress.progress_token.clone(), text));
                if listeners.early.len() > MAX_EARLY_PROGRESS {
                    listeners.early.pop_front();
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Formats a progress report for people.
fn shown(progress: &ProgressNotificationParam) -> String {
    let amount = match progress.total {
        Some(total) => format!("{}/{total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match progress.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
        Some(message) => bounded(format!("{message} ({amount})")),
        None => amount,
    }
}

/// A transport from which progress reports are taken. The type of the inner transport is erased, so that the code of
/// the protocol library is compiled only once.
pub(crate) struct ProgressTap {
    transport: Box<dyn AnyTransport>,
    progress: Arc<Progress>,
}

/// An error of any transport.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct TransportError(Box<dyn std::error::Error + Send + Sync>);

/// An object-safe form of [`Transport`].
trait AnyTransport: Send {
    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> BoxFuture<'static, Result<(), TransportError>>;

    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>>;

    fn close(&mut self) -> BoxFuture<'_, Result<(), TransportError>>;
}

impl<T: Transport<RoleClient>> AnyTransport for T {
    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(Transport::send(self, item).map_err(|error| TransportError(Box::new(error))))
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>> {
        Box::pin(Transport::receive(self))
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(Transport::close(self).map_err(|error| TransportError(Box::new(error))))
    }
}

impl ProgressTap {
    pub(crate) fn new(transport: impl Transport<RoleClient> + 'static, progress: Arc<Progress>) -> Self {
        Self { transport: Box::new(transport), progress }
    }
}

impl Transport<RoleClient> for ProgressTap {
    type Error = TransportError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.as_mut().send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.as_mut().receive().await?;
        if let JsonRpcMessage::Notification(notification) = &message
            && let ServerNotification::ProgressNotification(progress) = &notification.notification
        {
            self.progress.tell(&progress.params);
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.as_mut().close().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn report(token: i64, progress: f64, total: Option<f64>, message: Option<&str>) -> ProgressNotificationParam {
        let mut report = ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(token)), progress);
        report.total = total;
        report.message = message.map(str::to_owned);
        report
    }

    #[test]
    fn early_progress_is_kept_in_bounds() {
        let progress = Progress::default();
        for number in 0..=MAX_EARLY_PROGRESS {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            progress.tell(&report(i64::from(number % 2 == 0), number as f64, None, None));
        }
        let mut of_one = progress.listen(&ProgressToken(NumberOrString::Number(1)));
        progress.tell(&report(1, 0.5, Some(2.0), Some(" half ")));
        let mut heard = Vec::new();
        while let Ok(text) = of_one.try_recv() {
            heard.push(text);
        }
        assert_eq!(heard.len(), MAX_EARLY_PROGRESS / 2 + 1);
        assert_eq!((heard[0].as_str(), heard[heard.len() - 1].as_str()), ("2", "half (0.5/2)"));
        progress.forget(&ProgressToken(NumberOrString::Number(1)));
        assert!(of_one.try_recv().is_err());
    }
}
