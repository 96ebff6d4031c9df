//! Ingest, change, compaction, vacuum, and several writers at once.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use trace_fleet::ingest::{Ingest, Observer, Options, Plan};
use trace_fleet::lake::fsck::Problem;
use trace_fleet::lake::vacuum::MIN_KEEP;
use trace_fleet::lake::{Appended, Lake, record::Action};
use trace_fleet::sessions::Given;
use trace_fleet::tables::{self, Kind, SESSIONS};
use trace_recorder::pack::{DEFAULT_LEVEL, Source, pack};

use crate::fixture::{
    all_rows, ask, batches_of, checked, csv, ingest, open, repository, runtime, sessions, snapshot, text, vary,
};

#[test]
fn sessions_are_ingested_once() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 23);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let report = ingest(&lake, &source, batches_of(10), runtime.handle());
    assert_eq!((report.listed, report.committed, report.commits, report.version), (23, 23, 3, 3));
    let first = checked(&lake, &runtime);
    assert_eq!((first.sessions, first.batches, first.delta_behind), (23, 3, 0));
    let again = ingest(&lake, &source, batches_of(10), runtime.handle());
    assert_eq!((again.known, again.committed, again.version), (23, 0, 3));
    let teams = csv(&ask(&lake, &runtime, "SELECT team, count(*) AS n FROM sessions GROUP BY team ORDER BY team"));
    assert_eq!(teams, "team,n\nblue,15\nred,8\n");
}

#[test]
fn the_same_sessions_make_the_same_files() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 12);
    let files = |name: &str, jobs: usize| {
        let lake = open(&runtime, text(&folder.path().join(name)));
        ingest(&lake, &source, Options { jobs, ..batches_of(5) }, runtime.handle());
        Lake::live_files(&snapshot(&lake, &runtime))
    };
    assert_eq!(files("one", 1), files("other", 4));
}

#[test]
fn a_changed_session_replaces_its_rows() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    let paths = sessions(&source, 9);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(4), runtime.handle());
    let count =
        |lake: &Lake| csv(&ask(lake, &runtime, "SELECT count(*) AS n, sum(inference_calls) AS calls FROM sessions"));
    let before = count(&lake);
    // Two sessions lose the second half of their logs, as if they were still at work.
    for path in [&paths[0], &paths[5]] {
        let log = fs::read_to_string(path.join("trace.jsonl")).expect("a log");
        let lines: Vec<&str> = log.lines().collect();
        fs::write(path.join("trace.jsonl"), lines[..lines.len() / 2].join("\n") + "\n").expect("writes");
    }
    let report = ingest(&lake, &source, batches_of(4), runtime.handle());
    assert_eq!((report.known, report.committed, report.replaced, report.commits), (7, 2, 2, 1));
    let after = checked(&lake, &runtime);
    assert_eq!(after.sessions, 9);
    assert_ne!(count(&lake), before);
    // What an empty lake makes of the same sessions is the same.
    let fresh = open(&runtime, text(&folder.path().join("fresh")));
    ingest(&fresh, &source, batches_of(100), runtime.handle());
    assert_eq!(all_rows(&lake, &runtime), all_rows(&fresh, &runtime));
    // The version before the change is still there.
    let old = runtime.block_on(lake.snapshot_at(3)).expect("an old version");
    assert_eq!(runtime.block_on(lake.check(&old)).expect("checks").sessions, 9);
}

