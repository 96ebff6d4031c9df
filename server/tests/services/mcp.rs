//! Tests of MCP servers with a whole server: a small one, which is a script in this file, and
//! `@modelcontextprotocol/server-everything` if `TRACE_NODE_MODULES` names a folder that contains it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;
use trace_protocol::{Experimental, RequestId};
use trace_recorder::Bundle;
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_reducer::{Options, reduce, state_json};
use trace_runtime::provider::scripted::Scripted;
use trace_runtime::runtime::RuntimeOptions;
use trace_server::config::{CONFIG_FILE_NAME, ConfigStore};
use trace_server::outbound::OutboundPolicy;
use trace_server::services::{ServiceOptions, Variables};
use trace_server::transport::in_process::{CallError, ClientHandle, Event, Events, connect};
use trace_server::{Server, ServerOptions};

use self::double::{Double, Rules, browse};
use crate::support::{TIMEOUT, eventually, validate};

#[path = "../../mcp/tests/oauth/double.rs"]
mod double;

/// An MCP server. It logs what it receives, and that it has ended.
const TOY: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
member() { printf '%s' "$line" | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }
echo "the toy has begun" >&2
more=''
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$LOG"
  id=$(member id)
  case "$line" in
  *'"method":"initialize"'*)
    answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"toy","version":"1"},"instructions":"Play."}' ;;
  *'"method":"tools/list"'*)
    answer "$id" '{"tools":[{"name":"say-hello","description":"Greets.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"form","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"hang","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"die","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"hidden","inputSchema":{"type":"object"}},{"name":"risky","inputSchema":{"type":"object"}},{"name":"grow","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}'"$more"']}' ;;
  *'"name":"form"'*)
    printf '%s\n' '{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}'
    IFS= read -r reply
    reply=$(printf '%s' "$reply" | sed 's/"/\\"/g')
    answer "$id" '{"content":[{"type":"text","text":"'"$reply"'"}]}' ;;
  *'"name":"hang"'*) ;;
  *'"name":"die"'*) echo "the toy gives up" >&2; exit 3 ;;
  *'"name":"grow"'*)
    more=',{"name":"grown","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}'
    printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    token=$(member progressToken)
    for step in 1 2 3; do
      printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":3}}\n' "$token" "$step"
    done
    answer "$id" '{"content":[{"type":"text","text":"grown"}],"structuredContent":{"grown":true}}' ;;
  *'"name":"risky"'*) answer "$id" '{"content":[{"type":"text","text":"it broke"}],"isError":true}' ;;
  *'"method":"tools/call"'*) answer "$id" '{"content":[{"type":"text","text":"hello '"$TOY_NAME"'"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}' ;;
  esac
done
echo ended >> "$LOG"
"#;

/// A whole server with one client.
struct World {
    home: TempDir,
    _work: TempDir,
    server: Server,
    client: ClientHandle,
    events: Events,
    thread: String,
}

impl World {
    /// Starts a server whose configuration has MCP servers, and starts a thread.
    async fn start(servers: &str, policy: &str) -> Self {
        let mut world = Self::without_thread(servers).await;
        let started = world.call("thread/start", json!({ "approvalPolicy": policy })).await;
        world.thread = started["thread"]["id"].as_str().expect("an id").to_owned();
        world
    }

    async fn without_thread(servers: &str) -> Self {
        let (home, work) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        // Close `/tmp` to commands: MCP servers are not started from folders that commands may write to.
        let config = format!(
            "model_provider = 'scripted'\nsandbox_mode = 'workspace-write'\n\
             sandbox_workspace_write.exclude_slash_tmp = true\n{}",
            servers.replace("{home}", home.path().to_str().expect("text"))
        );
        std::fs::write(home.path().join(CONFIG_FILE_NAME), config).expect("the file system works");
        std::fs::write(home.path().join("toy.sh"), TOY).expect("the file system works");
        let configuration = Arc::new(ConfigStore::open(home.path(), &[]).expect("a configuration"));
        let mut runtime = RuntimeOptions::new(vec![Arc::new(Scripted::new())], Vec::new());
        runtime.recording = Some(TraceRoot::new(home.path().join("traces"), WriterOptions::default()));
        let variables = Variables::new(|name| match name {
            "PATH" => std::env::var_os("PATH"),
            "TOY_NAME" => Some("toy".into()),
            _ => None,
        });
        let services = ServiceOptions {
            cwd: work.path().to_owned(),
            configuration,
            launcher: None,
            variables,
            tokens: Arc::default(),
        };
        let options = ServerOptions { home: home.path().to_owned(), runtime, traces: None, services };
        let server = Server::start(options).expect("a server");
        let (client, events) = connect(server.opener(), OutboundPolicy::Wait);
        client.initialize("test", "1", Experimental::Enabled).await.expect("it goes on");
        Self { home, _work: work, server, client, events, thread: String::new() }
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        let result = self.call_own(method, params).await;
        validate(method, &result, |methods| methods["clientRequests"][method].get("result"));
        result
    }

    /// Calls a method that the Codex CLI may lack.
    async fn call_own(&self, method: &str, params: Value) -> Value {
        let answer = timeout(TIMEOUT, self.client.request(method, &params)).await.expect("an answer");
        let result = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
        serde_json::from_str(result.get()).expect("JSON")
    }

    /// Calls a method that must fail, and returns the error.
    async fn refused(&self, method: &str, params: Value) -> String {
        match timeout(TIMEOUT, self.client.request(method, &params)).await.expect("an answer") {
            Err(CallError::Refused(error)) => error.message,
            other => panic!("{method} with {params}: {other:?}"),
        }
    }

