//! `trace view`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Place, troubled};

/// Returns a JSON document that is embedded in a page.
fn data(page: &str, id: &str) -> Value {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).expect("the page has it");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn a_file_has_all_of_a_small_session() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["view", "bundle", "-o", "page.html"]), @"");
    let page = place.read("page.html");
    let structure = data(&page, "structure");
    assert_eq!(structure["session"]["name"], "bundle");
    assert_eq!(structure["session"]["status"], "failed");
    assert_eq!(structure["order"].as_array().map(Vec::len), Some(4));
    assert!(data(&page, "bodies")["bodies"].as_object().expect("a map").values().all(Value::is_object));

    let again = place.run(&["view", "bundle", "-o", "-"]);
    assert!(again.stdout == page, "equal sessions make equal pages");
}

#[test]
fn what_does_not_fit_is_told() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["view", "bundle", "-o", "page.html", "--embed", "100"]), @r#"
    --- stderr
    note: 20 texts and payloads are not in the file: too large for it, or unreadable; without -o the page has all it can read
    "#);
    assert!(
        data(&place.read("page.html"), "bodies")["bodies"].as_object().expect("a map").values().any(Value::is_null)
    );
}

#[test]
fn a_recording_is_not_overwritten() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let log = place.read("bundle/trace.jsonl");
    assert_snapshot!(place.run(&["view", "bundle", "-o", "bundle/trace.jsonl"]), @r#"
    --- stderr
    error: bundle/trace.jsonl belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    "#);
    assert_eq!(place.read("bundle/trace.jsonl"), log);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_into() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    std::os::unix::fs::symlink("/dev/null", place.path("nowhere")).expect("links");
    for command in [&["view", "bundle"][..], &["graph", "bundle", "--format", "dot"]] {
        let ran = place.run(&[command, &["-o", "nowhere"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}");
        assert!(place.path("nowhere").is_symlink() && !place.path("nowhere").is_file(), "{command:?}");
    }
}

#[test]
fn a_served_page_is_at_an_address_of_its_own() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let mut child =
        place.command(&["view", "bundle"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().expect("stdout")).read_line(&mut url).expect("an address");
    let rest = url.trim_end().strip_prefix("http://127.0.0.1:").expect("the loopback interface");
    let (port, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("connects");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").expect("asks");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    child.kill().expect("ends");
    child.wait().expect("ended");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("<title>bundle</title>"));
}

#[test]
fn wrong_usage_is_told() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["view", "bundle", "--embed", "1M"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      --output <FILE>

    Usage: trace view --output <FILE> --embed <SIZE> <BUNDLE>

    For more information, try '--help'.
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["view", "bundle", "-o", "page.html", "--port", "80"]), @r#"
    --- stderr
    error: the argument '--output <FILE>' cannot be used with '--port <PORT>'

    Usage: trace view --output <FILE> <BUNDLE>

    For more information, try '--help'.
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["view", "nowhere"]), @r"
    --- stderr
    error: there is no file nowhere, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["view", "bundle", "-o", "no/such/folder.html"]), @r#"
    --- stderr
    error: cannot write no/such/folder.html: No such file or directory (os error 2)
    --- exit code 1
    "#);
}
