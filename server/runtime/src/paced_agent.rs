//! What a pace may do with an agent.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::core::{AgentCore, UserInput, Work};
use crate::id::TurnId;
use crate::item::Input;
use crate::mail::{Mail, Wake};
use crate::pace::PacedAgent;
use crate::refusal::Refusal;
use crate::turn;

impl PacedAgent for AgentCore {
    fn path(&self) -> &str {
        &self.identity.path
    }

    fn is_stopped(&self) -> bool {
        self.state().turns.active.as_ref().is_some_and(|turn| turn.cancelled.is_cancelled())
    }

    fn steer(&self, expected: &TurnId, input: Vec<Input>, client_id: Option<String>) -> Result<TurnId, Refusal> {
        if self.identity.parent().is_some() {
            return Err(Refusal::NoDirectInput);
        }
        let input = UserInput { content: input, client_id, output: None };
        let turn = self.state().turns.steer(expected, input)?;
        self.signals.attend(|attention| attention.steers += 1);
        Ok(turn)
    }

    fn interrupt(&self, expected: &TurnId) -> Result<CancellationToken, Refusal> {
        let mut state = self.state();
        let turn = state.turns.expected(expected)?;
        turn.cancelled.cancel();
        Ok(turn.ended.clone())
    }

    fn with_mail(&self, change: &mut dyn FnMut(&mut VecDeque<Arc<Mail>>)) {
        change(self.state().mailbox.queue());
    }

    fn remember_mail(&self, mail: &[Arc<Mail>]) {
        self.remember(&self.link.order(), mail.iter().map(|mail| mail.item().into()).collect(), None);
    }

    fn wake_for(self: Arc<Self>, mail: &[String]) -> Result<(), Refusal> {
        let _order = self.link.order();
        let mut state = self.state();
        state.turns.check_open()?;
        let mut root_turn = None;
        for waiting in state.mailbox.queue().iter_mut().filter(|waiting| mail.contains(&waiting.id)) {
            Arc::make_mut(waiting).wake = Wake::Agent;
            root_turn.get_or_insert_with(|| waiting.root_turn.clone());
        }
        if let Some(root_turn) = root_turn
            && state.turns.joinable().is_none()
        {
            turn::begin(&self, &mut state, Work::for_mail(), root_turn);
        }
        Ok(())
    }
}
