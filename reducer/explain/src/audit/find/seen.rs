//! Where literals stand in a session: one pass over all texts, for all literals at once.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use trace_reducer::model::{ItemKind, Role, ThreadIdx};

use crate::audit::read::outputs::without_colours;
use crate::object::Object;
use crate::session::Session;
use crate::texts::{Aspect, Texts};

/// One place of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The object that holds it.
    pub(crate) object: Object,
    /// The agent.
    pub(crate) thread: ThreadIdx,
    /// When it was there.
    pub(crate) seq: u64,
    /// Whether the model itself wrote it there.
    pub(crate) is_own: bool,
}

/// Most places of a literal that are kept. The first ones count.
const MAX_SIGHTINGS: usize = 64;

/// Makes texts comparable: lower case, one space for any white space, no quotes, control sequences and escapes.
pub(crate) fn normal(text: &str) -> String {
    let text = without_colours(text);
    let mut out = String::with_capacity(text.len());
    let mut space = true;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»' | '*' => {}
            '\\' => match characters.peek() {
                Some('n' | 't' | 'r') => {
                    characters.next();
                    if !space {
                        out.push(' ');
                        space = true;
                    }
                }
                Some('"' | '\'' | '\\') => {}
                _ => out.push('\\'),
            },
            it if it.is_whitespace() => {
                if !space {
                    out.push(' ');
                    space = true;
                }
            }
            it if it.is_ascii() => {
                out.push(it.to_ascii_lowercase());
                space = false;
            }
            it => {
                out.extend(it.to_lowercase());
                space = false;
            }
        }
    }
    out
}

/// Returns the places of each literal, in the order of the log. The literals have to be [`normal`]. The second value
/// is the number of payloads that could not be read.
pub(crate) fn sightings(session: &Session, literals: &[String]) -> (Vec<Vec<Sighting>>, u64) {
    let mut found: Vec<Vec<Sighting>> = vec![Vec::new(); literals.len()];
    let Some(search) = search_for(literals) else { return (found, 0) };
    let trace = session.trace();
    let texts = Texts::new(session);
    let hits = texts.collect(|place, text| {
        let text = normal(text);
        let mut here: Vec<u32> = search.find_overlapping_iter(&text).map(|hit| hit.pattern().as_u32()).collect();
        if here.is_empty() {
            return None;
        }
        here.sort_unstable();
        here.dedup();
        let is_own = match place.object {
            Object::Item(item) => {
                let it = &trace.items[item];
                it.agent_message.is_none()
                    && (it.role == Role::Assistant || it.kind == ItemKind::Reasoning || it.kind.is_call())
            }
            Object::Tool(_) | Object::Cell(_) => {
                matches!(place.aspect, Aspect::Arguments | Aspect::Request | Aspect::Source | Aspect::Message)
            }
            _ => false,
        };
        Some((here, Sighting { object: place.object, thread: place.thread, seq: place.seq, is_own }))
    });
    for (literals, sighting) in hits {
        for literal in literals {
            found[literal as usize].push(sighting);
        }
    }
    for places in &mut found {
        places.sort_by_key(|place| place.seq);
        places.truncate(MAX_SIGHTINGS);
    }
    (found, texts.unread())
}

/// The places of the literals of the answers of a session.
pub(crate) struct Seen {
    places: HashMap<String, Vec<Sighting>>,
    unread: u64,
}

impl Seen {
    /// Looks for literals, which have to be [`normal`].
    pub(crate) fn new(session: &Session, mut literals: Vec<String>) -> Self {
        literals.sort();
        literals.dedup();
        literals.retain(|literal| !literal.is_empty());
        let (places, unread) = sightings(session, &literals);
        Self { places: literals.into_iter().zip(places).collect(), unread }
    }

    /// Returns whether a literal stands before `cutoff` in what others wrote, and whether the model wrote it itself.
    pub(crate) fn before(&self, literal: &str, cutoff: u64) -> (bool, bool) {
        let Some(places) = self.places.get(literal) else { return (false, false) };
        let earlier = || places.iter().filter(|place| place.seq < cutoff);
        (earlier().any(|place| !place.is_own), earlier().any(|place| place.is_own))
    }

    /// Returns the number of payloads that could not be read.
    pub(crate) fn unread(&self) -> u64 {
        self.unread
    }
}

fn search_for(literals: &[String]) -> Option<AhoCorasick> {
    if literals.is_empty() {
        return None;
    }
    AhoCorasickBuilder::new().match_kind(MatchKind::Standard).build(literals).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_comparable() {
        assert_eq!(normal("Heap  \"limit\"\n of `512`"), "heap limit of 512");
        assert_eq!(normal("a\\nb \u{1b}[31mc\u{1b}[0m"), "a b c");
    }
}
