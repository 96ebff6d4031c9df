//! The frame of a packed bundle: its header and its footer.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

use crate::header::{HEADER_BYTES, MAGIC, PackVersion, header_of};

/// Extension of packed bundles. A search for bundles considers only files with this extension. Opening a file checks only
/// its magic number.
pub const PACKED_EXTENSION: &str = "trace";

/// Largest size of a block before compression. Reading a small payload may require decompressing a whole block, so this
/// limits the time it takes. It also limits the memory that a block can claim to need.
pub const MAX_BLOCK_BYTES: usize = 4 << 20;

/// Largest size of the index before compression.
pub const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Last bytes of a packed bundle. If they are missing, the file was truncated.
pub(super) const END_MAGIC: [u8; 8] = *b"TRACEEND";

/// Size of the footer in bytes.
pub(super) const FOOTER_BYTES: usize = 48;

/// Returns whether the file at `path` begins like a packed bundle, whatever its name.
pub fn is_packed(path: &Path) -> bool {
    // The type is checked before the file is opened, because opening a named pipe blocks.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut magic = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == MAGIC
}

/// Returns the header of the current version.
pub(super) fn header() -> [u8; HEADER_BYTES] {
    header_of(PackVersion::CURRENT)
}

/// The footer, which describes the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Footer {
    /// Offset of the index, which is also the end of the blocks.
    pub(super) index_offset: u64,
    /// Size of the index in the file.
    pub(super) packed_bytes: u64,
    /// Size of the index after decompression.
    pub(super) bytes: u64,
    /// Checksum of the compressed index.
    pub(super) checksum: u64,
}

impl Footer {
    /// Encodes the footer. Its own checksum includes the header, so that every byte of the file is covered by a checksum.
    pub(super) fn to_bytes(self, header: &[u8; HEADER_BYTES]) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        let fields = [self.index_offset, self.packed_bytes, self.bytes, self.checksum];
        for (field, place) in fields.iter().zip(bytes.chunks_exact_mut(8)) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let checksum = checksum_of(header, &bytes);
        bytes[32..40].copy_from_slice(&checksum.to_le_bytes());
        bytes[40..].copy_from_slice(&END_MAGIC);
        bytes
    }

    /// Decodes a footer. `file_bytes` is the size of the file.
    ///
    /// # Errors
    ///
    /// Returns a description of what is wrong with the footer.
    pub(super) fn from_bytes(
        bytes: &[u8; FOOTER_BYTES],
        header: &[u8; HEADER_BYTES],
        file_bytes: u64,
    ) -> Result<Self, &'static str> {
        if bytes[40..] != END_MAGIC {
            return Err("it does not end as a packed bundle does; it was cut, or something was appended");
        }
        let field = |index: usize| {
            let mut field = [0; 8];
            field.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
            u64::from_le_bytes(field)
        };
        if field(4) != checksum_of(header, bytes) {
            return Err("the checksum of its header and footer is wrong");
        }
        let footer = Self { index_offset: field(0), packed_bytes: field(1), bytes: field(2), checksum: field(3) };
        let end = footer.index_offset.checked_add(footer.packed_bytes);
        if footer.index_offset < HEADER_BYTES as u64 || end.and_then(|end| end.checked_add(48)) != Some(file_bytes) {
            return Err("its footer belongs to a file of another length");
        }
        // Incompressible bytes grow by far less than this. The reader allocates this many bytes before it reads them.
        if footer.bytes > MAX_INDEX_BYTES || footer.packed_bytes > 2 * MAX_INDEX_BYTES {
            return Err("its index is larger than an index may be");
        }
        Ok(footer)
    }
}

fn checksum_of(header: &[u8; HEADER_BYTES], footer: &[u8; FOOTER_BYTES]) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(header);
    hash.update(&footer[..32]);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_reads_back_and_no_other_does() {
        let footer = Footer { index_offset: 16, packed_bytes: 36, bytes: 50, checksum: 7 };
        let bytes = footer.to_bytes(&header());
        assert_eq!(Footer::from_bytes(&bytes, &header(), 100), Ok(footer));
        Footer::from_bytes(&bytes, &header(), 101).expect_err("another length");
        for at in 0..FOOTER_BYTES {
            let mut wrong = bytes;
            wrong[at] ^= 1;
            Footer::from_bytes(&wrong, &header(), 100).expect_err("a wrong byte");
        }
        let mut other = header();
        other[15] = 1;
        Footer::from_bytes(&bytes, &other, 100).expect_err("another header");
        let large = Footer { bytes: MAX_INDEX_BYTES + 1, ..footer }.to_bytes(&header());
        Footer::from_bytes(&large, &header(), 100).expect_err("a large index");
        // A sparse file can have any length.
        let packed_bytes = 2 * MAX_INDEX_BYTES + 1;
        let sparse = Footer { packed_bytes, ..footer }.to_bytes(&header());
        let refused = Footer::from_bytes(&sparse, &header(), 16 + packed_bytes + FOOTER_BYTES as u64);
        assert_eq!(refused, Err("its index is larger than an index may be"));
    }

    #[test]
    fn a_packed_file_is_known_by_its_first_bytes() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("any.name");
        std::fs::write(&path, header()).expect("writes");
        assert!(is_packed(&path));
        std::fs::write(&path, &header()[..7]).expect("writes");
        assert!(!is_packed(&path) && !is_packed(root.path()) && !is_packed(&root.path().join("none")));
    }
}
