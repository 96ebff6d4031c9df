//! Finds what in one repository makes Git run programs or use another place, and renames it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::config::{self, Risky};
use super::files::{CONFIGURATIONS, FileState, aside, is_name_of_hook, read_plain};
use super::report::Report;
use super::risk::Risk;
use super::{inside, pairs, syntax, work_tree};
use crate::sandbox::place::Folder;

/// Largest configuration that is kept while a command runs, so that it can be restored if the command leaves one that
/// cannot be parsed. Typical configurations have a few hundred bytes.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// Most entries of a hooks folder that are read.
const MAX_HOOKS: usize = 1024;

/// The risks in one repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Risks {
    /// The risks, each with its description for users.
    #[serde(with = "pairs")]
    all: BTreeMap<Risk, String>,
    /// Current content of the configurations.
    configurations: BTreeMap<Cow<'static, str>, String>,
    #[serde(skip)]
    risky: BTreeMap<&'static str, Vec<Risky>>,
}

impl Risks {
    /// Collects the risks of a repository. `is_inside` tells whether commands may write to a path.
    pub(super) fn of(repository: &Path, is_inside: impl Fn(&Path) -> bool) -> Self {
        let mut risks = Self::default();
        let mut odd = |name: &'static str, what: &str| drop(risks.all.insert(Risk::Odd(name.into()), what.to_owned()));
        if !is_usual_common_folder(repository) {
            odd("commondir", "it takes its configuration from another folder (`commondir`)");
        }
        let hooks = repository.join("hooks");
        match hooks.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(data) if data.is_dir() => match hooks_in(&hooks) {
                Ok(hooks) => risks.all.extend(hooks),
                Err(_) => odd("hooks", "its hooks cannot be listed"),
            },
            _ => odd("hooks", "its folder of hooks is a link or a file"),
        }
        for file in CONFIGURATIONS {
            let path = repository.join(file);
            let bytes = match read_plain(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // Git ignores a folder of this name, which source trees may contain.
                Err(_) if path.symlink_metadata().is_ok_and(|data| data.is_dir()) => continue,
                Err(_) => {
                    let what = "its configuration is not a plain file that can be read";
                    risks.all.insert(Risk::Odd(file.into()), what.to_owned());
                    continue;
                }
            };
            let found = config::look_through(&bytes, |value| work_tree::is_own(repository, value, &is_inside));
            if found.is_malformed {
                let what = "its configuration cannot be parsed";
                // A different file that cannot be parsed is a different risk.
                let id = format!("malformed {}", config::hash(&bytes));
                risks.all.insert(Risk::Entry { file: file.into(), id }, what.to_owned());
            }
            let entry = |risky: &Risky| (Risk::Entry { file: file.into(), id: risky.id.clone() }, risky.told.clone());
            risks.all.extend(found.risky.iter().map(entry));
            risks.risky.insert(file, found.risky);
            // Only text can be restored.
            if let Ok(text) = String::from_utf8(bytes) {
                risks.configurations.insert(file.into(), text);
            }
        }
        risks.all.extend(inside::risks(repository));
        risks
    }

    /// Returns what is kept for a later comparison. `room` is the number of bytes of configurations that may still be kept.
    pub(super) fn kept(mut self, room: &mut usize) -> Self {
        self.risky.clear();
        self.configurations.retain(|_, text| {
            let is_kept = text.len() <= MAX_KEPT_BYTES.min(*room);
            *room -= if is_kept { text.len() } else { 0 };
            is_kept
        });
        self
    }

    /// Keeps only risks that another running command knew too, and uses the configurations as they were for that command.
    pub(super) fn limit_to(&mut self, other: &Self) {
        self.all.retain(|risk, _| other.all.contains_key(risk));
        self.configurations.clone_from(&other.configurations);
    }

    /// Returns whether there are no risks.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Removes risks, so that they count as new at the next comparison.
    pub(super) fn forget(&mut self, risks: &BTreeSet<Risk>) {
        self.all.retain(|risk, _| !risks.contains(risk));
    }

    /// Renames everything that is a risk now and was none before. Returns the risks that remain because renaming failed.
    pub(super) fn put_aside(&self, repository: &Path, before: Option<&Self>, report: &mut Report) -> BTreeSet<Risk> {
        let is_new = |risk: &Risk| before.is_none_or(|before| !before.all.contains_key(risk));
        let mut failed = BTreeSet::new();
        let mut done: BTreeMap<&str, Result<String, String>> = BTreeMap::new();
        for (risk, what) in self.all.iter().filter(|(risk, _)| is_new(risk)) {
            let done = match risk {
                Risk::Hook { name, .. } => aside(&repository.join("hooks"), name).map_err(|error| error.to_string()),
                Risk::Link { path, .. } | Risk::Address { path, .. } => {
                    let path = repository.join(path);
                    let parts = path.parent().zip(path.file_name());
                    let done =
                        parts.map_or(Err(io::ErrorKind::InvalidInput.into()), |(folder, name)| aside(folder, name));
                    done.map_err(|error| error.to_string())
                }
                Risk::Shared { path, .. } => {
                    inside::unshare(repository, Path::new(path)).map_err(|error| error.to_string())
                }
                Risk::Crowd => Err("it was not searched".to_owned()),
                Risk::Odd(name) | Risk::Entry { file: name, .. } => {
                    // All risky entries of one configuration are removed together.
                    let replaced = || self.replace(repository, name, before).map_err(|error| error.to_string());
                    done.entry(name).or_insert_with(replaced).clone()
                }
            };
            if done.is_err() {
                failed.insert(risk.clone());
            }
            report.took(&format!("{}: {what}", repository.display()), done);
        }
        failed
    }

    /// Renames a file of a repository. A configuration is replaced by its harmless and known entries, or by its former
    /// content if it cannot be parsed.
    fn replace(&self, repository: &Path, name: &str, before: Option<&Self>) -> io::Result<String> {
        let data = repository.join(name).symlink_metadata();
        let (done, name) = (aside(repository, OsStr::new(name))?, Path::new(name));
        let was = before.and_then(|before| before.configurations.get(name.to_str().unwrap_or_default()));
        let rest = self.harmless_part(name.to_str().unwrap_or_default(), before);
        // A configuration may contain URLs with passwords, and the mode of the former file is not known.
        let mode = data.map_or(0o600, |data| data.mode() & 0o664 | 0o600);
        let (text, mode, what) = match (rest, was) {
            (Some(rest), _) => (rest, mode, "has the other entries"),
            (None, Some(was)) => (was.clone().into_bytes(), 0o600, "is as it was before"),
            (None, None) => return Ok(done),
        };
        let folder = Folder::open_existing(repository)?;
        let mut options = File::options();
        options.write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW);
        io::Write::write_all(&mut options.open(folder.at(name))?, &text)?;
        Ok(format!("{done}, and `{}` {what}", name.display()))
    }

    fn harmless_part(&self, name: &str, before: Option<&Self>) -> Option<Vec<u8>> {
        let (text, risky) = (self.configurations.get(name)?, self.risky.get(name)?);
        let was_there = |risky: &&Risky| {
            let risk = Risk::Entry { file: name.to_owned().into(), id: risky.id.clone() };
            before.is_some_and(|before| before.all.contains_key(&risk))
        };
        let (kept, gone): (Vec<&Risky>, Vec<&Risky>) = risky.iter().partition(was_there);
        if gone.is_empty() {
            return None;
        }
        let gone: Vec<syntax::Entry> = gone.into_iter().map(|risky| risky.entry.clone()).collect();
        let rest = syntax::without(text.as_bytes(), &gone);
        // Check the result: removing entries must not change the remaining ones. Whether a work tree belongs to the
        // repository was judged above.
        let found = config::look_through(&rest, |_| true);
        let is_as_meant = found.risky.iter().all(|risky| kept.iter().any(|kept| kept.id == risky.id));
        (is_as_meant && !found.is_malformed).then_some(rest)
    }
}

