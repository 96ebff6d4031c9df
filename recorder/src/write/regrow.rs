//! Writes a bundle of a directory again as one growing file, as if it was recorded a second time.
//!
//! A test can hold the form of live recordings against a reducer of directories in this way, also for logs that no recorder would write.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::body::{Pieces, Text};
use super::error::WriteError;
use super::growing::GrowingTarget;
use super::options::Durability;
use super::storage::OsStorage;
use super::target::{Failure, Target};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};

/// What becomes of the recording after its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The recorder dies: the file stays a growing one.
    Killed,
    /// The recording completes: the file becomes a packed bundle.
    Completed,
}

/// Why a bundle was not written again.
#[derive(Debug, thiserror::Error)]
pub enum RegrowError {
    /// A growing file has a manifest, an event log, and payloads that are named by their numbers. This bundle lacks one or has others.
    #[error("a growing file cannot have the files of this bundle: {0}")]
    Form(String),
    /// A file of the bundle could not be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The growing file could not be written.
    #[error("{name}: {error}")]
    Write {
        /// What could not be written.
        name: String,
        /// Why it could not be written.
        error: io::Error,
    },
    /// The growing file could not be created.
    #[error(transparent)]
    Create(#[from] WriteError),
}

impl From<Failure> for RegrowError {
    fn from(Failure { name, error }: Failure) -> Self {
        Self::Write { name, error }
    }
}

/// Writes the bundle in the directory `source` to a growing file at `out`, with `lines_per_commit` lines of the log in a commit. A
/// payload is written with the first line that has its path, or at the end if none has it. Files that are no part of a bundle are left out.
///
/// # Errors
///
/// Returns an error if the bundle cannot be read, if a growing file cannot have its files, or if the file cannot be written.
pub fn regrow(source: &Path, out: &Path, lines_per_commit: usize, end: End) -> Result<(), RegrowError> {
    let part = |name: &str| match fs::read(source.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RegrowError::Form(format!("{name} is missing"))),
        read => Ok(read?),
    };
    let (manifest, log) = (part(MANIFEST_FILE)?, part(EVENT_LOG_FILE)?);
    let mut payloads = payloads(&source.join(PAYLOADS_DIR))?;
    let mut target = GrowingTarget::create_with(Arc::new(OsStorage), out, &manifest, 0, Durability::Buffered)?;
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    for lines in lines.chunks(lines_per_commit.max(1)) {
        let lines = lines.concat();
        let text = String::from_utf8_lossy(&lines);
        let is_named = |ordinal: &u64| text.contains(&format!("{PAYLOADS_DIR}/{ordinal}.json\""));
        let named: Vec<u64> = payloads.keys().copied().filter(is_named).collect();
        for ordinal in named {
            let document = payloads.remove(&ordinal).unwrap_or_default();
            target.payload(ordinal, 0, Pieces::One(Text::Owned(document)))?;
        }
        target.commit(&lines)?;
    }
    for (ordinal, document) in payloads {
        target.payload(ordinal, 0, Pieces::One(Text::Owned(document)))?;
    }
    target.commit(&[])?;
    if end == End::Completed {
        Box::new(target).complete()?;
    }
    Ok(())
}

/// Reads the payloads of a bundle, by their numbers.
fn payloads(directory: &Path) -> Result<BTreeMap<u64, Vec<u8>>, RegrowError> {
    let mut payloads = BTreeMap::new();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(payloads),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let ordinal = name.to_str().and_then(|name| name.strip_suffix(".json")).and_then(|number| number.parse().ok());
        let Some(ordinal) = ordinal.filter(|ordinal| Some(&*format!("{ordinal}.json")) == name.to_str()) else {
            return Err(RegrowError::Form(format!("{PAYLOADS_DIR}/{} is not named by a number", name.display())));
        };
        payloads.insert(ordinal, fs::read(entry.path())?);
    }
    Ok(payloads)
}
