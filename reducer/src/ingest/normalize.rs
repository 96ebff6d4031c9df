//! Turns one model item of the Responses API into the form of the graph.
//!
//! The functions depend only on the item, so ingest runs them in parallel. Replay decides later, by the content key
//! that is made here, whether an item is new to its thread or one that was seen before.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::Xxh3;

use super::json;
use super::limits::MAX_VALUES;
use super::plain::{self, PlainItem};
use super::problem::PayloadProblem;
use crate::model::{Channel, ItemKind, Part, Role, SchemaVersion};

/// A model item in the form of the graph, before it belongs to a thread.
#[derive(Debug, Clone)]
pub struct Normalized {
    /// Author of the item.
    pub role: Role,
    /// Audience of the item.
    pub channel: Option<Channel>,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Id of the call that the item makes, or whose output it is.
    pub call_id: Option<Box<str>>,
    /// Id that the provider gave the item. Only in schema 2.
    pub responses_item_id: Option<Box<str>>,
    /// Author and recipient of a message between agents.
    pub agent_message: Option<(Box<str>, Box<str>)>,
    /// Content of the item.
    pub parts: Arc<[Part]>,
    /// Hash of everything that is compared between items. Equal items have equal keys.
    pub key: u64,
    /// Whether the item has a part that is equal to no other part, so that it cannot be recognised in another payload.
    pub unrepeatable: bool,
    /// Why the peer refuses the item; `None` if it accepts it. With a problem, the other fields hold what could be
    /// read.
    pub problem: Option<ItemProblem>,
}

/// Why the peer refuses an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ItemProblem {
    /// The item is not an object with a `type`.
    #[error("an item without a type")]
    Untyped,
    /// The type is not known.
    #[error("an item of an unknown type")]
    UnknownType,
    /// A message has no role, or an unknown one.
    #[error("a message without a known role")]
    BadRole,
    /// A reasoning item has parts of an unknown form.
    #[error("a reasoning item of an unknown form")]
    BadReasoning,
    /// A reasoning item has nothing in it.
    #[error("a reasoning item with nothing in it")]
    EmptyReasoning,
    /// A compaction item has no text.
    #[error("a compaction item without text")]
    CompactionWithoutText,
    /// A message between agents has no author, no recipient or parts of an unknown form.
    #[error("a message between agents of an unknown form")]
    BadAgentMessage,
    /// In schema 1, the item's JSON would be cut inside a character.
    #[error("an item whose JSON would be cut inside a character")]
    CutInsideCharacter,
    /// The arguments of a call have too many values, as [`MAX_VALUES`] limits them.
    #[error("a call whose arguments have too many JSON values (limit {MAX_VALUES})")]
    TooManyValues,
}

/// A member that the client adds to items that it sends back. It is not part of the item.
const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";

/// Types of the entries of a message that are texts.
const TEXT_TAGS: [&str; 3] = ["input_text", "output_text", "text"];

/// Types of the entries of a thought.
const THOUGHT_TAGS: [&str; 2] = ["reasoning_text", "text"];

/// Type of the entries of a thought's summary.
const SUMMARY_TAG: &str = "summary_text";

/// Label of a text that only the provider reads.
const ENCRYPTED: &str = "encrypted_content";

/// Depth of the items in a payload: they are in an array that is a member of the top-level object.
const ITEM_DEPTH: usize = 2;

/// Reads one of the items in a payload. Returns `None` if the item has no place in a conversation.
pub(crate) fn read_item(text: &[u8], schema: SchemaVersion) -> Result<Option<Normalized>, PayloadProblem> {
    if let Some(normalized) = PlainItem::read(text, schema).and_then(|item| normalize_plain(&item)) {
        return Ok(Some(normalized));
    }
    if json::too_deep(text, ITEM_DEPTH) {
        return Err(PayloadProblem::TooDeep);
    }
    Ok(normalize(&json::parse(text)?, schema))
}

