//! Sessions to query, and results as values that can be compared.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trace_explain::Session;
use trace_query::{Builder, Database, Limits, Outcome, Query, QueryError, TakeAnswer, Value};

/// Only a limit of time, which no test reaches.
pub(crate) const FREE: Limits = Limits { time: Some(Duration::from_secs(600)), rows: None, memory: None };

/// A result with each value as text. Null is `NULL`.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl TakeAnswer for Answer {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.columns = names.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.rows.push(values.iter().map(|value| text(*value)).collect());
        Ok(())
    }
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

impl Answer {
    /// Returns the rows as lines with ` | ` between the values.
    pub(crate) fn lines(&self) -> String {
        self.rows.iter().map(|row| row.join(" | ") + "\n").collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the path of a sample.
pub(crate) fn sample(name: &str) -> PathBuf {
    root().join("samples").join(name)
}

/// Returns the samples, the hand-made cases, and the real recordings.
pub(crate) fn bundles() -> Vec<PathBuf> {
    let mut bundles: Vec<PathBuf> = ["one-agent", "three-children", "damaged", "untrue.trace"].map(sample).into();
    let cases = std::fs::read_dir(root().join("reducer/tests/cases")).expect("the cases are there");
    let mut cases: Vec<PathBuf> = cases.map(|entry| entry.expect("an entry").path()).collect();
    cases.retain(|path| path.join("trace.jsonl").is_file());
    cases.sort();
    bundles.extend(cases);
    bundles.extend(trace_needs::recordings("tables").into_iter().map(|recording| recording.bundle));
    assert!(bundles.len() > 200);
    bundles
}

/// Writes a bundle with a compaction between two inference calls with token counts.
pub(crate) fn compacted(directory: &Path) -> PathBuf {
    let case = root().join("reducer/tests/cases/comp-basic");
    std::fs::create_dir(directory.join("payloads")).expect("creates");
    for name in
        ["manifest.json", "payloads/1.json", "payloads/3.json", "payloads/4.json", "payloads/5.json", "payloads/6.json"]
    {
        std::fs::copy(case.join(name), directory.join(name)).expect("copies");
    }
    for (name, tokens) in [("2", 1000), ("7", 300)] {
        let usage = format!(
            r#"{{"input_tokens":{tokens},"cached_input_tokens":0,"output_tokens":1,"reasoning_output_tokens":0,"total_tokens":0}}"#
        );
        let response = format!(r#"{{"output_items":[],"token_usage":{usage}}}"#);
        std::fs::write(directory.join(format!("payloads/{name}.json")), response).expect("writes");
    }
    let log = std::fs::read_to_string(case.join("trace.jsonl")).expect("reads");
    let completed = log.lines().find(|line| line.contains("inference_completed")).expect("is there");
    let completed = completed.replace(r#""seq": 5"#, r#""seq": 11"#).replace("inf-1", "i2");
    let completed = completed.replace("raw_payload:2", "raw_payload:7").replace("2.json", "7.json");
    std::fs::write(directory.join("trace.jsonl"), format!("{log}{completed}\n")).expect("writes");
    directory.to_owned()
}

/// Opens a bundle. Returns `None` if that fails.
pub(crate) fn open(path: &Path) -> Option<Session> {
    Session::open(path).ok()
}

/// Creates a database of the bundles for a query.
pub(crate) fn database(query: &Query, bundles: &[PathBuf]) -> Database {
    let mut builder = Builder::in_memory(query).expect("begins");
    fill(&mut builder, bundles);
    builder.finish().expect("finishes")
}

/// Creates a database file with all tables of the bundles.
pub(crate) fn kept(path: &Path, query: Option<&Query>, bundles: &[PathBuf]) -> Database {
    std::fs::write(path, "").expect("creates");
    let mut builder = Builder::in_file(path, query).expect("begins");
    fill(&mut builder, bundles);
    builder.finish().expect("finishes")
}

fn fill(builder: &mut Builder, bundles: &[PathBuf]) {
    for (number, bundle) in bundles.iter().enumerate() {
        let Some(session) = open(bundle) else { continue };
        builder.add(&format!("b{number}"), session).expect("adds");
    }
}

/// Runs a query on bundles, and also returns what is reported besides its rows.
pub(crate) fn ask_with(bundles: &[PathBuf], sql: &str, limits: &Limits) -> Result<(Answer, Outcome), QueryError> {
    let query = Query::new(sql)?;
    let mut answer = Answer::default();
    let outcome = database(&query, bundles).ask(&query, limits, &mut answer)?;
    assert_eq!(answer.columns, query.columns());
    Ok((answer, outcome))
}

/// Runs a query on a sample.
#[track_caller]
pub(crate) fn ask(name: &str, sql: &str) -> Answer {
    let (answer, outcome) = ask_with(&[sample(name)], sql, &FREE).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(outcome.rows, answer.rows.len() as u64);
    answer
}

/// Writes a bundle with these events, `(milliseconds, thread, payload)`, all in the turn `THREAD-turn`.
pub(crate) fn written(directory: &Path, events: &[(i64, &str, serde_json::Value)]) -> PathBuf {
    let manifest = serde_json::json!({
        "schema_version": 2, "trace_id": "trace", "rollout_id": "rollout", "root_thread_id": "t0",
        "started_at_unix_ms": 0, "raw_event_log": "trace.jsonl", "payloads_dir": "payloads",
    });
    std::fs::write(directory.join("manifest.json"), manifest.to_string()).expect("writes");
    std::fs::create_dir(directory.join("payloads")).expect("creates");
    let mut log = String::new();
    for (seq, (at, thread, payload)) in (1u64..).zip(events) {
        let line = serde_json::json!({
            "schema_version": 2, "seq": seq, "wall_time_unix_ms": at, "rollout_id": "rollout", "thread_id": thread,
            "codex_turn_id": format!("{thread}-turn"), "payload": payload,
        });
        log.push_str(&format!("{line}\n"));
    }
    std::fs::write(directory.join("trace.jsonl"), log).expect("writes");
    directory.to_owned()
}
