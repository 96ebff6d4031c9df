//! Layers of a configuration, and how they are merged.

use std::path::PathBuf;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::error::ConfigError;

/// Most parts of a dotted key. Each part is a nested table, and the functions that walk through tables are recursive.
pub const MAX_KEY_PARTS: usize = 64;
/// Most bytes of a dotted key. Some keys contain paths, so the limit is generous.
pub const MAX_KEY_BYTES: usize = 16 * 1024;
/// Most characters of a key that an error message repeats.
const MAX_SHOWN_KEY_CHARS: usize = 200;

/// Where settings come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerName {
    /// The user's configuration file.
    User {
        /// The absolute path of the file.
        file: PathBuf,
    },
    /// The options that the server was started with, or the settings that a client gave for one thread.
    Flags,
}

/// The settings from one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The source.
    pub name: LayerName,
    /// The settings.
    pub table: toml::Table,
    /// A hash of the source. It changes whenever the source changes.
    pub version: String,
}

impl Layer {
    /// Returns the settings as JSON for clients.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.table.iter().map(|(key, value)| (key.clone(), toml_to_json(value))).collect())
    }

    /// Returns a layer of command line options or of a client's settings.
    pub(super) fn flags(table: toml::Table) -> Self {
        let version = version_of(toml_to_json(&toml::Value::Table(table.clone())).to_string().as_bytes());
        Self { name: LayerName::Flags, table, version }
    }
}

/// A key and its value from the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    key: Vec<String>,
    value: toml::Value,
}

impl Override {
    /// Parses `key=value`. The value is TOML. A value that is not valid TOML is taken as a string, so that simple words
    /// need no quotes.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no `=`, or if the text before it is not a valid dotted key.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let (key, value) = text.split_once('=').ok_or_else(|| ConfigError::Override { text: text.to_owned() })?;
        let key = split_key(key.trim())?;
        let value = value.trim();
        let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
        // A value with a line break could define further keys.
        let value = match parsed {
            Ok(mut table) if table.len() == 1 => table.remove("value").unwrap_or_else(|| value.into()),
            _ => value.into(),
        };
        Ok(Self { key, value })
    }
}

/// Returns a table with all overrides. If a key is set twice, the later override wins.
pub(super) fn table_of_overrides(overrides: &[Override]) -> Result<toml::Table, ConfigError> {
    let mut table = toml::Table::new();
    for Override { key, value } in overrides {
        insert(&mut table, key, value.clone())?;
    }
    Ok(table)
}

/// Returns a table with all settings of a client's map of dotted keys. A `null` is ignored.
pub(super) fn table_of_map(map: &Map<String, Value>) -> Result<toml::Table, ConfigError> {
    let mut table = toml::Table::new();
    for (key, value) in map {
        if !value.is_null() {
            insert(&mut table, &split_key(key)?, json_to_toml(key, value)?)?;
        }
    }
    Ok(table)
}

/// Splits a dotted key. Its parts may be quoted as in TOML.
pub(super) fn split_key(key: &str) -> Result<Vec<String>, ConfigError> {
    let wrong = |message: &str| ConfigError::Key { key: key.to_owned(), message: message.to_owned() };
    if key.trim().is_empty() {
        return Err(wrong("it is empty"));
    }
    let too_much = |message: String| {
        let key = key.chars().take(MAX_SHOWN_KEY_CHARS).collect();
        Err(ConfigError::Key { key, message })
    };
    if key.len() > MAX_KEY_BYTES {
        return too_much(format!("it has more than {MAX_KEY_BYTES} bytes"));
    }
    // Accept words that TOML requires to be quoted, such as names with a colon.
    let parts = match toml_edit::Key::parse(key) {
        Ok(parts) => parts.iter().map(|part| part.get().to_owned()).collect(),
        Err(_) if key.contains(['"', '\'']) => return Err(wrong("its quotes are not balanced")),
        Err(_) => key.split('.').map(|part| part.trim().to_owned()).collect::<Vec<_>>(),
    };
    if parts.iter().any(String::is_empty) {
        return Err(wrong("a part of it is empty"));
    }
    if parts.len() > MAX_KEY_PARTS {
        return too_much(format!("it has more than {MAX_KEY_PARTS} parts"));
    }
    Ok(parts)
}

/// Sets the value at a dotted key. If both the old and the new value are tables, they are merged.
fn insert(table: &mut toml::Table, key: &[String], value: toml::Value) -> Result<(), ConfigError> {
    let (last, parents) = key.split_last().expect("a key that was split has a part");
    let mut place = table;
    for (depth, part) in parents.iter().enumerate() {
        place = place
            .entry(part.clone())
            .or_insert_with(|| toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .ok_or_else(|| ConfigError::Parent { key: key.join("."), parent: key[..=depth].join(".") })?;
    }
    match (place.get_mut(last), value) {
        (Some(toml::Value::Table(there)), toml::Value::Table(over)) => overlay(there, over),
        (_, value) => {
            place.insert(last.clone(), value);
        }
    }
    Ok(())
}

/// Merges a table into another. Nested tables are merged; every other value is replaced.
pub(super) fn overlay(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(there)), toml::Value::Table(over)) => overlay(there, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// Calls `visit` with the dotted key of each value that is not a table.
pub(super) fn for_each_leaf(table: &toml::Table, visit: &mut dyn FnMut(&str)) {
    fn walk(prefix: &str, table: &toml::Table, visit: &mut dyn FnMut(&str)) {
        for (key, value) in table {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                toml::Value::Table(table) => walk(&path, table, visit),
                _ => visit(&path),
            }
        }
    }
    walk("", table, visit);
}

