//! Trees of agents that no real session has: cycles, and a line of a thousand agents.

use std::path::Path;

use serde_json::json;
use trace_explain::postmortem::{Category, Confidence, MAX_CHAIN_AGENTS, Outcome, postmortem};
use trace_explain::{CausalGraph, Family, Session};
use trace_recorder::format::event::{CodexTurnEnded, CodexTurnStarted, RolloutEnded, ThreadResumed, ThreadStarted};
use trace_recorder::format::{EventPayload, ExecutionStatus, Manifest, PayloadKind, RolloutStatus};
use trace_recorder::write::{BundleAppender, Context};
use trace_reducer::model::Handle;

/// Writes threads, each with its parent and a turn. All turns but the last one complete.
fn write(path: &Path, parents: &[usize]) {
    let manifest = Manifest::new("trace", "rollout", "t-0", 0);
    let mut writer = BundleAppender::create(path, &manifest).expect("creates");
    let id = |index: usize| format!("t-{index}");
    for (index, parent) in parents.iter().enumerate() {
        let spawn = json!({ "parent_thread_id": id(*parent), "agent_path": format!("/root/a{index}") });
        let metadata = json!({ "session_source": { "subagent": { "thread_spawn": spawn } } });
        let metadata = writer.payload(PayloadKind::SessionMetadata, &metadata).expect("writes");
        let started = ThreadStarted {
            thread_id: id(index).into(),
            agent_path: "/root".into(),
            metadata_payload: (index != *parent).then_some(metadata),
        };
        writer.event(1, Context::SESSION, EventPayload::ThreadStarted(started)).expect("appends");
        let started = CodexTurnStarted { codex_turn_id: format!("turn-{index}").into(), thread_id: id(index).into() };
        let context = Context::turn(started.thread_id.as_ref(), "");
        let context = Context { codex_turn_id: None, ..context };
        writer.event(2, context, EventPayload::CodexTurnStarted(started.clone())).expect("appends");
    }
    for index in (0..parents.len() - 1).rev() {
        let ended =
            CodexTurnEnded { codex_turn_id: format!("turn-{index}").into(), status: ExecutionStatus::Completed };
        writer.event(3, Context::SESSION, EventPayload::CodexTurnEnded(ended)).expect("appends");
    }
    let ended = RolloutEnded { status: RolloutStatus::Completed };
    writer.event(4, Context::SESSION, EventPayload::RolloutEnded(ended)).expect("appends");
}

fn session(parents: &[usize]) -> (tempfile::TempDir, Session) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bundle");
    write(&path, parents);
    let session = Session::open(&path).expect("opens");
    assert_eq!(session.trace().threads.len(), parents.len());
    (directory, session)
}

#[test]
fn a_failure_rises_through_a_thousand_agents() {
    let parents: Vec<usize> = (0..1000usize).map(|index| index.saturating_sub(1)).collect();
    let (_directory, session) = session(&parents);
    let verdicts = postmortem(&session).turns;
    assert_eq!(verdicts.len(), parents.len());
    for verdict in &verdicts[..parents.len() - 1] {
        assert_eq!(verdict.outcome, Outcome::Degraded);
        let cause = verdict.root_cause.as_ref().expect("a cause");
        assert_eq!((cause.category, cause.turn_id.as_deref()), (Category::AgentNeverFinished, Some("turn-999")));
    }
    let longest = verdicts.iter().map(|verdict| verdict.chain.len()).max();
    assert!(longest.is_some_and(|steps| steps > MAX_CHAIN_AGENTS && steps < MAX_CHAIN_AGENTS * 4), "{longest:?}");
    assert_eq!(verdicts.last().expect("the last").outcome, Outcome::Unfinished);
    assert!(CausalGraph::new(&session).graph().edge_count() >= parents.len() * 2 - 1);
}

#[test]
fn agents_that_spawned_each_other_have_no_parent_in_the_end() {
    let (_directory, session) = session(&[0, 2, 3, 1, 3]);
    let family = Family::new(session.trace());
    let order = family.order();
    assert_eq!(order.len(), 5);
    for (child, birth) in family.births() {
        let place = |thread| order.iter().position(|known| *known == thread).expect("in the order");
        assert!(place(birth.parent) < place(child), "{child:?}");
    }
    let orphans = session.trace().threads.handles().filter(|thread| family.birth(*thread).is_none()).count();
    assert_eq!(orphans, 2, "the root, and one thread of the cycle");
    assert_eq!(postmortem(&session).turns.len(), 5);
    assert_eq!(session.trace().threads.handles().map(Handle::index).max(), Some(4));
}

/// Writes a session of two runs, of which the second has no end.
#[test]
fn every_run_of_a_session_has_its_own_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bundle");
    let mut writer = BundleAppender::create(&path, &Manifest::new("trace", "rollout", "t-0", 0)).expect("creates");
    let mut event = |payload| writer.event(1, Context::SESSION, payload).expect("appends");
    let turn = |id: &'static str, thread: &'static str| {
        EventPayload::CodexTurnStarted(CodexTurnStarted { codex_turn_id: id.into(), thread_id: thread.into() })
    };
    let turn_ended =
        |id: &'static str, status| EventPayload::CodexTurnEnded(CodexTurnEnded { codex_turn_id: id.into(), status });
    let run_ended = || EventPayload::RolloutEnded(RolloutEnded { status: RolloutStatus::Completed });
    let thread = |id: &'static str, path: &'static str| {
        EventPayload::ThreadStarted(ThreadStarted {
            thread_id: id.into(),
            agent_path: path.into(),
            metadata_payload: None,
        })
    };
    event(thread("t-0", "/root"));
    event(turn("first", "t-0"));
    event(turn_ended("first", ExecutionStatus::Completed));
    event(run_ended());
    event(EventPayload::ThreadResumed(ThreadResumed { thread_id: "t-0".into() }));
    event(turn("second", "t-0"));
    let session = Session::open(&path).expect("opens");
    assert_eq!(session.trace().run_ends.len(), 1);
    assert_eq!(session.trace().run_end_after(0), session.trace().ended);
    let started = session.trace().turns.values().last().expect("a turn").execution.started;
    assert_eq!(session.trace().run_end_after(started.seq), None, "the second run has no end");
    let last = postmortem(&session).turns.pop().expect("a turn");
    let cause = last.root_cause.expect("a cause");
    assert_eq!((last.outcome, cause.category), (Outcome::Unfinished, Category::RecordingTruncated));
    assert_ne!(cause.confidence, Confidence::High, "the end of another run is no evidence for this run");
}
