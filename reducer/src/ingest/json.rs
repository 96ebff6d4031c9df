//! JSON by the rules of the format: keys keep their order, numbers keep their text, and depth and number of values are
//! limited.
//!
//! A parsed value takes 70 to 200 bytes of memory, but may take two bytes of text. So only what a rule reads is built, and
//! only within [`MAX_VALUES`]. Everything else is checked and passed over.

use std::fmt;
use std::io;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::limits::{MAX_DEPTH, MAX_ITEMS, MAX_VALUES};
use super::problem::PayloadProblem;

/// Bytes of compact JSON that a part of an item keeps.
const SUMMARY_BYTES: usize = 240;

/// First key of an object that the parser takes for a number. It passes a number on as such an object.
const NUMBER_KEY: &str = "$serde_json::private::Number";

/// First key of an object that the parser takes for the JSON text in its value.
const RAW_KEY: &str = "$serde_json::private::RawValue";

/// Returns the compact JSON of a value, cut to [`SUMMARY_BYTES`], and whether the limit fell inside a character, so
/// that the text was cut earlier.
pub(crate) fn summary(value: &impl Serialize) -> (Box<str>, bool) {
    let mut head = Head(Vec::new());
    // An error means that there is more than fits.
    let _ = serde_json::to_writer(&mut head, value);
    cut(head.0)
}

/// Returns the summary of a value whose compact JSON is `text`; see [`summary`].
pub(crate) fn summary_of_compact(text: &str) -> (Box<str>, bool) {
    cut(text.as_bytes()[..text.len().min(SUMMARY_BYTES + 1)].to_vec())
}

/// Cuts a text that has more than [`SUMMARY_BYTES`].
fn cut(mut text: Vec<u8>) -> (Box<str>, bool) {
    let mut end = SUMMARY_BYTES;
    if text.len() > SUMMARY_BYTES {
        // A byte of this form continues a character.
        while text[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        text.truncate(end);
        text.extend_from_slice(b"...");
    }
    let text = String::from_utf8(text).expect("JSON is UTF-8 and was cut between characters");
    (text.into(), end < SUMMARY_BYTES)
}

/// Keeps the first bytes that are written, and fails when there are more than [`SUMMARY_BYTES`].
struct Head(Vec<u8>);

impl io::Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = SUMMARY_BYTES + 1 - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.0.len() > SUMMARY_BYTES { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the value with sorted keys in all its objects.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        _ => value.clone(),
    }
}

/// Returns whether a JSON text that is nested `outer` levels deep in its document exceeds [`MAX_DEPTH`].
pub(crate) fn too_deep(text: &[u8], outer: usize) -> bool {
    let limit = MAX_DEPTH - outer;
    // Cheap check first. Brackets inside strings count too, so the count is never too small.
    if memchr::memchr2_iter(b'[', b'{', text).nth(limit).is_none() {
        return false;
    }
    let mut depth: usize = 0;
    structure(text).any(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > limit
    })
}

/// Returns a number that is at least that of the values in a JSON text, and at most twice as large.
fn count_values(text: &[u8]) -> usize {
    // Each value but the first stands behind a comma or an opening bracket.
    1 + structure(text).filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

fn has_too_many_values(text: &[u8]) -> bool {
    text.len() > MAX_VALUES && count_values(text) > MAX_VALUES
}

/// Iterates over the bytes of a JSON text that are outside of its strings.
fn structure(text: &[u8]) -> impl Iterator<Item = u8> {
    let mut in_string = false;
    let mut bytes = text.iter().copied();
    std::iter::from_fn(move || {
        loop {
            match bytes.next()? {
                b'\\' if in_string => {
                    bytes.next();
                }
                b'"' => in_string = !in_string,
                _ if in_string => {}
                byte => return Some(byte),
            }
        }
    })
}

/// Parses a document. The integer `-0` becomes `0`, as the peer reads it; every other number keeps its text.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, PayloadProblem> {
    if has_too_many_values(bytes) {
        return Err(PayloadProblem::TooManyValues);
    }
    let mut value = serde_json::from_slice(bytes).map_err(PayloadProblem::Json)?;
    if has_negative_zero(bytes) {
        drop_negative_zeros(&mut value);
    }
    Ok(value)
}

