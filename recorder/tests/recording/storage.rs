//! A file system that can be made to fail, to write less than asked for, and to block.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use trace_recorder::write::storage::{LockOrigin, OsStorage, Storage, StorageFile};

/// Which operations fail, and with which error code of the operating system.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// No operation fails.
    Never,
    /// Only the operation with this number fails.
    Once(usize, i32),
    /// The operation with this number and all later ones fail.
    From(usize, i32),
    /// This many operations fail, the first of them the one with the number that comes first.
    Some(usize, usize, i32),
}

#[derive(Debug)]
struct Control {
    fault: Fault,
    operations: usize,
    /// Most bytes that one write accepts.
    write_bytes: usize,
    is_still: bool,
    open_files: usize,
    most_open_files: usize,
}

/// The file system of the machine, with simulated faults.
#[derive(Debug, Clone)]
pub(crate) struct TestStorage {
    control: Arc<(Mutex<Control>, Condvar)>,
}

impl TestStorage {
    pub(crate) fn new(fault: Fault) -> Self {
        let control = Control {
            fault,
            operations: 0,
            write_bytes: usize::MAX,
            is_still: false,
            open_files: 0,
            most_open_files: 0,
        };
        Self { control: Arc::new((Mutex::new(control), Condvar::new())) }
    }

    /// Makes every write accept at most `bytes`.
    pub(crate) fn writes_short(self, bytes: usize) -> Self {
        self.set(|control| control.write_bytes = bytes);
        self
    }

    /// Makes every operation block until [`go_on`](Self::go_on).
    pub(crate) fn stand_still(&self) {
        self.set(|control| control.is_still = true);
    }

    pub(crate) fn go_on(&self) {
        self.set(|control| control.is_still = false);
        self.control.1.notify_all();
    }

    /// Makes every operation from now on fail.
    pub(crate) fn fail_from_now(&self, code: i32) {
        self.set(|control| control.fault = Fault::From(control.operations, code));
    }

    /// Makes the operation after the next one fail, and the one behind it.
    pub(crate) fn fail_after_next(&self, code: i32) {
        self.set(|control| control.fault = Fault::Some(control.operations + 1, 2, code));
    }

    /// Returns the number of operations so far.
    pub(crate) fn operations(&self) -> usize {
        self.control.0.lock().expect("no panic").operations
    }

    fn set(&self, change: impl FnOnce(&mut Control)) {
        change(&mut self.control.0.lock().expect("no panic"));
    }

    fn operate(&self) -> io::Result<()> {
        let mut control = self.control.0.lock().expect("no panic");
        while control.is_still {
            control = self.control.1.wait(control).expect("no panic");
        }
        let number = control.operations;
        control.operations += 1;
        match control.fault {
            Fault::Once(at, code) if number == at => Err(io::Error::from_raw_os_error(code)),
            Fault::From(at, code) if number >= at => Err(io::Error::from_raw_os_error(code)),
            Fault::Some(at, count, code) if (at..at + count).contains(&number) => {
                Err(io::Error::from_raw_os_error(code))
            }
            _ => Ok(()),
        }
    }

    /// Returns the largest number of files that were open at the same time.
    pub(crate) fn most_open_files(&self) -> usize {
        self.control.0.lock().expect("no panic").most_open_files
    }

    fn file(&self, file: Box<dyn StorageFile>) -> Box<dyn StorageFile> {
        self.set(|control| {
            control.open_files += 1;
            control.most_open_files = control.most_open_files.max(control.open_files);
        });
        Box::new(TestFile { storage: self.clone(), file })
    }
}

impl Storage for TestStorage {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.create_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.create_dir_all(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        self.operate()?;
        Ok(self.file(OsStorage.create_file(path)?))
    }

    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn StorageFile>> {
        self.operate()?;
        Ok(self.file(OsStorage.create_file_like(path, like)?))
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Box<dyn io::Read>> {
        self.operate()?;
        OsStorage.open_to_read(path)
    }

    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        self.operate()?;
        Ok(self.file(OsStorage.open_to_append(path)?))
    }

    fn lock_file(&self, path: &Path) -> io::Result<(Box<dyn StorageFile>, LockOrigin)> {
        self.operate()?;
        let (file, origin) = OsStorage.lock_file(path)?;
        Ok((self.file(file), origin))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.remove_dir_all(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.rename(from, to)
    }

    fn remove_leftover(&self, path: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.remove_leftover(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.operate()?;
        OsStorage.remove_file(path)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        // The effect of a sync cannot be tested: it shows only after a power failure.
        self.operate()
    }
}

#[derive(Debug)]
struct TestFile {
    storage: TestStorage,
    file: Box<dyn StorageFile>,
}

impl Drop for TestFile {
    fn drop(&mut self) {
        self.storage.set(|control| control.open_files -= 1);
    }
}

impl StorageFile for TestFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.storage.control.0.lock().expect("no panic").write_bytes;
        if let Err(error) = self.storage.operate() {
            // A disk that becomes full accepts the bytes for which it has room.
            let _ = self.file.write(&bytes[..bytes.len() / 2]);
            return Err(error);
        }
        self.file.write(&bytes[..bytes.len().min(most)])
    }

    fn overwrite(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.storage.operate()?;
        self.file.overwrite(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.storage.operate()?;
        self.file.truncate(bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.storage.operate()
    }
}
