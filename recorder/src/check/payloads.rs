//! Checks payload references and the files that they name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;

use rayon::prelude::*;
use serde::de::IgnoredAny;

use super::finding::{Code, Finding, Findings};
use super::json::JsonChecker;
use super::log::Reference;
use crate::bundle::Bundle;
use crate::format::PAYLOADS_DIR;
use crate::payloads::{PayloadEntry, PayloadError, PayloadFiles};
use crate::write::is_dropped;

/// Fewest bytes that two files must share for one to be read behind the other. More than the beginning of a document that replaces
/// a dropped one.
const MIN_SHARED_BYTES: usize = 256;

/// Fewest payloads that one parallel task reads.
const PIECE_PAYLOADS: usize = 16;

/// What is wrong with a payload file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadDamage {
    /// There is no such file.
    #[error("the payload file is missing")]
    Missing,
    /// The path leads out of the bundle.
    #[error("the payload path leads out of the bundle and is not followed")]
    OutsideBundle,
    /// The path names something other than a plain file, or is not a possible path.
    #[error("the payload path does not name a plain file")]
    NotAFile,
    /// The file is larger than a payload may be.
    #[error("the file has {bytes} bytes, more than a payload may have")]
    TooLarge {
        /// Size of the file.
        bytes: u64,
    },
    /// The file system returns an error.
    #[error("the payload file cannot be read: {0}")]
    Unreadable(String),
    /// The file has no bytes.
    #[error("the payload file is empty")]
    Empty,
    /// The file is not one JSON document.
    #[error("the payload is not a JSON document: {reason}")]
    NotJson {
        /// Size of the file.
        bytes: u64,
        /// The error of the parser.
        reason: String,
    },
}

impl PayloadDamage {
    /// Returns the size of the file, as far as it was read.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::NotJson { bytes, .. } => *bytes,
            _ => 0,
        }
    }

    /// Returns the code under which the damage is reported.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing => Code::PayloadMissing,
            Self::OutsideBundle => Code::PayloadOutsideBundle,
            Self::NotAFile | Self::Unreadable(_) => Code::PayloadUnreadable,
            Self::TooLarge { .. } => Code::PayloadTooLarge,
            Self::Empty => Code::PayloadEmpty,
            Self::NotJson { .. } => Code::PayloadNotJson,
        }
    }
}

impl From<PayloadError> for PayloadDamage {
    fn from(error: PayloadError) -> Self {
        match error {
            PayloadError::OutsideBundle => Self::OutsideBundle,
            PayloadError::NotAFile => Self::NotAFile,
            PayloadError::TooLarge { bytes } => Self::TooLarge { bytes },
            PayloadError::Packed(error) => Self::Unreadable(error.to_string()),
            PayloadError::Io(error) => match error.kind() {
                ErrorKind::NotFound => Self::Missing,
                ErrorKind::NotADirectory | ErrorKind::InvalidInput | ErrorKind::InvalidFilename => Self::NotAFile,
                _ => Self::Unreadable(error.to_string()),
            },
        }
    }
}

/// State of a payload file.
#[derive(Debug)]
pub(super) enum PayloadState {
    /// One JSON document.
    Whole,
    /// A document that replaces a payload whose content was dropped.
    Dropped,
    /// The file cannot be used.
    Damaged(PayloadDamage),
}

impl PayloadState {
    pub(super) fn into_damage(self) -> Option<PayloadDamage> {
        match self {
            Self::Damaged(damage) => Some(damage),
            Self::Whole | Self::Dropped => None,
        }
    }
}

/// Reads each of the files at `paths` once and returns their states in the same order. Of files that are known to begin alike,
/// such as the requests of a conversation in a packed bundle, what they share is read once.
pub(super) fn look_at_payloads(files: &PayloadFiles, paths: &[&str]) -> Vec<PayloadState> {
    let mut alone = Vec::new();
    let mut chains: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, path) in paths.iter().enumerate() {
        match files.start_of(path) {
            Some(start) => chains.entry(start).or_default().push(index),
            None => alone.push(index),
        }
    }
    let look_at_one = |buffer: &mut Vec<u8>, index: &usize| (*index, look_at(files, paths[*index], buffer));
    let mut states: Vec<(usize, PayloadState)> =
        alone.par_iter().with_min_len(PIECE_PAYLOADS).map_init(Vec::new, look_at_one).collect();
    let chains: Vec<Vec<usize>> = chains.into_values().collect();
    states.par_extend(chains.par_iter().flat_map_iter(|chain| look_at_chain(files, paths, chain)));
    states.sort_unstable_by_key(|(index, _)| *index);
    states.into_iter().map(|(_, state)| state).collect()
}

