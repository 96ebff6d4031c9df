//! Formats approval requests exactly as the command will run or the files will change.
//!
//! All texts come from a model, or from a file that a model named, so each is escaped: a command is shown in numbered
//! rows, everything else in one row, and no row of a text can be mistaken for a row of the question ([`trace_text`]).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use trace_protocol::approval::CommandExecutionRequestApprovalParams;
use trace_protocol::item::{FileUpdateChange, PatchChangeKind};
use trace_runtime::tool::exec::program::{self, Programs, SearchPath};
use trace_text::{Block, BlockLimits, Findings, LeftOut, Row, Usage};

use crate::ui::output::Paint;
use crate::ui::text;

/// Most rows of a command that are shown from its beginning and from its end, unless the user asks for all.
const HEAD_ROWS: usize = 24;
const TAIL_ROWS: usize = 12;

/// Most files of a change that are shown from the first and from the last, unless the user asks for all.
const HEAD_FILES: usize = 24;
const TAIL_FILES: usize = 12;

/// Fewest columns of a row, even if the terminal is narrower.
const MIN_COLUMNS: usize = 20;

/// Most columns of a field that is not a command.
const FIELD_COLUMNS: usize = 2000;

/// Most columns of the words of a rule.
const RULE_COLUMNS: usize = 400;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The beginning and the end.
    Ends,
    /// Everything.
    Whole,
}

/// What is needed to format a question: facts about the machine and the terminal.
pub(super) struct QuestionContext {
    pub(super) paint: Paint,
    pub(super) columns: usize,
    pub(super) search: SearchPath,
}

/// A formatted question, and whether a part of it is left out.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

impl QuestionContext {
    /// Formats a request to run a command.
    pub(super) fn command(&self, question: &CommandExecutionRequestApprovalParams, extent: Extent) -> Shown {
        let command = question.command.as_deref().unwrap_or_default();
        let cwd = PathBuf::from(question.cwd.as_deref().unwrap_or_default());
        let run = Run::of(command);
        let mut shown = Shown { text: String::new(), is_cut: false };
        let what = if run.is_script { "run these lines" } else { "run this command" };
        self.heading(&mut shown, &format!("The agent wants to {what}:"));
        self.block(&mut shown, &run.shown, extent);
        if run.is_script {
            self.field(&mut shown, "run by", &run.argv[..2].join(" "), Usage::Command);
        }
        let line = run.is_script.then_some(run.shown.as_str());
        let Programs { programs, is_all } = program::programs(&run.argv, line, &cwd, &self.search);
        for program in &programs {
            self.row(&mut shown, "program", &program::describe(program));
        }
        if !is_all {
            self.row(&mut shown, "", "and perhaps others: the command is too complex to be analysed");
        }
        self.folder(&mut shown, &cwd);
        if let Some(rights) = &question.rights {
            self.field(&mut shown, "rights", rights, Usage::Prose);
        }
        if let Some(reason) = &question.reason {
            // The model may have written the reason. It is shown in one row, so it cannot be mistaken for another row.
            self.field(&mut shown, "reason", reason, Usage::Prose);
        }
        shown
    }

    /// Formats a request to change files.
    pub(super) fn changes(&self, changes: &[FileUpdateChange], reason: Option<&str>, extent: Extent) -> Shown {
        let mut shown = Shown { text: String::new(), is_cut: false };
        let sum = |count: fn(&FileUpdateChange) -> (usize, usize)| {
            changes.iter().map(count).fold((0, 0), |(plus, minus), (p, m)| (plus + p, minus + m))
        };
        let (plus, minus) = sum(counts);
        let files = text::count(changes.len() as u64, "file");
        self.heading(&mut shown, &format!("The agent wants to change {files} (+{plus} -{minus} lines):"));
        let left_out = match extent {
            Extent::Ends if changes.len() > HEAD_FILES + TAIL_FILES + 1 => HEAD_FILES..changes.len() - TAIL_FILES,
            _ => 0..0,
        };
        for (index, change) in changes.iter().enumerate() {
            if left_out.contains(&index) {
                if index == left_out.start {
                    shown.is_cut = true;
                    self.row(&mut shown, "", &format!("… {} more files, see v(iew) …", left_out.len()));
                }
                continue;
            }
            self.change(&mut shown, change);
            if extent == Extent::Whole {
                self.block(&mut shown, &change.diff, extent);
            }
        }
        if let Some(reason) = reason {
            self.field(&mut shown, "rights", reason, Usage::Prose);
        }
        shown.is_cut |= extent == Extent::Ends && !changes.is_empty();
        shown
    }

    fn change(&self, shown: &mut Shown, change: &FileUpdateChange) {
        let (plus, minus) = counts(change);
        let path = Path::new(&change.path);
        let (verb, moved) = match &change.kind {
            PatchChangeKind::Add => ("add", None),
            PatchChangeKind::Delete => ("delete", None),
            PatchChangeKind::Update { move_path: Some(to) } => ("move", Some(Path::new(to))),
            PatchChangeKind::Update { move_path: None } => ("update", None),
        };
        let mut row = format!("{} (+{plus} -{minus})", place(path));
        if let Some(to) = moved {
            let _ = write!(row, " to {}", place(to));
        }
        self.row(shown, verb, &row);
        for path in [Some(path), moved].into_iter().flatten() {
            self.notes(shown, &Findings::of(&path.to_string_lossy(), Usage::Command));
        }
    }

