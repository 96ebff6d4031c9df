//! What a line of a table of contexts is: words of which one is in every text of the context, a pattern, and how much its value
//! has to look like a secret. The value is the first group that takes part in the match.

use super::kind::Kind;

/// How much the value of a context has to look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Any value except a placeholder.
    Any,
    /// Whatever a password assigned in code may be.
    Password,
    /// Random letters and digits.
    Random,
    /// Random, a key, or a password of words.
    Announced,
    /// As `Announced`, or a password of ordinary words.
    Spoken,
    /// Only a value that looks like a key.
    Strong,
    /// What the kind of the name in the group `name` requires.
    Named,
    /// Only a value that looks like a key, under a name that may be one of a secret.
    WeaklyNamed,
}

impl Look {
    /// Returns whether a value has to have letters and digits.
    pub(crate) fn needs_candidate(self) -> bool {
        matches!(self, Self::Random | Self::Announced | Self::Spoken | Self::Strong | Self::WeaklyNamed)
    }
}

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) kind: Kind,
    /// One of these is in every text of the context, in any case.
    pub(crate) words: &'static [&'static str],
    pub(crate) look: Look,
    pub(crate) pattern: &'static str,
}

/// Returns a line of a table.
pub(crate) const fn context(kind: Kind, words: &'static [&'static str], look: Look, pattern: &'static str) -> Context {
    Context { kind, words, look, pattern }
}

/// A value in quotes of either sort, or up to what ends a word of a shell.
macro_rules! value {
    () => {
        r#"(?:"((?:[^"\\\n]|\\.){3,})"|'((?:[^'\\\n]|'\\''|''|\\[^'\n]|\\.){3,})'|([^\s\x1b"'`\\;|&<>()\[\]]{3,}))"#
    };
}

/// A value in quotes of either sort.
macro_rules! quoted {
    () => {
        r#"(?:"((?:[^"\\\n]|\\.){3,})"|'((?:[^'\\\n]|'\\''|''|\\.){3,})')"#
    };
}

/// A string whose value does not matter.
macro_rules! string {
    () => {
        r#"(?:"[^"\n]*"|'[^'\n]*'|[\w.$>-]+)"#
    };
}

pub(crate) use {quoted, string, value};
