//! Reads a chat file, which is a log of patches, into messages and changes of the history.

use std::collections::HashMap;
use std::path::Path;

use trace_recorder::format::import::Place;

use super::records::{Line, WholeFile};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::records::Records;
use crate::text::{Lines, read_text};
use crate::time::millis;

/// What a file says of its session.
#[derive(Debug, Default)]
pub(crate) struct Header {
    pub(crate) session: String,
    pub(crate) is_child: bool,
    pub(crate) started: Option<i64>,
    pub(crate) directory: Option<String>,
}

/// A message in its last form.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) id: String,
    pub(crate) json: String,
    /// Where it was written first.
    pub(crate) place: Place,
    /// Where it was written last.
    pub(crate) updated: Place,
}

/// What happened, in the order of the file.
#[derive(Debug)]
pub(crate) enum Step {
    /// A message was written. The index is that in [`Log::messages`].
    Message(usize),
    /// The history was replaced by these messages.
    Replace(Vec<Listed>, Place),
    /// The history was cut in front of the message with this id.
    Rewind(String, Place),
}

/// A message of a new history.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) json: String,
}

/// A chat file.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) header: Header,
    /// Where the file begins.
    pub(crate) place: Option<Place>,
    pub(crate) steps: Vec<Step>,
    pub(crate) messages: Vec<Folded>,
    /// The name of the session.
    pub(crate) summary: Option<String>,
}

impl Log {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or has no session.
    pub(crate) fn read(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let is_whole = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".json"));
        let log = if is_whole { Self::read_whole(path, draft)? } else { Self::read_lines(path, draft)? };
        if log.header.session.is_empty() {
            return Err(ImportError::Empty { path: path.to_owned(), reason: "no line has the id of the session" });
        }
        Ok(log)
    }

    fn read_lines(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let mut records = Records::open(path, draft)?;
        let mut log = Self::default();
        let mut by_id = HashMap::new();
        while let Some(record) = records.next(draft)? {
            log.place.get_or_insert(record.place);
            let text = String::from_utf8_lossy(record.bytes);
            match serde_json::from_str::<Line<'_>>(&text) {
                Ok(line) => log.line(&line, &text, record.place, &mut by_id, draft),
                Err(_) => draft.note(Code::DamagedLine, Some(record.place)),
            }
        }
        Ok(log)
    }

    fn line(
        &mut self,
        line: &Line<'_>,
        text: &str,
        place: Place,
        by_id: &mut HashMap<String, usize>,
        draft: &mut Draft,
    ) {
        if let Some(set) = &line.set {
            if let Some(summary) = &set.summary {
                self.summary = Some(summary.0.clone().into_owned());
            }
            if let Some(messages) = &set.messages {
                let mut listed = Vec::with_capacity(messages.len());
                for raw in messages {
                    match serde_json::from_str::<Line<'_>>(raw.get()).ok().and_then(|line| line.id) {
                        Some(id) => listed.push(Listed { id: id.0.into_owned(), json: raw.get().to_owned() }),
                        None => draft.note(Code::DamagedLine, Some(place)),
                    }
                }
                self.steps.push(Step::Replace(listed, place));
            }
        } else if let Some(id) = &line.rewind {
            self.steps.push(Step::Rewind(id.0.clone().into_owned(), place));
        } else if line.message.is_some() {
            let id = line.id.as_deref().unwrap_or_default().to_owned();
            self.message(id, text.to_owned(), place, by_id);
        } else if let Some(session) = &line.session {
            // Each process that goes on with the session writes the header again.
            if self.header.session.is_empty() {
                self.header = Header {
                    session: session.0.clone().into_owned(),
                    is_child: line.kind.as_deref() == Some("subagent"),
                    started: line.start.as_deref().and_then(millis),
                    directory: line.directories.as_ref().and_then(|all| Some(all.first()?.0.clone().into_owned())),
                };
            }
        } else {
            draft.unknown(&first_member(text), place);
        }
    }

    fn message(&mut self, id: String, json: String, place: Place, by_id: &mut HashMap<String, usize>) {
        if let Some(known) = by_id.get(&id).filter(|_| !id.is_empty()) {
            let message = &mut self.messages[*known];
            message.json = json;
            message.updated = place;
            return;
        }
        by_id.insert(id.clone(), self.messages.len());
        self.steps.push(Step::Message(self.messages.len()));
        self.messages.push(Folded { id, json, place, updated: place });
    }

    fn read_whole(path: &Path, draft: &mut Draft) -> Result<Self, ImportError> {
        let text = read_text(path)?;
        let source = draft.source(path);
        let damaged =
            |error: serde_json::Error| ImportError::Damaged { path: path.to_owned(), reason: error.to_string() };
        let whole: WholeFile<'_> = serde_json::from_str(&text).map_err(damaged)?;
        let mut log = Self {
            header: Header {
                session: whole.session.0.clone().into_owned(),
                is_child: whole.kind.as_deref() == Some("subagent"),
                started: whole.start.as_deref().and_then(millis),
                directory: whole.directories.as_ref().and_then(|all| Some(all.first()?.0.clone().into_owned())),
            },
            place: Some(Place { source, line: 1 }),
            summary: whole.summary.map(|summary| summary.0.into_owned()),
            ..Self::default()
        };
        let mut by_id = HashMap::new();
        let mut lines = Lines::new(&text);
        for raw in whole.messages {
            let place = Place { source, line: lines.of(raw) };
            match serde_json::from_str::<Line<'_>>(raw.get()) {
                Ok(line) => {
                    let id = line.id.as_deref().unwrap_or_default().to_owned();
                    log.message(id, raw.get().to_owned(), place, &mut by_id);
                }
                Err(_) => draft.note(Code::DamagedLine, Some(place)),
            }
        }
        Ok(log)
    }
}

/// Returns the name of the first member of an object, which tells what a line without a type is.
fn first_member(object: &str) -> String {
    let members = object.trim_start().strip_prefix('{').unwrap_or_default();
    serde_json::Deserializer::from_str(members).into_iter().next().and_then(Result::ok).unwrap_or_default()
}
