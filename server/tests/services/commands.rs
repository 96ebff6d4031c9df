//! Tests of `command/exec*` and `process/*`.

use std::fs;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use trace_runtime::settings::SandboxPolicy;
use trace_server::services::{CHILDREN_PER_CONNECTION, Environment, OUTPUT_CAP_BYTES_DEFAULT, PENDING_INPUT_BYTES};

use crate::support::{Client, Machine, eventually};

fn sh(script: &str) -> Value {
    json!(["sh", "-c", script])
}

fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

fn delta(params: &Value) -> String {
    String::from_utf8(STANDARD.decode(params["deltaBase64"].as_str().expect("a text")).expect("what was encoded"))
        .expect("what was encoded")
}

fn ended(exit_code: i32, stdout: &str, stderr: &str) -> Value {
    json!({"exitCode": exit_code, "stdout": stdout, "stderr": stderr})
}

/// Reads output until it ends with a text.
async fn read_until(client: &Client, method: &str, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        text.push_str(&delta(&client.note_of(method).await));
    }
    text
}

/// Returns whether a process is running.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // A zombie counts as not running.
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn a_command_is_answered_when_it_ends() {
    let machine = Machine::new();
    let client = machine.client().await;
    fs::create_dir(machine.path("sub")).expect("the file system works");
    let sub = machine.path("sub").canonicalize().expect("the file system works");
    for (params, result) in [
        (json!({"command": sh("echo out; echo err >&2; exit 5")}), ended(5, "out\n", "err\n")),
        (json!({"command": sh("kill -9 $$")}), ended(137, "", "")),
        (json!({"command": ["cat"]}), ended(0, "", "")),
        (json!({"command": ["pwd", "-P"], "cwd": "sub"}), ended(0, &format!("{}\n", sub.display()), "")),
        (json!({"command": sh("echo $NEW-${HOME-none}"), "env": {"NEW": "x", "HOME": null}}), ended(0, "x-none\n", "")),
        (json!({"command": sh("printf '\\377a'")}), ended(0, "\u{fffd}a", "")),
        (json!({"command": sh("echo 123456; echo abcdef >&2"), "outputBytesCap": 4}), ended(0, "1234", "abcd")),
        (json!({"command": sh("echo 12"), "outputBytesCap": 0}), ended(0, "", "")),
        (json!({"command": sh("echo hi; sleep 60"), "timeoutMs": 700}), ended(124, "hi\n", "")),
        (json!({"command": ["sleep", "60"], "timeoutMs": 0}), ended(124, "", "")),
        (json!({"command": sh("echo x"), "timeoutMs": i64::MAX}), ended(0, "x\n", "")),
        (json!({"command": sh("echo x"), "disableTimeout": true, "disableOutputCap": true}), ended(0, "x\n", "")),
    ] {
        assert_eq!(client.call("command/exec", params.clone()).await, result, "{params}");
    }
}

#[tokio::test]
async fn output_is_limited_by_default() {
    let machine = Machine::new();
    let client = machine.client().await;
    let script = sh("head -c 3000000 /dev/zero | tr '\\0' a");
    let capped = client.call("command/exec", json!({"command": script})).await;
    assert_eq!(capped["stdout"].as_str().expect("a text").len(), OUTPUT_CAP_BYTES_DEFAULT);
    let whole = client.call("command/exec", json!({"command": script, "disableOutputCap": true})).await;
    assert_eq!(whole["stdout"].as_str().expect("a text").len(), 3_000_000);
}

