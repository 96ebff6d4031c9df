//! Laws of contexts, checked on all available bundles: parts sum up, differences add up, compactions lose nothing.

use std::path::{Path, PathBuf};

use trace_explain::Session;
use trace_explain::context::answer::Basis;
use trace_explain::context::{Against, FoundCompaction, Texts, compaction, find_inference, request};
use trace_recorder::bundle::find_bundles;
use trace_reducer::model::InferenceIdx;

const SHORT: Texts = Texts::Beginnings { chars: 20 };

fn bundles() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for below in ["../tests/cases", "../../samples"] {
        found.extend(find_bundles(&root.join(below)).expect("bundles"));
    }
    found.extend(trace_needs::recordings("contexts").into_iter().map(|recording| recording.bundle));
    found
}

#[test]
fn a_request_is_the_sum_of_its_parts() {
    let (mut requests, mut differences) = (0, 0);
    for path in bundles() {
        let session = Session::open(&path).expect("opens");
        let trace = session.trace();
        let calls: Vec<InferenceIdx> = trace.inferences.handles().collect();
        // The first requests of many sessions test more than all requests of a long one.
        for inference in calls.into_iter().take(12) {
            let call = &trace.inferences[inference];
            let answer = request(&session, inference, SHORT, Against::RequestBefore);
            let what = format!("{} {}", path.display(), answer.inference_call_id);
            let list = trace.lists.get(call.request_items);
            assert_eq!(answer.items.len(), list.len(), "{what}");
            let summed: u64 = answer.sums.iter().map(|sum| sum.tokens).sum();
            // An empty request has no parts that could get tokens.
            assert!(summed == answer.tokens.input || answer.sums.is_empty(), "{what}");
            assert_eq!(call.usage.is_some(), answer.tokens.basis == Basis::Recorded, "{what}");
            assert!(answer.items.iter().all(|item| item.text.chars().count() <= 20), "{what}");
            if let Some(since) =
                answer.items.iter().filter_map(|item| item.since.as_ref()).find(|since| since.seq > answer.seq)
            {
                panic!("{what}: an item is there since a later request, {since:?}");
            }
            if let Some(diff) = answer.diff {
                differences += 1;
                let before = find_inference(trace, &diff.inference_call_id).expect("a call");
                let before = trace.lists.get(trace.inferences[before].request_items).len();
                assert_eq!(diff.kept + diff.added.len() + diff.changed.len(), list.len(), "{what}");
                assert_eq!(diff.kept + diff.removed.len() + diff.changed.len(), before, "{what}");
            }
            requests += 1;
        }
    }
    assert!(requests > 200 && differences > 50, "{requests} requests, {differences} differences");
}

#[test]
fn a_compaction_keeps_removes_or_adds_every_item() {
    let mut compactions = 0;
    for path in bundles() {
        let session = Session::open(&path).expect("opens");
        for index in session.trace().compactions.handles() {
            let answer = compaction(&session, &FoundCompaction::Installed(index), SHORT);
            let what = format!("{} {}", path.display(), answer.compaction_id);
            assert_eq!(answer.kept.len() + answer.removed.len(), answer.items_before, "{what}");
            let after = answer.kept.len() + answer.added.len() + answer.summaries.len();
            assert_eq!(after, answer.items_after, "{what}");
            compactions += 1;
        }
    }
    assert!(compactions > 8, "{compactions}");
}
