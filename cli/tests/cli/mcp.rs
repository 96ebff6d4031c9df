//! `trace mcp` on standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::double::{Double, Rules, browse};
use crate::support::Place;

#[path = "../../../server/mcp/tests/oauth/double.rs"]
mod double;

/// A server, and the client that is connected to it.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: i64,
}

impl Server {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let words = [&["mcp"], arguments].concat();
        let mut child = place.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Self { child, input, output, id: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let told = server.request("initialize", &hello);
        assert_eq!(told["result"]["protocolVersion"], "2025-06-18", "{told}");
        server
    }

    fn send(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n")).expect("it is read");
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let told = self.receive();
        assert_eq!(told["id"], id, "{told}");
        told
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].take()
    }

    /// Ends the input, and waits for the server.
    fn end(mut self) -> Duration {
        let began = Instant::now();
        self.input = None;
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
        began.elapsed()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("lists") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copies");
        }
    }
}

/// Returns a place with the sample in which three agents work, and the sample that another agent stored.
fn place() -> Place {
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    copy(&samples.join("three-children"), &place.path("home/traces/three-children"));
    copy(&samples.join("claude-code"), &place.path("agents/projects/sample"));
    place
}

/// Returns an answer as a client sees it: its text, and its data.
fn shown(answer: &Value) -> String {
    let data = serde_json::to_string_pretty(&answer["structuredContent"]).expect("is written");
    format!("{}\n\n{data}", answer["content"][0]["text"].as_str().unwrap_or_default())
}

#[test]
fn a_failed_session_is_found_and_explained_in_two_calls() {
    let place = place();
    let mut server = Server::start(&place, &[]);
    insta::assert_snapshot!("mcp_sessions", shown(&server.call("sessions", &json!({"status": "failed"}))));
    insta::assert_snapshot!("mcp_postmortem", shown(&server.call("postmortem", &json!({"session": "three-children"}))));
    assert!(server.end() < Duration::from_secs(5));
}

#[test]
fn every_question_is_answered() {
    let place = place();
    let mut server = Server::start(&place, &["--only", "questions"]);
    for (name, tool, arguments) in [
        ("overview", "overview", json!({"session": "three"})),
        ("why", "why", json!({"session": "three-children", "text": "7d20b11 Dim all wicks at once"})),
        ("grep", "grep", json!({"session": "three-children", "pattern": "needs a wick"})),
        ("context", "context", json!({"session": "three-children", "agent": "/root/speed"})),
        ("item", "context", json!({"session": "three-children", "agent": "/root/speed", "item": 0})),
        ("query", "query", json!({"session": "three-children", "sql": "SELECT agent_path, status FROM turns"})),
    ] {
        insta::assert_snapshot!(format!("mcp_{name}"), shown(&server.call(tool, &arguments)));
    }
    server.end();
}

#[test]
fn sessions_of_other_agents_are_asked_about_as_well() {
    let place = place();
    let mut server = Server::start(&place, &[]);
    let listed = server.call("sessions", &json!({}));
    let sessions = listed["structuredContent"]["sessions"].as_array().expect("rows");
    let other = sessions.iter().find(|session| session["agent"] == "Claude Code").unwrap_or_else(|| panic!("{listed}"));
    let id = other["session"].as_str().expect("an id");
    assert!(other["prompt"].as_str().is_some_and(|prompt| !prompt.is_empty()), "{other}");
    for (tool, arguments) in [
        ("overview", json!({"session": id})),
        ("postmortem", json!({"session": id[..8], "all": true})),
        ("grep", json!({"session": id, "pattern": "."})),
        ("context", json!({"session": id})),
        ("query", json!({"session": id, "sql": "SELECT count(*) FROM turns"})),
    ] {
        let answer = server.call(tool, &arguments);
        assert_eq!(answer["isError"], false, "{tool}: {answer}");
    }
    server.end();
}

