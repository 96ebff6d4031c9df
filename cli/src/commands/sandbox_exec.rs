//! `trace sandbox-exec`: becomes a command that is shut in. The server starts commands through it; people need not.

use std::ffi::OsString;

use clap::Args;

use crate::ui::failure::{Ending, Failure};

/// Runs a command that is shut in
#[derive(Debug, Args)]
pub(crate) struct SandboxExecArgs {
    /// What the command may touch, as JSON
    #[arg(long, value_name = "JSON")]
    policy: String,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &SandboxExecArgs) -> Result<Ending, Failure> {
    match trace_runtime::sandbox::become_confined(&args.policy, &args.command) {
        Ok(never) => match never {},
        Err(error) => Err(Failure::data(error).context("the command was not started")),
    }
}
