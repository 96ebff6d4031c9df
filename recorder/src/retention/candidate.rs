//! Examines one bundle: its size, when it was last used, and what protects it from deletion.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::activity::{Activity, DELETE_AFTER, activity};
use crate::format::{COMPACT_STATE_FILE, EVENT_LOG_FILE, PAYLOADS_DIR, STATE_FILE};
use crate::log::{EventLog, Line, parse_lines};
use crate::pack::PACKED_EXTENSION;
use crate::parts::{MAX_DIRECTORY_ENTRIES, Part};

/// A bundle that was written to within this time is never deleted, whatever its log says. A program may be working on it
/// without a lock, for example copying or redacting it.
pub const QUIET_FOR: Duration = Duration::from_secs(10 * 60);

/// How far the clock of a recorder may be ahead. An event with a later time does not count as the last use of the bundle,
/// since it would protect the bundle forever.
pub const CLOCK_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// Bytes at the end of a log that are searched for its last event.
const TAIL_BYTES: u64 = 64 << 10;

/// Why a bundle must not be deleted, whatever the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// It may be deleted.
    None,
    /// A recorder is at work on it.
    BeingRecorded,
    /// A file of it was changed within [`QUIET_FOR`].
    Recent,
    /// Its log has no end and was changed within [`DELETE_AFTER`], so its session may continue.
    NoEnd {
        /// When the protection ends.
        until: SystemTime,
    },
    /// It has a file that does not belong to a bundle.
    UnknownFile {
        /// Name of the unknown file.
        name: OsString,
    },
    /// It is a symlink. Symlinks are never followed.
    SymbolicLink,
    /// Its content cannot be read.
    Unreadable {
        /// The error of the file system.
        reason: String,
    },
}

/// What the rules need to know about one bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Path of the bundle.
    pub path: PathBuf,
    /// The time of its last event or of the last change to one of its files, whichever is later. Changes to state files
    /// and events more than [`CLOCK_AHEAD`] in the future do not count.
    pub last_used: SystemTime,
    /// Size of its files in bytes.
    pub bytes: u64,
    /// What protects it, if anything.
    pub protection: Protection,
}

/// Examines the bundle at `path` at the time `now`. Symlinks are not followed.
pub fn look_at(path: &Path, now: SystemTime) -> Candidate {
    let mut candidate =
        Candidate { path: path.to_owned(), last_used: UNIX_EPOCH, bytes: 0, protection: Protection::None };
    if let Err(error) = candidate.measure(now) {
        candidate.protection = Protection::Unreadable { reason: error.to_string() };
    }
    if candidate.protection == Protection::SymbolicLink {
        return candidate;
    }
    let is_recent = now.duration_since(candidate.last_used).unwrap_or_default() < QUIET_FOR;
    let found = candidate.protection;
    candidate.protection = match (activity(path), found) {
        (Ok(Activity::Recorded), _) => Protection::BeingRecorded,
        (_, found @ Protection::Unreadable { .. }) => found,
        (Err(error), _) => Protection::Unreadable { reason: error.to_string() },
        (Ok(_), _) if is_recent => Protection::Recent,
        (Ok(_), found @ Protection::UnknownFile { .. }) => found,
        (Ok(activity @ Activity::Silent { since }), _) if !activity.is_quiet(DELETE_AFTER, now) => {
            Protection::NoEnd { until: since.checked_add(DELETE_AFTER).unwrap_or(since) }
        }
        (Ok(_), found) => found,
    };
    candidate
}

impl Candidate {
    fn measure(&mut self, now: SystemTime) -> io::Result<()> {
        let metadata = fs::symlink_metadata(&self.path)?;
        if metadata.is_file() {
            self.count(&metadata);
            for (_, state) in packed_states(&self.path) {
                self.bytes = self.bytes.saturating_add(state.len());
            }
            return Ok(());
        }
        if metadata.is_symlink() {
            self.protection = Protection::SymbolicLink;
            return Ok(());
        }
        if !metadata.is_dir() {
            return Err(io::Error::other("neither a file nor a directory"));
        }
        for (index, entry) in fs::read_dir(&self.path)?.enumerate() {
            if index >= MAX_DIRECTORY_ENTRIES {
                return Err(io::Error::other("too many entries for a bundle"));
            }
            let entry = entry?;
            let kind = entry.file_type()?;
            let Some(known) = Part::of(&entry.file_name(), kind) else {
                self.protection = Protection::UnknownFile { name: entry.file_name() };
                continue;
            };
            if known == Part::State {
                // Reducing a bundle does not count as use.
                self.bytes = self.bytes.saturating_add(entry.metadata()?.len());
            } else if kind.is_file() {
                self.count(&entry.metadata()?);
            } else {
                self.measure_directory(&entry.path(), known)?;
            }
        }
        let log = self.path.join(EVENT_LOG_FILE);
        let last_event = last_event(&log).filter(|time| time.duration_since(now).unwrap_or_default() <= CLOCK_AHEAD);
        self.last_used = self.last_used.max(last_event.unwrap_or(UNIX_EPOCH));
        Ok(())
    }

