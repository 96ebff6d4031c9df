//! Whole bundles: both passes over all documents, and the copy.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::edit::{Edit, apply};
use super::examine::{Examiner, Health, Sense};
use super::known::{Gathered, Known};
use super::memory::Memory;
use super::placeholder::Placeholder;
use super::report::{Place, Report, Tally, Unreadable};
use super::rules::Rules;
use crate::Bundle;
use crate::check::BACKUP_PREFIX;
use crate::files::{create_private_dir, create_private_dirs, create_private_file};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};
use crate::log::Line;
use crate::payloads::{PayloadEntry, PayloadError};
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// Lines of the log that are looked at together.
const BATCH_LINES: usize = 1 << 14;

/// Payloads that are looked at together, so that their reports come in order.
const BATCH_PAYLOADS: usize = 256;

/// The file that a reduction makes from a bundle, and makes again.
const STATE_FILE: &str = "state.json";

/// Deepest nesting of directories whose files are looked at.
const MAX_DEPTH: usize = 16;

/// Finds the secrets of a bundle, and changes nothing.
///
/// # Errors
///
/// Returns an error when the payloads cannot be listed. Files that cannot be read are in the report.
pub fn scan(bundle: &Bundle, rules: &Rules) -> Result<Report, RedactError> {
    Work::begin(bundle, rules, Backups::Searched)?.finish(&Sink::Nothing)
}

/// Writes a copy of a bundle without its secrets to the new directory `out`. The copy appears when it is complete.
///
/// # Errors
///
/// Returns an error when the bundle is being recorded, its payloads cannot be listed, `out` exists, or it cannot be
/// written. Files of the bundle that cannot be read are left out, and so are copies that a repair kept and what is no plain
/// file; all of these are in the report.
pub fn redact(bundle: &Bundle, rules: &Rules, out: &Path) -> Result<Report, RedactError> {
    let is_directory = bundle.path().is_dir();
    if is_directory && is_being_recorded(bundle.path()).map_err(|source| RedactError::read(bundle.path(), source))? {
        return Err(RedactError::BeingRecorded { path: bundle.path().to_owned() });
    }
    if out.symlink_metadata().is_ok() {
        return Err(RedactError::Exists { path: out.to_owned() });
    }
    let copy = Unfinished::create(out).map_err(|source| RedactError::write(out, source))?;
    let report = Work::begin(bundle, rules, Backups::LeftOut)?.finish(&Sink::Directory(&copy.path))?;
    fs::rename(&copy.path, out).map_err(|source| RedactError::write(out, source))?;
    copy.keep();
    Ok(report)
}

/// Redacts one document on its own: what a bundle would become that has nothing else. A document that is not JSON is
/// searched as it stands.
pub fn redact_json(document: &[u8], rules: &Rules) -> Vec<u8> {
    let health = Health::of(document);
    let mut gathered = Gathered::default();
    gather(rules, document, health, &Memory::new(), &Mutex::new(&mut gathered));
    let known = Known::new(rules, gathered);
    let examiner = Examiner { rules, known: &known };
    apply(document, &change(&examiner, document, health, &Memory::new()))
}

/// Why a bundle cannot be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// A recorder is at work on the bundle, so that the copy would be of a part of it.
    #[error("{} is being recorded", path.display())]
    BeingRecorded {
        /// The bundle.
        path: PathBuf,
    },
    /// There is something where the copy should go.
    #[error("{} exists already", path.display())]
    Exists {
        /// Where the copy should go.
        path: PathBuf,
    },
    /// A part of the bundle cannot be listed or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// The copy cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
}

impl RedactError {
    fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

/// A directory that is removed unless it was finished.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn create(out: &Path) -> io::Result<Self> {
        let name =
            out.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no name of a directory"))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".redacting-{}", std::process::id()));
        let path = out.with_file_name(hidden);
        create_private_dir(&path)?;
        let unfinished = Self { path };
        create_private_dir(&unfinished.path.join(PAYLOADS_DIR))?;
        Ok(unfinished)
    }

    /// Keeps what was made, which has another name by now.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "an unfinished copy cannot be removed");
        }
    }
}

