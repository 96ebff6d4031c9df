//! What users and their instructions said: the words that cover what an agent does.

use trace_reducer::model::{ItemKind, Role, ThreadIdx};

use super::item_text::text_of_item;
use crate::family::Family;
use crate::session::Session;
use crate::why::{Kind, by_user_role};

/// A message of a user, or a file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The agent that got it.
    pub thread: ThreadIdx,
    /// Sequence number of the event that shows it.
    pub seq: u64,
    /// The text.
    pub text: String,
    /// The text in lower case.
    pub lower: String,
    /// Whether a user wrote it. Otherwise it is a file of instructions.
    pub is_message: bool,
}

/// Beginnings of files of instructions that a client puts before the model for the user.
const INSTRUCTIONS: [&str; 5] = ["# AGENTS.md", "<INSTRUCTIONS>", "<user_instructions>", "# CLAUDE.md", "Contents of "];

/// Returns what users and instructions said, in the order of the log. What the client itself brings is left out: its
/// own instructions, descriptions of tools and of the environment.
pub fn user_words(session: &Session, family: &Family) -> Vec<Words> {
    let trace = session.trace();
    let mut found: Vec<Words> = Vec::new();
    for (index, item) in trace.items.iter() {
        if item.kind != ItemKind::Message || item.role != Role::User || item.agent_message.is_some() {
            continue;
        }
        // A child gets its task in the role of a user; that is the word of its parent.
        let is_root = family.parent(item.thread).is_none();
        let kind = by_user_role(item);
        let text = text_of_item(session, index);
        let is_instructions =
            kind == Kind::Instructions && INSTRUCTIONS.iter().any(|start| text.trim_start().starts_with(start));
        let is_message = kind == Kind::UserInput && is_root;
        if text.is_empty() || !(is_message || is_instructions) {
            continue;
        }
        let seq = item.accepted.map_or(item.first_seen.seq, |accepted| accepted.seq.min(item.first_seen.seq));
        found.push(Words { thread: item.thread, seq, lower: text.to_lowercase(), text, is_message });
    }
    found.sort_by_key(|words| words.seq);
    found
}