fn look_at(files: &PayloadFiles, path: &str, buffer: &mut Vec<u8>) -> PayloadState {
    match damage_of(files, path, buffer) {
        Some(damage) => PayloadState::Damaged(damage),
        None if is_dropped(buffer) => PayloadState::Dropped,
        None => PayloadState::Whole,
    }
}

/// Looks at files each of which may begin like the one before it.
fn look_at_chain(files: &PayloadFiles, paths: &[&str], chain: &[usize]) -> Vec<(usize, PayloadState)> {
    let mut buffer = Vec::new();
    // What was read of the file before, up to what it shares with the next one.
    let mut known: Option<(JsonChecker, usize)> = None;
    let mut states = Vec::with_capacity(chain.len());
    for (place, index) in chain.iter().enumerate() {
        let path = paths[*index];
        let shared_with_next = chain.get(place + 1).map_or(0, |next| files.known_prefix(path, paths[*next]));
        let (checker, read) = known.take().unwrap_or_else(|| (JsonChecker::new(), 0));
        let state = match check_behind(files, path, (checker, read), shared_with_next, &mut buffer) {
            Some(next) => {
                known = next;
                // A document that shares this much with a whole one begins with the same member.
                if read == 0 && is_dropped(&buffer) { PayloadState::Dropped } else { PayloadState::Whole }
            }
            // The file is read again from its beginning, which tells what is wrong.
            None => look_at(files, path, &mut buffer),
        };
        states.push((*index, state));
    }
    states
}

/// Reads a file behind what is known of it. Returns `None` if it is not one JSON document or cannot be read, and otherwise what is
/// known of the next file, if that shares enough with it.
fn check_behind(
    files: &PayloadFiles,
    path: &str,
    (mut checker, read): (JsonChecker, usize),
    shared_with_next: usize,
    buffer: &mut Vec<u8>,
) -> Option<Option<(JsonChecker, usize)>> {
    files.read_from(path, read, buffer).ok()?;
    let split = shared_with_next.checked_sub(read).filter(|_| shared_with_next >= MIN_SHARED_BYTES);
    let (shared, rest) = buffer.split_at(split.unwrap_or(0).min(buffer.len()));
    let mut next = None;
    if split.is_some() {
        if !checker.read(shared) {
            return None;
        }
        next = Some((checker.clone(), read + shared.len()));
    }
    (checker.read(rest) && checker.is_whole()).then_some(next)
}

fn damage_of(files: &PayloadFiles, path: &str, buffer: &mut Vec<u8>) -> Option<PayloadDamage> {
    if let Err(error) = files.read(path, buffer) {
        return Some(error.into());
    }
    if buffer.is_empty() {
        return Some(PayloadDamage::Empty);
    }
    let not_json = |reason| Some(PayloadDamage::NotJson { bytes: buffer.len() as u64, reason });
    let text = match std::str::from_utf8(buffer) {
        Ok(text) => text,
        Err(error) => return not_json(format!("invalid UTF-8 at byte {}", error.valid_up_to())),
    };
    // The text is validated without building a `Value`: a payload may have a gigabyte, and its `Value` many times that.
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => None,
        Err(error) => not_json(error.to_string()),
    }
}

/// Returns the number in a payload path of the usual form, or `None` for any other path.
pub(super) fn payload_number(path: &str) -> Option<u64> {
    let digits = path.strip_prefix(PAYLOADS_DIR)?.strip_prefix('/')?.strip_suffix(".json")?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    (u64::to_string(&number) == digits).then_some(number)
}

/// Content of the payload directory.
#[derive(Debug, Default)]
pub(super) struct PayloadView {
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) largest: Option<PayloadEntry>,
}

