//! A session with its children.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::log::Log;
use super::records::Message;
use super::telemetry::Telemetry;
use super::thread::{Link, Spawned, tell};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::paths::AgentPaths;
use crate::text::read_text;
use crate::thread::{ThreadInfo, child_thread_id};

/// Children of a session that no call leads to and that are read.
const MAX_UNLINKED: usize = 1_000;

/// Longest path in `.project_root`.
const MAX_PATH_BYTES: usize = 4_096;

/// A thread whose file is not read yet.
struct Waiting {
    file: PathBuf,
    agent_path: String,
    link: Link,
}

/// Reads a session and its children.
///
/// # Errors
///
/// Returns an error if the file of the session cannot be read.
pub(crate) fn read(path: &Path, draft: &mut Draft) -> Result<(), ImportError> {
    let log = Log::read(path, draft)?;
    let telemetry = Telemetry::beside(path, &log.header.session, draft);
    for code in [Code::RequestRebuilt, Code::NoSystemPrompt, Code::NoToolDefinitions, Code::ItemIdMade] {
        draft.note(code, None);
    }
    if telemetry.is_none() {
        draft.note(Code::NoFailedAttempts, None);
    }
    let session = log.header.session.clone();
    draft.session_id(&session);
    if let Some(title) = log.summary.as_deref().filter(|_| !log.header.is_child) {
        draft.title(title);
    }
    let cwd = project_root(path).or_else(|| log.header.directory.clone()).or_else(|| workspace(&log));
    let root = child_thread_id("gemini-cli", &session);
    if root != session {
        draft.note(Code::ThreadIdMade, None);
    }
    let info =
        ThreadInfo { id: root.clone(), agent_path: "/root".to_owned(), cwd: cwd.clone(), ..ThreadInfo::default() };
    let spawned = tell(&log, info, None, telemetry.as_ref(), draft);
    let mut tree =
        Tree { known: HashSet::from([path.to_owned()]), paths: AgentPaths::default(), waiting: VecDeque::new() };
    tree.add(path, &session, "/root", &root, spawned, draft);
    drop(log);
    while let Some(Waiting { file, agent_path, link }) = tree.waiting.pop_front() {
        let log = match Log::read(&file, draft) {
            Ok(log) => log,
            Err(error) => {
                tracing::warn!(path = %file.display(), %error, "the file of a child is left out");
                draft.note(Code::ChildMissing, None);
                continue;
            }
        };
        let name = link.spawned.as_ref().and_then(|spawned| spawned.name.clone());
        let agent = link.spawned.as_ref().map_or_else(|| log.header.session.clone(), |spawned| spawned.agent.clone());
        let thread = child_thread_id(&link.parent, &agent);
        let info = ThreadInfo {
            id: thread.clone(),
            agent_path: agent_path.clone(),
            parent: Some(link.parent.clone()),
            task_name: name.clone(),
            agent_role: name.clone(),
            nickname: name,
            model: None,
            cwd: log.header.directory.clone().or_else(|| cwd.clone()),
        };
        let spawned = tell(&log, info, Some(&link), telemetry.as_ref(), draft);
        tree.add(&file, &log.header.session, &agent_path, &thread, spawned, draft);
    }
    Ok(())
}

/// The threads of a session while they are found.
struct Tree {
    known: HashSet<PathBuf>,
    paths: AgentPaths,
    waiting: VecDeque<Waiting>,
}

impl Tree {
    /// Puts the children of a thread into the queue.
    fn add(&mut self, file: &Path, session: &str, path: &str, thread: &str, spawned: Vec<Spawned>, draft: &mut Draft) {
        for spawned in spawned {
            let found = child_files(file, session).map(|folder| folder.join(format!("{}.jsonl", spawned.agent)));
            // The id is part of a path, so it must not lead elsewhere.
            let is_name = spawned.agent.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
            let found = found.into_iter().find(|path| is_name && path.is_file());
            let Some(found) = found else {
                draft.note(Code::ChildMissing, None);
                continue;
            };
            if self.known.insert(found.clone()) {
                let name = spawned.name.clone().unwrap_or_default();
                self.queue(found, path, &name, Link { parent: thread.to_owned(), spawned: Some(spawned) });
            }
        }
        let own = child_files(file, session)[0].clone();
        for found in unlinked(&own) {
            if self.known.insert(found.clone()) {
                draft.note(Code::ChildUnlinked, None);
                self.queue(found, path, "agent", Link { parent: thread.to_owned(), spawned: None });
            }
        }
    }

    fn queue(&mut self, file: PathBuf, parent: &str, name: &str, link: Link) {
        let made = self.paths.add(parent, name);
        self.waiting.push_back(Waiting { file, agent_path: made, link });
    }
}

/// Returns the folders in which the children of a thread may be: that of its own session, and its own folder for a child.
fn child_files(file: &Path, session: &str) -> [PathBuf; 2] {
    let folder = file.parent().unwrap_or(Path::new(""));
    [folder.join(session), folder.to_owned()]
}

/// Returns the chat files of a folder in the order of their names.
fn unlinked(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.take(MAX_UNLINKED).filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|name| name == "jsonl")).collect();
    files.sort();
    files
}

/// Returns the directory of a project: it is in a file beside the folder of the chats.
fn project_root(chat: &Path) -> Option<String> {
    let file =
        chat.ancestors().skip(2).take(2).map(|folder| folder.join(".project_root")).find(|file| file.is_file())?;
    let text = read_text(&file).ok()?;
    let root = text.trim();
    (!root.is_empty() && root.len() <= MAX_PATH_BYTES).then(|| root.to_owned())
}

/// Returns the first directory that the message names which the program puts in front of the history.
fn workspace(log: &Log) -> Option<String> {
    let first = log.steps.iter().find_map(|step| match step {
        super::log::Step::Replace(listed, _) => listed.first(),
        _ => None,
    })?;
    let message: Message<'_> = serde_json::from_str(&first.json).ok()?;
    let text = super::records::text(&super::records::parts(message.content));
    let (_, after) = text.split_once("**Workspace Directories:**\n")?;
    Some(after.lines().next()?.trim().strip_prefix("- ")?.to_owned())
}
