//! The dump of telemetry beside the chats: what failed, and how long requests took.
//!
//! The program writes it only if the user asks for it: pretty JSON objects of the OpenTelemetry SDK, one behind the other.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use trace_recorder::format::import::Place;

use crate::draft::Draft;
use crate::note::Code;
use crate::summary::Usage;
use crate::text::{Text, read_text};
use crate::time::millis;

/// Name of the file.
const FILE: &str = "telemetry.log";

/// Most milliseconds between the record of a response and its message.
const MAX_DISTANCE_MS: u64 = 2_000;

/// Roles of requests that belong to a thread. The program also asks models for itself, such as for a summary.
const ROLES: [&str; 2] = ["main", "subagent"];

#[derive(Debug, Deserialize)]
struct Dump<'a> {
    #[serde(borrow)]
    attributes: Option<Attributes<'a>>,
}

#[derive(Debug, Deserialize)]
struct Attributes<'a> {
    #[serde(borrow, rename = "event.name")]
    name: Option<Text<'a>>,
    #[serde(borrow, rename = "event.timestamp")]
    timestamp: Option<Text<'a>>,
    #[serde(borrow, rename = "session.id")]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    model_name: Option<Text<'a>>,
    duration_ms: Option<f64>,
    duration: Option<f64>,
    #[serde(borrow, rename = "error.message")]
    error_message: Option<Text<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// A number, or a text.
    #[serde(borrow)]
    status_code: Option<&'a RawValue>,
    input_token_count: Option<f64>,
    output_token_count: Option<f64>,
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) at: i64,
    pub(crate) began: Option<i64>,
    pub(crate) model: String,
    pub(crate) error: String,
    pub(crate) place: Place,
}

/// A request that was answered.
#[derive(Debug)]
struct Response {
    at: i64,
    duration_ms: i64,
}

/// What a dump says of one session.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    /// Failed attempts of the session itself.
    failed: Vec<Attempt>,
    /// The answers with so many tokens of input and of output.
    responses: HashMap<(u64, u64), Vec<Response>>,
    session: String,
}

/// Returns where the dump of a chat file may be.
pub(crate) fn places(chat: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    chat.ancestors().skip(2).take(3).map(|folder| folder.join(FILE))
}

impl Telemetry {
    /// Reads the dump beside a chat file. Returns `None` if there is none, or if it has nothing of the session.
    pub(crate) fn beside(chat: &Path, session: &str, draft: &mut Draft) -> Option<Self> {
        let path = places(chat).find(|path| path.is_file())?;
        match read_text(&path) {
            Ok(text) => Self::parse(&text, &path, session, draft),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "skipped");
                None
            }
        }
    }

    fn parse(text: &str, path: &Path, session: &str, draft: &mut Draft) -> Option<Self> {
        let mut telemetry = Self { session: session.to_owned(), ..Self::default() };
        let mut source = None;
        let mut has_any = false;
        let mut rest = text;
        let (mut passed, mut line) = (0, 1_u32);
        while let Some(start) = rest.find('{') {
            let at = text.len() - rest.len() + start;
            line = line.saturating_add(memchr::memchr_iter(b'\n', &text.as_bytes()[passed..at]).count() as u32);
            passed = at;
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Dump<'_>>();
            match values.next() {
                Some(Ok(dump)) => {
                    rest = &text[at + values.byte_offset()..];
                    let attributes =
                        dump.attributes.filter(|attributes| attributes.session.as_deref() == Some(session));
                    if let Some(attributes) = attributes {
                        has_any = true;
                        let source = *source.get_or_insert_with(|| draft.source(path));
                        telemetry.add(&attributes, Place { source, line });
                    }
                }
                // A record that is cut or of another form. The next one begins at a line of its own.
                other => {
                    if other.is_some_and(|read| read.is_err_and(|error| !error.is_data())) {
                        let source = *source.get_or_insert_with(|| draft.source(path));
                        draft.note(Code::DamagedLine, Some(Place { source, line }));
                    }
                    match text[at..].find("\n{") {
                        Some(next) => rest = &text[at + next + 1..],
                        None => break,
                    }
                }
            }
        }
        telemetry.failed.sort_by_key(|attempt| attempt.at);
        has_any.then_some(telemetry)
    }

    fn add(&mut self, attributes: &Attributes<'_>, place: Place) {
        let Some(at) = attributes.timestamp.as_deref().and_then(millis) else { return };
        if attributes.role.as_deref().is_some_and(|role| !ROLES.contains(&role)) {
            return;
        }
        let duration = attributes
            .duration_ms
            .or(attributes.duration)
            .filter(|duration| (0.0..1e12).contains(duration))
            .map(|ms| ms as i64);
        match attributes.name.as_deref() {
            // The dump does not tell which child asked.
            Some("gemini_cli.api_error") if attributes.role.as_deref() != Some("subagent") => {
                let old = attributes.error.and_then(|error| serde_json::from_str::<Text<'_>>(error.get()).ok());
                let message = attributes.error_message.as_deref().or(old.as_deref()).unwrap_or("the request failed");
                let status = attributes.status_code.map(|status| status.get().trim_matches('"'));
                let status = status.filter(|status| status.parse::<u16>().is_ok());
                let model = attributes.model.as_deref().or(attributes.model_name.as_deref());
                self.failed.push(Attempt {
                    at,
                    began: duration.map(|duration| at - duration),
                    model: model.unwrap_or_default().to_owned(),
                    error: status.map_or_else(|| message.to_owned(), |status| format!("HTTP {status}: {message}")),
                    place,
                });
            }
            Some("gemini_cli.api_response") => {
                let count = |number: Option<f64>| number.unwrap_or_default() as u64;
                let (input, output) = (count(attributes.input_token_count), count(attributes.output_token_count));
                if let Some(duration_ms) = duration {
                    self.responses.entry((input, output)).or_default().push(Response { at, duration_ms });
                }
            }
            _ => {}
        }
    }

    /// Returns the failed attempts of a thread in the order of their times.
    pub(crate) fn failed(&self, session: &str, is_child: bool) -> &[Attempt] {
        if is_child || self.session != session { &[] } else { &self.failed }
    }

    /// Returns when the request was sent whose answer was complete at a time, with these tokens.
    pub(crate) fn start_of(&self, at: i64, usage: &Usage) -> Option<i64> {
        let outputs = [usage.output, usage.output.saturating_sub(usage.reasoning_output)];
        let found = outputs.iter().find_map(|output| self.responses.get(&(usage.input, *output)))?;
        let near = found.iter().min_by_key(|response| response.at.abs_diff(at))?;
        (near.at.abs_diff(at) <= MAX_DISTANCE_MS).then(|| near.at.min(at) - near.duration_ms)
    }
}
