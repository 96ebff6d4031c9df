//! Memory for bytes that are decompressed once and then read.
//!
//! The first touch of each page of 4 KiB costs more than decompressing what is in it. A long session has tens of megabytes of log and
//! payloads, so large memory is asked for in huge pages where the system has them.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Smallest number of bytes that are mapped: the size of a huge page.
const MAPPED_BYTES: usize = 2 << 20;

/// A fixed number of bytes in memory.
pub(crate) enum Memory {
    Heap(Vec<u8>),
    Mapped(MmapMut),
}

impl Memory {
    /// Returns this many zeros.
    pub(crate) fn zeroed(bytes: usize) -> Self {
        let mapped = (bytes >= MAPPED_BYTES).then(|| map(bytes)).flatten();
        mapped.map_or_else(|| Self::Heap(vec![0; bytes]), Self::Mapped)
    }
}

/// Maps memory. Returns `None` if the system refuses.
fn map(bytes: usize) -> Option<MmapMut> {
    let mapped = MmapMut::map_anon(bytes).ok()?;
    // Without huge pages, the memory is as good, but costs more time.
    #[cfg(target_os = "linux")]
    let _ = mapped.advise(memmap2::Advice::HugePage);
    Some(mapped)
}

impl From<Vec<u8>> for Memory {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Heap(bytes)
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("bytes", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_size_begins_with_zeros_and_keeps_what_is_written() {
        for bytes in [0, 1, MAPPED_BYTES - 1, MAPPED_BYTES, 2 * MAPPED_BYTES + 7] {
            let mut memory = Memory::zeroed(bytes);
            assert_eq!(matches!(memory, Memory::Mapped(_)), bytes >= MAPPED_BYTES);
            assert!(memory.len() == bytes && memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
            assert!(memory.iter().all(|byte| *byte == 7));
        }
        assert_eq!(&*Memory::from(vec![1, 2]), [1, 2]);
    }
}
