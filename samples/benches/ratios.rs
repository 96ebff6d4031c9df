//! Compares our times with other times. The actions of a comparison take turns within one run.
//!
//! `cargo bench -p trace-samples --bench ratios`
//!
//! The first table compares the library with plain reading of the files. The second packs the bundles and compares reducing
//! the packed bundles with reducing the directories. The third compares whole processes: `cat` of all files, our release
//! binary (or the one that `TRACE_BIN` names), and the peer if `codex` is on `PATH`. The fourth does the same for
//! `trace reduce --compact` of packed bundles:
//!
//! `cargo build --release && cargo bench -p trace-samples --bench ratios`
//!
//! The `codex` that npm installs is a script. It takes about 70 ms before it starts the peer itself. For a fair comparison
//! of small bundles, put the directory of the program that it starts first on `PATH`.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use std::ffi::OsString;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trace_recorder::pack::{DEFAULT_LEVEL, PackedBundle, Source, pack, unpack, verify};
use trace_reducer::Options;
use trace_samples::bench::{Shape, read_all};

use self::common::{Made, Workshop, reduce_to};

/// Number of rounds of a comparison.
const ROUNDS: usize = 7;

/// An action that has taken this long skips the remaining rounds. The peer takes seconds where others take milliseconds.
const ACTION_TIME: Duration = Duration::from_secs(5);

fn main() {
    let workshop = Workshop::new();
    let shapes = [
        ("30 events", Shape::steps(1)),
        ("100 steps", Shape::steps(100)),
        ("400 steps", Shape::steps(400)),
        ("800 steps", Shape::steps(800)),
        ("100 steps of 20 kB", Shape { output_bytes: 20_000, ..Shape::steps(100) }),
        ("421 agents", Shape::tree(20, 2, 2)),
    ];
    let bundles: Vec<(&str, Made)> =
        shapes.iter().map(|(name, shape)| (*name, workshop.make(&name.replace(' ', "-"), shape))).collect();
    library(&workshop, &bundles);
    packed(&workshop, &bundles);
    let Some(ours) = std::env::var_os("TRACE_BIN").map(resolve).or_else(built_beside) else {
        println!("\nNo processes are compared: build the binary first, with `cargo build --release`.");
        return;
    };
    processes(&workshop, &bundles, &ours);
    compact(&workshop, &bundles, &ours);
}

/// Returns the path of a bundle's packed form.
fn packed_path(workshop: &Workshop, name: &str) -> PathBuf {
    workshop.file(&format!("{}.trace", name.replace(' ', "-")))
}

fn library(workshop: &Workshop, bundles: &[(&str, Made)]) {
    let out = workshop.file("library.json");
    println!("\nLibrary\n");
    println!("| bundle | files | MB | read | reduce | reduce / read | GB/s |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, bundle) in bundles {
        let mut read = || {
            black_box(read_all(&bundle.path).expect("readable files"));
        };
        let mut reduce = || reduce_to(&bundle.path, &out, Options::default());
        let [read, reduce] = medians(workshop, [&mut read, &mut reduce]);
        println!(
            "| {} | {} | {} | {:.2} | {:.2} |",
            row(name, bundle),
            text(read),
            text(reduce),
            ratio(reduce, read),
            bundle.size.bytes as f64 / reduce.as_secs_f64() / 1e9
        );
    }
}

fn packed(workshop: &Workshop, bundles: &[(&str, Made)]) {
    let out = workshop.file("packed.json");
    println!("\nPacked bundles\n");
    println!(
        "| bundle | files | MB | packed kB | ratio | pack | MB/s | unpack | MB/s | reduce | packed | packed / reduce |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, bundle) in bundles {
        let file = packed_path(workshop, name);
        let target = workshop.file("unpacked");
        // Does what `trace pack` does: writes the packed bundle, reads it back and compares.
        let mut pack_it = || {
            let source = Source::list(&bundle.path).expect("a bundle");
            let written = File::create(&file).expect("a file");
            pack(&source, BufWriter::new(written), DEFAULT_LEVEL).expect("a packed bundle");
            verify(&PackedBundle::open(&file).expect("a packed bundle"), &source).expect("the same bytes");
        };
        let [pack_time] = medians(workshop, [&mut pack_it]);
        let unpack_it = || {
            std::fs::create_dir(&target).expect("a directory");
            unpack(&PackedBundle::open(&file).expect("a packed bundle"), &target, u64::MAX).expect("a bundle");
        };
        // Unpacking is measured in one round only, because the directory must be removed afterwards, which should not
        // count.
        let began = Instant::now();
        unpack_it();
        let unpack_time = began.elapsed();
        std::fs::remove_dir_all(&target).expect("a bundle of this process");
        let mut reduce = || reduce_to(&bundle.path, &out, Options::default());
        let mut reduce_packed = || reduce_to(&file, &out, Options::default());
        let [reduce, reduce_packed] = medians(workshop, [&mut reduce, &mut reduce_packed]);
        let packed_bytes = std::fs::metadata(&file).expect("a packed bundle").len();
        let speed = |time: Duration| bundle.size.bytes as f64 / time.as_secs_f64() / 1e6;
        println!(
            "| {} | {:.1} | {:.0} | {} | {:.0} | {} | {:.0} | {} | {} | {:.2} |",
            row(name, bundle),
            packed_bytes as f64 / 1e3,
            bundle.size.bytes as f64 / packed_bytes as f64,
            text(pack_time),
            speed(pack_time),
            text(unpack_time),
            speed(unpack_time),
            text(reduce),
            text(reduce_packed),
            ratio(reduce_packed, reduce),
        );
    }
}

