//! Whole bundles: both passes over all documents, and the copy.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::edit::{Edit, apply, merge};
use super::examine::{Examiner, Health, Sense, Subject};
use super::known::{Gathered, Known, NewName, Secret};
use super::memory::{Memory, Verdict};
use super::placeholder::Placeholder;
use super::report::{Place, Report, Tally, Unreadable};
use super::rules::Rules;
use super::streams::{StreamEdits, Streams};
use super::structure;
use crate::Bundle;
use crate::files::{create_private_dir, create_private_dirs, create_private_file};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};
use crate::log::Line;
use crate::parts::{Part, backup_of, odd_part};
use crate::payloads::{PayloadEntry, PayloadError};
use crate::recording::{RECORDER_FILE, is_being_recorded};

/// Lines of the log that are looked at together.
const BATCH_LINES: usize = 1 << 14;

/// Payloads that are looked at together, so that their reports come in order.
const BATCH_PAYLOADS: usize = 256;

/// First number of each kind of document. Pieces of streams are joined in the order of these numbers: small files,
/// lines of the log, payloads.
const FIRST_LINE: u64 = 1 << 8;
const FIRST_PAYLOAD: u64 = 1 << 40;

/// Deepest nesting of directories whose files are looked at.
const MAX_DEPTH: usize = 16;