/// Parses a document like [`parse`], but keeps only the named members of an object.
pub(crate) fn select<const N: usize>(bytes: &[u8], names: [&str; N]) -> Result<Value, PayloadProblem> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return parse(bytes);
    }
    if bytes.len() > MAX_VALUES {
        let counts: [Option<Count>; N] = members(bytes, names)?;
        if counts.into_iter().flatten().map(|Count(count)| count).sum::<usize>() > MAX_VALUES {
            return Err(PayloadProblem::TooManyValues);
        }
    }
    let values: [Option<Value>; N] = members(bytes, names)?;
    let kept = names.into_iter().zip(values).filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut value = Value::Object(kept.collect::<Map<_, _>>());
    if has_negative_zero(bytes) {
        drop_negative_zeros(&mut value);
    }
    Ok(value)
}

/// Returns the values of the named members of a document, of a repeated one the last. Everything else, also the earlier values
/// of a repeated member, is checked as if it were parsed.
pub(crate) fn members<'de, T: Member<'de>, const N: usize>(
    bytes: &'de [u8],
    names: [&str; N],
) -> Result<[Option<T>; N], PayloadProblem> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let Checked = serde_json::from_slice(bytes).map_err(PayloadProblem::Json)?;
        return Ok([const { None }; N]);
    }
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let found = parser.deserialize_map(Members { names, found: PhantomData });
    found.and_then(|found| parser.end().map(|()| found)).map_err(PayloadProblem::Json)?
}

/// The value of a member of a document.
pub(crate) trait Member<'de>: Deserialize<'de> {
    /// Returns what is kept if the member also had an earlier value.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the earlier value, if reading it did not show that.
    fn behind(self, earlier: Self) -> Result<Self, PayloadProblem>;
}

impl Member<'_> for Value {
    fn behind(self, _: Self) -> Result<Self, PayloadProblem> {
        Ok(self)
    }
}

impl<'de> Member<'de> for &'de RawValue {
    fn behind(self, earlier: Self) -> Result<Self, PayloadProblem> {
        check(earlier, 1).map(|()| self)
    }
}

/// The count of the values in a member, as [`count_values`] returns it. All values of a repeated member count.
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(count_values(raw.get().as_bytes())))
    }
}

impl Member<'_> for Count {
    fn behind(self, Self(earlier): Self) -> Result<Self, PayloadProblem> {
        Ok(Self(self.0 + earlier))
    }
}

/// Returns the text of each element of an array, or `None` if the value is no array.
pub(crate) fn elements(array: &RawValue) -> Result<Option<Vec<&RawValue>>, PayloadProblem> {
    if !array.get().starts_with('[') {
        return Ok(None);
    }
    let Elements(elements) = serde_json::from_str(array.get())?;
    elements.map(Some).ok_or(PayloadProblem::TooManyItems)
}

/// Checks a value of a document as if it were parsed. It is nested `outer` levels deep.
pub(crate) fn check(value: &RawValue, outer: usize) -> Result<(), PayloadProblem> {
    let Checked = serde_json::from_str(value.get()).map_err(PayloadProblem::Json)?;
    if too_deep(value.get().as_bytes(), outer) { Err(PayloadProblem::TooDeep) } else { Ok(()) }
}

/// Reads an object as the values of the members with these names.
struct Members<'n, T, const N: usize> {
    names: [&'n str; N],
    found: PhantomData<T>,
}

impl<'de, T: Member<'de>, const N: usize> Visitor<'de> for Members<'_, T, N> {
    type Value = Result<[Option<T>; N], PayloadProblem>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [const { None }; N];
        let mut defect = None;
        let mut is_first = true;
        while let Some(key) = map.next_key_seed(Name(&self.names))? {
            match key {
                Key::Named(index) => {
                    let value: T = map.next_value()?;
                    let kept = match found[index].take() {
                        Some(earlier) => value.behind(earlier),
                        None => Ok(value),
                    };
                    match kept {
                        Ok(value) => found[index] = Some(value),
                        Err(problem) => _ = defect.get_or_insert(problem),
                    }
                }
                // The parser accepts no further member behind such a text.
                Key::Private(text) if is_first => return map.next_value_seed(text).map(|()| Ok(found)),
                Key::Private(_) | Key::Other => {
                    let Checked = map.next_value()?;
                }
            }
            is_first = false;
        }
        Ok(defect.map_or(Ok(found), Err))
    }
}

/// A key of an object.
enum Key {
    /// The name with this index.
    Named(usize),
    /// A private key of the parser, which counts only as the first key.
    Private(PrivateText),
    Other,
}

/// Reads a key. It is compared with these names.
struct Name<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(match (self.0.iter().position(|name| *name == key), key) {
            (Some(index), _) => Key::Named(index),
            (None, NUMBER_KEY) => Key::Private(PrivateText::Number),
            (None, RAW_KEY) => Key::Private(PrivateText::Raw),
            (None, _) => Key::Other,
        })
    }
}