/// Normalizes an item of a usual form. Returns `None` if it is not one, and [`normalize`] must read it.
fn normalize_plain(item: &PlainItem<'_>) -> Option<Normalized> {
    let mut draft = Draft::default();
    let commentary = Some(Channel::Commentary);
    // Members that do not belong to the type must be valid, too.
    let expected = match item.tag.as_str() {
        "reasoning" => item.member_count(),
        _ => 1,
    };
    if item.member_count() != expected {
        return None;
    }
    match item.tag.as_str() {
        "message" => {
            draft.be(role(item.role.as_deref())?, channel(item.phase.as_deref()), ItemKind::Message);
            draft.parts.extend(plain::texts(item.content?, &TEXT_TAGS)?.into_iter().map(Part::Text));
        }
        "reasoning" if item.output.is_none() && item.arguments.is_none() => {
            draft.be(Role::Assistant, Some(Channel::Analysis), ItemKind::Reasoning);
            if let Some(content) = item.content {
                draft.parts.extend(plain::texts(content, &THOUGHT_TAGS)?.into_iter().map(Part::Text));
            }
            if let Some(summary) = item.summary {
                draft.parts.extend(plain::texts(summary, &[SUMMARY_TAG])?.into_iter().map(Part::Summary));
            }
            if let Some(encrypted) = item.encrypted_content {
                draft.parts.push(Part::Encoded { label: ENCRYPTED, value: plain::string(encrypted)? });
            }
            if draft.parts.is_empty() {
                return None;
            }
        }
        "function_call" => {
            draft.be(Role::Assistant, commentary, ItemKind::FunctionCall);
            let arguments = plain::string(item.arguments?)?;
            let summary = if plain::is_compact(&arguments) {
                json::summary_of_compact(&arguments).0
            } else {
                json::summary(&json::parse(arguments.as_bytes()).ok()?).0
            };
            draft.parts.push(Part::Json { summary });
        }
        "function_call_output" => {
            draft.be(Role::Tool, commentary, ItemKind::FunctionCallOutput);
            draft.parts.push(Part::Text(plain::string(item.output?)?));
        }
        _ => return None,
    }
    if matches!(draft.kind, ItemKind::FunctionCall | ItemKind::FunctionCallOutput) {
        draft.call_id = item.call_id.as_deref().map(Into::into);
    }
    Some(draft.finish(item.id.as_deref().map(Into::into), None))
}

/// Normalizes one item. Returns `None` if the item has no place in a conversation.
pub(crate) fn normalize(item: &Value, schema: SchemaVersion) -> Option<Normalized> {
    let mut draft = Draft::default();
    let mut problem = draft.read(item, schema);
    if schema < SchemaVersion::V2 && draft.is_cut_inside_character {
        problem = problem.or(Some(ItemProblem::CutInsideCharacter));
    }
    if draft.skipped {
        return None;
    }
    if let Some(problem) = problem {
        draft.salvage(item, problem);
    }
    let with_ids = schema >= SchemaVersion::V2;
    let responses_item_id = item.get("id").and_then(Value::as_str).filter(|_| with_ids).map(Into::into);
    Some(draft.finish(responses_item_id, problem))
}

fn role(name: Option<&str>) -> Option<Role> {
    match name {
        Some("system") => Some(Role::System),
        Some("developer") => Some(Role::Developer),
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        Some("tool") => Some(Role::Tool),
        _ => None,
    }
}

/// Returns the audience of a message by its phase.
fn channel(phase: Option<&str>) -> Option<Channel> {
    match phase? {
        "commentary" => Some(Channel::Commentary),
        "final_answer" => Some(Channel::Final),
        "summary" => Some(Channel::Summary),
        _ => None,
    }
}

struct Draft {
    role: Role,
    channel: Option<Channel>,
    kind: ItemKind,
    call_id: Option<Box<str>>,
    agent_message: Option<(Box<str>, Box<str>)>,
    parts: Vec<Part>,
    skipped: bool,
    is_cut_inside_character: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            role: Role::System,
            channel: None,
            kind: ItemKind::Message,
            call_id: None,
            agent_message: None,
            parts: Vec::new(),
            skipped: false,
            is_cut_inside_character: false,
        }
    }
}

impl Draft {
    fn be(&mut self, role: Role, channel: Option<Channel>, kind: ItemKind) {
        (self.role, self.channel, self.kind) = (role, channel, kind);
    }

