//! SQL functions in addition to those of the engine.
//!
//! `payload`, `payload_error`, `request_items` and `seen_by` read from the sessions, which are kept as long as a query
//! needs them. A payload that cannot be read gives null and no error, so that one broken file does not make a query
//! fail. The first reasons are reported with the result, and `payload_error` returns the reason for each payload.

use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};
use serde::de::IgnoredAny;
use trace_explain::object::item_id;
use trace_explain::{Object, ObjectRef, Session, Sightings};

use crate::cell::MAX_VALUE_BYTES;

/// Description of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Name and arguments.
    pub call: &'static str,
    /// What it returns.
    pub text: &'static str,
}

/// Every function.
pub const ALL: [Function; 5] = [
    Function {
        call: "payload(bundle_id, payload_id)",
        text: "JSON of a payload, for use with `->`, `->>` and `json_each`. Null if there is no such payload, or it \
               cannot be read or is not JSON.",
    },
    Function {
        call: "payload_error(bundle_id, payload_id)",
        text: "Why a payload cannot be read; null if it can be read.",
    },
    Function {
        call: "request_items(bundle_id, inference_call_id)",
        text: "JSON array of the ids of the conversation items in a request, in order; instructions and tools are not \
               items. `FROM inference_calls AS c, json_each(request_items(c.bundle_id, c.inference_call_id))` makes \
               rows of it.",
    },
    Function {
        call: "seen_by(bundle_id, item_id)",
        text: "JSON array of the ids of the inference calls whose requests contain an item, in the order of the log.",
    },
    Function {
        call: "regexp(pattern, text)",
        text: "1 if a regular expression (of the Rust crate `regex`) matches somewhere in a text. `text REGEXP pattern` is the \
               same.",
    },
];

/// Names of the functions that read from sessions.
pub(crate) const ASKING: [&str; 4] = ["payload", "payload_error", "request_items", "seen_by"];

/// Number of payloads whose texts are cached. A query often reads several fields of a payload, and request and response
/// in turn.
const PAYLOADS_AT_HAND: usize = 4;

/// Most bytes of cached payloads.
const MAX_BYTES_AT_HAND: usize = 1 << 26;

/// Deepest nesting of JSON that the engine's functions read. They fail for deeper documents, and with them the query.
const MAX_JSON_DEPTH: usize = 1000;

/// Most reasons that are reported with a result.
pub const MAX_NOTES: usize = 5;

/// Most bytes of memory for a compiled regular expression.
const MAX_REGEX_BYTES: usize = 1 << 21;

/// The sessions that functions read from, and the reasons that they report.
#[derive(Debug, Default, Clone)]
pub(crate) struct Asked(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<String, Kept>,
    at_hand: VecDeque<((String, String), Arc<str>)>,
    notes: Vec<String>,
    notes_left_out: u64,
}

#[derive(Debug)]
struct Kept {
    session: Session,
    sightings: OnceCell<Sightings>,
}

impl Asked {
    fn with<T>(&self, ask: impl FnOnce(&mut State) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keep(&self, bundle_id: &str, session: Session) {
        let kept = Kept { session, sightings: OnceCell::new() };
        self.with(|state| state.sessions.insert(bundle_id.to_owned(), kept));
    }

    /// Returns and clears the reasons why payloads could not be read, and the number of reasons that were left out.
    pub(crate) fn take_notes(&self) -> (Vec<String>, u64) {
        self.with(|state| (std::mem::take(&mut state.notes), std::mem::take(&mut state.notes_left_out)))
    }
}

impl State {
    fn payload(&mut self, bundle_id: &str, id: &str) -> Result<Arc<str>, String> {
        let is_it = |entry: &((String, String), Arc<str>)| entry.0.0 == bundle_id && entry.0.1 == id;
        if let Some((_, text)) = self.at_hand.iter().find(|entry| is_it(entry)) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = self.read(bundle_id, id)?.into();
        let mut bytes = text.len() + self.at_hand.iter().map(|(_, text)| text.len()).sum::<usize>();
        while self.at_hand.len() >= PAYLOADS_AT_HAND || bytes > MAX_BYTES_AT_HAND {
            let Some((_, gone)) = self.at_hand.pop_front() else { break };
            bytes -= gone.len();
        }
        self.at_hand.push_back(((bundle_id.to_owned(), id.to_owned()), Arc::clone(&text)));
        Ok(text)
    }

    fn read(&self, bundle_id: &str, id: &str) -> Result<String, String> {
        let session = &self.sessions.get(bundle_id).ok_or_else(|| format!("there is no bundle {bundle_id}"))?.session;
        let name = ObjectRef { kind: "raw_payload".to_owned(), id: id.to_owned() };
        let Some(Object::Payload(payload)) = session.find(&name) else {
            return Err(format!("{bundle_id}: {id} is not a payload of the bundle"));
        };
        let bytes = session.read_payload(session.trace().payloads[payload].id).map_err(|problem| {
            let cause = std::error::Error::source(&problem).map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{bundle_id}: {problem}{cause}")
        })?;
        if bytes.len() > MAX_VALUE_BYTES as usize {
            return Err(format!("{bundle_id}: {id} has {} bytes; at most {MAX_VALUE_BYTES} are read", bytes.len()));
        }
        if depth(&bytes) > MAX_JSON_DEPTH {
            return Err(format!("{bundle_id}: {id} nests more than {MAX_JSON_DEPTH} levels"));
        }
        serde_json::from_slice::<IgnoredAny>(&bytes)
            .map_err(|error| format!("{bundle_id}: {id} is not a JSON document: {error}"))?;
        String::from_utf8(bytes).map_err(|_| format!("{bundle_id}: {id} is not UTF-8"))
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        } else if !self.notes.contains(&note) {
            self.notes_left_out += 1;
        }
    }

