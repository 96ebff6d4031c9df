//! Writes bundles that the reader, the reducer and the peer's reducer accept.
//!
//! The writer keeps the format's order by construction: a payload file is complete before the event that names it is
//! appended, and sequence and payload numbers have one owner.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files::{create_private_dir, create_private_file};
use crate::format::{
    EVENT_LOG_FILE, Event, EventPayload, MANIFEST_FILE, Manifest, PAYLOADS_DIR, PayloadKind, PayloadRef, SchemaVersion,
};

/// Where an event happened, as far as the recorder knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// The thread.
    pub thread_id: Option<&'a str>,
    /// The turn.
    pub codex_turn_id: Option<&'a str>,
}

impl<'a> Context<'a> {
    /// An event of the whole session.
    pub const SESSION: Context<'static> = Context { thread_id: None, codex_turn_id: None };

    /// An event of a turn.
    pub fn turn(thread_id: &'a str, codex_turn_id: &'a str) -> Self {
        Self { thread_id: Some(thread_id), codex_turn_id: Some(codex_turn_id) }
    }
}

/// Writes one bundle.
#[derive(Debug)]
pub struct BundleWriter {
    path: PathBuf,
    log: File,
    /// Bytes of the log that are whole lines.
    log_bytes: u64,
    schema: SchemaVersion,
    rollout_id: String,
    next_seq: u64,
    next_payload: u64,
    line: Vec<u8>,
}

impl BundleWriter {
    /// Creates the bundle directory at `path` with its manifest. Directories are private to the user: traces hold
    /// whatever the session saw.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when the directory exists already or a file cannot be written.
    pub fn create(path: &Path, manifest: &Manifest) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        create_private_dir(path)?;
        create_private_dir(&path.join(PAYLOADS_DIR))?;
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        create_private_file(&path.join(MANIFEST_FILE))?.write_all(&text)?;
        let log = create_private_file(&path.join(EVENT_LOG_FILE))?;
        Ok(Self {
            path: path.to_owned(),
            log,
            log_bytes: 0,
            schema: manifest.schema_version,
            rollout_id: manifest.rollout_id.clone(),
            next_seq: 1,
            next_payload: 1,
            line: Vec::new(),
        })
    }

    /// Writes a payload file and returns the reference for the event that is to name it.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when the file cannot be written, and then keeps its number for the next payload.
    pub fn payload<T: Serialize + ?Sized>(
        &mut self,
        kind: PayloadKind<'static>,
        value: &T,
    ) -> io::Result<PayloadRef<'static>> {
        let number = self.next_payload;
        let path = format!("{PAYLOADS_DIR}/{number}.json");
        let text = serde_json::to_vec_pretty(value)?;
        let file = self.path.join(&path);
        if let Err(error) = create_private_file(&file).and_then(|mut file| file.write_all(&text)) {
            // Half a payload must not stand in the way of the next one.
            let _ = fs::remove_file(&file);
            return Err(error);
        }
        self.next_payload += 1;
        Ok(PayloadRef { raw_payload_id: format!("raw_payload:{number}").into(), kind, path: path.into() })
    }

    /// Appends an event with the next sequence number, which it returns.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when the line cannot be written; the log then ends with the event before.
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
        // One write for the whole line: after a crash at most the last line is torn.
        if let Err(error) = self.log.write_all(&self.line) {
            // Half a line must not run into the next one.
            let _ = self.log.set_len(self.log_bytes);
            return Err(error);
        }
        self.log_bytes += self.line.len() as u64;
        self.next_seq += 1;
        Ok(seq)
    }

    /// Returns the directory of the bundle.
    pub fn path(&self) -> &Path {
        &self.path
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
        let mut writer = BundleWriter::create(&path, &manifest).expect("creates");
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
        BundleWriter::create(&path, &manifest).expect_err("never writes over a bundle");
    }
}
