//! The trial of a tree of agents that all work: the root agent spawns leads, each lead spawns workers, and all get one
//! task after the other.
//!
//! Runs with and without a recording alternate, so that the cost of the recording can be separated from other load of
//! the machine.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::client::Client;
use crate::model::{End, Model, Part, Reply};
use crate::numbers::{megabytes, table};
use crate::server::{Home, Memory, ServerCommand};

/// How long an agent waits for its children, in milliseconds.
const WAIT_MS: u64 = 60_000;

/// Words in the prompts of the root agent, the leads and the workers.
const PLAN: &str = "PLAN";
const LEAD: &str = "LEAD";
const WORK: &str = "WORK";

/// Parameters of the trial.
#[derive(Debug, Clone)]
pub struct Team {
    /// Number of leads that the root agent spawns.
    pub leads: usize,
    /// Number of workers that each lead spawns.
    pub workers: usize,
    /// Number of turns of each agent.
    pub turns: usize,
    /// Number of deltas in the text of each worker.
    pub pieces: usize,
    /// Time between two deltas.
    pub gap: Duration,
}

impl Team {
    /// Returns the number of agents below the root agent.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.leads * (1 + self.workers)
    }
}

/// Result of the trial.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Number of agents below the root agent.
    pub agents: usize,
    /// Number of turns of each agent.
    pub turns: usize,
    /// Number of requests to the model in each run.
    pub requests: u64,
    /// Runs with a recording.
    pub recorded: Vec<Run>,
    /// Runs without a recording.
    pub unrecorded: Vec<Run>,
}

/// Measurements of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Seconds from the start of the root agent's first turn to the end of its last.
    pub seconds: f64,
    /// Processor time of the server during the run, in seconds.
    pub processor_seconds: f64,
    /// Memory at the end.
    pub memory: Memory,
    /// Number of events in the bundle.
    pub events: usize,
    /// Size of the bundle with its payloads, in bytes.
    pub bytes: u64,
}

impl Report {
    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let row = |name: &str, runs: &[Run]| {
            let (seconds, most) =
                (median(runs, |run| run.seconds), |size: fn(&Run) -> u64| runs.iter().map(size).max());
            vec![
                name.to_owned(),
                format!("{seconds:.2} s"),
                format!("{:.2} s", median(runs, |run| run.processor_seconds)),
                megabytes(most(|run| run.memory.resident).unwrap_or_default()),
                megabytes(most(|run| run.memory.peak).unwrap_or_default()),
                format!("{:.0}", median(runs, |run| run.events as f64 / run.seconds)),
                megabytes(most(|run| run.bytes).unwrap_or_default()),
            ]
        };
        let rows = [row("recorded", &self.recorded), row("not recorded", &self.unrecorded)];
        let head = ["", "wall time", "processors", "memory after", "memory at most", "events/s", "bundle"];
        let share = |of: fn(&Run) -> f64| (median(&self.recorded, of) / median(&self.unrecorded, of) - 1.0) * 100.0;
        let each: Vec<String> = self
            .recorded
            .iter()
            .zip(&self.unrecorded)
            .map(|(with, without)| format!("{:+.1} %", (with.seconds / without.seconds - 1.0) * 100.0))
            .collect();
        format!(
            "{} agents with {} turns each, {} requests to the model\n{}\n\
             the recording costs {:+.1} % of wall time and {:+.1} % of processor time; run by run: {}\n",
            self.agents,
            self.turns,
            self.requests,
            table(head, rows),
            share(|run| run.seconds),
            share(|run| run.processor_seconds),
            each.join(", "),
        )
    }
}

