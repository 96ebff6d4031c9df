//! What the layouts of opencode have in common: sessions with messages, and messages with parts, as JSON texts.

use std::ops::Range;

use trace_recorder::format::import::Place;

use super::records::SessionInfo;
use crate::draft::Draft;
use crate::error::ImportError;

/// A place that sessions are read from.
pub(crate) trait Store {
    /// Reads a session. Returns `None` if the store does not have it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn load(&mut self, id: &str, draft: &mut Draft) -> Result<Option<Loaded>, ImportError>;

    /// Returns the ids of the sessions that the agent of a session started, as far as the store lists them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn children(&mut self, id: &str) -> Result<Vec<String>, ImportError>;
}

/// A session as a store has it.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What the session is.
    pub(crate) info: SessionInfo,
    /// The text that holds all records.
    pub(crate) text: String,
    /// The messages, in any order.
    pub(crate) messages: Vec<StoredMessage>,
    /// Where the session itself is.
    pub(crate) place: Place,
}

/// A message in a [`Loaded`] session.
#[derive(Debug)]
pub(crate) struct StoredMessage {
    pub(crate) id: String,
    /// Its JSON, in [`Loaded::text`].
    pub(crate) json: Range<usize>,
    pub(crate) place: Place,
    /// Its parts, in any order.
    pub(crate) parts: Vec<StoredPart>,
}

/// A part of a message.
#[derive(Debug)]
pub(crate) struct StoredPart {
    pub(crate) id: String,
    /// Its JSON, in [`Loaded::text`].
    pub(crate) json: Range<usize>,
    pub(crate) place: Place,
}

impl Loaded {
    /// Makes a session without messages.
    pub(crate) fn new(info: SessionInfo, place: Place) -> Self {
        Self { info, text: String::new(), messages: Vec::new(), place }
    }

    /// Adds the text of a record, and returns where it is.
    pub(crate) fn add_text(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }
}
