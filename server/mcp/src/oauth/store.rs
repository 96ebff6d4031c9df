//! The tokens on disk: one file for each server, which only its owner can read, and a lock beside it.
//!
//! A renewed token that cannot be written is *kept* in memory, together with the lock: the refresh token in the file is of no use any
//! more, and a process that sends it may end the login for all. So other processes do not get the lock until the token is written.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Url;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::OAuthError;

/// How long the lock of a server is waited for. A renewal by another process takes less.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between two attempts to take a lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Permissions of the folder.
const FOLDER_MODE: u32 = 0o700;

/// Permissions of the files.
const FILE_MODE: u32 = 0o600;

/// What is stored of a login. Its `Debug` output hides the tokens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Credentials {
    /// Name of the MCP server, for people who look into the file.
    pub(super) server: String,
    /// Its address, for the same.
    pub(super) url: String,
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) resource: String,
    pub(super) client: ClientIdentity,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    pub(super) obtained_at_ms: i64,
    pub(super) expires_at_ms: Option<i64>,
    #[serde(default)]
    pub(super) scopes: Vec<String>,
}

/// Who this program is at an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientIdentity {
    pub(super) id: String,
    /// Only if the authorization server gave one although none was asked for.
    pub(super) secret: Option<String>,
    /// Whether the secret is sent in a header instead of the form.
    #[serde(default)]
    pub(super) uses_header: bool,
}

/// The name of a server's files. It depends on the address, so that tokens never go to another address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(super) server: String,
    pub(super) url: String,
    file: String,
}

impl Key {
    pub(super) fn new(server: &str, url: &Url) -> Self {
        let digest = Sha256::digest(url.as_str().as_bytes());
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { server: server.to_owned(), url: super::reach::shown(url), file: format!("{server}-{digest}") }
    }
}

/// A folder of tokens.
#[derive(Debug, Clone)]
pub(super) struct Store {
    folder: PathBuf,
}

/// Credentials that could not be written, with the lock of their server.
struct Kept {
    credentials: Credentials,
    file: File,
}

/// The credentials that could not be written, by the path of their file. All stores of the process share them, because the locks of
/// files are those of the process, too.
static KEPT: LazyLock<Mutex<HashMap<PathBuf, Kept>>> = LazyLock::new(Mutex::default);

fn kept() -> MutexGuard<'static, HashMap<PathBuf, Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to change the credentials of one server, among all processes. It ends when it is dropped, unless there are credentials
/// that could not be written.
#[derive(Debug)]
pub(super) struct Lock {
    store: Store,
    key: Key,
    /// The locked file. `None` once it is kept with the credentials.
    file: Option<File>,
    /// The credentials that could not be written, until they are.
    unwritten: Option<Credentials>,
}

impl Store {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the credentials of a server: those of the file, or newer ones that this process could not write. `None` if there are
    /// none.
    pub(super) fn load(&self, key: &Key) -> Result<Option<Credentials>, OAuthError> {
        let unwritten = kept().get(&self.path(key)).map(|kept| kept.credentials.clone());
        newest(self.read(key), unwritten.as_ref())
    }

    fn read(&self, key: &Key) -> Result<Option<Credentials>, OAuthError> {
        let path = self.path(key);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| OAuthError::Store {
                // The text of the error could contain a token.
                message: format!(
                    "{} is not valid (line {}, column {}); remove it with `trace mcp logout {}`",
                    path.display(),
                    error.line(),
                    error.column(),
                    key.server
                ),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(store_error(&path, &error)),
        }
    }

    /// Waits for the lock of a server, at most for `limit`. It blocks. The file of the lock stays, since a process could wait for it.
    pub(super) fn lock(&self, key: &Key, limit: Duration) -> Result<Lock, OAuthError> {
        let path = self.folder.join(format!("{}.lock", key.file));
        let open = || {
            self.make_folder()?;
            OpenOptions::new().write(true).create(true).truncate(false).mode(FILE_MODE).open(&path)
        };
        let file = open().map_err(|error| store_error(&path, &error))?;
        let begun = Instant::now();
        let lock = |file, unwritten| Lock { store: self.clone(), key: key.clone(), file: Some(file), unwritten };
        loop {
            if let Some(kept) = kept().remove(&self.path(key)) {
                return Ok(lock(kept.file, Some(kept.credentials)));
            }
            match file.try_lock() {
                Ok(()) => return Ok(lock(file, None)),
                Err(TryLockError::Error(error)) => return Err(store_error(&path, &error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < limit => thread::sleep(LOCK_RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => {
                    return Err(OAuthError::Locked { server: key.server.clone(), lock: path.display().to_string() });
                }
            }
        }
    }

    fn make_folder(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.folder)
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.file))
    }
}

