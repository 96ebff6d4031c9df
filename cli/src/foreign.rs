//! Finds the sessions of other agents that the command line names.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace_import::{Homes, ImportError, SessionRef};

use crate::ui::failure::Failure;

/// Names the session that was written last.
const LAST: &str = "@last";

/// Stands between a store and the id of a session in it.
const OF_STORE: char = '#';

/// Sessions that a message lists.
const LISTED: usize = 5;

/// Returns the failure for a session that cannot be imported.
pub(crate) fn import_failure(error: ImportError) -> Failure {
    Failure::data(error)
}

/// Returns the session of another agent that an argument names: by its file, by a folder that has one session, by `STORE#ID`, by its id or the
/// beginning of it, or by `@last`. Returns `None` if it names none.
///
/// # Errors
///
/// Returns an error if it names several sessions, or if a file cannot be read.
pub(crate) fn session(argument: &Path) -> Result<Option<SessionRef>, Failure> {
    let found = if argument.exists() {
        let format = trace_import::recognize(argument).map_err(import_failure)?;
        // The file of a child is no session by itself, but it is read when somebody names it.
        match format.filter(|_| argument.is_file()) {
            Some(format) => match trace_import::sessions(argument).map_err(import_failure)? {
                several if several.len() > 1 => several,
                _ => vec![SessionRef::file(format.name(), argument)],
            },
            None if argument.is_dir() => trace_import::sessions(argument).map_err(import_failure)?,
            None => Vec::new(),
        }
    } else {
        match stored(argument)? {
            none if none.is_empty() => named(argument),
            found => found,
        }
    };
    match &*found {
        [] | [_] => Ok(found.into_iter().next()),
        several => Err(Failure::usage(format!("{} names {} sessions", argument.display(), several.len()))
            .with_hint(format!("name one of them: {}", listed(several)))),
    }
}

fn listed(sessions: &[SessionRef]) -> String {
    let mut names: Vec<String> =
        sessions.iter().take(LISTED).map(|session| argument_of(session).display().to_string()).collect();
    if sessions.len() > LISTED {
        names.push("...".to_owned());
    }
    names.join(", ")
}

/// Returns the argument that names a session: its file, or the store that it is in with the id behind it.
pub(crate) fn argument_of(session: &SessionRef) -> PathBuf {
    match &session.id {
        None => session.path.clone(),
        Some(id) => {
            let mut argument = session.path.clone().into_os_string();
            argument.push(format!("{OF_STORE}{id}"));
            argument.into()
        }
    }
}

/// Returns the sessions of a store whose id is behind its path.
fn stored(argument: &Path) -> Result<Vec<SessionRef>, Failure> {
    let Some((store, id)) = argument.to_str().and_then(|argument| argument.rsplit_once(OF_STORE)) else {
        return Ok(Vec::new());
    };
    if !Path::new(store).exists() {
        return Ok(Vec::new());
    }
    let sessions = trace_import::sessions(Path::new(store)).map_err(import_failure)?;
    let (exact, begun): (Vec<_>, Vec<_>) = sessions
        .into_iter()
        .filter(|session| session.is_named(id))
        .partition(|session| session.id.as_deref() == Some(id));
    Ok(if exact.is_empty() { begun } else { exact })
}

/// Returns the sessions of this user whose id begins with the argument, or the newest one for `@last`.
fn named(argument: &Path) -> Vec<SessionRef> {
    let Some(name) = argument.to_str().filter(|name| !name.contains(std::path::is_separator)) else {
        return Vec::new();
    };
    let installed = || trace_import::installed(&homes());
    if name == LAST {
        return written_last(installed()).into_iter().collect();
    }
    installed().into_iter().filter(|session| session.is_named(name)).collect()
}

/// Returns the session whose file was written last.
pub(crate) fn written_last(sessions: Vec<SessionRef>) -> Option<SessionRef> {
    let written = |session: &SessionRef| {
        std::fs::metadata(&session.path).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    sessions.into_iter().max_by_key(written)
}

/// Returns where agents keep the sessions of this user.
pub(crate) fn homes() -> Homes {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Homes {
        home: std::env::home_dir().unwrap_or_default(),
        codex: variable("CODEX_HOME"),
        claude: variable("CLAUDE_CONFIG_DIR"),
        xdg_data: variable("XDG_DATA_HOME"),
    }
}
