//! One client: what it said of itself, which of its requests run, and what it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::message::{self, RpcError};

/// Most requests of one client that run at the same time.
pub const MAX_RUNNING: usize = 64;

/// Where the messages for a client go that belong to one of its requests.
pub(crate) type Outbox = mpsc::Sender<String>;

/// A client.
#[derive(Default)]
pub(crate) struct Client {
    state: Mutex<State>,
    /// Cancelled when the client has gone.
    gone: CancellationToken,
    /// Cancelled when the client will send nothing more.
    silent: CancellationToken,
}

#[derive(Default)]
struct State {
    capabilities: Map<String, Value>,
    /// What ends each request that runs, by its id as JSON.
    running: HashMap<String, CancellationToken>,
    /// Our requests without an answer.
    asked: HashMap<i64, oneshot::Sender<Result<Value, Value>>>,
    next_id: i64,
}

/// The call of a tool by a client.
pub(crate) struct Call<'c> {
    pub(crate) client: &'c Arc<Client>,
    /// Id of the request.
    pub(crate) id: &'c Value,
    pub(crate) outbox: &'c Outbox,
    pub(crate) cancelled: &'c CancellationToken,
}

/// The client did not answer, or not with what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client did not answer")]
pub(crate) struct NoAnswer;

impl Client {
    /// Begins a request, and returns the token that cancels it. If the client closes its sending side, a request that runs an agent is cancelled,
    /// since the agent may ask the client, and may work for hours.
    pub(crate) fn begin(&self, id: &Value, runs_agent: bool) -> Result<CancellationToken, RpcError> {
        let mut state = self.lock();
        let id = id.to_string();
        if state.running.len() >= MAX_RUNNING {
            return Err(RpcError::busy(format!("{MAX_RUNNING} requests run already; wait for one of them")));
        }
        if state.running.contains_key(&id) {
            return Err(RpcError::invalid_request("a request with this id runs already"));
        }
        let end = if runs_agent { &self.silent } else { &self.gone };
        let cancelled = end.child_token();
        state.running.insert(id, cancelled.clone());
        Ok(cancelled)
    }

    /// Ends a request.
    pub(crate) fn end(&self, id: &Value) {
        self.lock().running.remove(&id.to_string());
    }

    /// Cancels a request, if it runs.
    pub(crate) fn cancel(&self, id: &Value) {
        if let Some(running) = self.lock().running.get(&id.to_string()) {
            running.cancel();
        }
    }

    /// Cancels the requests that run agents, because the client will send nothing more. The others may end.
    pub(crate) fn fall_silent(&self) {
        self.silent.cancel();
        self.lock().asked.clear();
    }

    /// Cancels all requests of a client that has gone.
    pub(crate) fn leave(&self) {
        self.fall_silent();
        self.gone.cancel();
    }

    /// Returns whether a request of the client runs.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lock().running.is_empty()
    }

    /// Takes what the client can do.
    pub(crate) fn can(&self, capabilities: Map<String, Value>) {
        self.lock().capabilities = capabilities;
    }

    /// Returns a capability that the client named.
    pub(crate) fn capability(&self, name: &str) -> Option<Value> {
        self.lock().capabilities.get(name).cloned()
    }

    /// Takes the answer to a request of ours.
    pub(crate) fn answered(&self, id: &Value, answer: Result<Value, Value>) {
        let asked = id.as_i64().and_then(|id| self.lock().asked.remove(&id));
        if let Some(asked) = asked {
            let _ = asked.send(answer);
        }
    }

    /// Sends a request to the client, and waits for its answer.
    pub(crate) async fn ask(&self, outbox: &Outbox, method: &str, params: &Value) -> Result<Value, NoAnswer> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            state.next_id += 1;
            let id = state.next_id;
            state.asked.insert(id, sender);
            id
        };
        let sent = outbox.send(message::request(id, method, params)).await;
        let answer = match sent {
            Ok(()) => tokio::select! {
                () = self.silent.cancelled() => Err(NoAnswer),
                answer = answer => answer.map_err(|_| NoAnswer)?.map_err(|_| NoAnswer),
            },
            Err(_) => Err(NoAnswer),
        };
        self.lock().asked.remove(&id);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_runs_few_requests_at_a_time() {
        let client = Client::default();
        let first = client.begin(&json!(0), false).expect("it is the first");
        client.begin(&json!(0), false).expect_err("it runs already");
        client.begin(&json!("0"), false).expect("a text is another id");
        for id in 2..MAX_RUNNING {
            client.begin(&json!(id), false).expect("there is room");
        }
        client.begin(&json!("more"), false).expect_err("there is no room");
        client.cancel(&json!(0));
        assert!(first.is_cancelled() && client.is_busy());
        client.end(&json!(0));
        let last = client.begin(&json!("more"), false).expect("there is room again");
        client.end(&json!(2));
        let agent = client.begin(&json!("agent"), true).expect("there is room again");
        client.fall_silent();
        assert!(agent.is_cancelled() && !last.is_cancelled());
        client.leave();
        assert!(last.is_cancelled());
    }
}
