//! `trace show` as text.

use comfy_table::{Cell, CellAlignment, Color, Table};
use trace_explain::audit::FindingCounts;
use trace_reducer::model::{ExecutionStatus, RolloutStatus};
use trace_reducer::{Code, Diagnostics, Severity};

use super::attention::{Attention, State};
use super::report::{ImportReport, Report, ThreadReport};
use crate::ui::diagnostics;
use crate::ui::output::{INDENT, Paint, Terminal, push_table, row};
use crate::ui::text::{self, count, number, preview};

/// How many rows a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    First,
    All,
}

impl Rows {
    fn limit(self, first: usize) -> usize {
        match self {
            Self::First => first,
            Self::All => usize::MAX,
        }
    }
}

const FIRST_ATTENTION: usize = 20;
const FIRST_DIAGNOSTICS: usize = 10;
const FIRST_THREADS: usize = 40;
const FIRST_TOOLS: usize = 15;
/// Deepest level of a thread that is indented further.
const MAX_INDENT: usize = 12;
/// Most columns of a text in a table, if the width of the terminal is not known.
const MAX_COLUMNS: usize = 100;

/// Formats the overview.
pub(super) fn render(report: &Report<'_>, found: &Diagnostics, rows: Rows, terminal: &Terminal) -> String {
    let mut view = View { text: String::new(), paint: terminal.paint(), terminal, rows };
    view.session(report);
    view.attention(&report.attention);
    view.findings(report.findings);
    view.damage(found);
    view.threads(&report.threads, report.session.ended_at_unix_ms.is_some());
    view.tools(report);
    view.edges(report);
    if let Some(import) = &report.import {
        view.import(import);
    }
    view.text
}

struct View<'a> {
    text: String,
    paint: Paint,
    terminal: &'a Terminal,
    rows: Rows,
}

