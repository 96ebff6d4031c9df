//! The postmortem says of every turn of the test bed what is true of it.

use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use trace_explain::Session;
use trace_explain::postmortem::postmortem;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce};
use trace_samples::faults::{Family, Outcome, Planted, all};

/// Compares the postmortem of a session with the truth. Returns what differs, one line for each turn.
fn differences(planted: &Planted, directory: &Path) -> Vec<String> {
    let path = directory.join(&planted.name);
    let truth = planted.write(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let bundle = Bundle::open(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let options = Options { strict: !planted.is_torn, verify: false };
    let reduction = reduce(&bundle, options).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let postmortem = postmortem(&Session::new(bundle, reduction));
    fs::remove_dir_all(&path).expect("removes");
    let told = serde_json::to_value(&postmortem).expect("serializes");
    let told = told["turns"].as_array().cloned().unwrap_or_default();
    let mut differences = Vec::new();
    for turn in &truth {
        let truth = serde_json::to_value(turn).expect("serializes");
        let Some(told) = told.iter().find(|told| told["turn_id"] == truth["turn_id"]) else {
            differences.push(format!("{}: nothing is said of the turn of {}", planted.name, turn.agent_path));
            continue;
        };
        for key in ["thread_id", "agent_path"] {
            assert_eq!(told[key], truth[key], "{}", planted.name);
        }
        let said = verdict(told);
        let alternatives = truth["alternatives"].as_array().into_iter().flatten();
        if !std::iter::once(&truth).chain(alternatives).any(|truth| verdict(truth) == said) {
            let (name, path) = (&planted.name, &turn.agent_path);
            differences.push(format!("{name}: {path}\n    said {said}\n    true {}", verdict(&truth)));
        }
    }
    if told.len() != truth.len() {
        differences.push(format!("{}: {} turns for {}", planted.name, told.len(), truth.len()));
    }
    differences
}

/// Returns what has to be right of a turn: outcome, category and object.
fn verdict(turn: &Value) -> Value {
    let cause = &turn["root_cause"];
    let cause = if cause.is_null() {
        Value::Null
    } else {
        json!([cause["category"], cause["object"]["type"], cause["object"]["id"]])
    };
    json!([turn["outcome"], cause])
}

#[test]
fn the_postmortem_names_category_and_object_in_all_of_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let planted = all();
    let mut differences: Vec<String> =
        planted.par_iter().flat_map_iter(|planted| differences(planted, directory.path())).collect();
    differences.sort();
    assert!(differences.is_empty(), "{} of the turns:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_postmortem_is_silent_where_nothing_is_to_be_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut healthy, mut recovered) = (0, 0);
    for planted in all() {
        let count = match planted.family {
            Family::Fault(_) => continue,
            Family::Healthy => &mut healthy,
            Family::Recovered => &mut recovered,
        };
        let path = directory.path().join(&planted.name);
        let truth = planted.write(&path).expect("records");
        // Where a failed turn was made good by a later one, either may be said of it: told or not.
        if truth.iter().flat_map(|turn| &turn.alternatives).any(|verdict| verdict.outcome == Outcome::Failed) {
            continue;
        }
        let told = postmortem(&Session::open(&path).expect("opens")).only_attention();
        assert!(told.turns.is_empty(), "{}: {:?}", planted.name, told.turns);
        *count += 1;
    }
    assert!(healthy >= 20 && recovered >= 10, "{healthy} healthy and {recovered} recovered sessions");
}
