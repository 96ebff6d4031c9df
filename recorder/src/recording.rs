//! `recorder.json`: which process records a bundle, and where the recording stopped.
//!
//! The file exists while a recorder works on the bundle. The recorder holds a lock on it, which keeps a second recorder
//! away. A recorder that ends normally removes the file. A recorder that had to stop writes its reason into the file, and
//! one that died leaves the file unchanged and unlocked, since the system releases the locks of a dead process.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::header::{is_growing, recorder_file_of};

pub use crate::format::{RECORDER_FILE, RECORDER_FILE_BYTES};

/// Content of `recorder.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Id of the process that records the bundle or recorded it.
    pub pid: u32,
    /// Wall clock when the process opened the bundle, in milliseconds since the Unix epoch.
    pub opened_at_unix_ms: i64,
    /// Why the recording stopped early. `None` as long as it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// Where a recording stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Sequence number of the last event that was written.
    pub after_seq: u64,
    /// Wall clock when the recording stopped, in milliseconds since the Unix epoch.
    pub at_unix_ms: i64,
    /// Number of later events that are lost, as far as they were counted before the session ended.
    pub lost_events: u64,
    /// Number of payloads whose content was dropped shortly before the stop and that no event mentions.
    #[serde(default)]
    pub dropped_bodies: u64,
    /// Error message for people.
    pub reason: String,
}

/// Reads `recorder.json` of the bundle directory or growing bundle at `bundle`. Returns `None` if there is no such file.
///
/// # Errors
///
/// Returns an I/O error if the file cannot be read or is not in the format that a recorder writes.
pub fn read_recording(bundle: &Path) -> io::Result<Option<Recording>> {
    if is_growing(bundle)? {
        let text = recorder_file_of(&File::open(bundle)?)?;
        return Ok(text.map(|text| parse_recording(&text)).transpose()?);
    }
    let path = bundle.join(RECORDER_FILE);
    match std::fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
        }
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let mut text = Vec::new();
    File::open(&path)?.take(RECORDER_FILE_BYTES as u64).read_to_end(&mut text)?;
    Ok(Some(parse_recording(&text)?))
}

/// Parses the text of a `recorder.json`.
///
/// # Errors
///
/// Returns a JSON error if the text is not in the format that a recorder writes.
pub fn parse_recording(text: &[u8]) -> Result<Recording, serde_json::Error> {
    serde_json::from_slice(text)
}

/// Returns whether a recorder of this crate is at work on the bundle at `bundle`, a directory or a growing bundle. Returns false
/// for any other file.
///
/// # Errors
///
/// Returns an I/O error if the file cannot be opened or its lock cannot be queried.
pub fn is_being_recorded(bundle: &Path) -> io::Result<bool> {
    let path = if is_growing(bundle)? { bundle.to_owned() } else { bundle.join(RECORDER_FILE) };
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    let file = File::open(&path)?;
    // The lock is shared, so that two processes that ask at the same time do not take each other for the recorder.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_without_the_file_is_nobodys() {
        let root = tempfile::tempdir().expect("a directory");
        assert_eq!(read_recording(root.path()).expect("reads"), None);
        assert!(!is_being_recorded(root.path()).expect("asks"));
        let file = root.path().join("packed.trace");
        std::fs::write(&file, "").expect("writes");
        assert!(!is_being_recorded(&file).expect("asks"), "a file");
    }

    #[test]
    fn the_lock_tells_whether_the_recorder_lives() {
        let root = tempfile::tempdir().expect("a directory");
        let recording = Recording { pid: 7, opened_at_unix_ms: 1, stopped: None };
        let path = root.path().join(RECORDER_FILE);
        std::fs::write(&path, serde_json::to_vec(&recording).expect("serializes")).expect("writes");
        assert_eq!(read_recording(root.path()).expect("reads"), Some(recording));
        assert!(!is_being_recorded(root.path()).expect("asks"));
        let holder = File::open(&path).expect("opens");
        holder.lock().expect("locks");
        assert!(is_being_recorded(root.path()).expect("asks"));
        holder.unlock().expect("unlocks");
        assert!(!is_being_recorded(root.path()).expect("asks"));
    }
}
