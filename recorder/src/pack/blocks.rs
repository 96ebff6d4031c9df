//! Reads the blocks of a packed bundle when they are needed, checks and decompresses them, and caches the result.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use xxhash_rust::xxh3::xxh3_64;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::error::BlockFault;
use super::format::MAX_BLOCK_BYTES;
use super::index::Block;
use super::positioned::Storage;
use crate::memory::Memory;

/// Most bytes of decompressed blocks that are kept in memory. All requests of a long session together take a few
/// megabytes. But a bundle full of images has gigabytes, which must not be in memory at the same time.
pub const CACHE_BYTES: usize = 128 << 20;

/// The blocks of one packed bundle.
///
/// Threads that want the same block wait for the first of them to read it. Different blocks are read in parallel.
#[derive(Debug)]
pub(super) struct BlockStore {
    storage: Storage,
    slots: Vec<Mutex<Slot>>,
    /// The blocks in memory.
    cached: Mutex<Cached>,
    max_cached_bytes: usize,
    /// The first error of reading a block.
    failure: OnceLock<(io::ErrorKind, String)>,
    #[cfg(test)]
    decompressed: std::sync::atomic::AtomicUsize,
}

#[derive(Debug, Default)]
enum Slot {
    #[default]
    Absent,
    Present(Arc<Memory>),
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
    pub(super) fn new(storage: Storage, blocks: usize, max_cached_bytes: usize) -> Self {
        let slots = std::iter::repeat_with(Mutex::default).take(blocks).collect();
        Self {
            storage,
            slots,
            cached: Mutex::default(),
            max_cached_bytes,
            failure: OnceLock::new(),
            #[cfg(test)]
            decompressed: Default::default(),
        }
    }

