//! Collects the failures of a command that continues with the next bundle.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;
use crate::ui::text;

/// Prints failures to stderr while the command continues. Each hint is printed once.
#[derive(Debug)]
pub(crate) struct Failed<'t> {
    terminal: &'t Terminal,
    worst: Option<Kind>,
    hints: HashSet<String>,
}

impl<'t> Failed<'t> {
    pub(crate) fn new(terminal: &'t Terminal) -> Self {
        Self { terminal, worst: None, hints: HashSet::new() }
    }

    /// Prints a failure, with the path of the bundle if the message does not contain it.
    pub(crate) fn say(&mut self, failure: &Failure, bundle: Option<&Path>) {
        self.worst = self.worst.max(Some(failure.kind()));
        let mut message = failure.message();
        let name = bundle.map(|bundle| text::clean(&bundle.to_string_lossy()).into_owned());
        if let Some(name) = name.filter(|name| !message.contains(name.as_str())) {
            message = format!("{name}: {message}");
        }
        let mut lines = self.terminal.error_line(&message);
        lines.push_str(failure.excerpt().unwrap_or_default());
        if let Some(hint) = failure.hint()
            && self.hints.insert(hint.to_owned())
        {
            lines.push_str(&self.terminal.hint_line(hint));
        }
        let _ = io::stderr().write_all(lines.as_bytes());
    }

    /// Returns how the command ended.
    pub(crate) fn ending(self) -> Ending {
        self.worst.map_or(Ending::Done, Ending::Failed)
    }
}
