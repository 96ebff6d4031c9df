//! Deletes bundles. A bundle is first renamed to a hidden name, so that nobody finds a partly deleted one.

use std::fs;
use std::io;
use std::path::Path;

use super::candidate::packed_states;
use crate::bundle::is_bundle;
use crate::files::{remove_leftover, temporary_path};
use crate::lock::DeletionLock;

/// Deletes the bundle at `path`, and beside a packed one its state files and what a killed process left of an attempt to finish it. The bundle is renamed to a hidden name in the same
/// directory, then removed. Both steps hold the lock of the bundle. Symlinks in it are removed, never followed.
///
/// # Errors
///
/// Returns an error if the bundle is being recorded, if `path` is not a bundle, is a symlink or has no last name (`..`), or
/// if it cannot be renamed or removed. If only a part of it could be removed, the rest keeps the hidden name, and the error
/// has the path.
pub fn delete(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if !is_bundle(path) || metadata.is_symlink() {
        return Err(io::Error::other("no longer a bundle"));
    }
    let lock = DeletionLock::take(path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::other("a recorder is at work on it"),
        _ => error,
    })?;
    if metadata.is_file() {
        // The state files are removed first: they can be made again, but without their bundle nobody would find them.
        packed_states(path).try_for_each(|(state, _)| fs::remove_file(state))?;
        remove_leftover(&temporary_path(path))?;
    }
    lock.hide()?.remove()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hidden::MAX_LEFTOVERS;
    use crate::recording::RECORDER_FILE;
    use crate::retention::support::{bundle, later};
    use crate::retention::{Protection, look_at};

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
        fs::write(root.path().join("a.state.compact.json"), "12").expect("writes");
        fs::write(root.path().join("b.state.json"), "123").expect("writes");
        assert_eq!(look_at(&packed, later()).bytes, alone + 5);
        delete(&packed).expect("deletes");
        let left = fs::read_dir(root.path()).expect("lists").map(|entry| entry.expect("an entry").file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["a", "b.state.json"]);
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
