//! Runs a repair under the lock of the bundle.

use std::io;
use std::path::{Path, PathBuf};

use super::change::Changes;
use super::error::{RepairError, at};
use super::plan::{Plan, RecorderFile};
use crate::bundle::Bundle;
use crate::lock::BundleLock;
use crate::parts::{Part, odd_part};
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// Result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The changes that were made.
    pub changes: Changes,
    /// The directory with the copies of changed files. `None` if no existing file was changed.
    pub backup: Option<PathBuf>,
}

/// Returns what a repair of the bundle directory at `path` would change, without changing anything.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened, is being recorded, is not of a known schema, or has a part that a
/// repair does not touch.
pub fn preview_repair(path: &Path) -> Result<Changes, RepairError> {
    if path.is_file() {
        return Err(RepairError::NotADirectory { path: path.to_owned() });
    }
    if is_being_recorded(path).map_err(at(path))? {
        return Err(RepairError::BeingRecorded { path: path.to_owned() });
    }
    let bundle = open(path)?;
    Ok(Plan::new(&bundle, RecorderFile::look(path))?.changes)
}

/// Repairs the bundle directory at `path` after copying every file that changes. No other process may write to the bundle
/// meanwhile. The lock keeps recorders of this crate away.
///
/// # Errors
///
/// Returns an error if the bundle is being recorded, is not of a known schema, or cannot be read or written.
pub fn repair(path: &Path) -> Result<Repaired, RepairError> {
    // If there is nothing to repair, the bundle is left untouched. Even the lock file is not created.
    if preview_repair(path)?.is_empty() {
        return Ok(Repaired::default());
    }
    let recorder_path = path.join(RECORDER_FILE);
    let lock = BundleLock::take(path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => RepairError::BeingRecorded { path: path.to_owned() },
        _ => at(&recorder_path)(error),
    })?;
    let bundle = open(path)?;
    let recorder_file = if lock.has_made_file() { RecorderFile::Fine } else { RecorderFile::look(path) };
    let plan = Plan::new(&bundle, recorder_file)?;
    let backup = plan.apply(&lock)?;
    if plan.removes_recorder_file {
        lock.remove_file().map_err(at(&recorder_path))?;
    }
    Ok(Repaired { changes: plan.changes, backup })
}

fn open(path: &Path) -> Result<Bundle, RepairError> {
    let bundle = Bundle::open(path)?;
    let is_changed = |part: Part| part.is_record() || part == Part::Payloads;
    match odd_part(path, is_changed) {
        Ok(None) => Ok(bundle),
        Ok(Some(odd)) => Err(RepairError::Odd { path: odd }),
        Err((part, error)) => Err(at(&part)(error)),
    }
}
