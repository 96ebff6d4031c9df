//! Sessions of other agents: where they are, and how the command line names them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use trace_import::{Catalog, FORMATS, Homes, ImportError, SessionRef};

use crate::ui::failure::Failure;

/// Stands between a store and the id of a session in it.
pub(crate) const OF_STORE: char = '#';

/// Returns the failure for a session that cannot be imported.
pub(crate) fn import_failure(error: ImportError) -> Failure {
    Failure::data(error)
}

/// Returns the sessions that a path has: that of a file, those of a store or of all files below a folder, or the ones that
/// `STORE#ID` names. A path of anything else has none.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub(crate) fn sessions(path: &Path) -> Result<Vec<SessionRef>, Failure> {
    if !path.exists() {
        return stored(path);
    }
    if path.is_dir() {
        return trace_import::sessions(path).map_err(import_failure);
    }
    let Some(format) = trace_import::recognize(path).map_err(import_failure)? else { return Ok(Vec::new()) };
    // The file of a child is no session by itself, but it is read when somebody names it.
    Ok(match trace_import::sessions(path).map_err(import_failure)? {
        some if some.len() > 1 => some,
        _ => vec![SessionRef::file(format.name(), path)],
    })
}

/// Returns the argument that names a session: its file, or the store that it is in with the id behind it.
pub(crate) fn argument_of(session: &SessionRef) -> PathBuf {
    match &session.id {
        None => session.path.clone(),
        Some(id) => in_store(&session.path, id),
    }
}

/// Returns the argument that names a session of a store.
pub(crate) fn in_store(store: &Path, id: &str) -> PathBuf {
    let mut argument = store.as_os_str().to_owned();
    argument.push(format!("{OF_STORE}{id}"));
    argument.into()
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

/// Returns where the agents of this user keep their sessions.
pub(crate) fn stores() -> BTreeSet<PathBuf> {
    let homes = homes();
    FORMATS.iter().flat_map(|format| format.stores(&homes)).collect()
}

/// Returns the sessions of the agents of this user.
pub(crate) fn installed(catalog: &mut Catalog) -> Vec<SessionRef> {
    stores().iter().flat_map(|store| catalog.find(store)).collect()
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

/// Returns a file name for each session, without an extension. No two are equal.
pub(crate) fn file_names(sessions: &[SessionRef]) -> Vec<String> {
    file_names_beside(sessions, HashSet::new())
}

/// Returns a file name for each session, without an extension. No two are equal, and none is one of those that are taken.
pub(crate) fn file_names_beside(sessions: &[SessionRef], mut taken: HashSet<String>) -> Vec<String> {
    let name = |session: &SessionRef| {
        let file = session.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = file.split(".jsonl").next().unwrap_or_default();
        let name = session.id.as_deref().unwrap_or(stem);
        // The id of a session is data of its file, and must not lead to another folder.
        let name = name.replace(std::path::is_separator, "_");
        let base = format!("{}-{name}", session.format);
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}-{number}");
            number += 1;
        }
        name
    };
    sessions.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_sessions_have_names_of_their_own() {
        let file = |path: &str| SessionRef::file("codex", Path::new(path));
        let stored = SessionRef { id: Some("../ses".to_owned()), ..file("store.db") };
        let sessions = [file("a/one.jsonl.zst"), file("b/one.jsonl"), file("a/one-2.jsonl"), stored];
        assert_eq!(file_names(&sessions), ["codex-one", "codex-one-2", "codex-one-2-2", "codex-.._ses"]);
    }
}
