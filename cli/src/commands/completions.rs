//! `trace completions`: completion scripts for shells.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace completions bash > ~/.local/share/bash-completion/completions/trace
  trace completions zsh > ~/.zfunc/_trace
  trace completions fish > ~/.config/fish/completions/trace.fish

Exit codes: 0 written; 2 wrong usage; 3 an internal error.";

/// Writes a completion script for a shell to stdout
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete for
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: Command, terminal: &Terminal) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "trace", &mut script);
    terminal.print(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}
