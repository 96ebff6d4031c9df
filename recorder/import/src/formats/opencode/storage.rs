//! Sessions as folders of JSON files, as opencode wrote them before version 1.1.
//!
//! `session/PROJECT/SESSION.json` describes a session, `message/SESSION/MESSAGE.json` has its messages, and
//! `part/MESSAGE/PART.json` has theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use trace_recorder::format::import::Place;

use super::records::SessionInfo;
use super::store::{Loaded, Store, StoredMessage, StoredPart};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::text::read_text;

/// Longest step of the clock of a file system.
const MAX_CLOCK_STEP: Duration = Duration::from_secs(2);

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

/// A store, with how its sessions belong together.
pub(crate) struct Storage {
    path: PathBuf,
    sessions: Arc<Vec<Member>>,
}

/// What never changes of a session.
#[derive(Debug)]
struct Member {
    id: String,
    parent: Option<String>,
    created: Option<i64>,
    file: PathBuf,
}

/// The members of the store that was read last, in the order of their ids.
#[derive(Debug)]
struct Known {
    path: PathBuf,
    /// The folders of the projects, and when a file was last added to each or removed.
    folders: Vec<(PathBuf, SystemTime)>,
    sessions: Arc<Vec<Member>>,
}

/// A list of sessions reads one after the other. Each has to know its children, which only the files of all sessions tell, so these
/// are not read each time.
static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

impl Storage {
    /// Finds the sessions of a store. Files that cannot be read are left out with a warning.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let folder = path.join("session");
        let projects = entries(&folder).map_err(|source| ImportError::io(&folder, source))?;
        let written = |project: PathBuf| {
            let data = fs::metadata(&project).ok()?;
            let written = data.modified().ok()?;
            data.is_dir().then_some((project, written))
        };
        let folders: Vec<_> = projects.into_iter().filter_map(written).collect();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let sessions = match &*known {
            Some(known) if known.path == path && known.folders == folders => Arc::clone(&known.sessions),
            _ => {
                let is_settled = is_settled(&folders);
                let (sessions, is_whole) = members(&folders);
                let sessions = Arc::new(sessions);
                let read = Known { path: path.to_owned(), folders, sessions: Arc::clone(&sessions) };
                *known = Some(read).filter(|_| is_settled && is_whole);
                sessions
            }
        };
        Ok(Self { path: path.to_owned(), sessions })
    }

    /// Returns the ids of the sessions that no other session started, or that one started which is gone.
    pub(crate) fn roots(&self) -> Vec<String> {
        let is_root = |member: &&Member| member.parent.as_deref().is_none_or(|parent| self.find(parent).is_none());
        self.sessions.iter().filter(is_root).map(|member| member.id.clone()).collect()
    }

    fn find(&self, id: &str) -> Option<&Member> {
        let index = self.sessions.binary_search_by(|member| member.id.as_str().cmp(id)).ok()?;
        Some(&self.sessions[index])
    }
}

/// Returns whether the last change of each folder is so long ago that another one has another time.
fn is_settled(folders: &[(PathBuf, SystemTime)]) -> bool {
    folders.iter().all(|(_, written)| written.elapsed().is_ok_and(|passed| passed > MAX_CLOCK_STEP))
}

/// Reads the descriptions of the sessions in some folders. Also returns whether all files could be read.
fn members(folders: &[(PathBuf, SystemTime)]) -> (Vec<Member>, bool) {
    let mut members = Vec::new();
    let mut is_whole = true;
    for (folder, _) in folders {
        for file in records(folder) {
            match read_text(&file).map(|text| SessionInfo::parse(&text)) {
                Ok(Some(SessionInfo { id, parent, created, .. })) => {
                    members.push(Member { id, parent, created, file });
                    continue;
                }
                Ok(None) => tracing::warn!(path = %file.display(), "this file describes no session"),
                Err(error) => tracing::warn!(path = %file.display(), %error, "skipped"),
            }
            is_whole = false;
        }
    }
    members.sort_by(|one, other| one.id.cmp(&other.id));
    (members, is_whole)
}

impl Store for Storage {
    fn load(&mut self, id: &str, draft: &mut Draft) -> Result<Option<Loaded>, ImportError> {
        let Some(member) = self.find(id) else { return Ok(None) };
        let text = read_text(&member.file)?;
        let place = Place { source: draft.source(&member.file), line: 1 };
        let info = SessionInfo::parse(&text).filter(|info| info.id == id);
        let info = info.unwrap_or_else(|| {
            draft.note(Code::DamagedLine, Some(place));
            SessionInfo { id: id.to_owned(), parent: member.parent.clone(), ..SessionInfo::default() }
        });
        let mut loaded = Loaded::new(info, place);
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
        let mut children: Vec<_> = self.sessions.iter().filter(|member| member.parent.as_deref() == Some(id)).collect();
        children.sort_by_key(|member| member.created);
        Ok(children.into_iter().map(|member| member.id.clone()).collect())
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
