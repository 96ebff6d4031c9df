//! Decides by the name that a value is assigned to whether the value is a secret.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::kind::Kind;

/// A password.
pub(crate) const PASSWORD: Kind = Kind::known("password");
/// Something that is called a secret.
pub(crate) const SECRET: Kind = Kind::known("secret");
/// A token.
pub(crate) const TOKEN: Kind = Kind::known("token");
/// A key that opens something.
pub(crate) const API_KEY: Kind = Kind::known("api-key");
const CREDENTIAL: Kind = Kind::known("credential");

/// Longest name that is looked at.
pub(crate) const MAX_NAME_BYTES: usize = 128;

/// Words that may follow the deciding word of a name, as in `API_KEY_PROD`.
const QUALIFIERS: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "live",
    "local",
    "value",
    "val",
    "new",
    "old",
    "default",
    "main",
    "primary",
    "secondary",
    "backup",
    "base64",
    "b64",
    "string",
    "str",
    "plain",
    "plaintext",
    "raw",
    "text",
    "env",
    "ro",
    "rw",
    "content",
    "contents",
];

/// Words before `key` that mark a secret key.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "encrypt",
    "signing",
    "master",
    "account",
    "shared",
    "client",
    "service",
    "application",
    "admin",
    "deploy",
    "license",
    "hmac",
    "jwt",
    "webhook",
    "ingest",
    "subscription",
    "root",
    "server",
    "bot",
    "integration",
    "gpg",
    "pgp",
    "ssh",
    "recovery",
    "unseal",
    "openai",
    "anthropic",
    "azure",
    "gemini",
    "mistral",
    "groq",
    "stripe",
    "sendgrid",
    "datadog",
    "apikey",
    "dd",
    "app",
    "functions",
    "preshared",
    "symmetric",
    "crypt",
    "crypto",
    "cipher",
    "aes",
    "storage",
    "sas",
    "hosting",
    "algolia",
    "google",
    "maps",
    "aws",
    "gcp",
    "twilio",
    "mailgun",
    "mailchimp",
    "sentry",
    "newrelic",
    "relic",
    "honeycomb",
    "pagerduty",
    "opsgenie",
    "genie",
    "shopify",
    "heroku",
    "cloudflare",
    "cohere",
    "replicate",
    "huggingface",
    "deepseek",
    "fireworks",
    "perplexity",
    "pinecone",
    "qdrant",
    "tavily",
    "serper",
    "serpapi",
    "elevenlabs",
    "deepgram",
    "assemblyai",
    "langfuse",
    "langsmith",
    "wandb",
    "xai",
    "nvidia",
    "openrouter",
    "write",
    "user",
    "developer",
    "consumer",
    "activation",
    "product",
    "wifi",
    "network",
    "security",
    "passwordless",
    "github",
    "gitlab",
    "npm",
    "smtp",
    "mail",
    "email",
    "db",
    "database",
    "share",
    "hook",
    "unlock",
    "luks",
    "vault",
    "backend",
    "frontend",
    "partner",
    "merchant",
    "payment",
    "wg",
    "wireguard",
    "connection",
    "validation",
    "decryption",
    "machine",
    "instrumentation",
];

/// Words that mark a token of a text or a list instead of a secret.
const COUNTED_TOKENS: &[&str] = &[
    "page",
    "next",
    "continuation",
    "pagination",
    "sync",
    "bos",
    "eos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "special",
    "stop",
    "start",
    "end",
    "max",
    "min",
    "num",
    "cancellation",
    "cancel",
    "first",
    "last",
    "prev",
    "previous",
    "current",
    "input",
    "output",
    "cached",
    "prompt",
    "completion",
    "idempotency",
    "reasoning",
    "lexer",
    "string",
    "design",
    "n",
    "per",
    "total",
];

/// Most names whose kinds a thread remembers.
const MAX_REMEMBERED_NAMES: usize = 4096;

thread_local! {
    /// What names were found to be: a text has few names, each of them many times.
    static REMEMBERED: RefCell<HashMap<Box<str>, Option<Kind>>> = RefCell::default();
}

/// Returns the kind of secret that a value with this name is, if it is one.
pub(crate) fn sensitive_name(name: &str) -> Option<Kind> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    REMEMBERED.with_borrow_mut(|remembered| {
        if let Some(kind) = remembered.get(name) {
            return kind.clone();
        }
        let kind = if may_be_sensitive(name) { kind_of_name(name) } else { None };
        if remembered.len() < MAX_REMEMBERED_NAMES {
            remembered.insert(name.into(), kind.clone());
        }
        kind
    })
}

