//! Laws of redaction that hold for any document.

use proptest::prelude::*;
use serde_json::{Value, json};
use trace_recorder::redact::{Rules, redact_json};

/// Generates texts without secrets: words, numbers, white space, punctuation, other scripts.
fn harmless_text() -> BoxedStrategy<String> {
    let word = prop_oneof![
        "[a-z]{1,10}",
        "[0-9]{1,6}",
        "[A-Z][a-z]{2,8}",
        Just("naïve".to_owned()),
        Just("漢字".to_owned()),
        Just("😀".to_owned()),
        Just("\u{1}\"\\/\t\n".to_owned()),
        Just("{\"a\": [1, 2]}".to_owned()),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" ")).boxed()
}

/// Generates texts that contain secrets, parts of secrets, and text that often surrounds them.
fn risky_text() -> BoxedStrategy<String> {
    let piece = prop_oneof![
        harmless_text(),
        "(API_KEY|password|token|secret)(=|: |\": \"|\\\\\": \\\\\")[a-zA-Z0-9]{4,16}",
        "(\n|export |-e )(DB_PASSWORD|AUTH_TOKEN)(=|: |=\"| = ')[a-zA-Z ,.;&\"'\\\\(){}$]{4,20}",
        "\n *password(: |=)[a-z]{6,12}\n",
        "(https|postgres)://[a-z]{1,5}:[a-z0-9]{3,9}@[a-z]{2,8}",
        "gh[po]_[a-zA-Z0-9]{35,37}",
        "[A-Za-z0-9+/=_-]{20,60}",
        "Bearer [A-Za-z0-9._-]{8,30}",
        "\\[redacted:[a-z-]{1,12}:[0-9a-f]{7,9}\\]",
        "[\"'`\\\\:=,;&@.-]{1,3}",
        "--token [a-z0-9]{6,20}",
        "(\\.\\.\\.|…)",
        "(\\$ |)(mysql -p|curl -u me:|sshpass -p |gh auth token\n|echo )[a-zA-Z0-9!#%]{6,14}( \\| sudo -S x|)",
        "\\| (password|user) \\| [a-zA-Z0-9]{4,12} \\|\n",
        "(jwt.sign\\(x, '|password\", \"|#define API_KEY \")[a-zA-Z0-9]{8,20}['\"]",
        "redacted-[a-z-]{1,12}-[0-9a-f]{7,9}",
        "\u{1b}\\[[0-9]{1,2}m",
        "\\{\"(password|columns|value)\": ?(\"[a-z0-9A-Z]{4,12}\"|\\[\"password\"\\])[,}]",
    ];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()).boxed()
}

/// Generates names of members, some of which are names of secrets.
fn risky_key() -> BoxedStrategy<String> {
    prop_oneof![4 => harmless_key(), 1 => Just("password".to_owned()), 1 => Just("API_TOKEN".to_owned())].boxed()
}

fn harmless_key() -> BoxedStrategy<String> {
    prop_oneof![4 => "[a-z]{1,6}", 1 => Just("value".to_owned()), 1 => Just("name".to_owned())].boxed()
}

fn document(key: BoxedStrategy<String>, text: BoxedStrategy<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text.clone().prop_map(Value::from),
        text.prop_map(|text| json!({ "cmd": text }).to_string().into()),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn redacted(document: &str) -> String {
    String::from_utf8(redact_json(document.as_bytes(), &Rules::default())).expect("UTF-8")
}

/// Number of cases of each law. The environment variable `PROPTEST_CASES` changes it.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().map_or(256, |number| number.parse().expect("a number"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_without_secrets_stays_as_it_is(value in document(harmless_key(), harmless_text()), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("JSON");
        prop_assert_eq!(redacted(&text), text);
    }

    #[test]
    fn redacting_twice_is_redacting_once(value in document(risky_key(), risky_text())) {
        let once = redacted(&value.to_string());
        prop_assert!(serde_json::from_str::<Value>(&once).is_ok(), "{once}");
        prop_assert_eq!(redacted(&once), once);
    }

    #[test]
    fn equal_strings_stay_equal(texts in prop::collection::vec(risky_text(), 1..4)) {
        let document = json!({ "first": texts, "second": { "deeper": texts } }).to_string();
        let value: Value = serde_json::from_str(&redacted(&document)).expect("JSON");
        prop_assert_eq!(&value["first"], &value["second"]["deeper"]);
    }

    #[test]
    fn any_bytes_are_redacted_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in risky_text()) {
        let mut document = text.into_bytes();
        document.extend(bytes);
        let once = redact_json(&document, &Rules::default());
        let _ = redact_json(&once, &Rules::default());
    }
}

/// Tests texts that are meant to be slow: beginnings of secrets, repeated many times. With an algorithm of quadratic time,
/// this test would not end.
#[test]
fn texts_that_are_made_to_be_slow_are_redacted() {
    const BYTES: usize = 200_000;
    for piece in [
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEAabcdefgh\n",
        "password=",
        "password is ",
        "curl -u ",
        "name: DB_PASSWORD\n",
        "value: x\n",
        "\"a\" + ",
        "\\\\\\\\",
        "\u{1b}[",
        "{\"name\":\"password\",",
        "{\"delta\":\"password=\"}",
        "[[[[",
        "kind: Secret\ndata:\n",
        "00000000: 4141 4141  AAAA\n",
        "postgres://a:b",
        "Password=a;",
        "user,password\n",
        "eyJhbGciOi.eyJ",
        "$6$a$",
        "AUTH password\n",
        "curl x; ",
        "$ gh auth token\n",
        "jwt.sign('",
        "{\"chars\":\"a1\",\"session_id\":1}",
        "<td>password</td>",
        "https://x/webhook/",
        "password <<EOF\n",
        "login a1B!",
        "[{\"a\":",
        "| password | a |\n",
        "ozone drill ",
        "redacted-a-",
    ] {
        let document = json!({ "text": piece.repeat(BYTES / piece.len()) }).to_string();
        let once = redacted(&document);
        assert!(serde_json::from_str::<Value>(&once).is_ok(), "{piece}");
    }
}
