//! Output of commands that print a secret, such as the line after `$ gh auth token`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::blocks::decoded;
use super::contexts::{is_announced, is_mixed, is_strong};
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::stands_in;
use super::phrases::is_spoken;

const SECRET: Kind = Kind::known("secret");

/// Most lines of an output that are looked at.
const MAX_LINES: usize = 4;

/// Longest line of an output that is a secret.
const MAX_VALUE_BYTES: usize = 4096;

/// Words of which one is in every such command.
const WORDS: &[&str] = &[
    "lookup",
    "jsonpath",
    "-field",
    "get secret",
    "op read",
    "pass show",
    "gopass",
    "bw get",
    "lpass",
    "find-generic-password",
    "find-internet-password",
    "keyring get",
    "print-access-token",
    "print-identity-token",
    "versions access",
    "get-secret-value",
    "get-parameter",
    "get-login-password",
    "secret show",
    "get-access-token",
    "auth token",
    "auth:token",
    "config:get",
    "secrets get",
    "output -raw",
    "config get",
    "stack output",
    "openssl rand",
    "pwgen",
    "mkpasswd",
    "genkey",
    "genpsk",
    "gpg -d",
    "--decrypt",
    "sops -d",
    "vault view",
    "base64 -d",
    "base64 --decode",
    "base64 -D",
    "printenv",
    "create token",
    "token create",
    "join-token",
    "rails secret",
    "bin/rails secret",
    "randombytes",
    "secrets.token",
    "token_hex",
    "token_urlsafe",
    "node-token",
    "create-admin-token",
    "reset-password",
    "diceware",
    "xkcdpass",
    "apg ",
    "uuidgen",
    "get-authorization-token",
    "account-keys",
    "keys list",
    "regenerate",
    "admin-password",
    "initialadminpassword",
    "cat /run/secrets",
    "cat /etc/",
    "echo $",
    "echo \"$",
    "cat ~/.",
    "cat .",
    "create-access-key",
    "assume-role",
    "get-session-token",
    "get-federation-token",
    "create-for-rbac",
    "credential reset",
    "credential show",
    "credential create",
    "keys renew",
    "keys create",
    "list-keys",
    "service-specific-credential",
    "create-login-profile",
    "key create",
    "app-password",
    "apppassword",
    "generate-sas",
    "admin initial-password",
    "certificate-key",
    "chamber read",
    "credstash",
    "berglas access",
    "keepassxc-cli",
    "rbw get",
    "dcli ",
    "kv get",
    "/dev/urandom",
    "/dev/random",
    "jq -r",
    "yq ",
];

/// A command, after a prompt or not, that prints a secret.
static READS: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\w*(?:pass|pwd|secret|token|cred|api_?key|_key|auth|master\.key)\w*";
    RegexBuilder::new(&[
        r"(?i)(?:\bsecret-tool[ ]lookup|\bget[ ]secrets?\b.*(?:jsonpath|template|-o[ ]?(?:go|json))|\b(?:vault|bao)\b.*-field",
        r"|\bop[ ](?:read|item[ ]get)|\bg?o?pass[ ]show|\bgopass[ ]\S|\bbw[ ]get|\blpass[ ]show|\bfind-(?:generic|internet)-password\b.*-w",
        r"|\bkeyring[ ]get|print-(?:access|identity)-token|versions[ ]access|get-secret-value|get-parameter\b|get-login-password",
        r"|\bsecret[ ]show|get-access-token|\bauth[ :]token\b|config:get|\bsecrets?[ ]get\b|\boutput[ ]-raw|\bconfig[ ]get\b|\bstack[ ]output",
        r"|\bopenssl[ ]rand|\bpwgen\b|\bmkpasswd\b|\bgen(?:key|psk)\b|\bgpg2?\b.*(?:-d\b|--decrypt)|\bsops\b.*(?:-d\b|decrypt)|\bvault[ ]view",
        r"|\bbase64[ ](?:-d|-D|--decode)|\bcreate[ ]token\b|\btoken[ ]create\b|join-token|\brails[ ]secret|randomBytes|secrets\.token|token_(?:hex|urlsafe)",
        r"|node-token\b|\bxkcdpass\b|\bdiceware\b|\bapg\b|get-authorization-token|initialAdminPassword|\bregenerate\b",
        r"|create-access-key|assume-role|get-session-token|get-federation-token|create-for-rbac|credential[ ](?:reset|show|create)|keys[ ](?:list|renew|create)\b",
        r"|\blist-keys\b|service-specific-credential|create-login-profile|(?:api-?|access-?)keys?[ ]create|app-?password|generate-sas|admin[ ]initial-password",
        r"|\bcertificate-key\b|\bchamber[ ]read|\bcredstash\b|\bberglas[ ]access|\bkeepassxc-cli\b|\brbw[ ]get|\bdcli[ ]|\bconsul[ ]kv[ ]get|/dev/u?random",
        &format!(r"|\b(?:echo|printenv|print|printf|cat)\b[^|>]*(?:\$|/|\.|[ ]|\x22)\{{?{name}\}}?"),
        r")",
    ].concat())
    .unicode(false)
    .build()
    .expect("the built-in patterns are tested")
});

