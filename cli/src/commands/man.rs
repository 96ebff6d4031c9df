//! `trace man`: manual pages.

use clap::{Args, Command};

use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace man | man -l -
  trace man reduce > ~/.local/share/man/man1/trace-reduce.1

Exit codes: 0 written; 2 wrong usage; 3 an internal error.";

/// Writes a manual page to stdout
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ManArgs {
    /// The command of the page [default: all of trace]
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs, mut command: Command, terminal: &Terminal) -> Result<Ending, Failure> {
    command.build();
    if let Some(name) = &args.command {
        let shown = command.get_subcommands().filter(|known| !known.is_hide_set());
        let names: Vec<_> = shown.map(|known| known.get_name().to_owned()).collect();
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| {
            Failure::usage(format!("there is no command `{name}`")).with_hint(format!("one of {}", names.join(", ")))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::internal)?;
    terminal.print(&String::from_utf8_lossy(&page))?;
    Ok(Ending::Done)
}
