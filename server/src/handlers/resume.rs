//! Clients that join threads, which are loaded first if necessary, and leave them.

use std::path::PathBuf;
use std::sync::Arc;

use trace_protocol::thread::{
    ThreadResumeParams, ThreadResumeResponse, ThreadStatus, ThreadUnsubscribeParams, ThreadUnsubscribeResponse,
    ThreadUnsubscribeStatus,
};
use trace_protocol::{RpcError, methods::method};
use trace_runtime::tree::TreeLimits;
use trace_runtime::{Settings, ThreadId};

use super::history::{turns_page, turns_query};
use super::overrides::Overrides;
use super::start::{StartHandlers, start_response};
use super::tools::ThreadTools;
use crate::blocking::blocking;
use crate::connection::ConnectionId;
use crate::hub::Hub;
use crate::ingress::Responder;
use crate::mapping::settings as mapping;
use crate::mapping::thread_id;
use crate::store::{Store, page};
use crate::threads::{LoadedThread, Registry, State, TreeLocks, Turns, Unloading, tell_status};

/// Serves `thread/resume` and `thread/unsubscribe`. [`super::tree`] loads the agents below a thread.
pub(crate) struct ResumeHandlers {
    pub(super) starts: Arc<StartHandlers>,
    pub(super) threads: Arc<Registry>,
    pub(super) store: Store,
    pub(super) hub: Hub,
    pub(super) unloading: Arc<Unloading>,
    /// How large a tree may become.
    pub(super) limits: TreeLimits,
    tools: Arc<ThreadTools>,
    locks: Arc<TreeLocks>,
}

impl ResumeHandlers {
    pub(crate) fn new(starts: Arc<StartHandlers>, unloading: Arc<Unloading>, limits: TreeLimits) -> Self {
        Self {
            threads: starts.threads.clone(),
            store: starts.store.clone(),
            hub: starts.hub.clone(),
            tools: starts.tools.clone(),
            locks: unloading.locks.clone(),
            starts,
            unloading,
            limits,
        }
    }

    pub(crate) async fn resume(&self, params: ThreadResumeParams, responder: Responder) {
        match self.resumable(&params).await {
            Ok((thread, is_new)) => {
                if is_new {
                    tell_status(&self.hub, thread.id(), ThreadStatus::Idle);
                }
                let connection = Arc::clone(responder.connection());
                let turns = if params.exclude_turns { Turns::LeftOut } else { Turns::Full };
                let settings = thread.agent().settings();
                let context = ResumeContext { thread: &thread, settings: &settings, turns, params: &params };
                thread.join(&connection, turns, |state| {
                    responder.respond::<method::ThreadResume>(&context.response(state));
                });
                if is_new {
                    self.tools.tell_of_servers(thread.id());
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
            Some(path) => blocking(&self.store, move |store| store.thread_at(&path)).await??,
            None => thread_id(&params.thread_id)?,
        };
        if self.threads.get(&id).is_none()
            && let Some(path) = path
        {
            blocking(&self.store, move |store| store.adopt(&path)).await??;
        }
        // No two requests load or unload threads of one tree at the same time, whichever of its agents they name.
        let _guard = self.locks.of_thread(&id).await?;
        if let Some(thread) = self.usable(&id)? {
            return Ok((thread, false));
        }
        let wanted = id.clone();
        let summary = blocking(&self.store, move |store| store.find(&wanted)).await??;
        let overrides = Overrides::from(params);
        if summary.parent.is_none() || summary.session == id {
            let (thread, mail) = self.starts.load(&id, &overrides).await?;
            self.load_below(&thread, &mail, None).await?;
            return Ok((thread, true));
        }
        let (root, is_new) = match self.usable(&summary.session)? {
            Some(root) => (root, false),
            None => match self.starts.load(&summary.session, &Overrides::default()).await {
                Ok((root, mail)) => {
                    self.load_below(&root, &mail, Some((&id, &overrides))).await?;
                    (root, true)
                }
                Err(error) => {
                    tracing::warn!(thread = %id, error = error.message, "an agent is loaded without its root");
                    return Ok((self.starts.load(&id, &overrides).await?.0, true));
                }
            },
        };
        if is_new {
            tell_status(&self.hub, root.id(), ThreadStatus::Idle);
            self.tools.tell_of_servers(root.id());
        }
        if let Some(thread) = self.usable(&id)? {
            return Ok((thread, false));
        }
        self.load_into(&root, &summary, &overrides).await.map(|thread| (thread, false))
    }

    /// Returns a thread if it is loaded.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread is being unloaded.
    fn usable(&self, id: &ThreadId) -> Result<Option<Arc<LoadedThread>>, RpcError> {
        match self.threads.get(id) {
            Some(thread) if thread.state().is_closing() => {
                Err(RpcError::invalid_request(format!("thread {id} is closing: try again")))
            }
            found => Ok(found),
        }
    }

    pub(crate) fn unsubscribe(
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

/// What the response to `thread/resume` is made from.
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
                let page = page::turns_page(thread.id(), &all, &query)?;
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
