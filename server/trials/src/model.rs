//! A stand-in for a model provider, which answers the streaming Responses API on loopback as a trial defines.
//!
//! It leaves out everything that a server does not use. The body of a request is parsed only if the trial asks for it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A request of the server.
#[derive(Debug)]
pub struct Asked {
    /// Number of requests before it.
    pub number: u64,
    body: Bytes,
}

impl Asked {
    /// Returns the items of the conversation.
    #[must_use]
    pub fn items(&self) -> Vec<Value> {
        #[derive(Default, Deserialize)]
        struct Body {
            input: Vec<Value>,
        }
        serde_json::from_slice::<Body>(&self.body).unwrap_or_default().input
    }

    /// Returns whether the body of the request contains a text.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        self.body.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// Returns the text of the newest user message that contains a word, and the number of tool calls that were
    /// answered after it.
    #[must_use]
    pub fn prompt(&self, word: &str) -> Option<(String, usize)> {
        let items = self.items();
        let (at, text) = items.iter().enumerate().rev().find_map(|(at, item)| {
            let text: String = item["content"].as_array()?.iter().filter_map(|part| part["text"].as_str()).collect();
            (item["role"] == "user" && text.contains(word)).then_some((at, text))
        })?;
        let answered = items[at..].iter().filter(|item| item["type"] == "function_call_output").count();
        Some((text, answered))
    }
}

/// The response of the model.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A stream of events.
    Stream(Vec<Part>, End),
    /// An HTTP error.
    Refusal {
        /// HTTP status.
        status: u16,
        /// Value of the header `Retry-After`, in seconds.
        retry_after: Option<u64>,
        /// The error message.
        message: String,
    },
    /// Raw bytes in place of a stream of events.
    Bytes(Bytes),
    /// No response at all, not even its head.
    Silence,
}

impl Reply {
    /// Returns a completed response with one text.
    #[must_use]
    pub fn say(text: &str) -> Self {
        Self::Stream(vec![Part::say(text)], End::Completed)
    }
}

/// A part of a stream.
#[derive(Debug, Clone)]
pub enum Part {
    /// A message in several deltas, with a pause before each.
    Say {
        /// The whole text.
        text: String,
        /// Number of deltas.
        pieces: usize,
        /// Pause before each delta.
        gap: Duration,
    },
    /// A tool call.
    Call {
        /// Name of the tool.
        name: String,
        /// Namespace of the tool.
        namespace: Option<&'static str>,
        /// Arguments of the call.
        arguments: Value,
    },
}

impl Part {
    /// Returns a message in one delta.
    #[must_use]
    pub fn say(text: &str) -> Self {
        Self::Say { text: text.to_owned(), pieces: 1, gap: Duration::ZERO }
    }

    /// Returns a call of the shell tool.
    #[must_use]
    pub fn shell(command: &str) -> Self {
        Self::Call { name: "exec_command".to_owned(), namespace: None, arguments: json!({"cmd": command}) }
    }
}

/// How a stream ends.
#[derive(Debug, Clone)]
pub enum End {
    /// With the event of a completed response.
    Completed,
    /// With the event of a failed response.
    Failed {
        /// Error code.
        code: String,
        /// Error message.
        message: String,
    },
    /// The stream is closed without the final event.
    Dropped,
    /// Never: the connection stays open, and no more events arrive.
    Silence,
}

type Play = dyn Fn(&Asked) -> Reply + Send + Sync;

struct Stage {
    play: Box<Play>,
    served: AtomicU64,
    running: AtomicUsize,
    items: AtomicU64,
}

/// A running stand-in. It ends when it is dropped.
pub struct Model {
    address: SocketAddr,
    stage: Arc<Stage>,
    task: JoinHandle<()>,
}

