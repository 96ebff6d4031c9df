//! Finds the session that an argument names: a recording, or the session of another agent.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trace_import::{Catalog, Format, Listed, MIN_NAME_CHARS, SessionRef, Summary, is_id_in};
use trace_recorder::bundle::is_bundle;
use trace_recorder::format::{EVENT_LOG_FILE, IMPORT_FILE};
use trace_recorder::pack::{PackedBundle, is_packed};

use crate::recorded::recordings;
use crate::ui::failure::Failure;
use crate::ui::text;
use crate::{cache, foreign};

/// Names the session that was written last.
pub(crate) const LAST: &str = "@last";

/// Sessions that a message lists.
const LISTED: usize = 20;

/// Most sessions that are read for a list of them. What is known of more from earlier lists is shown.
const READ_FOR_LIST: usize = 200;

/// Characters of an id that Gemini CLI puts into the name of a file.
const ID_PART_CHARS: usize = 8;

/// Most columns of what a list says of a session.
const LISTED_COLUMNS: usize = 60;

/// What an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// A recording, or a bundle of any other origin.
    Bundle(PathBuf),
    /// The session of another agent.
    Imported(SessionRef),
}

impl Named {
    /// Returns the path that names it.
    pub(crate) fn argument(&self) -> PathBuf {
        match self {
            Self::Bundle(path) => path.clone(),
            Self::Imported(session) => foreign::argument_of(session),
        }
    }

    /// Returns the session if it is one of another agent.
    pub(crate) fn imported(self) -> Option<SessionRef> {
        match self {
            Self::Bundle(_) => None,
            Self::Imported(session) => Some(session),
        }
    }
}

/// Returns what an argument names: the path of a bundle, the file of a session, a folder that has one, `STORE#ID`, the id of a
/// session of this user or the beginning of it, or `@last`. Returns `None` if it names nothing.
///
/// # Errors
///
/// Returns an error if it names several sessions, or if a file cannot be read.
pub(crate) fn find(argument: &Path) -> Result<Option<Named>, Failure> {
    if is_bundle(argument) {
        return Ok(Some(Named::Bundle(argument.to_owned())));
    }
    let found = foreign::sessions(argument)?;
    if !found.is_empty() || argument.exists() {
        return only(argument, found.into_iter().map(Named::Imported).collect());
    }
    let Some(name) = name(argument) else { return Ok(None) };
    let mut catalog = cache::load();
    let found = if name == LAST { newest(&mut catalog).into_iter().collect() } else { by_id(name, &mut catalog) };
    cache::save(catalog);
    only(argument, found)
}

/// Returns the failure for an argument that names nothing, if it may have been meant as the name of a session.
pub(crate) fn nothing(argument: &Path) -> Option<Failure> {
    let stored = argument.to_str().and_then(|argument| argument.rsplit_once(foreign::OF_STORE));
    if let Some((store, id)) = stored.filter(|(store, _)| Path::new(store).exists()) {
        let error = anyhow::anyhow!("{store} has no session whose id begins with {id}");
        return Some(Failure::data(error).with_hint(format!("`trace ls {store}` lists its sessions")));
    }
    let name = name(argument).filter(|_| !argument.exists())?;
    let lists = "`trace ls` lists the sessions of this user";
    Some(if name == LAST {
        Failure::data(anyhow::anyhow!(
            "there is no last session: nothing was recorded, and no agent of this user has one"
        ))
        .with_hint("a path names a session, too")
    } else if name.len() < MIN_NAME_CHARS {
        Failure::data(anyhow::anyhow!("there is no file {name}, and {name} is too short for the beginning of an id"))
            .with_hint(format!("an id can be shortened to {MIN_NAME_CHARS} characters; {lists}"))
    } else {
        Failure::data(anyhow::anyhow!("there is no file {name}, and no session of this user has an id that begins so"))
            .with_hint(lists)
    })
}

/// Returns the text of an argument that can be the id of a session.
fn name(argument: &Path) -> Option<&str> {
    argument.to_str().filter(|name| !name.is_empty() && !name.contains(std::path::is_separator) && *name != "-")
}

/// Returns the recordings and the sessions of this user whose id begins so.
fn by_id(name: &str, catalog: &mut Catalog) -> Vec<Named> {
    if name.len() < MIN_NAME_CHARS {
        return Vec::new();
    }
    let installed = foreign::installed(catalog);
    let mut sessions: Vec<SessionRef> = installed.iter().filter(|session| session.is_named(name)).cloned().collect();
    if let (true, Some(part)) = (sessions.is_empty(), name.get(..ID_PART_CHARS)) {
        let may_have = |session: &&SessionRef| session.id.is_none() && session.is_named(part);
        let has_id =
            |session: &&SessionRef| summary(session, catalog).is_some_and(|summary| summary.id.starts_with(name));
        sessions = installed.iter().filter(may_have).filter(has_id).cloned().collect();
    }
    let file = |bundle: &Path| bundle.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let recorded = recordings().into_iter().filter(|bundle| is_id_in(&file(bundle), name));
    // An import is a copy of a session. The name stands for the session itself.
    let recorded: Vec<PathBuf> = recorded.filter(|bundle| sessions.is_empty() || !is_import(bundle)).collect();
    let exact = |session: &&SessionRef| session.id.as_deref() == Some(name);
    if let Some(session) = sessions.iter().find(exact) {
        return vec![Named::Imported(session.clone())];
    }
    sessions.into_iter().map(Named::Imported).chain(recorded.into_iter().map(Named::Bundle)).collect()
}

