//! Measures how fast questions about a session are answered, compared with how fast it is reduced.
//!
//! `cargo bench -p trace-samples --bench answers`

mod common;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use trace_explain::audit::{self, audit};
use trace_explain::context::{self, Against, Texts};
use trace_explain::costs::Costs;
use trace_explain::critical_path::CriticalPath;
use trace_explain::diff::Diff;
use trace_explain::grep::{CaseRule, Matcher, Selection, Syntax, WholeWords, grep};
use trace_explain::postmortem::postmortem;
use trace_explain::timeline::Timeline;
use trace_explain::why::{Needle, why};
use trace_explain::{CausalGraph, Session, Sightings};
use trace_reducer::Options;
use trace_samples::bench::Shape;

use self::common::{Made, Workshop, reduce_to};

fn main() {
    let workshop = Workshop::new();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    for (name, shape) in [("steps-800", Shape::steps(800)), ("tree-421-agents", Shape::tree(20, 2, 2))] {
        let bundle = workshop.make(name, &shape);
        reduction(&mut criterion, name, &bundle, &workshop.file("state.json"));
        answers(&mut criterion, name, &bundle.path);
        std::fs::remove_dir_all(&bundle.path).expect("a bundle of this process");
    }
    criterion.final_summary();
}

/// Measures opening a session, which every answer requires, and reducing it to a file.
fn reduction(criterion: &mut Criterion, name: &str, bundle: &Made, out: &std::path::Path) {
    let mut group = criterion.benchmark_group("session");
    group.throughput(Throughput::Bytes(bundle.size.bytes));
    group.bench_function(BenchmarkId::new("open", name), |bencher| {
        bencher.iter(|| drop(black_box(Session::open(&bundle.path))));
    });
    group.bench_function(BenchmarkId::new("reduce", name), |bencher| {
        bencher.iter(|| reduce_to(&bundle.path, out, Options::default()));
    });
    group.finish();
}

fn answers(criterion: &mut Criterion, name: &str, bundle: &std::path::Path) {
    let session = Session::open(bundle).expect("a bundle");
    let trace = session.trace();
    let needle = Needle::new("a text that is nowhere").expect("a text");
    let matcher = Matcher::new(&["err(or|no)"], Syntax::Regex, CaseRule::Smart, WholeWords::No).expect("a pattern");
    let last = context::last_of_session(trace).expect("a request");
    let mut group = criterion.benchmark_group("answer");
    let mut measure = |question: &str, answer: &dyn Fn(&Session)| {
        group.bench_function(BenchmarkId::new(question, name), |bencher| bencher.iter(|| answer(&session)));
    };
    measure("sightings", &|session| drop(black_box(Sightings::new(session.trace()))));
    measure("causal graph", &|session| drop(black_box(CausalGraph::new(session))));
    measure("postmortem", &|session| drop(black_box(postmortem(session))));
    measure("audit", &|session| drop(black_box(audit(session, audit::Options::default()))));
    measure("why", &|session| drop(black_box(why(session, &needle))));
    measure("grep", &|session| drop(black_box(grep(session, &matcher, &Selection::default()))));
    measure("context", &|session| {
        drop(black_box(context::request(session, last, Texts::Whole, Against::RequestBefore)));
    });
    measure("costs", &|session| drop(black_box(Costs::new(session.trace(), None))));
    measure("timeline", &|session| drop(black_box(Timeline::new(session))));
    measure("critical path", &|session| drop(black_box(CriticalPath::new(session, None))));
    measure("diff", &|session| drop(black_box(Diff::new(session, session, None))));
    group.finish();
}
