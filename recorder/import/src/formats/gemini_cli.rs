//! Sessions of Gemini CLI: chat files, which are logs of patches.

mod calls;
mod history;
mod log;
mod records;
mod session;
mod telemetry;
mod thread;

use std::path::{Path, PathBuf};

use self::records::Line;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};

/// Lines by which a chat file is recognized. The first one may be damaged.
const MAX_LINES: usize = 8;

/// Chat files of Gemini CLI.
pub(crate) struct GeminiCli;

impl Format for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini-cli"
    }

    fn agent(&self) -> &'static str {
        "Gemini CLI"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::No,
            request_ids: Known::No,
            request_start: Known::Sometimes,
            request_end: Known::Yes,
            request_body: Known::Rebuilt,
            tool_times: Known::Sometimes,
            children: Known::Yes,
            failed_attempts: Known::Sometimes,
            usage: Known::Yes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        if source.is_dir {
            return false;
        }
        match source.extension() {
            "jsonl" => source.lines().take(MAX_LINES).any(is_header),
            "json" => is_whole(source.head),
            _ => false,
        }
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        Ok(if has_parent(path) { Vec::new() } else { vec![SessionRef::file(self.name(), path)] })
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        session::read(&session.path, draft)
    }

    fn companions(&self, path: &Path) -> Vec<PathBuf> {
        let roots = path.ancestors().skip(2).take(2).map(|folder| folder.join(".project_root"));
        telemetry::places(path).chain(roots).collect()
    }

    fn stores(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.home.join(".gemini/tmp")]
    }
}

fn is_header(line: &[u8]) -> bool {
    let line: Result<Line<'_>, _> = serde_json::from_slice(line);
    line.is_ok_and(|line| line.session.is_some() && line.project.is_some() && line.message.is_none())
}

/// Returns whether a file begins like a session of older versions, which are one object.
fn is_whole(head: &[u8]) -> bool {
    let head = &head[..head.len().min(1 << 10)];
    let has = |key: &str| memchr::memmem::find(head, format!("\"{key}\"").as_bytes()).is_some();
    head.trim_ascii_start().starts_with(b"{") && has("sessionId") && has("projectHash") && has("messages")
}

/// Returns whether a file is that of a child whose parent is there: its folder has the name of the parent's session, and the
/// parent's file ends with the first part of that.
fn has_parent(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let session = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(start) = session.get(..8) else { return false };
    let Some(Ok(chats)) = folder.parent().map(std::fs::read_dir) else { return false };
    let mut names = chats.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let ends = [format!("-{start}.jsonl"), format!("-{start}.json")];
    names.any(|name| name.starts_with("session-") && ends.iter().any(|end| name.ends_with(end)))
}
