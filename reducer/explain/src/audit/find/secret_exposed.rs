//! `secret_exposed`: the model itself writes a secret.

use std::sync::LazyLock;

use regex::Regex;
use trace_recorder::redact::{Rules, redact_json};

use crate::audit::draft::{Draft, Proof};
use crate::audit::kind::Kind;
use crate::audit::ledger::{Input, Ledger};
use crate::audit::read::files::is_example;
use crate::audit::report::Relation;
use crate::object::Object;
use crate::postmortem::Confidence;

/// Longest text that is searched for secrets, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Signs without which no text has a secret; they only save time.
static SIGNS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)key|token|secret|passw|pwd|credential|bearer|authorization|://[^\s/@:]*:[^\s/@]+@|-----BEGIN|\b(?:AKIA|ASIA|gh[pousr]_|github_pat_|sk-|sk_|rk_|pk_|xox[abpsr]-|glpat-|npm_|pypi-|AIza|ya29\.|eyJ|hf_|SG\.|dop_v1_|shpat_|whsec_)",
    )
    .expect("a pattern")
});

/// Values that everybody uses in examples, in lower case.
const EXAMPLES: [&str; 26] = [
    "example",
    "password",
    "passwd",
    "changeme",
    "secret",
    "test",
    "dummy",
    "placeholder",
    "your",
    "xxxx",
    "****",
    "<",
    "{{",
    "$",
    "sample",
    "fake",
    "mock",
    "postgres",
    "foobar",
    "hunter2",
    "redacted",
    "...",
    "admin",
    "guest",
    "letmein",
    "abc123",
];

/// Kinds that a redaction finds by what stands around a text. It replaces too much rather than too little, and much of what
/// it replaces is a password of a development database that the model made up, a hash or code. Such a text is told only
/// if an output showed it before as the value of a secret. All other kinds have the shape of a provider's keys.
const BY_CONTEXT: [&str; 17] = [
    "api-key",
    "base64",
    "basic-auth",
    "bearer-token",
    "cookie",
    "credential",
    "literal",
    "password",
    "password-hash",
    "recovery-code",
    "recovery-phrase",
    "secret",
    "signature",
    "token",
    "url-password",
    "wallet-key",
    "webhook",
];

/// Shortest secret that is told because an output showed it under the name of a secret, in bytes.
const MIN_SHOWN_BYTES: usize = 12;

/// What stands before a value that is named a secret: the end of `API_KEY=`, `"token": "`, `https://user:`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:(?:key|token|secret|passw(?:or)?d|passwd|pwd|credentials?|authorization)[\w-]*["']?\s*(?:=>|=|:)\s*["']?(?:bearer\s+|basic\s+)?|://[^\s/@:]*:)$"#,
    )
    .expect("a pattern")
});

/// A secret in a text.
#[derive(Debug, PartialEq, Eq)]
struct Secret {
    /// The name of its kind, as in a placeholder of a redaction.
    kind: String,
    text: String,
}

/// A text that the model wrote.
struct Written<'a> {
    text: &'a str,
    act: Option<usize>,
    answer: Option<usize>,
    seq: u64,
}

