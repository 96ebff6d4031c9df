//! A database that is kept: a file that appears when it is complete.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trace_query::APPLICATION_ID;

use crate::ui::failure::Failure;
use crate::{bundles, replace};

/// A database on its way to its place.
#[derive(Debug)]
pub(super) struct Keep {
    target: PathBuf,
    temporary: NamedTempFile,
    is_forced: bool,
}

/// A database in its place.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

/// What a database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Where the header says whose database it is.
const APPLICATION_ID_AT: usize = 68;

impl Keep {
    /// Makes the file that will be the database, under another name.
    ///
    /// # Errors
    ///
    /// Fails when there is a file that is not to be replaced, when the target lies in a bundle, or when nothing can be
    /// written there.
    pub(super) fn begin(target: &Path, is_forced: bool, bundles: &[(PathBuf, PathBuf)]) -> Result<Self, Failure> {
        bundles::refuse_stdout(Some(target))?;
        if fs::symlink_metadata(target).is_ok() {
            if !is_forced {
                return Err(is_there_already(target));
            }
            if !is_ours(target) {
                let error = anyhow::anyhow!("{} is no database of trace and is not overwritten", target.display());
                return Err(Failure::data(error).with_hint("-o names another place"));
            }
        }
        let above = bundles::nearest_directory(replace::directory(target)).canonicalize().ok();
        let is_in = |bundle: &PathBuf| above.as_deref().zip(bundle.canonicalize().ok());
        if bundles.iter().filter_map(|(bundle, _)| is_in(bundle)).any(|(above, bundle)| above.starts_with(bundle)) {
            let error = anyhow::anyhow!("{} would lie in a bundle that it is made of", target.display());
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

    /// Returns the path under which the database is made.
    pub(super) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Puts the database in its place.
    ///
    /// # Errors
    ///
    /// Fails when a file came there meanwhile that is not to be replaced, or the file system does not allow it.
    pub(super) fn finish(self) -> Result<Kept, Failure> {
        let Self { target, temporary, is_forced } = self;
        let bytes = temporary.as_file().metadata().map_err(|error| cannot_write(&target, error))?.len();
        let persisted = if is_forced { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        persisted.map_err(|error| match error.error {
            error if error.kind() == io::ErrorKind::AlreadyExists => is_there_already(&target),
            error => cannot_write(&target, error),
        })?;
        Ok(Kept { path: target, bytes })
    }
}

/// Says whether a file is a database that this command made.
fn is_ours(path: &Path) -> bool {
    let mut header = [0; APPLICATION_ID_AT + 4];
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok()
        && header.starts_with(MAGIC)
        && header[APPLICATION_ID_AT..] == APPLICATION_ID.to_be_bytes()
}

fn is_there_already(target: &Path) -> Failure {
    Failure::data(anyhow::anyhow!("{} is there already", target.display()))
        .with_hint("--force replaces it; -o names another place")
}

fn cannot_write(target: &Path, error: io::Error) -> Failure {
    Failure::data(error).context(format!("cannot write {}", target.display()))
}
