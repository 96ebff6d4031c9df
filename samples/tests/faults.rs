//! The postmortem says of every turn of the test bed what is true of it.

use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use trace_explain::Session;
use trace_explain::postmortem::postmortem;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce};
use trace_samples::faults::{Family, Planted, TurnTruth, all};

/// What the postmortem makes of a session.
struct Judged {
    family: Family,
    /// What is not true, one text for each turn.
    differences: Vec<String>,
    /// Whether nothing is told without being asked for all turns.
    is_silent: bool,
}

fn judge(planted: &Planted, directory: &Path) -> Judged {
    let path = directory.join(&planted.name);
    let truth = planted.write(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let bundle = Bundle::open(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let options = Options { strict: !planted.is_torn, verify: false };
    let reduction = reduce(&bundle, options).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let postmortem = postmortem(&Session::new(bundle, reduction));
    fs::remove_dir_all(&path).expect("removes");
    let told = serde_json::to_value(&postmortem).expect("serializes");
    Judged {
        family: planted.family,
        differences: differences(&planted.name, &told, &truth),
        is_silent: postmortem.only_attention().turns.is_empty(),
    }
}

fn differences(name: &str, told: &Value, truth: &[TurnTruth]) -> Vec<String> {
    let told = told["turns"].as_array().expect("turns");
    let mut differences = Vec::new();
    for turn in truth {
        let truth = serde_json::to_value(turn).expect("serializes");
        let Some(told) = told.iter().find(|told| told["turn_id"] == truth["turn_id"]) else {
            differences.push(format!("{name}: nothing is said of the turn of {}", turn.agent_path));
            continue;
        };
        for key in ["thread_id", "agent_path"] {
            assert_eq!(told[key], truth[key], "{name}");
        }
        let said = verdict(told);
        let alternatives = truth["alternatives"].as_array().into_iter().flatten();
        if !std::iter::once(&truth).chain(alternatives).any(|truth| verdict(truth) == said) {
            differences.push(format!("{name}: {}\n    said {said}\n    true {}", turn.agent_path, verdict(&truth)));
        }
    }
    if told.len() != truth.len() {
        differences.push(format!("{name}: {} turns for {}", told.len(), truth.len()));
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
fn the_postmortem_names_category_and_object_and_is_silent_where_nothing_failed() {
    let directory = tempfile::tempdir().expect("a directory");
    let judged: Vec<Judged> = all().par_iter().map(|planted| judge(planted, directory.path())).collect();
    let differences: Vec<&str> = judged.iter().flat_map(|judged| &judged.differences).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} of the turns:\n{}", differences.len(), differences.join("\n"));
    let silent = |family| judged.iter().filter(|judged| judged.family == family && judged.is_silent).count();
    let (healthy, recovered) = (silent(Family::Healthy), silent(Family::Recovered));
    assert!(healthy >= 20 && recovered >= 10, "{healthy} healthy and {recovered} recovered sessions");
}
