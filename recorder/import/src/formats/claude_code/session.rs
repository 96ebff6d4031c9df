//! A session: its root, its children, and the calls that lead from one to the other.

use std::collections::VecDeque;
use std::path::Path;

use serde_json::value::RawValue;
use trace_recorder::format::ExecutionStatus;

use super::answers::call_key;
use super::copies::copied;
use super::items::BlockKind;
use super::kin::{Child, ChildResult, Kin, Notice, Spawned, Told};
use super::layout;
use super::prompt::{agent_of_result, task_of_lead};
use super::records::{AgentMeta, CallInput, Flag, ToolUseResult, tokens};
use super::scan::{Scan, ends_in_api_error};
use super::tables::{Map, Set};
use super::teller::{Material, Teller};
use super::transcript::{Entry, Transcript};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::event::EventRef;
use crate::note::Code;
use crate::thread::{ThreadInfo, ThreadWriter, agent_path, child_thread_id};

/// Returns whether the place of lines of a type is known, or that they have none in the graph.
fn is_known(kind: &str) -> bool {
    match kind {
        "user" | "assistant" | "system" | "attachment" | "progress" | "compact_boundary" => true,
        "summary" | "custom-title" | "ai-title" | "tag" | "agent-name" | "agent-color" | "agent-setting" => true,
        "api-request" | "api-request-blob" | "api-request-shape" | "content-replacement" => true,
        "queue-operation" | "last-prompt" | "mode" | "permission-mode" | "tools-used" | "atis-latch" | "cost-state" => {
            true
        }
        "file-history-snapshot" | "file-history-delta" | "worktree-state" | "relocated" | "pr-link" | "frame-link" => {
            true
        }
        // The output for programs.
        "started" | "result" | "stream_event" | "rate_limit_event" | "control_request" | "control_response" => true,
        "keep_alive" | "tool_progress" => true,
        _ => false,
    }
}

/// The lines of a child, and what its files say of it.
#[derive(Debug, Default)]
pub(crate) struct ChildLines<'a> {
    /// The agent's id of the child.
    pub(crate) agent: String,
    /// The call that spawned it.
    pub(crate) call: Option<String>,
    /// What kind of agent it is.
    pub(crate) role: Option<String>,
    /// What the parent called the task.
    pub(crate) task: Option<String>,
    /// Its lines.
    pub(crate) entries: Vec<&'a Entry<'a>>,
}

/// A session whose files are read.
pub(crate) struct Session<'a> {
    /// The agent's id of the session.
    pub(crate) id: String,
    /// The lines of the root.
    pub(crate) root: Vec<&'a Entry<'a>>,
    /// The children.
    pub(crate) children: Vec<ChildLines<'a>>,
    /// Ids of lines of the root that another session has too.
    pub(crate) copied: Set<&'a str>,
    /// Whether the lines follow one another, and do not name the line that they follow.
    pub(crate) is_linear: bool,
}

/// Reads the session that a file belongs to.
///
/// # Errors
///
/// Returns an error if the file of the session cannot be read.
pub(crate) fn read(path: &Path, draft: &mut Draft) -> Result<(), ImportError> {
    let root = layout::root(path);
    let transcript = Transcript::read(&root, draft)?;
    let files = layout::children(&root);
    let mut texts = Vec::with_capacity(files.len());
    for file in &files {
        match Transcript::read(&file.path, draft) {
            Ok(text) => texts.push(text),
            Err(error) => {
                tracing::warn!(path = %file.path.display(), %error, "the file of a child is left out");
                texts.push(Transcript::default());
            }
        }
    }
    let lines = transcript.entries(draft);
    let child_lines: Vec<_> = texts.iter().map(|text| text.entries(draft)).collect();
    let id = id(&root, &lines);
    let copied = copied(&root, &id, &lines, draft);
    let mut children: Vec<ChildLines<'_>> = Vec::new();
    for (file, lines) in files.iter().zip(&child_lines) {
        let meta = file.meta.as_deref().and_then(AgentMeta::parse).unwrap_or_default();
        let text = |text: Option<super::records::Borrowed<'_>>| text.map(|text| text.into_inner().into_owned());
        children.push(ChildLines {
            agent: file.agent.clone(),
            call: text(meta.tool_use),
            role: text(meta.agent_type),
            task: text(meta.description),
            entries: lines.iter().collect(),
        });
    }
    let is_child = layout::is_child(&root);
    let (main, mut sides) = if is_child { (lines.iter().collect(), Vec::new()) } else { split(&lines) };
    children.append(&mut sides);
    let session =
        Session { id, root: main, children, copied: copied.iter().map(String::as_str).collect(), is_linear: false };
    tell(session, draft);
    Ok(())
}

