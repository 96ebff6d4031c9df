//! Files of JSON that several programs change: each change is made under a lock and replaces the file in one step.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of such a file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// What a file holds.
pub trait Content: Serialize + DeserializeOwned + Default + Clone + PartialEq {
    /// What people call the file, such as "devices file".
    const WHAT: &'static str;

    /// The version of the format that this program writes.
    const FORMAT: u32;

    /// Returns the version of the format of the file.
    fn format(&self) -> u32;

    /// Sets the version of the format, before the content is written.
    fn set_format(&mut self, format: u32);
}

/// Implements [`Content`] for a struct with the member `format`.
macro_rules! content {
    ($content:ty, $what:literal, $format:expr) => {
        impl $crate::file::Content for $content {
            const WHAT: &'static str = $what;
            const FORMAT: u32 = $format;

            fn format(&self) -> u32 {
                self.format
            }

            fn set_format(&mut self, format: u32) {
                self.format = format;
            }
        }
    };
}
pub(crate) use content;

/// Why a file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read the {what} {}", path.display())]
    Unreadable {
        /// What people call the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the {what} {}", path.display())]
    Unwritable {
        /// What people call the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has other content.
    #[error("{} is not a {what}", path.display())]
    Invalid {
        /// What people call the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The file has a newer format.
    #[error("{} has format {format}, and this program reads format {known}: use a newer version", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The newest format that this program knows.
        known: u32,
    },
}

/// A file that may not exist yet. It is private: only its owner can read what is written.
#[derive(Debug, Clone)]
pub struct LockedFile<C> {
    path: PathBuf,
    content: PhantomData<fn() -> C>,
}

impl<C: Content> LockedFile<C> {
    /// Names the file. It need not exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), content: PhantomData }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. One that does not exist has the default content.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, has other content, or has a newer format.
    pub fn read(&self) -> Result<C, FileError> {
        let path = || self.path.clone();
        let mut text = String::new();
        match File::open(&self.path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(C::default()),
            Err(source) => return Err(FileError::Unreadable { what: C::WHAT, path: path(), source }),
        }
        let content: C =
            serde_json::from_str(&text).map_err(|source| FileError::Invalid { what: C::WHAT, path: path(), source })?;
        if content.format() > C::FORMAT {
            return Err(FileError::Newer { path: path(), format: content.format(), known: C::FORMAT });
        }
        Ok(content)
    }

    /// Changes the content. Other programs wait until it is done. Also after an error of `change`, what it changed is
    /// stored.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or written, or `change` fails.
    pub fn update<T, E: From<FileError>>(&self, change: impl FnOnce(&mut C) -> Result<T, E>) -> Result<T, E> {
        let unwritable = |source| FileError::Unwritable { what: C::WHAT, path: self.path.clone(), source };
        let _lock = self.lock().map_err(unwritable)?;
        let before = self.read()?;
        let mut content = before.clone();
        let changed = change(&mut content);
        if content != before {
            content.set_format(C::FORMAT);
            self.write(&content).map_err(unwritable)?;
        }
        changed
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
    }

    /// Locks a file beside this one, which is replaced itself.
    fn lock(&self) -> io::Result<Flock<File>> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno.into())
    }

    fn write(&self, content: &C) -> io::Result<()> {
        // A temporary file is private, and stays so under its new name.
        let mut file = tempfile::NamedTempFile::new_in(self.folder())?;
        serde_json::to_writer_pretty(&mut file, content)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}
