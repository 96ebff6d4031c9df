//! Secrets that are known by their place: in headers, cookies, URLs and the arguments of some commands.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::contexts::{is_announced, is_strong};
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::is_secret;
use super::marks::{Mark, Marks};
use super::names::{PASSWORD, sensitive_name, weak_name};
use super::plausible::{Form, is_plausible, is_plausible_password};

const BEARER: Kind = Kind::known("bearer-token");
const BASIC: Kind = Kind::known("basic-auth");
const SIGNATURE: Kind = Kind::known("signature");
const COOKIE: Kind = Kind::known("cookie");
const URL_PASSWORD: Kind = Kind::known("url-password");

/// Attributes of cookies that are no cookies themselves.
const ATTRIBUTES: &[&str] = &["path", "domain", "expires", "max-age", "samesite", "version", "priority"];

fn pattern(pattern: &str) -> Regex {
    // Bytes instead of Unicode classes: the automaton is many times as small, and as fast.
    RegexBuilder::new(pattern).unicode(false).build().expect("the built-in patterns are tested")
}

/// Returns a group of a match with its place, if it ends between characters.
fn group<'t>(text: &'t str, captures: &Captures<'_>, index: usize) -> Option<(Range<usize>, &'t str)> {
    let range = captures.get(index)?.range();
    Some((range.clone(), text.get(range)?))
}

static BEARER_TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:bearer|authorization\\*[\x22']?[:=][ ]?\\*[\x22']?token)(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/-][a-z0-9._~+/!:|@$%^*#-]{7,}={0,2})",
    )
});
static BASIC_CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bbasic[ \t]{1,4}([a-z0-9+/_-]{6,}={0,2})"));
static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)authorization\\*[\x22']?[ \t]{0,4}[:=][ \t]{0,4}\\*[\x22']?[a-z][\w-]+[ \t]+([^\r\n]{8,})")
});
static PARAMETER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b([A-Za-z_][\w-]*)[ ]?=[ ]?\\*[\x22']?([^\x22',;\s\\]{8,})"));

/// Parameters of `Authorization` that are not secret.
const PUBLIC_PARAMETERS: &[&str] = &[
    "username",
    "realm",
    "nonce",
    "cnonce",
    "uri",
    "qop",
    "nc",
    "algorithm",
    "keyid",
    "credential",
    "signedheaders",
    "headers",
    "created",
    "expires",
    "version",
    "timestamp",
    "ts",
    "oauth_nonce",
    "oauth_timestamp",
    "oauth_version",
    "oauth_consumer_key",
    "oauth_signature_method",
    "opaque",
    "id",
    "digest",
    "userhash",
    "client",
];
static COOKIES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:set-)?cookie[23]?\\*[\x22']?[ \t]{0,4}[:=][ \t]{0,4}\\*[\x22']?([a-z0-9!#$%&'*+.^_`|~-]+=[^\r\n\x22'\\]+)",
    )
});
static URL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[a-z][a-z0-9+.-]{1,24}:(?:\\?/){2}[^\s/?#:@\x22'<>`\\]*:([^\s/\x22'<>`\\]+)@"));
static CURL_USER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:curl|wget|http|https|xh)\b[^\n]*?[ \t](?:-u|--user|--proxy-user|-a|--auth)[ \t=]{1,4}\\*[\x22']?[^\s:\x22'\\]+:([^\s\x22'\\]{3,})",
    )
});
static COMMAND_PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:sshpass[ \t]+-p|docker[ \t]+login\b[^\n]*?[ \t]-p|redis-cli\b[^\n]*?[ \t]-a)[ \t]*\\*[\x22']?([^\s\x22'\\-][^\s\x22'\\]{2,})",
    )
});
/// A password that is right after its option, since what comes after a gap is something else.
static ATTACHED_PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(?:mysql(?:dump|admin)?|mariadb)\b[^\n]*?[ \t](?-i:-p)|openssl\b[^\n]*?[ \t\x22']pass:)\\*[\x22']?([^\s\x22'\\-][^\s\x22'\\]{2,})",
    )
});
static NETRC: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:machine\s+\S+|default)\s+login[ \t]+\S+\s+password[ \t]+([^\s\x22'\\]{3,})"));
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)<([a-z0-9_.:-]{2,})(?:\s[^<>]*)?>([^<>\s]{6,})</"));

/// An element, or one with a name of its own, around a text that is written as it is.
static CDATA: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?s)<([A-Za-z0-9_.:-]{2,})(?:\s[^<>]*?\b(?:name|key|id)=[\x22']([^\x22'<>]{2,})[\x22'][^<>]*|\s[^<>]*)?>\s*<!\[CDATA\[(.{3,400}?)\]\]>"#,
    )
});