    /// Returns the params of the next status of a server.
    async fn status(&mut self) -> (String, String) {
        let note = self.note("mcpServer/startupStatus/updated").await;
        let text = |name: &str| note[name].as_str().unwrap_or_default().to_owned();
        (text("status"), text("error"))
    }

    /// Starts a turn that runs the steps.
    async fn play(&self, steps: &Value) -> String {
        let input = json!([{ "type": "text", "text": format!("RUN {steps}") }]);
        let begun = self.call("turn/start", json!({ "threadId": self.thread, "input": input })).await;
        begun["turn"]["id"].as_str().expect("an id").to_owned()
    }

    /// Returns the next notification or request of the server: its id, method and params.
    async fn next(&mut self) -> (Option<RequestId>, String, Value) {
        let event = timeout(TIMEOUT, self.events.next()).await.expect("something happens").expect("a connection");
        let (id, method, params, kind) = match event {
            Event::Notification { method, params } => (None, method, params, "serverNotifications"),
            Event::Request { id, method, params } => (Some(id), method, params, "serverRequests"),
        };
        let params = serde_json::from_str(params.expect("params").get()).expect("JSON");
        validate(&method, &params, |methods| methods[kind][&method].get("params"));
        (id, method, params)
    }

    /// Returns the params of the next notification of a method.
    async fn note(&mut self, wanted: &str) -> Value {
        loop {
            let (_, method, params) = self.next().await;
            if method == wanted {
                return params;
            }
        }
    }

    /// Runs the steps until the turn ends. The server requests get `answers` in their order. Returns the completed
    /// items, the server requests, and the reports of progress.
    async fn turn(&mut self, steps: &Value, answers: &[Value]) -> Played {
        self.play(steps).await;
        self.finish(answers).await
    }

    async fn finish(&mut self, answers: &[Value]) -> Played {
        let mut played = Played::default();
        let mut answers = answers.iter();
        loop {
            let (id, method, params) = self.next().await;
            if let Some(id) = id {
                assert_eq!(method, "mcpServer/elicitation/request");
                played.questions.push(params);
                self.client.answer(&id, answers.next().expect("an answer")).await.expect("it goes on");
                continue;
            }
            match method.as_str() {
                "item/completed" if params["item"]["type"] == "mcpToolCall" => {
                    played.items.push(params["item"].clone());
                }
                "item/mcpToolCall/progress" => {
                    assert!(played.items.iter().all(|item| item["id"] != params["itemId"]), "progress after the end");
                    played.progress.push(params["message"].as_str().expect("a message").to_owned());
                }
                "turn/completed" => return played,
                _ => {}
            }
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    /// Shuts the server down, and returns the graph of its recording.
    async fn state(self) -> Value {
        self.server.shutdown().await;
        let mut bundles = std::fs::read_dir(self.home.path().join("traces")).expect("recordings");
        reduced(&bundles.next().expect("a recording").expect("the file system works").path())
    }
}

/// The result of a turn.
#[derive(Debug, Default)]
struct Played {
    items: Vec<Value>,
    questions: Vec<Value>,
    progress: Vec<String>,
}

/// Reduces a bundle strictly, with this program and also with the Codex CLI if that is installed.
fn reduced(bundle: &Path) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&Bundle::open(bundle).expect("a bundle"), strict).expect("a graph");
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("JSON");
    let state: Value = serde_json::from_slice(&text).expect("JSON");
    if let Some(theirs) = trace_needs::state_by_peer(bundle) {
        let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
        assert_eq!(state, theirs);
    }
    state
}

fn toy(more: &str) -> String {
    format!(
        "[mcp_servers.toy-1]\ncommand = 'sh'\nargs = ['{{home}}/toy.sh']\nenv = {{ LOG = '{{home}}/log' }}\nenv_vars = ['TOY_NAME']\n\
         disabled_tools = ['hidden']\nstartup_timeout_sec = 60\n{more}"
    )
}

fn calls(names: &[&str]) -> Value {
    let call = |name: &&str| json!([{ "call": name, "ns": "mcp__toy_1", "args": { "a": 1 } }]);
    let mut steps: Vec<Value> = names.iter().map(call).collect();
    steps.push(json!([{ "say": "done" }]));
    json!(steps)
}

fn statuses(played: &Played) -> Vec<&str> {
    played.items.iter().map(|item| item["status"].as_str().expect("a status")).collect()
}

