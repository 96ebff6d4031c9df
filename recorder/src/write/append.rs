//! Writes a bundle step by step on the thread of the caller.
//!
//! [`BundleAppender`] ensures the order of the format: a payload file is complete before the event that refers to it is
//! appended, and one value assigns all sequence and payload numbers. It is meant for programs that generate bundles, and
//! returns an error if something cannot be written. A live session records through [`BundleWriter`](super::BundleWriter),
//! which does the same work on its own thread.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::lock::RecorderLock;
use super::options::Durability;
use super::reopen::Found;
use super::storage::{OsStorage, Storage, StorageFile, write_all};
use crate::files::temporary_path;
use crate::format::{
    EVENT_LOG_FILE, Event, EventPayload, MANIFEST_FILE, Manifest, PAYLOADS_DIR, PayloadKind, PayloadRef, SchemaVersion,
};

/// Number of bytes of a log that are copied at a time.
const COPIED_BYTES: usize = 1 << 16;

/// Thread and turn in which an event happened, as far as the recorder knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// Id of the thread, if the recorder knows it.
    pub thread_id: Option<&'a str>,
    /// Id of the turn, if the recorder knows it.
    pub codex_turn_id: Option<&'a str>,
}

impl<'a> Context<'a> {
    /// The context of an event of the whole session.
    pub const SESSION: Context<'static> = Context { thread_id: None, codex_turn_id: None };

    /// Returns the context of an event of a turn.
    pub fn turn(thread_id: &'a str, codex_turn_id: &'a str) -> Self {
        Self { thread_id: Some(thread_id), codex_turn_id: Some(codex_turn_id) }
    }
}

/// Returns the path of a payload file relative to its bundle.
pub(crate) fn payload_path(ordinal: u64) -> String {
    [PAYLOADS_DIR, "/", itoa::Buffer::new().format(ordinal), ".json"].concat()
}

/// Returns the reference to the payload with this number.
pub(crate) fn payload_ref(ordinal: u64, kind: PayloadKind<'static>) -> PayloadRef<'static> {
    let raw_payload_id = ["raw_payload:", itoa::Buffer::new().format(ordinal)].concat();
    PayloadRef { raw_payload_id: raw_payload_id.into(), kind, path: payload_path(ordinal).into() }
}

/// The open files of a bundle that is being written.
#[derive(Debug)]
pub(crate) struct BundleFiles {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    log: Box<dyn StorageFile>,
    /// Number of bytes of the log that are complete lines.
    log_bytes: u64,
}

impl BundleFiles {
    /// Creates the files of a bundle in the directory at `path`, which exists and contains only `recorder.json`.
    pub(crate) fn create(
        storage: Arc<dyn Storage>,
        path: &Path,
        manifest: &Manifest,
        durability: Durability,
    ) -> io::Result<Self> {
        storage.create_dir(&path.join(PAYLOADS_DIR))?;
        let log = storage.create_file(&path.join(EVENT_LOG_FILE))?;
        // The manifest is written last, so that a bundle with a manifest is complete.
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        let mut file = storage.create_file(&path.join(MANIFEST_FILE))?;
        write_all(&mut *file, &text)?;
        let files = Self { storage, path: path.to_owned(), log, log_bytes: 0 };
        if durability == Durability::Synced {
            file.sync_data()?;
            files.sync_names()?;
        }
        Ok(files)
    }

    /// Opens the files of a bundle to continue it. A log with an incomplete line is replaced by one without it.
    pub(crate) fn reopen(storage: Arc<dyn Storage>, lock: &RecorderLock, found: &Found) -> io::Result<Self> {
        let path = lock.bundle();
        let log_path = path.join(EVENT_LOG_FILE);
        if found.is_torn {
            replace_by_beginning(&*storage, &log_path, found.log_bytes)?;
        }
        let log = storage.open_to_append(&log_path)?;
        Ok(Self { storage, path: path.to_owned(), log, log_bytes: found.log_bytes })
    }

    /// Writes a payload file. Returns the open file so that the caller can sync it.
    pub(crate) fn payload(&self, ordinal: u64, text: &[u8]) -> io::Result<Box<dyn StorageFile>> {
        let path = self.path.join(payload_path(ordinal));
        let mut file = self.storage.create_file(&path)?;
        if let Err(error) = write_all(&mut *file, text) {
            // A partly written payload must not be taken for a complete one.
            let _ = self.storage.remove_file(&path);
            return Err(error);
        }
        Ok(file)
    }

    /// Appends complete lines to the log. If this fails, none of them is kept.
    pub(crate) fn append(&mut self, lines: &[u8], durability: Durability) -> io::Result<()> {
        // All lines are passed to one write, so that at most the last line is incomplete after a crash.
        let written = write_all(&mut *self.log, lines).and_then(|()| match durability {
            Durability::Buffered => Ok(()),
            Durability::Synced => self.log.sync_data(),
        });
        if let Err(error) = written {
            // An incomplete line must not be joined with the next one, and lines that could not be synced must not look as
            // if they were.
            let _ = self.log.truncate(self.log_bytes);
            return Err(error);
        }
        self.log_bytes += lines.len() as u64;
        Ok(())
    }

    /// Makes the names of payload files survive a power failure.
    pub(crate) fn sync_payload_names(&self) -> io::Result<()> {
        self.storage.sync_dir(&self.path.join(PAYLOADS_DIR))
    }

    /// Makes the names of the bundle's files and the name of the bundle survive a power failure.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        self.storage.sync_dir(&self.path)?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        self.storage.sync_dir(parent.unwrap_or(Path::new(".")))
    }

    /// Returns the directory of the bundle.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Replaces a file by its first `bytes` bytes. A reader may have mapped the file, and would be killed if it were truncated.
/// The reader keeps the replaced file.
fn replace_by_beginning(storage: &dyn Storage, path: &Path, bytes: u64) -> io::Result<()> {
    let temporary = temporary_path(path);
    storage.remove_leftover(&temporary)?;
    let replaced = copy_beginning(storage, path, &temporary, bytes).and_then(|()| storage.rename(&temporary, path));
    if let Err(error) = replaced {
        // The error matters more than a file left behind.
        let _ = storage.remove_leftover(&temporary);
        return Err(match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                io::Error::new(error.kind(), format!("{error}; a copy of the log needs room for {bytes} bytes"))
            }
            _ => error,
        });
    }
    storage.sync_dir(path.parent().unwrap_or(Path::new(".")))
}

