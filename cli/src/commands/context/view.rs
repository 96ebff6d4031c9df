//! `trace context` as text.

use comfy_table::{Cell, CellAlignment, Table};
use trace_explain::context::Context;
use trace_explain::context::answer::{Basis, Beside, Compacted, Diff, Item, Request, Size, Tokens};

use crate::ui::output::{INDENT, Paint, Terminal, Written, push_table, row};
use crate::ui::text::{self, count, number, preview};

/// How much of each text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Beginnings,
    Whole,
}

/// Most tools that are listed by name.
const FIRST_TOOLS: usize = 12;
/// Most parameters that are listed by name.
const FIRST_PARAMETERS: usize = 12;
/// Most columns of a text in a table, if the width of the terminal is not known.
const MAX_COLUMNS: usize = 80;
/// Most columns of a name.
const NAME_COLUMNS: usize = 40;

/// Formats the answer as text.
pub(super) fn render(answer: &Context, shown: Shown, wants_diff: bool, terminal: &Terminal) -> String {
    let mut view = View { out: Written::new(terminal), terminal, shown };
    match answer {
        Context::Request(request) => view.request(request, wants_diff),
        Context::Compaction(compaction) => view.compaction(compaction),
    }
    view.out.text
}

struct View<'a> {
    out: Written,
    terminal: &'a Terminal,
    shown: Shown,
}

