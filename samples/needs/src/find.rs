//! Finds what tests share, and skips a test without it.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::skip::{Need, skip};

/// Returns the path of the repository.
pub fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().unwrap_or(folder)
}

/// Returns the path of a program on the search path.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|program| program.is_file())
}

/// A real session that the peer recorded.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Name of its folder. Names of the larger corpus start with `corpus-`.
    pub name: String,
    /// Folder of the bundle. The graph that the peer reduces it to is in `expected.json` beside it.
    pub bundle: PathBuf,
}

/// Returns the recordings of the repository and those of a larger corpus, if it exists: in the folder that
/// `TRACE_CORPUS` names, or in `../shared/corpus` beside the repository.
///
/// # Panics
///
/// Panics if the repository has no recordings, or the corpus is required and missing.
pub fn recordings(what: impl Display) -> Vec<Recording> {
    let repository = repository();
    let mut found = recordings_below(&repository.join("reducer/tests/recordings"), "");
    assert!(!found.is_empty(), "the repository has recordings");
    let corpus = env::var_os("TRACE_CORPUS").map_or_else(|| repository.join("../shared/corpus"), PathBuf::from);
    let more = recordings_below(&corpus, "corpus-");
    if more.is_empty() {
        skip(Need::Corpus, format_args!("{what}: only the recordings of the repository are tried"));
    }
    found.extend(more);
    found
}

fn recordings_below(folder: &Path, prefix: &str) -> Vec<Recording> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut found: Vec<Recording> = folders
        .filter(|folder| folder.join("expected.json").is_file())
        .map(|folder| Recording {
            name: format!("{prefix}{}", folder.file_name().unwrap_or_default().display()),
            bundle: folder.join("bundle"),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns the folder with sessions of other agents, one folder per agent and session: the one that `TRACE_IMPORTS` names, or
/// `../shared/imports` beside the repository.
///
/// # Panics
///
/// Panics if it is required and missing.
pub fn imports(what: impl Display) -> Option<PathBuf> {
    let folder = env::var_os("TRACE_IMPORTS").map_or_else(|| repository().join("../shared/imports"), PathBuf::from);
    let found = folder.is_dir().then_some(folder);
    if found.is_none() {
        skip(Need::Imports, what);
    }
    found
}

/// Returns the folders of sessions with what an audit of them has to find: those below `../shared/audit` beside the
/// repository, each with `bundle` and `truth.json`.
///
/// # Panics
///
/// Panics if they are required and missing.
pub fn audits(what: impl Display) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("../shared/audit")).into_iter().flatten();
    let folders = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut found: Vec<PathBuf> = folders.filter(|folder| folder.join("truth.json").is_file()).collect();
    found.sort();
    if found.is_empty() {
        skip(Need::Audits, what);
    }
    found
}

/// Returns a folder with more sessions to audit than the recordings of the repository, if `TRACE_AUDITS` names one.
pub fn more_audits() -> Option<PathBuf> {
    named("TRACE_AUDITS")
}

/// Returns the binary of the Codex CLI, which `TRACE_PEER` names.
///
/// # Panics
///
/// Panics if it is required and missing.
pub fn peer(what: impl Display) -> Option<PathBuf> {
    let found = named("TRACE_PEER");
    if found.is_none() {
        skip(Need::Peer, what);
    }
    found
}

/// Reduces a bundle with the peer, and returns its `state.json`. Returns `None` if there is no peer.
///
/// # Panics
///
/// Panics if the peer refuses the bundle, or is required and missing.
pub fn state_by_peer(bundle: &Path) -> Option<String> {
    let peer = peer("the Codex CLI does not judge bundles that tests record")?;
    // Bundles of the repository are reduced too, so the file is not written beside them.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = env::temp_dir().join(format!("trace-state-of-peer-{}-{number}.json", std::process::id()));
    let output = Command::new(peer).args(["debug", "trace-reduce"]).arg(bundle).arg("-o").arg(&path).output();
    let output = output.expect("the peer runs");
    let state = fs::read_to_string(&path);
    // If the file is missing, the assertion below shows the reason.
    let _ = fs::remove_file(&path);
    assert!(output.status.success(), "{}: {}", bundle.display(), String::from_utf8_lossy(&output.stderr));
    Some(state.expect("the peer writes its state"))
}

