//! A session with its children, whatever layout they are read from.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use super::ids::thread_id;
use super::store::{Loaded, Store};
use super::thread::{Link, tell};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::thread::{ThreadInfo, agent_path};

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
    let mut known = HashSet::from([id.to_owned()]);
    let mut paths = HashSet::new();
    let mut waiting = VecDeque::new();
    one(&loaded, "/root", None, store, draft, &mut known, &mut paths, &mut waiting)?;
    drop(loaded);
    while let Some(Waiting { session, agent_path, link }) = waiting.pop_front() {
        match store.load(&session, draft)? {
            Some(loaded) => {
                one(&loaded, &agent_path, Some(&link), store, draft, &mut known, &mut paths, &mut waiting)?;
            }
            None => draft.note(Code::ChildMissing, None),
        }
    }
    Ok(())
}

/// Tells one thread, and puts its children into the queue.
#[expect(clippy::too_many_arguments, reason = "the state of one loop")]
fn one(
    loaded: &Loaded,
    path: &str,
    link: Option<&Link>,
    store: &mut dyn Store,
    draft: &mut Draft,
    known: &mut HashSet<String>,
    paths: &mut HashSet<String>,
    waiting: &mut VecDeque<Waiting>,
) -> Result<(), ImportError> {
    let thread = thread_id(&loaded.info.id);
    let spawned = link.and_then(|link| link.spawned.as_ref());
    let role = spawned.and_then(|spawned| spawned.role.clone());
    let info = ThreadInfo {
        id: thread.clone(),
        agent_path: path.to_owned(),
        parent: link.map(|link| link.parent.clone()),
        task_name: spawned
            .and_then(|spawned| spawned.task_name.clone())
            .or_else(|| link.and(loaded.info.title.clone())),
        nickname: role.clone(),
        agent_role: role,
        model: None,
        cwd: loaded.info.directory.clone(),
    };
    let children = tell(loaded, info, link, draft);
    let mut queue = |session: String, name: &str, spawned| {
        if known.insert(session.clone()) {
            let agent_path = unused(&agent_path(path, name), paths);
            waiting.push_back(Waiting { session, agent_path, link: Link { parent: thread.clone(), spawned } });
            return true;
        }
        false
    };
    for spawned in children {
        let name = spawned.task_name.clone().unwrap_or_default();
        queue(spawned.session.clone(), &name, Some(spawned));
    }
    for session in store.children(&loaded.info.id)? {
        if queue(session, "agent", None) {
            draft.note(Code::ChildUnlinked, Some(loaded.place));
        }
    }
    Ok(())
}

/// Returns the path of an agent, with a number behind it if another agent has it.
fn unused(path: &str, paths: &mut HashSet<String>) -> String {
    let mut made = path.to_owned();
    let mut number = 1;
    while !paths.insert(made.clone()) {
        number += 1;
        made = format!("{path}_{number}");
    }
    made
}
