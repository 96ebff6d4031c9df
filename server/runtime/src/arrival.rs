//! Delivers messages of other agents to an agent.

use std::sync::Arc;

use crate::core::{AgentCore, MAX_WAITING_MAIL, Work};
use crate::event::EventKind;
use crate::host_link::EventGuard;
use crate::mail::{Mail, Wake};
use crate::refusal::Refusal;
use crate::turn;
use crate::turn_request::{Start, StartedTurn};

/// A delivery that holds the event lock of the receiving agent.
pub(crate) struct Arrival<'a> {
    core: &'a Arc<AgentCore>,
    order: EventGuard<'a>,
}

/// A message that is in the mailbox, and for which no event was sent yet.
#[must_use = "nobody is told of it else"]
pub(crate) struct Arrived<'a> {
    core: &'a Arc<AgentCore>,
    order: EventGuard<'a>,
    mail: Arc<Mail>,
    started: Option<StartedTurn>,
}

impl<'a> Arrival<'a> {
    /// Starts a delivery. The agent sends no events until it is completed, so a caller can change other state at the same time.
    pub(crate) fn at(core: &'a Arc<AgentCore>) -> Self {
        Self { core, order: core.link.order() }
    }

    /// Puts the message into the mailbox; see [`Agent::deliver`](crate::agent::Agent::deliver).
    ///
    /// # Errors
    ///
    /// Returns an error if the mailbox is full or the agent is shut down.
    pub(crate) fn take(self, mail: Mail) -> Result<Arrived<'a>, Refusal> {
        self.take_within(mail, MAX_WAITING_MAIL)
    }

    pub(crate) fn take_within(self, mail: Mail, limit: usize) -> Result<Arrived<'a>, Refusal> {
        let Self { core, order } = self;
        let mut state = core.state();
        state.turns.check_open()?;
        let mail = state.mailbox.push(mail, limit)?;
        let started = match mail.wake {
            Wake::Nobody => None,
            Wake::Agent => Some(match state.turns.joinable() {
                Some((turn, _)) => StartedTurn { turn, how: Start::Joined },
                None => {
                    let turn = turn::begin(core, &mut state, Work::for_mail(), mail.root_turn.clone());
                    StartedTurn { turn, how: Start::New }
                }
            }),
        };
        Ok(Arrived { core, order, mail, started })
    }
}

impl Arrived<'_> {
    /// Sends the event. A turn that was started for the message sends its events after it.
    pub(crate) fn tell(self) -> Option<StartedTurn> {
        let Self { core, order, mail, started } = self;
        core.link.tell(&order, EventKind::MailCame { mail });
        drop(order);
        core.signals.attend(|attention| attention.mail += 1);
        started
    }
}