/// Returns the words of a name without the qualifiers and numbers at its end.
fn unqualified<'w>(mut words: &'w [&'w str]) -> &'w [&'w str] {
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && (QUALIFIERS.contains(last) || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        words = rest;
    }
    words
}

fn kind_of_name(name: &str) -> Option<Kind> {
    let (lower, places) = split(name);
    let words: Vec<&str> = places.into_iter().map(|place| &lower[place]).collect();
    let [before @ .., last] = unqualified(&words) else { return None };
    let previous = before.last().copied();
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    match last {
        "pass" | "pw" if previous.is_some() => Some(PASSWORD),
        // The token of a public key is a digest.
        "token" if before.ends_with(&["public", "key"]) => None,
        "token" => previous.is_none_or(|word| !COUNTED_TOKENS.contains(&word)).then_some(TOKEN),
        "key" | "keys" => previous.is_some_and(|word| KEYS.contains(&word)).then_some(API_KEY),
        "passphrase" | "psk" | "passkey" | "pgpassword" | "rootpw" | "bindpw" | "userpw" => Some(PASSWORD),
        "mnemonic" => Some(PASSWORD),
        "pat" => previous.is_some_and(|word| !PATTERNS.contains(&word)).then_some(TOKEN),
        "wif" => Some(SECRET),
        "id" if previous == Some("secret") => Some(SECRET),
        "data" if previous == Some("key") => Some(API_KEY),
        "macaroon" => Some(TOKEN),
        "pepper" => previous
            .is_some_and(|word| {
                matches!(
                    word,
                    "password"
                        | "passwords"
                        | "auth"
                        | "devise"
                        | "user"
                        | "app"
                        | "hash"
                        | "secret"
                        | "token"
                        | "login"
                )
            })
            .then_some(SECRET),
        "cookie" if previous == Some("erlang") => Some(SECRET),
        "oauth" if previous.is_some() => Some(TOKEN),
        "phrase" => previous
            .is_some_and(|word| matches!(word, "seed" | "recovery" | "secret" | "backup" | "pass"))
            .then_some(PASSWORD),
        "bearer" | "jwt" if before.is_empty() || previous == Some("auth") || previous == Some("my") => Some(TOKEN),
        "auth" if before.is_empty() || previous == Some("http") => Some(TOKEN),
        "authorization" => Some(TOKEN),
        "base" if before.ends_with(&["secret", "key"]) => Some(API_KEY),
        "credential" | "credentials" | "creds" => Some(CREDENTIAL),
        _ if ends(&["password", "passwd", "passphrase", "passcode", "pwd", "storepass", "keypass"]) => Some(PASSWORD),
        _ if ends(&["apikey", "secretkey", "accesskey", "privatekey", "authkey", "accountkey"]) => Some(API_KEY),
        _ if ends(&["authtoken", "accesstoken", "apitoken", "refreshtoken", "bottoken", "sessiontoken"]) => Some(TOKEN),
        _ if ends(&["presharedkey", "encryptionkey", "signingkey", "masterkey", "sharedkey", "subscriptionkey"]) => {
            Some(API_KEY)
        }
        _ if ends(&["idtoken", "bearertoken", "usertoken", "pushtoken", "githubtoken", "npmtoken", "deploytoken"]) => {
            Some(TOKEN)
        }
        _ if ends(&["csrftoken", "xsrftoken", "oauthtoken", "jwttoken", "logintoken", "apptoken"]) => Some(TOKEN),
        "requirepass" | "masterauth" | "authtok" => Some(PASSWORD),
        _ if ends(FOREIGN) => Some(PASSWORD),
        _ if ends(&[
            "sshpass",
            "dbpass",
            "userpass",
            "adminpass",
            "rootpass",
            "remotepass",
            "imappass",
            "authpass",
            "httppass",
            "sudopass",
            "loginpass",
            "certpass",
            "trustpass",
            "wifipass",
        ]) =>
        {
            Some(PASSWORD)
        }
        _ if ends(&["smtppass", "mailpass", "ftppass", "bindpass", "ldappass", "becomepass", "mysqlpass"]) => {
            Some(PASSWORD)
        }
        _ if is_list(before, last) => Some(CREDENTIAL),
        _ if ends(&["secret"]) => Some(SECRET),
        _ => None,
    }
}

/// Words for a password in other languages, as far as names are spelt with them.
const FOREIGN: &[&str] = &[
    "passwort",
    "kennwort",
    "senha",
    "contrasena",
    "contrasenya",
    "wachtwoord",
    "heslo",
    "haslo",
    "parola",
    "salasana",
    "adgangskode",
    "losenord",
    "passord",
    "lozinka",
    "jelszo",
    "sifre",
    "motdepasse",
];

/// Words that mark `pat` as a pattern instead of a personal access token.
const PATTERNS: &[&str] = &[
    "file", "glob", "regex", "regexp", "match", "re", "url", "path", "name", "line", "sub", "search", "str", "text",
    "inner", "outer", "let", "expr", "the", "any", "tuple", "struct", "bit",
];

/// Words that mark a key that is no secret, however random it looks.
const HARMLESS_KEYS: &[&str] = &[
    "public",
    "pub",
    "primary",
    "foreign",
    "cache",
    "sort",
    "partition",
    "hash",
    "range",
    "object",
    "s3",
    "row",
    "index",
    "unique",
    "idempotency",
    "dedup",
    "deduplication",
    "map",
    "dict",
    "json",
    "lookup",
    "group",
    "shard",
    "sharding",
    "host",
    "known",
    "i18n",
    "translation",
    "feature",
    "press",
    "hot",
    "arrow",
    "registry",
    "config",
    "context",
    "event",
    "order",
    "item",
    "series",
    "block",
    "surrogate",
    "websocket",
    "request",
    "trace",
    "span",
    "correlation",
    "etag",
    "blob",
    "content",
    "file",
    "path",
    "image",
    "asset",
    "bucket",
    "storage",
    "prompt",
    "state",
    "build",
    "commit",
    "version",
    "batch",
    "job",
    "task",
    "run",
    "step",
    "node",
    "tree",
    "leaf",
    "parent",
    "child",
    "reference",
    "ref",
    "external",
    "natural",
    "composite",
    "candidate",
    "restore",
    "verify",
    "verification",
    "fingerprint",
];

/// Returns the kind of secret that a value with this name is if nothing but a key can look like it: the name alone may
/// be one of many things.
pub(crate) fn weak_name(name: &str) -> Option<Kind> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let (lower, places) = split(name);
    let words: Vec<&str> = places.into_iter().map(|place| &lower[place]).collect();
    let [before @ .., last] = unqualified(&words) else { return None };
    let previous = before.last().copied();
    match *last {
        "key" | "keys" => previous.is_some_and(|word| !HARMLESS_KEYS.contains(&word)).then_some(API_KEY),
        "api" | "session" if before.len() > 1 || (*last == "session" && !before.is_empty() && name.contains('_')) => {
            Some(TOKEN)
        }
        "material" if previous == Some("key") => Some(API_KEY),
        _ if last.ends_with("salt") || last.ends_with("pepper") => Some(SECRET),
        "verifier" if matches!(previous, Some("code" | "pkce" | "oauth")) => Some(TOKEN),
        "seed" if before.is_empty() => Some(SECRET),
        "code" => previous
            .is_some_and(|word| {
                matches!(
                    word,
                    "recovery" | "backup" | "auth" | "authorization" | "access" | "pairing" | "setup" | "unlock"
                )
            })
            .then_some(SECRET),
        "license" if previous.is_some_and(|word| LICENSED.contains(&word)) => Some(API_KEY),
        "ticket" | "hmac" | "totp" | "otp" | "sid" | "auth" | "jwt" | "seed" if !before.is_empty() => Some(TOKEN),
        "encoded" if before.is_empty() => Some(API_KEY),
        _ => None,
    }
}

