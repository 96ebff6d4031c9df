//! Which files belong to a thread, and where those of other threads lie.

use std::fs;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use super::record::{Line, SessionMeta};
use crate::records::open;

/// Beginning of the names of rollouts.
const PREFIX: &str = "rollout-";

/// Length of the time in a name, such as `2026-11-22T21-08-46`, with the hyphen behind it.
const TIME_CHARS: usize = 20;

/// Length of a thread id.
const ID_CHARS: usize = 36;

/// Longest first line that is read to find out which thread a file has. It has the system prompt.
const MAX_META_BYTES: u64 = 16 << 20;

/// Returns the id of the thread by the name of its file, and whether the file goes on with a thread that was reverted.
pub(super) fn thread_in_name(path: &Path) -> Option<(&str, bool)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let name = name.strip_suffix(".jsonl")?.strip_prefix(PREFIX)?;
    let rest = name.get(TIME_CHARS..)?;
    let id = rest.get(..ID_CHARS)?;
    match rest.get(ID_CHARS..)? {
        "" => Some((id, false)),
        segment => segment.starts_with('_').then_some((id, true)),
    }
}

/// Returns whether a file is the one that a history base names: by the id of its thread, or by that of its segment.
pub(super) fn is_base(path: &Path, id: &str) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let Some(rest) = name.strip_suffix(".jsonl").and_then(|name| name.strip_suffix(id)) else { return false };
    rest.ends_with('_') || rest.len() == PREFIX.len() + TIME_CHARS
}

/// Returns the file that a history base names.
pub(super) fn file_of_base(id: &str, near: &Path) -> Option<PathBuf> {
    let is_wanted = |path: &Path| is_base(path, id);
    let beside = in_folder(near.parent().unwrap_or(Path::new(".")), &is_wanted);
    beside.into_iter().next().or_else(|| roots_of(near).iter().flat_map(|root| below(root, &is_wanted)).min())
}

/// Reads the first record of a rollout.
pub(super) fn meta(path: &Path) -> Option<SessionMeta> {
    let mut line = Vec::new();
    open(path).ok()?.take(MAX_META_BYTES).read_until(b'\n', &mut line).ok()?;
    meta_of_line(&line)
}

/// Reads a line that is the first record of a rollout.
pub(super) fn meta_of_line(line: &[u8]) -> Option<SessionMeta> {
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    if line.tag != "session_meta" {
        return None;
    }
    serde_json::from_str(line.payload.get()).ok()
}

/// Returns the files of a thread in the order of their times: the first one, and one for each revert.
pub(super) fn files_of_thread(id: &str, near: &Path, is_near_only: bool) -> Vec<PathBuf> {
    let is_of_thread = |path: &Path| thread_in_name(path).is_some_and(|(thread, _)| thread == id);
    let mut found = in_folder(near.parent().unwrap_or(Path::new(".")), &is_of_thread);
    if found.is_empty() || !is_near_only {
        found.extend(roots_of(near).iter().flat_map(|root| below(root, &is_of_thread)));
        found.sort();
        found.dedup();
    }
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    // A rollout may be there twice for a moment: while it is compressed, or moved to the archive.
    found.dedup_by(|a, b| {
        let stem =
            |path: &Path| path.file_name().map(|name| name.to_string_lossy().trim_end_matches(".zst").to_owned());
        stem(a) == stem(b)
    });
    found
}

/// Returns the files beside `path` that begin with a thread whose parent or root is one of `threads`.
pub(super) fn children_beside(path: &Path, threads: &[String]) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name();
    // A child begins after its parent.
    let found =
        in_folder(folder, &|other| other.file_name() > name && thread_in_name(other).is_some_and(|(_, more)| !more));
    found
        .into_iter()
        .filter(|path| {
            meta(path).is_some_and(|meta| {
                let is_known = |id: Option<&str>| id.is_some_and(|id| threads.iter().any(|thread| thread == id));
                meta.is_child() && (is_known(meta.parent()) || is_known(meta.session_id.as_deref()))
            })
        })
        .collect()
}

/// Names of the folders that have all sessions. A thread goes to the archive alone, without its children.
const ROOTS: [&str; 2] = ["sessions", "archived_sessions"];

/// Returns the folders that have all sessions, or the file's own.
fn roots_of(path: &Path) -> Vec<PathBuf> {
    let is_root = |folder: &&Path| folder.file_name().is_some_and(|name| ROOTS.iter().any(|root| name == *root));
    match path.ancestors().skip(1).find(is_root) {
        Some(root) => ROOTS.map(|name| root.with_file_name(name)).to_vec(),
        None => vec![path.parent().unwrap_or(Path::new(".")).to_owned()],
    }
}

fn in_folder(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut found: Vec<_> = paths.filter(|path| is_wanted(path)).collect();
    found.sort();
    found
}

/// Folders below `sessions`: year, month, day.
const DEPTH: usize = 3;

fn below(root: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && depth < DEPTH {
                folders.push((entry.path(), depth + 1));
            } else if !is_dir && is_wanted(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_thread() {
        let id = "01a2051b-7f72-70b2-ab74-42834429c73e";
        let thread = |name: &str| thread_in_name(Path::new(name)).map(|(id, more)| (id.to_owned(), more));
        let first = format!("a/rollout-2026-11-22T21-13-37-{id}.jsonl");
        assert_eq!(thread(&first), Some((id.to_owned(), false)));
        assert_eq!(thread(&format!("{first}.zst")), Some((id.to_owned(), false)));
        let second = format!("rollout-2026-11-22T21-13-38-{id}_01a2051b-8326-7701-b577-d369ce5a1e33.jsonl");
        assert_eq!(thread(&second), Some((id.to_owned(), true)));
        for other in ["rollout-x.jsonl", "history.jsonl", "rollout-2026-11-22T21-13-37-ü.jsonl"] {
            assert_eq!(thread(other), None, "{other}");
        }
    }

    #[test]
    fn a_base_is_named_by_its_thread_or_its_segment() {
        let (id, segment) = ("01a2051b-7f72-70b2-ab74-42834429c73e", "01a2051b-8326-7701-b577-d369ce5a1e33");
        let first = format!("a/rollout-2026-11-22T21-13-37-{id}.jsonl.zst");
        let second = format!("a/rollout-2026-11-22T21-13-38-{id}_{segment}.jsonl");
        let is_named = |name: &str, id: &str| is_base(Path::new(name), id);
        assert!(is_named(&first, id) && is_named(&second, segment));
        assert!(!is_named(&second, id) && !is_named(&first, segment) && !is_named("x.jsonl", id));
    }
}
