//! `trace fleet show` and `why`: starts `trace` with the session of an address.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use trace_fleet::sessions::{is_remote, local_path};

use crate::failure::{Ending, Failure};

macro_rules! address_args {
    ($($name:ident, $about:literal, $example:literal;)*) => {$(
        #[doc = $about]
        #[derive(Debug, Args)]
        #[command(after_help = concat!("Examples:\n", $example, "\n\n\
            The address is that of a row of any table. What lies in object storage is read by ranges. \
            Arguments after the address go to the command of `trace`, whose exit code this one has."))]
        pub(crate) struct $name {
            /// Address of the session
            pub(crate) address: String,
            /// Arguments of the command of `trace`
            #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
            pub(crate) rest: Vec<OsString>,
        }
    )*};
}

address_args! {
    ShowArgs, "Shows the session of an address, as `trace show` does", "  trace fleet show s3://bucket/sessions/1.trace";
    WhyArgs, "Explains where a text of the session of an address came from, as `trace why` does",
        "  trace fleet why s3://bucket/sessions/1.trace --text 'permission denied'";
}

/// Returns the program `trace`: the one beside this program, or the one on the PATH.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("trace"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("trace"))
}

pub(crate) fn run(command: &str, address: &str, rest: &[OsString]) -> Result<Ending, Failure> {
    // `trace` starts this program again to read what lies in object storage.
    let session = if is_remote(address) { OsString::from(address) } else { local_path(address).into_os_string() };
    let program = program();
    let status = Command::new(&program).arg(command).arg(session).args(rest).status().map_err(|error| {
        Failure::data(anyhow::Error::from(error).context(format!("{} cannot be started", program.display())))
            .with_hint("put `trace` beside `trace-fleet`, or into a folder of the PATH")
    })?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(if code == 0 { Ending::Done } else { Ending::Code(code) })
}
