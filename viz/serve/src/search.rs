//! Searches the texts of a session for a page.

use serde::Serialize;
use trace_explain::Session;
use trace_explain::grep::{CaseRule, LineKind, Matcher, Selection, Syntax, WholeWords, grep};
use trace_viz::page::{BodySource, Number};

/// Most characters that are shown on either side of what was found, and of it.
const AROUND_CHARS: usize = 60;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hits {
    hits: Vec<Hit>,
    /// Whether there would be more.
    more: bool,
}

/// A text that has what was sought.
#[derive(Debug, Serialize)]
struct Hit {
    n: Number,
    before: String,
    #[serde(rename = "match")]
    matched: String,
    after: String,
}

/// Finds the texts that have `text`, whatever the case of its letters; each distinct text once, with the object that has it
/// first.
pub(crate) fn search(session: &Session, source: &BodySource<'_>, text: &str, limit: usize) -> Hits {
    let Ok(matcher) = Matcher::new(&[text], Syntax::Fixed, CaseRule::Ignored, WholeWords::No) else {
        return Hits::default();
    };
    let found = grep(session, &matcher, &Selection::default());
    let mut hits = Hits { more: found.texts.len() > limit, ..Hits::default() };
    for text in found.texts.iter().take(limit) {
        let line = text.lines.iter().find(|line| line.kind == LineKind::Match && !line.submatches.is_empty());
        let (Some(object), Some(line)) = (session.find(&text.object), line) else { continue };
        let place = line.submatches[0];
        hits.hits.push(Hit {
            n: source.number(object),
            before: ending(&line.text[..place.start]),
            matched: beginning(&line.text[place.start..place.end]),
            after: beginning(&line.text[place.end..]),
        });
    }
    hits
}

fn beginning(text: &str) -> String {
    text.chars().take(AROUND_CHARS).collect()
}

fn ending(text: &str) -> String {
    let from = text.char_indices().rev().nth(AROUND_CHARS - 1).map_or(0, |(from, _)| from);
    text[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_cut_between_characters() {
        assert_eq!(ending("aé"), "aé");
        assert_eq!(ending(&"é".repeat(AROUND_CHARS + 5)).chars().count(), AROUND_CHARS);
        assert_eq!(beginning(&"é".repeat(AROUND_CHARS + 5)).chars().count(), AROUND_CHARS);
    }
}
