//! Tests packed bundles with any bytes. As files of a bundle, they must survive packing. As a packed bundle or as the index
//! of one, they must cause no panic, no path that leads outside, and no file of another length than the index says.
#![no_main]

use std::fs::{self, File};
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use trace_recorder::Bundle;
use trace_recorder::pack::{Level, PackedBundle, Source, finish, pack, unpack, verify};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64, xxh3_64_with_seed};

/// Largest file that is read, and largest bundle that is unpacked. An index of a few bytes can describe terabytes.
const MAX_BYTES: u64 = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((mode, data)) = data.split_first() else { return };
    let place = tempfile::tempdir().expect("a directory");
    match mode % 4 {
        0 => as_bundle(data, place.path()),
        1 => as_index(data, place.path()),
        2 => as_records(data, place.path()),
        _ => {
            fs::write(place.path().join("packed"), data).expect("writes");
            read_all(&place.path().join("packed"), place.path());
        }
    }
});

/// Makes a bundle of the input, which is cut into files at zero bytes. Each file repeats the one before several times or
/// inserts its bytes into it. Packs the bundle and compares.
fn as_bundle(data: &[u8], place: &Path) {
    let root = place.join("bundle");
    fs::create_dir_all(root.join("payloads")).expect("creates");
    fs::write(root.join("manifest.json"), "{}").expect("writes");
    let mut before = Vec::new();
    for (number, content) in data.split(|byte| *byte == 0).enumerate() {
        let content = match content {
            [1, times, rest @ ..] => [before.repeat(usize::from(*times).min(64)), rest.to_vec()].concat(),
            content => [&before[..before.len() / 2], content, &before[before.len() / 2..]].concat(),
        };
        if content.len() > 1 << 18 {
            break;
        }
        let name = if number == 0 { "trace.jsonl".to_owned() } else { format!("payloads/{number}.json") };
        fs::write(root.join(name), &content).expect("writes");
        before = content;
    }
    let source = Source::list(&root).expect("lists");
    let path = place.join("packed");
    pack(&source, File::create(&path).expect("creates"), Level::new(1).expect("a level")).expect("packs");
    verify(&PackedBundle::open(&path).expect("opens"), &source).expect("it is the same");
}

/// Makes a packed bundle with valid checksums and one block. The input is the part of the index that follows the
/// columns about blocks.
fn as_index(data: &[u8], place: &Path) {
    let content: Vec<u8> = (0..1000_u32).map(|number| (number * 7 / 3) as u8).collect();
    let block = zstd::bulk::compress(&content, 1).expect("compresses");
    let mut index = vec![1, 0xe8, 7, block.len() as u8 | 0x80, (block.len() >> 7) as u8];
    index.extend(xxh3_64(&block).to_le_bytes());
    index.extend(data);
    let packed = zstd::bulk::compress(&index, 1).expect("compresses");
    let mut file = b"\x89TRACE\r\n\x01\0\0\0\0\0\0\0".to_vec();
    let header = file.clone();
    file.extend(&block);
    let mut footer = Vec::new();
    for field in [file.len() as u64, packed.len() as u64, index.len() as u64, xxh3_64(&packed)] {
        footer.extend(field.to_le_bytes());
    }
    let mut hash = Xxh3Default::new();
    hash.update(&header);
    hash.update(&footer);
    file.extend(packed);
    file.extend(footer);
    file.extend(hash.digest().to_le_bytes());
    file.extend(b"TRACEEND");
    fs::write(place.join("packed"), file).expect("writes");
    read_all(&place.join("packed"), place);
}

/// Makes a growing bundle of records with valid checksums. The input is their lists, cut at zero bytes; each record has some
/// bytes of content. What follows the last record is the input itself.
fn as_records(data: &[u8], place: &Path) {
    let mut file = b"\x89TRACE\r\n\x02\0\0\0\0\0\0\0".to_vec();
    file.resize(4096, b' ');
    for (number, list) in data.split(|byte| *byte == 0xff).take(16).enumerate() {
        let content: Vec<u8> = (0..64_u32).map(|at| (at * 5 + number as u32) as u8).collect();
        let packed = zstd::bulk::compress(&content, 1).expect("compresses");
        let mut head = b"REC\n".to_vec();
        for field in [list.len(), packed.len(), content.len()] {
            head.extend((field as u32).to_le_bytes());
        }
        head.extend(xxh3_64(&packed).to_le_bytes());
        let of_list = xxh3_64_with_seed(list, file.len() as u64);
        head.extend(xxh3_64_with_seed(&head, of_list).to_le_bytes());
        file.extend([&head[..], list, &packed].concat());
    }
    file.extend(data);
    fs::write(place.join("packed"), file).expect("writes");
    read_all(&place.join("packed"), place);
}

fn read_all(path: &Path, place: &Path) {
    let Ok(packed) = PackedBundle::open(path) else { return };
    let mut buffer = Vec::new();
    for file in packed.files() {
        let is_outside = file.path.split('/').any(|name| matches!(name, "" | "." | "..")) || file.path.contains('\0');
        assert!(!is_outside, "{}", file.path);
        if file.bytes <= MAX_BYTES && packed.read(file.path, &mut buffer).is_ok() {
            assert_eq!(buffer.len() as u64, file.bytes);
        }
    }
    let finished = place.join("finished");
    if packed.is_growing() && packed.bytes() <= MAX_BYTES && packed.files().len() < 64 {
        // Whatever can be read of a growing bundle is the same when it is finished.
        if finish(&packed, File::create(&finished).expect("creates"), Level::new(1).expect("a level")).is_ok() {
            let finished = PackedBundle::open(&finished).expect("opens");
            let mut other = Vec::new();
            for file in packed.files() {
                packed.read(file.path, &mut buffer).expect("was read");
                finished.read(file.path, &mut other).expect("is there");
                assert_eq!(buffer, other, "{}", file.path);
            }
            assert!(finished.verify().expect("reads").is_empty());
        }
    }
    let target = place.join("target");
    fs::create_dir(&target).expect("creates");
    if packed.files().len() < 64 {
        let _ = unpack(&packed, &target, MAX_BYTES);
    }
    if let Ok(bundle) = Bundle::open(path) {
        let _ = bundle.payloads().read("payloads/../payloads/1.json", &mut buffer);
        let _ = bundle.recording();
    }
}
