//! A connection with a client: its messages, and the requests that run.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::task::TaskTracker;

use crate::client::{Call, Client, Outbox};
use crate::definitions;
use crate::message::{self, Incoming, RpcError};
use crate::service::Service;

/// Protocol versions with a handshake, newest first.
pub(crate) const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A connection with a client.
pub(crate) struct Connection {
    service: Arc<Service>,
    client: Arc<Client>,
    /// Requests that run.
    pub(crate) tasks: TaskTracker,
}

impl Connection {
    pub(crate) fn new(service: Arc<Service>) -> Arc<Self> {
        Arc::new(Self { service, client: Arc::default(), tasks: TaskTracker::new() })
    }

    /// Takes a message. The response to a request, and whatever comes before it, goes to the outbox, which is closed behind it.
    pub(crate) fn take(self: &Arc<Self>, message: Incoming, outbox: Outbox) {
        match message {
            Incoming::Request { id, method, params } => {
                let connection = Arc::clone(self);
                self.tasks.spawn(async move {
                    if let Some(response) = connection.answer(id, &method, params, &outbox).await {
                        // Without a reader, nobody needs the response.
                        let _ = outbox.send(response).await;
                    }
                });
            }
            Incoming::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    self.client.cancel(id);
                }
            }
            Incoming::Response { id, answer } => self.client.answered(&id, answer),
        }
    }

    /// Ends the requests that run agents, because the client will send nothing more. The others may end.
    pub(crate) fn fall_silent(&self) {
        self.client.fall_silent();
        self.tasks.close();
    }

    /// Ends all requests of a client that has gone.
    pub(crate) fn leave(&self) {
        self.client.leave();
        self.tasks.close();
    }

    /// Returns whether a request of the client runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.client.is_busy()
    }

    /// Answers a request. A cancelled one has no response.
    async fn answer(&self, id: Value, method: &str, params: Map<String, Value>, outbox: &Outbox) -> Option<String> {
        let runs_agent =
            method == "tools/call" && params.get("name").and_then(Value::as_str).is_some_and(definitions::runs_agents);
        let cancelled = match self.client.begin(&id, runs_agent) {
            Ok(cancelled) => cancelled,
            Err(refusal) => return Some(message::error(&id, &refusal)),
        };
        let call = Call { client: &self.client, id: &id, outbox, cancelled: &cancelled };
        let answered = self.answered(call, method, params).await;
        self.client.end(&id);
        match answered {
            _ if cancelled.is_cancelled() => None,
            Ok(result) => Some(message::result(&id, &result)),
            Err(error) => Some(message::error(&id, &error)),
        }
    }

    async fn answered(&self, call: Call<'_>, method: &str, params: Map<String, Value>) -> Result<Value, RpcError> {
        match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/call" => self.service.call_tool(call, params).await,
            _ => {
                let answer = self.service.read(method, params);
                tokio::select! {
                    () = call.cancelled.cancelled() => Ok(Value::Null),
                    answer = answer => answer,
                }
            }
        }
    }

    fn initialize(&self, mut params: Map<String, Value>) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let version = VERSIONS.into_iter().find(|version| *version == asked).unwrap_or(VERSIONS[0]);
        if let Some(Value::Object(capabilities)) = params.remove("capabilities") {
            self.client.can(capabilities);
        }
        self.service.introduction(version)
    }
}
