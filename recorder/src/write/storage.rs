//! The file operations of the writer, behind a trait so that a test can make each of them fail.

use std::borrow::Borrow;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::files::{copy_access, create_private_dir, create_private_file, remove_leftover};
pub use crate::lock::Origin as LockOrigin;

/// The file operations that the writer needs.
///
/// New directories and files are private to their owner. Any operation may fail. The writer then stops the recording without
/// affecting the session.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Creates a directory. Fails if it exists.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and its missing parents. Succeeds if the directory exists.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Creates a file. Fails if it exists.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;
    /// Creates a file that those may open who may open the file at `like`. Fails if it exists.
    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn StorageFile>>;
    /// Opens an existing file for reading.
    fn open_to_read(&self, path: &Path) -> io::Result<Box<dyn Read>>;
    /// Opens an existing file for appending.
    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;
    /// Opens a file, or creates it if it is missing, and locks it until it is dropped.
    ///
    /// The error is of kind [`io::ErrorKind::WouldBlock`] if the lock is held by another process or by this one.
    fn lock_file(&self, path: &Path) -> io::Result<(Box<dyn StorageFile>, LockOrigin)>;
    /// Removes a directory and everything in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Renames a file, in place of the one that has the name `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes what an interrupted program left at `path`, if anything.
    fn remove_leftover(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory survive a power failure.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// An open file of the writer.
pub trait StorageFile: fmt::Debug + Send {
    /// Writes some of `bytes` at the end or behind the last write. Returns how many bytes were written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes `bytes` over the beginning of the file.
    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Truncates the file to `bytes`.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Makes the content survive a power failure.
    fn sync_data(&mut self) -> io::Result<()>;
}

/// Writes all of `bytes`, in several writes if necessary.
pub(crate) fn write_all(file: &mut dyn StorageFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the file accepts no more bytes")),
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

    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn StorageFile>> {
        let access = fs::metadata(like)?;
        let file = create_private_file(path)?;
        copy_access(&file, &access)?;
        Ok(Box::new(OsFile(file)))
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(path)?))
    }

    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(OsFile(OpenOptions::new().append(true).open(path)?)))
    }

    fn lock_file(&self, path: &Path) -> io::Result<(Box<dyn StorageFile>, LockOrigin)> {
        let (file, origin) = crate::lock::lock_file(path, OpenOptions::new().write(true))?;
        Ok((Box::new(OsFile(file)), origin))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_leftover(&self, path: &Path) -> io::Result<()> {
        remove_leftover(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Other systems cannot open a directory, and keep the order of its changes themselves.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

/// A file, which may be locked.
#[derive(Debug)]
struct OsFile<F>(F);

impl<F: Borrow<File> + fmt::Debug + Send> StorageFile for OsFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file: &File = self.0.borrow();
        file.write(bytes)
    }

    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file: &File = self.0.borrow();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let mut file: &File = self.0.borrow();
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes)).map(drop)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let file: &File = self.0.borrow();
        file.sync_data()
    }
}
