//! The trial of a client that stops reading while others work. It measures what this costs the server and the other
//! clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::client::{Client, TIMEOUT, hello, unlimited};
use crate::model::{End, Model, Part, Reply};
use crate::numbers::{Latencies, Summary, megabytes};
use crate::server::{Home, Memory, ServerCommand};

/// Size of the receive buffer of the client that does not read, in bytes.
const SMALL_BUFFER: u32 = 4096;

/// Timeout for a closed connection to end once its client reads again.
const DRAIN_LIMIT: Duration = Duration::from_secs(30);

/// Parameters of the trial.
#[derive(Debug, Clone)]
pub struct Stall {
    /// How long the client does not read.
    pub time: Duration,
    /// Number of threads that work. The client that does not read is subscribed to all of them.
    pub threads: usize,
    /// Number of deltas in the text of a turn.
    pub pieces: usize,
    /// Time between two deltas.
    pub gap: Duration,
}

/// Result of the trial.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Turns of the other clients during this time.
    pub turns: Summary,
    /// Notifications that a subscriber of all threads received during this time.
    pub notifications: u64,
    /// Memory when the client stopped reading.
    pub memory_start: Memory,
    /// Memory at the end.
    pub memory_end: Memory,
    /// Whether the server closed the connection.
    pub closed: bool,
}

impl Report {
    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{} turns of the others meanwhile: median {:.1} ms, 99% {:.1} ms; {} notifications that were not read\n\
             resident memory: {} when it began, {} at the end, {} at most; the connection was {}\n",
            self.turns.count,
            self.turns.median_ms,
            self.turns.p99_ms,
            self.notifications,
            megabytes(self.memory_start.resident),
            megabytes(self.memory_end.resident),
            megabytes(self.memory_end.peak),
            if self.closed { "closed by the server" } else { "left open" },
        )
    }
}

/// Runs the trial.
///
/// # Errors
///
/// Returns an error if the server refuses a request.
pub async fn run(command: &ServerCommand, stall: &Stall) -> anyhow::Result<Report> {
    let (pieces, gap) = (stall.pieces, stall.gap);
    let text = "what nobody reads ".repeat(pieces);
    let model =
        Model::start(move |_| Reply::Stream(vec![Part::Say { text: text.clone(), pieces, gap }], End::Completed))
            .await?;
    let home = Home::new(&model.url(), "")?;
    let server = command.listen(&home).await?;
    let mut clients = Vec::new();
    for _ in 0..stall.threads {
        let mut client = Client::connect(&server.url, &["turn/completed", "item/agentMessage/delta"]).await?;
        let thread = client.start_thread().await?;
        client.run_turn(&thread, "begin").await?;
        clients.push((client, thread));
    }
    let mut sleeper = Sleeper::connect(&server.url).await?;
    for (_, thread) in &clients {
        sleeper.call("thread/resume", json!({"threadId": thread, "excludeTurns": true})).await?;
    }
    let memory_start = server.memory()?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut workers = JoinSet::new();
    for (mut client, thread) in clients {
        let stop = Arc::clone(&stop);
        workers.spawn(async move {
            let (mut turns, mut notifications) = (Latencies::default(), 0);
            while !stop.load(Ordering::Relaxed) {
                let asked = Instant::now();
                let turn = client.start_turn(&thread, "go on").await?;
                let ended = wait_counting(&mut client, &turn, &mut notifications).await?;
                ensure!(ended["status"] == "completed", "a turn ended as {ended}");
                turns.add(asked.elapsed());
            }
            Ok::<_, anyhow::Error>((turns, notifications))
        });
    }
    tokio::time::sleep(stall.time).await;
    stop.store(true, Ordering::Relaxed);
    let (mut turns, mut notifications) = (Latencies::default(), 0);
    while let Some(done) = workers.join_next().await {
        let (of_one, count) = done??;
        turns.extend(of_one);
        notifications += count;
    }
    let memory_end = server.memory()?;
    let closed = sleeper.was_closed().await;
    Ok(Report { turns: turns.summary(), notifications, memory_start, memory_end, closed })
}

/// Waits for the end of a turn, and counts the notifications until then.
async fn wait_counting(client: &mut Client, turn: &str, count: &mut u64) -> anyhow::Result<Value> {
    loop {
        let note = tokio::time::timeout(TIMEOUT, client.note()).await.context("the turn does not end")?;
        let mut note = note.context("the connection closed")?;
        *count += 1;
        if note.method == "turn/completed" && note.params["turn"]["id"] == *turn {
            return Ok(note.params["turn"].take());
        }
    }
}

/// A client with a small receive buffer that does not read.
struct Sleeper {
    socket: WebSocketStream<tokio::net::TcpStream>,
    next: u64,
}

impl Sleeper {
    async fn connect(url: &str) -> anyhow::Result<Self> {
        let address = url.trim_start_matches("ws://").parse()?;
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(SMALL_BUFFER)?;
        let stream = socket.connect(address).await?;
        let (socket, _) =
            tokio_tungstenite::client_async_with_config(url.into_client_request()?, stream, Some(unlimited())).await?;
        let mut sleeper = Self { socket, next: 1 };
        sleeper.call("initialize", hello()).await?;
        Ok(sleeper)
    }

    async fn call(&mut self, method: &str, params: Value) -> anyhow::Result<()> {
        let id = self.next;
        self.next += 1;
        self.socket.send(Message::text(json!({"id": id, "method": method, "params": params}).to_string())).await?;
        loop {
            let message = self.socket.next().await.context("the connection closed")??;
            let Message::Text(text) = message else { continue };
            let answer: Value = serde_json::from_str(text.as_str())?;
            if answer["id"] == id && answer.get("method").is_none() {
                ensure!(answer.get("result").is_some(), "{method} is refused: {answer}");
                return Ok(());
            }
        }
    }

    /// Reads the remaining messages. Returns whether the connection ends.
    async fn was_closed(mut self) -> bool {
        let rest = async {
            while let Some(Ok(message)) = self.socket.next().await {
                if message.is_close() {
                    break;
                }
            }
        };
        tokio::time::timeout(DRAIN_LIMIT, rest).await.is_ok()
    }
}
