//! What in one repository runs programs, or leads Git elsewhere, when somebody uses Git there; and how that is put aside.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::config;
use crate::sandbox::place::Folder;

/// Largest configuration that is read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Most entries of a folder of hooks that are looked at.
const MAX_HOOKS: usize = 1024;

/// Configurations of a repository, and of a work tree of it.
const CONFIGURATIONS: [&str; 2] = ["config", "config.worktree"];

/// What is put behind the name of what was put aside.
const ASIDE: &str = ".untrusted";

/// One thing that is a risk. Two are the same if nothing about them changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Risk {
    /// An entry of a configuration.
    Entry { file: &'static str, entry: String },
    /// A program in the folder of hooks.
    Hook { name: OsString, inode: u64, changed: (i64, i64), size: u64 },
    /// A file or folder of the repository that is not what it is in any usual one.
    Odd(&'static str),
}

/// What is risky in one repository.
#[derive(Debug, Clone, Default)]
pub(super) struct Risks {
    /// The risks, each with what people are told of it.
    pub(super) all: BTreeMap<Risk, String>,
    /// Files and folders that the configuration names and that Git reads or runs.
    pub(super) named: Vec<PathBuf>,
    configurations: BTreeMap<&'static str, Vec<u8>>,
}

impl Risks {
    /// Looks at a repository. `is_inside` tells whether a path lies where commands may write.
    pub(super) fn of(repository: &Path, is_inside: impl Fn(&Path) -> bool) -> Self {
        let mut risks = Self::default();
        let mut odd = |name: &'static str, what: &str| drop(risks.all.insert(Risk::Odd(name), what.to_owned()));
        if !is_usual_common_folder(repository) {
            odd("commondir", "it takes its configuration from another folder (`commondir`)");
        }
        let hooks = repository.join("hooks");
        match hooks.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(data) if data.is_dir() => match hooks_in(&hooks) {
                Ok(hooks) => risks.all.extend(hooks),
                Err(_) => odd("hooks", "its hooks cannot be looked through"),
            },
            _ => odd("hooks", "its folder of hooks is a link or a file"),
        }
        for file in CONFIGURATIONS {
            let bytes = match read_plain(&repository.join(file)) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    let what = "its configuration is no plain file that can be read";
                    risks.all.insert(Risk::Odd(file), what.to_owned());
                    continue;
                }
            };
            let found = config::look_through(&String::from_utf8_lossy(&bytes), repository, &is_inside);
            risks.all.extend(found.risks.into_iter().map(|(entry, told)| (Risk::Entry { file, entry }, told)));
            risks.named.extend(named(&found.named, repository));
            risks.configurations.insert(file, bytes);
        }
        risks
    }

    /// Puts aside what is a risk and was none before, if the repository was there before. Returns what people are told.
    pub(super) fn put_aside(&self, repository: &Path, before: Option<&Self>) -> Vec<String> {
        let is_new = |risk: &Risk| before.is_none_or(|before| !before.all.contains_key(risk));
        let mut told = Vec::new();
        let mut done: BTreeMap<&str, String> = BTreeMap::new();
        for (risk, what) in self.all.iter().filter(|(risk, _)| is_new(risk)) {
            let (Risk::Entry { file: name, .. } | Risk::Odd(name)) = risk else {
                let Risk::Hook { name, .. } = risk else { continue };
                told.push(said(repository, what, aside(&repository.join("hooks"), name)));
                continue;
            };
            // Several entries of one configuration go together.
            let done = done.entry(name).or_insert_with(|| said_of(self.replace(repository, name, before)));
            told.push(format!("{}: {what}; {done}", repository.display()));
        }
        told
    }

    /// Puts a file of a repository aside and writes it as it was before, if it is a configuration that was there before.
    fn replace(&self, repository: &Path, name: &'static str, before: Option<&Self>) -> io::Result<String> {
        let done = aside(repository, OsStr::new(name))?;
        let Some(text) = before.and_then(|before| before.configurations.get(name)) else { return Ok(done) };
        let folder = Folder::open(repository, &mut Vec::new())?;
        let mut options = File::options();
        // A configuration may hold URLs with passwords, and nobody knows any more what mode it had.
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        io::Write::write_all(&mut options.open(folder.at(Path::new(name)))?, text)?;
        Ok(format!("{done}, and `{name}` is as it was before"))
    }
}

fn said(repository: &Path, what: &str, done: io::Result<String>) -> String {
    format!("{}: {what}; {}", repository.display(), said_of(done))
}

fn said_of(done: io::Result<String>) -> String {
    done.unwrap_or_else(|error| format!("it could not be put aside ({error}): do not use Git there"))
}

/// Renames something in a folder so that Git does not find it.
pub(super) fn aside(folder: &Path, name: &OsStr) -> io::Result<String> {
    let held = Folder::open(folder, &mut Vec::new())?;
    let from = held.at(Path::new(name));
    let mut other = name.to_owned();
    other.push(ASIDE);
    if held.at(Path::new(&other)).symlink_metadata().is_ok() {
        other.push(format!("-{}", Uuid::now_v7()));
    }
    let to = held.at(Path::new(&other));
    match fs::rename(&from, &to) {
        // A command can take the right to write away from its user, who can give it back.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(held.at(Path::new("")), Permissions::from_mode(0o700))?;
            fs::rename(&from, &to)?;
        }
        renamed => renamed?,
    }
    Ok(format!("`{}` is now `{}`", Path::new(name).display(), Path::new(&other).display()))
}

/// Returns where what a configuration names may lie: relative to the configuration, and for programs to the work tree.
fn named(names: &[String], repository: &Path) -> Vec<PathBuf> {
    let folders = [Some(repository), repository.parent()];
    let folders = folders.into_iter().flatten();
    folders.flat_map(|folder| names.iter().map(move |name| config::joined(folder, name))).collect()
}

/// A folder for a work tree lies in the repository whose configuration it takes.
fn is_usual_common_folder(repository: &Path) -> bool {
    match read_plain(&repository.join("commondir")) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(text) => {
            // Git takes away line ends only.
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
        // No name of a hook has a dot, those of examples and of what was put aside do.
        if name.as_encoded_bytes().contains(&b'.') {
            continue;
        }
        let data = hooks.join(&name).symlink_metadata()?;
        let told = format!("it has the hook `{}`", Path::new(&name).display());
        let changed = (data.ctime(), data.ctime_nsec());
        found.push((Risk::Hook { name, inode: data.ino(), changed, size: data.size() }, told));
    }
    Ok(found)
}

/// Reads a file without following a link and without waiting for anybody.
fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() || data.len() > MAX_CONFIG_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
