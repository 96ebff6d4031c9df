//! What happens to a command when the program is asked to end, or is killed.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use trace_needs::{Need, skip};
use trace_runtime::sandbox::{Bubblewrap, ControlGroups, availability};

use crate::support::Place;

/// How long a test waits before it fails.
const TIMEOUT: Duration = Duration::from_secs(60);

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a turn whose command creates a repository with a configuration that would run a program, and then sleeps.
/// `seconds` identifies the command among all processes.
fn plant(place: &Place, seconds: &str) -> Child {
    std::fs::create_dir(place.path("work")).expect("a folder");
    let line = format!("git init -q new && git -C new config core.fsmonitor ./x && touch ready && sleep {seconds}");
    let call = json!([[{"call": "exec_command", "args": {"cmd": line, "yield_time_ms": 30000}}], [{"say": "done"}]]);
    let script = format!("RUN {call}");
    let words = [
        "run",
        "--provider",
        "scripted",
        "--no-trace",
        "--sandbox",
        "workspace-write",
        "--approval",
        "never",
        "-C",
        "work",
    ];
    let mut command = place.command(&[&words[..], &[&script]].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    wait_until("the command runs", || place.path("work/ready").exists());
    child
}

fn runs(seconds: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("a folder").flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line == format!("sleep\0{seconds}\0").into_bytes())
}

#[test]
fn an_end_by_a_signal_is_looked_after() {
    if let Err(error) = availability() {
        return skip(Need::Sandbox, format_args!("what a killed server leaves of confined commands: {error}"));
    }
    for (number, (name, code)) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)].into_iter().enumerate() {
        let place = Place::new();
        let seconds = format!("{}.{number}", 1000 + std::process::id());
        let mut child = plant(&place, &seconds);
        signal(name, child.id());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{name}: {status}");
        assert!(place.path("work/new/.git/config.untrusted").exists(), "{name}");
        assert!(!place.read("work/new/.git/config").contains("fsmonitor"), "{name}");
        assert!(!runs(&seconds), "{name}");
        assert_eq!(place.names("home/watched"), [""; 0], "{name}");
    }
}

#[test]
fn what_a_killed_server_left_is_looked_at_by_the_next() {
    if let Err(error) = availability() {
        return skip(Need::Sandbox, format_args!("what a killed server leaves of confined commands: {error}"));
    }
    let place = Place::new();
    let seconds = format!("{}.9", 1000 + std::process::id());
    let mut child = plant(&place, &seconds);
    assert_eq!(place.names("home/watched").len(), 1);
    signal("-KILL", child.id());
    assert_eq!(child.wait().expect("it ends").signal(), Some(9));
    let ran = place.run(&["run", "--provider", "scripted", "--no-trace", "-C", "work", "RUN [[{\"say\": \"hello\"}]]"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.stderr.contains("a server was killed while a command ran. ") && ran.stderr.contains("put aside"),
        "{ran}"
    );
    assert!(place.path("work/new/.git/config.untrusted").exists());
    assert_eq!(place.names("home/watched"), [""; 0]);
    let bubblewrap = Bubblewrap::Auto.find().expect("it is not required");
    if bubblewrap.is_some() || ControlGroups::find().are_there() {
        wait_until("the command ends", || !runs(&seconds));
    } else {
        skip(Need::ControlGroups, "the end of a command whose server was killed, without bubblewrap");
    }
    // The finding is reported once.
    let ran = place.run(&["run", "--provider", "scripted", "--no-trace", "-C", "work", "RUN [[{\"say\": \"hello\"}]]"]);
    assert!(!ran.stderr.contains("killed"), "{ran}");
}

#[test]
fn a_closed_terminal_ends_a_server_unless_it_is_told_to_stay() {
    for is_ignored in [false, true] {
        let place = Place::new();
        let words = ["serve", "--provider", "scripted", "--home", "home", "--listen", "unix://s.sock"];
        let plain = place.command(&words);
        let mut server = Command::new(if is_ignored { "nohup" } else { "env" });
        server.arg(plain.get_program()).args(plain.get_args()).current_dir(place.path("")).stdin(Stdio::null());
        let mut server = server.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(server.stderr.take().expect("a pipe")).lines();
        lines.map_while(Result::ok).find(|line| line.starts_with("listening on")).expect("it listens");
        signal("-HUP", server.id());
        if is_ignored {
            std::thread::sleep(Duration::from_millis(200));
            assert!(server.try_wait().expect("can be asked").is_none());
            signal("-TERM", server.id());
        }
        let status = server.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{status}");
        assert!(!place.path("s.sock").exists());
    }
}
