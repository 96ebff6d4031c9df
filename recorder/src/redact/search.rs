//! Searches for many texts at once. For short inputs an automaton is used that is fast to build, for long inputs one
//! that is fast to run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// How much text is searched before the faster search is built: building it takes as long as searching through this much.
const MAX_FIRST_BYTES: usize = 1 << 20;

/// Texts, and what searches for them.
#[derive(Debug)]
pub(crate) struct Search {
    texts: Vec<String>,
    case: Case,
    first: OnceLock<AhoCorasick>,
    fast: OnceLock<AhoCorasick>,
    /// How much has been searched.
    searched: AtomicUsize,
}

/// Whether capitals and lower-case letters are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Any,
    Exact,
}

impl Search {
    pub(crate) fn new<T: Into<String>>(texts: impl IntoIterator<Item = T>, case: Case) -> Self {
        let texts = texts.into_iter().map(Into::into).collect();
        Self { texts, case, first: OnceLock::new(), fast: OnceLock::new(), searched: AtomicUsize::new(0) }
    }

    /// Returns the automaton that is faster for a text of this length, including the time to build it.
    pub(crate) fn through(&self, text: &str) -> &AhoCorasick {
        let before = self.searched.fetch_add(text.len(), Ordering::Relaxed);
        if before.saturating_add(text.len()) > MAX_FIRST_BYTES {
            self.fast.get_or_init(|| self.build(AhoCorasickKind::DFA))
        } else {
            self.first.get_or_init(|| self.build(AhoCorasickKind::ContiguousNFA))
        }
    }

    fn build(&self, kind: AhoCorasickKind) -> AhoCorasick {
        AhoCorasick::builder()
            .ascii_case_insensitive(self.case == Case::Any)
            .kind(Some(kind))
            .build(&self.texts)
            .expect("some hundred short texts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_searches_find_the_same() {
        let search = Search::new(["key", "token"], Case::Any);
        let text = "a Token and a KEY ".repeat(9);
        let hits = |text: &str| search.through(text).find_overlapping_iter(&text[..162]).count();
        assert_eq!(hits(&text), 18);
        let long = text + &" ".repeat(MAX_FIRST_BYTES);
        assert_eq!(hits(&long), 18);
        assert!(search.first.get().is_some() && search.fast.get().is_some());
    }
}
