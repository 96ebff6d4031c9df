//! `trace replay` and `trace serve --replay`: replays sessions of this program and of the Codex CLI.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Ran};

/// A server that a test controls through its stdin and stdout.
struct Conversation {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Conversation {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut all = vec!["serve", "-c", "sandbox_mode=\"danger-full-access\"", "-c", "approval_policy=\"never\""];
        all.extend(["--trace-root", "traces"]);
        all.extend(arguments);
        let mut command = place.command(&all);
        command.current_dir(place.path("work")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("it starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut conversation = Self { server, input, output, requests: 0 };
        let client = json!({"name": "test", "version": "1"});
        let capabilities = json!({"experimentalApi": true});
        conversation.call("initialize", &json!({ "clientInfo": client, "capabilities": capabilities }));
        conversation
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let request = json!({"id": self.requests, "method": method, "params": params});
        writeln!(self.input.as_mut().expect("open"), "{request}").expect("it listens");
        let id = json!(self.requests);
        let answer = self.hear(|message| message.get("id") == Some(&id));
        answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}")).clone()
    }

    fn hear(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("text"), 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if is_it(&message) {
                return message;
            }
        }
    }

    fn thread(&mut self) -> String {
        self.call("thread/start", &json!({}))["thread"]["id"].as_str().expect("an id").to_owned()
    }

    /// Runs a turn to its end, and returns it.
    fn turn(&mut self, thread: &str, text: &str) -> Value {
        let input = json!([{"type": "text", "text": text}]);
        let turn = self.call("turn/start", &json!({"threadId": thread, "input": input}))["turn"]["id"].clone();
        let ended =
            self.hear(|message| message["method"] == "turn/completed" && message["params"]["turn"]["id"] == turn);
        ended["params"]["turn"].clone()
    }

    /// Starts a turn and returns its id.
    fn begin(&mut self, thread: &str, text: &str) -> Value {
        let input = json!([{"type": "text", "text": text}]);
        self.call("turn/start", &json!({"threadId": thread, "input": input}))["turn"]["id"].clone()
    }

    fn steer(&mut self, thread: &str, turn: &Value, text: &str) {
        let input = json!([{"type": "text", "text": text}]);
        self.call("turn/steer", &json!({"threadId": thread, "expectedTurnId": turn, "input": input}));
    }

    fn interrupt(&mut self, thread: &str, turn: &Value) {
        self.call("turn/interrupt", &json!({"threadId": thread, "turnId": turn}));
    }

    /// Waits until an item of a type starts in any thread.
    fn item(&mut self, method: &str, kind: &str) -> Value {
        self.hear(|message| message["method"] == method && message["params"]["item"]["type"] == kind)
    }

    /// Waits for the end of a turn.
    fn ended(&mut self, turn: &Value) -> Value {
        let is_it = |message: &Value| message["method"] == "turn/completed" && message["params"]["turn"]["id"] == *turn;
        self.hear(is_it)["params"]["turn"]["status"].clone()
    }

    fn end(mut self) {
        drop(self.input.take());
        assert!(self.server.wait().expect("it ends").success());
    }
}

fn run(script: &Value) -> String {
    format!("RUN {script}")
}