/// Where changed documents go.
enum Sink<'a> {
    Nothing,
    Directory(&'a Path),
}

/// What becomes of the copies that a repair kept of what it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backups {
    /// They are a part of the bundle as it is.
    Searched,
    /// Whoever gets a copy of the bundle has no use for them.
    LeftOut,
}

/// What the first pass leaves to the second.
struct Work<'a> {
    bundle: &'a Bundle,
    rules: &'a Rules,
    payloads: Vec<PayloadEntry>,
    /// The small files beside the log, as they are.
    files: Vec<(&'static str, Vec<u8>)>,
    known: Known,
    /// Payloads that are not JSON.
    damaged: HashSet<String>,
    report: Report,
}

impl<'a> Work<'a> {
    /// Runs the first pass.
    fn begin(bundle: &'a Bundle, rules: &'a Rules, backups: Backups) -> Result<Self, RedactError> {
        let Listed { payloads, left_out } = list(bundle, backups)?;
        let mut report = Report { left_out, ..Report::default() };
        let files = small_files(bundle, &mut report);
        let memory = Memory::new();
        let mut gathered = Gathered::default();
        let shared = Mutex::new(&mut gathered);
        for (_, text) in &files {
            gather(rules, text, Health::of(text), &memory, &shared);
        }
        let lines: Vec<Line<'_>> = log_lines(bundle, &mut report);
        lines
            .par_iter()
            .with_min_len(64)
            .for_each(|line| gather(rules, line.bytes, line_health(line.bytes), &memory, &shared));
        let problems: Vec<_> = payloads
            .par_iter()
            .map_init(Vec::new, |buffer, payload| match bundle.payloads().read(&payload.path, buffer) {
                Ok(()) => {
                    let health = Health::of(buffer);
                    gather(rules, buffer, health, &memory, &shared);
                    (health == Health::Damaged).then(|| Ok(payload.path.clone()))
                }
                Err(error) => Some(Err(Unreadable { path: payload.path.clone(), reason: error.to_string() })),
            })
            .flatten_iter()
            .collect();
        let mut damaged = HashSet::new();
        for problem in problems {
            match problem {
                Ok(path) => drop(damaged.insert(path)),
                Err(unreadable) => report.unreadable.push(unreadable),
            }
        }
        Ok(Self { bundle, rules, payloads, files, known: Known::new(rules, gathered), damaged, report })
    }

    /// Runs the second pass.
    fn finish(self, sink: &Sink<'_>) -> Result<Report, RedactError> {
        let memory = Memory::new();
        let examiner = Examiner { rules: self.rules, known: &self.known };
        let mut tally = Tally::default();
        let mut report = self.report.clone();
        for (name, text) in &self.files {
            let edits = change(&examiner, text, Health::of(text), &memory);
            sink.write(name, text, &edits)?;
            tally.add(counts(&edits), &Place::File { path: (*name).to_owned() });
            report.documents += 1;
        }
        self.log(&examiner, &memory, &mut tally, &mut report, sink)?;
        for batch in self.payloads.chunks(BATCH_PAYLOADS) {
            let changed: Vec<_> = batch
                .par_iter()
                .map_init(Vec::new, |buffer, payload| {
                    if let Err(error) = self.bundle.payloads().read(&payload.path, buffer) {
                        let is_told = self.report.unreadable.iter().any(|file| file.path == payload.path);
                        let path = self.bundle.path().join(&payload.path);
                        // A payload that is gone since the first pass would be missed in the copy.
                        return if is_told { Ok(None) } else { Err(RedactError::read(&path, io::Error::other(error))) };
                    }
                    let is_damaged = self.damaged.contains(&payload.path);
                    let health = if is_damaged { Health::Damaged } else { Health::Sound };
                    let edits = change(&examiner, buffer, health, &memory);
                    sink.write(&payload.path, buffer, &edits)?;
                    Ok(Some((payload, counts(&edits))))
                })
                .collect::<Result<_, RedactError>>()?;
            for (payload, counts) in changed.into_iter().flatten() {
                let path = payload.path.clone();
                let is_payload = is_payload(&path);
                let place = if is_payload { Place::Payload { path } } else { Place::File { path } };
                tally.add(counts, &place);
                report.documents += 1;
                // Only payloads have to be JSON.
                if is_payload && self.damaged.contains(&payload.path) {
                    report.damaged.push(place);
                }
            }
        }
        tally.finish(&mut report);
        Ok(report)
    }