/// Separates the children that version 1.0 wrote into the file of the session.
fn split<'a>(lines: &'a [Entry<'a>]) -> (Vec<&'a Entry<'a>>, Vec<ChildLines<'a>>) {
    let mut main = Vec::with_capacity(lines.len());
    let mut sides: Vec<ChildLines<'a>> = Vec::new();
    let mut side_of: Map<&str, usize> = Map::default();
    let mut of_main: Set<&str> = Set::default();
    for entry in lines {
        if !Flag::is_set(&entry.line.is_sidechain) {
            main.push(entry);
            of_main.extend(entry.line.uuid.as_deref());
            continue;
        }
        let parent = entry.line.parent.as_deref();
        // A file may have a line twice.
        let own = entry.line.uuid.as_deref();
        let known = parent.into_iter().chain(own).find_map(|id| side_of.get(id)).copied();
        // A line whose parent was lost belongs to the last child. A line that follows the root begins another child.
        let is_lost = parent.is_some_and(|parent| !of_main.contains(parent));
        let last = sides.len().checked_sub(1).filter(|_| is_lost);
        let side = known.or(last).unwrap_or_else(|| {
            let agent = entry.line.agent.as_deref().or(entry.line.uuid.as_deref());
            let agent = agent.map_or_else(|| format!("side-{}", sides.len() + 1), str::to_owned);
            sides.push(ChildLines { agent, ..ChildLines::default() });
            sides.len() - 1
        });
        sides[side].entries.push(entry);
        if let Some(id) = entry.line.uuid.as_deref() {
            side_of.insert(id, side);
        }
    }
    (main, sides)
}

