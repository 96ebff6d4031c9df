//! The status line at the bottom of the terminal, which shows what the agents are doing.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressStyle};
use trace_explain::live::Status;

use crate::ui::output::{Paint, Terminal};
use crate::ui::text::{self, number, preview};

/// Pause between two updates of the line.
const REFRESH: Duration = Duration::from_millis(100);

/// Most agents whose activity is shown.
const SHOWN_AGENTS: usize = 4;

/// Most columns of an agent's activity.
const DOING_COLUMNS: usize = 40;

/// The status line. It is hidden if there is no terminal.
pub(super) struct StatusLine {
    bar: ProgressBar,
    paint: Paint,
    shown: Option<Instant>,
}

impl StatusLine {
    pub(super) fn new(terminal: &Terminal, is_wanted: bool) -> Self {
        let bar = if is_wanted && terminal.shows_status() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        // If the width is not known, the message is cut at the edge of the terminal.
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        Self { bar: bar.with_style(style), paint: terminal.paint_stderr(), shown: None }
    }

    /// Shows the status of the session.
    pub(super) fn show(&mut self, status: &Status) {
        if self.bar.is_hidden() || self.shown.is_some_and(|shown| shown.elapsed() < REFRESH) {
            return;
        }
        self.shown = Some(Instant::now());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
        let dim = self.paint.dim;
        let text = sentence(status, i64::try_from(now).unwrap_or(i64::MAX));
        self.bar.set_message(format!("{dim}{text}{dim:#}"));
        self.bar.tick();
    }

    /// Writes something above the status line.
    pub(super) fn above<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Removes the status line.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Formats the status line for a time.
fn sentence(status: &Status, now_unix_ms: i64) -> String {
    let since = |then: i64| text::duration(now_unix_ms.saturating_sub(then).max(0));
    let mut parts = vec![
        since(status.last_event_unix_ms.saturating_sub(status.elapsed_ms)),
        format!("{} of {} running", status.agents.len(), text::count(status.agents_started as u64, "agent")),
        format!("{} in, {} out", number(status.tokens.input), number(status.tokens.output)),
    ];
    for agent in status.agents.iter().take(SHOWN_AGENTS) {
        let path = preview(&agent.agent_path, DOING_COLUMNS);
        parts.push(match (&agent.doing, agent.since_unix_ms) {
            (Some(doing), Some(since_unix_ms)) => {
                format!("{path} {} ({})", text::command(doing, DOING_COLUMNS), since(since_unix_ms))
            }
            _ => format!("{path} waits"),
        });
    }
    if status.agents.len() > SHOWN_AGENTS {
        parts.push(format!("and {} more", status.agents.len() - SHOWN_AGENTS));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_explain::live::{AgentNow, Tokens};

    #[test]
    fn the_line_says_who_is_doing_what() {
        let agent = |path: &str, doing: Option<&str>| AgentNow {
            agent_path: path.to_owned(),
            doing: doing.map(str::to_owned),
            since_unix_ms: doing.map(|_| 9_000),
        };
        let mut status = Status {
            elapsed_ms: 8_000,
            last_event_unix_ms: 9_500,
            agents_started: 7,
            agents: vec![agent("/root", Some("exec_command make\nall")), agent("/root/a", None)],
            tokens: Tokens { input: 12_000, cached_input: 1, output: 345, reasoning_output: 2 },
        };
        let shown = sentence(&status, 11_000);
        insta::assert_snapshot!(shown, @"9.5 s · 2 of 7 agents running · 12,000 in, 345 out · /root exec_command make⏎all (2.0 s) · /root/a waits");
        status.agents.extend((0..5).map(|n| agent(&format!("/root/{n}"), Some("thinks"))));
        assert!(sentence(&status, 11_000).ends_with(" · and 3 more"));
    }
}
