//! Goals of threads: what a client sets, and the turns that pursue it.

use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use trace_protocol::goal::{
    ThreadGoal, ThreadGoalClearParams, ThreadGoalClearResponse, ThreadGoalGetParams, ThreadGoalGetResponse,
    ThreadGoalSetParams, ThreadGoalSetResponse, ThreadGoalStatus,
};
use trace_protocol::item::{ThreadItem, UserInput};
use trace_protocol::notification::{ThreadGoalClearedNotification, ThreadGoalUpdatedNotification};
use trace_protocol::turn::{Turn, TurnStartParams};
use trace_protocol::{RpcError, common::Nullable};
use trace_runtime::control::Refusal;
use trace_runtime::event::{ErrorKind, TurnOutcome};
use trace_runtime::tool::{
    AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};
use trace_runtime::{Settings, ThreadId, TurnId};

use super::turns::{TurnHandlers, refused};
use crate::hub::Hub;
use crate::threads::{LoadedThread, Registry};

/// Most characters of an objective.
pub(crate) const MAX_OBJECTIVE_CHARACTERS: usize = 4_000;

/// Serves `thread/goal/*`, and starts turns until a goal is reached.
pub(crate) struct GoalHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) hub: Hub,
    pub(crate) turns: Arc<TurnHandlers>,
}

impl GoalHandlers {
    pub(crate) fn set(&self, params: ThreadGoalSetParams) -> Result<ThreadGoalSetResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        if thread.agent().parent().is_some() {
            return Err(RpcError::invalid_request("the thread belongs to another agent: it takes no goal"));
        }
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
        let now = Timestamp::now().as_second();
        let goal = thread.change_goal(|goal| {
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
        if goal.status == ThreadGoalStatus::Active {
            self.pursue_later(&thread);
        }
        Ok(ThreadGoalSetResponse { goal })
    }

    /// Adds the tokens of an inference call to an active goal.
    pub(crate) fn count_tokens(&self, thread: &LoadedThread, tokens: u64) {
        let mut state = thread.state();
        if let Some(goal) = state.goal.as_mut().filter(|goal| goal.status == ThreadGoalStatus::Active) {
            goal.tokens_used = goal.tokens_used.saturating_add(i64::try_from(tokens).unwrap_or(i64::MAX));
        }
    }

    /// Updates a goal when a turn has ended, and starts the next turn if the goal is still active.
    pub(crate) fn turn_ended(&self, thread: &Arc<LoadedThread>, turn: &TurnId, outcome: &TurnOutcome) {
        let (duration, goes_on, objective) = {
            let state = thread.state();
            let Some((_, objective)) = state.goal_turns.told.as_ref().filter(|(told, _)| told == turn) else { return };
            if state.is_closing() || self.turns.takes_turns().is_err() {
                // The turn was ended by a shutdown, which says nothing about the goal.
                return;
            }
            let last = state.view.last().filter(|last| last.id == turn.as_str());
            // Only an idle turn that was started for the goal stops the pursuit, not an idle turn of the user.
            let goes_on = state.goal_turns.started.as_ref() != Some(turn) || last.is_some_and(has_worked);
            (last.and_then(|last| last.duration_ms).unwrap_or(0), goes_on, objective.clone())
        };
        let now = Timestamp::now().as_second();
        let changed = thread.change_goal(|goal| {
            if let Some(goal) = goal.as_mut().filter(|goal| goal.objective == objective) {
                goal.time_used_seconds = goal.time_used_seconds.saturating_add((duration + 500).div_euclid(1000));
                goal.updated_at = now;
                if goal.status == ThreadGoalStatus::Active {
                    goal.status = status_after(goal, outcome);
                }
            }
            Ok(goal.clone())
        });
        let goal = match changed {
            Ok(Some(goal)) => goal,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(thread = %thread.id(), error = error.message, "the goal is not brought up to date");
                return;
            }
        };
        let (thread_id, turn_id) = (thread.id().to_string(), Some(turn.to_string()));
        self.hub.broadcast(ThreadGoalUpdatedNotification { thread_id, goal: goal.clone(), turn_id });
        if goal.status == ThreadGoalStatus::Active && (goes_on || goal.objective != objective) {
            self.pursue_later(thread);
        }
    }

    /// Sets the status that the agent reports for its goal.
    fn agent_said(&self, id: &ThreadId, turn: &TurnId, status: ThreadGoalStatus) -> Result<(), String> {
        let thread = self.threads.get(id).ok_or("the thread is gone")?;
        let now = Timestamp::now().as_second();
        let told =
            thread.state().goal_turns.told.clone().filter(|(told, _)| told == turn).map(|(_, objective)| objective);
        let goal = thread
            .change_goal(|goal| {
                let goal = goal.as_mut().ok_or_else(|| RpcError::invalid_request("there is no goal"))?;
                if told.as_ref() != Some(&goal.objective) {
                    let message = "the user has set another goal meanwhile: you hear of it when this turn has ended";
                    return Err(RpcError::invalid_request(message));
                }
                goal.status = status;
                goal.updated_at = now;
                Ok(goal.clone())
            })
            .map_err(|error| error.message)?;
        let (thread_id, turn_id) = (id.to_string(), Some(turn.to_string()));
        self.hub.broadcast(ThreadGoalUpdatedNotification { thread_id, goal, turn_id });
        Ok(())
    }

