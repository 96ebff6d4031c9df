//! A client of the protocol, over WebSocket or the standard streams of a server.
//!
//! It keeps only the notifications that a trial asks for, so that it needs few resources beside the server. It never
//! answers requests of the server: the trials use policies that require no approval.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Timeout for one response or one notification.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The response of a server.
pub type Answer = Result<Value, Refused>;

/// An error response of a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Refused {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// Details of the error.
    pub data: Option<Value>,
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Note {
    /// Name of the method.
    pub method: String,
    /// The params.
    pub params: Value,
}

/// A message of a server, with the fields that matter here.
#[derive(Debug, Deserialize)]
pub struct Incoming<'a> {
    /// Id of the answered request, or of a request of the server.
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    /// Method of a request or notification of the server.
    pub method: Option<String>,
    /// The params of the method.
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    /// Result of a successful response.
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    /// Error of an error response.
    pub error: Option<Refused>,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>;

/// A connection to a server.
pub struct Client {
    sink: tokio::sync::Mutex<SplitSink<Socket, Message>>,
    waiting: Waiting,
    notes: mpsc::UnboundedReceiver<Note>,
    next: AtomicU64,
    reader: JoinHandle<()>,
}

impl Client {
    /// Connects over WebSocket and initializes the connection.
    ///
    /// `keep` contains the methods of the notifications that [`Client::note`] returns. All others are dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection fails or the server refuses `initialize`.
    pub async fn connect(url: &str, keep: &'static [&'static str]) -> anyhow::Result<Self> {
        let (sink, mut stream) = open(url).await?.split();
        let waiting = Waiting::default();
        let (sender, notes) = mpsc::unbounded_channel();
        let answers = Arc::clone(&waiting);
        let reader = tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if let Message::Text(text) = message {
                    receive(text.as_str(), keep, &answers, &sender);
                }
            }
            // Dropping the senders tells all waiting callers that no response will come.
            answers.lock().expect("no thread panics with the lock held").clear();
        });
        let client = Self { sink: tokio::sync::Mutex::new(sink), waiting, notes, next: AtomicU64::new(1), reader };
        client.call("initialize", hello()).await?;
        client.send(&json!({"method": "initialized"})).await?;
        Ok(client)
    }

    async fn send(&self, message: &Value) -> anyhow::Result<()> {
        self.sink.lock().await.send(Message::text(message.to_string())).await.context("the connection is closed")
    }

    /// Sends a request, and returns its response.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection closes, or if no response arrives within [`TIMEOUT`].
    pub async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Answer> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().expect("no thread panics with the lock held").insert(id, sender);
        self.send(&json!({"id": id, "method": method, "params": params})).await?;
        let answer = tokio::time::timeout(TIMEOUT, answer).await.map_err(|_| anyhow!("no answer to {method}"))?;
        answer.map_err(|_| anyhow!("the connection closed before {method} was answered"))
    }

    /// Sends a request, and returns its result.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`Client::ask`], and if the server returns an error.
    pub async fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        match self.ask(method, params).await? {
            Ok(result) => Ok(result),
            Err(refused) => bail!("{method} is refused: {} ({})", refused.message, refused.code),
        }
    }

    /// Returns the next notification that is kept. `None` if the connection is closed.
    pub async fn note(&mut self) -> Option<Note> {
        self.notes.recv().await
    }

    /// Waits for a notification with this method for whose params `fits` returns true. Drops the notifications before
    /// it.
    ///
    /// # Errors
    ///
    /// Returns an error if no such notification arrives within [`TIMEOUT`], or if the connection closes.
    pub async fn wait(&mut self, method: &str, mut fits: impl FnMut(&Value) -> bool) -> anyhow::Result<Value> {
        let search = async {
            while let Some(note) = self.notes.recv().await {
                if note.method == method && fits(&note.params) {
                    return Ok(note.params);
                }
            }
            bail!("the connection closed before {method}")
        };
        tokio::time::timeout(TIMEOUT, search).await.map_err(|_| anyhow!("no {method} came"))?
    }

    /// Starts a thread, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses.
    pub async fn start_thread(&self) -> anyhow::Result<String> {
        let started = self.call("thread/start", json!({})).await?;
        Ok(started["thread"]["id"].as_str().context("a thread without an id")?.to_owned())
    }

    /// Starts a turn, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses.
    pub async fn start_turn(&self, thread: &str, text: &str) -> anyhow::Result<String> {
        let input = json!([{"type": "text", "text": text}]);
        let started = self.call("turn/start", json!({"threadId": thread, "input": input})).await?;
        Ok(started["turn"]["id"].as_str().context("a turn without an id")?.to_owned())
    }

    /// Runs a turn to its end, and returns it.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses, or if the turn does not end.
    pub async fn run_turn(&mut self, thread: &str, text: &str) -> anyhow::Result<Value> {
        let turn = self.start_turn(thread, text).await?;
        let mut completed = self.wait("turn/completed", |params| params["turn"]["id"] == *turn).await?;
        Ok(completed["turn"].take())
    }

    /// Closes the connection properly.
    pub async fn close(self) {
        // This fails only if the server has closed it already.
        let _gone = self.sink.lock().await.close().await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Returns the params of `initialize`.
#[must_use]
pub fn hello() -> Value {
    json!({"clientInfo": {"name": "trace_trials", "title": null, "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {"experimentalApi": true}})
}

/// Opens a WebSocket connection without sending a message.
///
/// # Errors
///
/// Returns an error if the connection fails.
pub async fn open(url: &str) -> anyhow::Result<Socket> {
    let request = url.into_client_request()?;
    let (socket, _) = tokio_tungstenite::connect_async_with_config(request, Some(unlimited()), true).await?;
    Ok(socket)
}

/// Returns a configuration for connections that accept messages of any size.
#[must_use]
pub fn unlimited() -> tokio_tungstenite::tungstenite::protocol::WebSocketConfig {
    tokio_tungstenite::tungstenite::protocol::WebSocketConfig::default().max_message_size(None).max_frame_size(None)
}

fn receive(text: &str, keep: &[&str], waiting: &Waiting, notes: &mpsc::UnboundedSender<Note>) {
    let Ok(incoming) = serde_json::from_str::<Incoming<'_>>(text) else { return };
    match incoming {
        Incoming { method: Some(method), id: None, params, .. } if keep.contains(&method.as_str()) => {
            let params = params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
            // This fails only if the trial has stopped listening.
            let _unheard = notes.send(Note { method, params });
        }
        Incoming { method: None, id: Some(id), result, error, .. } => {
            let Ok(id) = id.get().parse() else { return };
            let Some(sender) = waiting.lock().expect("no thread panics with the lock held").remove(&id) else { return };
            let result = result.and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or_default();
            let _unheard = sender.send(error.map_or(Ok(result), Err));
        }
        _ => {}
    }
}