impl Lock {
    /// Returns the latest credentials: those of the file, or newer ones that could not be written. `None` if there are none.
    pub(super) fn load(&self) -> Result<Option<Credentials>, OAuthError> {
        newest(self.store.read(&self.key), self.unwritten.as_ref())
    }

    /// Replaces the credentials in one step.
    pub(super) fn save(&mut self, credentials: &Credentials) -> Result<(), OAuthError> {
        let path = self.store.path(&self.key);
        let save = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.store.folder)?;
            file.as_file().set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
            serde_json::to_writer_pretty(&mut file, credentials)?;
            file.write_all(b"\n")?;
            // A refresh token that was lost with the power would end the login: the old one is not valid any more.
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        save().map_err(|error: io::Error| store_error(&path, &error))?;
        self.unwritten = None;
        Ok(())
    }

    /// Replaces the credentials. If they cannot be written, this process keeps them, and the lock.
    pub(super) fn save_or_keep(&mut self, credentials: Credentials) -> Result<(), OAuthError> {
        let saved = self.save(&credentials);
        if saved.is_err() {
            self.unwritten = Some(credentials);
        }
        saved
    }

    /// Writes the credentials that could not be written before, unless the file has newer ones. Returns whether there is nothing left
    /// to write.
    pub(super) fn save_kept(&mut self) -> bool {
        let Some(credentials) = self.unwritten.clone() else { return true };
        match self.store.read(&self.key) {
            Ok(Some(in_file)) if in_file.obtained_at_ms > credentials.obtained_at_ms => self.unwritten = None,
            // A file that cannot be read can be replaced all the same.
            _ => return self.save(&credentials).is_ok(),
        }
        true
    }

    /// Removes the credentials. Returns whether there were any.
    pub(super) fn remove(&mut self) -> Result<bool, OAuthError> {
        let path = self.store.path(&self.key);
        let was_there = match fs::remove_file(&path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            // The newer credentials are kept: the file still has a token that must not be sent again.
            Err(error) => return Err(store_error(&path, &error)),
        };
        Ok(self.unwritten.take().is_some() || was_there)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let (Some(credentials), Some(file)) = (self.unwritten.take(), self.file.take()) {
            kept().insert(self.store.path(&self.key), Kept { credentials, file });
        }
    }
}

/// Returns the newer credentials. A file that cannot be read matters only if there are no others.
fn newest(
    in_file: Result<Option<Credentials>, OAuthError>,
    unwritten: Option<&Credentials>,
) -> Result<Option<Credentials>, OAuthError> {
    match (in_file, unwritten) {
        (Ok(Some(in_file)), Some(unwritten)) if unwritten.obtained_at_ms < in_file.obtained_at_ms => Ok(Some(in_file)),
        (_, Some(unwritten)) => Ok(Some(unwritten.clone())),
        (in_file, None) => in_file,
    }
}

