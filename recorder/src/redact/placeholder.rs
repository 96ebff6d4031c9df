//! Placeholders, which replace secrets: `[redacted:kind:hash8]`, and `redacted-kind-hash8` in the names of files.

use std::fmt;
use std::ops::Range;

use memchr::memmem;

use super::kind::{Kind, MAX_KIND_BYTES};

const OPENING: &str = "[redacted:";
const OPENING_IN_NAME: &str = "redacted-";

/// Digits of a hash.
const HASH_BYTES: usize = 8;

/// What a secret is replaced by. Equal secrets have equal placeholders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placeholder {
    /// What sort of secret it is.
    pub kind: Kind,
    /// The first four bytes of a hash of the secret.
    pub hash: u32,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPENING}{}:{:08x}]", self.kind, self.hash)
    }
}

impl Placeholder {
    /// Returns how the placeholder is written in the name of a file: a colon and brackets mean something to some systems,
    /// shells and programs that copy files.
    pub(crate) fn in_name(&self) -> String {
        format!("{OPENING_IN_NAME}{}-{:08x}", self.kind, self.hash)
    }
}

/// Finds the placeholders in a text.
pub(crate) fn placeholders(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_hash =
        |hash: &[u8]| hash.len() == HASH_BYTES && hash.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_kind = |kind: Option<&str>| kind.and_then(Kind::parse).is_some();
    let ends = |start: usize| {
        let kind_start = start + OPENING.len();
        let kind = bytes[kind_start..].iter().take(MAX_KIND_BYTES + 1).position(|byte| *byte == b':')?;
        let hash = kind_start + kind + 1;
        let is_one = is_hash(bytes.get(hash..hash + HASH_BYTES)?)
            && bytes.get(hash + HASH_BYTES) == Some(&b']')
            && is_kind(text.get(kind_start..kind_start + kind));
        is_one.then_some(hash + HASH_BYTES + 1)
    };
    let ends_in_name = |start: usize| {
        let kind_start = start + OPENING_IN_NAME.len();
        let is_part = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
        let rest = &bytes[kind_start..];
        let length = rest.iter().take(MAX_KIND_BYTES + HASH_BYTES + 2).take_while(is_part).count();
        // The first part that is a hash ends the placeholder; a number may follow.
        (1..length).filter(|at| rest[*at] == b'-').find_map(|kind| {
            let hash = rest.get(kind + 1..kind + 1 + HASH_BYTES)?;
            let is_end = rest.get(kind + 1 + HASH_BYTES).is_none_or(|byte| !byte.is_ascii_alphanumeric());
            (is_hash(hash) && is_end && is_kind(text.get(kind_start..kind_start + kind)))
                .then_some(kind_start + kind + 1 + HASH_BYTES)
        })
    };
    let mut found: Vec<Range<usize>> =
        memmem::find_iter(bytes, OPENING).filter_map(|start| Some(start..ends(start)?)).collect();
    let plain = found.len();
    found.extend(memmem::find_iter(bytes, OPENING_IN_NAME).filter_map(|start| Some(start..ends_in_name(start)?)));
    if found.len() > plain {
        found.sort_by_key(|span| span.start);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_recognised() {
        let placeholder = Placeholder { kind: Kind::known("api-key"), hash: 0x00c0_ffee };
        assert_eq!(placeholder.to_string(), "[redacted:api-key:00c0ffee]");
        let text = format!("a {placeholder} b{placeholder}");
        assert_eq!(placeholders(&text), [2..29, 31..58]);
        assert_eq!(placeholder.in_name(), "redacted-api-key-00c0ffee");
        assert_eq!(placeholders("redacted-api-key-00c0ffee-2 redacted-token-0badcafe"), [0..25, 28..51]);
        assert!(placeholders("redacted-api-key-00c0ffee1").is_empty());
        for other in
            ["[redacted:x:123]", "[redacted::00c0ffee]", "[redacted:A:00c0ffee]", "[redacted:a:00c0ffeG]", "[redacted:"]
        {
            assert!(placeholders(other).is_empty(), "{other}");
        }
    }
}
