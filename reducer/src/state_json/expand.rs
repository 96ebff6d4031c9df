//! Makes `state.json` of the compact form.

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{Json, Style};

/// Version of the compact form.
pub(super) const VERSION: u64 = 1;
/// The member with the version, which tells the compact form from `state.json`.
pub(super) const VERSION_MEMBER: &str = "compact";
/// The member with the lines.
pub(super) const LINES_MEMBER: &str = "item_lines";

/// The members that are lists of elements: the map of the objects, and the member of the objects.
const LISTS: [(&str, &str); 3] = [
    ("inference_calls", "request_item_ids"),
    ("compactions", "input_item_ids"),
    ("compactions", "replacement_item_ids"),
];

/// Most items that all lines of a document may have together. Lines that repeat each other could otherwise stand for
/// more than any memory holds.
pub const MAX_LINE_ITEMS: usize = 1 << 26;

/// Why a document is not expanded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// It is not JSON, or a list in it is none.
    #[error("not a graph in the compact form: {0}")]
    Json(#[from] serde_json::Error),
    /// It has no version, as `state.json` has none.
    #[error("not a graph in the compact form: it has no member `compact`")]
    NotCompact,
    /// It has another version.
    #[error("version {version} of the compact form; this program reads version 1")]
    Version {
        /// The version.
        version: u64,
    },
    /// A range reaches beyond its line, or into a line that does not come before.
    #[error("line {line} has no items {start} to {end}")]
    Range {
        /// Number of the line.
        line: usize,
        /// Position of the first item.
        start: usize,
        /// Position behind the last item.
        end: usize,
    },
    /// The lines have more items than [`MAX_LINE_ITEMS`].
    #[error("the lines have more than {limit} items")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes `state.json` of a document in the compact form. With [`Style::Pretty`], it is byte for byte what
/// [`write`](super::write) makes of the same reduction. Memory follows the items of
/// the lines, which are limited ([`MAX_LINE_ITEMS`]).
///
/// # Errors
///
/// Returns an error if the document is not in the compact form, or if `out` returns one.
pub fn expand(document: &str, style: Style, mut out: impl Write) -> Result<(), ExpandError> {
    expand_into(document, Json::new(&mut out, style))
}

fn expand_into(document: &str, mut json: Json<'_>) -> Result<(), ExpandError> {
    let Members(members) = serde_json::from_str(document)?;
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let version = member(VERSION_MEMBER).ok_or(ExpandError::NotCompact)?;
    let version = serde_json::from_str(version.get())?;
    if version != VERSION {
        return Err(ExpandError::Version { version });
    }
    let lines = Lines::read(member(LINES_MEMBER).map_or("[]", RawValue::get), MAX_LINE_ITEMS)?;
    json.open(b'{');
    for (key, value) in &members {
        if key == VERSION_MEMBER || key == LINES_MEMBER {
            continue;
        }
        json.key(key);
        if LISTS.iter().any(|(map, _)| map == key) {
            lines.expand_map(&mut json, key, value)?;
        } else {
            json.value(value.get())?;
        }
    }
    json.close(b'}');
    json.finish()?;
    Ok(())
}

/// The lines of a document.
struct Lines<'d> {
    /// The ids of items in JSON, in the order in which the lines spell them out.
    ids: Vec<&'d RawValue>,
    /// For each line, the positions of its items in `ids`.
    lines: Vec<Vec<u32>>,
}

impl<'d> Lines<'d> {
    fn read(lines: &'d str, limit: usize) -> Result<Self, ExpandError> {
        let spelt: Vec<Vec<Element<'d>>> = serde_json::from_str(lines)?;
        let mut lines = Self { ids: Vec::new(), lines: Vec::with_capacity(spelt.len()) };
        let mut count = 0;
        for elements in spelt {
            let mut line = Vec::new();
            for element in elements {
                match element {
                    Element::Id(id) => {
                        line.push(u32::try_from(lines.ids.len()).map_err(|_| ExpandError::TooLarge { limit })?);
                        lines.ids.push(id);
                    }
                    Element::Range { line: number, range } => line.extend_from_slice(lines.range(number, range)?),
                }
                if count + line.len() > limit {
                    return Err(ExpandError::TooLarge { limit });
                }
            }
            count += line.len();
            lines.lines.push(line);
        }
        Ok(lines)
    }

    /// Returns a range of a line, as positions in `ids`.
    fn range(&self, line: usize, range: Range<usize>) -> Result<&[u32], ExpandError> {
        let Range { start, end } = range;
        let items = self.lines.get(line).and_then(|items| items.get(range));
        items.ok_or(ExpandError::Range { line, start, end })
    }

    /// Writes a map of objects, with their lists spelt out.
    fn expand_map(&self, json: &mut Json<'_>, map: &str, value: &RawValue) -> Result<(), ExpandError> {
        let Members(objects) = serde_json::from_str(value.get())?;
        json.open(b'{');
        for (id, object) in objects {
            json.key(&id);
            let Members(members) = serde_json::from_str(object.get())?;
            json.open(b'{');
            for (key, value) in members {
                json.key(&key);
                if LISTS.contains(&(map, &*key)) {
                    self.expand_list(json, value)?;
                } else {
                    json.value(value.get())?;
                }
            }
            json.close(b'}');
        }
        json.close(b'}');
        Ok(())
    }

