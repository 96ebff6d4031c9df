//! Which bundles go when there are too many, and how they go.
//!
//! The decision is made on a list of what is there and touches nothing. A bundle that is deleted is first given a hidden
//! name, so that nobody ever finds half of one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::activity::{Activity, DELETE_AFTER, activity};
use crate::bundle::is_bundle;
use crate::check::{BundleFile, MAX_DIRECTORY_ENTRIES};
use crate::format::{PAYLOADS_DIR, STATE_FILE};
use crate::lock::Hold;
use crate::log::{Line, parse_lines};
use crate::pack::PACKED_EXTENSION;
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// A bundle that was written to within this time is never deleted, whatever its log says: somebody may be at work on it
/// without a lock, as who copies or redacts it.
pub const QUIET_FOR: Duration = Duration::from_secs(10 * 60);

/// How far ahead of us the clock of a recorder may be. An event of a later time does not tell when a bundle was used: it
/// would keep the bundle for ever.
pub const CLOCK_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// Begin of the names that bundles have while they are deleted.
pub const PRUNED_PREFIX: &str = ".pruned-";

/// Most leftovers of one name beside which another deletion finds a name.
const MAX_LEFTOVERS: u32 = 1000;

/// Bytes at the end of a log in which the time of its last event is looked for.
const TAIL_BYTES: u64 = 64 << 10;

/// What keeps a bundle from being deleted, whatever the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    None,
    /// A recorder is at work on it.
    BeingRecorded,
    /// It was written to within [`QUIET_FOR`].
    Recent,
    /// Its log has no end, and it was not silent for [`DELETE_AFTER`]: its session may go on.
    NoEnd {
        /// When it was silent for long enough.
        until: SystemTime,
    },
    /// It holds something that belongs to no bundle.
    UnknownFile {
        /// Name of that.
        name: OsString,
    },
    /// It is a symbolic link, which is never followed.
    SymbolicLink,
    /// What it holds cannot be told.
    Unreadable {
        /// What the file system says.
        reason: String,
    },
}

/// One bundle, as far as a decision needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The bundle.
    pub path: PathBuf,
    /// The latest of its last event, unless that is dated more than [`CLOCK_AHEAD`] in the future, and of the last change
    /// to one of its files but `state.json`.
    pub last_used: SystemTime,
    /// Size of its files.
    pub bytes: u64,
    /// Whether it may be deleted at all.
    pub protection: Protection,
}

/// Which bundles are to go. A rule that is absent asks for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// A bundle that was last used longer ago goes.
    pub max_age: Option<Duration>,
    /// After that the oldest go until the others have at most so many bytes.
    pub max_bytes: Option<u64>,
}

/// What becomes of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays: no rule is against it.
    Stays,
    /// It stays although a rule is against it: see its [`Protection`].
    Protected,
    /// It goes, since it is too old.
    TooOld,
    /// It goes, since all bundles together are too large.
    TooMuch,
}

impl Verdict {
    /// Says whether the bundle goes.
    pub fn goes(self) -> bool {
        matches!(self, Self::TooOld | Self::TooMuch)
    }
}

/// Decides what becomes of each bundle at the time `now`; the verdicts stand in the order of the candidates.
pub fn decide(candidates: &[Candidate], rules: Rules, now: SystemTime) -> Vec<Verdict> {
    let age = |candidate: &Candidate| now.duration_since(candidate.last_used).unwrap_or_default();
    let may_go = |candidate: &Candidate| candidate.protection == Protection::None;
    let mut verdicts: Vec<Verdict> = candidates
        .iter()
        .map(|candidate| match rules.max_age {
            Some(max_age) if age(candidate) > max_age && may_go(candidate) => Verdict::TooOld,
            Some(max_age) if age(candidate) > max_age => Verdict::Protected,
            _ => Verdict::Stays,
        })
        .collect();
    let Some(max_bytes) = rules.max_bytes else { return verdicts };
    let staying = candidates.iter().zip(&verdicts).filter(|(_, verdict)| !verdict.goes());
    let mut bytes: u64 = staying.map(|(candidate, _)| candidate.bytes).fold(0, u64::saturating_add);
    let mut oldest_first: Vec<usize> = (0..candidates.len()).filter(|index| !verdicts[*index].goes()).collect();
    oldest_first.sort_by_key(|index| (candidates[*index].last_used, &candidates[*index].path));
    for index in oldest_first {
        if bytes <= max_bytes {
            break;
        }
        if may_go(&candidates[index]) {
            verdicts[index] = Verdict::TooMuch;
            bytes -= candidates[index].bytes;
        } else {
            verdicts[index] = Verdict::Protected;
        }
    }
    verdicts
}

