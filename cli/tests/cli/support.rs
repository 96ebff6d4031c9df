//! Bundles for tests, and the binary that runs on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use trace_recorder::format::event::{
    AgentResultObserved, CodexTurnEnded, CodexTurnStarted, InferenceCompleted, InferenceFailed, InferenceStarted,
    LooseKind, RecordingCompleted, RolloutEnded, RolloutStarted, ThreadEnded, ThreadStarted, ToolCallEnded,
    ToolCallRuntimeEnded, ToolCallRuntimeStarted, ToolCallStarted,
};
use trace_recorder::format::{
    EventPayload, ExecutionStatus, Manifest, PayloadKind, PayloadRef, Requester, RolloutStatus, ToolKind, ToolSummary,
};
use trace_recorder::write::{BundleAppender, Context};

/// 2025-01-02 03:04:05 UTC.
pub(crate) const START: i64 = 1_735_787_045_000;

/// A temporary directory for one test, and the binary that runs in it.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// Returns the directory of a bundle, for programs that read no other form: the bundle itself, or what it unpacks to.
    pub(crate) fn directory_of(&self, bundle: &Path) -> PathBuf {
        if bundle.is_dir() {
            return bundle.to_owned();
        }
        let name = format!("unpacked-{}", self.names(".").len());
        let ran = self.run(&["unpack", bundle.to_str().expect("a text"), "-o", &name]);
        assert_eq!(ran.code, 0, "{ran}");
        self.path(&name)
    }

    /// Returns the names in a directory, sorted.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).expect("lists");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns the binary, which runs in this directory without the environment variables that affect its output, and with a home
    /// directory of its own: login shells of commands read start-up files there.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        trace_needs::unignore_sighup();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trace"));
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null()).env("TZ", "UTC");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TRACE_ROOT", "CODEX_ROLLOUT_TRACE_ROOT"] {
            command.env_remove(name);
        }
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.env("TRACE_HOME", self.path("home")).env("HOME", self.path("user"));
        // The sessions of whoever runs the tests are not listed.
        for name in ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"] {
            command.env(name, self.path("agents"));
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("runs"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("not killed"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// Formats all results of a run for snapshots.
impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        if self.code != 0 {
            write!(f, "--- exit code {}", self.code)?;
        }
        Ok(())
    }
}

/// Writes a bundle event by event. The events are a second apart.
pub(crate) struct Session {
    writer: BundleAppender,
    clock: i64,
}

impl Session {
    pub(crate) fn begin(path: &Path, started: i64) -> Self {
        let manifest = Manifest::new("trace-id", "rollout-id", "t-root", started);
        let writer = BundleAppender::create(path, &manifest).expect("creates");
        let mut session = Self { writer, clock: started };
        let (trace_id, root_thread_id) = ("trace-id".into(), "t-root".into());
        session.event(Context::SESSION, EventPayload::RolloutStarted(RolloutStarted { trace_id, root_thread_id }));
        session
    }

    pub(crate) fn event(&mut self, context: Context<'_>, payload: EventPayload<'_>) {
        self.writer.event(self.clock, context, payload).expect("appends");
        self.clock += 1000;
    }

