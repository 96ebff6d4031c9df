//! Checks the sessions with planted faults: there are enough of every kind, a strict reduction accepts their bundles, and
//! the expected verdicts refer to objects that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use trace_explain::{ObjectRef, Session};
use trace_recorder::Bundle;
use trace_recorder::format::{EVENT_LOG_FILE, SchemaVersion};
use trace_reducer::{Options, reduce};
use trace_samples::faults::{Category, Family, Outcome, Planted, TurnTruth, all};

/// Counts of the sessions of a family.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sessions: usize,
    with_children: usize,
    with_inherited_history: usize,
    of_schema_1: usize,
}

#[test]
fn there_are_enough_sound_sessions_of_every_kind() {
    let directory = tempfile::tempdir().expect("a directory");
    let bed = all();
    let names: BTreeSet<&str> = bed.iter().map(|planted| planted.name.as_str()).collect();
    assert_eq!(names.len(), bed.len(), "a name stands twice");
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    assert!(names.iter().all(|name| name.chars().all(fits)), "names are good for directories");

    let sums: Vec<(&str, Sum)> = bed.par_iter().map(|planted| checked(planted, directory.path())).collect();
    let mut families: BTreeMap<&str, Sum> = BTreeMap::new();
    for (family, sum) in sums {
        let family = families.entry(family).or_default();
        family.sessions += sum.sessions;
        family.with_children += sum.with_children;
        family.with_inherited_history += sum.with_inherited_history;
        family.of_schema_1 += sum.of_schema_1;
    }
    for category in Category::ALL {
        let sum = families.get(category.name()).copied().unwrap_or_default();
        assert!(sum.sessions >= 3 && sum.with_children >= 1, "{}: {sum:?}", category.name());
    }
    assert!(families["healthy"].sessions >= 20, "{:?}", families["healthy"]);
    assert!(families["recovered"].sessions >= 10, "{:?}", families["recovered"]);
    assert!(families.values().map(|sum| sum.with_inherited_history).sum::<usize>() >= 10, "{families:?}");
    assert!(families.values().map(|sum| sum.of_schema_1).sum::<usize>() >= 10, "{families:?}");
}

/// Records a session and checks its bundle and its expected verdicts. Returns its family and its counts.
fn checked(planted: &Planted, directory: &Path) -> (&'static str, Sum) {
    let path = directory.join(&planted.name);
    let truth = planted.write(&path).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
    truth_names_objects_that_are_there(planted, &truth, &path);
    truth_is_that_of_the_family(planted, &truth);
    let threads: BTreeSet<&str> = truth.iter().map(|turn| turn.thread_id.as_str()).collect();
    let log = fs::read_to_string(path.join(EVENT_LOG_FILE)).expect("a log");
    fs::remove_dir_all(&path).expect("removes");
    let sum = Sum {
        sessions: 1,
        with_children: usize::from(threads.len() > 1),
        with_inherited_history: usize::from(log.contains(r#"\"fork_turns\":\"all\""#)),
        of_schema_1: usize::from(planted.schema == SchemaVersion::V1),
    };
    (planted.family.name(), sum)
}

fn truth_names_objects_that_are_there(planted: &Planted, truth: &[TurnTruth], path: &Path) {
    let name = &planted.name;
    let bundle = Bundle::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    // Strict, unless the bundle is damaged on purpose.
    let options = Options { strict: !planted.is_torn, verify: false };
    let reduction = reduce(&bundle, options).unwrap_or_else(|error| panic!("{name}: {error}"));
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
}

fn truth_is_that_of_the_family(planted: &Planted, truth: &[TurnTruth]) {
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
        Family::Fault(category) => {
            // In addition to the fault, an agent may be stopped on purpose.
            let stopped = Category::InterruptedByAgent.name();
            let causes = causes.into_iter().filter(|cause| *cause != stopped || category.name() == stopped);
            let causes: BTreeSet<&str> = causes.collect();
            assert_eq!(causes, BTreeSet::from([category.name()]), "{name}");
        }
    }
}

#[test]
fn equal_programs_make_equal_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    for planted in all().iter().step_by(9) {
        let [once, again] = ["once", "again"].map(|time| {
            let path = directory.path().join(time).join(&planted.name);
            let truth = planted.write(&path).expect("records");
            let recorded = (truth, files(&path));
            fs::remove_dir_all(&path).expect("removes");
            recorded
        });
        assert!(once == again, "{}", planted.name);
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
