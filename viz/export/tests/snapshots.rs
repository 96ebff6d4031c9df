//! Snapshots of the exported samples.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use insta::assert_snapshot;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use trace_explain::Session;
use trace_export::otlp::{self, Content};
use trace_export::{chrome, perfetto};

fn sample(name: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name);
    Session::open(&path).expect("opens")
}

/// Exports twice, each time from a newly opened bundle, and returns the bytes, which must be equal.
fn exported(name: &str, write: impl Fn(&Session, &mut Vec<u8>)) -> Vec<u8> {
    let once = || {
        let mut bytes = Vec::new();
        write(&sample(name), &mut bytes);
        bytes
    };
    let bytes = once();
    assert!(bytes == once(), "two exports of {name} differ");
    bytes
}

/// Formats a Perfetto trace, one line per packet.
fn perfetto_text(name: &str) -> String {
    let bytes = exported(name, |session, out| perfetto::write(session, out).expect("writes"));
    let mut text = String::new();
    for packet in perfetto::decode(&bytes).expect("a trace").packet {
        if let Some(clock) = &packet.clock_snapshot {
            let clocks = clock.clocks.iter().map(|clock| (clock.clock_id(), clock.timestamp()));
            writeln!(text, "clocks {:?}", clocks.collect::<Vec<_>>()).expect("writes");
        }
        if let Some(track) = &packet.track_descriptor {
            let process = track.process.as_ref().map(|process| (process.pid(), process.process_name().to_owned()));
            let (uuid, parent, rank) = (track.uuid(), track.parent_uuid(), track.sibling_order_rank());
            writeln!(text, "track {uuid} in {parent} at {rank}: {:?} {process:?}", track.name()).expect("writes");
        }
        let Some(event) = &packet.track_event else { continue };
        let kind = ["", "begin", "end", "mark"][event.r#type() as usize];
        write!(text, "{:>14} {kind} {}", packet.timestamp(), event.track_uuid()).expect("writes");
        if kind != "end" {
            write!(text, " {:?} {:?}", event.name(), event.categories).expect("writes");
        }
        for (arrow, ids) in [("to", &event.flow_ids), ("from", &event.terminating_flow_ids)] {
            if !ids.is_empty() {
                write!(text, " {arrow} {ids:?}").expect("writes");
            }
        }
        for annotation in &event.debug_annotations {
            let name = annotation.name();
            match (&annotation.string_value, annotation.int_value, annotation.uint_value, annotation.bool_value) {
                (Some(value), ..) => write!(text, " {name}={value:?}"),
                (_, Some(value), ..) => write!(text, " {name}={value}i"),
                (_, _, Some(value), _) => write!(text, " {name}={value}"),
                (.., Some(value)) => write!(text, " {name}={value}"),
                _ => write!(text, " {name}"),
            }
            .expect("writes");
        }
        text.push('\n');
    }
    text
}

/// Formats spans, one line per span, with the names of the spans that they refer to.
fn otlp_text(name: &str, content: Content) -> String {
    let bytes = exported(name, |session, out| otlp::write(session, content, out).expect("writes"));
    let mut text = String::new();
    let mut names = HashMap::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let request: ExportTraceServiceRequest = serde_json::from_slice(line).expect("a request");
        let spans = request.resource_spans.into_iter().flat_map(|spans| spans.scope_spans);
        for span in spans.flat_map(|spans| spans.spans) {
            let of = |id: &[u8]| names.get(id).cloned().unwrap_or_else(|| "?".to_owned());
            let took = (span.end_time_unix_nano - span.start_time_unix_nano) / 1_000_000;
            let parent = if span.parent_span_id.is_empty() { "nothing".to_owned() } else { of(&span.parent_span_id) };
            let start = span.start_time_unix_nano / 1_000_000;
            write!(text, "{start} +{took} {:?} kind {} in {parent:?}", span.name, span.kind).expect("writes");
            attributes(&mut text, &span.attributes);
            for link in &span.links {
                write!(text, " link {:?}", of(&link.span_id)).expect("writes");
                attributes(&mut text, &link.attributes);
            }
            for event in &span.events {
                write!(text, " event {:?}", event.name).expect("writes");
                attributes(&mut text, &event.attributes);
            }
            let status = span.status.unwrap_or_default();
            if status.code != 0 {
                write!(text, " status {} {:?}", status.code, status.message).expect("writes");
            }
            text.push('\n');
            names.insert(span.span_id, span.name);
        }
    }
    text
}

