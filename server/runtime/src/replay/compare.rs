//! Compares a live request with the recorded one.
//!
//! Values that differ every time count as equal: ids of items, UUIDs, durations of commands, the date, and the working
//! folder if the replay uses another one. For a session that another program recorded only the conversation is compared,
//! because that program gives its agents other instructions.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::session::ROOT;
use super::user_messages;
use crate::tool::ToolInput;

/// Most bytes of a diff that are kept.
pub const DIFF_BYTES_MAX: usize = 64 << 10;

/// Most bytes of each side that are compared for a diff, starting shortly before the first difference.
pub const DIFF_INPUT_BYTES_MAX: usize = 256 << 10;

/// Most lines of each side that are compared for a diff. The time grows with its square.
pub const DIFF_INPUT_LINES_MAX: usize = 2000;

/// Number of equal lines shown before a difference.
const CONTEXT_LINES: usize = 3;

/// Members of a request that are compared separately or not at all.
const UNSAID: [&str; 8] =
    ["input", "tools", "instructions", "prompt_cache_key", "client_metadata", "store", "stream", "include"];

/// Tools whose texts differ from program to program.
const AGENT_TOOLS: [&str; 10] = [
    "spawn_agent",
    "send_message",
    "followup_task",
    "wait_agent",
    "interrupt_agent",
    "list_agents",
    "assign_task",
    "close_agent",
    "resume_agent",
    "send_input",
];

/// What counts as equal.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// Whether only the conversation is compared.
    pub(super) only_conversation: bool,
    /// The recorded and the live working folder, if they differ.
    pub(super) folders: Option<Folders>,
}

/// The recorded and the live working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folders {
    pub(super) then: String,
    pub(super) now: String,
}

/// Where two requests first differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) place: String,
    pub(super) diff: String,
}

impl Rules {
    /// Returns where two requests of an agent first differ. Only tools that every session has are compared.
    pub(super) fn difference(
        &self,
        agent: &str,
        recorded: &Value,
        live: &Value,
        counts: impl Fn(&Value) -> bool,
    ) -> Option<Difference> {
        let (then, now) = (self.items(agent, recorded), self.items(agent, live));
        for number in 0..then.len().max(now.len()) {
            let pair = (then.get(number), now.get(number));
            let (index, difference) = match pair {
                (Some((at, then)), Some((_, now))) => (*at, self.unlike(then, now)),
                (Some((at, then)), None) => (*at, self.unlike(then, &Value::Null)),
                (None, Some((at, now))) => (*at, self.unlike(&Value::Null, now)),
                (None, None) => break,
            };
            if let Some(diff) = difference {
                return Some(Difference { place: format!("input[{index}]"), diff });
            }
        }
        if self.only_conversation {
            return None;
        }
        let member = |body: &Value, name: &str| body.get(name).cloned().unwrap_or_default();
        if let Some(diff) = self.unlike(&member(recorded, "instructions"), &member(live, "instructions")) {
            return Some(Difference { place: "instructions".to_owned(), diff });
        }
        let offered = |body| list(body, "tools").iter().filter(|tool| counts(tool)).cloned().collect::<Vec<_>>();
        let (then, now) = (offered(recorded), offered(live));
        for index in 0..then.len().max(now.len()) {
            let tool = |tools: &[Value]| tools.get(index).cloned().unwrap_or_default();
            if let Some(diff) = self.unlike(&tool(&then), &tool(&now)) {
                return Some(Difference { place: format!("tools[{index}]"), diff });
            }
        }
        let rest = |body: &Value| {
            let said = body.as_object().into_iter().flatten().filter(|(name, _)| !UNSAID.contains(&name.as_str()));
            let mut said: Vec<_> = said.map(|(name, value)| (name.clone(), value.clone())).collect();
            said.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(said.into_iter().collect())
        };
        let diff = self.unlike(&rest(recorded), &rest(live))?;
        Some(Difference { place: "request".to_owned(), diff })
    }

    /// Returns how the input of a call differs from the recorded one. `None` if it does not.
    pub(super) fn input_difference(&self, recorded: &str, live: &ToolInput) -> Option<String> {
        let (ToolInput::Arguments(live) | ToolInput::Text(live)) = live;
        let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        self.unlike(&read(recorded), &read(live))
    }

