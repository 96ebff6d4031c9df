//! `trace diff`: compares two sessions of the same task.

use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, CellAlignment, Color};
use serde::Serialize;
use trace_explain::costs::Sums;
use trace_explain::diff::{Diff, Difference, Kind, Side};

use crate::argument;
use crate::commands::timeline::money;
use crate::ui::failure::{Ending, Failure, Kind as FailureKind};
use crate::ui::output::{INDENT, Paint, Terminal, push_table, row};
use crate::ui::text::{self, number, preview};
use crate::{prices, session};

const AFTER_HELP: &str = "\
Examples:
  trace diff traces/monday traces/tuesday
  trace diff traces/monday traces/tuesday --exit-code > /dev/null || echo they differ
  trace diff A B --json | jq '.diff.first'

Agents are matched by their names below agents that match (the rest by their order), turns by their order, and the \
steps of a turn by what they are: messages to the agent, requests to a model, and tool calls by name and arguments. \
What matches is compared: the model's output, the outcome of a call, its exit code and output. Ids, times, durations \
and temporary directories in texts are ignored; docs/diff.md has the list.

  ~  in both, with a difference
  -  only in A
  +  only in B

--json writes one object, format (1), bundle_a, bundle_b and diff, described by docs/schema/diff.schema.json.

Exit codes: 0 compared, whether they differ or not; 1 not a bundle, or unreadable, and with --exit-code also when they \
differ; 2 wrong usage; 3 an internal error.";

/// Compares two sessions of the same task: the first divergence, all differences, and the costs
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DiffArgs {
    /// The first bundle, or the session of another agent: its file or folder, STORE#ID, its id or the beginning of it, or @last
    #[arg(value_name = "A", add = argument::sessions())]
    bundle_a: PathBuf,
    /// The second one
    #[arg(value_name = "B", add = argument::sessions())]
    bundle_b: PathBuf,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Exit with 1 if the sessions differ
    #[arg(long)]
    exit_code: bool,
    /// Show all differences instead of the first ones
    #[arg(short, long)]
    all: bool,
    /// A price table, to show what the sessions cost
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    bundle_a: String,
    bundle_b: String,
    diff: &'a Diff,
}

/// Most differences that are shown without `--all`.
const FIRST_DIFFERENCES: usize = 30;
/// Most agents that are shown side by side without `--all`.
const FIRST_AGENTS: usize = 15;
/// A count that is compared.
type Count = fn(&Sums) -> u64;

/// Most columns of a text.
const MAX_COLUMNS: usize = 100;

