//! A directory of bundles.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use uuid::Uuid;

use super::append::BundleFiles;
use super::body::{Pieces, Text};
use super::directory::DirectoryTarget;
use super::error::WriteError;
use super::gap::{Gap, GapReason};
use super::growing::GrowingTarget;
use super::lock::RecorderLock;
use super::options::{Durability, Form, WriterOptions};
use super::recorder::{Line, LineContext, gap_event, unix_ms};
use super::reopen::{Found, Known, read_growing_state, read_state};
use super::target::{Failure, Target};
use super::writer::{BundleWriter, Start};
use crate::format::Manifest;
use crate::header::is_growing;
use crate::pack::PACKED_EXTENSION;
use crate::recording::{Stopped, read_recording};

/// Longest part of a thread id or trace id in the name of a bundle.
const NAMED_ID_BYTES: usize = 100;

/// A session to record.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    /// First thread of the session.
    pub root_thread_id: &'a str,
    /// Id of the trace. `None` creates a new one.
    pub trace_id: Option<&'a str>,
    /// Id of the rollout. `None` uses the id of the root thread.
    pub rollout_id: Option<&'a str>,
}

impl<'a> NewSession<'a> {
    /// Returns a session with this first thread.
    pub fn new(root_thread_id: &'a str) -> Self {
        Self { root_thread_id, trace_id: None, rollout_id: None }
    }
}

/// A directory in which every session gets its own bundle, the directory `trace-<trace id>-<root thread id>` or the file
/// `trace-<trace id>-<root thread id>.trace`.
#[derive(Debug, Clone)]
pub struct TraceRoot {
    path: PathBuf,
    options: WriterOptions,
}

impl TraceRoot {
    /// Returns the root at `path`. The directory is created when the first session starts.
    pub fn new(path: impl Into<PathBuf>, options: WriterOptions) -> Self {
        Self { path: path.into(), options }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts to record a session: creates its bundle and records `rollout_started`.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be created. A session that should continue without a recording can use
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
        let name = format!("trace-{}-{}", in_name(trace_id), in_name(session.root_thread_id));
        self.create_root()?;
        let writer = match self.options.form {
            Form::Directory => self.start_directory(&self.path.join(name), &manifest),
            Form::Packed => self.start_packed(&self.path.join(format!("{name}.{PACKED_EXTENSION}")), &manifest),
        }?;
        writer.record_start(trace_id, session.root_thread_id);
        Ok(writer)
    }

    fn start_directory(&self, path: &Path, manifest: &Manifest) -> Result<BundleWriter, WriteError> {
        let storage = &self.options.storage;
        storage.create_dir(path).map_err(|error| WriteError::io(path, error))?;
        let begun = self.begin(path, manifest);
        if begun.is_err() {
            // An incomplete directory would make the next attempt fail, and no command would ever remove it.
            let _ = storage.remove_dir_all(path);
        }
        begun
    }

    fn start_packed(&self, path: &Path, manifest: &Manifest) -> Result<BundleWriter, WriteError> {
        let target = GrowingTarget::create(Arc::clone(&self.options.storage), path, manifest, self.options.durability)?;
        let start = Start {
            target: Box::new(target),
            path: path.to_owned(),
            manifest,
            last_seq: 0,
            next_payload: 1,
            known: Known::default(),
        };
        BundleWriter::start(start, &self.options).inspect_err(|_| {
            // An incomplete file would make the next attempt fail.
            let _ = self.options.storage.remove_file(path);
        })
    }

