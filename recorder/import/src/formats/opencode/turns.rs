//! The messages of a session, read and grouped into turns.

use std::collections::HashMap;

use super::records::{Message, Part};
use super::store::{Loaded, StoredMessage, StoredPart};
use crate::draft::Draft;
use crate::note::Code;

/// A message with its parts.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) stored: &'a StoredMessage,
    pub(crate) message: Message<'a>,
    pub(crate) parts: Vec<(&'a StoredPart, Part<'a>)>,
    /// Whether it is a copy of a message of the session that this one was forked from. Copies keep their times.
    pub(crate) is_copy: bool,
}

impl Entry<'_> {
    /// Returns whether a model was asked for this message. The program makes answers itself for commands that the user typed
    /// and for tasks that the user gave to a child.
    pub(crate) fn is_model_call(&self) -> bool {
        let message = &self.message;
        message.error.is_some()
            || message.usage().is_some()
            || message.time.completed().is_none()
            || self.has_part("step-start")
    }

    /// Returns whether the message has a part of this type.
    pub(crate) fn has_part(&self, kind: &str) -> bool {
        self.parts.iter().any(|(_, part)| *part.kind == *kind)
    }
}

/// A prompt and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Index of the prompt. It is missing in damaged sessions.
    pub(crate) prompt: Option<usize>,
    /// Indices of the answers.
    pub(crate) answers: Vec<usize>,
}

impl Turn {
    /// Returns the indices of all messages of the turn.
    pub(crate) fn messages(&self) -> impl Iterator<Item = usize> + '_ {
        self.prompt.into_iter().chain(self.answers.iter().copied())
    }
}

/// Reads the messages of a session in their order. Damaged ones are left out and noted.
pub(crate) fn entries<'a>(loaded: &'a Loaded, draft: &mut Draft) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(loaded.messages.len());
    for stored in &loaded.messages {
        let Ok(message) = serde_json::from_str::<Message<'_>>(&loaded.text[stored.json.clone()]) else {
            draft.note(Code::DamagedLine, Some(stored.place));
            continue;
        };
        let mut parts = Vec::with_capacity(stored.parts.len());
        for part in &stored.parts {
            match serde_json::from_str::<Part<'_>>(&loaded.text[part.json.clone()]) {
                Ok(read) => parts.push((part, read)),
                Err(_) => draft.note(Code::DamagedLine, Some(part.place)),
            }
        }
        parts.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        let is_copy = loaded.info.created.zip(message.time.created()).is_some_and(|(session, at)| at < session);
        entries.push(Entry { stored, message, parts, is_copy });
    }
    // Ids grow with time, but the ids of copies are newer than their times.
    let key = |entry: &Entry<'a>| (entry.message.time.created(), entry.stored.id.as_str());
    entries.sort_by(|one, other| key(one).cmp(&key(other)));
    entries
}

/// Groups messages into turns, in the order of their first messages.
pub(crate) fn turns(entries: &[Entry<'_>], draft: &mut Draft) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut by_prompt: HashMap<&str, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        match &*entry.message.role {
            "user" => {
                by_prompt.insert(&entry.stored.id, turns.len());
                turns.push(Turn { prompt: Some(index), ..Turn::default() });
            }
            "assistant" => {
                let parent = entry.message.parent.as_deref().unwrap_or_default();
                let turn = *by_prompt.entry(parent).or_insert(turns.len());
                if turn == turns.len() {
                    turns.push(Turn::default());
                }
                turns[turn].answers.push(index);
            }
            role => draft.unknown(role, entry.stored.place),
        }
    }
    turns
}
