//! The life of threads: started, resumed, copied, put away, taken back, removed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use trace_protocol::notification::{
    ThreadArchivedNotification, ThreadClosedNotification, ThreadDeletedNotification, ThreadStartedNotification,
    ThreadStatusChangedNotification, ThreadUnarchivedNotification,
};
use trace_protocol::settings::MultiAgentMode;
use trace_protocol::thread::{
    SessionSource, SubAgentSource, Thread, ThreadArchiveParams, ThreadArchiveResponse, ThreadDeleteParams,
    ThreadDeleteResponse, ThreadHistoryMode, ThreadResumeParams, ThreadResumeResponse, ThreadStartParams,
    ThreadStartResponse, ThreadStatus, ThreadUnarchiveParams, ThreadUnarchiveResponse, ThreadUnsubscribeParams,
    ThreadUnsubscribeResponse, ThreadUnsubscribeStatus,
};
use trace_protocol::{ClientMethod, RpcError, methods::method};
use trace_runtime::agent::{Lineage, NewAgent, Recorded};
use trace_runtime::tool::{Tool, ToolFamily};
use trace_runtime::{Agent, Settings, ThreadId, TurnId};

use super::history::{turns_page, turns_query};
use super::overrides::{Overrides, Place};
use super::{UpdateGoal, failed, thread_id};
use crate::connection::{Connection, ConnectionId};
use crate::core::Core;
use crate::git;
use crate::ingress::Responder;
use crate::mapping::settings as mapping;
use crate::store::{EdgeStatus, NewThread, Resolution, StoredMail, ThreadSummary, page};
use crate::threads::{Beginning, LoadedThread, Origin, State, Turns};

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
        let tools = self.own_tools(&id, &overrides, &settings.cwd, &without, None).await?;
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
                Some(self.blocking(move |core| core.store.create(new)).await?.map_err(failed)?)
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
        cwd: &Path,
        without: &[ToolFamily],
        lineage: Option<&Lineage>,
    ) -> Result<Vec<Arc<dyn Tool>>, RpcError> {
        let mut tools = self.server_tools(thread, overrides, cwd, without, lineage).await?;
        tools.retain(|tool| tool.family() != ToolFamily::Own);
        let core = self.this().map_or_else(Weak::new, |core| Arc::downgrade(&core));
        tools.push(Arc::new(UpdateGoal { core, thread: thread.clone() }));
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

    pub(crate) async fn thread_resume(&self, params: ThreadResumeParams, responder: Responder) {
        match self.resumable(&params).await {
            Ok((thread, is_new)) => {
                if is_new {
                    let status = ThreadStatus::Idle;
                    let thread_id = thread.id().to_string();
                    self.hub.broadcast(ThreadStatusChangedNotification { thread_id, status });
                }
                let connection = Arc::clone(responder.connection());
                let turns = if params.exclude_turns { Turns::LeftOut } else { Turns::Full };
                let settings = thread.agent().settings();
                let context = ResumeContext { thread: &thread, settings: &settings, turns, params: &params };
                thread.join(&connection, turns, |state| {
                    responder.respond::<method::ThreadResume>(&context.response(state));
                });
                if is_new {
                    self.tell_of_servers(thread.id());
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Returns the thread that a client wants to resume, and whether it had to be loaded for that.
    async fn resumable(&self, params: &ThreadResumeParams) -> Result<(Arc<LoadedThread>, bool), RpcError> {
        if params.history.is_some() {
            return Err(RpcError::invalid_request("`history` is not taken here: start a thread and inject its items"));
        }
        let path = params.path.as_ref().map(PathBuf::from);
        let id = match path.clone() {
            Some(path) => self.blocking(move |core| core.store.thread_at(&path)).await?.map_err(failed)?,
            None => thread_id(&params.thread_id)?,
        };
        if let Some(thread) = self.threads.get(&id) {
            if thread.state().is_closing() {
                return Err(RpcError::invalid_request(format!("thread {id} is closing: try again")));
            }
            return Ok((thread, false));
        }
        let wanted = id.clone();
        let find = move |core: &Core| match path {
            Some(path) => core.store.adopt(&path),
            None => core.store.find(&wanted),
        };
        let summary = self.blocking(find).await?.map_err(failed)?;
        // One tree is loaded by one at a time, whichever of its agents a client asks for.
        let _loading = self.loading(&summary.session).await;
        if self.is_leaving(&id) || self.is_leaving(&summary.session) {
            return Err(RpcError::invalid_request(format!("thread {id} is being archived or removed: try again")));
        }
        if let Some(thread) = self.threads.get(&id) {
            return Ok((thread, false));
        }
        if summary.session != id
            && summary.parent.is_some()
            && self.threads.get(&summary.session).is_none()
            && let Ok((root, mail)) = self.load_thread(&summary.session, &Overrides::default()).await
        {
            self.load_tree(&root, &mail).await?;
            if let Some(thread) = self.threads.get(&id) {
                return Ok((thread, true));
            }
        }
        let (thread, mail) = self.load_thread(&id, &Overrides::from(params)).await?;
        if thread.agent().parent().is_none() {
            self.load_tree(&thread, &mail).await?;
        }
        Ok((thread, true))
    }

    /// Loads a stored thread. Returns it with the mail that it has.
    pub(crate) async fn load_thread(
        &self,
        id: &ThreadId,
        overrides: &Overrides,
    ) -> Result<(Arc<LoadedThread>, StoredMail), RpcError> {
        let wanted = id.clone();
        let (summary, stored, queue, writer) = self
            .blocking(move |core| {
                let summary = core.store.find(&wanted)?;
                // The writer comes first: while it is open nobody else adds to what is read.
                let writer = core.store.open_writer(&wanted)?;
                Ok((summary, core.store.load(&wanted)?, core.store.queue(&wanted), writer))
            })
            .await?
            .map_err(failed)?;
        let without = self.without(overrides.config.as_ref(), Place::Folder)?;
        let base = mapping::folder(&self.cwd, "");
        let configured = self.config().settings(&base);
        let settings = self.settings(overrides, Some(&stored.settings.over(configured)))?;
        let origin = origin_of(&summary);
        let lineage = lineage(&summary);
        let tools = self.own_tools(id, overrides, &settings.cwd, &without, lineage.as_ref()).await?;
        let agent = self.runtime().start(NewAgent {
            tools,
            history: stored.history,
            mail: stored.mail.open.clone(),
            usage: stored.usage.unwrap_or_default(),
            dynamic_tools: stored.dynamic_tools,
            without,
            recorded: match lineage.as_ref().and_then(|lineage| self.threads.get(&lineage.parent)) {
                Some(parent) => Recorded::With(parent.agent().clone()),
                None => Recorded::Apart,
            },
            source: Some("vscode".to_owned()),
            lineage,
            ..NewAgent::new(id.clone(), settings)
        });
        let last_turn = stored.turns.last().map(|turn| TurnId::from(turn.id.as_str()));
        let beginning = Beginning {
            turns: stored.turns,
            usage: last_turn.zip(stored.usage),
            name: summary.name,
            preview: summary.preview,
            git_info: summary.git,
            updated_at: summary.updated_at_ms.div_euclid(1000),
            goal: stored.goal,
            queue,
            writer: Some(writer),
        };
        let thread = Arc::new(LoadedThread::new(agent, origin, beginning));
        self.threads.insert(&thread);
        Ok((thread, stored.mail))
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
        let thread = self.threads.get(&id);
        let ids = self
            .blocking(move |core| {
                if let Some(thread) = thread {
                    thread.materialize()?;
                }
                core.store.find(&id).map_err(failed)?;
                let below = core.store.descendants(&id);
                Ok(std::iter::once(id).chain(below).collect::<Vec<_>>())
            })
            .await??;
        let _leaving = self.leave(&ids);
        let mut archived = Vec::with_capacity(ids.len());
        // Children end before the agent whose bundle they share; what is above is put away first for readers of lists.
        for id in ids.iter().rev() {
            self.unload(id).await;
        }
        for id in ids {
            let wanted = id.clone();
            match self.blocking(move |core| core.store.archive(&wanted)).await? {
                Ok(_) => archived.push(id),
                Err(error) if archived.is_empty() => return Err(failed(error)),
                Err(error) => tracing::warn!(thread = %id, %error, "an agent's thread could not be archived"),
            }
        }
        Ok(archived)
    }

    pub(crate) async fn thread_unarchive(&self, params: ThreadUnarchiveParams, responder: Responder) {
        let taken_back = async {
            let id = thread_id(&params.thread_id)?;
            self.blocking(move |core| core.store.unarchive(&id)).await?.map_err(failed)
        };
        match taken_back.await {
            Ok(summary) => {
                let thread = summary.to_thread(ThreadStatus::NotLoaded);
                responder.respond::<method::ThreadUnarchive>(&Ok(ThreadUnarchiveResponse { thread }));
                self.hub.broadcast(ThreadUnarchivedNotification { thread_id: params.thread_id });
            }
            Err(error) => responder.refuse(&error),
        }
    }

    pub(crate) async fn thread_delete(&self, params: ThreadDeleteParams, responder: Responder) {
        let removed = async {
            let id = thread_id(&params.thread_id)?;
            let is_loaded = self.threads.get(&id).is_some();
            let ids = self
                .blocking(move |core| {
                    if !is_loaded && core.store.resolve(&id) == Resolution::Unknown {
                        return Err(RpcError::invalid_request(format!("no rollout found for thread id {id}")));
                    }
                    let below = core.store.descendants(&id);
                    Ok(std::iter::once(id).chain(below).collect::<Vec<_>>())
                })
                .await??;
            let _leaving = self.leave(&ids);
            for id in ids.iter().rev() {
                self.unload(id).await;
                let wanted = id.clone();
                self.blocking(move |core| match core.store.resolve(&wanted) {
                    Resolution::Unknown => Ok(()),
                    _ => core.store.delete(&wanted).and_then(|()| core.store.set_queue(&wanted, &[])),
                })
                .await?
                .map_err(failed)?;
            }
            Ok(ids)
        };
        match removed.await {
            Ok(ids) => {
                responder.respond::<method::ThreadDelete>(&Ok(ThreadDeleteResponse {}));
                for id in ids {
                    self.hub.broadcast(ThreadDeletedNotification { thread_id: id.to_string() });
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Ends a thread's agent and lets the thread go, if it is loaded, after the agents that it started. Tells everybody that
    /// they are not loaded any more.
    pub(crate) async fn unload(&self, id: &ThreadId) -> bool {
        let Some(thread) = self.threads.get(id) else { return false };
        let mut threads: Vec<_> = self.threads.all();
        threads.retain(|known| {
            known.agent().root() == thread.agent().root() && known.agent().depth() > thread.agent().depth()
        });
        threads.retain(|known| known.agent().path().starts_with(&format!("{}/", thread.agent().path())));
        threads.sort_by_key(|known| std::cmp::Reverse(known.agent().depth()));
        threads.push(thread);
        for thread in threads {
            thread.state().begin_closing();
            thread.close().await;
            self.services.mcp.end(thread.id());
            if self.threads.remove(&thread) {
                let status = ThreadStatus::NotLoaded;
                let thread_id = thread.id().to_string();
                self.hub.broadcast(ThreadStatusChangedNotification { thread_id, status });
            }
        }
        true
    }

    /// Lets go of the thread of an agent that was shut down.
    pub(crate) fn released(&self, id: &ThreadId) {
        let Some(thread) = self.threads.get(id) else { return };
        self.threads.remove(&thread);
        // Its path is free for another one.
        if let Some(parent) = thread.agent().parent()
            && let Err(error) = self.store.spawn_edge(parent, id, EdgeStatus::Closed)
        {
            tracing::warn!(thread = %id, %error, "that an agent was let go is not stored");
        }
        thread.close_file();
        let thread_id = id.to_string();
        let status = ThreadStatus::NotLoaded;
        self.hub.broadcast(ThreadStatusChangedNotification { thread_id: thread_id.clone(), status });
        self.hub.broadcast(ThreadClosedNotification { thread_id });
    }

    /// Tells whether no agent of a thread's tree does anything.
    fn tree_is_idle(&self, thread: &LoadedThread) -> bool {
        let root = thread.agent().root();
        let of_tree = |known: &Arc<LoadedThread>| known.agent().root() == root;
        self.threads
            .all()
            .into_iter()
            .filter(of_tree)
            .all(|known| known.agent().active_turn().is_none() && known.agent().terminals().is_empty())
    }

    /// Lets go of threads that nobody listens to and in which nothing happened for a while.
    pub(crate) async fn unload_quiet(&self, quiet: std::time::Duration) {
        for thread in self.threads.all() {
            let is_quiet = {
                let mut state = thread.state();
                state.subscribers().is_empty()
                    && state.view.running().is_none()
                    && state.open_questions() == 0
                    && state.queue.is_empty()
                    && state.quiet_since().elapsed() >= quiet
                    && self.tree_is_idle(&thread)
                    && state.begin_closing()
            };
            if is_quiet {
                let thread_id = thread.id().to_string();
                if self.unload(thread.id()).await {
                    self.hub.broadcast(ThreadClosedNotification { thread_id });
                }
            }
        }
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

/// What the answer to a resume is made of.
struct ResumeContext<'a> {
    thread: &'a LoadedThread,
    settings: &'a Settings,
    turns: Turns,
    params: &'a ThreadResumeParams,
}

impl ResumeContext<'_> {
    fn response(&self, state: &State) -> Result<ThreadResumeResponse, RpcError> {
        let Self { thread, settings, turns, params } = self;
        let all = state.view.snapshot();
        let initial_turns_page = match &params.initial_turns_page {
            Some(page) => {
                let query = turns_query(None, page.limit, page.sort_direction, page.items_view);
                let page = page::turns_page(thread.id(), &all, &query).map_err(failed)?;
                Some(turns_page(page))
            }
            None => None,
        };
        let (turns_backwards_cursor, items_backwards_cursor) = page::newest(thread.id(), &all);
        let start = start_response(thread.show(state, settings, *turns), settings);
        Ok(ThreadResumeResponse {
            thread: start.thread,
            approval_policy: start.approval_policy,
            approvals_reviewer: start.approvals_reviewer,
            cwd: start.cwd,
            model: start.model,
            model_provider: start.model_provider,
            sandbox: start.sandbox,
            active_permission_profile: None,
            collaboration_mode: Some(mapping::mode_to_wire(settings)),
            disabled_plugin_ids: Vec::new(),
            initial_turns_page,
            instruction_sources: start.instruction_sources,
            items_backwards_cursor,
            multi_agent_mode: start.multi_agent_mode,
            reasoning_effort: start.reasoning_effort,
            runtime_workspace_roots: start.runtime_workspace_roots,
            service_tier: start.service_tier,
            turns_backwards_cursor,
        })
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

fn origin_of(summary: &ThreadSummary) -> Origin {
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
fn lineage(summary: &ThreadSummary) -> Option<Lineage> {
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

/// Says where an agent came from that another agent started.
pub(crate) fn source_of_agent(agent: &Agent) -> SessionSource {
    let Some(lineage) = agent.lineage() else { return SessionSource::Vscode };
    SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
        depth: i32::try_from(lineage.depth).unwrap_or(i32::MAX),
        parent_thread_id: lineage.parent.to_string(),
        agent_nickname: lineage.nickname.clone(),
        agent_path: Some(lineage.path.clone()),
        agent_role: lineage.role.clone(),
    })
}
