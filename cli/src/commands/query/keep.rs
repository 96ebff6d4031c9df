//! Writes a database to a file that appears only when it is complete.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trace_query::APPLICATION_ID;

use crate::ui::failure::Failure;
use crate::{bundles, replace};

/// A database that is being written under a temporary name.
#[derive(Debug)]
pub(super) struct DatabaseDraft {
    target: PathBuf,
    temporary: NamedTempFile,
    is_forced: bool,
}

/// A database that was written.
#[derive(Debug)]
pub(super) struct WrittenDatabase {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

/// The first bytes of an SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Offset of the application id in the header of a database.
const APPLICATION_ID_AT: usize = 68;

impl DatabaseDraft {
    /// Creates the temporary file of the database.
    ///
    /// # Errors
    ///
    /// Returns an error if a file exists that must not be replaced, if the target is inside a bundle, or if the
    /// directory cannot be written to.
    pub(super) fn begin(target: &Path, is_forced: bool, bundles: &[(PathBuf, PathBuf)]) -> Result<Self, Failure> {
        bundles::refuse_stdout(Some(target))?;
        if fs::symlink_metadata(target).is_ok() {
            if !is_forced {
                return Err(is_there_already(target));
            }
            if !is_ours(target) {
                let error = anyhow::anyhow!("{} is not a database of trace and is not overwritten", target.display());
                return Err(Failure::data(error).with_hint("-o names another place"));
            }
        }
        let above = bundles::nearest_directory(replace::directory(target)).canonicalize().ok();
        let is_in = |bundle: &PathBuf| above.as_deref().zip(bundle.canonicalize().ok());
        if bundles.iter().filter_map(|(bundle, _)| is_in(bundle)).any(|(above, bundle)| above.starts_with(bundle)) {
            let error = anyhow::anyhow!("{} would be inside a bundle that it is made from", target.display());
            return Err(Failure::data(error).with_hint("-o names another place"));
        }
        let temporary = replace::beside(target).map_err(|error| {
            let failure = cannot_write(target, error);
            match target.parent() {
                Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
                    failure.with_hint(format!("`mkdir -p {}` first", parent.display()))
                }
                _ => failure,
            }
        })?;
        Ok(Self { target: target.to_owned(), temporary, is_forced })
    }

    /// Returns the temporary path of the database.
    pub(super) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Renames the database to its final name.
    ///
    /// # Errors
    ///
    /// Returns an error if a file that must not be replaced was created meanwhile, or if the file system refuses.
    pub(super) fn finish(self) -> Result<WrittenDatabase, Failure> {
        let Self { target, temporary, is_forced } = self;
        let bytes = temporary.as_file().metadata().map_err(|error| cannot_write(&target, error))?.len();
        let persisted = if is_forced { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        persisted.map_err(|error| match error.error {
            error if error.kind() == io::ErrorKind::AlreadyExists => is_there_already(&target),
            error => cannot_write(&target, error),
        })?;
        Ok(WrittenDatabase { path: target, bytes })
    }
}

/// Returns whether a file is a database that this command made.
fn is_ours(path: &Path) -> bool {
    let mut header = [0; APPLICATION_ID_AT + 4];
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok()
        && header.starts_with(MAGIC)
        && header[APPLICATION_ID_AT..] == APPLICATION_ID.to_be_bytes()
}

fn is_there_already(target: &Path) -> Failure {
    Failure::data(anyhow::anyhow!("{} exists already", target.display()))
        .with_hint("--force replaces it; -o names another place")
}

fn cannot_write(target: &Path, error: io::Error) -> Failure {
    Failure::data(error).context(format!("cannot write {}", target.display()))
}
