//! Prints events above the status line.

use trace_explain::live::{Happening, Status};

use super::line::Lines;
use super::status::StatusLine;
use crate::ui::failure::Failure;
use crate::ui::output::Terminal;

/// Where events are printed, as lines or as JSON, and the status of the session below them.
pub(super) struct Screen<'a> {
    terminal: &'a Terminal,
    is_json: bool,
    lines: Lines,
    status: StatusLine,
}

impl<'a> Screen<'a> {
    /// Shows a status line only if `has_status`, and if there is a terminal.
    pub(super) fn new(terminal: &'a Terminal, is_json: bool, has_status: bool) -> Self {
        let status = StatusLine::new(terminal, has_status && !is_json);
        Self { terminal, is_json, lines: Lines::new(terminal.paint()), status }
    }

    /// Prints events.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be written.
    pub(super) fn print(&mut self, happenings: &[Happening]) -> Result<(), Failure> {
        if happenings.is_empty() {
            return Ok(());
        }
        let Self { lines, terminal, is_json, status } = self;
        status.above(|| {
            if *is_json {
                happenings.iter().try_for_each(|happening| terminal.print_json_line(happening))
            } else {
                let text: String = happenings.iter().map(|happening| lines.line(happening)).collect();
                terminal.print(&text)
            }
        })
    }

    /// Shows what the agents are doing now.
    pub(super) fn show_status(&mut self, status: &Status) {
        self.status.show(status);
    }

    /// Removes the status line.
    pub(super) fn clear(&self) {
        self.status.clear();
    }
}
