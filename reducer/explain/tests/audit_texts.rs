//! Holds what the audit reads in messages and outputs against tables: `audit/sentences.tsv` says what messages claim,
//! `audit/outputs` what runs of real programs came to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use trace_explain::audit::read::claims::{CheckSays, Quantity};
use trace_explain::audit::{Statement, claims_in, judge};

/// Lines of a failure that are shown for each group.
const SHOWN_MISSES: usize = 40;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit")
}

/// Fails with a table of the rows by group and how many of each are wrong, and with what is wrong.
fn assert_no_misses(rows: &BTreeMap<String, (usize, Vec<String>)>) {
    let wrong: usize = rows.values().map(|(_, misses)| misses.len()).sum();
    if wrong == 0 {
        return;
    }
    let mut text = String::new();
    for (group, (count, misses)) in rows {
        let _ = writeln!(text, "{group:24} {count:4} rows {:4} wrong", misses.len());
    }
    for (group, (_, misses)) in rows.iter().filter(|(_, (_, misses))| !misses.is_empty()) {
        let _ = writeln!(text, "\n{group}");
        for miss in misses.iter().take(SHOWN_MISSES) {
            let _ = writeln!(text, "  {miss}");
        }
    }
    panic!("{wrong} rows are wrong\n{text}");
}

/// Replaces the escapes of the tables: `\n`, `\r`, `\t`, `\e`, `\\` and `\u{HEX}`.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('e') => out.push('\u{1b}'),
            Some('u') => {
                let digits: String = letters.by_ref().skip(1).take_while(|letter| *letter != '}').collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            other => out.extend(other),
        }
    }
    out
}

/// Replaces `{{N*TEXT}}` by N times the text.
fn repeated(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inside, after) = after.split_once("}}").expect("a repetition ends");
        let (count, what) = inside.split_once('*').expect("a repetition has a count");
        out.push_str(before);
        out.push_str(&what.repeat(count.parse().expect("a count is a number")));
        rest = after;
    }
    out + rest
}

/// What a row of the table of messages says is claimed.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    verb: String,
    about: String,
    scope: String,
    figures: Vec<(String, f64)>,
    bounded: bool,
}

impl Wanted {
    fn read(text: &str) -> Self {
        let (text, bounded) = text.strip_suffix("(bounded)").map_or((text, false), |text| (text, true));
        let (text, scope) = text.split_once('[').map_or((text, ""), |(text, scope)| (text, scope));
        let (scope, after) = scope.rsplit_once(']').unwrap_or((scope, ""));
        let (text, figures) = match text.split_once('{') {
            Some((text, figures)) => (text, figures),
            None => (text, after.strip_prefix('{').unwrap_or("")),
        };
        let figures = figures.trim_end_matches('}').split(',').filter(|figure| !figure.is_empty());
        let (verb, about) = text.split_once(':').unwrap_or((text, ""));
        Self {
            verb: verb.to_owned(),
            about: about.to_owned(),
            scope: scope.to_lowercase(),
            figures: figures
                .map(|figure| {
                    let (name, value) = figure.split_once('=').expect("a figure has a name");
                    (name.to_owned(), value.parse().expect("a figure is a number"))
                })
                .collect(),
            bounded,
        }
    }
}

/// Numbers with their names.
type Figures = Vec<(String, f64)>;

/// Programs whose name bounds no claim: all of the check is meant.
const PROGRAMS: [&str; 14] = [
    "pytest", "cargo", "npm", "go test", "tsc", "mypy", "pyright", "eslint", "clippy", "ruff", "flake8", "black",
    "prettier", "docker",
];

/// Returns whether a scope is the wanted one. A program need not be told as a scope.
fn is_scope(wanted: &str, scope: &str) -> bool {
    let is_program = PROGRAMS.iter().any(|program| wanted.contains(program));
    if wanted.is_empty() || (is_program && scope.is_empty()) { scope.is_empty() } else { scope.contains(wanted) }
}

