//! Connects an agent to its host: sends events in one order, and asks questions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::event::{Event, EventKind};
use crate::host::{Answer, Decision, Host, Question, QuestionId};
use crate::id::{ThreadId, TurnId};
use crate::item::Item;

/// Connects the agent of one thread to its host.
pub(crate) struct HostLink {
    host: Arc<dyn Host>,
    thread: ThreadId,
    clock: Arc<dyn Clock>,
    /// Held while an event is sent, so that events have one order. It is locked before the state of an agent, never after it.
    order: Mutex<()>,
}

impl HostLink {
    pub(crate) fn new(host: Arc<dyn Host>, thread: ThreadId, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { host, thread, clock, order: Mutex::new(()) })
    }

    pub(crate) fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Sends one event to the host.
    pub(crate) fn event(&self, kind: EventKind) {
        let order = self.order();
        self.tell(&order, kind);
    }

    /// Starts and completes an item.
    pub(crate) fn show_item(&self, turn: &TurnId, item: Item) -> Arc<Item> {
        let item = Arc::new(item);
        let order = self.order();
        self.tell(&order, EventKind::ItemStarted { turn: turn.clone(), item: Arc::clone(&item) });
        self.tell(&order, EventKind::ItemCompleted { turn: turn.clone(), item: Arc::clone(&item) });
        item
    }

    /// Asks a question and waits for the answer. If the future is dropped, the question is withdrawn.
    pub(crate) async fn ask(&self, question: Question) -> Answer {
        let refusal = match question {
            Question::Command(_) | Question::FileChange { .. } | Question::ServerTool(_) => {
                Answer::Decision(Decision::Decline)
            }
            Question::UserInput { .. } | Question::DynamicTool { .. } | Question::Elicitation { .. } => {
                Answer::Failed { message: "nobody answered".to_owned() }
            }
        };
        let (reply, answer) = oneshot::channel();
        let id = self.host.ask(&self.thread, question, reply);
        let mut open = OpenQuestion { link: self, id, is_answered: false };
        let answer = answer.await;
        open.is_answered = answer.is_ok();
        answer.unwrap_or(refusal)
    }

    /// Waits until the clients of the thread have read enough of its events. Work that produces many events waits here between them.
    pub(crate) fn ready(&self) -> BoxFuture<'static, ()> {
        self.host.ready(&self.thread)
    }

    /// Locks the sending of events.
    pub(crate) fn order(&self) -> EventGuard<'_> {
        EventGuard(self.order.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends an event while the lock is held, so that nothing comes between it and other events of the holder.
    pub(crate) fn tell(&self, _order: &EventGuard<'_>, kind: EventKind) {
        self.host.event(&self.thread, Event { at_ms: self.now_ms(), kind });
    }
}

/// Guard of the lock for sending events.
pub(crate) struct EventGuard<'a>(#[expect(dead_code, reason = "held, not looked at")] MutexGuard<'a, ()>);

struct OpenQuestion<'a> {
    link: &'a HostLink,
    id: QuestionId,
    is_answered: bool,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.link.host.withdraw(&self.link.thread, self.id);
        }
    }
}