/// Returns the only bundle below a folder.
fn bundle(folder: &Path) -> PathBuf {
    let mut found: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Records a session with commands, a patch, a tree of agents, a failure that is recovered and one that is not.
fn recorded(place: &Place) -> PathBuf {
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    std::fs::write(place.path("work/AGENTS.md"), "Be brief.\n").expect("writes");
    let mut conversation = Conversation::start(place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    let agents = |call: &str, arguments: Value| json!({"call": call, "ns": "collaboration", "args": arguments});
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n";
    let child = run(&json!([[{"call": "exec_command", "args": {"cmd": "echo child"}}], [{"say": "of the child"}]]));
    let spawn = |name: &str| agents("spawn_agent", json!({"task_name": name, "message": child, "fork_turns": "none"}));
    let turns = [
        json!([[{"call": "exec_command", "args": {"cmd": "echo $RANDOM"}}, {"custom": "apply_patch", "input": patch}],
            [{"once": "k"}, {"say": "half"}, {"drop": true}], [{"say": "first"}]]),
        json!([[spawn("one"), spawn("two")], [agents("wait_agent", json!({}))], [agents("wait_agent", json!({}))],
            [{"say": "second"}]]),
        json!([[{"status": 400, "message": "no such thing"}]]),
        json!([[{"say": "fourth"}]]),
    ];
    for turn in turns {
        conversation.turn(&thread, &run(&turn));
    }
    conversation.end();
    bundle(&place.path("work/traces"))
}

/// A call of a tool that spawns or messages agents.
fn agents(call: &str, arguments: &Value) -> Value {
    json!({"call": call, "ns": "collaboration", "args": arguments})
}

fn spawn(name: &str, script: &Value) -> Value {
    agents("spawn_agent", &json!({"task_name": name, "message": run(script), "fork_turns": "none"}))
}

/// A command that waits until a file exists.
fn until(file: &str) -> Value {
    let command = format!("until [ -e {file} ]; do sleep 0.02; done; echo {file}");
    json!({"call": "exec_command", "args": {"cmd": command, "yield_time_ms": 30_000}})
}

/// Replays a bundle and checks that every request is the same.
fn is_same(place: &Place, bundle: &Path, arguments: &[&str]) -> Value {
    let ran = replay(place, bundle, &[&["--json", "--no-trace"], arguments].concat());
    let found = outcome(&ran);
    assert_eq!((ran.code, &found["same"], &ran.stderr), (0, &json!(true), &String::new()), "{ran}");
    found
}

fn statuses(found: &Value) -> Vec<&str> {
    let turns = found["turns"].as_array().expect("turns");
    turns.iter().map(|turn| turn["status"].as_str().expect("a status")).collect()
}

fn replay(place: &Place, bundle: &Path, arguments: &[&str]) -> Ran {
    let mut all = vec!["replay", bundle.to_str().expect("UTF-8")];
    all.extend(arguments);
    let ran = place.command(&all).output().expect("runs");
    Ran::from(ran)
}

fn outcome(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

#[test]
fn a_session_is_the_same_again_and_so_is_the_replay_of_its_replay() {
    let place = Place::new();
    let first = recorded(&place);
    let ran = replay(&place, &first, &["--json", "--trace-root", "again"]);
    let found = outcome(&ran);
    assert_eq!((ran.code, &found["same"]), (0, &json!(true)), "{ran}");
    let statuses: Vec<_> =
        found["turns"].as_array().expect("turns").iter().map(|turn| turn["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "completed", "failed", "completed"]);
    let mut agents: Vec<_> =
        found["agents"].as_array().expect("agents").iter().map(|agent| agent["agent"].to_string()).collect();
    // The calls of one answer run in parallel, so either agent may be first.
    agents.sort();
    assert_eq!(agents, ["\"/root\"", "\"/root/one\"", "\"/root/two\""]);
    let second = bundle(&place.path("again"));
    let ran = replay(&place, &second, &["--trace-root", "thrice"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("turn 3: same, failed as recorded"), "{ran}");
    let third = bundle(&place.path("thrice"));
    let check = place.run(&["check", "--quiet", third.to_str().expect("UTF-8")]);
    assert_ne!(check.code, 3, "{check}");
    // A replay from a later turn keeps the history before it.
    for from in ["2", "4"] {
        let ran = replay(&place, &first, &["--json", "--from", from, "--no-trace"]);
        assert_eq!((ran.code, &outcome(&ran)["same"]), (0, &json!(true)), "{from}: {ran}");
    }
    for (arguments, code, message) in
        [(["--from", "9"], 1, "no turn 9"), (["--from", "x"], 1, "no turn x"), (["--tools", "some"], 2, "some")]
    {
        let ran = replay(&place, &first, &arguments);
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.stderr.contains(message), "{ran}");
    }
}

#[test]
fn a_divergence_is_shown_as_a_diff() {
    let place = Place::new();
    let first = recorded(&place);
    std::fs::write(place.path("work/AGENTS.md"), "Be brief.\nBe kind.\n").expect("writes");
    let ran = replay(&place, &first, &["--no-trace"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.starts_with("turn 1: diverged"), "{ran}");
    assert!(ran.stdout.contains("/root, turn 1, request 1, input[0]"), "{ran}");
    assert!(ran.stdout.contains("--- recorded\n+++ live\n") && ran.stdout.contains("\n+Be kind.\\n\n"), "{ran}");
    let ran = replay(&place, &first, &["--no-trace", "--on-divergence", "continue", "--json"]);
    let found = outcome(&ran);
    assert_eq!((ran.code, found["turns"].as_array().map(Vec::len)), (1, Some(4)), "{ran}");
    std::fs::write(place.path("work/AGENTS.md"), "Be brief.\n").expect("writes");
    // The command prints another number, so the output in the second request differs.
    let work = place.path("work");
    let live = ["--no-trace", "--tools", "live", "-C", work.to_str().expect("UTF-8")];
    let open = ["-c", "sandbox_mode=\"danger-full-access\""];
    let ran = replay(&place, &first, &[&live[..], &open[..]].concat());
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("turn 1, request 2, input["), "{ran}");
    // The recording must not widen the sandbox.
    let ran = replay(&place, &first, &live);
    assert!(ran.stdout.contains("-Sandbox: no sandbox"), "{ran}");
}

#[test]
fn recorded_commands_run_in_no_folder_that_nobody_named() {
    let place = Place::new();
    let first = recorded(&place);
    let ran = replay(&place, &first, &["--tools", "live"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran}");
    let work = place.path("work").canonicalize().expect("is there");
    assert!(ran.stderr.contains(&format!("which would be {}", work.display())), "{ran}");
    assert!(ran.stderr.contains("-C DIR"), "{ran}");
    let first = first.to_str().expect("UTF-8");
    let ran = place.run(&["serve", "--replay", first, "--tools", "live"]);
    assert!(ran.code == 2 && ran.stderr.contains("-C DIR"), "{ran}");
    let ran = place.run(&["serve", "--replay", first, "--tools", "live", "-C", "none"]);
    assert!(ran.code == 2 && ran.stderr.contains("none is not a folder"), "{ran}");
}

#[test]
fn a_client_can_talk_to_a_recording() {
    let place = Place::new();
    let first = recorded(&place);
    let requests = replay(&place, &first, &["--json", "--from", "4", "--no-trace"]);
    assert_eq!(requests.code, 0, "{requests}");
    let first = first.to_str().expect("UTF-8");
    let mut conversation = Conversation::start(&place, &["--replay", first]);
    let thread = conversation.thread();
    let turn = conversation.turn(&thread, "something else");
    assert_eq!(turn["status"], "failed", "{turn}");
    let message = turn["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("the replay diverged from the recording: /root, turn 1, request 1"), "{message}");
    conversation.end();
}

#[test]
fn sessions_of_the_codex_cli_are_played() {
    let recordings = trace_needs::repository().join("reducer/tests/recordings");
    let place = Place::new();
    let of_one_agent =
        ["hello", "patches", "parallel-tools", "http-500", "response-failed", "schema1-hello", "schema1-stdin", "mcp"];
    // What the Codex CLI does not record, or does in another way than this program.
    let differently = [
        "summary",
        "schema1-summary",
        "notes-of-cells",
        "long-cell",
        "late-task",
        "schema1-late-message",
        "stopped-calls",
        "schema1-stopped-calls",
        "compacted-child",
        "schema1-failing-agent",
    ];
    for name in of_one_agent.into_iter().chain(differently) {
        let ran = replay(&place, &recordings.join(name).join("bundle"), &["--no-trace"]);
        assert_eq!(ran.code, 0, "{name}: {ran}");
        assert!(ran.stdout.contains("only the conversation was compared"), "{name}: {ran}");
    }
}

#[test]
fn what_cannot_be_played_says_what_is_missing() {
    let place = Place::new();
    let first = place.directory_of(&recorded(&place));
    let payloads = first.join("payloads");
    let is_request =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"prompt_cache_key\""));
    let files = std::fs::read_dir(&payloads).expect("lists").map(|entry| entry.expect("one").path());
    let requests: Vec<PathBuf> = files.filter(is_request).collect();
    let long = std::fs::OpenOptions::new().write(true).open(&requests[0]).expect("opens");
    let whole = std::fs::read(&requests[0]).expect("reads");
    long.set_len(trace_runtime::replay::REPLAY_BODY_BYTES_MAX as u64 + 1).expect("grows");
    let ran = replay(&place, &first, &["--no-trace", "--on-divergence", "continue"]);
    assert!(ran.code == 1 && ran.to_string().contains("it is longer than 67108864 bytes"), "{ran}");
    std::fs::write(&requests[0], whole).expect("writes");
    for option in ["--model", "--provider"] {
        assert_eq!(replay(&place, &first, &[option, "other"]).code, 2, "{option}");
    }
    requests.iter().for_each(|path| std::fs::remove_file(path).expect("deletes"));
    let ran = replay(&place, &first, &[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("which cannot be replayed: it is missing"), "{ran}");
    let ran = place.run(&["replay", "nowhere"]);
    assert_eq!(ran.code, 1, "{ran}");
}

#[test]
fn what_a_user_did_while_turns_ran_is_done_again() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let touch = |file: &str| std::fs::write(place.path("work").join(file), "").expect("writes");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    // The turn is steered while a command runs.
    let turn = conversation.begin(&thread, &run(&json!([[until("a")], [{"say": "one"}]])));
    conversation.item("item/started", "commandExecution");
    conversation.steer(&thread, &turn, "be quick");
    conversation.steer(&thread, &turn, "and exact");
    touch("a");
    assert_eq!(conversation.ended(&turn), "completed");
    // A command is interrupted just after the turn was steered.
    let turn = conversation.begin(&thread, &run(&json!([[until("never")], [{"say": "never"}]])));
    conversation.item("item/started", "commandExecution");
    conversation.steer(&thread, &turn, "never mind");
    conversation.interrupt(&thread, &turn);
    assert_eq!(conversation.ended(&turn), "interrupted");
    // A turn is interrupted during the backoff before a retry.
    let turn = conversation.begin(&thread, &run(&json!([[{"status": 503, "message": "busy"}]])));
    conversation.hear(|message| message["method"] == "error");
    conversation.interrupt(&thread, &turn);
    assert_eq!(conversation.ended(&turn), "interrupted");
    // An answer is interrupted after its first words.
    let turn = conversation.begin(&thread, &run(&json!([[{"say": "half"}, {"hold": "never"}]])));
    conversation.item("item/completed", "agentMessage");
    conversation.interrupt(&thread, &turn);
    assert_eq!(conversation.ended(&turn), "interrupted");
    // A wait for an agent is interrupted. The agent goes on, and its message arrives in a later turn.
    let child = json!([[until("b")], [{"say": "of the child"}]]);
    let waits = [[spawn("child", &child)], [agents("wait_agent", &json!({}))]];
    let turn = conversation.begin(&thread, &run(&json!(waits)));
    let (works, waits) = (Cell::new(false), Cell::new(false));
    conversation.hear(|message| {
        let item = message["params"]["item"]["type"].as_str().filter(|_| message["method"] == "item/started");
        works.set(works.get() || item == Some("commandExecution"));
        waits.set(waits.get() || item == Some("collabAgentToolCall"));
        works.get() && waits.get()
    });
    conversation.interrupt(&thread, &turn);
    assert_eq!(conversation.ended(&turn), "interrupted");
    conversation.turn(&thread, &run(&json!([[{"say": "before the mail"}]])));
    touch("b");
    conversation.hear(|message| message["method"] == "turn/completed" && message["params"]["threadId"] != thread);
    conversation.turn(&thread, &run(&json!([[{"say": "after the mail"}]])));
    // The history is compacted.
    conversation.call("thread/compact/start", &json!({"threadId": thread}));
    conversation.hear(|message| message["method"] == "turn/completed");
    conversation.turn(&thread, &run(&json!([[{"say": "after all"}]])));
    conversation.end();
    let bundle = bundle(&place.path("work/traces"));
    let found = is_same(&place, &bundle, &[]);
    let expected = "completed interrupted interrupted interrupted interrupted completed completed completed completed";
    assert_eq!(statuses(&found).join(" "), expected);
    assert_eq!(found["agents"].as_array().map(Vec::len), Some(2), "{found}");
    is_same(&place, &bundle, &["--from", "2"]);
    is_same(&place, &bundle, &["--from", "9"]);
}

#[test]
fn agents_that_outlive_the_last_turn_and_turns_that_nobody_typed_are_played() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    // A queued turn, and turns that work on a goal.
    let turn = conversation.begin(&thread, &run(&json!([[until("a")], [{"say": "first"}]])));
    let input = json!([{"type": "text", "text": run(&json!([[{"say": "queued"}]]))}]);
    let add = json!({"threadId": thread, "clientUserMessageId": "m", "input": input});
    conversation.call("thread/queue/add", &add);
    std::fs::write(place.path("work/a"), "").expect("writes");
    assert_eq!(conversation.ended(&turn), "completed");
    conversation.hear(|message| message["method"] == "turn/completed");
    let reached = json!({"call": "update_goal", "args": {"status": "complete"}});
    let goal = run(&json!([[reached], [{"say": "reached"}]]));
    conversation.call("thread/goal/set", &json!({"threadId": thread, "objective": goal}));
    conversation.hear(|message| message["method"] == "turn/completed");
    // Agents that still run at the end: one completes, one is interrupted, and one is ended with the session.
    let long = json!([[until("b")], [{"say": "later"}]]);
    let endless = json!([[until("never")]]);
    let step = [spawn("late", &long), spawn("stopped", &endless), spawn("left", &endless)];
    let interrupt = [agents("interrupt_agent", &json!({"target": "stopped"})), agents("list_agents", &json!({}))];
    let turn = conversation.begin(&thread, &run(&json!([step, [until("c")], interrupt, [{"say": "last"}]])));
    for _ in 0..4 {
        conversation.item("item/started", "commandExecution");
    }
    std::fs::write(place.path("work/c"), "").expect("writes");
    assert_eq!(conversation.ended(&turn), "completed");
    std::fs::write(place.path("work/b"), "").expect("writes");
    conversation
        .hear(|message| message["method"] == "turn/completed" && message["params"]["turn"]["status"] == "completed");
    conversation.end();
    let bundle = bundle(&place.path("work/traces"));
    let found = is_same(&place, &bundle, &[]);
    assert_eq!(statuses(&found), ["completed"; 4]);
    assert_eq!(found["agents"].as_array().map(Vec::len), Some(4), "{found}");
    // In another folder, which is empty.
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    is_same(&place, &bundle, &["-C", elsewhere.to_str().expect("UTF-8")]);
}

#[test]
fn tools_that_run_and_print_the_same_are_the_same() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    let echo = json!({"call": "exec_command", "args": {"cmd": "echo hello"}});
    let patch = "*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch\n";
    // The second call of an answer reads the file that the first one wrote.
    let cat = json!({"call": "exec_command", "args": {"cmd": "cat made.txt"}});
    let script =
        json!([[echo], [{"custom": "apply_patch", "input": patch}, cat], [{"call": "nothing"}], [{"say": "x"}]]);
    conversation.turn(&thread, &run(&script));
    let script = json!([[until("never"), until("never")]]);
    let turn = conversation.begin(&thread, &run(&script));
    conversation.item("item/started", "commandExecution");
    conversation.interrupt(&thread, &turn);
    conversation.turn(&thread, "and?");
    conversation.end();
    let bundle = bundle(&place.path("work/traces"));
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let open = ["-c", "sandbox_mode=\"danger-full-access\"", "-C", elsewhere.to_str().expect("UTF-8")];
    is_same(&place, &bundle, &[&["--tools", "live"][..], &open].concat());
    assert_eq!(place.read("elsewhere/made.txt"), "hello\n");
}

/// Removes requests from a recording, as if their turns had been interrupted before them.
fn without_requests(bundle: &Path, is_taken: impl Fn(&Value) -> bool) {
    let log = std::fs::read_to_string(bundle.join("trace.jsonl")).expect("text");
    let is_kept = |line: &&str| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let is_request = event["payload"]["type"].as_str().is_some_and(|kind| kind.starts_with("inference_"));
        !is_request || !is_taken(&event)
    };
    let kept: Vec<&str> = log.lines().filter(is_kept).collect();
    std::fs::write(bundle.join("trace.jsonl"), format!("{}\n", kept.join("\n"))).expect("writes");
}

#[test]
fn turns_that_were_stopped_before_they_asked_are_the_same() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    let held = run(&json!([[{"say": "half"}, {"hold": "never"}]]));
    let mut stopped = Vec::new();
    for say in ["one", "two"] {
        conversation.turn(&thread, &run(&json!([[{"say": say}]])));
        let turn = conversation.begin(&thread, &held);
        conversation.item("item/completed", "agentMessage");
        conversation.interrupt(&thread, &turn);
        assert_eq!(conversation.ended(&turn), "interrupted");
        stopped.push(turn);
    }
    conversation.end();
    let bundle = place.directory_of(&bundle(&place.path("work/traces")));
    is_same(&place, &bundle, &[]);
    // The last turn cannot be replayed, because the user's message is not in the recording.
    without_requests(&bundle, |event| event["codex_turn_id"] == stopped[1]);
    let found = is_same(&place, &bundle, &[]);
    assert_eq!(statuses(&found), ["completed", "interrupted", "completed"]);
}

#[test]
fn the_verdict_is_that_of_the_turns_and_of_the_agents() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    let interrupt = agents("interrupt_agent", &json!({"target": "a"}));
    let script = json!([[spawn("a", &json!([[{"hold": "never"}]])), interrupt], [{"say": "one"}]]);
    conversation.turn(&thread, &run(&script));
    conversation.end();
    let bundle = place.directory_of(&bundle(&place.path("work/traces")));
    // The agent gets to a different point in each run before it is interrupted, so all of its requests are removed.
    without_requests(&bundle, |event| event["thread_id"] != json!(thread));
    let ran = replay(&place, &bundle, &["--json", "--no-trace"]);
    let found = outcome(&ran);
    let all = |list: &str, is_same: fn(&Value) -> bool| found[list].as_array().expect("a list").iter().all(is_same);
    let is_same = all("turns", |turn| turn["same"] == true) && all("agents", |agent| agent["divergence"].is_null());
    assert_eq!((found["same"] == true, ran.code == 0), (is_same, is_same), "{ran}");
}

