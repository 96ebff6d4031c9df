//! `trace completions`: completion scripts for shells.

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use crate::completion::{SHELLS, VARIABLE};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace completions bash > ~/.local/share/bash-completion/completions/trace
  trace completions zsh > ~/.zfunc/_trace
  trace completions fish > ~/.config/fish/completions/trace.fish

In bash, zsh and fish, the script asks `trace` for what can stand at a place: commands, options, paths, @last and the ids of \
the sessions that `trace ls` has listed, and of up to 64 newer files per store. Write it again after an update of trace. With \
--fixed, and for other shells, it has commands, options and paths only.

Exit codes: 0 written; 2 wrong usage; 3 an internal error.";

/// Writes a completion script for a shell to stdout
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete for
    shell: Shell,
    /// Write a script that does not ask `trace`, and offers no sessions
    #[arg(long)]
    fixed: bool,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: Command, terminal: &Terminal) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    let shell = args.shell.to_possible_value().map(|shell| shell.get_name().to_owned()).unwrap_or_default();
    match SHELLS.completer(&shell).filter(|_| !args.fixed) {
        Some(completer) => completer
            .write_registration(VARIABLE, NAME, NAME, NAME, &mut script)
            .map_err(|error| Failure::internal(anyhow::Error::from(error)))?,
        None => clap_complete::generate(args.shell, &mut command, NAME, &mut script),
    }
    terminal.print(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}

/// Name of the program, as shells find it.
const NAME: &str = "trace";
