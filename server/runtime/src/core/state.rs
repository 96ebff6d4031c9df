//! The state of an agent that changes under one lock.

use std::sync::Arc;

use super::mailbox::Mailbox;
use super::thread_history::ThreadHistory;
use super::turns::{Plan, Turns, Work};
use crate::settings::{Settings, SettingsChange};

/// The state of an agent that changes under one lock. Nothing waits while the lock is held.
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

    /// Changes the settings. Returns them if they differ from before.
    pub(crate) fn change(&mut self, change: &SettingsChange) -> Option<Arc<Settings>> {
        let changed = self.settings.changed(change);
        if changed == *self.settings {
            return None;
        }
        self.settings = Arc::new(changed);
        Some(Arc::clone(&self.settings))
    }

    /// Returns the next turn when one ends: the first planned one, or one for an urgent message.
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
