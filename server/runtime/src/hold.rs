//! Holds an agent while its history is changed.

use crate::agent::Agent;
use crate::event::EventKind;
use crate::item::ModelItem;
use crate::turn;

/// Guard that keeps an agent from starting turns while its history is changed. Turns that are requested meanwhile start when it is dropped.
#[derive(Debug)]
#[must_use = "the agent goes on when this is dropped"]
pub struct Hold(pub(crate) Agent);

impl Hold {
    /// Replaces the history.
    pub fn replace_history(&self, items: Vec<ModelItem>) {
        let core = self.0.core();
        let order = core.link.order();
        let mut state = core.state();
        let history = state.history.replace(items);
        state.history.claim_ids();
        drop(state);
        core.link.tell(&order, EventKind::HistoryReplaced { summary: None, history });
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let core = self.0.core();
        let order = core.link.order();
        let mut state = core.state();
        state.turns.is_held = false;
        core.signals.released.notify_waiters();
        if let Some(plan) = state.take_following() {
            turn::start(core, &mut state, plan);
            return;
        }
        let notes = std::mem::take(&mut state.history.notes);
        drop(state);
        core.remember(&order, notes, None);
    }
}