pub(crate) fn run(args: &DiffArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prices = prices::read(args.prices.as_deref())?;
    let (a, b) = (session::open(&args.bundle_a)?, session::open(&args.bundle_b)?);
    let diff = Diff::new(&a, &b, prices.as_ref());
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    let (bundle_a, bundle_b) = (name(&args.bundle_a), name(&args.bundle_b));
    let is_same = diff.is_same;
    if args.json {
        terminal.print_json(&Answer { format: 1, bundle_a, bundle_b, diff: &diff })?;
    } else {
        let limits = if args.all { (usize::MAX, usize::MAX) } else { (FIRST_DIFFERENCES, FIRST_AGENTS) };
        terminal.print(&render(&diff, &bundle_a, &bundle_b, limits, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget((a, b));
    Ok(if args.exit_code && !is_same { Ending::Failed(FailureKind::Data) } else { Ending::Done })
}

fn render(diff: &Diff, a: &str, b: &str, (differences, agents): (usize, usize), terminal: &Terminal) -> String {
    let Paint { strong, dim, .. } = terminal.paint();
    let mut text = format!("{dim}A{dim:#}  {}\n{dim}B{dim:#}  {}\n\n", text::clean(a), text::clean(b));
    let counts = &diff.counts;
    let same = match counts.same_steps {
        1 => "1 step is the same".to_owned(),
        steps => format!("{} are the same", text::count(steps, "step")),
    };
    match &diff.first {
        None => text.push_str(&format!("{strong}The sessions do not differ{strong:#}: {same}\n")),
        Some(first) => {
            let parts = [(counts.changed, "changed"), (counts.only_a, "only in A"), (counts.only_b, "only in B")];
            let parts: Vec<String> =
                parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number(*n))).collect();
            text.push_str(&format!("{strong}The sessions differ{strong:#}: {}; {same}\n", parts.join(", ")));
            first_divergence(&mut text, first, terminal);
            list(&mut text, diff, differences, terminal);
        }
    }
    side_by_side(&mut text, diff, terminal);
    agents_side_by_side(&mut text, diff, agents, terminal);
    text
}

fn first_divergence(text: &mut String, first: &Difference, terminal: &Terminal) {
    let Paint { strong, dim, bad, good, .. } = terminal.paint();
    text.push_str(&format!("\n{strong}What diverged first{strong:#}{}\n", about(first)));
    for (name, style, side) in [("A", bad, &first.a), ("B", good, &first.b)] {
        let Some(side) = side else {
            text.push_str(&format!("{INDENT}{style}{name}{style:#}  {dim}no such step{dim:#}\n"));
            continue;
        };
        let at = text::duration(i64::try_from(side.at_ms).unwrap_or(i64::MAX));
        let path = preview(&side.agent_path, 48);
        let label = preview(&side.label, MAX_COLUMNS);
        text.push_str(&format!(
            "{INDENT}{style}{name}{style:#}  {path}  seq {}, {at} after the start: {label}\n",
            side.seq
        ));
        if let Some(quote) = &side.quote {
            let quote = preview(quote, 2 * MAX_COLUMNS);
            let quote = if quote.is_empty() { format!("{dim}(empty){dim:#}") } else { quote };
            text.push_str(&format!("{INDENT}   {style}│{style:#} {quote}\n"));
        }
    }
}

/// Names the aspects in which two steps differ.
fn about(difference: &Difference) -> String {
    if difference.aspects.is_empty() {
        return String::new();
    }
    let aspects: Vec<String> = difference.aspects.iter().map(|aspect| aspect.as_str().replace('_', " ")).collect();
    format!(": {}", aspects.join(", "))
}

fn list(text: &mut String, diff: &Diff, limit: usize, terminal: &Terminal) {
    let Paint { strong, dim, .. } = terminal.paint();
    text.push_str(&format!("\n{strong}Differences{strong:#}\n"));
    let mut table = terminal.list();
    let seq = |side: &Option<Side>| side.as_ref().map(|side| number(side.seq)).unwrap_or_default();
    table.set_header(["", "AGENT", "SEQ A", "SEQ B", "WHAT"].map(|name| {
        let cell = Cell::new(name).add_attribute(comfy_table::Attribute::Bold);
        if name.starts_with("SEQ") { cell.set_alignment(CellAlignment::Right) } else { cell }
    }));
    for difference in diff.differences.iter().take(limit) {
        let (mark, color) = match difference.kind {
            Kind::Changed => ("~", Color::DarkYellow),
            Kind::OnlyA => ("-", Color::DarkRed),
            Kind::OnlyB => ("+", Color::DarkGreen),
        };
        let side = difference.a.as_ref().or(difference.b.as_ref());
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row(row(vec![
            Cell::new(mark).fg(color),
            Cell::new(side.map(|side| preview(&side.agent_path, 48)).unwrap_or_default()),
            right(seq(&difference.a)),
            right(seq(&difference.b)),
            Cell::new(what(difference)),
        ]));
    }
    push_table(text, INDENT, table);
    if diff.differences.len() > limit {
        let more = number((diff.differences.len() - limit) as u64);
        text.push_str(&format!("{INDENT}{dim}... and {more} more (--all shows them){dim:#}\n"));
    }
}

/// Describes a difference, with the texts on both sides if they are short.
fn what(difference: &Difference) -> String {
    let label = |side: &Option<Side>| side.as_ref().map(|side| preview(&side.label, 60)).unwrap_or_default();
    let (a, b) = (label(&difference.a), label(&difference.b));
    let label = match difference.kind {
        Kind::Changed if a != b => format!("{a} → {b}"),
        Kind::OnlyB => b,
        Kind::Changed | Kind::OnlyA => a,
    };
    let quote = |side: &Option<Side>| {
        let quote = side.as_ref()?.quote.as_deref()?;
        Some(preview(quote, 24)).filter(|short| quote.chars().count() <= 24 && !short.is_empty())
    };
    let change = match (quote(&difference.a), quote(&difference.b)) {
        (Some(a), Some(b)) => format!(" ({a} → {b})"),
        _ => String::new(),
    };
    format!("{label}{}{change}", about(difference))
}

fn side_by_side(text: &mut String, diff: &Diff, terminal: &Terminal) {
    let strong = terminal.paint().strong;
    text.push_str(&format!("\n{strong}Side by side{strong:#}\n"));
    let mut table = terminal.table(&["", "A", "B", "B - A"]);
    let (a, b) = (&diff.totals.a, &diff.totals.b);
    let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    let mut time = |name: &str, a: u64, b: u64| {
        let more = text::duration(signed(b).saturating_sub(signed(a)));
        table.add_row(row(vec![
            Cell::new(name),
            Cell::new(text::duration(signed(a))),
            Cell::new(text::duration(signed(b))),
            Cell::new(if b > a { format!("+{more}") } else { more }),
        ]));
    };
    time("time", a.wall_ms, b.wall_ms);
    time("model time", a.sums.inference_calls.time.sum_ms, b.sums.inference_calls.time.sum_ms);
    time("tool time", a.sums.tool_calls.time.sum_ms, b.sums.tool_calls.time.sum_ms);
    let counts: [(&str, Count); 9] = [
        ("turns", |sums| sums.turns.count),
        ("model calls", |sums| sums.inference_calls.count),
        ("model calls failed", |sums| sums.inference_calls.failed),
        ("tool calls", |sums| sums.tool_calls.count),
        ("tool calls failed", |sums| sums.tool_calls.failed),
        ("tokens in", |sums| sums.tokens.input),
        ("tokens cached", |sums| sums.tokens.cached_input),
        ("tokens out", |sums| sums.tokens.output),
        ("tokens of reasoning", |sums| sums.tokens.reasoning_output),
    ];
    for (name, count) in counts {
        let (a, b) = (count(&a.sums), count(&b.sums));
        if a > 0 || b > 0 {
            let cells = [number(a), number(b), difference(a, b)];
            table.add_row(row([name.to_owned()].into_iter().chain(cells).map(Cell::new).collect()));
        }
    }
    if let (Some(a), Some(b), Some(currency)) = (&a.sums.cost, &b.sums.cost, &diff.currency) {
        let more = match (a.amount, b.amount) {
            (Some(a), Some(b)) if b >= a => {
                format!("+{:.4}", trace_explain::prices::Money::from_units(b.units() - a.units()))
            }
            (Some(a), Some(b)) => format!("-{:.4}", trace_explain::prices::Money::from_units(a.units() - b.units())),
            _ => "?".to_owned(),
        };
        table.add_row(row([String::from("cost"), money(a, currency), money(b, currency), more].map(Cell::new).into()));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    push_table(text, INDENT, table);
}

fn difference(a: u64, b: u64) -> String {
    match b.checked_sub(a) {
        Some(0) => "0".to_owned(),
        Some(more) => format!("+{}", number(more)),
        None => format!("-{}", number(a - b)),
    }
}

fn agents_side_by_side(text: &mut String, diff: &Diff, limit: usize, terminal: &Terminal) {
    if diff.agents.len() < 2 {
        return;
    }
    let Paint { strong, dim, .. } = terminal.paint();
    text.push_str(&format!("\n{strong}Agents{strong:#}\n"));
    let header = ["AGENT A", "AGENT B", "CALLS A", "CALLS B", "TOOLS A", "TOOLS B", "IN A", "IN B", "OUT A", "OUT B"];
    let mut table = terminal.table(&header);
    for pair in diff.agents.iter().take(limit) {
        let sides = [&pair.a, &pair.b];
        let mut cells: Vec<Cell> = sides
            .iter()
            .map(|agent| Cell::new(agent.as_ref().map_or_else(|| "-".to_owned(), |of| preview(&of.agent_path, 40))))
            .collect();
        let counts: [Count; 4] = [
            |sums| sums.inference_calls.count,
            |sums| sums.tool_calls.count,
            |sums| sums.tokens.input,
            |sums| sums.tokens.output,
        ];
        for count in counts {
            cells.extend(sides.iter().map(|agent| {
                let count = agent.as_ref().map(|agent| number(count(&agent.sums)));
                Cell::new(count.unwrap_or_default()).set_alignment(CellAlignment::Right)
            }));
        }
        table.add_row(row(cells));
    }
    push_table(text, INDENT, table);
    if diff.agents.len() > limit {
        let more = number((diff.agents.len() - limit) as u64);
        text.push_str(&format!("{INDENT}{dim}... and {more} more (--all shows them){dim:#}\n"));
    }
}
