//! Changes of files in the form of the Codex CLI's core.

use serde_json::{Value, json};
use trace_protocol::item::{FileUpdateChange, PatchChangeKind};

/// Returns changes by path, as clients of the Codex CLI expect them.
pub(super) fn files(changes: &[FileUpdateChange]) -> Value {
    let change = |change: &FileUpdateChange| {
        let value = match &change.kind {
            PatchChangeKind::Add => json!({"type": "add", "content": change.diff}),
            PatchChangeKind::Delete => json!({"type": "delete", "content": change.diff}),
            PatchChangeKind::Update { move_path } => {
                json!({"type": "update", "unified_diff": change.diff, "move_path": move_path})
            }
        };
        (change.path.clone(), value)
    };
    changes.iter().map(change).collect::<serde_json::Map<_, _>>().into()
}