impl View<'_> {
    fn heading(&mut self, heading: &str, about: &str) {
        let strong = self.out.paint.strong;
        self.out.line("");
        self.out.line(&format!("{strong}{heading}{strong:#}{about}"));
    }

    fn field(&mut self, name: &str, value: &str) {
        let dim = self.out.paint.dim;
        self.out.line(&format!("  {dim}{name:<9}{dim:#}  {value}"));
    }

    fn request(&mut self, request: &Request, wants_diff: bool) {
        let Paint { strong, bad, odd, .. } = self.out.paint;
        let id = preview(&request.inference_call_id, MAX_COLUMNS);
        let path = preview(&request.agent_path, MAX_COLUMNS);
        self.out.line(&format!("{strong}Request {id}{strong:#} #{} of {} of {path}", request.number, request.of));
        let model = preview(&request.model, NAME_COLUMNS);
        self.field("model", &format!("{model} ({})", preview(&request.provider_name, NAME_COLUMNS)));
        self.field("turn", &format!("{}, seq {}", preview(&request.turn_id, MAX_COLUMNS), request.seq));
        if request.status != "completed" {
            let error = request.error.as_deref().map(|error| format!(": {}", preview(error, MAX_COLUMNS)));
            self.field("status", &format!("{bad}{}{bad:#}{}", request.status, error.unwrap_or_default()));
        }
        self.field("tokens", &describe_tokens(&request.tokens));
        for missing in &request.missing {
            self.field("missing", &format!("{odd}{}{odd:#}", text::clean(missing)));
        }
        if !request.sums.is_empty() {
            self.heading("What the tokens are spent on", " (estimated)");
            let mut table = self.terminal.table(&["WHAT", "COUNT", "TOKENS", "SHARE"]);
            for sum in &request.sums {
                table.add_row(vec![
                    Cell::new(sum.what.replace('_', " ")),
                    right(number(sum.count as u64)),
                    right(number(sum.tokens)),
                    right(percent(sum.share)),
                ]);
            }
            push_table(&mut self.out.text, INDENT, table);
        }
        if let Some(beside) = &request.beside {
            self.beside(beside);
        }
        match &request.diff {
            Some(diff) => self.diff(diff, request),
            None if wants_diff => {
                self.heading("Difference to the request before", ": this is the first one of its thread");
                self.items("Items", &request.items, "");
            }
            None => self.items("Items", &request.items, ""),
        }
    }

    fn beside(&mut self, beside: &Beside) {
        if let Some(instructions) = &beside.instructions {
            let about = format!(" {}, {}", text::bytes(instructions.bytes), percent(instructions.share));
            self.heading("Base instructions", &about);
            self.body(&instructions.text, instructions.is_cut);
        }
        if !beside.tools.is_empty() {
            self.heading("Tools", &format!(" {}", beside.tools.len()));
            let mut tools: Vec<_> = beside.tools.iter().collect();
            tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
            let limit = if self.shown == Shown::Whole { usize::MAX } else { FIRST_TOOLS };
            let mut table = self.terminal.table(&["NAME", "TYPE", "BYTES", "TOKENS", "SHARE"]);
            for tool in tools.iter().take(limit) {
                table.add_row(vec![
                    Cell::new(preview(&tool.name, NAME_COLUMNS)),
                    Cell::new(preview(&tool.kind, NAME_COLUMNS)),
                    right(number(tool.bytes)),
                    right(number(tool.tokens)),
                    right(percent(tool.share)),
                ]);
            }
            push_table(&mut self.out.text, INDENT, table);
            self.left_out(tools.len(), limit);
        }
        if let Some(format) = &beside.response_format {
            let about = format!(" {}, {}", text::bytes(format.bytes), percent(format.share));
            self.heading("Output format", &about);
            self.body(&format.text, format.is_cut);
        }
        if !beside.parameters.is_empty() {
            self.heading("Parameters", "");
            let limit = if self.shown == Shown::Whole { usize::MAX } else { FIRST_PARAMETERS };
            let mut table = self.terminal.list();
            for parameter in beside.parameters.iter().take(limit) {
                let name = preview(&parameter.name, NAME_COLUMNS);
                table.add_row(row(vec![Cell::new(name), Cell::new(preview(&parameter.value, MAX_COLUMNS))]));
            }
            push_table(&mut self.out.text, INDENT, table);
            self.left_out(beside.parameters.len(), limit);
        }
    }

    fn left_out(&mut self, all: usize, limit: usize) {
        if all > limit {
            let dim = self.out.paint.dim;
            self.out.line(&format!("  {dim}... and {} more (--full shows them){dim:#}", all - limit));
        }
    }

    fn diff(&mut self, diff: &Diff, request: &Request) {
        let odd = self.out.paint.odd;
        let before = preview(&diff.inference_call_id, MAX_COLUMNS);
        let moved = if diff.moved > 0 { format!(" ({} in another order)", diff.moved) } else { String::new() };
        let sums = format!(
            ": {} kept{moved}, {} added, {} removed, {} changed",
            diff.kept,
            diff.added.len(),
            diff.removed.len(),
            diff.changed.len()
        );
        self.heading(&format!("Difference to {before}"), &sums);
        let difference = i128::from(request.tokens.input) - i128::from(diff.tokens_before.input);
        let sign = if difference < 0 { "-" } else { "+" };
        let difference = number(u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX));
        let told = |tokens: &Tokens| match tokens.basis {
            Basis::Recorded => number(tokens.input),
            Basis::Estimated => format!("about {}", number(tokens.input)),
        };
        let (before, after) = (told(&diff.tokens_before), told(&request.tokens));
        self.field("tokens", &format!("{before} before, {after} now ({sign}{difference})"));
        if diff.is_rewritten {
            let why =
                "most items are gone and no compaction was recorded: the client has summarised the history by itself";
            self.field("rewritten", &format!("{odd}{why}{odd:#}"));
        }
        for compaction in &diff.compactions {
            self.field("compacted", &format!("by {}", preview(compaction, MAX_COLUMNS)));
        }
        for (name, list) in [
            ("tools +", &diff.tools_added),
            ("tools -", &diff.tools_removed),
            ("tools ~", &diff.tools_changed),
            ("params ~", &diff.parameters_changed),
        ] {
            if !list.is_empty() {
                self.field(name, &preview(&list.join(", "), MAX_COLUMNS));
            }
        }
        if diff.instructions_changed {
            self.field("base", "the base instructions differ");
        }
        let added: Vec<Item> = diff.added.iter().map(|index| request.items[*index].clone()).collect();
        let changed: Vec<Item> = diff.changed.iter().map(|changed| request.items[changed.after].clone()).collect();
        self.items("Removed", &diff.removed, "-");
        self.items("Changed", &changed, "~");
        self.items("Added", &added, "+");
    }

    fn items(&mut self, heading: &str, items: &[Item], mark: &str) {
        if items.is_empty() {
            return;
        }
        self.heading(heading, &format!(" {}", number(items.len() as u64)));
        if self.shown == Shown::Whole {
            for item in items {
                self.whole(item, mark);
            }
            return;
        }
        let mut table: Table = self.terminal.list();
        table.set_header(
            ["#", "TOKENS", "SHARE", "SINCE", "WHAT", "FROM", "TEXT"]
                .map(|name| Cell::new(name).add_attribute(comfy_table::Attribute::Bold)),
        );
        for item in items {
            let since = item.since.as_ref().map(|since| format!("#{}", since.number)).unwrap_or_default();
            table.add_row(row(vec![
                right(format!("{mark}{}", item.index)),
                right(number(item.tokens)),
                right(percent(item.share)),
                right(since),
                Cell::new(what(item)),
                Cell::new(from(item)),
                Cell::new(preview(&item.text, MAX_COLUMNS)),
            ]));
        }
        push_table(&mut self.out.text, INDENT, table);
    }

    /// Shows an item with its full text.
    fn whole(&mut self, item: &Item, mark: &str) {
        let Paint { strong, dim, .. } = self.out.paint;
        let since = item.since.as_ref().map(|since| format!(", since #{}", since.number)).unwrap_or_default();
        let line = format!(
            "{strong}{mark}{}  {}{strong:#}  {dim}from {}{since}, {} tokens ({}), {}{dim:#}",
            item.index,
            what(item),
            from(item),
            number(item.tokens),
            percent(item.share),
            item.item_id
        );
        self.out.line(&line);
        self.body(&item.text, item.is_cut);
    }

    /// Shows a text line by line. Each line is made safe to print.
    fn body(&mut self, body: &str, is_cut: bool) {
        if self.shown == Shown::Beginnings {
            self.out.line(&format!("  {}{}", preview(body, MAX_COLUMNS), if is_cut { " …" } else { "" }));
            return;
        }
        for line in body.lines() {
            let line = format!("  {}", text::clean(line));
            self.out.line(&line);
        }
    }

    fn compaction(&mut self, compaction: &Compacted) {
        let Paint { strong, bad, odd, .. } = self.out.paint;
        let id = preview(&compaction.compaction_id, MAX_COLUMNS);
        let path = preview(&compaction.agent_path, MAX_COLUMNS);
        self.out.line(&format!("{strong}Compaction {id}{strong:#} of {path}"));
        self.field("turn", &preview(&compaction.turn_id, MAX_COLUMNS));
        for request in &compaction.requests {
            let time = request.duration_ms.map(|duration| format!(" in {}", text::duration(duration)));
            let error = request.error.as_deref().map(|error| format!(": {}", preview(error, MAX_COLUMNS)));
            let style = if request.status == "completed" { anstyle::Style::new() } else { bad };
            let asked = format!(
                "of {}, {style}{}{style:#}{}{}",
                preview(&request.model, NAME_COLUMNS),
                request.status,
                time.unwrap_or_default(),
                error.unwrap_or_default()
            );
            self.field("asked", &asked);
        }
        let Some(seq) = compaction.installed_seq else {
            self.field("installed", &format!("{odd}never{odd:#}: the history stayed as it was"));
            return;
        };
        self.field("installed", &format!("seq {seq}"));
        let summaries = compaction.summaries.len();
        let outcome = format!(
            "{} became {}: {} kept, {} removed, {}, {} new",
            count(compaction.items_before as u64, "item"),
            compaction.items_after,
            compaction.kept.len(),
            compaction.removed.len(),
            if summaries == 1 { "1 summary".to_owned() } else { format!("{summaries} summaries") },
            compaction.added.len()
        );
        self.field("items", &outcome);
        self.field("before", &describe_size(&compaction.tokens_before));
        self.field("after", &describe_size(&compaction.tokens_after));
        for summary in &compaction.summaries {
            let about = if summary.is_encrypted { " (encrypted: only the provider can read it)" } else { "" };
            self.heading("Summary", &format!(" {}{about}", text::bytes(summary.bytes)));
            if let Some(text) = &summary.text {
                self.body(text, false);
            }
        }
        self.items("Kept", &compaction.kept, "");
        self.items("Removed", &compaction.removed, "-");
        self.items("New", &compaction.added, "+");
    }
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns the type of an item in one or two words.
fn what(item: &Item) -> String {
    let name = item.name.as_deref().map(|name| preview(name, NAME_COLUMNS));
    match (item.kind, name) {
        ("message", _) if item.channel == Some("summary") => "summary".to_owned(),
        ("message", _) => item.role.to_owned(),
        ("function_call" | "custom_tool_call", Some(name)) => format!("{name} ←"),
        ("function_call_output" | "custom_tool_call_output", Some(name)) => format!("{name} →"),
        (kind, _) => kind.replace('_', " "),
    }
}