    /// Returns what the blocks are read from.
    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns the first error of reading a block, other than damage.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.failure.get().map(|(kind, text)| io::Error::new(*kind, text.clone()))
    }

    /// Keeps at most this many bytes of decompressed blocks in memory.
    pub(super) fn limit(&mut self, max_cached_bytes: usize) {
        self.max_cached_bytes = max_cached_bytes;
    }

    /// Sets the bytes of a block that is not in the file by itself. They stay in memory.
    pub(super) fn preload(&mut self, number: usize, bytes: Vec<u8>) {
        *lock(&self.slots[number]) = Slot::Present(Arc::new(bytes.into()));
    }

    /// Makes room for further blocks, and forgets the block before them, which may have grown.
    pub(super) fn grow_to(&mut self, blocks: usize) {
        // The first block is not one of the file, see `preload`.
        if self.slots.len() > 1 {
            let number = self.slots.len() - 1;
            *lock(&self.slots[number]) = Slot::Absent;
            let cached = self.cached.get_mut().unwrap_or_else(PoisonError::into_inner);
            cached.order.retain(|(known, bytes)| {
                let stays = *known != number;
                cached.bytes -= if stays { 0 } else { *bytes };
                stays
            });
        }
        self.slots.resize_with(blocks, Mutex::default);
    }

    /// Returns how many blocks were decompressed.
    #[cfg(test)]
    pub(super) fn decompressed(&self) -> usize {
        self.decompressed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns the decompressed bytes of a block.
    pub(super) fn get(&self, number: usize, block: &Block) -> Result<Arc<Memory>, BlockProblem> {
        let mut slot = lock(&self.slots[number]);
        match &*slot {
            Slot::Present(bytes) => return Ok(Arc::clone(bytes)),
            Slot::Broken(fault) => return Err(BlockProblem::Fault(*fault)),
            Slot::Absent => {}
        }
        let mut bytes = Memory::zeroed(block.bytes as usize);
        match self.decompress(block, &mut bytes) {
            Ok(()) => {
                let bytes = Arc::new(bytes);
                *slot = Slot::Present(Arc::clone(&bytes));
                // `make_room` locks other slots. To avoid deadlocks, no thread waits for a slot while it holds another one.
                drop(slot);
                self.make_room(number, bytes.len());
                Ok(bytes)
            }
            Err(problem) => {
                if let BlockProblem::Fault(fault) = problem {
                    *slot = Slot::Broken(fault);
                }
                Err(problem)
            }
        }
    }

    /// Writes the decompressed bytes of a block into `target`, which has as many. A block that is not in memory does not get there.
    pub(super) fn read_into(&self, number: usize, block: &Block, target: &mut [u8]) -> Result<(), BlockProblem> {
        match &*lock(&self.slots[number]) {
            Slot::Present(bytes) => {
                target.copy_from_slice(bytes);
                return Ok(());
            }
            Slot::Broken(fault) => return Err(BlockProblem::Fault(*fault)),
            Slot::Absent => {}
        }
        self.decompress(block, target)
    }

    fn decompress(&self, block: &Block, target: &mut [u8]) -> Result<(), BlockProblem> {
        let mut packed = vec![0; block.packed_bytes as usize];
        self.storage.read_exact_at(&mut packed, block.offset).map_err(|error| {
            self.failure.get_or_init(|| (error.kind(), error.to_string()));
            BlockProblem::Io(error)
        })?;
        #[cfg(test)]
        self.decompressed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if block.chunks.is_empty() {
            decompress(&packed, block, target)
        } else {
            decompress_chunks(&packed, block, target)
        }
        .map_err(BlockProblem::Fault)
    }

    /// Removes all blocks from memory.
    pub(super) fn forget(&self) {
        let mut cached = lock(&self.cached);
        for (number, _) in std::mem::take(&mut *cached).order {
            *lock(&self.slots[number]) = Slot::Absent;
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

fn decompress(packed: &[u8], block: &Block, target: &mut [u8]) -> Result<(), BlockFault> {
    // The checksum covers the compressed bytes, so damaged bytes never reach the decompressor.
    if xxh3_64(packed) != block.checksum {
        return Err(BlockFault::Checksum);
    }
    match zstd::bulk::decompress_to_buffer(packed, target) {
        Ok(bytes) if bytes == target.len() => Ok(()),
        _ => Err(BlockFault::Content),
    }
}

/// Decompresses a block of a growing bundle. `packed` has everything from the beginning of its first chunk to the end of its
/// last one.
fn decompress_chunks(packed: &[u8], block: &Block, target: &mut [u8]) -> Result<(), BlockFault> {
    let mut stream = FrameReader::new().map_err(|_| BlockFault::Content)?;
    let mut end = 0;
    for chunk in &block.chunks {
        let from = (chunk.offset - block.offset) as usize;
        let chunk_bytes = &packed[from..from + chunk.packed_bytes as usize];
        if xxh3_64(chunk_bytes) != chunk.checksum {
            return Err(BlockFault::Checksum);
        }
        end = stream.read(chunk_bytes, target, end).map_err(|_| BlockFault::Content)?;
    }
    if end == target.len() { Ok(()) } else { Err(BlockFault::Content) }
}

/// Decompresses a frame whose bytes come in chunks. The frame may lack its end.
struct FrameReader(Decoder<'static>);

impl FrameReader {
    fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        // A frame that claims a larger window than any block needs would cost memory.
        decoder.set_parameter(DParameter::WindowLogMax(MAX_BLOCK_BYTES.ilog2()))?;
        Ok(Self(decoder))
    }

    /// Writes what a chunk decompresses to into `bytes` from `start` on, as far as there is room. Returns where it ends.
    fn read(&mut self, chunk: &[u8], bytes: &mut [u8], start: usize) -> io::Result<usize> {
        let mut input = InBuffer::around(chunk);
        let mut output = OutBuffer::around_pos(bytes, start);
        loop {
            let before = (input.pos(), output.pos());
            self.0.run(&mut input, &mut output)?;
            if (input.pos(), output.pos()) == before {
                return Ok(output.pos());
            }
        }
    }
}

/// Locks a mutex and ignores poisoning: slots and order are never left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
                    chunks: Vec::new(),
                };
                offset += packed.len() as u64;
                block
            })
            .collect();
        let store = BlockStore::new(Storage::File(file), blocks.len(), 3500);
        for round in 0..3 {
            for (number, block) in blocks.iter().enumerate() {
                assert_eq!(**store.get(number, block).expect("reads"), [number as u8; 1000], "round {round}");
                let kept = store.slots.iter().filter(|slot| matches!(*lock(slot), Slot::Present(_))).count();
                assert_eq!((kept * 1000, kept <= 3), (lock(&store.cached).bytes, true));
            }
        }
        let wrong = Block { checksum: 1, ..blocks[0].clone() };
        assert!(matches!(store.get(0, &wrong), Err(BlockProblem::Fault(BlockFault::Checksum))));
        let short = Block { bytes: 999, ..blocks[1].clone() };
        assert!(matches!(store.get(1, &short), Err(BlockProblem::Fault(BlockFault::Content))));
        assert!(matches!(store.get(1, &blocks[1]), Err(BlockProblem::Fault(_))), "what is broken stays so");
    }
}
