//! `--tables` and `--queries`: lists tables, views, functions and named queries.

use serde::Serialize;
use trace_query::describe::{Description, describe};
use trace_query::named::{self, NamedQuery};

use super::arguments;
use crate::ui::failure::Failure;
use crate::ui::output::{INDENT, Terminal, push_table};
use crate::ui::text;

/// The object of `trace query --queries --json`.
#[derive(Debug, Serialize)]
struct Queries {
    queries: Vec<NamedQuery>,
}

/// Lists the tables, views and functions, or those with these names with their columns.
pub(super) fn tables(names: &[String], as_json: bool, terminal: &Terminal) -> Result<(), Failure> {
    let mut description = describe();
    if !names.is_empty()
        && let [unknown, ..] = description.keep_only(names)[..]
    {
        let message = format!("there is no table, view or function {unknown}");
        return Err(Failure::usage(message).with_hint("`trace query --tables` lists them"));
    }
    if as_json {
        return terminal.print_json(&description);
    }
    terminal.print(&if names.is_empty() { overview(&description, terminal) } else { whole(&description, terminal) })
}

/// Lists everything by name, with what a row stands for.
fn overview(description: &Description, terminal: &Terminal) -> String {
    let strong = terminal.paint().strong;
    let mut shown = String::new();
    let mut section = |title: &str, entries: &mut dyn Iterator<Item = (&str, &str)>| {
        shown.push_str(&format!("{strong}{title}{strong:#}\n"));
        let mut table = terminal.list();
        for (name, text) in entries {
            table.add_row([name, text]);
        }
        push_table(&mut shown, INDENT, table);
        shown.push('\n');
    };
    section("Tables", &mut description.tables.iter().map(|table| (table.name, table.text)));
    section("Views", &mut description.views.iter().map(|view| (view.name, view.text)));
    section("Functions", &mut description.functions.iter().map(|function| (function.call, function.text)));
    shown.push_str("`trace query --tables TABLE` lists the columns of a table.\n");
    shown
}

/// Describes tables, views and functions in full.
fn whole(description: &Description, terminal: &Terminal) -> String {
    let strong = terminal.paint().strong;
    let mut parts = Vec::new();
    for described in &description.tables {
        let mut part = format!("{strong}{}{strong:#}: {}\n", described.name, described.text);
        let mut table = terminal.list();
        for column in &described.columns {
            table.add_row([column.name, column.kind, column.text]);
        }
        push_table(&mut part, INDENT, table);
        parts.push(part);
    }
    for view in &description.views {
        let columns = view.columns.join(", ");
        parts.push(format!("{strong}{}{strong:#}: {}\n{INDENT}{columns}\n", view.name, view.text));
    }
    for function in &description.functions {
        parts.push(format!("{strong}{}{strong:#}: {}\n", function.call, function.text));
    }
    parts.join("\n")
}

/// Lists the named queries, or those with these names with their SQL.
pub(super) fn queries(names: &[String], as_json: bool, terminal: &Terminal) -> Result<(), Failure> {
    let find = |name: &String| {
        let name = name.strip_prefix('@').unwrap_or(name);
        named::find(name).ok_or_else(|| arguments::unknown(name))
    };
    let queries: Vec<NamedQuery> =
        if names.is_empty() { named::all().to_vec() } else { names.iter().map(find).collect::<Result<_, _>>()? };
    if as_json {
        return terminal.print_json(&Queries { queries });
    }
    if names.is_empty() {
        let mut table = terminal.list();
        for query in &queries {
            table.add_row([format!("@{}", query.name), query.text.to_owned()]);
        }
        let mut shown = String::new();
        push_table(&mut shown, "", table);
        shown.push_str("\n`trace query --queries NAME` shows the SQL of one.\n");
        return terminal.print(&shown);
    }
    let dim = terminal.paint().dim;
    let shown = queries.iter().map(|query| format!("{dim}-- {}{dim:#}\n{}\n", text::clean(query.text), query.sql));
    terminal.print(&shown.collect::<Vec<_>>().join("\n"))
}