#[tokio::test]
async fn contradictory_params_are_refused() {
    let machine = Machine::new();
    let client = machine.client().await;
    for (params, code) in [
        (json!({"command": []}), -32600),
        (json!({"command": ["/nope/x"]}), -32603),
        (json!({"command": ["true"], "cwd": "/nope"}), -32603),
        (json!({"command": ["true"], "tty": true}), -32600),
        (json!({"command": ["true"], "streamStdin": true}), -32600),
        (json!({"command": ["true"], "streamStdoutStderr": true}), -32600),
        (json!({"command": ["true"], "timeoutMs": -1}), -32602),
        (json!({"command": ["true"], "timeoutMs": 1, "disableTimeout": true}), -32602),
        (json!({"command": ["true"], "outputBytesCap": 1, "disableOutputCap": true}), -32602),
        (json!({"command": ["true"], "size": {"rows": 1, "cols": 1}}), -32602),
        (json!({"command": ["true"], "tty": true, "processId": "p", "size": {"rows": 0, "cols": 1}}), -32602),
        (json!({"command": ["true"], "env": {"A=B": "x"}}), -32602),
        (json!({"command": ["true"], "permissionProfile": "nope"}), -32600),
        (
            json!({"command": ["true"], "permissionProfile": ":read-only", "sandboxPolicy": {"type": "readOnly"}}),
            -32600,
        ),
    ] {
        assert_eq!(client.refused("command/exec", params.clone()).await.0, code, "{params}");
    }
    let (_, message) = client.refused("command/exec", json!({"command": ["/nope/x"]})).await;
    assert!(message.contains("/nope/x"), "{message}");
}

#[tokio::test]
async fn streamed_output_is_not_in_the_response() {
    let machine = Machine::new();
    let client = machine.client().await;
    let cat = json!({"command": ["cat"], "processId": "p", "streamStdin": true, "streamStdoutStderr": true});
    let answer = client.post("command/exec", cat.clone());
    // Writing works as soon as the command has been started.
    while client.ask("command/exec/write", json!({"processId": "p", "deltaBase64": base64("hello\n")})).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.refused("command/exec", cat).await.0, -32600);
    let note = client.note_of("command/exec/outputDelta").await;
    assert_eq!(delta(&note), "hello\n");
    assert_eq!(
        (&note["processId"], &note["stream"], &note["capReached"]),
        (&json!("p"), &json!("stdout"), &json!(false))
    );
    for (params, code) in [
        (json!({"processId": "p", "deltaBase64": "%%"}), -32602),
        (json!({"processId": "p"}), -32602),
        (json!({"processId": "nobody", "closeStdin": true}), -32600),
    ] {
        assert_eq!(client.refused("command/exec/write", params.clone()).await.0, code, "{params}");
    }
    let last = json!({"processId": "p", "deltaBase64": base64("bye"), "closeStdin": true});
    client.call("command/exec/write", last).await;
    assert_eq!(answer.await.expect("it goes on").expect("it is there"), ended(0, "", ""));
    assert_eq!(read_until(&client, "command/exec/outputDelta", "bye").await, "bye");
    assert_eq!(client.refused("command/exec/write", json!({"processId": "p", "closeStdin": true})).await.0, -32600);
}

#[tokio::test]
async fn a_stream_reports_that_its_limit_is_reached() {
    let machine = Machine::new();
    let client = machine.client().await;
    let params = json!({
        "command": sh("printf 12345678; echo err >&2"), "processId": "p", "streamStdoutStderr": true, "outputBytesCap": 4,
    });
    assert_eq!(client.call("command/exec", params).await, ended(0, "", ""));
    let mut notes = [client.note().await.1, client.note().await.1];
    notes.sort_by_key(|note| note["stream"].as_str().expect("a text").to_owned());
    let told = notes.each_ref().map(|note| (delta(note), note["capReached"].as_bool().expect("a flag")));
    assert_eq!(told, [("err\n".to_owned(), true), ("1234".to_owned(), true)]);
}

