//! `trace critical-path`: the chain of work that determined how long a session took.

use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, CellAlignment};
use serde::Serialize;
use trace_explain::activity::Work;
use trace_explain::critical_path::{CriticalPath, Segment};

use crate::argument::BundleArg;
use crate::commands::timeline::{color_of, money, percent};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{INDENT, Terminal, push_table, row};
use crate::ui::text::{self, number, preview};
use crate::{prices, session};

const AFTER_HELP: &str = "\
Examples:
  trace critical-path traces/trace-1
  trace critical-path traces/trace-1 --all | less
  trace critical-path traces/trace-1 --json | jq '.critical_path.shares'

The path is followed from the end of the session back to its start. At each moment it is at the one place that \
everything after it waited for: of parallel tool calls, the last one to finish; of a wait for agents, the agent whose \
answer ended it; of a child's turn, the call that asked for it. So the times on the path add up to the duration of the \
session, and making other work faster would not have ended the session earlier.

What the time is spent on:
  model       a model generated an answer
  tool        a tool call or a code cell ran
  wait        an agent waited for others until its timeout, or until it was interrupted
  retry       a failed request to a model, and the backoff after it
  compaction  the history was compacted
  overhead    the agent itself, between these
  idle        no turn ran, because the session waited for its user

--json writes one object, format (1), bundle and critical_path, described by docs/schema/critical-path.schema.json. \
docs/costs.md says how time is attributed.

Exit codes: 0 shown, damaged or not; 1 not a bundle, not a price table, or unreadable; 2 wrong usage; 3 an internal error.";

/// Shows the chain of work that determined how long a session took
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CriticalPathArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Show all segments of the path instead of the longest ones
    #[arg(short, long)]
    all: bool,
    /// A price table, to show what the calls on the path cost
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    bundle: String,
    critical_path: &'a CriticalPath,
}

/// Most segments of the path that are shown one by one. The others are summed up between them.
const LONGEST: usize = 40;
/// Most agents that are shown.
const FIRST_AGENTS: usize = 15;
/// Columns of the bar for a share.
const BAR_COLUMNS: u64 = 30;