/// Finds secrets that the model wrote, and returns them beside the findings, so that texts can be masked.
pub(crate) fn find(ledger: &Ledger<'_>) -> (Vec<Draft>, Vec<String>) {
    let mut texts: Vec<Written<'_>> = Vec::new();
    let mut owned: Vec<(usize, String)> = Vec::new();
    for (index, act) in ledger.acts.iter().enumerate() {
        if let Input::Edit(edits) = &act.input {
            for edit in edits.iter().filter(|edit| !is_example(&edit.path)) {
                let lines: Vec<&str> = edit.signed('+').collect();
                owned.push((index, lines.join("\n")));
            }
        }
    }
    let edited = owned.iter().map(|(index, text)| Written {
        text,
        act: Some(*index),
        answer: None,
        seq: ledger.acts[*index].started,
    });
    texts.extend(edited);
    for (index, act) in ledger.acts.iter().enumerate() {
        match &act.input {
            Input::Edit(_) => {}
            Input::Command(text) | Input::Stdin(text) | Input::Message(text) | Input::Other(_, text) => {
                let into_example = || matches!(&act.input, Input::Command(_) if crate::audit::ledger::changes::changes_of(act.commands()).iter().any(|change| change.path.as_deref().is_some_and(is_example)));
                if SIGNS.is_match(text) && !into_example() {
                    texts.push(Written { text, act: Some(index), answer: None, seq: act.started });
                }
            }
            Input::Wait => {}
        }
    }
    texts.extend(ledger.answers.iter().enumerate().map(|(index, answer)| Written {
        text: &answer.text,
        act: None,
        answer: Some(index),
        seq: answer.seq,
    }));
    texts.sort_by_key(|written| written.seq);
    let rules = Rules::default();
    let mut found: Vec<Draft> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let mut masked: Vec<String> = Vec::new();
    for written in texts {
        if written.text.len() > MAX_TEXT_BYTES || !SIGNS.is_match(written.text) {
            continue;
        }
        for Secret { kind, text: secret } in secrets_in(written.text, &rules) {
            if known.contains(&secret) {
                continue;
            }
            known.push(secret.clone());
            let is_harmless = is_harmless(&secret, written.text);
            // `postgres` is a password of examples, and a word of many other texts.
            if !is_harmless {
                masked.push(secret.clone());
            }
            // One act has one finding, however many secrets it holds.
            if found.last().is_some_and(|last| last.seq == written.seq && last.act == written.act) {
                continue;
            }
            if is_harmless || ledger.words.iter().any(|words| words.text.contains(&secret)) {
                continue;
            }
            let from = first_seen(ledger, &secret, written.seq);
            let is_sure = if kind == "private-key" {
                secret.contains("-----BEGIN") || written.text.contains("-----BEGIN")
            } else if BY_CONTEXT.contains(&kind.as_str()) {
                from.is_some_and(|from| was_shown_as_secret(ledger, from, &secret))
            } else {
                true
            };
            if !is_sure {
                continue;
            }
            let what = if written.answer.is_some() { "an answer" } else { "a call" };
            let message = format!("wrote a secret into {what}: {kind}");
            let mut draft = match (written.act, written.answer) {
                (Some(act), _) => Draft::of_act(ledger, Kind::SecretExposed, act, Confidence::High, message),
                (None, Some(answer)) => {
                    let it = &ledger.answers[answer];
                    Draft {
                        kind: Kind::SecretExposed,
                        severity: Kind::SecretExposed.severity(),
                        confidence: Confidence::High,
                        thread: it.thread,
                        turn: Some(it.turn),
                        claim: None,
                        evidence: vec![Proof {
                            object: Object::Item(it.item),
                            seq: Some(it.seq),
                            text: it.text.clone(),
                            relation: Relation::Action,
                        }],
                        message,
                        seq: it.seq,
                        act: None,
                        judged: Vec::new(),
                    }
                }
                (None, None) => continue,
            };
            if let Some(from) = from.filter(|from| Some(*from) != written.act) {
                draft.add_act(ledger, from, Relation::SecretFrom);
            }
            found.push(draft);
        }
    }
    (found, masked)
}

/// Returns the first call whose output holds a secret.
fn first_seen(ledger: &Ledger<'_>, secret: &str, before: u64) -> Option<usize> {
    ledger.acts.iter().position(|act| {
        act.ended.is_some_and(|ended| ended <= before)
            && memchr::memmem::find(act.output.as_bytes(), secret.as_bytes()).is_some()
    })
}

