//! `trace fleet read`: lends the bytes of a session in object storage to the program that started this one.

use std::io;

use clap::Args;
use trace_fleet::remote::RemoteFile;
use trace_recorder::pack::lend;

use super::{runtime, store_options};
use crate::failure::{Ending, Failure};

/// Answers requests for bytes of an object over stdin and stdout. `trace` starts it when a session is named by an address
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Address of the session
    address: String,
}

pub(crate) fn run(args: &ReadArgs) -> Result<Ending, Failure> {
    let runtime = runtime()?;
    let file = runtime.block_on(RemoteFile::at(&args.address, &store_options(), runtime.handle().clone()));
    let (input, output) = (io::stdin().lock(), io::stdout());
    let failed = |error| Failure::data(anyhow::Error::from(error).context("nobody takes what is read"));
    match file {
        Ok(file) => lend(Ok(&file), input, output).map(|()| Ending::Done).map_err(failed),
        Err(error) => {
            let why = format!("{:#}", anyhow::Error::from(error));
            lend(Err(why), input, output).map(|()| Ending::Failed).map_err(failed)
        }
    }
}
