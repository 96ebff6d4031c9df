//! Restores the directory of a packed bundle.

use std::collections::BTreeSet;
use std::fs::FileTimes;
use std::io::{self, BufWriter};
use std::path::Path;

use super::error::{PackedError, UnpackError};
use super::paths;
use super::reader::PackedBundle;
use crate::files::{create_private_dir, create_private_file};

/// Most bytes that are unpacked unless the user allows more. A packed bundle of a few hundred bytes can expand to any size.
pub const MAX_UNPACKED_BYTES: u64 = 64 << 30;

/// Writes the files of a packed bundle into the directory at `target`, which must exist and be empty. Directories and files
/// are private to the user, and files get the modification time of the packed bundle. The paths were checked when the
/// bundle was opened; this function checks the checksums of files.
///
/// # Errors
///
/// Returns an error if the files have more than `max_bytes` together, if one of them cannot be read or its checksum does
/// not match, or if something cannot be written. The files that were written before the error are kept.
pub fn unpack(bundle: &PackedBundle, target: &Path, max_bytes: u64) -> Result<(), UnpackError> {
    let bytes = bundle.bytes();
    if bytes > max_bytes {
        return Err(UnpackError::TooLarge { path: bundle.path().to_owned(), bytes, max: max_bytes });
    }
    for path in bundle.files().map(|file| file.path).chain(bundle.empty_directories()) {
        // Only unpacking writes names to a file system, so only here the rules of the system apply.
        paths::check_here(path).map_err(|problem| PackedError::Path {
            path: bundle.path().to_owned(),
            entry: path.to_owned(),
            problem,
        })?;
    }
    let io = |path: &str, source: io::Error| UnpackError::Io { path: target.join(path), source };
    let directories: BTreeSet<&str> = bundle
        .files()
        .flat_map(|file| paths::parents(file.path))
        .chain(bundle.empty_directories().flat_map(|path| std::iter::once(path).chain(paths::parents(path))))
        .collect();
    // In sorted order, a directory comes before its content.
    for path in directories {
        create_private_dir(&target.join(path)).map_err(|error| io(path, error))?;
    }
    for file in bundle.files() {
        let created = create_private_file(&target.join(file.path)).map_err(|error| io(file.path, error))?;
        let mut out = BufWriter::new(created);
        bundle.copy(file.path, &mut out)?;
        let created = out.into_inner().map_err(|error| io(file.path, error.into_error()))?;
        if let Some(modified) = bundle.modified() {
            // Retention rules judge bundles by their age. The unpacked bundle must not look newer than it is.
            let times = FileTimes::new().set_modified(modified);
            created.set_times(times).map_err(|error| io(file.path, error))?;
        }
    }
    Ok(())
}
