//! The life of threads: started, resumed, copied, put away, taken back, removed.

use std::sync::{Arc, Weak};

use trace_protocol::notification::{
    ThreadArchivedNotification, ThreadDeletedNotification, ThreadStartedNotification, ThreadUnarchivedNotification,
};
use trace_protocol::settings::MultiAgentMode;
use trace_protocol::thread::{
    SessionSource, SubAgentSource, Thread, ThreadArchiveParams, ThreadArchiveResponse, ThreadDeleteParams,
    ThreadDeleteResponse, ThreadHistoryMode, ThreadStartParams, ThreadStartResponse, ThreadStatus,
    ThreadUnarchiveParams, ThreadUnarchiveResponse, ThreadUnsubscribeParams, ThreadUnsubscribeResponse,
    ThreadUnsubscribeStatus,
};
use trace_protocol::{ClientMethod, RpcError, methods::method};
use trace_runtime::agent::{Lineage, NewAgent, Recorded};
use trace_runtime::tool::{Tool, ToolFamily};
use trace_runtime::{Settings, ThreadId};

use super::UpdateGoal;
use super::overrides::{Overrides, Place};
use crate::blocking::blocking;
use crate::connection::{Connection, ConnectionId};
use crate::core::Core;
use crate::git;
use crate::ingress::Responder;
use crate::mapping::settings as mapping;
use crate::mapping::thread_id;
use crate::store::{NewThread, Resolution, Store, ThreadSummary};
use crate::threads::{Beginning, LoadedThread, Origin, Turns};

