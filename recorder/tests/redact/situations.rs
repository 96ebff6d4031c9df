//! Tests that passwords of every sort are redacted in everyday situations: settings, commands, outputs, code, chats.
//!
//! `situations.txt` has one text per situation, `@S@` in the place of the secret. A situation `generated` is one where only
//! what a generator made can be told from words.

use serde_json::json;
use trace_recorder::redact::{Rules, redact_json};

/// Passwords of ordinary words, of words with numbers, and of generators.
const SPOKEN: &[&str] = &["walnut-candle-harbor", "maple71-prod", "Thistle2023!"];
const GENERATED: &[&str] = &["k3Vw9QpZr7TxLm2N", "a7f3c1e95b2d4880c6e1f39ab0d27c54"];

/// Most secrets that may be left, per thousand.
const MAX_LEFT_PER_THOUSAND: usize = 10;

/// Situations as (sort, name, text).
fn situations() -> Vec<(&'static str, &'static str, &'static str)> {
    let blocks = include_str!("situations.txt").split("%% ").filter(|block| !block.is_empty());
    let parsed = blocks.map(|block| {
        let (heading, text) = block.split_once('\n').expect("a heading and a text");
        let (sort, name) = heading.split_once(' ').expect("a sort and a name");
        (sort, name, text)
    });
    parsed.collect()
}

#[test]
fn passwords_are_found_in_everyday_situations() {
    let (mut total, mut left) = (0, Vec::new());
    let situations = situations();
    assert!(situations.len() >= 250, "{}", situations.len());
    for (sort, name, text) in situations {
        let spoken = if sort == "any" { SPOKEN } else { &[] };
        for secret in spoken.iter().chain(GENERATED) {
            let document = json!({ "output": text.replace("@S@", secret) }).to_string();
            let redacted = redact_json(document.as_bytes(), &Rules::default());
            total += 1;
            if String::from_utf8_lossy(&redacted).contains(secret) {
                left.push((name, secret));
            }
        }
    }
    assert!(left.len() * 1000 <= total * MAX_LEFT_PER_THOUSAND, "{} of {total}: {left:?}", left.len());
}
