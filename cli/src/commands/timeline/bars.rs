//! Draws what each agent did when, with one character per slice of time.

use anstyle::{AnsiColor, Style};
use trace_explain::activity::Work;
use trace_explain::timeline::{AgentLine, Timeline};
use unicode_width::UnicodeWidthStr;

use super::names::distinct;
use crate::ui::output::{INDENT, Terminal};
use crate::ui::text::{self, number, preview};

/// Most agents that are drawn without `--all`.
pub(super) const FIRST_ROWS: usize = 30;
/// Columns of a bar, if the width of the terminal is not known.
const COLUMNS: usize = 60;
/// Fewest columns of a bar, even on a terminal that is too narrow for it.
const MIN_COLUMNS: usize = 20;
/// Most columns of a bar.
const MAX_COLUMNS: usize = 200;
/// Most columns of the name of an agent.
const NAME_COLUMNS: usize = 32;

/// The meaning of a character of a bar, in the order of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Model,
    Tool,
    Wait,
    Retry,
    Compaction,
    Turn,
    Nothing,
}

impl Mark {
    const ALL: [Self; 7] =
        [Self::Model, Self::Tool, Self::Wait, Self::Retry, Self::Compaction, Self::Turn, Self::Nothing];

    fn of(work: Work) -> Self {
        match work {
            Work::Model => Self::Model,
            Work::Tool => Self::Tool,
            Work::Wait => Self::Wait,
            Work::Retry => Self::Retry,
            Work::Compaction => Self::Compaction,
            Work::Overhead => Self::Turn,
            Work::Idle => Self::Nothing,
        }
    }

    fn character(self) -> char {
        match self {
            Self::Model => '█',
            Self::Tool => '▒',
            Self::Wait => '░',
            Self::Retry => '×',
            Self::Compaction => '◆',
            Self::Turn => '·',
            Self::Nothing => ' ',
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Wait => "waiting for an agent",
            Self::Retry => "failed request",
            Self::Compaction => "compaction",
            Self::Turn => "the rest of a turn",
            Self::Nothing => "",
        }
    }

    fn style(self, is_coloured: bool) -> Style {
        let color = match self {
            Self::Model => AnsiColor::Cyan,
            Self::Tool => AnsiColor::Green,
            Self::Wait => AnsiColor::Blue,
            Self::Retry => AnsiColor::Red,
            Self::Compaction => AnsiColor::Magenta,
            Self::Turn | Self::Nothing => return Style::new(),
        };
        if is_coloured { color.on_default() } else { Style::new() }
    }
}

/// Appends a row for each agent.
pub(super) fn push(text: &mut String, timeline: &Timeline, limit: usize, terminal: &Terminal) {
    if timeline.agents.is_empty() {
        return;
    }
    let paint = terminal.paint();
    let (strong, dim) = (paint.strong, paint.dim);
    let is_coloured = paint.bad != Style::new();
    let agents = timeline.agents.iter().map(|of| (&*of.thread_id, &*of.agent_path, of.nickname.as_deref()));
    let names = distinct(&agents.collect::<Vec<_>>());
    let names: Vec<String> = names.iter().take(limit).map(|name| preview(name, NAME_COLUMNS)).collect();
    let name_columns = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let taken = INDENT.len() + name_columns + 4;
    let columns = terminal
        .columns()
        .map_or(COLUMNS, |columns| usize::from(columns).saturating_sub(taken).clamp(MIN_COLUMNS, MAX_COLUMNS));
    let end = text::duration(i64::try_from(timeline.wall_ms).unwrap_or(i64::MAX));
    let space = columns.saturating_sub("0 ms".len() + end.width());
    text.push_str(&format!("\n{strong}Agents{strong:#}\n"));
    text.push_str(&format!("{INDENT}{:name_columns$}   {dim}0 ms{:space$}{end}{dim:#}\n", "", ""));
    let mut used = Vec::new();
    for (agent, name) in timeline.agents.iter().zip(&names) {
        let padding = name_columns - name.width();
        text.push_str(&format!("{INDENT}{name}{:padding$}  ▕", ""));
        for run in marks(agent, timeline.wall_ms, columns).chunk_by(|a, b| a == b) {
            let style = run[0].style(is_coloured);
            let characters: String = run.iter().map(|mark| mark.character()).collect();
            text.push_str(&format!("{style}{characters}{style:#}"));
            if !used.contains(&run[0]) {
                used.push(run[0]);
            }
        }
        text.push_str("▏\n");
    }
    if timeline.agents.len() > names.len() {
        let more = number((timeline.agents.len() - names.len()) as u64);
        text.push_str(&format!("{INDENT}{dim}... and {more} more (--all shows them){dim:#}\n"));
    }
    let legend: Vec<String> = Mark::ALL
        .iter()
        .filter(|mark| **mark != Mark::Nothing && used.contains(mark))
        .map(|mark| {
            let style = mark.style(is_coloured);
            format!("{style}{}{style:#} {}", mark.character(), mark.meaning())
        })
        .collect();
    text.push_str(&format!("{INDENT}{:name_columns$}   {}\n", "", legend.join("  ")));
}

/// Returns what an agent did for most of the time of each column.
fn marks(agent: &AgentLine, wall_ms: u64, columns: usize) -> Vec<Mark> {
    let mut columns_ms = vec![[0u64; Mark::ALL.len()]; columns];
    let mut add = |mark: Mark, start_ms: u64, end_ms: u64| {
        let position = |ms: u64| (u128::from(ms) * columns as u128 / u128::from(wall_ms.max(1))) as usize;
        let (first, last) = (position(start_ms).min(columns - 1), position(end_ms).min(columns - 1));
        for (column, sums) in columns_ms.iter_mut().enumerate().take(last + 1).skip(first) {
            let edge = |column: usize| (u128::from(wall_ms) * column as u128 / columns as u128) as u64;
            let part = end_ms.min(edge(column + 1)).saturating_sub(start_ms.max(edge(column)));
            sums[mark as usize] = sums[mark as usize].saturating_add(part);
        }
    };
    for turn in &agent.turns {
        add(Mark::Turn, turn.start_ms, turn.end_ms);
    }
    for interval in &agent.intervals {
        add(Mark::of(interval.work), interval.start_ms, interval.end_ms);
    }
    let mark = |sums: [u64; Mark::ALL.len()]| {
        // All work is done in a turn, and code that waits runs in a tool. The more specific mark is preferred.
        let rank = |mark: &Mark| match mark {
            Mark::Turn | Mark::Nothing => (0, 0),
            mark => (sums[*mark as usize], *mark as usize),
        };
        let most = Mark::ALL.into_iter().max_by_key(rank).unwrap_or(Mark::Nothing);
        match (rank(&most).0, sums[Mark::Turn as usize]) {
            (0, 0) => Mark::Nothing,
            (0, _) => Mark::Turn,
            _ => most,
        }
    };
    columns_ms.into_iter().map(mark).collect()
}