#[test]
fn a_session_that_cannot_be_read_is_a_row() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    let paths = sessions(&source, 3);
    let mut packed = Vec::new();
    pack(&Source::list(&paths[0]).expect("lists"), &mut packed, DEFAULT_LEVEL).expect("packs");
    fs::write(source.join("whole.trace"), &packed).expect("writes");
    fs::write(source.join("cut.trace"), &packed[..packed.len() / 2]).expect("writes");
    fs::create_dir(source.join("empty")).expect("a folder");
    fs::write(source.join("empty/manifest.json"), "{").expect("writes");
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let report = ingest(&lake, &source, batches_of(100), runtime.handle());
    assert_eq!(
        (report.committed, report.unreadable),
        (6, 1),
        "a bundle with a broken manifest is read as far as it goes"
    );
    checked(&lake, &runtime);
    let told = csv(&ask(
        &lake,
        &runtime,
        "SELECT d.severity, d.code, s.readable, s.status, s.errors FROM diagnostics AS d JOIN sessions AS s ON s.address = d.address \
         WHERE d.address LIKE '%cut.trace'",
    ));
    assert_eq!(told, "severity,code,readable,status,errors\nerror,session_unreadable,false,,1\n");
    let equal = csv(&ask(
        &lake,
        &runtime,
        "SELECT count(DISTINCT turns * 1000 + tool_calls) AS n FROM sessions WHERE address LIKE '%whole.trace' OR address LIKE '%session-0000'",
    ));
    assert_eq!(equal, "n\n1\n", "a packed session has the rows of its directory");
    assert_eq!(ingest(&lake, &source, batches_of(100), runtime.handle()).committed, 0);
}

#[test]
fn sessions_of_other_agents_are_ingested() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let source = repository().join("samples/claude-code");
    let options = Options { given: Given { team: Some("blue".to_owned()), repository: None }, ..batches_of(100) };
    let report = ingest(&lake, &source, options, runtime.handle());
    assert!(report.committed > 0 && report.unreadable == 0, "{report:?}");
    checked(&lake, &runtime);
    let agents = csv(&ask(&lake, &runtime, "SELECT DISTINCT agent, team, repository IS NULL AS none FROM sessions"));
    assert_eq!(agents, "agent,team,none\nclaude-code,blue,false\n");
}

#[test]
fn eight_ingests_at_once_lose_nothing_and_repeat_nothing() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 40);
    let url = folder.path().join("lake");
    let done = AtomicBool::new(false);
    let seen = AtomicUsize::new(0);
    let committed: usize = std::thread::scope(|scope| {
        // Whoever reads meanwhile sees whole commits.
        let reader = scope.spawn(|| {
            let lake = open(&runtime, text(&url));
            let mut versions = BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                versions.insert(checked(&lake, &runtime).version);
            }
            seen.store(versions.len(), Ordering::Relaxed);
        });
        let one = || {
            let lake = open(&runtime, text(&url));
            ingest(&lake, &source, batches_of(7), runtime.handle()).committed
        };
        let ingests: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        let committed = ingests.into_iter().map(|ingest| ingest.join().expect("ingests")).sum();
        done.store(true, Ordering::Relaxed);
        reader.join().expect("reads");
        committed
    });
    assert_eq!(committed, 40);
    assert!(seen.load(Ordering::Relaxed) > 0);
    let lake = open(&runtime, text(&url));
    assert_eq!(checked(&lake, &runtime).sessions, 40);
    let fresh = open(&runtime, text(&folder.path().join("fresh")));
    ingest(&fresh, &source, batches_of(100), runtime.handle());
    assert_eq!(all_rows(&lake, &runtime), all_rows(&fresh, &runtime));
}

#[test]
fn shards_share_the_work() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 20);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let parts: Vec<usize> = (0..3)
        .map(|own| {
            let options = Options { shard: Some((own, 3)), ..batches_of(100) };
            ingest(&lake, &source, options, runtime.handle()).committed
        })
        .collect();
    assert_eq!(parts.iter().sum::<usize>(), 20, "{parts:?}");
    assert!(parts.iter().all(|part| *part < 20), "{parts:?}");
    assert_eq!(checked(&lake, &runtime).sessions, 20);
}

/// Stops an ingest after its first commit.
struct StopAfterCommit<'s>(&'s AtomicBool);

