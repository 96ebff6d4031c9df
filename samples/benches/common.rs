//! Helpers for the benchmarks.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trace_recorder::Bundle;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};
use trace_samples::bench::{Shape, Size, generate, measure};

/// A directory with the bundles to measure. They are removed when it is dropped.
pub(crate) struct Workshop {
    directory: TempDir,
    /// Whether to measure. If false, the benchmarks only run once to test that they work.
    pub(crate) is_measuring: bool,
}

/// A bundle and its size.
pub(crate) struct Made {
    pub(crate) path: PathBuf,
    pub(crate) size: Size,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory below target/");
        // `cargo bench` passes `--bench`. `cargo test` also runs benchmarks, without an argument, and then small bundles
        // suffice.
        Self { directory, is_measuring: std::env::args().any(|argument| argument == "--bench") }
    }

    pub(crate) fn make(&self, name: &str, shape: &Shape) -> Made {
        let path = self.directory.path().join(name);
        let steps = if self.is_measuring { shape.steps } else { shape.steps.min(2) };
        let width = if self.is_measuring { shape.width } else { shape.width.min(2) };
        generate(&path, &Shape { steps, width, ..shape.clone() }).expect("a bundle");
        let size = measure(&path).expect("the bundle that was just made");
        Made { path, size }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// Does what `trace reduce` does with one bundle: reads it, reduces it, and writes the graph.
pub(crate) fn reduce_to(bundle: &Path, out: &Path, options: Options) {
    let bundle = Bundle::open(bundle).expect("a bundle");
    let reduction = reduce(&bundle, options).expect("a bundle without damage");
    assert!(reduction.diagnostics.is_empty(), "a bundle without damage");
    let file = File::create(out).expect("a file");
    state_json::write(&reduction, Style::Pretty, file).expect("a state.json");
}
