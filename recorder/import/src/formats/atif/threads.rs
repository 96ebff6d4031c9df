//! Turns a trajectory, its continuations and its children into events of a draft.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use trace_recorder::format::import::Place;

use crate::draft::Draft;
use crate::event::{Clock, EventRef};
use crate::note::Code;
use crate::text::read_text;
use crate::thread::{ThreadInfo, ThreadWriter, agent_path, child_thread_id};
use crate::time::millis;

use super::records::{OwnThread, Step, Trajectory, Whereabouts, extra, own};
use super::steps::{Child, Ids, Teller};

/// Threads below one another that are read.
const MAX_DEPTH: usize = 16;

/// What the threads of a session share.
#[derive(Debug, Default)]
struct Session {
    id: String,
    ids: Ids,
    paths: HashSet<String>,
    /// Files that were read. Files that name each other are read once.
    files: HashSet<PathBuf>,
}

/// The parent of a thread.
#[derive(Debug, Clone, Copy)]
struct Parent<'a> {
    thread: &'a str,
    path: &'a str,
    /// When the parent began, for children without times.
    began_at: Option<i64>,
    depth: usize,
}

/// Where a thread comes from.
#[derive(Debug, Clone, Copy)]
struct Birth<'a> {
    parent: Parent<'a>,
    /// The id under which the parent told the spawn.
    id: &'a str,
    spawn: Option<EventRef>,
}

/// Tells a session.
pub(super) fn tell(draft: &mut Draft, path: &Path, trajectory: &Trajectory<'_>) {
    let named = trajectory.session_id.as_deref().or(trajectory.trajectory_id.as_deref()).map(str::to_owned);
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut session = Session { id: named.unwrap_or_else(stem), ..Session::default() };
    session.files.insert(path.to_owned());
    draft.session_id(&session.id);
    thread(draft, &mut session, path, trajectory, None);
    for (has, code) in [(session.ids.has_rules, Code::NoSystemPrompt), (session.ids.has_tools, Code::NoToolDefinitions)]
    {
        if !has {
            draft.note(code, None);
        }
    }
    draft.note(Code::NoFailedAttempts, None);
}

fn thread(
    draft: &mut Draft,
    session: &mut Session,
    path: &Path,
    trajectory: &Trajectory<'_>,
    birth: Option<Birth<'_>>,
) {
    let source = draft.source(path);
    let place = Place { source, line: 1 };
    let agent = trajectory.agent.as_ref();
    if birth.is_none()
        && let Some(version) = agent.and_then(|agent| agent.version.as_deref())
    {
        draft.agent_version(version);
    }
    let own_thread: OwnThread<'_> = own(trajectory.extra);
    let info = info(draft, session, trajectory, &own_thread, birth);
    let (id, own_path) = (info.id.clone(), info.agent_path.clone());
    let mut clock = Clock::default();
    let first = own_thread.turns.first().and_then(|turn| turn.started_at.as_deref());
    let began_at = first.or_else(|| first_time(trajectory)).and_then(millis);
    let began_at = began_at.or_else(|| birth.and_then(|birth| birth.parent.began_at));
    let stamp = clock.stamp(began_at, place);
    let writer = ThreadWriter::start(draft, info, stamp);
    if let Some(birth) = birth {
        match birth.spawn {
            Some(spawn) => draft.after(writer.began(), spawn),
            None => draft.note(Code::ChildUnlinked, Some(place)),
        }
    }
    let mut teller = Teller::new(draft, &mut session.ids, writer, clock, &session.id, agent, &own_thread);
    tell_steps(draft, &mut teller, trajectory, source);
    let mut next = trajectory.continued_trajectory_ref.as_deref().and_then(|name| beside(path, name));
    while let Some(file) = next.take().filter(|file| session.files.insert(file.clone())) {
        next = go_on(draft, &mut teller, &file);
        if next.is_none() && !file.is_file() {
            draft.note(Code::HistoryMissing, Some(place));
        }
    }
    teller.end(draft);
    let children = teller.into_children();
    let depth = birth.map_or(0, |birth| birth.parent.depth) + 1;
    let parent = Parent { thread: &id, path: &own_path, began_at, depth };
    if parent.depth <= MAX_DEPTH {
        tell_children(draft, session, path, trajectory, parent, children, place);
    }
}

/// Returns the first time of a trajectory.
fn first_time<'a>(trajectory: &Trajectory<'a>) -> Option<&'a str> {
    #[derive(serde::Deserialize)]
    struct Timed<'a> {
        timestamp: Option<&'a str>,
    }
    let time = |step: &&'a serde_json::value::RawValue| serde_json::from_str::<Timed<'a>>(step.get()).ok()?.timestamp;
    trajectory.steps.iter().take(64).find_map(time)
}

fn tell_steps(draft: &mut Draft, teller: &mut Teller<'_>, trajectory: &Trajectory<'_>, source: u32) {
    for (index, raw) in trajectory.steps.iter().enumerate() {
        let place = Place { source, line: index as u32 + 1 };
        match serde_json::from_str::<Step<'_>>(raw.get()) {
            Ok(step) => teller.step(draft, &step, place),
            Err(_) => draft.note(Code::DamagedLine, Some(place)),
        }
    }
}

