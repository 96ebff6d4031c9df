//! Small types that many messages use.
//!
//! A type is defined here only if it has its own rule on the wire: a path that must be absolute, or a field for which
//! `null` differs from absence. Ids of threads, turns and items are plain strings in this crate. The server decides
//! which ids are valid, because its response to a bad one is part of its behaviour.

use std::path::Path;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
#[cfg(feature = "schema")]
use ts_rs::TS;

/// A JSON object whose members the protocol does not define.
pub type JsonObject = serde_json::Map<String, Value>;

/// A path is relative where it must be absolute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("path is not absolute: {path}")]
pub struct RelativePathError {
    /// The path.
    pub path: String,
}

/// An absolute path.
///
/// Decoding refuses a relative path, so that no handler has to check it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(type = "string"))]
#[serde(try_from = "String")]
pub struct AbsolutePath(String);

impl AbsolutePath {
    /// Makes an absolute path.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is relative.
    pub fn new(path: impl Into<String>) -> Result<Self, RelativePathError> {
        let path = path.into();
        if Path::new(&path).is_absolute() { Ok(Self(path)) } else { Err(RelativePathError { path }) }
    }

    /// Returns the path as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path as a [`Path`].
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Returns the path as a string, without copying it.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Default for AbsolutePath {
    /// Returns the root of the file system.
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl TryFrom<String> for AbsolutePath {
    type Error = RelativePathError;

    fn try_from(path: String) -> Result<Self, Self::Error> {
        Self::new(path)
    }
}

impl TryFrom<&Path> for AbsolutePath {
    type Error = RelativePathError;

    /// Converts a path of this machine. Invalid UTF-8 becomes replacement characters, because JSON cannot represent it.
    fn try_from(path: &Path) -> Result<Self, Self::Error> {
        Self::new(path.to_string_lossy())
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl std::fmt::Display for AbsolutePath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A field for which `null` is a value of its own and differs from absence, such as "clear it" or "only those without".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Nullable<T> {
    /// The field is absent.
    #[default]
    Absent,
    /// The field is `null`.
    Null,
    /// The field has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Says whether the field is absent.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns `None` if the field is absent, `Some(None)` if it is `null`, and the value otherwise.
    #[must_use]
    pub fn into_change(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    /// Serializes an absent field as `null`. Structs skip an absent field, so they never get here.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Null => serializer.serialize_none(),
            Self::Value(value) => serializer.serialize_some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        <Option<T>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Option<T>>::json_schema(generator)
    }
}

/// Decodes the content of a message from raw JSON.
///
/// All typed content is decoded here, by way of a [`Value`]. Internally tagged types buffer their content and read it
/// twice. If another part of the program enables serde_json's feature `arbitrary_precision`, which then applies to the
/// whole program, numbers inside of such a type can only be read from a value.
///
/// # Errors
///
/// Returns an error if the content does not fit the type, or is nested deeper than [`MAX_DEPTH`].
pub fn from_raw<T: DeserializeOwned>(raw: &RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::from_str(raw.get())?)
}

/// Greatest nesting of the JSON of params, results and errors. Deeper JSON is refused while it is parsed.
pub const MAX_DEPTH: usize = 127;

/// Reads `null` as the default, because clients use `null` for an absent field too.
pub(crate) fn null_is_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Fields {
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        field: Nullable<u32>,
        #[serde(default, deserialize_with = "null_is_default")]
        flag: bool,
    }

    #[test]
    fn absent_null_and_value_differ() {
        for (text, field, change) in [
            (r#"{"flag":false}"#, Nullable::Absent, None),
            (r#"{"field":null,"flag":false}"#, Nullable::Null, Some(None)),
            (r#"{"field":7,"flag":false}"#, Nullable::Value(7), Some(Some(7))),
        ] {
            let fields: Fields = serde_json::from_str(text).expect("JSON");
            assert_eq!(fields, Fields { field, flag: false });
            assert_eq!(serde_json::to_string(&fields).expect("JSON"), text);
            assert_eq!(field.into_change(), change);
        }
    }

    #[test]
    fn null_is_the_default_of_a_plain_field() {
        assert!(!serde_json::from_str::<Fields>(r#"{"flag":null}"#).expect("JSON").flag);
        assert!(serde_json::from_str::<Fields>(r#"{"flag":true}"#).expect("JSON").flag);
        assert!(serde_json::from_str::<Fields>(r#"{"flag":1}"#).is_err());
    }

    #[test]
    fn deep_content_is_refused_and_not_followed() {
        let nested = |depth: usize| RawValue::from_string("[".repeat(depth) + &"]".repeat(depth)).expect("JSON");
        assert!(from_raw::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(from_raw::<Value>(&nested(MAX_DEPTH + 1)).is_err());
        assert!(from_raw::<Value>(&nested(1_000_000)).is_err());
    }

    #[test]
    fn a_relative_path_is_refused() {
        assert_eq!(AbsolutePath::new("/a/b").expect("it is there").as_str(), "/a/b");
        let error = serde_json::from_str::<AbsolutePath>(r#""a/b""#).expect_err("it is refused");
        assert_eq!(error.to_string(), "path is not absolute: a/b");
    }
}
