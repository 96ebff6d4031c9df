//! Machines that work for the program that asks and commits: what they are told, and what they answer.
//!
//! A worker reduces sessions or merges batches, writes the data files into the lake, and returns a receipt that names them.
//! Files count only when the program commits the receipts. So a task may run twice, or end in the middle: files are named by
//! their content, and what nothing names is deleted by a vacuum.
//!
//! This is all that ingests, compactions and questions know of a cluster. `cluster` has the one that there is.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use datafusion::common::Result as PlanResult;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionConfig;
use serde::{Deserialize, Serialize};
use trace_import::SessionRef;

use crate::lake::record::{Batch, LAKE_FORMAT};
use crate::sessions::{Candidate, Place};
use crate::store::Store;
use crate::tables::{Given, Origin, TABLES_VERSION};

/// Most tasks of a round. The receipts of a round are committed when all of its tasks are done, so a driver that dies loses
/// the work of one round.
pub const MAX_ROUND_TASKS: usize = 32;

/// Most bytes of the sessions and batches that a round names, which travel in one message.
pub const MAX_ROUND_BYTES: usize = 8 << 20;

/// Machines that work for this program.
#[async_trait]
pub trait Workers: Debug + Send + Sync {
    /// Sets what a plan needs that is to run on the machines.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting of the engine is not known.
    fn configure(&self, config: SessionConfig) -> Result<SessionConfig, WorkError>;

    /// Adds the rules of the planner that such a plan needs.
    fn prepare(&self, state: SessionStateBuilder) -> SessionStateBuilder;

    /// Runs the plan of a question and returns its rows. The work ends if the stream is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the machines cannot be reached, refuse the plan, or fail.
    async fn execute(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> PlanResult<SendableRecordBatchStream>;

    /// Does tasks, and returns a receipt for each in their order. If `stop` becomes true, the work ends early.
    ///
    /// # Errors
    ///
    /// Returns an error if a task failed for good. Files may have been written; they do not count.
    async fn work(&self, tasks: Vec<Task>, stop: &AtomicBool) -> Result<Vec<Receipt>, WorkError>;

    /// Waits until work is ended that nobody wants any more. To be called before the runtime ends.
    async fn settle(&self);
}

/// Why machines did not do what they were told.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The scheduler does not answer.
    #[error("the scheduler at {url} cannot be reached")]
    Unreachable {
        /// Its URL.
        url: String,
        /// Cause of the error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The URL of the scheduler cannot be used.
    #[error("{url} is not the URL of a scheduler, such as http://127.0.0.1:50050")]
    Url {
        /// The text.
        url: String,
    },
    /// The token is missing or another one.
    #[error("the scheduler at {url} refuses the token")]
    Refused {
        /// Its URL.
        url: String,
    },
    /// The engine does not know a setting.
    #[error("the engine has no setting {name}={value}")]
    Setting {
        /// Name of the setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// The work failed after its retries.
    #[error("the cluster could not do the work: {message}")]
    Failed {
        /// What the cluster says.
        message: String,
    },
    /// The caller stopped the work.
    #[error("the work was stopped")]
    Stopped,
}

/// The versions that determine the rows of a session. The client refuses the rows of a worker with other versions, so that all rows
/// of a lake are made in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Version of `trace-fleet`, as in its `Cargo.toml`.
    pub program: String,
    /// Version of the tables.
    pub tables: u32,
    /// Version of the log and of the data files.
    pub lake: u32,
}

/// That of this program.
impl Default for Version {
    fn default() -> Self {
        Self { program: env!("CARGO_PKG_VERSION").to_owned(), tables: TABLES_VERSION, lake: LAKE_FORMAT }
    }
}

impl Version {
    /// Refuses another version than that of this program.
    ///
    /// # Errors
    ///
    /// Returns an error that names both.
    pub fn check(&self) -> Result<(), OtherVersion> {
        let own = Self::default();
        if *self == own { Ok(()) } else { Err(OtherVersion { own, other: self.clone() }) }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (tables {}, lake {})", self.program, self.tables, self.lake)
    }
}

/// A part of a cluster has another version than this program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("all parts of a cluster must have one version; this one has {own}, and another one {other}")]
pub struct OtherVersion {
    /// Version of this program.
    pub own: Version,
    /// That of the other part.
    pub other: Version,
}

/// What a worker does as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Version of the program that gives the task.
    pub version: Version,
    /// URL of the lake.
    pub lake: String,
    /// What is done.
    pub job: Job,
}

impl Task {
    /// Returns a task of this program.
    pub fn new(lake: &str, job: Job) -> Self {
        Self { version: Version::default(), lake: lake.to_owned(), job }
    }
}

/// The kinds of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Reduces sessions.
    Reduce {
        /// The sessions.
        sessions: Vec<Item>,
        /// Names that are given for all of them.
        given: Given,
    },
    /// Merges batches.
    Merge {
        /// The batches.
        batches: Vec<Batch>,
    },
}

/// A session, named to another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its address.
    pub address: String,
    /// Where it is.
    pub location: Location,
    /// What the listing tells of it.
    pub origin: Origin,
}

