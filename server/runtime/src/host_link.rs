//! Connects an agent to its host: tells events in one order, and puts questions.

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
    /// Held while an event is told, so that all hear them in one order. Taken before the lock of an agent's state, never after it.
    order: Mutex<()>,
}

impl HostLink {
    pub(crate) fn new(host: Arc<dyn Host>, thread: ThreadId, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { host, thread, clock, order: Mutex::new(()) })
    }

    pub(crate) fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Returns the time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Tells the host what happened. Everything that an agent tells is told in one order.
    pub(crate) fn event(&self, kind: EventKind) {
        let order = self.order();
        self.tell(&order, kind);
    }

    /// Begins and ends an item.
    pub(crate) fn show_item(&self, turn: &TurnId, item: Item) -> Arc<Item> {
        let item = Arc::new(item);
        let order = self.order();
        self.tell(&order, EventKind::ItemStarted { turn: turn.clone(), item: Arc::clone(&item) });
        self.tell(&order, EventKind::ItemCompleted { turn: turn.clone(), item: Arc::clone(&item) });
        item
    }

    /// Puts a question and waits for the answer. A caller that stops waiting takes the question back.
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

    /// Waits until those who listen have taken enough of what they were told. Work that produces much waits here between
    /// its pieces.
    pub(crate) fn ready(&self) -> BoxFuture<'static, ()> {
        self.host.ready(&self.thread)
    }

    /// Takes the right to tell events.
    pub(crate) fn order(&self) -> EventGuard<'_> {
        EventGuard(self.order.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells an event among others that belong together.
    pub(crate) fn tell(&self, _order: &EventGuard<'_>, kind: EventKind) {
        self.host.event(&self.thread, Event { at_ms: self.now_ms(), kind });
    }
}

/// The right to tell events: nobody else tells one meanwhile.
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
