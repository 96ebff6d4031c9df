//! Starts threads.

use std::sync::Arc;

use jiff::Timestamp;
use trace_protocol::notification::ThreadStartedNotification;
use trace_protocol::settings::MultiAgentMode;
use trace_protocol::thread::{SessionSource, Thread, ThreadHistoryMode, ThreadStartParams, ThreadStartResponse};
use trace_protocol::{ClientMethod, RpcError, methods::method};
use trace_runtime::agent::{NewAgent, RecordingTarget};
use trace_runtime::runtime::Runtime;
use trace_runtime::{Settings, ThreadId};

use super::configuration::ThreadConfiguration;
use super::overrides::{Overrides, Place};
use super::tools::ThreadTools;
use crate::blocking::blocking;
use crate::connection::Connection;
use crate::git;
use crate::hub::{Hub, tell};
use crate::ingress::Responder;
use crate::mapping::event::usage_updated;
use crate::mapping::settings as mapping;
use crate::store::{NewThread, Store};
use crate::threads::{InitialState, LoadedThread, Origin, Registry, Turns};

/// Makes loaded threads: new ones here, copies in [`super::fork`], and those of stored threads in [`super::load`].
pub(crate) struct StartHandlers {
    pub(crate) configuration: Arc<ThreadConfiguration>,
    pub(crate) tools: Arc<ThreadTools>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) store: Store,
    pub(crate) threads: Arc<Registry>,
    pub(crate) hub: Hub,
    /// Version of the server that is written to rollout files.
    pub(crate) version: String,
}

impl StartHandlers {
    pub(crate) async fn start(&self, params: ThreadStartParams, responder: Responder) {
        let connection = Arc::clone(responder.connection());
        match self.new_thread(&connection, params).await {
            Ok(thread) => {
                self.open::<method::ThreadStart>(&thread, Turns::Full, responder, start_response);
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Makes a thread. Nothing of it is written to disk until something happens in it.
    async fn new_thread(
        &self,
        connection: &Connection,
        params: ThreadStartParams,
    ) -> Result<Arc<LoadedThread>, RpcError> {
        let overrides = Overrides::from(&params);
        let settings = self.configuration.settings(&overrides, None)?;
        let place = match &params.environments {
            Some(environments) if environments.is_empty() => Place::None,
            _ => Place::Folder,
        };
        let without = self.configuration.without(params.config.as_ref(), place)?;
        let dynamic_tools = params.dynamic_tools.unwrap_or_default();
        let dynamic_tools = dynamic_tools
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| RpcError::invalid_request(format!("the dynamic tools cannot be kept: {error}")))?;
        if let Err(error) = trace_runtime::tool::dynamic::tools(&dynamic_tools) {
            return Err(RpcError::invalid_params(&error, serde_json::Value::Null));
        }
        let id = ThreadId::new();
        let tools = self.tools.own(&id, &overrides, &settings, &without, None, &dynamic_tools).await?;
        let git_info = git::info(&settings.cwd).await;
        let now_ms = Timestamp::now().as_millisecond();
        let mut origin = Origin {
            is_ephemeral: params.ephemeral.unwrap_or(false),
            thread_source: params.thread_source,
            ..self.origin(connection, params.history_mode.unwrap_or(ThreadHistoryMode::Paginated), now_ms)
        };
        let writer = match origin.is_ephemeral {
            true => None,
            false => {
                let new = NewThread {
                    dynamic_tools: dynamic_tools.clone(),
                    git: git_info.clone(),
                    ..origin.new_thread(&id, &settings, now_ms)
                };
                Some(blocking(&self.store, move |store| store.create(new)).await??)
            }
        };
        origin.path = writer.as_ref().map(|writer| writer.path());
        let agent = self.runtime.start(NewAgent {
            dynamic_tools,
            tools,
            without,
            recorded: recorded(&origin),
            source: Some("vscode".to_owned()),
            ..NewAgent::new(id, settings)
        });
        let initial = InitialState { updated_at: origin.created_at, git_info, writer, ..InitialState::default() };
        Ok(Arc::new(LoadedThread::new(agent, origin, initial)))
    }

    /// Returns the origin of a thread that a client makes.
    pub(super) fn origin(&self, connection: &Connection, history_mode: ThreadHistoryMode, now_ms: i64) -> Origin {
        Origin {
            forked_from: None,
            is_ephemeral: false,
            created_at: now_ms.div_euclid(1000),
            path: None,
            source: SessionSource::Vscode,
            thread_source: None,
            originator: connection.client().map(|client| client.info.name.clone()),
            history_mode,
            version: self.version.clone(),
            agent_nickname: None,
            agent_role: None,
        }
    }

    /// Adds a new thread to the registry, subscribes its client, responds to it, and then notifies all clients.
    pub(super) fn open<M: ClientMethod>(
        &self,
        thread: &Arc<LoadedThread>,
        turns: Turns,
        responder: Responder,
        result: impl FnOnce(Thread, &Settings) -> M::Result,
    ) {
        let connection = Arc::clone(responder.connection());
        let settings = thread.agent().settings();
        let mut state = thread.state();
        self.threads.insert(thread);
        state.subscribe(&connection);
        responder.respond::<M>(&Ok(result(thread.show(&state, &settings, turns), &settings)));
        if let Some((turn, usage)) = state.usage() {
            tell(&connection, usage_updated(thread.id(), turn, usage));
        }
        let shown = thread.show(&state, &settings, Turns::LeftOut);
        self.hub.broadcast(ThreadStartedNotification { thread: shown });
        drop(state);
        self.tools.tell_of_servers(thread.id());
    }
}

pub(super) fn start_response(thread: Thread, settings: &Settings) -> ThreadStartResponse {
    ThreadStartResponse {
        thread,
        approval_policy: mapping::approval_to_wire(settings.approval),
        approvals_reviewer: mapping::reviewer_to_wire(settings),
        cwd: mapping::absolute(&settings.cwd),
        model: settings.model.clone(),
        model_provider: settings.provider.clone(),
        sandbox: mapping::sandbox_to_wire(&settings.sandbox),
        active_permission_profile: None,
        disabled_plugin_ids: Vec::new(),
        instruction_sources: Vec::new(),
        multi_agent_mode: MultiAgentMode::default(),
        reasoning_effort: settings.effort.clone(),
        runtime_workspace_roots: vec![mapping::absolute(&settings.cwd)],
        service_tier: settings.service_tier.clone(),
    }
}

/// Returns where a thread is recorded. An ephemeral thread is not stored, so it is not recorded either.
pub(super) fn recorded(origin: &Origin) -> RecordingTarget {
    if origin.is_ephemeral { RecordingTarget::Nowhere } else { RecordingTarget::OwnBundle }
}
