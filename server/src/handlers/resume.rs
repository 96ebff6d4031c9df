//! Stored threads that are loaded, and clients that join threads.

use std::path::PathBuf;
use std::sync::Arc;

use trace_protocol::notification::ThreadStatusChangedNotification;
use trace_protocol::thread::{ThreadResumeParams, ThreadResumeResponse, ThreadStatus};
use trace_protocol::{RpcError, methods::method};
use trace_runtime::agent::{NewAgent, Recorded};
use trace_runtime::{Settings, ThreadId, TurnId};

use super::history::{turns_page, turns_query};
use super::life::{lineage, origin_of, start_response};
use super::overrides::{Overrides, Place};
use crate::blocking::blocking;
use crate::core::Core;
use crate::ingress::Responder;
use crate::mapping::settings as mapping;
use crate::mapping::thread_id;
use crate::store::{StoreError, StoredMail, page};
use crate::threads::{Beginning, LoadedThread, State, Turns};

impl Core {
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
            Some(path) => blocking(&self.store, move |store| store.thread_at(&path)).await??,
            None => thread_id(&params.thread_id)?,
        };
        if self.threads.get(&id).is_none()
            && let Some(path) = path
        {
            blocking(&self.store, move |store| store.adopt(&path)).await??;
        }
        // One tree is loaded or let go by one at a time, whichever of its agents a client asks for.
        let _guard = self.locks.of_thread(&id).await?;
        if let Some(thread) = self.usable(&id)? {
            return Ok((thread, false));
        }
        let wanted = id.clone();
        let summary = blocking(&self.store, move |store| store.find(&wanted)).await??;
        let overrides = Overrides::from(params);
        if summary.parent.is_none() || summary.session == id {
            let (thread, mail) = self.load_thread(&id, &overrides).await?;
            self.load_tree(&thread, &mail, None).await?;
            return Ok((thread, true));
        }
        let (root, is_new) = match self.usable(&summary.session)? {
            Some(root) => (root, false),
            None => match self.load_thread(&summary.session, &Overrides::default()).await {
                Ok((root, mail)) => {
                    self.load_tree(&root, &mail, Some((&id, &overrides))).await?;
                    (root, true)
                }
                Err(error) => {
                    tracing::warn!(thread = %id, error = error.message, "an agent is loaded without its root");
                    return Ok((self.load_thread(&id, &overrides).await?.0, true));
                }
            },
        };
        if is_new {
            let thread_id = root.id().to_string();
            self.hub.broadcast(ThreadStatusChangedNotification { thread_id, status: ThreadStatus::Idle });
            self.tell_of_servers(root.id());
        }
        if let Some(thread) = self.usable(&id)? {
            return Ok((thread, false));
        }
        self.load_into_tree(&root, &summary, &overrides).await.map(|thread| (thread, false))
    }

    /// Returns a thread that is loaded and stays so.
    ///
    /// # Errors
    ///
    /// It is about to be let go.
    fn usable(&self, id: &ThreadId) -> Result<Option<Arc<LoadedThread>>, RpcError> {
        match self.threads.get(id) {
            Some(thread) if thread.state().is_closing() => {
                Err(RpcError::invalid_request(format!("thread {id} is closing: try again")))
            }
            found => Ok(found),
        }
    }

    /// Loads a stored thread. Returns it with the mail that it has.
    pub(crate) async fn load_thread(
        &self,
        id: &ThreadId,
        overrides: &Overrides,
    ) -> Result<(Arc<LoadedThread>, StoredMail), RpcError> {
        let wanted = id.clone();
        let (summary, stored, queue, writer) = blocking(&self.store, move |store| -> Result<_, StoreError> {
            let summary = store.find(&wanted)?;
            // The writer comes first: while it is open nobody else adds to what is read.
            let writer = store.open_writer(&wanted)?;
            Ok((summary, store.load(&wanted)?, store.queue(&wanted), writer))
        })
        .await??;
        let mut without = self.without(overrides.config.as_ref(), Place::Folder)?;
        let base = mapping::folder(&self.cwd, "");
        let configured = self.config().settings(&base);
        let settings = self.settings(overrides, Some(&stored.settings.over(configured)))?;
        let origin = origin_of(&summary);
        let lineage = lineage(&summary);
        // What was taken from an agent is taken from those that it started.
        let parent = lineage.as_ref().and_then(|lineage| self.threads.get(&lineage.parent));
        without.extend(parent.iter().flat_map(|parent| parent.agent().without()).copied());
        let tools = self.own_tools(id, overrides, &settings, &without, lineage.as_ref(), &stored.dynamic_tools).await?;
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
