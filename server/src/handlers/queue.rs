//! Prompts that wait until a thread has nothing to do.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::notification::ThreadQueueChangedNotification;
use trace_protocol::queue::{
    QueuedSubmission, ThreadQueueAddParams, ThreadQueueAddResponse, ThreadQueueDeleteParams, ThreadQueueDeleteResponse,
    ThreadQueueListParams, ThreadQueueListResponse, ThreadQueueReorderParams, ThreadQueueReorderResponse,
    ThreadQueueStartParams, ThreadQueueStartResponse, ThreadQueueUpdateParams, ThreadQueueUpdateResponse,
};
use trace_protocol::turn::TurnStartParams;
use uuid::Uuid;

use super::work::check_input;
use crate::core::Core;
use crate::paging;
use crate::threads::LoadedThread;

/// Most prompts that wait for one thread.
pub(crate) const MAX_QUEUED_PROMPTS: usize = 100;

impl Core {
    pub(crate) fn queue_add(&self, params: ThreadQueueAddParams) -> Result<ThreadQueueAddResponse, RpcError> {
        check_input(&params.input)?;
        let thread = self.loaded(&params.thread_id)?;
        let queued = QueuedSubmission {
            id: Uuid::now_v7().to_string(),
            client_user_message_id: params.client_user_message_id,
            input: params.input,
            responses_api_client_metadata: params.responses_api_client_metadata,
        };
        if thread.agent().parent().is_some() {
            return Err(RpcError::invalid_request("the thread belongs to another agent: it takes no prompts"));
        }
        let mut state = thread.state();
        if state.queue.len() >= MAX_QUEUED_PROMPTS {
            return Err(RpcError::invalid_request(format!("at most {MAX_QUEUED_PROMPTS} prompts wait for a thread")));
        }
        state.queue.push(queued.clone());
        state.tell(ThreadQueueChangedNotification { thread_id: params.thread_id });
        let is_idle = state.view.running().is_none();
        drop(state);
        if is_idle {
            self.start_queued_later(&thread);
        }
        Ok(ThreadQueueAddResponse { queued_submission: queued })
    }

    pub(crate) fn queue_list(&self, params: &ThreadQueueListParams) -> Result<ThreadQueueListResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let state = thread.state();
        let (page, next_cursor) =
            paging::by_key(&state.queue, |queued| &queued.id, params.cursor.as_deref(), paging::limit(params.limit))?;
        Ok(ThreadQueueListResponse { data: page.to_vec(), next_cursor })
    }

    pub(crate) fn queue_update(&self, params: ThreadQueueUpdateParams) -> Result<ThreadQueueUpdateResponse, RpcError> {
        check_input(&params.input)?;
        let thread = self.loaded(&params.thread_id)?;
        let mut state = thread.state();
        let queued = state
            .queue
            .iter_mut()
            .find(|queued| queued.id == params.queued_submission_id)
            .ok_or_else(|| not_queued(&params.queued_submission_id))?;
        queued.input = params.input;
        if params.responses_api_client_metadata.is_some() {
            queued.responses_api_client_metadata = params.responses_api_client_metadata;
        }
        let queued_submission = queued.clone();
        state.tell(ThreadQueueChangedNotification { thread_id: params.thread_id });
        Ok(ThreadQueueUpdateResponse { queued_submission })
    }

    pub(crate) fn queue_delete(&self, params: ThreadQueueDeleteParams) -> Result<ThreadQueueDeleteResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let mut state = thread.state();
        let before = state.queue.len();
        state.queue.retain(|queued| queued.id != params.queued_submission_id);
        let deleted = state.queue.len() < before;
        if deleted {
            state.tell(ThreadQueueChangedNotification { thread_id: params.thread_id });
        }
        Ok(ThreadQueueDeleteResponse { deleted })
    }

    pub(crate) fn queue_reorder(
        &self,
        params: ThreadQueueReorderParams,
    ) -> Result<ThreadQueueReorderResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let mut state = thread.state();
        let mut known: Vec<&str> = state.queue.iter().map(|queued| queued.id.as_str()).collect();
        let mut given: Vec<&str> = params.queued_submission_ids.iter().map(String::as_str).collect();
        known.sort_unstable();
        given.sort_unstable();
        if known != given {
            return Err(RpcError::invalid_request("the order must name every queued prompt once"));
        }
        let place = |id: &str| params.queued_submission_ids.iter().position(|given| given == id);
        state.queue.sort_by_key(|queued| place(&queued.id));
        state.tell(ThreadQueueChangedNotification { thread_id: params.thread_id });
        Ok(ThreadQueueReorderResponse {})
    }

    pub(crate) fn queue_start(&self, params: &ThreadQueueStartParams) -> Result<ThreadQueueStartResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let queued = take_queued(&thread, params.queued_submission_id.as_deref())?;
        let started = self.turn_start(prompt(&thread, &queued))?;
        Ok(ThreadQueueStartResponse { turn: started.turn })
    }

    /// Starts the next prompt that waits, if the thread has nothing to do by then.
    pub(crate) fn start_queued_later(&self, thread: &Arc<LoadedThread>) {
        let (Some(core), thread) = (self.this(), Arc::clone(thread)) else { return };
        tokio::spawn(async move {
            if thread.agent().active_turn().is_some() {
                return;
            }
            let Ok(queued) = take_queued(&thread, None) else { return };
            if let Err(error) = core.turn_start(prompt(&thread, &queued)) {
                tracing::warn!(thread = %thread.id(), error = error.message, "a queued prompt could not be started");
                thread.state().queue.insert(0, queued);
            }
        });
    }
}

/// Takes a prompt out of the queue: a certain one, or the first.
fn take_queued(thread: &LoadedThread, id: Option<&str>) -> Result<QueuedSubmission, RpcError> {
    let mut state = thread.state();
    let position = match id {
        Some(id) => state.queue.iter().position(|queued| queued.id == id).ok_or_else(|| not_queued(id))?,
        None if state.queue.is_empty() => return Err(RpcError::invalid_request("no prompt waits")),
        None => 0,
    };
    let queued = state.queue.remove(position);
    state.tell(ThreadQueueChangedNotification { thread_id: thread.id().to_string() });
    Ok(queued)
}

fn not_queued(id: &str) -> RpcError {
    RpcError::invalid_request(format!("no queued prompt has the id {id}"))
}

fn prompt(thread: &LoadedThread, queued: &QueuedSubmission) -> TurnStartParams {
    TurnStartParams {
        thread_id: thread.id().to_string(),
        input: queued.input.clone(),
        client_user_message_id: Some(queued.client_user_message_id.clone()),
        responses_api_client_metadata: queued.responses_api_client_metadata.clone(),
        ..TurnStartParams::default()
    }
}
