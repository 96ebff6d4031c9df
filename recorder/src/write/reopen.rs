//! Reads the state of a bundle that is to be continued.

use std::collections::HashMap;
use std::path::Path;

use super::error::WriteError;
use crate::bundle::{BundleError, read_manifest, read_packed_manifest};
use crate::format::{EVENT_LOG_FILE, EventPayload, Manifest, PAYLOADS_DIR, SchemaVersion};
use crate::log::{EventLog, Line, parse_lines};
use crate::pack::{GrowingState, PackedBundle};

/// Number of lines that are parsed together.
const BATCH_LINES: usize = 1 << 14;

/// What a recorder needs to know to continue a bundle.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) manifest: Manifest,
    /// Number of bytes of the log that are complete events.
    pub(crate) log_bytes: u64,
    /// Whether an incomplete line follows them.
    pub(crate) is_torn: bool,
    /// Whether the last of these events ends with a line feed.
    pub(crate) ends_whole: bool,
    pub(crate) last_seq: u64,
    pub(crate) next_payload: u64,
    pub(crate) known: Known,
}

/// Threads and turns that have started in a bundle, each with whether it has ended.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) threads: HashMap<String, bool>,
    pub(crate) turns: HashMap<String, bool>,
    pub(crate) rollout_has_ended: bool,
}

impl Known {
    fn note(&mut self, event: &EventPayload<'_>) {
        match event {
            EventPayload::ThreadStarted(event) => drop(self.threads.insert(event.thread_id.to_string(), false)),
            EventPayload::ThreadResumed(event) => drop(self.threads.insert(event.thread_id.to_string(), false)),
            EventPayload::ThreadEnded(event) => drop(self.threads.insert(event.thread_id.to_string(), true)),
            EventPayload::CodexTurnStarted(event) => drop(self.turns.insert(event.codex_turn_id.to_string(), false)),
            EventPayload::CodexTurnEnded(event) => drop(self.turns.insert(event.codex_turn_id.to_string(), true)),
            EventPayload::RolloutEnded(_) => self.rollout_has_ended = true,
            _ => {}
        }
    }
}

/// Reads a bundle that is to be continued.
pub(crate) fn read_state(bundle: &Path) -> Result<Found, WriteError> {
    let manifest = read_manifest(bundle).map_err(|error| match error {
        BundleError::Io { path, source } => WriteError::Io { path, source },
        error => WriteError::Damaged { path: bundle.to_owned(), line: None, reason: error.to_string() },
    })?;
    let damaged = |line: Option<u64>, reason: String| WriteError::Damaged { path: bundle.to_owned(), line, reason };
    if manifest.schema_version != SchemaVersion::CURRENT {
        return Err(damaged(None, format!("schema {} is no longer written", manifest.schema_version)));
    }
    for name in [EVENT_LOG_FILE, PAYLOADS_DIR] {
        // A bundle may come from a stranger. The targets of its symlinks must not be written to.
        let path = bundle.join(name);
        if std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(damaged(None, format!("{name} is a symbolic link")));
        }
    }
    let log_path = bundle.join(EVENT_LOG_FILE);
    // SAFETY: the caller holds the lock of the bundle, and goes on with the log only when this value is gone.
    let log = unsafe { EventLog::map(&log_path) }.map_err(|error| WriteError::io(&log_path, error))?;
    read_log(bundle, manifest, &log, next_payload(bundle)?)
}

