//! Contexts of configuration, code of infrastructure and continuous integration, one line each.

use super::grammar::{Context, Look, context, quoted};
use super::names::{API_KEY, PASSWORD, SECRET, TOKEN};

pub(crate) static CONTEXTS: &[Context] = &[
    // A user and a password as one word: haproxy, curl's configuration, lighttpd, mitmproxy.
    context(
        PASSWORD,
        &["stats auth", "proxyauth", "proxy-auth", "basic-auth", "basicauth", "httpauth", "http-auth", "auth-user"],
        Look::Password,
        r"(?im)\b(?:stats|proxy|basic|http|web|admin)?[ _-]?auth(?:-user)?[ \t]*[ =:][ \t]*['\x22]?[\w.@-]{1,40}:([^\s'\x22:]{6,})['\x22]?[ \t]*\r?$",
    ),
    context(
        PASSWORD,
        &["insecure-password", "password ", "passphrase "],
        Look::Password,
        r"(?im)\b(?:user(?:name)?|login|account|peer)[ \t]{1,4}[^\s=:]+[ \t]{1,4}(?:[\w-]+[ \t]{1,4}){0,4}?(?:insecure-|plaintext-|encrypted-)?(?:password|passphrase)[ \t]{1,4}(?:[0-9][ ])?['\x22]?([^\s'\x22]{6,})['\x22]?[ \t;]*\r?$",
    ),
    // Calls that make a secret of a text.
    context(
        SECRET,
        &[
            "plaintext(",
            "plain_text(",
            "fromplain",
            "secretstr(",
            "secretstring",
            "secretvalue(",
            "secretbox",
            "securestring(",
            "guardedstring(",
            "protectedstring",
            "redacted.make(",
            "redacted::new(",
            "redacted(",
            "sensitive(",
            ".secret(",
            "secret(",
            "secret::new(",
            "secret::from(",
            "secret.of(",
            "secret.from",
            "password.of(",
            "password.from",
            "password::new(",
            "frompassword(",
            "obscured(",
            "masked(",
            "concealed(",
        ],
        Look::Password,
        concat!(
            r"\b(?:unsafe_?[pP]lain_?[tT]ext|from_?[pP]lain_?[tT]ext|plain_?[tT]ext|PlainText\w{0,20}|Secret(?:Str(?:ing)?|Bytes|Value|Box|Vec|Text)?|secret(?:str|string)?|secrecy::\w+|GuardedString|ProtectedString|SecureString|Redacted|Sensitive|sensitive|Obscured|Masked|Concealed|Password|Passphrase)(?:::<[\w&' ]{1,20}>)?(?:(?:::|\.)(?:new|from\w{0,20}|of|make|wrap|create|plain\w{0,10}|unsafe\w{0,20}|value|expose))?\(\s{0,40}(?:[bru&]|String::from\(|Box::new\()?",
            quoted!(),
            r"(?:\.(?:to|into|as)\w{0,20}\(\))?\s{0,40}[,)]"
        ),
    ),
    // Commands of builds that hide a value, and those that set one.
    context(
        SECRET,
        &["::add-mask::", "[add-mask]"],
        Look::Any,
        r"(?i)(?:::|\[)add-mask(?:::|\])([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(SECRET, &["task.setsecret"], Look::Any, r"(?i)##vso\[task\.setsecret\]([^\s'\x22`$][^\s'\x22`]{3,})"),
    context(
        SECRET,
        &["task.setvariable"],
        Look::Any,
        r"(?i)##vso\[task\.setvariable[ ][^\]\n]*issecret=true[^\]\n]*\]([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["task.setvariable"],
        Look::Named,
        r"(?i)##vso\[task\.setvariable[ ]variable=(?P<name>[\w.-]{2,})[^\]\n]*\]([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["::set-output", "::set-env", "::save-state"],
        Look::Named,
        r"::(?:set-output|set-env|save-state)[ ]name=(?P<name>[\w.-]{2,})::([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["redactor add", "redact add"],
        Look::Any,
        r"(?i)\b(?:echo|printf)[ ](?:-n[ ])?['\x22]?([^\s'\x22|]{4,})['\x22]?[ ]*\|[ ]*buildkite-agent[ ]redactor[ ]add",
    ),
    // Records for scripts: an id of a key, and the key some fields behind it.
    context(
        API_KEY,
        &["akia", "asia"],
        Look::Strong,
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,16}\b[^\n]{1,80}?[\s|,;'\x22]([A-Za-z0-9/+]{40})(?:[\s|,;'\x22]|$)",
    ),
    context(
        TOKEN,
        &["reporter_id", "reporter-id"],
        Look::Strong,
        r"(?i)\bCC_TEST_REPORTER_ID[ ]?[=:][ ]?['\x22]?([0-9a-f]{32,64})\b",
    ),
];
