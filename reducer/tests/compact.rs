//! The compact form of every case and recording expands to `state.json`, byte for byte.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_recorder::Bundle;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, Reduction, reduce};

fn reduction(bundle: &Path) -> Reduction {
    reduce(&Bundle::open(bundle).expect("opens"), Options::default()).expect("a lenient reduction does not fail")
}

fn compact(reduction: &Reduction) -> String {
    let mut text = Vec::new();
    state_json::write_compact(reduction, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("UTF-8")
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).expect("lists");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.join("trace.jsonl").exists() || path.join("manifest.json").exists()).collect()
}

/// Expands the compact form of each bundle in both layouts.
fn expand_all(bundles: &[PathBuf]) {
    for bundle in bundles {
        let reduction = reduction(bundle);
        let compact = compact(&reduction);
        assert!(compact.starts_with(r#"{"compact":1,"item_lines":["#), "{compact}");
        for style in [Style::Pretty, Style::Compact] {
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            state_json::write(&reduction, style, &mut expected).expect("memory does not fail");
            state_json::expand(&compact, style, &mut found).expect("expands");
            assert!(found == expected, "{} expands to another state", bundle.display());
        }
    }
}

#[test]
fn every_case_expands_to_its_state() {
    let cases = cases();
    assert_eq!(cases.len(), 245);
    expand_all(&cases);
}

#[test]
fn every_recording_expands_to_its_state() {
    let recordings = trace_needs::recordings("the compact form");
    expand_all(&recordings.into_iter().map(|recording| recording.bundle).collect::<Vec<_>>());
}

/// Returns the lines of a graph, and the lists of its requests and compactions.
fn lists(bundle: &str) -> String {
    let bundle = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(bundle);
    let graph: Value = serde_json::from_str(&compact(&reduction(&bundle))).expect("JSON");
    let mut rows = String::new();
    let mut add = |name: &str, list: &Value| {
        writeln!(rows, "{name}: {}", list.to_string().replace("conversation_item:", "")).expect("writes to memory");
    };
    for (number, line) in graph["item_lines"].as_array().expect("lines").iter().enumerate() {
        add(&format!("line {number}"), line);
    }
    let mut calls: Vec<&Value> = graph["inference_calls"].as_object().expect("a map").values().collect();
    calls.sort_by_key(|call| call["execution"]["started_seq"].as_u64());
    for call in calls {
        add("request", &call["request_item_ids"]);
    }
    for compaction in graph["compactions"].as_object().expect("a map").values() {
        add("compaction of", &compaction["input_item_ids"]);
        add("to", &compaction["replacement_item_ids"]);
    }
    rows
}

#[test]
fn lists_are_ranges_of_lines() {
    insta::assert_snapshot!(lists("recordings/compaction/bundle"), @r#"
    line 0: ["1","2","3","4","5","6","7","8"]
    line 1: ["19","13","14","15","16","17","18"]
    line 2: ["30","24","25","26","27","28","29","31","32"]
    request: [{"line":0,"end":6}]
    request: [{"line":0,"end":8}]
    request: [{"line":1,"end":7}]
    request: [{"line":2,"end":7}]
    request: [{"line":2,"end":9}]
    compaction of: [{"line":0,"start":1,"end":8},"9","10","11"]
    to: [{"line":1,"start":1,"end":7}]
    compaction of: [{"line":1,"start":1,"end":7},"20","21","22"]
    to: [{"line":2,"start":1,"end":7}]
    "#);
    // Its third request lacks the last items of the second.
    insta::assert_snapshot!(lists("recordings/schema1-summary/bundle"), @r#"
    line 0: ["1","2","3","4","5","6","7","8"]
    line 1: [{"line":0,"end":6},"10","11","12","13"]
    request: [{"line":0,"end":6}]
    request: [{"line":0,"end":8}]
    request: [{"line":1,"end":8}]
    request: [{"line":1,"end":10}]
    "#);
}
