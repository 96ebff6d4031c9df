//! `trace sandbox-exec`: applies a sandbox policy to itself and then executes a command. The server starts commands
//! through it; users do not need it.

use std::ffi::OsString;

use clap::Args;

use crate::ui::failure::{Ending, Failure};

/// Runs a command in the sandbox
#[derive(Debug, Args)]
pub(crate) struct SandboxExecArgs {
    /// The sandbox policy, as JSON
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