#[test]
fn a_command_of_the_user_that_was_stopped_holds_nobody_up() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let mut conversation = Conversation::start(&place, &["--provider", "scripted"]);
    let thread = conversation.thread();
    conversation.turn(&thread, &run(&json!([[{"say": "one"}]])));
    conversation.call("thread/shellCommand", &json!({"threadId": thread, "command": "sleep 1000"}));
    let begun = conversation.hear(|message| message["method"] == "turn/started");
    let turn = begun["params"]["turn"]["id"].clone();
    conversation.item("item/started", "commandExecution");
    conversation.interrupt(&thread, &turn);
    assert_eq!(conversation.ended(&turn), "interrupted");
    let said = run(&json!([[{"say": "two"}]]));
    conversation.turn(&thread, &said);
    conversation.end();
    let bundle = bundle(&place.path("work/traces"));
    let found = outcome(&replay(&place, &bundle, &["--json", "--no-trace"]));
    assert_eq!(statuses(&found), ["completed", "failed"], "{found}");
    let divergence = &found["agents"][0]["divergence"];
    assert_eq!((&divergence["turn"], &divergence["request"]), (&json!(3), &json!(1)), "what it printed: {found}");
    let bundle = bundle.to_str().expect("UTF-8");
    let mut conversation = Conversation::start(&place, &["--replay", bundle, "--on-divergence", "continue"]);
    let thread = conversation.thread();
    for said in [run(&json!([[{"say": "one"}]])), said] {
        assert_eq!(conversation.turn(&thread, &said)["status"], "completed");
    }
    conversation.end();
}

