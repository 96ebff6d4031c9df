//! Finds and removes what interrupted deletions and killed processes left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::candidate::QUIET_FOR;
use crate::hidden::{PRUNED_PREFIX, remove};
use crate::pack::PACKED_EXTENSION;
use crate::recording::is_being_recorded;

/// Finds what interrupted deletions and killed processes left in a directory at the time `now`: entries with the hidden names
/// that `delete` gives to bundles, and packed bundles that were not written to their end, `.NAME.trace.tmp`. One of these counts
/// only if nobody records or finishes `NAME.trace`, and if it was not written to within [`QUIET_FOR`].
///
/// # Errors
///
/// Returns the I/O error of listing the directory.
pub fn find_leftovers(directory: &Path, now: SystemTime) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // What vanished meanwhile, or cannot be looked at, is not reported.
        if is_leftover(&path, now).unwrap_or(false) {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Removes what an interrupted deletion or a killed process left.
///
/// # Errors
///
/// Returns an error if [`find_leftovers`] would not return `path`, or if it cannot be removed.
pub fn delete_leftover(path: &Path, now: SystemTime) -> io::Result<()> {
    if !is_leftover(path, now)? {
        return Err(io::Error::other("not a leftover of a deletion or of a killed process"));
    }
    remove(path)
}

fn is_leftover(path: &Path, now: SystemTime) -> io::Result<bool> {
    let Some(name) = path.file_name() else { return Ok(false) };
    let is_pruned = name.as_encoded_bytes().starts_with(PRUNED_PREFIX.as_bytes());
    let unfinished = name.to_str().and_then(unfinished_name);
    if !is_pruned && unfinished.is_none() {
        return Ok(false);
    }
    let metadata = fs::symlink_metadata(path)?;
    if is_pruned {
        return Ok(!metadata.is_symlink());
    }
    // A finisher holds the lock of the bundle until the new file takes its place. One that packs a bundle to another path holds
    // none there, but it writes all the time.
    let is_quiet = now.duration_since(metadata.modified()?).unwrap_or_default() >= QUIET_FOR;
    let finished = unfinished.map(|name| path.with_file_name(name));
    Ok(metadata.is_file() && is_quiet && !finished.is_some_and(|path| is_being_recorded(&path).unwrap_or(true)))
}

/// Returns the name that a packed bundle gets when it is written, if `name` is one that it has before: `.NAME.trace.tmp` is that of a
/// bundle which is finished, and `.NAME.trace.RANDOM.tmp` that of `trace pack`.
fn unfinished_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let is_packed = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, extension)| extension == PACKED_EXTENSION && !stem.is_empty())
    };
    if is_packed(name) {
        return Some(name);
    }
    name.rsplit_once('.').map(|(name, _)| name).filter(|name| is_packed(name))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::retention::delete;
    use crate::retention::support::bundle;
    use crate::write::{Form, NewSession, TraceRoot, WriterOptions};

    #[test]
    fn what_was_cut_off_is_found_again() {
        let root = tempfile::tempdir().expect("a directory");
        let now = SystemTime::now();
        fs::create_dir(root.path().join(".pruned-a")).expect("creates");
        let path = bundle(root.path(), "a");
        assert_eq!(find_leftovers(root.path(), now).expect("lists"), [root.path().join(".pruned-a")]);
        delete(&path).expect("deletes beside the leftover");
        delete_leftover(&root.path().join(".pruned-a"), now).expect("deletes");
        delete_leftover(root.path(), now).expect_err("no leftover");
        assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 0);
    }

    #[test]
    fn a_packed_bundle_that_a_killed_process_was_writing_is_found() {
        let root = tempfile::tempdir().expect("a directory");
        let options = WriterOptions { form: Form::Packed, ..WriterOptions::default() };
        let writer = TraceRoot::new(root.path(), options).start(&NewSession::new("thread-1")).expect("starts");
        let recorded = writer.path().expect("is enabled").to_owned();
        let name = recorded.file_name().expect("a name").to_string_lossy().into_owned();
        let unfinished = root.path().join(format!(".{name}.tmp"));
        for path in [&unfinished, &root.path().join(".b.trace.x1Y2.tmp"), &root.path().join("b.trace.tmp")] {
            fs::write(path, "half of a file").expect("writes");
        }
        fs::write(root.path().join(".state.json.tmp"), "of another program").expect("writes");
        let now = SystemTime::now();
        let later = now + QUIET_FOR;
        let find = |now| find_leftovers(root.path(), now).expect("lists");
        assert!(find(now).is_empty(), "somebody may be writing them");
        assert_eq!(find(later), [root.path().join(".b.trace.x1Y2.tmp")], "the recorder of the other one lives");
        delete_leftover(&unfinished, later).expect_err("its recorder lives");

        writer.flush().expect("writes");
        drop(writer);
        assert_eq!(find(later), [root.path().join(".b.trace.x1Y2.tmp"), unfinished.clone()]);
        delete_leftover(&unfinished, now).expect_err("it was just written to");
        find(later).iter().for_each(|path| delete_leftover(path, later).expect("deletes"));
        assert!(!unfinished.exists() && recorded.exists());
        assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 3);
        File::open(&recorded).expect("nobody touched the recording");
    }

    #[test]
    fn names_of_unfinished_bundles_are_told_from_others() {
        let cases = [
            (".a.trace.tmp", Some("a.trace")),
            (".a.b.trace.x1.tmp", Some("a.b.trace")),
            (".trace.tmp", None),
            (".a.trace", None),
            ("a.trace.tmp", None),
            (".trace.jsonl.tmp", None),
            (".a.tmp", None),
        ];
        for (name, expected) in cases {
            assert_eq!(unfinished_name(name), expected, "{name}");
        }
    }
}
