//! Exports that are imported again make the graph that they were made of.

#![expect(clippy::print_stdout, reason = "the output of the test has the counts")]

mod facts;

use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_explain::Session;
use trace_export::atif;
use trace_export::otlp::{self, Content};
use trace_reducer::{Options, reduce, state_json};

use facts::{differences, facts};

fn bundles() -> Vec<(String, PathBuf)> {
    let samples = ["one-agent", "three-children", "damaged", "team"];
    let sample = |name: &str| (name.to_owned(), trace_needs::repository().join("samples").join(name));
    let recordings = trace_needs::recordings("round trips of exports");
    let recording = recordings.into_iter().map(|recording| (recording.name, recording.bundle));
    samples.into_iter().map(sample).chain(recording).collect()
}

fn opened(path: &Path) -> Session {
    Session::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes an export to a file and imports it.
fn imported(bytes: &[u8], name: &str) -> Session {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writes");
    let found = trace_import::sessions(&path).expect("reads");
    assert_eq!(found.len(), 1, "{found:?}");
    let bundle = trace_import::open(&found[0]).expect("imports");
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&bundle, strict).expect("nothing is reported");
    Session::new(bundle, reduction)
}

fn state(session: &Session) -> Value {
    let reduction = reduce(session.bundle(), Options::default()).expect("reduces");
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

fn compare(what: &str, again: impl Fn(&Session) -> Session) {
    let show = std::env::var("SHOW").ok();
    let mut sums: std::collections::BTreeMap<&str, (usize, usize, usize)> = Default::default();
    for (name, path) in bundles() {
        let original = opened(&path);
        let (one, other) = (facts(&state(&original)), facts(&state(&again(&original))));
        for (class, list) in &one {
            sums.entry(class).or_default().0 += list.len();
        }
        for (class, (lost, new)) in differences(&one, &other) {
            let sum = sums.entry(class).or_default();
            sum.1 += lost.len();
            sum.2 += new.len();
            println!("{what} {name}: {class}: {} lost, {} new", lost.len(), new.len());
            if show.as_deref().is_some_and(|show| class == show) {
                for line in lost.iter().take(2) {
                    println!("   - {line}");
                }
                for line in new.iter().take(2) {
                    println!("   + {line}");
                }
            }
        }
    }
    for (class, sum) in sums {
        println!("SUM {what} {class}: {sum:?}");
    }
}

#[test]
fn atif_round() {
    compare("atif", |session| {
        let mut bytes = Vec::new();
        atif::write(session, &mut bytes).expect("writes");
        imported(&bytes, "trajectory.json")
    });
}

#[test]
fn otlp_round() {
    for content in [Content::LeftOut, Content::Included] {
        compare(&format!("otlp {content:?}"), |session| {
            let mut bytes = Vec::new();
            otlp::write(session, content, &mut bytes).expect("writes");
            imported(&bytes, "traces.jsonl")
        });
    }
}
