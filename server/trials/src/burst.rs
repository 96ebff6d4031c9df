//! The trial of many requests at once over the standard streams. It checks that every request is answered.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::client::{Incoming, hello};
use crate::model::{Model, Reply};
use crate::numbers::megabytes;
use crate::server::{Home, Memory, ServerCommand};

/// Result of the trial.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Requests that were sent.
    pub requests: usize,
    /// Successful responses.
    pub results: usize,
    /// Overload errors that clients recognize by `data.codexErrorInfo`.
    pub overloaded: usize,
    /// Other errors, by code.
    pub errors: BTreeMap<i64, usize>,
    /// Requests that were answered more than once.
    pub repeated: usize,
    /// Requests without a response.
    pub unanswered: usize,
    /// Seconds from the first byte sent to the last response.
    pub seconds: f64,
    /// Memory at the end.
    pub memory: Memory,
}

impl Report {
    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} requests: {} results, {} refused as overloaded, {} never answered, {} answered twice, in {:.2} s\n",
            self.requests, self.results, self.overloaded, self.unanswered, self.repeated, self.seconds
        );
        for (code, count) in &self.errors {
            writeln!(text, "{count} errors with code {code}").expect("writing to a string cannot fail");
        }
        writeln!(text, "resident memory at most: {}", megabytes(self.memory.peak))
            .expect("writing to a string cannot fail");
        text
    }
}

/// Runs the trial: sends `requests` requests of a method in one burst. Gives up if nothing arrives for `timeout`.
///
/// # Errors
///
/// Returns an error if the server does not start, or if it ends.
pub async fn run(command: &ServerCommand, requests: usize, method: &str, timeout: Duration) -> anyhow::Result<Report> {
    let model = Model::start(|_| Reply::say("nothing")).await?;
    let home = Home::new(&model.url(), "")?;
    let mut server = command.pipe(&home)?;
    let mut input = server.child.stdin.take().context("a server without input")?;
    let mut lines = BufReader::new(server.child.stdout.take().context("a server without output")?).lines();
    input
        .write_all(format!("{}\n", json!({"id": "hello", "method": "initialize", "params": hello()})).as_bytes())
        .await?;
    let first = lines.next_line().await?.context("the server ended")?;
    ensure!(first.contains("\"result\""), "initialize is refused: {first}");
    let mut burst = format!("{}\n", json!({"method": "initialized"}));
    for id in 0..requests {
        burst.push_str(&json!({"id": id, "method": method, "params": {}}).to_string());
        burst.push('\n');
    }
    let began = Instant::now();
    let sending = tokio::spawn(async move {
        input.write_all(burst.as_bytes()).await?;
        // Keep the input open, because its end would end the server.
        Ok::<_, std::io::Error>(input)
    });
    let mut report = Report {
        requests,
        results: 0,
        overloaded: 0,
        errors: BTreeMap::new(),
        repeated: 0,
        unanswered: 0,
        seconds: 0.0,
        memory: Memory::default(),
    };
    let mut answered: HashSet<usize> = HashSet::with_capacity(requests);
    while answered.len() < requests {
        let Ok(line) = tokio::time::timeout(timeout, lines.next_line()).await else { break };
        let line = line?.context("the server ended")?;
        let Ok(Incoming { id: Some(id), method: None, error, .. }) = serde_json::from_str::<Incoming<'_>>(&line) else {
            continue;
        };
        let Ok(id) = id.get().parse() else { continue };
        if !answered.insert(id) {
            report.repeated += 1;
            continue;
        }
        report.seconds = began.elapsed().as_secs_f64();
        match error {
            None => report.results += 1,
            Some(error)
                if error.code == -32001
                    && error.data.as_ref().is_some_and(|d| d["codexErrorInfo"] == "server_overloaded") =>
            {
                report.overloaded += 1;
            }
            Some(error) => *report.errors.entry(error.code).or_default() += 1,
        }
    }
    report.unanswered = requests - answered.len();
    report.memory = server.memory()?;
    sending.abort();
    Ok(report)
}