/// Tells the steps of a file in which a trajectory goes on. Returns the file in which that goes on in turn.
fn go_on(draft: &mut Draft, teller: &mut Teller<'_>, file: &Path) -> Option<PathBuf> {
    let text = read_text(file).ok()?;
    let source = draft.source(file);
    let Ok(more) = serde_json::from_str::<Trajectory<'_>>(&text) else {
        draft.note(Code::DamagedLine, Some(Place { source, line: 1 }));
        return None;
    };
    teller.forget();
    tell_steps(draft, teller, &more, source);
    more.continued_trajectory_ref.as_deref().and_then(|name| beside(file, name))
}

/// Returns the file that a path in another file names. It must not lead out of the folder of that file.
fn beside(path: &Path, name: &str) -> Option<PathBuf> {
    let name = Path::new(name);
    let is_inside = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let name = if is_inside { name } else { Path::new(name.file_name()?) };
    Some(path.parent()?.join(name))
}

fn info(
    draft: &mut Draft,
    session: &mut Session,
    trajectory: &Trajectory<'_>,
    own_thread: &OwnThread<'_>,
    birth: Option<Birth<'_>>,
) -> ThreadInfo {
    let agent = trajectory.agent.as_ref();
    let name = agent.and_then(|agent| agent.name.as_deref()).unwrap_or_default();
    let id = match (own_thread.thread_id.as_deref(), birth) {
        (_, Some(birth)) => birth.id.to_owned(),
        (Some(id), None) => id.to_owned(),
        (None, None) => child_thread_id(&session.id, &session.id),
    };
    if own_thread.thread_id.is_none() && (birth.is_some() || id != session.id) {
        draft.note(Code::ThreadIdMade, None);
    }
    let path = match (own_thread.agent_path.as_deref(), birth) {
        (Some(path), _) => path.to_owned(),
        (None, None) => "/root".to_owned(),
        (None, Some(birth)) => {
            let path = agent_path(birth.parent.path, name);
            let others = (2..).map(|number| format!("{path}_{number}"));
            std::iter::once(path.clone()).chain(others).find(|path| !session.paths.contains(path)).unwrap_or(path)
        }
    };
    session.paths.insert(path.clone());
    let whereabouts: Whereabouts<'_> = extra(agent.and_then(|agent| agent.extra));
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let is_own = own_thread.thread_id.is_some();
    ThreadInfo {
        id,
        agent_path: path,
        parent: birth.map(|birth| birth.parent.thread.to_owned()),
        task_name: text(own_thread.task.as_deref()),
        agent_role: text(own_thread.role.as_deref()),
        nickname: text(if is_own { own_thread.nickname.as_deref() } else { Some(name) }),
        model: text(agent.and_then(|agent| agent.model_name.as_deref())),
        cwd: text(whereabouts.cwd.as_deref()),
    }
}

fn tell_children(
    draft: &mut Draft,
    session: &mut Session,
    path: &Path,
    trajectory: &Trajectory<'_>,
    parent: Parent<'_>,
    children: Vec<Child>,
    place: Place,
) {
    let mut embedded = Vec::new();
    for raw in trajectory.subagent_trajectories.iter().flatten() {
        match serde_json::from_str::<Trajectory<'_>>(raw.get()) {
            Ok(child) => embedded.push((child, false)),
            Err(_) => draft.note(Code::DamagedLine, Some(place)),
        }
    }
    let mut told = HashSet::new();
    for child in children {
        if !told.insert(child.id.clone()) {
            continue;
        }
        let birth = Birth { parent, id: &child.id, spawn: child.spawn };
        let is_it = |other: &Trajectory<'_>| {
            let same = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
            same(child.trajectory_id.as_deref(), other.trajectory_id.as_deref())
                || child.trajectory_id.is_none() && same(child.session_id.as_deref(), other.session_id.as_deref())
        };
        if let Some((found, is_told)) = embedded.iter_mut().find(|(other, is_told)| !is_told && is_it(other)) {
            *is_told = true;
            thread(draft, session, path, found, Some(birth));
        } else if !tell_file(draft, session, path, &child, birth) {
            draft.note(Code::ChildMissing, Some(child.place));
        }
    }
    // Children that no step refers to.
    for (index, (child, _)) in embedded.iter().enumerate().filter(|(_, (_, is_told))| !is_told) {
        let name = child.trajectory_id.as_deref().or(child.session_id.as_deref());
        let id =
            child_thread_id(&session.id, &name.map_or_else(|| format!("{}:{index}", parent.thread), str::to_owned));
        if told.insert(id.clone()) {
            thread(draft, session, path, child, Some(Birth { parent, id: &id, spawn: None }));
        }
    }
}

/// Tells a child that has a file of its own. Returns whether there is one.
fn tell_file(draft: &mut Draft, session: &mut Session, path: &Path, child: &Child, birth: Birth<'_>) -> bool {
    let Some(file) = child.path.as_deref().and_then(|name| beside(path, name)) else { return false };
    if !session.files.insert(file.clone()) {
        return false;
    }
    let Ok(text) = read_text(&file) else { return false };
    let Ok(trajectory) = serde_json::from_str::<Trajectory<'_>>(&text) else { return false };
    thread(draft, session, &file, &trajectory, Some(birth));
    true
}
