//! Starts, steers and interrupts turns, those of reviews, compactions and commands of users included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use trace_protocol::thread::{
    ThreadCompactStartParams, ThreadCompactStartResponse, ThreadInjectItemsParams, ThreadInjectItemsResponse,
    ThreadShellCommandParams, ThreadShellCommandResponse,
};
use trace_protocol::turn::{
    ReviewStartParams, ReviewStartResponse, ReviewTarget, Turn, TurnInterruptParams, TurnInterruptResponse,
    TurnItemsView, TurnSettingsUpdateParams, TurnSettingsUpdateResponse, TurnSettingsUpdateStatus, TurnStartParams,
    TurnStartResponse, TurnStatus, TurnSteerParams, TurnSteerResponse,
};
use trace_protocol::{RpcError, item::UserInput};
use trace_runtime::TurnId;
use trace_runtime::control::{Refusal, Start, TurnRequest};
use trace_runtime::event::TurnKind;
use trace_runtime::item::ToolOutput;

use super::configuration::ThreadConfiguration;
use crate::mapping;
use crate::threads::{LoadedThread, Registry};

/// Time after which a user's command is stopped, unless the client gives another one.
const USER_COMMAND_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Serves `turn/*` and the other methods that make an agent work.
pub(crate) struct TurnHandlers {
    threads: Arc<Registry>,
    configuration: Arc<ThreadConfiguration>,
    is_draining: AtomicBool,
}

impl TurnHandlers {
    pub(crate) fn new(threads: Arc<Registry>, configuration: Arc<ThreadConfiguration>) -> Self {
        Self { threads, configuration, is_draining: AtomicBool::new(false) }
    }

    /// Refuses turns of clients from now on, because the server is about to end.
    pub(crate) fn refuse_turns(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Checks whether a turn may begin.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is about to end.
    pub(crate) fn takes_turns(&self) -> Result<(), RpcError> {
        match self.is_draining.load(Ordering::Relaxed) {
            true => Err(RpcError::invalid_request("the server is ending: it takes no more turns")),
            false => Ok(()),
        }
    }

    pub(crate) fn start(&self, params: TurnStartParams) -> Result<TurnStartResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let request = self.request(&thread, params)?;
        let started = thread.agent().start_turn(request).map_err(refused)?;
        let joined = match started.how {
            Start::New => None,
            Start::Joined => thread.state().view.running_summary().filter(|turn| turn.id == started.turn.as_str()),
        };
        Ok(TurnStartResponse { turn: joined.unwrap_or_else(|| accepted(&started.turn)) })
    }

    /// Returns the request for an agent that params of `turn/start` stand for.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is about to end, if the input is too long, or if the params are contradictory or name a
    /// provider or profile that does not exist.
    pub(crate) fn request(&self, thread: &LoadedThread, params: TurnStartParams) -> Result<TurnRequest, RpcError> {
        self.takes_turns()?;
        check_input(&params.input)?;
        let settings = thread.agent().settings();
        if !self.configuration.has_provider(&settings.provider) {
            return Err(RpcError::invalid_request(format!(
                "thread {}: there is no model provider `{}`; name one of the configuration",
                params.thread_id, settings.provider
            )));
        }
        let change = mapping::settings::change_of_turn(&params, &self.configuration.cwd);
        let change = self.configuration.change(change, params.permissions.as_deref(), &settings)?;
        Ok(TurnRequest {
            tool_output: params.tool_output.as_ref().map(|told| ToolOutput {
                name: told.name.clone(),
                namespace: told.namespace.clone(),
                output: serde_json::to_value(&told.output).unwrap_or_default(),
            }),
            input: mapping::input::from_wire(&params.input),
            client_id: params.client_user_message_id,
            change,
            output_schema: params.output_schema.filter(|schema| !schema.is_null()),
            root_turn: params.root_turn_id.as_deref().map(TurnId::from),
            service_tier_for_turn: params.service_tier_for_turn,
        })
    }

    pub(crate) fn steer(&self, params: &TurnSteerParams) -> Result<TurnSteerResponse, RpcError> {
        check_input(&params.input)?;
        let thread = self.threads.loaded(&params.thread_id)?;
        let input = mapping::input::from_wire(&params.input);
        let expected = TurnId::from(params.expected_turn_id.as_str());
        let turn =
            thread.agent().steer(&expected, input, params.client_user_message_id.clone()).map_err(|refusal| {
                match refusal {
                    Refusal::NoActiveTurn => RpcError::invalid_request("no active turn to steer"),
                    other => refused(other),
                }
            })?;
        Ok(TurnSteerResponse { turn_id: turn.to_string() })
    }

