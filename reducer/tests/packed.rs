//! A packed bundle reduces to the same state as its directory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use trace_recorder::Bundle;
use trace_recorder::pack::{Level, PackedBundle, Source, pack, unpack, verify};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};

/// Returns the bundles right below `root`.
fn bundles(root: &Path) -> Vec<PathBuf> {
    let mut bundles: Vec<PathBuf> = fs::read_dir(root)
        .expect("lists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("trace.jsonl").exists() || path.join("manifest.json").exists())
        .collect();
    bundles.sort();
    bundles
}

/// Returns the diagnostics, `state.json` and the compact form.
fn state(path: &Path, strict: bool) -> Result<String, String> {
    let bundle = Bundle::open(path).expect("opens");
    let reduction = reduce(&bundle, Options { strict, verify: false }).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    state_json::write(&reduction, Style::Pretty, &mut text).expect("memory does not fail");
    text.push(b'\n');
    state_json::write_compact(&reduction, &mut text).expect("memory does not fail");
    let told: String = reduction.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    Ok(told + &String::from_utf8(text).expect("UTF-8"))
}

/// Replaces the path of the bundle, which diagnostics about missing files contain.
fn without_place(text: Result<String, String>, place: &Path) -> Result<String, String> {
    let place = place.to_string_lossy();
    text.map(|text| text.replace(&*place, "BUNDLE")).map_err(|text| text.replace(&*place, "BUNDLE"))
}

/// Packs, unpacks and reduces each bundle.
fn compare_all(bundles: &[PathBuf]) {
    for directory in bundles {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("bundle.trace");
        let source = Source::list(directory).expect("lists");
        let out = File::create(&path).expect("creates");
        pack(&source, &out, Level::new(3).expect("a level")).expect("packs");
        let packed = PackedBundle::open(&path).expect("opens");
        verify(&packed, &source).expect("is the same");
        let unpacked = place.path().join("unpacked");
        fs::create_dir(&unpacked).expect("creates");
        unpack(&packed, &unpacked, u64::MAX).expect("unpacks");
        verify(&packed, &Source::list(&unpacked).expect("lists")).expect("is the same again");
        for strict in [false, true] {
            let expected = without_place(state(directory, strict), directory);
            let found = without_place(state(&path, strict), &path);
            if expected.as_ref().is_ok_and(|text| text.contains("BUNDLE")) {
                // A missing manifest or log has another message in a packed bundle.
                assert!(found.is_ok_and(|text| text.contains("BUNDLE")), "{}", directory.display());
            } else {
                assert!(found == expected, "{} packed reduces to another state", directory.display());
            }
        }
    }
}

#[test]
fn every_case_reduces_packed_as_it_does_unpacked() {
    let bundles = bundles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    assert_eq!(bundles.len(), 245);
    compare_all(&bundles);
}

#[test]
fn every_recording_reduces_packed_as_it_does_unpacked() {
    let recordings = trace_needs::recordings("packing");
    compare_all(&recordings.into_iter().map(|recording| recording.bundle).collect::<Vec<_>>());
}

/// Writes a bundle with a long log: turns with requests that repeat each other, and what can be wrong with lines and events.
fn write_long(root: &Path, is_damaged: bool) {
    const EVENTS: u64 = 15_000;
    fs::create_dir_all(root.join("payloads")).expect("creates");
    let manifest = r#"{"schema_version":2,"trace_id":"t","rollout_id":"r","root_thread_id":"a","started_at_unix_ms":0,"raw_event_log":"trace.jsonl","payloads_dir":"payloads"}"#;
    fs::write(root.join("manifest.json"), manifest).expect("writes");
    let mut log = String::new();
    let mut history = String::new();
    for seq in 1..=EVENTS {
        let number = seq / 4;
        let thread = if number % 3 == 0 { "b" } else { "a" };
        let payload = match (seq, seq % 4) {
            (1, _) => r#"{"type":"rollout_started","trace_id":"t","root_thread_id":"a"}"#.to_owned(),
            (2, _) => r#"{"type":"thread_started","thread_id":"a","agent_path":"/root"}"#.to_owned(),
            (3, _) => r#"{"type":"thread_started","thread_id":"b","agent_path":"/root/b"}"#.to_owned(),
            (_, 0) => format!(r#"{{"type":"codex_turn_started","codex_turn_id":"t{number}","thread_id":"{thread}"}}"#),
            (_, 1) => {
                if number % 50 == 0 {
                    history.clear();
                }
                let comma = if history.is_empty() { "" } else { "," };
                history.push_str(&format!(
                    r#"{comma}{{"type":"message","role":"user","content":[{{"type":"input_text","text":"word {number}"}}]}}"#
                ));
                let cut = if is_damaged && number % 700 == 0 { 9 } else { 0 };
                let request = format!(r#"{{"model":"m","input":[{history}],"stream":true}}"#);
                fs::write(root.join(format!("payloads/{number}.json")), &request[..request.len() - cut])
                    .expect("writes");
                format!(
                    r#"{{"type":"inference_started","inference_call_id":"i{number}","thread_id":"{thread}","codex_turn_id":"t{number}","model":"m","provider_name":"p","request_payload":{{"raw_payload_id":"raw_payload:{number}","kind":{{"type":"inference_request"}},"path":"payloads/{number}.json"}}}}"#
                )
            }
            (_, 2) if is_damaged && number % 90 == 0 => {
                r#"{"type":"thread_ended","thread_id":"unknown","status":"completed"}"#.to_owned()
            }
            (_, 2) => format!(r#"{{"type":"history_item_accepted","item_id":"h{number}"}}"#),
            _ => format!(r#"{{"type":"codex_turn_ended","codex_turn_id":"t{number}","status":"completed"}}"#),
        };
        match seq % 1000 {
            // Whatever does not begin as recorders write it makes the log be read at once, so the damage has to begin like an event.
            501 if is_damaged => {
                log.push_str(&format!("{{\"schema_version\":2,\"seq\":{seq},\"wall\n"));
                continue;
            }
            777 if is_damaged => continue,
            _ => {}
        }
        let rollout = if is_damaged && seq % 2500 == 42 { "other" } else { "r" };
        log.push_str(&format!(
            "{{\"schema_version\":2,\"seq\":{seq},\"wall_time_unix_ms\":{seq},\"rollout_id\":\"{rollout}\",\"thread_id\":\"{thread}\",\"payload\":{payload}}}\n"
        ));
    }
    fs::write(root.join("trace.jsonl"), log).expect("writes");
}

#[test]
fn a_long_log_that_is_read_in_pieces_gives_what_it_gives_at_once() {
    for is_damaged in [false, true] {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("bundle");
        write_long(&directory, is_damaged);
        let told = state(&directory, false).expect("lenient");
        assert_eq!(told.contains("\"diagnostics\""), is_damaged, "{}", told.get(..2000).unwrap_or(&told));
        compare_all(&[directory]);
    }
}