    fn read(&mut self, item: &Value, schema: SchemaVersion) -> Option<ItemProblem> {
        let Some(object) = item.as_object() else { return Some(ItemProblem::Untyped) };
        let Some(tag) = object.get("type").and_then(Value::as_str) else { return Some(ItemProblem::Untyped) };
        let commentary = Some(Channel::Commentary);
        match tag {
            "message" => {
                let Some(role) = role(object.get("role").and_then(Value::as_str)) else {
                    return Some(ItemProblem::BadRole);
                };
                self.be(role, channel(object.get("phase").and_then(Value::as_str)), ItemKind::Message);
                self.parts = content_parts(object.get("content"), schema);
                return None;
            }
            "reasoning" => {
                self.be(Role::Assistant, Some(Channel::Analysis), ItemKind::Reasoning);
                return self.read_reasoning(object);
            }
            "compaction" | "compaction_summary" | "context_compaction" => {
                self.be(Role::Assistant, Some(Channel::Summary), ItemKind::Message);
                let Some(text) = object.get("encrypted_content").and_then(Value::as_str) else {
                    return Some(ItemProblem::CompactionWithoutText);
                };
                self.parts.push(encrypted(text));
                return None;
            }
            "agent_message" => {
                self.be(Role::Assistant, Some(Channel::Analysis), ItemKind::Message);
                return self.read_agent_message(object);
            }
            "additional_tools" => {
                self.skipped = true;
                return None;
            }
            _ => {}
        }
        self.call_id = object.get("call_id").and_then(Value::as_str).map(Into::into);
        match tag {
            "function_call" => {
                self.be(Role::Assistant, commentary, ItemKind::FunctionCall);
                let part = match object.get("arguments") {
                    None => payload_ref("payload"),
                    Some(Value::String(text)) => match json::parse(text.as_bytes()) {
                        Ok(value) => self.json_part(&value),
                        Err(PayloadProblem::TooManyValues) => {
                            self.parts.push(text_part(text));
                            return Some(ItemProblem::TooManyValues);
                        }
                        Err(_) => text_part(text),
                    },
                    Some(value) => self.json_part(value),
                };
                self.parts.push(part);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let kind = if tag == "function_call_output" {
                    ItemKind::FunctionCallOutput
                } else {
                    ItemKind::CustomToolCallOutput
                };
                self.be(Role::Tool, commentary, kind);
                self.parts = match object.get("output") {
                    None => vec![payload_ref("tool_output")],
                    Some(Value::String(text)) => vec![text_part(text)],
                    Some(content @ Value::Array(_)) => content_parts(Some(content), schema),
                    Some(value) => vec![self.json_part(value)],
                };
            }
            "custom_tool_call" => {
                self.be(Role::Assistant, commentary, ItemKind::CustomToolCall);
                let is_exec = object.get("name").and_then(Value::as_str) == Some("exec");
                let part = match object.get("input").and_then(Value::as_str) {
                    Some(source) if is_exec => Part::Code { language: "javascript", source: source.into() },
                    Some(text) => text_part(text),
                    None => self.item_part(object),
                };
                self.parts.push(part);
            }
            "tool_search_call" | "web_search_call" | "image_generation_call" | "local_shell_call" => {
                self.be(Role::Assistant, commentary, ItemKind::FunctionCall);
                let part = self.item_part(object);
                self.parts.push(part);
            }
            "tool_search_output" | "mcp_tool_call_output" => {
                self.be(Role::Tool, commentary, ItemKind::FunctionCallOutput);
                let part = self.item_part(object);
                self.parts.push(part);
            }
            _ => return Some(ItemProblem::UnknownType),
        }
        None
    }