    fn log(
        &self,
        examiner: &Examiner<'_>,
        memory: &Memory,
        tally: &mut Tally,
        report: &mut Report,
        sink: &Sink<'_>,
    ) -> Result<(), RedactError> {
        let Ok(log) = self.bundle.log() else { return Ok(()) };
        let lines: Vec<Line<'_>> = log.lines().collect();
        let mut out = match sink {
            Sink::Nothing => None,
            Sink::Directory(directory) => {
                let path = directory.join(EVENT_LOG_FILE);
                let file = create_private_file(&path).map_err(|source| RedactError::write(&path, source))?;
                Some((BufWriter::new(file), path))
            }
        };
        for batch in lines.chunks(BATCH_LINES) {
            let changed: Vec<(Vec<Edit>, Health)> = batch
                .par_iter()
                .with_min_len(64)
                .map(|line| {
                    let health = line_health(line.bytes);
                    (change(examiner, line.bytes, health, memory), health)
                })
                .collect();
            for (line, (edits, health)) in batch.iter().zip(changed) {
                if let Some((out, path)) = &mut out {
                    let end: &[u8] = if line.terminated { b"\n" } else { b"" };
                    out.write_all(&apply(line.bytes, &edits))
                        .and_then(|()| out.write_all(end))
                        .map_err(|source| RedactError::write(path, source))?;
                }
                report.documents += 1;
                if health == Health::Sound && edits.is_empty() {
                    continue;
                }
                let place = Place::Event { line: line.number, seq: seq(line.bytes) };
                tally.add(counts(&edits), &place);
                if health == Health::Damaged {
                    report.damaged.push(place);
                }
            }
        }
        if let Some((mut out, path)) = out {
            out.flush().map_err(|source| RedactError::write(&path, source))?;
        }
        Ok(())
    }
}

impl Sink<'_> {
    fn write(&self, path: &str, text: &[u8], edits: &[Edit]) -> Result<(), RedactError> {
        let Self::Directory(directory) = self else { return Ok(()) };
        let path = directory.join(path);
        if let Some(parent) = path.parent() {
            create_private_dirs(parent).map_err(|source| RedactError::write(parent, source))?;
        }
        let edited;
        let bytes = if edits.is_empty() {
            text
        } else {
            edited = apply(text, edits);
            &edited
        };
        create_private_file(&path)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| RedactError::write(&path, source))
    }
}

fn gather(rules: &Rules, document: &[u8], health: Health, memory: &Memory, gathered: &Mutex<&mut Gathered>) {
    let nothing = Known::default();
    let examiner = Examiner { rules, known: &nothing };
    let add = |secrets: Vec<_>| {
        if !secrets.is_empty() {
            let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            secrets.into_iter().for_each(|secret| gathered.add(secret));
        }
    };
    let look = |examiner: &Examiner<'_>, sense: &Sense, source: &[u8]| {
        memory.recall(sense, source, || {
            add(examiner.string(sense, source, 0).secrets);
            Vec::new()
        })
    };
    examiner.document(document, look, Health::Sound);
    if health == Health::Damaged {
        add(examiner.damaged_secrets(document));
    }
}

fn change(examiner: &Examiner<'_>, document: &[u8], health: Health, memory: &Memory) -> Vec<Edit> {
    let look = |examiner: &Examiner<'_>, sense: &Sense, source: &[u8]| {
        memory.recall(sense, source, || examiner.string(sense, source, 0).edits)
    };
    examiner.document(document, look, health)
}