    /// Returns the items that are compared, with their indexes.
    fn items(&self, agent: &str, body: &Value) -> Vec<(usize, Value)> {
        let items = list(body, "input");
        // What an agent inherits from its parent, except for messages of the user, depends on the program.
        let is_first_task = |item: &Value| item.get("recipient").is_some_and(|recipient| recipient == agent);
        let own = if agent == ROOT { 0 } else { items.iter().position(is_first_task).unwrap_or_default() };
        let counts = |(at, item): &(usize, &Value)| {
            !self.only_conversation
                || (user_messages::is_said(item)
                    && !is_note_of_call(item)
                    && (*at >= own || user_messages::is_by_user(item)))
        };
        let items = items.iter().enumerate().filter(counts);
        if !self.only_conversation {
            return items.map(|(at, item)| (at, without_id(item))).collect();
        }
        let own_words: Vec<&str> = list(body, "input").iter().filter_map(call_of_agents).collect();
        let mut items: Vec<_> = items.map(|(at, item)| (at, essence(item, &own_words))).collect();
        // Whether a request has first what the user said or first what agents said depends on the program, too.
        let is_agents = |(_, item): &(usize, Value)| item.get("type").is_some_and(|kind| kind == "agent_message");
        let came = |item: &(usize, Value)| is_agents(item) || item.1.get("role").is_some_and(|role| role == "user");
        for came in items.chunk_by_mut(|one, next| came(one) && came(next)) {
            came.sort_by_key(is_agents);
        }
        items
    }

    /// Returns a diff of two values. `None` if they are equal.
    fn unlike(&self, recorded: &Value, live: &Value) -> Option<String> {
        if recorded == live {
            return None;
        }
        let (then, now) = (self.plain(recorded), self.plain(live));
        (then != now).then(|| diff(&then, &now))
    }

    fn plain(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.plain_text(text)),
            Value::Array(values) => values.iter().map(|value| self.plain(value)).collect(),
            Value::Object(members) => {
                let plain = members.iter().filter(|(_, value)| !value.is_null());
                // The order of members has no meaning.
                let mut plain: Vec<_> = plain.map(|(name, value)| (name.clone(), self.plain(value))).collect();
                plain.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(plain.into_iter().collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn plain_text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        if let Some(Folders { then, now }) = &self.folders {
            // Both folders are replaced on both sides, because recorded texts become part of the live session. The longer
            // path goes first, because it may contain the shorter one.
            let (long, short) = if then.len() > now.len() { (then, now) } else { (now, then) };
            text = Cow::Owned(without_folder(&without_folder(&text, long), short));
        }
        let text = without_uuids(&text);
        let lines: Vec<Cow<'_, str>> = text.split('\n').map(plain_line).collect();
        lines.join("\n")
    }
}

fn list<'a>(body: &'a Value, name: &str) -> &'a [Value] {
    body.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn without_id(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(members) = item.as_object_mut() {
        members.shift_remove("id");
    }
    item
}

fn call_of_agents(item: &Value) -> Option<&str> {
    let name = item.get("name")?.as_str()?;
    AGENT_TOOLS.contains(&name).then(|| item.get("call_id")?.as_str())?
}

/// Returns the content of an item without what depends on the program that wrote it.
fn essence(item: &Value, own_words: &[&str]) -> Value {
    let member = |name: &str| item.get(name).cloned().unwrap_or_default();
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "message" => json!({ "type": kind, "role": member("role"), "texts": user_messages::texts(item) }),
        "function_call" | "custom_tool_call" => {
            json!({ "type": kind, "name": member("name"), "arguments": member("arguments"), "input": member("input") })
        }
        "function_call_output" | "custom_tool_call_output" => {
            let call = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
            let output = member("output");
            let is_own = own_words.contains(&call) || output.as_str().is_some_and(is_aborted);
            json!({ "type": kind, "output": if is_own { Value::Null } else { without_empty_texts(output) } })
        }
        "agent_message" => json!({ "type": kind, "author": member("author"), "recipient": member("recipient") }),
        _ => json!({ "type": kind }),
    }
}

