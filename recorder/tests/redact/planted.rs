//! Plants secrets of many kinds in many places and checks that none of them is left.
//!
//! The secrets are made from parts, so that the repository does not contain anything that looks like a secret.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use rayon::prelude::*;
use serde_json::{Value, json};
use trace_recorder::Bundle;
use trace_recorder::redact::{Rules, scan};

use crate::bundles::Place;
use crate::noise::{ALNUM, BASE64, DIGITS, HEX, LOWER, Noise, UPPER, URL64};
use crate::{layouts, wordy};

/// A secret, and a text that contains it.
pub(crate) struct Planted {
    pub(crate) kind: &'static str,
    /// The texts that must not be left: the secret, or its lines.
    pub(crate) secret: Vec<String>,
    pub(crate) text: String,
}

/// Plants a secret that is recognized by its shape alone.
fn shaped(kind: &'static str, secret: String) -> Planted {
    Planted { kind, text: format!("use {secret} for it"), secret: vec![secret] }
}

pub(crate) fn in_context(kind: &'static str, secret: &str, before: &str, after: &str) -> Planted {
    Planted { kind, text: format!("{before}{secret}{after}"), secret: vec![secret.to_owned()] }
}

fn planted(noise: &mut Noise) -> Vec<Planted> {
    let mut n = |alphabet: &str, length: usize| noise.text(alphabet, length);
    let mut all = vec![
        shaped("anthropic-key", format!("sk-{}-api03-{}AA", "ant", n(URL64, 91))),
        shaped("openai-key", format!("sk-{}-{}", "proj", n(URL64, 74))),
        shaped("openai-key", format!("sk-{}T3Blbk{}{}", n(ALNUM, 20), "FJ", n(ALNUM, 20))),
        shaped("openrouter-key", format!("sk-{}-v1-{}", "or", n(HEX, 64))),
        shaped("sk-key", format!("{}-{}", "sk", n(HEX, 32))),
        shaped("groq-key", format!("{}_{}", "gsk", n(ALNUM, 52))),
        shaped("xai-key", format!("{}-{}", "xai", n(ALNUM, 80))),
        shaped("perplexity-key", format!("{}-{}", "pplx", n(ALNUM, 48))),
        shaped("replicate-token", format!("{}_{}", "r8", n(ALNUM, 37))),
        shaped("hugging-face-token", format!("{}_{}", "hf", n(ALNUM, 34))),
        shaped("langsmith-key", format!("lsv2_{}_{}_{}", "pt", n(HEX, 32), n(HEX, 10))),
        shaped("nvidia-key", format!("{}-{}", "nvapi", n(URL64, 64))),
        shaped("aws-access-key-id", format!("{}{}", "AKIA", n(UPPER, 16))),
        shaped("aws-access-key-id", format!("{}{}", "ASIA", n(UPPER, 16))),
        shaped("google-api-key", format!("{}{}", "AIza", n(URL64, 35))),
        shaped("google-oauth-secret", format!("{}-{}", "GOCSPX", n(URL64, 28))),
        shaped("google-oauth-token", format!("{}.{}", "ya29", n(URL64, 60))),
        shaped("azure-client-secret", format!("{}{}Q~{}", n(ALNUM, 3), "8", n(ALNUM, 34))),
        shaped("azure-devops-token", format!("{}{}{}", n(ALNUM, 76), "AZDO", n(ALNUM, 4))),
        shaped("digitalocean-token", format!("{}_v1_{}", "dop", n(HEX, 64))),
        shaped("cloudflare-token", format!("{}_{}", "cfut", n(ALNUM, 48))),
        shaped("heroku-key", format!("{}-{}", "HRKU", n(URL64, 60))),
        shaped("supabase-key", format!("{}_{}", "sbp", n(HEX, 40))),
        shaped("vault-token", format!("{}.{}", "hvs", n(URL64, 90))),
        shaped("doppler-token", format!("dp.{}.{}", "pt", n(ALNUM, 43))),
        shaped("tailscale-key", format!("{}-auth-{}-{}", "tskey", n(ALNUM, 17), n(ALNUM, 32))),
        shaped("databricks-token", format!("{}{}", "dapi", n(HEX, 32))),
        shaped("terraform-token", format!("{}.{}.{}", n(ALNUM, 14), "atlasv1", n(ALNUM, 67))),
        shaped("github-token", format!("{}_{}", "ghp", n(ALNUM, 36))),
        shaped("github-token", format!("{}_{}", "ghs", n(ALNUM, 36))),
        shaped("github-token", format!("github_{}_{}_{}", "pat", n(ALNUM, 22), n(ALNUM, 59))),
        shaped("gitlab-token", format!("{}-{}", "glpat", n(URL64, 20))),
        shaped("npm-token", format!("{}_{}", "npm", n(ALNUM, 36))),
        shaped("pypi-token", format!("{}-AgEIcHlwaS5vcmc{}", "pypi", n(URL64, 100))),
        shaped("crates-io-token", format!("{}{}", "cio", n(ALNUM, 32))),
        shaped("rubygems-key", format!("{}_{}", "rubygems", n(HEX, 48))),
        shaped("docker-token", format!("{}_pat_{}", "dckr", n(URL64, 27))),
        shaped("circleci-token", format!("{}_{}_{}", "CCIPAT", n(ALNUM, 22), n(HEX, 40))),
        shaped("postman-key", format!("{}-{}-{}", "PMAK", n(HEX, 24), n(HEX, 34))),
        shaped("grafana-token", format!("{}_{}_{}", "glsa", n(ALNUM, 32), n(HEX, 8))),
        shaped("sentry-token", format!("{}_{}", "sntryu", n(HEX, 64))),
        shaped("new-relic-key", format!("{}-{}", "NRAK", n(UPPER, 27))),
        shaped("dynatrace-token", format!("{}.{}.{}", "dt0c01", n(UPPER, 24), n(UPPER, 64))),
        shaped("slack-token", format!("{}-{}-{}-{}", "xoxb", n(DIGITS, 12), n(DIGITS, 12), n(ALNUM, 24))),
        shaped("discord-token", format!("{}.{}.{}", discord_id(&n(DIGITS, 18)), n(ALNUM, 6), n(URL64, 27))),
        shaped("telegram-token", format!("{}:{}{}", n("123456789", 10), "AA", n(URL64, 33))),
        shaped("sendgrid-key", format!("{}.{}.{}", "SG", n(URL64, 22), n(URL64, 43))),
        shaped("mailgun-key", format!("{}-{}", "key", n(HEX, 32))),
        shaped("twilio-key", format!("{}{}", "SK", n(HEX, 32))),
        shaped("stripe-key", format!("{}_live_{}", "sk", n(ALNUM, 24))),
        shaped("webhook-secret", format!("{}_{}", "whsec", n(ALNUM, 32))),
        shaped("square-token", format!("{}-{}", "sq0atp", n(ALNUM, 22))),
        shaped("shopify-token", format!("{}_{}", "shpat", n(HEX, 32))),
        shaped("linear-key", format!("{}_api_{}", "lin", n(ALNUM, 40))),
        shaped("notion-token", format!("{}_{}", "ntn", n(ALNUM, 46))),
        shaped("airtable-token", format!("{}{}.{}", "pat", n(ALNUM, 14), n(HEX, 64))),
        shaped("figma-token", format!("{}_{}", "figd", n(ALNUM, 40))),
        shaped("age-key", format!("AGE-SECRET-{}-1{}", "KEY", n("023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58))),
        shaped("jwt", jwt(&n(URL64, 43))),
        in_context(
            "slack-webhook",
            &format!("T{}/B{}/{}", n(UPPER, 9), n(UPPER, 9), n(ALNUM, 24)),
            "https://hooks.slack.com/services/",
            " posts",
        ),
        in_context(
            "azure-storage-key",
            &format!("{}==", n(BASE64, 86)),
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
            ";EndpointSuffix=x",
        ),
        in_context(
            "azure-sas",
            &format!("{}%3D", n(ALNUM, 43)),
            "https://a.blob.core.windows.net/c?sv=2025-01-05&sr=c&sig=",
            "&se=1",
        ),
        in_context("password", &n(ALNUM, 14), "DB_PASSWORD=", "\nOTHER=1"),
        in_context("password", &format!("{}7{}", n(LOWER, 6), n(LOWER, 5)), "password: ", "\n"),
        in_context("api-key", &n(HEX, 40), "export ACME_API_KEY='", "'"),
        in_context("api-key", &n(BASE64, 40), "aws_secret_access_key = ", "\nregion = x"),
        in_context("api-key", &n(HEX, 32), "{\"api_key\": \"", "\"}"),
        in_context("secret", &n(ALNUM, 30), "client_secret: \"", "\","),
        in_context("token", &n(ALNUM, 28), "deploy --token ", " --now"),
        in_context("token", &n(LOWER, 36), "//registry.example.org/:_authToken=", "\n"),
        in_context("bearer-token", &n(URL64, 40), "curl -H 'Authorization: Bearer ", "' https://x"),
        in_context("basic-auth", &STANDARD.encode(format!("user:{}", n(ALNUM, 16))), "Authorization: Basic ", "\r\n"),
        in_context("cookie", &n(ALNUM, 32), "Cookie: theme=dark; sid=", "; a=b"),
        in_context("url-password", &n(ALNUM, 16), "psql postgres://app:", "@db.internal:5432/app"),
        in_context("url-password", &n(LOWER, 12), "redis://:", "@cache:6379/0"),
        in_context("password", &n(ALNUM, 12), "curl -u admin:", " https://x"),
    ];
    for label in ["RSA ", "OPENSSH ", "EC ", ""] {
        let lines: Vec<String> = (0..5).map(|_| n(BASE64, 64)).collect();
        let text = format!(
            "-----BEGIN {label}PRIVATE {0}-----\n{1}\n-----END {label}PRIVATE {0}-----",
            "KEY",
            lines.join("\n")
        );
        all.push(Planted { kind: "private-key", secret: lines, text });
    }
    all
}

fn discord_id(digits: &str) -> String {
    // The digits of a real id are such that its base64 form begins with M, N or O and has no padding.
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(format!("1{}", &digits[1..]))
}

fn jwt(signature: &str) -> String {
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let header = engine.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    format!("{header}.{}.{signature}", engine.encode(r#"{"sub":"1234567890","admin":true}"#))
}

/// The texts of a session by their place: payloads, error messages of the log, previews of the log.
#[derive(Default)]
struct Session {
    payloads: Vec<Value>,
    errors: Vec<String>,
    previews: Vec<String>,
}

const PLACEMENTS: usize = 11;

fn put(session: &mut Session, placement: usize, text: &str) {
    let message = |text: &str| json!({ "input": [{ "type": "message", "role": "user", "id": "msg_1", "content": [{ "type": "input_text", "text": text }] }] });
    match placement {
        0 => session.payloads.push(message(text)),
        // JSON in JSON in JSON.
        1 => {
            let inner = json!({ "script": text }).to_string();
            let outer = json!({ "cmd": inner, "timeout_ms": 1000 }).to_string();
            session.payloads.push(json!({ "type": "function_call", "call_id": "call_1", "arguments": outer }));
        }
        2 => {
            let file = STANDARD.encode(format!("# settings\nNAME=something\n{text}\nLAST=1\n"));
            session.payloads.push(message(&format!("echo {file} | base64 -d > .env")));
        }
        3 => session
            .payloads
            .push(json!({ "command": ["/bin/sh", "-lc", format!("cd /project && {text}")], "cwd": "/project" })),
        4 => session.errors.push(format!("unexpected status 401: {text}")),
        5 => session.previews.push(text.to_owned()),
        6 => session.payloads.push(json!({ "exit_code": 0, "aggregated_output": format!("one\n{text}\nthree\n") })),
        // Base64 over several lines, in JSON in JSON.
        7 => {
            let encoded =
                URL_SAFE.encode(format!("before it and long enough for more than a line\n{text}\nand behind it\n"));
            let lines: Vec<&str> =
                encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
            session.payloads.push(json!({ "arguments": json!({ "data": lines.join("\n") }).to_string() }));
        }
        // Escaped JSON that is quoted in a larger text.
        8 => session.payloads.push(message(&format!("The server said {} and left.", json!({ "body": text })))),
        9 => session.payloads.push(json!({ "headers": { "X-Note": text }, "status": 200 })),
        // JSON that is escaped twice and quoted in a larger text.
        10 => session
            .payloads
            .push(message(&format!("log: {} end", json!({ "body": json!({ "deep": text }).to_string() })))),
        _ => unreachable!("there are {PLACEMENTS} placements"),
    }
}

/// Returns every text that would reveal a secret: the secret itself, and its base64 forms at each of the three alignments.
fn traces_of(secret: &str) -> Vec<Vec<u8>> {
    let mut traces = vec![secret.as_bytes().to_vec()];
    for offset in 0..3 {
        let padded = [&b"xx"[..offset], secret.as_bytes()].concat();
        // Base64 digits that also contain bits of the neighbours are left out.
        let (from, to) = ([0, 2, 3][offset], padded.len() / 3 * 4);
        traces.extend([&STANDARD, &URL_SAFE].map(|engine| engine.encode(&padded).as_bytes()[from..to].to_vec()));
    }
    traces
}

/// Redacts a bundle with all kinds of secrets. Returns the secrets that are left, and checks everything else in the copy.
fn leaks(seed: u64) -> Vec<String> {
    let shift = seed as usize;
    let mut noise = Noise::new(seed + 1);
    let mut secrets = planted(&mut noise);
    secrets.extend(wordy::planted(&mut noise));
    let first_laid_out = secrets.len();
    secrets.extend(layouts::planted(&mut noise));
    let mut session = Session::default();
    for (index, planted) in secrets.iter().enumerate() {
        put(&mut session, (index + shift) % PLACEMENTS, &planted.text);
    }
    let place = Place::new();
    place.write("bundle", &session.payloads, &session.errors, &session.previews);
    let report = place.redact("bundle", "copy", &Rules::default());

    let (needles, owners): (Vec<Vec<u8>>, Vec<usize>) = secrets
        .iter()
        .enumerate()
        .flat_map(|(index, planted)| {
            planted.secret.iter().flat_map(|secret| traces_of(secret)).map(move |text| (text, index))
        })
        .unzip();
    let search = AhoCorasick::new(&needles).expect("some thousand texts");
    let mut left = BTreeSet::new();
    for (name, bytes) in place.files("copy") {
        let unwrapped = String::from_utf8(bytes.clone()).expect("UTF-8").replace("\\n", "").into_bytes();
        for text in [&bytes, &unwrapped] {
            for hit in search.find_overlapping_iter(text) {
                let index = owners[hit.pattern().as_usize()];
                let (placement, planted) = ((index + shift) % PLACEMENTS, &secrets[index]);
                let set = if index < first_laid_out { "" } else { LAID_OUT };
                left.insert(format!(
                    "{set}{}, number {index} placed {placement} in {name}: {:?}",
                    planted.kind, planted.text
                ));
            }
        }
        // Every document must still be JSON.
        for line in bytes.split(|byte| *byte == b'\n' && name.ends_with("jsonl")).filter(|line| !line.is_empty()) {
            if let Err(error) = serde_json::from_slice::<Value>(line) {
                left.insert(format!("{name} is no longer JSON: {error}"));
            }
        }
    }
    let expected: BTreeSet<&str> = secrets.iter().map(|planted| planted.kind).collect();
    let found: BTreeSet<&str> = report.secrets.iter().map(|secret| secret.kind.as_str()).collect();
    assert!(expected.len() >= 25 && secrets.len() >= 300, "{}", secrets.len());
    let missing: Vec<_> = expected.difference(&found).collect();
    if !missing.is_empty() {
        left.insert(format!("seed {seed}: {missing:?} is missing among {found:?}"));
    }

    let copy = Bundle::open(&place.path("copy")).expect("opens");
    let again = scan(&copy, &Rules::default()).expect("scans");
    if !again.is_clean() {
        left.insert(format!("seed {seed}: found again: {:?}", again.secrets));
    }
    left.into_iter().collect()
}

/// Number of bundles to redact, a multiple of the number of placements. The environment variable `PLANTED_BUNDLES` changes
/// it.
fn bundles() -> u64 {
    let asked = std::env::var("PLANTED_BUNDLES").ok().map(|number| number.parse().expect("a number"));
    asked.unwrap_or(3 * PLACEMENTS as u64)
}

/// Prefix of the messages about secrets in contexts and layouts.
const LAID_OUT: &str = "laid out: ";

/// Most secrets in contexts and layouts that may be left, per thousand.
const MAX_LAID_OUT_LEFT_PER_THOUSAND: usize = 10;

#[test]
fn planted_secrets_are_found_in_every_place_and_nothing_is_left_of_them() {
    let all: Vec<String> = (0..bundles()).into_par_iter().flat_map_iter(leaks).collect();
    let (laid_out, left): (Vec<String>, Vec<String>) = all.into_iter().partition(|left| left.starts_with(LAID_OUT));
    assert!(left.is_empty(), "{} left: {left:#?}", left.len());
    let planted = bundles() as usize * layouts::planted(&mut Noise::new(1)).len();
    assert!(
        laid_out.len() * 1000 <= planted * MAX_LAID_OUT_LEFT_PER_THOUSAND,
        "{} of {planted} left: {laid_out:#?}",
        laid_out.len()
    );
}

#[test]
fn equal_secrets_stay_equal_and_different_ones_different() {
    let place = Place::new();
    let mut noise = Noise::new(7);
    let secrets = [noise.text(ALNUM, 20), noise.text(ALNUM, 20)];
    let texts: Vec<Value> = (0..6).map(|index| json!({ "text": format!("API_KEY={}", secrets[index % 2]) })).collect();
    place.write("bundle", &texts, &[format!("401 for {}", secrets[0])], &[]);
    let report = place.redact("bundle", "copy", &Rules::default());
    assert_eq!(report.secrets.len(), 2);
    let counts: BTreeSet<u64> = report.secrets.iter().map(|secret| secret.occurrences).collect();
    assert_eq!(counts, BTreeSet::from([3, 4]));
    let files = place.files("copy");
    let payload =
        |number: usize| &files.iter().find(|(name, _)| *name == format!("payloads/{number}.json")).expect("it").1;
    assert_eq!(payload(1), payload(3));
    assert_ne!(payload(1), payload(2));
}

#[test]
fn a_copy_is_private_and_has_no_state() {
    let place = Place::new();
    place.write("bundle", &[json!({ "a": 1.50 })], &[], &[]);
    std::fs::write(place.path("bundle/state.json"), "{}").expect("writes");
    let report = place.redact("bundle", "copy", &Rules::default());
    assert_eq!(report.left_out, [""; 0]);
    let original: Vec<_> = place.files("bundle").into_iter().filter(|(name, _)| name != "state.json").collect();
    assert_eq!(place.files("copy"), original);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| std::fs::metadata(place.path(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode("copy"), mode("copy/payloads")), (0o700, 0o700));
        assert_eq!((mode("copy/trace.jsonl"), mode("copy/payloads/1.json")), (0o600, 0o600));
    }
}