/// Returns the id of a session: the name of its file, or what its lines say if that is no UUID.
fn id(root: &Path, lines: &[Entry<'_>]) -> String {
    let stem = layout::stem(root);
    if uuid::Uuid::try_parse(stem).is_ok() {
        return stem.to_owned();
    }
    let named = lines.iter().rev().find_map(|entry| entry.line.session.as_deref());
    // A child whose session is gone is named by itself.
    named.filter(|_| !layout::is_child(root)).unwrap_or(stem).to_owned()
}

/// Tells a session.
pub(crate) fn tell(mut session: Session<'_>, draft: &mut Draft) {
    let all = || session.root.iter().chain(session.children.iter().flat_map(|child| &child.entries));
    let has_happened = session.root.iter().any(|entry| matches!(entry.line.kind(), "user" | "assistant"));
    if !has_happened {
        return;
    }
    for entry in all() {
        if !is_known(entry.line.kind()) {
            draft.unknown(entry.line.kind(), entry.place);
        }
    }
    if let Some(version) = session.root.iter().find_map(|entry| entry.line.version.as_deref()) {
        draft.agent_version(version);
    }
    if let Some(title) = title(&session.root) {
        draft.title(&title);
    }
    draft.session_id(&session.id);
    session.children.retain(|child| {
        let is_warm_up = is_warm_up(child);
        if is_warm_up {
            count_only(child, draft);
        }
        !is_warm_up && child.entries.iter().any(|entry| matches!(entry.line.kind(), "user" | "assistant"))
    });
    let kin = kin(&session);
    let of_root = if kin.children.is_empty() { OfRoot::default() } else { OfRoot::new(&session.root) };
    Telling { session: &session, kin: &kin, of_root, draft, told: Map::default(), paths: Map::default() }.tell();
}

/// Returns whether a child only fills the cache of the provider. No call spawns it.
fn is_warm_up(child: &ChildLines<'_>) -> bool {
    let first = child.entries.iter().find(|entry| entry.line.kind() == "user");
    child.call.is_none() && first.is_some_and(|entry| entry.first_text() == Some("Warmup"))
}

/// Counts the tokens of a child that is not shown.
fn count_only(child: &ChildLines<'_>, draft: &mut Draft) {
    let scan = Scan::new(&child.entries);
    for group in &scan.groups {
        let entry = child.entries[group.usage];
        let message = entry.line.message.as_ref().filter(|_| !entry.line.is_synthetic());
        let Some((message, usage)) = message.and_then(|message| Some((message, message.usage.as_ref()?))) else {
            continue;
        };
        let key = message.id.as_deref().map(|id| call_key(id, entry.line.request_id.as_deref(), &entry.line));
        draft.spent(message.model.as_deref().unwrap_or_default(), tokens(usage), key, entry.stamp());
    }
}

/// Returns the title of a session. What the user wrote goes before what the agent made.
fn title(root: &[&Entry<'_>]) -> Option<String> {
    let last = |find: fn(&Entry<'_>) -> Option<String>| root.iter().rev().find_map(|entry| find(entry));
    last(|entry| entry.line.custom_title.as_deref().map(str::to_owned))
        .or_else(|| last(|entry| entry.line.ai_title.as_deref().map(str::to_owned)))
        .or_else(|| {
            let ids: Set<&str> = root.iter().filter_map(|entry| entry.line.uuid.as_deref()).collect();
            // Files also hold the titles of other sessions of the project.
            let own = root.iter().rev().find(|entry| {
                entry.line.kind() == "summary" && entry.line.leaf.as_deref().is_some_and(|leaf| ids.contains(leaf))
            });
            own.and_then(|entry| entry.line.summary.as_deref()).map(str::to_owned)
        })
}

/// Finds out which call spawned which child.
fn kin(session: &Session<'_>) -> Kin {
    let mut kin = Kin::default();
    for (index, child) in session.children.iter().enumerate() {
        // Damaged files may have two children of one name, and each needs a thread of its own.
        let is_second = kin.by_agent.insert(child.agent.clone(), index).is_some();
        let name = if is_second { format!("{}:{index}", child.agent) } else { child.agent.clone() };
        kin.children.push(Child {
            agent: child.agent.clone(),
            thread: child_thread_id(&session.id, &name),
            role: child.role.clone(),
            task: child.task.clone(),
            began: child.entries.iter().find_map(|entry| entry.at),
            has_failed: ends_in_api_error(&child.entries),
            is_by_text: false,
        });
    }
    if kin.children.is_empty() {
        return kin;
    }
    let mut linked = vec![false; kin.children.len()];
    for (index, child) in session.children.iter().enumerate() {
        if let Some(call) = &child.call {
            linked[index] = true;
            kin.by_call.insert(call.clone(), index);
        }
    }
    let threads = || std::iter::once(&session.root).chain(session.children.iter().map(|child| &child.entries));
    if linked.iter().all(|linked| *linked) {
        return kin;
    }
    let spawning: Vec<(String, String)> = threads().flatten().flat_map(|entry| spawning_calls(entry)).collect();
    let calls: Set<&str> = spawning.iter().map(|(call, _)| call.as_str()).collect();
    for entry in threads().flatten() {
        let Some((call, agent)) = result_of_child(entry, &calls) else { continue };
        if let Some(child) = kin.by_agent.get(&agent).copied().filter(|child| !linked[*child]) {
            linked[child] = true;
            kin.by_call.entry(call).or_insert(child);
        }
    }
    let mut by_prompt: Map<String, VecDeque<usize>> = Map::default();
    for (index, child) in session.children.iter().enumerate().filter(|(index, _)| !linked[*index]) {
        let first = child.entries.iter().find(|entry| entry.line.kind() == "user");
        if let Some(prompt) = first.and_then(|entry| entry.first_text()) {
            by_prompt.entry(task_of_lead(prompt).to_owned()).or_default().push_back(index);
        }
    }
    if by_prompt.is_empty() {
        return kin;
    }
    for (call, prompt) in &spawning {
        if kin.by_call.contains_key(call) {
            continue;
        }
        if let Some(child) = by_prompt.get_mut(prompt.trim()).and_then(VecDeque::pop_front) {
            kin.children[child].is_by_text = true;
            kin.by_call.insert(call.clone(), child);
        }
    }
    kin
}

/// Returns the call and the child that a result of a spawning call names.
fn result_of_child(entry: &Entry<'_>, spawning: &Set<&str>) -> Option<(String, String)> {
    let block = entry.blocks.iter().find_map(|(block, _)| block.tool_use_id.as_ref().map(|_| block))?;
    let call = block.tool_use_id.as_deref()?.to_owned();
    let raw = entry.line.tool_use_result.map_or("", RawValue::get);
    if memchr::memmem::find(raw.as_bytes(), b"\"agentId\"").is_some() {
        return Some((call, ToolUseResult::parse(raw)?.agent?.into_inner().into_owned()));
    }
    // Children get results without their structure, but the words for the model name the agent, too.
    let agent = spawning.contains(call.as_str()).then(|| block.result_text())?;
    agent_of_result(&agent).map(|agent| (call, agent.to_owned()))
}

fn spawning_calls(entry: &Entry<'_>) -> Vec<(String, String)> {
    if entry.line.kind() != "assistant" {
        return Vec::new();
    }
    let spawning = entry.blocks.iter().filter(|(block, _)| {
        block.what() == BlockKind::Call && matches!(block.name.as_deref(), Some("Task" | "Agent"))
    });
    let prompt = |(block, _): &(super::records::Block<'_>, _)| {
        let prompt = CallInput::parse(block.arguments())?.prompt?.into_inner().into_owned();
        Some((block.id.as_deref()?.to_owned(), prompt))
    };
    spawning.filter_map(prompt).collect()
}

/// A child that waits to be told.
struct Waiting {
    child: usize,
    parent: String,
    parent_path: String,
    spawned: Option<Spawned>,
}

/// The lines of the root, of which children may have copies.
#[derive(Default)]
struct OfRoot<'a> {
    ids: Set<&'a str>,
    /// Hashes of what is said, and when.
    said: Set<u64>,
}

impl<'a> OfRoot<'a> {
    fn new(root: &[&'a Entry<'a>]) -> Self {
        let said = root.iter().filter(|entry| entry.is_said() && entry.at.is_some());
        Self {
            ids: root.iter().filter_map(|entry| entry.line.uuid.as_deref()).collect(),
            said: said.map(|entry| entry.said_hash()).collect(),
        }
    }
}

/// A session while it is told.
struct Telling<'m, 'a> {
    session: &'a Session<'a>,
    kin: &'m Kin,
    of_root: OfRoot<'a>,
    draft: &'m mut Draft,
    told: Map<usize, EventRef>,
    paths: Map<String, usize>,
}

impl Telling<'_, '_> {
    fn tell(&mut self) {
        let Some(first) = self.session.root.first() else { return };
        let root = child_thread_id(&self.session.id, &self.session.id);
        if root != self.session.id {
            self.draft.note(Code::ThreadIdMade, None);
        }
        if self.session.children.iter().any(|child| uuid::Uuid::try_parse(&child.agent).is_err()) {
            self.draft.note(Code::ThreadIdMade, None);
        }
        let cwd = self.session.root.iter().find_map(|entry| entry.line.cwd.as_deref()).map(str::to_owned);
        let path = "/root".to_owned();
        let info = ThreadInfo { id: root.clone(), agent_path: path.clone(), cwd: cwd.clone(), ..ThreadInfo::default() };
        let began = self.session.root.iter().find(|entry| entry.line.uuid.is_some() && entry.at.is_some());
        let writer = ThreadWriter::start(self.draft, info, began.unwrap_or(first).stamp());
        let material = Material {
            entries: &self.session.root,
            copied: &self.session.copied,
            kin: self.kin,
            parent_status: None,
            answer: None,
            is_child: false,
            is_linear: self.session.is_linear,
        };
        let told = Teller::new(self.draft, writer, material).tell();
        let mut notices = Vec::new();
        let mut waiting = VecDeque::new();
        let mut is_told = vec![false; self.session.children.len()];
        note_children(told, &root, &path, &mut is_told, &mut waiting, &mut notices);
        let mut next = 0;
        loop {
            let Some(child) = waiting.pop_front() else {
                let Some(unlinked) = (next..is_told.len()).find(|child| !is_told[*child]) else { break };
                next = unlinked;
                is_told[unlinked] = true;
                let place = self.session.children[unlinked].entries.first().map(|entry| entry.place);
                self.draft.note(Code::ChildUnlinked, place);
                let parent =
                    Waiting { child: unlinked, parent: root.clone(), parent_path: path.clone(), spawned: None };
                waiting.push_back(parent);
                continue;
            };
            self.child(child, cwd.as_deref(), &mut is_told, &mut waiting, &mut notices);
        }
        for notice in notices {
            if let Some(last) = self.told.get(&notice.child) {
                self.draft.after(notice.event, *last);
            }
        }
    }

    fn child(
        &mut self,
        waiting: Waiting,
        cwd: Option<&str>,
        is_told: &mut [bool],
        queue: &mut VecDeque<Waiting>,
        notices: &mut Vec<Notice>,
    ) {
        let lines = &self.session.children[waiting.child].entries;
        let child = &self.kin.children[waiting.child];
        let Some(first) = lines.first() else { return };
        let spawned = waiting.spawned.as_ref();
        let task = child.task.clone().or_else(|| spawned.and_then(|spawned| spawned.task.clone()));
        let role = child.role.clone().or_else(|| spawned.and_then(|spawned| spawned.role.clone()));
        let name = task.as_deref().or(role.as_deref()).unwrap_or(&child.agent);
        let path = self.path(&agent_path(&waiting.parent_path, name));
        let info = ThreadInfo {
            id: child.thread.clone(),
            agent_path: path.clone(),
            parent: Some(waiting.parent),
            task_name: task,
            agent_role: role,
            cwd: lines.iter().find_map(|entry| entry.line.cwd.as_deref()).or(cwd).map(str::to_owned),
            ..ThreadInfo::default()
        };
        let result: Option<ChildResult> = spawned.and_then(|spawned| spawned.result.clone());
        let writer = ThreadWriter::start(self.draft, info, first.stamp());
        let noticed = notices.iter().find(|notice| notice.child == waiting.child).map(|notice| &notice.answer);
        let is_copy = |entry: &&&Entry<'_>| {
            let has_id = entry.line.uuid.as_deref().is_some_and(|id| self.of_root.ids.contains(id));
            has_id || (entry.is_said() && entry.at.is_some() && self.of_root.said.contains(&entry.said_hash()))
        };
        let copied = lines.iter().filter(is_copy).filter_map(|entry| entry.line.uuid.as_deref()).collect();
        let own: Set<&str> = lines.iter().filter_map(|entry| entry.line.uuid.as_deref()).collect();
        let goes_on = lines.iter().find(|entry| entry.is_said()).filter(|entry| {
            let parent = entry.line.parent.as_deref();
            parent.is_some_and(|parent| !own.contains(parent) && self.of_root.ids.contains(parent))
        });
        if let Some(entry) = goes_on {
            // The model also saw the history of the root.
            self.draft.note(Code::RequestIncomplete, Some(entry.place));
        }
        let material = Material {
            entries: lines,
            copied: &copied,
            kin: self.kin,
            parent_status: result
                .as_ref()
                .map(|result| result.status)
                .filter(|status| *status != ExecutionStatus::Running),
            answer: result.as_ref().and_then(|result| result.answer.as_ref()).or(noticed),
            is_child: true,
            is_linear: self.session.is_linear,
        };
        let told = Teller::new(self.draft, writer, material).tell();
        if let Some(spawned) = spawned {
            self.draft.after(told.started, spawned.event);
        }
        if let Some(result) = result {
            self.draft.after(result.event, told.last);
        }
        self.told.insert(waiting.child, told.last);
        note_children(told, &child.thread, &path, is_told, queue, notices);
    }

    /// Returns a path that no other thread has.
    fn path(&mut self, path: &str) -> String {
        let mut number = *self.paths.get(path).unwrap_or(&0);
        loop {
            number += 1;
            let made = if number == 1 { path.to_owned() } else { format!("{path}_{number}") };
            // Another name may look like one with a number.
            if number == 1 || !self.paths.contains_key(&made) {
                self.paths.insert(made.clone(), 1);
                self.paths.insert(path.to_owned(), number);
                return made;
            }
        }
    }
}

fn note_children(
    told: Told,
    thread: &str,
    path: &str,
    is_told: &mut [bool],
    queue: &mut VecDeque<Waiting>,
    notices: &mut Vec<Notice>,
) {
    notices.extend(told.notices);
    for spawned in told.spawned {
        if !std::mem::replace(&mut is_told[spawned.child], true) {
            queue.push_back(Waiting {
                child: spawned.child,
                parent: thread.to_owned(),
                parent_path: path.to_owned(),
                spawned: Some(spawned),
            });
        }
    }
}
