//! `trace schema`: writes the messages of the app-server protocol for authors of clients.

use std::path::{Path, PathBuf};

use clap::Args;
use trace_protocol::{SchemaSet, generated};

use crate::commands::reduce::{Target, file_target};
use crate::ui::failure::{Ending, Failure};

const AFTER_HELP: &str = "\
Examples:
  trace schema --json -                         the JSON Schema of all stable messages, on stdout
  trace schema --json protocol.json --experimental
  trace schema --ts types                       TypeScript types, one file each, in the folder types

A server offers experimental methods and fields only to clients that ask for them when they connect.

Exit codes: 0 done; 1 the output could not be written; 2 wrong usage; 3 an internal error.";

/// Writes the schema of the app-server protocol
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(group = clap::ArgGroup::new("form").required(true))]
pub(crate) struct SchemaArgs {
    /// Write JSON Schema to this file; - is stdout
    #[arg(long, value_name = "FILE", group = "form")]
    json: Option<PathBuf>,
    /// Write TypeScript types into this folder
    #[arg(long, value_name = "DIR", group = "form")]
    ts: Option<PathBuf>,
    /// Include experimental methods and fields
    #[arg(long)]
    experimental: bool,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<Ending, Failure> {
    let set = if args.experimental { SchemaSet::Experimental } else { SchemaSet::Stable };
    if let Some(file) = &args.json {
        let target = if file == Path::new("-") { Target::Stdout } else { file_target(file)? };
        target.write(|out| out.write_all(generated::json_schema(set).as_bytes()))?;
    }
    if let Some(folder) = &args.ts {
        let failed = |error: std::io::Error, path: &Path| {
            Failure::data(error).context(format!("cannot write {}", path.display()))
        };
        for (name, text) in generated::typescript(set) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|error| failed(error, parent))?;
            }
            std::fs::write(&path, text).map_err(|error| failed(error, &path))?;
        }
    }
    Ok(Ending::Done)
}
