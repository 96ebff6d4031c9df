//! Sessions of opencode.
//!
//! The program kept them in a folder of JSON files at first, and keeps them in an SQLite database now; `opencode export`
//! prints one of them as JSON. The messages and their parts are the same in all three.

mod calls;
mod database;
mod export;
mod ids;
mod records;
mod session;
mod storage;
mod store;
mod thread;
mod turns;

use std::path::{Path, PathBuf};

use self::database::Database;
use self::export::Export;
use self::storage::Storage;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};

/// What all layouts tell.
const KNOWLEDGE: Knowledge = Knowledge {
    turn_ids: Known::Yes,
    request_ids: Known::No,
    request_start: Known::Yes,
    request_end: Known::Sometimes,
    request_body: Known::Rebuilt,
    tool_times: Known::Yes,
    children: Known::Yes,
    failed_attempts: Known::No,
    usage: Known::Yes,
};

/// Databases of opencode.
pub(crate) struct OpencodeDatabase;

impl Format for OpencodeDatabase {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn knowledge(&self) -> Knowledge {
        KNOWLEDGE
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        !source.is_dir && database::is_database(source.path, source.head)
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        let ids = Database::open(path)?.roots()?;
        Ok(refs(self.name(), path, ids))
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let mut database = Database::open(&session.path)?;
        let id = match &session.id {
            Some(id) => id.clone(),
            None => only(&session.path, database.roots()?)?,
        };
        session::read(&session.path, &id, &mut database, draft)
    }

    fn companions(&self, path: &Path) -> Vec<PathBuf> {
        vec![log_of(path)]
    }

    fn stores(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![data(homes).join("opencode.db")]
    }
}

/// Output of `opencode export`.
pub(crate) struct OpencodeExport;

impl Format for OpencodeExport {
    fn name(&self) -> &'static str {
        "opencode-export"
    }

    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn knowledge(&self) -> Knowledge {
        KNOWLEDGE
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        !source.is_dir && export::is_export(source.head)
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        let export = Export::open(path)?;
        let is_child = export.info().parent.as_deref().is_some_and(|parent| export.beside(parent).is_some());
        Ok(if is_child { Vec::new() } else { vec![SessionRef::file(self.name(), path)] })
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let mut export = Export::open(&session.path)?;
        let id = session.id.clone().unwrap_or_else(|| export.info().id.clone());
        session::read(&session.path, &id, &mut export, draft)
    }

    fn stores(&self, _: &Homes) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Folders of JSON files.
pub(crate) struct OpencodeStorage;

impl Format for OpencodeStorage {
    fn name(&self) -> &'static str {
        "opencode-storage"
    }

    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn knowledge(&self) -> Knowledge {
        KNOWLEDGE
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        if source.is_dir { storage::is_store(source.path) } else { storage::session_of_file(source.path).is_some() }
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        if let Some((store, id)) = storage::session_of_file(path) {
            return Ok(refs(self.name(), &store, vec![id]));
        }
        let mut ids = Storage::open(path)?.roots();
        // Version 1.1 copied the sessions into its database and left the files where they were.
        let database = path.parent().map(|folder| folder.join("opencode.db")).filter(|database| database.is_file());
        if let Some(moved) = database.and_then(|database| Database::open(&database).ok()?.all().ok()) {
            let moved: std::collections::HashSet<String> = moved.into_iter().collect();
            ids.retain(|id| !moved.contains(id));
        }
        Ok(refs(self.name(), path, ids))
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let (path, id) = match storage::session_of_file(&session.path) {
            Some((store, id)) => (store, Some(id)),
            None => (session.path.clone(), None),
        };
        let mut storage = Storage::open(&path)?;
        let id = match session.id.clone().or(id) {
            Some(id) => id,
            None => only(&path, storage.roots())?,
        };
        session::read(&path, &id, &mut storage, draft)
    }

    fn companions(&self, path: &Path) -> Vec<PathBuf> {
        let database = path.with_file_name("opencode.db");
        vec![log_of(&database), database]
    }

    fn stores(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![data(homes).join("storage")]
    }
}

/// Returns the write-ahead log of a database. New sessions are in it at first.
fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn data(homes: &Homes) -> PathBuf {
    let folder = homes.xdg_data.clone().unwrap_or_else(|| homes.home.join(".local/share"));
    folder.join("opencode")
}

fn refs(format: &'static str, path: &Path, ids: Vec<String>) -> Vec<SessionRef> {
    ids.into_iter().map(|id| SessionRef { format, path: path.to_owned(), id: Some(id) }).collect()
}

/// Returns the only session of a store.
fn only(path: &Path, mut ids: Vec<String>) -> Result<String, ImportError> {
    match ids.len() {
        1 => Ok(ids.remove(0)),
        0 => Err(ImportError::Empty { path: path.to_owned(), reason: "the store has no sessions" }),
        count => Err(ImportError::SeveralSessions { path: path.to_owned(), count }),
    }
}
