//! Creation of the files of a bundle. They are private to the user, since a recording holds everything the session saw.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Creates a directory that only its owner may enter.
///
/// # Errors
///
/// Returns the I/O error of creating it, also if it exists.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a directory that only its owner may enter, with its missing parents. An existing directory is left unchanged.
pub(crate) fn create_private_dirs(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file that only its owner may read.
///
/// # Errors
///
/// Returns the I/O error of creating it, also if it exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a file that nobody can open until [`open_to_owner`] is called. Fails if the file exists.
pub(crate) fn create_closed_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o000);
    options.open(path)
}

/// Allows the owner of a file to open it.
pub(crate) fn open_to_owner(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Gives a new file the permissions of another file, and its owner and group if this process may do so. Otherwise only the
/// owner of the new file may open it: the same permissions would admit another group.
pub(crate) fn copy_access(file: &File, from: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

        let own = file.metadata()?;
        let has_owner = (own.uid(), own.gid()) == (from.uid(), from.gid())
            || fchown(file, Some(from.uid()), Some(from.gid())).is_ok();
        let mode = from.permissions().mode() & if has_owner { 0o777 } else { 0o700 };
        file.set_permissions(PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = (file, from);
    Ok(())
}

/// Syncs the entries of a directory to the disk, so that they survive a power failure. Does nothing on systems that
/// cannot do this.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Returns the name that the new content of a file has until it is complete.
pub(crate) fn temporary_path(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.tmp", path.file_name().unwrap_or_default().to_string_lossy()))
}

/// Replaces a file atomically, in a way that survives a power failure. The lock on the bundle ensures that no other process
/// replaces it at the same time.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let temporary = temporary_path(path);
    remove_leftover(&temporary)?;
    let mut file = create_private_file(&temporary)?;
    let written = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The error matters more than a file left behind.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_directory(directory)
}

/// Removes what an interrupted program left at `path`, if anything.
pub(crate) fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