/// Decodes base64 with or without padding.
pub(crate) const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);

/// Finds the secrets of headers, URLs and command lines in a text.
pub(crate) fn find(text: &str, marks: Marks, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let has_authorization = marks.has(Mark::Authorization);
    if marks.has(Mark::Bearer) || has_authorization {
        for captures in BEARER_TOKEN.captures_iter(bytes) {
            let Some((range, token)) = group(text, &captures, 1) else { continue };
            let is_random = is_plausible(token, Form::Bare, &BEARER)
                || (token.len() >= 20 && is_plausible(token, Form::Quoted, &BEARER));
            if is_random {
                found.push(Found::new(range, BEARER, Evidence::Context));
            }
        }
    }
    if has_authorization {
        find_parameters(text, found);
    }
    if marks.has(Mark::Basic) {
        for captures in BASIC_CREDENTIALS.captures_iter(bytes) {
            let Some((range, credentials)) = group(text, &captures, 1) else { continue };
            let Some(password) = password_of_basic(credentials) else { continue };
            if is_plausible_password(&password) {
                let mut basic = Found::new(range, BASIC, Evidence::Context);
                basic.aliases.push(password);
                found.push(basic);
            }
        }
    }
    if marks.has(Mark::Cookie) {
        for captures in COOKIES.captures_iter(bytes) {
            if let Some((range, list)) = group(text, &captures, 1) {
                find_cookies(text, range.start, list, found);
            }
        }
    }
    if marks.has(Mark::At) && marks.has(Mark::Slash) {
        find_in_urls(text, found);
    }
    if marks.has(Mark::User) && marks.has(Mark::Fetch) {
        find_passwords(text, &CURL_USER, &PASSWORD, found);
    }
    if marks.has(Mark::Program) {
        find_passwords(text, &COMMAND_PASSWORD, &PASSWORD, found);
    }
    if marks.has(Mark::Attached) {
        find_passwords(text, &ATTACHED_PASSWORD, &PASSWORD, found);
    }
    if marks.has(Mark::Login) && marks.has(Mark::Password) {
        find_passwords(text, &NETRC, &PASSWORD, found);
    }
    if marks.has(Mark::Closing) {
        for captures in ELEMENT.captures_iter(bytes) {
            let (Some((_, name)), Some((range, value))) = (group(text, &captures, 1), group(text, &captures, 2)) else {
                continue;
            };
            match sensitive_name(name) {
                Some(kind) if is_secret(value, name, Form::Quoted, &kind) => {
                    found.push(Found::new(range, kind, Evidence::Context));
                }
                None => {
                    if let Some(kind) = weak_name(name).filter(|_| is_announced(value)) {
                        found.push(Found::new(range, kind, Evidence::Context));
                    }
                }
                Some(_) => {}
            }
        }
        for captures in CDATA.captures_iter(bytes) {
            let name = group(text, &captures, 2).or_else(|| group(text, &captures, 1)).map(|(_, name)| name);
            let (Some(name), Some((range, value))) = (name, group(text, &captures, 3)) else { continue };
            if let Some(kind) = sensitive_name(name)
                && is_secret(value, name, Form::Environment, &kind)
            {
                found.push(Found::new(range, kind, Evidence::Context));
            }
        }
    }
}

/// Finds the parameters of an `Authorization` header that prove something: signatures, responses, tokens.
fn find_parameters(text: &str, found: &mut Vec<Found>) {
    for header in AUTHORIZATION.captures_iter(text.as_bytes()) {
        let Some((list, parameters)) = group(text, &header, 1) else { continue };
        // `sso-key ID:KEY`, `AWS ID:SIGNATURE`.
        let first = parameters.split([' ', ',', '"', '\'', '\\']).next().unwrap_or_default();
        if let Some((_, key)) = first.rsplit_once(':')
            && is_strong(key)
        {
            let start = list.start + first.len() - key.len();
            found.push(Found::new(start..start + key.len(), SIGNATURE, Evidence::Context));
        }
        for captures in PARAMETER.captures_iter(parameters.as_bytes()) {
            let (Some((_, name)), Some((range, value))) =
                (group(parameters, &captures, 1), group(parameters, &captures, 2))
            else {
                continue;
            };
            let is_public = PUBLIC_PARAMETERS.contains(&name.to_ascii_lowercase().as_str());
            if !is_public && is_strong(value) {
                let span = list.start + range.start..list.start + range.end;
                found.push(Found::new(span, SIGNATURE, Evidence::Context));
            }
        }
    }
}

