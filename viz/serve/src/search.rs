//! Searches the texts of a session for a page.

use std::collections::HashSet;

use serde::Serialize;
use trace_explain::grep::{CaseRule, Matcher, Syntax, WholeWords};
use trace_explain::texts::Aspect;
use trace_explain::{Object, Session};
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

/// Finds the objects with a text that has `text`, whatever the case of its letters, in the order of the log. Objects that
/// share a text are all found, and so are requests by their errors. Instructions and descriptions of tools, which the page
/// does not show, are not searched.
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