/// Looks at the bundle at `path` at the time `now`. Nothing is followed that is a symbolic link.
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
            if let Some((_, state)) = packed_state(&self.path) {
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
            let Some(known) = BundleFile::of(&entry.file_name(), kind) else {
                self.protection = Protection::UnknownFile { name: entry.file_name() };
                continue;
            };
            if known == BundleFile::State {
                // Reducing a bundle does not make it younger.
                self.bytes = self.bytes.saturating_add(entry.metadata()?.len());
            } else if kind.is_file() {
                self.count(&entry.metadata()?);
            } else {
                self.measure_directory(&entry.path(), known)?;
            }
        }
        let log = self.path.join(crate::format::EVENT_LOG_FILE);
        let last_event = last_event(&log).filter(|time| time.duration_since(now).unwrap_or_default() <= CLOCK_AHEAD);
        self.last_used = self.last_used.max(last_event.unwrap_or(UNIX_EPOCH));
        Ok(())
    }

    /// Measures a directory of a bundle: payloads, or copies of a repair, which have payloads of their own.
    fn measure_directory(&mut self, directory: &Path, known: BundleFile) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                self.count(&entry.metadata()?);
            } else if kind.is_dir() && known != BundleFile::Recorded && entry.file_name() == PAYLOADS_DIR {
                self.measure_directory(&entry.path(), BundleFile::Recorded)?;
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

/// Returns the time of the last event of a log.
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
    let tail = crate::log::EventLog::from_bytes(tail);
    let lines: Vec<Line<'_>> = tail.lines().collect();
    let last = parse_lines(&lines).into_iter().rev().find_map(|parsed| parsed.event.ok().flatten())?;
    UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(last.wall_time_unix_ms).ok()?))
}

/// Finds the reduction of a packed bundle, which lies beside it: `NAME.state.json` of `NAME.trace`.
fn packed_state(path: &Path) -> Option<(PathBuf, fs::Metadata)> {
    let is_packed = path.extension().is_some_and(|extension| extension == PACKED_EXTENSION);
    let mut name = if is_packed { path.with_extension("") } else { path.to_owned() }.into_os_string();
    name.push(format!(".{STATE_FILE}"));
    let state = PathBuf::from(name);
    let metadata = fs::symlink_metadata(&state).ok().filter(fs::Metadata::is_file)?;
    Some((state, metadata))
}

/// Deletes the bundle at `path`, which must be one, with the reduction that lies beside a packed one: it is given a hidden name beside the old one, then it is removed,
/// both under the recorder's lock. Links in it are removed, never followed.
///
/// # Errors
///
/// Returns an error when the bundle is being recorded, is no bundle, or cannot be renamed or removed; what is left of
/// one that could not be removed whole has its hidden name.
pub fn delete(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if !is_bundle(path) || metadata.is_symlink() {
        return Err(io::Error::other("not a bundle any more"));
    }
    let mut lock = lock(path)?;
    if metadata.is_file()
        && let Some((state, _)) = packed_state(path)
    {
        // It goes first: it can be made again, and nobody would find it without its bundle.
        fs::remove_file(state)?;
    }
    let hidden = hidden_name(path)?;
    if !cfg!(unix) {
        // Other systems do not rename a directory in which a file is open.
        lock = None;
    }
    fs::rename(path, &hidden)?;
    // It goes with the rest.
    lock.iter_mut().for_each(Hold::leave_file);
    remove(&hidden)
}

/// Keeps recorders away from a bundle. None works on one that is a file, or that has another thing than a file in the
/// place of the recorder's own.
fn lock(path: &Path) -> io::Result<Option<Hold>> {
    let is_odd = fs::symlink_metadata(path.join(RECORDER_FILE)).is_ok_and(|found| !found.is_file());
    if is_odd && is_being_recorded(path)? {
        return Err(has_begun());
    }
    if is_odd || !path.is_dir() {
        return Ok(None);
    }
    match Hold::take(path) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock => Err(has_begun()),
            // A disk that is full is what bundles are deleted for; and where nothing can be locked nobody records.
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::Unsupported => Ok(None),
            _ => Err(error),
        },
    }
}

