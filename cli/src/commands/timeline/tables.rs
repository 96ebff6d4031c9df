//! Tables of costs.

use comfy_table::{Cell, CellAlignment, Color, Table};
use trace_explain::costs::{Calls, Cost, Costs, Tokens};
use trace_explain::outcome::Outcome;

use super::names::distinct;
use crate::ui::output::{INDENT, Terminal, push_table, row};
use crate::ui::text::{self, count, number, preview};

/// Most rows of a table without `--all`.
pub(super) const FIRST_ROWS: usize = 20;

/// Appends the table of costs by agent.
pub(super) fn agents(text: &mut String, costs: &Costs, limit: usize, terminal: &Terminal) {
    let has_trees = costs.agents.iter().any(|agent| agent.descendants > 0);
    let has_money = costs.currency.is_some();
    let header = [
        Some("AGENT"),
        Some("CALLS"),
        Some("MODEL TIME"),
        Some(if has_trees { "TREE P50" } else { "P50" }),
        Some(if has_trees { "TREE P95" } else { "P95" }),
        Some(if has_trees { "TREE MAX" } else { "MAX" }),
        Some("TOOLS"),
        Some("TOOL TIME"),
        Some("IN"),
        Some("CACHED"),
        Some("OUT"),
        has_money.then_some("COST"),
        has_trees.then_some("TREE IN"),
        has_trees.then_some("TREE OUT"),
        (has_trees && has_money).then_some("TREE COST"),
    ];
    let mut list = List::new("Costs by agent", &header, 1, terminal);
    let names = costs.agents.iter().map(|of| (&*of.thread_id, &*of.agent_path, of.nickname.as_deref()));
    let names = distinct(&names.collect::<Vec<_>>());
    for (agent, name) in costs.agents.iter().zip(&names).take(limit) {
        let (own, tree) = (&agent.own, &agent.subtree);
        let times = tree.inference_calls.time;
        let one = |ms: Option<u64>| ms.map_or_else(|| Cell::new(""), time);
        let mut cells = vec![
            Cell::new(preview(name, 48)),
            calls(&own.inference_calls),
            time(own.inference_calls.time.sum_ms),
            one(times.p50_ms),
            one(times.p95_ms),
            one(times.max_ms),
            calls(&own.tool_calls),
            time(own.tool_calls.time.sum_ms),
        ];
        cells.extend(tokens(&own.tokens));
        cells.extend(own.cost.as_ref().map(cost));
        if has_trees {
            cells.extend([Cell::new(number(tree.tokens.input)), Cell::new(number(tree.tokens.output))]);
            cells.extend(tree.cost.as_ref().map(cost));
        }
        list.table.add_row(row(cells));
    }
    list.push(text, costs.agents.len(), limit);
}

/// Appends the table of costs by model.
pub(super) fn models(text: &mut String, costs: &Costs, limit: usize, terminal: &Terminal) {
    let has_writes = costs.total.tokens.cache_write > 0;
    let header = [
        Some("MODEL"),
        Some("CALLS"),
        Some("TIME"),
        Some("P50"),
        Some("P95"),
        Some("MAX"),
        Some("IN"),
        Some("CACHED"),
        has_writes.then_some("WRITTEN"),
        Some("OUT"),
        Some("REASONING"),
        costs.currency.is_some().then_some("COST"),
    ];
    let mut list = List::new("Costs by model", &header, 1, terminal);
    for model in costs.models.iter().take(limit) {
        let mut cells = vec![Cell::new(preview(&model.model, 48)), calls(&model.inference_calls)];
        cells.extend(times(&model.inference_calls));
        cells.extend([Cell::new(number(model.tokens.input)), Cell::new(number(model.tokens.cached_input))]);
        cells.extend(has_writes.then(|| Cell::new(number(model.tokens.cache_write))));
        cells.extend([Cell::new(number(model.tokens.output)), Cell::new(number(model.tokens.reasoning_output))]);
        cells.extend(model.cost.as_ref().map(cost));
        list.table.add_row(row(cells));
    }
    list.push(text, costs.models.len(), limit);
}

/// Appends the table of costs by tool.
pub(super) fn tools(text: &mut String, costs: &Costs, limit: usize, terminal: &Terminal) {
    let header = ["TOOL", "CALLS", "TIME", "P50", "P95", "MAX"].map(Some);
    let mut list = List::new("Costs by tool", &header, 1, terminal);
    for tool in costs.tools.iter().take(limit) {
        let mut cells = vec![Cell::new(preview(&tool.tool, 60)), calls(&tool.calls)];
        cells.extend(times(&tool.calls));
        list.table.add_row(row(cells));
    }
    list.push(text, costs.tools.len(), limit);
}

