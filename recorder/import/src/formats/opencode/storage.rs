//! Sessions as folders of JSON files, as opencode wrote them before version 1.1.
//!
//! `session/PROJECT/SESSION.json` describes a session, `message/SESSION/MESSAGE.json` has its messages, and
//! `part/MESSAGE/PART.json` has theirs.

use std::fs;
use std::path::{Path, PathBuf};

use trace_recorder::format::import::Place;

use super::records::SessionInfo;
use super::store::{Loaded, Store, StoredMessage, StoredPart};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::text::read_text;

/// Returns whether a folder is such a store.
pub(crate) fn is_store(path: &Path) -> bool {
    path.join("session").is_dir() && path.join("message").is_dir()
}

/// Returns the store and the id of the session that a file describes.
pub(crate) fn session_of_file(path: &Path) -> Option<(PathBuf, String)> {
    let id = path.file_name()?.to_str()?.strip_suffix(".json").filter(|id| id.starts_with("ses_"))?;
    let sessions = path.parent()?.parent()?;
    let store = sessions.parent()?;
    (sessions.file_name()? == "session" && is_store(store)).then(|| (store.to_owned(), id.to_owned()))
}

/// A store, with what its sessions are.
pub(crate) struct Storage {
    path: PathBuf,
    /// The sessions in the order of their ids, with their files.
    sessions: Vec<(SessionInfo, PathBuf)>,
}

impl Storage {
    /// Reads what the sessions of a store are. Files that cannot be read are left out with a warning.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let mut sessions = Vec::new();
        let folder = path.join("session");
        for project in entries(&folder).map_err(|source| ImportError::io(&folder, source))? {
            for file in entries(&project).unwrap_or_default() {
                if file.extension().is_none_or(|extension| extension != "json") {
                    continue;
                }
                match read_text(&file).map(|text| SessionInfo::parse(&text)) {
                    Ok(Some(info)) => sessions.push((info, file)),
                    Ok(None) => tracing::warn!(path = %file.display(), "this file describes no session"),
                    Err(error) => tracing::warn!(path = %file.display(), %error, "skipped"),
                }
            }
        }
        sessions.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        Ok(Self { path: path.to_owned(), sessions })
    }

    /// Returns the ids of the sessions that no other session started, or that one started which is gone.
    pub(crate) fn roots(&self) -> Vec<String> {
        let is_root = |info: &SessionInfo| info.parent.as_deref().is_none_or(|parent| self.find(parent).is_none());
        self.sessions.iter().filter(|(info, _)| is_root(info)).map(|(info, _)| info.id.clone()).collect()
    }

    fn find(&self, id: &str) -> Option<&(SessionInfo, PathBuf)> {
        let index = self.sessions.binary_search_by(|(info, _)| info.id.as_str().cmp(id)).ok()?;
        Some(&self.sessions[index])
    }
}

impl Store for Storage {
    fn load(&mut self, id: &str, draft: &mut Draft) -> Result<Option<Loaded>, ImportError> {
        let Some((info, file)) = self.find(id) else { return Ok(None) };
        let place = Place { source: draft.source(file), line: 1 };
        let mut loaded = Loaded::new(info.clone(), place);
        for file in records(&self.path.join("message").join(id)) {
            let Some((id, json, place)) = add(&mut loaded, &file, draft) else { continue };
            let parts = self.path.join("part").join(&id);
            let mut message = StoredMessage { id, json, place, parts: Vec::new() };
            for file in records(&parts) {
                if let Some((id, json, place)) = add(&mut loaded, &file, draft) {
                    message.parts.push(StoredPart { id, json, place });
                }
            }
            loaded.messages.push(message);
        }
        Ok(Some(loaded))
    }

    fn children(&mut self, id: &str) -> Result<Vec<String>, ImportError> {
        let mut children: Vec<_> =
            self.sessions.iter().map(|(info, _)| info).filter(|info| info.parent.as_deref() == Some(id)).collect();
        children.sort_by_key(|info| info.created);
        Ok(children.into_iter().map(|info| info.id.clone()).collect())
    }
}

/// Adds the text of a file. The name of the file is the id of its record.
fn add(loaded: &mut Loaded, file: &Path, draft: &mut Draft) -> Option<(String, std::ops::Range<usize>, Place)> {
    let id = file.file_stem()?.to_str()?.to_owned();
    let place = Place { source: draft.source(file), line: 1 };
    match read_text(file) {
        Ok(text) => Some((id, loaded.add_text(&text), place)),
        Err(error) => {
            tracing::warn!(path = %file.display(), %error, "skipped");
            draft.note(Code::DamagedLine, Some(place));
            None
        }
    }
}

/// Returns the JSON files of a folder in the order of their names. A folder that is missing has none.
fn records(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries(folder).unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}
