//! Kills an app-server at random moments, and reports what is lost.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use trace_trials::{Profile, ServerCommand, kill};

/// Kills an app-server (kill -9) at random moments of its work, restarts it with the same home, and reports what is
/// lost.
///
/// Exits with status 1 if anything is lost.
#[derive(Debug, Parser)]
struct Args {
    /// Command of the server, for example "trace serve"; --listen URL is added
    #[arg(long)]
    server: String,
    /// Environment variables by which the server gets its home
    #[arg(long, value_enum, default_value = "trace")]
    profile: Profile,
    /// How often the server is killed
    #[arg(long, default_value_t = 100)]
    moments: usize,
    /// Seed of the random moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Most milliseconds that the server works before it is killed
    #[arg(long, default_value_t = 3000)]
    longest_ms: u64,
    /// The trace program, which must be able to reduce every bundle
    #[arg(long)]
    trace: Option<PathBuf>,
    /// The Codex CLI's own binary, which must accept every bundle after a repair
    #[arg(long, requires = "trace")]
    peer: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program, not a library")]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let command = ServerCommand::parse(&args.server, args.profile)?;
    let plan = kill::Plan {
        moments: args.moments,
        seed: args.seed,
        longest: Duration::from_millis(args.longest_ms),
        trace: args.trace,
        peer: args.peer,
    };
    let report = kill::run(&command, &plan).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::from(u8::from(!report.findings.is_empty())))
}
