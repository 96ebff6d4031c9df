//! The audit over recorded sessions with the truth beside each.

use std::path::Path;

#[expect(dead_code, reason = "other tests use more of it")]
mod stage;

use serde_json::{Value, json};
use stage::{Stage, arguments, direct, message, model};
use trace_explain::Session;
use trace_explain::audit::{MAX_BYTES_BESIDE, MAX_CALLS_BESIDE, Options, audit, audit_beside};

/// Returns the bundle in a folder: a directory, or packed.
fn bundle_of(folder: &Path) -> std::path::PathBuf {
    let packed = folder.join("session.trace");
    if packed.exists() { packed } else { folder.join("bundle") }
}

/// Returns what is wrong with the audit of a session, by its truth.
fn differences(folder: &Path) -> Vec<String> {
    let truth: Value =
        serde_json::from_slice(&std::fs::read(folder.join("truth.json")).expect("a truth")).expect("JSON");
    let session = Session::open(&bundle_of(folder)).expect("a bundle");
    let found = serde_json::to_value(audit(&session, Options::default())).expect("JSON");
    let name = truth["name"].as_str().expect("a name");
    let mut wrong = Vec::new();
    let mut left: Vec<&Value> = found["findings"].as_array().expect("a list").iter().collect();
    for expected in truth["findings"].as_array().expect("a list") {
        let kinds: Vec<&Value> = match expected["kinds_accepted"].as_array() {
            Some(kinds) => kinds.iter().collect(),
            None => vec![&expected["kind"]],
        };
        let at = left
            .iter()
            .position(|finding| kinds.contains(&&finding["kind"]) && finding["turn_id"] == expected["turn_id"]);
        let Some(at) = at else {
            wrong.push(format!("{name}: no {}", expected["kind"]));
            continue;
        };
        let finding = left.remove(at);
        if finding["agent_path"] != expected["agent_path"] || finding["thread_id"] != expected["thread_id"] {
            wrong.push(format!("{name}: another agent"));
        }
        match expected["claim"].as_array() {
            None if !finding["claim"].is_null() => wrong.push(format!("{name}: a claim")),
            Some(claims) if !claims.contains(&finding["claim"]["object"]) => {
                wrong.push(format!("{name}: another claim"));
            }
            _ => {}
        }
        let evidence = finding["evidence"].as_array().expect("a list");
        let accepted = expected["evidence"].as_array().expect("a list");
        if !accepted.is_empty() && !evidence.iter().any(|proof| accepted.contains(&proof["object"])) {
            wrong.push(format!("{name}: no accepted evidence in {evidence:?}"));
        }
        if let Some(relation) = expected["relation"].as_str()
            && !evidence.iter().any(|proof| proof["relation"] == relation)
        {
            wrong.push(format!("{name}: no evidence {relation}"));
        }
    }
    wrong.extend(left.iter().map(|finding| format!("{name}: told {}: {}", finding["kind"], finding["message"])));
    for (least, count) in [("unverifiable_min", "unverifiable"), ("supported_min", "supported")] {
        if let Some(least) = truth["claims"][least].as_u64()
            && found["claims"][count].as_u64() < Some(least)
        {
            wrong.push(format!("{name}: {count} is {}", found["claims"][count]));
        }
    }
    wrong
}

/// Folders with the recordings that the repository has.
fn recorded() -> Vec<std::path::PathBuf> {
    let folder = trace_needs::repository().join("reducer/explain/tests/audit/recorded");
    let mut found: Vec<_> =
        std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("lists").path()).collect();
    found.sort();
    found
}

#[test]
fn every_recording_of_the_repository_has_its_findings_and_no_others() {
    let folders = recorded();
    assert!(folders.len() >= 7, "{folders:?}");
    let wrong: Vec<String> = folders.iter().flat_map(|folder| differences(folder)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_audit_of_the_same_session_is_the_same_to_the_byte() {
    for folder in recorded() {
        let once = || {
            let session = Session::open(&bundle_of(&folder)).expect("a bundle");
            serde_json::to_string(&audit(&session, Options { low: true })).expect("JSON")
        };
        assert_eq!(once(), once(), "{}", folder.display());
    }
}

#[test]
fn claims_are_supported_contradicted_or_unverifiable() {
    for recording in trace_needs::recordings("the audit") {
        let session = Session::open(&recording.bundle).expect("a bundle");
        let audit = audit(&session, Options { low: true });
        let claims = audit.claims;
        assert_eq!(claims.checked, claims.supported + claims.contradicted + claims.unverifiable, "{}", recording.name);
        for finding in &audit.findings {
            assert!(finding.evidence.len() <= trace_explain::audit::MAX_EVIDENCE);
            assert_eq!(finding.claim.is_some(), finding.kind.is_about_claim(), "{}", recording.name);
            for proof in &finding.evidence {
                assert!(session.find(&proof.object).is_some(), "{}: {:?}", recording.name, proof.object);
            }
        }
    }
}

#[test]
fn every_session_beside_the_repository_has_its_findings_and_no_others() {
    let folders = trace_needs::audits("recorded sessions are not audited");
    let wrong: Vec<String> = folders.iter().flat_map(|folder| differences(folder)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes a session with calls of a tool that is no command, of which the first returns so many bytes.
fn session_with(calls: usize, bytes: usize) -> (Stage, Session) {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "model": "m", "input": [message("user", "m1", "Look.")] }));
    stage.respond("t-root", "i1", &[message("assistant", "m2", "I looked.")]);
    for call in 0..calls {
        let id = format!("c{call}");
        stage.call("t-root", &id, json!({ "type": "other", "name": "look" }), "look", arguments("{}"), model());
        let text = if call == 0 { "x".repeat(bytes) } else { "x".to_owned() };
        stage.returned("t-root", &id, &direct(&id, &text));
    }
    let session = stage.session();
    (stage, session)
}

#[test]
fn a_session_is_audited_beside_another_answer_up_to_a_number_of_calls() {
    assert!(audit_beside(&session_with(MAX_CALLS_BESIDE, 1).1).is_some());
    assert!(audit_beside(&session_with(MAX_CALLS_BESIDE + 1, 1).1).is_none());
}

#[test]
fn a_session_is_audited_beside_another_answer_up_to_a_number_of_bytes() {
    // What is around the output in its payload, and the other payloads and texts, take less than 4 KiB.
    let most = usize::try_from(MAX_BYTES_BESIDE).expect("a small number");
    assert!(audit_beside(&session_with(1, most - 4096).1).is_some());
    // The output of a tool that is no command counts, too.
    let (_stage, large) = session_with(1, most);
    assert!(audit_beside(&large).is_none());
    assert!(audit(&large, Options::default()).findings.is_empty(), "an audit by itself has no limit");
}