    /// Reads the content, the summary and the encrypted text of a reasoning item, in this order.
    fn read_reasoning(&mut self, object: &Map<String, Value>) -> Option<ItemProblem> {
        let mut problem = None;
        let mut read = |entries: Option<&Value>, tags: &[&str], null_is_absent: bool, part: fn(&str) -> Part| {
            let entries = match entries {
                None => return,
                Some(Value::Null) if null_is_absent => return,
                Some(Value::Array(entries)) => entries,
                Some(_) => {
                    problem = Some(ItemProblem::BadReasoning);
                    return;
                }
            };
            for entry in entries {
                let tagged = entry.get("type").and_then(Value::as_str).is_some_and(|tag| tags.contains(&tag));
                match entry.get("text").and_then(Value::as_str).filter(|_| tagged) {
                    Some(text) => self.parts.push(part(text)),
                    None => problem = Some(ItemProblem::BadReasoning),
                }
            }
        };
        read(object.get("content"), &THOUGHT_TAGS, true, text_part);
        read(object.get("summary"), &[SUMMARY_TAG], false, |text| Part::Summary(text.into()));
        match object.get("encrypted_content") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.parts.push(encrypted(text)),
            Some(_) => problem = Some(ItemProblem::BadReasoning),
        }
        problem.or_else(|| self.parts.is_empty().then_some(ItemProblem::EmptyReasoning))
    }

    fn read_agent_message(&mut self, object: &Map<String, Value>) -> Option<ItemProblem> {
        let text = |name| object.get(name).and_then(Value::as_str);
        if let (Some(author), Some(recipient)) = (text("author"), text("recipient")) {
            self.agent_message = Some((author.into(), recipient.into()));
        }
        let has_good_id = object.get("id").is_none_or(|id| id.is_string() || id.is_null());
        let mut good = self.agent_message.is_some() && has_good_id;
        for entry in object.get("content").and_then(Value::as_array).into_iter().flatten() {
            let field = |name| entry.get(name).and_then(Value::as_str);
            // The peer's decoder also accepts a part as an array of type and text.
            if let Some([Value::String(tag), Value::String(text)]) = entry.as_array().map(Vec::as_slice) {
                match tag.as_str() {
                    "input_text" => self.parts.push(text_part(text)),
                    "encrypted_content" => self.parts.push(encrypted(text)),
                    _ => good = false,
                }
                continue;
            }
            match (field("type"), field("text"), field("encrypted_content")) {
                (Some("input_text"), Some(text), _) => self.parts.push(text_part(text)),
                (Some("encrypted_content"), _, Some(text)) => self.parts.push(encrypted(text)),
                _ => good = false,
            }
        }
        (!good || self.parts.is_empty()).then_some(ItemProblem::BadAgentMessage)
    }

    /// Fills in what can be recovered of an item that the peer refuses.
    fn salvage(&mut self, item: &Value, problem: ItemProblem) {
        if problem == ItemProblem::UnknownType {
            let tag = item.get("type").and_then(Value::as_str).unwrap_or_default();
            let commentary = Some(Channel::Commentary);
            if tag.ends_with("_output") {
                self.be(Role::Tool, commentary, ItemKind::FunctionCallOutput);
            } else if tag.ends_with("_call") {
                self.be(Role::Assistant, commentary, ItemKind::FunctionCall);
            }
        }
        if self.parts.is_empty() {
            let part = self.json_part(item);
            self.parts.push(part);
        }
    }

    fn json_part(&mut self, value: &impl Serialize) -> Part {
        let (summary, is_cut_inside_character) = json::summary(value);
        self.is_cut_inside_character |= is_cut_inside_character;
        Part::Json { summary }
    }

    /// Returns a JSON part that holds the whole item.
    fn item_part(&mut self, object: &Map<String, Value>) -> Part {
        self.json_part(&WithoutPassthrough(object))
    }

    fn finish(self, responses_item_id: Option<Box<str>>, problem: Option<ItemProblem>) -> Normalized {
        let key = self.key();
        Normalized {
            role: self.role,
            channel: self.channel,
            kind: self.kind,
            call_id: self.call_id,
            responses_item_id,
            agent_message: self.agent_message,
            unrepeatable: self.parts.iter().any(|part| matches!(part, Part::PayloadRef { content_sha256: None, .. })),
            parts: self.parts.into(),
            key,
            problem,
        }
    }

    fn key(&self) -> u64 {
        let mut hasher = Xxh3::new();
        (self.role, self.channel, self.kind, &self.call_id, &self.agent_message).hash(&mut hasher);
        let encoded = self.parts.iter().find_map(|part| match part {
            Part::Encoded { label, value } => Some((label, value)),
            _ => None,
        });
        match encoded {
            // A reasoning item is recognised by its encrypted text only, because its readable text is not in every
            // sighting.
            Some(encoded) if self.kind == ItemKind::Reasoning => encoded.hash(&mut hasher),
            _ => hash_parts(&self.parts, &mut hasher),
        }
        hasher.finish()
    }
}

/// Serializes an item as the provider sent it.
struct WithoutPassthrough<'a>(&'a Map<String, Value>);

impl Serialize for WithoutPassthrough<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().filter(|(name, _)| *name != PASSTHROUGH))
    }
}

