//! Checks the files of a packed bundle that are not part of its session, and the checksums of all its files.

use std::collections::BTreeMap;

use super::directory::{tell_directory_missing, tell_entry};
use super::finding::{Code, Finding, Findings};
use crate::format::PAYLOADS_DIR;
use crate::pack::PackedBundle;
use crate::parts::{EntryKind, Part};

/// Checks the top-level entries of a packed bundle and returns their number.
pub(super) fn check_packed_files(packed: &PackedBundle, findings: &mut Findings) -> u64 {
    let files = packed.files().map(|file| match file.path.split_once('/') {
        Some((directory, _)) => (directory, EntryKind::Directory),
        None => (file.path, EntryKind::File),
    });
    let empty = packed.empty_directories().map(|path| (path.split('/').next().unwrap_or(path), EntryKind::Directory));
    let mut entries: BTreeMap<String, EntryKind> = BTreeMap::new();
    files.for_each(|(name, kind)| _ = entries.insert(name.to_owned(), kind));
    empty.for_each(|(name, kind)| _ = entries.insert(name.to_owned(), kind));
    if !entries.contains_key(PAYLOADS_DIR) {
        tell_directory_missing(findings);
    }
    for (name, kind) in &entries {
        tell_entry(name, *kind, Part::of_kind(name, *kind), findings);
    }
    if packed.has_records_behind_damage().unwrap_or(false) {
        let bytes = packed.torn_bytes();
        let message = format!("a record is damaged, and the {bytes} bytes from there on are not read");
        findings.push(Finding::new(Code::PackedDamaged, message));
    }
    let damage = packed.verify().unwrap_or_else(|error| vec![error]);
    for error in damage {
        findings.push(Finding::new(Code::PackedDamaged, error.to_string()));
    }
    entries.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::Bundle;
    use crate::check::check;
    use crate::pack::{Level, Source, pack};

    #[test]
    fn every_byte_of_a_packed_bundle_counts_also_those_that_no_event_names() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = root.path().join("bundle");
        std::fs::create_dir_all(directory.join(PAYLOADS_DIR)).expect("creates");
        std::fs::write(directory.join("trace.jsonl"), "").expect("writes");
        // Random bytes cannot be compressed, so every byte of the packed bundle represents one of them.
        let mut state = 1_u64;
        let notes: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(50_000)
        .collect();
        std::fs::write(directory.join("notes.bin"), notes).expect("writes");
        let mut packed = Vec::new();
        pack(&Source::list(&directory).expect("lists"), &mut packed, Level::new(1).expect("a level")).expect("packs");
        let path = root.path().join("bundle.trace");
        let count = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("writes");
            check(&Bundle::open(&path).expect("opens")).findings.count(Code::PackedDamaged)
        };
        assert_eq!(count(&packed), 0);
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        assert!(count(&packed) > 0);
    }
}
