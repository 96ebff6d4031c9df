//! Laws of postmortems.

mod bundles;

use trace_explain::postmortem::{Outcome, postmortem};
use trace_explain::{CausalGraph, Object, ObjectRef};
use trace_reducer::model::ExecutionStatus;

#[test]
fn every_turn_gets_a_verdict_that_fits_its_end() {
    let mut counts = std::collections::BTreeMap::new();
    bundles::for_each(|path, session| {
        let trace = session.trace();
        let verdicts = postmortem(session).turns;
        assert_eq!(verdicts.len(), trace.turns.len(), "{}", path.display());
        for verdict in &verdicts {
            let name = ObjectRef { kind: "codex_turn".into(), id: verdict.turn_id.clone() };
            let Some(Object::Turn(turn)) = session.find(&name) else { panic!("{}: {name}", path.display()) };
            let fits: &[Outcome] = match trace.turns[turn].execution.status {
                // In schema 1, failed turns have the status completed.
                ExecutionStatus::Completed => &[Outcome::Ok, Outcome::Recovered, Outcome::Degraded, Outcome::Failed],
                ExecutionStatus::Failed => &[Outcome::Failed],
                ExecutionStatus::Running if trace.turns[turn].execution.ended.is_none() => &[Outcome::Unfinished],
                _ => &[Outcome::Cancelled, Outcome::Unfinished],
            };
            assert!(fits.contains(&verdict.outcome), "{}: {verdict:#?}", path.display());
            let is_well = verdict.outcome == Outcome::Ok;
            assert_eq!(verdict.root_cause.is_none(), is_well, "{}: {verdict:#?}", path.display());
            assert_eq!(verdict.chain.is_empty(), is_well, "{}: {verdict:#?}", path.display());
            if verdict.outcome == Outcome::Recovered {
                assert!(verdict.other_causes.is_empty(), "{}: {verdict:#?}", path.display());
            }
            *counts.entry(verdict.outcome.as_str()).or_insert(0) += 1;
        }
    });
    assert!(counts["ok"] > 5 && counts["failed"] > 0 && counts["unfinished"] > 10, "{counts:?}");
}

#[test]
fn the_way_goes_along_the_causal_graph() {
    let mut steps = 0;
    bundles::for_each(|path, session| {
        let graph = CausalGraph::new(session);
        for verdict in postmortem(session).turns {
            let Some(cause) = &verdict.root_cause else { continue };
            assert_eq!(verdict.chain[0].relation, "symptom");
            let last = verdict.chain.last().expect("a step");
            let is_symptom = verdict.chain.len() == 1 && cause.object.id == verdict.turn_id;
            assert!(is_symptom || last.object == cause.object, "{}: {verdict:#?}", path.display());
            for objects in [&cause.object].into_iter().chain(&verdict.rests_on) {
                assert!(session.find(objects).is_some(), "{}: {objects}", path.display());
            }
            // The symptom need not be linked with the turn. From the turn on, each step is an edge of the causal graph.
            let turn = verdict.chain.iter().position(|step| step.object.id == verdict.turn_id).expect("the turn");
            for pair in verdict.chain[turn..].windows(2) {
                let [from, to] = [&pair[0], &pair[1]].map(|step| session.find(&step.object).expect("an object"));
                if pair[1].relation == "agent_failed"
                    && (pair[0].relation == "delivered" || pair[0].relation == "waited_on")
                {
                    // The task, or the agent that was waited for, belongs to the agent of the turn.
                    assert_eq!(session.thread_of(from), session.thread_of(to), "{}: {pair:#?}", path.display());
                    continue;
                }
                // These were there before: what was waited for, and the command whose exit code a write returned.
                let is_back = pair[1].relation == "waited_on" || pair[0].relation == "waited_on";
                let link = if is_back { graph.link(to, from) } else { graph.link(from, to) };
                let link = link.unwrap_or_else(|| panic!("{}: {pair:#?}", path.display()));
                let relation = if pair[1].relation == "agent_failed" { "contains" } else { pair[1].relation };
                assert_eq!(link.relation.as_str(), relation, "{}: {pair:#?}", path.display());
                steps += 1;
            }
        }
    });
    assert!(steps > 10, "{steps}");
}

#[test]
fn a_log_that_is_cut_anywhere_is_judged() {
    let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/three-children");
    let log = std::fs::read(sample.join("trace.jsonl")).expect("reads");
    let ends: Vec<usize> = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end + 1).collect();
    let whole = trace_explain::Session::open(&sample).expect("opens");
    let turns = postmortem(&whole).turns.len();
    let directory = tempfile::tempdir().expect("a directory");
    let bundle = directory.path().join("bundle");
    copy(&sample, &bundle);
    let mut last = 0;
    for end in ends {
        std::fs::write(bundle.join("trace.jsonl"), &log[..end]).expect("writes");
        let session = trace_explain::Session::open(&bundle).expect("opens");
        let verdicts = postmortem(&session).turns;
        assert!(verdicts.len() >= last, "{end}");
        last = verdicts.len();
    }
    assert_eq!(last, turns);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("creates");
    for entry in std::fs::read_dir(from).expect("lists") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copies");
        }
    }
}
