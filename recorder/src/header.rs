//! The header of packed and growing bundles. A growing one has the recorder's file in it.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::format::RECORDER_FILE_BYTES;

/// First bytes of a packed bundle. As in PNG files, the line ending shows whether the file was transferred as text and
/// damaged by that.
pub(crate) const MAGIC: [u8; 8] = *b"\x89TRACE\r\n";

/// Size of the header in bytes.
pub(crate) const HEADER_BYTES: usize = 16;

/// Size of the header of a growing bundle. It is that of a packed bundle, and the space for `recorder.json`.
pub(crate) const GROWING_HEADER_BYTES: usize = 4096;

/// The version of the packed format that a file carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackVersion(pub u32);

impl PackVersion {
    /// The version that this crate writes.
    pub const CURRENT: Self = Self(1);

    /// The version of a bundle that is being recorded, or whose recorder died.
    pub const GROWING: Self = Self(2);

    /// Checks that this crate can read the version.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownPackVersion`] for any number except 1 and 2.
    pub fn check_readable(self) -> Result<(), UnknownPackVersion> {
        let is_known = matches!(self, Self::CURRENT | Self::GROWING);
        if is_known { Ok(()) } else { Err(UnknownPackVersion { found: self.0 }) }
    }
}

impl fmt::Display for PackVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for a version of the packed format that this crate does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("version {found} of the packed format is unknown; versions 1 and 2 are known")]
pub struct UnknownPackVersion {
    /// The number that was found.
    pub found: u32,
}

/// Returns whether the file at `path` is a growing bundle: one that is being recorded, or whose recorder died.
///
/// # Errors
///
/// Returns the I/O error of opening or reading the file. A missing file is not a growing bundle.
pub fn is_growing(path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut header = [0; HEADER_BYTES];
    match File::open(path)?.read_exact(&mut header) {
        Ok(()) => Ok(version_of(&header) == Some(PackVersion::GROWING)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the header of a version.
pub(crate) fn header_of(version: PackVersion) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&version.0.to_le_bytes());
    header
}

/// Returns the version in a header, or `None` if the magic number is wrong.
pub(crate) fn version_of(header: &[u8; HEADER_BYTES]) -> Option<PackVersion> {
    (header[..8] == MAGIC).then(|| PackVersion(u32::from_le_bytes([header[8], header[9], header[10], header[11]])))
}

/// Reads the recorder's file from the header of a growing bundle, as a recorder writes it into a directory. Returns `None` if
/// the header has none, which is so after the recording is complete.
pub(crate) fn recorder_file_of(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut space = [0; GROWING_HEADER_BYTES - HEADER_BYTES];
    let mut file: &File = file;
    match file.seek(SeekFrom::Start(HEADER_BYTES as u64)).and_then(|_| file.read_exact(&mut space)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let text = space.trim_ascii();
    // A header that was never written is zero.
    if text.is_empty() || text[0] == 0 {
        return Ok(None);
    }
    let mut text = text.to_vec();
    text.resize(RECORDER_FILE_BYTES - 1, b' ');
    text.push(b'\n');
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_versions_are_readable() {
        assert_eq!(PackVersion::CURRENT.check_readable(), Ok(()));
        assert_eq!(PackVersion::GROWING.check_readable(), Ok(()));
        for found in [0, 3, u32::MAX] {
            assert_eq!(PackVersion(found).check_readable(), Err(UnknownPackVersion { found }));
        }
        assert_eq!(version_of(&header_of(PackVersion::CURRENT)), Some(PackVersion::CURRENT));
        assert_eq!(version_of(&[0; HEADER_BYTES]), None);
    }
}