/// What is before a command that was typed.
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"^(?:[\w.@:~/\[\]()> -]{0,80}?)(?:[$#%]|>|❯|➜|λ|\+)[ ]{1,2}(?P<command>[a-zA-Z./~_(].{3,2000})$")
        .unicode(false)
        .build()
        .expect("the built-in patterns are tested")
});

/// Returns the words near which an output is to be looked for.
pub(crate) fn trigger_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied()
}

/// Finds the secrets that commands of a text print.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let line = line_at(bytes, at);
        at = line.end + 1;
        let written = &bytes[line.clone()];
        if written.len() < 6 || written.len() > 2100 {
            continue;
        }
        let prompt = if has_prompt(written) { PROMPT.captures(written) } else { None };
        let (is_reading, command) = match prompt.as_ref().and_then(|captures| captures.name("command")) {
            Some(command) => {
                let command = command.as_bytes();
                (READS.is_match(command) || asks_for_secret(command), command)
            }
            // Without its prompt a command begins the line.
            None => (begins_with_program(written) && READS.is_match(written), written),
        };
        if is_reading {
            let prints_one = PRINTS_ONE.is_match(command);
            let asked = if prints_one || asks_for_secret(command) { Asked::Secret } else { Asked::Anything };
            values(text, at, asked, found);
            if prints_one {
                only_line(text, at, found);
            }
        }
    }
}

/// Words of which one is in a command that prints a secret, whatever the program.
const ASKS: &[&[u8]] = &[
    b"passw",
    b"secret",
    b"token",
    b"privkey",
    b"priv-key",
    b"privatekey",
    b"private-key",
    b"apikey",
    b"api-key",
    b"api_key",
    b"credential",
    b"access-key",
    b"accesskey",
    b"auth-key",
    b"authkey",
    b"mnemonic",
];

/// Words of which one is in a command that prints a digest or an id instead.
const IDENTIFIES: &[&[u8]] =
    &[b"git ", b"sha1", b"sha2", b"sha5", b"md5", b"hash", b"checksum", b"fingerprint", b" create ", b" ls", b"uuid"];

/// Returns whether a command has a word for a secret in it and none for what only looks like one.
fn asks_for_secret(command: &[u8]) -> bool {
    let lower = command.to_ascii_lowercase();
    let has = |words: &[&[u8]]| words.iter().any(|word| memchr::memmem::find(&lower, word).is_some());
    has(ASKS) && !has(IDENTIFIES)
}