fn is_import(bundle: &Path) -> bool {
    if is_packed(bundle) {
        PackedBundle::open(bundle).is_ok_and(|packed| packed.file(IMPORT_FILE).is_some())
    } else {
        bundle.join(IMPORT_FILE).is_file()
    }
}

/// Returns the recording or the session of this user that was written last. Imports are copies and do not count.
fn newest(catalog: &mut Catalog) -> Option<Named> {
    let sessions = foreign::installed(catalog);
    let imported = newest_of(sessions, catalog).map(|(written, session)| (written, Named::Imported(session)));
    let log = |bundle: &Path| if bundle.is_dir() { bundle.join(EVENT_LOG_FILE) } else { bundle.to_owned() };
    let recorded = recordings().into_iter().filter_map(|bundle| Some((written(&log(&bundle))?, bundle)));
    let mut recorded: Vec<_> = recorded.collect();
    recorded.sort();
    let recorded = recorded.into_iter().rev().find(|(_, bundle)| !is_import(bundle));
    let recorded = recorded.map(|(written, bundle)| (written, Named::Bundle(bundle)));
    imported.into_iter().chain(recorded).max_by_key(|(written, _)| *written).map(|(_, named)| named)
}

/// Returns the session that was written last, and when. The file of a store does not tell which of its sessions that was, so
/// their last events do.
pub(crate) fn newest_of(sessions: Vec<SessionRef>, catalog: &mut Catalog) -> Option<(SystemTime, SessionRef)> {
    let (stored, files): (BTreeSet<_>, Vec<_>) = {
        let (stored, files): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.id.is_some());
        (stored.into_iter().collect(), files)
    };
    let stores: BTreeSet<&Path> = stored.iter().map(|session| session.path.as_path()).collect();
    let listed: Vec<_> = stores.into_iter().flat_map(|store| catalog.look(store)).collect();
    let ended = |listed: Listed| {
        let ended = u64::try_from(listed.summary.ok()?.ended_at?).ok()?;
        stored.contains(&listed.session).then_some((UNIX_EPOCH + Duration::from_millis(ended), listed.session))
    };
    let files = files.into_iter().filter_map(|session| Some((written(&session.path)?, session)));
    files.chain(listed.into_iter().filter_map(ended)).max()
}

/// Returns the summary of a session, which earlier lists may have read before its last lines were written.
fn summary(session: &SessionRef, catalog: &Catalog) -> Option<Summary> {
    catalog.remembered(session).or_else(|| trace_import::summarize(session).ok())
}

fn written(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}

fn only(argument: &Path, found: Vec<Named>) -> Result<Option<Named>, Failure> {
    match &*found {
        [] | [_] => Ok(found.into_iter().next()),
        several => Err(Failure::usage(format!("{} names {} sessions", argument.display(), several.len()))
            .with_excerpt(list(argument, several))
            .with_hint(if argument.exists() {
                "--session ID chooses one of them; `trace ls` of the path lists all"
            } else {
                "name one of them"
            })),
    }
}

/// Lists the sessions that an argument may mean, newest first.
fn list(argument: &Path, sessions: &[Named]) -> String {
    let catalog = cache::load();
    let is_short = sessions.len() <= READ_FOR_LIST;
    let about = |named: &Named| match named {
        Named::Imported(session) if is_short => summary(session, &catalog),
        Named::Imported(session) => catalog.remembered(session),
        Named::Bundle(_) => None,
    };
    let mut known: Vec<(&Named, Option<Summary>)> = sessions.iter().map(|named| (named, about(named))).collect();
    known.sort_by_key(|(_, summary)| Reverse(summary.as_ref().and_then(|summary| summary.started_at)));
    let is_path = argument.exists();
    let name = |named: &Named, summary: Option<&Summary>| match named {
        // With the path in front of it, the id of a session in a store would be too long.
        Named::Imported(SessionRef { path, id: Some(id), .. }) if path == argument => id.clone(),
        Named::Imported(SessionRef { id: Some(id), .. }) if !is_path => id.clone(),
        Named::Imported(_) if !is_path && summary.is_some_and(|summary| !summary.id.is_empty()) => {
            summary.map(|summary| summary.id.clone()).unwrap_or_default()
        }
        named => named.argument().display().to_string(),
    };
    let mut lines = String::new();
    for (named, summary) in known.iter().take(LISTED) {
        let name = name(named, summary.as_ref());
        lines.push_str(&format!("  {}", text::clean(&name)));
        if let Some(summary) = summary {
            let started = summary.started_at.map(text::short_moment).unwrap_or_default();
            let turns = text::count(summary.turns, "turn");
            let about = summary.title.as_deref().or(summary.cwd.as_deref()).unwrap_or_default();
            let agent = agent(named);
            let line = format!("  {started}  {agent}  {turns}  {}", text::preview(about, LISTED_COLUMNS));
            lines.push_str(line.trim_end());
        }
        lines.push('\n');
    }
    if known.len() > LISTED {
        lines.push_str(&format!("  ... and {} more\n", text::number((known.len() - LISTED) as u64)));
    }
    lines
}

fn agent(named: &Named) -> &'static str {
    match named {
        Named::Imported(session) => trace_import::format(session.format).map_or(session.format, Format::agent),
        Named::Bundle(_) => "trace",
    }
}