fn attributes(text: &mut String, attributes: &[KeyValue]) {
    for attribute in attributes {
        match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(Value::StringValue(value)) => write!(text, " {}={value:?}", attribute.key),
            Some(Value::IntValue(value)) => write!(text, " {}={value}", attribute.key),
            Some(Value::BoolValue(value)) => write!(text, " {}={value}", attribute.key),
            other => write!(text, " {}={other:?}", attribute.key),
        }
        .expect("writes");
    }
}

fn chrome_text(name: &str) -> String {
    let bytes = exported(name, |session, out| chrome::write(session, out).expect("writes"));
    let _: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn samples_as_perfetto_traces() {
    assert_snapshot!("one-agent.perfetto", perfetto_text("one-agent"));
    assert_snapshot!("three-children.perfetto", perfetto_text("three-children"));
    assert_snapshot!("damaged.perfetto", perfetto_text("damaged"));
}

#[test]
fn samples_as_chrome_traces() {
    assert_snapshot!("one-agent.chrome", chrome_text("one-agent"));
    assert_snapshot!("three-children.chrome", chrome_text("three-children"));
}

#[test]
fn samples_as_spans() {
    assert_snapshot!("one-agent.otlp", otlp_text("one-agent", Content::LeftOut));
    assert_snapshot!("three-children.otlp", otlp_text("three-children", Content::LeftOut));
    assert_snapshot!("damaged.otlp", otlp_text("damaged", Content::LeftOut));
}

#[test]
fn content_is_there_only_when_it_is_asked_for() {
    let (without, with) =
        (otlp_text("three-children", Content::LeftOut), otlp_text("three-children", Content::Included));
    for name in
        ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"]
    {
        assert!(!without.contains(name) && with.contains(name), "{name}");
    }
    let words = "Wicks are counted from one";
    assert!(!without.contains(words) && with.contains(words));
}

/// Each finding of an audit is an event in every format. Without content, a span has no quotation.
#[test]
fn findings_of_an_audit_are_events() {
    let perfetto = perfetto_text("untrue.trace");
    let marks: Vec<&str> = perfetto.lines().filter(|line| line.contains(r#""audit: "#)).collect();
    assert_eq!(marks.len(), 14);
    let stale = marks.iter().find(|line| line.contains("audit: stale_check")).expect("a stale check");
    for part in [r#""audit""#, "severity=\"medium\"", "claim=\"All 12 tests pass.\"", "changed_after tool_call:"] {
        assert!(stale.contains(part), "{part}: {stale}");
    }
    let spans = |content| {
        let bytes = exported("untrue.trace", |session, out| otlp::write(session, content, out).expect("writes"));
        String::from_utf8(bytes).expect("text")
    };
    let without = spans(Content::LeftOut);
    assert_eq!(without.matches("audit finding").count(), 14);
    assert!(without.contains("rollout.finding.kind") && !without.contains("All 12 tests pass"));
    assert!(spans(Content::Included).contains("rollout.finding.claim"));
    let atif = exported("untrue.trace", |session, out| trace_export::atif::write(session, out).expect("writes"));
    let atif: serde_json::Value = serde_json::from_slice(&atif).expect("JSON");
    let found = atif["extra"]["rollout"]["findings"].as_array().expect("findings of the root agent");
    assert_eq!(found.len(), 14);
    let honest = perfetto_text("honest.trace");
    assert!(!honest.contains("audit: "), "an honest session has none");
}