/// Returns the origin of an item.
fn from(item: &Item) -> String {
    let kind = item.origin.kind.as_str().replace('_', " ");
    let kept = if item.origin.kept_by.is_some() { ", kept" } else { "" };
    let from = match (&item.origin.agent_path, &item.origin.object) {
        (Some(path), _) => format!("{kind} {}", preview(path, NAME_COLUMNS)),
        (None, _) if item.origin.number.is_some() => {
            format!("{kind} #{}", item.origin.number.unwrap_or_default())
        }
        (None, Some(object)) if matches!(object.kind.as_str(), "inference_call" | "compaction") => {
            format!("{kind} {}", preview(&object.id, NAME_COLUMNS))
        }
        (None, _) => kind,
    };
    from + kept
}

fn describe_tokens(tokens: &Tokens) -> String {
    let cached = tokens.cached_input.filter(|cached| *cached > 0);
    let cached = cached.map(|cached| format!(" ({} cached)", number(cached))).unwrap_or_default();
    let output = tokens.output.map(|output| format!(", {} out", number(output))).unwrap_or_default();
    let basis = if tokens.basis == Basis::Estimated { ", estimated" } else { "" };
    format!("{} in{cached}{output}{basis}", number(tokens.input))
}

fn describe_size(size: &Size) -> String {
    let items = number(size.estimated_items);
    match &size.inference_call_id {
        Some(id) => format!(
            "{} tokens in request {} (items alone: {items}, estimated)",
            number(size.tokens),
            preview(id, MAX_COLUMNS)
        ),
        None => format!("{items} tokens, estimated"),
    }
}
