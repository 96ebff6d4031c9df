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
        (
            &["relay", "connect", "ws://127.0.0.1:1", "--token-file", "token", "--listen", "off"],
            2,
            "cannot listen on `off`",
        ),
        (
            &["relay", "connect", "ws://192.0.2.1:1", "--token-file", "token", "--listen", "unix://s"],
            2,
            "is not encrypted",
        ),
        (
            &["relay", "connect", "ws://127.0.0.1:1", "--token-file", "none", "--listen", "unix://s"],
            2,
            "cannot read none",
        ),
        (
            &[
                "relay",
                "connect",
                "ws://127.0.0.1:1",
                "--token-file",
                "token",
                "--seal",
                "keys",
                "--listen",
                "unix://s",
            ],
            2,
            "this is no sealing code",
        ),
        (&["serve", "seal", "revoke", "phone"], 2, "there is no sealed client `phone`"),
        (&["serve", "--sealed-only"], 2, "--remote"),
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
    assert!(ran.code == 2 && ran.stderr.contains("other users can read token (mode 640)"), "{ran:?}");
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

#[test]
fn a_client_is_sealed_by_a_program_beside_it() {
    let place = Place::new();
    let added = place.run(&["relay", "--devices", "devices.json", "add", "laptop"]);
    keep(&place, &added.stdout);
    let mut relay =
        Running::start(&place, &["relay", "--listen", "ws://127.0.0.1:0", "--devices", "devices.json"], &[]);
    let line = relay.until("relaying on: ws://127.0.0.1:");
    let address = line.rsplit('/').next().expect("an address").to_owned();
    let url = format!("ws://{address}");
    let serve = ["serve", "--provider", "scripted", "--remote", &url, "--device-token-file", "token", "--sealed-only"];
    let mut server = Running::start(&place, &serve, &[]);
    server.until("connected");

    // Two codes: one of the relay for a token, and one of the server for the keys.
    let code = place.run(&["relay", "--devices", "devices.json", "pair", "laptop"]).stdout;
    let paired = post(&address, &format!(r#"{{"code":"{}","name":"phone"}}"#, code.trim()));
    let token = paired.split(r#""token":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let path = place.path("phone.token");
    std::fs::write(&path, token).expect("writes");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("sets the mode");
    let ran = place.run(&["serve", "seal", "add", "phone"]);
    let code = ran.stdout.trim();
    assert!(ran.code == 0 && code.len() == 34 && ran.stderr.starts_with("good for one client"), "{ran:?}");
    assert!(!place.read("home/sealing.json").contains(&code[..9]), "the code itself is not stored");
    assert_eq!(place.run(&["serve", "seal", "list"]).stdout, "phone  has not used its code yet\n");

    let connect = [
        "relay",
        "connect",
        &url,
        "--token-file",
        "phone.token",
        "--seal",
        "phone.keys",
        "--listen",
        "ws://127.0.0.1:0",
    ];
    let start = |code: &str| {
        let mut child = place
            .command(&connect)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), format!("{code}\n").as_bytes())
            .expect("writes");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Running { child, lines }
    };
    // No server answers to a wrong code, so another one can be given, or the last one kept.
    let wrong: String = code.chars().rev().collect();
    let mut program = start(&wrong);
    assert!(program.until("listening on: ").starts_with("sealing code: "));
    program.end();
    let kept = place.read("phone.keys");
    let mut program = start("");
    assert!(program.until("listening on: ").starts_with("no server has answered to the sealing code yet"));
    program.end();
    assert_eq!(place.read("phone.keys"), kept);
    let mut program = start(code);
    let line = program.until("listening on: ws://127.0.0.1:");
    let local = line.rsplit('/').next().expect("an address").to_owned();
    let mode = std::fs::metadata(place.path("phone.keys")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = WebSocket::open(&local);
    client.send(r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}"#);
    assert!(client.receive().contains(r#""id":1,"result":"#));
    assert_eq!(program.until("a client"), "  a client is connected, sealed");
    assert_eq!(place.run(&["serve", "seal", "list"]).stdout, "phone  sealed\n");
    assert_eq!(place.run(&["serve", "seal", "revoke", "phone"]).code, 0);
    // Notifications may come before.
    while !client.receive().contains("the sealing code of the client was revoked") {}
    program.until("a client's stream has ended: the server has ended the stream");
    drop(client);
    program.end();
    server.end();
    relay.end();
}

/// Sends a request with a body, and returns the answer.
fn post(address: &str, body: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let request =
        format!("POST /pair HTTP/1.1\r\nHost: relay\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).expect("text");
    answer
}

/// A WebSocket with what this test needs of one: texts of few bytes from the client, and of any length to it.
struct WebSocket(std::net::TcpStream);

impl WebSocket {
    fn open(address: &str) -> Self {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
        let mut socket = Self(stream);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(socket.read(1));
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        socket
    }

    fn read(&mut self, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        std::io::Read::read_exact(&mut self.0, &mut content).expect("it comes");
        content
    }

    fn send(&mut self, text: &str) {
        let length = u8::try_from(text.len()).expect("short");
        assert!(length < 126, "{text}");
        // The mask is zero.
        let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
        std::io::Write::write_all(&mut self.0, &frame).expect("it reads");
    }

    fn receive(&mut self) -> String {
        let head = self.read(2);
        let length = match head[1] {
            126 => usize::from(u16::from_be_bytes(self.read(2).try_into().expect("2 bytes"))),
            127 => panic!("it is short"),
            length => usize::from(length),
        };
        String::from_utf8(self.read(length)).expect("text")
    }
}