fn has_begun() -> io::Error {
    io::Error::other("a recorder has begun to work on it")
}

/// Returns a name beside `path` that nothing has.
fn hidden_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("a path without a name"))?;
    for number in 0..MAX_LEFTOVERS {
        let mut hidden = OsString::from(PRUNED_PREFIX);
        hidden.push(name);
        if number > 0 {
            hidden.push(format!("-{number}"));
        }
        let hidden = path.with_file_name(hidden);
        match fs::symlink_metadata(&hidden) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(hidden),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::Error::other("too many leftovers of earlier deletions"))
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Finds what deletions that were cut off left beside the bundles of a folder: entries of `directory` with a hidden name
/// that look like bundles, or like what is left of one.
///
/// # Errors
///
/// Returns the I/O error of listing the folder.
pub fn find_leftovers(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let is_named_so = entry.file_name().as_encoded_bytes().starts_with(PRUNED_PREFIX.as_bytes());
        if is_named_so && !entry.file_type()?.is_symlink() {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Deletes what a deletion left that was cut off.
///
/// # Errors
///
/// Returns an error for a path that [`find_leftovers`] would not find, or that cannot be removed.
pub fn delete_leftover(path: &Path) -> io::Result<()> {
    let is_named_so =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PRUNED_PREFIX.as_bytes()));
    if !is_named_so || fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::other("not a leftover of a deletion"));
    }
    remove(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn now() -> SystemTime {
        UNIX_EPOCH + 1000 * DAY
    }

    /// Decides about bundles given as days of age, bytes and protection.
    fn verdicts(bundles: &[(u32, u64, Protection)], max_days: Option<u32>, max_bytes: Option<u64>) -> String {
        let candidates: Vec<Candidate> = bundles
            .iter()
            .enumerate()
            .map(|(index, (days, bytes, protection))| Candidate {
                path: PathBuf::from(index.to_string()),
                last_used: now() - *days * DAY,
                bytes: *bytes,
                protection: protection.clone(),
            })
            .collect();
        let rules = Rules { max_age: max_days.map(|days| days * DAY), max_bytes };
        let letter = |verdict: Verdict| match verdict {
            Verdict::Stays => '.',
            Verdict::Protected => 'p',
            Verdict::TooOld => 'o',
            Verdict::TooMuch => 'm',
        };
        decide(&candidates, rules, now()).into_iter().map(letter).collect()
    }

    #[test]
    fn decisions() {
        let free = |days, bytes| (days, bytes, Protection::None);
        let bundles = [free(1, 10), free(5, 10), free(30, 10), free(31, 10), free(60, 10)];
        assert_eq!(verdicts(&bundles, None, None), ".....");
        assert_eq!(verdicts(&bundles, Some(30), None), "...oo", "exactly as old as allowed stays");
        assert_eq!(verdicts(&bundles, None, Some(50)), ".....", "exactly as much as allowed stays");
        assert_eq!(verdicts(&bundles, None, Some(49)), "....m");
        assert_eq!(verdicts(&bundles, None, Some(15)), ".mmmm", "the newest stay");
        assert_eq!(verdicts(&bundles, None, Some(0)), "mmmmm");
        assert_eq!(verdicts(&bundles, Some(30), Some(25)), "..moo", "age first, then size");
        assert_eq!(verdicts(&bundles, Some(0), None), "ooooo");

        let busy = |days| (days, 100, Protection::BeingRecorded);
        assert_eq!(verdicts(&[busy(90), free(1, 10), free(2, 10)], Some(30), None), "p..");
        assert_eq!(verdicts(&[busy(90), free(1, 10), free(2, 10)], None, Some(110)), "p.m", "it counts all the same");
        assert_eq!(verdicts(&[busy(1), free(2, u64::MAX)], None, Some(100)), ".m");
        assert_eq!(verdicts(&[], Some(1), Some(1)), "");
    }

    #[test]
    fn equal_ages_go_in_the_order_of_their_paths() {
        let bundles = [(5, 10, Protection::None), (5, 10, Protection::None), (5, 10, Protection::None)];
        assert_eq!(verdicts(&bundles, None, Some(10)), "mm.");
    }

    fn bundle(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        fs::create_dir_all(path.join(PAYLOADS_DIR)).expect("creates");
        fs::write(path.join("manifest.json"), "{}").expect("writes");
        fs::write(path.join("trace.jsonl"), "").expect("writes");
        fs::write(path.join("payloads/1.json"), "12345").expect("writes");
        path
    }

    fn later() -> SystemTime {
        SystemTime::now() + DAY
    }

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
        let found = look_at(&path, later());
        assert_eq!((found.bytes, &found.protection), (11, &Protection::None));
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
        // The clocks of two machines differ, but not by that much.
        let found = look_at(&path, year_3000 - CLOCK_AHEAD);
        assert_eq!((found.last_used, found.protection), (year_3000, Protection::Recent));
        let found = look_at(&path, year_3000 - CLOCK_AHEAD - Duration::from_secs(1));
        assert!(found.last_used < later(), "the files tell");
        assert_eq!(found.protection, Protection::None, "a clock that was wrong keeps no bundle for ever");
    }

    #[test]
    fn the_lock_protects() {
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        let lock = fs::File::create(path.join("recorder.json")).expect("creates");
        lock.lock().expect("locks");
        assert_eq!(look_at(&path, later()).protection, Protection::BeingRecorded);
        delete(&path).expect_err("it is being recorded");
        drop(lock);
        assert_eq!(look_at(&path, later()).protection, Protection::None);
        delete(&path).expect("deletes");
        assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 0);
    }

    #[test]
    fn a_deletion_that_is_refused_leaves_the_bundle_as_it_was() {
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        for number in 0..MAX_LEFTOVERS {
            let suffix = if number == 0 { String::new() } else { format!("-{number}") };
            fs::create_dir(root.path().join(format!(".pruned-a{suffix}"))).expect("creates");
        }
        delete(&path).expect_err("every hidden name is taken");
        let left: Vec<_> = fs::read_dir(&path).expect("lists").map(|entry| entry.expect("an entry")).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        fs::remove_dir(root.path().join(".pruned-a")).expect("removes");
        fs::create_dir(path.join(RECORDER_FILE)).expect("creates");
        delete(&path).expect("nobody holds a directory");
        assert!(!path.exists());
    }

    #[test]
    fn the_reduction_beside_a_packed_bundle_goes_with_it() {
        let root = tempfile::tempdir().expect("a directory");
        let source = crate::pack::Source::list(&bundle(root.path(), "a")).expect("lists");
        let packed = root.path().join("a.trace");
        let mut bytes = Vec::new();
        crate::pack::pack(&source, &mut bytes, crate::pack::DEFAULT_LEVEL).expect("packs");
        fs::write(&packed, &bytes).expect("writes");
        let alone = look_at(&packed, later()).bytes;
        fs::write(root.path().join("a.state.json"), "123").expect("writes");
        fs::write(root.path().join("b.state.json"), "123").expect("writes");
        assert_eq!(look_at(&packed, later()).bytes, alone + 3);
        delete(&packed).expect("deletes");
        let left = fs::read_dir(root.path()).expect("lists").map(|entry| entry.expect("an entry").file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["a", "b.state.json"]);
    }

    #[test]
    fn what_was_cut_off_is_found_again() {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join(".pruned-a")).expect("creates");
        let path = bundle(root.path(), "a");
        assert_eq!(find_leftovers(root.path()).expect("lists"), [root.path().join(".pruned-a")]);
        delete(&path).expect("deletes beside the leftover");
        delete_leftover(&root.path().join(".pruned-a")).expect("deletes");
        delete_leftover(root.path()).expect_err("no leftover");
        assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_never_followed() {
        let outer = tempfile::tempdir().expect("a directory");
        fs::write(outer.path().join("precious"), "x".repeat(1000)).expect("writes");
        let root = tempfile::tempdir().expect("a directory");
        let path = bundle(root.path(), "a");
        std::os::unix::fs::symlink(outer.path(), path.join("payloads/link")).expect("links");
        let found = look_at(&path, later());
        assert_eq!((found.bytes, found.protection), (7, Protection::UnknownFile { name: "link".into() }));
        let link = root.path().join("b");
        std::os::unix::fs::symlink(&path, &link).expect("links");
        assert_eq!(look_at(&link, later()).protection, Protection::SymbolicLink);
        delete(&link).expect_err("a link is no bundle");
        delete(&path).expect("deletes");
        assert!(outer.path().join("precious").is_file());
    }
}
