//! The parts of an agent that change together.

use std::sync::Arc;

use super::mailbox::Mailbox;
use super::thread_history::ThreadHistory;
use super::turns::{Plan, Turns, Work};
use crate::settings::{Settings, SettingsChange};

/// The parts of an agent that change together. Whoever locks them does nothing else meanwhile.
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    pub(crate) history: ThreadHistory,
    pub(crate) mailbox: Mailbox,
    pub(crate) turns: Turns,
}

impl State {
    pub(crate) fn new(settings: Settings, history: ThreadHistory, mailbox: Mailbox) -> Self {
        Self { settings: Arc::new(settings), history, mailbox, turns: Turns::default() }
    }

    /// Makes changes and returns the settings if they are others now.
    pub(crate) fn change(&mut self, change: &SettingsChange) -> Option<Arc<Settings>> {
        let changed = self.settings.changed(change);
        if changed == *self.settings {
            return None;
        }
        self.settings = Arc::new(changed);
        Some(Arc::clone(&self.settings))
    }

    /// Returns the turn that follows one that ends: the first that was planned, or one for mail that wants to be read.
    pub(crate) fn take_following(&mut self) -> Option<Plan> {
        if self.turns.is_closed {
            return None;
        }
        self.turns.planned.pop_front().or_else(|| {
            let mail = self.mailbox.urgent()?;
            Some(Plan::new(Work::for_mail(), mail.root_turn.clone()))
        })
    }
}
