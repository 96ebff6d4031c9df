//! The trial of many idle connections and many running turns, while another client reads threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::{SinkExt, StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, hello, open};
use crate::model::{End, Model, Part, Reply};
use crate::numbers::{Latencies, Summary, megabytes, table};
use crate::server::{Home, Memory, ServerCommand};

/// A text that the prompts of long turns contain.
const LONG: &str = "at length";

/// Number of connections that are opened at the same time.
const OPENING: usize = 50;

/// Parameters of the trial.
#[derive(Debug, Clone)]
pub struct Crowd {
    /// Number of idle connections.
    pub idle: usize,
    /// Number of turns at the same time, each with its own connection and thread.
    pub turns: usize,
    /// How long threads are read.
    pub time: Duration,
    /// Number of deltas in the text of a turn.
    pub pieces: usize,
    /// Time between two deltas.
    pub gap: Duration,
    /// Time between two readings.
    pub pause: Duration,
}

/// Result of the trial.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Latency of `thread/read` without turns.
    pub read: Summary,
    /// Latency of `thread/read` with turns.
    pub read_turns: Summary,
    /// Latency of `thread/start`, with all calls at the same time.
    pub start: Summary,
    /// Duration of whole turns.
    pub turn: Summary,
    /// Running answers of the model, on average over the readings.
    pub turns_running: f64,
    /// Idle connections that were still open at the end.
    pub idle_open: usize,
    /// Messages that the idle connections received.
    pub idle_messages: u64,
    /// Memory before the first connection.
    pub memory_start: Memory,
    /// Memory with the idle connections.
    pub memory_idle: Memory,
    /// Memory at the end.
    pub memory_end: Memory,
}

impl Report {
    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let row = |name: &str, summary: &Summary| [vec![name.to_owned()], summary.cells()].concat();
        let times = table(
            ["request", "count", "median", "99%", "longest"],
            [
                row("thread/read", &self.read),
                row("thread/read with turns", &self.read_turns),
                row("thread/start", &self.start),
                row("a whole turn", &self.turn),
            ],
        );
        format!(
            "{times}\nturns at once: {:.1}; idle connections open at the end: {}, messages to them: {}\n\
             resident memory: {} at the start, {} with the idle connections, {} at the end, {} at most\n",
            self.turns_running,
            self.idle_open,
            self.idle_messages,
            megabytes(self.memory_start.resident),
            megabytes(self.memory_idle.resident),
            megabytes(self.memory_end.resident),
            megabytes(self.memory_end.peak),
        )
    }
}