fn copy_beginning(storage: &dyn Storage, path: &Path, to: &Path, bytes: u64) -> io::Result<()> {
    let mut rest = storage.open_to_read(path)?.take(bytes);
    let mut copy = storage.create_file_like(to, path)?;
    let mut buffer = vec![0; COPIED_BYTES];
    while rest.limit() > 0 {
        match rest.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => write_all(&mut *copy, &buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    copy.sync_data()
}

/// Writes one bundle on the thread of the caller, with times that the caller provides.
#[derive(Debug)]
pub struct BundleAppender {
    files: BundleFiles,
    schema: SchemaVersion,
    rollout_id: String,
    next_seq: u64,
    next_payload: u64,
    line: Vec<u8>,
}

impl BundleAppender {
    /// Creates the bundle directory at `path` with its manifest. Directories are private to the user, since a recording
    /// holds everything the session saw.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if the directory exists already or a file cannot be written.
    pub fn create(path: &Path, manifest: &Manifest) -> io::Result<Self> {
        let storage = OsStorage;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            storage.create_dir_all(parent)?;
        }
        storage.create_dir(path)?;
        Ok(Self {
            files: BundleFiles::create(Arc::new(storage), path, manifest, Durability::Buffered)?,
            schema: manifest.schema_version,
            rollout_id: manifest.rollout_id.clone(),
            next_seq: 1,
            next_payload: 1,
            line: Vec::new(),
        })
    }

    /// Writes a payload file and returns the reference for the event that is to refer to it.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if the file cannot be written. The next payload then gets the same number.
    pub fn payload<T: Serialize + ?Sized>(
        &mut self,
        kind: PayloadKind<'static>,
        value: &T,
    ) -> io::Result<PayloadRef<'static>> {
        let ordinal = self.next_payload;
        self.files.payload(ordinal, &serde_json::to_vec_pretty(value)?)?;
        self.next_payload += 1;
        Ok(payload_ref(ordinal, kind))
    }

    /// Appends an event with the next sequence number and returns the number.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if the line cannot be written. The log then ends with the event before.
    pub fn event(
        &mut self,
        wall_time_unix_ms: i64,
        context: Context<'_>,
        payload: EventPayload<'_>,
    ) -> io::Result<u64> {
        let seq = self.next_seq;
        let event = Event {
            schema_version: self.schema,
            seq,
            wall_time_unix_ms,
            rollout_id: self.rollout_id.as_str().into(),
            thread_id: context.thread_id.map(Into::into),
            codex_turn_id: context.codex_turn_id.map(Into::into),
            payload,
        };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &event)?;
        self.line.push(b'\n');
        self.files.append(&self.line, Durability::Buffered)?;
        self.next_seq += 1;
        Ok(seq)
    }

    /// Returns the directory of the bundle.
    pub fn path(&self) -> &Path {
        self.files.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::Bundle;
    use crate::format::RolloutStatus;
    use crate::format::event::{RecordingCompleted, RolloutEnded, ThreadStarted};
    use crate::log::parse_lines;

    #[test]
    fn what_is_written_reads_back() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("bundle");
        let manifest = Manifest::new("t", "r", "thread", 7);
        let mut writer = BundleAppender::create(&path, &manifest).expect("creates");
        let reference = writer.payload(PayloadKind::SessionMetadata, &["any"]).expect("writes");
        let started = EventPayload::ThreadStarted(ThreadStarted {
            thread_id: "thread".into(),
            agent_path: "/root".into(),
            metadata_payload: Some(reference),
        });
        let ended = EventPayload::RolloutEnded(RolloutEnded { status: RolloutStatus::Completed });
        let done = EventPayload::RecordingCompleted(RecordingCompleted {});
        for payload in [started.clone(), ended.clone(), done.clone()] {
            writer.event(8, Context::turn("thread", "turn"), payload).expect("appends");
        }

        let bundle = Bundle::open(&path).expect("opens");
        assert_eq!(bundle.manifest().expect("a manifest"), &manifest);
        let lines: Vec<_> = bundle.log().expect("a log").lines().collect();
        let events: Vec<_> =
            parse_lines(&lines).into_iter().map(|line| line.event.expect("an event").expect("not blank")).collect();
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(events.iter().map(|event| &event.payload).collect::<Vec<_>>(), [&started, &ended, &done]);
        let mut payload = Vec::new();
        bundle.payloads().read("payloads/1.json", &mut payload).expect("reads");
        assert_eq!(payload, b"[\n  \"any\"\n]");
        BundleAppender::create(&path, &manifest).expect_err("never writes over a bundle");
    }
}