/// Finds the cookies in the value of a header that begins at `start` of `text`.
pub(crate) fn find_cookies(text: &str, start: usize, list: &str, found: &mut Vec<Found>) {
    let mut at = start;
    for pair in list.split_inclusive(';') {
        let body = pair.trim_end_matches(';');
        if let Some((name, value)) = body.split_once('=') {
            let value_start = at + name.len() + 1;
            let value = value.trim_end();
            let is_attribute = ATTRIBUTES.contains(&name.trim().to_ascii_lowercase().as_str());
            if !is_attribute && is_plausible(value, Form::Quoted, &COOKIE) {
                debug_assert_eq!(&text[value_start..value_start + value.len()], value);
                found.push(Found::new(value_start..value_start + value.len(), COOKIE, Evidence::Context));
            }
        }
        at += pair.len();
    }
}

fn find_in_urls(text: &str, found: &mut Vec<Found>) {
    for captures in URL.captures_iter(text.as_bytes()) {
        // The last @ before the host ends the password; one that comes before a second URL does not.
        let Some((range, written)) = group(text, &captures, 1) else { continue };
        if written.contains(":/") || !is_plausible_password(written) {
            continue;
        }
        let mut one = Found::new(range, URL_PASSWORD, Evidence::Context);
        if written.contains('%')
            && let Ok(decoded) = percent_encoding::percent_decode_str(written).decode_utf8()
            && decoded != written
        {
            one.identity = Some(decoded.clone().into_owned());
            one.aliases.push(written.to_owned());
        }
        found.push(one);
    }
}

fn find_passwords(text: &str, pattern: &Regex, kind: &Kind, found: &mut Vec<Found>) {
    for captures in pattern.captures_iter(text.as_bytes()) {
        if let Some((range, password)) = group(text, &captures, 1)
            && is_plausible_password(password)
            && !password.starts_with('$')
        {
            found.push(Found::new(range, kind.clone(), Evidence::Context));
        }
    }
}

fn password_of_basic(credentials: &str) -> Option<String> {
    let decoded = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let is_text = |text: &str| text.chars().all(|c| !c.is_control());
    (is_text(user) && is_text(password) && password.len() >= 3).then(|| password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        find(text, Marks::of(text), &mut found);
        found.into_iter().map(|found| (found.kind.to_string(), &text[found.span])).collect()
    }

    #[test]
    fn headers_urls_and_commands_give_their_secrets_away() {
        for (text, kind, value) in [
            ("Authorization: Bearer q1w2e3r4t5", "bearer-token", "q1w2e3r4t5"),
            ("-H 'authorization: bearer q1w2e3r4t5'", "bearer-token", "q1w2e3r4t5"),
            ("Authorization: token q1w2e3r4t5", "bearer-token", "q1w2e3r4t5"),
            ("Authorization: Basic dXNlcjpodW50ZXIy", "basic-auth", "dXNlcjpodW50ZXIy"),
            ("Cookie: theme=dark; session=q1w2e3r4t5y6", "cookie", "q1w2e3r4t5y6"),
            ("postgres://user:hunter2@db:5432/x", "url-password", "hunter2"),
            ("redis://:hunter2@cache", "url-password", "hunter2"),
            ("exit 7postgres://user:hunter2@db", "url-password", "hunter2"),
            ("see https://a.example/ and amqp://u:p%40ss@host", "url-password", "p%40ss"),
            ("curl -s -u admin:hunter2 https://x", "password", "hunter2"),
            ("sshpass -p hunter2 ssh host", "password", "hunter2"),
            ("mysql -u root -phunter2 db", "password", "hunter2"),
            ("machine x login me password hunter2", "password", "hunter2"),
            ("<password>hunter2</password>", "password", "hunter2"),
        ] {
            assert_eq!(values(text), [(kind.to_owned(), value)], "{text}");
        }
    }

    #[test]
    fn examples_of_headers_and_urls_are_left_alone() {
        for text in [
            "Bearer authentication is used",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer YOUR_TOKEN_HERE1",
            "Basic understanding of things",
            "postgres://user:password@localhost/db",
            "postgres://$USER:$PASSWORD@localhost/db",
            "https://<user>:<pass>@host",
            "http://localhost:8080/@scope/package",
            "https://host:443/x and me@example.org",
            "Set-Cookie: Path=/; HttpOnly",
            "git@github.com:owner/name.git",
            "curl -u user:$PASSWORD https://x",
        ] {
            assert_eq!(values(text), [], "{text}");
        }
    }
}
