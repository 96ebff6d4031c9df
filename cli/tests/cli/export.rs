//! `trace export`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use insta::assert_snapshot;

use crate::support::{Place, Ran, sample, troubled};

#[test]
fn a_session_becomes_a_file_beside_its_bundle() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["export", "bundle"]), @r#"
    wrote bundle.perfetto-trace
      open it in https://ui.perfetto.dev, which reads it in the browser and uploads nothing
    "#);
    assert_snapshot!(place.run(&["export", "bundle/", "--format", "chrome"]), @r#"
    wrote bundle.chrome.json
    "#);
    assert_snapshot!(place.run(&["export", "bundle", "--format", "otlp"]), @r#"
    wrote bundle.otlp.jsonl
    "#);
    assert_eq!(place.names("."), ["bundle", "bundle.chrome.json", "bundle.otlp.jsonl", "bundle.perfetto-trace"]);
    assert!(place.json("bundle.chrome.json")["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
    assert!(place.json("bundle.otlp.jsonl")["resourceSpans"].is_array());
}

#[test]
fn stdout_gets_nothing_but_the_trace() {
    let place = Place::new();
    let bundle = sample("three-children");
    let Ran { code, stdout, stderr } = place.run(&["export", &bundle, "--format", "otlp", "-o", "-"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for line in stdout.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    }
    assert!(!stdout.contains("Wicks are counted"));
    let Ran { stdout, .. } = place.run(&["export", &bundle, "--format", "otlp", "-o", "-", "--content"]);
    assert!(stdout.contains("Wicks are counted"));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = Place::new();
    let bundle = sample("one-agent");
    assert_snapshot!(place.run(&["export", &bundle, "--content"]), @r#"
    --- stderr
    error: --content needs --format otlp
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["export", &bundle, "--endpoint", "http://localhost:4318"]), @r#"
    --- stderr
    error: --endpoint needs --format otlp
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["export", &bundle, "--format", "otlp", "--endpoint", "localhost:4318"]), @r#"
    --- stderr
    error: "localhost:4318" is not the address of a collector: it does not begin with http:// or https://
    hint: collectors listen on http://localhost:4318 by default
    --- exit code 2
    "#);
    let with_header = ["export", &bundle, "--format", "otlp", "--endpoint", "http://localhost", "--header", "secret"];
    assert_snapshot!(place.run(&with_header), @r#"
    --- stderr
    error: a header is NAME=VALUE
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["export", "nothing"]), @r"
    --- stderr
    error: there is no file nothing, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
}

#[test]
fn a_recording_is_not_overwritten() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["export", "bundle", "-o", "bundle/trace.jsonl"]), @r#"
    --- stderr
    error: bundle/trace.jsonl belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    "#);
}

/// Listens on the loopback interface, accepts one request, and returns its head in lower case.
fn collector() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let listening = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).expect("reads") > 0);
        }
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.expect("a length")];
        reader.read_exact(&mut body).expect("reads");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").expect("answers");
        head
    });
    (address, listening)
}

#[test]
fn a_collector_gets_spans() {
    let (address, listening) = collector();
    let place = Place::new();
    let ran = place.run(&[
        "export",
        &sample("one-agent"),
        "--format",
        "otlp",
        "--endpoint",
        &address,
        "--header",
        "authorization=Bearer abc",
    ]);
    let head = listening.join().expect("answers");
    assert!(head.starts_with("post /v1/traces ") && head.contains("authorization: bearer abc\r\n"), "{head}");
    let Ran { code, stdout, stderr } = ran;
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_snapshot!(stdout.replace(&address, "ADDRESS"), @r#"
    sent 13 spans in 1 request to ADDRESS/v1/traces
    "#);
}

#[test]
fn headers_of_the_environment_are_overridden() {
    let (address, listening) = collector();
    let place = Place::new();
    let bundle = sample("one-agent");
    let arguments = ["export", &bundle, "--format", "otlp", "--endpoint", &address, "--header", "x-key=given"];
    let output = place
        .command(&arguments)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "X-Key=found, authorization=Bearer%20abc")
        .output()
        .expect("runs");
    assert!(output.status.success(), "{output:?}");
    let head = listening.join().expect("answers");
    assert!(head.contains("x-key: given\r\n") && !head.contains("found"), "{head}");
    assert!(head.contains("authorization: bearer abc\r\n"), "{head}");

    let mut wrong = place.command(&arguments);
    let output = wrong.env("OTEL_EXPORTER_OTLP_HEADERS", "secret").output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("OTEL_EXPORTER_OTLP_HEADERS is not of the form") && !stderr.contains("secret"), "{stderr}");
}

#[test]
fn nobody_there_is_a_failure_with_a_hint() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let place = Place::new();
    let ran = place.run(&["export", &sample("one-agent"), "--format", "otlp", "--endpoint", &address]);
    let Ran { code, stdout, stderr } = ran;
    assert_eq!((code, stdout.as_str()), (1, ""));
    let stderr = stderr.replace(&address, "ADDRESS");
    assert!(stderr.starts_with("error: no answer from ADDRESS/v1/traces after 0 spans: "), "{stderr}");
    assert!(stderr.contains("hint: is a collector with an OTLP receiver for HTTP there?"), "{stderr}");
}
