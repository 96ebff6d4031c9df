//! Turns, as a host and as the model see them.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod common;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::*;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use trace_runtime::control::{Refusal, Start, TurnRequest};
use trace_runtime::event::{ErrorKind, EventKind, Retry, TurnKind, TurnOutcome};
use trace_runtime::id::TurnId;
use trace_runtime::item::{Input, ItemKind, WorkStatus};
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::pace::{Pace, PacedAgent};
use trace_runtime::provider::{ModelEvent, ProviderError, RetryDecision, TokenError};
use trace_runtime::runtime::ModelWindow;
use trace_runtime::settings::SettingsChange;

#[tokio::test(start_paused = true)]
async fn a_turn_is_told_in_order() {
    let world = world(vec![
        answer([think("rs_1", "look first"), say("msg_1", "I look."), call("call_1", "echo", &json!("hi"))]),
        answer([say("msg_2", "all done")]),
    ]);
    world.run("hello").await;
    insta::assert_snapshot!(world.witness.story());
    world.check_laws();
    let requests = world.provider.requests.lock().unwrap().clone();
    let body = Value::clone(&requests[1]);
    assert_eq!(body["model"], "model-1");
    assert_eq!(body["store"], false);
    assert_eq!(body["tools"][0]["name"], "echo");
    assert_eq!(body["prompt_cache_key"], world.agent.id().as_str());
    assert!(body.get("reasoning").is_none() && body.get("text").is_none());
    let output = body["input"].as_array().unwrap().last().unwrap();
    assert_eq!((&output["call_id"], &output["output"]), (&json!("call_1"), &json!("\"hi\"")));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_comes_whole_is_begun_and_told() {
    let whole = json!({"type": "reasoning", "id": "rs_1", "summary": [
        {"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "weather"}});
    let world = world(vec![answer([
        event(ModelEvent::ItemDone(whole)),
        event(ModelEvent::ItemDone(search)),
        event(ModelEvent::ItemDone(message("msg_1", "at once"))),
    ])]);
    world.run("hello").await;
    world.check_laws();
    let story = world.witness.story();
    let part = story.split("context: model-1\n").nth(1).unwrap();
    insta::assert_snapshot!(part, @r#"
      + reasoning: 
      * reasoning
        SummaryPart { index: 0 }
        summary 0: "one"
        SummaryPart { index: 1 }
        summary 1: "two"
      - reasoning: one|two
      + search: weather
      * web_search_call
      - search: weather
      + agent: 
      * assistant: at once
        "at once"
      - agent: at once
      = 110 of 110
    turn completed: agent: at once
    "#);
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_answer_run_together_and_are_answered_in_their_order() {
    let world = world(vec![answer([
        call("call_1", "slow", &json!({"ms": 300})),
        call("call_2", "slow", &json!({"ms": 100})),
        custom("call_3", "echo", "free text"),
    ])]);
    let began = Instant::now();
    world.run("hello").await;
    assert_eq!(began.elapsed(), Duration::from_millis(300));
    let input = world.provider.inputs().pop().unwrap();
    let outputs: Vec<_> = input
        .iter()
        .filter(|item| item.get("output").is_some())
        .map(|item| format!("{} {} {}", item["type"], item["call_id"], item["output"]))
        .collect();
    assert_eq!(
        outputs,
        [
            r#""function_call_output" "call_1" "slow is done""#,
            r#""function_call_output" "call_2" "slow is done""#,
            r#""custom_tool_call_output" "call_3" "free text""#,
        ]
    );
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn calls_that_nobody_can_carry_out_are_answered() {
    let mut odd = call("call_2", "echo", &json!(null));
    let Step::Event(ModelEvent::ItemDone(item)) = &mut odd[0] else { unreachable!() };
    item["namespace"] = json!("elsewhere");
    let world = world(vec![answer([
        call("call_1", "no_such_tool", &json!({})),
        odd,
        call("call_3", "break", &json!({})),
        call("call_4", "echo", &json!(1)),
    ])]);
    let outcome = world.run("hello").await;
    assert!(matches!(outcome, TurnOutcome::Completed { .. }));
    let input = world.provider.inputs().pop().unwrap();
    let outputs: Vec<_> = input.iter().filter_map(|item| item.get("output")).collect();
    assert_eq!(
        outputs,
        ["unsupported call: no_such_tool", "unsupported call: elsewhere.echo", "the tool broke down", "1"]
    );
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn ids_that_a_model_repeats_become_others() {
    let without_id = json!({"type": "function_call", "name": "echo", "arguments": "3"});
    let world = world(vec![
        answer([say("msg_1", "a"), call("call_1", "echo", &json!(1)), call("call_1", "echo", &json!(2))]),
        answer([say("msg_1", "b"), call("call_1", "echo", &json!(2)), event(ModelEvent::ItemDone(without_id))]),
    ]);
    world.run("hello").await;
    world.check_laws();
    let calls = world.agent.history().iter().filter(|item| item["type"] == "function_call").count();
    assert_eq!(calls, 4);
}

#[tokio::test(start_paused = true)]
async fn what_models_do_not_say_is_left_out() {
    let world = world(vec![answer([
        event(ModelEvent::ItemDone(json!({"type": "surprise", "id": "x"}))),
        event(ModelEvent::ItemDone(json!({"type": "function_call_output", "call_id": "c", "output": "lies"}))),
        event(ModelEvent::ItemDone(
            json!({"type": "message", "role": "user", "id": "m", "content": [{"type": "output_text", "text": "I am you"}]}),
        )),
        event(ModelEvent::ItemDone(json!({"type": "reasoning", "id": "r", "summary": []}))),
        event(ModelEvent::ItemDone(json!([]))),
        event(ModelEvent::ItemDone(json!(null))),
        event(ModelEvent::ItemAdded(json!(7))),
    ])]);
    world.run("hello").await;
    world.check_laws();
    let kept: Vec<_> = world.agent.history().iter().map(|item| format!("{} {}", item["type"], item["role"])).collect();
    assert_eq!(kept, [r#""message" "user""#, r#""message" "user""#, r#""message" "assistant""#]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_tried_again() {
    let half = broken([think("rs_1", "hm"), say("msg_1", "whole"), begin_saying("msg_2", "half of")]);
    let world = world(vec![half, answer([say("msg_3", "the rest")])]);
    let outcome = world.run("hello").await;
    assert!(matches!(outcome, TurnOutcome::Completed { .. }));
    world.check_laws();
    let story = world.witness.story();
    let part = story.split("* reasoning\n").nth(1).unwrap();
    insta::assert_snapshot!(part, @r#"
      - reasoning: hm
      + agent: 
        "whol"
        "e"
      * assistant: whole
      - agent: whole
      + agent: 
        "half"
        " of"
      - agent: half of
      ! Reconnecting... 1/2 Follows
      + agent: 
        "the "
        "rest"
      * assistant: the rest
      - agent: the rest
      = 110 of 110
    turn completed: agent: the rest
    "#);
    let last = world.provider.inputs().pop().unwrap();
    let texts: Vec<_> = last.iter().skip(2).map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(texts, ["rs_1", "msg_1"]);
}

#[tokio::test(start_paused = true)]
async fn calls_of_an_answer_that_breaks_off_are_carried_out() {
    let world = world(vec![broken([call("call_1", "echo", &json!("once"))])]);
    world.run("hello").await;
    world.check_laws();
    let last = world.provider.inputs().pop().unwrap();
    assert_eq!(last.last().unwrap()["output"], "\"once\"");
    assert_eq!(world.provider.inputs().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_goes_on_while_its_provider_hears_something_and_ends_by_its_word() {
    let idle = Duration::from_secs(30);
    // The arguments of a call arrive in pieces and are reported when they are complete.
    let mut slow = broken([]);
    for _ in 0..6 {
        slow.extend([Step::Pause(idle / 2), Step::Event(ModelEvent::Alive)]);
    }
    slow.extend(call("call_1", "echo", &json!("hi")));
    // Nothing else arrives, and the provider says that the answer was complete.
    let mut end = answer([]);
    end.insert(1, Step::Pause(idle + Duration::from_secs(1)));
    slow.extend(end.into_iter().skip(1));
    let world = world(vec![slow]);
    assert_eq!(world.provider.retry_policy.idle_timeout, idle);
    let begun = Instant::now();
    world.run("hello").await;
    world.check_laws();
    assert_eq!(begun.elapsed().as_secs(), (idle * 4).as_secs() + 1);
    assert_eq!(world.provider.inputs().len(), 2, "nothing was asked again");
    assert_eq!(world.provider.inputs()[1].last().unwrap()["output"], "\"hi\"");
}

#[tokio::test(start_paused = true)]
async fn silence_breaks_an_answer_off() {
    let mut silent = broken([begin_saying("msg_1", "well")]);
    silent.push(Step::Hang);
    let world = world(vec![silent]);
    let began = Instant::now();
    world.run("hello").await;
    assert!(began.elapsed() >= Duration::from_secs(30) && began.elapsed() < Duration::from_secs(36));
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn tries_run_out() {
    let refused = || {
        fails(
            "503 from the gateway",
            ErrorKind::HttpConnectionFailed { status: Some(503) },
            RetryDecision::Request { after: None },
        )
    };
    let world = world(vec![refused(), refused(), refused(), answer([say("msg_1", "too late")])]);
    let TurnOutcome::Failed(error) = world.run("hello").await else { panic!("it cannot succeed") };
    assert_eq!(error.kind, ErrorKind::TooManyFailedAttempts { status: Some(503) });
    assert_eq!(error.message, "503 from the gateway");
    let errors: Vec<_> = world
        .witness
        .kinds()
        .into_iter()
        .filter_map(|kind| match kind {
            EventKind::Error { error, retry, .. } => Some((error.message, retry)),
            _ => None,
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("Reconnecting... 1/2".to_owned(), Retry::Follows),
            ("Reconnecting... 2/2".to_owned(), Retry::Follows),
            ("503 from the gateway".to_owned(), Retry::Ends),
        ]
    );
    assert!(matches!(world.run("again").await, TurnOutcome::Completed { .. }));
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn a_provider_may_ask_for_patience() {
    let after = Some(Duration::from_secs(7));
    let world = world(vec![fails("slow down", ErrorKind::ServerOverloaded, RetryDecision::Request { after })]);
    let began = Instant::now();
    assert!(matches!(world.run("hello").await, TurnOutcome::Completed { .. }));
    assert_eq!(began.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_is_not_tried_again() {
    let world = world(vec![fails("no such model", ErrorKind::ModelNotFound, RetryDecision::Never)]);
    let TurnOutcome::Failed(error) = world.run("hello").await else { panic!("it cannot succeed") };
    assert_eq!(error.kind, ErrorKind::ModelNotFound);
    assert_eq!(world.provider.inputs().len(), 1);
    let story = world.witness.story();
    assert!(story.ends_with("  ! no such model Ends\nturn failed: no such model ModelNotFound\n"), "{story}");
}

#[tokio::test(start_paused = true)]
async fn a_question_gets_one_other_token() {
    let busy = || fails("busy", ErrorKind::ServerOverloaded, RetryDecision::Request { after: None });
    let world = world(vec![refuses(1), busy(), refuses(2), refuses(2), answer([say("msg_1", "hello")])]);
    let TurnOutcome::Failed(error) = world.run("hello").await else { panic!("the second token was refused, too") };
    assert_eq!((error.kind, error.details), (ErrorKind::Unauthorized, None));
    assert_eq!((world.provider.inputs().len(), world.provider.renewed.lock().unwrap().clone()), (3, vec![1]));
    assert!(matches!(world.run("again").await, TurnOutcome::Completed { .. }), "that is another question");
    world.provider.then(refuses(3));
    *world.provider.other_token.lock().unwrap() = Err(TokenError("the client refused".to_owned()));
    let TurnOutcome::Failed(error) = world.run("again").await else { panic!("there is no other token") };
    assert_eq!(error.details.as_deref(), Some("the token was not renewed: the client refused"));
    assert_eq!(*world.provider.renewed.lock().unwrap(), [1, 2, 3]);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn an_unknown_provider_fails_the_turn() {
    let world = world(vec![]);
    let change = SettingsChange { provider: Some("absent".to_owned()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    assert!(matches!(world.run("hello").await, TurnOutcome::Failed(error) if error.message.contains("absent")));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_breaks_down_fails_the_turn_and_no_other() {
    let world = world(vec![vec![Step::Panic]]);
    assert!(matches!(world.run("hello").await, TurnOutcome::Failed(_)));
    assert!(matches!(world.run("again").await, TurnOutcome::Completed { .. }));
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn input_joins_the_turn_that_runs() {
    let world = world(vec![answer([call("call_1", "slow", &json!({"ms": 500}))])]);
    let turn = world.start("first");
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { .. })).await;
    let change = SettingsChange { model: Some("model-2".to_owned()), ..SettingsChange::default() };
    let joined = world.agent.start_turn(TurnRequest { change, client_id: Some("c-2".to_owned()), ..request("second") });
    let joined = joined.unwrap();
    assert_eq!((&joined.turn, joined.how), (&turn, Start::Joined));
    assert_eq!(world.agent.steer(&turn, text("third"), None), Ok(turn.clone()));
    world.witness.ended(&turn).await;
    world.check_laws();
    let inputs = world.provider.inputs();
    let said: Vec<_> = inputs[1].iter().filter_map(|item| item["content"][0]["text"].as_str()).skip(1).collect();
    assert_eq!(said, ["first", "second", "third"]);
    // The turn keeps the settings from its start; the next one has the new settings.
    assert_eq!(world.provider.requests.lock().unwrap()[1]["model"], "model-1");
    world.run("fourth").await;
    assert_eq!(world.provider.requests.lock().unwrap()[2]["model"], "model-2");
    let starts = world.witness.kinds().into_iter().filter(|kind| matches!(kind, EventKind::TurnStarted { .. })).count();
    assert_eq!(starts, 2);
}

#[tokio::test(start_paused = true)]
async fn input_after_the_last_answer_reopens_the_turn() {
    let gate = Arc::new(Notify::new());
    let mut first = broken([say("msg_1", "finished?")]);
    first.push(Step::Gate(Arc::clone(&gate)));
    first.extend(answer([]).split_off(1));
    let world = world(vec![first, answer([say("msg_2", "now it is")])]);
    let turn = world.start("first");
    world
        .witness
        .until(|kind| matches!(kind, EventKind::ItemCompleted { item, .. } if item.id.as_str() == "msg_1"))
        .await;
    world.agent.steer(&turn, text("one more thing"), None).unwrap();
    gate.notify_one();
    let TurnOutcome::Completed { last_message } = world.witness.ended(&turn).await else { panic!("it is completed") };
    assert_eq!(last_message.unwrap().id.as_str(), "msg_2");
    assert_eq!(world.provider.inputs().len(), 2);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_steered_says_why() {
    let world = world(vec![vec![Step::Hang]]);
    let other = TurnId::from("other");
    assert_eq!(world.agent.steer(&other, text("a"), None), Err(Refusal::NoActiveTurn));
    assert_eq!(world.agent.interrupt(&other).map(drop), Err(Refusal::NoActiveTurn));
    let turn = world.agent.compact().unwrap();
    let refusal = world.agent.steer(&turn, text("a"), None).unwrap_err();
    assert_eq!(refusal, Refusal::NotSteerable(TurnKind::Compact));
    assert_eq!(refusal.to_string(), "cannot steer a compact turn");
    let refusal = world.agent.interrupt(&other).map(drop).unwrap_err();
    assert_eq!(refusal.to_string(), format!("expected active turn id other but found {turn}"));
    assert_eq!(world.agent.review("x".to_owned(), "x".to_owned()), Err(Refusal::Busy(turn.clone())));
    assert_eq!(world.agent.hold().unwrap_err(), Refusal::Busy(turn.clone()));
    assert_eq!(world.agent.start_turn_if_idle(request("not now")), Err(Refusal::Busy(turn.clone())));
    // A turn that is requested meanwhile starts afterwards, and gets all input until then.
    let next = world.agent.start_turn(request("later")).unwrap();
    assert_eq!(next.how, Start::New);
    assert_eq!(world.agent.start_turn(request("and this")).unwrap().turn, next.turn);
    world.agent.interrupt(&turn).unwrap().await;
    assert!(matches!(world.witness.ended(&next.turn).await, TurnOutcome::Completed { .. }));
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn stopping_answers_open_calls_and_leaves_a_note() {
    let world = world(vec![answer([
        call("call_1", "slow", &json!({"ms": 60_000})),
        call("call_2", "slow", &json!({"ms": 60_000, "deaf": true})),
        call("call_3", "echo", &json!("quick")),
    ])]);
    let turn = world.start("first");
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { .. })).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.agent.steer(&turn, text("said in vain"), None).unwrap();
    let began = Instant::now();
    world.agent.interrupt(&turn).unwrap().await;
    assert!(began.elapsed() < Duration::from_secs(3), "the deaf tool is not waited for");
    assert_eq!(world.witness.ended(&turn).await, TurnOutcome::Interrupted);
    world.check_laws();
    let statuses: Vec<_> = world
        .witness
        .kinds()
        .into_iter()
        .filter_map(|kind| match kind {
            EventKind::ItemCompleted { item, .. } => match &item.kind {
                ItemKind::Command(command) => Some(command.status),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [WorkStatus::Interrupted, WorkStatus::Interrupted]);
    world.run("second").await;
    let input = world.provider.inputs().pop().unwrap();
    let outputs: Vec<_> = input.iter().filter_map(|item| item.get("output")).collect();
    assert_eq!(outputs, ["stopped", "aborted", "\"quick\""]);
    let said: Vec<_> = input.iter().filter_map(|item| item["content"][0]["text"].as_str()).collect();
    assert_eq!(said[2], "said in vain");
    assert!(said[3].starts_with("<turn_aborted>"));
    assert_eq!(said[4], "second");
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_stop_the_turn() {
    let mut stop = call("call_1", "stop", &json!({}));
    let Step::Event(ModelEvent::ItemDone(item)) = &mut stop[0] else { unreachable!() };
    item["namespace"] = json!("odd");
    let world = world(vec![answer([stop, call("call_2", "slow", &json!({"ms": 60_000}))])]);
    assert_eq!(world.run("hello").await, TurnOutcome::Interrupted);
    world.check_laws();
    let history = world.agent.history();
    let outputs: Vec<_> = history.iter().filter_map(|item| item.get("output")).collect();
    assert_eq!(outputs, ["the user said no", "stopped"]);
}

/// A turn with all kinds of items is interrupted at each event in turn.
#[tokio::test(start_paused = true)]
async fn wherever_a_turn_is_stopped_the_laws_hold() {
    let script = || {
        vec![
            broken([think("rs_1", "hm"), say("msg_1", "first"), call("call_1", "slow", &json!({}))]),
            answer([
                say("msg_2", "second"),
                call("call_2", "slow", &json!({"ms": 20})),
                call("call_3", "slow", &json!({"ms": 5, "deaf": true})),
                call("call_4", "break", &json!({})),
            ]),
            fails("503", ErrorKind::ServerOverloaded, RetryDecision::Request { after: None }),
            answer([say("msg_3", "third")]),
        ]
    };
    let whole = world(script());
    whole.run("hello").await;
    let events = whole.witness.kinds().len();
    assert!(events > 40, "{}", whole.witness.story());
    let mut stopped = 0;
    for stop_at in 1..=events {
        let world = world(script());
        world.witness.stop_at(stop_at, &world.agent);
        let outcome = world.run("hello").await;
        world.check_laws();
        let kinds = world.witness.kinds();
        assert!(matches!(kinds.last(), Some(EventKind::TurnEnded { .. })), "stopped at {stop_at}");
        stopped += usize::from(outcome == TurnOutcome::Interrupted);
        assert!(matches!(world.run("goes on").await, TurnOutcome::Completed { .. }), "stopped at {stop_at}");
        world.check_laws();
    }
    assert!(stopped >= events - 2, "{stopped} of {events}");
}

#[tokio::test(start_paused = true)]
async fn a_schema_and_a_tier_are_for_one_turn() {
    let world = world(vec![]);
    let schema = json!({"type": "object"});
    let once = TurnRequest {
        output_schema: Some(schema.clone()),
        service_tier_for_turn: Some("fast".to_owned()),
        ..request("one")
    };
    let turn = world.agent.start_turn(once).unwrap().turn;
    world.witness.ended(&turn).await;
    let change = SettingsChange {
        effort: Some(Some("high".to_owned())),
        summary: Some(Some("auto".to_owned())),
        model: Some("model-2".to_owned()),
        ..SettingsChange::default()
    };
    let turn = world.agent.start_turn(TurnRequest { change: change.clone(), ..request("two") }).unwrap().turn;
    world.witness.ended(&turn).await;
    world.run("three").await;
    let bodies = world.provider.requests.lock().unwrap().clone();
    assert_eq!(bodies[0]["text"]["format"]["schema"], schema);
    assert_eq!(bodies[0]["service_tier"], "fast");
    for body in &bodies[1..] {
        assert!(body.get("text").is_none() && body.get("service_tier").is_none());
        assert_eq!(body["reasoning"], json!({"effort": "high", "summary": "auto"}));
        assert_eq!(body["model"], "model-2");
    }
    let changes = |world: &World| {
        world.witness.kinds().into_iter().filter(|kind| matches!(kind, EventKind::SettingsChanged { .. })).count()
    };
    assert_eq!(changes(&world), 1);
    world.agent.change_settings(&change);
    assert_eq!(changes(&world), 1, "nothing changed");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_where_it_works_once_and_when_it_changes() {
    let world = world(vec![]);
    world.run("one").await;
    world.run("two").await;
    let change = SettingsChange { cwd: Some("/elsewhere".into()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    world.run("three").await;
    let input = world.provider.inputs().pop().unwrap();
    let told: Vec<_> = input
        .iter()
        .filter_map(|item| item["content"][0]["text"].as_str())
        .filter(|text| text.starts_with("<environment_context>"))
        .collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("/nowhere") && told[1].contains("/elsewhere"));
}

#[tokio::test(start_paused = true)]
async fn a_history_is_made_shorter_by_the_model() {
    let world = world(vec![answer([say("msg_1", "long ago")]), answer([say("msg_2", "what was done: nothing")])]);
    world.run("do something").await;
    let turn = world.agent.compact().unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    world.run("go on").await;
    world.check_laws();
    let story = world.witness.story();
    let part = story.split("turn completed: agent: long ago\n").nth(1).unwrap();
    insta::assert_snapshot!(part, @r#"
    turn started: Compact
      + compaction
      = 110 of 220
      history of 3 items
      - compaction
    turn completed: 
    turn started: Regular
      * user: go on
      + user: go on
      - user: go on
      context: model-1
      + agent: 
        "done"
      * assistant: done
      - agent: done
      = 110 of 330
    turn completed: agent: done
    "#);
    let last = world.provider.inputs().pop().unwrap();
    let said: Vec<_> = last.iter().filter_map(|item| item["content"][0]["text"].as_str()).skip(1).collect();
    assert_eq!(
        said,
        ["do something", "<conversation_summary>\nwhat was done: nothing\n</conversation_summary>", "go on"]
    );
    assert_eq!(world.provider.requests.lock().unwrap()[1]["tools"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_history_is_made_shorter_by_the_provider() {
    let world = world(vec![]);
    world.run("do something").await;
    let sealed = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"});
    *world.provider.compacted.lock().unwrap() = Some(Ok(vec![sealed.into()]));
    let turn = world.agent.compact().unwrap();
    world.witness.ended(&turn).await;
    world.check_laws();
    let kinds: Vec<_> = world.agent.history().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["message", "message", "compaction"]);
    assert_eq!(world.provider.inputs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_make_a_history_shorter_is_asked_again() {
    let world = world(vec![]);
    world.run("do something").await;
    let compacted = |answer| *world.provider.compacted.lock().unwrap() = Some(answer);
    let error = |retry| {
        Err(ProviderError {
            message: "503 from the gateway".to_owned(),
            details: None,
            kind: ErrorKind::HttpConnectionFailed { status: Some(503) },
            retry,
            request_id: None,
        })
    };
    compacted(error(RetryDecision::Request { after: None }));
    let turn = world.agent.compact().unwrap();
    world.witness.until(|kind| matches!(kind, EventKind::Error { retry: Retry::Follows, .. })).await;
    compacted(Ok(vec![json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"}).into()]));
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    for retry in [RetryDecision::Request { after: None }, RetryDecision::Never] {
        compacted(error(retry));
        let turn = world.agent.compact().unwrap();
        assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Failed(_)));
    }
    let is_retry = |kind: &&EventKind| matches!(kind, EventKind::Error { retry: Retry::Follows, .. });
    assert_eq!(world.witness.kinds().iter().filter(is_retry).count(), 1 + 2);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn a_history_that_is_too_long_for_a_summary_is_cut() {
    let too_long = || fails("too long", ErrorKind::ContextWindowExceeded, RetryDecision::Never);
    let world = world(vec![
        answer([call("call_1", "echo", &json!("x"))]),
        answer([say("msg_1", "a")]),
        too_long(),
        too_long(),
        answer([say("msg_2", "the summary")]),
    ]);
    world.run("hello").await;
    let turn = world.agent.compact().unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    world.check_laws();
    let inputs = world.provider.inputs();
    let lengths: Vec<usize> = inputs[2..].iter().map(Vec::len).collect();
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2] && lengths[2] >= 2, "{lengths:?}");
    assert!(inputs[2..].iter().all(|input| input.last() == inputs[2].last()));
    assert!(
        world
            .agent
            .history()
            .iter()
            .any(|item| item["content"][0]["text"].as_str().is_some_and(|text| text.contains("the summary")))
    );
}

#[tokio::test(start_paused = true)]
async fn a_history_that_grew_too_long_is_made_shorter_by_itself() {
    let provider = Scripted::new(vec![
        answer_with([call("call_1", "echo", &json!("x"))], 950),
        answer([say("msg_1", "the summary")]),
        answer([say("msg_2", "done at last")]),
    ]);
    let mut options = options(&provider);
    let window =
        |model: &str, tokens| ModelWindow { model: model.to_owned(), context_window: Some(tokens), compact_at: None };
    options.windows = vec![window("another", 10), window("model-1", 1000)];
    let world = world_with(provider, options);
    world.run("hello").await;
    world.check_laws();
    let story = world.witness.story();
    assert!(story.contains("  + compaction\n  = 110 of 1070\n  history of 3 items\n  - compaction\n"), "{story}");
    assert!(story.ends_with("turn completed: agent: done at last\n"));
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_none_fails_and_keeps_the_history() {
    let world = world(vec![answer([say("msg_1", "a")]), answer([])]);
    world.run("hello").await;
    let before = world.agent.history();
    let turn = world.agent.compact().unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Failed(_)));
    assert_eq!(world.agent.history(), before);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn a_review_is_a_conversation_aside() {
    let review = json!({"findings": [], "overall_correctness": "patch is correct", "overall_explanation": "all well"});
    let world = world(vec![
        answer([say("msg_1", "earlier")]),
        answer([say("msg_2", "I look"), call("call_1", "slow", &json!({"ms": 5}))]),
        answer([say("msg_3", &review.to_string())]),
    ]);
    world.run("hello").await;
    let turn = world.agent.review("look at the diff".to_owned(), "current changes".to_owned()).unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    world.check_laws();
    let story = world.witness.story();
    let part = story.split("turn completed: agent: earlier\n").nth(1).unwrap();
    insta::assert_snapshot!(part, @r#"
    turn started: Review
      + review: current changes
      - review: current changes
      = 110 of 220
      + command: Agent InProgress ""
        Output("begun")
      - command: Agent Completed "begun"
      = 110 of 330
      + reviewed: patch is correct: all well
      - reviewed: patch is correct: all well
      * user: <review>
      * assistant: patch is correct: all well
      + agent: patch is correct: all well
      - agent: patch is correct: all well
    turn completed: agent: patch is correct: all well
    "#);
    let aside = &world.provider.inputs()[1];
    assert!(!aside.iter().any(|item| item.to_string().contains("hello")));
    assert!(aside.last().unwrap().to_string().contains("look at the diff"));
    world.run("go on").await;
    let last = world.provider.inputs().pop().unwrap();
    assert!(last.iter().all(|item| item["type"] == "message"), "the reviewer's calls are not the agent's");
}

#[tokio::test(start_paused = true)]
async fn a_review_that_is_stopped_is_left() {
    let world = world(vec![vec![Step::Hang]]);
    let turn = world.agent.review("look".to_owned(), "changes".to_owned()).unwrap();
    world.witness.until(|kind| matches!(kind, EventKind::ItemCompleted { .. })).await;
    world.agent.interrupt(&turn).unwrap().await;
    world.check_laws();
    let story = world.witness.story();
    assert!(story.contains("  - reviewed: The review was stopped before it was done.\n"), "{story}");
    assert!(story.ends_with("turn interrupted\n"), "{story}");
}

#[tokio::test(start_paused = true)]
async fn mail_waits_for_a_request_and_may_start_a_turn() {
    let world = world(vec![answer([call("call_1", "slow", &json!({"ms": 500}))])]);
    let mail = |text: &str, wake| Mail {
        id: format!("amsg_{}", uuid::Uuid::now_v7()),
        author: "/root/a".to_owned(),
        recipient: "/root".to_owned(),
        content: vec![json!({"type": "input_text", "text": text})],
        wake,
        root_turn: None,
    };
    let attention = world.agent.attention();
    assert_eq!(world.agent.deliver(mail("idle", Wake::Nobody)), Ok(None));
    assert!(world.agent.has_mail() && attention.has_changed().unwrap());
    let turn = world.start("hello");
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { .. })).await;
    assert!(!world.agent.has_mail());
    world.agent.deliver(mail("while it runs", Wake::Nobody)).unwrap();
    world.witness.ended(&turn).await;
    let texts = |input: &[Value]| -> Vec<String> {
        let mail = input.iter().filter(|item| item["type"] == "agent_message");
        mail.map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
    };
    let inputs = world.provider.inputs();
    assert_eq!(texts(&inputs[0]), ["idle"]);
    assert_eq!(texts(&inputs[1]), ["idle", "while it runs"]);
    let started = world.agent.deliver(mail("wake up", Wake::Agent)).unwrap().unwrap();
    assert_eq!(started.how, Start::New);
    world.witness.ended(&started.turn).await;
    assert_eq!(texts(&world.provider.inputs()[2]), ["idle", "while it runs", "wake up"]);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn urgent_mail_keeps_a_turn_from_ending() {
    let gate = Arc::new(Notify::new());
    let mut first = broken([say("msg_1", "finished?")]);
    first.push(Step::Gate(Arc::clone(&gate)));
    first.extend(answer([]).split_off(1));
    let world = world(vec![first]);
    let turn = world.start("hello");
    world
        .witness
        .until(|kind| matches!(kind, EventKind::ItemCompleted { item, .. } if item.id.as_str() == "msg_1"))
        .await;
    let content = vec![json!({"type": "input_text", "text": "one more task"})];
    let (author, recipient) = ("/root".to_owned(), "/root".to_owned());
    let mail = Mail {
        id: format!("amsg_{}", uuid::Uuid::now_v7()),
        author,
        recipient,
        content,
        wake: Wake::Agent,
        root_turn: None,
    };
    let joined = world.agent.deliver(mail).unwrap().unwrap();
    assert_eq!((&joined.turn, joined.how), (&turn, Start::Joined));
    gate.notify_one();
    world.witness.ended(&turn).await;
    assert_eq!(world.provider.inputs().len(), 2);
    assert!(world.provider.inputs()[1].iter().any(|item| item["type"] == "agent_message"));
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn items_are_put_into_the_history() {
    let world = world(vec![answer([call("call_1", "slow", &json!({"ms": 500}))])]);
    let past = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "past"}]});
    world.agent.inject(vec![past.clone().into()]).unwrap();
    let bad = json!({"type": "message", "content": []});
    let refusal = world.agent.inject(vec![past.clone().into(), bad.into()]).unwrap_err();
    assert_eq!(refusal, Refusal::BadItem { index: 1, reason: "a message without `role`" });
    let turn = world.start("hello");
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { .. })).await;
    let call = json!({"type": "function_call", "name": "x", "call_id": "call_9", "arguments": "{}"});
    world.agent.inject(vec![call.into()]).unwrap();
    world.witness.ended(&turn).await;
    world.check_laws();
    let inputs = world.provider.inputs();
    assert_eq!(inputs[0][0]["content"][0]["text"], "past");
    let last = &inputs[1][inputs[1].len() - 1];
    assert_eq!((&last["call_id"], &last["output"]), (&json!("call_9"), &json!("aborted")));
    world.agent.hold().unwrap().replace_history(vec![past.into()]);
    assert_eq!(world.agent.history().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_the_history_is_changed() {
    let world = world(vec![answer([say("msg_1", "one")]), answer([say("msg_2", "two")])]);
    world.run("first").await;
    let past = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "past"}]}).into();
    let hold = world.agent.hold().unwrap();
    assert_eq!(world.agent.hold().unwrap_err(), Refusal::Held);
    assert_eq!(world.agent.start_turn_if_idle(request("x")), Err(Refusal::Held));
    assert_eq!(world.agent.compact(), Err(Refusal::Held));
    let next = world.agent.start_turn(request("second")).unwrap();
    assert!(world.agent.active_turn().is_none());
    let note = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "note"}]}).into();
    world.agent.inject(vec![note]).unwrap();
    hold.replace_history(vec![past]);
    drop(hold);
    assert!(matches!(world.witness.ended(&next.turn).await, TurnOutcome::Completed { .. }));
    let asked = world.provider.inputs()[1].iter().map(Value::to_string).collect::<String>();
    let is_seen = |text: &str| asked.contains(&format!("\"{text}\""));
    assert_eq!(
        [is_seen("past"), is_seen("note"), is_seen("second"), is_seen("first")],
        [true, true, true, false],
        "{asked}"
    );
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_an_agent_that_is_held_without_a_turn_after_it_is_kept() {
    let world = world(vec![]);
    let hold = world.agent.hold().unwrap();
    let note = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "note"}]}).into();
    world.agent.inject(vec![note]).unwrap();
    drop(hold);
    assert_eq!(world.agent.history().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn changed_settings_count_from_the_next_request_of_the_turn() {
    let world = world(vec![answer([call("call_1", "nothing", &json!({}))]), answer([say("msg_1", "done")])]);
    let turn = world.start("hello");
    let change = SettingsChange { model: Some("other".to_owned()), ..SettingsChange::default() };
    let other = TurnId::from("other");
    assert!(matches!(world.agent.change_turn_settings(&other, &change), Err(Refusal::OtherTurn { .. })));
    world.agent.change_turn_settings(&turn, &change).unwrap();
    world.witness.ended(&turn).await;
    assert_eq!(world.agent.change_turn_settings(&turn, &change), Err(Refusal::NoActiveTurn));
    assert_eq!(world.agent.settings().model, "other");
    assert_eq!(world.provider.requests.lock().unwrap().last().unwrap()["model"], "other");
}

#[tokio::test]
async fn a_command_of_the_user_runs_beside_the_model() {
    let world = world(vec![]);
    let change = SettingsChange { cwd: Some(std::env::temp_dir()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    let turn = world.agent.shell_command("echo user-$((1+1)); exit 3".to_owned(), None).unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    assert!(world.provider.inputs().is_empty());
    let story = world.witness.story();
    assert!(story.contains("  - command: UserShell Failed \"user-2\\n\"\n"), "{story}");
    world.run("what was that?").await;
    let told = world.provider.inputs()[0].iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("user-2") && told.contains("Exit code: 3"), "{told}");
    world.check_laws();
}

#[tokio::test]
async fn a_command_of_the_user_sees_no_keys() {
    let provider = Scripted::new(vec![]);
    let mut options = options(&provider);
    options.hidden_variables = vec!["HOME".to_owned()];
    let world = world_with(provider, options);
    let change = SettingsChange { cwd: Some(std::env::temp_dir()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    let turn = world.agent.shell_command("env | cut -d = -f 1 | grep -x -e HOME -e PATH".to_owned(), None).unwrap();
    world.witness.ended(&turn).await;
    let story = world.witness.story();
    assert!(story.contains("  - command: UserShell Completed \"PATH\\n\"\n"), "{story}");
}

#[tokio::test]
async fn a_command_of_the_user_joins_the_turn_that_runs_and_ends_before_it() {
    let gate = Arc::new(Notify::new());
    let world = world(vec![vec![Step::Gate(Arc::clone(&gate))], answer([say("msg_1", "seen")])]);
    let change = SettingsChange { cwd: Some(std::env::temp_dir()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    let turn = world.start("hello");
    world.witness.until(|kind| matches!(kind, EventKind::TurnContext { .. })).await;
    assert_eq!(world.agent.shell_command("echo inside; sleep 60".to_owned(), None), Ok(turn.clone()));
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { .. })).await;
    world.agent.interrupt(&turn).unwrap().await;
    world.check_laws();
    let story = world.witness.story();
    assert!(story.contains("  - command: UserShell Interrupted \"inside\\n\"\n"), "{story}");
    assert!(world.agent.history().iter().any(|item| item.to_string().contains("The user stopped it.")));
}

#[tokio::test]
async fn a_command_of_the_user_may_fail_to_start_or_take_too_long() {
    let world = world(vec![]);
    let turn = world.agent.shell_command("true".to_owned(), None).unwrap();
    world.witness.ended(&turn).await;
    let change = SettingsChange { cwd: Some(std::env::temp_dir()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    let turn = world.agent.shell_command("sleep 60 & sleep 60".to_owned(), Some(Duration::from_millis(50))).unwrap();
    world.witness.ended(&turn).await;
    world.check_laws();
    let told = world.agent.history().iter().map(|item| item.to_string()).collect::<String>();
    assert!(told.contains("could not be started") && told.contains("took too long"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn pictures_that_cannot_be_read_are_texts() {
    let world = world(vec![]);
    let input = vec![Input::LocalImage { path: "/nowhere/a.png".into(), detail: None }];
    let turn = world.agent.start_turn(TurnRequest { input, ..TurnRequest::default() }).unwrap().turn;
    world.witness.ended(&turn).await;
    let said = world.provider.inputs()[0].last().unwrap()["content"][0].clone();
    assert!(said["text"].as_str().unwrap().contains("cannot be read"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn nothing_can_be_asked_after_the_end() {
    let world = world(vec![vec![Step::Hang]]);
    let turn = world.start("hello");
    world.witness.until(|kind| matches!(kind, EventKind::TurnContext { .. })).await;
    world.agent.shutdown().await;
    assert_eq!(world.witness.ended(&turn).await, TurnOutcome::Interrupted);
    assert_eq!(world.agent.start_turn(request("more")), Err(Refusal::Closed));
    assert_eq!(world.agent.compact(), Err(Refusal::Closed));
    assert_eq!(world.agent.inject(Vec::new()), Err(Refusal::Closed));
    world.check_laws();
}

#[tokio::test]
async fn nobody_waits_for_a_command_of_the_user() {
    let gate = Arc::new(Notify::new());
    let first = [vec![Step::Gate(Arc::clone(&gate))], answer([say("msg_1", "one")])].concat();
    let world = world(vec![first, answer([say("msg_2", "two")])]);
    let change = SettingsChange { cwd: Some(std::env::temp_dir()), ..SettingsChange::default() };
    world.agent.change_settings(&change);
    let turn = world.start("hello");
    world.witness.until(|kind| matches!(kind, EventKind::TurnContext { .. })).await;
    world.agent.shell_command("echo inside; sleep 60".to_owned(), None).unwrap();
    gate.notify_one();
    let says = |wanted: &str| {
        let wanted = wanted.to_owned();
        move |kind: &EventKind| {
            matches!(kind, EventKind::ItemCompleted { item, .. }
            if matches!(&item.kind, ItemKind::AgentMessage { text, .. } if *text == wanted))
        }
    };
    world.witness.until(says("one")).await;
    assert_eq!(world.agent.start_turn(request("and?")).unwrap().turn, turn);
    world.witness.until(says("two")).await;
    world.agent.interrupt(&turn).unwrap().await;
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn a_model_that_declines_is_heard_and_calls_have_arguments() {
    let refusal = json!({"type": "message", "id": "msg_1", "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I will not."}]});
    let call = |id: &str, arguments: Value| {
        let mut call = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "nothing"});
        if !arguments.is_null() {
            call["arguments"] = arguments;
        }
        vec![Step::Event(ModelEvent::ItemDone(call))]
    };
    let calls = answer([call("a", Value::Null), call("b", json!({"x": 1})), call("c", json!("{}"))]);
    let world = world(vec![calls, answer([vec![Step::Event(ModelEvent::ItemDone(refusal))]])]);
    let outcome = world.run("hello").await;
    let TurnOutcome::Completed { last_message: Some(last) } = outcome else { panic!("{outcome:?}") };
    assert!(matches!(&last.kind, ItemKind::AgentMessage { text, .. } if text == "I will not."));
    let arguments: Vec<Value> =
        world.agent.history().iter().filter_map(|item| item.get("arguments").cloned()).collect();
    assert_eq!(arguments, [json!("{}"), json!("{\"x\":1}"), json!("{}")]);
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn of_too_many_calls_the_last_are_not_carried_out() {
    let one = |index: usize| call(&format!("call_{index}"), "nothing", &json!({}));
    let mut steps = broken([]);
    steps.extend((0..130).flat_map(one));
    steps.extend(answer([]).into_iter().skip(1));
    let world = world(vec![steps]);
    world.run("hello").await;
    let history = world.agent.history();
    let outputs: Vec<&str> = history.iter().filter_map(|item| item.get("output")?.as_str()).collect();
    assert_eq!(outputs.len(), 130);
    assert!(outputs[127].contains("unsupported call") && outputs[128].contains("at most 128 calls"), "{outputs:?}");
    world.check_laws();
}

#[tokio::test(start_paused = true)]
async fn a_history_that_is_too_long_is_made_shorter_before_it_is_sent_again() {
    let full = fails("too long", ErrorKind::ContextWindowExceeded, RetryDecision::Never);
    let world = world(vec![full, answer([say("msg_1", "a summary")]), answer([say("msg_2", "on")])]);
    assert!(matches!(world.run("hello").await, TurnOutcome::Failed(_)));
    assert!(matches!(world.run("go on").await, TurnOutcome::Completed { .. }));
    assert!(world.witness.story().contains("- compaction"));
    assert_eq!(world.provider.inputs().len(), 3);
    world.check_laws();
}

/// A pace that makes agents wait for nothing, and compacts the history once.
#[derive(Default)]
struct CompactsOnce(AtomicBool);

impl Pace for CompactsOnce {
    fn turn_started(&self, _: &TurnId) {}

    fn before_request<'a>(&'a self, _: &'a Arc<dyn PacedAgent>, _: &'a TurnId) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn before_turn_end<'a>(&'a self, _: &'a dyn PacedAgent, _: &'a TurnId) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn take_mail(&self, _: &str, _: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>> {
        mail.drain(..).collect()
    }

    fn compacts(&self, _: &str, _: &TurnId) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    fn turn_ended<'a>(&'a self, _: &'a str, _: &'a TurnId, _: &'a TurnOutcome) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn runs_tools(&self) -> bool {
        true
    }

    fn end_reported(&self, _: &str, _: &TurnId) {}
}

#[tokio::test(start_paused = true)]
async fn what_a_user_says_while_a_paced_summary_is_asked_for_again_is_kept() {
    let gate = Arc::new(Notify::new());
    let mut cut_off = vec![Step::Gate(Arc::clone(&gate))];
    cut_off.extend(fails("cut off", ErrorKind::Other, RetryDecision::Stream { after: None }));
    let provider = Scripted::new(vec![cut_off, answer([say("msg_1", "the summary")]), answer([say("msg_2", "done")])]);
    let mut options = options(&provider);
    options.pace = Some(Arc::new(CompactsOnce::default()));
    let world = world_with(provider, options);
    let turn = world.start("hello");
    let compacts =
        |kind: &EventKind| matches!(kind, EventKind::ItemStarted { item, .. } if item.kind == ItemKind::Compaction);
    world.witness.until(compacts).await;
    world.agent.steer(&turn, text("hurry"), None).unwrap();
    gate.notify_one();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    world.check_laws();
    let inputs = world.provider.inputs();
    let has = |input: &[Value], words: &str| input.iter().any(|item| item.to_string().contains(words));
    assert_eq!(inputs.len(), 3);
    assert!(has(&inputs[2], "hello") && has(&inputs[2], "the summary") && has(&inputs[2], "hurry"), "{inputs:?}");
    assert!(!has(&inputs[1], "hurry"), "a request for a summary is repeated as it was");
}
