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

/// What stands among the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// A secret, and nothing else that looks like words with a number.
    Secret,
    /// Often a secret, and other values that may look like one.
    Mixed,
}

use Arguments::{Mixed, Secret};

/// Ends of the names of such functions, with the parenthesis that opens their arguments. A name may end in another call:
/// `require('stripe')('...')`.
const CALLEES: &[(&str, Arguments)] = &[
    ("sign(", Secret),
    ("verify(", Mixed),
    ("jwt.encode(", Secret),
    ("jwt.decode(", Secret),
    ("jwt::encode(", Secret),
    ("jwt::decode(", Secret),
    ("jwt_encode(", Secret),
    ("createhmac(", Secret),
    ("hmac(", Mixed),
    ("hmac_new(", Secret),
    ("connect(", Mixed),
    ("credentials(", Mixed),
    ("credential(", Mixed),
    ("ftp(", Mixed),
    ("ftp_tls(", Mixed),
    ("bind(", Mixed),
    ("bind_s(", Mixed),
    ("begin(", Mixed),
    ("auth(", Mixed),
    ("authenticate(", Mixed),
    ("login(", Mixed),
    ("signin(", Mixed),
    ("sign_in(", Mixed),
    ("logon(", Mixed),
    ("unlockaccount(", Mixed),
    ("unlock(", Mixed),
    ("database(", Mixed),
    ("stripe')(", Mixed),
    ("twilio')(", Mixed),
    ("stripe\")(", Mixed),
    ("analytics.load(", Mixed),
    ("access_token(", Mixed),
    ("client.run(", Mixed),
    ("bot.run(", Mixed),
    ("client.login(", Mixed),
    ("algoliasearch(", Mixed),
    ("apiconnect(", Mixed),
    ("telebot(", Mixed),
    ("bot(", Mixed),
    ("restclient(", Mixed),
    ("basicauth(", Secret),
    ("basic_auth(", Secret),
    ("digestauth(", Secret),
    ("credential(\"", Mixed),
    ("passwordauthentication(", Secret),
    ("usernamepassword(", Secret),
    ("securestring(", Secret),
    ("encrypt(", Mixed),
    ("decrypt(", Mixed),
    ("createcipheriv(", Mixed),
    ("createdecipheriv(", Mixed),
    ("cipher(", Mixed),
    ("setcredentials(", Mixed),
    ("setauth(", Mixed),
    ("withcredentials(", Mixed),
    ("withbasicauth(", Secret),
    ("setbasicauth(", Secret),
    ("setpassword(", Secret),
    ("setapikey(", Mixed),
    ("settoken(", Mixed),
    ("set_token(", Mixed),
    ("configure(", Mixed),
    ("createclient(", Mixed),
    ("initialize(", Mixed),
    ("opendatabase(", Mixed),
    ("loadkeystore(", Mixed),
    ("keystore.load(", Mixed),
    ("setkey(", Mixed),
    ("pbkdf2(", Mixed),
    ("scrypt(", Mixed),
    ("secretkeyspec(", Mixed),
    ("authorize(", Mixed),
    ("fill(", Mixed),
    ("type(", Mixed),
    ("send_keys(", Mixed),
    ("sendkeys(", Mixed),
    ("create_user(", Secret),
    ("createuser(", Mixed),
    ("create_superuser(", Secret),
    ("hash(", Mixed),
    ("hashpw(", Secret),
    ("password_hash(", Secret),
    ("compare(", Mixed),
    ("comparesync(", Mixed),
    ("hashsync(", Mixed),
    ("checkpw(", Secret),
    ("basic(", Mixed),
    ("imap_open(", Mixed),
    ("ldap_bind(", Mixed),
    ("ssh.start(", Mixed),
    ("open_session(", Mixed),
    ("simple_bind_s(", Secret),
    ("addcredentials(", Mixed),
    ("keycredential(", Mixed),
    ("apikey(", Mixed),
    ("api_key(", Mixed),
    ("init(", Mixed),
    ("authtoken(", Mixed),
    ("sequelize(", Mixed),
    ("connection(", Mixed),
    ("make_password(", Mixed),
];

/// How far the arguments of a call are followed.
const MAX_ARGUMENTS_BYTES: usize = 600;

static NAMES: LazyLock<Search> = LazyLock::new(|| Search::new(trigger_words(), Case::Any));

/// Returns the ends of calls near which a secret is to be looked for.
pub(crate) fn trigger_words() -> impl Iterator<Item = &'static str> {
    CALLEES.iter().map(|(name, _)| *name)
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
                    || (CALLEES[call.pattern().as_usize()].1 == Secret && (is_spoken(value) || is_scrambled(value))))
            {
                found.push(Found::new(string, CREDENTIAL, Evidence::Context));
            }
        }
    }
}

/// Returns whether a value has digits among letters of both cases.
fn is_scrambled(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.trim_end_matches(|c: char| c.is_ascii_digit()).as_bytes().iter().any(test);
    value.len() >= 10
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
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
    use crate::redact::found::values_found;

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
            assert_eq!(values_found(&text, |found| find(&text, found)), [SECRET], "{text}");
        }
        for text in [
            "jwt.sign(payload, process.env.JWT_SECRET, { algorithm: 'HS256' })",
            "db.connect('postgres://localhost/app')",
            "hash.verify('sha256', key)",
            "login('me@example.org', password)",
            "connect('192.168.1.10', 8080)",
        ] {
            assert_eq!(values_found(text, |found| find(text, found)), [""; 0], "{text}");
        }
    }
}
