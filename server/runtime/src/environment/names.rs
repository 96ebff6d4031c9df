//! Recognises the names of variables that hold keys.

use std::fmt;

use serde::Deserialize;

/// Name patterns of variables that hold keys; case does not matter. Further names can be configured, and false positives
/// can be permitted.
pub const KEY_NAMES: &[&str] = &[
    "*ACCESSKEY*",
    "*APIKEY*",
    "*API_KEY*",
    "*AUTHKEY*",
    "*AUTHORIZATION",
    "*BEARER*",
    "*CONNECTIONSTRING*",
    "*CONNECTION_STRING*",
    "*CREDENTIAL*",
    "*ENCRYPTION_KEY*",
    "*ID_ED25519*",
    "*ID_RSA*",
    "*KEY",
    "*KEY?",
    "*KEYFILE*",
    "*KEYS",
    "*MNEMONIC*",
    "*PASSCODE*",
    "*PASSPHRASE*",
    "*PASSWD*",
    "*PASSWORD*",
    "*PRIVATEKEY*",
    "*PRIVATE_KEY*",
    "*PRIVKEY*",
    "*SECRET*",
    "*SESSION_KEY*",
    "*SIGNATURE_KEY*",
    "*SIGNING_KEY*",
    "*TOKEN*",
    "*WEBHOOK_URL*",
    "*_AUTH",
    "*_AUTH_HEADER*",
    "*_CONN_STR*",
    "*_COOKIE",
    "*_COOKIES",
    "*_CREDS*",
    "*_DSN",
    "*_JWT*",
    "*_KEY_*",
    "*_PASS",
    "*_PASS?",
    "*_PAT",
    "*_PEM",
    "*_PSK",
    "*_PW",
    "*_PWD",
    "*_SAS",
    "*_SEED_PHRASE",
    "*_WEBHOOK",
    "ACCESS_KEY*",
    "AUTH",
    "AUTH_HEADER*",
    "BW_SESSION",
    "COOKIE",
    "COOKIES",
    "CREDS",
    "CREDS_*",
    "DBPW",
    "DOCKER_AUTH_CONFIG",
    "DSN",
    "JWT",
    "JWT_*",
    "KEY_*",
    "KUBECONFIG_DATA",
    "LDAP_BINDPW",
    "OP_SESSION_*",
    "PASS",
    "PASS?",
    "PAT",
    "PEM",
    "PSK",
    "SSHPASS",
    "VAULT_UNSEAL*",
];

/// Names that match [`KEY_NAMES`] but hold no keys: limits of models, tokenizers, keyboards.
pub const HARMLESS_NAMES: &[&str] = &[
    "*KEYBOARD*",
    "*MAX*TOKEN*",
    "*MIN*TOKEN*",
    "*NUM*TOKEN*",
    "*TOKENIZE*",
    "*TOKENS_PER_*",
    "*TOKEN_BUDGET*",
    "*TOKEN_COUNT*",
    "*TOKEN_LIMIT*",
    "*_HOTKEY",
    "HOTKEY",
];

/// Names of variables that make shells read further files, which could set keys again. `BASH_ENV` and `ENV` name such
/// files. If `SSH_CLIENT` or `SSH2_CLIENT` is set and no shell is above it, bash reads `~/.bashrc` even for `bash -c`.
pub(super) const STARTUP_NAMES: [&str; 4] = ["BASH_ENV", "ENV", "SSH2_CLIENT", "SSH_CLIENT"];

/// Most bytes of a name pattern.
pub const MAX_PATTERN_BYTES: usize = 256;

/// A pattern for names: `*` matches any characters, `?` matches one. Case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct NamePattern(String);

/// A text that is not a valid name pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a name of a variable has 1 to {MAX_PATTERN_BYTES} bytes and none of `=`, spaces and control characters")]
pub struct NotAName;

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// Returns an error if no variable can have such a name.
    pub fn new(text: &str) -> Result<Self, NotAName> {
        let is_bad = |character: char| character == '=' || character.is_control() || character.is_whitespace();
        if text.is_empty() || text.len() > MAX_PATTERN_BYTES || text.contains(is_bad) {
            return Err(NotAName);
        }
        Ok(Self(text.to_ascii_uppercase()))
    }

    /// Returns whether a name matches.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        fits(self.0.as_bytes(), name.to_ascii_uppercase().as_bytes())
    }

    /// Returns the pattern for `case` of a shell, which is case-sensitive. `None` if no shell variable can have such a
    /// name.
    pub(super) fn for_shell(&self) -> Option<String> {
        self.0
            .chars()
            .map(|character| match character {
                'A'..='Z' => Some(format!("[{character}{}]", character.to_ascii_lowercase())),
                '*' | '?' | '_' | '0'..='9' => Some(character.to_string()),
                _ => None,
            })
            .collect()
    }
}

