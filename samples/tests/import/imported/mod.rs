//! An imported session, reduced by this program and by the Codex CLI.

use std::path::Path;

use serde_json::Value;
use trace_import::SessionRef;
use trace_recorder::Bundle;
use trace_recorder::check::check;
use trace_reducer::{Options, reduce, state_json};

/// Imports a session and reduces it strictly, in memory, from disk and with the Codex CLI. All must see the same graph.
///
/// # Panics
///
/// Panics if the session cannot be imported, or if the graphs differ.
pub(crate) fn state(session: &SessionRef) -> Value {
    let bundle = trace_import::open(session).unwrap_or_else(|error| panic!("{session:?}: {error}"));
    let in_memory = reduced(&bundle);
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path().join("imported");
    trace_import::write(&bundle, &directory).expect("writes");
    let written = Bundle::open(&directory).expect("opens");
    assert_eq!(reduced(&written), in_memory, "{session:?}");
    // Programs that were killed leave sessions without an end.
    let mut found: Vec<_> = check(&written).findings.iter().map(ToString::to_string).collect();
    found.retain(|finding| !finding.contains("[no_end]"));
    assert!(found.is_empty(), "{session:?}: {found:?}");
    if let Some(theirs) = trace_needs::state_by_peer(&directory) {
        let theirs: Value = serde_json::from_str(&theirs).expect("is JSON");
        assert_eq!(in_memory, theirs, "{session:?}");
    }
    in_memory
}

fn reduced(bundle: &Bundle) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(bundle, strict).unwrap_or_else(|error| panic!("{}: {error:?}", bundle.path().display()));
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

/// Returns the objects of one kind in a state, in the order of their ids.
pub(crate) fn objects<'a>(state: &'a Value, kind: &str) -> Vec<&'a Value> {
    state[kind].as_object().map(|map| map.values().collect()).unwrap_or_default()
}

/// Returns the statuses of the executions of one kind, sorted.
pub(crate) fn statuses(state: &Value, kind: &str) -> Vec<String> {
    let status = |object: &&Value| object["execution"]["status"].as_str().unwrap_or_default().to_owned();
    let mut statuses: Vec<_> = objects(state, kind).iter().map(status).collect();
    statuses.sort();
    statuses
}

/// Returns the sum of the tokens of all inference calls: input, cached input and output.
pub(crate) fn tokens(state: &Value) -> [u64; 3] {
    let fields = ["input_tokens", "cached_input_tokens", "output_tokens"];
    fields.map(|field| objects(state, "inference_calls").iter().filter_map(|call| call["usage"][field].as_u64()).sum())
}

/// Returns the codes that the import notes.
pub(crate) fn codes(session: &SessionRef) -> Vec<String> {
    let bundle = trace_import::open(session).expect("imports");
    bundle.import().expect("an import").notes.iter().map(|note| note.code.clone()).collect()
}

/// Returns the types that the note about unknown records names.
pub(crate) fn unknown_types(session: &SessionRef) -> String {
    let bundle = trace_import::open(session).expect("imports");
    let notes = &bundle.import().expect("an import").notes;
    let note = notes.iter().find(|note| note.code == "unknown-record").expect("a note");
    note.message.split_once(" The types: ").expect("types").1.to_owned()
}

/// Imports all sessions of some agents and returns how each went.
pub(crate) fn told(imports: &Path, agents: &[&str]) -> String {
    let mut told = Vec::new();
    for agent in agents {
        for session in trace_import::sessions(&imports.join(agent)).expect("searches") {
            let state = state(&session);
            let summary = trace_import::summarize(&session).expect("reads");
            let place = session.path.strip_prefix(imports).expect("below").display().to_string();
            told.push(format!("## {place} {} {}", session.format, session.id.as_deref().unwrap_or("-")));
            for kind in ["threads", "codex_turns", "inference_calls", "tool_calls"] {
                told.push(format!("  {kind} {:?}", statuses(&state, kind)));
            }
            let (edges, compactions) =
                (objects(&state, "interaction_edges").len(), objects(&state, "compactions").len());
            told.push(format!("  edges {edges} compactions {compactions} tokens {:?}", tokens(&state)));
            told.push(format!("  outcome {:?} model {:?} title {:?}", summary.outcome, summary.model, summary.title));
            told.push(format!("  notes {:?}", codes(&session)));
        }
    }
    told.join("\n")
}
