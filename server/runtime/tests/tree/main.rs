//! Agents that start agents, with a scripted model and simulated time.

mod bench;
mod everything;
mod simulation;

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::time::Instant;
use trace_runtime::agent::{Lineage, RecordingTarget};
use trace_runtime::event::{TurnKind, TurnOutcome};
use trace_runtime::item::{Activity, Input, ItemKind, WorkStatus};
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::tree::{self, MAX_KEPT_AGENTS, TreeLimits};
use trace_runtime::{Agent, EventKind, Item, ItemId, NewAgent, Refusal, Settings, ThreadId, TurnId, TurnRequest};

use self::bench::{Bench, begin, call, list, mail, pause, say, script, spawn, wait};

const WIDE: TreeLimits = TreeLimits { max_threads: 8, max_depth: 3 };

/// Returns the output of `list_agents`.
fn statuses(output: &str) -> Vec<(String, Value)> {
    let rows: Value = serde_json::from_str(output).expect("it is JSON");
    let rows = rows["agents"].as_array().expect("a list").iter();
    rows.map(|row| (row["agent_name"].as_str().expect("a text").to_owned(), row["agent_status"].clone())).collect()
}

fn row(path: &str, status: Value) -> (String, Value) {
    (path.to_owned(), status)
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_started_works_and_answers() {
    let bench = Bench::new();
    let turn = bench.run(&[json!([spawn("worker", &[say("child answer")])]), wait(), say("parent done")]).await;
    let child = bench.child("/root/worker").await;
    assert_eq!((child.parent(), child.root(), child.depth()), (Some(bench.root.id()), bench.root.id(), 1));
    assert_eq!(child.lineage().expect("it has a parent").nickname.as_deref(), Some("Elbe"));
    assert_eq!(*child.settings(), *bench.root.settings());
    assert_eq!(child.start_turn(TurnRequest::default()), Err(Refusal::NoDirectInput));

    let shown = bench.activities(bench.root.id());
    let heard = bench.heard(child.id());
    assert!(matches!(&heard[0], EventKind::MailCame { mail } if mail.recipient == child.path()));
    let EventKind::TurnStarted { turn: childs_turn, root_turn, kind, .. } = heard[1].clone() else {
        panic!("a turn begins for its task")
    };
    assert_eq!((root_turn, kind), (turn.clone(), TurnKind::Regular));
    let call_id =
        bench.root.history().iter().find(|item| item["name"] == "spawn_agent").expect("it was called")["call_id"]
            .clone();
    let path = "/root/worker".to_owned();
    assert_eq!(
        shown,
        [
            (turn.clone(), call_id.as_str().expect("a text").to_owned(), Activity::Started, path.clone()),
            (turn.clone(), format!("subagent-completed-{childs_turn}"), Activity::Completed, path),
        ]
    );
    let waits: Vec<_> = bench
        .heard(bench.root.id())
        .into_iter()
        .filter_map(|event| match event {
            EventKind::ItemStarted { item, .. } | EventKind::ItemCompleted { item, .. } => match &item.kind {
                ItemKind::AgentCall { tool, receivers, status, .. } => Some((tool.clone(), receivers.len(), *status)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let wait = |status| ("wait".to_owned(), 0, status);
    assert_eq!(waits, [wait(WorkStatus::InProgress), wait(WorkStatus::Completed)]);

    assert_eq!(
        bench.outputs(&bench.root),
        [r#"{"task_name":"/root/worker"}"#, r#"{"message":"Wait completed.","timed_out":false}"#]
    );
    let task = script(&[pause(1), say("child answer")]);
    assert_eq!(
        mail(&child.history()),
        [(
            "/root".to_owned(),
            "/root/worker".to_owned(),
            format!("Message Type: NEW_TASK\nTask name: /root/worker\nSender: /root\nPayload:\n{task}")
        )]
    );
    assert_eq!(
        mail(&bench.root.history()),
        [(
            "/root/worker".to_owned(),
            "/root".to_owned(),
            "Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/worker\nPayload:\nchild answer".to_owned()
        )]
    );
    let graph = bench.reduced().await;
    assert_eq!(graph.threads(), ["/root of nobody completed", "/root/worker of /root completed"]);
    assert_eq!(
        graph.edges(),
        ["agent_result: item in /root/worker -> item in /root", "spawn_agent: call in /root -> item in /root/worker"]
    );
}

#[tokio::test(start_paused = true)]
async fn every_operation_leaves_its_edge() {
    let bench = Bench::new();
    bench
        .run(&[
            json!([spawn("alpha", &[pause(2), say("first")]), spawn("beta", &[say("b1")])]),
            json!([call("send_message", &json!({ "target": "alpha", "message": "a note" }))]),
            pause(3),
            json!([call("followup_task", &json!({ "target": "/root/beta", "message": script(&[say("b2")]) }))]),
            pause(1),
            json!([call("interrupt_agent", &json!({ "target": "alpha" }))]),
            list(),
            say("end"),
        ])
        .await;
    let outputs = bench.outputs(&bench.root);
    assert_eq!(outputs[2], "");
    assert_eq!(outputs[4], "");
    assert_eq!(outputs[6], r#"{"previous_status":{"completed":"first"}}"#);
    assert_eq!(
        statuses(&outputs[7]),
        [
            row("/root", json!("running")),
            row("/root/alpha", json!({ "completed": "first" })),
            row("/root/beta", json!({ "completed": "b2" })),
        ]
    );
    let activities: Vec<_> =
        bench.activities(bench.root.id()).into_iter().map(|(_, _, activity, path)| (activity, path)).collect();
    let (alpha, beta) = (|| "/root/alpha".to_owned(), || "/root/beta".to_owned());
    for expected in [
        (Activity::Started, alpha()),
        (Activity::Interacted, alpha()),
        (Activity::Interacted, beta()),
        (Activity::Interrupted, alpha()),
    ] {
        assert_eq!(activities.iter().filter(|found| **found == expected).count(), 1, "{expected:?}");
    }
    assert_eq!(activities.iter().filter(|found| **found == (Activity::Completed, beta())).count(), 2);
    assert_eq!(
        bench.reduced().await.edges(),
        [
            "agent_result: item in /root/alpha -> item in /root",
            "agent_result: item in /root/beta -> item in /root",
            "agent_result: item in /root/beta -> item in /root",
            "assign_agent_task: call in /root -> item in /root/beta",
            "close_agent: call in /root -> thread /root/alpha",
            "send_message: call in /root -> item in /root/alpha",
            "spawn_agent: call in /root -> item in /root/alpha",
            "spawn_agent: call in /root -> item in /root/beta",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn agents_nest_three_deep() {
    let bench = Bench::with_limits(WIDE);
    let third = [json!([spawn("d", &[say("never")])]), say("from c")];
    let second = [json!([spawn("c", &third)]), wait(), say("from b")];
    let first = [
        json!([spawn("b", &second)]),
        wait(),
        json!([call("send_message", &json!({ "target": "/root", "message": "up" }))]),
        json!([call("send_message", &json!({ "target": "b/c", "message": "down" }))]),
        say("from a"),
    ];
    let (childs, all) = (json!([call("list_agents", &json!({ "path_prefix": "a/b" }))]), list());
    bench.run(&[json!([spawn("a", &first)]), wait(), wait(), childs, all, say("end")]).await;
    let deepest = bench.child("/root/a/b/c").await;
    assert_eq!((deepest.depth(), deepest.root()), (3, bench.root.id()));
    assert!(bench.outputs(&deepest)[1].contains("not stand deeper than 3"), "{:?}", bench.outputs(&deepest));
    let outputs = bench.outputs(&bench.root);
    let done = |text: &str| json!({ "completed": text });
    let below = [row("/root/a/b", done("from b")), row("/root/a/b/c", done("from c"))];
    assert_eq!(statuses(&outputs[3]), below);
    let all = statuses(&outputs[4]);
    assert_eq!(all[..2], [row("/root", json!("running")), row("/root/a", done("from a"))]);
    assert_eq!(all[2..], below);
    let graph = bench.reduced().await;
    assert_eq!(
        graph.threads(),
        [
            "/root of nobody completed",
            "/root/a of /root completed",
            "/root/a/b of /root/a completed",
            "/root/a/b/c of /root/a/b completed",
        ]
    );
    assert_eq!(
        graph.edges(),
        [
            "agent_result: item in /root/a -> item in /root",
            "agent_result: item in /root/a/b -> item in /root/a",
            "agent_result: item in /root/a/b/c -> item in /root/a/b",
            "send_message: call in /root/a -> item in /root",
            "spawn_agent: call in /root -> item in /root/a",
            "spawn_agent: call in /root/a -> item in /root/a/b",
            "spawn_agent: call in /root/a/b -> item in /root/a/b/c",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn only_so_many_work_at_once() {
    let bench = Bench::new();
    let long = |name| spawn(name, &[pause(5), say("done")]);
    bench
        .run(&[
            json!([spawn("early", &[say("done")])]),
            pause(1),
            json!([long("a")]),
            json!([long("b")]),
            json!([long("c")]),
            json!([long("d")]),
            json!([call("followup_task", &json!({ "target": "early", "message": "more" }))]),
            json!([call("send_message", &json!({ "target": "early", "message": "for later" }))]),
            pause(10),
            json!([long("d")]),
            say("end"),
        ])
        .await;
    let outputs = bench.outputs(&bench.root);
    assert!(outputs[5].contains("limit reached: at most 4"), "{}", outputs[5]);
    assert!(outputs[6].contains("limit reached"), "{}", outputs[6]);
    assert_eq!(outputs[7], "");
    assert_eq!(outputs[9], r#"{"task_name":"/root/d"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_failed_agent_says_so_and_can_go_on() {
    let bench = Bench::new();
    let fails = [json!([{ "status": 400, "message": "no good" }])];
    let again = json!([call("followup_task", &json!({ "target": "bad", "message": script(&[say("better")]) }))]);
    bench.run(&[json!([spawn("bad", &fails)]), wait(), list(), again, wait(), say("end")]).await;
    let outputs = bench.outputs(&bench.root);
    let (path, status) = statuses(&outputs[2]).remove(1);
    assert_eq!(path, "/root/bad");
    assert!(status["errored"].as_str().expect("a text").contains("no good"), "{status}");
    let answers = mail(&bench.root.history());
    assert!(answers[0].2.contains("turn failed") && answers[0].2.contains("no good"), "{}", answers[0].2);
    assert!(answers[1].2.ends_with("better"), "{}", answers[1].2);
    // For the user of the parent, a failed turn shows no more than the child's own thread does.
    let completed =
        bench.activities(bench.root.id()).iter().filter(|(_, _, activity, _)| *activity == Activity::Completed).count();
    assert_eq!(completed, 1);
    assert_eq!(
        bench.reduced().await.edges(),
        [
            "agent_result: item in /root/bad -> item in /root",
            "agent_result: thread /root/bad -> item in /root",
            "assign_agent_task: call in /root -> item in /root/bad",
            "spawn_agent: call in /root -> item in /root/bad",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_agent_says_so_and_can_go_on() {
    let bench = Bench::new();
    bench
        .run(&[
            json!([spawn("victim", &[pause(1000), say("never")])]),
            pause(1),
            json!([call("interrupt_agent", &json!({ "target": "victim" }))]),
            wait(),
            json!([call("interrupt_agent", &json!({ "target": "victim" }))]),
            json!([call("followup_task", &json!({ "target": "victim", "message": script(&[say("again")]) }))]),
            wait(),
            say("end"),
        ])
        .await;
    let outputs = bench.outputs(&bench.root);
    assert_eq!(outputs[2], r#"{"previous_status":"running"}"#);
    assert_eq!(outputs[4], r#"{"previous_status":"interrupted"}"#);
    let answers = mail(&bench.root.history());
    assert!(answers[0].2.contains("interrupted before it was done"), "{}", answers[0].2);
    assert!(answers[1].2.ends_with("again"), "{}", answers[1].2);
    let victim = bench.child("/root/victim").await;
    let outcomes: Vec<_> = bench
        .heard(victim.id())
        .into_iter()
        .filter_map(|event| match event {
            EventKind::TurnEnded { outcome, .. } => Some(matches!(outcome, TurnOutcome::Interrupted)),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [true, false]);
    let edges = bench.reduced().await.edges();
    assert_eq!(edges.iter().filter(|edge| edge.starts_with("close_agent")).count(), 2);
    assert_eq!(edges.iter().filter(|edge| edge.starts_with("agent_result")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn messages_reach_agents_that_work_and_those_that_are_done() {
    let bench = Bench::new();
    let tell = |text: &str| json!([call("send_message", &json!({ "target": "m", "message": text }))]);
    let task = |steps: &[Value]| json!([call("followup_task", &json!({ "target": "m", "message": script(steps) }))]);
    bench
        .run(&[
            json!([spawn("m", &[pause(2), say("first")])]),
            tell("while it works"),
            wait(),
            tell("when it is done"),
            pause(5),
            say("end"),
        ])
        .await;
    let child = bench.child("/root/m").await;
    bench.turns_ended(child.id(), 1).await;
    assert!(child.has_mail(), "what came when it was done waits");
    let said: Vec<String> = mail(&child.history()).into_iter().map(|(_, _, said)| said).collect();
    assert_eq!(said.len(), 2);
    assert!(said[1].contains("Message Type: MESSAGE\n") && said[1].ends_with("while it works"), "{}", said[1]);

    // A task for a working agent joins its turn, and the newest script is played.
    bench.run(&[task(&[pause(3), say("old")]), task(&[say("new")]), wait(), say("end")]).await;
    assert_eq!(mail(&child.history()).len(), 5);
    let ends = bench.heard(child.id()).iter().filter(|event| matches!(event, EventKind::TurnEnded { .. })).count();
    assert_eq!(ends, 2);
    assert_eq!(mail(&bench.root.history()).len(), 2);
    let edges = bench.reduced().await.edges();
    assert_eq!(edges.iter().filter(|edge| *edge == "send_message: call in /root -> item in /root/m").count(), 2);
    assert_eq!(edges.iter().filter(|edge| *edge == "assign_agent_task: call in /root -> item in /root/m").count(), 2);
}

/// With several threads of the operating system, because a single one would run calls in order anyway.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_of_one_answer_that_concern_agents_come_in_their_order() {
    let bench = Bench::with_limits(TreeLimits { max_threads: 40, max_depth: 1 });
    let tell = |text: &str| call("send_message", &json!({ "target": "a", "message": text }));
    let mut calls = vec![spawn("a", &[pause(3600)])];
    calls.extend((0..20).map(|number| tell(&format!("number {number}"))));
    calls.extend((0..10).map(|number| spawn(&format!("b{number}"), &[say("b")])));
    calls.push(call("interrupt_agent", &json!({ "target": "a" })));
    calls.push(call("list_agents", &json!({})));
    bench.run(&[json!(calls), say("end")]).await;

    let outputs = bench.outputs(&bench.root);
    assert_eq!(outputs.len(), calls.len());
    assert!(!outputs.iter().any(|output| output.contains("no live agent")), "{outputs:#?}");
    let listed = statuses(outputs.last().expect("there are outputs"));
    assert_eq!(listed.len(), 12, "{listed:?}");
    let child = bench.child("/root/a").await;
    bench.turns_ended(child.id(), 1).await;
    let heard = bench.heard(child.id()).into_iter();
    let came: Vec<String> = heard
        .filter_map(|event| match event {
            EventKind::MailCame { mail } => mail.content.last()?["encrypted_content"].as_str().map(str::to_owned),
            _ => None,
        })
        .skip(1)
        .collect();
    assert_eq!(came, (0..20).map(|number| format!("number {number}")).collect::<Vec<_>>());
    let nickname = |agent: &Agent| agent.lineage().and_then(|lineage| lineage.nickname.clone()).expect("it has one");
    let other = Bench::with_limits(TreeLimits { max_threads: 40, max_depth: 1 });
    other.run(&[json!((0..10).map(|at| spawn(&format!("b{at}"), &[say("b")])).collect::<Vec<_>>()), say("end")]).await;
    let mut names = Vec::new();
    for at in 0..10 {
        names.push(nickname(&other.child(&format!("/root/b{at}")).await));
    }
    assert_eq!(names[..4], ["Elbe", "Nile", "Tagus", "Volga"], "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_a_child_ends_a_wait() {
    let bench = Bench::new();
    let tells = json!([call("send_message", &json!({ "target": "/root", "message": "half done" }))]);
    let began = Instant::now();
    bench.run(&[json!([spawn("c", &[pause(2), tells, pause(30), say("done")])]), wait(), say("end")]).await;
    assert!(began.elapsed() >= Duration::from_secs(2) && began.elapsed() < Duration::from_secs(10));
    let letters = mail(&bench.root.history());
    assert_eq!(letters.len(), 1);
    assert!(letters[0].2.contains("Message Type: MESSAGE\n") && letters[0].2.ends_with("half done"));
}

#[tokio::test(start_paused = true)]
async fn waits_end_in_time() {
    let bench = Bench::new();
    let wait_for = |arguments: Value| json!([call("wait_agent", &arguments)]);
    for (arguments, seconds, said) in [
        (json!({}), 30, r#"{"message":"Wait timed out.","timed_out":true}"#),
        (json!({ "timeout_ms": 10_000 }), 10, r#"{"message":"Wait timed out.","timed_out":true}"#),
        (json!({ "timeout_ms": 500 }), 10, "500 ms were asked for; the shortest wait is 10000 ms"),
        (json!({ "timeout_ms": -1 }), 10, "-1 ms were asked for"),
        (json!({ "timeout_ms": 3_600_000 }), 3600, "Wait timed out."),
        (json!({ "timeout_ms": 3_600_001 }), 0, "timeout_ms must be at most 3600000; 3600001 was asked for"),
        (json!({ "timeout_ms": 10_000, "ids": [] }), 0, "unknown field `ids`"),
    ] {
        let began = Instant::now();
        bench.run(&[wait_for(arguments), say("end")]).await;
        assert_eq!(began.elapsed().as_secs(), seconds, "{said}");
        let output = bench.outputs(&bench.root).pop().expect("there is one");
        assert!(output.contains(said), "{output}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_returns_at_once_when_something_came() {
    let bench = Bench::new();
    let began = Instant::now();
    // The answer with the wait takes so long that the agent is done before the answer is complete.
    let late = json!([call("wait_agent", &json!({})), { "sleep": 5 }]);
    bench.run(&[json!([spawn("quick", &[say("done")])]), late, say("end")]).await;
    assert!(bench.outputs(&bench.root)[1].contains("Wait completed."));
    assert_eq!(began.elapsed().as_secs(), 5);
    let began = Instant::now();
    let turn = bench.begin(&[json!([call("wait_agent", &json!({})), { "sleep": 5 }]), say("end")]);
    bench.until(|_, _| bench.root.active_turn()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let input = vec![Input::Text { text: "hurry".to_owned(), elements: Vec::new() }];
    bench.root.steer(&turn, input, None).expect("it is heard");
    bench.turn_ended(&turn).await;
    assert!(bench.outputs(&bench.root)[2].contains("the user said something"));
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_user_ends_a_wait() {
    let bench = Bench::new();
    let began = Instant::now();
    let turn = bench.begin(&[wait(), say("end")]);
    is_waiting(&bench).await;
    let input = vec![Input::Text { text: "hurry".to_owned(), elements: Vec::new() }];
    bench.root.steer(&turn, input, None).expect("it is heard");
    bench.turn_ended(&turn).await;
    assert_eq!(began.elapsed().as_secs(), 0);
    assert!(bench.outputs(&bench.root)[0].contains("the user said something"));

    let turn = bench.begin(&[wait(), say("end")]);
    is_waiting(&bench).await;
    bench.root.interrupt(&turn).expect("it runs").await;
    assert_eq!(bench.turn_ended(&turn).await, TurnOutcome::Interrupted);
    assert_eq!(began.elapsed().as_secs(), 0);
    let ended = bench.heard(bench.root.id()).into_iter().rev().find_map(|event| match event {
        EventKind::ItemCompleted { item, .. } => match item.kind {
            ItemKind::AgentCall { status, .. } => Some(status),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(ended, Some(WorkStatus::Interrupted));
    bench.reduced().await;
}

/// Waits until more waits have started than ended.
async fn is_waiting(bench: &Bench) {
    let is_wait = |item: &Item| matches!(item.kind, ItemKind::AgentCall { .. });
    bench
        .until(|heard, _| {
            let count = |event: &EventKind| match event {
                EventKind::ItemStarted { item, .. } if is_wait(item) => 1,
                EventKind::ItemCompleted { item, .. } if is_wait(item) => -1,
                _ => 0,
            };
            (heard.iter().map(|(_, event)| count(event)).sum::<i32>() > 0).then_some(())
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn children_outlive_the_turn_of_their_parent() {
    let bench = Bench::new();
    let turn = bench.begin(&[json!([spawn("long", &[pause(20), say("late")])]), wait(), say("no")]);
    is_waiting(&bench).await;
    bench.root.interrupt(&turn).expect("it runs").await;
    assert_eq!(bench.turn_ended(&turn).await, TurnOutcome::Interrupted);
    let child = bench.child("/root/long").await;
    assert!(child.active_turn().is_some());
    // Activities of the child are shown in the turn that gave it the task, although that turn has ended; no other turn
    // starts for them.
    let shown = bench
        .until(|heard, _| {
            heard.iter().find_map(|(thread, event)| match event {
                EventKind::ItemCompleted { turn, item } if thread == bench.root.id() => match &item.kind {
                    ItemKind::AgentActivity { activity: Activity::Completed, .. } => Some(turn.clone()),
                    _ => None,
                },
                _ => None,
            })
        })
        .await;
    assert_eq!(shown, turn);
    assert_eq!(bench.root.active_turn(), None);
    assert_eq!(mail(&bench.root.history()), []);
    bench.run(&[say("next")]).await;
    assert!(mail(&bench.root.history())[0].2.ends_with("late"));
    assert_eq!(
        bench.reduced().await.edges(),
        ["agent_result: item in /root/long -> item in /root", "spawn_agent: call in /root -> item in /root/long"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_root_that_is_shut_down_takes_its_tree_with_it() {
    let bench = Bench::with_limits(WIDE);
    let below = [json!([spawn("inner", &[pause(1000), say("never")])]), pause(1000), say("never")];
    bench.run(&[json!([spawn("outer", &below)]), say("end")]).await;
    let (outer, inner) = (bench.child("/root/outer").await, bench.child("/root/outer/inner").await);
    bench.until(|_, _| (inner.active_turn().is_some() && !mail(&inner.history()).is_empty()).then_some(())).await;
    assert_eq!(tree::agents(&bench.root).len(), 3);
    let graph = bench.reduced().await;
    assert_eq!((outer.active_turn(), inner.active_turn()), (None, None));
    for child in [&outer, &inner] {
        let last = bench.heard(child.id()).pop().expect("there is one");
        assert!(matches!(last, EventKind::TurnEnded { outcome: TurnOutcome::Interrupted, .. }), "{last:?}");
    }
    let roots: Vec<_> = bench.heard_by_all().into_iter().rev().take_while(|(id, _)| id == bench.root.id()).collect();
    assert!(roots.is_empty(), "nothing is told to a root that is going: {roots:?}");
    assert_eq!(
        graph.threads(),
        ["/root of nobody completed", "/root/outer of /root completed", "/root/outer/inner of /root/outer completed",]
    );
    assert_eq!(tree::agents(&bench.root).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_is_shut_down_begins_nothing_more() {
    let bench = Bench::new();
    let more = json!([call("followup_task", &json!({ "target": "busy", "message": script(&[say("more")]) }))]);
    bench.run(&[json!([spawn("busy", &[pause(1000), say("never")])]), pause(2), more, say("end")]).await;
    let busy = bench.child("/root/busy").await;
    assert!(busy.has_mail() && busy.active_turn().is_some(), "the task waits for the turn that runs");
    bench.reduced().await;
    let turns: Vec<_> = bench
        .heard(busy.id())
        .into_iter()
        .filter(|event| matches!(event, EventKind::TurnStarted { .. } | EventKind::TurnEnded { .. }))
        .collect();
    assert!(
        matches!(&turns[..], [_, EventKind::TurnEnded { outcome: TurnOutcome::Interrupted, .. }]),
        "the task waits for somebody who loads the tree again: {turns:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_while_the_tree_is_shut_down_is_the_newest() {
    let bench = Bench::new();
    let more = json!([call("followup_task", &json!({ "target": "busy", "message": script(&[say("more")]) }))]);
    bench.run(&[json!([spawn("busy", &[pause(1000), say("never")])]), pause(2), more, say("end")]).await;
    let busy = bench.child("/root/busy").await;
    // By now the turn for the waiting task is running, and the parent was not told about the previous one.
    let (id, root) = (busy.id().clone(), bench.root.clone());
    *bench.ears.listener.lock().expect("nobody broke down with it") = Some(Box::new(move |thread, event| {
        if *thread == id && matches!(event, EventKind::TurnEnded { .. }) {
            let root = root.clone();
            let mut ending = async move { root.shutdown().await }.boxed();
            assert_eq!((&mut ending).now_or_never(), None, "a turn is stopped");
            tokio::spawn(ending);
        }
    }));
    busy.interrupt_any().expect("it works").await;
    bench.reduced().await;
    let turns: Vec<_> = bench
        .heard(busy.id())
        .into_iter()
        .filter(|event| matches!(event, EventKind::TurnStarted { .. } | EventKind::TurnEnded { .. }))
        .collect();
    assert!(
        matches!(&turns[..], [_, EventKind::TurnEnded { outcome: TurnOutcome::Interrupted, .. }]),
        "whoever loads the tree tells of the newest turn: {turns:?}"
    );
    assert!(busy.has_mail() && !bench.root.has_mail());
}

#[tokio::test(start_paused = true)]
async fn a_parent_hears_of_a_task_that_an_agent_did_not_come_to() {
    let bench = Bench::new();
    bench.run(&[json!([spawn("busy", &[say("done")])]), wait(), say("end")]).await;
    let busy = bench.child("/root/busy").await;
    for asked in ["first", "second"] {
        let review = script(&[json!([{ "say": "fine" }, { "sleep": 100 }])]);
        let task = || json!([call("followup_task", &json!({ "target": "busy", "message": asked }))]);
        if asked == "first" {
            // A message is not a task.
            let words = json!([call("send_message", &json!({ "target": "busy", "message": "words" }))]);
            bench.run(&[words, say("end")]).await;
        }
        busy.review(review, "changes".to_owned()).expect("it is idle");
        bench.run(&[task(), say("end")]).await;
        if asked == "first" {
            // The task waits for the end of the review and is done then.
            bench.turns_ended(busy.id(), 3).await;
            bench.run(&[say("end")]).await;
        }
    }
    let before = mail(&bench.root.history()).len();
    busy.shutdown().await;
    bench.run(&[say("end")]).await;
    let letters = mail(&bench.root.history());
    assert_eq!(letters.len(), before + 1, "{letters:?}");
    assert!(letters[before].2.contains("interrupted before it was done"), "{letters:?}");
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_came_before_an_agent_was_loaded_begins_nothing() {
    let bench = Bench::new();
    let lineage = Lineage {
        parent: bench.root.id().clone(),
        root: bench.root.id().clone(),
        path: "/root/old".to_owned(),
        depth: 1,
        nickname: Some("Elbe".to_owned()),
        role: None,
    };
    let task = Mail {
        id: "task".to_owned(),
        author: "/root".to_owned(),
        recipient: "/root/old".to_owned(),
        content: Vec::new(),
        wake: Wake::Agent,
        root_turn: None,
    };
    let new = NewAgent::new(ThreadId::new(), Settings::clone(&bench.root.settings()));
    let recorded = RecordingTarget::BundleOf(bench.root.clone());
    let old = bench.runtime.start(NewAgent { recorded, lineage: Some(lineage), mail: vec![task], ..new });
    tree::join(&bench.root, &old, &TurnOutcome::Interrupted, TreeLimits::default()).expect("it joins");
    old.review(script(&[say("fine")]), "changes".to_owned()).expect("it is idle");
    bench.turns_ended(old.id(), 1).await;
    assert_eq!(old.active_turn(), None, "the review was all");
    old.shutdown().await;
    // The caller that loads an agent tells its parent about the task, so the tree does not.
    assert!(old.has_mail() && !bench.root.has_mail());
    bench.root.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn agents_that_were_loaded_keep_their_names() {
    let bench = Bench::new();
    let lineage = |nickname: &str| Lineage {
        parent: bench.root.id().clone(),
        root: bench.root.id().clone(),
        path: format!("/root/{}", nickname.to_lowercase()),
        depth: 1,
        nickname: Some(nickname.to_owned()),
        role: None,
    };
    for nickname in ["Elbe", "Tagus"] {
        let new = NewAgent::new(ThreadId::new(), Settings::clone(&bench.root.settings()));
        let recorded = RecordingTarget::BundleOf(bench.root.clone());
        let old = bench.runtime.start(NewAgent { recorded, lineage: Some(lineage(nickname)), ..new });
        tree::join(&bench.root, &old, &TurnOutcome::Interrupted, TreeLimits::default()).expect("it joins");
    }
    bench.run(&[json!([spawn("a", &[say("a")]), spawn("b", &[say("b")])]), wait(), say("end")]).await;
    let mut names = Vec::new();
    for path in ["/root/a", "/root/b"] {
        names.extend(bench.child(path).await.lineage().and_then(|lineage| lineage.nickname.clone()));
    }
    assert_eq!(names, ["Nile", "Volga"]);
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_shut_down_leaves_its_place() {
    let bench = Bench::new();
    let turn = bench.begin(&[
        json!([spawn("gone", &[pause(1000), say("never")])]),
        wait(),
        json!([call("send_message", &json!({ "target": "gone", "message": "x" }))]),
        json!([spawn("gone", &[say("second")])]),
        wait(),
        say("end"),
    ]);
    let child = bench.child("/root/gone").await;
    is_waiting(&bench).await;
    child.shutdown().await;
    bench.turn_ended(&turn).await;
    let outputs = bench.outputs(&bench.root);
    assert!(outputs[2].contains("no live agent at `/root/gone`"), "{outputs:?}");
    assert_eq!(outputs[3], r#"{"task_name":"/root/gone"}"#);
    let letters = mail(&bench.root.history());
    assert!(letters[0].2.contains("interrupted") && letters[1].2.ends_with("second"), "{letters:?}");
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn wrong_calls_are_answered_with_what_to_do() {
    let bench = Bench::new();
    let task = |arguments: Value| call("spawn_agent", &arguments);
    let tell = |arguments: Value| call("send_message", &arguments);
    let cases = [
        (spawn("a", &[say("again")]), "already"),
        (spawn("Bad Name", &[]), "must be made of lowercase letters"),
        (spawn("root", &[]), "reserved"),
        (spawn("", &[]), "must be made of"),
        (task(json!({ "task_name": "b", "message": " " })), "empty"),
        (task(json!({ "task_name": "b", "message": "x", "agent_type": "y" })), "unknown field `agent_type`"),
        (task(json!({ "task_name": "b", "message": "x", "fork_turns": "some" })), "fork_turns must be"),
        (task(json!({ "task_name": "b", "message": "x", "model": "" })), "`model` is empty"),
        (task(json!({ "task_name": "b" })), "missing field `message`"),
        (tell(json!({ "target": "/root/nobody", "message": "x" })), "no live agent at `/root/nobody`"),
        (tell(json!({ "target": "/elsewhere", "message": "x" })), "begins with `/root`"),
        (tell(json!({ "target": "a", "message": "" })), "empty"),
        (tell(json!({ "target": "/root", "message": "x" })), "you yourself"),
        (tell(json!({ "target": "a", "message": "x", "wake": true })), "unknown field `wake`"),
        (call("followup_task", &json!({ "target": "/root", "message": "x" })), "root agent takes no tasks"),
        (call("interrupt_agent", &json!({ "target": "/root" })), "cannot be interrupted"),
        (call("interrupt_agent", &json!({ "target": "b" })), "no live agent at `/root/b`"),
        (call("list_agents", &json!({ "path_prefix": "Bad" })), "must be made of"),
        (call("list_agents", &json!("{bad")), "do not fit"),
        (call("close_agent", &json!({})), "unsupported call: collaboration.close_agent"),
    ];
    let mut steps = vec![json!([spawn("a", &[say("a")])]), wait()];
    steps.extend(cases.iter().map(|(call, _)| json!([call])));
    steps.push(say("end"));
    bench.run(&steps).await;
    let outputs = bench.outputs(&bench.root);
    assert_eq!(outputs.len(), cases.len() + 2);
    for ((_, expected), output) in cases.iter().zip(&outputs[2..]) {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    assert_eq!(bench.activities(bench.root.id()).len(), 2, "what is refused shows nothing");
    let edges = bench.reduced().await.edges();
    assert_eq!(edges.len(), 2, "{edges:?}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_cannot_stop_itself_or_give_the_root_tasks() {
    let bench = Bench::new();
    let own = json!([
        call("interrupt_agent", &json!({ "target": "/root/a" })),
        call("send_message", &json!({ "target": "/root/a", "message": "x" })),
        call("followup_task", &json!({ "target": "/root", "message": "x" })),
        call("interrupt_agent", &json!({ "target": "/root" })),
    ]);
    bench.run(&[json!([spawn("a", &[own, say("done")])]), wait(), say("end")]).await;
    let outputs = bench.outputs(&bench.child("/root/a").await);
    for (output, expected) in
        outputs[1..].iter().zip(["cannot interrupt itself", "you yourself", "takes no tasks", "cannot be"])
    {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    assert_eq!(outputs.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_fork_sees_the_conversation_so_far() {
    let bench = Bench::with_limits(WIDE);
    bench.run(&[say("first answer")]).await;
    let fork = |name: &str, turns: Value, more: Value| {
        let mut arguments = json!({ "task_name": name, "message": script(&[say("done")]), "fork_turns": turns });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!([call("spawn_agent", &arguments)])
    };
    let whole = json!([call("spawn_agent", &json!({ "task_name": "whole", "message": script(&[say("done")]) }))]);
    let other = json!({ "model": "model-2", "reasoning_effort": "high" });
    bench
        .run(&[
            json!([{ "think": "secret" }, { "call": "pause", "args": { "s": 1 } }]),
            whole,
            fork("recent", json!(1), json!({})),
            fork("blank", json!("none"), json!({})),
            fork("other", json!("all"), other),
            pause(5),
            say("end"),
        ])
        .await;
    let knows = |agent: &Agent| {
        let history = agent.history();
        let says = serde_json::to_string(&history).expect("JSON").contains("first answer");
        (says, history.iter().any(|item| item["type"] == "reasoning"))
    };
    let whole = bench.child("/root/whole").await;
    assert_eq!(knows(&whole), (true, true));
    // In its own history, the call that started it has no output yet.
    assert_eq!(bench.outputs(&whole), ["paused", "aborted"]);
    assert_eq!(knows(&bench.child("/root/recent").await), (false, true));
    assert_eq!(knows(&bench.child("/root/blank").await), (false, false));
    let other = bench.child("/root/other").await;
    assert_eq!(knows(&other), (true, false), "thoughts are for the model that had them");
    let (settings, roots) = (other.settings(), bench.root.settings());
    assert_eq!((settings.model.as_str(), settings.effort.as_deref()), ("model-2", Some("high")));
    let same = Settings { model: roots.model.clone(), effort: None, ..Settings::clone(&settings) };
    assert_eq!(same, *roots);
    let edges = bench.reduced().await.edges();
    assert_eq!(edges.iter().filter(|edge| edge.starts_with("spawn_agent")).count(), 4);
    assert_eq!(edges.iter().filter(|edge| edge.starts_with("agent_result: item")).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_was_done_for_long_makes_room() {
    let bench = Bench::new();
    let mut steps: Vec<Value> = Vec::new();
    for number in 0..=MAX_KEPT_AGENTS {
        steps.push(json!([spawn(&format!("n{number}"), &[say("done")])]));
        steps.push(pause(1));
    }
    steps.extend([list(), say("end")]);
    bench.run(&steps).await;
    let first = bench.child("/root/n0").await;
    bench.until(|_, _| (bench.released() == [first.id().clone()]).then_some(())).await;
    let listed = statuses(bench.outputs(&bench.root).last().expect("there is one"));
    assert_eq!(listed.len(), MAX_KEPT_AGENTS + 1);
    assert!(listed.iter().all(|(path, _)| path != "/root/n0"));
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_has_something_to_do_for_its_user_does_not_make_room() {
    let bench = Bench::new();
    let mut steps: Vec<Value> = Vec::new();
    for number in 0..MAX_KEPT_AGENTS {
        steps.push(json!([spawn(&format!("n{number}"), &[say("done")])]));
        steps.push(pause(1));
    }
    steps.push(say("end"));
    bench.run(&steps).await;
    let first = bench.child("/root/n0").await;
    first.review(script(&[json!([{ "say": "fine" }, { "sleep": 100 }])]), "changes".to_owned()).expect("it is idle");
    bench.run(&[json!([spawn("last", &[say("done")])]), say("end")]).await;
    let second = bench.child("/root/n1").await;
    bench.until(|_, _| (bench.released() == [second.id().clone()]).then_some(())).await;
    assert!(first.active_turn().is_some());
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn trees_do_not_see_each_other() {
    let bench = Bench::new();
    bench.run(&[json!([spawn("mine", &[say("done")])]), wait(), say("end")]).await;
    let other = bench.another_root();
    let tell = json!([call("send_message", &json!({ "target": "/root/mine", "message": "x" }))]);
    let turn = begin(&other, &[tell, json!([spawn("mine", &[say("done")])]), list(), say("end")]);
    bench.turn_ended(&turn).await;
    let outputs = bench.outputs(&other);
    assert!(outputs[0].contains("no live agent"), "{outputs:?}");
    assert_eq!(outputs[1], r#"{"task_name":"/root/mine"}"#);
    assert_eq!(statuses(&outputs[2]).len(), 2);
    other.shutdown().await;
    bench.reduced().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_was_loaded_again_joins_its_tree() {
    let bench = Bench::new();
    let lineage = |root: &Agent| Lineage {
        parent: root.id().clone(),
        root: root.id().clone(),
        path: "/root/old".to_owned(),
        depth: 1,
        nickname: None,
        role: None,
    };
    let load = |root: &Agent, lineage: Lineage| {
        let recorded = RecordingTarget::BundleOf(root.clone());
        let new = NewAgent::new(ThreadId::new(), Settings::clone(&root.settings()));
        bench.runtime.start(NewAgent { recorded, lineage: Some(lineage), ..new })
    };
    let old = load(&bench.root, lineage(&bench.root));
    let kind = ItemKind::AgentMessage { text: "before".to_owned(), phase: None };
    let said = Arc::new(Item { id: ItemId::from("said"), kind });
    let last = TurnOutcome::Completed { last_message: Some(said) };
    let limits = TreeLimits::default();
    assert_eq!(tree::join(&bench.root, &old, &last, limits), Ok(()));
    let again = load(&bench.root, lineage(&bench.root));
    let error = tree::join(&bench.root, &again, &last, limits).expect_err("it is taken").to_string();
    assert!(error.contains("already"), "{error}");
    let stranger = load(&bench.root, lineage(&bench.another_root()));
    assert!(tree::join(&bench.root, &stranger, &last, limits).is_err());
    assert!(tree::join(&bench.root, &bench.another_root(), &last, limits).is_err());

    let task = json!([call("followup_task", &json!({ "target": "old", "message": script(&[say("after")]) }))]);
    bench.run(&[list(), task, wait(), list(), say("end")]).await;
    let outputs = bench.outputs(&bench.root);
    assert_eq!(statuses(&outputs[0])[1], row("/root/old", json!({ "completed": "before" })));
    assert_eq!(statuses(&outputs[3])[1], row("/root/old", json!({ "completed": "after" })));
    assert_eq!(
        bench.reduced().await.edges(),
        ["agent_result: item in /root/old -> item in /root", "assign_agent_task: call in /root -> item in /root/old",]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interruption_of_an_agent_that_did_nothing_since_it_was_loaded_is_a_hand_over() {
    let bench = Bench::new();
    let lineage = Lineage {
        parent: bench.root.id().clone(),
        root: bench.root.id().clone(),
        path: "/root/old".to_owned(),
        depth: 1,
        nickname: None,
        role: None,
    };
    let new = NewAgent::new(ThreadId::new(), Settings::clone(&bench.root.settings()));
    let recorded = RecordingTarget::BundleOf(bench.root.clone());
    let old = bench.runtime.start(NewAgent { recorded, lineage: Some(lineage), ..new });
    tree::join(&bench.root, &old, &TurnOutcome::Interrupted, TreeLimits::default()).expect("it joins");
    bench.run(&[json!([call("interrupt_agent", &json!({ "target": "old" }))]), say("end")]).await;
    assert_eq!(bench.outputs(&bench.root), [r#"{"previous_status":"interrupted"}"#]);
    old.shutdown().await;
    assert_eq!(bench.reduced().await.edges(), ["close_agent: call in /root -> thread /root/old"]);
}

#[test]
fn a_parent_has_to_know_of_the_last_work_and_of_a_task_that_was_not_begun() {
    let mail = |id: &str, wake| Mail {
        id: id.to_owned(),
        author: "/root".to_owned(),
        recipient: "/root/a".to_owned(),
        content: Vec::new(),
        wake,
        root_turn: None,
    };
    let done = (TurnId::from("work"), TurnOutcome::Completed { last_message: None });
    let waiting = (TurnId::from("second"), TurnOutcome::Interrupted);
    let open = [mail("first", Wake::Agent), mail("second", Wake::Agent), mail("words", Wake::Nobody)];
    assert_eq!(tree::ends(None, &[]), []);
    assert_eq!(tree::ends(Some(done.clone()), &open[2..]), slice::from_ref(&done));
    assert_eq!(tree::ends(None, &open), slice::from_ref(&waiting));
    assert_eq!(tree::ends(Some(done.clone()), &open), [done, waiting]);
}

#[test]
fn all_are_kept_that_may_work() {
    let kept = |max_threads| TreeLimits { max_threads, max_depth: 1 }.kept();
    let few = [0, 4, MAX_KEPT_AGENTS + 1].map(kept);
    assert_eq!(few, [MAX_KEPT_AGENTS; 3]);
    assert_eq!(kept(201), 200);
}
