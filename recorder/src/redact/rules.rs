//! What counts as a secret: the built-in shapes and contexts, and what the user adds.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};

use super::control_sequence::ends_sequence;
use super::found::{Evidence, Found};
use super::headers::LENIENT;
use super::kind::Kind;
use super::marks::{Mark, Marks};
use super::placeholder::Placeholder;
use super::plausible::is_wordlike;
use super::providers::{LOOSE, SHAPES, Shape};
use super::random::{distinct, is_generated, words_percent};
use super::search::{Case, Search};
use super::triggers::Needs;
use super::{
    assignments, blocks, calls, commands, connection, contexts, embedded, formats, headers, lists, outputs,
    private_key, resources, sentences, siblings, tables, wallets,
};

/// Largest compiled form of a pattern that a user gives.
pub const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Shortest value that a user can have removed. A shorter one would be found in half of all texts.
pub const MIN_LITERAL_BYTES: usize = 4;

/// Longest value that a user can have removed.
pub const MAX_LITERAL_BYTES: usize = 1 << 20;

/// Domain of the hashes in placeholders, so that they differ from hashes of the same value for other purposes.
const HASH_DOMAIN: &[u8] = b"trace redaction 1";

/// What is looked for.
///
/// The default has the built-in rules. Whatever a user adds comes first: it names what both find.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    patterns: Vec<(Kind, Regex)>,
    literals: Vec<(Kind, String)>,
    salt: String,
}

impl Rules {
    /// Adds a regular expression; what it matches, or its first group if it has one, is a secret of kind `name`.
    ///
    /// # Errors
    ///
    /// Returns an error when the name cannot be in a placeholder, or the pattern does not compile, is larger than
    /// [`MAX_PATTERN_BYTES`] once compiled, or matches the empty text.
    pub fn with_pattern(mut self, name: &str, pattern: &str) -> Result<Self, RuleError> {
        let kind = Kind::parse(name).ok_or_else(|| RuleError::Name { name: name.to_owned() })?;
        let regex = RegexBuilder::new(pattern)
            .size_limit(MAX_PATTERN_BYTES)
            .build()
            .map_err(|source| RuleError::Pattern { name: name.to_owned(), source })?;
        if regex.is_match("") {
            return Err(RuleError::MatchesNothing { name: name.to_owned() });
        }
        self.patterns.push((kind, regex));
        Ok(self)
    }

    /// Adds a value that is a secret wherever it occurs, of kind `literal`.
    ///
    /// # Errors
    ///
    /// Returns an error when the value has fewer than [`MIN_LITERAL_BYTES`] or more than [`MAX_LITERAL_BYTES`].
    pub fn with_literal(self, value: &str) -> Result<Self, RuleError> {
        self.with_value(Kind::known("literal"), value)
    }

    /// Adds the value of an environment variable, of kind `env-` and the variable's name.
    ///
    /// # Errors
    ///
    /// Returns an error when the value has fewer than [`MIN_LITERAL_BYTES`] or more than [`MAX_LITERAL_BYTES`].
    pub fn with_variable(self, name: &str, value: &str) -> Result<Self, RuleError> {
        self.with_value(Kind::from_any("env-", name), value)
    }

    fn with_value(mut self, kind: Kind, value: &str) -> Result<Self, RuleError> {
        if value.len() < MIN_LITERAL_BYTES || value.len() > MAX_LITERAL_BYTES {
            return Err(RuleError::Length { kind, bytes: value.len() });
        }
        self.literals.push((kind, value.to_owned()));
        Ok(self)
    }

    /// Adds a salt to the hashes of placeholders, so that nobody without it can guess secrets and compare hashes.
    #[must_use]
    pub fn with_salt(mut self, salt: &str) -> Self {
        salt.clone_into(&mut self.salt);
        self
    }

    /// Returns the values that the user gave.
    pub(crate) fn literals(&self) -> &[(Kind, String)] {
        &self.literals
    }

