//! Checks a packed bundle: its blocks, and the checksums of all its files without hashing twice what files share.
//!
//! A request begins with the one before it. So the state of its hash at the end of what both share is that of the one before,
//! and the requests of a conversation cost what is new in each.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use super::error::PackedError;
use super::index::Entry;
use super::reader::{PackedBundle, common_start};

impl PackedBundle {
    /// Checks every block and every file. Returns the damage that it found, that of blocks first. Only a few blocks and
    /// parts of files are in memory at the same time.
    ///
    /// # Errors
    ///
    /// Returns an error if the packed bundle cannot be read at all. Damage is not an error here.
    pub fn verify(&self) -> Result<Vec<PackedError>, PackedError> {
        let in_blocks: Vec<Option<PackedError>> = (0..self.index().blocks.len())
            .into_par_iter()
            .map(|number| match self.block(number) {
                Ok(_) => Ok(None),
                Err(damage @ PackedError::Block { .. }) => Ok(Some(damage)),
                Err(error) => Err(error),
            })
            .collect::<Result<_, _>>()?;
        // A growing bundle has checksums of its records only.
        let sums = if self.is_growing() { Vec::new() } else { checksums(self) };
        let in_files: Vec<Option<PackedError>> = (self.index().entries.iter().zip(sums))
            .map(|(entry, sum)| match sum {
                Ok(sum) if sum == entry.checksum => Ok(None),
                // The damage of the block is reported already.
                Err(PackedError::Block { .. }) => Ok(None),
                Ok(_) => Ok(Some(PackedError::Content { path: self.path().to_owned(), file: entry.path.to_string() })),
                Err(error) => Err(error),
            })
            .collect::<Result<_, _>>()?;
        Ok(in_blocks.into_iter().chain(in_files).flatten().collect())
    }
}

/// What a file shares with others that begin at the same place.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    /// The file before it, and how many bytes both begin with. No bytes if there is none.
    with_last: (usize, u64),
    /// How many bytes it has in common with the next one.
    with_next: u64,
}

/// Returns the checksum of each file, or the error of reading it.
pub(super) fn checksums(bundle: &PackedBundle) -> Vec<Result<u32, PackedError>> {
    let index = bundle.index();
    let mut shared = vec![Shared::default(); index.entries.len()];
    let mut last_at: HashMap<u64, usize> = HashMap::new();
    for (number, entry) in index.entries.iter().enumerate() {
        let Some(first) = index.slices(entry).first() else { continue };
        if let Some(last) = last_at.insert(first.start, number) {
            let common = common_start(index.slices(&index.entries[last]), index.slices(entry));
            shared[last].with_next = common;
            shared[number].with_last = (last, common);
        }
    }
    let mut states: HashMap<usize, Xxh3Default> = HashMap::new();
    let entries = index.entries.iter().zip(&shared).enumerate();
    entries.map(|(number, (entry, shared))| checksum(bundle, number, entry, shared, &mut states)).collect()
}

fn checksum(
    bundle: &PackedBundle,
    number: usize,
    entry: &Entry,
    shared: &Shared,
    states: &mut HashMap<usize, Xxh3Default>,
) -> Result<u32, PackedError> {
    let (last, common) = shared.with_last;
    // A state whose file could not be read is missing.
    let known = if common > 0 { states.remove(&last) } else { None };
    let (mut state, mut done) = known.map_or_else(|| (Xxh3Default::new(), 0), |state| (state, common));
    let next = shared.with_next;
    if next > 0 {
        if next < done {
            (state, done) = (Xxh3Default::new(), 0);
        }
        hash(bundle, entry, done..next, &mut state)?;
        states.insert(number, state.clone());
        done = next;
    }
    hash(bundle, entry, done..entry.bytes, &mut state)?;
    Ok(state.digest() as u32)
}

fn hash(bundle: &PackedBundle, entry: &Entry, range: Range<u64>, state: &mut Xxh3Default) -> Result<(), PackedError> {
    bundle.visit(entry, range, |part| {
        state.update(part);
        Ok(())
    })
}
