//! Replaces the strings of a bundle by attacks.
//!
//! Equal strings are replaced by equal ones and different strings by different ones, so that references stay valid. Some
//! values are not replaced: names of the format's own members, values to which the format gives a meaning (`"status":
//! "failed"`), ids of threads that a tool names as its target, which must be UUIDs, and numbers.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};

use super::attacks::{IN_NAMES, IN_TEXTS, WHOLE_IDS};

/// Members to whose values the format gives a meaning.
const MEANINGFUL: [&str; 16] = [
    "type",
    "event_type",
    "status",
    "role",
    "kind",
    "phase",
    "reason",
    "source",
    "fork_turns",
    "session_source",
    "codex_error_info",
    "raw_event_log",
    "payloads_dir",
    "thread_source",
    "include",
    "effort",
];

/// Members whose keys come from the session instead of the format.
const FREE_KEYS: [&str; 2] = ["changes", "properties"];

/// Members that have the path of an agent.
const AGENT_PATHS: [&str; 6] =
    ["agent_path", "agent_name", "author", "recipient", "child_agent_path", "initiating_agent_path"];

/// Longest string without whitespace that is replaced by a name.
const LONGEST_NAME_BYTES: usize = 120;

/// One in this many payload references gets an unknown kind.
const KNOWN_KINDS_PER_UNKNOWN: usize = 20;

/// Name of the tool that runs code.
const CODE_TOOL: &str = "exec";

/// Replaces the strings of the bundle at `path` by attacks. The threads `kept` keep their ids. The ids in `whole` are
/// replaced by [`WHOLE_IDS`], in this order.
///
/// # Errors
///
/// Returns an I/O error if something cannot be read, is not JSON, or cannot be written.
pub(super) fn poison(path: &Path, kept: &[String], whole: &[String]) -> io::Result<()> {
    let whole = whole.iter().cloned().zip(WHOLE_IDS).collect();
    let poison = Poison { kept, whole };
    let manifest = path.join(MANIFEST_FILE);
    let mut value: Value = serde_json::from_slice(&fs::read(&manifest)?)?;
    poison.value("", &mut value);
    fs::write(&manifest, serde_json::to_string_pretty(&value)? + "\n")?;

    let log = path.join(EVENT_LOG_FILE);
    let mut lines = String::new();
    for line in fs::read_to_string(&log)?.lines() {
        let mut event: Value = serde_json::from_str(line)?;
        poison.value("", &mut event);
        lines.push_str(&event.to_string());
        lines.push('\n');
    }
    fs::write(&log, lines)?;

    for entry in fs::read_dir(path.join(PAYLOADS_DIR))? {
        let file = entry?.path();
        let mut payload: Value = serde_json::from_slice(&fs::read(&file)?)?;
        poison.value("", &mut payload);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let renamed = file.with_file_name(poison.file(&name));
        fs::write(&file, serde_json::to_string_pretty(&payload)?)?;
        fs::rename(&file, renamed)?;
    }
    Ok(())
}

struct Poison<'a> {
    kept: &'a [String],
    whole: BTreeMap<String, &'static str>,
}

impl Poison<'_> {
    /// Replaces the strings in the value of the member `key`.
    fn value(&self, key: &str, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(key, text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(key, value)),
            Value::Object(members) => self.object(key, members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&self, key: &str, members: &mut Map<String, Value>) {
        let reference = members.get("raw_payload_id").and_then(Value::as_str).map(str::to_owned);
        let is_reference = reference.is_some();
        // The reducer reports every unknown kind, so a few suffice.
        let is_kind_unknown = reference.is_some_and(|id| index(&id, KNOWN_KINDS_PER_UNKNOWN) == 0);
        // The path of an agent that a tool acts on must remain valid.
        let is_activity = members.contains_key("agent_thread_id");
        for (member, value) in members.iter_mut() {
            match (member.as_str(), value) {
                ("kind", kind) if is_reference => {
                    if let Some(Value::String(tag)) = kind.get_mut("type").filter(|_| is_kind_unknown) {
                        *tag = self.name(tag);
                    }
                }
                ("path", Value::String(path)) if is_reference => {
                    let file = path.strip_prefix("payloads/").unwrap_or(path);
                    *path = format!("{PAYLOADS_DIR}/{}", self.file(file));
                }
                ("agent_path", _) if is_activity => {}
                ("name" | "tool_name", Value::String(name)) if name == CODE_TOOL => {}
                // `task_name` is the path of an agent in results, and only the last segment of a path in arguments.
                ("task_name", Value::String(path)) if path.starts_with('/') => *path = self.path(path),
                (member, value) => self.value(member, value),
            }
        }
        if FREE_KEYS.contains(&key) {
            let renamed = std::mem::take(members).into_iter().map(|(name, value)| (self.text("", &name), value));
            *members = renamed.collect();
        }
    }

    fn text(&self, key: &str, text: &str) -> String {
        if MEANINGFUL.contains(&key) || self.kept.iter().any(|kept| kept == text) {
            return text.to_owned();
        }
        if let Some(id) = self.whole.get(text) {
            return (*id).to_owned();
        }
        if AGENT_PATHS.contains(&key) {
            return self.path(text);
        }
        if text.starts_with(['{', '['])
            && let Ok(mut value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            // The members of this JSON belong to the tool, so the meaning of `key` does not apply to them.
            self.value("", &mut value);
            return value.to_string();
        }
        match text.len() <= LONGEST_NAME_BYTES && !text.contains(char::is_whitespace) {
            true => self.name(text),
            false => format!("{text}\n{}\n{}", IN_TEXTS[index(text, IN_TEXTS.len())], IN_TEXTS[0]),
        }
    }

    fn name(&self, name: &str) -> String {
        match name {
            "" => String::new(),
            _ => format!("{name}{}", IN_NAMES[index(name, IN_NAMES.len())]),
        }
    }

    /// Replaces each segment of the path of an agent.
    fn path(&self, path: &str) -> String {
        path.split('/').map(|segment| self.name(segment)).collect::<Vec<_>>().join("/")
    }

    fn file(&self, file: &str) -> String {
        let stem = file.strip_suffix(".json").unwrap_or(file);
        format!("{}.json", self.name(stem))
    }
}

/// Returns a number below `count` that depends on the bytes of a text (FNV-1a).
fn index(text: &str, count: usize) -> usize {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    usize::try_from(hash % count as u64).unwrap_or_default()
}