    /// Returns what is in the place of a secret.
    pub(crate) fn placeholder(&self, kind: &Kind, identity: &str) -> Placeholder {
        let mut hasher = Sha256::new();
        for part in [HASH_DOMAIN, self.salt.as_bytes()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(identity.as_bytes());
        let digest = hasher.finalize();
        Placeholder { kind: kind.clone(), hash: u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) }
    }

    /// Finds what is a secret by itself, wherever it is.
    pub(crate) fn find_unmistakable(&self, text: &str, found: &mut Vec<Found>) {
        for (kind, regex) in &self.patterns {
            for captures in regex.captures_iter(text) {
                if let Some(secret) = captures.get(1).or_else(|| captures.get(0)).filter(|secret| !secret.is_empty()) {
                    found.push(Found::new(secret.range(), kind.clone(), Evidence::Pattern));
                }
            }
        }
        private_key::find(text, found);
        wallets::find(text, found);
        find_shapes(text, found);
    }

    /// Finds what is a secret by what is around it.
    pub(crate) fn find_in_context(text: &str, needs: Needs, found: &mut Vec<Found>) {
        let marks = Marks::of(text);
        let names: Vec<Range<usize>> = assignments::names(text).collect();
        assignments::find(text, &names, found);
        formats::find(text, &names, found);
        resources::find(text, found);
        headers::find(text, marks, found);
        connection::find(text, &names, found);
        contexts::find(text, found);
        if needs.calls() {
            calls::find(text, found);
        }
        if needs.commands() {
            commands::find(text, found);
        }
        if needs.outputs() {
            outputs::find(text, found);
        }
        if marks.has(Mark::Login) || marks.has(Mark::Password) {
            sentences::find(text, found);
        }
        lists::find(text, found);
        siblings::find(text, marks, found);
        blocks::find(text, marks, found);
        blocks::find_in_groups(text, &names, found);
        embedded::find(text, marks, found);
        tables::find(text, &names, marks, found);
    }
}

/// Why something cannot be a rule.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The name cannot be in a placeholder.
    #[error(
        "`{name}` is no name of a kind: lower-case letters, digits and hyphens, {} at most",
        super::kind::MAX_KIND_BYTES
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The pattern does not compile, or is too large.
    #[error("the pattern of `{name}` cannot be used")]
    Pattern {
        /// Name of the rule.
        name: String,
        /// What is wrong with the pattern.
        source: regex::Error,
    },
    /// The pattern matches the empty text, which is everywhere.
    #[error("the pattern of `{name}` matches the empty text")]
    MatchesNothing {
        /// Name of the rule.
        name: String,
    },
    /// A value is too short to be searched for, or too long.
    #[error("a value of kind {kind} has {bytes} bytes; {MIN_LITERAL_BYTES} to {MAX_LITERAL_BYTES} can be searched for")]
    Length {
        /// Kind of the value.
        kind: Kind,
        /// Length of the value.
        bytes: usize,
    },
}

/// Finds the anchors of all shapes at once.
static ANCHORS: LazyLock<(Search, Vec<usize>)> = LazyLock::new(|| {
    let anchors =
        SHAPES.iter().enumerate().flat_map(|(index, shape)| shape.anchors.iter().map(move |text| (*text, index)));
    let (texts, owners): (Vec<&str>, Vec<usize>) = anchors.unzip();
    (Search::new(texts, Case::Exact), owners)
});

/// The patterns of [`SHAPES`], each compiled when a text first has its anchor.
static PATTERNS: [OnceLock<Regex>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];

fn find_shapes(text: &str, found: &mut Vec<Found>) {
    let (search, owners) = &*ANCHORS;
    let mut is_somewhere = [false; SHAPES.len()];
    let mut done = [0; SHAPES.len()];
    for hit in search.through(text).find_overlapping_iter(text) {
        let index = owners[hit.pattern().as_usize()];
        let shape = &SHAPES[index];
        if shape.begins_with_anchor() {
            // The search is anchored, so that it ends where the shape does not go on.
            let at = hit.start();
            if at >= done[index]
                && let Some(captures) = PATTERNS[index].get_or_init(|| shape.compile()).captures(&text[at..])
                && let Some(end) = push_shape(shape, text, at, &captures, found)
            {
                done[index] = end;
            }
        } else {
            is_somewhere[index] = true;
        }
    }
    for (index, shape) in SHAPES.iter().enumerate().filter(|(index, _)| is_somewhere[*index]) {
        let regex = PATTERNS[index].get_or_init(|| shape.compile());
        let mut at = 0;
        while let Some(captures) = regex.captures_at(text, at) {
            let Some(whole) = captures.get(0) else { break };
            // Shapes begin with ASCII, so the next byte begins a character.
            at = push_shape(shape, text, 0, &captures, found).unwrap_or(whole.start() + 1);
        }
    }
}

