//! Creates or replaces a file atomically.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempDir};

/// Creates or replaces the file at `path` atomically: a reader finds either the old content or the new one. If writing
/// fails, the old content stays, and no temporary file is left behind.
///
/// Only the owner can read the new file, since a reduction holds what the session saw. If `path` is a symlink, the
/// symlink is replaced and not followed, because the directory may come from an untrusted source.
///
/// # Errors
///
/// Returns the error of `write` or of the file system.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // The file is not synced to the disk: it can be made again at any time, and a sync would take longer than that.
    let temporary = beside(path)?;
    write(temporary.as_file())?;
    temporary.persist(path)?;
    Ok(())
}

/// Creates a private temporary file beside `path`. It is removed when it is dropped, unless it is persisted.
///
/// # Errors
///
/// Returns the error of the file system.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    builder(&prefix(path)).make_in(directory(path), create_private)
}

/// Creates a private temporary directory beside `path`. It is removed when it is dropped, unless it is kept.
///
/// # Errors
///
/// Returns the error of the file system.
pub(crate) fn directory_beside(path: &Path) -> io::Result<TempDir> {
    let prefix = prefix(path);
    let mut builder = builder(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(directory(path))
}

/// Returns the parent directory of a path, which is `.` for a single name.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

fn builder(prefix: &OsString) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(prefix).suffix(".tmp");
    builder
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("lists");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_old_content_stays_until_the_new_is_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state.json");
        std::fs::write(&path, "old").expect("writes");
        let failed = replace(&path, |mut file| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("disk full"))
        });
        failed.expect_err("fails");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "old");
        assert_eq!(names(directory.path()), ["state.json"]);
        replace(&path, |mut file| file.write_all(b"new")).expect("replaces");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "new");
        assert_eq!(names(directory.path()), ["state.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().expect("a directory");
        let victim = directory.path().join("victim");
        let path = directory.path().join("state.json");
        std::fs::write(&victim, "precious").expect("writes");
        std::os::unix::fs::symlink(&victim, &path).expect("links");
        replace(&path, |mut file| file.write_all(b"new")).expect("replaces");
        assert_eq!(std::fs::read_to_string(&victim).expect("reads"), "precious");
        let metadata = std::fs::symlink_metadata(&path).expect("is there");
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}
