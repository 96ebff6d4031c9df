//! Summaries of many sessions, kept from one search to the next.
//!
//! A summary is right as long as all files that it was read from have their sizes and times, and no file was added that may
//! belong to the session. So each summary has a fingerprint of: the session's own file, the files below its folder that are no
//! sessions themselves (except those in folders of other sessions), and those elsewhere that a format reads with it. Files
//! beyond these that were read are listed one by one. A file whose size and time are known is not opened.

mod packed;
mod tree;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::packed::Packed;
use self::tree::{File, Parts, Tree, hash, stamp};
use crate::format::SessionRef;
use crate::sessions::{format, recognize, summarize_from};
use crate::summary::Summary;

/// What earlier searches found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Catalog {
    files: HashMap<String, KnownFile>,
    sessions: HashMap<String, KnownSession>,
    #[serde(skip)]
    is_changed: bool,
    /// Hashes of the paths of files that a search saw, so that they need not be looked for again.
    #[serde(skip)]
    seen: HashSet<u64>,
}

/// A session that a search found.
#[derive(Debug)]
pub struct Listed {
    /// The session.
    pub session: SessionRef,
    /// Its summary, or why it cannot be read.
    pub summary: Result<Summary, String>,
}

/// The format of a file, and the sessions in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownFile {
    stamp: u64,
    /// Names of all files of the store, if the sessions depend on other files.
    names: Option<u64>,
    format: Option<String>,
    /// Ids of its sessions. One without an id is the file itself.
    ids: Vec<Option<String>>,
}

