//! `trace reduce`: reduces bundles to graphs.

mod report;
mod targets;

use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::argument::{self, StoredArg};
use crate::bundles;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, ReduceError, Reduction, reduce};

use self::report::{Report, Reports};
use self::targets::Job;
pub(crate) use self::targets::{Form, Target, file_target, state_path};
use crate::replace::replace;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{self, Terminal};

const AFTER_HELP: &str = "\
Examples:
  trace reduce traces/trace-1                  writes traces/trace-1/state.json
  trace reduce traces                          a state.json in or beside every bundle below traces
  trace reduce traces -o graphs                graphs/<name of the bundle>.json for each
  trace reduce traces/trace-1 -o - | jq .      to stdout
  trace reduce traces/trace-1 --compact        writes traces/trace-1/state.compact.json
  trace reduce traces -o - --compact           to stdout, one line per bundle
  trace reduce --strict traces/trace-1         only what the format allows
  trace reduce traces/trace-1.trace            a packed bundle; writes traces/trace-1.state.json

A bundle that is damaged, or that is still being written, is reduced as far as its events allow. What is missing is \
printed to stderr, and is in the `diagnostics` of the output if the bundle breaks a rule of its format:
  error[torn_tail] line 812: the last line breaks off after 77 bytes; its event is lost

The items of every request make state.json grow with the square of a session's length. --compact writes the same graph \
with these lists as ranges of shared lines, which grows with what is new; docs/compact/README.md describes the form and has \
readers for Python and JavaScript, and docs/schema/compact.schema.json is its schema.

Files are replaced atomically, and only their owner can read them, since they contain what the session saw.

Exit codes: 0 all reduced, even if damaged; 1 a bundle could not be read, was refused by --strict, or its output could \
not be written (the others were reduced); 2 wrong usage; 3 an internal error.";

/// Reduces bundles to the graph of their session, state.json
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReduceArgs {
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them
    #[arg(required = true, value_name = "BUNDLE", add = argument::sessions())]
    bundles: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// The output, instead of state.json in a directory or NAME.state.json beside a file: a file for one bundle, a directory for several, - for stdout
    #[arg(short, long, value_name = "FILE|DIR|-")]
    output: Option<PathBuf>,
    /// Refuse a bundle that breaks a rule of its format, and write nothing for it
    #[arg(long)]
    strict: bool,
    /// Number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write the compact form, state.compact.json: lists of items are ranges of shared lines
    #[arg(long)]
    compact: bool,
    /// Write state.json on one line, without white space
    #[arg(long, conflicts_with = "compact")]
    one_line: bool,
    /// Print nothing but failures
    #[arg(short, long)]
    quiet: bool,
    /// Read every request in full instead of comparing it with the one before; slow, and with the same result
    #[arg(long, hide = true)]
    verify: bool,
}

pub(crate) fn run(args: &ReduceArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let form = if args.compact { Form::Compact } else { Form::SpeltOut };
    let plan = targets::plan(&args.stored.of(&args.bundles)?, args.output.as_deref(), form)?;
    let run = Run {
        options: Options { strict: args.strict, verify: args.verify },
        form,
        style: if args.one_line { Style::Compact } else { Style::Pretty },
        is_only: plan.jobs.len() == 1,
    };
    let progress = progress_bar(plan.jobs.len(), args.quiet);
    let to_stdout = args.output.as_deref().is_some_and(targets::is_stdout);
    let reports = Reports::new(terminal, plan.jobs.len() + plan.failures.len(), args.quiet, to_stdout, progress);
    for failure in plan.failures {
        reports.failed_early(&failure);
    }

    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = plan.jobs.get(index) else { return };
            let outcome = catch_unwind(AssertUnwindSafe(|| run.reduce(job)))
                .unwrap_or_else(|payload| Err(Failure::panicked(payload.as_ref())));
            if reports.finished(index, job, outcome).is_break() {
                return;
            }
        }
    };
    match args.jobs {
        Some(jobs) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build().map_err(Failure::internal)?;
            if run.is_only || to_stdout {
                pool.install(work);
            } else {
                pool.broadcast(|_| work());
            }
        }
        // Without an explicit number of threads, no thread pool is started for a bundle that is too small to need one.
        // On stdout the graphs are written in order, so the bundles are also reduced in order.
        None if run.is_only || to_stdout => work(),
        // There is one loop per thread and not one task per bundle. A thread that waits for a part of its bundle helps
        // with parts of other bundles, but does not begin another bundle, so there are never more bundles in memory
        // than threads.
        None => {
            rayon::broadcast(|_| work());
        }
    }
    reports.finish()
}

/// Options that apply to all bundles.
struct Run {
    options: Options,
    form: Form,
    /// Layout of `state.json`. The compact form has only one.
    style: Style,
    is_only: bool,
}

impl Run {
    fn reduce(&self, job: &Job) -> Result<Report, Failure> {
        let started = Instant::now();
        let bundle = bundles::open(&job.bundle)?;
        let reduction = reduce(&bundle, self.options).map_err(|ReduceError::Refused(diagnostic)| {
            Failure::data(anyhow::anyhow!("refused: {diagnostic}"))
                .with_hint("without --strict, a damaged bundle is reduced as far as its events allow")
        })?;
        let reduced = started.elapsed();
        self.write(&reduction, &job.target)?;
        let report = Report::new(&reduction);
        tracing::info!(
            bundle = %job.bundle.display(),
            reduce_us = reduced.as_micros() as u64,
            write_us = (started.elapsed() - reduced).as_micros() as u64,
            "reduced"
        );
        if self.is_only {
            // The process is about to end. Freeing millions of objects one by one would only delay that.
            std::mem::forget(reduction);
        }
        Ok(report)
    }

    fn write_to(&self, reduction: &Reduction, out: impl Write) -> io::Result<()> {
        match self.form {
            Form::SpeltOut => state_json::write(reduction, self.style, out),
            Form::Compact => state_json::write_compact(reduction, out),
        }
    }

    fn write(&self, reduction: &Reduction, target: &Target) -> Result<(), Failure> {
        match target {
            Target::Replace(path) => replace(path, |file| self.write_to(reduction, file)).map_err(|error| {
                let failure = Failure::data(error).context(format!("cannot write {}", path.display()));
                match path.parent() {
                    Some(parent) if parent.is_dir() || parent.as_os_str().is_empty() => {
                        failure.with_hint("-o FILE writes it elsewhere")
                    }
                    Some(parent) => failure.with_hint(format!("`mkdir -p {}` first", parent.display())),
                    None => failure,
                }
            }),
            Target::WriteInto(path) => std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|file| self.write_to(reduction, file))
                .map_err(|error| Failure::data(error).context(format!("cannot write to {}", path.display()))),
            Target::Stdout => {
                let mut stdout = output::json_stdout();
                self.write_to(reduction, &mut stdout)
                    .and_then(|()| stdout.write_all(b"\n"))
                    .and_then(|()| stdout.flush())
                    .map_err(output::stdout_failure)
            }
        }
    }
}

fn progress_bar(bundles: usize, quiet: bool) -> ProgressBar {
    if quiet || bundles < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} bundles, {eta} left");
    ProgressBar::new(bundles as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
