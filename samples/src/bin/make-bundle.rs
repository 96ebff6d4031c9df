//! Makes a bundle of any size, to measure with.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use trace_recorder::format::SchemaVersion;
use trace_samples::bench::{Shape, generate, measure};

/// Records a made-up session of a given shape. 400 steps of one agent make 60 MB, 800 make 220 MB.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory of the new bundle.
    out: PathBuf,
    /// Commands that each agent runs, one request each.
    #[arg(long, default_value_t = 100)]
    steps: usize,
    /// Children of every agent that has any.
    #[arg(long, default_value_t = 3)]
    width: usize,
    /// Generations of children.
    #[arg(long, default_value_t = 0)]
    depth: usize,
    /// Bytes that each command prints.
    #[arg(long, default_value_t = Shape::steps(0).output_bytes)]
    output_bytes: usize,
    /// Decides the ids.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Schema of the bundle, 1 or 2.
    #[arg(long, default_value_t = SchemaVersion::CURRENT.0, value_parser = clap::value_parser!(u32).range(1..=2))]
    schema: u32,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { out, steps, width, depth, output_bytes, seed, schema } = Arguments::parse();
    let shape = Shape { steps, width, depth, output_bytes, seed, schema: SchemaVersion(schema) };
    generate(&out, &shape).with_context(|| format!("cannot make {}", out.display()))?;
    let size = measure(&out)?;
    println!("{} ({} files, {} bytes)", out.display(), size.files, size.bytes);
    Ok(())
}