fn median(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    let mut sorted: Vec<f64> = runs.iter().map(of).collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// Runs the trial `rounds` times with a recording and `rounds` times without.
///
/// # Errors
///
/// Returns an error if the server refuses a request, or if an agent does not complete all of its turns.
pub async fn run(command: &ServerCommand, team: &Team, rounds: usize) -> anyhow::Result<Report> {
    let plain = command.without_recording();
    let (mut recorded, mut unrecorded, mut requests) = (Vec::new(), Vec::new(), 0);
    // Remove the homes only at the end. For a while after a removal, file systems search longer for free inodes, which
    // would slow down the next run.
    let mut homes = Vec::new();
    for round in 0..rounds {
        // The second run of a round finds warm caches, so alternate which one is second.
        let with_first = round % 2 == 0;
        for with in [with_first, !with_first] {
            let (run, asked, home) = once(if with { command } else { &plain }, team).await?;
            // Write back the data of this run now, so that the next one does not pay for it.
            let written = Command::new("sync").arg("--file-system").arg(home.path()).status().await?;
            ensure!(written.success(), "sync failed: {written}");
            homes.push(home);
            ensure!((run.events > 0) == with, "{} events were recorded", run.events);
            requests = asked;
            if with { &mut recorded } else { &mut unrecorded }.push(run);
        }
    }
    Ok(Report { agents: team.agents(), turns: team.turns, requests, recorded, unrecorded })
}

async fn once(command: &ServerCommand, team: &Team) -> anyhow::Result<(Run, u64, Home)> {
    let players = team.clone();
    let model = Model::start(move |asked| play(&players, &asked.items())).await?;
    let limits = format!("[agents]\nmax_threads = {}\nmax_depth = 2\n", team.agents() + 1);
    let home = Home::new(&model.url(), &limits)?;
    let server = command.listen(&home).await?;
    let mut client = Client::connect(&server.url, &["turn/completed"]).await?;
    let thread = client.start_thread().await?;
    let (began, worked) = (Instant::now(), server.processor_time()?);
    let mut ended = 0;
    for round in 0..team.turns {
        let turn = client.start_turn(&thread, &format!("{PLAN} {round};")).await?;
        // The client receives the notifications of all agents' turns.
        client
            .wait("turn/completed", |params| {
                ended += usize::from(params["turn"]["status"] == "completed");
                params["turn"]["id"] == *turn
            })
            .await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let processor_seconds = (server.processor_time()? - worked).as_secs_f64();
    let expected = (team.agents() + 1) * team.turns;
    ensure!(ended == expected, "{ended} turns were completed, and {expected} were asked for");
    let memory = server.memory()?;
    client.close().await;
    server.end().await?;
    let (mut events, mut bytes) = (0, 0);
    for bundle in home.recorded()? {
        events += command.count_events(&bundle).await?;
        bytes += size(&bundle)?;
    }
    Ok((Run { seconds, processor_seconds, memory, events, bytes }, model.served(), home))
}

/// Returns the size of a file, or of all files below a folder.
fn size(path: &Path) -> anyhow::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

/// Answers as the models of a team would: spawns leads or workers, or gives them the next task, and waits for them.
fn play(team: &Team, items: &[Value]) -> Reply {
    let task = items.iter().enumerate().rev().find_map(|(at, item)| {
        let text = text(item);
        [PLAN, LEAD, WORK].into_iter().find_map(|role| Some((at, role, number(&text, role)?)))
    });
    let Some((at, role, round)) = task else { return Reply::say("nothing to do") };
    let (below, next, name) = match role {
        PLAN => (team.leads, LEAD, "lead"),
        LEAD => (team.workers, WORK, "worker"),
        _ => {
            let text = "what came of it, piece by piece. ".repeat(team.pieces.div_ceil(2));
            let part = Part::Say { text, pieces: team.pieces, gap: team.gap };
            return Reply::Stream(vec![part], End::Completed);
        }
    };
    let since = &items[at..];
    if !since.iter().any(|item| item["type"] == "function_call") {
        let call = |index: usize| {
            let message = format!("{next} {round};");
            let (tool, arguments) = if round == 0 {
                let task = json!({"task_name": format!("{name}_{index}"), "message": message, "fork_turns": "none"});
                ("spawn_agent", task)
            } else {
                ("followup_task", json!({"target": format!("{name}_{index}"), "message": message}))
            };
            agents(tool, arguments)
        };
        return Reply::Stream((0..below).map(call).collect(), End::Completed);
    }
    let answers =
        since.iter().filter(|item| item["type"] == "agent_message" && text(item).contains("FINAL_ANSWER")).count();
    if answers < below {
        return Reply::Stream(vec![agents("wait_agent", json!({"timeout_ms": WAIT_MS}))], End::Completed);
    }
    Reply::say("all of them are done")
}

fn agents(tool: &str, arguments: Value) -> Part {
    Part::Call { name: tool.to_owned(), namespace: Some("collaboration"), arguments }
}

/// Returns the text of a message from a user or another agent. Empty for messages of the model itself.
fn text(item: &Value) -> String {
    if item["type"] != "agent_message" && item["role"] != "user" {
        return String::new();
    }
    let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str().or(part["encrypted_content"].as_str())).collect()
}

/// Returns the number of a task.
fn number(text: &str, role: &str) -> Option<usize> {
    let (_, rest) = text.split_once(&format!("{role} "))?;
    rest.split_once(';')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seconds: f64) -> Run {
        Run { seconds, processor_seconds: 1.0, memory: Memory::default(), events: 10, bytes: 7 }
    }

    #[test]
    fn tasks_are_told_apart() {
        assert_eq!(number("PLAN 3;", PLAN), Some(3));
        assert_eq!(number("Message Type: NEW_TASK\nPayload:\nLEAD 12;", LEAD), Some(12));
        assert_eq!(number("LEAD 12;", WORK), None);
        let mail = json!({"type": "agent_message", "content": [{"type": "input_text", "text": "a "},
            {"type": "encrypted_content", "encrypted_content": "WORK 1;"}]});
        assert_eq!(text(&mail), "a WORK 1;");
        assert_eq!(text(&json!({"type": "message", "role": "assistant", "content": [{"text": "PLAN 1;"}]})), "");
    }

    #[test]
    fn agents_get_their_tasks_and_are_waited_for() {
        let team = Team { leads: 2, workers: 3, turns: 2, pieces: 4, gap: Duration::ZERO };
        let said = |kind: &str, text: &str| json!({"type": kind, "role": "user", "content": [{"type": "input_text", "text": text}]});
        let tools = |items: &[Value]| match play(&team, items) {
            Reply::Stream(parts, _) => parts
                .into_iter()
                .map(|part| match part {
                    Part::Call { name, arguments, .. } => {
                        format!("{name} {}", arguments["message"].as_str().unwrap_or(""))
                    }
                    Part::Say { pieces, .. } => format!("{pieces} pieces"),
                })
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let mut items = vec![said("message", "PLAN 0;")];
        assert_eq!(tools(&items), ["spawn_agent LEAD 0;"; 2]);
        items.push(json!({"type": "function_call"}));
        items.push(said("agent_message", "Message Type: FINAL_ANSWER"));
        assert_eq!(tools(&items), ["wait_agent "]);
        items.push(said("agent_message", "Message Type: FINAL_ANSWER"));
        assert_eq!(tools(&items), ["1 pieces"]);
        items.push(said("message", "PLAN 1;"));
        assert_eq!(tools(&items), ["followup_task LEAD 1;"; 2]);
        assert_eq!(tools(&[said("agent_message", "LEAD 0;")]), ["spawn_agent WORK 0;"; 3]);
        assert_eq!(tools(&[said("agent_message", "WORK 0;")]), ["4 pieces"]);
    }

    #[test]
    fn the_share_of_the_recording_is_that_of_the_medians() {
        assert!((median(&[run(3.0), run(1.0), run(2.0)], |run| run.seconds) - 2.0).abs() < 1e-9);
        assert!((median(&[run(1.0), run(2.0)], |run| run.seconds) - 1.5).abs() < 1e-9);
        let report = Report {
            agents: 2,
            turns: 1,
            requests: 5,
            recorded: vec![run(1.03), run(1.03)],
            unrecorded: vec![run(1.0), run(1.0)],
        };
        assert!(report.text().contains("costs +3.0 % of wall time and +0.0 % of processor time"), "{}", report.text());
    }
}
