//! The mailbox of an agent: messages of other agents that the model has not seen.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::id::TurnId;
use crate::mail::{Mail, Wake};
use crate::pace::Pace;
use crate::refusal::Refusal;

/// Most messages of other agents in a mailbox.
pub const MAX_WAITING_MAIL: usize = 1024;

/// The mailbox of an agent.
#[derive(Default)]
pub(crate) struct Mailbox(VecDeque<Arc<Mail>>);

impl Mailbox {
    /// Returns a mailbox with messages that arrived before the agent was loaded. They start no turn.
    pub(crate) fn restore(mail: Vec<Mail>) -> Self {
        Self(mail.into_iter().map(|mail| Arc::new(Mail { wake: Wake::Nobody, ..mail })).collect())
    }

    /// Adds a message.
    ///
    /// # Errors
    ///
    /// Returns an error if the mailbox has `limit` messages.
    pub(crate) fn push(&mut self, mail: Mail, limit: usize) -> Result<Arc<Mail>, Refusal> {
        if self.0.len() >= limit {
            return Err(Refusal::Full { limit, what: "messages" });
        }
        let mail = Arc::new(mail);
        self.0.push_back(Arc::clone(&mail));
        Ok(mail)
    }

    pub(crate) fn queue(&mut self) -> &mut VecDeque<Arc<Mail>> {
        &mut self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(&self) -> Vec<Mail> {
        self.0.iter().map(|mail| Mail::clone(mail)).collect()
    }

    /// Returns the first message that a turn has to read before it may end.
    pub(crate) fn urgent(&self) -> Option<&Mail> {
        self.0.iter().map(Arc::as_ref).find(|mail| mail.wake == Wake::Agent)
    }

    /// Takes the messages that go into a turn's next request: all, unless a pace says otherwise.
    pub(crate) fn take(&mut self, pace: Option<&dyn Pace>, path: &str, turn: &TurnId) -> Vec<Arc<Mail>> {
        match pace {
            Some(pace) => pace.take_mail(path, turn, &mut self.0),
            None => self.0.drain(..).collect(),
        }
    }
}
