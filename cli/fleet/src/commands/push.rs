//! `trace fleet push` and `trace fleet watch`: bring finished sessions to object storage.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Runtime;
use trace_fleet::Store;
use trace_fleet::push::{self, DEFAULT_QUIET, Observer, Options, Report};
use trace_fleet::sessions;
use trace_recorder::pack::Level;
use trace_recorder::redact::Rules;

use super::{parse_age, runtime, stop_flag, store_options};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, bytes, number};

/// Time between two looks of `watch`, if nothing else is said, in seconds.
const DEFAULT_EVERY_SECONDS: u64 = 60;

/// How often `watch` asks whether it was interrupted.
const NAP: Duration = Duration::from_millis(200);

/// Largest file of literals, in bytes.
const MAX_LITERALS_BYTES: u64 = 16 << 20;

/// What `push` and `watch` have in common.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Folders with bundles or sessions of other agents, and the URL to which they are pushed
    #[arg(required = true, num_args = 2.., value_name = "ROOT... URL")]
    places: Vec<String>,
    /// Team of the sessions: they are pushed to the folder team=NAME
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Replace secrets, as `trace redact` does
    #[arg(long)]
    redact: bool,
    /// Also replace each line of a file wherever it occurs
    #[arg(long, value_name = "FILE", requires = "redact")]
    literal_file: Option<PathBuf>,
    /// A secret text that is mixed into the hashes of placeholders
    #[arg(long, value_name = "TEXT", requires = "redact", env = "TRACE_FLEET_SALT", hide_env_values = true)]
    salt: Option<String>,
    /// Time without a change after which a session without an end counts as finished, such as 15m [default: 15m]
    #[arg(long, value_name = "AGE", value_parser = parse_quiet)]
    quiet_for: Option<Duration>,
    /// Name of this machine in the receipts [default: its host name]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
    /// Compression level, from 1 (fast) to 22 (small) [default: 19]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    level: Option<i32>,
    /// Number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// Uploads finished sessions, packed and once each
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet push ~/.codex/sessions ~/.claude/projects s3://bucket/sessions --team red --redact
  trace fleet push traces file:///mnt/share/sessions

A session is finished if its log has an end, or nothing was written to it for a while. It is packed, and uploaded once, \
however often the command runs or is killed; if it goes on later, it is uploaded again in the same place. `trace fleet ingest \
URL` reads what was pushed. With --redact, a session of which a part cannot be read is not pushed.

--json writes an object with found, pushed, known, unfinished, bytes, secrets, failed and stopped.

Exit codes: 0 all finished sessions are there; 1 one could not be pushed; 2 wrong usage; 130 interrupted.")]
pub(crate) struct PushArgs {
    #[command(flatten)]
    shared: Shared,
    /// Write the result as JSON, described below
    #[arg(long)]
    json: bool,
}

/// Uploads sessions as they finish, until it is interrupted
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet watch ~/.codex/sessions s3://bucket/sessions --team red --redact

Does what `trace fleet push` does, again and again. A store that fails is tried again at the next look.

Exit codes: 130 interrupted; 2 wrong usage.")]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    shared: Shared,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_EVERY_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

fn parse_quiet(text: &str) -> Result<Duration, String> {
    let age = parse_age(text).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
    age.ok_or_else(|| "expected an age such as 15m or 2h".to_owned())
}

/// Returns the name of this machine, or an empty text if the system does not tell it.
fn host_name() -> String {
    let read = |path| std::fs::read_to_string(path).ok().map(|name| name.trim().to_owned());
    read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname")).unwrap_or_default()
}

