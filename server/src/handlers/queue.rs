//! Queued prompts, which are started when the thread is idle.

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

use super::turns::{TurnHandlers, check_input, refused};
use crate::paging;
use crate::store::Store;
use crate::threads::{LoadedThread, Registry};

/// Most queued prompts of a thread.
pub(crate) const MAX_QUEUED_PROMPTS: usize = 100;

/// Serves `thread/queue/*`, and starts queued prompts.
pub(crate) struct QueueHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) store: Store,
    pub(crate) turns: Arc<TurnHandlers>,
}

impl QueueHandlers {
    pub(crate) fn add(self: &Arc<Self>, params: ThreadQueueAddParams) -> Result<ThreadQueueAddResponse, RpcError> {
        check_input(&params.input)?;
        let thread = self.threads.loaded(&params.thread_id)?;
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

    pub(crate) fn list(&self, params: &ThreadQueueListParams) -> Result<ThreadQueueListResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let state = thread.state();
        let (page, next_cursor) =
            paging::by_key(&state.queue, |queued| &queued.id, params.cursor.as_deref(), paging::limit(params.limit))?;
        Ok(ThreadQueueListResponse { data: page.to_vec(), next_cursor })
    }

    pub(crate) fn update(&self, params: ThreadQueueUpdateParams) -> Result<ThreadQueueUpdateResponse, RpcError> {
        check_input(&params.input)?;
        let thread = self.threads.loaded(&params.thread_id)?;
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

    pub(crate) fn delete(&self, params: &ThreadQueueDeleteParams) -> Result<ThreadQueueDeleteResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let deleted = self.change_queue(&thread, |queue| {
            let before = queue.len();
            queue.retain(|queued| queued.id != params.queued_submission_id);
            Ok(queue.len() < before)
        })?;
        Ok(ThreadQueueDeleteResponse { deleted })
    }

    pub(crate) fn reorder(&self, params: &ThreadQueueReorderParams) -> Result<ThreadQueueReorderResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
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

    /// Starts a queued prompt now. While a turn runs, the prompt joins that turn, like other input of users.
    pub(crate) fn start(&self, params: &ThreadQueueStartParams) -> Result<ThreadQueueStartResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let wanted = params.queued_submission_id.as_deref();
        let queued = claim(&thread, wanted).ok_or_else(|| match wanted {
            Some(id) => not_queued(id),
            None => RpcError::invalid_request("no prompt waits"),
        })?;
        let started = self.turns.start(prompt(&thread, &queued));
        self.settle(&thread, &queued.id, started.is_ok());
        Ok(ThreadQueueStartResponse { turn: started?.turn })
    }

    /// Starts the next queued prompt in a task of its own, unless such a task exists already.
    pub(crate) fn start_queued_later(self: &Arc<Self>, thread: &Arc<LoadedThread>) {
        let mut state = thread.state();
        state.queue_start.asked += 1;
        if state.queue.is_empty() || std::mem::replace(&mut state.queue_start.is_tried, true) {
            return;
        }
        drop(state);
        let (queue, thread) = (Arc::clone(self), Arc::clone(thread));
        tokio::spawn(async move { queue.start_queued(&thread) });
    }

    /// Starts the next queued prompt if the thread is idle. If it is busy, the end of its turn tries again.
    fn start_queued(self: &Arc<Self>, thread: &Arc<LoadedThread>) {
        loop {
            let asked = thread.state().queue_start.asked;
            let Some(queued) = claim(thread, None) else {
                thread.state().queue_start.is_tried = false;
                return;
            };
            let request = self.turns.request(thread, prompt(thread, &queued));
            let started = request.and_then(|request| match thread.agent().start_turn_if_idle(request) {
                Ok(_) => Ok(Tried::Started),
                Err(Refusal::Busy(_)) => Ok(Tried::Busy),
                Err(Refusal::Held) => Ok(Tried::Held),
                Err(refusal) => Err(refused(refusal)),
            });
            self.settle(thread, &queued.id, matches!(started, Ok(Tried::Started)));
            match started {
                Ok(Tried::Started | Tried::Busy) => {}
                Ok(Tried::Held) => self.try_again_when_released(thread),
                Err(error) => {
                    tracing::warn!(thread = %thread.id(), error = error.message, "a queued prompt could not be started");
                }
            }
            let mut state = thread.state();
            // Calls of `start_queued_later` that came meanwhile rely on this loop to try again.
            if state.queue_start.asked == asked {
                state.queue_start.is_tried = false;
                return;
            }
        }
    }

    /// Tries again once the agent is no longer held: unlike the end of a turn, the end of a hold is not an event.
    fn try_again_when_released(self: &Arc<Self>, thread: &Arc<LoadedThread>) {
        let (queue, thread) = (Arc::clone(self), Arc::clone(thread));
        tokio::spawn(async move {
            thread.agent().released().await;
            queue.start_queued_later(&thread);
        });
    }

    /// Releases a claimed prompt, and removes it from the queue if it was started.
    fn settle(&self, thread: &LoadedThread, id: &str, is_started: bool) {
        thread.state().queue_start.claimed = None;
        if !is_started {
            return;
        }
        let forgotten = self.change_queue(thread, |queue| {
            queue.retain(|queued| queued.id != id);
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!(thread = %thread.id(), error = error.message, "a prompt that was started still waits on disk");
        }
    }

    /// Changes the queue of a thread, stores it, and notifies the subscribers if it differs.
    fn change_queue<T>(
        &self,
        thread: &LoadedThread,
        change: impl FnOnce(&mut Vec<QueuedSubmission>) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let mut state = thread.state();
        // The claimed prompt is about to start, so no change may see it.
        let claimed = state.queue_start.claimed.clone();
        let is_claimed = |queued: &QueuedSubmission| Some(&queued.id) == claimed.as_ref();
        let (held, mut queue): (Vec<_>, Vec<_>) = state.queue.iter().cloned().partition(is_claimed);
        let result = change(&mut queue)?;
        let queue: Vec<_> = held.into_iter().chain(queue).collect();
        if queue == state.queue {
            return Ok(result);
        }
        let stored = match thread.origin().is_ephemeral {
            true => Ok(()),
            false => self.store.set_queue(thread.id(), &queue).map_err(RpcError::from),
        };
        // A removal counts even if it cannot be stored; an addition that cannot be stored is refused.
        if stored.is_ok() || queue.len() < state.queue.len() {
            state.queue = queue;
            state.tell(ThreadQueueChangedNotification { thread_id: thread.id().to_string() });
        }
        stored.map(|()| result)
    }
}

/// The outcome of an attempt to start a prompt.
enum Tried {
    Started,
    Busy,
    Held,
}

/// Claims a prompt in order to start it: the one with an id, or the first. Only one prompt of a thread is claimed at a time, and it
/// cannot be changed until it is settled.
fn claim(thread: &LoadedThread, id: Option<&str>) -> Option<QueuedSubmission> {
    let mut state = thread.state();
    if state.queue_start.claimed.is_some() {
        return None;
    }
    let fits = |queued: &&QueuedSubmission| id.is_none_or(|id| queued.id == id);
    let queued = state.queue.iter().find(fits)?.clone();
    state.queue_start.claimed = Some(queued.id.clone());
    Some(queued)
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
