//! `trace serve` with real clients, under load, killed, and with a failing model provider.
//!
//! The scripts beside this file drive the Codex terminal client and two Python SDKs (see the README there). They need a
//! Python with the clients' packages (`TRACE_PYTHON`), the binary of the Codex CLI (`TRACE_PEER`) and tmux. `.ci/run`
//! installs them. Without them, a test reports that it is skipped. The tests run one after the other, since clients
//! have time limits and some checks of the probe measure times.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

#[test]
fn the_python_sdk_works() {
    run_client(script("python_sdk.py", &["jsonschema", "websockets", "openai_codex"]));
}

#[test]
fn the_websocket_sdk_works() {
    run_client(script("websocket_sdk.py", &["jsonschema", "websockets", "codex_app_server_sdk"]));
}

#[test]
fn the_conformance_probe_passes() {
    if let Some(mut command) = script("protocol_probe.py", &["jsonschema", "websockets"]) {
        // The probe was written for the peer with a configuration in which the user is not asked unless a thread asks
        // for it.
        run(command.args(["--cmd", &format!("'{TRACE}' serve -c approval_policy=never"), "--profile", "project"]));
    }
}

/// Runs a client of `samples/clients` with a prompt whose command needs an approval, and answers with a line.
fn ask(client: &mut Command, answer: &str) -> String {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().expect("a directory");
    let script = r#"RUN [[{"say":"Let me look.","phase":"commentary"},{"call":"exec_command","args":{"cmd":"echo $((6*7))"}}],[{"say":"Done."}]]"#;
    let mut client = client
        .env("TRACE_HOME", place.path().join("home"))
        .env("HOME", place.path())
        .args(["--server", &format!("'{TRACE}' serve --provider scripted -c approval_policy=untrusted"), "--cwd"])
        .arg(place.path())
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client starts");
    client.stdin.take().expect("a pipe").write_all(answer.as_bytes()).expect("writes");
    let output = client.wait_with_output().expect("the client ends");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// Holds what a client prints against the turn that it ran.
fn check_sample_client(client: &dyn Fn() -> Command) {
    let allowed = ask(&mut client(), "y\n");
    for text in ["Let me look.\n? run `", "[completed, exit code 0]\n  42\n", "Done.\nturn completed\n"] {
        assert!(allowed.contains(text), "{text:?} is missing:\n{allowed}");
    }
    let declined = ask(&mut client(), "n\n");
    assert!(declined.contains("[declined, exit code "), "{declined}");
    assert!(!declined.contains("42"), "{declined}");
}

fn samples() -> PathBuf {
    trace_needs::repository().join("samples/clients")
}

#[test]
fn the_sample_client_in_python_works() {
    let what = "the sample client in Python is not run";
    let Some(python) = trace_needs::python(&["typing"], what) else { return };
    check_sample_client(&|| {
        let mut client = Command::new(&python);
        client.env("PYTHONDONTWRITEBYTECODE", "1").arg(samples().join("python/client.py"));
        client
    });
}

#[test]
fn types_for_python_are_those_of_the_schema() {
    let what = "types for Python are not made and checked";
    let Some(python) = trace_needs::python(&["mypy"], what) else { return };
    let docs = trace_needs::repository().join("docs/protocol");
    let mut generate = Command::new(&python);
    let made = generate.arg(docs.join("python/generate.py")).arg(docs.join("schema.stable.json")).output();
    let made = made.expect("Python starts");
    let kept = std::fs::read(docs.join("python/trace_protocol.py")).expect("reads");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(made.stdout == kept, "make docs/protocol/python/trace_protocol.py again, as its first line says");
    let cache = tempfile::tempdir().expect("a directory");
    let mut mypy = Command::new(&python);
    mypy.env("MYPYPATH", docs.join("python"));
    mypy.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache.path());
    run(mypy.args([docs.join("python"), samples().join("python/client.py")]));
}

#[test]
fn the_sample_client_in_typescript_works() {
    let what = "the sample client in TypeScript is not compiled and run";
    let Some(node) = trace_needs::node(what) else { return };
    let Some(modules) = trace_needs::node_modules(&["typescript", "@types/node"], what) else { return };
    let folder = tempfile::tempdir().expect("a directory");
    let compile = |options: &[&str]| {
        let mut compiler = Command::new(&node);
        compiler.arg(modules.join("typescript/bin/tsc")).arg("-p").arg(samples().join("typescript"));
        run(compiler.arg("--typeRoots").arg(modules.join("@types")).args(options));
    };
    compile(&[]);
    let folder_name = folder.path().to_str().expect("UTF-8");
    compile(&["--noEmit", "false", "--noCheck", "--noResolve", "--outDir", folder_name]);
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("writes");
    check_sample_client(&|| {
        let mut client = Command::new(&node);
        client.arg(folder.path().join("client.js"));
        client
    });
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