/// Products whose licenses are keys.
const LICENSED: &[&str] = &[
    "relic",
    "newrelic",
    "maxmind",
    "enterprise",
    "pro",
    "software",
    "product",
    "acf",
    "gf",
    "vault",
    "nomad",
    "consul",
];

/// Returns whether a name is one of several keys or codes that open something.
fn is_list(before: &[&str], last: &str) -> bool {
    let has = |words: &[&str]| before.iter().any(|word| words.contains(word));
    match last {
        "b" | "hex" => has(&["keys"]) && has(&["unseal", "recovery"]),
        "codes" => has(&["recovery", "backup"]),
        "keys" | "shares" => has(&["unseal", "recovery"]),
        "passwords" | "secrets" => before.is_empty(),
        _ => false,
    }
}

/// Returns whether a member with this name holds the name of a key, whose value is in another member: `keyName`,
/// `secret_id`.
pub(crate) fn names_a_key(name: &str) -> bool {
    let (lower, places) = split(name);
    let words: Vec<&str> = places.into_iter().map(|place| &lower[place]).collect();
    matches!(words.as_slice(), ["key" | "secret" | "token" | "credential", "name" | "id"])
}

/// Returns whether a name is one of a cookie that holds a session.
pub(crate) fn is_session_name(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "session",
        "sessionid",
        "session_id",
        "sid",
        "connect.sid",
        "phpsessid",
        "jsessionid",
        "asp.net_sessionid",
        "sessid",
        "auth_session",
        "remember_me",
        "laravel_session",
        "__session",
        "auth",
        "jwt",
        "csrftoken",
        "_csrf",
        "xsrf-token",
    ];
    let lower = name.to_ascii_lowercase();
    NAMES.contains(&lower.as_str()) || lower.ends_with("_session") || lower.ends_with("-session")
}

