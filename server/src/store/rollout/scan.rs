//! What a rollout says about its thread, line by line.
//!
//! The same lines are looked at here when a rollout is found and when it is written, so that a list that was kept and one
//! that was made anew say the same.

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
use super::{item, record, short};
use crate::store::summary::MAX_PREVIEW_CHARS;

/// Which events a scan looks at.
const LOOKED_AT: [&str; 9] = [
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

/// The event that gives a thread a name.
pub(crate) const NAME_EVENT: &str = "thread_name_updated";
/// The event that says what is known of the repository.
pub(crate) const GIT_EVENT: &str = "thread_git_updated";
/// The event by which an agent does not belong any more to the one that started it.
pub(crate) const CLOSED_EVENT: &str = "thread_spawn_edge_closed";

/// What a rollout says about its thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scan {
    /// Its first line.
    pub(crate) meta: Option<Meta>,
    /// Bytes that were looked at.
    pub(crate) bytes: u64,
    /// Whether the last line has no end.
    pub(crate) open: bool,
    /// Whether it lacks nothing else.
    pub(crate) open_is_whole: bool,
    /// Lines that are broken.
    pub(crate) broken: u64,
    /// The greatest number of a line.
    pub(crate) last_ordinal: Option<u64>,
    /// When the newest line was written, in milliseconds since 1970.
    pub(crate) updated_at_ms: Option<i64>,
    /// When the newest turn began.
    pub(crate) turn_at_ms: Option<i64>,
    /// First text of a user, and the number of its line.
    pub(crate) preview: Option<(Option<u64>, String)>,
    /// The name, and when it was given.
    pub(crate) name: Option<(i64, String)>,
    /// The folder, as it is now.
    pub(crate) cwd: Option<String>,
    /// The provider, as it is now.
    pub(crate) provider: Option<String>,
    /// The model, as it is now.
    pub(crate) model: Option<String>,
    /// The effort, as it is now.
    pub(crate) effort: Option<String>,
    /// What is known of the repository, as it is now; `None` if nobody said so since the first line.
    pub(crate) git: Option<Option<GitInfo>>,
    /// All tokens that were used.
    pub(crate) tokens: Option<u64>,
    /// Whether the agent does not belong any more to the one that started it.
    pub(crate) closed: bool,
}

impl Scan {
    /// Looks at a whole file.
    ///
    /// # Errors
    ///
    /// Returns the error of the system when the file cannot be read.
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

    /// Looks at a line that was appended, with its end; and with the end of a torn line before it, if there is one.
    pub(crate) fn appended(&mut self, written: &str) {
        self.bytes += written.len() as u64;
        if std::mem::take(&mut self.open) && !self.open_is_whole {
            // What was torn has an end now, and is broken for good.
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
            // A last line without an end is not broken, but not yet whole.
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
                if !LOOKED_AT.contains(&tag.as_ref()) || (tag == "item_completed" && self.preview.is_some()) {
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
            // Lists do not show what is long in it.
            None => self.meta = Some(Meta { base_instructions: None, dynamic_tools: Vec::new(), ..found }),
            // Another program says again whose it is when it learns about the repository. Lines that were copied from
            // another thread can say whose they were.
            Some(first) if first.id == found.id => self.git = Some(found.git),
            Some(_) => {}
        }
    }

    fn add_event(&mut self, kind: &str, payload: &Value, line: &Line<'_>) {
        match kind {
            "task_started" | "turn_started" => self.turn_at_ms = self.turn_at_ms.max(line.at_ms),
            "user_message" => self.add_message(&short::read_message(payload), line.ordinal),
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

/// Returns what a list shows of a message; nothing if it has no text.
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
