//! Full-text search in stored messages of users and agents.

use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};
use trace_protocol::item::{ThreadItem, UserInput};
use trace_protocol::turn::Turn;
use trace_runtime::ThreadId;

use super::error::StoreError;
use super::page::{DEFAULT_LIMIT, MAX_LIMIT, cursor_to, invalid_cursor};
use super::query::Page;
use super::rollout::chain::Chain;
use super::rollout::reader::{Text, each_line};
use super::summary::ThreadSummary;

/// Characters of a snippet before and after the match.
pub const SNIPPET_CHARS: usize = 60;
/// Most characters of a search term.
pub const MAX_TERM_CHARS: usize = 1000;

/// A thread that contains a text.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The thread.
    pub thread: ThreadSummary,
    /// The text around the first match.
    pub snippet: String,
}

/// An occurrence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The turn.
    pub turn: String,
    /// The item.
    pub item: String,
    /// The text around the occurrence.
    pub snippet: String,
    /// The range of the occurrence in the snippet, in UTF-16 code units, which clients count.
    pub range: Range<u32>,
    /// The cursor of a page of turns that starts with the turn.
    pub turn_cursor: String,
}

/// A search term. Case is ignored.
#[derive(Debug, Clone)]
pub(super) struct Term {
    text: String,
    lowered: Vec<char>,
}

impl Term {
    /// Prepares a term.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyTerm`] if the term consists of white space.
    pub(super) fn new(text: &str) -> Result<Self, StoreError> {
        let text: String = text.trim().chars().take(MAX_TERM_CHARS).collect();
        if text.is_empty() {
            return Err(StoreError::EmptyTerm);
        }
        let lowered = text.chars().map(lower).collect();
        Ok(Self { text, lowered })
    }

    /// Returns the matches in a text, as ranges of characters.
    fn places(&self, text: &[char]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut position = 0;
        while position + self.lowered.len() <= text.len() {
            let end = position + self.lowered.len();
            if text[position..end].iter().zip(&self.lowered).all(|(one, other)| lower(*one) == *other) {
                found.push(position..end);
                position = end;
            } else {
                position += 1;
            }
        }
        found
    }

    /// Returns the term if it appears unchanged in the JSON of a line. Returns `None` if a line could spell it in
    /// another way.
    fn plain(&self) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" .,:;_-+*=()<>!?@#$%&'".contains(&byte);
        self.text.bytes().all(is_plain).then(|| self.text.to_ascii_lowercase())
    }
}

/// Returns a character in lower case. If the lower case has several characters, it returns the character itself, so
/// that the length of a text does not change.
fn lower(letter: char) -> char {
    let mut lowered = letter.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(lowered), None) => lowered,
        _ => letter,
    }
}

/// Returns whether a thread may contain a term in its messages. The check is cheap and has false positives.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub(super) fn may_have(chain: &Chain, term: &Term) -> Result<bool, StoreError> {
    // If JSON can spell the term in another way, the messages themselves have to be searched.
    let Some(plain) = term.plain() else { return Ok(true) };
    let mut lowered = String::new();
    let mut has = false;
    for part in &chain.parts {
        let read = each_line(&part.path, part.end.map(|(_, bytes)| bytes), |_, text| {
            if let Text::Whole(text) | Text::Open(text) = text {
                lowered.clear();
                lowered.push_str(text);
                lowered.make_ascii_lowercase();
                // Some letters beyond ASCII are equal to ASCII letters in the other case: the Kelvin sign is an upper
                // case `k`.
                has = lowered.contains(&plain) || lowered.contains('\u{212a}');
            }
            if has { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        read.map_err(StoreError::io("read the rollout", &part.path))?;
        if has {
            break;
        }
    }
    Ok(has)
}

/// Returns the text of a message of a user or an agent.
fn said(item: &ThreadItem) -> Option<String> {
    match item {
        ThreadItem::UserMessage(message) => {
            let text = |input: &UserInput| match input {
                UserInput::Text { text, .. } => Some(text.clone()),
                _ => None,
            };
            Some(message.content.iter().filter_map(text).collect())
        }
        ThreadItem::AgentMessage(message) => Some(message.text.clone()),
        _ => None,
    }
}

/// Returns the text around the first match in a thread.
pub(super) fn first_snippet(turns: &[Turn], term: &Term) -> Option<String> {
    turns.iter().flat_map(|turn| &turn.items).filter_map(said).find_map(|text| {
        let text: Vec<char> = text.chars().collect();
        let place = term.places(&text).into_iter().next()?;
        Some(snippet(&text, &place).0)
    })
}

/// The start of a page of occurrences.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    thread: String,
    term: String,
    first: usize,
}

/// Returns a page of the occurrences of a term in a thread.
///
/// # Errors
///
/// Returns [`StoreError::InvalidCursor`] if the cursor does not come from a page of this search.
pub(super) fn occurrences(
    thread: &ThreadId,
    turns: &[Turn],
    term: &Term,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<Page<Occurrence>, StoreError> {
    let first = match cursor {
        None => 0,
        Some(text) => {
            let cursor: Cursor = serde_json::from_str(text).map_err(|_| invalid_cursor(text))?;
            if cursor.thread != thread.as_str() || cursor.term != term.text {
                return Err(invalid_cursor(text));
            }
            cursor.first
        }
    };
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) as usize;
    let mut data = Vec::new();
    let mut seen = 0;
    let mut next_cursor = None;
    'turns: for turn in turns {
        for found in &turn.items {
            let Some(text) = said(found) else { continue };
            let text: Vec<char> = text.chars().collect();
            for place in term.places(&text) {
                seen += 1;
                if seen <= first {
                    continue;
                }
                if data.len() == limit {
                    let cursor = Cursor { thread: thread.to_string(), term: term.text.clone(), first: first + limit };
                    next_cursor = serde_json::to_string(&cursor).ok();
                    break 'turns;
                }
                let (snippet, range) = snippet(&text, &place);
                data.push(Occurrence {
                    turn: turn.id.clone(),
                    item: found.id().to_owned(),
                    snippet,
                    range,
                    turn_cursor: cursor_to(thread, turn),
                });
            }
        }
    }
    Ok(Page { data, next_cursor, backwards_cursor: None })
}

