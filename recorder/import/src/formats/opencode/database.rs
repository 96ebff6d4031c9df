//! Sessions in an SQLite database, as opencode writes them since version 1.1.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use tempfile::TempDir;
use trace_recorder::format::import::Place;

use super::records::{SessionInfo, reverted_from};
use super::store::{Loaded, Store, StoredMessage, StoredPart};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;

/// First bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Suffixes of the files in which SQLite keeps changes that are not in the database yet.
const PENDING: [&str; 2] = ["-wal", "-journal"];

/// Largest database that is looked through for damage when a session is imported. That takes about as long as to read it.
const MAX_CHECKED_BYTES: u64 = 32 << 20;

/// How often a database is copied that changes meanwhile.
const MAX_COPIES: usize = 3;

/// Returns whether a file with these first bytes and this name is a database of opencode.
pub(crate) fn is_database(path: &Path, head: &[u8]) -> bool {
    let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode"));
    let names = |table: &str| memchr::memmem::find(head, format!("CREATE TABLE `{table}`").as_bytes()).is_some();
    head.starts_with(MAGIC) && (is_named || (names("message") && names("part")))
}

/// An open database.
pub(crate) struct Database {
    path: PathBuf,
    connection: Connection,
    /// The folder of the copy that is read, if there is one.
    _copy: Option<TempDir>,
    source: Option<u32>,
    /// Whether the file was looked through for damage.
    is_checked: bool,
}

impl Database {
    /// Opens a database without changing anything beside it.
    ///
    /// A database that a program has open is read through the index of its log, which SQLite only locks then. Other databases
    /// with pending changes are copied together with them: SQLite would write beside them even to read them. The rest is read
    /// as files that nobody changes, so SQLite takes no locks and leaves no files.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is no database.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        if !fs::metadata(path).map_err(|source| ImportError::io(path, source))?.is_file() {
            return Err(ImportError::io(path, std::io::ErrorKind::InvalidInput.into()));
        }
        let has_pending = PENDING.iter().any(|suffix| length(&beside(path, suffix)) > 0);
        let (copy, connection) = if has_pending && let Some(connection) = in_use(path)? {
            (None, Ok(connection))
        } else if has_pending {
            let (folder, copy) = copy(path)?;
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            (Some(folder), Connection::open_with_flags(copy, flags))
        } else {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
            (None, Connection::open_with_flags(uri(path, "immutable=1")?, flags))
        };
        let connection = connection.map_err(|error| damaged(path, &error))?;
        // The schema of a foreign file must not call functions.
        connection.execute_batch("PRAGMA trusted_schema = OFF").map_err(|error| damaged(path, &error))?;
        Ok(Self { path: path.to_owned(), connection, _copy: copy, source: None, is_checked: false })
    }

    /// Returns the ids of the sessions that no other session started, or that one started which is gone.
    ///
    /// # Errors
    ///
    /// Returns an error if the database is damaged.
    pub(crate) fn roots(&self) -> Result<Vec<String>, ImportError> {
        let sql = "SELECT id FROM session AS s \
                   WHERE NOT EXISTS (SELECT 1 FROM session AS p WHERE p.id = s.parent_id) ORDER BY id";
        self.ids(sql, &[])
    }

    /// Returns the ids of all sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the database is damaged.
    pub(crate) fn all(&self) -> Result<Vec<String>, ImportError> {
        self.ids("SELECT id FROM session", &[])
    }

    fn ids(&self, sql: &str, parameters: &[&str]) -> Result<Vec<String>, ImportError> {
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement
                .query_map(rusqlite::params_from_iter(parameters), |row| Ok(text(row, "id").unwrap_or_default()))?;
            rows.collect()
        };
        let ids: rusqlite::Result<Vec<String>> = read();
        ids.map_err(|error| damaged(&self.path, &error))
    }

    fn info(&self, id: &str) -> rusqlite::Result<Option<(SessionInfo, u32)>> {
        let mut statement = self.connection.prepare("SELECT rowid AS row, * FROM session WHERE id = ?1")?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let info = SessionInfo {
            id: id.to_owned(),
            parent: text(row, "parent_id").filter(|parent| !parent.is_empty()),
            directory: text(row, "directory"),
            title: text(row, "title"),
            version: text(row, "version"),
            created: number(row, "time_created"),
            reverted_from: text(row, "revert").and_then(|json| reverted_from(&json)),
        };
        Ok(Some((info, line(row))))
    }

    /// Returns whether SQLite finds its file in order. A large file is not looked through.
    fn is_consistent(&self, max_bytes: u64) -> bool {
        if length(&self.path) > max_bytes {
            return true;
        }
        let found = self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        found.is_ok_and(|found| found == "ok")
    }

    fn messages(&self, id: &str, source: u32, loaded: &mut Loaded) -> rusqlite::Result<()> {
        let sql = "SELECT rowid AS row, id, data FROM message WHERE session_id = ?1";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let json = add(loaded, row);
            let place = Place { source, line: line(row) };
            let id = text(row, "id").unwrap_or_default();
            loaded.messages.push(StoredMessage { id, json, place, parts: Vec::new() });
        }
        Ok(())
    }

    /// Reads the parts of the messages. Returns how many have no message: the program removes both together.
    fn parts(&self, id: &str, loaded: &mut Loaded) -> rusqlite::Result<usize> {
        let mut lost = 0;
        let by_id: HashMap<String, usize> =
            loaded.messages.iter().enumerate().map(|(index, message)| (message.id.clone(), index)).collect();
        let mut statement = self.connection.prepare("SELECT id, message_id, data FROM part WHERE session_id = ?1")?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let Some(index) = text(row, "message_id").and_then(|message| by_id.get(&message).copied()) else {
                lost += 1;
                continue;
            };
            let json = add(loaded, row);
            let message = &mut loaded.messages[index];
            // Parts and messages are rows of different tables. The number of a place is that of the message.
            let place = message.place;
            message.parts.push(StoredPart { id: text(row, "id").unwrap_or_default(), json, place });
        }
        Ok(lost)
    }
}

