//! A turn of a call, from its start to the result of the call.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use trace_protocol::ServerNotification;
use trace_protocol::item::{FileUpdateChange, ThreadItem};
use trace_protocol::methods::method;
use trace_protocol::turn::{TurnInterruptParams, TurnStatus};
use trace_server::transport::in_process::{ClientHandle, Event, Events};

use super::{event, title};
use crate::client::Call;
use crate::message;
use crate::problem::Problem;

/// Longest time that a turn may take to end after it was interrupted.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a turn ended.
struct Ended {
    status: TurnStatus,
    error: Option<String>,
}

/// A turn of a call while it runs.
pub(super) struct Turn<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) server: ClientHandle,
    pub(super) thread: String,
    pub(super) turn: String,
    pub(super) has_events: bool,
    pub(super) progress_token: Option<Value>,
    pub(super) progress: u64,
    /// The changes that were announced, by item, for questions about them.
    pub(super) changes: HashMap<String, Vec<FileUpdateChange>>,
    /// What the agent said last.
    pub(super) message: String,
    pub(super) questions: JoinSet<()>,
}

impl Turn<'_> {
    /// Follows the turn until it ends, and returns the result of the call.
    pub(super) async fn follow(mut self, mut events: Events) -> Result<Value, Problem> {
        self.send_event(&json!({"type": "session_configured", "session_id": self.thread})).await;
        let ended = loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = self.call.cancelled.cancelled() => {
                    self.interrupt(&mut events).await;
                    break Ended { status: TurnStatus::Interrupted, error: None };
                }
            };
            match event {
                None => return Err(Problem::new("the server ended before the turn did")),
                Some(Event::Notification { method, params }) => {
                    let Ok(Some(told)) = ServerNotification::decode(&method, params.as_deref()) else { continue };
                    self.tell(&told).await;
                    if let Some(ended) = self.end_of(&told) {
                        break ended;
                    }
                }
                Some(Event::Request { id, method, params }) => self.question(id, &method, params.as_deref()),
            }
        };
        self.questions.abort_all();
        let text = match (&ended.status, ended.error) {
            (TurnStatus::Completed, _) => self.message,
            (TurnStatus::Interrupted, _) => "the turn was interrupted".to_owned(),
            (_, error) => error.unwrap_or_else(|| "the turn failed".to_owned()),
        };
        Ok(json!({
            "content": [{"type": "text", "text": text}],
            "structuredContent": {"threadId": self.thread, "content": text},
            "isError": ended.status != TurnStatus::Completed,
        }))
    }

    fn end_of(&self, told: &ServerNotification) -> Option<Ended> {
        match told {
            ServerNotification::TurnCompleted(told) if told.turn.id == self.turn => Some(Ended {
                status: told.turn.status,
                error: told.turn.error.as_ref().map(|error| error.message.clone()),
            }),
            _ => None,
        }
    }

    /// Ends the turn of a call that the client cancelled, with the commands that run in it.
    async fn interrupt(&mut self, events: &mut Events) {
        let params = TurnInterruptParams { thread_id: self.thread.clone(), turn_id: self.turn.clone() };
        let ended = async {
            // The request is refused if the turn has just ended.
            if self.server.call::<method::TurnInterrupt>(&params).await.is_err() {
                return;
            }
            while let Some(event) = events.next().await {
                if let Event::Notification { method, params } = event
                    && let Ok(Some(told)) = ServerNotification::decode(&method, params.as_deref())
                    && self.end_of(&told).is_some()
                {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(INTERRUPT_TIMEOUT, ended).await;
    }

    /// Passes on what the server told.
    async fn tell(&mut self, told: &ServerNotification) {
        match told {
            ServerNotification::ItemStarted(started) => {
                if let ThreadItem::FileChange(item) = &started.item {
                    self.changes.insert(item.id.clone(), item.changes.clone());
                }
            }
            ServerNotification::ItemCompleted(completed) => match &completed.item {
                ThreadItem::AgentMessage(item) if completed.thread_id == self.thread => {
                    self.message.clone_from(&item.text);
                }
                ThreadItem::FileChange(item) => drop(self.changes.remove(&item.id)),
                _ => {}
            },
            _ => {}
        }
        let is_own = told.thread_id().is_none_or(|id| id == self.thread);
        if self.has_events && is_own {
            for event in event::events(told, &self.message) {
                self.send_event(&event).await;
            }
        }
        if let Some(token) = &self.progress_token
            && let Some(title) = title::of(told)
        {
            self.progress += 1;
            let params = json!({"progressToken": token, "progress": self.progress, "message": title});
            let _ = self.call.outbox.send(message::notification("notifications/progress", &params)).await;
        }
    }

    /// Sends a `codex/event`, if the client wants them.
    async fn send_event(&self, event: &Value) {
        if self.has_events {
            let meta = json!({"requestId": self.call.id, "threadId": self.thread});
            let params = json!({"_meta": meta, "id": self.turn, "msg": event});
            let _ = self.call.outbox.send(message::notification("codex/event", &params)).await;
        }
    }
}