/// Returns the text around a match, and the range of the match in it.
fn snippet(text: &[char], place: &Range<usize>) -> (String, Range<u32>) {
    let begin = place.start.saturating_sub(SNIPPET_CHARS);
    let end = place.end.saturating_add(SNIPPET_CHARS).min(text.len());
    let mut snippet = String::from(if begin > 0 { "... " } else { "" });
    let mut range = 0..0;
    let units = |snippet: &str| u32::try_from(snippet.encode_utf16().count()).unwrap_or(u32::MAX);
    for (position, letter) in text.iter().enumerate().take(end).skip(begin) {
        if position == place.start {
            range.start = units(&snippet);
        }
        // A snippet has one line.
        snippet.push(if letter.is_control() { ' ' } else { *letter });
        if position + 1 == place.end {
            range.end = units(&snippet);
        }
    }
    if end < text.len() {
        snippet.push_str(" ...");
    }
    (snippet, range)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    fn shown(text: &str, term: &str) -> Vec<(String, String)> {
        let text: Vec<char> = text.chars().collect();
        let places = Term::new(term).unwrap().places(&text);
        places
            .iter()
            .map(|place| {
                let (snippet, range) = snippet(&text, place);
                let units: Vec<u16> = snippet.encode_utf16().collect();
                let found = String::from_utf16(&units[range.start as usize..range.end as usize]).unwrap();
                (snippet, found)
            })
            .collect()
    }

    #[test]
    fn places_are_found_in_either_case() {
        let found: Vec<String> =
            shown("é🦀 Needle, NEEDLE\nneedle", "needle").into_iter().map(|found| found.1).collect();
        assert_eq!(found, ["Needle", "NEEDLE", "needle"]);
        assert_eq!(shown("Ärger ärger", "ÄRGER").len(), 2);
        assert_eq!(shown("aaaa", "aa").len(), 2);
        assert_eq!(shown("İstanbul", "istanbul").len(), 0);
    }

    #[test]
    fn a_snippet_shows_both_sides() {
        let text = format!("{}needle{}", "a".repeat(100), "b".repeat(100));
        let (snippet, found) = shown(&text, "needle").remove(0);
        let expected = format!("... {}needle{} ...", "a".repeat(SNIPPET_CHARS), "b".repeat(SNIPPET_CHARS));
        assert_eq!((snippet, found.as_str()), (expected, "needle"));
        assert_eq!(shown("one\ntwo", "two")[0].0, "one two");
    }

    #[test]
    fn a_term_of_white_space_is_refused() {
        assert!(matches!(Term::new("  \n"), Err(StoreError::EmptyTerm)));
        assert_eq!(Term::new(&"x".repeat(5000)).unwrap().lowered.len(), MAX_TERM_CHARS);
    }
}
