//! Summaries of sessions in the user's cache directory. The file can be deleted at any time.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use trace_import::Catalog;

use crate::replace::replace;

/// Version of the file. It increases when the meaning of summaries changes.
const VERSION: u32 = 2;

/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 30;

/// Returns what earlier runs found. A file that is missing, damaged or of another program counts as empty.
pub(crate) fn load() -> Catalog {
    let read = || {
        let path = path()?;
        if fs::metadata(&path).ok()?.len() > MAX_BYTES {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let body = bytes.strip_prefix(head().as_bytes())?;
        serde_json::from_slice(body).ok()
    };
    read().unwrap_or_default()
}

/// Writes what was found, if it is new. Without a place for it, nothing is written.
pub(crate) fn save(mut catalog: Catalog) {
    let Some(path) = path().filter(|_| catalog.is_changed()) else { return };
    catalog.forget_gone();
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let body = serde_json::to_vec(&catalog)?;
        replace(&path, |mut file| file.write_all(head().as_bytes()).and_then(|()| file.write_all(&body)))
    });
    if let Err(error) = written {
        tracing::debug!(path = %path.display(), %error, "the cache is not written");
    }
}

fn path() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    folder.is_absolute().then(|| folder.join("trace/sessions.json"))
}

/// Returns the first line of the file. It names the program, because another build may summarize otherwise.
fn head() -> String {
    let program = std::env::current_exe().ok().and_then(|program| fs::metadata(program).ok());
    let modified = program.as_ref().and_then(|program| program.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |time| time.as_nanos());
    let bytes = program.map_or(0, |program| program.len());
    format!("trace sessions {VERSION} {} {bytes} {modified}\n", env!("CARGO_PKG_VERSION"))
}
