//! The script language: what an answer consists of, and where a conversation contains a script.
//!
//! A script is the word `RUN`, a space and a JSON array of steps, anywhere in a message that does not come from the model.
//! Each step is an array of actions and gives one answer.
//!
//! Scripts may come from untrusted sources, so their size, their number of actions and their pauses are limited.

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

/// Most bytes of a script.
pub const SCRIPT_BYTES_MAX: usize = 8 << 20;
/// Most steps of a script.
pub const STEPS_MAX: usize = 100_000;
/// Most actions of a step.
pub const ACTIONS_MAX: usize = 1_000;
/// Longest pause.
pub const PAUSE_MAX: Duration = Duration::from_secs(600);
/// Most bytes of the name of a hold or of a key of `once`.
pub const NAME_BYTES_MAX: usize = 256;

/// Default number of characters in one piece of streamed text.
pub(super) const CHUNK: usize = 24;

/// Text before a script.
const MARK: &str = "RUN ";

/// Why a script cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("script error: {0}")]
pub struct ScriptError(String);

impl ScriptError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// An action of a step. An action may create an item and change the answer at the same time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Action {
    pub(super) item: Option<ItemAction>,
    pub(super) sleep: Option<Duration>,
    pub(super) hold: Option<String>,
    pub(super) tokens: Option<u64>,
    pub(super) status: Option<Refused>,
    pub(super) drops: Option<Dropped>,
    pub(super) failed: Option<Failed>,
    pub(super) once: Option<String>,
}

/// An item of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ItemAction {
    Say { text: String, phase: Option<String>, chunk: usize, gap: Duration },
    Think(String),
    Call { name: String, arguments: Arguments, namespace: Option<String> },
    Custom { name: String, input: String },
    Search(String),
}

/// The arguments of a function call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arguments {
    /// A text that is used as it is and need not be JSON.
    Raw(String),
    /// A value that is serialized.
    Value(Value),
}

/// An error response instead of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) code: String,
    /// Value of the `Retry-After` header.
    pub(super) retry_after: Option<String>,
}

/// The stream ends without its final event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dropped;

/// The final event says that the answer failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failed {
    pub(super) message: String,
    pub(super) code: String,
}

/// How far a conversation has come in its newest script. A later request goes on from there, so only its new items are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// The newest script, or why it is none. `None` if the conversation has none.
    script: Option<Result<Arc<[Value]>, ScriptError>>,
    /// Number of answers since the script. Consecutive items of the model are one answer.
    answers: usize,
    /// Whether the last item is one of the model.
    is_in_answer: bool,
}

impl Progress {
    /// Takes the next item of the conversation.
    pub(super) fn take(&mut self, item: &Value) {
        let is_models = is_models(item);
        self.answers += usize::from(is_models && !self.is_in_answer);
        self.is_in_answer = is_models;
        if let Some(script) = script_in(item) {
            *self = Self { script: Some(script.map(Into::into)), ..Self::default() };
        }
    }

    /// Returns the step of the script whose index is the number of answers since. `spare` is the script for conversations without one.
    pub(super) fn step(&self, spare: Option<&[Value]>) -> Result<Vec<Action>, ScriptError> {
        let script = match (&self.script, spare) {
            (Some(script), _) => script.as_deref().map_err(Clone::clone)?,
            (None, Some(spare)) => spare,
            (None, None) => return Ok(vec![says("no script")]),
        };
        match script.get(self.answers) {
            None => Ok(vec![says("done")]),
            Some(step) => read_step(step),
        }
    }
}

/// Parses the script of a file: the steps, with or without the word before them.
pub(super) fn from_file(text: &str) -> Result<Vec<Value>, ScriptError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let script = parse(text)?;
    // All steps are checked now, so that mistakes are reported when the file is loaded.
    for step in &script {
        read_step(step)?;
    }
    Ok(script)
}

/// Returns an action that streams a text in pieces.
pub(super) fn says(text: &str) -> Action {
    let item = ItemAction::Say { text: text.to_owned(), phase: None, chunk: CHUNK, gap: Duration::ZERO };
    Action { item: Some(item), ..Action::default() }
}

/// Splits a text into pieces of this many characters.
pub(super) fn pieces(text: String, characters: usize) -> impl Iterator<Item = String> + Send {
    let mut from = 0;
    iter::from_fn(move || {
        let rest = &text[from..];
        let piece = &rest[..rest.char_indices().nth(characters).map_or(rest.len(), |(end, _)| end)];
        from += piece.len();
        (!piece.is_empty()).then(|| piece.to_owned())
    })
}

