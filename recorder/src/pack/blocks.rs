//! Reads the blocks of a packed bundle when they are needed, checks and decompresses them, and caches the result.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::error::BlockFault;
use super::index::Block;

/// Most bytes of decompressed blocks that are kept in memory. All requests of a long session together take a few
/// megabytes. But a bundle full of images has gigabytes, which must not be in memory at the same time.
pub const CACHE_BYTES: usize = 128 << 20;

/// The blocks of one packed bundle.
///
/// Threads that want the same block wait for the first of them to read it. Different blocks are read in parallel.
#[derive(Debug)]
pub(super) struct BlockStore {
    file: File,
    slots: Vec<Mutex<Slot>>,
    /// The blocks in memory.
    cached: Mutex<Cached>,
    max_cached_bytes: usize,
    #[cfg(test)]
    decompressed: std::sync::atomic::AtomicUsize,
}

#[derive(Debug, Default)]
enum Slot {
    #[default]
    Absent,
    Present(Arc<[u8]>),
    /// The block is damaged. It is not read again.
    Broken(BlockFault),
}

#[derive(Debug, Default)]
struct Cached {
    order: VecDeque<(usize, usize)>,
    bytes: usize,
}

/// Why a block cannot be returned.
#[derive(Debug)]
pub(super) enum BlockProblem {
    Fault(BlockFault),
    Io(io::Error),
}

impl BlockStore {
    pub(super) fn new(file: File, blocks: usize, max_cached_bytes: usize) -> Self {
        let slots = std::iter::repeat_with(Mutex::default).take(blocks).collect();
        Self {
            file,
            slots,
            cached: Mutex::default(),
            max_cached_bytes,
            #[cfg(test)]
            decompressed: Default::default(),
        }
    }

    /// Returns how many blocks were decompressed.
    #[cfg(test)]
    pub(super) fn decompressed(&self) -> usize {
        self.decompressed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns the decompressed bytes of a block.
    pub(super) fn get(&self, number: usize, block: &Block) -> Result<Arc<[u8]>, BlockProblem> {
        let mut slot = lock(&self.slots[number]);
        match &*slot {
            Slot::Present(bytes) => return Ok(Arc::clone(bytes)),
            Slot::Broken(fault) => return Err(BlockProblem::Fault(*fault)),
            Slot::Absent => {}
        }
        let mut packed = vec![0; block.packed_bytes as usize];
        read_exact_at(&self.file, &mut packed, block.offset).map_err(BlockProblem::Io)?;
        #[cfg(test)]
        self.decompressed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match decompress(&packed, block) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                *slot = Slot::Present(Arc::clone(&bytes));
                // `make_room` locks other slots. To avoid deadlocks, no thread waits for a slot while it holds another one.
                drop(slot);
                self.make_room(number, bytes.len());
                Ok(bytes)
            }
            Err(fault) => {
                *slot = Slot::Broken(fault);
                Err(BlockProblem::Fault(fault))
            }
        }
    }

    fn make_room(&self, number: usize, bytes: usize) {
        let mut cached = lock(&self.cached);
        cached.order.push_back((number, bytes));
        cached.bytes += bytes;
        while cached.bytes > self.max_cached_bytes && cached.order.len() > 1 {
            let Some((oldest, bytes)) = cached.order.pop_front() else { break };
            cached.bytes -= bytes;
            *lock(&self.slots[oldest]) = Slot::Absent;
        }
    }
}

fn decompress(packed: &[u8], block: &Block) -> Result<Vec<u8>, BlockFault> {
    // The checksum covers the compressed bytes, so damaged bytes never reach the decompressor.
    if xxh3_64(packed) != block.checksum {
        return Err(BlockFault::Checksum);
    }
    match zstd::bulk::decompress(packed, block.bytes as usize) {
        Ok(bytes) if bytes.len() == block.bytes as usize => Ok(bytes),
        _ => Err(BlockFault::Content),
    }
}

/// Locks a mutex and ignores poisoning: slots and order are never left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads at an offset. Threads can call this at the same time.
#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Reads at an offset. Threads can call this at the same time.
#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn no_more_is_kept_than_may_be() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut offset = 0;
        let blocks: Vec<Block> = (0..8_u8)
            .map(|number| {
                let packed = zstd::bulk::compress(&[number; 1000], 1).expect("compresses");
                file.write_all(&packed).expect("writes");
                let block = Block {
                    start: u64::from(number) * 1000,
                    bytes: 1000,
                    offset,
                    packed_bytes: packed.len() as u32,
                    checksum: xxh3_64(&packed),
                };
                offset += packed.len() as u64;
                block
            })
            .collect();
        let store = BlockStore::new(file, blocks.len(), 3500);
        for round in 0..3 {
            for (number, block) in blocks.iter().enumerate() {
                assert_eq!(*store.get(number, block).expect("reads"), [number as u8; 1000], "round {round}");
                let kept = store.slots.iter().filter(|slot| matches!(*lock(slot), Slot::Present(_))).count();
                assert_eq!((kept * 1000, kept <= 3), (lock(&store.cached).bytes, true));
            }
        }
        let wrong = Block { checksum: 1, ..blocks[0] };
        assert!(matches!(store.get(0, &wrong), Err(BlockProblem::Fault(BlockFault::Checksum))));
        let short = Block { bytes: 999, ..blocks[1] };
        assert!(matches!(store.get(1, &short), Err(BlockProblem::Fault(BlockFault::Content))));
        assert!(matches!(store.get(1, &blocks[1]), Err(BlockProblem::Fault(_))), "what is broken stays so");
    }
}