impl Model {
    /// Starts a stand-in that answers every request with the result of `play`.
    ///
    /// # Errors
    ///
    /// Returns an error if no port can be bound.
    pub async fn start(play: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> anyhow::Result<Self> {
        let stage = Arc::new(Stage {
            play: Box::new(play),
            served: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            items: AtomicU64::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.context("the model finds no port")?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/v1/responses", post(answer))
            .route("/v1/models", get(|| async { r#"{"object": "list", "data": [], "models": []}"# }))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Arc::clone(&stage));
        let task = tokio::spawn(async move {
            // This ends with the program, and errors of one connection do not end it. `TCP_NODELAY` sends small pieces
            // at once.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { address, stage, task })
    }

    /// Returns the base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn served(&self) -> u64 {
        self.stage.served.load(Ordering::Relaxed)
    }

    /// Returns the number of running responses.
    #[must_use]
    pub fn running(&self) -> usize {
        self.stage.running.load(Ordering::Relaxed)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(stage): State<Arc<Stage>>, body: Bytes) -> Response {
    let number = stage.served.fetch_add(1, Ordering::Relaxed);
    match (stage.play)(&Asked { number, body }) {
        Reply::Silence => std::future::pending().await,
        Reply::Bytes(bytes) => events(Body::from(bytes)),
        Reply::Refusal { status, retry_after, message } => {
            let status_code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let error = json!({"error": {"message": message, "type": "refusal", "code": format!("status_{status}")}});
            let mut response = Response::new(Body::from(error.to_string()));
            *response.status_mut() = status_code;
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            response
        }
        Reply::Stream(parts, end) => {
            let (sender, receiver) = mpsc::channel::<Bytes>(64);
            tokio::spawn(play_stream(stage, number, parts, end, sender));
            let pieces = stream::unfold(receiver, |mut receiver| async move {
                receiver.recv().await.map(|piece| (Ok::<_, Infallible>(piece), receiver))
            });
            events(Body::from_stream(pieces))
        }
    }
}

fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// Counts a stream as running until it is dropped.
struct Guard(Arc<Stage>);

impl Guard {
    fn new(stage: Arc<Stage>) -> Self {
        stage.running.fetch_add(1, Ordering::Relaxed);
        Self(stage)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn play_stream(stage: Arc<Stage>, number: u64, parts: Vec<Part>, end: End, sender: mpsc::Sender<Bytes>) {
    let guard = Guard::new(stage);
    let response = format!("resp_{number}");
    let first = json!({"type": "response.created", "response": {"id": response, "status": "in_progress"}});
    if sender.send(event(&first)).await.is_err() {
        return;
    }
    for (index, part) in parts.iter().enumerate() {
        let id = guard.0.items.fetch_add(1, Ordering::Relaxed);
        if play_part(part, id, index, &sender).await.is_none() {
            return;
        }
    }
    let last = match end {
        End::Completed => json!({"type": "response.completed", "response": {"id": response, "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 50},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}}}),
        End::Failed { code, message } => {
            json!({"type": "response.failed", "response": {"id": response, "error": {"code": code, "message": message}}})
        }
        End::Dropped => return,
        End::Silence => {
            sender.closed().await;
            return;
        }
    };
    // This fails only if the client has gone.
    let _sent = sender.send(event(&last)).await;
}

/// Sends one item. Returns `None` if the client has gone.
async fn play_part(part: &Part, id: u64, index: usize, sender: &mpsc::Sender<Bytes>) -> Option<()> {
    let (opening, item) = match part {
        Part::Say { text, .. } => {
            let message = |content: Value, status: &str| json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": status, "content": content});
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            (message(json!([]), "in_progress"), message(content, "completed"))
        }
        Part::Call { name, namespace, arguments } => {
            let mut call = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": name, "arguments": arguments.to_string()});
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            (call.clone(), call)
        }
    };
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": opening});
    sender.send(event(&added)).await.ok()?;
    if let Part::Say { text, pieces, gap } = part {
        for delta in cut(text, *pieces) {
            if !gap.is_zero() {
                tokio::time::sleep(*gap).await;
            }
            let delta = json!({"type": "response.output_text.delta", "item_id": format!("msg_{id}"), "output_index": index,
                "content_index": 0, "delta": delta});
            sender.send(event(&delta)).await.ok()?;
        }
    }
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    sender.send(event(&done)).await.ok()
}

/// Splits a text into at most `pieces` pieces of about equal length.
fn cut(text: &str, pieces: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let width = characters.len().div_ceil(pieces.max(1)).max(1);
    characters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

fn event(value: &Value) -> Bytes {
    let kind = value["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {kind}\ndata: {value}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_without_loss() {
        for pieces in [0, 1, 2, 3, 7, 100] {
            let cut = cut("äbcdefg", pieces);
            assert_eq!(cut.concat(), "äbcdefg");
            assert!(cut.len() <= pieces.max(1));
        }
        assert!(cut("", 3).is_empty());
    }

    #[test]
    fn prompts_are_found_with_the_calls_that_were_answered_since() {
        let message =
            |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
        let answered = json!({"type": "function_call_output", "call_id": "c", "output": "o"});
        let input =
            json!({"input": [message("play 1"), answered, message("play 2"), answered, answered, message("other")]});
        let asked = Asked { number: 0, body: Bytes::from(input.to_string()) };
        assert_eq!(asked.prompt("play"), Some(("play 2".to_owned(), 2)));
        assert_eq!(asked.prompt("none"), None);
    }
}