    fn expand_list(&self, json: &mut Json<'_>, list: &RawValue) -> Result<(), ExpandError> {
        let elements: Vec<Element<'_>> = serde_json::from_str(list.get())?;
        json.open(b'[');
        let mut write = |id: &RawValue| {
            json.element();
            json.literal(id.get());
            json.flush_if_full()
        };
        for element in elements {
            match element {
                Element::Id(id) => write(id)?,
                Element::Range { line, range } => {
                    self.range(line, range)?.iter().try_for_each(|id| write(self.ids[*id as usize]))?;
                }
            }
        }
        json.close(b']');
        Ok(())
    }
}

/// An element of a list.
enum Element<'d> {
    /// The id of an item.
    Id(&'d RawValue),
    /// A range of a line.
    Range { line: usize, range: Range<usize> },
}

impl<'de: 'd, 'd> Deserialize<'de> for Element<'d> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Spelt {
            line: usize,
            #[serde(default)]
            start: usize,
            end: usize,
        }

        let raw = <&RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('{') {
            let Spelt { line, start, end } = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
            return Ok(Self::Range { line, range: start..end });
        }
        if !raw.get().starts_with('"') {
            return Err(D::Error::custom(format_args!("{raw} is neither the id of an item nor a range")));
        }
        Ok(Self::Id(raw))
    }
}

/// The members of an object, in their order.
struct Members<'d>(Vec<(String, &'d RawValue)>);

impl<'de: 'd, 'd> Deserialize<'de> for Members<'d> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Reader).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(document: &str) -> Result<String, String> {
        let mut out = Vec::new();
        expand(document, Style::Compact, &mut out).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn lists_are_spelt_out_where_the_form_has_lists_and_nowhere_else() {
        let graph = r#"{
            "inference_calls": {
                "i": {"request_item_ids": [{"line": 1, "start": 1, "end": 4}], "usage": null},
                "j": {"request_item_ids": []}
            },
            "compactions": {"c": {"input_item_ids": ["x", {"line": 0, "end": 1}, "y"], "replacement_item_ids": ["z"]}},
            "threads": {"t": {"request_item_ids": [{"line": 0, "end": 1}]}},
            "item_lines": [["a", "\u0062", "c"], [{"line": 0, "end": 2}, "d", {"line": 0, "start": 2, "end": 3}]],
            "compact": 1
        }"#;
        let expected = r#"{
            "inference_calls": {
                "i": {"request_item_ids": ["\u0062", "d", "c"], "usage": null},
                "j": {"request_item_ids": []}
            },
            "compactions": {"c": {"input_item_ids": ["x", "a", "y"], "replacement_item_ids": ["z"]}},
            "threads": {"t": {"request_item_ids": [{"line": 0, "end": 1}]}}
        }"#;
        assert_eq!(expanded(graph), Ok(expected.split_whitespace().collect()));
    }

    #[test]
    fn what_is_no_compact_form_is_refused() {
        let list = |list: &str| {
            format!(r#"{{"compact":1,"item_lines":[["a"]],"inference_calls":{{"i":{{"request_item_ids":{list}}}}}}}"#)
        };
        for (document, error) in [
            ("[]", "not a graph in the compact form: invalid type: sequence, expected an object"),
            ("{", "not a graph in the compact form: EOF while parsing an object"),
            (r#"{"schema_version":2}"#, "not a graph in the compact form: it has no member `compact`"),
            (r#"{"compact":2}"#, "version 2 of the compact form; this program reads version 1"),
            (r#"{"compact":1,"item_lines":[[{"line":0,"end":0}]]}"#, "line 0 has no items 0 to 0"),
            (&list(r#"[{"line":0,"end":2}]"#), "line 0 has no items 0 to 2"),
            (&list(r#"[{"line":0,"start":1,"end":0}]"#), "line 0 has no items 1 to 0"),
            (&list(r#"[{"line":1,"end":1}]"#), "line 1 has no items 0 to 1"),
            (&list(r#"[{"line":0}]"#), "not a graph in the compact form: missing field `end`"),
            (&list(r#"[{"line":0,"end":1,"step":2}]"#), "not a graph in the compact form: unknown field `step`"),
            (&list("[1]"), "not a graph in the compact form: 1 is neither the id of an item nor a range"),
        ] {
            let found = expanded(document).expect_err("is refused");
            assert!(found.starts_with(error), "{document}: {found}");
        }
    }

    #[test]
    fn lines_that_repeat_each_other_are_limited() {
        let mut lines = r#"["a"]"#.to_owned();
        for line in 0..40 {
            lines.push_str(&format!(r#",[{{"line":{line},"end":{0}}},{{"line":{line},"end":{0}}}]"#, 1_u64 << line));
        }
        let lines = format!("[{lines}]");
        let Err(error) = Lines::read(&lines, 100_000) else { panic!("2^40 items") };
        assert_eq!(error.to_string(), "the lines have more than 100000 items");
    }
}