/// Returns what is wrong with the claims that were found in a message.
fn difference(wanted: &[Wanted], group: &str, message: &str) -> Option<String> {
    let found = claims_in(message);
    let has_figures = |wanted: &Wanted, figures: &[(String, f64)]| {
        wanted.figures.iter().all(|(name, value)| {
            // `ignored` is another word for skipped, and a number of all tests that pass is a number of those that passed.
            figures.iter().any(|(found, number)| {
                let same = found == name
                    || (name == "ignored" && found == "skipped")
                    || (name == "passed" && found == "total" && wanted.verb == "passed");
                same && (number - value).abs() < 1e-9
            })
        })
    };
    let mut passes: Vec<(String, String, bool, Figures)> = Vec::new();
    let (mut runs, mut figures): (Vec<String>, Figures) = (Vec::new(), Vec::new());
    let (mut actions, mut details, mut child) = (Vec::new(), Vec::new(), false);
    for claim in &found.claims {
        match &claim.statement {
            Statement::Check(check) => {
                let kind = check.kind.map_or("all".to_owned(), |kind| kind.as_str().to_owned());
                let numbers: Vec<(String, f64)> =
                    check.figures.iter().map(|figure| (figure.measure.as_str().to_owned(), figure.value)).collect();
                figures.extend(numbers.iter().cloned());
                match check.says {
                    CheckSays::Passes => passes.push((kind, check.scope.join(" "), check.is_bounded, numbers)),
                    CheckSays::WasRun => runs.push(kind),
                    CheckSays::Fails => {}
                }
            }
            Statement::Measurement(measurement) => {
                let name = if measurement.quantity == Quantity::Size { "size" } else { "time" };
                figures.push((name.to_owned(), measurement.value));
            }
            Statement::Action(action) => actions.push((action.action.as_str().to_owned(), action.files.join(" "))),
            Statement::Detail(detail) if detail.is_told_as_found => details.push(detail.literal.clone()),
            Statement::Detail(_) => {}
            Statement::Child(_) => child = true,
        }
    }
    let admits = wanted.iter().any(|wanted| wanted.verb == "admits");
    let mut left = passes.clone();
    for wanted in wanted {
        match wanted.verb.as_str() {
            "passed" => {
                let at = left.iter().position(|(kind, scope, bounded, numbers)| {
                    *kind == wanted.about
                        && is_scope(&wanted.scope, &scope.to_lowercase())
                        && *bounded == wanted.bounded
                        && has_figures(wanted, numbers)
                });
                match at {
                    Some(at) => drop(left.swap_remove(at)),
                    None => return Some(format!("no claim that {wanted:?}, but {passes:?}")),
                }
            }
            "ran" if !runs.contains(&wanted.about) => return Some(format!("not said to have been run: {runs:?}")),
            "figure" if !has_figures(wanted, &figures) => return Some(format!("figures {figures:?}")),
            "did" => {
                let name = match wanted.about.as_str() {
                    "create" | "rename" => "change",
                    "test_added" => "add_test",
                    name => name,
                };
                let is_it = |(action, files): &(String, String)| {
                    action == name && wanted.scope.split('>').any(|file| files.to_lowercase().contains(file))
                };
                if !actions.iter().any(|action| is_it(action) || (name == "install" && action.0 == "install")) {
                    return Some(format!("actions {actions:?}"));
                }
            }
            "detail" if !details.iter().any(|detail| detail.to_lowercase().contains(&wanted.scope)) => {
                return Some(format!("details {details:?}"));
            }
            "child" if !child => return Some("nothing about children".to_owned()),
            _ => {}
        }
    }
    let told = |verb: &str| wanted.iter().any(|wanted| wanted.verb == verb);
    // Numbers of tests that passed are figures too, if the sentence says that others failed.
    if told("figure") {
        left.retain(|(_, _, bounded, numbers)| !bounded && numbers.is_empty());
    }
    if !left.is_empty() {
        return Some(format!("also claimed to pass: {left:?}"));
    }
    if !runs.is_empty() && !told("ran") && !told("passed") {
        return Some(format!("said to have been run: {runs:?}"));
    }
    if !actions.is_empty() && !told("did") && !admits {
        return Some(format!("actions {actions:?}"));
    }
    if !details.is_empty() && !told("detail") && group != "quotation" {
        return Some(format!("details {details:?}"));
    }
    if child && !told("child") && group == "child_failure_hidden" {
        return Some("said of children".to_owned());
    }
    None
}

#[test]
fn messages_claim_what_the_table_says() {
    let table = fs::read_to_string(folder().join("sentences.tsv")).expect("reads");
    let mut rows: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with("# ") && *line != "#").skip(1) {
        let mut columns = line.splitn(3, '\t');
        let mut column = || columns.next().unwrap_or_else(|| panic!("three columns: {line}"));
        let (claims, group, text) = (column(), column(), column());
        let message = unescape(&repeated(text));
        let row = rows.entry(group.to_owned()).or_default();
        row.0 += 1;
        let differences: Vec<String> = (claims.split('|'))
            .map(|claims| claims.split("; ").map(Wanted::read).collect::<Vec<_>>())
            .map_while(|wanted| difference(&wanted, group, &message))
            .collect();
        if differences.len() == claims.split('|').count() {
            let text: String = text.chars().take(160).collect();
            row.1.push(format!("{claims}\t{text}\t{}", differences.join(" / ")));
        }
    }
    assert!(rows.values().map(|(count, _)| count).sum::<usize>() >= 400);
    assert_no_misses(&rows);
}

