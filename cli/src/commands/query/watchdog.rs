//! Ends the process when the engine does not come back from one step after the time is up.
//!
//! The engine looks at the clock between its steps, and one step, such as a search in a long text for a long one, can take
//! for ever. Nothing can stop that from within, so the process ends as it would have: with a message, without the file of
//! an unfinished database, and with exit code 1. Time in which an answer is written counts for nobody: its reader may be a
//! person.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use trace_query::{QueryError, TakeAnswer, Value};

use super::problem::failure;
use crate::ui::output::Terminal;

/// How long a step may go on after the time is up, before it counts as one that does not end.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// Watches one query. Dropped when the query has come to its end.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// Grows before and after each write: odd while one is under way.
    writes: Arc<AtomicU64>,
    _end: Option<Sender<()>>,
}

impl Watchdog {
    /// Begins to watch a query that has so much time, if its time is limited at all. `unfinished` is removed if the process
    /// has to end.
    pub(super) fn begin(limit: Option<Duration>, unfinished: Option<&Path>, terminal: &Terminal) -> Self {
        let writes = Arc::new(AtomicU64::new(0));
        let end = limit.map(|limit| {
            let (sender, end) = channel::<()>();
            let (seen, unfinished, terminal) = (Arc::clone(&writes), unfinished.map(Path::to_owned), *terminal);
            thread::spawn(move || {
                let mut wait = limit;
                let mut before = None;
                while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    let writes = seen.load(Ordering::Acquire);
                    if writes % 2 == 0 && before == Some(writes) {
                        stop(limit, unfinished, &terminal);
                    }
                    (before, wait) = (Some(writes), GRACE);
                }
            });
            sender
        });
        Self { writes, _end: end }
    }

    /// Lets the watchdog know when an answer is written.
    pub(super) fn watched<'w>(&'w self, answer: &'w mut dyn TakeAnswer) -> Watched<'w> {
        Watched { writes: &self.writes, answer }
    }
}

#[expect(clippy::exit, reason = "the main thread does not come back")]
fn stop(limit: Duration, unfinished: Option<PathBuf>, terminal: &Terminal) -> ! {
    if let Some(path) = unfinished {
        let _ = std::fs::remove_file(path);
    }
    let failure = failure(QueryError::TimedOut { limit }, None);
    let mut lines = terminal.error_line(&failure.message());
    lines.push_str(&terminal.hint_line("one step of it did not end, such as a search in a long text for a long one"));
    let _ = io::stderr().write_all(lines.as_bytes());
    std::process::exit(failure.kind().exit_code().into())
}

/// Takes an answer on behalf of another.
pub(super) struct Watched<'w> {
    writes: &'w AtomicU64,
    answer: &'w mut dyn TakeAnswer,
}

impl Watched<'_> {
    fn write(&mut self, write: impl FnOnce(&mut dyn TakeAnswer) -> io::Result<()>) -> io::Result<()> {
        self.writes.fetch_add(1, Ordering::AcqRel);
        let written = write(self.answer);
        self.writes.fetch_add(1, Ordering::AcqRel);
        written
    }
}

impl TakeAnswer for Watched<'_> {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.write(|answer| answer.columns(names))
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.write(|answer| answer.row(values))
    }
}