    fn create_root(&self) -> Result<(), WriteError> {
        let storage = &self.options.storage;
        let failed = |error| WriteError::io(&self.path, error);
        let made: Vec<&Path> =
            self.path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
        storage.create_dir_all(&self.path).map_err(failed)?;
        if self.options.durability == Durability::Synced {
            for parent in made.iter().filter_map(|path| path.parent()) {
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                storage.sync_dir(parent).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn begin(&self, path: &Path, manifest: &Manifest) -> Result<BundleWriter, WriteError> {
        let storage = &self.options.storage;
        let mut lock = RecorderLock::acquire(&**storage, path, manifest.started_at_unix_ms)?;
        lock.begin()?;
        let files = BundleFiles::create(Arc::clone(storage), path, manifest, self.options.durability)
            .map_err(|error| WriteError::io(path, error))?;
        let target = self.directory_target(files, lock);
        let path = path.to_owned();
        let start = Start { target, path, manifest, last_seq: 0, next_payload: 1, known: Known::default() };
        BundleWriter::start(start, &self.options)
    }

    fn directory_target(&self, files: BundleFiles, lock: RecorderLock) -> Box<dyn Target> {
        let (storage, durability) = (Arc::clone(&self.options.storage), self.options.durability);
        let unsynced = Vec::new();
        Box::new(DirectoryTarget { storage, files, lock, durability, unsynced, uncommitted_bytes: 0 })
    }

    /// Continues the bundle at `bundle`, whose recorder stopped or died, and records a gap. If the last line is incomplete, a
    /// copy of the log without it takes the place of the log.
    ///
    /// Events that the earlier recorder wrote with [`Durability::Buffered`] are not synced by this.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be read, is complete, is being recorded, or has other damage. The bundle is
    /// then unchanged.
    pub fn reopen(&self, bundle: &Path) -> Result<BundleWriter, WriteError> {
        if bundle.is_file() {
            return self.reopen_packed(bundle);
        }
        let storage = &self.options.storage;
        let lock = RecorderLock::acquire(&**storage, bundle, unix_ms())?;
        let stopped = read_recording(bundle).ok().flatten().and_then(|recording| recording.stopped);
        let found = match read_state(bundle) {
            Ok(found) => found,
            Err(error) => {
                lock.give_up(&**storage);
                return Err(error);
            }
        };
        match self.go_on(&lock, &found, stopped.as_ref()) {
            Ok(files) => self.begin_again(files, lock, found),
            Err(error) => {
                lock.give_up(&**storage);
                Err(WriteError::io(bundle, error))
            }
        }
    }

    /// Opens the files of a bundle that is to be continued, and records the gap in its log.
    fn go_on(&self, lock: &RecorderLock, found: &Found, stopped: Option<&Stopped>) -> io::Result<BundleFiles> {
        let durability = self.options.durability;
        let (ordinal, text, lines) = gap_of(found, stopped)?;
        let mut files = BundleFiles::reopen(Arc::clone(&self.options.storage), lock, found)?;
        let mut file = files.payload(ordinal, &text)?;
        if durability == Durability::Synced {
            file.sync_data()?;
            files.sync_payload_names()?;
        }
        files.append(&lines, durability)?;
        Ok(files)
    }

    fn begin_again(
        &self,
        files: BundleFiles,
        mut lock: RecorderLock,
        found: Found,
    ) -> Result<BundleWriter, WriteError> {
        // The reason why the earlier recorder stopped is overwritten only now, when the log has the gap event.
        lock.begin()?;
        let path = files.path().to_owned();
        self.start_again(self.directory_target(files, lock), path, found)
    }

    fn start_again(&self, target: Box<dyn Target>, path: PathBuf, found: Found) -> Result<BundleWriter, WriteError> {
        let Found { manifest, last_seq, next_payload, known, .. } = found;
        let (last_seq, next_payload) = (last_seq + 1, next_payload + 1);
        BundleWriter::start(Start { target, path, manifest: &manifest, last_seq, next_payload, known }, &self.options)
    }

    fn reopen_packed(&self, bundle: &Path) -> Result<BundleWriter, WriteError> {
        let failed = |error| WriteError::io(bundle, error);
        if !is_growing(bundle).map_err(failed)? {
            return Err(WriteError::Complete { path: bundle.to_owned() });
        }
        let (storage, durability) = (Arc::clone(&self.options.storage), self.options.durability);
        let mut target = GrowingTarget::reopen(storage, bundle, unix_ms(), durability)?;
        let stopped = read_recording(bundle).ok().flatten().and_then(|recording| recording.stopped);
        let (found, state) = read_growing_state(bundle)?;
        let (ordinal, text, lines) = gap_of(&found, stopped.as_ref()).map_err(failed)?;
        let written = |failure: Failure| failed(failure.error);
        target.go_on(state).map_err(failed)?;
        target.payload(ordinal, 0, Pieces::One(Text::Owned(text))).map_err(written)?;
        target.commit(&lines).map_err(written)?;
        target.begin_again().map_err(failed)?;
        self.start_again(Box::new(target), bundle.to_owned(), found)
    }
}

/// Returns the gap event of a recorder that continues a bundle: the number and the text of its payload, and its line.
fn gap_of(found: &Found, stopped: Option<&Stopped>) -> io::Result<(u64, Vec<u8>, Vec<u8>)> {
    // Lines whose commit failed count as lost. If they could not be cut off either, they are there nevertheless.
    let lost_events = stopped.map_or(0, |stopped| {
        let found_after_all = found.last_seq.saturating_sub(stopped.after_seq);
        stopped.lost_events.saturating_sub(found_after_all)
    });
    let gap = Gap {
        reason: GapReason::Reopened,
        after_seq: found.last_seq,
        dropped_bodies: stopped.map_or(0, |stopped| stopped.dropped_bodies),
        dropped_bytes: 0,
        lost_events,
    };
    let (payload, event) = gap_event(&gap, found.next_payload);
    let mut lines = if found.ends_whole { Vec::new() } else { vec![b'\n'] };
    let context = LineContext::new(&found.manifest.rollout_id, None, None);
    let line = Line { at_unix_ms: unix_ms(), rest: &context.with(&event) };
    line.write(found.last_seq + 1, &AtomicI64::new(i64::MIN), &mut lines);
    Ok((payload.ordinal, serde_json::to_vec(&gap)?, lines))
}

/// Returns an id with every character replaced that should not be in the name of a directory.
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
