//! Sessions and lakes for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tokio::runtime::{Handle, Runtime};
use trace_fleet::Store;
use trace_fleet::ingest::{Ingest, Options, Report};
use trace_fleet::lake::fsck::Checked;
use trace_fleet::lake::{Lake, Snapshot};
use trace_fleet::query::{Answer, Engine, Limits, Question};
use trace_fleet::sessions;

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 3600 * 1000;

/// The folder of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// A runtime for requests.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads start")
}

/// Copies a bundle under other ids and on another day. Payloads are hard links: nothing changes them.
pub(crate) fn vary(from: &Path, to: &Path, number: usize) {
    fs::create_dir_all(to.join("payloads")).expect("a folder");
    for entry in fs::read_dir(from.join("payloads")).into_iter().flatten() {
        let entry = entry.expect("an entry");
        fs::hard_link(entry.path(), to.join("payloads").join(entry.file_name())).expect("a link");
    }
    let shift = number as i64 % 7 * DAY_MS;
    let shifted = |text: &str, key: &str| {
        let mut out = String::with_capacity(text.len());
        let mut parts = text.split(key);
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let time: i64 = part[..end].parse().expect("a time");
            out.push_str(&format!("{key}{}{}", time + shift, &part[end..]));
        }
        out
    };
    let manifest = fs::read_to_string(from.join("manifest.json")).expect("a manifest");
    let trace_id = serde_json::from_str::<serde_json::Value>(&manifest).expect("JSON")["trace_id"].clone();
    let trace_id = trace_id.as_str().expect("an id").to_owned();
    let renamed = |text: &str| text.replace(&trace_id, &format!("{trace_id}-{number}"));
    fs::write(to.join("manifest.json"), renamed(&shifted(&manifest, "\"started_at_unix_ms\": "))).expect("writes");
    let log = fs::read_to_string(from.join("trace.jsonl")).expect("a log");
    fs::write(to.join("trace.jsonl"), renamed(&shifted(&log, "\"wall_time_unix_ms\":"))).expect("writes");
}

/// Makes `count` sessions of those of the repository, of two teams.
pub(crate) fn sessions(root: &Path, count: usize) -> Vec<PathBuf> {
    let samples = repository().join("samples");
    let kinds = ["one-agent", "three-children", "one-agent", "damaged"];
    let make = |number: usize| {
        let team = if number.is_multiple_of(3) { "red" } else { "blue" };
        let to = root.join(format!("team={team}/session-{number:04}"));
        let kind = kinds[number % kinds.len()];
        vary(&samples.join(kind), &to, number);
        to
    };
    (0..count).map(make).collect()
}

pub(crate) fn open(runtime: &Runtime, url: &str) -> Lake {
    let store = Store::open(url, &[]).expect("a store");
    runtime.block_on(Lake::open_or_create(store)).expect("a lake")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// Ingests a folder.
pub(crate) fn ingest(lake: &Lake, source: &Path, options: Options, handle: &Handle) -> Report {
    let found = sessions::find(text(source), &[], handle).expect("sessions");
    let mut ingest = Ingest::new(lake, options, handle).expect("a lake");
    let plan = ingest.plan(found);
    ingest.run(plan, &AtomicBool::new(false), &()).expect("ingests")
}

/// Options with small batches.
pub(crate) fn batches_of(sessions: usize) -> Options {
    Options { batch_sessions: sessions, jobs: 2, ..Options::default() }
}

/// Checks a lake and fails with its problems.
pub(crate) fn checked(lake: &Lake, runtime: &Runtime) -> Checked {
    let snapshot = runtime.block_on(lake.snapshot()).expect("a snapshot");
    let checked = runtime.block_on(lake.check(&snapshot)).expect("checks");
    assert_eq!(checked.problems, [], "fsck");
    checked
}

pub(crate) fn snapshot(lake: &Lake, runtime: &Runtime) -> Snapshot {
    runtime.block_on(lake.snapshot()).expect("a snapshot")
}

/// Asks a lake with the default limits.
pub(crate) fn ask(lake: &Lake, runtime: &Runtime, sql: &str) -> Answer {
    let engine = Engine::new(lake, &snapshot(lake, runtime), None, Limits::default()).expect("an engine");
    let question = Question { sql: sql.to_owned(), ..Question::default() };
    runtime.block_on(engine.ask(&question)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Returns an answer as comma-separated values.
pub(crate) fn csv(answer: &Answer) -> String {
    let mut out = Vec::new();
    trace_fleet::query::write(answer, trace_fleet::query::Format::Csv, &mut out).expect("writes");
    String::from_utf8(out).expect("text")
}

/// All rows of all tables, in an order that does not depend on the files.
pub(crate) fn all_rows(lake: &Lake, runtime: &Runtime) -> String {
    let mut out = String::new();
    for table in trace_fleet::tables::ALL.iter() {
        let columns: Vec<String> =
            table.columns().iter().map(|column| column.name.to_owned()).filter(|name| name != "sketch").collect();
        let columns = columns.join(", ");
        out.push_str(&csv(&ask(lake, runtime, &format!("SELECT {columns} FROM {} ORDER BY {columns}", table.name()))));
    }
    out
}
