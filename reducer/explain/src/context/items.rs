//! Makes items for answers.

use std::collections::HashMap;

use trace_reducer::model::{Handle, InferenceIdx, ItemIdx, Part, Symbol, ThreadIdx, ToolIdx, Trace};

use super::answer::{Item, Since};
use super::beside::WrittenItem;
use super::estimate;
use super::origin::Origins;
use super::texts::{Texts, shortened};
use crate::label::tool_name;
use crate::object::item_id;
use crate::sightings::Sightings;

/// Fewest characters of a word of the base64 alphabet that counts as ciphertext. Ciphertext is never shorter than one
/// block.
const MIN_CIPHERTEXT_BYTES: usize = 16;

/// Makes the items of one thread's answers.
pub(super) struct Items<'t> {
    trace: &'t Trace,
    origins: Origins<'t>,
    first: Vec<Option<InferenceIdx>>,
    /// Tool calls of the thread, by the id that the model gave them.
    tools: HashMap<Symbol, ToolIdx>,
    texts: Texts,
}

impl<'t> Items<'t> {
    pub(super) fn new(trace: &'t Trace, thread: ThreadIdx, texts: Texts) -> Self {
        let first = Sightings::new(trace).first(trace);
        let of_thread = trace.tools.iter().filter(|(_, call)| call.thread == thread);
        let tools = of_thread.filter_map(|(tool, call)| Some((call.model_visible_call_id?, tool))).collect();
        Self { trace, origins: Origins::new(trace, thread), first, tools, texts }
    }

    /// Returns the number of a call within its thread, from 1, and the number of the thread's calls.
    pub(super) fn number(&self, inference: InferenceIdx) -> (usize, usize) {
        (self.origins.number(inference).unwrap_or(0), self.origins.requests())
    }

    /// Makes an item with its index. `written` is what the payload adds, if that is known.
    pub(super) fn item(&self, index: usize, item: ItemIdx, written: Option<&WrittenItem>) -> Item {
        let trace = self.trace;
        let known = &trace.items[item];
        let json = written.and_then(|written| written.json.as_deref());
        let whole = whole_text(&known.parts, json);
        let (text, is_cut) = shortened(&whole, self.texts);
        let of_tool =
            known.call_id.and_then(|id| self.tools.get(&id)).map(|tool| tool_name(trace, &trace.tools[*tool]));
        let name = written.and_then(|written| written.name.clone());
        let since = self.first[item.index()].and_then(|first| {
            let call = &trace.inferences[first];
            Some(Since {
                inference_call_id: trace.text(call.id).to_owned(),
                seq: call.execution.started.seq,
                number: self.origins.number(first)?,
            })
        });
        Item {
            index,
            item_id: item_id(item),
            responses_item_id: known.responses_item_id.map(|id| trace.text(id).to_owned()),
            role: known.role.as_str(),
            channel: known.channel.map(|channel| channel.as_str()),
            kind: known.kind.as_str(),
            name: name.or(of_tool),
            call_id: known.call_id.map(|id| trace.text(id).to_owned()),
            text,
            text_bytes: whole.len() as u64,
            is_cut,
            origin: self.origins.of(item),
            since,
            tokens: estimate::of_item(&known.parts, json.map(|json| json.len() as u64)),
            share: 0.0,
        }
    }
}

/// Returns the text of an item. Content that is encrypted or only in the payload is described in brackets.
fn whole_text(parts: &[Part], json: Option<&str>) -> String {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Summary(text) => text.to_string(),
            Part::Code { source, .. } => source.to_string(),
            Part::Json { summary } => json.unwrap_or(summary).to_owned(),
            // If the provider does not encrypt messages between agents, the field contains the plain text.
            Part::Encoded { value, .. } if is_readable(value) => value.to_string(),
            Part::Encoded { label, value } => format!("[{label}, {} bytes]", value.len()),
            Part::PayloadRef { label, .. } => format!("[{label}]"),
        })
        .collect();
    texts.join("\n")
}

/// Returns whether a value that the provider calls encrypted is readable text. Ciphertext is one long word of base64
/// characters, or has control characters.
pub fn is_readable(value: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    let is_word = value.chars().all(is_base64) && value.len() >= MIN_CIPHERTEXT_BYTES;
    !is_word && !value.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_encrypted_is_shown_if_it_is_readable() {
        assert!(is_readable("look at the lamp, then\nreport"));
        assert!(is_readable("continue"));
        assert!(is_readable(&"x".repeat(MIN_CIPHERTEXT_BYTES - 1)));
        assert!(!is_readable(&"gAAAAABo-_+/".repeat(3)));
        assert!(!is_readable(&"x".repeat(MIN_CIPHERTEXT_BYTES)));
        assert!(!is_readable("a\u{1}b c"));
    }
}