impl View<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str, about: &str) {
        let strong = self.paint.strong;
        let line = format!("\n{strong}{heading}{strong:#}{about}");
        self.line(&line);
    }

    fn left_out(&mut self, all: usize, shown: usize) {
        if all > shown {
            let dim = self.paint.dim;
            let line = format!("  {dim}... and {} more (--all shows them){dim:#}", number((all - shown) as u64));
            self.line(&line);
        }
    }

    fn session(&mut self, report: &Report<'_>) {
        let (session, bundle) = (&report.session, &report.bundle);
        let Paint { strong, dim, bad, odd, good, accent, .. } = self.paint;
        let (style, outcome) = match session.status {
            RolloutStatus::Completed => (good, "completed"),
            RolloutStatus::Failed => (bad, "failed"),
            RolloutStatus::Aborted | RolloutStatus::Unknown => (odd, "aborted"),
            RolloutStatus::Running => (accent, "has no end"),
        };
        let name = preview(session.rollout_id, MAX_COLUMNS);
        let time = match session.duration_ms {
            Some(duration) => format!(" in {}", text::duration(duration)),
            None => {
                let until = session.last_activity_unix_ms.saturating_sub(session.started_at_unix_ms);
                format!("; its last event is {} after its start", text::duration(until))
            }
        };
        self.line(&format!("{strong}Session {name}{strong:#} {style}{outcome}{style:#}{time}"));

        let mut field = |name: &str, value: &str| self.line(&format!("  {dim}{name:<9}{dim:#}  {value}"));
        field("bundle", &text::clean(bundle));
        let local = text::moment(session.started_at_unix_ms);
        let utc = text::utc_moment(session.started_at_unix_ms);
        field("started", &if local.ends_with("+00:00") { local } else { format!("{local} ({utc})") });
        for (index, model) in session.models.iter().take(3).enumerate() {
            let calls = count(model.inference_calls, "call");
            let value = format!("{} ({}), {calls}", preview(model.model, 60), preview(model.provider_name, 40));
            field(if index == 0 { "models" } else { "" }, &value);
        }
        if session.models.len() > 3 {
            field("", &format!("... and {} more", session.models.len() - 3));
        }
        let tokens = &session.tokens;
        let value = format!(
            "{} in ({} cached), {} out ({} reasoning)",
            number(tokens.input),
            number(tokens.cached_input),
            number(tokens.output),
            number(tokens.reasoning_output)
        );
        field("tokens", &value);
        let counts = &session.counts;
        let mut holds = vec![count(counts.threads, "thread"), count(counts.turns, "turn")];
        for (n, noun) in [
            (counts.conversation_items, "item"),
            (counts.inference_calls, "inference call"),
            (counts.tool_calls, "tool call"),
            (counts.code_cells, "code cell"),
            (counts.terminal_sessions, "terminal"),
            (counts.compactions, "compaction"),
            (counts.interaction_edges, "edge"),
        ] {
            if n > 0 {
                holds.push(count(n, noun));
            }
        }
        field("holds", &holds.join(", "));
        if let Some(import) = &report.import {
            let version = import.agent_version.map_or_else(String::new, |version| format!(" {version}"));
            let files = count(import.sources.len() as u64, "file");
            let agent = preview(&format!("{}{version}", import.format), MAX_COLUMNS);
            field("imported", &format!("from {agent}, {files}"));
            return;
        }
        match session.recording_complete {
            Some(true) => field("recording", &format!("complete, schema {}", session.schema_version)),
            Some(false) => {
                let value = format!("{odd}not closed by the recorder{odd:#}, schema {}", session.schema_version);
                field("recording", &value);
            }
            None => field("recording", &format!("schema {}", session.schema_version)),
        }
    }

    /// Lists what the files of an imported session do not tell.
    fn import(&mut self, import: &ImportReport<'_>) {
        let dim = self.paint.dim;
        self.heading("What the files do not tell", " (docs/import.md explains the codes)");
        for note in import.notes {
            let times = if note.count > 1 { format!(" ({} times)", number(note.count)) } else { String::new() };
            let message = preview(&note.message, MAX_COLUMNS);
            self.line(&format!("  {dim}{}{dim:#}  {message}{times}", text::clean(&note.code)));
        }
    }

    fn attention(&mut self, attention: &[Attention<'_>]) {
        let attention: Vec<_> = attention.iter().filter(|entry| !entry.is_repeated).collect();
        if attention.is_empty() {
            return;
        }
        let mut sums = Vec::new();
        for group in attention.chunk_by(|a, b| a.state == b.state) {
            let n = number(group.len() as u64);
            sums.push(match group[0].state {
                State::ExitCode => format!("{n} with an exit code"),
                state => format!("{n} {}", describe_state(state)),
            });
        }
        self.heading("Needs attention: ", &sums.join(", "));
        let mut table = self.terminal.list();
        let limit = self.rows.limit(FIRST_ATTENTION);
        for entry in attention.iter().take(limit) {
            let texts = [entry.subject.as_deref(), entry.detail.as_deref()];
            let about: Vec<String> = texts.iter().flatten().map(|text| preview(text, MAX_COLUMNS)).collect();
            table.add_row(row(vec![
                Cell::new(describe_state(entry.state)).fg(color_of_state(entry.state)),
                Cell::new(entry.what.replace('_', " ")),
                Cell::new(preview(entry.agent_path.unwrap_or_default(), 48)),
                Cell::new(entry.seq.map(|seq| format!("seq {seq}")).unwrap_or_default()),
                Cell::new(about.join(" → ")),
            ]));
        }
        push_table(&mut self.text, INDENT, table);
        self.left_out(attention.len(), limit);
    }

    /// Counts the findings of an audit.
    fn findings(&mut self, findings: Option<FindingCounts>) {
        let Paint { dim, accent, .. } = self.paint;
        let Some(findings) = findings else {
            let about = format!(
                "{dim}not looked for in a session of this size ({accent}trace audit SESSION{accent:#}{dim} does it){dim:#}"
            );
            return self.heading("Findings of the audit: ", &about);
        };
        if findings.all() == 0 {
            return;
        }
        let counts = [(findings.high, "high"), (findings.medium, "medium"), (findings.low, "low")];
        let parts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, severity)| format!("{} {severity}", number(*n))).collect();
        let about = format!("{} {dim}({accent}trace audit{accent:#}{dim} shows them){dim:#}", parts.join(", "));
        self.heading("Findings of the audit: ", &about);
    }

    fn damage(&mut self, found: &Diagnostics) {
        // These are listed under "Needs attention" already.
        let elsewhere = [Code::MessageUndelivered, Code::NoEnd, Code::RecordingIncomplete];
        let mut list: Vec<_> = found.iter().filter(|diagnostic| !elsewhere.contains(&diagnostic.code)).collect();
        if list.is_empty() {
            return;
        }
        list.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity()));
        let mut sums = Vec::new();
        let mut all = 0;
        for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")] {
            let mut n = diagnostics::count_of(found, severity);
            if severity == Severity::Note {
                n -= elsewhere.iter().map(|code| found.count(*code)).sum::<u64>();
            }
            if n > 0 {
                sums.push(count(n, noun));
            }
            all += n;
        }
        self.heading(if found.is_damaged() { "Damage: " } else { "Remarks: " }, &sums.join(", "));
        let limit = self.rows.limit(FIRST_DIAGNOSTICS);
        for diagnostic in list.iter().take(limit) {
            let line = format!("  {}", diagnostics::line(diagnostic, self.paint));
            self.line(&line);
        }
        self.left_out(usize::try_from(all).unwrap_or(usize::MAX), limit);
        if self.rows == Rows::All {
            for (code, n) in found.left_out().filter(|(code, _)| !elsewhere.contains(code)) {
                self.line(&format!("  ... and {} more of {code}", number(n)));
            }
        }
    }

    fn threads(&mut self, threads: &[ThreadReport<'_>], session_ended: bool) {
        if threads.is_empty() {
            return;
        }
        self.heading("Threads", "");
        let has_nicknames = threads.iter().any(|thread| thread.nickname.is_some());
        let mut models: Vec<_> = threads.iter().filter_map(|thread| thread.model).collect();
        models.sort_unstable();
        models.dedup();
        let has_models = models.len() > 1;
        let header: Vec<&str> = [
            Some("AGENT"),
            has_nicknames.then_some("NICKNAME"),
            has_models.then_some("MODEL"),
            Some("STATUS"),
            Some("TURNS"),
            Some("CALLS"),
            Some("TOOLS"),
            Some("TOKENS IN"),
            Some("CACHED"),
            Some("OUT"),
            Some("TIME"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut table = self.terminal.table(&header);
        let limit = self.rows.limit(FIRST_THREADS);
        let mut tree = Tree::default();
        for thread in threads.iter().take(limit) {
            let mut cells = vec![Cell::new(tree.label(thread))];
            if has_nicknames {
                cells.push(Cell::new(preview(thread.nickname.unwrap_or_default(), 24)));
            }
            if has_models {
                cells.push(Cell::new(preview(thread.model.unwrap_or_default(), 32)));
            }
            cells.push(match thread.status {
                ExecutionStatus::Running if session_ended => Cell::new("unfinished").fg(Color::DarkYellow),
                ExecutionStatus::Running => Cell::new("running").fg(Color::DarkCyan),
                ExecutionStatus::Completed => Cell::new("completed"),
                ExecutionStatus::Failed => Cell::new("failed").fg(Color::DarkRed),
                status => Cell::new(status.as_str()).fg(Color::DarkYellow),
            });
            cells.push(count_cell(thread.turns, &[]));
            cells.push(count_cell(thread.inference_calls, &[(thread.inference_calls_failed, "failed")]));
            cells.push(count_cell(thread.tool_calls, &[(thread.tool_calls_failed, "failed")]));
            cells.push(count_cell(thread.tokens.input, &[]));
            cells.push(count_cell(thread.tokens.cached_input, &[]));
            cells.push(count_cell(thread.tokens.output, &[]));
            let time = thread.duration_ms.map(text::duration).unwrap_or_default();
            cells.push(Cell::new(time).set_alignment(CellAlignment::Right));
            table.add_row(row(cells));
        }
        let texts = 1 + usize::from(has_nicknames) + usize::from(has_models);
        align_numbers(&mut table, texts + 1);
        push_table(&mut self.text, INDENT, table);
        self.left_out(threads.len(), limit);
    }

    fn tools(&mut self, report: &Report<'_>) {
        if report.tools.is_empty() {
            return;
        }
        self.heading("Tools", "");
        let mut table = self.terminal.table(&["TOOL", "CALLS", "TIME"]);
        let limit = self.rows.limit(FIRST_TOOLS);
        for tool in report.tools.iter().take(limit) {
            let troubles = [(tool.failed, "failed"), (tool.unfinished, "unfinished")];
            table.add_row(row(vec![
                Cell::new(preview(&tool.tool, 60)),
                count_cell(tool.calls, &troubles),
                Cell::new(text::duration(tool.duration_ms)),
            ]));
        }
        align_numbers(&mut table, 2);
        push_table(&mut self.text, INDENT, table);
        self.left_out(report.tools.len(), limit);
    }

    fn edges(&mut self, report: &Report<'_>) {
        if report.edges.is_empty() {
            return;
        }
        self.heading("Edges between agents", "");
        let edges: Vec<_> =
            report.edges.iter().map(|edge| format!("{} {}", number(edge.count), edge.kind.replace('_', " "))).collect();
        self.line(&format!("  {}", edges.join(", ")));
    }
}

/// Draws the branches of the tree of threads. Threads come parents first.
#[derive(Default)]
struct Tree {
    /// For each level below the root, whether the branch of that level has ended.
    ended: Vec<bool>,
    /// Agent paths from the root to the previous thread.
    paths: Vec<String>,
}

impl Tree {
    fn label(&mut self, thread: &ThreadReport<'_>) -> String {
        let depth = thread.depth.min(MAX_INDENT);
        self.ended.truncate(depth);
        self.paths.truncate(depth);
        let mut label = String::new();
        if depth > 0 {
            for ended in self.ended.iter().skip(1) {
                label.push_str(if *ended { "   " } else { "│  " });
            }
            label.push_str(if thread.is_last { "└─ " } else { "├─ " });
        }
        self.ended.push(thread.is_last);
        // The path of an agent begins with that of its parent, which is already shown above.
        let path = thread.agent_path;
        let own = self.paths.last().and_then(|parent| path.strip_prefix(parent.as_str())?.strip_prefix('/'));
        label.push_str(&preview(own.unwrap_or(path), 48));
        self.paths.push(path.to_owned());
        label
    }
}

/// Formats a number, with the parts of it that failed in parentheses.
fn count_cell(n: u64, troubles: &[(u64, &str)]) -> Cell {
    let parts: Vec<String> =
        troubles.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number(*n))).collect();
    if parts.is_empty() {
        return Cell::new(number(n));
    }
    Cell::new(format!("{} ({})", number(n), parts.join(", "))).fg(Color::DarkRed)
}

fn align_numbers(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn describe_state(state: State) -> &'static str {
    match state {
        State::ExitCode => "exit code",
        state => state.as_str(),
    }
}

fn color_of_state(state: State) -> Color {
    match state {
        State::Failed => Color::DarkRed,
        State::Running => Color::DarkCyan,
        _ => Color::DarkYellow,
    }
}
