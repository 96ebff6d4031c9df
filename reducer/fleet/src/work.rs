//! What a worker does with a task: it reduces sessions or merges batches, and writes the data files.

use std::time::Duration;

use object_store::Error as ObjectError;
use tokio::runtime::Handle;

use crate::causes::with_causes;
use crate::ingest::{MAX_BATCH_BYTES, MAX_FAILED};
use crate::lake::data::encode_sessions;
use crate::lake::{Lake, LakeError};
use crate::sessions::{self, Candidate, FetchError};
use crate::store::{Store, StoreError};
use crate::tables::{Given, SessionRows};
use crate::workers::{FindError, Finder, Item, Job, Receipt, Reduced, Task, Written};

/// Attempts to fetch a session. Each request is repeated by the store already.
const SESSION_ATTEMPTS: u32 = 3;

/// Pause before the second attempt to fetch a session. Each further pause is longer.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

/// Why a task has no receipt.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A store failed. Another attempt may succeed, perhaps on another machine.
    #[error("{0}")]
    Store(String),
    /// Another attempt would fail in the same way.
    #[error("{0}")]
    Other(String),
    /// Nobody waits for the receipt any more.
    #[error("the task was stopped")]
    Stopped,
}

/// Returns whether another attempt may succeed: not if the store understood the request and refused it.
fn may_pass(error: &StoreError) -> bool {
    match error {
        StoreError::Request { source, .. } | StoreError::Open { source, .. } => !matches!(
            source,
            ObjectError::NotFound { .. }
                | ObjectError::InvalidPath { .. }
                | ObjectError::NotSupported { .. }
                | ObjectError::NotImplemented { .. }
                | ObjectError::PermissionDenied { .. }
                | ObjectError::Unauthenticated { .. }
                | ObjectError::UnknownConfigurationKey { .. }
        ),
        StoreError::Url { .. } | StoreError::TooLarge { .. } => false,
    }
}

impl From<StoreError> for TaskError {
    fn from(error: StoreError) -> Self {
        let text = with_causes(&error);
        if may_pass(&error) { Self::Store(text) } else { Self::Other(text) }
    }
}

impl From<LakeError> for TaskError {
    fn from(error: LakeError) -> Self {
        match error {
            LakeError::Store(error) => error.into(),
            error => Self::Other(with_causes(&error)),
        }
    }
}

impl From<FindError> for TaskError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Store(error) => error.into(),
            error @ FindError::Format { .. } => Self::Other(error.to_string()),
        }
    }
}

