//! What every session that an importer reads must hold to.

// Each target uses some of these functions.
#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::{Path, PathBuf};

use trace_import::{Format, SessionRef, recognize, sessions};
use trace_reducer::{Options, reduce};

/// Reads a session. An answer must come, what is imported must be a bundle that a strict reduction takes, and lists must count
/// the turns and calls that the bundle has.
fn check(session: &SessionRef) {
    let summary = trace_import::summarize(session);
    let Ok(bundle) = trace_import::open(session) else { return };
    let summary = summary.expect("what can be opened can be summarized");
    let strict = Options { strict: true, verify: false };
    let reduction = reduce(&bundle, strict).expect("an imported bundle is whole");
    assert_eq!(summary.turns as usize, reduction.trace.turns.len());
    assert_eq!(summary.tool_calls as usize, reduction.trace.tools.len());
    let record = bundle.import().expect("an import");
    assert!(record.notes.iter().all(|note| note.count > 0 && !note.message.is_empty()));
}

/// Reads bytes as a rollout of the Codex CLI, with that of a child.
pub fn codex(home: &Path, data: &[u8]) {
    let mut files = files(data);
    let mut next = |thread: &str| {
        let name = format!("sessions/2026/11/22/rollout-2026-11-22T21-08-46-{thread}.jsonl");
        write(home, &name, files.next().unwrap_or_default())
    };
    let root = next("01a20517-0d54-7e41-a528-ca5c72628276");
    next("01a20517-0de2-74f3-89a1-1d10e63117ff");
    check(&SessionRef::file("codex", &root));
}

/// Reads bytes as a transcript of Claude Code, with those of two children.
pub fn claude(home: &Path, data: &[u8]) {
    let mut files = files(data);
    let mut next = || files.next().unwrap_or_default();
    let session = "4aab3200-c3f4-41a1-8c19-25e4b5ab8c36";
    let root = write(home, &format!("projects/repo/{session}.jsonl"), next());
    write(home, &format!("projects/repo/{session}/subagents/agent-a1.jsonl"), next());
    write(home, "projects/repo/agent-b2.jsonl", next());
    check(&SessionRef::file("claude-code", &root));
    check(&SessionRef::file("claude-code-stream", &root));
}

/// Reads bytes as a chat of Gemini CLI, with that of a child and a telemetry log.
pub fn gemini(home: &Path, data: &[u8]) {
    let mut files = files(data);
    let mut next = || files.next().unwrap_or_default();
    let (session, child) = ("0c62d305-917c-4e5b-be16-4f9464ad429f", "43082151-1979-4989-8950-dc4fbada763b");
    let chat = write(home, "tmp/repo/chats/session-2026-11-22T21-27-0c62d305.jsonl", next());
    write(home, &format!("tmp/repo/chats/{session}/{child}.jsonl"), next());
    write(home, "tmp/telemetry.log", next());
    check(&SessionRef::file("gemini-cli", &chat));
}

/// Reads bytes as a session of opencode: as the output of its export, and each line as a file of its store.
pub fn opencode(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let export = write(folder.path(), "export-ses_1.json", data);
    check(&SessionRef::file("opencode-export", &export));
    let storage = folder.path().join("storage");
    let mut lines = data.split(|byte| *byte == b'\n');
    let session = "ses_1";
    write(&storage, &format!("session/global/{session}.json"), lines.next().unwrap_or_default());
    fs::create_dir_all(storage.join("message").join(session)).expect("a folder");
    let mut message = 0;
    for (number, line) in lines.enumerate() {
        let is_message = line.windows(7).any(|bytes| bytes == b"\"role\":");
        if is_message {
            message = number;
            write(&storage, &format!("message/{session}/msg_{number:06}.json"), line);
        } else {
            write(&storage, &format!("part/msg_{message:06}/prt_{number:06}.json"), line);
        }
    }
    sessions(&storage).unwrap_or_default().iter().for_each(check);
}

/// Reads bytes as a trace, and as the spans of one, since few inputs begin as requests do.
pub fn otel(data: &[u8]) {
    read("trace", data);
    let json = [&b"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":["[..], data, b"]}]}]}\n"].concat();
    read("trace.jsonl", &json);
}

/// Reads bytes as a trajectory, and as the steps of one, since few inputs name the format.
pub fn atif(data: &[u8]) {
    read("trajectory.json", data);
    let begin = b"{\"schema_version\":\"ATIF-v1.7\",\"agent\":{\"name\":\"a\",\"version\":\"1\"},\"steps\":[";
    read("trajectory.json", &[&begin[..], data, b"]}"].concat());
}

/// Checks the sessions of bytes that are a file with this name.
fn read(name: &str, data: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = write(folder.path(), name, data);
    let _ = recognize(&path).expect("reads").map(Format::name);
    sessions(&path).unwrap_or_default().iter().for_each(check);
}

/// Returns the files that an input stands for. A zero byte separates them.
fn files(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|byte| *byte == 0)
}

/// Writes a file below a folder, with the folders on the way.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, bytes).expect("writes");
    path
}