/// Returns the script in a message that does not come from the model, or why it is none.
fn script_in(item: &Value) -> Option<Result<Vec<Value>, ScriptError>> {
    let role = item.get("role").and_then(Value::as_str);
    if !kind(item).ends_with("message") || matches!(role, Some("developer" | "system" | "assistant")) {
        return None;
    }
    let text = message_text(item);
    let start = text.find("RUN [")?;
    Some(parse(&text[start + MARK.len()..]))
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or("message")
}

fn message_text(item: &Value) -> String {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match item.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "encrypted_content"))).collect()
        }
        _ => text(item, "text").unwrap_or_default(),
    }
}

/// Returns whether an item comes from the model.
fn is_models(item: &Value) -> bool {
    match kind(item) {
        "message" => item.get("role").and_then(Value::as_str) == Some("assistant"),
        "reasoning"
        | "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "web_search_call"
        | "tool_search_call"
        | "image_generation_call" => true,
        _ => false,
    }
}

/// Parses the JSON array at the start of a text, and ignores what follows it.
fn parse(text: &str) -> Result<Vec<Value>, ScriptError> {
    let mut end = text.len().min(SCRIPT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let script = match serde_json::Deserializer::from_str(&text[..end]).into_iter::<Value>().next() {
        Some(Ok(Value::Array(script))) => script,
        Some(Err(error)) if error.is_eof() && end < text.len() => {
            return Err(ScriptError::new(format!("the script has more than {SCRIPT_BYTES_MAX} bytes")));
        }
        Some(Err(error)) => return Err(ScriptError::new(error.to_string())),
        Some(Ok(_)) | None => return Err(ScriptError::new("a script is an array of steps")),
    };
    if script.len() > STEPS_MAX {
        return Err(ScriptError::new(format!("the script has more than {STEPS_MAX} steps")));
    }
    Ok(script)
}

fn read_step(step: &Value) -> Result<Vec<Action>, ScriptError> {
    let Value::Array(actions) = step else { return Err(ScriptError::new("a step is an array of actions")) };
    if actions.len() > ACTIONS_MAX {
        return Err(ScriptError::new(format!("a step has more than {ACTIONS_MAX} actions")));
    }
    actions
        .iter()
        .map(|action| match action {
            Value::Object(fields) => Fields(fields).action(),
            _ => Err(ScriptError::new("an action is an object")),
        })
        .collect()
}

/// The fields of an action.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn action(&self) -> Result<Action, ScriptError> {
        Ok(Action {
            item: self.item()?,
            sleep: self.pause("sleep")?,
            hold: self.name("hold")?,
            tokens: self.whole("tokens")?,
            status: self.refused()?,
            drops: self.0.contains_key("drop").then_some(Dropped),
            failed: match self.text("failed")? {
                Some(message) => Some(Failed { message, code: self.text_or("code", "server_error")? }),
                None => None,
            },
            once: self.name("once")?,
        })
    }

    fn item(&self) -> Result<Option<ItemAction>, ScriptError> {
        Ok(Some(if let Some(text) = self.text("say")? {
            let chunk = match self.whole("chunk")? {
                Some(0) => return Err(self.wrong("chunk", "1 or more")),
                Some(chunk) => usize::try_from(chunk).unwrap_or(usize::MAX),
                None => CHUNK,
            };
            let phase = self.text("phase")?.filter(|phase| !phase.is_empty());
            ItemAction::Say { text, phase, chunk, gap: self.pause("gap")?.unwrap_or_default() }
        } else if let Some(text) = self.text("think")? {
            ItemAction::Think(text)
        } else if let Some(name) = self.text("call")? {
            let arguments = match self.0.get("args") {
                None => Arguments::Value(Value::Object(Map::new())),
                Some(Value::String(text)) => Arguments::Raw(text.clone()),
                Some(value) => Arguments::Value(value.clone()),
            };
            ItemAction::Call { name, arguments, namespace: self.text("ns")?.filter(|name| !name.is_empty()) }
        } else if let Some(name) = self.text("custom")? {
            ItemAction::Custom { name, input: self.text_or("input", "")? }
        } else if let Some(query) = self.text("search")? {
            ItemAction::Search(query)
        } else {
            return Ok(None);
        }))
    }

    fn refused(&self) -> Result<Option<Refused>, ScriptError> {
        let Some(status) = self.whole("status")? else { return Ok(None) };
        let status = u16::try_from(status).ok().filter(|status| (200..600).contains(status));
        let Some(status) = status else { return Err(self.wrong("status", "an HTTP status")) };
        Ok(Some(Refused {
            status,
            message: self.text_or("message", "scripted failure")?,
            code: self.text_or("code", "scripted")?,
            retry_after: match self.0.get("retry_after") {
                None => None,
                Some(Value::String(text)) => Some(text.clone()),
                Some(Value::Number(number)) => Some(number.to_string()),
                Some(_) => return Err(self.wrong("retry_after", "a number or a text")),
            },
        }))
    }

    fn text(&self, field: &str) -> Result<Option<String>, ScriptError> {
        match self.0.get(field) {
            None => Ok(None),
            // Only members that define an action must be present; these may be `null`.
            Some(Value::Null) if matches!(field, "phase" | "ns") => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(field, "a text")),
        }
    }

    fn text_or(&self, field: &str, default: &str) -> Result<String, ScriptError> {
        Ok(self.text(field)?.unwrap_or_else(|| default.to_owned()))
    }

    fn name(&self, field: &str) -> Result<Option<String>, ScriptError> {
        let name = self.text(field)?;
        match &name {
            Some(name) if name.len() > NAME_BYTES_MAX => {
                Err(self.wrong(field, &format!("a text of at most {NAME_BYTES_MAX} bytes")))
            }
            _ => Ok(name),
        }
    }

    fn whole(&self, field: &str) -> Result<Option<u64>, ScriptError> {
        match self.0.get(field) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| self.wrong(field, "a whole number, 0 or more")),
        }
    }

    fn pause(&self, field: &str) -> Result<Option<Duration>, ScriptError> {
        let Some(value) = self.0.get(field) else { return Ok(None) };
        let pause = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match pause.filter(|pause| *pause <= PAUSE_MAX) {
            Some(pause) => Ok(Some(pause)),
            None => Err(self.wrong(field, &format!("a number of seconds from 0 to {}", PAUSE_MAX.as_secs()))),
        }
    }

    fn wrong(&self, field: &str, expected: &str) -> ScriptError {
        ScriptError::new(format!("`{field}` must be {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Value {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    }

    fn step_for(items: &[Value], spare: Option<&[Value]>) -> Result<Vec<Action>, ScriptError> {
        let mut progress = Progress::default();
        items.iter().for_each(|item| progress.take(item));
        progress.step(spare)
    }

    fn says_of(items: &[Value]) -> String {
        match step_for(items, None) {
            Ok(step) => match step.as_slice() {
                [Action { item: Some(ItemAction::Say { text, .. }), .. }] => text.clone(),
                other => panic!("not one text: {other:?}"),
            },
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_step_is_counted_by_the_answers_since_the_newest_script() {
        let script = user(r#"please RUN [[{"say":"one"}],[{"say":"two"}]] thanks"#);
        let said = json!({"type": "message", "role": "assistant", "content": []});
        let called = json!({"type": "function_call"});
        let output = json!({"type": "function_call_output"});
        assert_eq!(says_of(&[]), "no script");
        assert_eq!(says_of(&[user("hello")]), "no script");
        assert_eq!(says_of(&[said.clone(), script.clone()]), "one");
        let mut items = vec![script.clone(), json!({"type": "reasoning"}), called.clone(), output.clone()];
        assert_eq!(says_of(&items), "two", "items that stand together are one answer");
        items.extend([called, output]);
        assert_eq!(says_of(&items), "done");
        items.push(script);
        assert_eq!(says_of(&items), "one", "the newest script wins");
        items.push(user("go on"));
        assert_eq!(says_of(&items), "one", "a message without a script changes nothing");
    }

    #[test]
    fn scripts_are_found_wherever_somebody_else_speaks() {
        let script = r#"RUN [[{"say":"x"}]]"#;
        for item in [
            json!({"role": "user", "content": script}),
            json!({"type": "agent_message", "content": [{"type": "input_text", "text": ""}, {"encrypted_content": script}]}),
            json!({"type": "agent_message", "text": script}),
            json!({"role": "user", "content": [{"text": "RUN "}, 7, {"text": r#"[[{"say":"x"}]]"#}]}),
        ] {
            assert_eq!(says_of(std::slice::from_ref(&item)), "x", "{item}");
        }
        for item in [
            json!({"type": "message", "role": "assistant", "content": script}),
            json!({"type": "message", "role": "developer", "content": script}),
            json!({"type": "message", "role": "system", "content": script}),
            json!({"type": "function_call_output", "content": script}),
            json!(7),
        ] {
            assert_eq!(says_of(std::slice::from_ref(&item)), "no script", "{item}");
        }
    }

    #[test]
    fn every_action_is_read() {
        let step = json!([
            {"say": "t", "phase": "commentary", "chunk": 2, "gap": 0.5},
            {"say": "u", "phase": null},
            {"think": "h"},
            {"call": "f", "args": {"a": 1}, "ns": "n"},
            {"call": "f", "args": "{"},
            {"call": "f"},
            {"custom": "c", "input": "i"},
            {"search": "q"},
            {"sleep": 1},
            {"hold": "k"},
            {"tokens": 9},
            {"once": "o", "status": 429, "message": "m", "retry_after": 3},
            {"status": 500},
            {"drop": true},
            {"failed": "m", "code": "c"},
            {"unknown": 1},
        ]);
        insta::assert_debug_snapshot!(read_step(&step).expect("a step"));
    }

    #[test]
    fn mistakes_say_what_is_expected() {
        let cases = [
            ("RUN [", "script error: EOF while parsing a list at line 1 column 1"),
            ("RUN [7]", "script error: a step is an array of actions"),
            ("RUN [[7]]", "script error: an action is an object"),
            (r#"RUN [[{"say":7}]]"#, "script error: `say` must be a text"),
            (r#"RUN [[{"say":"x","chunk":0}]]"#, "script error: `chunk` must be 1 or more"),
            (r#"RUN [[{"sleep":601}]]"#, "script error: `sleep` must be a number of seconds from 0 to 600"),
            (r#"RUN [[{"sleep":-1}]]"#, "script error: `sleep` must be a number of seconds from 0 to 600"),
            (r#"RUN [[{"say":"x","gap":"1"}]]"#, "script error: `gap` must be a number of seconds from 0 to 600"),
            (r#"RUN [[{"tokens":1.5}]]"#, "script error: `tokens` must be a whole number, 0 or more"),
            (r#"RUN [[{"status":99}]]"#, "script error: `status` must be an HTTP status"),
        ];
        for (text, expected) in cases {
            assert_eq!(says_of(&[user(text)]), expected);
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let steps = |count: usize| format!("RUN [{}]", vec!["[]"; count].join(","));
        assert_eq!(step_for(&[user(&steps(STEPS_MAX))], None), Ok(vec![]));
        assert_eq!(says_of(&[user(&steps(STEPS_MAX + 1))]), "script error: the script has more than 100000 steps");
        let actions = |count: usize| format!("RUN [[{}]]", vec!["{}"; count].join(","));
        assert_eq!(step_for(&[user(&actions(ACTIONS_MAX))], None).map(|step| step.len()), Ok(ACTIONS_MAX));
        assert_eq!(says_of(&[user(&actions(ACTIONS_MAX + 1))]), "script error: a step has more than 1000 actions");
        let long = |bytes: usize| format!(r#"RUN [[{{"say":"{}"}}]]"#, "ä".repeat(bytes / 2));
        assert_eq!(says_of(&[user(&long(SCRIPT_BYTES_MAX))]), "script error: the script has more than 8388608 bytes");
        assert_eq!(says_of(&[user(&long(SCRIPT_BYTES_MAX - 100))]).len(), SCRIPT_BYTES_MAX - 100);
        let name = |bytes: usize| format!(r#"RUN [[{{"hold":"{}"}}]]"#, "x".repeat(bytes));
        assert!(step_for(&[user(&name(NAME_BYTES_MAX))], None).is_ok());
        assert!(step_for(&[user(&name(NAME_BYTES_MAX + 1))], None).is_err());
        assert!(says_of(&[user(&format!("RUN {}", "[".repeat(10_000)))]).starts_with("script error: recursion limit"));
    }

    #[test]
    fn a_file_has_the_steps_with_or_without_the_word() {
        for text in ["[[{\"say\":\"x\"}]]", "\u{feff} RUN [[{\"say\":\"x\"}]]\n"] {
            assert_eq!(from_file(text).map(|script| script.len()), Ok(1), "{text}");
        }
        for text in ["", "{}", "[[], [{\"say\": 1}]]", "nothing"] {
            assert!(from_file(text).is_err(), "{text}");
        }
        let spare = from_file("[[{\"say\":\"first\"}],[{\"say\":\"second\"}]]").expect("a script");
        let items = [user("hello"), json!({"type": "message", "role": "assistant"}), user("again")];
        assert_eq!(step_for(&items, Some(&spare)), Ok(vec![says("second")]));
        assert_eq!(step_for(&[user("RUN [[]]")], Some(&spare)), Ok(vec![]), "a message's own script wins");
    }

    #[test]
    fn pieces_are_cut_between_characters() {
        let cut = |text: &str, characters| pieces(text.to_owned(), characters).collect::<Vec<_>>();
        assert_eq!(cut("äöüß🦀", 2), ["äö", "üß", "🦀"]);
        assert_eq!(cut("", 2), [""; 0]);
        assert_eq!(cut("ab", usize::MAX), ["ab"]);
    }
}