#[tokio::test]
async fn all_output_comes_before_the_answer() {
    const BYTES: usize = 5_000_000;
    let machine = Machine::new();
    let (mut ingress, mut texts) = machine.wire().await;
    let command = json!({
        "command": ["head", "-c", BYTES.to_string(), "/dev/zero"], "processId": "p", "streamStdoutStderr": true,
        "disableOutputCap": true, "disableTimeout": true,
    });
    ingress.receive(&json!({"id": "exec", "method": "command/exec", "params": command}).to_string()).await;
    let mut bytes = 0;
    loop {
        let text = texts.next(0).await.expect("it goes on").remove(0);
        let message: Value = serde_json::from_str(&text).expect("it is there");
        if message["id"] == "exec" {
            assert_eq!(message["result"], ended(0, "", ""));
            break;
        }
        bytes += delta(&message["params"]).len();
    }
    assert_eq!(bytes, BYTES);
}

#[tokio::test]
async fn a_terminal_has_a_size_and_takes_input() {
    let machine = Machine::new();
    let client = machine.client().await;
    let params = json!({
        "command": sh("stty -echo; stty size; read line; stty size; cat; echo end"), "processId": "t", "tty": true,
        "size": {"rows": 11, "cols": 22},
    });
    let answer = client.post("command/exec", params);
    let method = "command/exec/outputDelta";
    assert_eq!(read_until(&client, method, "\n").await, "11 22\r\n");
    assert_eq!(
        client.refused("command/exec/resize", json!({"processId": "t", "size": {"rows": 0, "cols": 3}})).await.0,
        -32602
    );
    client.call("command/exec/resize", json!({"processId": "t", "size": {"rows": 33, "cols": 44}})).await;
    client.call("command/exec/write", json!({"processId": "t", "deltaBase64": base64("go\n")})).await;
    assert_eq!(read_until(&client, method, "\n").await, "33 44\r\n");
    // Output without a line break arrives too.
    let last = json!({"processId": "t", "deltaBase64": base64("tail"), "closeStdin": true});
    client.call("command/exec/write", last).await;
    assert_eq!(read_until(&client, method, "end\r\n").await, "tailend\r\n");
    assert_eq!(answer.await.expect("it goes on").expect("it is there"), ended(0, "", ""));
}

#[tokio::test]
async fn input_and_resizing_need_the_options_for_them() {
    let machine = Machine::new();
    let client = machine.client().await;
    let answer = client.post("command/exec", json!({"command": ["sleep", "60"], "processId": "p"}));
    eventually("the start", || machine.services.exec.running() == 1).await;
    let write = json!({"processId": "p", "deltaBase64": base64("x")});
    assert_eq!(client.refused("command/exec/write", write).await.0, -32600);
    let resize = json!({"processId": "p", "size": {"rows": 1, "cols": 1}});
    assert_eq!(client.refused("command/exec/resize", resize).await.0, -32600);
    // An id of one connection is unknown on another one.
    let other = machine.client().await;
    assert_eq!(other.refused("command/exec/terminate", json!({"processId": "p"})).await.0, -32600);
    assert_eq!(client.call("command/exec/terminate", json!({"processId": "p"})).await, json!({}));
    assert_eq!(answer.await.expect("it goes on").expect("it is there"), ended(143, "", ""));
}

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_killed_with_its_group() {
    let machine = Machine::new();
    let client = machine.client().await;
    let script = "trap '' TERM; sleep 300 & echo $!; wait; sleep 300";
    let params = json!({"command": sh(script), "processId": "p", "streamStdoutStderr": true, "disableTimeout": true});
    let answer = client.post("command/exec", params);
    let child = read_until(&client, "command/exec/outputDelta", "\n").await;
    assert!(lives(&child));
    client.call("command/exec/terminate", json!({"processId": "p"})).await;
    assert_eq!(answer.await.expect("it goes on").expect("it is there")["exitCode"], 137);
    eventually("the end of the group", || !lives(&child)).await;
}