/// A value that is not kept. Depth, escapes and private keys are checked as for a value that is, in contrast to
/// [`IgnoredAny`].
pub(super) struct Checked;

/// The value of a private key: a text that the parser reads as what the key says.
#[derive(Clone, Copy)]
enum PrivateText {
    Number,
    Raw,
}

impl<'de> DeserializeSeed<'de> for PrivateText {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for PrivateText {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "string containing a number",
            Self::Raw => "raw value",
        })
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        match self {
            Self::Number => text.parse::<Number>().map(drop),
            Self::Raw => serde_json::from_str::<Value>(text).map(drop),
        }
        .map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        match map.next_key_seed(Name(&[]))? {
            None => return Ok(self),
            // The parser accepts no further member behind such a text.
            Some(Key::Private(text)) => return map.next_value_seed(text).map(|()| self),
            Some(Key::Named(_) | Key::Other) => {
                let Self = map.next_value()?;
            }
        }
        while let Some((Self, Self)) = map.next_entry()? {}
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while let Some(Self) = seq.next_element()? {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

/// The elements of an array, or `None` if there are more than [`MAX_ITEMS`].
struct Elements<'a>(Option<Vec<&'a RawValue>>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementsVisitor;

        impl<'de> Visitor<'de> for ElementsVisitor {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if elements.len() == MAX_ITEMS {
                        while let Some(IgnoredAny) = seq.next_element()? {}
                        return Ok(Elements(None));
                    }
                    elements.push(element);
                }
                Ok(Elements(Some(elements)))
            }
        }

        deserializer.deserialize_seq(ElementsVisitor)
    }
}

fn has_negative_zero(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"-0").is_some()
}

fn drop_negative_zeros(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_str() == "-0" => *value = Value::from(0),
        Value::Array(values) => values.iter_mut().for_each(drop_negative_zeros),
        Value::Object(map) => map.values_mut().for_each(drop_negative_zeros),
        _ => {}
    }
}

