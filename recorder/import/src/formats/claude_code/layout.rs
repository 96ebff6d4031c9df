//! Where the files of a session are.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::records::Line;

/// Bytes of a file that are read to learn which session it belongs to.
const PEEK_BYTES: u64 = 64 << 10;

/// Folders below `subagents` in which children are looked for.
const MAX_FOLDERS: usize = 3;

/// The file of a child.
#[derive(Debug)]
pub(crate) struct ChildFile {
    /// The transcript.
    pub(crate) path: PathBuf,
    /// The agent's id of the child.
    pub(crate) agent: String,
    /// The text of the file that describes the child, if there is one.
    pub(crate) meta: Option<String>,
}

/// Returns the name of a transcript without its extensions.
pub(crate) fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// Returns whether a file is that of a child, which its session reads.
pub(crate) fn is_child(path: &Path) -> bool {
    stem(path).starts_with("agent-") || subagents(path).is_some()
}

/// Returns the `subagents` folder that a file is in.
fn subagents(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).take(MAX_FOLDERS).find(|folder| folder.file_name().is_some_and(|name| name == "subagents"))
}

/// Returns the transcript of the session that a file belongs to: the file itself, unless it is that of a child whose
/// session is there too.
pub(crate) fn root(path: &Path) -> PathBuf {
    let candidates: Vec<PathBuf> = if let Some(folder) = subagents(path) {
        folder.parent().map(|session| session.with_extension("jsonl")).into_iter().collect()
    } else if is_child(path) {
        let folder = path.parent().unwrap_or(Path::new(""));
        sessions(path).into_iter().map(|session| folder.join(session).with_extension("jsonl")).collect()
    } else {
        Vec::new()
    };
    let holds_session = |root: &PathBuf| fs::metadata(root).is_ok_and(|root| root.is_file() && root.len() > 0);
    candidates.into_iter().find(holds_session).unwrap_or_else(|| path.to_owned())
}

/// Returns the files of a session's children, in the order of their names.
pub(crate) fn children(root: &Path) -> Vec<ChildFile> {
    let mut files = Vec::new();
    let Some(folder) = root.parent() else { return Vec::new() };
    let session = stem(root);
    list(&folder.join(session).join("subagents"), 1, &mut files);
    let mut beside = Vec::new();
    list(folder, MAX_FOLDERS, &mut beside);
    // Between 2.0 and 2.1, children of all sessions lay in the folder of the project.
    let name = format!("\"{session}\"");
    beside.retain(|path| path != root && memchr::memmem::find(&peek(path), name.as_bytes()).is_some());
    files.append(&mut beside);
    let mut children: Vec<_> = files.into_iter().map(child).collect();
    children.sort_by(|one, other| one.path.cmp(&other.path));
    children
}

fn child(path: PathBuf) -> ChildFile {
    let stem = stem(&path);
    let agent = stem.strip_prefix("agent-").unwrap_or(stem).to_owned();
    let meta = path.parent().map(|folder| folder.join(format!("{stem}.meta.json")));
    let meta = meta.and_then(|meta| fs::read_to_string(meta).ok());
    ChildFile { path, agent, meta }
}

fn list(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) && depth < MAX_FOLDERS {
            list(&path, depth + 1, found);
        } else if stem(&path).starts_with("agent-")
            && path.to_string_lossy().contains(".jsonl")
            && (kind.is_ok_and(|kind| kind.is_file()) || path.is_file())
        {
            found.push(path);
        }
    }
}

/// Returns the sessions that the first lines of a file name. A process that was resumed names that of the process, too.
fn sessions(path: &Path) -> Vec<String> {
    let head = peek(path);
    let lines = head.split(|byte| *byte == b'\n').filter_map(|line| Line::parse(std::str::from_utf8(line).ok()?));
    let mut sessions: Vec<String> = Vec::new();
    for line in lines {
        let session = line.session.as_deref().filter(|session| !session.contains(['/', '\\']));
        if let Some(session) = session.filter(|session| !sessions.iter().any(|known| known == session)) {
            sessions.push(session.to_owned());
        }
    }
    sessions
}

fn peek(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(reader) = crate::records::open(path) {
        // A file that cannot be read belongs to no session.
        let _ = reader.take(PEEK_BYTES).read_to_end(&mut head);
    }
    head
}
