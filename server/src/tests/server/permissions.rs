//! Only the owner may read the files in the server home, whatever kind they are.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A kind of files in the server home, with the prefix and the suffix of their paths.
type Kind = (&'static str, &'static str, &'static str);

/// Kinds of files in every server home.
const KINDS: [Kind; 12] = [
    ("thread", "sessions/", ".jsonl"),
    ("thread that was put away", "archived_sessions/", ".jsonl"),
    ("names", "session_index.jsonl", ""),
    ("index", "trace_index.sqlite", ".sqlite"),
    ("log of the index", "trace_index.sqlite-wal", ""),
    ("shared memory of the index", "trace_index.sqlite-shm", ""),
    ("prompts that wait", "queues/", ".json"),
    ("configuration", "config.toml", ""),
    ("lock of a thread", "thread-writer-locks/", ".lock"),
    ("claim on a thread", "thread-writer-locks/claims/", ".claim"),
    ("socket", "app-server-control/app-server-control.sock", ""),
    ("folder", "sessions", ""),
];

/// Kinds of files of recordings that are files.
const FILES: [Kind; 1] = [("bundle", "traces/", ".trace")];

/// Kinds of files of recordings that are directories.
const DIRECTORIES: [Kind; 4] = [
    ("manifest of a bundle", "traces/", "/manifest.json"),
    ("log of a bundle", "traces/", "/trace.jsonl"),
    ("payload of a bundle", "traces/", "/payloads/*"),
    ("lock of a bundle", "traces/", "/recorder.json"),
];

/// Returns the relative paths and modes of all entries below a folder, except those that commands created.
fn everything(home: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut rest = vec![home.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path == home.join("work") {
                continue;
            }
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(home).unwrap().to_str().unwrap().to_owned();
            found.push((name, metadata.permissions().mode() & 0o7777));
            if metadata.is_dir() {
                rest.push(path);
            }
        }
    }
    found
}

/// Panics if another user may read an entry. Returns the kinds of which there is no entry.
fn check(home: &Path, of_recordings: &[Kind]) -> Vec<&'static str> {
    let found = everything(home);
    for (name, mode) in &found {
        assert!(matches!(mode, 0o600 | 0o700), "{name} has mode {mode:o}");
        assert_eq!(*mode == 0o700, home.join(name).is_dir(), "{name} has mode {mode:o}");
    }
    let fits = |name: &str, begin: &str, end: &str| {
        let is_end = end.strip_suffix('*').map_or_else(|| name.ends_with(end), |part| name.contains(part));
        name.starts_with(begin) && is_end
    };
    let is_there = |begin: &str, end: &str| found.iter().any(|(name, _)| fits(name, begin, end));
    KINDS.iter().chain(of_recordings).filter(|(_, begin, end)| !is_there(begin, end)).map(|(kind, ..)| *kind).collect()
}

/// Fills a server home with every kind of file, and keeps it in use.
async fn live(home: &Path, form: Form) -> (TestServer, String) {
    let mut server = TestServer::start_recording(home, form).await;
    let put_away = server.thread().await;
    server.run(&put_away, json!([[{"say": "one"}]])).await;
    server.call("thread/archive", json!({"threadId": put_away})).await;
    let thread = server.thread().await;
    server.run(&thread, json!([[{"call": "exec_command", "args": {"cmd": "true"}}], [{"say": "two"}]])).await;
    server.call("thread/name/set", json!({"threadId": thread, "name": "a name"})).await;
    server.call("thread/goal/set", json!({"threadId": thread, "objective": "reach it", "status": "paused"})).await;
    server.call("config/value/write", json!({"keyPath": "model", "value": "m", "mergeStrategy": "replace"})).await;
    server.start_turn(&thread, json!([[{"hold": "held"}]])).await;
    let wait = json!({"threadId": thread, "clientUserMessageId": "1", "input": input(&json!("later"))});
    server.call("thread/queue/add", wait).await;
    (server, thread)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_file_is_private_under_any_umask() {
    // The umask applies to the whole process. It can only make the files of other tests more open.
    rustix::process::umask(rustix::fs::Mode::empty());
    for (form, of_recordings) in [(Form::Packed, &FILES[..]), (Form::Directory, &DIRECTORIES)] {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let (server, _) = live(&home, form).await;
        let socket = crate::transport::Listen::parse("unix://", &home).unwrap();
        let _bound = crate::transport::bind(&socket, None).await.unwrap();
        assert_eq!(home.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(check(&home, of_recordings), [""; 0], "nothing of these kinds was made");
        server.model.release("held");
        server.server.shutdown().await;
        check(&home, of_recordings);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readable_files_of_earlier_servers_become_private() {
    for (form, of_recordings) in [(Form::Packed, &FILES[..]), (Form::Directory, &DIRECTORIES)] {
        become_private(form, of_recordings).await;
    }
}

async fn become_private(form: Form, of_recordings: &[Kind]) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let (server, _) = live(&home, form).await;
    server.model.release("held");
    server.server.shutdown().await;
    drop(server);
    for (name, mode) in everything(&home) {
        let open = if mode == 0o700 { 0o755 } else { 0o644 };
        let set = std::fs::set_permissions(home.join(name), std::fs::Permissions::from_mode(open));
        // SQLite removes its log when the last connection closes, which a thread of the dropped server may do just now.
        if let Err(error) = set {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
        }
    }
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = TestServer::start(&home).await;
    check(&home, of_recordings);
    assert_eq!(home.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let listed = server.call("thread/list", json!({})).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "it is still read");
    server.server.shutdown().await;
}
