//! What stands in the place of a secret: `[redacted:kind:hash8]`.

use std::fmt;
use std::ops::Range;

use memchr::memmem;

use super::kind::{Kind, MAX_KIND_BYTES};

const OPENING: &str = "[redacted:";

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

/// Finds the placeholders in a text.
pub(crate) fn placeholders(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, OPENING)
        .filter_map(|start| {
            let kind_start = start + OPENING.len();
            let kind = bytes[kind_start..].iter().take(MAX_KIND_BYTES + 1).position(|byte| *byte == b':')?;
            let hash = bytes.get(kind_start + kind + 1..kind_start + kind + 10)?;
            let is_hash = hash[8] == b']' && hash[..8].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            let is_kind = Kind::parse(text.get(kind_start..kind_start + kind)?).is_some();
            (is_hash && is_kind).then_some(start..kind_start + kind + 10)
        })
        .collect()
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
        for other in
            ["[redacted:x:123]", "[redacted::00c0ffee]", "[redacted:A:00c0ffee]", "[redacted:a:00c0ffeG]", "[redacted:"]
        {
            assert!(placeholders(other).is_empty(), "{other}");
        }
    }
}
