//! Copies threads.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use trace_protocol::thread::{Thread, ThreadForkParams, ThreadForkResponse, ThreadHistoryMode};
use trace_protocol::{RpcError, methods::method};
use trace_runtime::agent::NewAgent;
use trace_runtime::tool::ToolFamily;
use trace_runtime::{Settings, ThreadId, TurnId};

use super::overrides::{Overrides, Place};
use super::start::{StartHandlers, recorded, start_response};
use crate::blocking::blocking;
use crate::connection::Connection;
use crate::ingress::Responder;
use crate::mapping::thread_id;
use crate::store::{ForkPoint, NewThread, Store, StoreError, ThreadSummary};
use crate::threads::{InitialState, LoadedThread, Origin, Turns};

/// The thread that is copied: one of the store, or a rollout file.
enum Original {
    Thread(ThreadId),
    File(PathBuf),
}

/// What a copy takes from the original.
struct Source {
    from: Original,
    summary: ThreadSummary,
    settings: Settings,
    without: Vec<ToolFamily>,
}

impl StartHandlers {
    pub(crate) async fn fork(&self, params: ThreadForkParams, responder: Responder) {
        match self.copied(responder.connection(), &params).await {
            Ok(thread) => {
                let turns = if params.exclude_turns { Turns::LeftOut } else { Turns::Full };
                self.open::<method::ThreadFork>(&thread, turns, responder, fork_response);
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Makes the copy. It is not in the registry yet.
    async fn copied(&self, connection: &Connection, params: &ThreadForkParams) -> Result<Arc<LoadedThread>, RpcError> {
        let point = fork_point(params)?;
        let Source { from, summary, settings: stored_settings, without: taken } = self.source(params).await?;
        if params.ephemeral && !params.exclude_turns && summary.history_mode == ThreadHistoryMode::Paginated {
            let message = "an ephemeral copy of a paginated thread needs excludeTurns: true";
            return Err(RpcError::invalid_request(message));
        }
        let source = summary.id.clone();
        let settings = self.configuration.settings(&Overrides::from(params), Some(&stored_settings))?;
        let mut without = self.configuration.without(params.config.as_ref(), Place::Folder)?;
        without.extend(taken);
        let now_ms = Timestamp::now().as_millisecond();
        let id = ThreadId::new();
        let mut origin = Origin {
            forked_from: Some(source.to_string()),
            is_ephemeral: params.ephemeral,
            thread_source: params.thread_source.clone(),
            ..self.origin(connection, summary.history_mode, now_ms)
        };
        let (writer, stored) = if params.ephemeral {
            let load = move |store: &Store| match from {
                Original::Thread(id) => store.load_until(&id, &point),
                Original::File(path) => store.load_path_until(&path, &point),
            };
            (None, blocking(&self.store, load).await??)
        } else {
            let new = NewThread {
                forked_from: Some(source),
                git: summary.git.clone(),
                ..origin.new_thread(&id, &settings, now_ms)
            };
            let copy = move |store: &Store| match from {
                Original::Thread(id) => store.fork(&id, &point, new),
                Original::File(path) => store.fork_path(&path, &point, new),
            };
            let (writer, stored) = blocking(&self.store, copy).await??;
            (Some(writer), stored)
        };
        origin.path = writer.as_ref().map(|writer| writer.path());
        let tools =
            self.tools.own(&id, &Overrides::from(params), &settings, &without, None, &stored.dynamic_tools).await?;
        let agent = self.runtime.start(NewAgent {
            history: stored.history,
            usage: stored.usage.unwrap_or_default(),
            dynamic_tools: stored.dynamic_tools,
            without,
            recorded: recorded(&origin),
            source: Some("vscode".to_owned()),
            tools,
            ..NewAgent::new(id, settings)
        });
        let last_turn = stored.turns.last().map(|turn| TurnId::from(turn.id.as_str()));
        let initial = InitialState {
            turns: stored.turns,
            usage: last_turn.zip(stored.usage),
            plan: stored.plan,
            name: summary.name,
            preview: summary.preview,
            git_info: summary.git,
            updated_at: origin.created_at,
            writer,
            ..InitialState::default()
        };
        Ok(Arc::new(LoadedThread::new(agent, origin, initial)))
    }

    /// Finds the thread or file that a client names.
    async fn source(&self, params: &ThreadForkParams) -> Result<Source, RpcError> {
        if let Some(path) = params.path.as_ref().map(PathBuf::from) {
            let file = path.clone();
            let stored = blocking(&self.store, move |store| store.load_path(&file)).await??;
            let settings = stored.settings.over(self.configuration.defaults());
            return Ok(Source { from: Original::File(path), summary: stored.summary, settings, without: Vec::new() });
        }
        let id = thread_id(&params.thread_id)?;
        let (wanted, loaded) = (id.clone(), self.threads.get(&id));
        let is_loaded = loaded.is_some();
        let (summary, stored) = blocking(&self.store, move |store| -> Result<_, StoreError> {
            let summary = store.find(&wanted)?;
            let stored = if is_loaded { None } else { Some(store.load(&wanted)?.settings) };
            Ok((summary, stored))
        })
        .await??;
        let settings = match (&loaded, stored) {
            (Some(loaded), _) => Settings::clone(&loaded.agent().settings()),
            (None, stored) => stored.unwrap_or_default().over(self.configuration.defaults()),
        };
        let without = loaded.map_or_else(Vec::new, |loaded| loaded.agent().toolbox().without().to_vec());
        Ok(Source { from: Original::Thread(id), summary, settings, without })
    }
}

/// Returns the turn up to which a client wants a thread copied.
fn fork_point(params: &ThreadForkParams) -> Result<ForkPoint, RpcError> {
    match (&params.last_turn_id, &params.before_turn_id) {
        (Some(_), Some(_)) => Err(RpcError::invalid_request("`lastTurnId` and `beforeTurnId` exclude each other")),
        (Some(turn), None) => Ok(ForkPoint::Through(TurnId::from(turn.as_str()))),
        (None, Some(turn)) => Ok(ForkPoint::Before(TurnId::from(turn.as_str()))),
        (None, None) => Ok(ForkPoint::End),
    }
}

fn fork_response(thread: Thread, settings: &Settings) -> ThreadForkResponse {
    let start = start_response(thread, settings);
    ThreadForkResponse {
        thread: start.thread,
        approval_policy: start.approval_policy,
        approvals_reviewer: start.approvals_reviewer,
        cwd: start.cwd,
        model: start.model,
        model_provider: start.model_provider,
        sandbox: start.sandbox,
        active_permission_profile: None,
        disabled_plugin_ids: Vec::new(),
        instruction_sources: start.instruction_sources,
        multi_agent_mode: start.multi_agent_mode,
        reasoning_effort: start.reasoning_effort,
        runtime_workspace_roots: start.runtime_workspace_roots,
        service_tier: start.service_tier,
    }
}