/// Returns the value at a key.
pub(super) fn value_at<'a>(table: &'a toml::Table, key: &[String]) -> Option<&'a toml::Value> {
    let (first, rest) = key.split_first()?;
    let mut value = table.get(first)?;
    for part in rest {
        value = value.as_table()?.get(part)?;
    }
    Some(value)
}

/// Returns the version of the content of a file: its SHA-256 hash.
pub(super) fn version_of(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut version = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        write!(version, "{byte:02x}").expect("writing to a string never fails");
    }
    version
}

/// Converts a client's value to TOML.
pub(super) fn json_to_toml(key: &str, value: &Value) -> Result<toml::Value, ConfigError> {
    let wrong = |message: &str| ConfigError::Value { key: key.to_owned(), message: message.to_owned() };
    Ok(match value {
        Value::Null => return Err(wrong("null inside of a value")),
        Value::Bool(value) => (*value).into(),
        Value::String(value) => value.as_str().into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if !number.is_u64() => float.into(),
            _ => return Err(wrong("a number that is too large")),
        },
        Value::Array(values) => {
            toml::Value::Array(values.iter().map(|value| json_to_toml(key, value)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let mut table = toml::Table::new();
            for (name, value) in members {
                // A member that is null counts as missing.
                if !value.is_null() {
                    table.insert(name.clone(), json_to_toml(key, value)?);
                }
            }
            toml::Value::Table(table)
        }
    })
}

/// Converts a value of the configuration to JSON for clients.
pub(super) fn toml_to_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(value) => (*value).into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.iter().map(toml_to_json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.clone(), toml_to_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(text: &str) -> toml::Table {
        toml::from_str(text).expect("TOML")
    }

    #[test]
    fn an_override_is_toml_or_a_string() {
        for (text, value) in [
            ("model=gpt-x", toml::Value::from("gpt-x")),
            ("model = \"a b\"", "a b".into()),
            ("model=a b", "a b".into()),
            ("model=", "".into()),
            ("model=3", 3.into()),
            ("model=true", true.into()),
            ("model=[\"a\"]", vec!["a"].into()),
            ("model=1\nother = 2", "1\nother = 2".into()),
            ("model=a=b", "a=b".into()),
        ] {
            let parsed = Override::parse(text).expect("an override");
            assert_eq!((parsed.key.join("."), parsed.value), ("model".to_owned(), value), "{text}");
        }
        assert!(matches!(Override::parse("model"), Err(ConfigError::Override { .. })));
        assert!(matches!(Override::parse("=x"), Err(ConfigError::Key { .. })));
    }

    #[test]
    fn keys_split_at_their_dots() {
        for (key, parts) in [
            ("a", vec!["a"]),
            ("a.b-c", vec!["a", "b-c"]),
            ("a.\"b.c\"", vec!["a", "b.c"]),
            ("a.b:c", vec!["a", "b:c"]),
        ] {
            assert_eq!(split_key(key).expect("a key"), parts, "{key}");
        }
        for key in ["", " ", "a..b", ".a", "a.", "a.\"b"] {
            assert!(split_key(key).is_err(), "{key}");
        }
    }

    #[test]
    fn a_key_has_its_limits() {
        let deep = |parts: usize| vec!["a"; parts].join(".");
        assert_eq!(split_key(&deep(MAX_KEY_PARTS)).expect("a key").len(), MAX_KEY_PARTS);
        for key in [deep(MAX_KEY_PARTS + 1), deep(MAX_KEY_BYTES), deep(1_000_000), "a".repeat(MAX_KEY_BYTES + 1)] {
            let Err(ConfigError::Key { key, .. }) = split_key(&key) else { panic!() };
            assert!(key.len() <= MAX_SHOWN_KEY_CHARS);
        }
        assert_eq!(split_key(&"a".repeat(MAX_KEY_BYTES)).expect("a key").len(), 1);
    }

    #[test]
    fn later_overrides_win_and_tables_are_merged() {
        let overrides = ["a.b=1", "a.c=2", "a.b=3", "a={d=4}"].map(|text| Override::parse(text).expect("an override"));
        assert_eq!(table_of_overrides(&overrides).expect("a table"), table("a = {b = 3, c = 2, d = 4}"));
        let overrides = ["a=1", "a.b=2"].map(|text| Override::parse(text).expect("an override"));
        let Err(ConfigError::Parent { key, parent }) = table_of_overrides(&overrides) else { panic!() };
        assert_eq!((key.as_str(), parent.as_str()), ("a.b", "a"));
    }

    #[test]
    fn a_map_of_dotted_keys_becomes_a_table() {
        let Value::Object(map) = json!({"a.b": [1, {"c": 2.5}], "x": null, "y": {"z": null, "w": true}}) else {
            panic!()
        };
        assert_eq!(table_of_map(&map).expect("a table"), table("y = {w = true}\na.b = [1, {c = 2.5}]"));
        for value in [json!([null]), json!(u64::MAX)] {
            let map = Map::from_iter([("k".to_owned(), value)]);
            assert!(matches!(table_of_map(&map), Err(ConfigError::Value { .. })));
        }
    }

    #[test]
    fn toml_values_become_json() {
        let value = toml::Value::Table(table("a = [1, 2.5, 'x']\nt = 2026-01-02\n[b]\nc = true"));
        assert_eq!(toml_to_json(&value), json!({"a": [1, 2.5, "x"], "t": "2026-01-02", "b": {"c": true}}));
    }
}
