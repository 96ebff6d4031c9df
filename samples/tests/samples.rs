//! Checks that the samples in the repository equal what the scenes record, and that the reducer accepts them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use trace_recorder::Bundle;
use trace_recorder::format::SchemaVersion;
use trace_recorder::pack::{PACKED_EXTENSION, PackedBundle, unpack};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Code, Options, Reduction, reduce};
use trace_samples::bench::{Shape, generate};
use trace_samples::scenes::{PACKED_SCENES, SCENES};

const STRICT: Options = Options { strict: true, verify: false };

#[test]
fn samples_are_what_the_scenes_make() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = tempfile::tempdir().expect("a directory");
    for (name, record) in SCENES {
        let made = made.path().join(name);
        record(&made).expect("records");
        let (expected, found) = (files(&committed.join(name)), files(&made));
        assert!(
            expected.keys().eq(found.keys()),
            "the files of {name} differ; `cargo run -p trace-samples --bin make-samples` makes them anew"
        );
        for (file, content) in &found {
            assert!(
                expected[file] == *content,
                "{name}/{file} differs; `cargo run -p trace-samples --bin make-samples` makes it anew"
            );
        }
        let bytes: usize = found.values().map(Vec::len).sum();
        assert!(bytes < 200_000, "{name} has {bytes} bytes; samples are small");
    }
    for (name, record) in PACKED_SCENES {
        let path = made.path().join(name);
        record(&path).expect("records");
        let sample = committed.join(name).with_extension(PACKED_EXTENSION);
        let bytes = fs::metadata(&sample).expect("is there").len();
        assert!(bytes < 200_000, "{name} has {bytes} bytes; samples are small");
        let packed = PackedBundle::open(&sample).expect("opens");
        let unpacked = made.path().join(format!("{name}-unpacked"));
        fs::create_dir(&unpacked).expect("creates");
        unpack(&packed, &unpacked, u64::MAX).expect("unpacks");
        let (expected, found) = (files(&unpacked), files(&path));
        let differs = found.iter().find(|(file, content)| expected.get(*file) != Some(*content)).map(|(file, _)| file);
        assert!(
            differs.is_none() && expected.len() == found.len(),
            "{name} differs ({differs:?}); `cargo run -p trace-samples --bin make-samples` makes it anew"
        );
    }
}

#[test]
fn good_samples_are_accepted_without_a_remark() {
    for (name, threads, edges) in [("one-agent", 1, 0), ("three-children", 4, 7), ("team", 5, 12)] {
        let reduction = reduce_sample(name, STRICT);
        assert!(reduction.diagnostics.is_empty(), "{name}: {:?}", reduction.diagnostics);
        assert_eq!(reduction.trace.threads.len(), threads, "{name}");
        assert_eq!(reduction.trace.edges.len(), edges, "{name}");
    }
}

#[test]
fn the_damaged_sample_says_what_is_lost() {
    let reduction = reduce_sample("damaged", Options::default());
    let mut codes: Vec<Code> = reduction.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in [Code::TornTail, Code::PayloadInvalid, Code::PayloadMissing, Code::NoEnd] {
        assert!(codes.contains(&code), "{code:?} is not among {codes:?}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("damaged");
    reduce(&Bundle::open(&path).expect("opens"), STRICT).expect_err("a strict reduction refuses it");
}

#[test]
fn made_bundles_are_accepted_and_both_paths_agree() {
    let root = tempfile::tempdir().expect("a directory");
    let shapes = [
        Shape::steps(20),
        Shape { output_bytes: 0, ..Shape::steps(1) },
        Shape { output_bytes: 5_000, ..Shape::tree(3, 2, 2) },
        Shape { schema: SchemaVersion::V1, ..Shape::tree(2, 1, 3) },
    ];
    for (index, shape) in shapes.iter().enumerate() {
        let path = root.path().join(index.to_string());
        generate(&path, shape).expect("records");
        let bundle = Bundle::open(&path).expect("opens");
        let [fast, slow] = [false, true].map(|verify| {
            let reduction = reduce(&bundle, Options { verify, ..STRICT }).expect("accepted");
            assert!(reduction.diagnostics.is_empty(), "{shape:?}: {:?}", reduction.diagnostics);
            assert_eq!(Some(reduction.trace.threads.len()), shape.agents(), "{shape:?}");
            let mut state = Vec::new();
            state_json::write(&reduction, Style::Compact, &mut state).expect("writes");
            state
        });
        assert!(fast == slow, "{shape:?}: comparing and parsing disagree");
    }
}

#[test]
fn a_session_has_the_size_of_a_real_one() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("bundle");
    generate(&path, &Shape::steps(100)).expect("records");
    let bytes = trace_samples::bench::measure(&path).expect("lists").bytes;
    // The Codex CLI's recording of such a session has 6.6 MB.
    assert!((6_000_000..8_000_000).contains(&bytes), "{bytes}");
}

fn reduce_sample(name: &str, options: Options) -> Reduction {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    reduce(&Bundle::open(&path).expect("opens"), options).expect("reduces")
}

/// Returns the files of a bundle by their paths in it. A `state.json` is not part of a sample.
fn files(bundle: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for directory in ["", "payloads/"] {
        for entry in fs::read_dir(bundle.join(directory)).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_file() && name != "state.json" {
                files.insert(format!("{directory}{name}"), fs::read(&path).expect("reads"));
            }
        }
    }
    files
}
