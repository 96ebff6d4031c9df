//! Ids of calls that no other call of the thread has.
//!
//! Some providers count the calls of each answer anew, and a damaged file may have one id twice. Readers of bundles refuse a call
//! whose content differs from that of an earlier call with the same id.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trace_recorder::format::import::Place;

use super::record::ResponseItem;

/// Member of an item that the Codex CLI adds. It is not part of the content.
const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";

/// A call with an id that other calls may have, too.
#[derive(Debug)]
struct Known {
    content: u64,
    /// The id that was made for the call, if an earlier one has its own id.
    made: Option<String>,
    /// Whether the output of the call is still to come.
    is_open: bool,
}

/// The calls of a thread, by the ids that the file gives them.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    calls: HashMap<String, Vec<Known>>,
}

/// What to do with the id of an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Id {
    /// It stays as it is.
    Own,
    /// An earlier call has the id, and the item takes the made one.
    Made {
        id: String,
        /// Whether this is the first item that takes the id.
        is_new: bool,
    },
}

impl CallIds {
    /// Returns the id under which a call or an output is told. Outputs belong to the first call with their id that has none yet.
    pub(super) fn id_of(&mut self, item: &ResponseItem<'_>, raw: &RawValue, place: Place) -> Id {
        let Some(call_id) = item.call_id.as_deref() else { return Id::Own };
        if item.tag.ends_with("_output") {
            let Some(call) = self.calls.get_mut(call_id).and_then(|calls| awaiting(calls)) else { return Id::Own };
            call.is_open = false;
            return call.made.clone().map_or(Id::Own, |id| Id::Made { id, is_new: false });
        }
        if !item.tag.ends_with("_call") {
            return Id::Own;
        }
        let content = content_of(item, raw);
        let calls = self.calls.entry(call_id.to_owned()).or_default();
        if let Some(call) = calls.iter_mut().find(|call| call.content == content) {
            call.is_open = true;
            return call.made.clone().map_or(Id::Own, |id| Id::Made { id, is_new: false });
        }
        // A compaction has many items in one line, so the number of the call belongs to the id.
        let number = calls.len() + 1;
        let made = (number > 1).then(|| format!("{call_id}:line_{}_{}:{number}", place.source, place.line));
        calls.push(Known { content, made: made.clone(), is_open: true });
        made.map_or(Id::Own, |id| Id::Made { id, is_new: true })
    }

    /// Returns the id of the call that a report of the runtime is about.
    pub(super) fn reported<'a>(&'a mut self, call_id: &'a str) -> &'a str {
        let call = self.calls.get_mut(call_id).and_then(|calls| awaiting(calls));
        call.and_then(|call| call.made.as_deref()).unwrap_or(call_id)
    }
}

/// Returns the first call without an output, or the last one.
fn awaiting(calls: &mut [Known]) -> Option<&mut Known> {
    let open = calls.iter().position(|call| call.is_open);
    let index = open.or(calls.len().checked_sub(1))?;
    calls.get_mut(index)
}

/// Hashes what readers of bundles compare of a call.
fn content_of(item: &ResponseItem<'_>, raw: &RawValue) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.tag.hash(&mut hasher);
    match (&*item.tag, item.arguments, item.input) {
        ("function_call", Some(arguments), _) => arguments.get().hash(&mut hasher),
        ("custom_tool_call", _, Some(input)) if input.get().starts_with('"') => {
            (input.get(), item.name.as_deref() == Some("exec")).hash(&mut hasher);
        }
        _ => {
            let mut members: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
            members.remove(PASSTHROUGH);
            Value::Object(members).to_string().hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Returns an item with another call id, or `None` if it is no JSON object.
pub(super) fn with_call_id(raw: &RawValue, id: String) -> Option<Box<RawValue>> {
    let mut members: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    members.insert("call_id".to_owned(), Value::String(id));
    serde_json::value::to_raw_value(&members).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(items: &[&str]) -> Vec<String> {
        let mut ids = CallIds::default();
        let mut id = |(line, text): (usize, &&str)| {
            let raw = RawValue::from_string((*text).to_owned()).expect("JSON");
            let item: ResponseItem<'_> = serde_json::from_str(raw.get()).expect("an item");
            match ids.id_of(&item, &raw, Place { source: 0, line: line as u32 }) {
                Id::Own => "-".to_owned(),
                Id::Made { id, is_new } => format!("{id}{}", if is_new { " new" } else { "" }),
            }
        };
        items.iter().enumerate().map(&mut id).collect()
    }

    const LIST: &str = r#"{"type":"function_call","id":"i1","call_id":"c","name":"shell","arguments":"ls"}"#;
    const LIST_AGAIN: &str = r#"{"type":"function_call","id":"i2","call_id":"c","name":"shell","arguments":"ls"}"#;
    const PRINT: &str = r#"{"type":"function_call","id":"i3","call_id":"c","name":"shell","arguments":"cat"}"#;
    const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"c","output":"x"}"#;

    #[test]
    fn an_id_belongs_to_one_content() {
        assert_eq!(ids(&[LIST, OUTPUT, PRINT, OUTPUT]), ["-", "-", "c:line_0_2:2 new", "c:line_0_2:2"]);
        assert_eq!(ids(&[LIST, LIST_AGAIN, OUTPUT]), ["-", "-", "-"]);
        let custom = r#"{"type":"custom_tool_call","call_id":"c","name":"exec","input":"ls"}"#;
        assert_eq!(ids(&[LIST, custom]), ["-", "c:line_0_1:2 new"]);
    }

    #[test]
    fn outputs_go_to_the_first_call_that_waits() {
        assert_eq!(ids(&[LIST, PRINT, OUTPUT, OUTPUT]), ["-", "c:line_0_1:2 new", "-", "c:line_0_1:2"]);
        // An output too many belongs to the last one.
        assert_eq!(ids(&[LIST, PRINT, OUTPUT, OUTPUT, OUTPUT])[4], "c:line_0_1:2");
        assert_eq!(ids(&[OUTPUT]), ["-"]);
    }

    #[test]
    fn a_call_that_is_seen_again_keeps_its_id() {
        assert_eq!(ids(&[LIST, OUTPUT, PRINT, OUTPUT, PRINT, OUTPUT])[4..], ["c:line_0_2:2", "c:line_0_2:2"]);
    }

    #[test]
    fn only_the_call_id_changes() {
        let raw = RawValue::from_string(PRINT.to_owned()).expect("JSON");
        let changed = with_call_id(&raw, "d".to_owned()).expect("an object");
        assert_eq!(changed.get(), PRINT.replace(r#""c""#, r#""d""#));
    }
}
