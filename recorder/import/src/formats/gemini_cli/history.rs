//! What the model sees next, message by message, because the log replaces and cuts it by the ids of messages.

use std::collections::HashMap;

use crate::body::{History, ItemText};

/// The messages of a history with the items that they became.
#[derive(Debug, Default)]
pub(crate) struct Held {
    messages: Vec<(String, Vec<ItemText>)>,
    items: History,
    /// The items of all messages that the thread ever had.
    by_id: HashMap<String, Vec<ItemText>>,
    /// The last item of each tool call, and that of its output with the text.
    calls: HashMap<String, ItemText>,
    outputs: HashMap<String, (ItemText, String)>,
}

impl Held {
    /// Returns the items in their order.
    pub(crate) fn items(&self) -> &History {
        &self.items
    }

    /// Adds a message at the end.
    pub(crate) fn push(&mut self, id: &str, items: Vec<ItemText>) {
        items.iter().for_each(|item| self.items.push(*item));
        self.by_id.insert(id.to_owned(), items.clone());
        self.messages.push((id.to_owned(), items));
    }

    /// Returns the items of a message that the thread has or had.
    pub(crate) fn find(&self, id: &str) -> Option<&Vec<ItemText>> {
        self.by_id.get(id)
    }

    /// Starts a new history. Messages that it had can still be found.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.items = History::default();
    }

    /// Drops the message with this id and all behind it. Returns whether there is such a message.
    pub(crate) fn rewind(&mut self, id: &str) -> bool {
        let Some(index) = self.messages.iter().position(|(known, _)| known == id) else { return false };
        self.messages.truncate(index);
        self.items = self.messages.iter().flat_map(|(_, items)| items.iter().copied()).collect();
        true
    }

    /// Keeps the item of a call.
    pub(crate) fn called(&mut self, call: &str, item: ItemText) {
        self.calls.insert(call.to_owned(), item);
    }

    /// Returns the item of a call.
    pub(crate) fn call(&self, call: &str) -> Option<ItemText> {
        self.calls.get(call).copied()
    }

    /// Keeps the item of an output.
    pub(crate) fn answered(&mut self, call: &str, item: ItemText, text: &str) {
        self.outputs.insert(call.to_owned(), (item, text.to_owned()));
    }

    /// Returns the item of an output with this text.
    pub(crate) fn output(&self, call: &str, text: &str) -> Option<ItemText> {
        self.outputs.get(call).filter(|(_, known)| known == text).map(|(item, _)| *item)
    }
}
