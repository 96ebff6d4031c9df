//! `trace fleet tables`: the tables and columns of lakes.

use clap::Args;
use trace_fleet::tables::{self, common};

use crate::failure::{Ending, Failure};
use crate::terminal;

/// Lists the tables of lakes and their columns
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet tables
  trace fleet tables failures

Exit codes: 0 listed; 2 there is no such table.")]
pub(crate) struct TablesArgs {
    /// Only this table
    #[arg(value_name = "TABLE")]
    table: Option<String>,
}

pub(crate) fn run(args: &TablesArgs) -> Result<Ending, Failure> {
    let wanted: Vec<_> = match &args.table {
        Some(name) => vec![tables::find(name).ok_or_else(|| {
            Failure::usage(format!("there is no table {name}")).with_hint("`trace fleet tables` lists them")
        })?],
        None => tables::ALL.clone(),
    };
    let mut text = String::new();
    let column = |it: &tables::Column| format!("  {:<28} {:<17} {}\n", it.name, it.kind.as_str(), it.text);
    text.push_str("Every table begins with these columns:\n");
    common::COMMON.iter().for_each(|it| text.push_str(&column(it)));
    for table in wanted {
        text.push_str(&format!("\n{}: {}\n", table.name(), table.text()));
        table.columns().iter().skip(common::COMMON.len()).for_each(|it| text.push_str(&column(it)));
    }
    text.push_str("\ncosts: inference_calls with a column `money`, which needs a price table.\n");
    terminal::print(&text).map_err(Failure::data)?;
    Ok(Ending::Done)
}
