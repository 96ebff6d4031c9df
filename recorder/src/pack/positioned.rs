//! What a packed bundle is read from: a file, or anything else whose bytes can be read at positions.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes that are read at positions, such as an object in a store that answers requests for ranges.
///
/// Several threads read at the same time. All reads must be of the same version of the bytes: an implementation returns an error
/// when they are replaced in between, never bytes of both versions.
pub trait ReadAt: Send + Sync + Debug {
    /// Returns the number of bytes.
    fn bytes(&self) -> u64;

    /// Returns when the bytes were written. Returns `None` if that is not known.
    fn modified(&self) -> Option<SystemTime>;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer bytes, or if they cannot be read. A caller may try again.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all bytes to `out`.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read or written.
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = vec![0; COPIED_BYTES];
        let mut offset = 0;
        while offset < self.bytes() {
            let count = (self.bytes() - offset).min(COPIED_BYTES as u64);
            let part = &mut buffer[..count as usize];
            self.read_exact_at(part, offset)?;
            out.write_all(part)?;
            offset += count;
        }
        Ok(())
    }
}

/// Bytes that are copied at once.
const COPIED_BYTES: usize = 1 << 20;

/// What the blocks of a packed bundle are read from.
#[derive(Debug)]
pub(super) enum Storage {
    File(File),
    Positioned(Arc<dyn ReadAt>),
}

impl Storage {
    /// Fills `buffer` with the bytes from `offset` on.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::File(file) => read_exact_at(file, buffer, offset),
            Self::Positioned(bytes) => bytes.read_exact_at(buffer, offset),
        }
    }

    /// Returns the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not those of a file. Growing bundles are read only from files.
    pub(super) fn file(&self) -> io::Result<&File> {
        match self {
            Self::File(file) => Ok(file),
            Self::Positioned(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
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
