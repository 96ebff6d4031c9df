//! Bundles in memory, written to disk.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use trace_recorder::Bundle;
use trace_recorder::files::{create_private_dir, create_private_file};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};
use trace_recorder::payloads::PayloadError;

use crate::error::ImportError;

/// Writes a bundle as the directory `directory`, which must not exist. Its parent must exist.
///
/// Only the owner may read the files, since they have what the session saw. The bundle is written under a hidden name beside it and renamed when it is complete, so a bundle of this name is whole.
///
/// # Errors
///
/// Returns an error if the directory exists, or if a file of the bundle cannot be read or written. Nothing is left behind then.
pub fn write(bundle: &Bundle, directory: &Path) -> Result<(), ImportError> {
    if directory.exists() {
        return Err(ImportError::io(directory, io::ErrorKind::AlreadyExists.into()));
    }
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(ImportError::io(directory, io::ErrorKind::InvalidInput.into()));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    // Readers skip directories with such a name (`trace_recorder::bundle::find_bundles`).
    let prefix = format!(".{}.", name.to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let unfinished = builder.tempdir_in(parent).map_err(|source| ImportError::io(parent, source))?;
    write_files(bundle, unfinished.path())?;
    fs::rename(unfinished.path(), directory).map_err(|source| ImportError::io(directory, source))?;
    // The directory has its final name now, and nothing is left to delete.
    let _ = unfinished.keep();
    Ok(())
}

fn write_files(bundle: &Bundle, directory: &Path) -> Result<(), ImportError> {
    let write = |path: &str, bytes: &[u8]| {
        let path = directory.join(path);
        let written = create_private_file(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(|source| ImportError::io(&path, source))
    };
    let payloads = directory.join(PAYLOADS_DIR);
    create_private_dir(&payloads).map_err(|source| ImportError::io(&payloads, source))?;
    let unreadable =
        |path: &str, error: PayloadError| ImportError::io(&bundle.path().join(path), io::Error::other(error));
    let mut buffer = Vec::new();
    let files = bundle.payloads().list_all().map_err(|source| ImportError::io(bundle.path(), source))?;
    for file in files {
        bundle.payloads().read(&file.path, &mut buffer).map_err(|error| unreadable(&file.path, error))?;
        write(&file.path, &buffer)?;
    }
    let part =
        |error: &trace_recorder::BundleError| ImportError::io(bundle.path(), io::Error::other(error.to_string()));
    let mut manifest = serde_json::to_vec_pretty(bundle.manifest().map_err(part)?)
        .map_err(|source| ImportError::io(bundle.path(), source.into()))?;
    manifest.push(b'\n');
    write(EVENT_LOG_FILE, bundle.log().map_err(part)?.as_bytes())?;
    write(MANIFEST_FILE, &manifest)
}
