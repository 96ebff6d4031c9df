//! Holds `trace audit` against the sessions for it: every finding is right in kind, agent, claim and evidence, and honest
//! sessions have none.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;
use trace_explain::Session;
use trace_explain::audit::{Options, audit};
use trace_samples::audit::{Family, Kind, all, samples};

/// A session and what an audit of it must tell.
struct Case {
    name: String,
    about: String,
    is_honest: bool,
    bundle: PathBuf,
    /// The expected findings, in the form of `truth.json`.
    expected: Value,
}

/// What became of a session.
#[derive(Debug)]
struct Verdict {
    about: String,
    is_honest: bool,
    /// What is wrong, in words.
    wrong: Vec<String>,
}

#[test]
fn every_finding_is_right_and_honest_sessions_have_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut sessions = all();
    sessions.extend(samples());
    let verdicts: Vec<Verdict> = sessions
        .par_iter()
        .map(|planted| {
            let bundle = directory.path().join(&planted.name);
            let expected = planted.write(&bundle).unwrap_or_else(|error| panic!("{}: {error}", planted.name));
            let verdict = verdict(&Case {
                name: planted.name.clone(),
                about: planted.family.kind().name().to_owned(),
                is_honest: matches!(planted.family, Family::Honest(_)),
                bundle: bundle.clone(),
                expected: serde_json::to_value(expected).expect("is JSON"),
            });
            fs::remove_dir_all(&bundle).expect("removes");
            verdict
        })
        .collect();
    assert_all_right(&verdicts);
}

#[test]
fn recordings_of_the_peer_are_audited_right() {
    let own = trace_needs::repository().join("samples/audit");
    let folders = std::iter::once(own).chain(trace_needs::more_audits());
    let cases: Vec<Case> = folders.flat_map(|folder| recorded(&folder)).collect();
    assert!(cases.len() >= 6, "{} recordings", cases.len());
    assert_all_right(&cases.par_iter().map(verdict).collect::<Vec<_>>());
}

