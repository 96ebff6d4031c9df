//! Begins turns.

use std::sync::Arc;

use super::lifecycle::{install, work};
use crate::core::{AgentCore, Plan, State, Work};
use crate::id::TurnId;

/// Begins a turn, or plans it for when the one that runs has ended.
pub(crate) fn begin(agent: &Arc<AgentCore>, state: &mut State, work: Work, root_turn: Option<TurnId>) -> TurnId {
    let plan = Plan::new(work, root_turn);
    let id = plan.id.clone();
    if state.turns.are_free() {
        start(agent, state, plan);
    } else {
        state.turns.planned.push_back(plan);
    }
    id
}

/// Gives a turn the agent, which is free, and lets it run in a task of its own.
pub(crate) fn start(agent: &Arc<AgentCore>, state: &mut State, plan: Plan) {
    let first = install(agent, state, plan);
    tokio::spawn(work(Arc::clone(agent), first));
}