/// Returns whether an item is a note that a code cell of the Codex CLI sent while it ran. It has the id of the cell's call,
/// which has an output of its own.
pub(super) fn is_note_of_call(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "custom_tool_call_output")
        && item.get("name").is_some_and(|name| !name.is_null())
}

/// Returns an output without its empty texts, which the Codex CLI records and does not send.
fn without_empty_texts(mut output: Value) -> Value {
    if let Some(parts) = output.as_array_mut() {
        parts.retain(|part| part.get("text").is_none_or(|text| text != ""));
    }
    output
}

/// Returns whether an output says that its call was interrupted. Programs have different texts for it.
pub(super) fn is_aborted(output: &str) -> bool {
    output.starts_with("aborted") || output.lines().any(|line| line == "aborted by user")
}

/// Replaces the path of a folder by a placeholder where it is a whole path component.
fn without_folder(text: &str, folder: &str) -> String {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return text.to_owned();
    }
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        let is_begun =
            before.chars().next_back().is_some_and(|letter| is_part(letter) || matches!(letter, '.' | '/' | '~'));
        let mut next = after.chars();
        let goes_on = match next.next() {
            Some('.') => next.next().is_some_and(is_part),
            Some(letter) => is_part(letter),
            None => false,
        };
        plain.push_str(before);
        plain.push_str(if is_begun || goes_on { folder } else { "<cwd>" });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Removes the parts of a line that differ every time.
fn plain_line(line: &str) -> Cow<'_, str> {
    for start in ["Chunk ID: ", "Wall time: ", "Process running with session ID ", "Date: "] {
        if line.starts_with(start) {
            return Cow::Owned(format!("{start}<...>"));
        }
    }
    Cow::Borrowed(line)
}

