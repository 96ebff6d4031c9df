//! The body of a request as it is sent and recorded.
//!
//! A conversation grows, and each request contains all of it. So items are shared with the history instead of copied, and
//! so is the JSON text of each: a body is a list of pieces. Providers with another wire format read the
//! [value](RequestBody::value), which is built only on demand.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value};
use trace_recorder::write::Piece;

use crate::item::ModelItem;

/// Name of the member with the conversation.
const INPUT: &str = "input";

/// The body of a request in the format of the Responses API.
#[derive(Debug)]
pub struct RequestBody {
    /// All members in order. If there are `items`, the member `input` is only a placeholder for their position.
    members: Map<String, Value>,
    items: Option<Vec<ModelItem>>,
    around: OnceLock<Around>,
    text: OnceLock<Arc<[u8]>>,
    value: OnceLock<Value>,
}

/// The JSON texts in front of the items and behind them. Without items, the first is empty.
#[derive(Debug)]
struct Around {
    front: Arc<[u8]>,
    back: Arc<[u8]>,
}

impl RequestBody {
    /// Returns a body of these members. The conversation replaces the member `input`, or is appended if there is none.
    #[must_use]
    pub fn new(mut members: Map<String, Value>, items: Vec<ModelItem>) -> Self {
        members.insert(INPUT.to_owned(), Value::Null);
        Self::of(members, Some(items))
    }

    fn of(members: Map<String, Value>, items: Option<Vec<ModelItem>>) -> Self {
        Self { members, items, around: OnceLock::new(), text: OnceLock::new(), value: OnceLock::new() }
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
    #[must_use]
    pub fn text(&self) -> &Arc<[u8]> {
        self.text.get_or_init(|| {
            let mut text = Vec::with_capacity(self.bytes());
            self.for_each_part(|part, start| text.extend_from_slice(&part[start..]));
            text.into()
        })
    }

    /// Returns the JSON text as pieces, of which those of items are shared by all requests.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece> {
        let Around { front, back } = self.around.get_or_init(|| self.write_around());
        let mut pieces = Vec::with_capacity(self.items().len() + 2);
        pieces.push(Piece::single(Arc::clone(front)));
        self.for_each_item(|text, start| pieces.push(Piece::shared(Arc::clone(text), start)));
        pieces.push(Piece::single(Arc::clone(back)));
        pieces
    }

    /// Returns the number of bytes of the JSON text.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let mut bytes = 0;
        self.for_each_part(|part, start| bytes += part.len() - start);
        bytes
    }

    /// Calls a function with each part of the JSON text, and with the number of bytes of the part that do not belong to it.
    fn for_each_part(&self, mut take: impl FnMut(&Arc<[u8]>, usize)) {
        let Around { front, back } = self.around.get_or_init(|| self.write_around());
        take(front, 0);
        self.for_each_item(&mut take);
        take(back, 0);
    }

    /// Calls a function with the text of each item as [`for_each_part`](Self::for_each_part) does.
    fn for_each_item(&self, mut take: impl FnMut(&Arc<[u8]>, usize)) {
        // There is no comma in front of the first item.
        self.items().iter().enumerate().for_each(|(index, item)| take(item.listed(), usize::from(index == 0)));
    }

    /// Writes the members around the items.
    fn write_around(&self) -> Around {
        let (mut front, mut text) = (Vec::new(), vec![b'{']);
        for (index, (name, value)) in self.members.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write(&mut text, name);
            text.push(b':');
            if self.items.is_some() && name == INPUT {
                text.push(b'[');
                front = std::mem::replace(&mut text, vec![b']']);
            } else {
                write(&mut text, value);
            }
        }
        text.push(b'}');
        Around { front: front.into(), back: text.into() }
    }

    /// Returns the body as a JSON value.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let mut members = self.members.clone();
            if let Some(items) = &self.items {
                members.insert(INPUT.to_owned(), items.iter().map(ModelItem::to_value).collect());
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
            Some(Value::Array(items)) => Some(std::mem::take(items).into_iter().map(ModelItem::from).collect()),
            _ => None,
        };
        Self::of(members, items)
    }
}

fn write(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(text, value).expect("a JSON value can be written");
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
        let items = vec![json!({"type": "message", "role": "user"}).into(), json!("odd").into()];
        let body = RequestBody::new(object(json!({"model": "m", "input": null, "store": false})), items);
        let text = r#"{"model":"m","input":[{"type":"message","role":"user"},"odd"],"store":false}"#;
        assert_eq!(std::str::from_utf8(body.text()), Ok(text));
        let pieces = body.pieces();
        let joined: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref()).copied().collect();
        assert_eq!((joined.as_slice(), pieces.len(), body.bytes()), (text.as_bytes(), 4, text.len()));
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
