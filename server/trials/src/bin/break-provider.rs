//! Breaks the model provider of an app-server, and checks what its clients and bundles report.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use trace_trials::{Profile, ServerCommand, provider};

/// Breaks the model provider of an app-server in every known way, and compares what clients and bundles report with the
/// expected reports.
///
/// Exits with status 1 if anything differs.
#[derive(Debug, Parser)]
struct Args {
    /// Command of the server, for example "trace serve"; --listen URL is added
    #[arg(long)]
    server: String,
    /// Environment variables by which the server gets its home
    #[arg(long, value_enum, default_value = "trace")]
    profile: Profile,
    /// The trace program, which reads the bundles
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program, not a library")]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let command = ServerCommand::parse(&args.server, args.profile)?;
    let report = provider::run(&command, args.trace.as_deref()).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::from(u8::from(!report.is_good())))
}