impl Store for Database {
    fn load(&mut self, id: &str, draft: &mut Draft) -> Result<Option<Loaded>, ImportError> {
        let found = self.info(id).map_err(|error| damaged(&self.path, &error))?;
        let Some((info, row)) = found else { return Ok(None) };
        let source = *self.source.get_or_insert_with(|| draft.source(&self.path));
        // A program that has the database open may write between the messages and their parts.
        let _snapshot = self.connection.unchecked_transaction();
        let mut loaded = Loaded::new(info, Place { source, line: row });
        let read = self.messages(id, source, &mut loaded).and_then(|()| self.parts(id, &mut loaded));
        match read {
            Ok(lost) => (0..lost).for_each(|_| draft.note(Code::DamagedLine, Some(loaded.place))),
            Err(error) => {
                // What was read before the damage is kept.
                tracing::warn!(path = %self.path.display(), %error, "a part of the session cannot be read");
                draft.note(Code::DamagedLine, Some(loaded.place));
            }
        }
        // A session and its children are in one file.
        let is_new = !std::mem::replace(&mut self.is_checked, true);
        if is_new && !draft.is_summary() && !self.is_consistent(MAX_CHECKED_BYTES) {
            draft.note(Code::DamagedStore, Some(loaded.place));
        }
        Ok(Some(loaded))
    }

    fn children(&mut self, id: &str) -> Result<Vec<String>, ImportError> {
        self.ids("SELECT id FROM session WHERE parent_id = ?1 ORDER BY time_created, id", &[id])
    }
}

fn add(loaded: &mut Loaded, row: &Row<'_>) -> std::ops::Range<usize> {
    match row.get_ref("data") {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => loaded.add_text(&String::from_utf8_lossy(bytes)),
        _ => loaded.add_text(""),
    }
}

/// Returns the text of a column. Older and newer databases may lack it.
fn text(row: &Row<'_>, column: &str) -> Option<String> {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

fn number(row: &Row<'_>, column: &str) -> Option<i64> {
    row.get_ref(column).ok()?.as_i64().ok()
}

fn line(row: &Row<'_>) -> u32 {
    number(row, "row").and_then(|row| u32::try_from(row).ok()).unwrap_or(u32::MAX)
}

fn damaged(path: &Path, error: &rusqlite::Error) -> ImportError {
    ImportError::Damaged { path: path.to_owned(), reason: error.to_string() }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the length of a plain file, and 0 if there is none.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| if data.is_file() { data.len() } else { 0 })
}

/// Copies a database and its pending changes. Repeats that if they change meanwhile.
fn copy(path: &Path) -> Result<(TempDir, PathBuf), ImportError> {
    let folder = tempfile::tempdir().map_err(|source| ImportError::io(path, source))?;
    let target = folder.path().join("copy.db");
    let state = || {
        let names = ["", PENDING[0], PENDING[1]].map(|suffix| beside(path, suffix));
        names.map(|name| fs::metadata(name).ok().map(|data| (data.len(), data.modified().ok())))
    };
    for _ in 0..MAX_COPIES {
        let before = state();
        fs::copy(path, &target).map_err(|source| ImportError::io(path, source))?;
        for suffix in PENDING {
            let (from, to) = (beside(path, suffix), beside(&target, suffix));
            if length(&from) > 0 {
                fs::copy(&from, &to).map_err(|source| ImportError::io(&from, source))?;
            } else if let Err(error) = fs::remove_file(&to)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(ImportError::io(&to, error));
            }
        }
        if state() == before {
            break;
        }
    }
    Ok((folder, target))
}

/// Opens a database that another program has open, or left open, with the index of its log. Returns `None` if SQLite cannot
/// read it without writing.
fn in_use(path: &Path) -> Result<Option<Connection>, ImportError> {
    if length(&beside(path, "-shm")) == 0 || length(&beside(path, "-journal")) > 0 {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(path, "readonly_shm=1")?, flags).ok();
    let is_readable = |connection: &Connection| {
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0)).is_ok()
    };
    Ok(connection.filter(is_readable))
}

/// Returns the name by which SQLite only reads a file, with another option.
fn uri(path: &Path, option: &str) -> Result<String, ImportError> {
    let absolute = std::path::absolute(path).map_err(|source| ImportError::io(path, source))?;
    let mut uri = "file:".to_owned();
    let text = absolute.to_string_lossy();
    if cfg!(windows) {
        uri.push('/');
    }
    for character in text.chars() {
        match character {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push(character),
        }
    }
    uri.push_str("?mode=ro&");
    uri.push_str(option);
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_looked_through_up_to_a_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("opencode.db");
        let connection = Connection::open(&path).expect("opens");
        connection
            .execute_batch(
                "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT); INSERT INTO message VALUES ('one', 's'), ('two', 's');",
            )
            .expect("writes");
        drop(connection);
        let is_consistent = |max_bytes| Database::open(&path).expect("opens").is_consistent(max_bytes);
        assert!(is_consistent(MAX_CHECKED_BYTES));
        // The index has another id than the table now.
        let mut bytes = fs::read(&path).expect("reads");
        let at = memchr::memmem::rfind(&bytes, b"two").expect("an id");
        bytes[at] = b'z';
        fs::write(&path, &bytes).expect("writes");
        let length = bytes.len() as u64;
        assert!(!is_consistent(length));
        assert!(is_consistent(length - 1), "a larger database is not looked through");
    }
}
