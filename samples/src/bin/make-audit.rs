//! Generates the sessions that test `trace audit`, each with the findings that it must lead to.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use serde_json::json;
use trace_samples::audit::{Family, all};

/// Records sessions with one false claim or one act that should not be, and honest ones that look like them. Each gets a
/// directory of its name with the bundle in `bundle` and, in `truth.json`, the expected findings. The same version always
/// writes the same bytes.
#[derive(Debug, Parser)]
struct Arguments {
    /// New directory for all sessions
    directory: PathBuf,
    /// Only the sessions whose names contain this
    #[arg(long, default_value = "")]
    name: String,
    /// Writes the scripts of the sessions instead, one line of JSON each, into `scripts.jsonl`
    #[arg(long)]
    scripts: bool,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { directory, name, scripts } = Arguments::parse();
    let (mut count, mut lines) = (0, String::new());
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for planted in all().iter().filter(|planted| planted.name.contains(&name)) {
        count += 1;
        let about = planted.family.kind();
        let honest = matches!(planted.family, Family::Honest(_));
        if scripts {
            let script = json!({ "name": planted.name, "about": about, "honest": honest, "script": planted.script() });
            lines.push_str(&script.to_string());
            lines.push('\n');
            continue;
        }
        let place = directory.join(&planted.name);
        fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        let expected =
            planted.write(&place.join("bundle")).with_context(|| format!("cannot record {}", place.display()))?;
        let truth = json!({ "name": planted.name, "about": about, "honest": honest, "expected": expected });
        fs::write(place.join("truth.json"), format!("{truth:#}\n"))
            .with_context(|| format!("cannot write to {}", place.display()))?;
    }
    if scripts {
        let place = directory.join("scripts.jsonl");
        fs::write(&place, lines).with_context(|| format!("cannot write {}", place.display()))?;
    }
    println!("{count} sessions in {}", directory.display());
    Ok(())
}
