//! Checks that the hostile session still reduces to a rich graph, and that nearly all its strings are attacks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use trace_recorder::Bundle;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Code, Options, Reduction, reduce};
use trace_samples::hostile::{self, IN_NAMES, IN_TEXTS, WHOLE_IDS};

fn recorded() -> (tempfile::TempDir, Reduction) {
    let root = tempfile::tempdir().expect("a directory");
    hostile::record(&root.path().join("bundle")).expect("records");
    let bundle = Bundle::open(&root.path().join("bundle")).expect("opens");
    let reduction = reduce(&bundle, Options::default()).expect("reduces");
    (root, reduction)
}

fn state(reduction: &Reduction) -> Value {
    let mut state = Vec::new();
    state_json::write(reduction, Style::Compact, &mut state).expect("writes");
    serde_json::from_slice(&state).expect("is JSON")
}

/// Calls `visit` with every string value. Keys of objects are not visited.
fn visit_strings<'a>(value: &'a Value, visit: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter().for_each(|value| visit_strings(value, visit)),
        Value::Object(members) => members.values().for_each(|value| visit_strings(value, visit)),
        _ => {}
    }
}

#[test]
fn the_graph_has_something_of_every_kind() {
    let (_root, reduction) = recorded();
    let state = state(&reduction);
    let count = |name: &str| state[name].as_object().map_or(0, serde_json::Map::len);
    for (name, expected) in [
        ("threads", 6),
        ("codex_turns", 7),
        ("inference_calls", 28),
        ("tool_calls", 26),
        ("code_cells", 2),
        ("terminal_operations", 10),
        ("compactions", 1),
        ("interaction_edges", 13),
    ] {
        assert_eq!(count(name), expected, "{name}");
    }
    let values_of = |table: &str, member: &str| -> BTreeSet<String> {
        let rows = state[table].as_object().expect("a table").values();
        rows.filter_map(|row| row.pointer(member)?.as_str().map(str::to_owned)).collect()
    };
    let kinds = values_of("interaction_edges", "/kind");
    let all = ["agent_result", "assign_agent_task", "close_agent", "send_message", "spawn_agent"];
    assert!(kinds.iter().eq(&all), "{kinds:?}");
    let ends = values_of("codex_turns", "/execution/status");
    assert!(ends.iter().eq(&["cancelled", "completed", "failed"]), "{ends:?}");
    // Reports about agents need UUIDs, and unknown kinds are reported. There is no other damage.
    let codes: BTreeSet<Code> = reduction.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, BTreeSet::from([Code::PayloadInvalid, Code::UnknownValue]));
}

#[test]
fn strings_attack() {
    let (root, reduction) = recorded();
    let attacks =
        |text: &str| IN_NAMES.iter().chain(&IN_TEXTS).any(|attack| text.contains(attack)) || WHOLE_IDS.contains(&text);
    let state = state(&reduction);
    let mut tame = BTreeSet::new();
    visit_strings(&state, &mut |text| {
        let is_uuid = text.len() == 36 && text.as_bytes()[8] == b'-';
        let is_numbered =
            text.rsplit_once(':').is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let is_cut = text.ends_with("...");
        let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        // In JSON inside of a text, attacks are escaped once more.
        let is_json = text.starts_with('{');
        if !(attacks(text) || is_uuid || is_numbered || is_cut || is_word || is_json) {
            tame.insert(text);
        }
    });
    // The id of a cell contains that of its call, which is an attack. The other text is a message of the reducer.
    let known = ["code_cell:null", "the payload cannot be used: not a report about another agent"];
    assert_eq!(tame, BTreeSet::from(known));

    let log = fs::read_to_string(root.path().join("bundle/trace.jsonl")).expect("reads");
    for attack in WHOLE_IDS {
        assert!(log.contains(&Value::from(attack).to_string()), "no id is {attack:?}");
    }
    let files = fs::read_dir(root.path().join("bundle/payloads")).expect("lists");
    for file in files {
        let name = file.expect("an entry").file_name();
        assert!(attacks(&name.to_string_lossy()), "{name:?}");
    }
}

#[test]
fn equal_runs_make_equal_bytes() {
    let roots = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let [first, second] = roots.each_ref().map(|root| {
        hostile::record(root.path()).expect_err("the directory is there already");
        let path = root.path().join("bundle");
        hostile::record(&path).expect("records");
        files(&path)
    });
    assert!(first == second);
}

fn files(bundle: &Path) -> Vec<(String, Vec<u8>)> {
    let bundle = Bundle::open(bundle).expect("opens");
    let mut files = Vec::new();
    for entry in bundle.payloads().list_all().expect("lists") {
        let mut content = Vec::new();
        bundle.payloads().read(&entry.path, &mut content).expect("reads");
        files.push((entry.path, content));
    }
    files
}
