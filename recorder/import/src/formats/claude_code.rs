//! Transcripts of Claude Code: `projects/<folder>/<session>.jsonl`, and the files of children.
//!
//! A transcript is a tree of lines. One branch of it is the conversation; the lines of others are shown, but no later request
//! has them. An answer of the model has one line per block. Version 2.1.330 also records the requests, from which what the
//! model saw is put together exactly; for others it is rebuilt from the conversation, without what the program put in front.

mod answers;
mod asks;
mod calls;
mod canonical;
mod compaction;
mod copies;
mod errors;
mod history;
mod items;
mod kin;
mod layout;
mod prompt;
mod recorded;
mod records;
mod scan;
mod session;
mod stream;
mod tables;
mod teller;
mod thread;
mod transcript;
mod turns;

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};

pub(crate) use stream::ClaudeCodeStream;

/// The transcripts of Claude Code.
#[derive(Debug)]
pub(crate) struct ClaudeCode;

/// Lines of a file's head that are looked at.
const MAX_HEAD_LINES: usize = 40;

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn agent(&self) -> &'static str {
        "Claude Code"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::Sometimes,
            request_ids: Known::Yes,
            request_start: Known::Sometimes,
            request_end: Known::Yes,
            request_body: Known::Rebuilt,
            tool_times: Known::Yes,
            children: Known::Yes,
            failed_attempts: Known::Sometimes,
            usage: Known::Yes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        if source.is_dir || source.extension() != "jsonl" {
            return false;
        }
        source.lines().take(MAX_HEAD_LINES).any(is_own)
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        if layout::is_child(path) && layout::root(path) != path {
            return Ok(Vec::new());
        }
        let holds_session = has_messages(path)?;
        Ok(holds_session.then(|| SessionRef::file(self.name(), path)).into_iter().collect())
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        session::read(&session.path, draft)
    }

    fn stands_alone(&self, path: &Path) -> bool {
        !layout::is_child(path)
    }

    fn may_read(&self, path: &Path) -> bool {
        layout::is_child(path)
    }

    fn stores(&self, homes: &Homes) -> Vec<PathBuf> {
        let folders = match &homes.claude {
            Some(folder) => vec![folder.clone()],
            None => vec![homes.home.join(".claude"), homes.home.join(".config/claude")],
        };
        folders.into_iter().map(|folder| folder.join("projects")).collect()
    }
}

/// Returns whether a line is one of a transcript.
fn is_own(line: &[u8]) -> bool {
    let Some(line) = std::str::from_utf8(line).ok().and_then(records::Line::parse) else { return false };
    let is_message = line.uuid.is_some() && line.session.is_some() && line.is_sidechain.is_some();
    match line.kind() {
        "user" | "assistant" | "system" | "attachment" | "progress" => is_message,
        "summary" => line.leaf.is_some() && line.summary.is_some(),
        "queue-operation" | "mode" | "permission-mode" | "last-prompt" | "api-request" | "atis-latch" => {
            line.session.is_some() || line.id.is_some()
        }
        "file-history-snapshot" | "file-history-delta" => true,
        _ => false,
    }
}

/// Returns whether a transcript has a line of the conversation. Some hold only titles of other sessions.
fn has_messages(path: &Path) -> Result<bool, ImportError> {
    let mut draft = Draft::for_summary("claude-code");
    let mut records = crate::records::Records::open_start(path, &mut draft)?;
    let kinds = ["\"user\"", "\"assistant\""].map(memchr::memmem::Finder::new);
    while let Some(record) = records.next(&mut draft)? {
        // Most lines in front of the conversation are long, and are not read.
        if kinds.iter().all(|kind| kind.find(record.bytes).is_none()) {
            continue;
        }
        let line = std::str::from_utf8(record.bytes).ok().and_then(records::Line::parse);
        if line.is_some_and(|line| matches!(line.kind(), "user" | "assistant")) {
            return Ok(true);
        }
    }
    Ok(false)
}