fn processes(workshop: &Workshop, bundles: &[(&str, Made)], ours: &Path) {
    let peer = run(Command::new("codex").arg("--version")).is_ok();
    if !peer {
        println!("\nThe peer is not compared: there is no `codex` on PATH.");
    }
    println!("\nWhole processes\n");
    println!("| bundle | files | MB | cat | trace | codex | trace / cat | codex / trace |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, bundle) in bundles {
        let (our_out, peer_out) = (workshop.file("ours.json"), workshop.file("peer.json"));
        let run_all = |command: &mut Command| run(command).expect("a process that succeeds");
        let mut cat = || run_all(&mut cat_of(bundle));
        let mut trace = || run_all(Command::new(ours).arg("reduce").arg(&bundle.path).arg("-o").arg(&our_out));
        let mut codex = || {
            if peer {
                run_all(
                    Command::new("codex").args(["debug", "trace-reduce"]).arg(&bundle.path).arg("-o").arg(&peer_out),
                );
            }
        };
        let [cat, trace, codex] = medians(workshop, [&mut cat, &mut trace, &mut codex]);
        let (peer_time, times) = match peer {
            true => (text(codex), format!("{:.0}", ratio(codex, trace))),
            false => ("-".to_owned(), "-".to_owned()),
        };
        println!(
            "| {} | {} | {} | {peer_time} | {:.2} | {times} |",
            row(name, bundle),
            text(cat),
            text(trace),
            ratio(trace, cat),
        );
    }
}

/// Compares the compact form of packed bundles with reading their directories.
fn compact(workshop: &Workshop, bundles: &[(&str, Made)], ours: &Path) {
    println!("\nCompact form of packed bundles\n");
    println!("| bundle | files | MB | cat | reduce | reduce --compact | state.json MB | compact MB | compact / cat |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, bundle) in bundles {
        let file = packed_path(workshop, name);
        let (plain_out, compact_out) = (workshop.file("plain.json"), workshop.file("compact.json"));
        let run_all = |command: &mut Command| run(command).expect("a process that succeeds");
        let mut cat = || run_all(&mut cat_of(bundle));
        let mut plain = || run_all(Command::new(ours).arg("reduce").arg(&file).arg("-o").arg(&plain_out));
        let mut compact =
            || run_all(Command::new(ours).args(["reduce", "--compact"]).arg(&file).arg("-o").arg(&compact_out));
        let [cat, plain, compact] = medians(workshop, [&mut cat, &mut plain, &mut compact]);
        let megabytes = |path: &Path| std::fs::metadata(path).expect("an output").len() as f64 / 1e6;
        println!(
            "| {} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            row(name, bundle),
            text(cat),
            text(plain),
            text(compact),
            megabytes(&plain_out),
            megabytes(&compact_out),
            ratio(compact, cat),
        );
    }
}

/// Returns a command that reads all files of a bundle.
fn cat_of(bundle: &Made) -> Command {
    let mut find = Command::new("find");
    find.arg(&bundle.path).args(["-type", "f", "-exec", "cat", "{}", "+"]);
    find
}

/// Runs several actions in turns and returns the median time of each.
fn medians<const N: usize>(workshop: &Workshop, mut actions: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let rounds = if workshop.is_measuring { ROUNDS } else { 1 };
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        for (action, times) in actions.iter_mut().zip(&mut times) {
            if times.iter().sum::<Duration>() < ACTION_TIME {
                let began = Instant::now();
                action();
                times.push(began.elapsed());
            }
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[(times.len() - 1) / 2]
    })
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

/// Returns the path of the binary. `cargo bench` runs benchmarks in the directory of their package, so a relative path may
/// be relative to the parent of the current directory.
fn resolve(binary: OsString) -> PathBuf {
    let given = PathBuf::from(binary);
    let from_workspace = Path::new("..").join(&given);
    if !given.exists() && from_workspace.exists() { from_workspace } else { given }
}

/// Finds the release binary, which lies one directory above the benchmarks.
fn built_beside() -> Option<PathBuf> {
    let binary = std::env::current_exe().ok()?.parent()?.parent()?.join("trace");
    binary.exists().then_some(binary)
}

fn row(name: &str, bundle: &Made) -> String {
    format!("{name} | {} | {:.1}", bundle.size.files, bundle.size.bytes as f64 / 1e6)
}

fn text(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}
