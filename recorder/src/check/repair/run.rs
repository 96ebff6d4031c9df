//! Runs a repair under the lock of the bundle.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::{Change, Changes};
use super::error::{RepairError, at};
use super::plan::{Plan, RecorderFile};
use crate::bundle::Bundle;
use crate::lock::BundleLock;
use crate::pack::{FINISHED_LEVEL, PackedBundle, is_growing};
use crate::parts::{Part, odd_part};
use crate::recording::{RECORDER_FILE, is_being_recorded};
use crate::write::{WriteError, finish_growing};

/// Most copies of damaged growing bundles beside a bundle.
const MAX_COPIES: usize = 100;

/// Result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The changes that were made.
    pub changes: Changes,
    /// The directory with the copies of changed files. `None` if no existing file was changed.
    pub backup: Option<PathBuf>,
}

/// Returns what a repair of the bundle directory or growing bundle at `path` would change, without changing anything.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened, is being recorded, is not of a known schema, or has a part that a
/// repair does not touch.
pub fn preview_repair(path: &Path) -> Result<Changes, RepairError> {
    let is_growing = is_growing(path).map_err(at(path))?;
    if path.is_file() && !is_growing {
        return Err(RepairError::NotADirectory { path: path.to_owned() });
    }
    if is_being_recorded(path).map_err(at(path))? {
        return Err(RepairError::BeingRecorded { path: path.to_owned() });
    }
    if is_growing {
        let bundle = Bundle::open(path)?;
        let mut changes = Changes::default();
        changes.push(Change::Finished { torn_bytes: bundle.packed().map_or(0, PackedBundle::torn_bytes) });
        return Ok(changes);
    }
    let bundle = open(path)?;
    Ok(Plan::new(&bundle, RecorderFile::look(path))?.changes)
}

/// Repairs the bundle directory at `path` after copying every file that changes. A growing bundle becomes a packed one; if a record in
/// the middle of it is damaged, the growing bundle is kept beside it as `NAME.damaged-1`. No other process may write to the bundle
/// meanwhile. The lock keeps recorders of this crate away.
///
/// # Errors
///
/// Returns an error if the bundle is being recorded, is not of a known schema, or cannot be read or written.
pub fn repair(path: &Path) -> Result<Repaired, RepairError> {
    // If there is nothing to repair, the bundle is left untouched. Even the lock file is not created.
    let preview = preview_repair(path)?;
    if preview.is_empty() {
        return Ok(Repaired::default());
    }
    if path.is_file() {
        // Of a record that a crash cut off nothing can be read. What lies behind a damaged record may be wanted later.
        let is_damaged =
            Bundle::open(path)?.packed().is_some_and(|packed| packed.has_records_behind_damage().unwrap_or(true));
        let backup = if is_damaged { Some(keep_damaged(path).map_err(at(path))?) } else { None };
        finish_growing(path, path, FINISHED_LEVEL).map_err(|error| match error {
            WriteError::Locked { path } => RepairError::BeingRecorded { path },
            error => at(path)(io::Error::other(error)),
        })?;
        return Ok(Repaired { changes: preview, backup });
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

/// Gives the file of a growing bundle a second name, which stays when the file is replaced. Returns it.
fn keep_damaged(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..=MAX_COPIES {
        let copy = path.with_file_name(format!("{name}.damaged-{number}"));
        match fs::hard_link(path, &copy) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => return linked.map(|()| copy),
        }
    }
    Err(io::Error::other("there are too many copies of damaged bundles beside it"))
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