/// A record of a run: the command, its exit code, and what is expected.
struct Record {
    name: String,
    command: String,
    exit_code: Option<i64>,
    expected: Vec<String>,
    output: String,
}

fn records(file: &str) -> Vec<Record> {
    let text = fs::read_to_string(folder().join("outputs").join(file)).expect("reads");
    let mut records = Vec::new();
    for record in text.split("%%%% ").skip(1) {
        let (head, output) = record.split_once("\n----\n").unwrap_or_else(|| panic!("no output: {record}"));
        let mut head = head.lines();
        let name = head.next().expect("a name").to_owned();
        let (mut command, mut exit_code, mut expected) = (String::new(), None, Vec::new());
        for line in head {
            match line.split_once(": ").expect("a key and a value") {
                ("command", value) => command = unescape(value),
                ("exit", value) => exit_code = value.parse().ok(),
                ("expect", value) => expected.push(value.to_owned()),
                (key, _) => panic!("{name}: no key {key}"),
            }
        }
        let output = unescape(output.strip_suffix("\\c\n").unwrap_or(output));
        records.push(Record { name, command, exit_code, expected, output });
    }
    records
}

/// Returns what is wrong with the runs that were found in a record.
fn wrong_runs(record: &Record) -> Option<String> {
    let runs = judge(&record.command, &record.output, record.exit_code);
    let outcome_of = |run: &trace_explain::audit::CheckRun| match format!("{:?}", run.outcome).as_str() {
        "Passed" => "passed",
        "Failed" => "failed",
        "NoTests" | "DidNotStart" | "Declined" => "no_run",
        "NotFinished" => "not_finished",
        _ => "unknown",
    };
    let shown: Vec<String> =
        runs.iter().map(|run| format!("{} {} {:?}", run.kind.as_str(), outcome_of(run), run.counts)).collect();
    let mut seen = Vec::new();
    for expected in &record.expected {
        if expected == "none" {
            continue;
        }
        let (expected, optional) = expected.strip_suffix('?').map_or((expected.as_str(), false), |text| (text, true));
        let mut words = expected.split(' ');
        let kinds: Vec<&str> = words.next().unwrap_or_default().split('|').collect();
        let outcomes: Vec<&str> = words.next().unwrap_or_default().split('|').collect();
        let of_kind = runs.iter().enumerate().filter(|(_, run)| kinds.contains(&run.kind.as_str()));
        let right = of_kind.clone().find(|(_, run)| {
            let counts = serde_json::to_value(run.counts).unwrap_or_default();
            let is_count = |word: &str| {
                let (name, value) = word.split_once('=').expect("a count has a name");
                let value: u64 = value.parse().expect("a count is a number");
                let told = |name: &str| counts[name].as_u64();
                // Errors of tests are told as errors or among the failures.
                let errors = words.clone().find_map(|word| word.strip_prefix("errors=")?.parse::<u64>().ok());
                match name {
                    "failed" => told(name).is_none_or(|told| told == value || Some(told - value.min(told)) == errors),
                    "passed" | "suites" | "total" => told(name).is_none_or(|told| told == value),
                    "skipped" | "ignored" => told("skipped").is_none_or(|told| told == value),
                    "errors" | "warnings" => told(name).is_none_or(|told| told == value),
                    _ => true,
                }
            };
            outcomes.contains(&outcome_of(run)) && words.clone().all(is_count)
        });
        match right {
            Some((index, _)) => seen.push(index),
            None if optional && of_kind.clone().next().is_none() => {}
            None => return Some(format!("expected {expected}, found {shown:?}")),
        }
    }
    let extra = runs.iter().enumerate().find(|(index, run)| {
        // What builds or checks types beside its proper task may be told as that as well.
        let is_aside =
            matches!(run.kind.as_str(), "build" | "types") && !record.expected.iter().any(|one| one == "none");
        // What did not start or belongs to an expected kind as well is no accusation either.
        let is_named = record.expected.iter().any(|one| {
            one.split(' ').next().is_some_and(|kinds| kinds.split('|').any(|kind| kind == run.kind.as_str()))
        });
        !seen.contains(index) && !is_aside && !is_named && outcome_of(run) != "no_run"
    });
    extra.map(|_| format!("expected {:?}, found {shown:?}", record.expected))
}

#[test]
fn runs_came_to_what_the_records_say() {
    let mut rows: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for file in ["recorded.txt", "written.txt"] {
        for record in records(file) {
            let row = rows.entry(file.to_owned()).or_default();
            row.0 += 1;
            if let Some(wrong) = wrong_runs(&record) {
                row.1.push(format!("{}: `{}`: {wrong}", record.name, record.command.escape_debug()));
            }
        }
    }
    assert!(rows.values().map(|(count, _)| count).sum::<usize>() >= 200);
    assert_no_misses(&rows);
}