    /// Measures a directory of a bundle: the payloads, or the copies of a repair, which have their own payload directory.
    fn measure_directory(&mut self, directory: &Path, known: Part) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                self.count(&entry.metadata()?);
            } else if kind.is_dir() && known != Part::Payloads && entry.file_name() == PAYLOADS_DIR {
                self.measure_directory(&entry.path(), Part::Payloads)?;
            } else {
                self.protection = Protection::UnknownFile { name: entry.file_name() };
            }
        }
        Ok(())
    }

    fn count(&mut self, metadata: &fs::Metadata) {
        self.bytes = self.bytes.saturating_add(metadata.len());
        self.last_used = self.last_used.max(metadata.modified().unwrap_or(UNIX_EPOCH));
    }
}

/// Returns the time of the last event of a log, or `None` if there is none in its last [`TAIL_BYTES`].
fn last_event(log: &Path) -> Option<SystemTime> {
    use std::io::{Read, Seek, SeekFrom};

    if !fs::symlink_metadata(log).ok()?.is_file() {
        return None;
    }
    let mut file = fs::File::open(log).ok()?;
    let skipped = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let tail = EventLog::from_bytes(tail);
    let lines: Vec<Line<'_>> = tail.lines().collect();
    let last = parse_lines(&lines).into_iter().rev().find_map(|parsed| parsed.event.ok().flatten())?;
    UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(last.wall_time_unix_ms).ok()?))
}

/// Finds the state files of a packed bundle, which lie beside it: `NAME.state.json` and `NAME.state.compact.json` of
/// `NAME.trace`.
pub(super) fn packed_states(path: &Path) -> impl Iterator<Item = (PathBuf, fs::Metadata)> {
    let is_packed = path.extension().is_some_and(|extension| extension == PACKED_EXTENSION);
    let name = if is_packed { path.with_extension("") } else { path.to_owned() }.into_os_string();
    [STATE_FILE, COMPACT_STATE_FILE].into_iter().filter_map(move |file| {
        let mut name = name.clone();
        name.push(format!(".{file}"));
        let state = PathBuf::from(name);
        let metadata = fs::symlink_metadata(&state).ok().filter(fs::Metadata::is_file)?;
        Some((state, metadata))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::support::{DAY, bundle, later};

    #[test]
    fn what_a_bundle_holds_is_measured() {
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        let found = look_at(&path, later());
        assert_eq!((found.bytes, &found.protection), (7, &Protection::None));
        assert_eq!(look_at(&path, SystemTime::now()).protection, Protection::Recent);
        fs::create_dir_all(path.join("before-repair-1/payloads")).expect("creates");
        fs::write(path.join("before-repair-1/payloads/1.json"), "123").expect("writes");
        fs::write(path.join("state.json"), "1").expect("writes");
        fs::write(path.join("state.compact.json"), "1").expect("writes");
        let found = look_at(&path, later());
        assert_eq!((found.bytes, &found.protection), (12, &Protection::None));
        fs::create_dir(path.join("payloads/more")).expect("creates");
        assert_eq!(look_at(&path, later()).protection, Protection::UnknownFile { name: "more".into() });
    }

    #[test]
    fn a_bundle_without_an_end_stays_for_a_day() {
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        let log = path.join("trace.jsonl");
        let written = fs::metadata(&log).and_then(|metadata| metadata.modified()).expect("a time");
        let soon = written + QUIET_FOR + Duration::from_secs(60);
        let until = written + DELETE_AFTER;
        assert_eq!(look_at(&path, soon).protection, Protection::NoEnd { until }, "an empty log");
        fs::write(path.join("diary.txt"), "mine").expect("writes");
        assert!(matches!(look_at(&path, soon).protection, Protection::UnknownFile { .. }));
        fs::remove_file(path.join("diary.txt")).expect("removes");
        fs::remove_file(&log).expect("removes");
        assert!(matches!(look_at(&path, soon).protection, Protection::NoEnd { .. }), "no log");
        assert_eq!(look_at(&path, later()).protection, Protection::None);
        let end = r#"{"schema_version":2,"seq":1,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"recording_completed"}}"#;
        fs::write(&log, end).expect("writes");
        assert_eq!(look_at(&path, SystemTime::now() + QUIET_FOR).protection, Protection::None, "a log with an end");
    }

    #[test]
    fn the_last_event_counts_when_files_were_copied_from_elsewhere() {
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        let year_3000 = UNIX_EPOCH + Duration::from_millis(32_503_680_000_000);
        let event = r#"{"schema_version":2,"seq":1,"wall_time_unix_ms":32503680000000,"rollout_id":"r","payload":{"type":"recording_completed"}}"#;
        fs::write(path.join("trace.jsonl"), event).expect("writes");
        assert_eq!(look_at(&path, year_3000 + DAY).last_used, year_3000);
        assert_eq!(look_at(&path, year_3000 + DAY).protection, Protection::None);
        // Clocks of two machines may differ by up to this much.
        let found = look_at(&path, year_3000 - CLOCK_AHEAD);
        assert_eq!((found.last_used, found.protection), (year_3000, Protection::Recent));
        let found = look_at(&path, year_3000 - CLOCK_AHEAD - Duration::from_secs(1));
        assert!(found.last_used < later(), "the files tell");
        assert_eq!(found.protection, Protection::None, "a clock that was wrong keeps no bundle for ever");
    }
}
