//! Programs that others use read the lake and count the same.

use std::process::Command;

use serde_json::json;
use trace_fleet::query::{Engine, Limits, Question, named};

use crate::fixture::{ask, batches_of, csv, ingest, open, runtime, sessions, snapshot, text};

#[test]
fn duckdb_polars_and_delta_read_the_same() {
    let Some(python) = trace_needs::python(&["duckdb", "deltalake", "polars"], "readers of lakes are not compared")
    else {
        return;
    };
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 120);
    let url = folder.path().join("lake");
    let lake = open(&runtime, text(&url));
    // More commits than fit between two checkpoints, with changes and a compaction.
    ingest(&lake, &source, batches_of(2), runtime.handle());
    runtime.block_on(lake.compact(50, &|| false)).expect("compacts");
    std::fs::remove_dir_all(source.join("team=red/session-0003")).expect("removes");
    crate::fixture::vary(
        &crate::fixture::repository().join("samples/three-children"),
        &source.join("team=red/session-0003"),
        500,
    );
    ingest(&lake, &source, batches_of(2), runtime.handle());
    let now = snapshot(&lake, &runtime);
    assert!(url.join("tables/sessions/_delta_log/_last_checkpoint").is_file());

    let address = csv(&ask(&lake, &runtime, "SELECT min(address) AS a FROM failures"));
    let address = address.lines().nth(1).expect("a failure").to_owned();
    let engine = Engine::new(&lake, &now, None, Limits::default()).expect("an engine");
    let mut questions = Vec::new();
    for named in named::all() {
        let value = |name: &str| if name == "address" { address.clone() } else { "none".to_owned() };
        let parameters: Vec<(String, String)> =
            named.parameters.iter().map(|name| ((*name).to_owned(), value(name))).collect();
        let question = Question { sql: format!("@{}", named.name), parameters: parameters.clone(), condition: None };
        let answer = runtime.block_on(engine.ask(&question)).expect("an answer");
        questions.push(json!({
            "name": named.name,
            "sql": named.sql,
            "parameters": parameters.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "csv": csv(&answer),
        }));
    }
    let files: serde_json::Map<String, serde_json::Value> = trace_fleet::tables::ALL
        .iter()
        .map(|table| {
            let file = |batch: &trace_fleet::lake::record::Batch| {
                let file = batch.files.get(table.name())?;
                Some(url.join(trace_fleet::lake::data::file_path(table.name(), &file.path)))
            };
            (table.name().to_owned(), json!(now.batches.values().filter_map(file).collect::<Vec<_>>()))
        })
        .collect();
    let expected = json!({"lake": url, "version": now.version, "files": files, "questions": questions});
    let path = folder.path().join("expected.json");
    std::fs::write(&path, expected.to_string()).expect("writes");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fleet/readers.py");
    let output = Command::new(python).arg(script).arg(&path).output().expect("python starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains(&format!("{} questions are equal", named::all().len())), "{told}");
}
