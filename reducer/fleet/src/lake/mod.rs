//! A lake: tables in object storage, and the log that says which of their files count.
//!
//! ```text
//! URL/_trace/log/00000000000000000007.json        commit 7
//! URL/_trace/checkpoints/00000000000000000050.json the live batches after commit 50
//! URL/_trace/last_checkpoint                       names the last one
//! URL/tables/turns/6f0c….parquet                   data, named by its content
//! URL/tables/turns/_delta_log/…                    the same log in the form of Delta
//! ```
//!
//! A commit is one object that is created only if there is none of its number. So there is one order of commits however
//! many writers there are, no lock that a dead writer could hold, and a reader that resolves the log sees all tables of a
//! commit or none. Data files are written before the commit that names them; a writer that dies before leaves files that
//! nothing names, which [`vacuum`] deletes. The Delta tables follow from the log ([`delta`]) and are completed by the next
//! writer if one died in between.

pub mod compact;
pub mod data;
mod delta;
pub mod fsck;
pub mod index;
pub mod record;
pub mod vacuum;

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use serde::{Deserialize, Serialize};

use self::data::{DataError, Encoded};
use self::record::{Action, Batch, Commit, LAKE_FORMAT};
use crate::store::{Created, Store, StoreError};
use crate::tables::SESSIONS;

/// Folder of the log.
const LOG: &str = "_trace/log";

/// Folder of the checkpoints.
const CHECKPOINTS: &str = "_trace/checkpoints";

/// Names the last checkpoint. It is a hint: a missing or old one only makes reading slower.
const LAST_CHECKPOINT: &str = "_trace/last_checkpoint";

/// Commits between two checkpoints.
pub const CHECKPOINT_EVERY: u64 = 50;

/// Requests to the store at the same time.
pub(crate) const REQUESTS: usize = 16;

/// Most attempts to get a number for a commit. Each failure means that another writer got one, so this is reached only if
/// others commit without pause.
pub const MAX_COMMIT_ATTEMPTS: usize = 1000;

/// Why something cannot be done with a lake.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A data file is not readable.
    #[error(transparent)]
    Data(#[from] DataError),
    /// There is no lake.
    #[error("there is no lake at {url}")]
    NoLake {
        /// The URL.
        url: String,
    },
    /// The lake is of a later version of this program.
    #[error("the lake at {url} has layout {format}; this program knows {LAKE_FORMAT}")]
    Format {
        /// URL of the lake.
        url: String,
        /// Version of its layout.
        format: u32,
    },
    /// A record of the log is not what it should be.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// Path of the record.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else wrote into the Delta log of a table.
    #[error("{path} was not written by this program; the Delta tables of the lake can only be read by others")]
    Foreign {
        /// Path of the version.
        path: String,
    },
    /// A file of a batch was deleted before its commit.
    #[error("{path} is gone before its commit; `trace fleet vacuum --keep` spares files for as long as the work takes")]
    Gone {
        /// Path of a file.
        path: String,
    },
    /// Others committed without pause.
    #[error("no commit succeeded in {MAX_COMMIT_ATTEMPTS} attempts, because other writers commit without pause")]
    Busy,
}

/// The batches of a lake after a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Number of the last commit.
    pub version: u64,
    /// Id of the lake: that of its first commit.
    pub lake_id: String,
    /// When the lake was made, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When the last commit was made.
    pub at_unix_ms: i64,
    /// The live batches by id.
    pub batches: BTreeMap<String, Batch>,
}

impl Snapshot {
    fn apply(&mut self, commit: &Commit) {
        for batch in &commit.remove {
            self.batches.remove(&batch.id);
        }
        self.batches.extend(commit.add.iter().map(|batch| (batch.id.clone(), batch.clone())));
        self.version = commit.version;
        self.at_unix_ms = commit.at_unix_ms;
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> u64 {
        self.batches.values().map(|batch| batch.sessions).sum()
    }
}

/// A lake.
#[derive(Debug, Clone)]
pub struct Lake {
    store: Store,
}

/// The result of an attempt to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// The commit has its number, and this is the lake with it.
    Done(Snapshot),
    /// Another commit has the number. The caller looks at the lake again and decides anew.
    Behind,
}

