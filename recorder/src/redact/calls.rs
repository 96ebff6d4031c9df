//! Secrets among the arguments of calls that log in, sign or open something: `jwt.sign(claims, "...")`, `db.auth("app", "...")`.
//!
//! Which argument is the secret differs from library to library, so every string of such a call is looked at, and the one
//! counts that nobody writes as a word.

use std::ops::Range;
use std::sync::LazyLock;

use super::contexts::is_announced;
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::phrases::is_spoken;
use super::search::{Case, Search};

const CREDENTIAL: Kind = Kind::known("credential");

/// Ends of the names of such functions, with the parenthesis that opens their arguments. A name may end in another call:
/// `require('stripe')('...')`.
const CALLEES: &[&str] = &[
    "sign(",
    "verify(",
    "jwt.encode(",
    "jwt.decode(",
    "jwt::encode(",
    "jwt::decode(",
    "jwt_encode(",
    "createhmac(",
    "hmac(",
    "hmac_new(",
    "connect(",
    "credentials(",
    "credential(",
    "ftp(",
    "ftp_tls(",
    "bind(",
    "bind_s(",
    "begin(",
    "auth(",
    "authenticate(",
    "login(",
    "signin(",
    "sign_in(",
    "logon(",
    "unlockaccount(",
    "unlock(",
    "database(",
    "stripe')(",
    "twilio')(",
    "stripe\")(",
    "analytics.load(",
    "access_token(",
    "client.run(",
    "bot.run(",
    "client.login(",
    "algoliasearch(",
    "apiconnect(",
    "telebot(",
    "bot(",
    "restclient(",
    "basicauth(",
    "basic_auth(",
    "digestauth(",
    "credential(\"",
    "passwordauthentication(",
    "usernamepassword(",
    "securestring(",
    "encrypt(",
    "decrypt(",
    "createcipheriv(",
    "createdecipheriv(",
    "cipher(",
    "setcredentials(",
    "setauth(",
    "withcredentials(",
    "withbasicauth(",
    "setbasicauth(",
    "setpassword(",
    "setapikey(",
    "settoken(",
    "set_token(",
    "configure(",
    "createclient(",
    "initialize(",
    "opendatabase(",
    "loadkeystore(",
    "keystore.load(",
    "setkey(",
    "pbkdf2(",
    "scrypt(",
    "secretkeyspec(",
    "authorize(",
    "fill(",
    "type(",
    "send_keys(",
    "sendkeys(",
    "create_user(",
    "createuser(",
    "create_superuser(",
    "hash(",
    "hashpw(",
    "password_hash(",
    "compare(",
    "comparesync(",
    "hashsync(",
    "checkpw(",
    "basic(",
    "imap_open(",
    "ldap_bind(",
    "ssh.start(",
    "open_session(",
    "simple_bind_s(",
    "addcredentials(",
    "keycredential(",
    "apikey(",
    "api_key(",
    "init(",
    "authtoken(",
    "sequelize(",
    "connection(",
    "make_password(",
];

/// How far the arguments of a call are followed.
const MAX_ARGUMENTS_BYTES: usize = 600;

static NAMES: LazyLock<Search> = LazyLock::new(|| Search::new(CALLEES.iter().copied(), Case::Any));

/// Returns the ends of calls near which a secret is to be looked for.
pub(crate) fn trigger_words() -> impl Iterator<Item = &'static str> {
    CALLEES.iter().copied()
}

/// Finds the secrets among the arguments of calls.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for call in NAMES.through(text).find_iter(text) {
        for string in strings(bytes, call.end()) {
            if let Some(value) = text.get(string.clone())
                && value.len() >= 8
                && !value.contains(char::is_whitespace)
                && (is_announced(value)
                    || (is_sure(call.pattern().as_usize()) && (is_spoken(value) || is_scrambled(value))))
            {
                found.push(Found::new(string, CREDENTIAL, Evidence::Context));
            }
        }
    }
}

/// Calls whose arguments besides the secret do not look like words with a number.
const SURE: &[&str] = &[
    "jwt.encode(",
    "jwt.decode(",
    "jwt::encode(",
    "jwt::decode(",
    "jwt_encode(",
    "createhmac(",
    "hmac_new(",
    "setpassword(",
    "securestring(",
    "passwordauthentication(",
    "usernamepassword(",
    "hashpw(",
    "checkpw(",
    "password_hash(",
    "basicauth(",
    "basic_auth(",
    "digestauth(",
    "withbasicauth(",
    "setbasicauth(",
    "simple_bind_s(",
    "create_superuser(",
    "create_user(",
    "sign(",
];

/// Returns whether a value has digits among letters of both cases.
fn is_scrambled(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.trim_end_matches(|c: char| c.is_ascii_digit()).as_bytes().iter().any(test);
    value.len() >= 10
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
}

fn is_sure(callee: usize) -> bool {
    SURE.contains(&CALLEES[callee])
}

/// Returns whether a call has a string among its arguments with letters and digits in it.
pub(crate) fn has_candidate(bytes: &[u8], from: usize) -> bool {
    strings(bytes, from).iter().any(|string| {
        let value = &bytes[string.clone()];
        let is_mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
        value.len() >= 8 && (is_mixed || memchr::memchr_iter(b'-', value).count() >= 2)
    })
}

/// Returns what is between quotes up to the end of the arguments that begin at a place.
fn strings(bytes: &[u8], from: usize) -> Vec<Range<usize>> {
    let end = bytes.len().min(from + MAX_ARGUMENTS_BYTES);
    let mut strings = Vec::new();
    let (mut at, mut depth) = (from, 0_usize);
    while at < end {
        match bytes[at] {
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            // A statement ends.
            b';' | b'{' if depth == 0 && bytes[at] == b';' => break,
            quote @ (b'"' | b'\'' | b'`') => {
                let Some(length) = closing(&bytes[at + 1..end], quote) else { break };
                strings.push(at + 1..at + 1 + length);
                at += length + 1;
            }
            _ => {}
        }
        at += 1;
    }
    strings
}

fn closing(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' => return None,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_calls_that_are_no_words_are_found() {
        const SECRET: &str = "Vq7#xR2!mKp9";
        for text in [
            "jwt.sign({ id: user.id }, 'SECRETVALUE', { expiresIn: '1h' })",
            "crypto.createHmac('sha256', \"SECRETVALUE\").update(body)",
            "client.connect('host', 22, 'joe', 'SECRETVALUE')",
            "new UsernamePasswordCredentials(\"joe\", \"SECRETVALUE\")",
            "require('stripe')('SECRETVALUE')",
            "WiFi.begin(\"office\", \"SECRETVALUE\");",
            "db.auth(\"app\", \"SECRETVALUE\")",
        ] {
            let text = text.replace("SECRETVALUE", SECRET);
            let mut found = Vec::new();
            find(&text, &mut found);
            assert_eq!(found.iter().map(|found| &text[found.span.clone()]).collect::<Vec<_>>(), [SECRET], "{text}");
        }
        for text in [
            "jwt.sign(payload, process.env.JWT_SECRET, { algorithm: 'HS256' })",
            "db.connect('postgres://localhost/app')",
            "hash.verify('sha256', key)",
            "login('me@example.org', password)",
            "connect('192.168.1.10', 8080)",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
