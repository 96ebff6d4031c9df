//! The trial of latency: how long a turn with one short answer takes from its start to its end, and how much memory a
//! server uses.
//!
//! With two servers, the rounds alternate between them, so that other load of the machine affects both.

use std::time::Instant;

use anyhow::ensure;
use serde::Serialize;

use crate::client::Client;
use crate::model::{Model, Reply};
use crate::numbers::{Latencies, Summary, megabytes, table};
use crate::server::{Home, Memory, Running, ServerCommand};

/// Measurements of a server.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the program.
    pub server: String,
    /// Milliseconds until the server listened.
    pub listen_ms: f64,
    /// From `thread/start` to its response.
    pub thread: Summary,
    /// From `turn/start` to `turn/completed`.
    pub turn: Summary,
    /// Memory with one connection, before the first thread.
    pub memory_idle: Memory,
    /// Memory after all turns.
    pub memory_end: Memory,
}

/// Returns the reports as text, with the ratio of the first to the second.
#[must_use]
pub fn text(reports: &[Report]) -> String {
    let rows = reports.iter().map(|report| {
        vec![
            report.server.clone(),
            report.turn.count.to_string(),
            format!("{:.2} ms", report.turn.median_ms),
            format!("{:.2} ms", report.turn.p99_ms),
            format!("{:.2} ms", report.thread.median_ms),
            format!("{:.0} ms", report.listen_ms),
            megabytes(report.memory_idle.resident),
            megabytes(report.memory_end.resident),
        ]
    });
    let head = ["server", "turns", "turn", "turn, 99%", "thread/start", "listens after", "memory idle", "memory after"];
    let mut text = table(head, rows);
    if let [first, second] = reports {
        let ratio = |first: f64, second: f64| first / second;
        text.push_str(&format!(
            "\nratio: turn {:.2}, turn 99% {:.2}, memory idle {:.2}, memory after {:.2}",
            ratio(first.turn.median_ms, second.turn.median_ms),
            ratio(first.turn.p99_ms, second.turn.p99_ms),
            ratio(first.memory_idle.resident as f64, second.memory_idle.resident as f64),
            ratio(first.memory_end.resident as f64, second.memory_end.resident as f64),
        ));
    }
    text.push('\n');
    text
}

/// Runs the trial: `rounds` rounds of `turns` turns, one after the other, each on its own thread.
///
/// # Errors
///
/// Returns an error if a server refuses a request.
pub async fn run(commands: &[ServerCommand], rounds: usize, turns: usize) -> anyhow::Result<Vec<Report>> {
    let model = Model::start(|_| Reply::say("a short answer")).await?;
    let mut runs = Vec::new();
    for command in commands {
        runs.push(Run::start(command, &model).await?);
    }
    for _ in 0..rounds {
        for run in &mut runs {
            run.round(turns).await?;
        }
    }
    runs.into_iter().map(Run::report).collect()
}

struct Run {
    name: String,
    server: Running,
    client: Client,
    memory_idle: Memory,
    threads: Latencies,
    turns: Latencies,
    /// Deleted together with the run.
    _home: Home,
}

impl Run {
    async fn start(command: &ServerCommand, model: &Model) -> anyhow::Result<Self> {
        let home = Home::new(&model.url(), "")?;
        let server = command.listen(&home).await?;
        let client = Client::connect(&server.url, &["turn/completed"]).await?;
        let memory_idle = server.memory()?;
        let (threads, turns) = (Latencies::default(), Latencies::default());
        Ok(Self { name: command.name().to_owned(), server, client, memory_idle, threads, turns, _home: home })
    }

    async fn round(&mut self, turns: usize) -> anyhow::Result<()> {
        for _ in 0..turns {
            let asked = Instant::now();
            let thread = self.client.start_thread().await?;
            self.threads.add(asked.elapsed());
            let asked = Instant::now();
            let turn = self.client.run_turn(&thread, "say it").await?;
            self.turns.add(asked.elapsed());
            ensure!(turn["status"] == "completed", "a turn ended as {turn}");
        }
        Ok(())
    }

    fn report(self) -> anyhow::Result<Report> {
        Ok(Report {
            server: self.name,
            listen_ms: self.server.start.as_secs_f64() * 1_000.0,
            thread: self.threads.summary(),
            turn: self.turns.summary(),
            memory_idle: self.memory_idle,
            memory_end: self.server.memory()?,
        })
    }
}
