//! Files of a bundle as they are made: private to the user, since a trace holds whatever the session saw.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a directory that only its owner may enter.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a directory that only its owner may enter, with those that it lies in; one that is there is left alone.
pub(crate) fn create_private_dirs(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file that only its owner may read; one that is there already is left alone.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a file that nobody can open until [`open_to_owner`]; one that is there already is left alone.
pub(crate) fn create_closed_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o000);
    options.open(path)
}

/// Lets the owner of a file open it.
pub(crate) fn open_to_owner(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Makes the entries of a directory survive the loss of power, where the system can.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
