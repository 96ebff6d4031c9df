//! Formats an event as one line.

use std::collections::HashMap;

use anstyle::{AnsiColor, Style};
use trace_explain::live::{Event, Happening, Tokens};

use crate::ui::output::Paint;
use crate::ui::text::{self, number, preview};

/// Most columns of a text, such as a message or a command.
const DETAIL_COLUMNS: usize = 100;

/// Most columns of an agent's path that are aligned. Lines with longer paths are shifted.
const PATH_COLUMNS: usize = 32;

/// Colours of agents, in the order in which the agents appear.
const COLORS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::BrightCyan,
    AnsiColor::BrightMagenta,
];

/// Formats lines, and remembers the colours of the agents.
pub(super) struct Lines {
    paint: Paint,
    agents: HashMap<String, Style>,
    /// Columns of the longest path so far.
    path_columns: usize,
}

impl Lines {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, agents: HashMap::new(), path_columns: "/root".len() }
    }

    /// Returns the line of an event, with a line feed.
    pub(super) fn line(&mut self, happening: &Happening) -> String {
        let dim = self.paint.dim;
        let time = happening.elapsed_ms.map(clock).unwrap_or_default();
        let path = preview(happening.agent_path.as_deref().unwrap_or_default(), PATH_COLUMNS);
        self.path_columns = self.path_columns.max(path.chars().count());
        let style = self.style_of(happening.agent_path.as_deref());
        let columns = self.path_columns;
        let (tone, what) = describe(happening);
        let mark = match tone {
            Tone::Plain => Style::new(),
            Tone::Dim => self.paint.dim,
            Tone::Good => self.paint.good,
            Tone::Odd => self.paint.odd,
            Tone::Bad => self.paint.bad,
        };
        let preview = match happening.event {
            // A command or code is shown with its beginning and its end, and with visible escapes.
            Event::ToolStarted | Event::CellStarted => text::command,
            _ => preview,
        };
        let detail = happening.detail.as_deref().map(|detail| preview(detail, DETAIL_COLUMNS)).unwrap_or_default();
        let detail = if detail.is_empty() { detail } else { format!("{}{detail}", separator(happening.event)) };
        format!("{dim}{time:>10}{dim:#}  {style}{path:<columns$}{style:#}  {mark}{what}{mark:#}{detail}\n")
    }

    fn style_of(&mut self, path: Option<&str>) -> Style {
        // Without colours, all styles are plain.
        let Some(path) = path.filter(|_| self.paint.accent != Style::new()) else { return Style::new() };
        let next = COLORS[self.agents.len() % COLORS.len()].on_default();
        *self.agents.entry(path.to_owned()).or_insert(next)
    }
}

enum Tone {
    Plain,
    Dim,
    Good,
    Odd,
    Bad,
}

/// Returns what separates the description of an event from its text.
fn separator(event: Event) -> &'static str {
    match event {
        Event::ToolStarted | Event::CellStarted | Event::InferenceStarted => " ",
        _ => ": ",
    }
}

