//! Invariants for arbitrary answers and interrupts: items complete, deltas add up, calls have outputs, turns end, and
//! readers accept the bundle.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod common;

use std::time::Duration;

use common::graph::state;
use common::*;
use proptest::prelude::*;
use serde_json::json;
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_runtime::event::{ErrorKind, EventKind};
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::provider::{ModelEvent, RetryDecision};

/// A timeout that no turn reaches; test time is simulated.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);

fn id() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", Just(String::new())]
}

/// An item, a part of one, or an invalid event.
fn piece() -> impl Strategy<Value = Vec<Step>> {
    let text = "[a-zé ]{0,12}";
    prop_oneof![
        4 => (id(), text).prop_map(|(id, text)| say(&id, &text)),
        2 => (id(), text).prop_map(|(id, text)| begin_saying(&id, &text)),
        2 => (id(), text).prop_map(|(id, text)| event(ModelEvent::ItemDone(message(&id, &text)))),
        2 => (id(), text).prop_map(|(id, text)| think(&id, &text)),
        1 => (id(), text, 0usize..4).prop_map(|(item_id, delta, index)| event(ModelEvent::Summary { item_id, index, delta })),
        1 => (id(), text).prop_map(|(item_id, delta)| event(ModelEvent::Text { item_id, delta })),
        4 => (id(), 0u64..50, any::<bool>()).prop_map(|(id, ms, deaf)| call(&id, "slow", &json!({"ms": ms, "deaf": deaf}))),
        3 => (id(), text).prop_map(|(id, text)| custom(&id, "echo", &text)),
        1 => id().prop_map(|id| call(&id, "break", &json!({}))),
        1 => id().prop_map(|id| call(&id, "no_such_tool", &json!({}))),
        1 => id().prop_map(|id| event(ModelEvent::ItemDone(json!({"type": "function_call_output", "call_id": id, "output": "?"})))),
        1 => id().prop_map(|id| event(ModelEvent::ItemDone(json!({"type": "reasoning", "id": id, "summary": []})))),
        1 => Just(event(ModelEvent::ItemDone(json!({"type": "surprise"})))),
        1 => Just(event(ModelEvent::ItemAdded(json!(null)))),
    ]
}

fn whole_or_not() -> impl Strategy<Value = Vec<Step>> {
    let retry = prop_oneof![
        Just(RetryDecision::Never),
        Just(RetryDecision::Request { after: None }),
        Just(RetryDecision::Stream { after: Some(Duration::from_secs(1)) }),
    ];
    let end = prop_oneof![
        6 => Just(answer([]).split_off(1)),
        1 => Just(Vec::new()),
        1 => Just(vec![Step::Hang]),
        1 => Just(vec![Step::Panic]),
        2 => retry.prop_map(|retry| fails("no", ErrorKind::Other, retry)),
    ];
    (proptest::collection::vec(piece(), 0..5), end).prop_map(|(pieces, end)| {
        let mut steps = broken([]);
        steps.extend(pieces.into_iter().flatten());
        steps.extend(end);
        steps
    })
}

#[derive(Debug, Clone, Copy)]
enum Interference {
    Stop,
    Say,
    Mail,
    Urgent,
    Inject,
    Compact,
}

fn interference() -> impl Strategy<Value = (usize, Interference)> {
    use Interference::{Compact, Inject, Mail, Say, Stop, Urgent};
    (0usize..60, prop_oneof![Just(Stop), Just(Say), Just(Mail), Just(Urgent), Just(Inject), Just(Compact)])
}

fn interfere(world: &World, what: Interference) {
    let mail = |wake| {
        let content = vec![json!({"type": "input_text", "text": "mail"})];
        let (author, recipient) = ("/root/a".to_owned(), "/root".to_owned());
        world
            .agent
            .deliver(Mail {
                id: format!("amsg_{}", uuid::Uuid::now_v7()),
                author,
                recipient,
                content,
                wake,
                root_turn: None,
            })
            .unwrap();
    };
    match what {
        Interference::Stop => drop(world.agent.interrupt_any()),
        Interference::Say => drop(world.agent.start_turn(request("more")).unwrap()),
        Interference::Mail => mail(Wake::Nobody),
        Interference::Urgent => mail(Wake::Agent),
        Interference::Inject => {
            let call = json!({"type": "function_call", "name": "x", "call_id": "injected", "arguments": ""});
            world.agent.inject(vec![call.into()]).unwrap();
        }
        Interference::Compact => drop(world.agent.compact()),
    }
}

async fn play(world: World, interferences: Vec<(usize, Interference)>) {
    world.start("hello");
    for (steps, what) in interferences {
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
        interfere(&world, what);
    }
    while world.agent.active_turn().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.check_laws();
    world.run("once more").await;
    world.agent.shutdown().await;
    world.check_laws();
    let last = world.witness.kinds().pop();
    assert!(matches!(last, Some(EventKind::TurnEnded { .. })), "{last:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_for_any_script(
        answers in proptest::collection::vec(whole_or_not(), 0..6),
        interferences in proptest::collection::vec(interference(), 0..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            tokio::time::timeout(FOREVER, play(world(answers), interferences)).await.expect("turns end");
        });
    }
}

proptest! {
    // Each case creates files and may run the peer.
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bundles_of_any_script_are_accepted(
        answers in proptest::collection::vec(whole_or_not(), 0..6),
        interferences in proptest::collection::vec(interference(), 0..5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let provider = Scripted::new(answers);
        let mut options = options(&provider);
        options.recording = Some(TraceRoot::new(directory.path(), WriterOptions::default()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let world = world_with(provider, options);
            let agent = world.agent.clone();
            tokio::time::timeout(FOREVER, play(world, interferences)).await.expect("turns end");
            let state = state(&agent.recording().path().expect("it was recorded"));
            let open = |map: &str| {
                state[map].as_object().unwrap().values().any(|value| value["execution"]["status"] == "running")
            };
            assert!(!["threads", "codex_turns", "inference_calls", "tool_calls"].into_iter().any(open), "{state}");
        });
    }
}
