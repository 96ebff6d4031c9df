//! Generates the sample bundles in the repository.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use trace_recorder::bundle::is_bundle;
use trace_recorder::pack::{DEFAULT_LEVEL, PACKED_EXTENSION, Source, pack};
use trace_samples::bench::measure;
use trace_samples::scenes::{PACKED_SCENES, SCENES};

/// Makes the sample bundles anew. The same version always writes the same bytes, so without a change to the scenes nothing
/// changes.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory of the samples, each in a directory of its name. Existing samples are replaced.
    #[arg(default_value = "samples")]
    directory: PathBuf,
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> anyhow::Result<()> {
    let Arguments { directory } = Arguments::parse();
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    // The samples are made in a temporary directory, so that a failure leaves the existing ones unchanged.
    let making =
        tempfile::tempdir_in(&directory).with_context(|| format!("cannot write to {}", directory.display()))?;
    for (name, record) in SCENES {
        let (made, place) = (making.path().join(name), directory.join(name));
        record(&made).with_context(|| format!("cannot record {name}"))?;
        if place.exists() {
            anyhow::ensure!(is_bundle(&place), "{} is no bundle; it stays as it is", place.display());
            std::fs::remove_dir_all(&place).with_context(|| format!("cannot remove {}", place.display()))?;
        }
        std::fs::rename(&made, &place).with_context(|| format!("cannot write {}", place.display()))?;
        let size = measure(&place)?;
        println!("{} ({} files, {} bytes)", place.display(), size.files, size.bytes);
    }
    for (name, record) in PACKED_SCENES {
        let made = making.path().join(name);
        record(&made).with_context(|| format!("cannot record {name}"))?;
        let place = directory.join(name).with_extension(PACKED_EXTENSION);
        let file = File::create(&place).with_context(|| format!("cannot write {}", place.display()))?;
        let stats = pack(&Source::list(&made)?, file, DEFAULT_LEVEL)?;
        println!("{} ({} bytes)", place.display(), stats.packed_bytes);
    }
    Ok(())
}
