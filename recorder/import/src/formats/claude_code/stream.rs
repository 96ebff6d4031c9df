//! The output of `claude -p --output-format stream-json`: one process, with its children between the lines.

use std::path::{Path, PathBuf};

use super::records::Line;
use super::session::{ChildLines, Session, tell};
use super::tables::{Map, Set};
use super::transcript::Transcript;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};

/// The output of Claude Code for programs.
#[derive(Debug)]
pub(crate) struct ClaudeCodeStream;

/// Lines of a file's head that are looked at. Hooks may write some before the session begins.
const MAX_HEAD_LINES: usize = 20;

impl Format for ClaudeCodeStream {
    fn name(&self) -> &'static str {
        "claude-code-stream"
    }

    fn agent(&self) -> &'static str {
        "Claude Code"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::No,
            request_ids: Known::Sometimes,
            request_start: Known::No,
            request_end: Known::Sometimes,
            request_body: Known::Rebuilt,
            tool_times: Known::Sometimes,
            children: Known::Yes,
            failed_attempts: Known::No,
            usage: Known::Sometimes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        let begins = |line: &[u8]| {
            let line = std::str::from_utf8(line).ok().and_then(Line::parse);
            line.is_some_and(|line| {
                line.kind() == "system"
                    && line.subtype.as_deref() == Some("init")
                    && line.session.is_some()
                    && line.model.is_some()
                    && line.is_sidechain.is_none()
            })
        };
        !source.is_dir && source.lines().take(MAX_HEAD_LINES).any(begins)
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        Ok(vec![SessionRef::file(self.name(), path)])
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let transcript = Transcript::read(&session.path, draft)?;
        let lines = transcript.entries(draft);
        let id = lines.iter().find_map(|entry| entry.line.session.as_deref());
        let id = id.unwrap_or_else(|| super::layout::stem(&session.path)).to_owned();
        let mut root = Vec::with_capacity(lines.len());
        let mut children: Vec<ChildLines<'_>> = Vec::new();
        let mut by_call: Map<&str, usize> = Map::default();
        for entry in &lines {
            let Some(call) = entry.line.parent_tool.as_deref() else {
                root.push(entry);
                continue;
            };
            let child = *by_call.entry(call).or_insert_with(|| {
                let agent = entry.line.agent.as_deref().unwrap_or(call).to_owned();
                children.push(ChildLines { agent, call: Some(call.to_owned()), ..ChildLines::default() });
                children.len() - 1
            });
            children[child].entries.push(entry);
        }
        tell(Session { id, root, children, copied: Set::default(), is_linear: true }, draft);
        Ok(())
    }

    fn stores(&self, _homes: &Homes) -> Vec<PathBuf> {
        Vec::new()
    }
}
