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
    /// What stands around it says so.
    Context,
}

/// A secret at a place of a text.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
    pub(crate) evidence: Evidence,
    /// What the secret is, if the text spells it in another way than another place may.
    pub(crate) identity: Option<String>,
    /// Parts and spellings that give it away as well.
    pub(crate) aliases: Vec<String>,
}

impl Found {
    pub(crate) fn new(span: Range<usize>, kind: Kind, evidence: Evidence) -> Self {
        Self { span, kind, evidence, identity: None, aliases: Vec::new() }
    }
}
