//! Generates the sessions that test `trace postmortem`: each has one fault, and the expected verdicts.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use trace_samples::faults::{Truth, all};

/// Records sessions with one fault each, and healthy ones. Each gets a directory of its name with the bundle in `bundle`
/// and, in `truth.json`, the expected verdict on every turn. The same version always writes the same bytes.
#[derive(Debug, Parser)]
struct Arguments {
    /// New directory for all sessions
    directory: PathBuf,
    /// Only the sessions whose names contain this
    #[arg(long, default_value = "")]
    name: String,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { directory, name } = Arguments::parse();
    let mut count = 0;
    for planted in all().iter().filter(|planted| planted.name.contains(&name)) {
        let place = directory.join(&planted.name);
        fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        let turns =
            planted.write(&place.join("bundle")).with_context(|| format!("cannot record {}", place.display()))?;
        let truth = Truth { name: &planted.name, category: planted.family.name(), what: &planted.what, turns: &turns };
        let mut json = serde_json::to_string_pretty(&truth)?;
        json.push('\n');
        fs::write(place.join("truth.json"), json).with_context(|| format!("cannot write to {}", place.display()))?;
        count += 1;
    }
    println!("{count} sessions in {}", directory.display());
    Ok(())
}