fn log_path(version: u64) -> String {
    format!("{LOG}/{version:020}.json")
}

fn now_unix_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Returns a random id.
fn new_id() -> String {
    let mut bytes = [0; 16];
    // Without a source of random numbers, the time tells two writers apart in practice.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = jiff::Timestamp::now().as_nanosecond().to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Serialize, Deserialize)]
struct LastCheckpoint {
    version: u64,
}

impl Lake {
    /// Opens the lake in a folder of a store.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none, or it is of a later layout.
    pub async fn open(store: Store) -> Result<Self, LakeError> {
        let lake = Self { store };
        lake.first_commit().await?;
        Ok(lake)
    }

    /// Opens the lake in a folder of a store, and makes one if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or the lake is of a later layout.
    pub async fn open_or_create(store: Store) -> Result<Self, LakeError> {
        let lake = Self { store };
        match lake.first_commit().await {
            Err(LakeError::NoLake { .. }) => {}
            Ok(_) => return Ok(lake),
            Err(error) => return Err(error),
        }
        let commit = Commit {
            format: LAKE_FORMAT,
            version: 0,
            id: new_id(),
            at_unix_ms: now_unix_ms(),
            action: Action::Create,
            add: Vec::new(),
            remove: Vec::new(),
        };
        // Several writers may make the lake at once. The first commit of one of them counts.
        lake.store.create(&log_path(0), text_of(&commit)).await?;
        lake.first_commit().await?;
        Ok(lake)
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    async fn first_commit(&self) -> Result<Commit, LakeError> {
        let commit = match self.commit(0).await {
            Err(LakeError::Store(error)) if error.is_missing() => {
                return Err(LakeError::NoLake { url: self.store.url().to_string() });
            }
            other => other?,
        };
        Ok(commit)
    }

    /// Reads a commit.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not there, is damaged, or is of a later layout.
    pub async fn commit(&self, version: u64) -> Result<Commit, LakeError> {
        let path = log_path(version);
        let content = self.store.read(&path).await?;
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let damaged = |reason: String| LakeError::Damaged { path: path.clone(), reason };
        let head: Head = serde_json::from_slice(&content).map_err(|error| damaged(error.to_string()))?;
        if head.format > LAKE_FORMAT {
            return Err(LakeError::Format { url: self.store.url().to_string(), format: head.format });
        }
        let commit: Commit = serde_json::from_slice(&content).map_err(|error| damaged(error.to_string()))?;
        if commit.version != version {
            return Err(damaged(format!("it says that it is commit {}", commit.version)));
        }
        check_paths(&commit).map_err(damaged)?;
        Ok(commit)
    }

    /// Returns the lake after its last commit.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or a record is damaged.
    pub async fn snapshot(&self) -> Result<Snapshot, LakeError> {
        let start = match self.last_checkpoint().await? {
            Some(snapshot) => snapshot,
            None => self.empty().await?,
        };
        self.newer(start).await
    }

    /// Returns the lake after a commit.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such commit, the store fails, or a record is damaged.
    pub async fn snapshot_at(&self, version: u64) -> Result<Snapshot, LakeError> {
        let checkpoint = self.last_checkpoint().await?.filter(|checkpoint| checkpoint.version <= version);
        let mut snapshot = match checkpoint {
            Some(checkpoint) => checkpoint,
            None => self.empty().await?,
        };
        let wanted: Vec<u64> = (snapshot.version + 1..=version).collect();
        for commit in self.commits(&wanted).await? {
            snapshot.apply(&commit);
        }
        Ok(snapshot)
    }

    async fn empty(&self) -> Result<Snapshot, LakeError> {
        let first = self.first_commit().await?;
        Ok(Snapshot {
            version: 0,
            lake_id: first.id,
            created_at_unix_ms: first.at_unix_ms,
            at_unix_ms: first.at_unix_ms,
            batches: BTreeMap::new(),
        })
    }

    /// Returns the snapshot with the commits since then.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or a record is damaged or missing.
    pub async fn newer(&self, mut snapshot: Snapshot) -> Result<Snapshot, LakeError> {
        let listed = self.store.list(LOG, Some(&log_path(snapshot.version))).await?;
        let mut versions = Vec::with_capacity(listed.len());
        for object in listed {
            let number = object.path.rsplit('/').next().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            let Some(version): Option<u64> = number else { continue };
            versions.push(version);
        }
        versions.sort_unstable();
        for (version, expected) in versions.iter().zip(snapshot.version + 1..) {
            if *version != expected {
                let reason = "the commit is missing, and later ones are there".to_owned();
                return Err(LakeError::Damaged { path: log_path(expected), reason });
            }
        }
        for commit in self.commits(&versions).await? {
            snapshot.apply(&commit);
        }
        Ok(snapshot)
    }

    /// Reads commits, in the order of the versions.
    ///
    /// # Errors
    ///
    /// Returns an error if one is missing or damaged.
    pub async fn commits(&self, versions: &[u64]) -> Result<Vec<Commit>, LakeError> {
        let reads = futures::stream::iter(versions.to_vec()).map(|version| self.commit(version)).buffered(REQUESTS);
        reads.collect::<Vec<_>>().await.into_iter().collect()
    }

    async fn last_checkpoint(&self) -> Result<Option<Snapshot>, LakeError> {
        let hint = match self.store.read(LAST_CHECKPOINT).await {
            Ok(hint) => hint,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(LastCheckpoint { version }) = serde_json::from_slice(&hint) else { return Ok(None) };
        let path = format!("{CHECKPOINTS}/{version:020}.json");
        let content = match self.store.read(&path).await {
            Ok(content) => content,
            Err(error) if error.is_missing() => return Ok(None),
            // The log has what the checkpoint has, in smaller objects.
            Err(error @ StoreError::TooLarge { .. }) => {
                tracing::warn!(path, %error, "the checkpoint is passed over; a compaction makes it smaller");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        // A damaged checkpoint costs time only: the log has everything.
        let snapshot: Result<Snapshot, _> = serde_json::from_slice(&content);
        if let Err(error) = &snapshot {
            tracing::warn!(path, %error, "the checkpoint is damaged and passed over");
        }
        Ok(snapshot.ok().filter(|snapshot| snapshot.version == version))
    }

    /// Writes the files of batches. They do not count before a commit names them.
    ///
    /// Files are written also if one of that name is there: a vacuum may be about to delete it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn write_files(&self, encoded: &Encoded) -> Result<(), LakeError> {
        let writes = encoded.files.iter().map(|(path, content)| self.store.write(path, content.clone()));
        let mut writes = futures::stream::iter(writes).buffer_unordered(REQUESTS);
        while let Some(written) = writes.next().await {
            written?;
        }
        Ok(())
    }

    /// Looks whether the files of a batch are still there that a worker wrote a while ago, and have the size that it told.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is missing or of another size, or the store fails.
    pub async fn check_written(&self, batch: &Batch) -> Result<(), LakeError> {
        let looks = batch.files.iter().map(|(table, file)| async move {
            let path = data::file_path(table, &file.path);
            let found = self.store.look(&path).await?;
            if found.is_some_and(|found| found.bytes == file.bytes) { Ok(()) } else { Err(LakeError::Gone { path }) }
        });
        let mut looks = futures::stream::iter(looks).buffer_unordered(REQUESTS);
        while let Some(looked) = looks.next().await {
            looked?;
        }
        Ok(())
    }

    /// Reads the rows of a file of a batch; with `columns`, only those.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or the file is damaged.
    pub async fn read_file(
        &self,
        batch: &Batch,
        table: &str,
        columns: Option<&[&str]>,
    ) -> Result<Vec<RecordBatch>, LakeError> {
        let Some(file) = batch.files.get(table) else { return Ok(Vec::new()) };
        let path = data::file_path(table, &file.path);
        if file.bytes > data::MAX_FILE_BYTES {
            let reason = format!("it has {} bytes; at most {} are read", file.bytes, data::MAX_FILE_BYTES);
            return Err(LakeError::Damaged { path, reason });
        }
        let content = self.store.read(&path).await?;
        Ok(data::decode(table, &path, content, columns)?)
    }

    /// Tries to commit a change of a snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails. If it cannot be asked whether it carried out the request, the commit may have
    /// been made; it is then found by whoever looks at the lake next.
    pub async fn append(
        &self,
        base: &Snapshot,
        action: Action,
        add: Vec<Batch>,
        remove: Vec<Batch>,
    ) -> Result<Appended, LakeError> {
        let version = base.version + 1;
        let commit =
            Commit { format: LAKE_FORMAT, version, id: new_id(), at_unix_ms: now_unix_ms(), action, add, remove };
        let created = self.store.create(&log_path(version), text_of(&commit)).await;
        let is_ours = match created {
            Ok(Created::New) => true,
            // The store may have carried out a request whose answer was lost, and then refused its repetition.
            Ok(Created::Existing) => self.commit(version).await?.id == commit.id,
            Err(error) => match self.commit(version).await {
                Ok(found) => found.id == commit.id,
                Err(_) => return Err(error.into()),
            },
        };
        if !is_ours {
            return Ok(Appended::Behind);
        }
        let mut snapshot = base.clone();
        snapshot.apply(&commit);
        Ok(Appended::Done(snapshot))
    }

    /// Completes the Delta tables up to a snapshot, and writes checkpoints when they are due. Returns the number of commits
    /// that were missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or something else wrote into a Delta log.
    pub async fn project(&self, snapshot: &Snapshot) -> Result<u64, LakeError> {
        let mut first = snapshot.version + 1;
        while first > 0 && self.store.look(&delta::version_path(SESSIONS, first - 1)).await?.is_none() {
            first -= 1;
        }
        let missing: Vec<u64> = (first..=snapshot.version).collect();
        for commit in self.commits(&missing).await? {
            for table in delta::order() {
                let path = delta::version_path(table.name(), commit.version);
                let text = delta::version(&snapshot.lake_id, &commit, table);
                if self.store.create(&path, text.clone()).await? == Created::Existing
                    && self.store.read(&path).await? != text
                {
                    return Err(LakeError::Foreign { path });
                }
            }
        }
        let is_due = snapshot.version / CHECKPOINT_EVERY > first.saturating_sub(1) / CHECKPOINT_EVERY;
        if is_due {
            self.write_checkpoint(snapshot).await?;
        }
        Ok(missing.len() as u64)
    }

    /// Writes a checkpoint of the log and of each Delta table.
    async fn write_checkpoint(&self, snapshot: &Snapshot) -> Result<(), LakeError> {
        let version = snapshot.version;
        let text = serde_json::to_string(snapshot).expect("a snapshot is plain data");
        self.store.write(&format!("{CHECKPOINTS}/{version:020}.json"), text).await?;
        let hint = serde_json::to_string(&LastCheckpoint { version }).expect("a number is plain data");
        self.store.write(LAST_CHECKPOINT, hint).await?;
        for table in delta::order() {
            let files = snapshot.batches.values().filter_map(|batch| batch.files.get(table.name()));
            let (content, actions) = delta::checkpoint(
                &snapshot.lake_id,
                snapshot.created_at_unix_ms,
                version,
                snapshot.at_unix_ms,
                table,
                files,
            )
            .map_err(|source| DataError::Rows { table: table.name().to_owned(), source })?;
            self.store.write(&delta::checkpoint_path(table.name(), version), content).await?;
            let hint = serde_json::json!({"version": version, "size": actions}).to_string();
            self.store.write(&delta::last_checkpoint_path(table.name()), hint).await?;
        }
        Ok(())
    }

    /// Returns the paths of all data files that a snapshot names, relative to the lake.
    pub fn live_files(snapshot: &Snapshot) -> BTreeSet<String> {
        let files = snapshot.batches.values().flat_map(|batch| batch.files.iter());
        files.map(|(table, file)| data::file_path(table, &file.path)).collect()
    }
}

fn text_of(commit: &Commit) -> String {
    serde_json::to_string(commit).expect("a commit is plain data")
}

/// Checks that the files of a commit are in the folders of their tables. A record that names others is not one of ours.
fn check_paths(commit: &Commit) -> Result<(), String> {
    for batch in commit.add.iter().chain(&commit.remove) {
        for (table, file) in &batch.files {
            let is_plain = |name: &str| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
            };
            if !is_plain(table) || !is_plain(&file.path) || file.path.starts_with('.') || table.starts_with('.') {
                return Err(format!("it names {:?} as a file of table {table:?}", file.path));
            }
        }
    }
    Ok(())
}