impl Observer for StopAfterCommit<'_> {
    fn committed(&self, _version: u64, _sessions: usize) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn an_ingest_that_is_stopped_leaves_a_whole_lake_and_the_next_goes_on() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 200);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    let found = trace_fleet::sessions::find(text(&source), &[], runtime.handle()).expect("sessions");
    let mut first = Ingest::new(&lake, batches_of(5), runtime.handle()).expect("a lake");
    let plan: Plan = first.plan(found);
    let stop = AtomicBool::new(false);
    let report = first.run(plan, &stop, &StopAfterCommit(&stop)).expect("ingests");
    assert!(report.stopped && report.committed >= 5 && report.committed < 200, "{report:?}");
    assert_eq!(checked(&lake, &runtime).sessions, report.committed as u64);
    let rest = ingest(&lake, &source, batches_of(100), runtime.handle());
    assert_eq!(rest.committed + report.committed, 200);
    checked(&lake, &runtime);
}

#[test]
fn a_compaction_changes_no_row_and_a_vacuum_deletes_what_it_replaced() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 24);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(4), runtime.handle());
    let before = all_rows(&lake, &runtime);
    let done = runtime.block_on(lake.compact(100, &|| false)).expect("compacts");
    assert_eq!((done.merged, done.made, done.given_up), (6, 1, 0));
    assert_eq!(checked(&lake, &runtime).batches, 1);
    assert_eq!(all_rows(&lake, &runtime), before);
    // Nothing is old enough to be deleted, until the clock is ahead.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis() as i64;
    let kept = runtime.block_on(lake.vacuum(MIN_KEEP, now, false)).expect("vacuums");
    assert!(kept.unused > 0 && kept.deleted == 0, "{kept:?}");
    let later = now + 2 * MIN_KEEP.as_millis() as i64;
    let dry = runtime.block_on(lake.vacuum(MIN_KEEP, later, true)).expect("vacuums");
    let gone = runtime.block_on(lake.vacuum(MIN_KEEP, later, false)).expect("vacuums");
    assert_eq!((dry, gone.deleted), (gone, kept.unused));
    checked(&lake, &runtime);
    assert_eq!(all_rows(&lake, &runtime), before);
    assert_eq!(runtime.block_on(lake.vacuum(Duration::ZERO, later, false)).expect("vacuums").unused, 0);
}

#[test]
fn a_changed_session_leaves_a_compacted_batch_too() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    let paths = sessions(&source, 12);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(4), runtime.handle());
    runtime.block_on(lake.compact(100, &|| false)).expect("compacts");
    fs::remove_dir_all(&paths[3]).expect("removes");
    vary(&repository().join("samples/three-children"), &paths[3], 99);
    let report = ingest(&lake, &source, batches_of(4), runtime.handle());
    assert_eq!((report.committed, report.replaced), (1, 1));
    assert_eq!(checked(&lake, &runtime).sessions, 12);
}

#[test]
fn commits_without_delta_versions_are_completed_by_the_next_writer() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 3);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(100), runtime.handle());
    // A writer that dies right after its commit.
    let base = snapshot(&lake, &runtime);
    let appended = runtime.block_on(lake.append(&base, Action::Compact, Vec::new(), Vec::new())).expect("appends");
    assert!(matches!(appended, Appended::Done(_)));
    let raced = runtime.block_on(lake.append(&base, Action::Compact, Vec::new(), Vec::new())).expect("asks");
    assert_eq!(raced, Appended::Behind);
    assert_eq!(checked(&lake, &runtime).delta_behind, 1);
    ingest(&lake, &source, batches_of(100), runtime.handle());
    assert_eq!(checked(&lake, &runtime).delta_behind, 0);
}