/// Runs the trial.
///
/// # Errors
///
/// Returns an error if the server refuses a request.
pub async fn run(command: &ServerCommand, crowd: &Crowd) -> anyhow::Result<Report> {
    let (pieces, gap) = (crowd.pieces, crowd.gap);
    let text = "All that is said here is said a little at a time. ".repeat(pieces.div_ceil(10).max(1));
    let model = Model::start(move |asked| match asked.mentions(LONG) {
        true => Reply::Stream(vec![Part::Say { text: text.clone(), pieces, gap }], End::Completed),
        false => Reply::say("here"),
    })
    .await?;
    let home = Home::new(&model.url(), "")?;
    let server = command.listen(&home).await?;
    let memory_start = server.memory()?;
    let idle: Vec<Idle> = {
        let opened: Vec<anyhow::Result<Idle>> =
            stream::iter(0..crowd.idle).map(|_| Idle::open(&server.url)).buffer_unordered(OPENING).collect().await;
        opened.into_iter().collect::<anyhow::Result<_>>()?
    };
    let memory_idle = server.memory()?;

    let stop = Arc::new(AtomicBool::new(false));
    let mut workers = JoinSet::new();
    let (sender, mut threads) = mpsc::unbounded_channel();
    for number in 0..crowd.turns {
        let (url, stop, sender) = (server.url.clone(), Arc::clone(&stop), sender.clone());
        // Delay the workers differently: turns of real agents do not all start and end at the same moment.
        let delay = (gap * u32::try_from(pieces)?).mul_f64(number as f64 / crowd.turns as f64);
        workers.spawn(async move { work(&url, delay, &stop, &sender).await });
    }
    drop(sender);
    let mut known = Vec::new();
    while known.len() < crowd.turns {
        match threads.recv().await {
            Some(thread) => known.push(thread),
            None => break,
        }
    }
    ensure!(known.len() == crowd.turns, "only {} of {} threads ran a turn", known.len(), crowd.turns);

    let reader = Client::connect(&server.url, &[]).await?;
    tokio::time::sleep(gap * u32::try_from(pieces)?).await;
    let (mut read, mut read_turns, mut running) = (Latencies::default(), Latencies::default(), Vec::new());
    let began = Instant::now();
    for (number, thread) in known.iter().cycle().enumerate() {
        if began.elapsed() > crowd.time {
            break;
        }
        let with_turns = (number / known.len()) % 2 == 1;
        let asked = Instant::now();
        reader.call("thread/read", json!({"threadId": thread, "includeTurns": with_turns})).await?;
        if with_turns { &mut read_turns } else { &mut read }.add(asked.elapsed());
        running.push(model.running() as f64);
        tokio::time::sleep(crowd.pause).await;
    }
    stop.store(true, Ordering::Relaxed);
    let (mut start, mut turn) = (Latencies::default(), Latencies::default());
    while let Some(done) = workers.join_next().await {
        let (first, others) = done??;
        start.add(first);
        turn.extend(others);
    }
    let memory_end = server.memory()?;
    let (mut idle_open, mut idle_messages) = (0, 0);
    for connection in idle {
        idle_open += usize::from(!connection.reader.is_finished());
        idle_messages += connection.messages.load(Ordering::Relaxed);
        connection.reader.abort();
    }
    Ok(Report {
        read: read.summary(),
        read_turns: read_turns.summary(),
        start: start.summary(),
        turn: turn.summary(),
        turns_running: running.iter().sum::<f64>() / running.len().max(1) as f64,
        idle_open,
        idle_messages,
        memory_start,
        memory_idle,
        memory_end,
    })
}

/// Runs one long turn after the other on its own thread. Sends the id of the thread once it has a turn.
async fn work(
    url: &str,
    delay: Duration,
    stop: &AtomicBool,
    threads: &mpsc::UnboundedSender<String>,
) -> anyhow::Result<(Duration, Latencies)> {
    let mut client = Client::connect(url, &["turn/completed"]).await?;
    let asked = Instant::now();
    let thread = client.start_thread().await?;
    let start = asked.elapsed();
    client.run_turn(&thread, "are you there?").await?;
    threads.send(thread.clone())?;
    tokio::time::sleep(delay).await;
    let mut turns = Latencies::default();
    while !stop.load(Ordering::Relaxed) {
        let asked = Instant::now();
        let turn = client.run_turn(&thread, LONG).await?;
        ensure!(turn["status"] == "completed", "a turn ended as {turn}");
        turns.add(asked.elapsed());
    }
    Ok((start, turns))
}

/// A connection that reads all messages and does nothing.
struct Idle {
    messages: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

impl Idle {
    async fn open(url: &str) -> anyhow::Result<Self> {
        let mut socket = open(url).await?;
        socket.send(Message::text(json!({"id": 1, "method": "initialize", "params": hello()}).to_string())).await?;
        let answer = socket.next().await;
        ensure!(matches!(answer, Some(Ok(Message::Text(_)))), "initialize is not answered");
        socket.send(Message::text(json!({"method": "initialized"}).to_string())).await?;
        let messages = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&messages);
        let reader = tokio::spawn(async move {
            while let Some(Ok(message)) = socket.next().await {
                if message.is_close() {
                    break;
                }
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { messages, reader })
    }
}
