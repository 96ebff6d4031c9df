//! Measures how fast sessions of agents are read: `cargo run --release -p trace-samples --example measure-imports -- FILE...`
//!
//! For each file it prints the bytes, and the MB/s on one core of the summary, of the bundle, and of the bundle with its
//! reduction. A second argument `--only STEP` runs one step once, for a measurement of the whole process.

#![expect(clippy::print_stdout, reason = "the figures are for people")]

use std::path::Path;
use std::time::{Duration, Instant};

use trace_import::{SessionRef, open, sessions, summarize};
use trace_reducer::{Options, reduce};

/// Times that each step is run. The median counts.
const RUNS: usize = 5;

/// Reads a session in one of the ways that are measured.
type Step = fn(&SessionRef);

/// The steps, by name.
const STEPS: [(&str, Step); 3] = [
    ("summary", |session| drop(summarize(session).expect("summarizes"))),
    ("open", |session| drop(open(session).expect("imports"))),
    ("reduce", |session| {
        let bundle = open(session).expect("imports");
        drop(reduce(&bundle, Options { strict: true, ..Options::default() }).expect("reduces"));
    }),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = arguments.iter().position(|argument| argument == "--only");
    let (files, only) = match only {
        Some(at) => (&arguments[..at], arguments.get(at + 1)),
        None => (&arguments[..], None),
    };
    for file in files {
        let bytes = std::fs::metadata(file).expect("a file").len();
        let session = sessions(Path::new(file)).expect("lists").pop().expect("a session");
        for (name, step) in STEPS.iter().filter(|(name, _)| only.is_none_or(|only| only == name)) {
            let mut times: Vec<Duration> = Vec::new();
            for _ in 0..if only.is_some() { 1 } else { RUNS } {
                let began = Instant::now();
                step(&session);
                times.push(began.elapsed());
            }
            times.sort();
            let median = times[times.len() / 2].as_secs_f64();
            println!("{file}: {name}: {:.1} MB, {:.0} MB/s", bytes as f64 / 1e6, bytes as f64 / 1e6 / median);
        }
    }
}
