//! A session with its children, whatever layout they are read from.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use super::ids::thread_id;
use super::store::{Loaded, Store};
use super::thread::{Link, tell};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::paths::AgentPaths;
use crate::thread::ThreadInfo;

/// A thread whose session is not read yet.
struct Waiting {
    session: String,
    agent_path: String,
    link: Link,
}

/// Reads a session and those that it started.
///
/// # Errors
///
/// Returns an error if the store cannot be read or does not have the session.
pub(crate) fn read(path: &Path, id: &str, store: &mut dyn Store, draft: &mut Draft) -> Result<(), ImportError> {
    let no_such = || ImportError::NoSuchSession { path: path.to_owned(), id: id.to_owned() };
    let loaded = store.load(id, draft)?.ok_or_else(no_such)?;
    for code in [
        Code::RequestRebuilt,
        Code::NoSystemPrompt,
        Code::NoToolDefinitions,
        Code::NoFailedAttempts,
        Code::ThreadIdMade,
    ] {
        draft.note(code, None);
    }
    draft.session_id(id);
    if let Some(version) = &loaded.info.version {
        draft.agent_version(version);
    }
    if let Some(title) = &loaded.info.title {
        draft.title(title);
    }
    let mut tree =
        Tree { known: HashSet::from([id.to_owned()]), paths: AgentPaths::default(), waiting: VecDeque::new() };
    tree.one(&loaded, "/root", None, store, draft)?;
    drop(loaded);
    while let Some(Waiting { session, agent_path, link }) = tree.waiting.pop_front() {
        match store.load(&session, draft)? {
            Some(loaded) => tree.one(&loaded, &agent_path, Some(&link), store, draft)?,
            None => draft.note(Code::ChildMissing, None),
        }
    }
    Ok(())
}

/// The threads of a session while they are found.
struct Tree {
    /// The sessions that are told or wait for it.
    known: HashSet<String>,
    paths: AgentPaths,
    waiting: VecDeque<Waiting>,
}

impl Tree {
    /// Tells one thread, and puts its children into the queue.
    fn one(
        &mut self,
        loaded: &Loaded,
        path: &str,
        link: Option<&Link>,
        store: &mut dyn Store,
        draft: &mut Draft,
    ) -> Result<(), ImportError> {
        let thread = thread_id(&loaded.info.id);
        let spawned = link.and_then(|link| link.spawned.as_ref());
        let role = spawned.and_then(|spawned| spawned.role.clone());
        let task_name = spawned.and_then(|spawned| spawned.task_name.clone());
        let info = ThreadInfo {
            id: thread.clone(),
            agent_path: path.to_owned(),
            parent: link.map(|link| link.parent.clone()),
            task_name: task_name.or_else(|| link.and(loaded.info.title.clone())),
            nickname: role.clone(),
            agent_role: role,
            model: None,
            cwd: loaded.info.directory.clone(),
        };
        for spawned in tell(loaded, info, link, draft) {
            let name = spawned.task_name.clone().unwrap_or_default();
            self.queue(spawned.session.clone(), path, &name, Link { parent: thread.clone(), spawned: Some(spawned) });
        }
        for session in store.children(&loaded.info.id)? {
            if self.queue(session, path, "agent", Link { parent: thread.clone(), spawned: None }) {
                draft.note(Code::ChildUnlinked, Some(loaded.place));
            }
        }
        Ok(())
    }

    /// Puts a session into the queue unless it was there before.
    fn queue(&mut self, session: String, parent: &str, name: &str, link: Link) -> bool {
        let is_new = self.known.insert(session.clone());
        if is_new {
            let agent_path = self.paths.add(parent, name);
            self.waiting.push_back(Waiting { session, agent_path, link });
        }
        is_new
    }
}
