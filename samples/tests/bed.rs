//! The test bed for postmortems is sound: enough sessions of every kind, bundles that a strict reduction takes, and
//! truths about objects that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use trace_explain::{ObjectRef, Session};
use trace_recorder::Bundle;
use trace_recorder::format::SchemaVersion;
use trace_reducer::{Options, reduce};
use trace_samples::faults::{Category, Family, Outcome, Planted, TurnTruth, all};

/// All sessions, recorded once. The directory is made anew by every run.
struct Bed {
    directory: PathBuf,
    sessions: Vec<(Planted, Vec<TurnTruth>)>,
}

static BED: LazyLock<Bed> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bed");
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("removes what an earlier run left");
    }
    let sessions = all()
        .into_par_iter()
        .map(|planted| {
            let truth = planted.write(&directory.join(&planted.name));
            let truth = truth.unwrap_or_else(|error| panic!("{}: {error}", planted.name));
            (planted, truth)
        })
        .collect();
    Bed { directory, sessions }
});

#[test]
fn truths_name_objects_that_are_there() {
    BED.sessions.par_iter().for_each(|(planted, truth)| {
        let name = &planted.name;
        let bundle = Bundle::open(&BED.directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Strictly, unless it is damaged on purpose.
        let options = Options { strict: !planted.is_torn, verify: false };
        let reduction = reduce(&bundle, options).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let session = Session::new(bundle, reduction);
        let trace = session.trace();
        let turns: BTreeSet<&str> = trace.turns.iter().map(|(_, turn)| trace.text(turn.id)).collect();
        let told: BTreeSet<&str> = truth.iter().map(|turn| turn.turn_id.as_str()).collect();
        assert_eq!(turns, told, "{name}: turns of the graph and of the truth");
        assert_eq!(truth.len(), told.len(), "{name}: a turn twice");
        for turn in truth {
            let find = |kind: &str, id: &str| {
                let object = ObjectRef { kind: kind.to_owned(), id: id.to_owned() };
                session.find(&object).unwrap_or_else(|| panic!("{name}: {object} is not in the graph"))
            };
            let object = find("codex_turn", &turn.turn_id);
            let thread = session.thread_of(object).expect("turns have threads");
            assert_eq!(trace.text(trace.threads[thread].id), turn.thread_id, "{name}");
            assert_eq!(session.agent_path(thread), turn.agent_path, "{name}");
            for verdict in std::iter::once(&turn.verdict).chain(&turn.alternatives) {
                assert_eq!(verdict.outcome == Outcome::Ok, verdict.root_cause.is_none(), "{name}");
                if let Some(cause) = &verdict.root_cause {
                    find(cause.object.kind, &cause.object.id);
                    assert_ne!(cause.category, Category::AgentFailed, "{name}: a link is no root cause");
                }
            }
        }
    });
}

#[test]
fn truths_agree_with_what_their_sessions_are_for() {
    for (planted, truth) in &BED.sessions {
        let name = &planted.name;
        let is_quiet = |turn: &TurnTruth| matches!(turn.verdict.outcome, Outcome::Ok | Outcome::Recovered);
        let causes: BTreeSet<&str> = (truth.iter().filter(|turn| !is_quiet(turn)))
            .filter_map(|turn| turn.verdict.root_cause.as_ref())
            .map(|cause| cause.category.name())
            .collect();
        match planted.family {
            Family::Healthy => assert!(truth.iter().all(|turn| turn.verdict.outcome == Outcome::Ok), "{name}"),
            Family::Recovered => {
                assert!(truth.iter().all(is_quiet), "{name}");
                assert!(truth.iter().any(|turn| turn.verdict.outcome == Outcome::Recovered), "{name}");
            }
            Family::Fault(Category::AgentFailed) => {
                assert_eq!(causes.len(), 1, "{name}: {causes:?}");
                assert!(truth.iter().filter(|turn| !is_quiet(turn)).count() > 1, "{name} is a chain");
            }
            Family::Fault(category) => assert_eq!(causes, BTreeSet::from([category.name()]), "{name}"),
        }
    }
}

#[test]
fn there_are_enough_sessions_of_every_kind() {
    let (mut names, mut seen) = (BTreeSet::new(), BTreeMap::new());
    let (mut forks, mut old) = (0, 0);
    for (planted, truth) in &BED.sessions {
        assert!(names.insert(&planted.name), "{} stands twice", planted.name);
        let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(planted.name.chars().all(fits), "{} is no name for a directory", planted.name);
        old += usize::from(planted.schema == SchemaVersion::V1);
        let threads: BTreeSet<&str> = truth.iter().map(|turn| turn.thread_id.as_str()).collect();
        let (all, with_children): &mut (usize, usize) = seen.entry(planted.family.name()).or_default();
        *all += 1;
        *with_children += usize::from(threads.len() > 1);
        let log = BED.directory.join(&planted.name).join("trace.jsonl");
        let log = fs::read_to_string(log).expect("a log");
        forks += usize::from(log.contains(r#"\"fork_turns\":\"all\""#));
    }
    for category in Category::ALL {
        let &(all, with_children) = seen.get(category.name()).unwrap_or(&(0, 0));
        assert!(all >= 3, "{all} sessions for {}", category.name());
        assert!(with_children >= 1, "no session with children for {}", category.name());
    }
    assert!(seen["healthy"].0 >= 20, "{:?}", seen["healthy"]);
    assert!(seen["recovered"].0 >= 10, "{:?}", seen["recovered"]);
    assert!(forks >= 10, "{forks} sessions with inherited history");
    assert!(old >= 10, "{old} sessions of schema 1");
}

#[test]
fn equal_programs_make_equal_bytes() {
    let again = tempfile::tempdir().expect("a directory");
    for (planted, truth) in BED.sessions.iter().step_by(9) {
        let path = again.path().join(&planted.name);
        assert_eq!(planted.write(&path).expect("records"), *truth, "{}", planted.name);
        let once = BED.directory.join(&planted.name);
        assert!(files(&once) == files(&path), "{}", planted.name);
    }
}

/// Returns the files of a bundle by name.
fn files(bundle: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let payloads = fs::read_dir(bundle.join("payloads")).expect("lists");
    (fs::read_dir(bundle).expect("lists").chain(payloads))
        .map(|entry| entry.expect("lists"))
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).expect("reads")))
        .collect()
}