    pub(crate) fn payload(&mut self, kind: PayloadKind<'static>, value: &Value) -> PayloadRef<'static> {
        self.writer.payload(kind, value).expect("writes")
    }

    pub(crate) fn thread(&mut self, id: &str, path: &str, metadata: Option<Value>) {
        let metadata = metadata.map(|metadata| self.payload(PayloadKind::SessionMetadata, &metadata));
        let started = ThreadStarted { thread_id: id.into(), agent_path: path.into(), metadata_payload: metadata };
        self.event(Context::SESSION, EventPayload::ThreadStarted(started));
    }

    pub(crate) fn child(&mut self, id: &str, parent: &str, path: &str, nickname: &str) {
        let spawn = json!({ "parent_thread_id": parent, "agent_path": path, "agent_role": "worker" });
        let metadata = json!({
            "agent_path": path,
            "nickname": nickname,
            "task_name": "a task",
            "session_source": { "subagent": { "thread_spawn": spawn } },
        });
        self.thread(id, path, Some(metadata));
    }

    pub(crate) fn turn(&mut self, thread: &str, turn: &str) {
        let started = CodexTurnStarted { codex_turn_id: turn.into(), thread_id: thread.into() };
        self.event(Context::turn(thread, turn), EventPayload::CodexTurnStarted(started));
    }

    pub(crate) fn turn_ended(&mut self, thread: &str, turn: &str, status: ExecutionStatus) {
        let ended = CodexTurnEnded { codex_turn_id: turn.into(), status };
        self.event(Context::turn(thread, turn), EventPayload::CodexTurnEnded(ended));
    }

    fn inference(&mut self, thread: &str, turn: &str, id: &str) {
        let content = json!([{ "type": "input_text", "text": "please" }]);
        let input = json!([{ "type": "message", "role": "user", "content": content }]);
        let request_payload =
            self.payload(PayloadKind::InferenceRequest, &json!({ "model": "model-1", "input": input }));
        let started = InferenceStarted {
            inference_call_id: id.into(),
            thread_id: thread.into(),
            codex_turn_id: turn.into(),
            model: "model-1".into(),
            provider_name: "provider".into(),
            request_payload,
        };
        self.event(Context::turn(thread, turn), EventPayload::InferenceStarted(started));
    }

    pub(crate) fn answer(&mut self, thread: &str, turn: &str, id: &str) {
        self.inference(thread, turn, id);
        let content = json!([{ "type": "output_text", "text": "done" }]);
        let usage = json!({
            "input_tokens": 1200,
            "cached_input_tokens": 1000,
            "cache_write_input_tokens": 0,
            "output_tokens": 34,
            "reasoning_output_tokens": 5,
        });
        let response = json!({
            "output_items": [{ "type": "message", "role": "assistant", "id": id, "content": content }],
            "token_usage": usage,
        });
        let completed = InferenceCompleted {
            inference_call_id: id.into(),
            response_id: None,
            upstream_request_id: None,
            response_payload: self.payload(PayloadKind::InferenceResponse, &response),
        };
        self.event(Context::turn(thread, turn), EventPayload::InferenceCompleted(completed));
    }

    pub(crate) fn failed_answer(&mut self, thread: &str, turn: &str, id: &str, error: &str) {
        self.inference(thread, turn, id);
        let failed = InferenceFailed {
            inference_call_id: id.into(),
            upstream_request_id: None,
            error: error.into(),
            partial_response_payload: None,
        };
        self.event(Context::turn(thread, turn), EventPayload::InferenceFailed(failed));
    }

    /// Starts a call of a tool that runs a command.
    pub(crate) fn command(&mut self, thread: &str, turn: &str, id: &str, script: &str) {
        let context = Context::turn(thread, turn);
        let started = ToolCallStarted {
            tool_call_id: id.into(),
            model_visible_call_id: Some(id.into()),
            code_mode_runtime_tool_id: None,
            requester: Requester::Model,
            kind: ToolKind::ExecCommand,
            summary: ToolSummary::Generic {
                label: "exec_command".into(),
                input_preview: Some(script.into()),
                output_preview: None,
            },
            invocation_payload: None,
        };
        self.event(context, EventPayload::ToolCallStarted(started));
        let begin = json!({ "command": ["/bin/sh", "-lc", script], "cwd": "/project", "process_id": id });
        let begun = ToolCallRuntimeStarted {
            tool_call_id: id.into(),
            kind: Some(LooseKind(ToolKind::ExecCommand)),
            runtime_payload: self.payload(PayloadKind::ToolRuntimeEvent, &begin),
        };
        self.event(context, EventPayload::ToolCallRuntimeStarted(begun));
    }

    /// Ends a call that [`Session::command`] started.
    pub(crate) fn command_ended(&mut self, thread: &str, turn: &str, id: &str, exit_code: i32, output: &str) {
        let context = Context::turn(thread, turn);
        let end = json!({ "exit_code": exit_code, "aggregated_output": output, "process_id": id });
        let ended = ToolCallRuntimeEnded {
            tool_call_id: id.into(),
            status: ExecutionStatus::Completed,
            runtime_payload: self.payload(PayloadKind::ToolRuntimeEvent, &end),
        };
        self.event(context, EventPayload::ToolCallRuntimeEnded(ended));
        let ended = ToolCallEnded { tool_call_id: id.into(), status: ExecutionStatus::Completed, result_payload: None };
        self.event(context, EventPayload::ToolCallEnded(ended));
    }

    pub(crate) fn result(&mut self, child: &str, turn: &str, parent: &str, message: &str) {
        let observed = AgentResultObserved {
            edge_id: format!("edge:agent_result:{child}").into(),
            child_thread_id: child.into(),
            child_codex_turn_id: turn.into(),
            parent_thread_id: parent.into(),
            message: message.into(),
            carried_payload: None,
        };
        self.event(Context::turn(child, turn), EventPayload::AgentResultObserved(observed));
    }

    pub(crate) fn thread_ended(&mut self, thread: &str, status: RolloutStatus) {
        let ended = ThreadEnded { thread_id: thread.into(), status };
        self.event(Context::SESSION, EventPayload::ThreadEnded(ended));
    }

    pub(crate) fn end(mut self, status: RolloutStatus) {
        self.event(Context::SESSION, EventPayload::RolloutEnded(RolloutEnded { status }));
        self.event(Context::SESSION, EventPayload::RecordingCompleted(RecordingCompleted {}));
    }
}

/// Records a session without failures.
pub(crate) fn well(path: &Path, started: i64) {
    let mut session = Session::begin(path, started);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.answer("t-root", "turn-1", "call-1");
    session.turn_ended("t-root", "turn-1", ExecutionStatus::Completed);
    session.thread_ended("t-root", RolloutStatus::Completed);
    session.end(RolloutStatus::Completed);
}

/// Records a session with a failure of every kind.
pub(crate) fn troubled(path: &Path) {
    let mut session = Session::begin(path, START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.answer("t-root", "turn-1", "call-1");
    session.child("t-a", "t-root", "/root/a", "Ada");
    session.child("t-b", "t-root", "/root/b", "Bob");
    session.child("t-c", "t-b", "/root/b/c", "Cyd");
    session.turn("t-a", "turn-a");
    session.command("t-a", "turn-a", "tool-1", "make all");
    session.command_ended("t-a", "turn-a", "tool-1", 2, "cc: warning\nmake: *** [all] Error 1\n\n");
    session.failed_answer("t-a", "turn-a", "call-2", "stream disconnected\nbefore completion");
    session.turn_ended("t-a", "turn-a", ExecutionStatus::Failed);
    session.turn("t-b", "turn-b");
    session.command("t-b", "turn-b", "tool-2", "sleep 1000");
    session.turn("t-c", "turn-c");
    session.answer("t-c", "turn-c", "call-3");
    session.turn_ended("t-c", "turn-c", ExecutionStatus::Completed);
    session.result("t-c", "turn-c", "t-b", "nobody reads this");
    session.thread_ended("t-c", RolloutStatus::Completed);
    session.turn_ended("t-b", "turn-b", ExecutionStatus::Cancelled);
    session.turn_ended("t-root", "turn-1", ExecutionStatus::Completed);
    session.thread_ended("t-root", RolloutStatus::Completed);
    session.end(RolloutStatus::Failed);
}

/// Returns the path of a file or directory in `samples/`.
pub(crate) fn sample(name: &str) -> String {
    format!("{}/../samples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Cuts the last bytes off the log of a bundle.
pub(crate) fn tear(bundle: &Path, bytes: usize) {
    let log = bundle.join("trace.jsonl");
    let text = fs::read(&log).expect("reads");
    fs::write(&log, &text[..text.len() - bytes]).expect("writes");
}