/// Where a session is, as another machine finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// A bundle in a file system that all machines share.
    Bundle {
        /// Its path.
        path: PathBuf,
    },
    /// The session of another agent in a file system that all machines share.
    Imported {
        /// Name of its format.
        format: String,
        /// The file of the session, or the store that it is in.
        path: PathBuf,
        /// Id of the session in a store.
        id: Option<String>,
    },
    /// A packed bundle in object storage.
    Remote {
        /// URL of the folder.
        folder: String,
        /// Path below it.
        path: String,
    },
}

/// What a task did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Version of the program that did the task.
    pub version: Version,
    /// The batches whose files were written, in the order of their sessions.
    pub batches: Vec<Written>,
    /// Sessions that vanished after they were listed.
    pub vanished: usize,
    /// Addresses of sessions that could not be fetched, and why.
    pub failed: Vec<(String, String)>,
}

/// A batch whose files were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The batch, which names its files.
    pub batch: Batch,
    /// Its sessions. A merge does not tell them.
    pub sessions: Vec<Reduced>,
}

/// A session whose rows are in a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced {
    /// Its place in the task, from 0.
    pub number: usize,
    /// Whether it could be read. If not, its rows say why.
    pub is_readable: bool,
}

impl Item {
    /// Names a session to another machine. Returns `None` if its path is no text, which no message can carry.
    pub fn of(candidate: &Candidate) -> Option<Self> {
        let location = match &candidate.place {
            Place::Bundle(path) => Location::Bundle { path: path.to_str()?.into() },
            Place::Imported(SessionRef { format, path, id }) => {
                Location::Imported { format: (*format).to_owned(), path: path.to_str()?.into(), id: id.clone() }
            }
            Place::Remote { store, path } => Location::Remote { folder: store.url().to_string(), path: path.clone() },
        };
        Some(Self { address: candidate.address.clone(), location, origin: candidate.origin.clone() })
    }

    /// Returns about how many bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        // Places and fingerprints are as long as addresses, and the rest is names of fields.
        3 * self.address.len() + self.origin.fingerprint.len() + 200
    }
}

/// Finds the sessions that a task names. It keeps the stores that it opens.
#[derive(Default)]
pub struct Finder {
    stores: BTreeMap<String, Arc<Store>>,
}

impl Finder {
    /// Returns the session of an item.
    ///
    /// # Errors
    ///
    /// Returns an error if its store cannot be opened, or the format is one that this program does not know.
    pub fn find(&mut self, item: &Item, options: &[(String, String)]) -> Result<Candidate, FindError> {
        let place = match &item.location {
            Location::Bundle { path } => Place::Bundle(path.clone()),
            Location::Imported { format, path, id } => {
                let known = trace_import::format(format).ok_or_else(|| FindError::Format { name: format.clone() })?;
                Place::Imported(SessionRef { format: known.name(), path: path.clone(), id: id.clone() })
            }
            Location::Remote { folder, path } => {
                let store = match self.stores.get(folder) {
                    Some(store) => Arc::clone(store),
                    None => {
                        let store = Arc::new(Store::open(folder, options)?);
                        self.stores.insert(folder.clone(), Arc::clone(&store));
                        store
                    }
                };
                Place::Remote { store, path: path.clone() }
            }
        };
        Ok(Candidate { address: item.address.clone(), place, origin: item.origin.clone() })
    }
}

/// Why a worker cannot find what a task names.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The worker is of an older version than the program that gave the task.
    #[error("this worker does not know the format {name}; the parts of a cluster must have one version")]
    Format {
        /// Name of the format.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_again_by_its_item() {
        let origin = Origin { fingerprint: "f".to_owned(), bytes: Some(7), modified_unix_ms: None, cwd: None };
        let store = Store::open("s3://bucket/sessions", &[("aws_region".to_owned(), "x".to_owned())]).expect("a store");
        let places = [
            Place::Bundle("/traces/one".into()),
            Place::Imported(SessionRef { format: "opencode", path: "/agents/db".into(), id: Some("7".to_owned()) }),
            Place::Remote { store: Arc::new(store), path: "team=red/one.trace".to_owned() },
        ];
        for place in places {
            let candidate = Candidate { address: "a".to_owned(), place, origin: origin.clone() };
            let item = Item::of(&candidate).expect("an item");
            let text = serde_json::to_string(&item).expect("serializes");
            let read: Item = serde_json::from_str(&text).expect("parses");
            let found = Finder::default().find(&read, &[]).expect("is found");
            assert_eq!(Item::of(&found), Some(item));
        }
        let unknown = Location::Imported { format: "none".to_owned(), path: "/a".into(), id: None };
        let item = Item { address: "a".to_owned(), location: unknown, origin };
        assert!(matches!(Finder::default().find(&item, &[]), Err(FindError::Format { .. })));
    }

    #[test]
    fn another_version_is_refused() {
        assert_eq!(Version::default().check(), Ok(()));
        let others = [
            Version { program: "0.0.1".to_owned(), ..Version::default() },
            Version { tables: TABLES_VERSION + 1, ..Version::default() },
            Version { lake: LAKE_FORMAT + 1, ..Version::default() },
        ];
        for other in others {
            let error = other.check().expect_err("is refused");
            assert!(error.to_string().contains(&other.to_string()), "{error}");
        }
    }
}