/// Checks payload references and payload files.
pub(super) fn check_payloads(bundle: &Bundle, references: &[Reference<'_>], findings: &mut Findings) -> PayloadView {
    let listed = bundle.payloads().list().unwrap_or_else(|error| {
        let message = format!("the payload directory cannot be listed: {error}");
        findings.push(Finding::new(Code::PayloadUnreadable, message).of_file(PAYLOADS_DIR));
        Vec::new()
    });
    check_references(references, findings);

    // Each file is reported once, at its first reference.
    let mut named: HashSet<&str> = HashSet::new();
    let first: Vec<&Reference<'_>> = references.iter().filter(|reference| named.insert(&reference.path)).collect();
    let orphans: Vec<&PayloadEntry> = listed.iter().filter(|entry| !named.contains(entry.path.as_str())).collect();
    let mut paths: Vec<&str> = first.iter().map(|reference| reference.path.as_str()).collect();
    paths.extend(orphans.iter().map(|entry| entry.path.as_str()));
    let mut states = look_at_payloads(bundle.payloads(), &paths).into_iter();
    for (reference, state) in first.iter().zip(states.by_ref()) {
        let finding = match state {
            PayloadState::Whole => continue,
            PayloadState::Dropped => {
                Finding::new(Code::PayloadDropped, "its content was dropped; only its shape is left")
            }
            PayloadState::Damaged(damage) => Finding::new(damage.code(), damage.to_string()),
        };
        findings.push(finding.at_line(reference.line).at_seq(reference.seq).of_file(reference.path.as_str()));
    }
    for (entry, state) in orphans.iter().zip(states) {
        let message = match state.into_damage() {
            None => "no event refers to the payload".to_owned(),
            Some(damage) => format!("no event refers to the payload, and {damage}"),
        };
        findings.push(Finding::new(Code::PayloadOrphan, message).of_file(entry.path.as_str()));
    }
    PayloadView {
        files: listed.len() as u64,
        bytes: listed.iter().map(|entry| entry.bytes).sum(),
        largest: listed.into_iter().max_by_key(|entry| entry.bytes),
    }
}

/// Checks ids and paths of the references without reading the files.
fn check_references(references: &[Reference<'_>], findings: &mut Findings) {
    let mut paths_by_id: HashMap<&str, &str> = HashMap::new();
    let mut ids_by_path: HashMap<&str, &str> = HashMap::new();
    for reference in references {
        let (id, path) = (reference.id.as_str(), reference.path.as_str());
        let mut tell = |code, message: String| {
            findings.push(Finding::new(code, message).at_line(reference.line).at_seq(reference.seq).of_file(path));
        };
        let earlier = *paths_by_id.entry(id).or_insert(path);
        if earlier != path {
            tell(Code::PayloadIdReused, format!("{id} referred to {earlier} before"));
            paths_by_id.insert(id, path);
        }
        let other = *ids_by_path.entry(path).or_insert(id);
        if other != id {
            tell(Code::PayloadShared, format!("{id} refers to the same file as {other}"));
        } else if payload_number(path).is_none() {
            tell(Code::PayloadPathUnusual, format!("a recorder writes {PAYLOADS_DIR}/<number>.json"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_paths() {
        assert_eq!(payload_number("payloads/17.json"), Some(17));
        for path in ["payloads/017.json", "payloads/0.json", "payloads/+1.json", "payloads/1", "x/1.json", "1.json", ""]
        {
            assert_eq!(payload_number(path), None, "{path}");
        }
    }

    #[test]
    fn every_kind_of_damage_is_told_apart() {
        let directory = tempfile::tempdir().expect("a directory");
        let payloads = directory.path().join(PAYLOADS_DIR);
        std::fs::create_dir(&payloads).expect("creates");
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for (name, text) in [
            ("1.json", &b"{\"a\":[1,2.5e3,null]}\n"[..]),
            ("2.json", b""),
            ("3.json", b"{\"a\":"),
            ("4.json", b"{} {}"),
            ("5.json", b"\"\xff\""),
            ("6.json", deep.as_bytes()),
            ("7.json", br#"{"trace_dropped":{"bytes":null,"reason":"missing"}}"#),
            ("8.json", br#"{"trace_dropped":{"bytes":null"#),
        ] {
            std::fs::write(payloads.join(name), text).expect("writes");
        }
        let files = PayloadFiles::open(directory.path()).expect("opens");
        let paths: Vec<String> = (1..=9).map(|number| format!("payloads/{number}.json")).collect();
        let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        paths.extend(["payloads", "../x", "payloads/1.json/x", "payloads/\0"]);
        let describe = |state: PayloadState| match state {
            PayloadState::Whole => "-".to_owned(),
            PayloadState::Dropped => "dropped".to_owned(),
            PayloadState::Damaged(damage) => damage.code().to_string(),
        };
        let found: Vec<String> = look_at_payloads(&files, &paths).into_iter().map(describe).collect();
        insta::assert_snapshot!(found.join("\n"), @"
        -
        payload_empty
        payload_not_json
        payload_not_json
        payload_not_json
        -
        dropped
        payload_not_json
        payload_missing
        payload_unreadable
        payload_outside_bundle
        payload_unreadable
        payload_unreadable
        ");
    }
}