    pub(crate) fn interrupt(&self, params: &TurnInterruptParams) -> Result<TurnInterruptResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let turn = TurnId::from(params.turn_id.as_str());
        let ended = thread.agent().interrupt(&turn).map_err(|refusal| match refusal {
            Refusal::NoActiveTurn => RpcError::invalid_request("no active turn to interrupt"),
            other => refused(other),
        })?;
        drop(ended);
        Ok(TurnInterruptResponse {})
    }

    pub(crate) fn update_settings(
        &self,
        params: &TurnSettingsUpdateParams,
    ) -> Result<TurnSettingsUpdateResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let change = mapping::settings::change_of_turn_settings(params);
        let status = match thread.agent().change_turn_settings(&TurnId::from(params.turn_id.as_str()), &change) {
            Ok(()) => TurnSettingsUpdateStatus::Applied,
            Err(Refusal::NoActiveTurn | Refusal::OtherTurn { .. }) => TurnSettingsUpdateStatus::TargetUnavailable,
            Err(other) => return Err(refused(other)),
        };
        Ok(TurnSettingsUpdateResponse { status })
    }

    pub(crate) fn compact(&self, params: &ThreadCompactStartParams) -> Result<ThreadCompactStartResponse, RpcError> {
        self.takes_turns()?;
        self.threads.loaded(&params.thread_id)?.agent().compact().map_err(refused)?;
        Ok(ThreadCompactStartResponse {})
    }

    pub(crate) fn shell_command(
        &self,
        params: ThreadShellCommandParams,
    ) -> Result<ThreadShellCommandResponse, RpcError> {
        if params.command.trim().is_empty() {
            return Err(RpcError::invalid_request("the command is empty"));
        }
        let timeout = match params.timeout_ms {
            None => USER_COMMAND_TIMEOUT,
            Some(milliseconds) => Duration::from_millis(
                u64::try_from(milliseconds).map_err(|_| RpcError::invalid_request("timeoutMs must not be negative"))?,
            ),
        };
        let thread = self.threads.loaded(&params.thread_id)?;
        self.takes_turns()?;
        thread.agent().shell_command(params.command, Some(timeout)).map_err(refused)?;
        Ok(ThreadShellCommandResponse {})
    }

    pub(crate) fn review(&self, params: &ReviewStartParams) -> Result<ReviewStartResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let (instructions, shown) = review(&params.target)?;
        self.takes_turns()?;
        let turn = thread.agent().review(instructions, shown).map_err(refused)?;
        Ok(ReviewStartResponse { review_thread_id: params.thread_id.clone(), turn: accepted(&turn) })
    }

    pub(crate) fn inject_items(&self, params: ThreadInjectItemsParams) -> Result<ThreadInjectItemsResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let items = params.items.into_iter().map(Into::into).collect();
        thread.agent().inject(items).map_err(refused)?;
        Ok(ThreadInjectItemsResponse {})
    }
}

/// Refuses input with more text than a turn takes.
///
/// # Errors
///
/// Returns an error if the input is longer than [`mapping::input::MAX_INPUT_CHARACTERS`].
pub(crate) fn check_input(input: &[UserInput]) -> Result<(), RpcError> {
    let max = mapping::input::MAX_INPUT_CHARACTERS;
    let actual = mapping::input::characters(input);
    if actual <= max {
        return Ok(());
    }
    let data = json!({ "input_error_code": "input_too_large", "max_chars": max, "actual_chars": actual });
    Err(RpcError::invalid_params(format!("input has {actual} characters; a turn takes {max}"), data))
}

/// Returns a turn that was accepted and has not begun.
fn accepted(turn: &TurnId) -> Turn {
    Turn {
        id: turn.to_string(),
        status: TurnStatus::InProgress,
        items_view: TurnItemsView::NotLoaded,
        root_turn_id: Some(turn.to_string()),
        ..Turn::default()
    }
}

/// Returns the error for a client whose request an agent refused.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
pub(crate) fn refused(refusal: Refusal) -> RpcError {
    let error = RpcError::invalid_request(&refusal);
    let Refusal::NotSteerable(kind @ (TurnKind::Review | TurnKind::Compact)) = refusal else { return error };
    error.with_data(json!({ "codexErrorInfo": { "activeTurnNotSteerable": { "turnKind": kind.name() } } }))
}

/// Returns the reviewer's prompt, and the title that users see.
fn review(target: &ReviewTarget) -> Result<(String, String), RpcError> {
    Ok(match target {
        ReviewTarget::UncommittedChanges => (
            "Review the changes in this repository that are not committed yet: staged, unstaged, and files that are \
             not tracked. `git status`, `git diff` and `git diff --staged` show them."
                .to_owned(),
            "uncommitted changes".to_owned(),
        ),
        ReviewTarget::BaseBranch { branch } => (
            format!(
                "Review what this branch changes against `{branch}`. `git diff $(git merge-base HEAD {branch})` shows it."
            ),
            format!("changes against {branch}"),
        ),
        ReviewTarget::Commit { sha, title } => (
            format!("Review what commit {sha} changes. `git show {sha}` shows it."),
            match title {
                Some(title) => format!("commit {sha}: {title}"),
                None => format!("commit {sha}"),
            },
        ),
        ReviewTarget::Custom { instructions } => {
            let instructions = instructions.trim();
            if instructions.is_empty() {
                return Err(RpcError::invalid_request("a review needs instructions"));
            }
            (instructions.to_owned(), instructions.to_owned())
        }
    })
}