/// Describes an event in a few words.
fn describe(happening: &Happening) -> (Tone, String) {
    let subject = happening.subject.as_deref().map(|subject| preview(subject, DETAIL_COLUMNS)).unwrap_or_default();
    let to = happening.to_agent_path.as_deref().map(|path| preview(path, DETAIL_COLUMNS)).unwrap_or_default();
    let status = happening.status.as_deref().unwrap_or("ended");
    let time = happening.duration_ms.map(|duration| format!(" in {}", text::duration(duration))).unwrap_or_default();
    let after = happening.duration_ms.map(|duration| format!(" after {}", text::duration(duration)));
    let is_completed = status == "completed";
    let ended = |what: &str| {
        let what = if what.is_empty() { String::new() } else { format!("{what} ") };
        match is_completed {
            true => format!("{what}completed{time}"),
            false => format!("{what}{status}{}", after.as_deref().unwrap_or_default()),
        }
    };
    let tone = match status {
        "failed" => Tone::Bad,
        "cancelled" | "aborted" => Tone::Odd,
        _ => Tone::Plain,
    };
    match happening.event {
        Event::AgentStarted if subject.is_empty() => (Tone::Good, "agent started".to_owned()),
        Event::AgentStarted => (Tone::Good, format!("agent started with {subject}")),
        Event::AgentResumed => (Tone::Good, "agent resumed".to_owned()),
        Event::AgentEnded => (if is_completed { Tone::Good } else { tone }, ended("agent")),
        Event::TurnStarted => (Tone::Plain, "turn started".to_owned()),
        Event::TurnEnded => (if is_completed { Tone::Good } else { tone }, ended("turn")),
        Event::InferenceStarted => (Tone::Dim, format!("{subject} ←")),
        Event::InferenceEnded if is_completed => {
            let tokens = happening.tokens.map(|tokens| format!(", {}", describe_tokens(tokens))).unwrap_or_default();
            (Tone::Plain, format!("{subject} → answered{time}{tokens}"))
        }
        Event::InferenceEnded => (tone, format!("{subject} → {}", ended(""))),
        Event::ToolStarted => (Tone::Plain, format!("{subject} ←")),
        Event::ToolEnded | Event::CommandExited => {
            let exit = happening.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
            let is_bad = happening.exit_code.is_some_and(|code| code != 0);
            let what = match happening.event {
                Event::CommandExited => format!("{subject} command exited{}", after.as_deref().unwrap_or_default()),
                _ => format!("{subject} → {}", ended("")),
            };
            (if is_bad { Tone::Bad } else { tone }, format!("{what}{exit}"))
        }
        Event::CellStarted => (Tone::Plain, "code ←".to_owned()),
        Event::CellEnded => (tone, format!("code → {}", ended(""))),
        Event::Spawned => (Tone::Plain, format!("spawned {to}")),
        Event::TaskAssigned => (Tone::Plain, format!("gave {to} a task")),
        Event::MessageSent => (Tone::Plain, format!("sent {to} a message")),
        Event::AgentClosed => (Tone::Odd, format!("closed {to}")),
        Event::ResultReported => (Tone::Good, format!("reported to {to}")),
        Event::CompactionStarted => (Tone::Plain, format!("compaction asked of {subject}")),
        Event::CompactionFailed => (Tone::Bad, format!("compaction {}", ended(""))),
        Event::Compacted => (Tone::Odd, "history compacted".to_owned()),
        Event::ContextRewritten => (Tone::Odd, "history rewritten".to_owned()),
        Event::Error => (Tone::Bad, "error".to_owned()),
        Event::Warning => (Tone::Odd, "warning".to_owned()),
        Event::ApprovalRequested => (Tone::Odd, "waits for approval".to_owned()),
        Event::Interrupted => (Tone::Odd, "turn interrupted".to_owned()),
        Event::RecordingGap => (Tone::Odd, format!("recording ({subject})")),
        Event::AuditFinding => (Tone::Bad, format!("audit ({subject})")),
        Event::Damage => (Tone::Bad, format!("damage ({subject})")),
        Event::SessionEnded => (if is_completed { Tone::Good } else { tone }, ended("session")),
        Event::RecordingCompleted => (Tone::Dim, "recording completed".to_owned()),
    }
}

fn describe_tokens(tokens: Tokens) -> String {
    let cached =
        if tokens.cached_input > 0 { format!(" ({} cached)", number(tokens.cached_input)) } else { String::new() };
    format!("{} in{cached}, {} out", number(tokens.input), number(tokens.output))
}

/// Formats a time since the start like a clock.
fn clock(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.unsigned_abs();
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{sign}{hours}:{minutes:02}:{seconds:02}.{}", ms / 100)
    } else {
        format!("{sign}{minutes:02}:{seconds:02}.{ms:03}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_on_a_clock() {
        let shown: Vec<_> = [0, 61_250, 3_661_950, -500, i64::MIN].map(clock).into();
        assert_eq!(shown, ["00:00.000", "01:01.250", "1:01:01.9", "-00:00.500", "-2562047788015:12:55.8"]);
    }
}
