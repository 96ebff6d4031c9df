//! Writes bundles to redact, and reads what is left in them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_recorder::Bundle;
use trace_recorder::format::event::{InferenceFailed, RecordingCompleted, ToolCallStarted};
use trace_recorder::format::{EventPayload, Manifest, PayloadKind, Requester, ToolKind, ToolSummary};
use trace_recorder::redact::{Report, Rules, redact};
use trace_recorder::write::{BundleAppender, Context};

/// A bundle and its redacted copy.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a bundle with these payloads, error messages and previews of arguments.
    pub(crate) fn write(&self, name: &str, payloads: &[Value], errors: &[String], previews: &[String]) {
        let manifest = Manifest::new("trace-id", "rollout-id", "t-root", 0);
        let mut writer = BundleAppender::create(&self.path(name), &manifest).expect("creates");
        let context = Context::turn("t-root", "turn-1");
        for payload in payloads {
            writer.payload(PayloadKind::ProtocolEvent, payload).expect("writes");
        }
        for error in errors {
            let failed = InferenceFailed {
                inference_call_id: "call-1".into(),
                upstream_request_id: None,
                error: error.as_str().into(),
                partial_response_payload: None,
            };
            writer.event(0, context, EventPayload::InferenceFailed(failed)).expect("appends");
        }
        for preview in previews {
            let started = ToolCallStarted {
                tool_call_id: "tool-1".into(),
                model_visible_call_id: None,
                code_mode_runtime_tool_id: None,
                requester: Requester::Model,
                kind: ToolKind::ExecCommand,
                summary: ToolSummary::Generic {
                    label: "exec_command".into(),
                    input_preview: Some(preview.as_str().into()),
                    output_preview: None,
                },
                invocation_payload: None,
            };
            writer.event(0, context, EventPayload::ToolCallStarted(started)).expect("appends");
        }
        writer.event(0, Context::SESSION, EventPayload::RecordingCompleted(RecordingCompleted {})).expect("appends");
    }

    pub(crate) fn redact(&self, from: &str, to: &str, rules: &Rules) -> Report {
        let bundle = Bundle::open(&self.path(from)).expect("opens");
        redact(&bundle, rules, &self.path(to)).expect("redacts")
    }

    /// Returns every file of a bundle with its path.
    pub(crate) fn files(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let root = self.path(name);
        let mut files = Vec::new();
        let mut pending = vec![root.clone()];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory).expect("lists").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    files.push((relative(&path, &root), std::fs::read(&path).expect("reads")));
                }
            }
        }
        files.sort();
        files
    }
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).expect("below").to_string_lossy().into_owned()
}
