//! Changes of files that a call spells out: patches, and the arguments of editors' tools.

use serde_json::Value;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// It was written anew.
    Add,
    /// It was changed.
    Update,
    /// It was deleted.
    Delete,
}

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `+`, `-`, a space for a line around it, or `@` for the beginning of a hunk.
    pub sign: char,
    /// The line without the sign.
    pub text: String,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Path of the file as the call has it.
    pub path: String,
    /// What happened to it.
    pub kind: EditKind,
    /// Its new path if it was moved.
    pub moved_to: Option<String>,
    /// Its lines.
    pub lines: Vec<Line>,
}

impl FileEdit {
    fn new(path: &str, kind: EditKind) -> Self {
        Self { path: path.to_owned(), kind, moved_to: None, lines: Vec::new() }
    }

    /// Returns the lines with this sign.
    pub fn signed(&self, sign: char) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.sign == sign).map(|line| line.text.as_str())
    }
}

fn lines(sign: char, text: &str) -> impl Iterator<Item = Line> {
    text.lines().map(move |line| Line { sign, text: line.to_owned() })
}

/// Reads a patch in the form of `apply_patch`, or a unified diff.
pub fn edits_of_patch(patch: &str) -> Vec<FileEdit> {
    let mut found: Vec<FileEdit> = Vec::new();
    let is_unified = !patch.contains("*** Begin Patch");
    let mut old_path = String::new();
    let mut before_hunk = false;
    for line in patch.lines() {
        if let Some(rest) = line.strip_prefix("*** ") {
            let begin = |word: &str| rest.strip_prefix(word).map(str::trim);
            if let Some(path) = begin("Add File:") {
                found.push(FileEdit::new(path, EditKind::Add));
            } else if let Some(path) = begin("Update File:") {
                found.push(FileEdit::new(path, EditKind::Update));
            } else if let Some(path) = begin("Delete File:") {
                found.push(FileEdit::new(path, EditKind::Delete));
            } else if let Some(path) = begin("Move to:")
                && let Some(last) = found.last_mut()
            {
                last.moved_to = Some(path.to_owned());
            }
            continue;
        }
        if is_unified {
            if line.starts_with("diff --git ") {
                before_hunk = true;
                continue;
            }
            if let Some(path) = line.strip_prefix("--- ")
                && (before_hunk || found.is_empty() || patch.contains("\n+++ "))
                && (path.starts_with("a/")
                    || path.starts_with('/')
                    || path == "/dev/null"
                    || before_hunk
                    || found.is_empty())
            {
                path.split('\t').next().unwrap_or(path).clone_into(&mut old_path);
                continue;
            }
            if let Some(path) = line.strip_prefix("+++ ").filter(|_| !old_path.is_empty()) {
                let path = path.split('\t').next().unwrap_or(path);
                let bare =
                    |path: &str| path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path).to_owned();
                let edit = match (old_path.as_str(), path) {
                    ("/dev/null", path) => FileEdit::new(&bare(path), EditKind::Add),
                    (old, "/dev/null") => FileEdit::new(&bare(old), EditKind::Delete),
                    (_, path) => FileEdit::new(&bare(path), EditKind::Update),
                };
                found.push(edit);
                old_path.clear();
                before_hunk = false;
                continue;
            }
        }
        let Some(last) = found.last_mut() else { continue };
        let mut characters = line.chars();
        match characters.next() {
            Some('@') if line.starts_with("@@") => {
                last.lines.push(Line { sign: '@', text: characters.as_str().to_owned() });
            }
            Some(sign @ ('+' | '-' | ' ')) => last.lines.push(Line { sign, text: characters.as_str().to_owned() }),
            None => last.lines.push(Line { sign: ' ', text: String::new() }),
            Some(_) => {}
        }
    }
    found
}