/// Checks that bytes are one JSON document. Depth and invalid escapes are not checked, because no rule reads the
/// values.
pub(crate) fn scan(bytes: &[u8]) -> Result<(), PayloadProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| PayloadProblem::Utf8)?;
    serde_json::from_str::<IgnoredAny>(text).map_err(PayloadProblem::Json)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes()).expect("JSON")
    }

    #[test]
    fn summaries_keep_numbers_and_order_and_are_cut_between_characters() {
        assert_eq!(&*summary(&value(r#"{ "b": 1.50, "a": 1E5, "b2": -0.0 }"#)).0, r#"{"b":1.50,"a":1e+5,"b2":-0.0}"#);
        let long = format!("\"{}\"", "é".repeat(200));
        let (cut, moved) = summary(&value(&long));
        assert!(moved);
        assert_eq!(cut.len(), 239 + 3);
        assert!(cut.ends_with("é..."));
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let too_deep = |text: &str, outer| too_deep(text.as_bytes(), outer);
        assert!(!too_deep(&nested(MAX_DEPTH), 0));
        assert!(too_deep(&nested(MAX_DEPTH + 1), 0));
        assert!(too_deep(&nested(MAX_DEPTH), 1));
        assert!(!too_deep(&format!("\"\\\"{}\"", nested(500)), 0));
        assert!(!too_deep(&"[],".repeat(500), 0));
    }

    #[test]
    fn only_the_integer_zero_loses_its_sign() {
        let value = parse(br#"[-0, -0.0, {"a": [-0, -0e1, "-0"]}]"#).expect("JSON");
        assert_eq!(value.to_string(), r#"[0,-0.0,{"a":[0,-0e+1,"-0"]}]"#);
    }

    #[test]
    fn a_scan_looks_at_the_form_alone() {
        for text in
            ["{}", " [1] ", "\"\\ud800\"", &"[".repeat(500).chars().chain("]".repeat(500).chars()).collect::<String>()]
        {
            assert!(scan(text.as_bytes()).is_ok(), "{text}");
        }
        for text in [&b""[..], b"{} x", b"\xef\xbb\xbf{}", b"\"\xff\"", b"{}\0"] {
            assert!(scan(text).is_err(), "{text:?}");
        }
    }

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn what_is_not_kept_is_checked_as_if_it_were() {
        let texts = [
            "{}".to_owned(),
            r#"[1, -2.5e300, 99999999999999999999, "a", null, true, {"b": [-0]}]"#.to_owned(),
            r#""\ud800""#.to_owned(),
            r#"{"\ud800": 1}"#.to_owned(),
            nested(MAX_DEPTH - 1),
            nested(MAX_DEPTH),
            format!("{{\"{NUMBER_KEY}\": \"-1e5\"}}"),
            format!("{{\"{NUMBER_KEY}\": \"x\"}}"),
            format!("{{\"{NUMBER_KEY}\": 7}}"),
            format!("{{\"{NUMBER_KEY}\": \"1\", \"b\": 1}}"),
            format!("{{\"b\": 1, \"{NUMBER_KEY}\": \"x\"}}"),
            format!("[{{\"{RAW_KEY}\": \"[1]\"}}]"),
            format!("[{{\"{RAW_KEY}\": \"[1\"}}]"),
            format!("[{{\"{RAW_KEY}\": []}}]"),
        ];
        for text in texts {
            let selected = select(text.as_bytes(), ["kept"]).map(drop).map_err(|problem| problem.to_string());
            assert_eq!(selected, parse(text.as_bytes()).map(drop).map_err(|problem| problem.to_string()), "{text}");
            let document = format!("{{\"kept\": 1, \"other\": {text}}}");
            let whole = parse(document.as_bytes()).map(drop).map_err(|problem| problem.to_string());
            let selected = select(document.as_bytes(), ["kept"]);
            assert_eq!(selected.map(drop).map_err(|problem| problem.to_string()), whole, "{text}");
            let raw: &RawValue = serde_json::from_str(&text).expect("it has the form of JSON");
            assert_eq!(check(raw, 1).is_ok(), whole.is_ok(), "{text}");
            // An earlier value of a repeated member is not kept either.
            let document = format!("{{\"kept\": {text}, \"kept\": 1}}");
            let found: Result<[Option<&RawValue>; 1], _> = members(document.as_bytes(), ["kept"]);
            assert_eq!(found.is_ok(), whole.is_ok(), "{text}");
            assert_eq!(select(document.as_bytes(), ["kept"]).is_ok(), whole.is_ok(), "{text}");
        }
    }

    #[test]
    fn the_last_of_repeated_members_is_kept() {
        let selected = |text: &str| select(text.as_bytes(), ["a", "b"]).expect("JSON").to_string();
        assert_eq!(selected(r#"{"b": 1, "a": [-0], "c": {}, "b": "x"}"#), r#"{"a":[0],"b":"x"}"#);
        for other in ["[1,{}]", "7", "\"a\"", "null", "true", "-1.5"] {
            assert_eq!(selected(other), other);
            let found: [Option<Value>; 1] = members(other.as_bytes(), ["a"]).expect("JSON");
            assert_eq!(found, [None]);
        }
        assert!(select(b"{} x", ["a"]).is_err());
    }

    #[test]
    fn what_is_kept_has_a_limited_number_of_values() {
        let values = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        let document = |a: usize, b: usize| format!("{{\"a\": {}, \"other\": {}}}", values(a), values(b)).into_bytes();
        assert!(parse(values(MAX_VALUES - 1).as_bytes()).is_ok());
        assert!(matches!(parse(values(MAX_VALUES).as_bytes()), Err(PayloadProblem::TooManyValues)));
        assert!(select(&document(MAX_VALUES - 1, 2 * MAX_VALUES), ["a", "b"]).is_ok());
        assert!(matches!(select(&document(MAX_VALUES, 1), ["a", "b"]), Err(PayloadProblem::TooManyValues)));
        let repeated = format!("{{\"a\": {}, \"a\": 1}}", values(MAX_VALUES));
        assert!(matches!(select(repeated.as_bytes(), ["a"]), Err(PayloadProblem::TooManyValues)));
        // Commas in strings do not count.
        assert!(parse(format!("\"{}\"", ",".repeat(2 * MAX_VALUES)).as_bytes()).is_ok());
    }

    #[test]
    fn a_list_has_a_limited_number_of_elements() {
        let list = |count: usize| RawValue::from_string(format!("[{}{{}}]", "{},".repeat(count - 1))).expect("JSON");
        assert_eq!(elements(&list(MAX_ITEMS)).expect("not too many").expect("a list").len(), MAX_ITEMS);
        assert!(matches!(elements(&list(MAX_ITEMS + 1)), Err(PayloadProblem::TooManyItems)));
        let other = RawValue::from_string("{}".to_owned()).expect("JSON");
        assert!(elements(&other).expect("JSON").is_none());
    }

    #[test]
    fn the_limit_is_the_parser_s() {
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH + 1)).is_err());
    }
}
