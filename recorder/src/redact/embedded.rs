//! JSON in the middle of a text: what the strings of its objects are to each other.

use super::contexts::is_random;
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::{is_secret, stands_in};
use super::names::{SECRET, sensitive_name};
use super::plausible::Form;
use super::structure::{self, Relation};

const PRIVATE_KEY: Kind = Kind::known("private-key");

/// What texts have in them whose objects have to be read: secrets of Kubernetes, keys in JSON, lists of keys and codes.
const MARKS: &[&str] = &["\"Secret\"", "\"kty\"", "keys", "codes\"", "passwords\"", "shares\""];

/// Finds the secrets that only the objects of embedded JSON give away.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    if !text.contains("\":") || !MARKS.iter().any(|mark| text.contains(mark)) {
        return;
    }
    let structure = structure::read(text.as_bytes());
    for string in structure.strings {
        let value = &text[string.inner.clone()];
        let name = |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or_default();
        let kind = match structure.relations.get(&string.inner.start) {
            Some(Relation::KeyPart) if is_random(value) => PRIVATE_KEY,
            Some(Relation::Kubernetes(key)) if value.len() >= 6 && !stands_in(value) => {
                sensitive_name(name(key)).unwrap_or(SECRET)
            }
            Some(Relation::OneOf(list)) => match sensitive_name(name(list)) {
                Some(kind) if is_secret(value, name(list), Form::Quoted, &kind) => kind,
                _ => continue,
            },
            _ => continue,
        };
        found.push(Found::new(string.inner, kind, Evidence::Context));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_in_a_text_are_read() {
        for (text, value) in [
            ("12: {\"kind\":\"Secret\",\"data\":{\"x\":\"c3RhcGxlaG9yc2U=\"}} end", "c3RhcGxlaG9yc2U="),
            ("log {\"unseal_keys_b64\": [\"q1w2E3r4t5y6u7i8o9p0\"]}", "q1w2E3r4t5y6u7i8o9p0"),
            ("log {\"kty\":\"oct\",\"k\":\"q1w2E3r4t5y6u7i8o9p0\"}", "q1w2E3r4t5y6u7i8o9p0"),
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            let found: Vec<_> = found.into_iter().map(|found| &text[found.span]).collect();
            assert_eq!(found, [value], "{text}");
        }
    }
}
