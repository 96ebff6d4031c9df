//! Checks which files a bundle directory has, who may read them, and what the recorder says about itself.

use std::fs;
use std::path::Path;

use super::finding::{Code, Finding, Findings};
use super::log::Liveness;
use crate::bundle::Bundle;
use crate::format::PAYLOADS_DIR;
use crate::parts::{EntryKind, MAX_DIRECTORY_ENTRIES, Part};
use crate::recording::{RECORDER_FILE, Recording, Stopped, is_being_recorded};

/// Checks whether a recorder is at work, and what `recorder.json` says. Returns a finding if there is anything to report.
pub(super) fn check_recorder(bundle: &Bundle) -> (Liveness, Option<Finding>) {
    let (code, message) = if is_being_recorded(bundle.path()).unwrap_or(false) {
        (Code::BeingRecorded, "a recorder is at work on the bundle; an incomplete last line is not damage".to_owned())
    } else {
        match bundle.recording() {
            Ok(None) => return (Liveness::Quiet, None),
            Ok(Some(Recording { pid, stopped: None, .. })) => {
                (Code::RecorderDied, format!("the recorder, process {pid}, died while it recorded"))
            }
            Ok(Some(Recording { stopped: Some(stopped), .. })) => {
                let Stopped { after_seq, lost_events, reason, .. } = stopped;
                let lost = if lost_events == 1 { "1 event is".to_owned() } else { format!("{lost_events} events are") };
                let message = format!("the recorder stopped after event {after_seq}, and {lost} lost: {reason}");
                (Code::RecorderStopped, message)
            }
            Err(error) => {
                let message = format!("the recorder's file cannot be read: {error}");
                (Code::RecorderFileInvalid, message)
            }
        }
    };
    let liveness = if code == Code::BeingRecorded { Liveness::BeingRecorded } else { Liveness::Quiet };
    (liveness, Some(Finding::new(code, message).of_file(RECORDER_FILE)))
}

/// Checks the entries of a bundle directory. Returns their number, or 0 if the directory cannot be listed.
pub(super) fn check_files(directory: &Path, findings: &mut Findings) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let mut entries: Vec<_> = entries.flatten().take(MAX_DIRECTORY_ENTRIES).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    if !entries.iter().any(|entry| entry.file_name() == PAYLOADS_DIR) {
        tell_directory_missing(findings);
    }
    for entry in &entries {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        tell_entry(&name.to_string_lossy(), kind.into(), Part::of(&name, kind), findings);
    }
    #[cfg(unix)]
    check_permissions(directory, &entries, findings);
    entries.len() as u64
}

pub(super) fn tell_directory_missing(findings: &mut Findings) {
    let finding = Finding::new(Code::PayloadDirectoryMissing, "the payload directory is missing");
    findings.push(finding.of_file(PAYLOADS_DIR));
}

/// Reports an entry that no recorder creates.
pub(super) fn tell_entry(name: &str, kind: EntryKind, known: Option<Part>, findings: &mut Findings) {
    let (code, message) = match known {
        Some(Part::Backup) => (Code::EarlierRepair, "has copies of what a repair changed"),
        Some(Part::Temporary) => (Code::LeftoverFile, "left behind by a program that died"),
        Some(_) => return,
        None if kind == EntryKind::SymbolicLink => (Code::UnknownFile, "a symlink does not belong to a bundle"),
        None => (Code::UnknownFile, "does not belong to a bundle"),
    };
    findings.push(Finding::new(code, message).of_file(name));
}

/// Reports the entries of a bundle that other users may read. If other users may not enter the directory itself, they
/// cannot read its files, and nothing is reported.
#[cfg(unix)]
fn check_permissions(directory: &Path, entries: &[fs::DirEntry], findings: &mut Findings) {
    use std::os::unix::fs::PermissionsExt;

    let is_open = |metadata: &fs::Metadata| metadata.permissions().mode() & 0o077 != 0;
    if !fs::metadata(directory).is_ok_and(|metadata| is_open(&metadata)) {
        return;
    }
    for entry in entries.iter().filter(|entry| entry.metadata().is_ok_and(|metadata| is_open(&metadata))) {
        let message = "other users may read it, and it has what the session saw";
        let finding = Finding::new(Code::ReadableByOthers, message);
        findings.push(finding.of_file(&*entry.file_name().to_string_lossy()));
    }
}
