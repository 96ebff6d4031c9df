//! What a packed bundle holds beside its session.
//!
//! What only the whole file tells, as its checksums, belongs here too.

use std::collections::BTreeMap;

use super::directory::{BundleFile, EntryKind, tell_directory_missing, tell_entry};
use super::finding::Findings;
use crate::format::PAYLOADS_DIR;
use crate::pack::PackedBundle;

/// Checks the entries that a packed bundle has at its top; returns how many there are.
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
        tell_entry(name, *kind, BundleFile::of_kind(name, *kind), findings);
    }
    entries.len() as u64
}
