//! Carries out a plan: makes the copies first, then replaces every file atomically.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{RepairError, at};
use super::plan::Plan;
use crate::files::{create_private_dir, create_private_file, remove_leftover, replace, sync_directory};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR};
use crate::lock::BundleLock;
use crate::parts::BACKUP_PREFIX;
use crate::recording::RECORDER_FILE;

impl Plan<'_> {
    /// Carries out the whole plan. Returns the directory with the copies, or `None` if nothing had to be copied.
    pub(super) fn apply(&self, lock: &BundleLock) -> Result<Option<PathBuf>, RepairError> {
        let directory = lock.bundle();
        let backup = self.back_up(directory)?;
        if self.makes_payload_dir {
            let path = directory.join(PAYLOADS_DIR);
            create_private_dir(&path).map_err(at(&path))?;
        }
        let write_payloads = |payloads: &BTreeMap<String, Vec<u8>>| {
            payloads.iter().try_for_each(|(path, text)| {
                let path = directory.join(path);
                replace(&path, |file| file.write_all(text)).map_err(at(&path))
            })
        };
        // Payloads are written before the events that refer to them, as a recorder does.
        write_payloads(&self.new_payloads)?;
        if self.log_changes {
            let path = directory.join(EVENT_LOG_FILE);
            replace(&path, |file| self.write_log(file)).map_err(at(&path))?;
        }
        // Replacements of lost payloads are written after the log, whose new events report the loss. If the repair is
        // interrupted in between, the next one reports the loss again. If the replacements were written before the log,
        // the next repair would take them for the payloads and report nothing.
        write_payloads(&self.payloads)?;
        if let Some(manifest) = &self.manifest {
            let path = directory.join(MANIFEST_FILE);
            let mut text = serde_json::to_vec_pretty(manifest).map_err(|error| at(&path)(error.into()))?;
            text.push(b'\n');
            replace(&path, |file| file.write_all(&text)).map_err(at(&path))?;
        }
        Ok(backup)
    }

    fn write_log(&self, file: &mut File) -> io::Result<()> {
        let mut file = BufWriter::new(file);
        let mut gaps = self.gaps.iter().peekable();
        for (index, kept) in self.lines.iter().enumerate() {
            while let Some(gap) = gaps.next_if(|gap| gap.at <= index) {
                writeln!(file, "{}", gap.text)?;
            }
            if kept.edit.is_empty() {
                file.write_all(kept.line.bytes)?;
            } else {
                file.write_all(kept.edit.apply(kept.line.bytes)?.as_bytes())?;
            }
            file.write_all(b"\n")?;
        }
        for gap in gaps {
            writeln!(file, "{}", gap.text)?;
        }
        file.flush()
    }

    /// Copies every file that will change. The copies appear under their final name only when all of them are complete.
    fn back_up(&self, directory: &Path) -> Result<Option<PathBuf>, RepairError> {
        let mut files: Vec<&str> = Vec::new();
        if self.log_changes {
            files.push(EVENT_LOG_FILE);
        }
        if self.manifest.is_some() {
            files.push(MANIFEST_FILE);
        }
        if self.removes_recorder_file {
            files.push(RECORDER_FILE);
        }
        files.extend(self.payloads.keys().chain(self.new_payloads.keys()).map(String::as_str));
        files.retain(|name| fs::symlink_metadata(directory.join(name)).is_ok_and(|found| found.is_file()));
        if files.is_empty() {
            return Ok(None);
        }
        let number = next_backup(directory).map_err(at(directory))?;
        let target = directory.join(format!("{BACKUP_PREFIX}{number}"));
        let temporary = directory.join(format!(".{BACKUP_PREFIX}{number}.tmp"));
        remove_leftover(&temporary).map_err(at(&temporary))?;
        create_private_dir(&temporary).map_err(at(&temporary))?;
        let payloads = temporary.join(PAYLOADS_DIR);
        if files.iter().any(|name| name.starts_with(PAYLOADS_DIR)) {
            create_private_dir(&payloads).map_err(at(&payloads))?;
        }
        for name in files {
            let path = directory.join(name);
            copy(&path, &temporary.join(name)).map_err(at(&path))?;
        }
        if payloads.is_dir() {
            sync_directory(&payloads).map_err(at(&payloads))?;
        }
        sync_directory(&temporary).map_err(at(&temporary))?;
        fs::rename(&temporary, &target).map_err(at(&target))?;
        sync_directory(directory).map_err(at(directory))?;
        Ok(Some(target))
    }
}

fn next_backup(directory: &Path) -> io::Result<u64> {
    let mut last: u64 = 0;
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(BACKUP_PREFIX)?.parse().ok());
        last = last.max(number.unwrap_or(0));
    }
    Ok(last.saturating_add(1))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = create_private_file(to)?;
    io::copy(&mut source, &mut target)?;
    target.sync_all()
}
