//! Prints the result for each bundle: a line of counts to stdout, diagnostics and failures to stderr.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use trace_reducer::{Diagnostic, Reduction, Severity};

use super::targets::{Job, Target};
use crate::ui::diagnostics;
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;
use crate::ui::text;

/// Most diagnostics of one bundle that are printed.
const MAX_DIAGNOSTICS: usize = 20;

/// The part of a reduction that is reported. It does not keep the reduction in memory.
pub(super) struct Report {
    counts: String,
    diagnostics: Vec<Diagnostic>,
    left_out: u64,
}

impl Report {
    pub(super) fn new(reduction: &Reduction) -> Self {
        let Reduction { trace, diagnostics: found } = reduction;
        let mut counts = [
            (trace.threads.len(), "thread"),
            (trace.turns.len(), "turn"),
            (trace.items.len(), "item"),
            (trace.tools.len(), "tool"),
            (trace.edges.len(), "edge"),
        ]
        .map(|(count, noun)| text::count(count as u64, noun))
        .join(", ");
        for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")] {
            let count = diagnostics::count_of(found, severity);
            if count > 0 {
                write!(counts, ", {}", text::count(count, noun)).expect("writes to memory");
            }
        }
        let all = found.count_at_least(Severity::Note);
        let shown: Vec<_> = found.iter().take(MAX_DIAGNOSTICS).cloned().collect();
        Self { counts, left_out: all - shown.len() as u64, diagnostics: shown }
    }
}

/// Prints the reports of all bundles in their order.
pub(super) struct Reports<'t> {
    terminal: &'t Terminal,
    names_bundles: bool,
    bundles: usize,
    quiet: bool,
    to_stdout: bool,
    progress: ProgressBar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: usize,
    /// Reports of bundles that were ready before their turn.
    waiting: BTreeMap<usize, Lines>,
    failed: usize,
    worst: Option<Kind>,
    hints: HashSet<String>,
}

#[derive(Default)]
struct Lines {
    stdout: String,
    stderr: String,
    hint: Option<String>,
}

impl<'t> Reports<'t> {
    pub(super) fn new(
        terminal: &'t Terminal,
        bundles: usize,
        quiet: bool,
        to_stdout: bool,
        progress: ProgressBar,
    ) -> Self {
        let names_bundles = bundles > 1;
        Self { terminal, names_bundles, bundles, quiet, to_stdout, progress, state: Mutex::default() }
    }

    /// Takes the result of a job, and prints it after those of all jobs before it. Returns `Break` if the reader of the
    /// output closed it.
    pub(super) fn finished(&self, index: usize, job: &Job, outcome: Result<Report, Failure>) -> ControlFlow<()> {
        if outcome.as_ref().is_err_and(Failure::is_broken_pipe) {
            return ControlFlow::Break(());
        }
        let lines = match &outcome {
            Ok(report) => self.describe(job, report),
            Err(failure) => self.describe_failure(Some(&job.bundle), failure),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(failure) = outcome {
            state.note(&failure);
        }
        state.waiting.insert(index, lines);
        loop {
            let next = state.next;
            let Some(lines) = state.waiting.remove(&next) else { break };
            state.next += 1;
            self.say(&mut state, &lines);
        }
        self.progress.inc(1);
        ControlFlow::Continue(())
    }

    /// Prints a failure of an argument that is no bundle.
    pub(super) fn failed_early(&self, failure: &Failure) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.note(failure);
        let lines = self.describe_failure(None, failure);
        self.say(&mut state, &lines);
    }

    pub(super) fn finish(self) -> Result<Ending, Failure> {
        self.progress.finish_and_clear();
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.failed > 0 && self.bundles > 1 {
            let message = format!("{} of {} not reduced\n", state.failed, text::count(self.bundles as u64, "bundle"));
            let _ = io::stderr().write_all(message.as_bytes());
        }
        Ok(state.worst.map_or(Ending::Done, Ending::Failed))
    }

    fn describe(&self, job: &Job, report: &Report) -> Lines {
        let mut lines = Lines::default();
        if self.quiet {
            return lines;
        }
        let path = match &job.target {
            Target::Replace(path) | Target::WriteInto(path) => path,
            Target::Stdout => &job.bundle,
        };
        let line = format!("{}: {}\n", shown(path), report.counts);
        if self.to_stdout {
            lines.stderr.push_str(&line);
        } else {
            lines.stdout.push_str(&line);
        }
        let prefix = if self.names_bundles { format!("{}: ", shown(&job.bundle)) } else { String::new() };
        for diagnostic in &report.diagnostics {
            lines.stderr.push_str(&prefix);
            lines.stderr.push_str(&diagnostics::line(diagnostic, self.terminal.paint_stderr()));
            lines.stderr.push('\n');
        }
        if report.left_out > 0 {
            writeln!(lines.stderr, "{prefix}... and {} more", text::number(report.left_out)).expect("writes to memory");
        }
        lines
    }

    fn describe_failure(&self, bundle: Option<&Path>, failure: &Failure) -> Lines {
        let mut message = failure.message();
        // Most messages contain a path in the bundle already.
        if let Some(bundle) = bundle.map(shown).filter(|bundle| !message.contains(bundle)) {
            message = format!("{bundle}: {message}");
        }
        Lines {
            stdout: String::new(),
            stderr: self.terminal.error_line(&message),
            hint: failure.hint().map(str::to_owned),
        }
    }

    fn say(&self, state: &mut State, lines: &Lines) {
        let mut stderr = lines.stderr.clone();
        if let Some(hint) = &lines.hint
            && state.hints.insert(hint.clone())
        {
            stderr.push_str(&self.terminal.hint_line(hint));
        }
        let write = || {
            // The command was asked for files. If the reader of the lines closed the output, the files are still
            // written.
            let _ = io::stdout().lock().write_all(lines.stdout.as_bytes());
            let _ = io::stderr().lock().write_all(stderr.as_bytes());
        };
        // The progress bar is hidden only while something is printed to the same terminal.
        let meets_bar = !stderr.is_empty() || (!lines.stdout.is_empty() && io::stdout().is_terminal());
        if meets_bar { self.progress.suspend(write) } else { write() }
    }
}

impl State {
    fn note(&mut self, failure: &Failure) {
        self.failed += 1;
        self.worst = self.worst.max(Some(failure.kind()));
    }
}

fn shown(path: &Path) -> String {
    text::clean(&path.to_string_lossy()).into_owned()
}
