//! `trace serve` with real clients, under load, killed, and with a broken model provider.
//!
//! The scripts beside this file drive the Codex terminal client and two Python SDKs (see the README there). They need a Python
//! with the clients' packages (`TRACE_PYTHON`), the Codex CLI's own binary (`TRACE_PEER`), tmux, and the schemas and tools in
//! `../shared`. `.ci/run` installs them. Without them, a test says that it is skipped. The tests run one after the other:
//! clients have limits of their own, and some checks of the probe look at times.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trace_trials::{Profile, ServerCommand, burst, kill, provider};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const TRACE: &str = env!("CARGO_BIN_EXE_trace");

/// Kills in a run of the tests. `kill-server` does more.
const KILLS: usize = 10;

/// Requests of a burst.
const BURST: usize = 20_000;

/// What the machine may not have.
struct Tools {
    python: PathBuf,
    shared: PathBuf,
}

impl Tools {
    /// Finds the tools, or says what is missing. `modules` are Python's.
    fn find(modules: &[&str]) -> Result<Self, String> {
        let python = env::var_os("TRACE_PYTHON").map(PathBuf::from).ok_or("TRACE_PYTHON names no Python")?;
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
        if !shared.join("tools/protocol_probe.py").is_file() {
            return Err("there are no tools and schemas beside the repository".to_owned());
        }
        let imports = format!("import {}", modules.join(", "));
        let found = Command::new(&python).args(["-c", &imports]).output();
        if !found.is_ok_and(|output| output.status.success()) {
            return Err(format!("{} has not all of {}", python.display(), modules.join(", ")));
        }
        Ok(Self { python, shared })
    }
}

/// Runs a script, and shows what it says if it fails.
#[expect(clippy::print_stderr, reason = "what a script says belongs to the test")]
fn run(command: &mut Command) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = command.output().expect("the script starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}");
    eprintln!("{}", said.trim_end());
}

#[expect(clippy::print_stderr, reason = "what is skipped is said aloud")]
fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Returns the command that runs a script of this folder against the binary.
fn script(tools: &Tools, name: &str) -> Command {
    let mut command = Command::new(&tools.python);
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name))
        .args(["--server", &format!("'{TRACE}' serve"), "--trace", TRACE])
        .arg("--shared")
        .arg(&tools.shared);
    command
}

#[test]
fn the_codex_terminal_client_works() {
    let Some(peer) = env::var_os("TRACE_PEER") else { return skip("TRACE_PEER names no Codex CLI") };
    if !Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
        return skip("there is no tmux");
    }
    match Tools::find(&["jsonschema", "websockets"]) {
        Ok(tools) => run(script(&tools, "terminal_client.py").arg("--peer").arg(peer)),
        Err(why) => skip(&why),
    }
}

#[test]
fn the_python_sdk_works() {
    match Tools::find(&["jsonschema", "websockets", "openai_codex"]) {
        Ok(tools) => run(&mut script(&tools, "python_sdk.py")),
        Err(why) => skip(&why),
    }
}

#[test]
fn the_websocket_sdk_works() {
    match Tools::find(&["jsonschema", "websockets", "codex_app_server_sdk"]) {
        Ok(tools) => run(&mut script(&tools, "websocket_sdk.py")),
        Err(why) => skip(&why),
    }
}

#[test]
fn the_conformance_probe_passes() {
    match Tools::find(&["jsonschema", "websockets"]) {
        Ok(tools) => run(Command::new(&tools.python)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg(tools.shared.join("tools/protocol_probe.py"))
            // The probe expects, as the peer's configuration in it says, that nobody is asked unless a thread says otherwise.
            .args(["--cmd", &format!("'{TRACE}' serve -c approval_policy=never"), "--profile", "project"])),
        Err(why) => skip(&why),
    }
}

fn server() -> ServerCommand {
    ServerCommand::parse(&format!("'{TRACE}' serve"), Profile::Trace).expect("a command")
}

/// Runs a trial, and shows its report.
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
        peer: env::var_os("TRACE_PEER").map(PathBuf::from),
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