#[test]
fn messages_in_the_short_form_are_what_the_user_said() {
    let place = Place::new();
    let first = place.directory_of(&recorded(&place));
    for entry in std::fs::read_dir(first.join("payloads")).expect("lists") {
        let path = entry.expect("one").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let mut body: Value = serde_json::from_str(&text).expect("JSON");
        let items = body.get_mut("input").and_then(Value::as_array_mut);
        for item in items.into_iter().flatten().filter(|item| item["role"] == "user") {
            item["content"] = item["content"][0]["text"].clone();
        }
        std::fs::write(path, body.to_string()).expect("writes");
    }
    let ran = replay(&place, &first, &["--json", "--no-trace", "--on-divergence", "continue"]);
    let found = outcome(&ran);
    assert_eq!((ran.code, statuses(&found)), (1, vec!["completed", "completed", "failed", "completed"]), "{ran}");
    assert_eq!(found["agents"][0]["divergence"]["request"], 1, "{ran}");
}

#[test]
fn a_recording_that_was_cut_is_the_same_until_it_ends() {
    let place = Place::new();
    let first = place.directory_of(&recorded(&place));
    let log = std::fs::read_to_string(first.join("trace.jsonl")).expect("text");
    let lines: Vec<&str> = log.lines().collect();
    let requests: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].contains("\"inference_started\"")).collect();
    // The log is cut after every request, and one event later, as if the process had died there.
    for cut in requests.into_iter().flat_map(|line| [line + 1, line + 2]) {
        std::fs::write(first.join("trace.jsonl"), format!("{}\n", lines[..cut].join("\n"))).expect("writes");
        let found = is_same(&place, &first, &[]);
        let last = found["turns"].as_array().and_then(|turns| turns.last()).expect("a turn");
        if last["recording_ends"] == true {
            assert_eq!(found["recording_ends"], true, "{cut}: {found}");
        }
    }
    let ran = replay(&place, &first, &["--no-trace"]);
    assert!(ran.stdout.contains("same until the recording ends"), "{ran}");
}

#[test]
fn histories_are_made_shorter_where_they_were() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("work")).expect("a folder");
    let limit = ["--provider", "scripted", "-c", "model_auto_compact_token_limit=5000"];
    let mut conversation = Conversation::start(&place, &limit);
    let thread = conversation.thread();
    // A compaction at the start of a turn, because the turn before made the history too long.
    conversation.turn(&thread, &run(&json!([[{"say": "one"}, {"tokens": 100_000}]])));
    conversation.turn(&thread, "go on");
    // The request for a summary is too long. It is repeated with half of the history.
    let full = json!({"status": 400, "code": "context_length_exceeded", "message": "that is too much", "once": "k"});
    let script = json!([[{"say": "three"}], [full, {"say": "a summary"}]]);
    conversation.turn(&thread, &run(&script));
    conversation.call("thread/compact/start", &json!({"threadId": thread}));
    conversation.hear(|message| message["method"] == "turn/completed");
    conversation.turn(&thread, "go on");
    conversation.end();
    // The replay has no such limit.
    let found = is_same(&place, &bundle(&place.path("work/traces")), &[]);
    assert_eq!(statuses(&found), ["completed"; 5]);
    assert!(found["agents"][0]["recorded_requests"].as_u64() >= Some(8), "{found}");
}
