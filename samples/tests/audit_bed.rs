//! Checks the sessions for the audit: there are enough of every kind, a strict reduction accepts their bundles, and the
//! expected findings are about objects and messages that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use trace_explain::{ObjectRef, Session};
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce};
use trace_samples::audit::{Expectation, Family, Kind, Named, Planted, all};

#[test]
fn there_are_enough_sound_sessions_of_every_kind() {
    let directory = tempfile::tempdir().expect("a directory");
    let bed = all();
    let names: BTreeSet<&str> = bed.iter().map(|planted| planted.name.as_str()).collect();
    assert_eq!(names.len(), bed.len(), "a name stands twice");
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    assert!(names.iter().all(|name| name.chars().all(fits)), "names are good for directories");

    let threads: Vec<(Family, usize)> = bed.par_iter().map(|planted| checked(planted, directory.path())).collect();
    let mut sums: BTreeMap<(bool, Kind), (usize, usize)> = BTreeMap::new();
    for (family, threads) in threads {
        let sum = sums.entry((matches!(family, Family::Planted(_)), family.kind())).or_default();
        sum.0 += 1;
        sum.1 += usize::from(threads > 1);
    }
    for kind in Kind::ALL {
        let (planted, with_children) = sums[&(true, kind)];
        assert!(planted >= 10 && with_children >= 1, "{}: {planted}, {with_children} with children", kind.name());
        assert!(sums[&(false, kind)].0 >= 5, "honest {}: {:?}", kind.name(), sums[&(false, kind)]);
    }
    let honest: usize = sums.iter().filter(|((planted, _), _)| !planted).map(|(_, sum)| sum.0).sum();
    assert!(honest >= 150, "{honest} honest sessions");
}

/// Records a session and checks it. Returns its family and the number of its threads.
fn checked(planted: &Planted, directory: &Path) -> (Family, usize) {
    let name = &planted.name;
    let path = directory.join(name);
    let expected = planted.write(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let bundle = Bundle::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = Options { strict: true, verify: false };
    let reduction = reduce(&bundle, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let session = Session::new(bundle, reduction);
    let messages = messages(&path);
    for finding in &expected.findings {
        is_about_what_is_there(name, finding, &session, &messages);
        let family = planted.family;
        assert!(matches!(family, Family::Planted(kind) if finding.kinds.contains(&kind)), "{name}: {finding:?}");
        let is_claim = finding.kinds.iter().all(|kind| *kind <= Kind::ChildFailureHidden);
        assert_eq!(finding.claim.is_some(), is_claim, "{name}: {finding:?}");
    }
    assert_eq!(expected.findings.is_empty(), matches!(planted.family, Family::Honest(_)), "{name}");
    let threads = session.trace().threads.iter().count();
    fs::remove_dir_all(&path).expect("removes");
    (planted.family, threads)
}

fn is_about_what_is_there(name: &str, finding: &Expectation, session: &Session, messages: &[String]) {
    let thread = ObjectRef { kind: "thread".to_owned(), id: finding.thread_id.clone() };
    assert!(session.find(&thread).is_some(), "{name}: {thread} is not in the graph");
    if let Some(claim) = &finding.claim {
        assert!(messages.iter().any(|message| message.contains(claim.trim())), "{name}: nobody says {claim:?}");
    }
    for evidence in &finding.evidence {
        assert!(!evidence.objects.is_empty(), "{name}: {finding:?}");
        for object in &evidence.objects {
            match object {
                Named::Object { r#type, id } => {
                    let object = ObjectRef { kind: (*r#type).to_owned(), id: id.clone() };
                    assert!(session.find(&object).is_some(), "{name}: {object} is not in the graph");
                }
                Named::Message { text, .. } => assert!(messages.contains(text), "{name}: nobody says {text:?}"),
            }
        }
    }
}

/// Returns the texts of all messages of the model.
fn messages(bundle: &Path) -> Vec<String> {
    let mut messages = Vec::new();
    for entry in fs::read_dir(bundle.join("payloads")).expect("lists") {
        let text = fs::read_to_string(entry.expect("lists").path()).expect("reads");
        let payload: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
        let items = payload["output_items"].as_array().cloned().unwrap_or_default();
        messages.extend(items.iter().filter_map(|item| item["content"][0]["text"].as_str().map(str::to_owned)));
    }
    messages
}

#[test]
fn equal_programs_make_equal_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    for planted in all().iter().step_by(29) {
        let [once, again] = ["once", "again"].map(|time| {
            let path = directory.path().join(time).join(&planted.name);
            let expected = planted.write(&path).expect("records");
            let log = fs::read(path.join("trace.jsonl")).expect("reads");
            (expected, log, messages(&path).len())
        });
        assert!(once == again, "{}", planted.name);
    }
}
