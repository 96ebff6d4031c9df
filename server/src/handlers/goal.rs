//! What a thread is to reach.

use std::sync::Arc;

use trace_protocol::goal::{
    ThreadGoal, ThreadGoalClearParams, ThreadGoalClearResponse, ThreadGoalGetParams, ThreadGoalGetResponse,
    ThreadGoalSetParams, ThreadGoalSetResponse, ThreadGoalStatus,
};
use trace_protocol::item::UserInput;
use trace_protocol::notification::{ThreadGoalClearedNotification, ThreadGoalUpdatedNotification};
use trace_protocol::turn::TurnStartParams;
use trace_protocol::{RpcError, common::Nullable};

use crate::core::Core;
use crate::threads::LoadedThread;

/// Most characters of an objective.
pub(crate) const MAX_OBJECTIVE_CHARACTERS: usize = 4_000;

impl Core {
    pub(crate) fn goal_set(&self, params: ThreadGoalSetParams) -> Result<ThreadGoalSetResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let objective = params.objective.map(|objective| objective.trim().to_owned());
        if objective.as_deref() == Some("") {
            return Err(RpcError::invalid_request("an objective must not be empty"));
        }
        if objective.as_ref().is_some_and(|objective| objective.chars().count() > MAX_OBJECTIVE_CHARACTERS) {
            let message = format!("an objective has at most {MAX_OBJECTIVE_CHARACTERS} characters");
            return Err(RpcError::invalid_request(message));
        }
        if matches!(params.token_budget, Nullable::Value(budget) if budget <= 0) {
            return Err(RpcError::invalid_request("a token budget must be positive"));
        }
        let now = self.now_ms().div_euclid(1000);
        let mut was_active = false;
        let goal = thread.change_goal(|goal| {
            was_active = goal.as_ref().is_some_and(|goal| goal.status == ThreadGoalStatus::Active);
            let known = goal.clone();
            let objective = objective
                .or_else(|| known.as_ref().map(|goal| goal.objective.clone()))
                .ok_or_else(|| RpcError::invalid_request("the thread has no goal yet: an objective is needed"))?;
            let is_new = known.as_ref().is_none_or(|known| known.objective != objective);
            let known = known.filter(|_| !is_new);
            *goal = Some(ThreadGoal {
                thread_id: params.thread_id.clone(),
                created_at: known.as_ref().map_or(now, |known| known.created_at),
                objective,
                status: params.status.or(known.as_ref().map(|known| known.status)).unwrap_or(ThreadGoalStatus::Active),
                time_used_seconds: known.as_ref().map_or(0, |known| known.time_used_seconds),
                tokens_used: known.as_ref().map_or(0, |known| known.tokens_used),
                updated_at: now,
                token_budget: match params.token_budget {
                    Nullable::Absent => known.and_then(|known| known.token_budget),
                    Nullable::Null => None,
                    Nullable::Value(budget) => Some(budget),
                },
            });
            Ok(goal.clone())
        })?;
        let goal = goal.ok_or_else(|| RpcError::internal("the goal was not kept"))?;
        let told = ThreadGoalUpdatedNotification { thread_id: params.thread_id, goal: goal.clone(), turn_id: None };
        self.hub.broadcast(told);
        if goal.status == ThreadGoalStatus::Active && !was_active {
            self.pursue_later(&thread, &goal.objective);
        }
        Ok(ThreadGoalSetResponse { goal })
    }

    /// Starts a turn towards a goal that has become active, if the thread has nothing to do. What follows is started by
    /// clients: the agent cannot say that a goal is reached.
    fn pursue_later(&self, thread: &Arc<LoadedThread>, objective: &str) {
        let (Some(core), thread) = (self.this(), Arc::clone(thread)) else { return };
        let text = format!("Work towards this goal, and say when it is reached:\n\n{objective}");
        tokio::spawn(async move {
            if thread.agent().active_turn().is_some() {
                return;
            }
            let params = TurnStartParams {
                thread_id: thread.id().to_string(),
                input: vec![UserInput::Text { text, text_elements: Vec::new() }],
                ..TurnStartParams::default()
            };
            if let Err(error) = core.turn_start(params) {
                tracing::warn!(thread = %thread.id(), error = error.message, "a turn towards a goal could not be started");
            }
        });
    }

    pub(crate) fn goal_get(&self, params: &ThreadGoalGetParams) -> Result<ThreadGoalGetResponse, RpcError> {
        Ok(ThreadGoalGetResponse { goal: self.loaded(&params.thread_id)?.goal() })
    }

    pub(crate) fn goal_clear(&self, params: ThreadGoalClearParams) -> Result<ThreadGoalClearResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let cleared = thread.change_goal(|goal| Ok(goal.take()))?.is_some();
        if cleared {
            self.hub.broadcast(ThreadGoalClearedNotification { thread_id: params.thread_id });
        }
        Ok(ThreadGoalClearResponse { cleared })
    }
}
