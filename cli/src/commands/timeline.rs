//! `trace timeline`: shows what each agent did when, and what it cost.

mod bars;
mod names;
mod tables;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use comfy_table::Color;
use serde::Serialize;
use trace_explain::activity::{Activities, Work};
use trace_explain::clock::Clock;
use trace_explain::costs::{Cost, Costs};
use trace_explain::family::Family;
use trace_explain::timeline::Timeline;

use crate::argument::BundleArg;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text::{self, count, number, preview};
use crate::{prices, session};

const AFTER_HELP: &str = "\
Examples:
  trace timeline traces/trace-1
  trace timeline traces/trace-1 --prices prices.toml    with prices; samples/prices.toml is an example
  trace timeline traces/trace-1 --by turn               costs of each turn
  trace timeline traces/trace-1 --json | jq '.costs.agents[] | {agent_path, subtree}'

The output begins with one row per agent, parents first, which shows the longest activity of each moment. Tables of \
costs follow. Their times are sums over calls: each of several parallel calls counts in full, and so do the calls of a \
code cell and the call that ran it. `trace critical-path` shows what determined the duration of the session. TREE \
columns include all agents below an agent.

Tokens are those that the provider reported. Requests that failed or were interrupted, and requests for compactions, \
have no reported tokens: they are counted, and their cost is unknown. A model that is not in the price table has an \
unknown cost too, which is shown as ?.

--json writes one object, format (1), bundle, timeline and costs, described by docs/schema/timeline.schema.json. \
docs/costs.md describes how costs are counted.

Exit codes: 0 shown, damaged or not; 1 not a bundle, not a price table, or unreadable; 2 wrong usage; 3 an internal error.";

/// Shows what each agent did when, and what it cost
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// The tables of costs to show: agent, model, tool, turn [default: agent, model and tool]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    by: Vec<By>,
    /// A price table, to show what it cost
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Show all rows instead of the first ones
    #[arg(short, long)]
    all: bool,
}

/// What a table of costs is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Agent,
    Model,
    Tool,
    Turn,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    bundle: String,
    timeline: &'a Timeline,
    costs: &'a Costs,
}

pub(crate) fn run(args: &TimelineArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prices = prices::read(args.prices.as_deref())?;
    let session = session::open(&args.bundle.path())?;
    let trace = session.trace();
    let (clock, family) = (Clock::new(trace), Family::new(trace));
    let timeline = Timeline::with(&session, &clock, &family, &Activities::new(trace, &clock));
    let costs = Costs::with(trace, prices.as_ref(), &clock, &family);
    if args.json {
        let bundle = args.bundle.path().to_string_lossy().into_owned();
        terminal.print_json(&Answer { format: 1, bundle, timeline: &timeline, costs: &costs })?;
    } else {
        let mut text = heading(&timeline, &costs, trace.text(trace.rollout_id), terminal);
        bars::push(&mut text, &timeline, if args.all { usize::MAX } else { bars::FIRST_ROWS }, terminal);
        let limit = if args.all { usize::MAX } else { tables::FIRST_ROWS };
        let by = if args.by.is_empty() { &[By::Agent, By::Model, By::Tool] } else { &args.by[..] };
        for by in by {
            match by {
                By::Agent => tables::agents(&mut text, &costs, limit, terminal),
                By::Model => tables::models(&mut text, &costs, limit, terminal),
                By::Tool => tables::tools(&mut text, &costs, limit, terminal),
                By::Turn => tables::turns(&mut text, &costs, limit, terminal),
            }
        }
        tables::remarks(&mut text, &costs, terminal);
        terminal.print(&text)?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

fn heading(timeline: &Timeline, costs: &Costs, name: &str, terminal: &Terminal) -> String {
    let (strong, dim) = (terminal.paint().strong, terminal.paint().dim);
    let took = text::duration(i64::try_from(timeline.wall_ms).unwrap_or(i64::MAX));
    let mut text = format!("{strong}Session {}{strong:#} took {took}\n", preview(name, 100));
    let mut field = |name: &str, value: &str| text.push_str(&format!("  {dim}{name:<7}{dim:#}  {value}\n"));
    let total = &costs.total;
    let calls = [
        (count(total.inference_calls.count, "model call"), total.inference_calls.failed),
        (count(total.tool_calls.count, "tool call"), total.tool_calls.failed),
        (count(total.compaction_requests.count, "compaction"), total.compaction_requests.failed),
    ];
    let calls: Vec<String> = calls
        .into_iter()
        .filter(|(calls, _)| !calls.starts_with("0 "))
        .map(|(calls, failed)| if failed > 0 { format!("{calls} ({} failed)", number(failed)) } else { calls })
        .collect();
    field("calls", &if calls.is_empty() { "none".to_owned() } else { calls.join(", ") });
    let tokens = &total.tokens;
    let written = if tokens.cache_write > 0 {
        format!(", {} written to a cache", number(tokens.cache_write))
    } else {
        String::new()
    };
    let value = format!(
        "{} in ({} cached{written}), {} out ({} reasoning)",
        number(tokens.input),
        number(tokens.cached_input),
        number(tokens.output),
        number(tokens.reasoning_output)
    );
    field("tokens", &value);
    if let (Some(cost), Some(currency)) = (&total.cost, &costs.currency) {
        field("cost", &money(cost, currency));
    }
    if timeline.clock_set_back_ms > 0 {
        let by = text::duration(i64::try_from(timeline.clock_set_back_ms).unwrap_or(i64::MAX));
        field("clock", &format!("was set back by {by}; later times are shifted by this amount"));
    }
    text
}

/// Formats an amount of money. If a part of it is not known, the known part is shown.
pub(crate) fn money(cost: &Cost, currency: &str) -> String {
    let currency = preview(currency, 12);
    match cost.amount {
        Some(amount) => format!("{amount:.4} {currency}"),
        None => format!("? ({:.4} {currency} of it known)", cost.known),
    }
}

/// Formats a part of a whole in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Returns the colour of a kind of work.
pub(crate) fn color_of(work: Work) -> Color {
    match work {
        Work::Model => Color::DarkCyan,
        Work::Tool => Color::DarkGreen,
        Work::Wait => Color::DarkBlue,
        Work::Retry => Color::DarkRed,
        Work::Compaction => Color::DarkMagenta,
        Work::Overhead => Color::DarkYellow,
        Work::Idle => Color::DarkGrey,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_whole() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0.0 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
    }
}