#[tokio::test]
async fn commands_end_with_their_connection() {
    let machine = Machine::new();
    let client = machine.client().await;
    let script = json!({"command": sh("echo $$; sleep 300"), "processId": "p", "streamStdoutStderr": true, "disableTimeout": true});
    let answer = client.post("command/exec", script);
    let command = read_until(&client, "command/exec/outputDelta", "\n").await;
    let spawn = json!({"command": sh("echo $$; sleep 300"), "processHandle": "h", "cwd": "/", "streamStdoutStderr": true, "timeoutMs": null});
    client.call("process/spawn", spawn).await;
    let process = read_until(&client, "process/outputDelta", "\n").await;
    assert!(lives(&command) && lives(&process));
    // The waiting request keeps the client alive.
    answer.abort();
    let _ = answer.await;
    drop(client);
    eventually("the end of the commands", || !lives(&command) && !lives(&process)).await;
    eventually("an empty list", || machine.services.exec.running() == 0).await;
}

#[tokio::test]
async fn input_of_a_command_that_does_not_read_is_limited() {
    let machine = Machine::new();
    let client = machine.client().await;
    let params =
        json!({"command": ["sleep", "300"], "processHandle": "h", "cwd": "/", "streamStdin": true, "timeoutMs": null});
    client.call("process/spawn", params).await;
    let piece = json!({"processHandle": "h", "deltaBase64": STANDARD.encode(vec![0; 1 << 20])});
    let mut written = 0;
    let error = loop {
        match client.ask("process/writeStdin", piece.clone()).await {
            Ok(_) => written += 1 << 20,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code, -32600);
    assert!((PENDING_INPUT_BYTES..=PENDING_INPUT_BYTES + (2 << 20)).contains(&written), "{written}");
    client.call("process/kill", json!({"processHandle": "h"})).await;
    assert_eq!(client.note_of("process/exited").await["exitCode"], 143);
}

#[tokio::test]
async fn a_spawn_is_answered_at_the_start_and_its_end_is_notified() {
    let machine = Machine::new();
    let client = machine.client().await;
    let exited = |handle: &str, exit_code: i32, stdout: &str, stderr: &str| {
        json!({
            "processHandle": handle, "exitCode": exit_code, "stdout": stdout, "stderr": stderr,
            "stdoutCapReached": false, "stderrCapReached": false, "outputDrainTimedOut": false,
        })
    };
    let spawn = json!({"command": sh("echo a; echo b >&2; exit 3"), "processHandle": "h", "cwd": "/"});
    for _ in 0..2 {
        assert_eq!(client.call("process/spawn", spawn.clone()).await, json!({}));
        assert_eq!(client.note_of("process/exited").await, exited("h", 3, "a\n", "b\n"));
    }
    let spawn = json!({"command": sh("echo a"), "processHandle": "s", "cwd": "/", "streamStdoutStderr": true});
    client.call("process/spawn", spawn).await;
    assert_eq!(delta(&client.note_of("process/outputDelta").await), "a\n");
    assert_eq!(client.note_of("process/exited").await, exited("s", 0, "", ""));
    let spawn = json!({"command": sh("echo 123456"), "processHandle": "c", "cwd": "/", "outputBytesCap": 3});
    client.call("process/spawn", spawn).await;
    let note = client.note_of("process/exited").await;
    assert_eq!((&note["stdout"], &note["stdoutCapReached"]), (&json!("123"), &json!(true)));
    let spawn = json!({"command": ["sleep", "300"], "processHandle": "t", "cwd": "/", "timeoutMs": 100});
    client.call("process/spawn", spawn).await;
    assert_eq!(client.note_of("process/exited").await, exited("t", 124, "", ""));
}

#[tokio::test]
async fn a_process_on_a_terminal_is_written_to_resized_and_killed() {
    let machine = Machine::new();
    let client = machine.client().await;
    let spawn =
        json!({"command": sh("stty size; cat"), "processHandle": "h", "cwd": "/", "tty": true, "timeoutMs": null});
    client.call("process/spawn", spawn.clone()).await;
    assert_eq!(read_until(&client, "process/outputDelta", "\n").await, "24 80\r\n");
    assert_eq!(client.refused("process/spawn", spawn).await.0, -32600);
    client.call("process/resizePty", json!({"processHandle": "h", "size": {"rows": 5, "cols": 7}})).await;
    client.call("process/writeStdin", json!({"processHandle": "h", "deltaBase64": base64("yo\n")})).await;
    read_until(&client, "process/outputDelta", "yo\r\nyo\r\n").await;
    client.call("process/kill", json!({"processHandle": "h"})).await;
    let (mut method, mut params) = client.note().await;
    while method != "process/exited" {
        (method, params) = client.note().await;
    }
    assert_ne!(params["exitCode"], 0);
    for (method, params) in [
        ("process/kill", json!({"processHandle": "h"})),
        ("process/writeStdin", json!({"processHandle": "h", "closeStdin": true})),
        ("process/resizePty", json!({"processHandle": "h", "size": {"rows": 5, "cols": 7}})),
    ] {
        assert_eq!(client.refused(method, params).await.0, -32600);
    }
}

#[tokio::test]
async fn processes_that_cannot_start_are_refused() {
    let machine = Machine::new();
    let client = machine.client().await;
    for (params, code) in [
        (json!({"command": [], "processHandle": "h", "cwd": "/"}), -32600),
        (json!({"command": ["true"], "processHandle": "", "cwd": "/"}), -32600),
        (json!({"command": ["true"], "processHandle": "h", "cwd": "relative"}), -32600),
        (json!({"command": ["true"], "processHandle": "h", "cwd": "/nope"}), -32603),
        (json!({"command": ["/nope"], "processHandle": "h", "cwd": "/"}), -32603),
        (json!({"command": ["/nope"], "processHandle": "h", "cwd": "/", "tty": true}), -32603),
        (json!({"command": ["true"], "processHandle": "h", "cwd": "/", "timeoutMs": -1}), -32602),
    ] {
        assert_eq!(client.refused("process/spawn", params.clone()).await.0, code, "{params}");
    }
    assert_eq!(machine.services.exec.running(), 0);
}

#[tokio::test]
async fn output_held_open_by_other_processes_ends_soon() {
    let machine = Machine::new();
    let client = machine.client().await;
    let spawn = json!({"command": sh("sleep 300 & echo $!"), "processHandle": "h", "cwd": "/"});
    client.call("process/spawn", spawn).await;
    let note = client.note_of("process/exited").await;
    assert_eq!((&note["exitCode"], &note["outputDrainTimedOut"]), (&json!(0), &json!(true)));
    let left = note["stdout"].as_str().expect("a text").trim().to_owned();
    assert!(lives(&left), "the process that it started continues");
    std::process::Command::new("kill").arg(left).status().expect("the program runs");
}

#[tokio::test]
async fn a_connection_has_a_limit_of_commands() {
    let machine = Machine::new();
    let client = machine.client().await;
    let spawn =
        |handle: String| json!({"command": ["sleep", "300"], "processHandle": handle, "cwd": "/", "timeoutMs": null});
    for number in 0..CHILDREN_PER_CONNECTION {
        client.call("process/spawn", spawn(number.to_string())).await;
    }
    assert_eq!(client.refused("process/spawn", spawn("more".into())).await.0, -32600);
    machine.services.shutdown();
    for _ in 0..CHILDREN_PER_CONNECTION {
        assert_eq!(client.note_of("process/exited").await["exitCode"], 143);
    }
    assert_eq!(machine.services.exec.running(), 0);
}

#[tokio::test]
async fn a_policy_is_enforced_or_the_command_is_refused() {
    let without = Machine::with("", &[], None);
    let client = without.client().await;
    // The configuration requires `workspace-write`, which this server cannot enforce.
    let (code, message) = client.refused("command/exec", json!({"command": ["true"]})).await;
    assert_eq!(code, -32600);
    assert!(message.contains("confined"), "{message}");
    for policy in [json!({"type": "dangerFullAccess"}), json!({"type": "externalSandbox", "networkAccess": "enabled"})]
    {
        client.call("command/exec", json!({"command": ["true"], "sandboxPolicy": policy})).await;
    }
    client.call("command/exec", json!({"command": ["true"], "permissionProfile": ":danger-full-access"})).await;

    let launcher = |line: &[String], policy: &SandboxPolicy, cwd: &std::path::Path, _: &mut Environment| {
        let what = match policy {
            SandboxPolicy::ReadOnly { .. } => "read-only",
            SandboxPolicy::WorkspaceWrite { writable_roots, .. } if writable_roots.is_empty() => "workspace",
            SandboxPolicy::WorkspaceWrite { .. } => return Err("no roots here".to_owned()),
            SandboxPolicy::FullAccess | SandboxPolicy::External { .. } => "none",
        };
        let mut words = vec!["echo".to_owned(), what.to_owned(), cwd.to_string_lossy().into_owned()];
        words.extend_from_slice(line);
        Ok(words.into())
    };
    let with = Machine::with("", &[], Some(Arc::new(launcher)));
    let client = with.client().await;
    let stdout = async |mut params: Value| {
        params["command"] = json!(["word"]);
        params["cwd"] = json!("/");
        client.call("command/exec", params).await["stdout"].as_str().expect("a text").to_owned()
    };
    assert_eq!(stdout(json!({})).await, "workspace / word\n");
    assert_eq!(stdout(json!({"sandboxPolicy": {"type": "readOnly"}})).await, "read-only / word\n");
    assert_eq!(stdout(json!({"permissionProfile": ":read-only"})).await, "read-only / word\n");
    let policy = json!({"type": "workspaceWrite", "writableRoots": ["/x"]});
    let refused = client.refused("command/exec", json!({"command": ["word"], "sandboxPolicy": policy})).await;
    assert_eq!(refused, (-32603, "no roots here".to_owned()));
}

#[tokio::test]
async fn the_answer_to_a_spawn_comes_before_anything_that_the_process_prints() {
    let machine = Machine::new();
    let (mut ingress, mut texts) = machine.wire_of_experimental_client().await;
    for id in 1..=20 {
        let params = json!({"processHandle": format!("p{id}"), "command": ["echo", "x"], "cwd": machine.work.path(), "streamStdoutStderr": true});
        ingress.receive(&json!({"id": id, "method": "process/spawn", "params": params}).to_string()).await;
        let mut heard: Vec<Value> = Vec::new();
        while heard.last().is_none_or(|last| last["method"] != "process/exited") {
            let batch = texts.next(usize::MAX).await.expect("it lasts");
            heard.extend(batch.iter().map(|text| serde_json::from_str::<Value>(text).expect("JSON")));
        }
        assert_eq!(heard[0], json!({"id": id, "result": {}}));
        assert_eq!(heard[1]["method"], "process/outputDelta");
    }
}

#[tokio::test]
async fn when_the_server_ends_commands_have_ended_before() {
    let machine = Machine::new();
    let client = machine.client().await;
    // The command ignores SIGTERM.
    let stubborn = sh("trap '' TERM; echo $$; while true; do sleep 1; done");
    let params = json!({"processHandle": "p", "command": stubborn, "cwd": machine.work.path(), "streamStdoutStderr": true, "timeoutMs": null});
    client.call("process/spawn", params).await;
    let pid = read_until(&client, "process/outputDelta", "\n").await;
    assert!(lives(&pid));
    machine.services.shutdown();
    machine.services.ended().await;
    assert!(!lives(&pid));
    assert_eq!(client.note_of("process/exited").await["exitCode"], 137);

    let late = json!({"command": sh("sleep 60")});
    assert_eq!(client.call("command/exec", late).await["exitCode"], 143, "what comes too late is ended at once");
}