    /// Starts a turn towards an active goal, if the thread has nothing else to do.
    fn pursue_later(&self, thread: &Arc<LoadedThread>) {
        let (turns, thread) = (Arc::clone(&self.turns), Arc::clone(thread));
        tokio::spawn(async move {
            thread.agent().released().await;
            let objective = {
                let state = thread.state();
                // Queued prompts come first. The end of their turns calls this function again.
                let goal = state.goal.as_ref().filter(|goal| goal.status == ThreadGoalStatus::Active);
                match goal {
                    Some(goal) if state.queue.is_empty() && !state.is_closing() => goal.objective.clone(),
                    _ => return,
                }
            };
            let text = format!(
                "Work towards this goal. Call update_goal when it is reached, or when you cannot get any further without \
                 help:\n\n{objective}"
            );
            let params = TurnStartParams {
                thread_id: thread.id().to_string(),
                input: vec![UserInput::Text { text, text_elements: Vec::new() }],
                ..TurnStartParams::default()
            };
            let started =
                turns.request(&thread, params).and_then(|request| match thread.agent().start_turn_if_idle(request) {
                    Ok(turn) => {
                        thread.state().goal_turns.started = Some(turn);
                        Ok(())
                    }
                    Err(Refusal::Busy(_) | Refusal::Held) => Ok(()),
                    Err(refusal) => Err(refused(refusal)),
                });
            if let Err(error) = started {
                tracing::warn!(thread = %thread.id(), error = error.message, "a turn towards a goal could not be started");
            }
        });
    }

    pub(crate) fn get(&self, params: &ThreadGoalGetParams) -> Result<ThreadGoalGetResponse, RpcError> {
        Ok(ThreadGoalGetResponse { goal: self.threads.loaded(&params.thread_id)?.goal() })
    }

    pub(crate) fn clear(&self, params: ThreadGoalClearParams) -> Result<ThreadGoalClearResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let cleared = thread.change_goal(|goal| Ok(goal.take()))?.is_some();
        if cleared {
            self.hub.broadcast(ThreadGoalClearedNotification { thread_id: params.thread_id });
        }
        Ok(ThreadGoalClearResponse { cleared })
    }
}

/// Returns the status of a goal after a turn that began while the goal was active.
fn status_after(goal: &ThreadGoal, outcome: &TurnOutcome) -> ThreadGoalStatus {
    match outcome {
        TurnOutcome::Interrupted => ThreadGoalStatus::Paused,
        TurnOutcome::Failed(error) if error.kind == ErrorKind::UsageLimitExceeded => ThreadGoalStatus::UsageLimited,
        TurnOutcome::Failed(_) => ThreadGoalStatus::Blocked,
        TurnOutcome::Completed { .. } if goal.token_budget.is_some_and(|budget| goal.tokens_used >= budget) => {
            ThreadGoalStatus::BudgetLimited
        }
        TurnOutcome::Completed { .. } => ThreadGoalStatus::Active,
    }
}

/// Returns whether a turn did more than produce messages. An agent whose turn did not waits for the user, and would repeat itself
/// in another turn.
fn has_worked(turn: &Turn) -> bool {
    let is_talk = |item: &ThreadItem| {
        matches!(
            item,
            ThreadItem::UserMessage(_)
                | ThreadItem::AgentMessage(_)
                | ThreadItem::Reasoning(_)
                | ThreadItem::ContextCompaction(_)
        )
    };
    turn.items.iter().any(|item| !is_talk(item))
}

/// The tool with which an agent reports the status of its goal. It is offered while a goal is active.
pub(crate) struct UpdateGoal {
    pub(crate) goals: Weak<GoalHandlers>,
    pub(crate) thread: ThreadId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    status: SaidStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidStatus {
    Complete,
    Blocked,
}

impl UpdateGoal {
    /// Name that models call.
    pub(crate) const NAME: &str = "update_goal";
}

impl Tool for UpdateGoal {
    fn family(&self) -> ToolFamily {
        ToolFamily::Own
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        let thread = self.goals.upgrade()?.threads.get(&self.thread)?;
        thread.goal().filter(|goal| goal.status == ThreadGoalStatus::Active)?;
        Some(json!({
            "type": "function",
            "name": "update_goal",
            "description": "Says what became of the goal that the user set. Until then you are asked to go on.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": { "status": {
                    "type": "string",
                    "enum": ["complete", "blocked"],
                    "description": "`complete` when all of it is done and checked; `blocked` when you need the user.",
                } },
                "required": ["status"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == Self::NAME
    }

    fn description(&self, _call: &ToolCall) -> CallDescription {
        CallDescription { kind: "other".to_owned(), label: "update_goal".to_owned(), input_preview: None }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let (goals, thread) = (Weak::clone(&self.goals), self.thread.clone());
        async move {
            let (ToolInput::Arguments(text) | ToolInput::Text(text)) = &call.input;
            let said = serde_json::from_str::<Said>(text).map_err(|error| error.to_string());
            let noted = said.and_then(|said| {
                let status = match said.status {
                    SaidStatus::Complete => ThreadGoalStatus::Complete,
                    SaidStatus::Blocked => ThreadGoalStatus::Blocked,
                };
                let goals = goals.upgrade().ok_or("the server is ending")?;
                goals.agent_said(&thread, &context.turn, status)
            });
            let success = noted.is_ok();
            let output =
                noted.map_or_else(|error| format!("update_goal: {error}"), |()| "The goal is updated.".to_owned());
            ToolOutcome { output: json!(output), success, then: AfterCall::Continue }
        }
        .boxed()
    }
}
