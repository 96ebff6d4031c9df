//! Makes a packed bundle of a growing one.
//!
//! Every byte of the growing bundle is read once and compressed again, in larger blocks and with more effort. Files stay lists
//! of slices. So this costs as much as what is new in the session, not as much as its files.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;

use super::checksums::checksums;
use super::error::PackError;
use super::format::{MAX_BLOCK_BYTES, header};
use super::lanes::{FIRST_LANE, MANIFEST_LANE, RECORDER_LANE, SINGLE_LANE, place_of};
use super::reader::PackedBundle;
use super::slice::Slice;
use super::writer::{BlockWriter, Level, PackStats};

/// The compression level of a bundle that its recorder finished.
pub const FINISHED_LEVEL: Level = Level::FINISHED;

/// Writes the files of a growing bundle as a packed bundle, up to its last whole record.
///
/// # Errors
///
/// Returns an error if the bundle is not a growing one, if a block cannot be read, if the bundle exceeds a limit of packed bundles, or if `out` returns an error.
pub fn finish(growing: &PackedBundle, out: impl Write, level: Level) -> Result<PackStats, PackError> {
    if !growing.is_growing() {
        return Err(PackError::Finished { path: growing.path().to_owned() });
    }
    let mut blocks = BlockWriter::new(out, level);
    blocks.write(&header())?;
    let mut places = Places::default();
    // The log, the manifest and the recorder's file have their own blocks, so listing bundles reads one or two blocks of each.
    copy_lanes(growing, 0..SINGLE_LANE, &mut places, &mut blocks)?;
    copy_lanes(growing, SINGLE_LANE..usize::MAX, &mut places, &mut blocks)?;
    blocks.write_waiting()?;
    let mut index = blocks.take_index();
    let source = growing.index();
    let mut slices = Vec::new();
    for (entry, checksum) in source.entries.iter().zip(checksums(growing)) {
        let checksum = checksum?;
        slices.clear();
        source.slices(entry).iter().for_each(|slice| places.resolve(*slice, &mut slices));
        index.push_file(entry.path.clone(), checksum, &slices);
    }
    index.directories.clone_from(&source.directories);
    blocks.finish(index, growing.path())
}

/// Where the bytes of lanes are in the content of the packed bundle.
#[derive(Debug, Default)]
struct Places {
    /// For each lane the positions at which a run begins, with the start of the run in the content.
    lanes: HashMap<usize, Vec<(u64, u64)>>,
}

impl Places {
    fn note(&mut self, lane: usize, position: u64, start: u64) {
        self.lanes.entry(lane).or_default().push((position, start));
    }

    /// Appends the slices of the content that a slice of a lane is.
    fn resolve(&self, slice: Slice, to: &mut Vec<Slice>) {
        let (lane, mut position) = place_of(slice.start);
        let Some(runs) = self.lanes.get(&lane) else { return };
        let mut left = slice.bytes;
        let first = runs.partition_point(|(start, _)| *start <= position) - 1;
        for (number, (run, start)) in runs.iter().enumerate().skip(first) {
            if left == 0 {
                return;
            }
            let in_run = runs.get(number + 1).map_or(u64::MAX, |(next, _)| next - position);
            let part = Slice { start: start + (position - run), bytes: left.min(in_run) };
            left -= part.bytes;
            position += part.bytes;
            match to.last_mut() {
                Some(last) if last.end() == part.start => last.bytes += part.bytes,
                _ => to.push(part),
            }
        }
    }
}

/// Copies lanes into blocks. What was recorded at the same time gets into the same block, and there each lane is one run.
fn copy_lanes<W: Write>(
    growing: &PackedBundle,
    wanted: Range<usize>,
    places: &mut Places,
    blocks: &mut BlockWriter<W>,
) -> Result<(), PackError> {
    let Some(lanes) = &growing.index().lanes else { return Ok(()) };
    let mut area = Area::default();
    for (run, lane, bytes) in lanes.in_order() {
        let is_listed = lane != RECORDER_LANE || growing.file(crate::format::RECORDER_FILE).is_some();
        if !wanted.contains(&lane) || !is_listed {
            continue;
        }
        let block = growing.block(run.block as usize)?;
        let mut rest = &block[run.from as usize..run.from as usize + bytes as usize];
        let mut position = run.position;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(MAX_BLOCK_BYTES - area.bytes));
            area.push(lane, position, now);
            position += now.len() as u64;
            rest = later;
            if area.bytes == MAX_BLOCK_BYTES {
                area.close(places, blocks)?;
            }
        }
    }
    area.close(places, blocks)
}

/// The lanes of the block that is being filled: for each the position of its first byte, and its bytes.
#[derive(Debug, Default)]
struct Area {
    lanes: BTreeMap<usize, (u64, Vec<u8>)>,
    bytes: usize,
}

impl Area {
    fn push(&mut self, lane: usize, position: u64, bytes: &[u8]) {
        self.lanes.entry(lane).or_insert_with(|| (position, Vec::new())).1.extend_from_slice(bytes);
        self.bytes += bytes.len();
    }

    fn close<W: Write>(&mut self, places: &mut Places, blocks: &mut BlockWriter<W>) -> Result<(), PackError> {
        if self.bytes == 0 {
            return Ok(());
        }
        let start = blocks.content_bytes();
        let mut block = Vec::with_capacity(self.bytes);
        for (lane, (position, bytes)) in std::mem::take(&mut self.lanes) {
            places.note(lane, position, start + block.len() as u64);
            block.extend_from_slice(&bytes);
        }
        self.bytes = 0;
        blocks.push(block)
    }
}

const _: () = assert!(MANIFEST_LANE < SINGLE_LANE && SINGLE_LANE < FIRST_LANE, "records come first");
