//! Puts an app-server under load, and reports measurements.

use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};
use serde_json::{Map, Value, json};
use trace_trials::{Profile, ServerCommand, burst, crowd, latency, server, stall, tree};

/// Puts an app-server under load.
///
/// The option `--listen URL` is added to the command of the server. The server gets a new home with a config.toml that
/// names a stand-in for the model, and is ended after the trial. Run this on a machine that does nothing else, or the
/// figures mean nothing.
#[derive(Debug, Parser)]
struct Args {
    /// Command of the server, for example "trace serve"
    #[arg(long)]
    server: String,
    /// Environment variables by which the server gets its home
    #[arg(long, value_enum, default_value = "trace")]
    profile: Profile,
    /// Command of another server to compare with (latency only)
    #[arg(long)]
    against: Option<String>,
    /// Environment variables by which the other server gets its home
    #[arg(long, value_enum, default_value = "codex")]
    against_profile: Profile,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    trial: Trial,
}

#[derive(Debug, Clone, Subcommand)]
enum Trial {
    /// Many idle connections and many running turns, while threads are read
    Crowd {
        /// Number of idle connections
        #[arg(long, default_value_t = 1000)]
        idle: usize,
        /// Number of turns that run at the same time
        #[arg(long, default_value_t = 100)]
        turns: usize,
        /// Seconds for which threads are read
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Number of deltas in the text of a turn
        #[arg(long, default_value_t = 200)]
        pieces: usize,
        /// Milliseconds between two deltas
        #[arg(long, default_value_t = 50)]
        gap_ms: u64,
        /// Milliseconds between two readings
        #[arg(long, default_value_t = 5)]
        pause_ms: u64,
    },
    /// Many requests in one burst over the standard streams
    Burst {
        /// Number of requests
        #[arg(long, default_value_t = 20_000)]
        requests: usize,
        /// Method of the requests
        #[arg(long, default_value = "thread/loaded/list")]
        method: String,
        /// Seconds without a response after which the other requests count as unanswered
        #[arg(long, default_value_t = 10)]
        patience_seconds: u64,
    },
    /// A client that stops reading while others work
    Stall {
        /// Seconds for which the client does not read
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Number of threads that work
        #[arg(long, default_value_t = 10)]
        threads: usize,
        /// Number of deltas in the text of a turn
        #[arg(long, default_value_t = 200)]
        pieces: usize,
        /// Milliseconds between two deltas
        #[arg(long, default_value_t = 1)]
        gap_ms: u64,
    },
    /// Turns with one short answer, one after the other
    Latency {
        /// Number of rounds, which alternate between the servers
        #[arg(long, default_value_t = 10)]
        rounds: usize,
        /// Number of turns in a round
        #[arg(long, default_value_t = 20)]
        turns: usize,
    },
    /// A tree of agents that all work, with and without a recording
    Tree {
        /// Number of leads that the root agent spawns
        #[arg(long, default_value_t = 10)]
        leads: usize,
        /// Number of workers that each lead spawns
        #[arg(long, default_value_t = 19)]
        workers: usize,
        /// Number of turns of each agent
        #[arg(long, default_value_t = 20)]
        turns: usize,
        /// Number of deltas in the text of each worker
        #[arg(long, default_value_t = 20)]
        pieces: usize,
        /// Milliseconds between two deltas
        #[arg(long, default_value_t = 0)]
        gap_ms: u64,
        /// Number of rounds, each with one run with a recording and one without
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// All trials except the tree, with their defaults
    All,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    server::allow_many_files();
    let command = ServerCommand::parse(&args.server, args.profile)?;
    let against = args.against.as_deref().map(|text| ServerCommand::parse(text, args.against_profile)).transpose()?;
    let trials = match &args.trial {
        Trial::All => ["latency", "crowd", "burst", "stall"]
            .into_iter()
            .map(|name| Args::try_parse_from(["load-server", "--server", "-", name]).map(|args| args.trial))
            .collect::<Result<Vec<_>, _>>()
            .context("the default trials cannot be read")?,
        one => vec![one.clone()],
    };
    let mut reports = Map::new();
    for trial in trials {
        let (name, report, text) = run(&command, against.as_ref(), &trial).await?;
        if !args.json {
            say(&format!("{name}\n\n{text}"))?;
        }
        reports.insert(name.to_owned(), report);
    }
    if args.json {
        say(&serde_json::to_string_pretty(&reports)?)?;
    }
    Ok(())
}

async fn run(
    command: &ServerCommand,
    against: Option<&ServerCommand>,
    trial: &Trial,
) -> anyhow::Result<(&'static str, Value, String)> {
    Ok(match trial {
        Trial::Crowd { idle, turns, seconds, pieces, gap_ms, pause_ms } => {
            let crowd = crowd::Crowd {
                idle: *idle,
                turns: *turns,
                time: Duration::from_secs(*seconds),
                pieces: *pieces,
                gap: Duration::from_millis(*gap_ms),
                pause: Duration::from_millis(*pause_ms),
            };
            let report = crowd::run(command, &crowd).await?;
            ("crowd", json!(report), report.text())
        }
        Trial::Burst { requests, method, patience_seconds } => {
            let report = burst::run(command, *requests, method, Duration::from_secs(*patience_seconds)).await?;
            ("burst", json!(report), report.text())
        }
        Trial::Stall { seconds, threads, pieces, gap_ms } => {
            let (time, gap) = (Duration::from_secs(*seconds), Duration::from_millis(*gap_ms));
            let report = stall::run(command, &stall::Stall { time, threads: *threads, pieces: *pieces, gap }).await?;
            ("stall", json!(report), report.text())
        }
        Trial::Latency { rounds, turns } => {
            let commands: Vec<ServerCommand> = std::iter::once(command).chain(against).cloned().collect();
            let reports = latency::run(&commands, *rounds, *turns).await?;
            ("latency", json!(reports), latency::text(&reports))
        }
        Trial::Tree { leads, workers, turns, pieces, gap_ms, rounds } => {
            let team = tree::Team {
                leads: *leads,
                workers: *workers,
                turns: *turns,
                pieces: *pieces,
                gap: Duration::from_millis(*gap_ms),
            };
            let report = tree::run(command, &team, *rounds).await?;
            ("tree", json!(report), report.text())
        }
        Trial::All => anyhow::bail!("the trial `all` contains itself"),
    })
}

#[expect(clippy::print_stdout, reason = "a program, not a library")]
fn say(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