    fn request_items(&self, bundle_id: &str, id: &str) -> Option<String> {
        let session = &self.sessions.get(bundle_id)?.session;
        let name = ObjectRef { kind: "inference_call".to_owned(), id: id.to_owned() };
        let Some(Object::Inference(call)) = session.find(&name) else { return None };
        let trace = session.trace();
        let items = trace.lists.get(trace.inferences[call].request_items);
        serde_json::to_string(&items.iter().map(|item| item_id(*item)).collect::<Vec<_>>()).ok()
    }

    fn seen_by(&self, bundle_id: &str, id: &str) -> Option<String> {
        let Kept { session, sightings } = self.sessions.get(bundle_id)?;
        let name = ObjectRef { kind: "conversation_item".to_owned(), id: id.to_owned() };
        let Some(Object::Item(item)) = session.find(&name) else { return None };
        let trace = session.trace();
        let calls = sightings.get_or_init(|| Sightings::new(trace)).of(item);
        let ids: Vec<&str> = calls.into_iter().map(|call| trace.text(trace.inferences[call].id)).collect();
        serde_json::to_string(&ids).ok()
    }
}

/// Returns the nesting depth of a JSON document.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            // Skip to the end of the string.
            b'"' => loop {
                match bytes.next() {
                    Some(b'\\') => {
                        bytes.next();
                    }
                    Some(b'"') | None => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    deepest
}

/// Returns a text argument, or `None` if the argument is null or not a text.
fn text<'c>(context: &'c Context<'_>, place: usize) -> Option<&'c str> {
    match context.get_raw(place) {
        ValueRef::Text(text) => std::str::from_utf8(text).ok(),
        _ => None,
    }
}

/// Declares the functions to the engine, so that it can compile queries that call them.
pub(crate) fn declare(connection: &Connection) -> rusqlite::Result<()> {
    define(connection, &Asked::default())
}

/// Defines the functions, which read from the sessions in `asked`.
pub(crate) fn define(connection: &Connection, asked: &Asked) -> rusqlite::Result<()> {
    type Ask = fn(&mut State, &str, &str) -> Option<String>;
    // The results do not change while a query runs, and the functions only reach the bundles that the user named.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let payload = asked.clone();
    connection.create_scalar_function("payload", 2, flags, move |context: &Context<'_>| {
        let (Some(bundle_id), Some(id)) = (text(context, 0), text(context, 1)) else { return Ok(None) };
        Ok(payload.with(|state| match state.payload(bundle_id, id) {
            Ok(text) => Some(SharedText(text)),
            Err(note) => {
                state.note(note);
                None
            }
        }))
    })?;
    let others: [(&str, Ask); 3] = [
        ("payload_error", |state, bundle_id, id| state.payload(bundle_id, id).err()),
        ("request_items", |state, bundle_id, id| state.request_items(bundle_id, id)),
        ("seen_by", |state, bundle_id, id| state.seen_by(bundle_id, id)),
    ];
    for (name, ask) in others {
        let asked = asked.clone();
        connection.create_scalar_function(name, 2, flags, move |context: &Context<'_>| {
            let (Some(bundle_id), Some(id)) = (text(context, 0), text(context, 1)) else { return Ok(None) };
            Ok(asked.with(|state| ask(state, bundle_id, id)))
        })?;
    }
    connection.create_scalar_function("regexp", 2, flags, |context: &Context<'_>| {
        if context.get_raw(0) == ValueRef::Null {
            return Ok(None);
        }
        let regex = context.get_or_create_aux(0, |pattern| {
            let pattern = pattern.as_str().map_err(|_| "the pattern of regexp is not a text".to_owned())?;
            compile(pattern)
        })?;
        Ok(text(context, 1).map(|text| regex.is_match(text)))
    })
}

fn compile(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).size_limit(MAX_REGEX_BYTES).dfa_size_limit(MAX_REGEX_BYTES).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        error => error.to_string(),
    })
}

/// A text that the engine reads without a copy in this crate.
struct SharedText(Arc<str>);

impl rusqlite::ToSql for SharedText {
    fn to_sql(&self) -> Result<rusqlite::types::ToSqlOutput<'_>, Error> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_that_of_brackets_outside_of_strings() {
        let documents = [r#"1"#, r#"[]"#, r#"[{"a":[1]},2]"#, r#""[[["#, r#"["\"[[",[0]]"#, r#"["\\",[]]"#, "]]["];
        assert_eq!(documents.map(|document| depth(document.as_bytes())), [0, 1, 3, 0, 2, 2, 1]);
    }

    #[test]
    fn the_engine_reads_json_as_deep_as_that() {
        let connection = Connection::open_in_memory().expect("opens");
        let is_valid = |depth: usize| {
            let json = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            connection.query_row("SELECT json_valid(?1)", [json], |row| row.get::<_, bool>(0)).expect("answers")
        };
        assert!(is_valid(MAX_JSON_DEPTH) && !is_valid(MAX_JSON_DEPTH + 2));
    }
}
