//! `trace postmortem`: why turns failed.

use std::path::PathBuf;

use clap::Args;
use trace_explain::postmortem::postmortem;

use crate::failure::{Ending, Failure};
use crate::output::Terminal;
use crate::session;

#[derive(Debug, Args)]
pub(crate) struct PostmortemArgs {
    /// The bundle
    bundle: PathBuf,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Also say of turns that came out well
    #[arg(short, long)]
    all: bool,
}

pub(crate) fn run(args: &PostmortemArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let session = session::open(&args.bundle)?;
    let mut answer = postmortem(&session);
    if !args.all {
        answer = answer.only_attention();
    }
    terminal.print_json(&answer)?;
    std::mem::forget(session);
    Ok(Ending::Done)
}