#[test]
fn many_commits_have_checkpoints_that_say_the_same_as_the_log() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 60);
    let url = folder.path().join("lake");
    let lake = open(&runtime, text(&url));
    ingest(&lake, &source, batches_of(1), runtime.handle());
    let with = snapshot(&lake, &runtime);
    assert_eq!((with.version, with.sessions()), (60, 60));
    assert!(url.join("_trace/last_checkpoint").is_file());
    fs::remove_file(url.join("_trace/last_checkpoint")).expect("removes");
    assert_eq!(snapshot(&lake, &runtime), with);
    // A hint without a checkpoint, and a damaged checkpoint, cost time only.
    fs::write(url.join("_trace/last_checkpoint"), r#"{"version":7}"#).expect("writes");
    assert_eq!(snapshot(&lake, &runtime), with);
    fs::write(url.join("_trace/last_checkpoint"), r#"{"version":50}"#).expect("writes");
    fs::write(url.join("_trace/checkpoints/00000000000000000050.json"), "{").expect("writes");
    assert_eq!(snapshot(&lake, &runtime), with);
}

#[test]
fn fsck_tells_what_is_wrong() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, 8);
    let url = folder.path().join("lake");
    let lake = open(&runtime, text(&url));
    ingest(&lake, &source, batches_of(4), runtime.handle());
    let batches = snapshot(&lake, &runtime).batches;
    let file = |number: usize, table: &str| {
        let batch = batches.values().nth(number).expect("a batch");
        url.join(trace_fleet::lake::data::file_path(table, &batch.files[table].path))
    };
    let problems = || {
        let checked = runtime.block_on(lake.check(&snapshot(&lake, &runtime))).expect("checks");
        checked.problems.iter().map(|found| found.problem).collect::<BTreeSet<_>>()
    };
    let restored = |path: &std::path::Path, change: &dyn Fn(), expected: &[Problem]| {
        let content = fs::read(path).expect("reads");
        change();
        assert_eq!(problems(), expected.iter().copied().collect(), "{}", path.display());
        fs::write(path, content).expect("writes");
        assert_eq!(problems(), BTreeSet::new());
    };
    let turns = file(0, "turns");
    restored(&turns, &|| fs::remove_file(&turns).expect("removes"), &[Problem::FileMissing, Problem::WrongCount]);
    restored(
        &turns,
        &|| fs::write(&turns, "x").expect("writes"),
        &[Problem::FileChanged, Problem::FileDamaged, Problem::WrongCount],
    );
    let other = file(1, "turns");
    restored(
        &turns,
        &|| {
            fs::copy(&other, &turns).expect("copies");
        },
        &[Problem::FileChanged, Problem::RowWithoutSession, Problem::WrongCount],
    );
    let (own, other) = (file(0, SESSIONS), file(1, SESSIONS));
    restored(
        &own,
        &|| {
            fs::copy(&other, &own).expect("copies");
        },
        &[Problem::FileChanged, Problem::SessionTwice, Problem::RowWithoutSession, Problem::WrongCount],
    );
    let delta = url.join("tables/turns/_delta_log/00000000000000000001.json");
    restored(&delta, &|| fs::write(&delta, "{}\n").expect("writes"), &[Problem::DeltaDiffers]);
}

#[test]
fn every_column_has_a_value_somewhere_and_a_description() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let lake = open(&runtime, text(&folder.path().join("lake")));
    for part in ["samples", "samples/claude-code", "samples/audit"] {
        let source = repository().join(part);
        let options = Options {
            given: Given { team: Some("t".to_owned()), repository: Some("r".to_owned()) },
            ..batches_of(100)
        };
        ingest(&lake, &source, options, runtime.handle());
    }
    checked(&lake, &runtime);
    let mut empty = Vec::new();
    for table in tables::ALL.iter() {
        for column in table.columns() {
            assert!(column.text.ends_with('.'), "{}.{}: {}", table.name(), column.name, column.text);
            let sql = format!("SELECT count({}) AS n FROM {}", column.name, table.name());
            if csv(&ask(&lake, &runtime, &sql)) == "n\n0\n" {
                empty.push(format!("{}.{}", table.name(), column.name));
            }
            assert_ne!(column.kind, Kind::Real, "no column needs it yet");
        }
    }
    // No session of the repository has a command that a signal killed, or damage in the session of an agent that tells its version.
    assert_eq!(empty, ["failures.signal", "diagnostics.agent_version"]);
}