/// Returns whether the repository has no `commondir` file, or is a work tree's folder inside the repository that the file
/// names.
fn is_usual_common_folder(repository: &Path) -> bool {
    match read_plain(&repository.join("commondir")) {
        // Git ignores a folder of this name, which source trees may contain.
        Err(error) => {
            let path = repository.join("commondir");
            error.kind() == io::ErrorKind::NotFound || path.symlink_metadata().is_ok_and(|data| data.is_dir())
        }
        Ok(text) => {
            // Git strips line ends only.
            let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
            text[..end] == *b"../.." && repository.parent().and_then(Path::file_name) == Some(OsStr::new("worktrees"))
        }
    }
}

fn hooks_in(hooks: &Path) -> io::Result<Vec<(Risk, String)>> {
    let mut found = Vec::new();
    for (number, entry) in fs::read_dir(hooks)?.enumerate() {
        let name = entry?.file_name();
        if number >= MAX_HOOKS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let path = hooks.join(&name);
        let data = path.symlink_metadata()?;
        // Git does not run folders, which source trees may contain.
        if !is_name_of_hook(&name) || data.is_dir() {
            continue;
        }
        let told = format!("it has the hook `{}`", Path::new(&name).display());
        found.push((Risk::Hook { name, state: FileState::of(&path, &data) }, told));
    }
    Ok(found)
}
