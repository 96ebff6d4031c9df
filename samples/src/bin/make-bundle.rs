//! Generates a bundle of any size for measurements, or a bundle with hostile content.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use trace_recorder::format::SchemaVersion;
use trace_samples::bench::{Burden, Shape, generate, measure};
use trace_samples::hostile;

/// Records an invented session of a given shape. 400 steps of one agent make 60 MB, 800 make 220 MB.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory of the new bundle.
    out: PathBuf,
    /// Requests of each agent that are answered with commands.
    #[arg(long, default_value_t = 100)]
    steps: usize,
    /// Commands in each of these responses.
    #[arg(long, default_value_t = Shape::steps(0).commands)]
    commands: usize,
    /// Children of every agent, except in the last generation.
    #[arg(long, default_value_t = 3)]
    width: usize,
    /// Generations of children.
    #[arg(long, default_value_t = 0)]
    depth: usize,
    /// Bytes that each command prints.
    #[arg(long, default_value_t = Shape::steps(0).output_bytes)]
    output_bytes: usize,
    /// Put short instructions and few tools into the requests instead of realistic ones. The bundle has far fewer bytes.
    #[arg(long)]
    light: bool,
    /// Record a session in which every string attacks the programs that show it. Ignores the options above.
    #[arg(long)]
    hostile: bool,
    /// Seed of the ids.
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
