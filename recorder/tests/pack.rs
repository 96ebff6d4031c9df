//! Laws of packed bundles: unpacking restores what was packed, and damage causes an error, never different content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use trace_recorder::bundle::{Bundle, BundleError, find_bundles, is_bundle, read_manifest};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE, Manifest};
use trace_recorder::pack::{
    BlockFault, Level, MAX_BLOCK_BYTES, PackError, PackedBundle, PackedError, Source, UnpackError, pack, unpack, verify,
};
use trace_recorder::payloads::PayloadError;
use trace_recorder::recording::{RECORDER_FILE, Recording};

type Files = BTreeMap<String, Vec<u8>>;

fn write(root: &Path, files: &Files) {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, bytes).expect("writes");
    }
}

fn read(root: &Path) -> Files {
    let mut files = Files::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("lists") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
                files.insert(name, fs::read(path).expect("reads"));
            }
        }
    }
    files
}

/// Packs the bundle at `root`, verifies the result, and returns the path of the packed bundle.
fn packed(root: &Path, level: i32) -> (tempfile::TempDir, PathBuf) {
    let source = Source::list(root).expect("lists");
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("bundle.trace");
    let out = fs::File::create(&path).expect("creates");
    let stats = pack(&source, &out, Level::new(level).expect("a level")).expect("packs");
    assert_eq!(stats.packed_bytes, fs::metadata(&path).expect("is there").len());
    assert_eq!((stats.bytes, stats.files), (source.bytes(), read_count(root)));
    verify(&PackedBundle::open(&path).expect("opens"), &source).expect("is the same");
    (place, path)
}

fn read_count(root: &Path) -> u64 {
    read(root).keys().filter(|path| *path != "state.json").count() as u64
}

fn unpacked(path: &Path) -> Files {
    let target = tempfile::tempdir().expect("a directory");
    unpack(&PackedBundle::open(path).expect("opens"), target.path(), u64::MAX).expect("unpacks");
    read(target.path())
}

/// Contents that consist of a few different parts, so that they have much in common, and some random contents.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let part = (0_u8..6, 0_usize..9000).prop_map(|(seed, bytes)| noise(seed, bytes));
    prop_oneof![
        1 => Just(Vec::new()),
        2 => vec(any::<u8>(), 0..300),
        1 => (any::<u8>(), 0_usize..70_000).prop_map(|(byte, bytes)| vec![byte; bytes]),
        6 => vec(part, 0..12).prop_map(|parts| parts.concat()),
        2 => (0_u8..3, vec(vec(any::<u8>(), 0..200), 0..8)).prop_map(|(seed, items)| {
            [noise(seed, 20_000), items.concat(), noise(9, 18_000), items.last().cloned().unwrap_or_default()].concat()
        }),
    ]
}

/// Returns pseudorandom bytes. Results with the same seed have a common beginning.
fn noise(seed: u8, bytes: usize) -> Vec<u8> {
    let mut state = u64::from(seed) + 1;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..bytes).map(step).collect()
}