impl KnownFile {
    /// Returns whether neither the file has changed nor others that its sessions depend on.
    fn is_right(&self, file: &File, names: u64) -> bool {
        self.stamp == file.stamp && self.names.is_none_or(|known| known == names)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownSession {
    fingerprint: u64,
    /// Names of all files of the store, if any other file may matter.
    names: Option<u64>,
    /// The files beside its own one that it was read from.
    files: Vec<(String, Option<u64>)>,
    summary: Packed,
}

impl Catalog {
    /// Returns the sessions of a file, of a store, or of all files below a folder, with their summaries, in the order of their
    /// paths. What cannot be read is skipped with a warning.
    pub fn look(&mut self, root: &Path) -> Vec<Listed> {
        let (tree, sessions) = self.search(root, usize::MAX);
        let names = tree.names();
        let paths: HashSet<&Path> = sessions.iter().map(|(session, _)| session.path.as_path()).collect();
        let formats: HashSet<&'static str> = sessions.iter().map(|(session, _)| session.format).collect();
        let parts: HashMap<_, _> = formats.iter().map(|name| (*name, Parts::new(&tree, &paths, name))).collect();
        let stamps = tree.stamps();
        let look = |(session, own): &(SessionRef, u64)| {
            let companions = format(session.format).map(|format| format.companions(&session.path)).unwrap_or_default();
            let companions: Vec<_> = companions.iter().map(|path| stamp(path)).collect();
            let group = parts.get(session.format).map(|parts| parts.of(&session.path));
            let fingerprint = hash(&(own, companions, group));
            self.summary(session, fingerprint, names, &stamps)
        };
        let looked: Vec<(Listed, Option<KnownSession>)> = sessions.par_iter().map(look).collect();
        let mut listed = Vec::with_capacity(looked.len());
        for (session, new) in looked {
            if let Some((key, new)) = key(&session.session).zip(new) {
                self.is_changed = true;
                self.sessions.insert(key, new);
            }
            listed.push(session);
        }
        listed.sort_by(|one, other| one.session.cmp(&other.session));
        listed.dedup_by(|one, other| one.session == other.session);
        listed
    }

    /// Returns the sessions of a file, of a store, or of all files below a folder, in the order of their paths. None is read,
    /// and a file whose size and time are known is not opened.
    pub fn find(&mut self, root: &Path) -> Vec<SessionRef> {
        self.find_quickly(root, usize::MAX)
    }

    /// Returns the sessions like [`Catalog::find`], but opens at most `limit` files that are new or changed, those that were written
    /// last. Of the others, the sessions are returned that an earlier search found in them.
    pub fn find_quickly(&mut self, root: &Path, limit: usize) -> Vec<SessionRef> {
        let (_, sessions) = self.search(root, limit);
        let mut sessions: Vec<_> = sessions.into_iter().map(|(session, _)| session).collect();
        sessions.sort();
        sessions.dedup();
        sessions
    }

    /// Returns the summary of an earlier search, even if the session was written to since.
    pub fn remembered(&self, session: &SessionRef) -> Option<Summary> {
        self.sessions.get(&key(session)?).map(|known| known.summary.unpack())
    }

    /// Returns the files below a folder, and the sessions in them with the stamps of their files. At most `limit` files that are new or
    /// changed are opened.
    fn search(&mut self, root: &Path, limit: usize) -> (Tree, Vec<(SessionRef, u64)>) {
        let tree = Tree::walk(root);
        self.seen.extend(tree.files.iter().filter_map(|file| file.path.to_str()).map(|path| hash(&path)));
        let names = tree.names();
        let candidates: Vec<&File> = tree.files.iter().filter(|file| file.is_candidate).collect();
        let is_new = |file: &&File| self.known(file).is_none_or(|known| !known.is_right(file, names));
        let mut new: Vec<&File> = candidates.iter().copied().filter(is_new).collect();
        let mut left_out: HashSet<&Path> = HashSet::new();
        if new.len() > limit {
            new.sort_by_key(|file| Reverse(file.written));
            left_out.extend(new[limit..].iter().map(|file| file.path.as_path()));
        }
        let recognized = |file: &&File| match left_out.contains(file.path.as_path()) {
            false => Some(self.recognized(file, names)),
            true => self.known(file).map(|known| (known.clone(), false)),
        };
        let found: Vec<_> = candidates.par_iter().map(recognized).collect();
        let mut sessions = Vec::new();
        for (file, found) in candidates.into_iter().zip(found) {
            let Some((known, is_new)) = found else { continue };
            if let Some(format) = known.format.as_deref().and_then(format) {
                let reference =
                    |id: &Option<String>| SessionRef { id: id.clone(), ..SessionRef::file(format.name(), &file.path) };
                sessions.extend(known.ids.iter().map(reference).map(|session| (session, file.stamp)));
            }
            if let Some(path) = file.path.to_str().filter(|_| is_new) {
                self.is_changed = true;
                self.files.insert(path.to_owned(), known);
            }
        }
        (tree, sessions)
    }

    /// Returns a summary that [`Catalog::keep`] kept, if the fingerprint is the same.
    pub fn kept(&self, name: &str, fingerprint: u64) -> Option<Summary> {
        self.sessions.get(name).filter(|known| known.fingerprint == fingerprint).map(|known| known.summary.unpack())
    }

    /// Keeps a summary of something that no format reads.
    pub fn keep(&mut self, name: &str, fingerprint: u64, summary: &Summary) {
        self.is_changed = true;
        let summary = Packed::new(summary.clone());
        let known = KnownSession { fingerprint, names: None, files: Vec::new(), summary };
        self.sessions.insert(name.to_owned(), known);
    }

    /// Returns a number for the sizes and times of files, for [`Catalog::keep`].
    pub fn fingerprint(files: &[PathBuf]) -> u64 {
        hash(&files.iter().map(|file| stamp(file)).collect::<Vec<_>>())
    }

    /// Returns whether something was added since the catalog was made or loaded.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Drops what is known of files that are gone.
    pub fn forget_gone(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let is_there = |path: &str| seen.contains(&hash(&path)) || Path::new(path).exists();
        self.files.retain(|path, _| is_there(path));
        self.sessions.retain(|key, _| is_there(key.split('\n').next().unwrap_or_default()));
    }

    fn known(&self, file: &File) -> Option<&KnownFile> {
        self.files.get(file.path.to_str()?)
    }

    fn recognized(&self, file: &File, names: u64) -> (KnownFile, bool) {
        let known = self.known(file).filter(|known| known.stamp == file.stamp);
        if let Some(known) = known.filter(|known| known.is_right(file, names)) {
            return (known.clone(), false);
        }
        // Other files were added or removed. That does not change the format of this file, but may change its sessions.
        let found = match known {
            Some(known) => Ok(known.format.as_deref().and_then(format)),
            None => recognize(&file.path),
        };
        let sessions = found.and_then(|found| {
            let sessions = found.map(|format| format.sessions(&file.path)).transpose()?;
            Ok((found, sessions.unwrap_or_default()))
        });
        match sessions {
            Ok((found, sessions)) => {
                // The session of a file in a store is named by the store; it is listed with that.
                let own = sessions.into_iter().filter(|session| session.path == file.path);
                let stands_alone = found.is_none_or(|format| format.stands_alone(&file.path));
                let known = KnownFile {
                    stamp: file.stamp,
                    names: (!stands_alone).then_some(names),
                    format: found.map(|format| format.name().to_owned()),
                    ids: own.map(|session| session.id).collect(),
                };
                (known, true)
            }
            Err(error) => {
                tracing::warn!(path = %file.path.display(), %error, "skipped");
                (KnownFile { stamp: file.stamp, names: None, format: None, ids: Vec::new() }, false)
            }
        }
    }

    fn summary(
        &self,
        session: &SessionRef,
        fingerprint: u64,
        names: u64,
        stamps: &HashMap<&Path, u64>,
    ) -> (Listed, Option<KnownSession>) {
        let stamp_of = |path: &Path| stamps.get(path).copied().or_else(|| stamp(path));
        let is_right = |known: &&KnownSession| {
            known.fingerprint == fingerprint
                && known.names.is_none_or(|known| known == names)
                && known.files.iter().all(|(path, stamp)| stamp_of(Path::new(path)) == *stamp)
        };
        let known = key(session).and_then(|key| self.sessions.get(&key)).filter(is_right);
        if let Some(known) = known {
            return (Listed { session: session.clone(), summary: Ok(known.summary.unpack()) }, None);
        }
        match summarize_from(session) {
            Ok((summary, reads)) => {
                let folder = session.path.parent().unwrap_or(Path::new(""));
                let beyond: Vec<_> = reads.files.iter().filter(|path| **path != session.path).collect();
                let looks_around = reads.looks_around || beyond.iter().any(|path| !path.starts_with(folder));
                let is_named = beyond.iter().all(|path| path.to_str().is_some());
                let files = beyond.iter().map(|path| (path.to_string_lossy().into_owned(), stamp_of(path)));
                let new = KnownSession {
                    fingerprint,
                    names: looks_around.then_some(names),
                    files: files.collect(),
                    summary: Packed::new(summary.clone()),
                };
                (Listed { session: session.clone(), summary: Ok(summary) }, Some(new).filter(|_| is_named))
            }
            Err(error) => (Listed { session: session.clone(), summary: Err(error.to_string()) }, None),
        }
    }
}

/// Returns the name of a session in a catalog.
fn key(session: &SessionRef) -> Option<String> {
    let id = session.id.as_deref().unwrap_or_default();
    session.path.to_str().map(|path| format!("{path}\n{}\n{id}", session.format))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn write(path: &Path, text: &str, age: u64) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
        fs::write(path, text).expect("writes");
        let file = fs::File::options().append(true).open(path).expect("opens");
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("sets the time");
    }

    fn rollout(folder: &Path, number: u64, more: &str, age: u64) {
        let id = format!("01a20516-0000-7000-8000-{number:012}");
        let meta = format!(r#"{{"id":"{id}","cwd":"/repo","cli_version":"0.169.0","source":"exec"}}"#);
        let line = format!(r#"{{"timestamp":"2026-11-22T21:00:00.000Z","type":"session_meta","payload":{meta}}}"#);
        write(&folder.join(format!("rollout-2026-11-22T21-00-00-{id}.jsonl")), &format!("{line}\n{more}"), age);
    }

    /// Names of the sessions: ids of those in a store, and the last digits of the ids of others.
    fn names(sessions: &[SessionRef]) -> Vec<String> {
        let name = |session: &SessionRef| {
            let stem = session.path.file_stem().expect("a name").to_string_lossy().into_owned();
            session.id.clone().unwrap_or_else(|| stem[stem.len() - 2..].to_owned())
        };
        sessions.iter().map(name).collect()
    }

    #[test]
    fn a_quick_search_opens_what_was_written_last() {
        let folder = tempfile::tempdir().expect("a directory");
        let (rollouts, store) = (folder.path().join("rollouts"), folder.path().join("store"));
        (0..4).for_each(|number| rollout(&rollouts, number, "", 500 - number));
        let info =
            r#"{"id":"ses_a","directory":"/repo","title":"A","version":"1.0.0","time":{"created":1,"updated":2}}"#;
        write(&store.join("session/p/ses_a.json"), info, 600);
        write(
            &store.join("message/ses_a/msg_a.json"),
            r#"{"id":"msg_a","sessionID":"ses_a","role":"user","time":{"created":1}}"#,
            100,
        );
        let mut catalog = Catalog::default();
        // The newest file is in the store, and behind it comes the last rollout.
        assert_eq!(names(&catalog.find_quickly(folder.path(), 2)), ["03", "ses_a"]);
        assert_eq!(names(&catalog.find_quickly(folder.path(), 1)), ["02", "03", "ses_a"]);
        assert_eq!(catalog.find(folder.path()).len(), 5);
    }

    #[test]
    fn a_quick_search_does_not_open_all_files_that_changed() {
        let folder = tempfile::tempdir().expect("a directory");
        (0..3).for_each(|number| rollout(folder.path(), number, "", 500 - number));
        let mut catalog = Catalog::default();
        assert_eq!(names(&catalog.find(folder.path())), ["00", "01", "02"]);
        // The files are no sessions any more, which only those who open them see.
        let files = Tree::walk(folder.path()).files;
        files.iter().zip([300, 100, 200]).for_each(|(file, age)| write(&file.path, "{}\n", age));
        assert_eq!(names(&catalog.find_quickly(folder.path(), 1)), ["00", "02"]);
        assert_eq!(names(&catalog.find_quickly(folder.path(), 1)), ["00"]);
        assert!(catalog.find(folder.path()).is_empty());
    }
}
