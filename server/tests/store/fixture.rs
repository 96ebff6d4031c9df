//! Threads that the Codex CLI 0.169 recorded, with a scripted model, and with its own long texts replaced. There is one
//! thread for each history mode. Each one contains a command, a patch, an interrupted and a failed turn, a name, a fork
//! whose history begins in the thread, dropped turns, and a compaction.
//!
//! The files beside them contain what the app-server of the Codex CLI returned for these threads; `fixtures/verify.py` asks
//! it again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_protocol::thread::ThreadHistoryMode;
use trace_runtime::ThreadId;
use trace_server::store::{Damage, StoreError, ThreadListQuery};

use crate::support::{open, shown, talk};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns a server home with the threads, the ids of the thread and its fork, and the expected values.
fn home(mode: &str) -> (tempfile::TempDir, ThreadId, ThreadId, Value) {
    let home = tempfile::tempdir().unwrap();
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/store/fixtures").join(mode);
    copy(&fixture, home.path());
    let expected: Value = serde_json::from_slice(&fs::read(fixture.join("expected.json")).unwrap()).unwrap();
    let id = |name: &str| ThreadId::from(expected[name].as_str().unwrap());
    (home, id("thread"), id("copy"), expected)
}

#[test]
fn turns_equal_those_of_the_codex_cli() {
    for mode in ["paginated", "legacy"] {
        let (home, thread, copy, expected) = home(mode);
        let store = open(home.path());
        for (id, name) in [(&thread, "turns"), (&copy, "copied")] {
            let stored = store.load(id).unwrap();
            let turns = serde_json::to_value(&stored.turns).unwrap();
            assert_eq!(turns, expected[name], "{mode} {name}");
            assert_eq!(stored.damage, Damage::default());
        }
    }
}

#[test]
fn lists_equal_those_of_the_codex_cli() {
    for mode in ["paginated", "legacy"] {
        let (home, thread, copy, _) = home(mode);
        let store = open(home.path());
        let listed = store.list(&ThreadListQuery::default()).unwrap().data;
        let ids: Vec<&ThreadId> = listed.iter().map(|summary| &summary.id).collect();
        assert_eq!(ids, [&copy, &thread], "{mode}");
        for summary in &listed {
            assert!(summary.preview.starts_with("Run it. RUN"), "{}", summary.preview);
            assert_eq!(summary.name.as_deref(), Some("A fixture"));
            assert_eq!(summary.cwd.as_str(), "/work");
        }
        assert_eq!(listed[0].forked_from.as_ref(), Some(&thread));
        assert_eq!(listed[1].model.as_deref(), Some("scripted-2"));
        assert_eq!(listed[1].effort.as_deref(), Some("low"));
        let expected_mode = if mode == "legacy" { ThreadHistoryMode::Legacy } else { ThreadHistoryMode::Paginated };
        assert_eq!(listed[1].history_mode, expected_mode);
    }
}

#[test]
fn the_model_sees_the_remaining_history() {
    let (home, thread, copy, _) = home("paginated");
    let store = open(home.path());
    let history = |id: &ThreadId| serde_json::to_string(&store.load(id).unwrap().history).unwrap();
    // The history was compacted before the last turn.
    let left = history(&thread);
    assert!(left.contains("The end.") && !left.contains("Dropped.") && !left.contains("internal_chat"), "{left}");
    let copied = history(&copy);
    for text in ["It failed.", "Kept.", "Dropped.", "In the copy."] {
        assert!(copied.contains(text), "{text} in {copied}");
    }
}

#[test]
fn threads_of_the_codex_cli_continue_here() {
    for mode in ["paginated", "legacy"] {
        let (home, thread, copy, _) = home(mode);
        let store = open(home.path());
        let before = store.load(&thread).unwrap();
        let writer = store.open_writer(&thread).unwrap();
        let path = writer.path();
        talk(&writer, Path::new("/work"), 1, "more", "and more");
        let after = store.load(&thread).unwrap();
        assert_eq!(after.turns[..before.turns.len()], before.turns[..]);
        assert_eq!(shown(&after.turns).last().unwrap(), "agentMessage: and more");
        let lines = fs::read_to_string(path).unwrap();
        let ordinals: Vec<Option<u64>> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap().get("ordinal").and_then(Value::as_u64))
            .collect();
        let is_numbered = mode == "paginated";
        assert!(ordinals.iter().all(|ordinal| ordinal.is_some() == is_numbered), "{ordinals:?}");
        assert!(!is_numbered || ordinals.windows(2).all(|pair| pair[1] == pair[0].map(|number| number + 1)));
        drop(writer);
        // A fork whose history begins in the thread prevents its deletion. A fork that is a full copy does not.
        let deleted = store.delete(&thread);
        match mode {
            "paginated" => assert!(matches!(deleted, Err(StoreError::Referenced { .. })), "{deleted:?}"),
            _ => deleted.unwrap(),
        }
        assert!(store.load(&copy).unwrap().turns.len() > 5);
    }
}
