//! Those who wait for an agent or watch it, beside its host.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};
use trace_recorder::write::TurnTrace;

use crate::event::{TurnKind, TurnOutcome};
use crate::id::TurnId;
use crate::mail::Attention;

/// What came of a turn, for those who watch an agent's turns.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The turn.
    pub turn: TurnId,
    /// The turn that it stems from.
    pub root_turn: TurnId,
    /// What kind of turn it was.
    pub kind: TurnKind,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Records what follows from it.
    pub trace: TurnTrace,
}

type Observer = Arc<dyn Fn(&TurnReport) + Send + Sync>;

type BeforeShutdown = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Those who wait for an agent or watch it.
#[derive(Default)]
pub(crate) struct Signals {
    attention: watch::Sender<Attention>,
    pub(crate) released: Notify,
    observer: Mutex<Option<Observer>>,
    before_shutdown: Mutex<Option<BeforeShutdown>>,
}

impl Signals {
    /// Returns what tells that mail came or that the user said something while a turn ran.
    pub(crate) fn attention(&self) -> watch::Receiver<Attention> {
        self.attention.subscribe()
    }

    pub(crate) fn attend(&self, change: impl FnOnce(&mut Attention)) {
        self.attention.send_modify(change);
    }

    /// Sets who hears what comes of the turns, after their last event. There is one at most.
    pub(crate) fn observe_turns(&self, observer: Observer) {
        *self.observer.lock().unwrap_or_else(PoisonError::into_inner) = Some(observer);
    }

    pub(crate) fn report(&self, report: &TurnReport) {
        let observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observer) = observer {
            observer(report);
        }
    }

    /// Sets what is done first when the agent is shut down, while its turn is being stopped. There is one at most.
    pub(crate) fn before_shutdown(&self, first: BeforeShutdown) {
        *self.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner) = Some(first);
    }

    /// Does what is done first when the agent is shut down, once.
    pub(crate) async fn do_before_shutdown(&self) {
        let first = self.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(first) = first {
            first().await;
        }
    }
}
