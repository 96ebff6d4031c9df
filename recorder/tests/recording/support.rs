//! Helpers for the tests of the writer.

use std::path::Path;

use serde_json::Value;
use trace_recorder::Bundle;
use trace_recorder::write::{BundleWriter, NewSession, TraceRoot, WriterOptions};

/// The type of `None` for methods with an optional payload.
pub(crate) type NoBody = trace_recorder::write::RawJson;

/// Starts a session with the root thread `thread-1`.
pub(crate) fn start(root: &Path, options: WriterOptions) -> BundleWriter {
    TraceRoot::new(root, options).start(&NewSession::new("thread-1")).expect("starts")
}

/// Reads the log of a bundle. Checks that every line is an event with the next sequence number and that every payload to
/// which an event refers is JSON.
pub(crate) fn read_events(bundle: &Path) -> Vec<Value> {
    let opened = Bundle::open(bundle).expect("opens");
    let log = String::from_utf8(opened.log().expect("has a log").as_bytes().to_vec()).expect("UTF-8");
    assert!(log.is_empty() || log.ends_with('\n'), "the log ends with a whole line");
    let mut text = Vec::new();
    let mut events = Vec::new();
    for (index, line) in log.lines().enumerate() {
        let event: Value = serde_json::from_str(line).expect("every line is JSON");
        assert_eq!(event["seq"], index + 1, "no gap");
        for member in event["payload"].as_object().expect("an object").values() {
            if let Some(path) = member.get("path").and_then(Value::as_str) {
                opened.payloads().read(path, &mut text).expect("the payload is there");
                serde_json::from_slice::<Value>(&text).expect("the payload is JSON");
            }
        }
        events.push(event);
    }
    events
}

/// Returns the types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["payload"]["type"].as_str().expect("a type")).collect()
}

/// Returns the document of the payload that the event refers to in the field `member`.
pub(crate) fn document(bundle: &Path, event: &Value, member: &str) -> Value {
    let path = event["payload"][member]["path"].as_str().expect("names a payload");
    serde_json::from_slice(&std::fs::read(bundle.join(path)).expect("reads")).expect("is JSON")
}
