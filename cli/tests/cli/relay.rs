//! `trace relay`, and `trace serve --remote`.

#![cfg(unix)]

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Stdio};

use crate::support::Place;

/// A program that runs until it is asked to end.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Running {
    fn start(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = place
            .command(arguments)
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// Returns the next line on stderr with a text.
    fn until(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.expect("text");
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("`{text}` is not told: {seen:#?}")
    }

    fn end(mut self) {
        let status = std::process::Command::new("kill").arg(self.child.id().to_string()).status().expect("kill runs");
        assert!(status.success());
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

/// Keeps the token of a server in a file that only its owner can read.
fn keep(place: &Place, token: &str) {
    let path = place.path("token");
    std::fs::write(&path, token).expect("writes");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("sets the mode");
}

#[test]
fn devices_are_added_paired_and_revoked() {
    let place = Place::new();
    std::fs::create_dir(place.path("home")).expect("a folder");
    let ran = place.run(&["relay", "list"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "no devices; `trace relay add DEVICE` adds one\n"));
    let ran = place.run(&["relay", "add", "laptop"]);
    let token = ran.stdout.trim();
    assert!(ran.code == 0 && token.len() == 64, "{ran:?}");
    assert!(!place.read("home/devices.json").contains(token), "only its digest is stored");
    assert_eq!(place.run(&["relay", "list"]).stdout, "laptop\n");
    let ran = place.run(&["relay", "pair", "laptop", "--days", "3"]);
    let code = ran.stdout.trim();
    assert!(ran.code == 0 && code.len() == 9 && code.as_bytes()[4] == b'-', "{ran:?}");
    assert!(ran.stderr.starts_with("good once, for 10 minutes, and until 5 wrong codes were tried"), "{ran:?}");
    for (arguments, code, why) in [
        (&["relay", "add", "laptop"][..], 2, "the device `laptop` exists"),
        (&["relay", "add", "a/b"], 2, "`a/b` is not a name"),
        (&["relay", "pair", "other"], 2, "there is no device `other`; there are: laptop"),
        (&["relay", "revoke", "laptop", "phone"], 2, "the device `laptop` has no client `phone`"),
        (&["relay"], 2, "--listen names no address"),
        (&["relay", "--listen", "ws://localhost:1"], 2, "expected wss://IP:PORT"),
        (&["relay", "--listen", "wss://127.0.0.1:0"], 2, "wss:// needs --tls-cert and --tls-key"),
        (&["relay", "--listen", "ws://0.0.0.0:0"], 1, "refusing to listen on 0.0.0.0:0 without TLS"),
        (&["serve", "--remote", "ws://127.0.0.1:1"], 2, "--device-token-file"),
        (&["serve", "--remote", "ws://192.0.2.1:1", "--device-token-file", "token"], 2, "is not encrypted"),
        (&["serve", "--remote", "ws://127.0.0.1:1", "--device-token-file", "none"], 2, "cannot read none"),
    ] {
        keep(&place, token);
        let ran = place.run(arguments);
        assert!(ran.code == code && ran.stderr.contains(why), "{arguments:?}: {ran:?}");
    }
    std::fs::set_permissions(place.path("token"), Permissions::from_mode(0o640)).expect("sets the mode");
    let ran = place.run(&["serve", "--remote", "ws://127.0.0.1:1", "--device-token-file", "token"]);
    assert!(ran.code == 2 && ran.stderr.contains("others can read token (mode 640)"), "{ran:?}");
    assert_eq!(place.run(&["relay", "revoke", "laptop"]).code, 0);
    assert_eq!(place.run(&["relay", "list"]).stdout, "");
}

#[test]
fn a_server_dials_a_relay_over_tls() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/relay");
    let (certificate, key) = (format!("{folder}/certificate.pem"), format!("{folder}/key.pem"));
    let ran = place.run(&["relay", "--devices", "devices.json", "add", "laptop"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    keep(&place, &ran.stdout);
    let listen = ["relay", "--listen", "wss://127.0.0.1:0", "--devices", "devices.json"];
    let mut relay =
        Running::start(&place, &[&listen[..], &["--tls-cert", &certificate, "--tls-key", &key]].concat(), &[]);
    let line = relay.until("relaying on: wss://127.0.0.1:");
    let port = line.rsplit(':').next().expect("a port");
    let url = format!("wss://localhost:{port}");
    let serve = ["serve", "--provider", "scripted", "--remote", &url, "--device-token-file", "token"];
    let mut server = Running::start(&place, &serve, &[("SSL_CERT_FILE", &certificate)]);
    assert_eq!(server.until("remote:"), format!("  remote: {url}: connected"));
    // Without the certificate, the relay is not trusted.
    let mut stranger = Running::start(&place, &[&serve[..], &["--home", "other"]].concat(), &[]);
    let why = stranger.until("remote:");
    assert!(why.contains("not connected, trying again") && why.contains("certificate"), "{why}");
    stranger.end();
    assert_eq!(place.run(&["relay", "--devices", "devices.json", "revoke", "laptop"]).code, 0);
    let why = server.until("the relay does not accept the device token");
    assert!(why.contains("the token is no longer valid"), "{why}");
    server.end();
    relay.end();
}