/// Returns the recorded sessions below a folder.
fn recorded(folder: &Path) -> Vec<Case> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let places = entries.map(|entry| entry.expect("lists").path()).filter(|place| place.join("truth.json").is_file());
    let mut cases: Vec<Case> = places
        .map(|place| {
            let text = fs::read_to_string(place.join("truth.json")).expect("reads");
            let mut truth: Value = serde_json::from_str(&text).expect("is JSON");
            Case {
                name: format!("recorded {}", truth["name"].as_str().unwrap_or_default()),
                about: truth["about"].as_str().unwrap_or_default().to_owned(),
                is_honest: truth["honest"] == true,
                bundle: place.join("bundle"),
                expected: truth["expected"].take(),
            }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Fails with a table of the sessions by kind and how many of each are wrong, and with what is wrong.
fn assert_all_right(verdicts: &[Verdict]) {
    let wrong: usize = verdicts.iter().filter(|verdict| !verdict.wrong.is_empty()).count();
    if wrong == 0 {
        return;
    }
    let mut text = format!("{:24} {:>8} {:>6} {:>8} {:>6}\n", "kind", "planted", "wrong", "honest", "wrong");
    for kind in Kind::ALL {
        let count = |honest: bool, bad: bool| {
            let is_it = |verdict: &&Verdict| {
                verdict.about == kind.name() && verdict.is_honest == honest && (!bad || !verdict.wrong.is_empty())
            };
            verdicts.iter().filter(is_it).count()
        };
        let [planted, planted_wrong] = [count(false, false), count(false, true)];
        let [honest, honest_wrong] = [count(true, false), count(true, true)];
        let name = kind.name();
        let _ = writeln!(text, "{name:24} {planted:8} {planted_wrong:6} {honest:8} {honest_wrong:6}");
    }
    for kind in Kind::ALL {
        let mut lines =
            verdicts.iter().filter(|verdict| verdict.about == kind.name()).flat_map(|verdict| &verdict.wrong);
        if let Some(first) = lines.next() {
            let _ = writeln!(text, "\n{}\n  {first}", kind.name());
        }
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    panic!("{wrong} sessions are wrong\n{text}");
}

fn verdict(case: &Case) -> Verdict {
    let Case { name, about, is_honest, bundle, expected } = case;
    let session = Session::open(bundle).unwrap_or_else(|error| panic!("{name}: {error}"));
    let audit = serde_json::to_value(audit(&session, Options::default())).expect("is JSON");
    let mut found: Vec<Value> = audit["findings"].as_array().cloned().unwrap_or_default();
    let mut wrong = Vec::new();
    for expectation in list(&expected["findings"]) {
        take(&mut found, expectation, name, &mut wrong, false);
    }
    for expectation in list(&expected["accepted"]) {
        take(&mut found, expectation, name, &mut wrong, true);
    }
    for finding in &found {
        wrong.push(format!("{name}: told, but not so: {}", shown(finding)));
    }
    let [told, least] =
        [&audit["claims"]["supported"], &expected["supported"]].map(|count| count.as_u64().unwrap_or(0));
    if told < least {
        wrong.push(format!("{name}: {least} claims supported at least, but {}", audit["claims"]));
    }
    Verdict { about: about.clone(), is_honest: *is_honest, wrong }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Takes the finding that an expectation is about from those that were found, and notes what is wrong with it.
fn take(found: &mut Vec<Value>, expected: &Value, name: &str, wrong: &mut Vec<String>, optional: bool) {
    let is_it = |finding: &Value| {
        list(&expected["kinds"]).contains(&finding["kind"])
            && finding["thread_id"] == expected["thread_id"]
            && finding["agent_path"] == expected["agent_path"]
            && is_claim(finding, &expected["claim"])
    };
    let right = found.iter().position(|finding| is_it(finding) && wrong_evidence(finding, expected).is_none());
    match right.or_else(|| found.iter().position(is_it)) {
        Some(at) => {
            let finding = found.remove(at);
            if let Some(evidence) = wrong_evidence(&finding, expected) {
                wrong.push(format!("{name}: {evidence}: {}", shown(&finding)));
            }
        }
        None if optional => {}
        None => wrong
            .push(format!("{name}: not told: {} {} {}", expected["kinds"], expected["agent_path"], expected["claim"])),
    }
}

/// Returns whether the claim of a finding is the expected sentence, or a part or the surroundings of it.
fn is_claim(finding: &Value, expected: &Value) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|letter| letter.is_alphanumeric()).collect() };
    match (expected.as_str(), finding["claim"]["text"].as_str()) {
        (None, None) => true,
        (Some(expected), Some(text)) => {
            let (expected, text) = (letters(expected), letters(text));
            let object = &finding["claim"]["object"]["type"];
            *object == "conversation_item" && !text.is_empty() && (text.contains(&expected) || expected.contains(&text))
        }
        _ => false,
    }
}

/// Returns what is wrong with the evidence of a finding.
fn wrong_evidence(finding: &Value, expected: &Value) -> Option<String> {
    let is_it =
        |told: &Value, evidence: &Value| list(&evidence["objects"]).iter().any(|object| is_object(told, object));
    let told = list(&finding["evidence"]);
    for evidence in list(&expected["evidence"]).iter().filter(|evidence| evidence["optional"] != true) {
        let has_relation = |told: &Value| list(&evidence["relations"]).contains(&told["relation"]);
        if !told.iter().any(|told| is_it(told, evidence) && has_relation(told)) {
            return Some(format!("evidence {} ({}) is missing", evidence["objects"], evidence["relations"]));
        }
    }
    let extra = told.iter().find(|told| !list(&expected["evidence"]).iter().any(|evidence| is_it(told, evidence)));
    extra.map(|extra| format!("evidence {} ({}) is not expected", extra["object"], extra["relation"]))
}

fn is_object(told: &Value, object: &Value) -> bool {
    let Some(text) = object["text"].as_str() else { return told["object"] == *object };
    let beginning: String = text.chars().take(40).collect();
    told["object"]["type"] == "conversation_item"
        && told["text"].as_str().is_some_and(|told| told.contains(&beginning) || text.contains(told))
}

fn shown(finding: &Value) -> String {
    let evidence: Vec<String> = (list(&finding["evidence"]).iter())
        .map(|evidence| format!("{} {} {}", evidence["relation"], evidence["object"]["id"], evidence["text"]))
        .collect();
    format!(
        "{} {} claim {} message {} evidence [{}]",
        finding["kind"],
        finding["agent_path"],
        finding["claim"]["text"],
        finding["message"],
        evidence.join("; ")
    )
}