/// Returns a command that runs the stand-in for a model provider, `samples/stand-in/scripted_model.py`.
///
/// # Panics
///
/// Panics if `python3` is required and missing.
pub fn scripted_model(what: impl Display) -> Option<Command> {
    let Some(python) = on_path("python3") else {
        skip(Need::Python, what);
        return None;
    };
    let mut command = Command::new(python);
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg("-u").arg(repository().join("samples/stand-in/scripted_model.py"));
    Some(command)
}

/// Returns the Python that `TRACE_PYTHON` names, if it has the modules.
///
/// # Panics
///
/// Panics if such a Python is required and missing.
pub fn python(modules: &[&str], what: impl Display) -> Option<PathBuf> {
    let imports = format!("import {}", modules.join(", "));
    let has_modules = |python: &PathBuf| {
        Command::new(python).args(["-c", &imports]).output().is_ok_and(|output| output.status.success())
    };
    let found = named("TRACE_PYTHON").filter(has_modules);
    if found.is_none() {
        skip(Need::PythonPackages, format_args!("{what}: TRACE_PYTHON names no Python with {}", modules.join(", ")));
    }
    found
}

/// Returns the path of Node.js.
///
/// # Panics
///
/// Panics if it is required and missing.
pub fn node(what: impl Display) -> Option<PathBuf> {
    let found = on_path("node");
    if found.is_none() {
        skip(Need::Node, what);
    }
    found
}

/// Returns the folder of Node.js modules that `TRACE_NODE_MODULES` names, if it has the modules.
///
/// # Panics
///
/// Panics if such a folder is required and missing.
pub fn node_modules(modules: &[&str], what: impl Display) -> Option<PathBuf> {
    let has_modules = |folder: &PathBuf| modules.iter().all(|module| folder.join(module).is_dir());
    let found = named("TRACE_NODE_MODULES").filter(has_modules);
    if found.is_none() {
        let list = modules.join(", ");
        skip(Need::NodeModules, format_args!("{what}: TRACE_NODE_MODULES names no folder with {list}"));
    }
    found
}

/// Returns the path of Chromium: the value of `TRACE_CHROMIUM`, or `chromium` on the search path.
///
/// # Panics
///
/// Panics if it is required and missing.
pub fn browser(what: impl Display) -> Option<PathBuf> {
    let found = named("TRACE_CHROMIUM").or_else(|| on_path("chromium"));
    if found.is_none() {
        skip(Need::Browser, what);
    }
    found
}

/// Returns the path in an environment variable. An empty value counts as missing.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recordings_of_the_repository_are_of_both_schemas_and_whole() {
        let found = recordings_below(&repository().join("reducer/tests/recordings"), "");
        assert!(found.len() >= 20, "{} recordings", found.len());
        assert!(found.iter().any(|recording| recording.name.starts_with("schema1-")));
        for Recording { name, bundle } in &found {
            let manifest = fs::read_to_string(bundle.join("manifest.json")).expect("a manifest");
            let schema = if name.starts_with("schema1-") { 1 } else { 2 };
            let compact: String = manifest.split_whitespace().collect();
            assert!(compact.contains(&format!("\"schema_version\":{schema}")), "{name}: {manifest}");
            assert!(bundle.join("trace.jsonl").is_file() && bundle.join("payloads").is_dir(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_missing_has_no_recordings() {
        assert!(recordings_below(Path::new("/nowhere/at/all"), "").is_empty());
    }

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(on_path("sh").is_some_and(|program| program.is_absolute()));
        assert_eq!(on_path("no-such-program-anywhere"), None);
    }
}