impl Core {
    pub(crate) async fn thread_start(&self, params: ThreadStartParams, responder: Responder) {
        let connection = Arc::clone(responder.connection());
        match self.new_thread(&connection, params).await {
            Ok(thread) => {
                self.open_thread::<method::ThreadStart>(&thread, responder, |shown, settings| {
                    start_response(shown, settings)
                });
                self.tell_of_servers(thread.id());
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Makes a thread. Nothing of it is on disk before something happens in it.
    async fn new_thread(
        &self,
        connection: &Connection,
        params: ThreadStartParams,
    ) -> Result<Arc<LoadedThread>, RpcError> {
        let overrides = Overrides::from(&params);
        let settings = self.settings(&overrides, None)?;
        let place = match &params.environments {
            Some(environments) if environments.is_empty() => Place::None,
            _ => Place::Folder,
        };
        let without = self.without(params.config.as_ref(), place)?;
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
        let tools = self.own_tools(&id, &overrides, &settings, &without, None, &dynamic_tools).await?;
        let git_info = git::info(&settings.cwd).await;
        let now_ms = self.now_ms();
        let mut origin = Origin {
            forked_from: None,
            is_ephemeral: params.ephemeral.unwrap_or(false),
            created_at: now_ms.div_euclid(1000),
            path: None,
            source: SessionSource::Vscode,
            thread_source: params.thread_source,
            originator: connection.client().map(|client| client.info.name.clone()),
            history_mode: params.history_mode.unwrap_or(ThreadHistoryMode::Paginated),
            version: self.version.clone(),
            agent_nickname: None,
            agent_role: None,
        };
        let writer = match origin.is_ephemeral {
            true => None,
            false => {
                let new = NewThread {
                    id: id.clone(),
                    session: id.clone(),
                    created_at_ms: now_ms,
                    settings: settings.clone(),
                    originator: origin.originator.clone(),
                    version: origin.version.clone(),
                    source: origin.source.clone(),
                    thread_source: origin.thread_source.clone(),
                    history_mode: origin.history_mode,
                    forked_from: None,
                    parent: None,
                    agent_nickname: None,
                    agent_role: None,
                    agent_path: None,
                    dynamic_tools: dynamic_tools.clone(),
                    git: git_info.clone(),
                };
                Some(blocking(&self.store, move |store| store.create(new)).await??)
            }
        };
        origin.path = writer.as_ref().map(|writer| writer.path());
        let agent = self.runtime().start(NewAgent {
            dynamic_tools,
            tools,
            without,
            recorded: recorded(&origin),
            source: Some("vscode".to_owned()),
            ..NewAgent::new(id, settings)
        });
        let beginning = Beginning { updated_at: origin.created_at, git_info, writer, ..Beginning::default() };
        Ok(Arc::new(LoadedThread::new(agent, origin, beginning)))
    }

    /// Returns the tools that not all agents have: those of its servers, and what only the agent of this thread has.
    pub(super) async fn own_tools(
        &self,
        thread: &ThreadId,
        overrides: &Overrides,
        settings: &Settings,
        without: &[ToolFamily],
        lineage: Option<&Lineage>,
        dynamic: &[serde_json::Value],
    ) -> Result<Vec<Arc<dyn Tool>>, RpcError> {
        let mut tools = self.server_tools(thread, overrides, settings, without, lineage).await?;
        tools.retain(|tool| tool.family() != ToolFamily::Own);
        // A client's tool of that name is the client's business.
        if dynamic.iter().all(|tool| tool.get("name").is_none_or(|name| name != UpdateGoal::NAME)) {
            let core = self.this().map_or_else(Weak::new, |core| Arc::downgrade(&core));
            tools.push(Arc::new(UpdateGoal { core, thread: thread.clone() }));
        }
        Ok(tools)
    }

    /// Loads a thread that is new here: its caller is subscribed and answered, and then everybody hears of it.
    fn open_thread<M: ClientMethod>(
        &self,
        thread: &Arc<LoadedThread>,
        responder: Responder,
        result: impl FnOnce(Thread, &Settings) -> M::Result,
    ) {
        let settings = thread.agent().settings();
        let mut state = thread.state();
        self.threads.insert(thread);
        state.subscribe(responder.connection());
        responder.respond::<M>(&Ok(result(thread.show(&state, &settings, Turns::Full), &settings)));
        let shown = thread.show(&state, &settings, Turns::LeftOut);
        self.hub.broadcast(ThreadStartedNotification { thread: shown });
    }

    pub(crate) async fn thread_archive(&self, params: ThreadArchiveParams, responder: Responder) {
        match self.put_away(&params).await {
            Ok(archived) => {
                responder.respond::<method::ThreadArchive>(&Ok(ThreadArchiveResponse {}));
                for id in archived {
                    self.hub.broadcast(ThreadArchivedNotification { thread_id: id.to_string() });
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Puts a thread away, with the agents below it.
    async fn put_away(&self, params: &ThreadArchiveParams) -> Result<Vec<ThreadId>, RpcError> {
        let id = thread_id(&params.thread_id)?;
        let _guard = self.locks.of_thread(&id).await?;
        let thread = self.threads.get(&id);
        let wanted = id.clone();
        blocking(&self.store, move |store| -> Result<(), RpcError> {
            if let Some(thread) = thread {
                thread.materialize()?;
            }
            Ok(store.find(&wanted).map(drop)?)
        })
        .await??;
        let ids = self.unload_all(id).await?;
        let mut archived = Vec::with_capacity(ids.len());
        // What is above is put away first, for readers of lists.
        for id in ids {
            let wanted = id.clone();
            match blocking(&self.store, move |store| store.archive(&wanted)).await? {
                Ok(_) => archived.push(id),
                Err(error) if archived.is_empty() => return Err(error.into()),
                Err(error) => tracing::warn!(thread = %id, %error, "an agent's thread could not be archived"),
            }
        }
        Ok(archived)
    }

    pub(crate) async fn thread_unarchive(&self, params: ThreadUnarchiveParams, responder: Responder) {
        let taken_back = async {
            let id = thread_id(&params.thread_id)?;
            let _guard = self.locks.of_thread(&id).await?;
            let unarchive = move |store: &Store| -> Result<_, RpcError> {
                let summary = store.unarchive(&id)?;
                // The agents below it were put away with it.
                let below = store.descendants(&id);
                let back = below.into_iter().filter(|below| store.unarchive(below).is_ok()).collect::<Vec<_>>();
                Ok((summary, back))
            };
            blocking(&self.store, unarchive).await?
        };
        match taken_back.await {
            Ok((summary, below)) => {
                let thread = summary.to_thread(ThreadStatus::NotLoaded);
                responder.respond::<method::ThreadUnarchive>(&Ok(ThreadUnarchiveResponse { thread }));
                self.hub.broadcast(ThreadUnarchivedNotification { thread_id: params.thread_id });
                for id in below {
                    self.hub.broadcast(ThreadUnarchivedNotification { thread_id: id.to_string() });
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    pub(crate) async fn thread_delete(&self, params: ThreadDeleteParams, responder: Responder) {
        let mut removed = Vec::new();
        match self.remove(&params, &mut removed).await {
            Ok(()) => responder.respond::<method::ThreadDelete>(&Ok(ThreadDeleteResponse {})),
            Err(error) => responder.refuse(&error),
        }
        for id in removed.into_iter().rev() {
            self.hub.broadcast(ThreadDeletedNotification { thread_id: id.to_string() });
        }
    }

    /// Removes a thread with the agents below it, and tells which are gone even if one of them cannot be removed.
    async fn remove(&self, params: &ThreadDeleteParams, removed: &mut Vec<ThreadId>) -> Result<(), RpcError> {
        let id = thread_id(&params.thread_id)?;
        let _guard = self.locks.of_thread(&id).await?;
        let (is_loaded, wanted) = (self.threads.get(&id).is_some(), id.clone());
        blocking(&self.store, move |store| {
            if !is_loaded && store.resolve(&wanted) == Resolution::Unknown {
                return Err(RpcError::invalid_request(format!("no rollout found for thread id {wanted}")));
            }
            Ok(())
        })
        .await??;
        // Whoever is above goes last: without it nobody would find those below.
        for id in self.unload_all(id).await?.into_iter().rev() {
            let wanted = id.clone();
            blocking(&self.store, move |store| match store.resolve(&wanted) {
                Resolution::Unknown => Ok(()),
                _ => store.delete(&wanted).and_then(|()| store.set_queue(&wanted, &[])),
            })
            .await??;
            removed.push(id);
        }
        Ok(())
    }

    /// Lets a thread go with all agents below it, and returns them: it first, parents before their children.
    async fn unload_all(&self, id: ThreadId) -> Result<Vec<ThreadId>, RpcError> {
        self.unloading.unload(&id).await;
        // Only now it is known who is below: until it was stopped, it could start others.
        let ids = blocking(&self.store, move |store| {
            let below = store.descendants(&id);
            std::iter::once(id).chain(below).collect::<Vec<_>>()
        })
        .await?;
        // Those that were loaded without it.
        for id in ids.iter().rev() {
            self.unloading.unload(id).await;
        }
        Ok(ids)
    }

    pub(crate) fn thread_unsubscribe(
        &self,
        connection: ConnectionId,
        params: &ThreadUnsubscribeParams,
    ) -> Result<ThreadUnsubscribeResponse, RpcError> {
        let id = thread_id(&params.thread_id)?;
        let status = match self.threads.get(&id) {
            None => ThreadUnsubscribeStatus::NotLoaded,
            Some(thread) if thread.leave(connection) => ThreadUnsubscribeStatus::Unsubscribed,
            Some(_) => ThreadUnsubscribeStatus::NotSubscribed,
        };
        Ok(ThreadUnsubscribeResponse { status })
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

/// An ephemeral thread leaves nothing behind, so nothing of it is recorded either.
pub(super) fn recorded(origin: &Origin) -> Recorded {
    if origin.is_ephemeral { Recorded::Nowhere } else { Recorded::Apart }
}

pub(super) fn origin_of(summary: &ThreadSummary) -> Origin {
    Origin {
        forked_from: summary.forked_from.as_ref().map(ToString::to_string),
        is_ephemeral: false,
        created_at: summary.created_at_ms.div_euclid(1000),
        path: Some(summary.path.clone()),
        source: summary.source.clone(),
        thread_source: summary.thread_source.clone(),
        originator: summary.originator.clone(),
        history_mode: summary.history_mode,
        version: summary.version.clone(),
        agent_nickname: summary.agent_nickname.clone(),
        agent_role: summary.agent_role.clone(),
    }
}

/// Returns where a stored agent stands in its tree.
pub(super) fn lineage(summary: &ThreadSummary) -> Option<Lineage> {
    let parent = summary.parent.clone()?;
    let depth = match &summary.source {
        SessionSource::SubAgent(SubAgentSource::ThreadSpawn { depth, .. }) => u32::try_from(*depth).unwrap_or(1),
        _ => 1,
    };
    Some(Lineage {
        parent,
        root: summary.session.clone(),
        path: summary.agent_path.clone().unwrap_or_else(|| format!("/root/{}", summary.id)),
        depth,
        nickname: summary.agent_nickname.clone(),
        role: summary.agent_role.clone(),
    })
}
