//! Summarizes a rollout line by line.
//!
//! The same code handles lines when a rollout is read and when it is written. Therefore, a summary that was updated
//! during writing equals one that was read again.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trace_protocol::item::{ThreadItem, UserInput};
use trace_protocol::thread::GitInfo;

use super::line::{Line, LineKind};
use super::meta::{self, Meta};
use super::reader::{Ending, Text, each_line};
use super::spelling::text;
use super::{item, record, short_event};
use crate::store::summary::MAX_PREVIEW_CHARS;

/// The events that change a scan.
const SCANNED_EVENTS: [&str; 9] = [
    "task_started",
    "turn_started",
    "user_message",
    "item_completed",
    "token_count",
    "thread_settings_applied",
    NAME_EVENT,
    GIT_EVENT,
    CLOSED_EVENT,
];

/// The event that names a thread.
pub(crate) const NAME_EVENT: &str = "thread_name_updated";
/// The event that stores the Git information of a thread.
pub(crate) const GIT_EVENT: &str = "thread_git_updated";
/// The event that closes an agent, so that it no longer belongs to its parent.
pub(crate) const CLOSED_EVENT: &str = "thread_spawn_edge_closed";

/// A summary of a rollout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scan {
    /// The metadata of its first line.
    pub(crate) meta: Option<Meta>,
    /// Number of bytes that were read.
    pub(crate) bytes: u64,
    /// Whether the last line has no line break.
    pub(crate) open: bool,
    /// Whether the last line is valid except for its missing line break.
    pub(crate) open_is_whole: bool,
    /// Number of invalid lines.
    pub(crate) broken: u64,
    /// The greatest line number.
    pub(crate) last_ordinal: Option<u64>,
    /// Time of the newest line, in milliseconds since 1970.
    pub(crate) updated_at_ms: Option<i64>,
    /// Start time of the newest turn, in milliseconds since 1970.
    pub(crate) turn_at_ms: Option<i64>,
    /// The text of the first user message, with the number of its line.
    pub(crate) preview: Option<(Option<u64>, String)>,
    /// The time at which the thread was named, in milliseconds since 1970, and the name.
    pub(crate) name: Option<(i64, String)>,
    /// The current folder.
    pub(crate) cwd: Option<String>,
    /// The current provider.
    pub(crate) provider: Option<String>,
    /// The current model.
    pub(crate) model: Option<String>,
    /// The current reasoning effort.
    pub(crate) effort: Option<String>,
    /// The current Git information. `None` if it has not changed since the first line.
    pub(crate) git: Option<Option<GitInfo>>,
    /// All tokens that the thread has used.
    pub(crate) tokens: Option<u64>,
    /// Whether the agent was closed.
    pub(crate) closed: bool,
}

impl Scan {
    /// Reads a whole file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut scan = Self::default();
        let Ending { bytes, open } = each_line(path, None, |_, text| {
            scan.add_text(text);
            ControlFlow::Continue(())
        })?;
        scan.bytes = bytes;
        scan.open = open;
        Ok(scan)
    }

    /// Adds an appended line with its line break. `written` may start with a line break that ends an incomplete line.
    pub(crate) fn appended(&mut self, written: &str) {
        self.bytes += written.len() as u64;
        if std::mem::take(&mut self.open) && !self.open_is_whole {
            // The incomplete line has been ended and stays invalid.
            self.broken += 1;
        }
        self.add_text(Text::Whole(written.trim_matches('\n')));
    }

    fn add_text(&mut self, text: Text<'_>) {
        let line = match text {
            Text::Whole(text) | Text::Open(text) => Line::read(text),
            Text::Unreadable => None,
        };
        match (line, text) {
            (Some(line), text) => {
                self.open_is_whole = matches!(text, Text::Open(_));
                self.add(&line);
            }
            // A last line without a line break may be incomplete, so it does not count as invalid.
            (None, Text::Open(_)) => self.open_is_whole = false,
            (None, _) => self.broken += 1,
        }
    }

    fn add(&mut self, line: &Line<'_>) {
        self.last_ordinal = self.last_ordinal.max(line.ordinal);
        self.updated_at_ms = self.updated_at_ms.max(line.at_ms);
        match line.kind {
            LineKind::SessionMeta => self.add_meta(&line.payload(), line.at_ms),
            LineKind::TurnContext => {
                let payload = line.payload();
                self.cwd = text(&payload, "cwd").or(self.cwd.take());
                self.model = text(&payload, "model").or(self.model.take());
                self.effort = text(&payload, "effort");
            }
            LineKind::Event => {
                let tag = line.tag();
                if !SCANNED_EVENTS.contains(&tag.as_ref()) || (tag == "item_completed" && self.preview.is_some()) {
                    return;
                }
                self.add_event(&tag, &line.payload(), line);
            }
            LineKind::ResponseItem | LineKind::Compacted | LineKind::Other => {}
        }
    }

    fn add_meta(&mut self, payload: &Value, at_ms: Option<i64>) {
        let Some(found) = Meta::read(payload, at_ms) else { return };
        match &self.meta {
            // Omit the long members, which lists do not show.
            None => self.meta = Some(Meta { base_instructions: None, dynamic_tools: Vec::new(), ..found }),
            // The Codex CLI repeats the metadata when it learns about the repository. Lines that were copied from
            // another thread can contain the metadata of that thread.
            Some(first) if first.id == found.id => self.git = Some(found.git),
            Some(_) => {}
        }
    }

    fn add_event(&mut self, kind: &str, payload: &Value, line: &Line<'_>) {
        match kind {
            "task_started" | "turn_started" => self.turn_at_ms = self.turn_at_ms.max(line.at_ms),
            "user_message" => self.add_message(&short_event::read_message(payload), line.ordinal),
            "item_completed" => {
                let user = payload.get("item").filter(|item| text(item, "type").as_deref() == Some("UserMessage"));
                if let Some(ThreadItem::UserMessage(message)) = user.and_then(item::read) {
                    self.add_message(&message.content, line.ordinal);
                }
            }
            "token_count" => {
                self.tokens = record::read_usage(payload).map(|usage| usage.total.total).or(self.tokens);
            }
            "thread_settings_applied" => {
                let Some(settings) = payload.get("thread_settings") else { return };
                self.cwd = text(settings, "cwd").or(self.cwd.take());
                self.provider = text(settings, "model_provider_id").or(self.provider.take());
                self.model = text(settings, "model").or(self.model.take());
                self.effort = text(settings, "reasoning_effort");
            }
            NAME_EVENT => {
                if let Some(name) = text(payload, "thread_name").filter(|name| !name.is_empty()) {
                    self.name = Some((line.at_ms.unwrap_or(0), name));
                }
            }
            GIT_EVENT => self.git = Some(payload.get("git").and_then(meta::read_git)),
            CLOSED_EVENT => self.closed = true,
            _ => {}
        }
    }

    fn add_message(&mut self, content: &[UserInput], ordinal: Option<u64>) {
        if self.preview.is_none()
            && let Some(preview) = preview(content)
        {
            self.preview = Some((ordinal, preview));
        }
    }
}

/// Returns the preview of a message. Returns `None` if the message has no text.
fn preview(content: &[UserInput]) -> Option<String> {
    let mut shown = String::new();
    for input in content {
        if let UserInput::Text { text, .. } = input {
            shown.push_str(text);
        }
    }
    let shown = shown.trim();
    (!shown.is_empty()).then(|| shown.chars().take(MAX_PREVIEW_CHARS).collect())
}
