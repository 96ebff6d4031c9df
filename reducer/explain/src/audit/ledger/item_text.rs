//! The text of a conversation item.

use trace_reducer::model::{ItemIdx, Part};

use crate::session::Session;

/// Returns the texts of an item, one after the other.
pub fn text_of_item(session: &Session, item: ItemIdx) -> String {
    let parts = session.trace().items[item].parts.iter();
    let texts: Vec<&str> = parts
        .filter_map(|part| match part {
            Part::Text(text) => Some(&**text),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