impl Shared {
    fn options(&self) -> Result<Options, Failure> {
        let mut options = Options {
            team: self.team.clone(),
            origin: self.origin.clone().unwrap_or_else(host_name),
            quiet: self.quiet_for.unwrap_or(DEFAULT_QUIET),
            ..Options::default()
        };
        if let Some(level) = self.level {
            options.level = Level::new(level).map_err(|error| Failure::usage(error.to_string()))?;
        }
        if let Some(jobs) = self.jobs {
            options.jobs = jobs.into();
        }
        if self.redact {
            let mut rules = Rules::default();
            let mut name = "redacted".to_owned();
            if let Some(path) = &self.literal_file {
                let unusable =
                    |error: anyhow::Error| Failure::data(error.context(format!("{} cannot be used", path.display())));
                if std::fs::metadata(path).map_err(|error| unusable(error.into()))?.len() > MAX_LITERALS_BYTES {
                    return Err(unusable(anyhow::anyhow!("it is larger than {MAX_LITERALS_BYTES} bytes")));
                }
                let lines = std::fs::read_to_string(path).map_err(|error| unusable(error.into()))?;
                for line in lines.lines().filter(|line| !line.is_empty()) {
                    rules = rules.with_literal(line).map_err(|error| unusable(error.into()))?;
                }
                name.push('\n');
                name.push_str(&lines);
            }
            if let Some(salt) = &self.salt {
                rules = rules.with_salt(salt);
            }
            options.rules = Some(rules);
            options.rules_name = name;
        }
        Ok(options)
    }

    fn look(
        &self,
        options: &Options,
        runtime: &Runtime,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Report, Failure> {
        let (url, roots) = self.places.split_last().ok_or_else(|| Failure::usage("a ROOT and a URL are needed"))?;
        let settings = store_options();
        let store = Store::open(url, &settings)?;
        let mut found = Vec::new();
        for root in roots {
            found.extend(sessions::find(root, &settings, runtime.handle()).map_err(Failure::data)?);
        }
        let found = sessions::unique(found);
        Ok(push::push(&found, &store, options, runtime.handle(), stop, observer)?)
    }
}

struct Bar(ProgressBar);

impl Observer for Bar {
    fn planned(&self, sessions: usize) {
        self.0.set_length(sessions as u64);
    }

    fn done(&self) {
        self.0.inc(1);
    }
}

fn told(report: &Report) -> String {
    let count = |count: usize| number(count as u64);
    let mut text = format!("{} sessions pushed ({})", count(report.pushed), bytes(report.bytes));
    for (number, what) in [
        (report.known, "were there already"),
        (report.unfinished, "are not finished"),
        (report.secrets, "secrets replaced"),
        (report.failed.len(), "could not be pushed"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {} {what}", count(number)));
        }
    }
    text
}

fn say_failed(report: &Report) {
    for (address, why) in &report.failed {
        terminal::say(&format!("failed: {}: {why}", trace_text::line(address, trace_text::Usage::Command)));
    }
}

pub(crate) fn push(args: &PushArgs) -> Result<Ending, Failure> {
    let options = args.shared.options()?;
    let runtime = runtime()?;
    let stop = stop_flag()?;
    let is_shown = !args.json && std::io::stderr().is_terminal();
    let style = ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} sessions, {per_sec}, {eta} left");
    let bar = if is_shown { ProgressBar::new(0) } else { ProgressBar::hidden() };
    let bar = Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
    let report = args.shared.look(&options, &runtime, &stop, &bar);
    bar.0.finish_and_clear();
    let report = report?;
    say_failed(&report);
    let text = if args.json { serde_json::to_string(&report).map_err(Failure::data)? } else { told(&report) };
    terminal::print(&format!("{text}\n")).map_err(Failure::data)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Ending::Interrupted);
    }
    Ok(if report.failed.is_empty() { Ending::Done } else { Ending::Failed })
}

pub(crate) fn watch(args: &WatchArgs) -> Result<Ending, Failure> {
    let options = args.shared.options()?;
    let runtime = runtime()?;
    let stop = stop_flag()?;
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        match args.shared.look(&options, &runtime, &stop, &()) {
            Ok(report) => {
                say_failed(&report);
                if report.pushed > 0 {
                    terminal::print(&format!("{}\n", told(&report))).map_err(Failure::data)?;
                }
            }
            Err(failure) => {
                failure.show();
            }
        }
        while !stop.load(Ordering::Relaxed) && started.elapsed() < Duration::from_secs(args.every) {
            std::thread::sleep(NAP);
        }
    }
    Ok(Ending::Interrupted)
}