/// Replaces every UUID by a placeholder.
fn without_uuids(text: &str) -> Cow<'_, str> {
    const BYTES: usize = 36;
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let bytes = text.as_bytes();
    let mut plain = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(window) = bytes.get(at..at + BYTES) {
        if window[8] == b'-' && is_uuid(window) {
            plain.push_str(&text[copied..at]);
            plain.push_str("<uuid>");
            at += BYTES;
            copied = at;
        } else {
            at += 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(&text[copied..]);
    Cow::Owned(plain)
}

/// Returns a unified diff of two values. Texts with several lines are compared by line.
fn diff(recorded: &Value, live: &Value) -> String {
    let (then, now) = (spelt(recorded), spelt(live));
    let equal = then.lines().zip(now.lines()).take_while(|(then, now)| then == now).count();
    let is_long = |text: &str| text.len() > DIFF_INPUT_BYTES_MAX || text.lines().count() > DIFF_INPUT_LINES_MAX;
    let skipped = if is_long(&then) || is_long(&now) { equal.saturating_sub(CONTEXT_LINES) } else { 0 };
    let (then, then_left) = window(&then, skipped);
    let (now, now_left) = window(&now, skipped);
    let text = diffy::create_patch(then, now).to_string();
    // The first two lines are the file names that the library writes.
    let rest = text.splitn(3, '\n').nth(2).unwrap_or_default();
    let mut diff = "--- recorded\n+++ live\n".to_owned();
    if skipped > 0 {
        diff.push_str(&format!("... {skipped} equal lines\n"));
    }
    diff.push_str(rest);
    if then_left + now_left > 0 {
        diff.push_str(&format!("... not compared: {then_left} more bytes of the recorded, {now_left} of the live\n"));
    }
    if diff.len() > DIFF_BYTES_MAX {
        let left_out = diff.len() - DIFF_BYTES_MAX;
        let end = (0..=DIFF_BYTES_MAX).rev().find(|end| diff.is_char_boundary(*end)).unwrap_or_default();
        diff.truncate(end);
        diff.push_str(&format!("\n... {left_out} more bytes\n"));
    }
    diff
}

/// Returns the lines of a text after the first `skipped` bytes, as many as are compared, and the number of bytes that
/// follow.
fn window(text: &str, skipped: usize) -> (&str, usize) {
    let begin: usize = text.split_inclusive('\n').take(skipped).map(str::len).sum();
    let rest = &text[begin..];
    let lines: usize = rest.split_inclusive('\n').take(DIFF_INPUT_LINES_MAX).map(str::len).sum();
    let end = (0..=lines.min(DIFF_INPUT_BYTES_MAX)).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or_default();
    (&rest[..end], rest.len() - end)
}

fn spelt(value: &Value) -> String {
    if value.is_null() {
        return String::new();
    }
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default().replace("\\n", "\\n\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Rules {
        fn differs(&self, recorded: &Value, live: &Value) -> Option<Difference> {
            self.difference(ROOT, recorded, live, |_| true)
        }
    }

    fn body(items: &[Value]) -> Value {
        json!({ "model": "m", "instructions": "i", "input": items, "tools": [{ "name": "a" }], "prompt_cache_key": "x" })
    }

    fn said(text: &str) -> Value {
        json!({ "type": "message", "id": text.len(), "role": "user", "content": [{ "type": "input_text", "text": text }] })
    }

    #[test]
    fn what_is_never_the_same_twice_counts_as_equal() {
        let rules =
            Rules { folders: Some(Folders { then: "/a/b".to_owned(), now: "/c".to_owned() }), ..Rules::default() };
        let uuids = ["01a1ffd7-2053-70c2-9fe6-e0c9afb6f2a3", "11a1ffd7-2053-70c2-9fe6-e0c9afb6f2a4"];
        let text =
            |folder: &str, uuid: &str, time: u8| format!("in {folder}/x\nthread {uuid}.\nWall time: {time} seconds\né");
        let (then, now) = (text("/a/b", uuids[0], 1), text("/c", uuids[1], 2));
        let mut live = body(&[said(&now)]);
        live["prompt_cache_key"] = json!("y");
        live["reasoning"] = Value::Null;
        assert_eq!(rules.differs(&body(&[said(&then)]), &live), None);
        assert!(Rules::default().differs(&body(&[said(&then)]), &live).is_some(), "another folder");
    }

    #[test]
    fn the_first_difference_is_told_as_a_diff() {
        let rules = Rules::default();
        let then = body(&[said("one"), said("two\nlines"), said("x")]);
        let now = body(&[said("one"), said("two\nwords"), said("y")]);
        let difference = rules.differs(&then, &now).expect("they differ");
        assert_eq!(difference.place, "input[1]");
        insta::assert_snapshot!(difference.diff);
        let missing = rules.differs(&then, &body(&[said("one")])).expect("they differ");
        assert_eq!(missing.place, "input[1]");
        assert!(missing.diff.lines().skip(3).all(|line| line.starts_with('-')), "{}", missing.diff);
        let more = rules.differs(&body(&[]), &body(&[said("one")])).expect("they differ");
        assert_eq!(more.place, "input[0]");
        for (member, value, place) in [
            ("instructions", json!("j"), "instructions"),
            ("tools", json!([{ "name": "a" }, { "name": "b" }]), "tools[1]"),
            ("model", json!("n"), "request"),
            ("service_tier", json!("fast"), "request"),
        ] {
            let mut live = then.clone();
            live[member] = value;
            assert_eq!(rules.differs(&then, &live).expect("they differ").place, place);
        }
    }

    #[test]
    fn of_another_programs_sessions_only_the_conversation_counts() {
        let rules = Rules { only_conversation: true, ..Rules::default() };
        let developer =
            json!({ "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "d" }] });
        let environment = said("<environment_context>\n<cwd>/x</cwd>\n</environment_context>");
        let then = body(&[developer, environment, said("hello")]);
        let mut now = body(&[said("hello")]);
        now["tools"] = json!([]);
        now["model"] = json!("n");
        assert_eq!(rules.differs(&then, &now), None);
        assert_eq!(rules.differs(&then, &body(&[said("hallo")])).map(|found| found.place), Some("input[2]".to_owned()));
    }

    #[test]
    fn only_users_words_count_of_what_an_agent_of_another_program_inherits() {
        let rules = Rules { only_conversation: true, ..Rules::default() };
        let answer =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "b" }] });
        let task = json!({ "type": "agent_message", "author": ROOT, "recipient": "/root/a", "content": [] });
        let search = json!({ "type": "web_search_call" });
        let then = body(&[said("a"), task.clone(), answer.clone()]);
        let now = body(&[said("a"), answer.clone(), search, task.clone(), answer.clone()]);
        let differs = |now: &Value| rules.difference("/root/a", &then, now, |_| true).map(|found| found.place);
        assert_eq!(differs(&now), None);
        assert!(differs(&body(&[said("c"), task.clone(), answer])).is_some());
        assert!(differs(&body(&[said("a"), task])).is_some());
    }

    #[test]
    fn what_users_and_agents_say_before_one_request_has_no_order() {
        let rules = Rules { only_conversation: true, ..Rules::default() };
        let mail = |author: &str| json!({ "type": "agent_message", "author": author, "recipient": ROOT });
        let then = body(&[said("a"), mail("/root/a"), mail("/root/b"), said("b")]);
        assert_eq!(rules.differs(&then, &body(&[said("a"), said("b"), mail("/root/a"), mail("/root/b")])), None);
        assert!(rules.differs(&then, &body(&[said("a"), said("b"), mail("/root/b"), mail("/root/a")])).is_some());
    }

    #[test]
    fn notes_and_empty_texts_of_code_cells_do_not_count() {
        let rules = Rules { only_conversation: true, ..Rules::default() };
        let output = |texts: &[&str]| {
            let parts: Vec<_> = texts.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
            json!({ "type": "custom_tool_call_output", "call_id": "c", "output": parts })
        };
        let note = json!({ "type": "custom_tool_call_output", "call_id": "c", "name": "exec", "output": "a note" });
        let then = body(&[output(&["done"]), note]);
        assert_eq!(rules.differs(&then, &body(&[output(&["done", ""])])), None);
        assert!(rules.differs(&then, &body(&[output(&["done", "x"])])).is_some());
    }

    #[test]
    fn inputs_of_calls_are_compared_as_values() {
        let rules = Rules::default();
        let live = ToolInput::Arguments(r#"{"b":2, "a":1}"#.to_owned());
        assert_eq!(rules.input_difference(r#"{"a":1,"b":2}"#, &live), None);
        assert!(rules.input_difference(r#"{"a":1,"b":3}"#, &live).is_some());
        assert_eq!(rules.input_difference("text", &ToolInput::Text("text".to_owned())), None);
    }

    #[test]
    fn folders_are_replaced_where_they_are_folders() {
        for (text, expected) in [
            ("/a/b", "<cwd>"),
            ("in /a/b/c, \"/a/b\".", "in <cwd>/c, \"<cwd>\"."),
            ("/a/b. /a/bc /a/b-c /a/b.c /x/a/b ./a/b", "<cwd>. /a/bc /a/b-c /a/b.c /x/a/b ./a/b"),
        ] {
            assert_eq!(without_folder(text, "/a/b"), expected);
        }
        assert_eq!(without_folder("/ and /x", "/"), "/ and /x");
        // One folder inside the other, and the recorded folder in a live text.
        let rules =
            Rules { folders: Some(Folders { then: "/a".to_owned(), now: "/a/b".to_owned() }), ..Rules::default() };
        for (then, now) in [("/a/x", "/a/b/x"), ("/a/x", "/a/x"), ("/a/x", "/a/b/x")] {
            assert_eq!(rules.differs(&body(&[said(then)]), &body(&[said(now)])), None);
        }
    }

    #[test]
    fn hostile_texts_are_not_compared_to_their_ends() {
        let lines = |from: usize| (from..from + 300_000).map(|line| format!("{line}\n")).collect::<String>();
        let found = Rules::default().differs(&body(&[said(&lines(0))]), &body(&[said(&lines(1_000_000))]));
        let diff = found.expect("they differ").diff;
        assert!(diff.contains("... not compared: ") && diff.len() < DIFF_BYTES_MAX + 200, "{}", diff.len());
        let alike = |last: &str| body(&[said(&format!("{}{last}", lines(0)))]);
        let found = Rules::default().differs(&alike("a"), &alike("b")).expect("they differ");
        assert!(found.diff.contains("equal lines\n") && found.diff.contains("\n+b\""), "{}", found.diff);
    }

    #[test]
    fn a_long_diff_is_cut() {
        let long = |text: &str| body(&[said(&text.repeat(DIFF_BYTES_MAX))]);
        let found = Rules::default().differs(&long("ä"), &long("ö")).expect("they differ");
        assert!(found.diff.len() < DIFF_BYTES_MAX + 100 && found.diff.ends_with("more bytes\n"));
    }
}