/// Returns the content key of an item with these parts. Not for reasoning items.
pub(crate) fn key_with_parts(
    role: Role,
    channel: Option<Channel>,
    kind: ItemKind,
    agent_message: Option<(&str, &str)>,
    parts: &[Part],
) -> u64 {
    let agent_message = agent_message.map(|(author, recipient)| (author.into(), recipient.into()));
    let draft = Draft { role, channel, kind, call_id: None, agent_message, parts: parts.to_vec(), ..Draft::default() };
    draft.key()
}

fn hash_parts(parts: &[Part], hasher: &mut Xxh3) {
    parts.len().hash(hasher);
    for part in parts {
        std::mem::discriminant(part).hash(hasher);
        match part {
            Part::Text(text) | Part::Summary(text) | Part::Json { summary: text } => text.hash(hasher),
            Part::Encoded { label, value } => (label, value).hash(hasher),
            Part::Code { language, source } => (language, source).hash(hasher),
            Part::PayloadRef { label, content_sha256 } => (label, content_sha256).hash(hasher),
        }
    }
}

fn content_parts(content: Option<&Value>, schema: SchemaVersion) -> Vec<Part> {
    let Some(Value::Array(entries)) = content else { return vec![payload_ref("content")] };
    let hashed = schema >= SchemaVersion::V2;
    let mut parts = Vec::with_capacity(entries.len());
    for entry in entries {
        let tag = entry.get("type").and_then(Value::as_str);
        let label = match tag {
            Some(tag) if TEXT_TAGS.contains(&tag) => {
                if let Some(text) = entry.get("text").and_then(Value::as_str) {
                    parts.push(text_part(text));
                }
                continue;
            }
            Some(tag) => tag,
            None => "content",
        };
        let content_sha256 = hashed.then(|| content_hash(entry));
        parts.push(Part::PayloadRef { label: label.into(), content_sha256 });
    }
    if parts.is_empty() && !hashed {
        parts.push(payload_ref("empty_content"));
    }
    parts
}

fn content_hash(entry: &Value) -> Box<str> {
    let digest = Sha256::digest(json::sorted(entry).to_string());
    let mut text = String::with_capacity(64);
    for byte in digest {
        text.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
        text.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
    }
    text.into()
}

fn text_part(text: &str) -> Part {
    Part::Text(text.into())
}

fn encrypted(text: &str) -> Part {
    Part::Encoded { label: ENCRYPTED, value: text.into() }
}