/// Does a task on this machine. It blocks the thread. `options` are those of the stores, as this machine has them.
///
/// # Errors
///
/// Returns an error if the lake fails, the task is of another version, or it names what is not there. A session that cannot be
/// read is a row, and one that cannot be fetched is told in the receipt; neither is an error.
pub fn perform(
    task: &Task,
    options: &[(String, String)],
    runtime: &Handle,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Receipt, TaskError> {
    task.version.check().map_err(|error| TaskError::Other(error.to_string()))?;
    let lake = runtime.block_on(Lake::open(Store::open(&task.lake, options)?))?;
    match &task.job {
        Job::Merge { batches } => {
            let Some(encoded) = runtime.block_on(lake.merge(batches, &|_| true))? else {
                return Ok(Receipt::default());
            };
            if is_stopped() {
                return Err(TaskError::Stopped);
            }
            runtime.block_on(lake.write_files(&encoded))?;
            let written = Written { batch: encoded.batch, sessions: Vec::new() };
            Ok(Receipt { batches: vec![written], ..Receipt::default() })
        }
        Job::Reduce { sessions, given } => {
            let mut receipt = Receipt::default();
            let mut finder = Finder::default();
            let mut pending: Vec<(usize, SessionRows)> = Vec::new();
            let mut bytes = 0;
            for (number, item) in sessions.iter().enumerate() {
                if is_stopped() {
                    return Err(TaskError::Stopped);
                }
                let candidate = finder.find(item, options)?;
                match rows_of(&candidate, given, runtime, is_stopped) {
                    Ok(rows) => {
                        bytes += rows.bytes();
                        pending.push((number, rows));
                    }
                    Err(FetchError::Vanished) => receipt.vanished += 1,
                    Err(error) => receipt.failed.push(unfetched(item, error)?),
                }
                if receipt.failed.len() >= MAX_FAILED {
                    // The store is gone, and the program gives up when it gets this receipt.
                    break;
                }
                if bytes >= MAX_BATCH_BYTES {
                    receipt.batches.extend(write(&lake, std::mem::take(&mut pending), runtime)?);
                    bytes = 0;
                }
            }
            receipt.batches.extend(write(&lake, pending, runtime)?);
            Ok(receipt)
        }
    }
}

/// Reduces a session. If its store fails in a way that may pass, it is tried again.
fn rows_of(
    candidate: &Candidate,
    given: &Given,
    runtime: &Handle,
    is_stopped: &dyn Fn() -> bool,
) -> Result<SessionRows, FetchError> {
    let mut attempt = 1;
    loop {
        match sessions::rows(candidate, given, runtime) {
            Err(FetchError::Store(error)) if may_pass(&error) && attempt < SESSION_ATTEMPTS && !is_stopped() => {
                tracing::warn!(
                    attempt,
                    address = candidate.address,
                    "a session is fetched again: {}",
                    with_causes(&error)
                );
                std::thread::sleep(SESSION_PAUSE * attempt);
                attempt += 1;
            }
            other => return other,
        }
    }
}

/// Returns a session that cannot be fetched with the reason, so that it does not keep the others from being committed. It is an
/// error if this machine has no place for a copy: another one may have.
fn unfetched(item: &Item, error: FetchError) -> Result<(String, String), TaskError> {
    match error {
        FetchError::Temporary(_) => Err(TaskError::Store(format!("{}: {}", item.address, with_causes(&error)))),
        error => Ok((item.address.clone(), with_causes(&error))),
    }
}

/// Writes the files of sessions.
fn write(lake: &Lake, pending: Vec<(usize, SessionRows)>, runtime: &Handle) -> Result<Option<Written>, TaskError> {
    let (numbers, rows): (Vec<usize>, Vec<SessionRows>) = pending.into_iter().unzip();
    let Some(encoded) = encode_sessions(&rows).map_err(LakeError::from)? else { return Ok(None) };
    runtime.block_on(lake.write_files(&encoded))?;
    let reduced = |(number, rows): (usize, &SessionRows)| Reduced { number, is_readable: rows.is_readable };
    Ok(Some(Written { batch: encoded.batch, sessions: numbers.into_iter().zip(&rows).map(reduced).collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::Version;

    fn request(source: ObjectError) -> StoreError {
        StoreError::Request { action: "read", path: "a".to_owned(), source }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let generic = request(ObjectError::Generic { store: "S3", source: "timeout".into() });
        assert!(matches!(TaskError::from(generic), TaskError::Store(text) if text.contains("timeout")));
        let denied = request(ObjectError::PermissionDenied { path: "a".to_owned(), source: "no".into() });
        assert!(matches!(TaskError::from(denied), TaskError::Other(_)));
        assert!(matches!(TaskError::from(LakeError::Busy), TaskError::Other(_)));
    }

    #[test]
    fn a_task_without_its_lake_makes_none() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path().join("lake").to_str().expect("text").to_owned();
        let job = Job::Reduce { sessions: Vec::new(), given: Given::default() };
        let task = Task::new(&lake, job);
        let error = perform(&task, &[], runtime.handle(), &|| false).expect_err("no lake");
        assert!(matches!(&error, TaskError::Other(text) if text.contains("there is no lake")), "{error}");
        let other = Version { program: "0.0.1".to_owned(), ..Version::default() };
        let error =
            perform(&Task { version: other, ..task }, &[], runtime.handle(), &|| false).expect_err("is refused");
        assert!(matches!(&error, TaskError::Other(text) if text.contains("must have one version")), "{error}");
    }
}
