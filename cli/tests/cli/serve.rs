//! How the process of `trace serve` ends.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::support::Place;

/// Sends a signal to a process.
fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
fn a_signal_is_heard_as_soon_as_the_server_can_be_known() {
    let place = Place::new();
    let socket = place.path("s.sock");
    for name in ["-TERM", "-INT", "-TERM", "-INT"] {
        let mut server = place
            .command(&["serve", "--provider", "scripted", "--home", "home", "--listen", "unix://s.sock"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut banner = BufReader::new(server.stderr.take().expect("a pipe"));
        let mut first = String::new();
        banner.read_line(&mut first).expect("text");
        signal(name, server.id());
        assert!(first.starts_with("listening on: unix://"), "{first}");
        let status = server.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{name}: {status}");
        assert!(!socket.exists(), "{name}");
    }
}

/// Runs a turn with this input, and returns what was printed.
fn run_with(input: &str, arguments: &[&str]) -> String {
    let place = Place::new();
    let words = [&["run", "--provider", "scripted", "--no-trace", "--json"], arguments].concat();
    let mut child = place.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_prompt_comes_from_stdin_and_piped_input_is_added_to_a_prompt() {
    let script = r#"RUN [[{"say":"it is read"}]]"#;
    for arguments in [&[][..], &["-"]] {
        let told = run_with(script, arguments);
        assert!(told.contains("it is read") && !told.contains("<stdin>"), "{told}");
    }
    let told = run_with("a diff\n", &["-s", "read-only", "-a", "never", script]);
    assert!(told.contains(r#"]]\n\n<stdin>\na diff\n</stdin>""#) && told.contains("it is read"), "{told}");
    assert!(!run_with("", &[script]).contains("<stdin>"), "nothing is added");
}

#[test]
fn commands_see_no_keys_of_providers() {
    let place = Place::new();
    std::fs::create_dir(place.path("home")).expect("a folder");
    let config = "[model_providers.mine]\nbase_url = \"http://127.0.0.1:9\"\nenv_key = \"A_KEY\"\nenv_http_headers = { x-key = \"ANOTHER_KEY\" }\n";
    std::fs::write(place.path("home/config.toml"), config).expect("writes");
    let script = r#"RUN [[{"call":"exec_command","args":{"cmd":"echo seen: $A_KEY $ANOTHER_KEY $OPENAI_API_KEY $A_WORD","yield_time_ms":30000}}],[{"say":"done"}]]"#;
    let output = place
        .command(&[
            "run",
            "--json",
            "--provider",
            "scripted",
            "--home",
            "home",
            "--sandbox",
            "danger-full-access",
            script,
        ])
        .envs([("A_KEY", "secret"), ("ANOTHER_KEY", "secret"), ("OPENAI_API_KEY", "secret"), ("A_WORD", "word")])
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("seen: word") && !told.contains("secret"), "{output:?}");
}

/// Runs `trace serve` with options that it refuses, and returns its exit code and the first line on stderr.
fn refused(place: &Place, more: &[&str]) -> (Option<i32>, String) {
    let words = [&["serve", "--provider", "scripted", "--home", "home"], more].concat();
    let output = place.command(&words).stdin(Stdio::null()).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    (output.status.code(), told)
}

#[test]
fn the_web_client_needs_an_address_and_a_private_token() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    let web = ["--listen", "ws://127.0.0.1:0", "--web"];
    let with = |more: &[&'static str]| [&web[..], more].concat();
    let (code, told) = refused(&place, &["--web"]);
    assert_eq!((code, told.contains("--listen ws://IP:PORT")), (Some(2), true), "{told}");
    let (code, told) = refused(&place, &["--listen", "unix://s.sock", "--web"]);
    assert_eq!((code, told.contains("--listen ws://IP:PORT")), (Some(2), true), "{told}");
    let (code, told) = refused(&place, &with(&["--web-host", "https://phone.example"]));
    assert_eq!((code, told.contains("https://phone.example")), (Some(2), true), "{told}");
    std::fs::write(place.path("token"), "0123456789abcdef0123456789abcdef").expect("writes");
    std::fs::set_permissions(place.path("token"), std::fs::Permissions::from_mode(0o644)).expect("set");
    let (code, told) = refused(&place, &with(&["--web-token-file", "token"]));
    assert_eq!((code, told.contains("mode 644")), (Some(2), true), "{told}");
    std::fs::set_permissions(place.path("token"), std::fs::Permissions::from_mode(0o600)).expect("set");
    std::fs::write(place.path("token"), "too short").expect("writes");
    let (code, told) = refused(&place, &with(&["--web-token-file", "token"]));
    assert_eq!((code, told.contains("at least 32 hexadecimal digits")), (Some(2), true), "{told}");
}
