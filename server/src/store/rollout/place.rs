//! Paths and names of rollouts.
//!
//! A file name contains the time at which the rollout was started, in the server's time zone, and the id of the thread.
//! If the newest turns of a thread were dropped, the thread continues in a second file, whose name ends with a further
//! id. The last id in a name is the *rollout id*. Other rollouts whose history begins in this one refer to it by this
//! id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trace_runtime::ThreadId;

use super::file::draft_of;

/// Folder of the threads that are not archived, in the server home.
pub(crate) const SESSIONS: &str = "sessions";
/// Folder of the archived threads, in the server home.
pub(crate) const ARCHIVED: &str = "archived_sessions";

const BEGINNING: &str = "rollout-";
const ENDING: &str = ".jsonl";
const TIME_LEN: usize = "2026-01-31T12-00-00".len();

/// The parsed file name of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RolloutName {
    pub(crate) thread: ThreadId,
    /// The rollout id: the id of the thread, or another one for a later part.
    pub(crate) rollout: String,
}

impl RolloutName {
    /// Parses a file name. Returns `None` if it is not that of a rollout.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let inner = name.strip_prefix(BEGINNING)?.strip_suffix(ENDING)?;
        let ids = inner.get(TIME_LEN..)?.strip_prefix('-')?;
        let (thread, rollout) = ids.split_once('_').unwrap_or((ids, ids));
        (is_id(thread) && is_id(rollout)).then(|| Self { thread: ThreadId::from(thread), rollout: rollout.to_owned() })
    }

    /// Parses the file name of a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::read(path.file_name()?.to_str()?)
    }

    /// Returns the rollout id of a thread's file. If the name is not that of a rollout, the id is that of the thread.
    pub(crate) fn id(thread: &ThreadId, path: &Path) -> String {
        Self::of(path).filter(|name| name.thread == *thread).map_or_else(|| thread.to_string(), |name| name.rollout)
    }
}

/// Returns whether a text can be an id, and so can be a part of a file name.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the path of a rollout that is started at a time.
pub(crate) fn path(home: &Path, zone: &TimeZone, at_ms: i64, thread: &ThreadId, part: Option<&str>) -> PathBuf {
    let time = Timestamp::from_millisecond(at_ms).unwrap_or_default().to_zoned(zone.clone());
    let part = part.map(|part| format!("_{part}")).unwrap_or_default();
    home.join(SESSIONS)
        .join(time.strftime("%Y/%m/%d").to_string())
        .join(format!("{BEGINNING}{}-{thread}{part}{ENDING}", time.strftime("%Y-%m-%dT%H-%M-%S")))
}

/// Returns the folder of a rollout that is not archived, which depends on the date in its name. Returns `None` if the
/// name has no date.
pub(crate) fn folder_of(home: &Path, name: &str) -> Option<PathBuf> {
    let date = name.strip_prefix(BEGINNING)?.get(..10)?;
    let mut parts = date.split('-').map(|part| part.parse::<u16>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    Some(home.join(SESSIONS).join(format!("{year:04}")).join(format!("{month:02}")).join(format!("{day:02}")))
}

/// A rollout that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundRollout {
    pub(crate) path: PathBuf,
    /// Its parsed file name.
    pub(crate) name: RolloutName,
    /// Whether the thread is archived.
    pub(crate) archived: bool,
    /// Its length in bytes.
    pub(crate) size: u64,
    /// Its modification time, in nanoseconds since 1970.
    pub(crate) modified_ns: i64,
}

/// Finds all rollouts of a server home.
///
/// # Errors
///
/// Returns an error if one of the two folders of threads cannot be read. A missing folder counts as empty, and a folder
/// inside them that cannot be read is skipped.
pub(crate) fn find(home: &Path) -> io::Result<Vec<FoundRollout>> {
    find_some(home, |_| true)
}

/// Finds the rollouts of one thread, without reading the metadata of other files.
///
/// # Errors
///
/// Returns the same errors as [`find`].
pub(crate) fn find_of(home: &Path, thread: &ThreadId) -> io::Result<Vec<FoundRollout>> {
    find_some(home, |name| name.thread == *thread)
}

fn find_some(home: &Path, is_wanted: impl Fn(&RolloutName) -> bool) -> io::Result<Vec<FoundRollout>> {
    let mut found = Vec::new();
    each_file(home, &mut |path, archived| {
        if let Some(name) = RolloutName::of(&path).filter(&is_wanted)
            && let Ok((size, modified_ns)) = state(&path)
        {
            found.push(FoundRollout { path, name, archived, size, modified_ns });
        }
    })?;
    Ok(found)
}