/// Parts of which one is in every name of a secret.
pub(crate) const NAME_PARTS: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "psk",
    "mnemonic",
    "phrase",
    "bearer",
    "jwt",
    "kennwort",
    "senha",
    "contrasen",
    "wachtwoord",
    "heslo",
    "haslo",
    "parola",
    "salasana",
    "adgangskode",
    "losenord",
    "lozinka",
    "jelszo",
    "sifre",
    "motdepasse",
    "codes",
    "shares",
    "_pat",
    "salt",
    "macaroon",
    "wif",
    "seed",
    "_code",
    "pepper",
    "erlang",
    "verifier",
    "license",
];

/// What names of secrets have in them.
pub(crate) static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(NAME_PARTS)
        .expect("a dozen short texts")
});

/// Rejects most names quickly, without splitting them into words.
fn may_be_sensitive(name: &str) -> bool {
    PARTS.is_match(name)
}

/// Splits a name at its separators and humps, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let (lower, places) = split(name);
    places.into_iter().map(|place| lower[place].to_owned()).collect()
}

/// Returns a name in lower case, and where its words are.
fn split(name: &str) -> (String, Vec<Range<usize>>) {
    let bytes = name.as_bytes();
    let mut places = Vec::with_capacity(4);
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        if start < end {
            places.push(start..end);
        }
    };
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            push(start, at);
            start = at + 1;
            continue;
        }
        let begins_hump = byte.is_ascii_uppercase()
            && at > start
            && (bytes[at - 1].is_ascii_lowercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if begins_hump {
            push(start, at);
            start = at;
        }
    }
    push(start, bytes.len());
    (name.to_ascii_lowercase(), places)
}

/// Returns whether a key is that of the value of something that is an object.
pub(crate) fn is_value_key(key: &[u8]) -> bool {
    matches!(
        key,
        b"value"
            | b"val"
            | b"Value"
            | b"data"
            | b"content"
            | b"text"
            | b"plaintext"
            | b"plain"
            | b"default"
            | b"current"
            | b"raw"
            | b"string"
            | b"stringValue"
            | b"_value"
            | b"$value"
            | b"#text"
            | b"_"
            | b"$t"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_those_that_are_remembered_are_judged_the_same() {
        for number in 0..MAX_REMEMBERED_NAMES + 9 {
            assert_eq!(sensitive_name(&format!("x{number}_password")), Some(PASSWORD));
        }
        REMEMBERED.with_borrow(|remembered| assert_eq!(remembered.len(), MAX_REMEMBERED_NAMES));
    }

    #[test]
    fn names_say_what_their_values_are() {
        for (name, kind) in [
            ("password", PASSWORD),
            ("DB_PASSWORD", PASSWORD),
            ("PGPASSWORD", PASSWORD),
            ("dbPassword", PASSWORD),
            ("smtp_pass", PASSWORD),
            ("API_KEY", API_KEY),
            ("apiKey", API_KEY),
            ("x-api-key", API_KEY),
            ("OPENAI_API_KEY_2", API_KEY),
            ("aws_secret_access_key", API_KEY),
            ("AccountKey", API_KEY),
            ("--token", TOKEN),
            ("_authToken", TOKEN),
            ("GITHUB_TOKEN_PROD", TOKEN),
            ("clientSecret", SECRET),
            ("secret", SECRET),
            ("credentials", CREDENTIAL),
        ] {
            assert_eq!(sensitive_name(name), Some(kind), "{name}");
        }
    }

    #[test]
    fn look_alikes_of_names_say_nothing() {
        for name in [
            "max_tokens",
            "token_usage",
            "tokens",
            "next_page_token",
            "eos_token",
            "token_count",
            "tokenizer",
            "public_key",
            "primary_key",
            "cache_key",
            "key",
            "keyboard",
            "password_hash",
            "password_field",
            "secret_name",
            "key_id",
            "access_key_id",
            "passed",
            "compass",
            "author",
            "authenticated",
            "pass",
            "bypass",
            "token_type",
            "passthrough",
            "prompt_cache_key",
            "input_tokens",
            "file_pat",
        ] {
            assert_eq!(sensitive_name(name), None, "{name}");
        }
    }
}
