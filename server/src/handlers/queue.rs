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
use trace_runtime::control::Refusal;
use uuid::Uuid;

use super::failed;
use super::work::{check_input, refused};
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
        self.change_queue(&thread, |queue| {
            if queue.len() >= MAX_QUEUED_PROMPTS {
                let message = format!("at most {MAX_QUEUED_PROMPTS} prompts wait for a thread");
                return Err(RpcError::invalid_request(message));
            }
            queue.push(queued.clone());
            Ok(())
        })?;
        self.start_queued_later(&thread);
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
        let queued_submission = self.change_queue(&thread, |queue| {
            let id = &params.queued_submission_id;
            let queued = queue.iter_mut().find(|queued| queued.id == *id).ok_or_else(|| not_queued(id))?;
            queued.input = params.input;
            if params.responses_api_client_metadata.is_some() {
                queued.responses_api_client_metadata = params.responses_api_client_metadata;
            }
            Ok(queued.clone())
        })?;
        Ok(ThreadQueueUpdateResponse { queued_submission })
    }

    pub(crate) fn queue_delete(&self, params: &ThreadQueueDeleteParams) -> Result<ThreadQueueDeleteResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let deleted = self.change_queue(&thread, |queue| {
            let before = queue.len();
            queue.retain(|queued| queued.id != params.queued_submission_id);
            Ok(queue.len() < before)
        })?;
        Ok(ThreadQueueDeleteResponse { deleted })
    }

    pub(crate) fn queue_reorder(
        &self,
        params: &ThreadQueueReorderParams,
    ) -> Result<ThreadQueueReorderResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        self.change_queue(&thread, |queue| {
            let mut known: Vec<&str> = queue.iter().map(|queued| queued.id.as_str()).collect();
            let mut given: Vec<&str> = params.queued_submission_ids.iter().map(String::as_str).collect();
            known.sort_unstable();
            given.sort_unstable();
            if known != given {
                return Err(RpcError::invalid_request("the order must name every queued prompt once"));
            }
            let place = |id: &str| params.queued_submission_ids.iter().position(|given| given == id);
            queue.sort_by_key(|queued| place(&queued.id));
            Ok(())
        })?;
        Ok(ThreadQueueReorderResponse {})
    }

    /// Starts a prompt now. One that comes while a turn runs joins it, as whatever else a user says.
    pub(crate) fn queue_start(&self, params: &ThreadQueueStartParams) -> Result<ThreadQueueStartResponse, RpcError> {
        let thread = self.loaded(&params.thread_id)?;
        let queued = {
            let state = thread.state();
            let mut queue = state.queue.iter();
            match params.queued_submission_id.as_deref() {
                Some(id) => queue.find(|queued| queued.id == id).ok_or_else(|| not_queued(id))?.clone(),
                None => queue.next().ok_or_else(|| RpcError::invalid_request("no prompt waits"))?.clone(),
            }
        };
        let started = self.turn_start(prompt(&thread, &queued))?;
        self.forget_queued(&thread, &queued.id);
        Ok(ThreadQueueStartResponse { turn: started.turn })
    }

    /// Starts the next prompt that waits when the thread has nothing to do.
    pub(crate) fn start_queued_later(&self, thread: &Arc<LoadedThread>) {
        let Some(core) = self.this() else { return };
        let mut state = thread.state();
        state.draining.asked += 1;
        if state.queue.is_empty() || std::mem::replace(&mut state.draining.is_tried, true) {
            return;
        }
        drop(state);
        let thread = Arc::clone(thread);
        tokio::spawn(async move { core.start_queued(&thread) });
    }

    /// Starts the next prompt that waits, unless the thread has something to do: then the end of that asks again.
    fn start_queued(&self, thread: &Arc<LoadedThread>) {
        loop {
            let (asked, queued) = {
                let mut state = thread.state();
                let Some(queued) = state.queue.first().cloned() else {
                    state.draining.is_tried = false;
                    return;
                };
                (state.draining.asked, queued)
            };
            let request = self.turn_request(thread, prompt(thread, &queued));
            let started = request.and_then(|request| match thread.agent().start_turn_if_idle(request) {
                Ok(_) => Ok(true),
                Err(Refusal::Busy(_) | Refusal::Held) => Ok(false),
                Err(refusal) => Err(refused(refusal)),
            });
            match started {
                Ok(true) => self.forget_queued(thread, &queued.id),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(thread = %thread.id(), error = error.message, "a queued prompt could not be started");
                }
            }
            let mut state = thread.state();
            // Whoever asked meanwhile relied on this one to try.
            if state.draining.asked == asked {
                state.draining.is_tried = false;
                return;
            }
        }
    }

    fn forget_queued(&self, thread: &LoadedThread, id: &str) {
        let forgotten = self.change_queue(thread, |queue| {
            queue.retain(|queued| queued.id != id);
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!(thread = %thread.id(), error = error.message, "a prompt that was started still waits on disk");
        }
    }

    /// Changes what waits for a thread, stores it, and tells of it if it is something else now.
    fn change_queue<T>(
        &self,
        thread: &LoadedThread,
        change: impl FnOnce(&mut Vec<QueuedSubmission>) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let mut state = thread.state();
        let mut queue = state.queue.clone();
        let result = change(&mut queue)?;
        if queue == state.queue {
            return Ok(result);
        }
        let stored = match thread.origin().is_ephemeral {
            true => Ok(()),
            false => self.store.set_queue(thread.id(), &queue).map_err(failed),
        };
        // What was started does not wait any more, whatever the disk says; a prompt that is not kept is refused.
        if stored.is_ok() || queue.len() < state.queue.len() {
            state.queue = queue;
            state.tell(ThreadQueueChangedNotification { thread_id: thread.id().to_string() });
        }
        stored.map(|()| result)
    }
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
