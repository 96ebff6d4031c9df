//! A redacted bundle reduces to the same graph as the original, except that texts contain placeholders.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_recorder::Bundle;
use trace_recorder::redact::{Rules, redact};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};

/// Keys of texts that may contain a secret.
const TEXTS: [&str; 7] = ["text", "output", "aggregated_output", "message", "error", "source_js", "summary_text"];

/// Adds secrets to some texts. The choice depends only on the text, so that equal texts stay equal.
fn plant(value: &mut Value, planted: &mut u64) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| plant(element, planted)),
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                match member {
                    Value::String(text) if TEXTS.contains(&key.as_str()) => {
                        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                        });
                        let digits = format!("{:016x}{:016x}", hash, hash.rotate_left(17));
                        let secret = match hash % 5 {
                            0 => format!("\nexport DEPLOY_TOKEN={digits}x\n"),
                            1 => format!(" postgres://app:{digits}@db/app"),
                            2 => format!(" {}_{digits}{}", "ghp", &digits[..4]),
                            _ => continue,
                        };
                        text.push_str(&secret);
                        *planted += 1;
                    }
                    _ => plant(member, planted),
                }
            }
        }
        _ => {}
    }
}

fn plant_in_text(text: &[u8], planted: &mut u64) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(text) else { return text.to_vec() };
    plant(&mut value, planted);
    serde_json::to_vec(&value).expect("JSON")
}

/// Copies a bundle and adds secrets to the copy. Returns the number of secrets.
fn copy_with_secrets(from: &Path, to: &Path) -> u64 {
    let mut planted = 0;
    fs::create_dir_all(to.join("payloads")).expect("creates");
    fs::copy(from.join("manifest.json"), to.join("manifest.json")).expect("copies");
    let log = fs::read(from.join("trace.jsonl")).expect("reads");
    let lines: Vec<Vec<u8>> = log.split(|byte| *byte == b'\n').map(|line| plant_in_text(line, &mut planted)).collect();
    fs::write(to.join("trace.jsonl"), lines.join(&b'\n')).expect("writes");
    for entry in fs::read_dir(from.join("payloads")).expect("lists").flatten() {
        let text = fs::read(entry.path()).expect("reads");
        fs::write(to.join("payloads").join(entry.file_name()), plant_in_text(&text, &mut planted)).expect("writes");
    }
    planted
}

fn state(bundle: &Path) -> Value {
    let reduction = reduce(&Bundle::open(bundle).expect("opens"), Options::default()).expect("reduces");
    let mut text = Vec::new();
    state_json::write(&reduction, Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("JSON")
}

/// Panics unless two graphs differ only in strings that contain placeholders. Returns the number of those strings.
fn assert_same_shape(before: &Value, after: &Value, at: &str) -> u64 {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let keys = |members: &serde_json::Map<String, Value>| members.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(before), keys(after), "at {at}");
            before.iter().map(|(key, value)| assert_same_shape(value, &after[key], &format!("{at}/{key}"))).sum()
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len(), "at {at}");
            let pairs = before.iter().zip(after).enumerate();
            pairs.map(|(index, (before, after))| assert_same_shape(before, after, &format!("{at}/{index}"))).sum()
        }
        (Value::String(before), Value::String(after)) if before != after => {
            assert!(after.contains("[redacted:"), "at {at}: {before} became {after}");
            1
        }
        _ => {
            assert_eq!(before, after, "at {at}");
            0
        }
    }
}

fn check(bundles: &[PathBuf]) {
    let place = tempfile::tempdir().expect("a directory");
    let mut changed = 0;
    for (index, bundle) in bundles.iter().enumerate() {
        let (planted, copy) = (place.path().join(format!("{index}")), place.path().join(format!("{index}-redacted")));
        let secrets = copy_with_secrets(bundle, &planted);
        let opened = Bundle::open(&planted).expect("opens");
        let report = redact(&opened, &Rules::default(), &copy).expect("redacts");
        assert_eq!(report.occurrences() > 0, secrets > 0, "{}", bundle.display());
        assert!(report.occurrences() >= secrets, "{}: {secrets} planted", bundle.display());
        changed += assert_same_shape(&state(&planted), &state(&copy), &bundle.display().to_string());
        fs::remove_dir_all(&planted).expect("removes");
    }
    assert!(bundles.is_empty() || changed > 0, "the secrets reach the graphs");
}

#[test]
fn samples_keep_their_shape() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../samples");
    check(&["damaged", "one-agent", "team", "three-children"].map(|name| samples.join(name)));
}

#[test]
fn real_recordings_keep_their_shape() {
    let recordings = trace_needs::recordings("redaction").into_iter().map(|recording| recording.bundle);
    check(&recordings.collect::<Vec<_>>());
}