#[test]
fn clients_of_the_codex_cli_hear_its_events() {
    let place = Place::new();
    let options = ["--provider", "scripted", "-c", "sandbox_mode=danger-full-access"];
    let prompt = r#"RUN [[{"say":"hello"},{"call":"exec_command","args":{"cmd":"echo hi"}}],[{"say":"bye"}]]"#;
    let params = json!({"name": "codex", "arguments": {"prompt": prompt}, "_meta": {"progressToken": "p"}});
    for profile in ["codex", "standard"] {
        let mut server = Server::start(&place, &[&options[..], &["--profile", profile]].concat());
        server.send(&json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params}).to_string());
        let (mut events, mut progress) = (Vec::new(), Vec::new());
        let result = loop {
            let mut told = server.receive();
            match told["method"].as_str() {
                None => break told["result"].take(),
                Some("codex/event") => events.push(told["params"].take()),
                Some("notifications/progress") => progress.push(told["params"].take()),
                Some(other) => panic!("{other}"),
            }
        };
        assert_eq!(result["structuredContent"]["content"], "bye", "{result}");
        assert!(progress.iter().all(|told| told["progressToken"] == "p"));
        assert!(progress.iter().any(|told| told["message"].as_str().is_some_and(|text| text.contains("echo hi"))));
        if profile == "standard" {
            assert!(events.is_empty(), "{events:?}");
            continue;
        }
        let thread = &result["structuredContent"]["threadId"];
        assert!(events.iter().all(|event| event["_meta"] == json!({"requestId": "call", "threadId": thread})));
        let kinds: Vec<&str> = events.iter().map(|event| event["msg"]["type"].as_str().expect("a type")).collect();
        let mut rest = kinds.iter();
        for kind in [
            "session_configured",
            "task_started",
            "user_message",
            "agent_message_content_delta",
            "agent_message",
            "exec_command_begin",
            "exec_command_end",
            "agent_message",
            "task_complete",
        ] {
            assert!(rest.any(|known| *known == kind), "{kind} in {kinds:?}");
        }
        server.end();
    }
}

