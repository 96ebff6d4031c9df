//! Changes within one line of the log.

use std::io;

use serde_json::{Value, json};

use crate::format::{Event, SchemaVersion};

/// What changes in a line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) seq: Option<u64>,
    pub(super) schema: Option<SchemaVersion>,
    /// A field of the event, and the path that its reference gets instead; nothing for a reference that goes.
    pub(super) reference: Option<(&'static str, Option<String>)>,
}

impl Edit {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Edit {
    /// Returns the line with its changes. What does not change keeps its order and its numbers their text.
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

/// Writes an event that stands in one of the odder forms that readers take, such as an array of its fields, as a
/// recorder would.
fn plain_form(line: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(line);
    let (event, _) = Event::parse(&text)?;
    serde_json::to_value(&event)
}
