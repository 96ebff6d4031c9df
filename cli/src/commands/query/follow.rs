//! `trace query --follow`: answers a query again whenever a session was written to.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use trace_explain::Session;
use trace_explain::prices::Prices;
use trace_query::{Builder, Limits, Query};

use super::answer::{self, Form};
use super::problem::failure;
use super::watchdog::Watchdog;
use crate::session::{self, Followed};
use crate::ui::failed::Failed;
use crate::ui::failure::Failure;
use crate::ui::output::Terminal;

/// Shortest pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

/// The pause is at least this many times as long as the last answer took.
const PAUSES_PER_ANSWER: u32 = 4;

/// A session, and a way to its newer states.
struct Source {
    path: PathBuf,
    name: String,
    newer: Option<Box<dyn FnMut() -> Option<Session> + Send>>,
    /// The newest state, until it is queried.
    session: Option<Session>,
}

/// Answers the query until the user interrupts it, or until no session can grow.
pub(super) fn run(
    form: Form,
    named: &[(PathBuf, PathBuf)],
    query: &Query,
    prices: Option<&Prices>,
    limits: &Limits,
    terminal: &Terminal,
    failed: &mut Failed<'_>,
) -> Result<(), Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed)).map_err(Failure::internal)?;
    let mut sources = Vec::new();
    for (path, name) in named {
        match session::open_to_follow(path) {
            Ok(Followed { session, newer }) => {
                let name = name.to_string_lossy().into_owned();
                sources.push(Source { path: path.clone(), name, newer, session: Some(session) });
            }
            Err(failure) => failed.say(&failure, Some(path)),
        }
    }
    let mut is_first = true;
    while !sources.is_empty() && !interrupted.load(Ordering::Relaxed) {
        let began = Instant::now();
        // The tables are made anew, because a session that has grown can have other ends of what was open before.
        let mut builder = Builder::in_memory(query).map_err(|error| failure(error, None))?.with_prices(prices.cloned());
        for source in &mut sources {
            // The tables take a session, so one that has not grown is read again.
            match source.session.take().map_or_else(|| session::open(&source.path), Ok) {
                Ok(session) => builder.add(&source.name, session).map_err(|error| failure(error, None))?,
                // A file that is just replaced can be read the next time.
                Err(failure) => failed.say(&failure, Some(&source.path)),
            }
        }
        let mut database = builder.finish().map_err(|error| failure(error, None))?;
        let is_later = !std::mem::replace(&mut is_first, false);
        if is_later && matches!(form, Form::Table) {
            terminal.print("\n")?;
        }
        let watchdog = Watchdog::begin(limits.time, None, terminal);
        answer::write(form, terminal, &mut database, query, limits, &watchdog)?;
        drop((watchdog, database));
        if sources.iter().all(|source| source.newer.is_none()) {
            break;
        }
        let pause = PAUSE.max(began.elapsed() * PAUSES_PER_ANSWER);
        while !interrupted.load(Ordering::Relaxed) {
            wait(pause, &interrupted);
            for source in &mut sources {
                source.session = source.newer.as_mut().and_then(|newer| newer());
            }
            if sources.iter().any(|source| source.session.is_some()) {
                break;
            }
        }
    }
    Ok(())
}

/// Waits, but not long after the user interrupted the command.
fn wait(pause: Duration, interrupted: &AtomicBool) {
    let until = Instant::now() + pause;
    while Instant::now() < until && !interrupted.load(Ordering::Relaxed) {
        thread::sleep(PAUSE.min(until.saturating_duration_since(Instant::now())));
    }
}
