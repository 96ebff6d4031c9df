//! Checks exports with their readers: parses them with the schemas of Perfetto and OpenTelemetry, and counts what is in
//! them.
//!
//! The test needs a Python with the packages `perfetto` and `opentelemetry-proto`, which `TRACE_PYTHON` names. If
//! `TRACE_PROCESSOR` names Perfetto's `trace_processor_shell`, that program loads the timelines too.

#![expect(clippy::print_stdout, reason = "the output of the test has the counts")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use trace_explain::Session;
use trace_export::otlp::Content;
use trace_export::{chrome, otlp, perfetto};
use trace_recorder::bundle::find_bundles;
use trace_reducer::model::EdgeKind;

#[test]
fn readers_see_the_whole_graph() {
    let modules = ["perfetto", "opentelemetry.proto"];
    let Some(python) = trace_needs::python(&modules, "no reader judges the exports") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let samples = ["one-agent", "three-children", "damaged", "team"].map(|name| root.join("samples").join(name));
    let recordings = trace_needs::recordings("exports").into_iter().map(|recording| recording.bundle);
    let more = std::env::var_os("TRACE_MORE_BUNDLES").map(PathBuf::from);
    let more = more.and_then(|root| find_bundles(&root).ok()).unwrap_or_default();
    let directory = tempfile::tempdir().expect("a directory");
    let bundles: Vec<PathBuf> = samples.into_iter().chain(recordings).chain(more).collect();
    for (index, bundle) in bundles.iter().enumerate() {
        let name = bundle.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        export(bundle, directory.path(), &format!("{index:04}-{name}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/check_traces.py");
    let output = Command::new(python).arg(script).arg(directory.path()).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.lines().count(), bundles.len() + 1, "{said}");
    println!("{}", said.lines().last().unwrap_or_default());
}

fn export(bundle: &Path, directory: &Path, name: &str) {
    let session = Session::open(bundle).unwrap_or_else(|error| panic!("{}: {error}", bundle.display()));
    let write =
        |ending: &str, bytes: &[u8]| fs::write(directory.join(format!("{name}.{ending}")), bytes).expect("writes");
    let (mut timeline, mut chrome_trace, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    perfetto::write(&session, &mut timeline).expect("writes");
    chrome::write(&session, &mut chrome_trace).expect("writes");
    otlp::write(&session, Content::LeftOut, &mut spans).expect("writes");
    write("perfetto-trace", &timeline);
    write("chrome.json", &chrome_trace);
    write("otlp.jsonl", &spans);
    let trace = session.trace();
    let counts = json!({
        "threads": trace.threads.len(),
        "turns": trace.turns.len(),
        "inferences": trace.inferences.len(),
        "tools": trace.tools.len(),
        "cells": trace.cells.len(),
        "compaction_requests": trace.compaction_requests.len(),
        "edges": trace.edges.len(),
        "spawns": trace.edges.values().filter(|edge| edge.kind == EdgeKind::SpawnAgent).count(),
    });
    write("counts.json", counts.to_string().as_bytes());
}