fn bundle_files() -> impl Strategy<Value = Files> {
    let name = prop_oneof![
        6 => (0_u32..40).prop_map(|number| format!("payloads/{number}.json")),
        1 => "payloads/[a-z ü\\n]{1,8}",
        1 => "[b-k]{1,6}(/[l-r]{1,4}){0,3}",
        1 => Just(EVENT_LOG_FILE.to_owned()),
        1 => Just(RECORDER_FILE.to_owned()),
    ];
    vec((name, content()), 0..24).prop_map(|files| {
        let mut tree = Files::from([(MANIFEST_FILE.to_owned(), b"{}".to_vec())]);
        for (path, bytes) in files {
            // No file can have the path of a directory.
            let inside = format!("{path}/");
            let is_taken =
                tree.keys().any(|other| other.starts_with(&inside) || path.starts_with(&format!("{other}/")));
            if !is_taken {
                tree.insert(path, bytes);
            }
        }
        tree
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn unpacking_gives_what_was_packed(files in bundle_files(), level in 1..5) {
        let root = tempfile::tempdir().expect("a directory");
        write(root.path(), &files);
        let (_place, path) = packed(root.path(), level);
        let back = unpacked(&path);
        prop_assert!(back == files, "other files: {:?} for {:?}", back.keys(), files.keys());
    }

    #[test]
    fn every_part_of_a_file_reads_by_itself(files in bundle_files(), bytes in 0_u64..30_000) {
        let root = tempfile::tempdir().expect("a directory");
        write(root.path(), &files);
        let (_place, path) = packed(root.path(), 1);
        let packed = PackedBundle::open(&path).expect("opens");
        let mut buffer = Vec::new();
        for (path, expected) in files.iter().rev() {
            packed.read(path, &mut buffer).expect("reads");
            prop_assert!(buffer == *expected);
            let end = packed.read_end(path, bytes).expect("reads");
            prop_assert!(end == expected[expected.len().saturating_sub(bytes as usize)..]);
        }
    }
}

/// Makes a small bundle with files of every kind.
fn small() -> (tempfile::TempDir, Files) {
    let manifest = serde_json::to_vec(&Manifest::new("t", "r", "th", 7)).expect("JSON");
    let head = noise(1, 20_000);
    let files = Files::from([
        (MANIFEST_FILE.to_owned(), manifest),
        (EVENT_LOG_FILE.to_owned(), b"{\"seq\":1}\n{\"seq\":2}\n".to_vec()),
        ("payloads/1.json".to_owned(), head.clone()),
        ("payloads/2.json".to_owned(), [&head[..19_000], b"more", &head[19_000..]].concat()),
        ("payloads/3.json".to_owned(), Vec::new()),
        ("other.txt".to_owned(), b"text".to_vec()),
    ]);
    let root = tempfile::tempdir().expect("a directory");
    write(root.path(), &files);
    (root, files)
}

/// Reads everything in the packed bundle at `path`. Checks that each file is correct or cannot be read. Returns whether all
/// files could be read.
fn nothing_wrong_comes_out(path: &Path, files: &Files) -> bool {
    let Ok(packed) = PackedBundle::open(path) else { return false };
    let mut is_whole = packed.files().len() == files.len();
    let mut buffer = Vec::new();
    for file in packed.files() {
        match packed.read(file.path, &mut buffer) {
            Ok(()) => assert!(files.get(file.path) == Some(&buffer), "{} has other bytes", file.path),
            Err(_) => is_whole = false,
        }
    }
    is_whole
}

#[test]
fn no_changed_byte_goes_unseen() {
    let (root, files) = small();
    let (_place, path) = packed(root.path(), 3);
    let bytes = fs::read(&path).expect("reads");
    assert!(nothing_wrong_comes_out(&path, &files));
    // Every byte of the beginning and the end, and some of the blocks in between.
    for at in (0..bytes.len()).filter(|at| *at < 100 || bytes.len() - at < 500 || at % 211 == 0) {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            fs::write(&path, &changed).expect("writes");
            assert!(!nothing_wrong_comes_out(&path, &files), "byte {at}");
        }
    }
}

#[test]
fn no_cut_and_no_insertion_goes_unseen() {
    let (root, files) = small();
    let (_place, path) = packed(root.path(), 3);
    let bytes = fs::read(&path).expect("reads");
    for at in (0..bytes.len()).filter(|at| *at < 100 || bytes.len() - at < 500 || at % 211 == 0) {
        fs::write(&path, &bytes[..at]).expect("writes");
        assert!(!nothing_wrong_comes_out(&path, &files), "cut at {at}");
        fs::write(&path, [&bytes[..at], b"\0", &bytes[at..]].concat()).expect("writes");
        assert!(!nothing_wrong_comes_out(&path, &files), "inserted at {at}");
    }
    fs::write(&path, [&bytes[..], &bytes[..]].concat()).expect("writes");
    assert!(!nothing_wrong_comes_out(&path, &files), "twice");
}

#[test]
fn damage_says_what_is_lost_and_the_rest_reads() {
    let (root, files) = small();
    let (_place, path) = packed(root.path(), 3);
    let mut bytes = fs::read(&path).expect("reads");
    // The log and the manifest are in the first block, the payloads in the second.
    let last_of_payloads = PackedBundle::open(&path).expect("opens").index_offset() as usize - 1;
    bytes[last_of_payloads] ^= 1;
    fs::write(&path, &bytes).expect("writes");
    let bundle = Bundle::open(&path).expect("opens");
    assert_eq!(bundle.manifest().expect("a manifest").started_at_unix_ms, 7);
    assert_eq!(bundle.log().expect("a log").as_bytes(), files[EVENT_LOG_FILE]);
    let mut buffer = Vec::new();
    bundle.payloads().read("payloads/3.json", &mut buffer).expect("an empty file needs no block");
    let error = bundle.payloads().read("payloads/2.json", &mut buffer).expect_err("it is in the block");
    let PayloadError::Packed(PackedError::Block { block: 1, fault: BlockFault::Checksum, files: 3, .. }) = &error
    else {
        panic!("{error:?}")
    };
    let text = error.to_string().replace(&*path.to_string_lossy(), "bundle.trace");
    assert!(text.starts_with("block 1 of bundle.trace (bytes "), "{text}");
    assert!(text.ends_with("is damaged: its checksum is wrong; it holds bytes of 3 files, other.txt first"), "{text}");
    let target = tempfile::tempdir().expect("a directory");
    let opened = PackedBundle::open(&path).expect("opens");
    assert!(matches!(unpack(&opened, target.path(), u64::MAX), Err(UnpackError::Packed(_))));
    assert!(matches!(verify(&opened, &Source::list(root.path()).expect("lists")), Err(PackError::ReadBack(_))));

    // The other case: the first block is damaged.
    bytes[last_of_payloads] ^= 1;
    bytes[20] ^= 1;
    fs::write(&path, &bytes).expect("writes");
    let bundle = Bundle::open(&path).expect("opens");
    let is_lost = |error: &BundleError| {
        matches!(error, BundleError::Packed(PackedError::Block { block: 0, files: 2, .. })) && !error.is_missing()
    };
    assert!(bundle.log().is_err_and(is_lost) && bundle.manifest().is_err_and(is_lost));
    bundle.payloads().read("payloads/2.json", &mut buffer).expect("it is in another block");
    assert!(buffer == files["payloads/2.json"]);
}

#[test]
fn a_packed_bundle_is_a_bundle() {
    let (root, files) = small();
    let recording = Recording { pid: 7, opened_at_unix_ms: 1, stopped: None };
    fs::write(root.path().join(RECORDER_FILE), serde_json::to_vec(&recording).expect("JSON")).expect("writes");
    fs::write(root.path().join("state.json"), "made again").expect("writes");
    fs::create_dir_all(root.path().join("empty/inner")).expect("creates");
    let (place, path) = packed(root.path(), 3);
    assert!(is_bundle(&path));
    assert_eq!(find_bundles(place.path()).expect("lists"), std::slice::from_ref(&path));
    assert_eq!(read_manifest(&path).expect("a manifest").root_thread_id, "th");
    let (bundle, directory) = (Bundle::open(&path).expect("opens"), Bundle::open(root.path()).expect("opens"));
    assert!(bundle.packed().is_some() && directory.packed().is_none());
    assert_eq!(bundle.recording().expect("reads"), Some(recording));
    assert_eq!(bundle.payloads().list().expect("lists"), directory.payloads().list().expect("lists"));
    let mut all = directory.payloads().list_all().expect("lists");
    all.retain(|file| file.path != "state.json");
    assert_eq!(bundle.payloads().list_all().expect("lists"), all);
    let mut buffer = Vec::new();
    for path in
        ["payloads/1.json", "payloads/../payloads/1.json", "./payloads//1.json", "empty/inner/../../payloads/1.json"]
    {
        bundle.payloads().read(path, &mut buffer).expect(path);
        assert!(buffer == files["payloads/1.json"]);
    }
    // Paths that cannot be read give the same error as in the directory.
    for path in [
        "",
        "/etc/passwd",
        "..",
        "../x",
        "payloads",
        "payloads/",
        ".",
        "none",
        "none/../payloads/1.json",
        "state.json/..",
        "payloads/1.json/",
        "payloads/1.json/../2.json",
        "payloads/../../x",
    ] {
        let from = |bundle: &Bundle| {
            let mut buffer = Vec::new();
            match bundle.payloads().read(path, &mut buffer).expect_err(path) {
                PayloadError::Io(error) => format!("{:?}", error.kind()),
                error => error.to_string(),
            }
        };
        if path != "state.json/.." {
            assert_eq!(from(&bundle), from(&directory), "{path}");
        }
        from(&bundle);
    }
    let target = tempfile::tempdir().expect("a directory");
    unpack(bundle.packed().expect("is packed"), target.path(), u64::MAX).expect("unpacks");
    assert!(target.path().join("empty/inner").is_dir() && !target.path().join("state.json").exists());
}

#[test]
fn what_is_no_packed_bundle_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("file.trace");
    for bytes in [&b""[..], b"text", b"\x89TRACE\r", &[0; 100]] {
        fs::write(&path, bytes).expect("writes");
        assert!(matches!(PackedBundle::open(&path), Err(PackedError::NotPacked { .. })));
        assert!(matches!(Bundle::open(&path), Err(BundleError::NotADirectory { .. })));
        assert!(find_bundles(place.path()).expect("lists").is_empty());
    }
    fs::write(&path, b"\x89TRACE\r\n\x03\0\0\0\0\0\0\0").expect("writes");
    assert!(matches!(PackedBundle::open(&path), Err(PackedError::Version { source, .. }) if source.found == 3));
    fs::write(&path, b"\x89TRACE\r\n\x01\0\0\0\0\0\0\0").expect("writes");
    assert!(matches!(PackedBundle::open(&path), Err(PackedError::Footer { .. })));
    assert!(PackedBundle::open(&place.path().join("none")).is_err_and(|error| error.is_missing()));
}