#[test]
fn what_is_no_message_is_answered() {
    let place = Place::new();
    let mut server = Server::start(&place, &[]);
    for (text, code) in [("{", -32_700), ("[]", -32_600), (r#"{"jsonrpc":"2.0","id":7,"method":"nothing"}"#, -32_601)] {
        server.send(text);
        assert_eq!(server.receive()["error"]["code"], code, "{text}");
    }
    server.send("");
    server.send(&format!(r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(17 << 20)));
    assert_eq!(server.receive()["error"]["code"], -32_600, "a long message");
    assert_eq!(server.request("ping", &json!({}))["result"], json!({}), "it goes on");
    let nothing = server.call("postmortem", &json!({}));
    assert!(nothing["isError"] == true && shown(&nothing).contains("trace demo"), "{nothing}");
    server.end();
}

#[test]
fn tools_can_be_left_out() {
    let place = Place::new();
    for (only, tools) in [("questions", 8), ("agents", 2)] {
        let mut server = Server::start(&place, &["--only", only]);
        let listed = server.request("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(tools), "{only}");
        let refused = server.call(if only == "agents" { "sessions" } else { "codex" }, &json!({}));
        assert_eq!(refused["isError"], true, "{refused}");
        server.end();
    }
}

#[test]
fn addresses_and_tokens_are_checked() {
    let place = Place::new();
    std::fs::write(place.path("empty"), "\n").expect("writes");
    for arguments in [
        &["mcp", "--listen", "http://127.0.0.1:0/mcp"][..],
        &["mcp", "--token-file", "empty"],
        &["mcp", "--listen", "http://0.0.0.0:0/mcp", "--token-file", "empty"],
        &["mcp", "--listen", "ws://127.0.0.1:0", "--token-file", "empty"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran}");
    }
    for file in ["missing", "empty"] {
        let ran = place.run(&["mcp", "--listen", "http://127.0.0.1:0/mcp", "--token-file", file]);
        assert!(ran.code == 1 && ran.stderr.contains("openssl rand"), "{file}: {ran}");
    }
}

/// Starts `trace mcp login` and returns the process with the address that it prints.
fn login(place: &Place, arguments: &[&str]) -> (Child, BufReader<std::process::ChildStderr>, String) {
    let words = [&["mcp", "login", "docs"], arguments].concat();
    let mut command = place.command(&words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut child = command.spawn().expect("it starts");
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let lines = std::iter::from_fn(|| {
        let mut line = String::new();
        errors.read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
    });
    let address = lines.map(|line| line.trim().to_owned()).find(|line| line.starts_with("http"));
    (child, errors, address.expect("an address is printed"))
}

/// Writes the configuration of the MCP server `docs`.
fn configure(place: &Place, url: &str) {
    std::fs::create_dir_all(place.path("home")).expect("a folder");
    let config = format!("[mcp_servers.docs]\nurl = '{url}'\n[mcp_servers.program]\ncommand = 'x'\nenabled = false\n");
    std::fs::write(place.path("home/config.toml"), config).expect("a file");
}

#[test]
fn a_user_logs_in_and_nothing_secret_leaves_the_folder_of_tokens() {
    let place = Place::new();
    let double = Double::start(Rules::default());
    configure(&place, &double.url());
    let listed = place.run(&["mcp", "list"]);
    assert!(listed.stdout.contains("not logged in") && listed.stdout.contains("none needed, disabled"), "{listed:?}");

    let (child, _errors, address) = login(&place, &["--no-browser"]);
    assert_eq!(browse(&address).0, 200);
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success() && ended.stdout == b"logged in at docs\n", "{ended:?}");
    let listed = place.run(&["mcp", "list"]);
    assert!(listed.stdout.contains(&format!("logged in at {}: read write", double.base)), "{listed:?}");

    // An agent uses the server, and a command prints its environment.
    let script = r#"RUN [[{"call":"hello","ns":"mcp__docs","args":{}}],[{"call":"exec_command","args":{"cmd":"env; ps axe || true"}}],[{"say":"done"}]]"#;
    let ran = place.run(&["-vv", "run", "--provider", "scripted", "-c", "sandbox_mode=\"danger-full-access\"", script]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("done"), "{ran:?}");
    assert!(double.count("POST /mcp") > 2, "{:?}", double.seen());
    let mut texts = vec![("output".to_owned(), format!("{}{}", ran.stdout, ran.stderr))];
    let mut folders = vec![place.path("home"), place.path("user"), place.path("cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "mcp-oauth") {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                texts.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    assert!(texts.iter().any(|(_, text)| text.contains("mcp__docs")), "no recording was searched");
    for secret in double.secrets() {
        for (place, text) in &texts {
            assert!(!text.contains(&secret), "{secret} in {place}");
        }
    }

    let out = place.run(&["mcp", "logout", "docs"]);
    assert_eq!((out.code, out.stdout.as_str()), (0, "logged out of docs\n"));
    assert_eq!(place.run(&["mcp", "logout", "docs"]).stdout, "nobody was logged in at docs\n");
}

#[test]
fn a_user_pastes_an_address_or_types_a_code() {
    let place = Place::new();
    let double = Double::start(Rules { device_waits: Some(1), ..Rules::default() });
    configure(&place, &double.url());
    let (mut child, _errors, address) = login(&place, &["--no-browser"]);
    let end = double::get(&address).1.expect("a redirect");
    child.stdin.take().expect("a pipe").write_all(format!("{end}\n").as_bytes()).expect("it is read");
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{ended:?}");

    // Without a display, the code for another device is the default.
    let (child, mut errors, address) = login(&place, &[]);
    assert!(address.ends_with("/activate?user_code=ABCD-EFGH"), "{address}");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut errors, &mut rest).expect("text");
    assert!(rest.contains("ABCD-EFGH"), "{rest}");
    assert!(child.wait_with_output().expect("it ends").status.success());
}

#[test]
fn logins_that_fail_say_why() {
    let place = Place::new();
    let double = Double::start(Rules { denies: Some("access_denied"), ..Rules::default() });
    configure(&place, &double.url());
    let (child, mut errors, address) = login(&place, &["--no-browser"]);
    assert_eq!(browse(&address).0, 400);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut errors, &mut rest).expect("text");
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(1));
    assert!(rest.contains("access_denied: no thanks"), "{rest}");
    for (arguments, code, expected) in [
        (["login", "nope"].as_slice(), 2, "there is no MCP server `nope`; there are: docs, program"),
        (&["login", "program"], 2, "is a program, which needs no login"),
        (&["login", "docs", "--device"], 2, "has no login for devices"),
        (&["login", "docs", "--device", "--no-browser"], 2, "cannot be used with"),
        (&["login", "docs", "-c", "mcp_oauth_callback_url=\"http://192.0.2.7/x\""], 2, "must begin with https://"),
        (&["logout", "nope"], 2, "there is no MCP server `nope`"),
    ] {
        let ran = place.run(&[&["mcp"], arguments].concat());
        assert!(ran.code == code && ran.stderr.contains(expected), "{ran:?}");
    }
}