#[tokio::test]
async fn tools_of_a_server_are_called_shown_and_recorded() {
    let mut world = World::start(&toy(""), "on-request").await;
    // The answers: the content of the form, an approval for the session, and by default a refusal.
    let filled = json!({ "action": "accept", "content": { "name": "Ada" } });
    let agreed = json!({ "action": "accept", "content": {}, "_meta": { "persist": "session" } });
    let played = world.turn(&calls(&["say_hello", "form", "risky", "risky", "grow"]), &[filled, agreed]).await;
    assert_eq!(statuses(&played), ["completed", "completed", "failed", "failed", "completed"]);
    assert_eq!(played.progress, ["1/3", "2/3", "3/3"]);
    let hello = &played.items[0];
    assert_eq!((&hello["server"], &hello["tool"]), (&json!("toy-1"), &json!("say-hello")));
    assert_eq!((&hello["arguments"], &hello["readOnlyHint"]), (&json!({ "a": 1 }), &json!(true)));
    assert_eq!(hello["result"]["content"][0]["text"], "hello toy");
    let reply = played.items[1]["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(reply.contains(r#""action":"accept""#) && reply.contains(r#""name":"Ada""#), "{reply}");
    assert_eq!(played.questions.len(), 2, "{:?}", played.questions);
    assert_eq!((&played.questions[0]["mode"], &played.questions[0]["message"]), (&json!("form"), &json!("Who?")));
    assert_eq!(played.questions[1]["_meta"]["codex_approval_kind"], "mcp_tool_call");
    assert_eq!(played.questions[1]["_meta"]["tool_params"], json!({ "a": 1 }));
    assert_eq!(played.items[4]["result"]["structuredContent"], json!({ "grown": true }));

    // The server asks for the new list of tools at once, and the model can call the new tool.
    eventually("another list of tools", || world.log().matches("tools/list").count() == 2).await;
    let listed = world.call("mcpServerStatus/list", json!({ "threadId": world.thread })).await;
    assert_eq!(listed["data"][0]["runtimeStatus"], "connected");
    assert!(listed["data"][0]["tools"]["hidden"].is_null(), "{listed}");
    let played = world.turn(&calls(&["nope", "hidden"]), &[]).await;
    assert!(played.items.is_empty(), "{played:?}");

    let state = world.state().await;
    let tools: Vec<&Value> = state["tool_calls"].as_object().expect("tools").values().collect();
    let mcp: Vec<_> = tools.iter().filter(|tool| tool["kind"]["type"] == "mcp").collect();
    assert_eq!(mcp.len(), 5, "{tools:?}");
    for tool in mcp {
        assert_eq!((&tool["kind"]["server"], &tool["requester"]["type"]), (&json!("toy-1"), &json!("model")));
        assert!(tool["mcp_call_id"].is_string() && tool["raw_runtime_payload_ids"].as_array().is_some(), "{tool}");
    }
}

#[tokio::test]
async fn an_interrupted_call_is_cancelled_at_the_server() {
    let mut world = World::start(&toy(""), "never").await;
    let turn = world.play(&calls(&["hang"])).await;
    while world.note("item/started").await["item"]["type"] != "mcpToolCall" {}
    eventually("the call", || world.log().contains(r#""name":"hang""#)).await;
    world.call("turn/interrupt", json!({ "threadId": world.thread, "turnId": turn })).await;
    let played = world.finish(&[]).await;
    assert_eq!(statuses(&played), ["failed"]);
    assert_eq!(played.items[0]["error"]["message"], "aborted by the user");
    eventually("word of it", || world.log().contains("notifications/cancelled")).await;
    world.call("thread/archive", json!({ "threadId": world.thread })).await;
    eventually("the end of the server", || world.log().ends_with("ended\n")).await;
}

#[tokio::test]
async fn shutdown_kills_mcp_servers_that_ignore_it() {
    let stubborn = toy("").replace("toy.sh", "stubborn.sh");
    let world = World::without_thread(&stubborn).await;
    // This MCP server reports that its tools have changed, but does not answer the request for them.
    let mute = "id=$(member id)\n  case \"$line\" in *tools/list*) lists=x$lists ;; esac\n  \
                [ \"$lists\" = xx ] && continue\n  \
                [ \"$lists\" = x ] && echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'";
    let toy = TOY.replacen("id=$(member id)", mute, 1);
    let script = format!("trap '' TERM\necho $$ > \"$LOG.pid\"\n{toy}\nwhile :; do sleep 1; done\n");
    std::fs::write(world.home.path().join("stubborn.sh"), script).expect("the file system works");
    world.call("thread/start", json!({ "approvalPolicy": "never" })).await;
    eventually("another list of tools", || world.log().matches("tools/list").count() == 2).await;
    let id = std::fs::read_to_string(world.home.path().join("log.pid")).expect("its id");
    let is_there = || Command::new("kill").args(["-0", id.trim()]).output().expect("a command").status.success();
    assert!(is_there());
    let begun = Instant::now();
    world.server.shutdown().await;
    assert!(!is_there());
    assert!(begun.elapsed() < Duration::from_secs(25), "the answer that is missing was waited for");
}

/// Returns what an item says of its failure.
fn why(item: &Value) -> &str {
    item["error"]["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_program_that_died_in_a_call_is_started_again_at_the_next_one() {
    let mut world = World::start(&toy(""), "never").await;
    let mut statuses_told = Vec::new();
    let begun = Instant::now();
    for (names, expected) in [
        (["die", "say_hello"], ["failed", "completed"]),
        (["die", "say_hello"], ["failed", "completed"]),
        (["die", "say_hello"], ["failed", "failed"]),
    ] {
        world.play(&calls(&names)).await;
        let mut played = Vec::new();
        loop {
            let (_, method, params) = world.next().await;
            match method.as_str() {
                "item/completed" if params["item"]["type"] == "mcpToolCall" => played.push(params["item"].clone()),
                "mcpServer/startupStatus/updated" => {
                    statuses_told
                        .push((params["status"].as_str().expect("a status").to_owned(), params["error"].clone()));
                }
                "turn/completed" => break,
                _ => {}
            }
        }
        let statuses: Vec<_> = played.iter().map(|item| item["status"].as_str().expect("a status")).collect();
        // A call of a server that is dead does not begin.
        assert_eq!(statuses, expected[..statuses.len()], "{played:?}");
        let told = why(&played[0]);
        assert!(told.contains("ended during this call") && told.contains("the call is not repeated"), "{told}");
    }
    assert_eq!(world.log().matches(r#""name":"die""#).count(), 3, "a call was repeated");
    // The second start after an end waits for a second.
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let words: Vec<_> = statuses_told.iter().map(|(status, _)| status.as_str()).collect();
    let restart = ["failed", "starting", "ready"];
    assert_eq!(words, [["starting", "ready"].as_slice(), &restart, &restart, &["failed"]].concat());
    let error = |index: usize| statuses_told[index].1.as_str().expect("an error");
    assert!(error(2).starts_with("MCP server `toy-1`: it has ended; it said: the toy gives up"), "{}", error(2));
    assert!(error(8).contains("that was 3 times within 60 s"), "{}", error(8));
    let listed = world.call("mcpServerStatus/list", json!({ "threadId": world.thread })).await;
    assert_eq!(listed["data"][0]["runtimeStatus"], "failed");

    // A user starts it again, and all counts begin anew.
    world.call("config/mcpServer/reload", Value::Null).await;
    assert_eq!([world.status().await.0, world.status().await.0], ["starting", "ready"]);
    let played = world.turn(&calls(&["say_hello", "die", "say_hello"]), &[]).await;
    assert_eq!(statuses(&played), ["completed", "failed", "completed"]);
    // A healthy program is left alone.
    let starts = world.log().matches(r#""method":"initialize""#).count();
    world.call("config/mcpServer/reload", Value::Null).await;
    let played = world.turn(&calls(&["say_hello"]), &[]).await;
    assert_eq!(
        (statuses(&played), world.log().matches(r#""method":"initialize""#).count()),
        (vec!["completed"], starts)
    );
}

#[tokio::test]
async fn a_program_that_dies_at_its_start_is_started_again_for_a_call_but_not_for_ever() {
    // The first process ends at once; with the second toy, every process does.
    let once = "[ -e \"$LOG.once\" ] || { : > \"$LOG.once\"; echo 'not today' >&2; exit 1; }\n";
    for (prelude, starts) in [(once, 2), ("echo started >> \"$LOG\"; echo 'not today' >&2; exit 1\n", 3)] {
        let world = World::without_thread(&toy("").replace("toy.sh", "weak.sh")).await;
        std::fs::write(world.home.path().join("weak.sh"), format!("{prelude}{TOY}")).expect("the file system works");
        let mut world = world;
        let started = world.call("thread/start", json!({})).await;
        world.thread = started["thread"]["id"].as_str().expect("an id").to_owned();
        assert_eq!(world.status().await.0, "starting");
        let (status, error) = world.status().await;
        assert!(status == "failed" && error.contains("not today"), "{error}");
        let call = json!({ "threadId": world.thread, "server": "toy-1", "tool": "say-hello" });
        if starts == 2 {
            let result = world.call("mcpServer/tool/call", call).await;
            assert_eq!(result["content"][0]["text"], "hello toy");
            continue;
        }
        for _ in 0..3 {
            let error = world.refused("mcpServer/tool/call", call.clone()).await;
            assert!(error.contains("not today"), "{error}");
        }
        let error = world.refused("mcpServer/tool/call", call).await;
        assert!(error.contains("started again only by `config/mcpServer/reload`"), "{error}");
        assert_eq!(world.log().matches("started").count(), starts);
    }
}

#[tokio::test]
async fn a_program_is_not_started_again_from_what_commands_can_write_to_meanwhile() {
    let tools = tempfile::tempdir().expect("a folder");
    std::fs::write(tools.path().join("toy.sh"), TOY).expect("the file system works");
    let script = tools.path().join("toy.sh").display().to_string();
    let mut world = World::start(&toy("").replace("{home}/toy.sh", &script), "never").await;
    let played = world.turn(&calls(&["say_hello"]), &[]).await;
    assert_eq!(statuses(&played), ["completed"]);
    // Commands of another thread can change the program from now on.
    let first = world.thread.clone();
    let other = world.call("thread/start", json!({ "cwd": tools.path(), "sandbox": "workspace-write" })).await;
    world.thread = other["thread"]["id"].as_str().expect("an id").to_owned();
    world.turn(&json!([[{ "call": "exec_command", "args": { "cmd": "true" } }], [{ "say": "done" }]]), &[]).await;
    world.thread = first;
    let played = world.turn(&calls(&["die"]), &[]).await;
    assert_eq!(statuses(&played), ["failed"]);
    let call = json!({ "threadId": world.thread, "server": "toy-1", "tool": "say-hello" });
    let error = world.refused("mcpServer/tool/call", call).await;
    assert!(error.contains("toy.sh, which commands of agents could have changed"), "{error}");
}

#[tokio::test]
async fn clients_call_tools_themselves() {
    let world = World::start(&toy("tool_timeout_sec = 3\n"), "never").await;
    let call = |server: &str, tool: &str| json!({ "threadId": world.thread, "server": server, "tool": tool, "arguments": { "a": 1 }, "_meta": { "m": 2 } });
    let result = world.call("mcpServer/tool/call", call("toy-1", "say-hello")).await;
    assert_eq!((&result["content"][0]["text"], &result["isError"]), (&json!("hello toy"), &Value::Null));
    assert!(world.log().contains(r#""m":2"#), "the metadata is not passed on");
    // A client acts for the user, so nobody is asked, also not about tools that may do harm.
    assert_eq!(world.call("mcpServer/tool/call", call("toy-1", "risky")).await["isError"], true);
    assert_eq!(
        world.call("mcpServer/tool/call", call("toy-1", "grow")).await["structuredContent"],
        json!({ "grown": true })
    );
    let none = json!({ "threadId": "none", "server": "toy-1", "tool": "say-hello" });
    let text = json!({ "threadId": world.thread, "server": "toy-1", "tool": "say-hello", "arguments": "x" });
    for (params, expected) in [
        (call("toy-1", "hidden"), "the MCP server toy-1 offers no tool `hidden`; it has: say-hello"),
        (call("other", "say-hello"), "there is no MCP server `other`; there are: toy-1"),
        (none, "the thread none is not loaded, or it has no MCP servers"),
        (text, "`arguments` is not an object"),
        (call("toy-1", "hang"), "timed out awaiting tools/call after 3 s"),
    ] {
        let error = world.refused("mcpServer/tool/call", params).await;
        assert!(error.starts_with(expected), "{error}");
    }
    eventually("word of the end", || world.log().contains("notifications/cancelled")).await;
    // A question of the server is cancelled: no turn runs that it could belong to.
    let form = world.call("mcpServer/tool/call", call("toy-1", "form")).await;
    assert!(form["content"][0]["text"].as_str().expect("a text").contains("cancel"), "{form}");
}

#[tokio::test]
async fn servers_are_started_for_a_list_on_demand_and_only_once() {
    let world = World::without_thread(&format!("[mcp_servers.off]\ncommand = 'x'\nenabled = false\n{}", toy(""))).await;
    let off = json!({ "server": "off", "uri": "demo://x" });
    let error = world.refused("mcpServer/resource/read", off).await;
    assert!(error.contains("the MCP server `off` is disabled"), "{error}");
    let begun = || world.log().matches(r#""method":"initialize""#).count();
    let listed = world.call("mcpServerStatus/list", json!({ "serverName": "off" })).await;
    assert_eq!((listed["data"].as_array().map(Vec::len), begun()), (Some(1), 0));
    let ask = || world.call("mcpServerStatus/list", json!({}));
    let (one, other) = tokio::join!(ask(), ask());
    assert_eq!((one["data"].as_array().map(Vec::len), begun()), (Some(2), 1));
    assert_eq!(one, other);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled() {
    let mut world = World::start(&toy("tool_timeout_sec = 0.2\n"), "on-request").await;
    let played = world.turn(&calls(&["hang"]), &[]).await;
    assert_eq!(played.items[0]["error"]["message"], "timed out awaiting tools/call after 0.2 s");
    eventually("word of it", || world.log().contains("notifications/cancelled")).await;
}

#[tokio::test]
async fn a_server_that_does_not_start_blocks_no_others() {
    let broken = "[mcp_servers.gone]\ncommand = '/nowhere/at/all'\n[mcp_servers.mute]\ncommand = 'sh'\n\
                  args = ['-c', 'echo no luck today >&2; exec sleep 1000']\nstartup_timeout_sec = 0.2\n\
                  [mcp_servers.off]\ncommand = 'x'\nenabled = false\n[mcp_servers.closed]\nurl = 'http://127.0.0.1:9/mcp'\n";
    let mut world = World::start(&format!("{broken}{}", toy("")), "never").await;
    let mut settled = std::collections::BTreeMap::new();
    while settled.len() < 4 {
        let note = world.note("mcpServer/startupStatus/updated").await;
        assert_eq!(note["threadId"], json!(world.thread));
        if note["status"] != "starting" {
            let name = note["name"].as_str().expect("a name").to_owned();
            settled.insert(name, (note["status"].clone(), note["error"].as_str().unwrap_or_default().to_owned()));
        }
    }
    assert_eq!(settled["toy-1"], (json!("ready"), String::new()));
    for (name, expected) in [
        ("gone", "MCP server `gone`: cannot start `/nowhere/at/all` in "),
        ("mute", "MCP server `mute`: it did not answer within 0.2 s; `startup_timeout_sec` sets the limit"),
        ("closed", "MCP server `closed`: "),
    ] {
        assert_eq!(settled[name].0, "failed");
        assert!(settled[name].1.starts_with(expected), "{:?}", settled[name]);
    }
    let listed = world.call("mcpServerStatus/list", json!({ "threadId": world.thread, "detail": "full" })).await;
    let shown = |status: &Value| (status["name"].clone(), status["runtimeStatus"].clone());
    let shown: Vec<_> = listed["data"].as_array().expect("servers").iter().map(shown).collect();
    let expected =
        [("closed", "failed"), ("gone", "failed"), ("mute", "failed"), ("off", "disabled"), ("toy-1", "connected")];
    assert_eq!(shown, expected.map(|(name, status)| (json!(name), json!(status))));
    // With the policy `never`, a tool that may do harm is refused.
    let played = world.turn(&calls(&["say_hello", "risky"]), &[]).await;
    assert_eq!(statuses(&played), ["completed", "failed"]);
    assert!(played.items[1]["error"]["message"].as_str().expect("why").contains("approval policy `never`"));
}

#[tokio::test]
async fn a_thread_needs_its_required_servers() {
    let world = World::without_thread("[mcp_servers.gone]\ncommand = '/nowhere/at/all'\nrequired = true\n").await;
    match world.client.request("thread/start", &json!({})).await {
        Err(CallError::Refused(error)) => {
            assert_eq!(error.code, -32603);
            assert!(error.message.starts_with("required MCP servers did not start: gone: cannot start"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let listed = world.call("mcpServerStatus/list", json!({})).await;
    assert_eq!(listed["data"][0]["runtimeStatus"], Value::Null);
    assert!(listed["data"][0]["toolsError"].as_str().expect("why").contains("/nowhere/at/all"));
}

/// Returns the path of an MCP server of another project, if it is installed.
fn everything() -> Option<PathBuf> {
    const SERVER: &str = "@modelcontextprotocol/server-everything";
    const WHAT: &str = "no real MCP server is tried";
    trace_needs::node(WHAT)?;
    Some(trace_needs::node_modules(&[SERVER], WHAT)?.join(SERVER).join("dist/index.js"))
}

/// Starts a server over HTTP. Returns its process, which ends when it is dropped, and its port.
async fn web_server(script: &Path) -> (tokio::process::Child, u16) {
    for _ in 0..10 {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = socket.expect("a port").port();
        let mut web = tokio::process::Command::new("node")
            .arg(script)
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node");
        let mut said = BufReader::new(web.stderr.take().expect("a pipe")).lines();
        while let Some(line) = said.next_line().await.expect("text") {
            if line.contains("listening on port") {
                tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
                return (web, port);
            }
        }
        // Another test got the port before the server, which has ended.
    }
    panic!("the server does not start");
}

#[tokio::test]
async fn a_real_server_works_over_both_transports() {
    let Some(script) = everything() else { return };
    let (mut web, port) = web_server(&script).await;
    let servers = format!(
        "[mcp_servers.stdio]\ncommand = 'node'\nargs = ['{}']\nstartup_timeout_sec = 60\ndefault_tools_approval_mode = 'approve'\n\
         [mcp_servers.web]\nurl = 'http://127.0.0.1:{port}/mcp'\nstartup_timeout_sec = 60\n\
         default_tools_approval_mode = 'approve'\n",
        script.display()
    );
    let mut world = World::start(&servers, "on-request").await;
    let mut steps = Vec::new();
    for ns in ["mcp__stdio", "mcp__web"] {
        for (tool, args) in [
            ("echo", json!({ "message": "hi" })),
            ("get_structured_content", json!({ "location": "Chicago" })),
            ("get_tiny_image", json!({})),
            ("get_sum", json!({ "a": "x" })),
            ("trigger_long_running_operation", json!({ "duration": 0.2, "steps": 2 })),
            ("trigger_elicitation_request", json!({})),
            ("trigger_elicitation_request", json!({})),
            ("trigger_url_elicitation", json!({ "url": "https://example.org/open", "elicitationId": "e-1" })),
            ("get_annotated_message", json!({ "messageType": "success", "includeImage": true })),
            ("get_resource_links", json!({ "count": 2 })),
            ("get_resource_reference", json!({ "resourceType": "Text", "resourceId": 1 })),
        ] {
            steps.push(json!([{ "call": tool, "ns": ns, "args": args }]));
        }
    }
    steps.push(json!([{ "call": "list_mcp_resources", "args": {} }]));
    let address = "demo://resource/dynamic/text/1";
    steps.push(json!([{ "call": "read_mcp_resource", "args": { "server": "stdio", "uri": address } }]));
    steps.push(json!([{ "say": "done" }]));
    let filled = json!({ "action": "accept", "content": { "name": "Ada", "check": true, "firstLine": "x" } });
    let refused = json!({ "action": "decline" });
    let opened = json!({ "action": "accept" });
    let answers = [filled.clone(), refused.clone(), opened.clone(), filled, refused, opened];
    let played = world.turn(&json!(steps), &answers).await;
    let mut of_one = ["completed"; 11];
    of_one[3] = "failed";
    assert_eq!(statuses(&played), [of_one.as_slice(), of_one.as_slice(), &["completed", "completed"]].concat());
    assert_eq!(played.progress, ["1/2", "2/2", "1/2", "2/2"]);
    for offset in [0, 11] {
        let text = |index: usize| played.items[offset + index]["result"]["content"].to_string();
        assert!(text(0).contains("Echo: hi"), "{}", text(0));
        assert!(text(5).contains("Name: Ada") && text(6).contains("declined"), "{} {}", text(5), text(6));
        assert!(text(7).contains("https://example.org/open"), "{}", text(7));
    }
    for visit in [&played.questions[2], &played.questions[5]] {
        let expected = (json!("url"), json!("https://example.org/open"), json!("e-1"));
        assert_eq!((visit["mode"].clone(), visit["url"].clone(), visit["elicitationId"].clone()), expected);
    }
    // A running call is cancelled.
    let long = json!([[{ "call": "trigger_long_running_operation", "ns": "mcp__stdio", "args": { "duration": 1000, "steps": 2 } }]]);
    let turn = world.play(&long).await;
    while world.note("item/started").await["item"]["type"] != "mcpToolCall" {}
    world.call("turn/interrupt", json!({ "threadId": world.thread, "turnId": turn })).await;
    assert_eq!(statuses(&world.finish(&[]).await), ["failed"]);
    let state = world.state().await;
    let tools = state["tool_calls"].as_object().expect("tools");
    assert_eq!(tools.values().filter(|tool| tool["kind"]["type"] == "mcp").count(), 25);
    web.kill().await.expect("it ends");
}

#[tokio::test]
async fn a_real_server_gets_roots_and_gives_resources_and_prompts_to_clients() {
    let Some(script) = everything() else { return };
    let (_web, port) = web_server(&script).await;
    let servers = format!(
        "[mcp_servers.with]\ncommand = 'node'\nargs = ['{0}']\nstartup_timeout_sec = 60\nroots = true\n\
         [mcp_servers.web]\nurl = 'http://127.0.0.1:{1}/mcp'\nstartup_timeout_sec = 60\nroots = true\n\
         [mcp_servers.without]\ncommand = 'node'\nargs = ['{0}']\nstartup_timeout_sec = 60\n",
        script.display(),
        port
    );
    let mut world = World::start(&servers, "never").await;
    let tools = async |world: &World, server: &str| {
        let listed =
            world.call("mcpServerStatus/list", json!({ "threadId": world.thread, "serverName": server })).await;
        listed["data"][0]["tools"].as_object().expect("tools").keys().cloned().collect::<Vec<_>>()
    };
    let has = |tools: &[String]| tools.iter().any(|tool| tool == "get-roots-list");
    let folder = world.home.path().join("a b");
    std::fs::create_dir(&folder).expect("the file system works");
    let roots = async |world: &World, server: &str| {
        let call = json!({ "threadId": world.thread, "server": server, "tool": "get-roots-list" });
        world.call("mcpServer/tool/call", call).await["content"].to_string()
    };
    for _ in 0..6 {
        world.note("mcpServer/startupStatus/updated").await;
    }
    for server in ["with", "web"] {
        // The server offers the tool when it has the capabilities of the client, and says so by a change of its list.
        let deadline = Instant::now() + TIMEOUT;
        while !has(&tools(&world, server).await) {
            assert!(Instant::now() < deadline, "get-roots-list is not offered");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let shown = roots(&world, server).await;
        assert!(!shown.contains("a%20b"), "{shown}");
    }
    assert!(!has(&tools(&world, "without").await));
    world.call("thread/settings/update", json!({ "threadId": world.thread, "cwd": folder })).await;
    for server in ["with", "web"] {
        let deadline = Instant::now() + TIMEOUT;
        while !roots(&world, server).await.contains("a%20b") {
            assert!(Instant::now() < deadline, "the new folder is not told");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    let uri = "demo://resource/dynamic/text/1";
    for thread in [json!(world.thread), Value::Null] {
        let read = json!({ "threadId": thread, "server": "without", "uri": uri });
        let contents = world.call("mcpServer/resource/read", read).await;
        assert_eq!((&contents["contents"][0]["uri"], contents["contents"][0]["text"].is_string()), (&json!(uri), true));
    }
    let error = world.refused("mcpServer/resource/read", json!({ "server": "nope", "uri": uri })).await;
    assert!(error.contains("there is no MCP server `nope`"), "{error}");

    let listed = world.call_own("mcpServer/prompt/list", json!({ "threadId": world.thread, "server": "with" })).await;
    let prompts = listed["data"].as_array().expect("prompts");
    let prompt = prompts.iter().find(|prompt| prompt["name"] == "args-prompt").expect("a prompt with arguments");
    assert_eq!((&prompt["server"], &prompt["arguments"][0]["name"]), (&json!("with"), &json!("city")));
    let all = world.call_own("mcpServer/prompt/list", json!({ "threadId": world.thread })).await;
    assert_eq!(all["data"].as_array().map(Vec::len), Some(prompts.len() * 3));
    let get =
        json!({ "threadId": world.thread, "server": "with", "name": "args-prompt", "arguments": { "city": "Oslo" } });
    let filled = world.call_own("mcpServer/prompt/get", get).await;
    assert!(filled["text"].as_str().expect("a text").contains("Oslo"), "{filled}");
    assert_eq!(filled["messages"][0]["role"], "user");
    let missing = json!({ "threadId": world.thread, "server": "with", "name": "nope" });
    assert!(!world.refused("mcpServer/prompt/get", missing).await.is_empty());
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_real_server_asks_the_model_if_the_user_agrees() {
    let Some(script) = everything() else { return };
    let (_web, port) = web_server(&script).await;
    let servers = format!(
        "[mcp_servers.with]\ncommand = 'node'\nargs = ['{0}']\nstartup_timeout_sec = 60\nsampling = 'ask'\n\
         default_tools_approval_mode = 'approve'\n\
         [mcp_servers.web]\nurl = 'http://127.0.0.1:{1}/mcp'\nstartup_timeout_sec = 60\nsampling = 'ask'\n\
         default_tools_approval_mode = 'approve'\n\
         [mcp_servers.without]\ncommand = 'node'\nargs = ['{0}']\nstartup_timeout_sec = 60\n",
        script.display(),
        port
    );
    let mut world = World::start(&servers, "on-request").await;
    let prompt = r#"RUN [[{"say":"words of the model"}]]"#;
    let args = json!({ "prompt": prompt, "maxTokens": 100_000 });
    let steps = |servers: &[&str]| {
        let call = |server: &&str| json!([{ "call": "trigger_sampling_request", "ns": format!("mcp__{server}"), "args": args }]);
        let mut steps: Vec<Value> = servers.iter().map(call).collect();
        steps.push(json!([{ "say": "done" }]));
        json!(steps)
    };
    let (accept, decline) = (json!({ "action": "accept", "content": {} }), json!({ "action": "decline" }));
    let played = world.turn(&steps(&["with", "with", "web"]), &[accept.clone(), decline, accept.clone()]).await;
    let question = &played.questions[0];
    let message = question["message"].as_str().expect("a message");
    assert!(message.starts_with("The MCP server with wants to ask the model "), "{message}");
    assert!(
        message.contains("(at most 4096 tokens)") && message.contains("> You are a helpful test server."),
        "{message}"
    );
    assert!(message.contains(prompt), "{message}");
    assert_eq!(question["_meta"]["trace_sampling"]["maxTokens"], 4096);
    let text = |item: &Value| item["result"]["content"].to_string();
    assert!(text(&played.items[0]).contains("words of the model"), "{:?}", played.items[0]);
    assert!(text(&played.items[1]).contains("the user declined"), "{:?}", played.items[1]);

    assert!(text(&played.items[2]).contains("words of the model"), "{:?}", played.items[2]);

    // A turn asks the model a few times at most.
    let played = world.turn(&steps(&["with"; 9]), &vec![accept; 8]).await;
    assert_eq!(played.questions.len(), 8);
    assert!(text(&played.items[7]).contains("words of the model"), "{:?}", played.items[7]);
    assert!(text(&played.items[8]).contains("at most 8 times"), "{:?}", played.items[8]);
    let listed = world.call("mcpServerStatus/list", json!({ "threadId": world.thread, "serverName": "without" })).await;
    assert!(listed["data"][0]["tools"]["trigger-sampling-request"].is_null(), "sampling is off by default");

    // Each answer is an inference call of the thread, and no part of its conversation.
    let state = world.state().await;
    let threads = state["threads"].as_object().expect("threads");
    assert_eq!(threads.len(), 1);
    let calls: Vec<_> = state["inference_calls"].as_object().expect("calls").values().collect();
    // Requests of the turns: 3 calls and the end, 9 calls and the end.
    assert_eq!(calls.len(), 4 + 10 + 10, "{calls:#?}");
    assert!(calls.iter().all(|call| call["execution"]["status"] == "completed"), "{calls:#?}");
}

/// Opens an address as a browser does, without blocking the tests.
async fn browse_in_background(address: &Value) -> u16 {
    let address = address.as_str().expect("an address").to_owned();
    tokio::task::spawn_blocking(move || browse(&address).0).await.expect("a browser")
}

/// Waits until a login has succeeded and the thread has connected to the server `web` again, in any order.
async fn connected_by_login(world: &mut World, begun: &Value) {
    let (mut is_ready, mut is_completed) = (false, false);
    while !(is_ready && is_completed) {
        let (_, method, params) = world.next().await;
        is_ready |=
            method == "mcpServer/startupStatus/updated" && params["name"] == "web" && params["status"] == "ready";
        if method == "mcpServer/oauthLogin/completed" {
            assert_eq!((&params["success"], &params["loginId"]), (&json!(true), &begun["loginId"]));
            is_completed = true;
        }
    }
}

#[tokio::test]
async fn a_client_logs_in_at_an_mcp_server() {
    let double = Double::start(Rules { device_waits: Some(1), ..Rules::default() });
    let servers = format!("[mcp_servers.web]\nurl = '{}'\nstartup_timeout_sec = 60\n{}", double.url(), toy(""));
    let mut world = World::start(&servers, "never").await;
    let mut settled = std::collections::BTreeMap::new();
    while settled.len() < 2 {
        let note = world.note("mcpServer/startupStatus/updated").await;
        if note["status"] != "starting" {
            settled.insert(note["name"].as_str().expect("a name").to_owned(), note);
        }
    }
    let failed = &settled["web"];
    assert_eq!(failed["failureReason"], "reauthenticationRequired");
    assert!(failed["error"].as_str().expect("why").contains("log in with `trace mcp login web`"), "{failed}");
    let statuses = async |world: &World| {
        let listed = world.call("mcpServerStatus/list", json!({ "threadId": world.thread })).await;
        let shown = |status: &Value| (status["authStatus"].clone(), status["runtimeStatus"].clone());
        listed["data"].as_array().expect("servers").iter().map(shown).collect::<Vec<_>>()
    };
    let pair = |auth: &str, run: &str| (json!(auth), json!(run));
    let of_toy = pair("unsupported", "connected");
    assert_eq!(statuses(&world).await, [of_toy.clone(), pair("notLoggedIn", "authenticationRequired")]);

    // The user declines.
    double.change(|rules| rules.denies = Some("access_denied"));
    let begun = world.call("mcpServer/oauth/login", json!({ "name": "web", "threadId": world.thread })).await;
    assert!(begun["userCode"].is_null(), "{begun}");
    assert_eq!(browse_in_background(&begun["authorizationUrl"]).await, 400);
    let completed = world.note("mcpServer/oauthLogin/completed").await;
    assert_eq!((&completed["success"], &completed["loginId"]), (&json!(false), &begun["loginId"]));
    assert_eq!((&completed["threadId"], &completed["name"]), (&json!(world.thread), &json!("web")));
    assert!(completed["error"].as_str().expect("why").contains("access_denied"), "{completed}");
    double.change(|rules| rules.denies = None);

    // Nobody comes in time.
    let replaced = world.call("mcpServer/oauth/login", json!({ "name": "web" })).await;
    let begun = world.call("mcpServer/oauth/login", json!({ "name": "web", "timeoutSecs": 1 })).await;
    let completed = world.note("mcpServer/oauthLogin/completed").await;
    assert_eq!((&completed["success"], &completed["loginId"]), (&json!(false), &replaced["loginId"]));
    assert_eq!(completed["error"], "another login at the MCP server `web` was begun");
    assert!(begun["loginId"].is_string(), "{begun}");
    let completed = world.note("mcpServer/oauthLogin/completed").await;
    assert_eq!(completed["error"], "nobody finished the login within 1 s");

    // The user agrees, and the thread connects by itself.
    let begun = world.call("mcpServer/oauth/login", json!({ "name": "web", "scopes": ["read", "write"] })).await;
    assert_eq!(browse_in_background(&begun["authorizationUrl"]).await, 200);
    connected_by_login(&mut world, &begun).await;
    assert_eq!(statuses(&world).await, [of_toy, pair("oAuth", "connected")]);
    let steps = json!([[{ "call": "hello", "ns": "mcp__web", "args": {} }], [{ "say": "done" }]]);
    let played = world.turn(&steps, &[]).await;
    assert_eq!(played.items[0]["result"]["content"][0]["text"], "hello");

    // A code for another device.
    let begun = world.call("mcpServer/oauth/login", json!({ "name": "web", "device": true })).await;
    assert_eq!(begun["userCode"], "ABCD-EFGH");
    assert!(begun["verificationUrl"].as_str().expect("an address").ends_with("/activate"), "{begun}");
    connected_by_login(&mut world, &begun).await;

    for (params, expected) in [
        (json!({ "name": "nope" }), "there is no MCP server `nope`; there are: toy-1, web"),
        (json!({ "name": "toy-1" }), "the MCP server `toy-1` is a program, which needs no login"),
        (json!({ "name": "web", "timeoutSecs": 0 }), "`timeoutSecs` must be above 0"),
        (
            json!({ "name": "web", "clientRegistration": "cimd" }),
            "this program cannot be registered at http://127.0.0.1:",
        ),
    ] {
        let error = world.refused("mcpServer/oauth/login", params).await;
        assert!(error.starts_with(expected), "{error}");
    }

    // A connection over HTTP is made again by a reload.
    let before = double.seen().len();
    world.call("config/mcpServer/reload", Value::Null).await;
    while world.status().await.0 != "ready" {}
    assert!(double.seen().len() > before);
    let state = world.state().await.to_string();
    for secret in double.secrets() {
        assert!(!state.contains(&secret), "{secret} is recorded");
    }
}
