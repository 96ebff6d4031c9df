//! One secret in one text.

use std::ops::Range;

use super::kind::Kind;

/// How it is known that something is a secret. What comes first names the secret when it is found in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Evidence {
    /// The user gave the value.
    Literal,
    /// The user gave a pattern.
    Pattern,
    /// It has the shape of a provider's secret.
    Shape,
    /// The text around it marks it as a secret.
    Context,
}

/// A secret at a place of a text.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) span: Range<usize>,
    /// Where the rest of it is, in order, if something else is between.
    pub(crate) parts: Vec<Range<usize>>,
    pub(crate) kind: Kind,
    pub(crate) evidence: Evidence,
    /// The secret in its normal form, if the text spells it differently.
    pub(crate) identity: Option<String>,
    /// Parts and other spellings of the secret, which must be replaced too.
    pub(crate) aliases: Vec<String>,
}

impl Found {
    pub(crate) fn new(span: Range<usize>, kind: Kind, evidence: Evidence) -> Self {
        Self { span, parts: Vec::new(), kind, evidence, identity: None, aliases: Vec::new() }
    }

    /// Returns every place of the secret, in order.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &Range<usize>> {
        std::iter::once(&self.span).chain(&self.parts)
    }

    /// Moves a secret that was found in a part of a text to its place in the whole.
    pub(crate) fn shift(&mut self, by: usize) {
        for span in std::iter::once(&mut self.span).chain(&mut self.parts) {
            *span = span.start + by..span.end + by;
        }
    }

    /// Returns where the last part of the secret ends.
    pub(crate) fn end(&self) -> usize {
        self.parts.last().unwrap_or(&self.span).end
    }
}

/// Returns the secrets that `find` finds in a text.
#[cfg(test)]
pub(crate) fn values_found(text: &str, find: impl FnOnce(&mut Vec<Found>)) -> Vec<&str> {
    let mut found = Vec::new();
    find(&mut found);
    found.into_iter().map(|found| &text[found.span]).collect()
}
