//! The result of a check, as text and as JSON.

use std::path::Path;

use comfy_table::{Cell, Color};
use serde::Serialize;
use trace_recorder::Severity;
use trace_recorder::check::{Area, Change, Changes, Counts, Finding, Report};

use crate::ui::failure::Failure;
use crate::ui::output::{INDENT, Paint, Terminal, push_table, row};
use crate::ui::text;

/// Most findings, and most changes, of one bundle that are shown as text.
const MAX_SHOWN: usize = 20;

/// Most columns of the message of a finding. A message can quote long texts of the bundle.
const MAX_MESSAGE_COLUMNS: usize = 400;

/// How much is printed about a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All checks and all findings.
    All,
    /// All of a bundle with errors or warnings, and one line of any other.
    Damaged,
    /// Only errors.
    Errors,
}

/// The result for one bundle. An element of the array of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    bundle: String,
    errors: u64,
    warnings: u64,
    notes: u64,
    checks: Vec<CheckEntry>,
    findings: Vec<FindingEntry>,
    left_out: Vec<LeftOut>,
    repair: Option<RepairEntry>,
    problem: Option<String>,
    #[serde(skip)]
    hint: Option<String>,
    /// A line of counts.
    #[serde(skip)]
    summary: String,
}

#[derive(Debug, Serialize)]
struct CheckEntry {
    check: &'static str,
    looked_at: String,
    errors: u64,
    warnings: u64,
    notes: u64,
}

#[derive(Debug, Serialize)]
struct FindingEntry {
    code: &'static str,
    severity: &'static str,
    line: Option<u64>,
    seq: Option<u64>,
    path: Option<String>,
    message: String,
    #[serde(skip)]
    shown: String,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    code: &'static str,
    count: u64,
}

/// What a repair did, or would do with `--dry-run`.
#[derive(Debug, Serialize)]
pub(super) struct RepairEntry {
    dry_run: bool,
    changes: Vec<ChangeEntry>,
    changes_left_out: u64,
    backup: Option<String>,
}

#[derive(Debug, Serialize)]
struct ChangeEntry {
    change: &'static str,
    message: String,
}

impl RepairEntry {
    pub(super) fn new(dry_run: bool, changes: &Changes, backup: Option<&Path>) -> Self {
        let entry = |change: &Change| ChangeEntry { change: change.code(), message: change.to_string() };
        Self {
            dry_run,
            changes: changes.iter().map(entry).collect(),
            changes_left_out: changes.total() - changes.iter().count() as u64,
            backup: backup.map(|path| path.to_string_lossy().into_owned()),
        }
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }
}

impl Entry {
    pub(super) fn new(
        path: &Path,
        schema: Option<u32>,
        report: &Report,
        repair: Option<RepairEntry>,
        problem: Option<&Failure>,
    ) -> Self {
        let Report { counts, findings } = report;
        let check = |area: &Area| CheckEntry {
            check: area.as_str(),
            looked_at: looked_at(*area, schema, counts),
            errors: findings.count_in(*area, Severity::Error),
            warnings: findings.count_in(*area, Severity::Warning),
            notes: findings.count_in(*area, Severity::Note),
        };
        let summary = format!(
            "{}, {}, {}",
            text::count(counts.events, "event"),
            text::count(counts.payload_files, "payload"),
            text::bytes(counts.payload_bytes)
        );
        Self {
            bundle: path.to_string_lossy().into_owned(),
            errors: findings.count_of(Severity::Error),
            warnings: findings.count_of(Severity::Warning),
            notes: findings.count_of(Severity::Note),
            checks: Area::ALL.iter().map(check).collect(),
            findings: findings.iter().map(FindingEntry::new).collect(),
            left_out: findings.left_out().map(|(code, count)| LeftOut { code: code.as_str(), count }).collect(),
            repair,
            problem: problem.map(Failure::message),
            hint: problem.and_then(Failure::hint).map(str::to_owned),
            summary,
        }
    }

    pub(super) fn unreadable(path: &Path, failure: &Failure) -> Self {
        Self {
            bundle: path.to_string_lossy().into_owned(),
            errors: 0,
            warnings: 0,
            notes: 0,
            checks: Vec::new(),
            findings: Vec::new(),
            left_out: Vec::new(),
            repair: None,
            problem: Some(failure.message()),
            hint: failure.hint().map(str::to_owned),
            summary: String::new(),
        }
    }

    /// Returns whether the bundle has no errors left and could be checked and repaired.
    pub(super) fn is_well(&self) -> bool {
        self.errors == 0 && self.problem.is_none()
    }
}

impl FindingEntry {
    fn new(finding: &Finding) -> Self {
        Self {
            code: finding.code.as_str(),
            severity: finding.severity().as_str(),
            line: finding.line,
            seq: finding.seq,
            path: finding.path.as_deref().map(str::to_owned),
            message: finding.message.to_string(),
            shown: finding.to_string(),
        }
    }
}

