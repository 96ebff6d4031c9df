//! The file operations of the writer, behind a trait so that every one of them can be made to fail in a test.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use crate::files::{create_private_dir, create_private_file};
pub use crate::lock::Origin as LockOrigin;

/// What the writer asks of a file system.
///
/// Directories are made private to their owner, and so are files. Any operation may fail; the writer then stops the
/// recording and leaves the session alone.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Creates a directory; an existing one is an error.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and what is missing above it; an existing one is not an error.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Creates a file; an existing one is an error.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;
    /// Opens an existing file to append to it.
    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;
    /// Opens a file, which is created when it is missing, and locks it until it is closed.
    ///
    /// The error is of kind [`io::ErrorKind::WouldBlock`] when another process, or this one, holds the lock.
    fn lock_file(&self, path: &Path) -> io::Result<(Box<dyn StorageFile>, LockOrigin)>;
    /// Removes a directory and all that is in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory survive a loss of power.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// A file that the writer has open.
pub trait StorageFile: fmt::Debug + Send {
    /// Writes some of `bytes` at the end, or behind what was written before, and returns how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes `bytes` over the beginning of the file.
    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file off after `bytes`.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Makes the content survive a loss of power.
    fn sync_data(&mut self) -> io::Result<()>;
}

/// Writes all of `bytes`, in as many pieces as the file takes.
pub(crate) fn write_all(file: &mut dyn StorageFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the file takes no more bytes")),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsStorage;

impl Storage for OsStorage {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        create_private_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(OsFile(create_private_file(path)?)))
    }

    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(OsFile(OpenOptions::new().append(true).open(path)?)))
    }

    fn lock_file(&self, path: &Path) -> io::Result<(Box<dyn StorageFile>, LockOrigin)> {
        let (file, origin) = crate::lock::lock_file(path, OpenOptions::new().write(true))?;
        Ok((Box::new(LockedFile(OsFile(file))), origin))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Other systems cannot open a directory, and order its names by themselves.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

#[derive(Debug)]
struct OsFile(File);

impl StorageFile for OsFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)?;
        self.0.seek(SeekFrom::Start(bytes)).map(drop)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// A file that is locked until it is dropped.
#[derive(Debug)]
struct LockedFile(OsFile);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing would do, were there no copy of the file in a process that the session is just starting.
        let _ = self.0.0.unlock();
    }
}

impl StorageFile for LockedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.overwrite(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.truncate(bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
