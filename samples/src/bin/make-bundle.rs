//! Makes a bundle of any size, to measure with, or one that attacks whoever shows it.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use trace_recorder::format::SchemaVersion;
use trace_samples::bench::{Burden, Shape, generate, measure};
use trace_samples::hostile;

/// Records a made-up session of a given shape. 400 steps of one agent make 60 MB, 800 make 220 MB.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory of the new bundle.
    out: PathBuf,
    /// Requests of each agent that ask for commands.
    #[arg(long, default_value_t = 100)]
    steps: usize,
    /// Commands that each of these requests brings.
    #[arg(long, default_value_t = Shape::steps(0).commands)]
    commands: usize,
    /// Children of every agent that has any.
    #[arg(long, default_value_t = 3)]
    width: usize,
    /// Generations of children.
    #[arg(long, default_value_t = 0)]
    depth: usize,
    /// Bytes that each command prints.
    #[arg(long, default_value_t = Shape::steps(0).output_bytes)]
    output_bytes: usize,
    /// Short instructions and few tools in the requests, instead of as many as real ones carry: far fewer bytes.
    #[arg(long)]
    light: bool,
    /// Instead of all that, the session whose every string attacks whoever shows it.
    #[arg(long)]
    hostile: bool,
    /// Decides the ids.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Schema of the bundle, 1 or 2.
    #[arg(long, default_value_t = SchemaVersion::CURRENT.0, value_parser = clap::value_parser!(u32).range(1..=2))]
    schema: u32,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { out, steps, commands, width, depth, output_bytes, light, hostile, seed, schema } =
        Arguments::parse();
    let burden = if light { Burden::Light } else { Burden::Real };
    let schema = SchemaVersion(schema);
    let made = match hostile {
        true => hostile::record(&out),
        false => generate(&out, &Shape { steps, commands, width, depth, output_bytes, burden, seed, schema }),
    };
    made.with_context(|| format!("cannot make {}", out.display()))?;
    let size = measure(&out)?;
    println!("{} ({} files, {} bytes)", out.display(), size.files, size.bytes);
    Ok(())
}
