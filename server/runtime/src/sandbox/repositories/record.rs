//! Stores the state of repositories before a command in a file while the command runs. If the server is killed, the next
//! server can compare the repositories with it.
//!
//! The server locks the file, and the kernel releases the lock when the server ends, however it ends. The folder lies in
//! the server home, which commands cannot read. Nothing is synced to disk: a power failure ends the commands too.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::before::Before;

/// Size of the largest record that is read.
const MAX_RECORD_BYTES: u64 = 256 << 20;

/// File extension of complete records.
const WHOLE: &str = "json";

/// File extension of records that are being written.
const NEW: &str = "new";

/// Age at which an unfinished record is no longer being written.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// Content of a record.
#[derive(Debug)]
pub(super) enum RecordContent {
    Whole(Box<Before>),
    /// Only the writable folders: the rest was too large, or was written by another version of this program.
    Folders(Vec<PathBuf>),
    Nothing,
}

/// What is stored if the rest is too large. All versions can read it.
#[derive(Serialize, Deserialize)]
struct Folders {
    roots: Vec<OsString>,
}

/// The folder of the records of one server home.
#[derive(Debug, Clone)]
pub(super) struct Records {
    folder: PathBuf,
    /// Size limit of a record in bytes.
    largest: u64,
}

/// The record of a command that runs, or whose repositories were not searched completely.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Records {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), largest: MAX_RECORD_BYTES }
    }

    /// Writes the state before a command, or only the writable folders if the state is too large to be read again.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created.
    pub(super) fn write(&self, before: &Before) -> io::Result<Record> {
        let mut text = serde_json::to_vec(before).map_err(io::Error::other)?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > self.largest {
            let folders = Folders { roots: before.roots.clone() };
            text = serde_json::to_vec(&folders).map_err(io::Error::other)?;
        }
        let path = self.folder.join(format!("{}.{WHOLE}", Uuid::now_v7()));
        let new = path.with_extension(NEW);
        let make = || File::options().write(true).create_new(true).mode(0o600).open(&new);
        let mut file = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
                make()?
            }
            made => made?,
        };
        let written = file.lock().and_then(|()| file.write_all(&text)).and_then(|()| fs::rename(&new, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        Ok(Record { path, _file: file })
    }

    /// Returns the records of servers that have ended. Deletes unfinished records: their commands never started.
    pub(super) fn left_behind(&self) -> Vec<(Record, RecordContent)> {
        let mut left = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|kind| kind == NEW) && !is_forgotten(&path) {
                continue;
            }
            let Ok(mut file) = File::options().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(&path) else {
                continue;
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => continue,
            }
            let mut text = Vec::new();
            let read = (&mut file).take(self.largest).read_to_end(&mut text);
            let record = Record { path, _file: file };
            if record.path.extension().is_some_and(|kind| kind == NEW) {
                record.remove();
                continue;
            }
            let kept = read
                .map_err(serde_json::Error::io)
                .and_then(|_| serde_json::from_slice(&text).map(RecordContent::Whole));
            let kept = kept.unwrap_or_else(|error| {
                tracing::warn!(%error, record = %record.path.display(), "cannot read a record of repositories");
                let folders = serde_json::from_slice(&text).map(|Folders { roots }| roots);
                folders.map_or(RecordContent::Nothing, |roots| {
                    RecordContent::Folders(roots.into_iter().map(PathBuf::from).collect())
                })
            });
            left.push((record, kept));
        }
        left
    }
}

impl Record {
    /// Deletes the record, because all its repositories were checked.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, record = %self.path.display(), "cannot delete a record of repositories");
        }
    }
}

fn is_forgotten(path: &Path) -> bool {
    let written = path.symlink_metadata().and_then(|data| data.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > FORGOTTEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_left_behind_by_those_who_have_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = Records::new(&folder.path().join("new/records"));
        assert!(records.left_behind().is_empty());
        let mut before = Before::default();
        before.roots = vec!["/w".into()];
        let record = records.write(&before).expect("writes");
        // The server still holds the lock.
        assert!(records.left_behind().is_empty());
        drop(record);
        let mut left = records.left_behind();
        let (record, found) = left.pop().expect("a record");
        assert!(matches!(found, RecordContent::Whole(found) if found.roots == before.roots));
        // A record that one server checks is not returned to another.
        assert!(left.is_empty() && records.left_behind().is_empty());
        record.remove();
        assert_eq!(fs::read_dir(folder.path().join("new/records")).expect("a folder").count(), 0);
    }

    #[test]
    fn what_a_record_does_not_say_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut before = Before::default();
        before.roots = vec!["/w".into()];
        let mut records = Records::new(folder.path());
        records.largest = 40;
        drop(records.write(&before).expect("writes"));
        records.largest = MAX_RECORD_BYTES;
        for (name, text) in [("other", r#"{"roots":[{"Unix":[47,119]}],"repositories":5}"#), ("half", r#"{"roots":["#)]
        {
            fs::write(folder.path().join(format!("{name}.{WHOLE}")), text).expect("writes");
        }
        let mut found: Vec<String> = records
            .left_behind()
            .into_iter()
            .map(|(record, kept)| {
                record.remove();
                format!("{kept:?}")
            })
            .collect();
        found.sort();
        assert_eq!(found, [r#"Folders(["/w"])"#, r#"Folders(["/w"])"#, "Nothing"]);
    }
}