/// Adds the match of a shape, if it is apart and is more than an example. Returns where it ends.
fn push_shape(
    shape: &Shape,
    text: &str,
    from: usize,
    captures: &regex::Captures<'_>,
    found: &mut Vec<Found>,
) -> Option<usize> {
    let whole = captures.get(0)?;
    let secret = captures.get(1).unwrap_or(whole);
    let is_apart = begins_word(text.as_bytes(), from + whole.start(), &shape.kind)
        && ends_word(text.as_bytes(), from + whole.end());
    if !is_apart || !is_real(&shape.kind, secret.as_str()) {
        return None;
    }
    // A prefix that many services share names a secret only if nothing else does.
    let is_generic = shape.kind.as_str() == "prefixed-token";
    let evidence = if is_generic { Evidence::Context } else { Evidence::Shape };
    found.push(Found::new(from + secret.start()..from + secret.end(), shape.kind.clone(), evidence));
    Some(from + whole.end())
}

/// Returns whether a word can begin at a place: what is before is no part of one, or the end of an escape.
fn begins_word(text: &[u8], at: usize, kind: &Kind) -> bool {
    let before = &text[..at];
    // In file names an underscore may precede a token. For tokens with a distinctive prefix, such an underscore does
    // not mean that the prefix is part of a longer name.
    if before.last() == Some(&b'_') && !LOOSE.contains(&kind.as_str()) {
        return true;
    }
    if !text[at].is_ascii_alphanumeric() {
        return true;
    }
    let Some(last) = before.last() else { return true };
    if !last.is_ascii_alphanumeric() && *last != b'_' {
        return true;
    }
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match before {
        // Escapes, of PowerShell too, and how `cat -A` shows a tab.
        [.., b'\\' | b'`', b'n' | b'r' | b't' | b'f' | b'b'] | [.., b'^', b'I' | b'M'] => true,
        _ if ends_sequence(before) => true,
        _ => {
            let percent =
                before.len().checked_sub(3).is_some_and(|start| before[start] == b'%' && is_hex(&before[start + 1..]));
            let unicode = before
                .len()
                .checked_sub(6)
                .is_some_and(|start| before[start..start + 2] == *b"\\u" && is_hex(&before[start + 2..]));
            percent || unicode
        }
    }
}