fn store_error(path: &Path, error: &io::Error) -> OAuthError {
    OAuthError::Store { message: format!("{}: {error}", path.display()) }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Credentials")
            .field("server", &self.server)
            .field("issuer", &self.issuer)
            .field("expires_at_ms", &self.expires_at_ms)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClientIdentity").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn credentials(access: &str, obtained_at_ms: i64, life_ms: Option<i64>) -> Credentials {
        Credentials {
            server: "docs".to_owned(),
            url: "https://a/mcp".to_owned(),
            issuer: "https://a".to_owned(),
            token_endpoint: "https://a/token".to_owned(),
            resource: "https://a/mcp".to_owned(),
            client: ClientIdentity { id: "c".to_owned(), secret: None, uses_header: false },
            access_token: access.to_owned(),
            refresh_token: Some(format!("refresh-{access}")),
            obtained_at_ms,
            expires_at_ms: life_ms.map(|life| obtained_at_ms + life),
            scopes: vec!["read".to_owned()],
        }
    }

    #[test]
    fn tokens_are_stored_for_one_address_and_for_their_owner_only() {
        let home = tempfile::tempdir().expect("a folder");
        let store = Store::new(home.path().join("mcp-oauth"));
        let at = |url: &str| Key::new("docs", &Url::parse(url).expect("an address"));
        let (key, other) = (at("https://a/mcp"), at("https://b/mcp"));
        assert_eq!(store.load(&key), Ok(None));
        let stored = credentials("token-1", 5, Some(7));
        let mut lock = store.lock(&key, Duration::ZERO).expect("a lock");
        lock.save(&stored).expect("it is stored");
        assert_eq!((store.load(&key), store.load(&other)), (Ok(Some(stored.clone())), Ok(None)));
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(store.folder()), mode(&store.path(&key))), (FOLDER_MODE, FILE_MODE));
        assert!(!format!("{stored:?} {:?}", stored.client).contains("token-1"));
        let name = store.folder().join(format!("{}.lock", key.file));
        assert_eq!(mode(&name), FILE_MODE);
        let another_gets_it = || File::open(&name).expect("it is there").try_lock().is_ok();
        assert!(!another_gets_it(), "another process gets it as well");
        let error = store.lock(&key, Duration::ZERO).expect_err("the lock is taken").to_string();
        assert!(error.contains("docs-") && error.contains(".lock"), "{error}");
        assert_eq!((lock.remove(), lock.remove()), (Ok(true), Ok(false)));
        drop(lock);
        assert!(another_gets_it(), "the lock is not given back");
        fs::write(store.path(&key), "{\"access_token\": \"token-2\", ").expect("the file system works");
        let error = store.load(&key).expect_err("it is broken").to_string();
        assert!(error.contains("trace mcp logout docs") && !error.contains("token-2"), "{error}");
    }

    #[test]
    fn credentials_that_cannot_be_written_are_kept_with_the_lock() {
        let home = tempfile::tempdir().expect("a folder");
        let store = Store::new(home.path().join("mcp-oauth"));
        let key = Key::new("docs", &Url::parse("https://a/mcp").expect("an address"));
        let [old, kept, newer] = [1, 2, 3].map(|at| credentials(&format!("token-{at}"), at, None));
        let lock = || store.lock(&key, Duration::ZERO).expect("a lock");
        let name = store.folder().join(format!("{}.lock", key.file));
        let another_gets_it = || File::open(&name).expect("it is there").try_lock().is_ok();
        lock().save(&old).expect("it is stored");
        let (path, aside) = (store.path(&key), home.path().join("aside"));
        // A folder in its place makes it impossible to replace the file.
        let spoil = || {
            fs::rename(&path, &aside).expect("the file system works");
            fs::create_dir(&path).expect("the file system works");
        };
        let mend = || {
            fs::remove_dir(&path).expect("the file system works");
            fs::rename(&aside, &path).expect("the file system works");
        };
        spoil();
        lock().save_or_keep(kept.clone()).expect_err("it cannot be written");
        assert!(!lock().save_kept());
        mend();
        assert!(!another_gets_it(), "another process would send a refresh token that is not valid any more");
        assert_eq!((store.load(&key), lock().load()), (Ok(Some(kept.clone())), Ok(Some(kept.clone()))));
        assert!(lock().save_kept() && another_gets_it());
        assert_eq!(store.read(&key), Ok(Some(kept)));
        // The user may have logged in again meanwhile.
        spoil();
        lock().save_or_keep(old.clone()).expect_err("it cannot be written");
        mend();
        lock().save(&newer).expect("it is stored");
        assert!(another_gets_it() && lock().save_kept());
        assert_eq!(store.load(&key), Ok(Some(newer)));
        spoil();
        lock().save_or_keep(old).expect_err("it cannot be written");
        fs::remove_dir(&path).expect("the file system works");
        assert_eq!(lock().remove(), Ok(true));
        assert_eq!((store.load(&key), another_gets_it()), (Ok(None), true));
    }
}
