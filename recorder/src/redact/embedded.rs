//! JSON in the middle of a text: what the strings of its objects are to each other.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::commands;
use super::contexts::{is_random, is_strong};
use super::found::{Evidence, Found};
use super::headers::find_cookies;
use super::kind::Kind;
use super::literal::{is_secret, stands_in};
use super::marks::{Mark, Marks};
use super::names::{PASSWORD, SECRET, is_value_key, sensitive_name, weak_name};
use super::plausible::Form;
use super::shell::Word;
use super::structure::{self, ListSort, Relation};

const PRIVATE_KEY: Kind = Kind::known("private-key");

/// Most documents in one window of a text that are read as such.
const MAX_DOCUMENTS: usize = 256;

/// Shortest private number of a JSON Web Key that counts whatever its characters are.
const MIN_KEY_PART_BYTES: usize = 20;

/// Returns where the JSON objects and arrays with strings are that begin in a part of a text. A text that is one document
/// as a whole is not among them.
pub(crate) fn documents(text: &str, window: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut documents = Vec::new();
    let mut at = window.start;
    // A document may end after the window.
    while documents.len() < MAX_DOCUMENTS
        && at < window.end
        && let Some(start) = memchr::memchr2(b'{', b'[', &bytes[at..window.end]).map(|found| at + found)
    {
        at = start + 1;
        let next = bytes[start + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
        // Code has brackets too; a document goes on with a string, or with what holds one.
        if !matches!(next, Some(b'"' | b'{' | b'[')) || (bytes[start] == b'{' && next != Some(&b'"')) {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
        if matches!(values.next(), Some(Ok(_))) {
            let end = start + values.byte_offset();
            if end - start > 8 && end - start < text.trim().len() {
                documents.push(start..end);
            }
            at = end;
        }
    }
    documents
}

/// Finds the secrets that only the objects of embedded JSON give away.
pub(crate) fn find(text: &str, marks: Marks, found: &mut Vec<Found>) {
    if !marks.has(Mark::Json) || !marks.has(Mark::Structure) {
        return;
    }
    let structure = structure::read(text.as_bytes());
    for string in structure.strings {
        let value = &text[string.inner.clone()];
        let name = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let kind = match structure.relations.get(&string.inner.start) {
            Some(Relation::KeyPart) if is_random(value) || value.len() >= MIN_KEY_PART_BYTES => PRIVATE_KEY,
            Some(Relation::Kubernetes(key)) if value.len() >= 6 && !stands_in(value) => {
                sensitive_name(name(key)).unwrap_or(SECRET)
            }
            Some(Relation::ValueOf(named)) if is_cookie_header(name(named)) => {
                find_cookies(text, string.inner.start, value, found);
                continue;
            }
            Some(Relation::ValueOf(named)) => match sensitive_name(name(named)) {
                Some(kind) if is_secret(value, name(named), Form::Environment, &kind) => kind,
                None if weak_name(name(named)).is_some() && is_strong(value) => SECRET,
                _ => continue,
            },
            Some(Relation::Credential) if is_strong(value) => SECRET,
            Some(Relation::Password) if is_secret(value, "password", Form::Quoted, &PASSWORD) => PASSWORD,
            Some(Relation::Under(parent)) => match sensitive_name(name(parent)) {
                Some(kind) if is_strong(value) => kind,
                Some(kind)
                    if string.place.key().is_some_and(|key| is_value_key(name(key).as_bytes()))
                        && is_secret(value, name(parent), Form::Environment, &kind) =>
                {
                    kind
                }
                None if is_strong(value) => SECRET,
                _ => continue,
            },
            Some(Relation::OneOf(list)) => match sensitive_name(name(list)) {
                Some(kind) if is_secret(value, name(list), Form::Quoted, &kind) => kind,
                _ => continue,
            },
            _ => continue,
        };
        found.push(Found::new(string.inner, kind, Evidence::Context));
    }
    for list in structure.lists.iter().filter(|list| list.sort == ListSort::Words) {
        let words: Vec<Word> =
            list.items.iter().map(|item| Word::whole(text.get(item.clone()).unwrap_or_default())).collect();
        for (index, part, kind) in commands::find_in_words(&words) {
            let start = list.items[index].start;
            found.push(Found::new(start + part.start..start + part.end, kind, Evidence::Context));
        }
    }
}

fn is_cookie_header(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    #[test]
    fn a_document_may_end_behind_the_window() {
        let text = "x {\"a\": \"bcdefgh\"} {\"i\": \"jklmnop\"} y";
        let listed = |end| documents(text, 0..end);
        assert_eq!((listed(2).len(), listed(4).len()), (0, 1));
        assert_eq!(listed(text.len()), [2..18, 19..35]);
    }

    #[test]
    fn objects_in_a_text_are_read() {
        for (text, value) in [
            ("12: {\"kind\":\"Secret\",\"data\":{\"x\":\"c3RhcGxlaG9yc2U=\"}} end", "c3RhcGxlaG9yc2U="),
            ("log {\"unseal_keys_b64\": [\"q1w2E3r4t5y6u7i8o9p0\"]}", "q1w2E3r4t5y6u7i8o9p0"),
            ("x: {\"columns\": [\"user\", \"password\"], \"rows\": [[\"app\", \"staplehorse\"]]} y", "staplehorse"),
            ("[{\"name\": \"Cookie\", \"value\": \"sid=q1w2E3r4t5y6u7i8o9p0\"}] y", "q1w2E3r4t5y6u7i8o9p0"),
            ("run [\"curl\", \"-u\", \"me:q1w2E3r4t5\"] y", "q1w2E3r4t5"),
            ("log {\"kty\":\"oct\",\"k\":\"q1w2E3r4t5y6u7i8o9p0\"}", "q1w2E3r4t5y6u7i8o9p0"),
        ] {
            let found = values_found(text, |found| find(text, Marks::of(text), found));
            assert_eq!(found, [value], "{text}");
        }
    }

    #[test]
    fn no_more_documents_of_a_text_than_the_limit_are_read() {
        let text = "x {\"a\": \"b\"} ".repeat(MAX_DOCUMENTS + 3);
        assert_eq!(documents(&text, 0..text.len()).len(), MAX_DOCUMENTS);
    }
}
