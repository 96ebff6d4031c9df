//! What sort of secret something is.

use std::borrow::Cow;
use std::fmt;

/// The name of a sort of secrets: lower-case letters, digits and hyphens, as it is in a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Cow<'static, str>);

/// Longest name of a kind.
pub const MAX_KIND_BYTES: usize = 40;

impl Kind {
    /// Names a built-in kind.
    pub(crate) const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Parses a name that a user chose. Returns `None` if a placeholder cannot contain it.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let fits = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        (fits && !name.is_empty() && name.len() <= MAX_KIND_BYTES).then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// Makes a name of any text, `DATABASE_URL` becoming `database-url`.
    pub(crate) fn from_any(prefix: &str, text: &str) -> Self {
        let mut name = prefix.to_owned();
        for c in text.chars() {
            name.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
        }
        name.truncate(MAX_KIND_BYTES);
        Self(Cow::Owned(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