/// Reads a growing bundle that is to be continued, up to its last whole record.
pub(crate) fn read_growing_state(bundle: &Path) -> Result<(Found, GrowingState), WriteError> {
    let damaged = |reason: String| WriteError::Damaged { path: bundle.to_owned(), line: None, reason };
    let packed = PackedBundle::open(bundle).map_err(|error| damaged(error.to_string()))?;
    let manifest = read_packed_manifest(&packed).map_err(|error| damaged(error.to_string()))?;
    if manifest.schema_version != SchemaVersion::CURRENT {
        return Err(damaged(format!("schema {} is no longer written", manifest.schema_version)));
    }
    let log = packed.read_log(EVENT_LOG_FILE).map_err(|error| damaged(error.to_string()))?;
    let last = packed.files().filter_map(|file| ordinal_of(file.path)).max().unwrap_or(0);
    // The payload of the gap event and the one behind it need a number each.
    if last > u64::MAX - 2 {
        return Err(damaged("payload numbers are used up".to_owned()));
    }
    if packed.has_records_behind_damage().map_err(|error| WriteError::io(bundle, error))? {
        return Err(damaged("a record in the middle of the file is damaged".to_owned()));
    }
    let found = read_log(bundle, manifest, &EventLog::from_bytes(log), last + 1)?;
    if found.is_torn {
        return Err(damaged("its log has half a line".to_owned()));
    }
    let state = packed.growing_state().ok_or_else(|| WriteError::Complete { path: bundle.to_owned() })?;
    Ok((found, state))
}

/// Reads a log that is to be continued.
fn read_log(bundle: &Path, manifest: Manifest, log: &EventLog, next_payload: u64) -> Result<Found, WriteError> {
    let damaged = |line: Option<u64>, reason: String| WriteError::Damaged { path: bundle.to_owned(), line, reason };
    let mut found = Found {
        next_payload,
        manifest,
        log_bytes: 0,
        is_torn: false,
        ends_whole: true,
        last_seq: 0,
        known: Known::default(),
    };
    let mut lines = log.lines();
    loop {
        let batch: Vec<Line<'_>> = lines.by_ref().take(BATCH_LINES).collect();
        if batch.is_empty() {
            return Ok(found);
        }
        for parsed in parse_lines(&batch) {
            let line = parsed.line;
            let event = match parsed.event {
                Ok(Some(event)) => event,
                // Only the last line can lack its line feed. A process that died while writing left it.
                Ok(None) | Err(_) if !line.terminated => {
                    found.is_torn = true;
                    return Ok(found);
                }
                Ok(None) => return Err(damaged(Some(line.number), "a blank line".to_owned())),
                Err(error) => return Err(damaged(Some(line.number), error.to_string())),
            };
            if event.seq != found.last_seq + 1 {
                let reason = format!("seq {} does not follow {}", event.seq, found.last_seq);
                return Err(damaged(Some(line.number), reason));
            }
            if event.rollout_id != *found.manifest.rollout_id || event.schema_version != SchemaVersion::CURRENT {
                return Err(damaged(Some(line.number), "an event of another rollout or schema".to_owned()));
            }
            for reference in event.payload.payload_refs() {
                // The number is in use even if the file is missing.
                let number = ordinal_of(&reference.path).unwrap_or(0);
                found.next_payload = found.next_payload.max(number.saturating_add(1));
            }
            found.last_seq = event.seq;
            found.log_bytes = line.offset + line.bytes.len() as u64 + u64::from(line.terminated);
            found.ends_whole = line.terminated;
            if matches!(event.payload, EventPayload::RecordingCompleted(_)) {
                return Err(WriteError::Complete { path: bundle.to_owned() });
            }
            found.known.note(&event.payload);
        }
    }
}

/// Returns the number in a payload path of the usual form.
fn ordinal_of(path: &str) -> Option<u64> {
    path.strip_prefix(PAYLOADS_DIR)?.strip_prefix('/')?.strip_suffix(".json")?.parse().ok()
}

/// Returns a payload number greater than those of all files, including files to which no event refers.
fn next_payload(bundle: &Path) -> Result<u64, WriteError> {
    let path = bundle.join(PAYLOADS_DIR);
    let entries = std::fs::read_dir(&path).map_err(|error| WriteError::io(&path, error))?;
    let mut last = 0;
    for entry in entries {
        let name = entry.map_err(|error| WriteError::io(&path, error))?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<u64>().ok());
        last = last.max(number.unwrap_or(0));
    }
    last.checked_add(1).ok_or_else(|| WriteError::Damaged {
        path: bundle.to_owned(),
        line: None,
        reason: "payload numbers are used up".to_owned(),
    })
}
