//! Sessions with every tool and every operation on agents, three levels deep and 32 agents wide: the strict reducer accepts
//! them, and the peer's reducer makes the same graph.
//!
//! Commands take real time, so these tests do not simulate time, and nothing depends on timing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use trace_runtime::item::Activity;
use trace_runtime::settings::Mode;
use trace_runtime::tool::{ToolOptions, standard};
use trace_runtime::tree::TreeLimits;

use super::bench::{Bench, call, list, mail, say, script};

/// Width of the widest tree.
const WIDTH: usize = 32;

/// A picture of one pixel.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

/// A bench whose agents have all standard tools and a tool of the client.
fn bench(limits: TreeLimits) -> Bench {
    Bench::with(limits, standard(ToolOptions::default()), |root| {
        root.settings.mode = Mode::Plan;
        root.dynamic_tools = vec![json!({
            "type": "function",
            "name": "look_up",
            "description": "Looks something up.",
            "inputSchema": { "type": "object", "properties": { "word": { "type": "string" } } },
        })];
    })
}

fn tool(name: &str, arguments: &Value) -> Value {
    json!({ "call": name, "args": arguments })
}

fn shell(line: &str) -> Value {
    tool("exec_command", &json!({ "cmd": line, "login": false, "yield_time_ms": 30_000 }))
}

fn patch(file: &str) -> Value {
    json!({ "custom": "apply_patch", "input": format!("*** Begin Patch\n*** Add File: {file}\n+new\n*** End Patch\n") })
}

/// A call that starts an agent, which gets the part `fork` of the conversation.
fn spawn(name: &str, fork: &str, steps: &[Value]) -> Value {
    call("spawn_agent", &json!({ "task_name": name, "message": script(steps), "fork_turns": fork }))
}

/// A call that waits for mail. It is in the same answer as the call that leads to mail: mail that arrives before the next
/// request is part of that request, and a wait after it would not end.
fn wait() -> Value {
    call("wait_agent", &json!({ "timeout_ms": 60_000 }))
}

fn tell(operation: &str, target: &str, message: &str) -> Value {
    json!([call(operation, &json!({ "target": target, "message": message }))])
}