/// Reads the changes that the runtime of a patch reports: by path, with type and diff or content.
pub fn edits_of_changes(changes: &Value) -> Vec<FileEdit> {
    let Some(members) = changes.as_object() else { return Vec::new() };
    let read = |(path, change): (&String, &Value)| {
        let text = |name: &str| change.get(name).and_then(Value::as_str);
        let kind = match text("type") {
            Some("add") => EditKind::Add,
            Some("delete") => EditKind::Delete,
            _ => EditKind::Update,
        };
        let mut edit = FileEdit::new(path, kind);
        edit.moved_to = text("move_path").map(str::to_owned);
        match (kind, text("unified_diff"), text("content")) {
            (EditKind::Add, _, Some(content)) => edit.lines.extend(lines('+', content)),
            (EditKind::Delete, _, Some(content)) => edit.lines.extend(lines('-', content)),
            (_, Some(diff), _) => {
                for line in diff.lines().filter(|line| !line.starts_with("+++ ") && !line.starts_with("--- ")) {
                    let mut characters = line.chars();
                    match characters.next() {
                        Some(sign @ ('+' | '-' | ' ' | '@')) => {
                            edit.lines.push(Line { sign, text: characters.as_str().to_owned() });
                        }
                        _ => edit.lines.push(Line { sign: ' ', text: line.to_owned() }),
                    }
                }
            }
            _ => {}
        }
        edit
    };
    members.iter().map(read).collect()
}

/// Names under which tools of editors take a path.
const PATH_NAMES: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "absolute_path",
    "filepath",
    "relative_workspace_path",
];

/// Names of a whole new content.
const CONTENT_NAMES: [&str; 6] = ["content", "contents", "file_text", "new_source", "code_edit", "text"];

/// Names of what is replaced, and by what.
const REPLACED_NAMES: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("search", "replace"),
];

/// Reads the arguments of an editor's tool; `None` if they change no file.
pub fn edits_of_arguments(arguments: &Value) -> Option<Vec<FileEdit>> {
    let text = |value: &Value, names: &[&str]| {
        names.iter().find_map(|name| value.get(*name).and_then(Value::as_str)).map(str::to_owned)
    };
    if let Some(patch) = arguments
        .get("patch")
        .or_else(|| arguments.get("input"))
        .or_else(|| arguments.get("diff"))
        .and_then(Value::as_str)
        && patch.contains("*** Begin Patch")
    {
        return Some(edits_of_patch(patch));
    }
    let path = text(arguments, &PATH_NAMES)?;
    let mut edit = FileEdit::new(&path, EditKind::Update);
    let replaced = |value: &Value, edit: &mut FileEdit| {
        let pair = REPLACED_NAMES.iter().find(|(old, new)| value.get(*old).is_some() && value.get(*new).is_some());
        let Some((old, new)) = pair else { return false };
        edit.lines.push(Line { sign: '@', text: String::new() });
        edit.lines.extend(lines('-', value.get(*old).and_then(Value::as_str).unwrap_or_default()));
        edit.lines.extend(lines('+', value.get(*new).and_then(Value::as_str).unwrap_or_default()));
        true
    };
    if replaced(arguments, &mut edit) {
        return Some(vec![edit]);
    }
    if let Some(edits) = arguments.get("edits").and_then(Value::as_array) {
        let mut any = false;
        for part in edits {
            any |= replaced(part, &mut edit);
        }
        return any.then(|| vec![edit]);
    }
    let content = text(arguments, &CONTENT_NAMES)?;
    edit.kind = EditKind::Add;
    edit.lines.extend(lines('+', &content));
    Some(vec![edit])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_are_read() {
        let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n z\n*** Add File: b.py\n+1\n*** Delete File: c.py\n*** End Patch\n";
        let edits = edits_of_patch(patch);
        assert_eq!(
            edits.iter().map(|edit| (edit.path.as_str(), edit.kind)).collect::<Vec<_>>(),
            [("a.py", EditKind::Update), ("b.py", EditKind::Add), ("c.py", EditKind::Delete)]
        );
        assert_eq!(edits[0].signed('+').collect::<Vec<_>>(), ["y"]);
        let unified = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n";
        let edits = edits_of_patch(unified);
        assert_eq!((edits.len(), edits[0].path.as_str()), (1, "x.rs"));
    }

    #[test]
    fn arguments_of_editors_are_read() {
        let edits =
            edits_of_arguments(&json!({"file_path": "/a.py", "old_string": "x", "new_string": "y"})).expect("an edit");
        assert_eq!((edits[0].signed('-').next(), edits[0].signed('+').next()), (Some("x"), Some("y")));
        let edits = edits_of_arguments(&json!({"filePath": "/a.py", "content": "1\n2"})).expect("an edit");
        assert_eq!((edits[0].kind, edits[0].lines.len()), (EditKind::Add, 2));
        assert_eq!(edits_of_arguments(&json!({"path": "a.py"})), None);
    }
}