#[test]
fn a_bundle_larger_than_its_blocks() {
    let root = tempfile::tempdir().expect("a directory");
    let large = noise(3, 2 * MAX_BLOCK_BYTES + 12_345);
    let log = b"a line of the log\n".repeat(MAX_BLOCK_BYTES / 10);
    let files = Files::from([
        (EVENT_LOG_FILE.to_owned(), log.clone()),
        ("payloads/1.json".to_owned(), large.clone()),
        ("payloads/2.json".to_owned(), [&large[..], b"more"].concat()),
        // Larger than the part of a file that is in memory at once.
        ("payloads/3.json".to_owned(), [vec![b'x'; 33 << 20], large.clone()].concat()),
    ]);
    write(root.path(), &files);
    let (_place, path) = packed(root.path(), 1);
    assert!(
        fs::metadata(&path).expect("is there").len() < large.len() as u64 + 100_000,
        "repeated bytes are stored once"
    );
    let bundle = Bundle::open(&path).expect("opens");
    assert!(bundle.log().expect("a log").as_bytes() == log);
    assert!(unpacked(&path) == files);
    let target = tempfile::tempdir().expect("a directory");
    let refused = unpack(bundle.packed().expect("is packed"), target.path(), 1000).expect_err("larger than the limit");
    assert!(matches!(refused, UnpackError::TooLarge { max: 1000, .. }));
    assert_eq!(fs::read_dir(target.path()).expect("lists").count(), 0);
}

#[test]
fn a_bundle_that_is_being_recorded_is_refused() {
    let (root, _) = small();
    let path = root.path().join(RECORDER_FILE);
    fs::write(&path, "{}").expect("writes");
    let lock = fs::File::open(&path).expect("opens");
    lock.lock().expect("locks");
    assert!(matches!(Source::list(root.path()), Err(PackError::BeingRecorded { .. })));
    // After the unlock, a process that another test is starting may still have inherited the open file.
    lock.unlock().expect("unlocks");
    Source::list(root.path()).expect("lists");
}