/// Describes what a check read.
fn looked_at(area: Area, schema: Option<u32>, counts: &Counts) -> String {
    match area {
        Area::Manifest => schema.map_or_else(String::new, |schema| format!("schema {schema}")),
        Area::Log => text::count(counts.lines, "line"),
        Area::Sequence => text::count(counts.events, "event"),
        Area::Clock => {
            counts.clock_span.map_or_else(String::new, |(first, last)| text::duration(last.saturating_sub(first)))
        }
        Area::References => text::count(counts.references, "reference"),
        Area::Payloads => match &counts.largest_payload {
            None => text::count(0, "file"),
            Some(largest) => format!(
                "{}, {}, largest {}",
                text::count(counts.payload_files, "file"),
                text::bytes(counts.payload_bytes),
                text::bytes(largest.bytes)
            ),
        },
        Area::Files => match counts.files {
            1 => "1 entry".to_owned(),
            files => format!("{} entries", text::number(files)),
        },
        Area::End | Area::Recorder => String::new(),
    }
}

/// Formats the numbers of errors, warnings and notes.
fn result(errors: u64, warnings: u64, notes: u64) -> String {
    let counts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let parts: Vec<_> = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| text::count(n, noun)).collect();
    if parts.is_empty() { "ok".to_owned() } else { parts.join(", ") }
}

/// Formats the result for one bundle as text.
pub(super) fn render(entry: &Entry, detail: Detail, terminal: &Terminal) -> String {
    let paint = terminal.paint();
    let bundle = text::clean(&entry.bundle);
    let mut out = String::new();
    if detail == Detail::Errors {
        let errors = entry.findings.iter().filter(|finding| finding.severity == "error");
        for finding in errors {
            out.push_str(&format!("{bundle}: {}\n", finding_line(finding, paint)));
        }
        push_problem(&mut out, entry, &format!("{bundle}: "), paint);
        return out;
    }
    let counts = result(entry.errors, entry.warnings, entry.notes);
    let strong = paint.strong;
    let summary = if entry.summary.is_empty() { "cannot be checked" } else { &entry.summary };
    out.push_str(&format!("{strong}{bundle}{strong:#}: {summary}"));
    if !entry.summary.is_empty() {
        out.push_str(&format!(": {counts}"));
    }
    out.push('\n');
    let has_repair = entry.repair.as_ref().is_some_and(RepairEntry::has_changes);
    let is_plain = entry.errors + entry.warnings == 0 && entry.problem.is_none() && !has_repair;
    if detail == Detail::Damaged && is_plain {
        return out;
    }
    if !entry.checks.is_empty() {
        push_checks(&mut out, entry, terminal);
    }
    for finding in entry.findings.iter().take(MAX_SHOWN) {
        out.push_str(&format!("{INDENT}{}\n", finding_line(finding, paint)));
    }
    let all = entry.errors + entry.warnings + entry.notes;
    push_more(&mut out, all, entry.findings.len().min(MAX_SHOWN));
    if let Some(repair) = &entry.repair {
        push_repair(&mut out, repair, paint);
    }
    push_problem(&mut out, entry, INDENT, paint);
    out
}

fn push_checks(out: &mut String, entry: &Entry, terminal: &Terminal) {
    let mut table = terminal.table(&["CHECK", "LOOKED AT", "RESULT"]);
    for check in &entry.checks {
        let cell = Cell::new(result(check.errors, check.warnings, check.notes));
        let cell = match (check.errors, check.warnings) {
            (0, 0) => cell,
            (0, _) => cell.fg(Color::DarkYellow),
            _ => cell.fg(Color::DarkRed),
        };
        table.add_row(row(vec![Cell::new(check.check), Cell::new(&check.looked_at), cell]));
    }
    push_table(out, INDENT, table);
}

fn push_repair(out: &mut String, repair: &RepairEntry, paint: Paint) {
    let (heading, nothing) =
        if repair.dry_run { ("would repair:", "nothing to repair") } else { ("repaired:", "nothing to repair") };
    if !repair.has_changes() {
        out.push_str(&format!("{INDENT}{nothing}\n"));
        return;
    }
    let accent = paint.accent;
    for change in repair.changes.iter().take(MAX_SHOWN) {
        let message = text::preview(&change.message, MAX_MESSAGE_COLUMNS);
        out.push_str(&format!("{INDENT}{accent}{heading}{accent:#} {message}\n"));
    }
    let all = repair.changes.len() as u64 + repair.changes_left_out;
    push_more(out, all, repair.changes.len().min(MAX_SHOWN));
    if let Some(backup) = &repair.backup {
        out.push_str(&format!("{INDENT}the original files are in {}\n", text::clean(backup)));
    }
}

fn push_more(out: &mut String, all: u64, shown: usize) {
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        out.push_str(&format!("{INDENT}... and {} more\n", text::number(more)));
    }
}

fn push_problem(out: &mut String, entry: &Entry, prefix: &str, paint: Paint) {
    if let Some(problem) = &entry.problem {
        let bad = paint.bad;
        out.push_str(&format!("{prefix}{bad}error:{bad:#} {problem}\n"));
        if let Some(hint) = &entry.hint {
            let accent = paint.accent;
            out.push_str(&format!("{prefix}{accent}hint:{accent:#} {hint}\n"));
        }
    }
}

fn finding_line(finding: &FindingEntry, paint: Paint) -> String {
    let plain = text::preview(&finding.shown, MAX_MESSAGE_COLUMNS);
    let style = match finding.severity {
        "error" => paint.bad,
        "warning" => paint.odd,
        _ => paint.accent,
    };
    match plain.strip_prefix(finding.severity) {
        Some(rest) => format!("{style}{}{style:#}{rest}", finding.severity),
        None => plain,
    }
}