fn counts(edits: &[Edit]) -> BTreeMap<Placeholder, u64> {
    let mut counts = BTreeMap::new();
    for mark in edits.iter().flat_map(|edit| &edit.marks) {
        *counts.entry(mark.clone()).or_default() += 1;
    }
    counts
}

fn line_health(line: &[u8]) -> Health {
    if line.trim_ascii().is_empty() { Health::Sound } else { Health::of(line) }
}

fn seq(line: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Envelope {
        seq: Option<u64>,
    }
    serde_json::from_slice::<Envelope>(line).ok()?.seq
}

fn log_lines<'a>(bundle: &'a Bundle, report: &mut Report) -> Vec<Line<'a>> {
    match bundle.log() {
        Ok(log) => log.lines().collect(),
        Err(error) => {
            if !error.is_missing() {
                report.unreadable.push(Unreadable { path: EVENT_LOG_FILE.to_owned(), reason: error.to_string() });
            }
            Vec::new()
        }
    }
}

/// Reads the small files of a bundle as they are.
fn small_files(bundle: &Bundle, report: &mut Report) -> Vec<(&'static str, Vec<u8>)> {
    let mut files = Vec::new();
    for name in [MANIFEST_FILE, RECORDER_FILE] {
        let mut text = Vec::new();
        match bundle.payloads().read(name, &mut text) {
            Ok(()) => files.push((name, text)),
            Err(PayloadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                // A bundle that is no directory may have its manifest elsewhere.
                if name == MANIFEST_FILE
                    && let Ok(manifest) = bundle.manifest()
                    && let Ok(text) = serde_json::to_vec_pretty(manifest)
                {
                    files.push((name, text));
                }
            }
            Err(error) => report.unreadable.push(Unreadable { path: name.to_owned(), reason: error.to_string() }),
        }
    }
    files
}

/// The files of a bundle beside those that every bundle has.
struct Listed {
    /// Payloads, and whatever else is copied.
    payloads: Vec<PayloadEntry>,
    /// What is not copied, and should be told.
    left_out: Vec<String>,
}

/// Lists the files of a bundle.
fn list(bundle: &Bundle, backups: Backups) -> Result<Listed, RedactError> {
    let mut listed = Listed { payloads: Vec::new(), left_out: Vec::new() };
    let entries = bundle.payloads().list_all().map_err(|source| RedactError::read(bundle.path(), source))?;
    for entry in entries {
        match entry.path.as_str() {
            MANIFEST_FILE | RECORDER_FILE | EVENT_LOG_FILE | STATE_FILE => {}
            path => match backup(path) {
                Some(backup) if backups == Backups::LeftOut => listed.left_out.push(backup.to_owned()),
                _ => listed.payloads.push(entry),
            },
        }
    }
    if bundle.path().is_dir() {
        list_odd(bundle.path(), "", 0, &mut listed.left_out);
    }
    listed.left_out.sort_unstable();
    listed.left_out.dedup();
    Ok(listed)
}

/// Lists what is in a directory and is no plain file with a name that is UTF-8.
fn list_odd(root: &Path, directory: &str, depth: usize, odd: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(root.join(directory)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        let path = if directory.is_empty() { shown.clone().into_owned() } else { format!("{directory}/{shown}") };
        if backup(&path).is_some() {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_file() && name.to_str().is_some() => {}
            Ok(kind) if kind.is_dir() && name.to_str().is_some() && depth < MAX_DEPTH => {
                list_odd(root, &path, depth + 1, odd);
            }
            _ => odd.push(path),
        }
    }
}

/// Returns the directory with what a bundle was before a repair that a path lies in, a half-made one too.
fn backup(path: &str) -> Option<&str> {
    let first = path.split('/').next()?;
    first.trim_start_matches('.').starts_with(BACKUP_PREFIX).then_some(first)
}

/// Says whether a path is that of a payload, which has to be JSON.
fn is_payload(path: &str) -> bool {
    path.strip_prefix(PAYLOADS_DIR).is_some_and(|rest| rest.starts_with('/'))
}
