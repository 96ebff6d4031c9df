//! Replaces or creates a file in one step.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempDir};

/// Writes the file at `path` anew. Whoever reads it meanwhile finds the old content or the new one, never a part; when
/// anything fails, the old content stays and nothing else is left behind.
///
/// The new file is readable by its owner alone: a reduction holds whatever the session saw. A symbolic link at `path`
/// is replaced, not followed, since the directory may come from a stranger.
///
/// # Errors
///
/// Returns the error of `write` or of the file system.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // Not synchronised to the disk: the file can be made again at any time, and waiting would cost more than making it.
    let temporary = beside(path)?;
    write(temporary.as_file())?;
    temporary.persist(path)?;
    Ok(())
}

/// Makes a private file beside `path` that goes away unless it is persisted.
///
/// # Errors
///
/// Returns the error of the file system.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    builder(&prefix(path)).make_in(directory(path), create_private)
}

/// Makes a private directory beside `path` that goes away unless it is kept.
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

/// Returns the directory that a path lies in.
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
