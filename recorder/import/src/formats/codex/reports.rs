//! When tools began to run. A rollout reports a run when it has ended, so the starts are collected first.

use std::collections::HashMap;
use std::path::Path;

use memchr::memmem;
use serde_json::{Value, json};

use super::record::{EventMsg, Line, RuntimeItem};
use crate::records::open;

/// The start of a run that is reported later in the file.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) at: i64,
    /// Line of the report.
    pub(super) line: u32,
    pub(super) id: String,
    /// What the runtime reports at the start of a command.
    pub(super) begin: Value,
    /// Whether code of the model started the command, and not the model itself.
    pub(super) is_nested: bool,
    pub(super) display: String,
}

/// The starts of a file, by time.
#[derive(Debug, Default)]
pub(super) struct Starts {
    list: Vec<Start>,
    next: usize,
    by_line: HashMap<u32, usize>,
}

impl Starts {
    /// Collects the starts of the commands of a file. A file that cannot be read has none; reading it again tells why.
    pub(super) fn read(path: &Path) -> Self {
        let mut list = Vec::new();
        let Ok(mut reader) = open(path) else { return Self::default() };
        let finder = memmem::Finder::new(b"\"CommandExecution\"");
        let (mut buffer, mut line) = (Vec::new(), 0);
        loop {
            buffer.clear();
            match std::io::BufRead::read_until(&mut reader, b'\n', &mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(_) => line += 1,
            }
            if finder.find(&buffer).is_some()
                && let Some(start) = start_in(&buffer, line)
            {
                list.push(start);
            }
        }
        list.sort_by_key(|start| (start.at, start.line));
        let by_line = list.iter().enumerate().map(|(index, start)| (start.line, index)).collect();
        Self { list, next: 0, by_line }
    }

    /// Returns the next start that lies no later than `at`, if there is one.
    pub(super) fn next_until(&mut self, at: i64) -> Option<Start> {
        let start = self.list.get(self.next).filter(|start| start.at <= at)?.clone();
        self.next += 1;
        Some(start)
    }

    /// Returns the start that the report in `line` belongs to.
    pub(super) fn of_line(&self, line: u32) -> Option<&Start> {
        self.by_line.get(&line).and_then(|index| self.list.get(*index))
    }
}

fn start_in(line: &[u8], number: u32) -> Option<Start> {
    let line_: Line<'_> = serde_json::from_slice(line).ok()?;
    if line_.tag != "event_msg" {
        return None;
    }
    let event: EventMsg<'_> = serde_json::from_str(line_.payload.get()).ok()?;
    let at = event.started_at_ms?;
    let item: RuntimeItem<'_> = serde_json::from_str(event.item?.get()).ok()?;
    if item.tag != "CommandExecution" {
        return None;
    }
    Some(Start {
        at,
        line: number,
        id: item.id.to_string(),
        begin: begin_of(&item),
        is_nested: item.id.starts_with(NESTED),
        display: item.command.last().map(ToString::to_string).unwrap_or_default(),
    })
}

/// Beginning of the ids of commands that code of the model started.
const NESTED: &str = "exec-";

/// Returns what the runtime reports at the start of a command.
pub(super) fn begin_of(item: &RuntimeItem<'_>) -> Value {
    json!({
        "command": item.command,
        "cwd": directory(item.cwd.as_deref().unwrap_or_default()),
        "process_id": item.process_id,
    })
}

/// Returns a directory that is written as a URL as a path.
fn directory(cwd: &str) -> &str {
    cwd.strip_prefix("file://").unwrap_or(cwd)
}
