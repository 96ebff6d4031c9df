//! Checks the verdicts of `trace postmortem` on the sessions with planted faults.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use trace_explain::postmortem::postmortem;
use trace_explain::{CausalGraph, Object, Relation, Session};
use trace_recorder::Bundle;
use trace_reducer::model::ToolKind;
use trace_reducer::{Options, reduce};
use trace_samples::faults::{Family, Planted, TurnTruth, all};

/// The comparison of a session's verdicts with the expected ones.
struct Judged {
    family: Family,
    /// One text for each turn with a wrong verdict.
    differences: Vec<String>,
    /// Whether the default output, without the option for all turns, is empty.
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

/// Returns the parts of a verdict that must be right: outcome, category and object.
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

/// Checks that the paths of all verdicts on a session exist in the causal graph. Returns the relations that occur.
fn walk(planted: &Planted, directory: &Path) -> BTreeSet<&'static str> {
    let path = directory.join(&planted.name);
    planted.write(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let session = Session::open(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    let graph = CausalGraph::new(&session);
    let mut relations = BTreeSet::new();
    for verdict in postmortem(&session).turns {
        let Some(turn) = verdict.chain.iter().position(|step| step.object.id == verdict.turn_id) else { continue };
        for pair in verdict.chain[turn..].windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|step| session.find(&step.object).expect("an object"));
            let relation = pair[1].relation;
            relations.insert(relation);
            if relation == "agent_failed" && matches!(pair[0].relation, "delivered" | "waited_on") {
                assert_eq!(session.thread_of(from), session.thread_of(to), "{}: {pair:#?}", planted.name);
                continue;
            }
            // A chain goes back in time from a wait to what was waited for. The graph has this link in the other direction.
            let is_back = relation == "waited_on" || pair[0].relation == "waited_on";
            let link = if is_back { graph.link(to, from) } else { graph.link(from, to) };
            let link = link.unwrap_or_else(|| panic!("{}: {pair:#?}", planted.name));
            let relation = if relation == "agent_failed" { "contains" } else { relation };
            assert_eq!(link.relation.as_str(), relation, "{}: {pair:#?}", planted.name);
        }
    }
    fs::remove_dir_all(&path).expect("removes");
    relations
}

#[test]
fn the_ways_to_planted_faults_go_along_the_causal_graph() {
    let directory = tempfile::tempdir().expect("a directory");
    let relations: BTreeSet<&str> =
        all().par_iter().map(|planted| walk(planted, directory.path())).reduce(BTreeSet::new, |mut all, some| {
            all.extend(some);
            all
        });
    assert_eq!(
        relations,
        BTreeSet::from(["agent_failed", "contains", "delivered", "spawned", "waited_on"]),
        "every relation is somewhere on a way"
    );
}

#[test]
fn what_was_waited_for_in_vain_is_in_the_causal_graph() {
    let directory = tempfile::tempdir().expect("a directory");
    let planted = all().into_iter().find(|planted| planted.name == "agent-never-finished-wait-in-next-turn");
    let path = directory.path().join("bundle");
    planted.expect("planted").write(&path).expect("writes");
    let session = Session::open(&path).expect("opens");
    let graph = CausalGraph::new(&session);
    let (wait, _) = session.trace().tools.iter().find(|(_, call)| call.kind == ToolKind::WaitAgent).expect("a wait");
    let causes = graph.causes(Object::Tool(wait));
    let awaited: Vec<&str> = (causes.iter())
        .filter(|(_, link)| link.relation == Relation::WaitedOn)
        .filter_map(|(object, _)| session.thread_of(*object))
        .map(|thread| session.agent_path(thread))
        .collect();
    assert_eq!(awaited, ["/root/worker"]);
}