impl TryFrom<String> for NamePattern {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        Self::new(&text)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Parses a table of patterns from this file.
pub(super) fn table(patterns: &[&str]) -> Vec<NamePattern> {
    patterns.iter().map(|pattern| NamePattern((*pattern).to_owned())).collect()
}

/// Returns whether an upper-case name matches an upper-case pattern. Backtracks only to the last star, so the time is at
/// most the product of both lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&next) if next == b'?' || next == name[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((of_star, from)) => {
                    star = Some((of_star, from + 1));
                    at = of_star + 1;
                    read = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&rest| rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_keys_are_hidden_and_ordinary_names_are_not() {
        let fits = |patterns: &[&str], name: &str| table(patterns).iter().any(|pattern| pattern.fits(name));
        let is_key = |name: &str| fits(KEY_NAMES, name) && !fits(HARMLESS_NAMES, name);
        for name in [
            "ANTHROPIC_API_KEY",
            "ARM_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AZURE_CLIENT_SECRET",
            "AZURE_STORAGE_CONNECTION_STRING",
            "BORG_PASSPHRASE",
            "CARGO_REGISTRY_TOKEN",
            "CI_JOB_JWT",
            "CLOUDFLARE_API_KEY",
            "DB_PASS",
            "DOCKER_AUTH_CONFIG",
            "GEMINI_API_KEY",
            "GH_PAT",
            "GITHUB_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "HF_TOKEN",
            "LDAP_BINDPW",
            "MYAPIKEY",
            "MYSQL_PWD",
            "NODE_AUTH_TOKEN",
            "OPENAI_API_KEY",
            "OPENAI_API_KEY_2",
            "PGPASSWORD",
            "SENTRY_DSN",
            "SLACK_WEBHOOK_URL",
            "SSHPASS",
            "STRIPE_KEY",
            "TF_VAR_db_password",
            "API_TOKENS",
            "AUTH_HEADER",
            "CREDS_JSON",
            "DB_PASS1",
            "GITHUB_TOKENS",
            "GITHUB_TOKEN2",
            "JWT_PROD",
            "KEY_OPENAI",
            "OPENAIKEY",
            "PSK",
            "TLS_PEM",
            "TOKEN_GITHUB",
            "AUTHORIZATION",
            "AUTH_TOKENS",
            "COOKIE",
            "SESSION_COOKIES",
            "SQLCONNSTR_CONNECTIONSTRING",
            "SSH_PRIVATEKEY",
            "WALLET_MNEMONIC",
            "WIFI_PSK",
            "BW_SESSION",
            "DB_PW",
            "GOOGLE_CLOUD_KEYFILE_JSON",
            "JWT",
            "JWT_PRIVKEY",
            "MONGO_CREDS",
            "OP_SESSION_my",
            "PAT",
            "SSH_KEYS",
            "SIGNING_KEY_BASE64",
            "TS_AUTHKEY",
            "TOKEN",
            "TWILIO_AUTH_TOKEN",
            "VAULT_TOKEN",
            "my_service_token",
            "npm_config__auth",
            "npm_config_//registry.example.org/:_authToken",
        ] {
            assert!(is_key(name), "{name}");
        }
        for name in [
            "AWS_PROFILE",
            "AWS_REGION",
            "DESKTOP_SESSION",
            "DISPLAY",
            "EDITOR",
            "GIT_ASKPASS",
            "HOME",
            "KEYBOARD",
            "KUBECONFIG",
            "LANG",
            "MAX_OUTPUT_TOKENS",
            "MAX_TOKENS",
            "OLDPWD",
            "PATH",
            "PWD",
            "SSH_AUTH_SOCK",
            "TERM",
            "TMPDIR",
            "TOKENIZERS_PARALLELISM",
            "USER",
        ] {
            assert!(!is_key(name), "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_sound() {
        for names in [KEY_NAMES, HARMLESS_NAMES] {
            assert!(names.is_sorted());
            assert!(names.iter().all(|name| NamePattern::new(name).is_ok_and(|pattern| pattern.to_string() == *name)));
            assert!(table(names).iter().all(|pattern| pattern.for_shell().is_some()));
        }
    }

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*b*c", "AxxBxxC", true),
            ("a*b*c", "AxxBxx", false),
            ("?", "", false),
            ("x?", "XY", true),
            ("*aab", "AAAAB", true),
            ("name", "NAMES", false),
        ] {
            assert_eq!(NamePattern::new(pattern).expect("a pattern").fits(name), expected, "{pattern} {name}");
        }
        for bad in ["", "a=b", "a b", "a\n", &"a".repeat(MAX_PATTERN_BYTES + 1)] {
            assert_eq!(NamePattern::new(bad), Err(NotAName), "{bad}");
        }
        assert_eq!(NamePattern::new("a_*/x").expect("a pattern").for_shell(), None);
        assert_eq!(NamePattern::new("a_*").expect("a pattern").for_shell().as_deref(), Some("[Aa]_*"));
    }

    proptest::proptest! {
        #[test]
        fn a_pattern_of_stars_fits_what_it_was_made_of(parts in proptest::collection::vec("[A-C]{0,3}", 1..5), between in "[A-C]{0,3}") {
            let pattern = NamePattern(parts.join("*"));
            proptest::prop_assert!(pattern.fits(&parts.join(&between)));
        }
    }
}
