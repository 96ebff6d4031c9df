//! Reduces the sessions of a folder and writes their graphs, as `trace reduce FOLDER -o OUT --one-line` does: what an ingest of the same
//! sessions is compared with.
//!
//! `cargo run --release --example reduce -- FOLDER OUT`

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use trace_recorder::Bundle;
use trace_recorder::bundle::find_bundles;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(root), Some(out)) = (arguments.next(), arguments.next()) else { anyhow::bail!("reduce FOLDER OUT") };
    std::fs::create_dir_all(&out)?;
    let started = Instant::now();
    let bundles = find_bundles(&root)?;
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<()> {
        while let Some(path) = bundles.get(next.fetch_add(1, Ordering::Relaxed)) {
            let reduction = reduce(&Bundle::open(path)?, Options::default())?;
            let name = format!("{}.json", path.file_name().unwrap_or_default().to_string_lossy());
            state_json::write(&reduction, Style::Compact, File::create(out.join(name))?)?;
        }
        Ok(())
    };
    rayon::broadcast(|_| work()).into_iter().collect::<anyhow::Result<()>>()?;
    writeln!(std::io::stdout(), "{} sessions in {:.2} s", bundles.len(), started.elapsed().as_secs_f64())?;
    Ok(())
}
