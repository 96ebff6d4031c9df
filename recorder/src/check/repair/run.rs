//! A whole repair, and why there was none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::Changes;
use super::error::{RepairError, at};
use super::plan::{Plan, RecorderFile};
use crate::bundle::Bundle;
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};
use crate::lock::{Hold, Origin};
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// What was changed.
    pub changes: Changes,
    /// The directory that holds what was there before; nothing when nothing had to be kept.
    pub backup: Option<PathBuf>,
}

/// Says what a repair of the bundle directory at `path` would change, and changes nothing.
///
/// # Errors
///
/// Returns an error when the bundle cannot be repaired.
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

/// Repairs the bundle directory at `path`, after copies of all that is changed were made. Nobody else may write to the
/// bundle meanwhile; a recorder of this crate is kept away.
///
/// # Errors
///
/// Returns an error when the bundle is being recorded, is not of a known schema, or cannot be written to.
pub fn repair(path: &Path) -> Result<Repaired, RepairError> {
    // Whoever has nothing to repair leaves no trace at all, not even that of a lock.
    if preview_repair(path)?.is_empty() {
        return Ok(Repaired::default());
    }
    let recorder_path = path.join(RECORDER_FILE);
    let lock = Hold::take(path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => RepairError::BeingRecorded { path: path.to_owned() },
        _ => at(&recorder_path)(error),
    })?;
    let bundle = open(path)?;
    let recorder_file = match lock.origin() {
        Origin::Found => RecorderFile::look(path),
        Origin::Made => RecorderFile::Fine,
    };
    let plan = Plan::new(&bundle, recorder_file)?;
    let backup = plan.apply(&bundle)?;
    if plan.removes_recorder_file {
        lock.remove_file().map_err(at(&recorder_path))?;
    }
    Ok(Repaired { changes: plan.changes, backup })
}

fn open(path: &Path) -> Result<Bundle, RepairError> {
    let bundle = Bundle::open(path)?;
    for (name, is_right) in [
        (MANIFEST_FILE, fs::Metadata::is_file as fn(&fs::Metadata) -> bool),
        (EVENT_LOG_FILE, fs::Metadata::is_file),
        (RECORDER_FILE, fs::Metadata::is_file),
        (PAYLOADS_DIR, fs::Metadata::is_dir),
    ] {
        let part = path.join(name);
        match fs::symlink_metadata(&part) {
            Ok(metadata) if is_right(&metadata) => {}
            Ok(_) => return Err(RepairError::Odd { path: part }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&part)(error)),
        }
    }
    Ok(bundle)
}
