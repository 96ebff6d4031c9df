//! Changes within one line of the log.

use std::io;

use serde_json::{Value, json};

use crate::format::{Event, SchemaVersion};

/// The changes of one line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) seq: Option<u64>,
    pub(super) schema: Option<SchemaVersion>,
    /// Name of the field with a payload reference, and the new path of the reference. `None` clears the reference.
    pub(super) reference: Option<(&'static str, Option<String>)>,
}

impl Edit {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Edit {
    /// Returns the line with its changes. Everything else keeps its order, and numbers keep their text.
    pub(super) fn apply(&self, line: &[u8]) -> io::Result<String> {
        let mut value: Value = serde_json::from_slice(line).or_else(|_| plain_form(line))?;
        if value.get("payload").is_none_or(|payload| !payload.is_object()) {
            value = plain_form(line)?;
        }
        if let Some(seq) = self.seq {
            value["seq"] = json!(seq);
        }
        if let Some(schema) = self.schema {
            value["schema_version"] = json!(schema);
        }
        match &self.reference {
            None => {}
            Some((field, None)) => value["payload"][*field] = Value::Null,
            Some((field, Some(path))) => value["payload"][*field]["path"] = json!(path),
        }
        Ok(value.to_string())
    }
}

/// Rewrites an event in the form that a recorder writes. Readers also accept other forms, such as an array of the fields.
fn plain_form(line: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(line);
    let (event, _) = Event::parse(&text)?;
    serde_json::to_value(&event)
}