/// Appends the table of costs by turn.
pub(super) fn turns(text: &mut String, costs: &Costs, limit: usize, terminal: &Terminal) {
    let header = [
        Some("AGENT"),
        Some("STATUS"),
        Some("TURN"),
        Some("TIME"),
        Some("CALLS"),
        Some("MODEL TIME"),
        Some("TOOLS"),
        Some("TOOL TIME"),
        Some("IN"),
        Some("CACHED"),
        Some("OUT"),
        costs.currency.is_some().then_some("COST"),
    ];
    let mut list = List::new("Costs by turn", &header, 2, terminal);
    for turn in costs.turns.iter().take(limit) {
        let sums = &turn.sums;
        let status = Cell::new(turn.outcome.as_str());
        let mut cells = vec![
            Cell::new(preview(&turn.agent_path, 48)),
            match turn.outcome {
                Outcome::Completed => status,
                Outcome::Failed => status.fg(Color::DarkRed),
                Outcome::Cancelled | Outcome::Unfinished => status.fg(Color::DarkYellow),
            },
            Cell::new(number(turn.number)),
            sums.turns.time.max_ms.map_or_else(|| Cell::new(""), time),
            calls(&sums.inference_calls),
            time(sums.inference_calls.time.sum_ms),
            calls(&sums.tool_calls),
            time(sums.tool_calls.time.sum_ms),
        ];
        cells.extend(tokens(&sums.tokens));
        cells.extend(sums.cost.as_ref().map(cost));
        list.table.add_row(row(cells));
    }
    list.push(text, costs.turns.len(), limit);
}

/// Appends notes about what the sums leave out.
pub(super) fn remarks(text: &mut String, costs: &Costs, terminal: &Terminal) {
    let dim = terminal.paint().dim;
    let mut remarks = Vec::new();
    let without = costs.total.tokens.calls_without_usage;
    if without > 0 {
        let (has, their) = if without == 1 { ("has", "its") } else { ("have", "their") };
        let money = if costs.currency.is_some() { format!(" and {their} cost is unknown") } else { String::new() };
        remarks.push(format!("{} {has} no tokens on record{money}", count(without, "request")));
    }
    if !costs.unpriced_models.is_empty() {
        let names: Vec<String> = costs.unpriced_models.iter().take(5).map(|name| preview(name, 48)).collect();
        let more = costs.unpriced_models.len() - names.len();
        let more = if more > 0 { format!(" and {} more", number(more as u64)) } else { String::new() };
        remarks.push(format!("the price table lacks {}{more}; what they cost is ?", names.join(", ")));
    }
    if !remarks.is_empty() {
        text.push('\n');
    }
    for remark in remarks {
        text.push_str(&format!("{dim}{remark}{dim:#}\n"));
    }
}

/// A table with a heading.
struct List<'t> {
    heading: &'static str,
    table: Table,
    /// Number of text columns, which come before the numbers.
    texts: usize,
    terminal: &'t Terminal,
}

impl<'t> List<'t> {
    fn new(heading: &'static str, header: &[Option<&str>], texts: usize, terminal: &'t Terminal) -> Self {
        let header: Vec<&str> = header.iter().copied().flatten().collect();
        Self { heading, table: terminal.table(&header), texts, terminal }
    }

    fn push(mut self, text: &mut String, all: usize, limit: usize) {
        if all == 0 {
            return;
        }
        let (strong, dim) = (self.terminal.paint().strong, self.terminal.paint().dim);
        for column in self.table.column_iter_mut().skip(self.texts) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text.push_str(&format!("\n{strong}{}{strong:#}\n", self.heading));
        push_table(text, INDENT, self.table);
        if all > limit {
            let more = number((all - limit) as u64);
            text.push_str(&format!("{INDENT}{dim}... and {more} more (--all shows them){dim:#}\n"));
        }
    }
}

fn calls(calls: &Calls) -> Cell {
    let troubles = [(calls.failed, "failed"), (calls.cancelled, "cancelled"), (calls.unfinished, "unfinished")];
    let troubles: Vec<String> =
        troubles.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number(*n))).collect();
    if troubles.is_empty() {
        return Cell::new(number(calls.count));
    }
    Cell::new(format!("{} ({})", number(calls.count), troubles.join(", "))).fg(Color::DarkRed)
}

fn time(ms: u64) -> Cell {
    Cell::new(text::duration(i64::try_from(ms).unwrap_or(i64::MAX)))
}

fn times(calls: &Calls) -> [Cell; 4] {
    let times = &calls.time;
    let measured = |ms: Option<u64>| ms.map_or_else(|| Cell::new(""), time);
    [time(times.sum_ms), measured(times.p50_ms), measured(times.p95_ms), measured(times.max_ms)]
}

fn tokens(tokens: &Tokens) -> [Cell; 3] {
    [tokens.input, tokens.cached_input, tokens.output].map(|n| Cell::new(number(n)))
}

fn cost(cost: &Cost) -> Cell {
    match cost.amount {
        Some(amount) => Cell::new(format!("{amount:.4}")),
        None => Cell::new("?"),
    }
}
