//! Notifies tasks that wait for an agent or observe it, in addition to its host.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};
use trace_recorder::write::TurnTrace;

use crate::event::{TurnKind, TurnOutcome};
use crate::id::TurnId;
use crate::mail::Attention;

/// The result of a turn, for the observer of an agent's turns.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// Id of the turn.
    pub turn: TurnId,
    /// Id of the turn of the root agent from which it stems.
    pub root_turn: TurnId,
    /// Kind of the turn.
    pub kind: TurnKind,
    /// How the turn ended.
    pub outcome: TurnOutcome,
    /// The recording of the turn, for what follows from its end.
    pub trace: TurnTrace,
}

type Observer = Arc<dyn Fn(&TurnReport) + Send + Sync>;

type BeforeShutdown = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// The tasks that wait for an agent or observe it.
#[derive(Default)]
pub(crate) struct Signals {
    attention: watch::Sender<Attention>,
    pub(crate) released: Notify,
    observer: Mutex<Option<Observer>>,
    before_shutdown: Mutex<Option<BeforeShutdown>>,
}

impl Signals {
    /// Returns a receiver of counters, which change when a message arrives or the user steers a turn.
    pub(crate) fn attention(&self) -> watch::Receiver<Attention> {
        self.attention.subscribe()
    }

    pub(crate) fn attend(&self, change: impl FnOnce(&mut Attention)) {
        self.attention.send_modify(change);
    }

    /// Sets the observer that is called with the result of each turn, after its last event. There is at most one.
    pub(crate) fn observe_turns(&self, observer: Observer) {
        *self.observer.lock().unwrap_or_else(PoisonError::into_inner) = Some(observer);
    }

    pub(crate) fn report(&self, report: &TurnReport) {
        let observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observer) = observer {
            observer(report);
        }
    }

    /// Sets a function that is called first when the agent is shut down, while its turn is being interrupted. There is at most one.
    pub(crate) fn before_shutdown(&self, first: BeforeShutdown) {
        *self.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner) = Some(first);
    }

    /// Calls the function that was set for the shutdown, once.
    pub(crate) async fn do_before_shutdown(&self) {
        let first = self.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(first) = first {
            first().await;
        }
    }
}