pub(crate) fn run(args: &CriticalPathArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prices = prices::read(args.prices.as_deref())?;
    let session = session::open(&args.bundle.path())?;
    let path = CriticalPath::new(&session, prices.as_ref());
    if args.json {
        let bundle = args.bundle.path().to_string_lossy().into_owned();
        terminal.print_json(&Answer { format: 1, bundle, critical_path: &path })?;
    } else {
        let name = session.trace().text(session.trace().rollout_id);
        terminal.print(&render(&path, name, if args.all { usize::MAX } else { LONGEST }, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

fn render(path: &CriticalPath, name: &str, most: usize, terminal: &Terminal) -> String {
    let strong = terminal.paint().strong;
    let mut text =
        format!("{strong}Session {}{strong:#} took {}\n", preview(name, 100), text::duration(signed(path.wall_ms)));
    if path.clock_set_back_ms > 0 {
        let by = text::duration(signed(path.clock_set_back_ms));
        text.push_str(&format!("  the clock was set back by {by}; later times are shifted by this amount\n"));
    }
    if let (Some(cost), Some(currency)) = (&path.cost, &path.currency) {
        text.push_str(&format!("  calls on the path cost {}\n", money(cost, currency)));
    }
    shares(&mut text, path, terminal);
    agents(&mut text, path, terminal);
    chain(&mut text, path, most, terminal);
    text
}

/// Converts a duration. A session is never longer than `i64::MAX` milliseconds.
fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

fn shares(text: &mut String, path: &CriticalPath, terminal: &Terminal) {
    let strong = terminal.paint().strong;
    text.push_str(&format!("\n{strong}What the time was spent on{strong:#}\n"));
    let mut shares: Vec<_> = path.shares.iter().filter(|share| share.ms > 0).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.ms));
    let mut table = terminal.table(&[]);
    for share in shares {
        let columns = u128::from(share.ms) * u128::from(BAR_COLUMNS) / u128::from(path.wall_ms.max(1));
        table.add_row(row(vec![
            Cell::new(share.work.as_str()),
            Cell::new(text::duration(signed(share.ms))).set_alignment(CellAlignment::Right),
            Cell::new(percent(share.ms, path.wall_ms)).set_alignment(CellAlignment::Right),
            Cell::new("█".repeat(columns.max(1) as usize)).fg(color_of(share.work)),
        ]));
    }
    push_table(text, INDENT, table);
}

fn agents(text: &mut String, path: &CriticalPath, terminal: &Terminal) {
    if path.agents.len() < 2 {
        return;
    }
    let (strong, dim) = (terminal.paint().strong, terminal.paint().dim);
    text.push_str(&format!("\n{strong}Time by agent{strong:#}\n"));
    let mut table = terminal.table(&[]);
    for share in path.agents.iter().take(FIRST_AGENTS) {
        table.add_row(row(vec![
            Cell::new(share.agent_path.as_ref().map_or_else(|| "no agent".to_owned(), |path| preview(path, 60))),
            Cell::new(text::duration(signed(share.ms))).set_alignment(CellAlignment::Right),
            Cell::new(percent(share.ms, path.wall_ms)).set_alignment(CellAlignment::Right),
        ]));
    }
    push_table(text, INDENT, table);
    if path.agents.len() > FIRST_AGENTS {
        let more = number((path.agents.len() - FIRST_AGENTS) as u64);
        text.push_str(&format!("  {dim}... and {more} more{dim:#}\n"));
    }
}

fn chain(text: &mut String, path: &CriticalPath, most: usize, terminal: &Terminal) {
    if path.segments.is_empty() {
        return;
    }
    let (strong, dim) = (terminal.paint().strong, terminal.paint().dim);
    text.push_str(&format!("\n{strong}The path{strong:#}\n"));
    let shown = shown(&path.segments, most);
    let mut table = terminal.list();
    table.set_header(["AT", "TIME", "WORK", "AGENT", "SEQ", "WHAT"].map(|name| {
        let cell = Cell::new(name).add_attribute(comfy_table::Attribute::Bold);
        if matches!(name, "AT" | "TIME" | "SEQ") { cell.set_alignment(CellAlignment::Right) } else { cell }
    }));
    let mut left_out: Vec<&Segment> = Vec::new();
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for (segment, is_shown) in
        path.segments.iter().zip(&shown).map(|(segment, shown)| (Some(segment), *shown)).chain([(None, true)])
    {
        if !is_shown {
            left_out.extend(segment);
            continue;
        }
        if let Some(first) = left_out.first() {
            let ms = left_out.iter().map(|segment| segment.end_ms - segment.start_ms).sum();
            let segments = text::count(left_out.len() as u64, "shorter segment");
            table.add_row(row(vec![
                right(text::duration(signed(first.start_ms))),
                right(text::duration(signed(ms))),
                Cell::new(""),
                Cell::new(""),
                Cell::new(""),
                Cell::new(format!("... {segments}")),
            ]));
            left_out.clear();
        }
        let Some(segment) = segment else { break };
        table.add_row(row(vec![
            right(text::duration(signed(segment.start_ms))),
            right(text::duration(signed(segment.end_ms - segment.start_ms))),
            Cell::new(segment.work.as_str()).fg(color_of(segment.work)),
            Cell::new(preview(segment.agent_path.as_deref().unwrap_or_default(), 48)),
            right(number(segment.seq)),
            Cell::new(what(segment)),
        ]));
    }
    push_table(text, INDENT, table);
    if shown.contains(&false) {
        text.push_str(&format!("  {dim}(--all shows every segment){dim:#}\n"));
    }
}

/// Marks the longest segments. Of equally long ones, the first are taken.
fn shown(segments: &[Segment], most: usize) -> Vec<bool> {
    let mut longest: Vec<usize> = (0..segments.len()).collect();
    longest.sort_by_key(|index| std::cmp::Reverse(segments[*index].end_ms - segments[*index].start_ms));
    let mut shown = vec![false; segments.len()];
    longest.into_iter().take(most).for_each(|index| shown[index] = true);
    shown
}

fn what(segment: &Segment) -> String {
    let label = segment.label.as_deref().map(|label| preview(label, 100));
    match (segment.work, label) {
        (Work::Retry, Some(label)) => format!("{label} failed"),
        (Work::Retry, None) => "after a failed request".to_owned(),
        (_, Some(label)) => match segment.outcome {
            Some(outcome) if outcome != trace_explain::outcome::Outcome::Completed => {
                format!("{label} ({})", outcome.as_str())
            }
            _ => label,
        },
        (_, None) => String::new(),
    }
}
