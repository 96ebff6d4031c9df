//! Searches the texts of a session for the page.

use std::collections::HashSet;

use serde::Serialize;
use trace_explain::grep::{CaseRule, Matcher, Syntax, WholeWords};
use trace_explain::texts::Aspect;
use trace_explain::{Object, Session};
use trace_viz::page::{BodySource, Number};

/// Most characters that are shown of the text before a hit, of the hit, and of the text after it.
const AROUND_CHARS: usize = 60;

/// The result of a search.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hits {
    hits: Vec<Hit>,
    /// Whether there are more hits than the limit.
    more: bool,
}

/// An object with a text that contains the searched text.
#[derive(Debug, Serialize)]
struct Hit {
    n: Number,
    before: String,
    #[serde(rename = "match")]
    matched: String,
    after: String,
}

/// Finds the objects with a text that contains `text`, ignoring case, in the order of the event log. If several objects
/// share a text, all of them are found. Requests are also found by their error messages. Instructions and descriptions
/// of tools are not searched, because the page does not show them.
pub(crate) fn search(session: &Session, source: &BodySource<'_>, text: &str, limit: usize) -> Hits {
    let Ok(matcher) = Matcher::new(&[text], Syntax::Fixed, CaseRule::Ignored, WholeWords::No) else {
        return Hits::default();
    };
    let hit_in = |object: Object, text: &str| {
        let (start, end) = matcher.find_all(text).next()?;
        Some(Hit {
            n: source.number(object),
            before: ending(&text[..start]),
            matched: beginning(&text[start..end]),
            after: beginning(&text[end..]),
        })
    };
    let mut found = source.texts().collect(|place, text| match place.aspect {
        Aspect::Instructions | Aspect::Tools => None,
        _ => Some((place.seq, hit_in(place.object, text)?)),
    });
    let trace = session.trace();
    let of_requests = trace.inferences.iter().map(|(index, call)| (Object::Inference(index), &call.error));
    let of_compactions =
        trace.compaction_requests.iter().map(|(index, request)| (Object::CompactionRequest(index), &request.error));
    let errors = of_requests.chain(of_compactions).filter_map(|(object, error)| {
        let hit = hit_in(object, error.as_deref()?)?;
        Some((session.seq_of(object)?, hit))
    });
    found.extend(errors);
    found.sort_by_key(|(seq, hit)| (*seq, hit.n));
    let mut seen = HashSet::new();
    found.retain(|(_, hit)| seen.insert(hit.n));
    Hits { more: found.len() > limit, hits: found.into_iter().take(limit).map(|(_, hit)| hit).collect() }
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