/// Finds incomplete rollouts, with the ids of their threads.
///
/// # Errors
///
/// Returns the same errors as [`find`].
pub(crate) fn find_drafts(home: &Path) -> io::Result<Vec<(ThreadId, PathBuf)>> {
    let mut found = Vec::new();
    each_file(home, &mut |path, _| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(draft_of).and_then(RolloutName::read);
        if let Some(name) = name {
            found.push((name.thread, path));
        }
    })?;
    Ok(found)
}

/// Returns whether a path is in the folders in which a server home stores rollouts.
pub(crate) fn is_kept(home: &Path, path: &Path) -> bool {
    RolloutName::of(path).is_some() && [SESSIONS, ARCHIVED].iter().any(|folder| path.starts_with(home.join(folder)))
}

/// Returns the path as [`find`] would return it, if the file is in the server home. The folders of a server home can be
/// symlinks.
pub(crate) fn below(home: &Path, path: PathBuf) -> PathBuf {
    let found = [SESSIONS, ARCHIVED].iter().find_map(|folder| {
        let folder = home.join(folder);
        let rest = path.strip_prefix(fs::canonicalize(&folder).ok()?).ok()?;
        Some(folder.join(rest))
    });
    found.unwrap_or(path)
}

/// Calls `visit` with each file in the folders of rollouts, and whether it is archived.
fn each_file(home: &Path, visit: &mut dyn FnMut(PathBuf, bool)) -> io::Result<()> {
    // Three levels of folders: years, months and days.
    walk(&home.join(SESSIONS), 3, &mut |path| visit(path, false))?;
    walk(&home.join(ARCHIVED), 0, &mut |path| visit(path, true))
}

fn walk(folder: &Path, depth: u32, visit: &mut dyn FnMut(PathBuf)) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() {
            visit(entry.path());
        } else if kind.is_dir()
            && depth > 0
            // Continue with the other folders.
            && let Err(error) = walk(&entry.path(), depth - 1, visit)
        {
            tracing::warn!(path = %entry.path().display(), %error, "a folder of threads cannot be read");
        }
    }
    Ok(())
}

/// Returns the length of a file in bytes, and its modification time in nanoseconds since 1970.
pub(crate) fn state(path: &Path) -> io::Result<(u64, i64)> {
    let metadata = fs::metadata(path)?;
    let modified = metadata.modified()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok((metadata.len(), i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    const THREAD: &str = "01a202e3-5931-70d2-b6c3-6ec5313e37f7";
    const PART: &str = "01a202e3-65ae-7bf0-9445-ed5f20322fd5";

    #[test]
    fn a_path_contains_time_and_thread() {
        let zone = TimeZone::get("Pacific/Auckland").unwrap();
        let thread = ThreadId::from(THREAD);
        let path = path(Path::new("/h"), &zone, 1_795_344_783_728, &thread, None);
        assert_eq!(
            path.to_str().unwrap(),
            format!("/h/sessions/2026/11/22/rollout-2026-11-22T23-53-03-{THREAD}.jsonl")
        );
        assert_eq!(RolloutName::of(&path).unwrap(), RolloutName { thread, rollout: THREAD.into() });
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(folder_of(Path::new("/h"), name).unwrap(), path.parent().unwrap());
    }

    #[test]
    fn a_later_part_has_an_id_of_its_own() {
        let thread = ThreadId::from(THREAD);
        let path = path(Path::new("/h"), &TimeZone::UTC, 0, &thread, Some(PART));
        assert_eq!(RolloutName::of(&path).unwrap(), RolloutName { thread, rollout: PART.into() });
    }

    #[test]
    fn other_names_are_no_rollouts() {
        for name in [
            "rollout-2026-11-22T10-53-03-.jsonl",
            "rollout-2026-11-22T10-53-03-a/b.jsonl",
            "rollout-2026-11-22T10-53-03-../x.jsonl",
            "rollout-2026-11-22T10-53-03-é.jsonl",
            "rollout-short.jsonl",
            "rollout-2026-11-22T10-53-03-abc.json",
            "notes.jsonl",
            "rollout-2026-11-22T10-53-03-abc_.jsonl",
        ] {
            assert_eq!(RolloutName::read(name), None, "{name}");
        }
        assert_eq!(folder_of(Path::new("/h"), "rollout-2026-xx-22T"), None);
    }

    #[test]
    fn a_missing_server_home_is_empty() {
        assert_eq!(find(Path::new("/nowhere/at/all")).unwrap(), []);
    }
}