/// Commands that print one secret and nothing else, whatever it looks like.
static PRINTS_ONE: LazyLock<Regex> = LazyLock::new(|| {
    let name =
        r"\w*(?:pass|pw|pwd|passwd|password|passphrase|secret|token|credential|api_?key|access_?key|private_?key)";
    RegexBuilder::new(&[
        &format!(r"(?i)(?:jsonpath=[^|]*\.{name}\b|template=[^|]*\.{name}\b|-field[= ][\x22']?{name}\b|\bop[ ]read\b.*/{name}\b"),
        &format!(r"|\bop[ ]item[ ]get\b.*field.*{name}\b|\bbw[ ]get[ ]password|\brbw[ ]get\b|\bg?o?pass[ ](?:show[ ])?(?:-o[ ])?[\w.@-]+/[\w./@-]+$"),
        r"|\blpass[ ]show\b.*-p|-password\b.*[ ]-g?w|\bsecret-tool[ ]lookup|\bkeyring[ ]get|\bversions[ ]access\b|--query[ =][\x22']?SecretString\b|\bkeyvault[ ]secret[ ]show\b.*value\b|\bget-parameter\b.*--with-decryption\b.*Value\b",
        r"|\bget-login-password|\bcat[ ][^|]*/run/secrets/\w|\bkeepassxc-cli\b.*-a[ ]password|\bcredstash[ ].*get|\bchamber[ ]read|\bberglas[ ]access|\bdcli[ ]password",
        &format!(r"|\b(?:output[ ]-raw|stack[ ]output|config[ ](?:--)?get|config:get|secrets?[ ]get|kv[ ]get|consul[ ]kv[ ]get|env[ ]get)\b.*{name}\b"),
        &format!(r"|\b(?:jq|yq|dasel|crudini|tomlq|xmlstarlet)\b.*[.\[ \x22'/]{name}[\x22'\]]*(?:[ ]|$)|\b(?:echo|printenv|print)\b[^|>]*\b{name}\}}?[\x22']?$"),
        r")",
    ].concat())
    .unicode(false)
    .build()
    .expect("the built-in patterns are tested")
});

/// Shortest secret that is told by its command alone.
const MIN_ONLY_BYTES: usize = 6;

/// Finds the one line that a command prints.
fn only_line(text: &str, from: usize, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    if from >= bytes.len() {
        return;
    }
    let line = line_at(bytes, from);
    let next = bytes.get(line.end + 1..).map(|rest| &rest[line_at(rest, 0)]).unwrap_or_default();
    let is_last = next.trim_ascii().is_empty() || (has_prompt(next) && PROMPT.is_match(next.trim_ascii_end()));
    let Some(written) = text.get(line.clone()) else { return };
    let value = written.trim().trim_matches(['"', '\'']);
    let start = line.start + written.find(value).unwrap_or_default();
    let is_value = value.len() >= MIN_ONLY_BYTES
        && value.len() <= MAX_VALUE_BYTES
        && !value.contains(char::is_whitespace)
        && !value.ends_with([':', ',', '{', '['])
        && !value.starts_with(['{', '[', '<', '-', '/'])
        && !value.contains("://")
        && !stands_in(value);
    if is_last && is_value {
        found.push(Found::new(start..start + value.len(), SECRET, Evidence::Context));
    }
}

/// Finds the fields with tabs between that can hardly be anything but keys, as tools print records for scripts.
fn fields(text: &str, line: Range<usize>, found: &mut Vec<Found>) {
    let mut start = line.start;
    for field in text[line].split('\t') {
        let value = field.trim();
        let is_one = value.len() >= 16
            && !value.contains(char::is_whitespace)
            && !value.contains("://")
            && !value.starts_with("arn:")
            && (value.len() != 36 || value.bytes().filter(|byte| *byte == b'-').count() != 4)
            && !value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && (is_strong(value) || is_mixed(value));
        if is_one {
            let at = start + field.len() - field.trim_start().len();
            found.push(Found::new(at..at + value.len(), SECRET, Evidence::Context));
        }
        start += field.len() + 1;
    }
}

/// What a command asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// A secret, by its own words.
    Secret,
    /// What may be one.
    Anything,
}

