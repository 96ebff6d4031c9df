//! Compares what is reported while a session is recorded with the final graph.

use std::path::{Path, PathBuf};

use trace_explain::live::{Event, Narrator};
use trace_recorder::Bundle;
use trace_recorder::bundle::find_bundles;
use trace_reducer::model::Trace;
use trace_reducer::{LiveReduction, Options};

fn bundles() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for below in ["../tests/cases", "../../samples"] {
        found.extend(find_bundles(&root.join(below)).expect("bundles"));
    }
    found.extend(
        trace_needs::recordings("what is told while a session is recorded")
            .into_iter()
            .map(|recording| recording.bundle),
    );
    found
}

#[test]
fn everything_that_began_and_ended_is_told_once() {
    let mut told = 0;
    for path in bundles() {
        let bundle = Bundle::open(&path).expect("opens");
        let mut live = LiveReduction::begin(&bundle, Options::default()).expect("lenient");
        let mut narrator = Narrator::default();
        let mut happenings = Vec::new();
        let log = bundle.log().map(|log| log.as_bytes()).unwrap_or_default();
        live.feed(log, bundle.payloads(), |update| happenings.extend(narrator.hear(&update, bundle.payloads())))
            .expect("lenient");
        let trace = live.trace();
        let count = |event: Event| happenings.iter().filter(|happening| happening.event == event).count();
        let what = path.display();
        assert_eq!(count(Event::AgentStarted), trace.threads.len(), "{what}");
        assert_eq!(count(Event::TurnStarted), trace.turns.len(), "{what}");
        assert_eq!(count(Event::InferenceStarted), trace.inferences.len(), "{what}");
        assert_eq!(count(Event::ToolStarted), trace.tools.len(), "{what}");
        assert_eq!(count(Event::Compacted), trace.compactions.len(), "{what}");
        assert_eq!(count(Event::ResultReported), trace.agent_results.len(), "{what}");
        let ended = trace.tools.values().filter(|tool| tool.execution.ended.is_some()).count();
        assert_eq!(count(Event::ToolEnded), ended, "{what}");
        check_status(&narrator, trace, &path);
        told += happenings.len();
    }
    assert!(told > 1000, "{told}");
}

fn check_status(narrator: &Narrator, trace: &Trace, path: &Path) {
    let status = narrator.status(trace);
    let running = trace.threads.values().filter(|thread| thread.execution.ended.is_none()).count();
    assert_eq!(status.agents.len(), running, "{}", path.display());
    assert_eq!(status.agents_started, trace.threads.len(), "{}", path.display());
    let input: u64 = trace
        .inferences
        .values()
        .filter(|call| call.execution.ended.is_some())
        .filter_map(|call| Some(call.usage?.input_tokens))
        .sum();
    // A call that ends twice may report tokens twice. Apart from that, no tokens are counted twice or lost.
    assert!(status.tokens.input <= input, "{}", path.display());
}