fn ends_word(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// Returns whether a text of the right shape is more than an example of it.
fn is_real(kind: &Kind, secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let is_example = ["example", "xxxxx", "your-", "your_", "placeholder"].iter().any(|part| lower.contains(part));
    // A name that goes on where a token would is in lower case; a token of many letters has both, or capitals alone.
    let is_name = !secret.bytes().any(|byte| byte.is_ascii_uppercase()) && is_wordlike(secret);
    if is_example || distinct(secret) < 8 || is_name {
        return false;
    }
    let decodes = |part: Option<&str>, test: fn(&[u8]) -> bool| {
        let engine = base64::engine::GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);
        part.and_then(|part| engine.decode(part).ok()).is_some_and(|bytes| test(&bytes))
    };
    let has = |test: fn(&u8) -> bool| secret.as_bytes().iter().any(test);
    match kind.as_str() {
        "password-hash" => true,
        "vault-token" if secret.len() == 26 => is_generated(secret),
        // Ids have such prefixes too, and one case of letters.
        "prefixed-token" => {
            let body = secret.rsplit(['_', '-']).next().unwrap_or(secret);
            let body = if body.len() < 20 { secret } else { body };
            let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
            let is_telling = ["sk", "rk", "pat", "secret"].iter().any(|word| secret.starts_with(word));
            has(u8::is_ascii_digit) && (is_mixed || is_telling) && is_generated(secret) && words_percent(body) <= 40
        }
        "octopus-key" | "scaleway-key" | "fireworks-key" | "cohere-key" | "neon-key" | "voyage-key"
        | "mandrill-key" | "brave-key" | "statsig-key" | "matrix-token" | "ionic-token" => has(u8::is_ascii_digit),
        "macaroon" | "twitter-token" | "facebook-token" => has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase),
        "jwt" if secret.starts_with("ZXlK") => decodes(Some(secret), |inner| inner.starts_with(b"eyJ")),
        "jwt" => decodes(secret.split('.').next(), |header| {
            header.starts_with(b"{") && memchr::memmem::find(header, b"\"alg\"").is_some()
        }),
        "discord-token" => decodes(secret.split('.').next(), |id| id.iter().all(u8::is_ascii_digit)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Rules::default().find_unmistakable(text, &mut found);
        found.into_iter().map(|found| found.kind.to_string()).collect()
    }

    /// Letters and digits that look random, the same ones every time.
    fn noise(length: usize) -> String {
        let alphabet = b"q7Rw2Ez9Ty4Ui1Op6As8Df3Gh5JkLxCvBnM0";
        (0..length).map(|at| char::from(alphabet[(at * 29 + at / 7) % alphabet.len()])).collect()
    }

    #[test]
    fn shapes_are_found_where_a_word_can_begin() {
        let token = format!("ghp_{}", noise(36));
        for text in [
            token.clone(),
            format!("https://{token}@github.com"),
            format!("a\\n{token}\\n"),
            format!("x%3D{token}%26"),
            format!("\\u0022{token}\\u0022"),
            format!("é{token}é"),
        ] {
            assert_eq!(kinds(&text), ["github-token"], "{text}");
        }
        assert_eq!(kinds(&format!("x{token}")), [""; 0]);
        assert_eq!(kinds(&format!("ghp_{}", "x".repeat(36))), [""; 0]);
        assert_eq!(kinds(&format!("AK{}", "IAIOSFODNN7EXAMPLE")), [""; 0]);
    }

    #[test]
    fn what_cannot_be_a_rule_is_refused() {
        let rules = Rules::default;
        assert!(matches!(rules().with_pattern("Name", "x"), Err(RuleError::Name { .. })));
        assert!(matches!(rules().with_pattern("", "x"), Err(RuleError::Name { .. })));
        assert!(matches!(rules().with_pattern("a", "("), Err(RuleError::Pattern { .. })));
        assert!(matches!(rules().with_pattern("a", "x*"), Err(RuleError::MatchesNothing { .. })));
        assert!(matches!(rules().with_pattern("a", r"(?:\w{1,500}){1,500}y"), Err(RuleError::Pattern { .. })));
        let shortest = "x".repeat(MIN_LITERAL_BYTES);
        assert!(rules().with_literal(&shortest).is_ok());
        assert!(matches!(rules().with_literal(&shortest[1..]), Err(RuleError::Length { .. })));
        assert!(matches!(rules().with_literal(&"x".repeat(MAX_LITERAL_BYTES + 1)), Err(RuleError::Length { .. })));
    }

    #[test]
    fn the_hash_depends_on_the_value_and_the_salt_alone() {
        let kinds = [Kind::known("a"), Kind::known("b")];
        let plain = Rules::default();
        let salted = Rules::default().with_salt("pepper");
        assert_eq!(plain.placeholder(&kinds[0], "v").hash, plain.placeholder(&kinds[1], "v").hash);
        assert_ne!(plain.placeholder(&kinds[0], "v").hash, plain.placeholder(&kinds[0], "w").hash);
        assert_ne!(plain.placeholder(&kinds[0], "v").hash, salted.placeholder(&kinds[0], "v").hash);
        insta::assert_snapshot!(plain.placeholder(&kinds[0], "v"), @r#"
        [redacted:a:1377e251]
        "#);
    }
}
