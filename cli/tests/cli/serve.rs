//! `trace serve` as a process: how it ends.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::Place;

/// Sends a process a signal that it can catch.
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