/// Returns whether the output of a call has a random text as the value of a secret, and the model had not written it before.
fn was_shown_as_secret(ledger: &Ledger<'_>, from: usize, secret: &str) -> bool {
    let is_random = secret.len() >= MIN_SHOWN_BYTES
        && secret.bytes().any(|byte| byte.is_ascii_digit())
        && secret.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !secret.contains(char::is_whitespace)
        && !secret.starts_with("0x");
    is_random
        && !ledger.acts[..=from].iter().any(|act| act.written().contains(secret))
        && ledger.acts[from].output.lines().any(|line| {
            line.match_indices(secret).any(|(at, _)| {
                let begin = floor(line, at.saturating_sub(80));
                NAMED.is_match(&line[begin..at])
            })
        })
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the secrets in a text: what a redaction of it would replace.
fn secrets_in(text: &str, rules: &Rules) -> Vec<Secret> {
    let Ok(document) = serde_json::to_vec(&serde_json::json!({ "text": text })) else { return Vec::new() };
    let redacted = redact_json(&document, rules);
    if redacted == document {
        return Vec::new();
    }
    let Some(redacted) = serde_json::from_slice::<serde_json::Value>(&redacted)
        .ok()
        .and_then(|value| value.get("text").and_then(|text| text.as_str()).map(str::to_owned))
    else {
        return Vec::new();
    };
    replaced(text, &redacted)
}

/// Returns the parts of a text that placeholders stand for in its redacted form.
fn replaced(text: &str, redacted: &str) -> Vec<Secret> {
    static PLACEHOLDER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[redacted:([a-z0-9-]+):[0-9a-f]{8}\]").expect("a pattern"));
    let mut found = Vec::new();
    let mut at = 0;
    let mut from = 0;
    let spans: Vec<(usize, usize, &str)> = PLACEHOLDER
        .captures_iter(redacted)
        .filter_map(|it| Some((it.get(0)?.start(), it.get(0)?.end(), it.get(1)?.as_str())))
        .collect();
    for (index, (start, end, kind)) in spans.iter().enumerate() {
        at += start - from;
        let next = spans.get(index + 1).map_or(redacted.len(), |next| next.0);
        let kept = &redacted[*end..next];
        let Some(rest) = text.get(at..) else { break };
        let length = if kept.is_empty() && index + 1 == spans.len() {
            rest.len()
        } else {
            rest.find(kept).filter(|_| !kept.is_empty()).unwrap_or(rest.len())
        };
        let length = if index + 1 == spans.len() { rest.len().saturating_sub(kept.len()) } else { length };
        let Some(secret) = rest.get(..length) else { break };
        if !secret.is_empty() && !secret.starts_with("[redacted:") {
            found.push(Secret { kind: (*kind).to_owned(), text: secret.to_owned() });
        }
        at += length;
        from = *end;
    }
    found
}

fn is_harmless(secret: &str, text: &str) -> bool {
    let lower = secret.to_lowercase();
    let example = EXAMPLES.iter().any(|word| {
        lower == *word
            || lower.contains("example")
            || lower.starts_with("your")
            || (lower.contains(word) && (word.starts_with(['<', '$', '{', '*', '.']) || word.len() > 6))
    });
    let repeated = {
        let mut it = lower.chars();
        let first = it.next();
        it.all(|other| Some(other) == first)
    };
    let local = ["localhost", "127.0.0.1", "0.0.0.0", "example.com", "example.org", "::1"].iter().any(|host| {
        text.contains(&format!("{secret}@{host}")) || text.contains(&format!("@{host}")) && text.contains(secret)
    });
    example || repeated || local || secret.len() < 6
}

/// Replaces secrets in a text.
pub(crate) fn masked(text: &str, secrets: &[String]) -> String {
    let mut masked = text.to_owned();
    for secret in secrets {
        if masked.contains(secret.as_str()) {
            masked = masked.replace(secret.as_str(), "[redacted]");
        }
    }
    if !SIGNS.is_match(&masked) {
        return masked;
    }
    for secret in secrets_in(&masked, &Rules::default()) {
        masked = masked.replace(secret.text.as_str(), "[redacted]");
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_is_found() {
        let found = |text: &str, redacted: &str| -> Vec<String> {
            replaced(text, redacted).into_iter().map(|secret| format!("{} {}", secret.kind, secret.text)).collect()
        };
        assert_eq!(found("a SECRET b", "a [redacted:x:00c0ffee] b"), ["x SECRET"]);
        assert_eq!(found("S1 and S2", "[redacted:x:00c0ffee] and [redacted:y-z:00c0ffed]"), ["x S1", "y-z S2"]);
        assert_eq!(found("tail S1", "tail [redacted:x:00c0ffee]"), ["x S1"]);
        assert!(found("nothing", "nothing").is_empty());
    }

    #[test]
    fn values_of_secrets_are_told_by_what_stands_before_them() {
        for before in
            ["API_KEY=", "\"token\": \"", "https://user:", "Authorization: Bearer ", "a?api-key=", "DB_PASSWORD: "]
        {
            assert!(NAMED.is_match(before), "{before}");
        }
        for before in ["mint ", "commit: ", "sha256=", "https://", "host: "] {
            assert!(!NAMED.is_match(before), "{before}");
        }
    }
}