/// Finds the lines of an output that are a secret, each as a whole.
fn values(text: &str, from: usize, asked: Asked, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = from;
    for _ in 0..MAX_LINES {
        if at >= bytes.len() {
            return;
        }
        let line = line_at(bytes, at);
        at = line.end + 1;
        // Interpreters of Ruby have an arrow before a value.
        let line = if bytes[line.clone()].starts_with(b"=> ") { line.start + 3..line.end } else { line };
        let written = bytes[line.clone()].trim_ascii();
        let start = line.start + bytes[line.clone()].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (start, end) = match written {
            [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => (start + 1, start + 1 + inner.len()),
            _ => (start, start + written.len()),
        };
        let Some(value) = text.get(start..end) else { continue };
        let is_word = !value.contains(char::is_whitespace)
            && !value.starts_with("-----")
            && (8..=MAX_VALUE_BYTES).contains(&value.len());
        if memchr::memchr(b'\t', value.as_bytes()).is_some() {
            fields(text, start..end, found);
        } else if is_word
            && (is_announced(value) || (asked == Asked::Secret && (is_spoken(value) || is_encoded(value))))
        {
            found.push(Found::new(start..end, SECRET, Evidence::Context));
        } else if !value.is_empty() {
            return;
        }
    }
}

/// Returns whether a value is base64 of a text, with its padding.
fn is_encoded(value: &str) -> bool {
    value.len() >= 12 && value.ends_with('=') && decoded(value).is_some_and(|text| text.len() >= MIN_ONLY_BYTES)
}

/// Programs that print secrets. Without a prompt a line is a command only if it begins with one of them.
const PROGRAMS: &[&str] = &[
    "gh",
    "glab",
    "kubectl",
    "oc",
    "vault",
    "bao",
    "op",
    "pass",
    "gopass",
    "bw",
    "lpass",
    "secret-tool",
    "security",
    "keyring",
    "gcloud",
    "aws",
    "az",
    "heroku",
    "doppler",
    "fly",
    "flyctl",
    "terraform",
    "tofu",
    "pulumi",
    "openssl",
    "pwgen",
    "mkpasswd",
    "wg",
    "gpg",
    "gpg2",
    "sops",
    "ansible-vault",
    "base64",
    "cat",
    "echo",
    "printenv",
    "printf",
    "kubeadm",
    "docker",
    "rails",
    "bin/rails",
    "age",
    "xkcdpass",
    "diceware",
    "apg",
    "sudo",
    "tailscale",
    "node",
    "python3",
    "python",
];

fn begins_with_program(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    line.len() > word.len() && PROGRAMS.iter().any(|program| program.as_bytes() == word)
}

fn has_prompt(line: &[u8]) -> bool {
    line.iter().take(90).any(|byte| matches!(byte, b'$' | b'#' | b'%' | b'>' | 0xe2 | 0xce | b'+'))
}

fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    at..memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    #[test]
    fn what_commands_print_is_found() {
        const SECRET: &str = "Vq7#xR2!mKp9";
        for command in [
            "$ secret-tool lookup service shop",
            "$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d; echo",
            "root@web:~# vault kv get -field=password secret/shop",
            "$ op read op://vault/shop/password",
            "❯ gh auth token",
            "$ terraform output -raw db_password",
            "$ openssl rand -base64 24",
            "$ cat /run/secrets/db_password",
            "$ echo $DB_PASSWORD",
            "me@host:~/src$ printenv API_TOKEN",
        ] {
            let text = format!("{command}\n{SECRET}\n$ ls\nREADME.md\n");
            let found = values_found(&text, |found| find(&text, found));
            assert_eq!(found, [SECRET], "{command}");
        }
        for text in
            ["$ cat src/token.rs\nfn main() {\n", "$ gh auth status\nVq7#xR2!mKp9\n", "$ echo $HOME\n/home/me\n"]
        {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}");
        }
    }
}
