//! A client of the protocol, over WebSocket or the standard streams of a server.
//!
//! It hands on only the notifications that a trial asks for, so that it costs little beside the server. It never answers
//! requests of the server: trials run with policies that ask nothing.

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

/// How long a trial waits for one answer or one notification before it gives up.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What a server answers.
pub type Answer = Result<Value, Refused>;

/// An error that a server answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Refused {
    /// Its code.
    pub code: i64,
    /// What is wrong.
    pub message: String,
    /// More about it.
    pub data: Option<Value>,
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Note {
    /// What it is.
    pub method: String,
    /// What it says.
    pub params: Value,
}

/// A message of a server, as much of it as matters here.
#[derive(Debug, Deserialize)]
pub struct Incoming<'a> {
    /// The request that is answered, or that the server makes.
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    /// What is asked or told.
    pub method: Option<String>,
    /// What it is about.
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    /// A good answer.
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    /// A bad one.
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
    /// Connects over WebSocket and initializes.
    ///
    /// `keep` names the notifications that [`Client::note`] returns; the others are dropped.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses.
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
            // Whoever waits for an answer learns that none will come.
            answers.lock().expect("no reader panics").clear();
        });
        let client = Self { sink: tokio::sync::Mutex::new(sink), waiting, notes, next: AtomicU64::new(1), reader };
        client.call("initialize", hello()).await?;
        client.send(&json!({"method": "initialized"})).await?;
        Ok(client)
    }

    async fn send(&self, message: &Value) -> anyhow::Result<()> {
        self.sink.lock().await.send(Message::text(message.to_string())).await.context("the connection is closed")
    }

    /// Asks, and returns what is answered.
    ///
    /// # Errors
    ///
    /// Fails if the connection closes, or no answer comes.
    pub async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Answer> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().expect("no reader panics").insert(id, sender);
        self.send(&json!({"id": id, "method": method, "params": params})).await?;
        let answer = tokio::time::timeout(PATIENCE, answer).await.map_err(|_| anyhow!("no answer to {method}"))?;
        answer.map_err(|_| anyhow!("the connection closed before {method} was answered"))
    }

    /// Asks, and expects a good answer.
    ///
    /// # Errors
    ///
    /// Fails as [`Client::ask`] does, and if the server refuses.
    pub async fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        match self.ask(method, params).await? {
            Ok(result) => Ok(result),
            Err(refused) => bail!("{method} is refused: {} ({})", refused.message, refused.code),
        }
    }

    /// Returns the next notification that is kept, or nothing once the connection closed.
    pub async fn note(&mut self) -> Option<Note> {
        self.notes.recv().await
    }

    /// Waits for a notification, and drops those before it.
    ///
    /// # Errors
    ///
    /// Fails if none comes.
    pub async fn wait(&mut self, method: &str, mut fits: impl FnMut(&Value) -> bool) -> anyhow::Result<Value> {
        let search = async {
            while let Some(note) = self.notes.recv().await {
                if note.method == method && fits(&note.params) {
                    return Ok(note.params);
                }
            }
            bail!("the connection closed before {method}")
        };
        tokio::time::timeout(PATIENCE, search).await.map_err(|_| anyhow!("no {method} came"))?
    }

    /// Starts a thread, and returns its id.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses.
    pub async fn start_thread(&self) -> anyhow::Result<String> {
        let started = self.call("thread/start", json!({})).await?;
        Ok(started["thread"]["id"].as_str().context("a thread without an id")?.to_owned())
    }

    /// Starts a turn, and returns its id.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses.
    pub async fn start_turn(&self, thread: &str, text: &str) -> anyhow::Result<String> {
        let input = json!([{"type": "text", "text": text}]);
        let started = self.call("turn/start", json!({"threadId": thread, "input": input})).await?;
        Ok(started["turn"]["id"].as_str().context("a turn without an id")?.to_owned())
    }

    /// Runs a turn to its end, and returns it.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses, or the turn does not end.
    pub async fn run_turn(&mut self, thread: &str, text: &str) -> anyhow::Result<Value> {
        let turn = self.start_turn(thread, text).await?;
        let mut completed = self.wait("turn/completed", |params| params["turn"]["id"] == *turn).await?;
        Ok(completed["turn"].take())
    }

    /// Closes the connection in good order.
    pub async fn close(self) {
        // Whoever is gone already need not be told.
        let _gone = self.sink.lock().await.close().await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Returns the parameters of `initialize`.
#[must_use]
pub fn hello() -> Value {
    json!({"clientInfo": {"name": "trace_trials", "title": null, "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {"experimentalApi": true}})
}

/// Opens a connection without a word.
///
/// # Errors
///
/// Fails if the server refuses.
pub async fn open(url: &str) -> anyhow::Result<Socket> {
    let request = url.into_client_request()?;
    let (socket, _) = tokio_tungstenite::connect_async_with_config(request, Some(unlimited()), true).await?;
    Ok(socket)
}

/// Returns settings of a connection that takes messages of any size.
#[must_use]
pub fn unlimited() -> tokio_tungstenite::tungstenite::protocol::WebSocketConfig {
    tokio_tungstenite::tungstenite::protocol::WebSocketConfig::default().max_message_size(None).max_frame_size(None)
}

fn receive(text: &str, keep: &[&str], waiting: &Waiting, notes: &mpsc::UnboundedSender<Note>) {
    let Ok(incoming) = serde_json::from_str::<Incoming<'_>>(text) else { return };
    match incoming {
        Incoming { method: Some(method), id: None, params, .. } if keep.contains(&method.as_str()) => {
            let params = params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
            // The trial may have stopped listening.
            let _unheard = notes.send(Note { method, params });
        }
        Incoming { method: None, id: Some(id), result, error, .. } => {
            let Ok(id) = id.get().parse() else { return };
            let Some(sender) = waiting.lock().expect("no trial panics").remove(&id) else { return };
            let result = result.and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or_default();
            let _unheard = sender.send(error.map_or(Ok(result), Err));
        }
        _ => {}
    }
}
