//! The report of a redaction, as text and as JSON.

use std::path::Path;

use comfy_table::{Cell, CellAlignment};
use serde::Serialize;
use trace_recorder::redact::{Place, Report};

use crate::ui::output::{INDENT, Terminal, push_table, row};
use crate::ui::text;

/// Most places of a secret that are listed. The others are counted.
const SHOWN_PLACES: usize = 3;

/// Most files that are listed. The others are counted.
const SHOWN_FILES: usize = 5;

/// The object of `--json`.
#[derive(Serialize)]
pub(super) struct Json<'a> {
    bundle: String,
    output: Option<String>,
    report: &'a Report,
}

/// Returns the object of `--json`. `copy` is `None` if nothing was copied, with `--check`.
pub(super) fn json<'a>(bundle: &Path, copy: Option<&Path>, report: &'a Report) -> Json<'a> {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    Json { bundle: name(bundle), output: copy.map(name), report }
}

/// Returns the report as text. `copy` is `None` if nothing was copied, with `--check`.
pub(super) fn render(bundle: &Path, copy: Option<&Path>, report: &Report, terminal: &Terminal) -> String {
    let paint = terminal.paint();
    let mut out = String::new();
    let secrets = text::count(report.secrets.len() as u64, "secret");
    let documents = text::count(report.documents_with_secrets, "document");
    let what = match (report.secrets.is_empty(), copy) {
        (true, _) => format!("no secrets found in {}", text::count(report.documents, "document")),
        (false, None) => format!("{secrets} found, {} in {documents}", times(report.occurrences())),
        (false, Some(_)) => format!("{secrets} replaced, {} in {documents}", times(report.occurrences())),
    };
    out.push_str(&format!("{}: {what}\n", text::clean(&bundle.to_string_lossy())));
    if !report.secrets.is_empty() {
        let mut table = terminal.table(&["KIND", "HASH", "TIMES", "WHERE"]);
        for secret in &report.secrets {
            let mut places: Vec<String> = secret.places.iter().take(SHOWN_PLACES).map(place).collect();
            let more = secret.documents - places.len() as u64;
            if more > 0 {
                places.push(format!("and {} more", text::number(more)));
            }
            let times = Cell::new(text::number(secret.occurrences)).set_alignment(CellAlignment::Right);
            table.add_row(row(vec![
                Cell::new(&secret.kind),
                Cell::new(&secret.hash),
                times,
                Cell::new(places.join(", ")),
            ]));
        }
        push_table(&mut out, INDENT, table);
    }
    let odd = paint.odd;
    let mut note = |what: &str, names: Vec<String>| {
        if !names.is_empty() {
            let shown = names.iter().take(SHOWN_FILES).cloned().collect::<Vec<_>>().join(", ");
            let more = names.len().saturating_sub(SHOWN_FILES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            out.push_str(&format!("{odd}{what}:{odd:#} {shown}{more}\n"));
        }
    };
    note("not JSON, searched as text", report.damaged.iter().map(place).collect());
    let unreadable =
        report.unreadable.iter().map(|file| text::clean(&format!("{} ({})", file.path, file.reason)).into_owned());
    let copied = if copy.is_none() { "not readable, not searched" } else { "not readable, not copied" };
    note(copied, unreadable.collect());
    let left_out = if copy.is_none() { "not a plain file, not searched" } else { "not copied" };
    note(left_out, report.left_out.iter().map(|name| text::clean(name).into_owned()).collect());
    if let Some(output) = copy {
        out.push_str(&format!("written to {}; check it before you share it\n", text::clean(&output.to_string_lossy())));
    }
    out
}

fn times(n: u64) -> String {
    text::count(n, "time")
}

fn place(place: &Place) -> String {
    match place {
        Place::File { path } | Place::Payload { path } => text::clean(path).into_owned(),
        Place::Event { seq: Some(seq), .. } => format!("seq {seq}"),
        Place::Event { line, seq: None } => format!("line {line}"),
    }
}