    /// Returns the line of possible answers, each with its letter.
    pub(super) fn offer(&self, always: &str, rule: Option<&[String]>, is_cut: bool) -> String {
        let strong = self.paint.strong;
        let mut text = String::new();
        let mut offer = |key: &str, what: &str| {
            let _ = writeln!(text, "  {strong}{key}{strong:#}  {what}");
        };
        offer("y", "yes, this once");
        offer("a", always);
        if let Some(rule) = rule {
            offer("p", &format!("yes, and from now on all commands that begin with {}", words(rule)));
        }
        if is_cut {
            offer("v", "view all of it");
        }
        text.push_str("  [y/N/a");
        text.push_str(if rule.is_some() { "/p" } else { "" });
        text.push_str(if is_cut { "/v] " } else { "] " });
        text
    }

    fn heading(&self, shown: &mut Shown, heading: &str) {
        let strong = self.paint.strong;
        let _ = writeln!(shown.text, "{strong}{heading}{strong:#}");
    }

    fn folder(&self, shown: &mut Shown, cwd: &Path) {
        self.row(shown, "folder", &place(cwd));
        self.notes(shown, &Findings::of(&cwd.to_string_lossy(), Usage::Command));
    }

    fn field(&self, shown: &mut Shown, name: &str, value: &str, usage: Usage) {
        self.row(shown, name, &trace_text::preview(value, usage, FIELD_COLUMNS));
    }

    /// Appends a row of the question. `value` must be safe to show.
    fn row(&self, shown: &mut Shown, name: &str, value: &str) {
        let dim = self.paint.dim;
        let _ = writeln!(shown.text, "  {dim}{name:<7}{dim:#} {value}");
    }

    fn notes(&self, shown: &mut Shown, findings: &Findings) {
        let bad = self.paint.bad;
        for note in findings.notes() {
            let _ = writeln!(shown.text, "  {bad}!       {note}{bad:#}");
        }
    }

    fn block(&self, shown: &mut Shown, command: &str, extent: Extent) {
        let columns = self.columns.saturating_sub(GUTTER_COLUMNS).max(MIN_COLUMNS);
        let head_rows = if extent == Extent::Whole { usize::MAX / 2 } else { HEAD_ROWS };
        let limits = BlockLimits { columns, head_rows, tail_rows: TAIL_ROWS };
        let Block { head, left_out, tail, findings, .. } = trace_text::block(command, Usage::Command, &limits);
        self.rows(shown, &head);
        if let Some(LeftOut { chars, lines }) = left_out {
            shown.is_cut = true;
            let (bad, lines) = (self.paint.bad, text::count(lines as u64, "line"));
            let chars = text::number(chars as u64);
            let _ = writeln!(shown.text, "  {bad}… {chars} characters in {lines} are left out, see v(iew) …{bad:#}");
        }
        self.rows(shown, &tail);
        self.notes(shown, &findings);
    }

    fn rows(&self, shown: &mut Shown, rows: &[Row]) {
        let (dim, escape) = (self.paint.dim, self.paint.escape);
        for row in rows {
            let number = row.number.map(|number| number.to_string()).unwrap_or_default();
            let _ = write!(shown.text, "  {dim}{number:>5} |{dim:#} ");
            for span in &row.spans {
                let style = if span.is_escape { escape } else { anstyle::Style::new() };
                let _ = write!(shown.text, "{style}{}{style:#}", span.text);
            }
            shown.text.push('\n');
        }
    }
}

/// Columns in front of each row of a command.
const GUTTER_COLUMNS: usize = 10;

/// The parts of a command.
struct Run {
    /// The arguments as the system gets them.
    argv: Vec<String>,
    /// The text that is shown: the script for a shell, or else the whole command.
    shown: String,
    is_script: bool,
}

impl Run {
    fn of(command: &str) -> Self {
        // If quoting the words again does not give the same text, the server quotes in another way, and the text is
        // shown as it is.
        let quoted = |argv: &Vec<String>| shlex::try_join(argv.iter().map(String::as_str));
        let argv = shlex::split(command).filter(|argv| quoted(argv).is_ok_and(|same| same == command));
        match argv.as_deref() {
            Some([_, option, script]) if matches!(option.as_str(), "-c" | "-lc") => {
                Self { shown: script.clone(), is_script: true, argv: argv.unwrap_or_default() }
            }
            _ => Self {
                argv: argv.unwrap_or_else(|| vec![command.to_owned()]),
                shown: command.to_owned(),
                is_script: false,
            },
        }
    }
}

/// Returns the numbers of lines that a change adds and removes.
fn counts(change: &FileUpdateChange) -> (usize, usize) {
    let lines = || change.diff.lines();
    match change.kind {
        PatchChangeKind::Add => (lines().count(), 0),
        PatchChangeKind::Delete => (0, lines().count()),
        PatchChangeKind::Update { .. } => {
            let count = |sign: char| lines().filter(|line| line.starts_with(sign)).count();
            (count('+'), count('-'))
        }
    }
}

/// Returns a path with notes: the target of symlinks, and the mode of an executable.
fn place(path: &Path) -> String {
    let mut place = trace_text::path(path);
    // A file that does not exist yet is created in its folder, so the folder is resolved.
    let real = path.canonicalize().ok().or_else(|| {
        let folder = path.parent()?.canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    });
    if let Some(real) = real.filter(|real| real != path) {
        let _ = write!(place, ", which is {}", trace_text::path(&real));
    }
    if let Some(mode) = mode_of_program(path) {
        let _ = write!(place, ", mode {mode:o}");
    }
    place
}

/// Returns the mode of an executable file; `None` for any other file.
#[cfg(unix)]
fn mode_of_program(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mode = metadata.permissions().mode() & 0o7777;
    (mode & 0o7111 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn mode_of_program(_: &Path) -> Option<u32> {
    None
}

/// Returns words quoted for a shell, each safe to show.
fn words(words: &[String]) -> String {
    let joined = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
    trace_text::preview(&joined, Usage::Command, RULE_COLUMNS)
}
