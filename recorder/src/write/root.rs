//! A directory of bundles.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::append::BundleFiles;
use super::error::WriteError;
use super::gap::{Gap, GapReason};
use super::lock::RecorderLock;
use super::options::WriterOptions;
use super::recorder::{ThreadState, unix_ms};
use super::reopen::{Found, read_state};
use super::worker::record_gap;
use super::writer::{BundleWriter, Start};
use crate::format::Manifest;
use crate::recording::{RECORDER_FILE, read_recording};

/// Longest part of a thread id that goes into the name of a bundle.
const NAMED_ID_BYTES: usize = 100;

/// A session that is to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    /// Thread that the session begins with.
    pub root_thread_id: &'a str,
    /// Id of the trace; a new one is made when there is none.
    pub trace_id: Option<&'a str>,
    /// Id of the rollout; the thread's, when there is none.
    pub rollout_id: Option<&'a str>,
}

impl<'a> NewSession<'a> {
    /// Returns a session that begins with a thread.
    pub fn new(root_thread_id: &'a str) -> Self {
        Self { root_thread_id, trace_id: None, rollout_id: None }
    }
}

/// A directory in which every session gets a bundle of its own, `trace-<trace id>-<root thread id>`.
#[derive(Debug, Clone)]
pub struct TraceRoot {
    path: PathBuf,
    options: WriterOptions,
}

impl TraceRoot {
    /// Returns the root at `path`. The directory is made when the first session starts.
    pub fn new(path: impl Into<PathBuf>, options: WriterOptions) -> Self {
        Self { path: path.into(), options }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts to record a session: makes its bundle and records `rollout_started`.
    ///
    /// # Errors
    ///
    /// Returns an error when the bundle cannot be made. A session that should go on all the same goes on with
    /// [`BundleWriter::disabled`].
    pub fn start(&self, session: &NewSession<'_>) -> Result<BundleWriter, WriteError> {
        let started_at_unix_ms = unix_ms();
        let made;
        let trace_id = match session.trace_id {
            Some(id) => id,
            None => {
                made = Uuid::now_v7().to_string();
                &made
            }
        };
        let rollout_id = session.rollout_id.unwrap_or(session.root_thread_id);
        let manifest = Manifest::new(trace_id, rollout_id, session.root_thread_id, started_at_unix_ms);
        let path = self.path.join(format!("trace-{}-{}", in_name(trace_id), in_name(session.root_thread_id)));
        let storage = Arc::clone(&self.options.storage);
        storage.create_dir_all(&self.path).map_err(|error| WriteError::io(&self.path, error))?;
        storage.create_dir(&path).map_err(|error| WriteError::io(&path, error))?;
        let mut lock = RecorderLock::acquire(&*storage, &path, started_at_unix_ms)?;
        lock.begin()?;
        let files = BundleFiles::create(Arc::clone(&storage), &path, &manifest, self.options.durability)
            .map_err(|error| WriteError::io(&path, error))?;
        let start = Start { files, lock, manifest: &manifest, last_seq: 0, next_payload: 1, threads: HashMap::new() };
        let writer = BundleWriter::start(start, &self.options)?;
        writer.record_start(trace_id, session.root_thread_id);
        Ok(writer)
    }

    /// Goes on with a bundle whose recorder stopped or died, and records a gap. A torn last line is cut off.
    ///
    /// # Errors
    ///
    /// Returns an error when the bundle cannot be read, is complete, is being recorded, or is damaged in another way.
    pub fn reopen(&self, bundle: &Path) -> Result<BundleWriter, WriteError> {
        let storage = Arc::clone(&self.options.storage);
        let was_left = bundle.join(RECORDER_FILE).exists();
        let mut lock = RecorderLock::acquire(&*storage, bundle, unix_ms())?;
        let stopped = read_recording(bundle).ok().flatten().and_then(|recording| recording.stopped);
        let found = match read_state(bundle) {
            Ok(found) => found,
            Err(error) => {
                // A bundle that is refused stays as it was.
                if !was_left {
                    let _ = lock.release(&*storage);
                }
                return Err(error);
            }
        };
        let Found { manifest, log_bytes, ends_whole, last_seq, next_payload, ended_threads } = found;
        lock.begin()?;
        let mut files = BundleFiles::reopen(Arc::clone(&storage), bundle, log_bytes)
            .map_err(|error| WriteError::io(bundle, error))?;
        if !ends_whole {
            files.append(b"\n").map_err(|error| WriteError::io(bundle, error))?;
        }
        let threads = ended_threads
            .into_iter()
            .map(|(id, has_ended)| (id, Arc::new(ThreadState { has_ended: has_ended.into() })))
            .collect();
        let start = Start { files, lock, manifest: &manifest, last_seq, next_payload, threads };
        let writer = BundleWriter::start(start, &self.options)?;
        if let Some(recorder) = writer.recorder() {
            let gap = Gap {
                reason: GapReason::Reopened,
                after_seq: last_seq,
                dropped_bodies: 0,
                dropped_bytes: 0,
                lost_events: stopped.map_or(0, |stopped| stopped.lost_events),
            };
            record_gap(&recorder.shared, &gap);
        }
        Ok(writer)
    }
}

/// Returns an id as it may stand in the name of a directory.
fn in_name(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    id.chars().take(NAMED_ID_BYTES).map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_lead_out_of_the_root() {
        assert_eq!(in_name("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(in_name("019cae19-0040"), "019cae19-0040");
        assert_eq!(in_name(&"x".repeat(1000)).len(), NAMED_ID_BYTES);
    }
}