fn counts(expected: &[(&str, &str, usize)]) -> BTreeMap<(String, String), usize> {
    expected.iter().map(|(kind, status, count)| (((*kind).to_owned(), (*status).to_owned()), *count)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_is_in_the_graph() {
    let bench = bench(TreeLimits::default());
    let picture = bench.root.settings().cwd.join("picture.png");
    std::fs::write(&picture, PICTURE).expect("it is written");
    let question = json!({
        "id": "go", "header": "Go", "question": "Shall it go on?",
        "options": [{ "label": "yes", "description": "It goes on." }, { "label": "no", "description": "It ends." }],
    });
    bench
        .run(&[
            json!([
                { "think": "A plan first." },
                { "say": "I begin.", "phase": "commentary" },
                tool("update_plan", &json!({ "plan": [{ "step": "all", "status": "in_progress" }] })),
                shell("echo one"),
                shell("echo two >&2; exit 3"),
            ]),
            json!([patch("made.txt"), { "search": "how it is done" }]),
            json!([tool("view_image", &json!({ "path": picture }))]),
            json!([
                tool("request_user_input", &json!({ "questions": [question] })),
                tool("look_up", &json!({ "word": "trace" })),
            ]),
            json!([tool("nowhere", &json!({})), { "custom": "apply_patch", "input": "no patch" }]),
            json!([tool(
                "exec_command",
                &json!({ "cmd": "read line; echo got $line", "tty": true, "login": false, "yield_time_ms": 250 })
            )]),
            say("it waits for a line"),
        ])
        .await;
    let all = bench.root.history();
    let answered: Vec<String> =
        all.iter().filter(|item| !item["output"].is_null()).map(|item| item["output"].to_string()).collect();
    let has = |part: &str| {
        assert_eq!(answered.iter().filter(|output| output.contains(part)).count(), 1, "{part}: {answered:#?}");
    };
    has("Process exited with code 3");
    has("A made.txt");
    has("data:image/png");
    has(r#"\"yes\""#);
    has("the client did it");
    let running = answered.last().expect("there are some");
    let (_, session) = running.split_once("running with session ID ").expect("it runs on");
    let session: u32 = session.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number");
    bench
        .run(&[
            json!([tool(
                "write_stdin",
                &json!({ "session_id": session, "chars": "a line\n", "yield_time_ms": 30_000 })
            )]),
            say("end"),
        ])
        .await;
    assert!(
        bench.root.history().iter().any(|item| item["output"].as_str().is_some_and(|text| text.contains("got a line")))
    );
    let history = bench.root.history();
    let called: BTreeSet<&str> = history.iter().filter_map(|item| item["name"].as_str()).collect();
    for tool in standard(ToolOptions::default()) {
        let offered = tool.specification(&bench.root.settings()).expect("plan mode offers every tool");
        let name = offered["name"].as_str().expect("a name");
        assert!(called.contains(name), "this session does not call the tool {name}");
    }
    let calls = bench.reduced().await.calls();
    assert_eq!(
        calls,
        counts(&[
            ("apply_patch", "completed", 1),
            ("apply_patch", "failed", 1),
            ("exec_command", "completed", 3),
            ("other", "completed", 4),
            ("other", "failed", 1),
            ("write_stdin", "completed", 1),
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_on_agents_that_work_is_in_the_graph() {
    let bench = bench(TreeLimits { max_threads: 8, max_depth: 3 });
    let third = [
        json!([shell("echo third; exit 1"), patch("c.txt")]),
        tell("send_message", "/root", "from below"),
        say("from c"),
    ];
    let second = [json!([shell("echo second"), spawn("c", "none", &third), wait()]), say("from b")];
    let first = [json!([spawn("b", "1", &second), wait()]), tell("send_message", "b/c", "a note"), say("from a")];
    // Each step waits for the effects of the previous one; only independent effects are concurrent.
    bench
        .run(&[json!([{ "say": "I ask for help.", "phase": "commentary" }, spawn("a", "all", &first)]), say("asked")])
        .await;
    let [a, b, c] = [bench.child("/root/a").await, bench.child("/root/a/b").await, bench.child("/root/a/b/c").await];
    // The mail for the root is the message of the third agent and the result of the first.
    bench.mail_came(bench.root.id(), 2).await;
    bench.turns_ended(a.id(), 1).await;
    bench.turns_ended(b.id(), 1).await;
    bench.run(&[json!([spawn("bad", "none", &[json!([{ "status": 400, "message": "no good" }])])]), say("hm")]).await;
    bench.mail_came(bench.root.id(), 3).await;
    bench
        .run(&[
            tell("followup_task", "a/b/c", &script(&[say("c goes on")])),
            tell("followup_task", "bad", &script(&[json!([shell("echo better")]), say("better")])),
            json!([spawn("slow", "2", &[json!([shell("exec sleep 1000")]), say("never")])]),
            say("on"),
        ])
        .await;
    bench.mail_came(bench.root.id(), 4).await;
    bench.turns_ended(c.id(), 2).await;
    let slow = bench.child("/root/slow").await;
    bench.command_begun(slow.id()).await;
    bench
        .run(&[
            tell("send_message", "a", "well done"),
            json!([call("interrupt_agent", &json!({ "target": "slow" }))]),
            json!([call("interrupt_agent", &json!({ "target": "a" }))]),
            say("on"),
        ])
        .await;
    bench.mail_came(bench.root.id(), 5).await;
    bench.run(&[list(), say("end")]).await;
    assert_eq!(
        mail(&bench.root.history()).len(),
        5,
        "a, c's note, bad twice, slow: {:#?}",
        mail(&bench.root.history())
    );
    let graph = bench.reduced().await;
    assert_eq!(
        graph.threads(),
        [
            "/root of nobody completed",
            "/root/a of /root completed",
            "/root/a/b of /root/a completed",
            "/root/a/b/c of /root/a/b completed",
            "/root/bad of /root completed",
            "/root/slow of /root completed"
        ]
    );
    assert_eq!(
        graph.edges(),
        [
            "agent_result: item in /root/a -> item in /root",
            "agent_result: item in /root/a/b -> item in /root/a",
            "agent_result: item in /root/a/b/c -> item in /root/a/b",
            "agent_result: item in /root/bad -> item in /root",
            "agent_result: item in /root/slow -> item in /root",
            "agent_result: thread /root/bad -> item in /root",
            "assign_agent_task: call in /root -> item in /root/a/b/c",
            "assign_agent_task: call in /root -> item in /root/bad",
            "close_agent: call in /root -> thread /root/a",
            "close_agent: call in /root -> thread /root/slow",
            "send_message: call in /root/a -> item in /root/a/b/c",
            "send_message: call in /root/a/b/c -> item in /root",
            "spawn_agent: call in /root -> item in /root/a",
            "spawn_agent: call in /root -> item in /root/bad",
            "spawn_agent: call in /root -> item in /root/slow",
            "spawn_agent: call in /root/a -> item in /root/a/b",
            "spawn_agent: call in /root/a/b -> item in /root/a/b/c",
        ],
        "mail that nobody has read yet is no edge"
    );
    assert_eq!(
        graph.calls(),
        counts(&[
            ("apply_patch", "completed", 1),
            ("assign_agent_task", "completed", 2),
            ("close_agent", "completed", 2),
            ("exec_command", "completed", 4),
            ("other", "completed", 1),
            ("send_message", "completed", 3),
            ("spawn_agent", "completed", 5),
            ("wait_agent", "completed", 2),
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_tree_that_works_is_in_the_graph() {
    // Every fourth of the 32 agents has a child, which has a child itself.
    let bench = bench(TreeLimits { max_threads: 2 * WIDTH, max_depth: 3 });
    let third = [json!([shell("echo third")]), say("third")];
    let second = [json!([spawn("below", "none", &third), wait()]), say("second")];
    let spawns: Vec<Value> = (0..WIDTH)
        .map(|number| {
            let work = json!([shell("echo first"), patch(&format!("{number}.txt"))]);
            let steps = if number % 4 == 0 {
                vec![work, json!([spawn("below", "all", &second), wait()]), say("first")]
            } else {
                vec![work, say("first")]
            };
            spawn(&format!("w{number}"), if number % 2 == 0 { "none" } else { "all" }, &steps)
        })
        .collect();
    bench.run(&[Value::Array(spawns), say("all work")]).await;
    bench.mail_came(bench.root.id(), WIDTH).await;
    bench.run(&[list(), say("end")]).await;
    let shown = bench.activities(bench.root.id());
    for wanted in [Activity::Started, Activity::Completed] {
        assert_eq!(shown.iter().filter(|(_, _, activity, _)| *activity == wanted).count(), WIDTH, "{wanted:?}");
    }
    let nested = WIDTH / 4;
    let graph = bench.reduced().await;
    assert_eq!(graph.threads().len(), 1 + WIDTH + 2 * nested);
    let edges = graph.edges();
    let of_kind = |kind: &str| edges.iter().filter(|edge| edge.starts_with(kind)).count();
    assert_eq!(
        (of_kind("spawn_agent"), of_kind("agent_result"), edges.len()),
        (WIDTH + 2 * nested, WIDTH + 2 * nested, 2 * (WIDTH + 2 * nested))
    );
    assert_eq!(
        graph.calls(),
        counts(&[
            ("apply_patch", "completed", WIDTH),
            ("exec_command", "completed", WIDTH + nested),
            ("other", "completed", 1),
            ("spawn_agent", "completed", WIDTH + 2 * nested),
            ("wait_agent", "completed", 2 * nested),
        ])
    );
}
