//! Sessions with planted faults, written as the files of each agent: the postmortem of what is imported names the outcome of each turn,
//! the category of its root cause and the object in which the cause lies.
//!
//! A [`plot`] says once what happens. Each writer tells it in the words of one agent. [`DEVIATIONS`] has what the files of an agent cannot
//! tell.

mod atif;
mod claude_code;
mod codex;
mod gemini_cli;
mod judgement;
mod opencode;
mod otel;
mod plot;

use std::path::Path;

use plot::{Expected, Plot, plots};
use serde_json::Value;
use tempfile::TempDir;
use trace_explain::Session;
use trace_explain::postmortem::postmortem;
use trace_import::SessionRef;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce};

/// Writes a plot as files of an agent. Returns the file of the session.
type Writer = fn(&Plot, &Path) -> std::path::PathBuf;

const WRITERS: [(&str, Writer); 6] = [
    ("codex", codex::write),
    ("claude-code", claude_code::write),
    ("gemini-cli", gemini_cli::write),
    ("opencode-export", opencode::write),
    ("otel", otel::write),
    ("atif", atif::write),
];

/// Verdicts that differ because the files of an agent do not hold what they need: `format plot: verdicts`.
const DEVIATIONS: &[(&str, &str, &[&str])] = &[
    // A request that failed leaves nothing in a chat, and calls are written when they have ended.
    ("gemini-cli", "child-refused", &["child failed unknown codex_turn", "root degraded unknown codex_turn"]),
    ("gemini-cli", "refused", &["root unfinished recording_truncated codex_turn"]),
    ("gemini-cli", "died", &["root unfinished recording_truncated codex_turn"]),
    // A trace has what ended: the exporter of a program that died sent no span of the call.
    ("otel", "died", &["root ok - -"]),
    // A trajectory has no requests that failed.
    ("atif", "child-refused", &["child ok - -", "root ok - -"]),
    ("atif", "refused", &["root ok - -"]),
];

/// A session that was imported into a folder.
struct Imported {
    session: Session,
    /// The folder with its payloads, which are read when an analysis needs them.
    _folder: TempDir,
}

/// Writes a plot as the files of an agent, and imports the session.
fn played(format: &str, write: Writer, plot: &Plot) -> Imported {
    let folder = tempfile::tempdir().expect("a directory");
    let path = write(plot, folder.path());
    let sessions = trace_import::sessions(&path).expect("lists");
    let [session] = &sessions[..] else { panic!("{format} {}: {} sessions", plot.name, sessions.len()) };
    assert_eq!(session.format, format);
    imported(session)
}

/// Imports a session by way of a bundle on disk, which the Codex CLI accepts, too.
fn imported(session: &SessionRef) -> Imported {
    let bundle = trace_import::open(session).unwrap_or_else(|error| panic!("{session:?}: {error}"));
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path().join("imported");
    trace_import::write(&bundle, &directory).expect("writes");
    let _ = trace_needs::state_by_peer(&directory);
    let bundle = Bundle::open(&directory).expect("opens");
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&bundle, strict).unwrap_or_else(|error| panic!("{session:?}: {error}"));
    Imported { session: Session::new(bundle, reduction), _folder: folder }
}

/// Returns the verdict on each turn: outcome, category and object.
fn verdicts(session: &Session) -> Vec<String> {
    let told = serde_json::to_value(postmortem(session)).expect("serializes");
    told["turns"].as_array().expect("turns").iter().map(verdict).collect()
}

fn verdict(turn: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let is_root = turn["agent_path"] == "/root";
    let cause = &turn["root_cause"];
    let kind = text(&cause["object"]["type"]);
    // Ids of calls are those of the file. Those of other objects are made.
    let object = if kind == "tool_call" { text(&cause["object"]["id"]) } else { kind };
    let who = if is_root { "root" } else { "child" };
    format!("{who} {} {} {object}", text(&turn["outcome"]), text(&cause["category"]))
}

#[test]
fn planted_faults_are_found_in_the_files_of_every_agent() {
    let mut differences = Vec::new();
    for (format, write) in WRITERS {
        for plot in plots() {
            let Imported { session, _folder } = played(format, write, &plot);
            let deviation = DEVIATIONS.iter().find(|(of, name, _)| (*of, *name) == (format, plot.name));
            let mut expected: Vec<String> = match deviation {
                Some((_, _, verdicts)) => verdicts.iter().map(ToString::to_string).collect(),
                None => plot.expected.iter().map(Expected::to_string).collect(),
            };
            let mut found = verdicts(&session);
            expected.sort();
            found.sort();
            if found != expected {
                differences.push(format!("{format} {}:\n    said {found:?}\n    true {expected:?}", plot.name));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
