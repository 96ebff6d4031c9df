//! The body of a request as it is sent and recorded.
//!
//! A conversation grows, and each request contains all of it. So items are shared with the history instead of copied, and
//! the JSON text is built once for the provider and the recording. Providers with another wire format read the
//! [value](RequestBody::value), which is built only on demand.

use std::sync::{Arc, OnceLock};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::item::ModelItem;

/// Name of the member with the conversation.
const INPUT: &str = "input";

/// The body of a request in the format of the Responses API.
#[derive(Debug)]
pub struct RequestBody {
    /// All members in order. If there are `items`, the member `input` is only a placeholder for their position.
    members: Map<String, Value>,
    items: Option<Vec<ModelItem>>,
    text: OnceLock<Arc<[u8]>>,
    value: OnceLock<Value>,
}

impl RequestBody {
    /// Returns a body of these members. The conversation replaces the member `input`, or is appended if there is none.
    #[must_use]
    pub fn new(mut members: Map<String, Value>, items: Vec<ModelItem>) -> Self {
        members.insert(INPUT.to_owned(), Value::Null);
        Self { members, items: Some(items), text: OnceLock::new(), value: OnceLock::new() }
    }

    /// Returns a member other than the conversation, or `Value::Null` if it is missing.
    #[must_use]
    pub fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    /// Returns the items of the conversation.
    #[must_use]
    pub fn items(&self) -> &[ModelItem] {
        self.items.as_deref().unwrap_or_default()
    }

    /// Returns the body as JSON text.
    ///
    /// # Panics
    ///
    /// Never panics: a JSON value can always be serialized.
    #[must_use]
    pub fn text(&self) -> &Arc<[u8]> {
        self.text.get_or_init(|| serde_json::to_vec(self).expect("a JSON value can be written").into())
    }

    /// Returns the body as a JSON value.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let mut members = self.members.clone();
            if let Some(items) = &self.items {
                members.insert(INPUT.to_owned(), items.iter().map(|item| Value::clone(item)).collect());
            }
            Value::Object(members)
        })
    }
}

impl From<Value> for RequestBody {
    /// Returns the body with the members of an object. Any other value gives an empty body.
    fn from(body: Value) -> Self {
        let Value::Object(mut members) = body else { return Self::from(Value::Object(Map::new())) };
        let items = match members.get_mut(INPUT) {
            Some(Value::Array(items)) => Some(std::mem::take(items).into_iter().map(Arc::new).collect()),
            _ => None,
        };
        Self { members, items, text: OnceLock::new(), value: OnceLock::new() }
    }
}

impl Serialize for RequestBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (name, value) in &self.members {
            match &self.items {
                Some(items) if name == INPUT => map.serialize_entry(name, &Items(items))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// Serializes items without copying them.
struct Items<'a>(&'a [ModelItem]);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|item| &**item))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn text_and_value_say_the_same_in_the_same_order() {
        let items = vec![Arc::new(json!({"type": "message", "role": "user"})), Arc::new(json!("odd"))];
        let body = RequestBody::new(object(json!({"model": "m", "input": null, "store": false})), items);
        let text = r#"{"model":"m","input":[{"type":"message","role":"user"},"odd"],"store":false}"#;
        assert_eq!(std::str::from_utf8(body.text()), Ok(text));
        assert_eq!(body.value().to_string(), text);
        assert_eq!((body.items().len(), body.get("model"), body.get("tools")), (2, &json!("m"), &Value::Null));
    }

    #[test]
    fn a_value_is_a_body() {
        for (value, items) in [
            (json!({"model": "m", "input": [1, {"a": [2]}], "x": {}}), 2),
            (json!({"input": "said"}), 0),
            (json!({"model": "m"}), 0),
        ] {
            let body = RequestBody::from(value.clone());
            assert_eq!((body.value(), body.items().len()), (&value, items));
            assert_eq!(serde_json::from_slice::<Value>(body.text()).ok(), Some(value));
        }
        assert_eq!(&**RequestBody::from(json!([1])).text(), b"{}");
    }
}
