//! Ends the process if a query does not react to its timeout.
//!
//! The SQL engine checks the clock between steps, and a single step, such as the search for a long text in another long
//! text, can take very long. Such a step cannot be cancelled from inside the process. So the watchdog ends the process
//! with the same result: it prints the message, removes the file of an unfinished database, and exits with code 1. The
//! time in which the answer is written does not count, since its reader may be a person.

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

/// How long a step may go on after the timeout, before the watchdog ends the process.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// Watches one query. It is dropped when the query has ended.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// The number of writes, counted at their beginning and at their end. It is odd during a write.
    writes: Arc<AtomicU64>,
    _end: Option<Sender<()>>,
}

impl Watchdog {
    /// Starts to watch a query, if its time is limited. If the process has to end, the file at `unfinished` is removed.
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

    /// Wraps the writer of the answer, so that the watchdog knows when it writes.
    pub(super) fn watched<'w>(&'w self, answer: &'w mut dyn TakeAnswer) -> Watched<'w> {
        Watched { writes: &self.writes, answer }
    }
}

#[expect(clippy::exit, reason = "the main thread is blocked in a step")]
fn stop(limit: Duration, unfinished: Option<PathBuf>, terminal: &Terminal) -> ! {
    if let Some(path) = unfinished {
        let _ = std::fs::remove_file(path);
    }
    let failure = failure(QueryError::TimedOut { limit }, None);
    let mut lines = terminal.error_line(&failure.message());
    lines.push_str(&terminal.hint_line("one step did not end, such as a search for a long text in another long text"));
    let _ = io::stderr().write_all(lines.as_bytes());
    std::process::exit(failure.kind().exit_code().into())
}

/// Forwards an answer to another writer and counts its writes.
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