fn payload_ref(label: &str) -> Part {
    Part::PayloadRef { label: label.into(), content_sha256: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Option<Normalized> {
        normalize(&serde_json::from_str(text).expect("JSON"), SchemaVersion::V2)
    }

    fn describe(text: &str) -> String {
        let Some(item) = item(text) else { return "skipped".to_owned() };
        let problem = item.problem.map(|problem| format!(" ({problem})")).unwrap_or_default();
        let channel = item.channel.map_or("-", Channel::as_str);
        format!("{}/{channel}/{} {:?}{problem}", item.role.as_str(), item.kind.as_str(), item.parts)
    }

    #[test]
    fn items_of_every_family() {
        let table: Vec<String> = [
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","u":1}]}"#,
            r#"{"type":"message","role":"assistant","phase":"final_answer","content":[]}"#,
            r#"{"type":"message","role":"robot","content":"x"}"#,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":null,"encrypted_content":"e"}"#,
            r#"{"type":"reasoning","summary":null}"#,
            r#"{"type":"function_call","call_id":"c","arguments":"{\"a\" : 1.50}"}"#,
            r#"{"type":"function_call","call_id":"c","arguments":"not json"}"#,
            r#"{"type":"function_call_output","call_id":"c","output":{"x":null}}"#,
            r#"{"type":"custom_tool_call","name":"exec","input":"1+1"}"#,
            r#"{"type":"web_search_call","action":1}"#,
            r#"{"type":"compaction","encrypted_content":"z"}"#,
            r#"{"type":"agent_message","author":"/root","recipient":"/root/a","content":[{"type":"input_text","text":"t"}]}"#,
            r#"{"type":"additional_tools"}"#,
            r#"{"type":"teleport_call","x":1}"#,
            "3",
        ]
        .into_iter()
        .map(describe)
        .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn usual_forms_are_read_alike_in_both_ways() {
        let plain = [
            r#"{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"a\nb"}]}"#,
            r#"{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"\u00e9"},{"text":"t","type":"text"}]}"#,
            r#"{"type":"message","role":"user","content":[]}"#,
            r#"{"type":"function_call","id":"f","name":"n","arguments":"{\"a\" : 1.50, \"b\":-0}","call_id":"c"}"#,
            r#"{"type":"function_call","id":"f","name":"n","arguments":"{\"a\":1,\"b\":\"x\"}","call_id":"c"}"#,
            &format!(r#"{{"type":"function_call","arguments":"{{\"a\":\"{}\"}}"}}"#, "é".repeat(140)),
            &format!(r#"{{"type":"function_call","arguments":"{{\"a\":\"x{}\"}}"}}"#, "é".repeat(140)),
            &format!(r#"{{"type":"function_call","arguments":"{{\"a\":\"{}\"}}"}}"#, "x".repeat(232)),
            r#"{"type":"function_call_output","id":null,"call_id":"c","output":"x\\y"}"#,
            r#"{"type":"function_call_output","call_id":null,"output":""}"#,
            r#"{"type":"reasoning","id":"r","call_id":"c","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"text","text":"t"}],"encrypted_content":"e"}"#,
            r#"{"type":"reasoning","summary":[],"encrypted_content":"e"}"#,
        ];
        let others = [
            r#"{"type":"message","role":"user","content":"x"}"#,
            r#"{"type":"message","role":"user"}"#,
            r#"{"type":"message","role":"robot","content":[]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a","annotations":[]}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_image","text":"a"}]}"#,
            r#"{"type":"message","role":"user","role":"tool","content":[]}"#,
            r#"{"type":"message","role":"user","content":[["input_text","a"]]}"#,
            r#"["message","m",null,"user",null,null,[]]"#,
            r#"{"type":"function_call","call_id":"c","arguments":"not json"}"#,
            r#"{"type":"function_call","call_id":"c","arguments":{}}"#,
            r#"{"type":"function_call","call_id":7,"arguments":"1"}"#,
            r#"{"type":"function_call","call_id":"c"}"#,
            r#"{"type":"function_call_output","call_id":"c","output":null}"#,
            r#"{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}"#,
            r#"{"type":"function_call_output","call_id":"c","status":"completed","output":"x"}"#,
            r#"{"type":"function_call_output","call_id":"c","output":"x","content":"\ud800"}"#,
            r#"{"type":"reasoning","summary":[]}"#,
            r#"{"type":"reasoning","summary":null,"encrypted_content":"e"}"#,
            r#"{"type":"reasoning","summary":[{"type":"text","text":"s"}],"encrypted_content":"e"}"#,
            "[]",
        ];
        let read =
            |text: &str| PlainItem::read(text.as_bytes(), SchemaVersion::V2).and_then(|item| normalize_plain(&item));
        for text in plain {
            let (short, long) = (read(text).expect(text), item(text).expect(text));
            assert_eq!(format!("{short:?}"), format!("{long:?}"), "{text}");
        }
        for text in others {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn arguments_have_a_limited_number_of_values() {
        let call =
            |values: usize| format!(r#"{{"type":"function_call","arguments":"[{}0]"}}"#, "0,".repeat(values - 1));
        assert!(describe(&call(MAX_VALUES - 1)).ends_with("...\" }]"));
        let too_many = item(&call(MAX_VALUES)).expect("an item");
        assert_eq!(too_many.problem, Some(ItemProblem::TooManyValues));
        assert!(matches!(&*too_many.parts, [Part::Text(text)] if text.len() > MAX_VALUES));
    }

    #[test]
    fn equal_items_have_equal_keys() {
        let key = |text| item(text).expect("an item").key;
        assert_eq!(
            key(r#"{"type":"function_call","id":"1","call_id":"c","name":"f","arguments":"{\"a\":1}"}"#),
            key(r#"{"type":"function_call","id":"2","call_id":"c","name":"g","arguments":"{ \"a\": 1 }"}"#),
        );
        assert_eq!(
            key(r#"{"type":"reasoning","summary":[],"encrypted_content":"e"}"#),
            key(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"}"#),
        );
        assert_ne!(
            key(r#"{"type":"reasoning","summary":[],"encrypted_content":"e"}"#),
            key(r#"{"type":"reasoning","summary":[],"encrypted_content":"f"}"#),
        );
    }
}
