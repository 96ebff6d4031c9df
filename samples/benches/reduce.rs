//! Measures how fast bundles are reduced, compared with how fast their files are read.
//!
//! `cargo bench -p trace-samples --bench reduce`

mod common;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use rayon::prelude::*;
use trace_reducer::Options;
use trace_samples::bench::{Shape, read_all};

use self::common::{Workshop, reduce_to};

/// Number of small bundles that are reduced together.
const SMALL_BUNDLES: usize = 1000;

fn main() {
    let workshop = Workshop::new();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    sessions(&mut criterion, &workshop);
    slow_path(&mut criterion, &workshop);
    small_bundles(&mut criterion, &workshop);
    criterion.final_summary();
}

/// Measures whole reductions of sessions of growing length, and of a session with many agents.
fn sessions(criterion: &mut Criterion, workshop: &Workshop) {
    let shapes = [
        ("steps-100", Shape::steps(100)),
        ("steps-400", Shape::steps(400)),
        ("steps-800", Shape::steps(800)),
        ("tree-421-agents", Shape::tree(20, 2, 2)),
    ];
    let mut group = criterion.benchmark_group("session");
    for (name, shape) in shapes {
        let bundle = workshop.make(name, &shape);
        let out = workshop.file(&format!("{name}.json"));
        group.throughput(Throughput::Bytes(bundle.size.bytes));
        group.bench_function(BenchmarkId::new("read", name), |bencher| {
            bencher.iter(|| black_box(read_all(&bundle.path).expect("readable files")));
        });
        group.bench_function(BenchmarkId::new("reduce", name), |bencher| {
            bencher.iter(|| reduce_to(&bundle.path, &out, Options::default()));
        });
        std::fs::remove_dir_all(&bundle.path).expect("a bundle of this process");
    }
    group.finish();
}

/// Measures what comparing a request with its predecessor saves over parsing all of it.
fn slow_path(criterion: &mut Criterion, workshop: &Workshop) {
    let bundle = workshop.make("verify", &Shape::steps(100));
    let out = workshop.file("verify.json");
    let mut group = criterion.benchmark_group("request");
    group.throughput(Throughput::Bytes(bundle.size.bytes));
    for (name, verify) in [("compared", false), ("parsed", true)] {
        let options = Options { verify, ..Options::default() };
        group.bench_function(name, |bencher| bencher.iter(|| reduce_to(&bundle.path, &out, options)));
    }
    group.finish();
}

/// Measures the reduction of many small bundles.
fn small_bundles(criterion: &mut Criterion, workshop: &Workshop) {
    let count = if workshop.is_measuring { SMALL_BUNDLES } else { 3 };
    let bundles: Vec<(PathBuf, PathBuf)> = (0..count)
        .map(|index| {
            let shape = Shape { seed: index as u64, ..Shape::steps(2) };
            (workshop.make(&format!("small-{index}"), &shape).path, workshop.file(&format!("small-{index}.json")))
        })
        .collect();
    let mut group = criterion.benchmark_group("small");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| bundles.iter().map(|(path, _)| read_all(path).expect("readable files")).sum::<u64>());
    });
    group.bench_function("reduce-one-by-one", |bencher| {
        bencher.iter(|| bundles.iter().for_each(|(path, out)| reduce_to(path, out, Options::default())));
    });
    group.bench_function("reduce-in-parallel", |bencher| {
        bencher.iter(|| bundles.par_iter().for_each(|(path, out)| reduce_to(path, out, Options::default())));
    });
    group.finish();
}
