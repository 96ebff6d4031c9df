//! Recorded sessions: listed, reduced, and followed.

use std::path::PathBuf;
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::methods::method;
use trace_protocol::trace::{
    TraceListParams, TraceListResponse, TraceReadParams, TraceReadResponse, TraceSubscribeParams,
    TraceSubscribeResponse, TraceUnsubscribeParams, TraceUnsubscribeResponse,
};

use crate::blocking::blocking;
use crate::connection::ConnectionId;
use crate::ingress::Responder;
use crate::mapping::thread_id;
use crate::paging;
use crate::threads::Registry;
use crate::traces::{self, Traces, TracesError};

/// Serves `trace/*`.
pub(crate) struct TraceHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) traces: Arc<Traces>,
}

impl TraceHandlers {
    /// Ends the subscriptions of a connection.
    pub(crate) fn closed(&self, connection: ConnectionId) {
        self.traces.closed(connection);
    }

    /// Returns the bundle of a thread like [`bundle_of`](Self::bundle_of). Reads files.
    pub(crate) fn recording_of(&self, thread: &str) -> Option<PathBuf> {
        let id = thread_id(thread).ok()?;
        let live = self.threads.get(&id).and_then(|thread| thread.agent().recording().path());
        live.or_else(|| self.traces.of_thread(thread).ok().flatten())
    }

    pub(crate) async fn list(&self, params: TraceListParams) -> Result<TraceListResponse, RpcError> {
        let mut traces = blocking(&self.traces, |traces| traces.list()).await?.map_err(refused)?;
        if let Some(status) = params.status {
            traces.retain(|trace| trace.status == status);
        }
        let (page, next_cursor) = paging::by_key(
            &traces,
            |trace| trace.path.as_str(),
            params.cursor.as_deref(),
            paging::limit(params.limit),
        )?;
        Ok(TraceListResponse { data: page.to_vec(), next_cursor })
    }

    pub(crate) async fn read(&self, params: TraceReadParams) -> Result<TraceReadResponse, RpcError> {
        let is_compact = params.compact.unwrap_or_default();
        let path = match (params.thread_id, params.trace_path) {
            (Some(thread), None) => self.bundle_of(thread).await?,
            (None, Some(path)) => {
                let path = PathBuf::from(path.into_string());
                blocking(&self.traces, move |traces| traces.find(&path)).await?.map_err(refused)?
            }
            _ => return Err(RpcError::invalid_request("name either `threadId` or `tracePath`")),
        };
        let live =
            self.threads.all().into_iter().find(|thread| thread.agent().recording().path().as_ref() == Some(&path));
        if let Some(live) = live {
            live.agent().recording().written().await;
        }
        let reduced = blocking(&path, move |path| traces::reduce(path, is_compact)).await?.map_err(refused)?;
        Ok(TraceReadResponse { state: reduced.state, diagnostics: reduced.diagnostics, last_seq: reduced.last_seq })
    }

    /// Subscribes a connection to a bundle. The first notification follows the response.
    pub(crate) async fn subscribe(&self, params: TraceSubscribeParams, responder: Responder) {
        let connection = Arc::clone(responder.connection());
        let subscribed = async {
            let path = self.recorded_in(params.thread_id).await?;
            blocking(&self.traces, move |traces| traces.subscribe(&connection, &path)).await?.map_err(refused)
        };
        match subscribed.await {
            Ok(follow) => {
                let (subscription_id, last_seq) = (follow.id.clone(), follow.last_seq);
                responder.respond::<method::TraceSubscribe>(&Ok(TraceSubscribeResponse { subscription_id, last_seq }));
                follow.start();
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Returns the bundle of a thread. For a loaded thread that has none yet, the bundle is created.
    async fn recorded_in(&self, thread: String) -> Result<PathBuf, RpcError> {
        let loaded = self.threads.get(&thread_id(&thread)?);
        if let Some(path) = async { loaded?.agent().recording().begin().await }.await {
            return Ok(path);
        }
        self.bundle_of(thread).await
    }

    pub(crate) fn unsubscribe(
        &self,
        connection: ConnectionId,
        params: &TraceUnsubscribeParams,
    ) -> Result<TraceUnsubscribeResponse, RpcError> {
        if self.traces.unsubscribe(connection, &params.subscription_id) {
            Ok(TraceUnsubscribeResponse {})
        } else {
            let message = format!("there is no subscription {}", params.subscription_id);
            Err(RpcError::invalid_request(message))
        }
    }

    /// Returns the bundle of a thread: the one that is being written, otherwise the newest.
    async fn bundle_of(&self, thread: String) -> Result<PathBuf, RpcError> {
        let id = thread_id(&thread)?;
        if let Some(path) = self.threads.get(&id).and_then(|thread| thread.agent().recording().path()) {
            return Ok(path);
        }
        let found = blocking(&self.traces, move |traces| traces.of_thread(&thread)).await?.map_err(refused)?;
        found.ok_or_else(|| RpcError::invalid_request(format!("thread {id} was not recorded")))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn refused(error: TracesError) -> RpcError {
    match error {
        TracesError::NotRecorded
        | TracesError::Elsewhere(_)
        | TracesError::TooMany
        | TracesError::Bundle(trace_recorder::BundleError::NotABundle { .. }) => RpcError::invalid_request(&error),
        TracesError::Bundle(_) | TracesError::Reduce(_) | TracesError::State(..) => RpcError::internal(&error),
    }
}
