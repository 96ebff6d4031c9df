//! Records a session in real time and prints what is acknowledged. The recording can be watched, interrupted or killed.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use trace_recorder::write::{Durability, Form, NewSession, TraceRoot, WriterOptions};
use trace_samples::live::{LiveSession, ROOT_THREAD_ID, run};

/// Records a session of simulated agents in real time.
///
/// Prints `bundle PATH` when the recording starts, `acknowledged SEQ` after every step of an agent, and `complete` at the
/// end. All acknowledged events are in the bundle even if the process is killed.
#[derive(Debug, Parser)]
struct Args {
    /// Directory in which the bundle is created
    root: PathBuf,
    /// Children of the root agent
    #[arg(long, default_value_t = 2)]
    children: usize,
    /// Commands that every agent runs
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Bytes that every command prints
    #[arg(long, default_value_t = 1_000)]
    output_bytes: usize,
    /// Milliseconds that the model takes for a response
    #[arg(long, default_value_t = 20)]
    model_ms: u64,
    /// Milliseconds that a command takes
    #[arg(long, default_value_t = 5)]
    command_ms: u64,
    /// Continue this bundle with one more turn of its root thread, instead of starting a new one
    #[arg(long)]
    reopen: Option<PathBuf>,
    /// Make acknowledged events survive a power failure as well
    #[arg(long)]
    synced: bool,
    /// Record into one file that grows, instead of a directory
    #[arg(long)]
    packed: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let durability = if args.synced { Durability::Synced } else { Durability::Buffered };
    let form = if args.packed { Form::Packed } else { Form::Directory };
    let root = TraceRoot::new(&args.root, WriterOptions { form, durability, ..WriterOptions::default() });
    if let Some(bundle) = &args.reopen {
        let writer = root.reopen(bundle)?;
        let thread = writer.thread(ROOT_THREAD_ID).context("the bundle has no first thread")?;
        thread.resume();
        thread.start_turn("one-more-turn").end(trace_recorder::format::ExecutionStatus::Completed);
        thread.end(trace_recorder::format::RolloutStatus::Completed);
        writer.end(trace_recorder::format::RolloutStatus::Completed);
        writer.complete()?;
        return say("complete");
    }
    let writer = root.start(&NewSession::new(ROOT_THREAD_ID))?;
    say(&format!("bundle {}", writer.path().context("the writer is disabled")?.display()))?;
    let session = LiveSession {
        children: args.children,
        steps: args.steps,
        output_bytes: args.output_bytes,
        model_latency: Duration::from_millis(args.model_ms),
        command_latency: Duration::from_millis(args.command_ms),
    };
    run(&writer, &session, &|| {
        // If the recording has stopped, `complete` reports it at the end. The session continues.
        if writer.flush().is_ok() {
            let acknowledged = writer.stats().map_or(0, |stats| stats.acknowledged_seq);
            let _ = say(&format!("acknowledged {acknowledged}"));
        }
    });
    writer.complete()?;
    say("complete")
}

#[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
fn say(line: &str) -> anyhow::Result<()> {
    println!("{line}");
    Ok(std::io::stdout().flush()?)
}