/// Finds the secrets of a bundle, and changes nothing.
///
/// # Errors
///
/// Returns an error when the payloads cannot be listed. Files that cannot be read are in the report.
pub fn scan(bundle: &Bundle, rules: &Rules) -> Result<Report, RedactError> {
    refuse_links(bundle.path())?;
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
    refuse_links(bundle.path())?;
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

/// Refuses a bundle whose manifest, log or recorder's file is a link, a pipe, a device or anything else than a plain file.
/// To be asked before the bundle is opened, since opening reads the manifest and the log.
///
/// # Errors
///
/// Returns [`RedactError::NotPlain`] with the first such file, and an I/O error if it cannot be asked for.
pub fn refuse_links(bundle: &Path) -> Result<(), RedactError> {
    if !bundle.is_dir() {
        return Ok(());
    }
    match odd_part(bundle, Part::is_record) {
        Ok(None) => Ok(()),
        Ok(Some(path)) => Err(RedactError::NotPlain { path }),
        Err((path, error)) => Err(RedactError::read(&path, error)),
    }
}

/// Redacts one document on its own: what a bundle would become that has nothing else. A document that is not JSON is
/// searched as it is.
pub fn redact_json(document: &[u8], rules: &Rules) -> Vec<u8> {
    let health = Health::of(document);
    let gathering = Gathering::new(rules);
    gathering.document(0, document, health);
    let (known, streams, memory) = gathering.finish();
    let examiner = Examiner::new(rules, &known);
    apply(document, &change(&examiner, (0, document), health, &memory, &streams))
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
    /// The manifest, the log or the recorder's file is a link or another thing that is no plain file.
    #[error("{} is not a plain file", path.display())]
    NotPlain {
        /// The file.
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

/// A directory that is deleted on drop unless it was completed.
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

    /// Keeps the directory, which was renamed.
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

/// What happens to the backups of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backups {
    /// They are searched like the rest of the bundle.
    Searched,
    /// They are left out, because a redacted copy needs no backups.
    LeftOut,
}

/// State that the first pass hands to the second.
struct Work<'a> {
    bundle: &'a Bundle,
    rules: &'a Rules,
    payloads: Vec<PayloadEntry>,
    /// The small files beside the log, as they are.
    files: Vec<(&'static str, Vec<u8>)>,
    known: Known,
    /// Secrets that are cut over several documents or strings.
    streams: StreamEdits,
    memory: Memory,
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
        let gathering = Gathering::new(rules);
        for (index, (_, text)) in files.iter().enumerate() {
            gathering.document(index as u64, text, Health::of(text));
        }
        let lines: Vec<Line<'_>> = log_lines(bundle, &mut report);
        lines
            .par_iter()
            .with_min_len(64)
            .for_each(|line| gathering.document(FIRST_LINE + line.number, line.bytes, line_health(line.bytes)));
        for path in payloads.iter().map(|payload| &payload.path).chain(&report.left_out) {
            gathering.name(path);
        }
        let order = order(&payloads);
        let problems: Vec<_> = payloads
            .par_iter()
            .map_init(Vec::new, |buffer, payload| match bundle.payloads().read(&payload.path, buffer) {
                Ok(()) => {
                    let health = Health::of(buffer);
                    gathering.document(order[&payload.path], buffer, health);
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
        let (known, streams, memory) = gathering.finish();
        Ok(Self { bundle, rules, payloads, files, known, streams, memory, damaged, report })
    }

    /// Runs the second pass.
    fn finish(mut self, sink: &Sink<'_>) -> Result<Report, RedactError> {
        let mut report = self.report.clone();
        let mut names = Names::default();
        {
            let examiner = Examiner::new(self.rules, &self.known);
            // Files that keep their names are entered first, so that no renamed file gets one of these names.
            let mut paths: Vec<&String> =
                self.payloads.iter().map(|payload| &payload.path).chain(&self.report.left_out).collect();
            paths.sort_by_key(|path| !name_edits(&examiner, path).is_empty());
            paths.into_iter().for_each(|path| names.add(&examiner, path));
        }
        let new_names: Vec<String> = self.payloads.iter().map(|payload| names.of(&payload.path)).collect();
        report.left_out = self.report.left_out.iter().map(|path| names.of(path)).collect();
        for unreadable in &mut report.unreadable {
            unreadable.path = names.of(&unreadable.path);
        }
        self.known.rename(names.mentions());
        let memory = &self.memory;
        let examiner = Examiner::new(self.rules, &self.known);
        let mut tally = Tally::default();
        let order = order(&self.payloads);
        for (index, (name, text)) in self.files.iter().enumerate() {
            let edits = change(&examiner, (index as u64, text), Health::of(text), memory, &self.streams);
            sink.write(name, text, &edits)?;
            tally.add(counts(&edits), &Place::File { path: (*name).to_owned() });
            report.documents += 1;
        }
        self.log(&examiner, memory, &mut tally, &mut report, sink)?;
        let renamed: Vec<(&PayloadEntry, &String)> = self.payloads.iter().zip(&new_names).collect();
        for batch in renamed.chunks(BATCH_PAYLOADS) {
            let changed: Vec<_> = batch
                .par_iter()
                .map_init(Vec::new, |buffer, (payload, new_name)| {
                    if let Err(error) = self.bundle.payloads().read(&payload.path, buffer) {
                        let is_told = self.report.unreadable.iter().any(|file| file.path == payload.path);
                        let path = self.bundle.path().join(&payload.path);
                        // A payload that was deleted since the first pass would be missing in the copy.
                        return if is_told { Ok(None) } else { Err(RedactError::read(&path, io::Error::other(error))) };
                    }
                    let is_damaged = self.damaged.contains(&payload.path);
                    let health = if is_damaged { Health::Damaged } else { Health::Sound };
                    let document = (order[&payload.path], buffer.as_slice());
                    let edits = change(&examiner, document, health, memory, &self.streams);
                    sink.write(new_name, buffer, &edits)?;
                    let mut counts = counts(&edits);
                    for mark in names.marks(&payload.path) {
                        *counts.entry(mark.clone()).or_default() += 1;
                    }
                    Ok(Some((*payload, *new_name, counts)))
                })
                .collect::<Result<_, RedactError>>()?;
            for (payload, new_name, counts) in changed.into_iter().flatten() {
                let path = new_name.clone();
                let is_payload = is_payload(&payload.path);
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
                    let document = (FIRST_LINE + line.number, line.bytes);
                    (change(examiner, document, health, memory, &self.streams), health)
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

/// The first pass: what is found in any document.
struct Gathering<'a> {
    rules: &'a Rules,
    memory: Memory,
    gathered: Mutex<Gathered>,
    streams: Mutex<Streams>,
}

impl<'a> Gathering<'a> {
    fn new(rules: &'a Rules) -> Self {
        Self { rules, memory: Memory::new(), gathered: Mutex::default(), streams: Mutex::default() }
    }

    fn add(&self, secrets: Vec<Secret>) {
        if !secrets.is_empty() {
            let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
            secrets.into_iter().for_each(|secret| gathered.add(secret));
        }
    }

    /// Looks at a document. Pieces of streams are joined in the order of the numbers of documents.
    fn document(&self, number: u64, document: &[u8], health: Health) {
        let nothing = Known::default();
        let examiner = Examiner::new(self.rules, &nothing);
        let look = |examiner: &Examiner<'_>, subject: Subject<'_>, source: &[u8]| {
            self.memory.judge(subject, source, || {
                let secrets = examiner.look(subject, source).secrets;
                let verdict = if secrets.is_empty() { Verdict::Clean } else { Verdict::Secret };
                self.add(secrets);
                verdict
            });
            Vec::new()
        };
        let structure = structure::read(document);
        examiner.document(document, &structure, look, Health::Sound);
        let mut streams = Streams::default();
        streams.add(number, document, &structure);
        if !streams.is_empty() {
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).append(streams);
        }
        if health == Health::Damaged {
            self.add(examiner.damaged_secrets(document));
        }
    }

    /// Looks at the name of a file.
    fn name(&self, path: &str) {
        let nothing = Known::default();
        let examiner = Examiner::new(self.rules, &nothing);
        for name in path.split('/') {
            self.add(examiner.text(&Sense::Free, name, 0).secrets);
        }
    }

    fn finish(self) -> (Known, StreamEdits, Memory) {
        let mut gathered = self.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut streams = self.streams.into_inner().unwrap_or_else(PoisonError::into_inner);
        streams.secrets(self.rules).into_iter().for_each(|secret| gathered.add(secret));
        let known = Known::new(self.rules, gathered);
        let edits = if streams.is_empty() { StreamEdits::new() } else { streams.edits(self.rules, &known) };
        (known, edits, self.memory)
    }
}

fn change(
    examiner: &Examiner<'_>,
    (number, document): (u64, &[u8]),
    health: Health,
    memory: &Memory,
    streams: &StreamEdits,
) -> Vec<Edit> {
    let look = |examiner: &Examiner<'_>, subject: Subject<'_>, source: &[u8]| {
        memory.recall(subject, source, |verdict| match verdict {
            // The string has no secret of its own, and no known secret can be in it.
            Some(Verdict::Clean) if examiner.known.is_empty() => Vec::new(),
            Some(Verdict::Clean) => examiner.for_known().look(subject, source).edits,
            Some(Verdict::Secret) | None => examiner.look(subject, source).edits,
        })
    };
    let mut edits = examiner.document(document, &structure::read(document), look, health);
    if let Some(of_streams) = streams.get(&number) {
        // A piece in base64 is replaced as a whole, and the stream knows more secrets in it than the piece itself.
        edits.splice(..0, of_streams.iter().cloned());
        edits = merge(edits);
    }
    edits
}

/// The new names of files.
#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    /// New path of each file whose path contains a secret, by the old path.
    renamed: BTreeMap<String, NewName>,
}

impl Names {
    /// Chooses the path that a file has in the copy. No two files get the same path.
    fn add(&mut self, examiner: &Examiner<'_>, path: &str) {
        let mut edits = name_edits(examiner, path);
        let marks: Vec<Placeholder> = edits.iter().flat_map(|edit| edit.marks.clone()).collect();
        for edit in &mut edits {
            edit.text = edit.marks.first().map_or_else(|| "redacted".to_owned(), Placeholder::in_name);
        }
        let plain = String::from_utf8(apply(path.as_bytes(), &edits)).unwrap_or_default();
        let mut name = plain.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = numbered(&plain, number);
        }
        if name != path {
            self.renamed.insert(path.to_owned(), NewName { text: name, marks });
        }
    }

    /// Returns the path of a file in the copy.
    fn of(&self, path: &str) -> String {
        self.renamed.get(path).map_or_else(|| path.to_owned(), |new| new.text.clone())
    }

    /// Returns the secrets in a path.
    fn marks(&self, path: &str) -> &[Placeholder] {
        self.renamed.get(path).map_or(&[], |new| &new.marks)
    }

    /// Returns the texts that refer to renamed files, with their replacements: the whole paths, and the file names that
    /// only one file has.
    fn mentions(&self) -> BTreeMap<String, NewName> {
        let mut mentions = BTreeMap::new();
        let mut last: BTreeMap<&str, Option<NewName>> = BTreeMap::new();
        let prefix = format!("{PAYLOADS_DIR}/");
        for (old, new) in &self.renamed {
            mentions.insert(old.clone(), new.clone());
            if let (Some(old), Some(text)) = (old.strip_prefix(&prefix), new.text.strip_prefix(&prefix)) {
                mentions.insert(old.to_owned(), NewName { text: text.to_owned(), marks: new.marks.clone() });
            }
            for (old, text) in old.split('/').zip(new.text.split('/')).filter(|(old, new)| old != new) {
                let new = NewName { text: text.to_owned(), marks: new.marks.clone() };
                last.entry(old)
                    .and_modify(|known| {
                        if known.as_ref().is_some_and(|known| known.text != new.text) {
                            *known = None;
                        }
                    })
                    .or_insert_with(|| Some(new.clone()));
            }
        }
        for (old, new) in last {
            if let Some(new) = new {
                mentions.entry(old.to_owned()).or_insert(new);
            }
        }
        mentions
    }
}

/// Puts a number after the name of a file, before its extension.
fn numbered(path: &str, number: u32) -> String {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.').filter(|dot| *dot > 0) {
        Some(dot) => format!("{}-{number}{}", &path[..name + dot], &path[name + dot..]),
        None => format!("{path}-{number}"),
    }
}

/// Returns what has to change in the names of a path. The directory of the payloads keeps its name.
fn name_edits(examiner: &Examiner<'_>, path: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut at = 0;
    for name in path.split('/') {
        if !(at == 0 && name == PAYLOADS_DIR) {
            let seen = examiner.text(&Sense::Free, name, 0);
            edits.extend(seen.edits.into_iter().map(|mut edit| {
                edit.span = edit.span.start + at..edit.span.end + at;
                edit
            }));
        }
        at += name.len() + 1;
    }
    edits
}

/// Numbers the payloads in the order in which they were written: by the numbers in their names, not alphabetically.
fn order(payloads: &[PayloadEntry]) -> HashMap<String, u64> {
    let mut paths: Vec<&String> = payloads.iter().map(|payload| &payload.path).collect();
    paths.sort_by_key(|path| (path.len(), *path));
    paths.into_iter().zip(FIRST_PAYLOAD..).map(|(path, number)| (path.clone(), number)).collect()
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
        match (Part::of_file(&entry.path), backup_of(&entry.path)) {
            (Some(part), _) if part.is_record() || part == Part::State => {}
            (_, Some(backup)) if backups == Backups::LeftOut => listed.left_out.push(backup.to_owned()),
            _ => listed.payloads.push(entry),
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
        if backup_of(&path).is_some() {
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

/// Returns whether a path is that of a payload, which has to be JSON.
fn is_payload(path: &str) -> bool {
    path.strip_prefix(PAYLOADS_DIR).is_some_and(|rest| rest.starts_with('/'))
}
