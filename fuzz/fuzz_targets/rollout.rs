//! Reads any bytes as a rollout. Nothing may panic, the pages of turns must add up, and appended lines must be read back.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;
use trace_protocol::settings::SortDirection;
use trace_protocol::turn::TurnItemsView;
use trace_runtime::ThreadId;
use trace_server::store::page::{TurnsQuery, turns_page};
use trace_server::store::{Store, StoreError, ThreadListQuery};

const THREAD: &str = "01a202e3-5931-70d2-b6c3-6ec5313e37f7";
const META: &str = r#"{"timestamp":"2026-11-22T10:53:03.000Z","ordinal":0,"type":"session_meta","payload":{"id":"01a202e3-5931-70d2-b6c3-6ec5313e37f7","cwd":"/w","source":"vscode","history_mode":"paginated"}}"#;

/// A server home with one thread.
static HOME: LazyLock<(tempfile::TempDir, Store, PathBuf)> = LazyLock::new(|| {
    let home = tempfile::tempdir().expect("a directory");
    let store = Store::open(home.path(), TimeZone::UTC).expect("opens");
    let folder = store.home().join("sessions/2026/11/22");
    fs::create_dir_all(&folder).expect("a directory");
    let path = folder.join(format!("rollout-2026-11-22T10-53-03-{THREAD}.jsonl"));
    (home, store, path)
});

fuzz_target!(|data: &[u8]| {
    let (_, store, path) = &*HOME;
    let thread = ThreadId::from(THREAD);
    for meta in ["", META] {
        let mut bytes = meta.as_bytes().to_vec();
        bytes.extend(meta.is_empty().then_some(b'\n').into_iter().chain(data.iter().copied()));
        fs::write(path, &bytes).expect("writes");
        // Otherwise the names of earlier runs would accumulate.
        fs::write(store.home().join("session_index.jsonl"), "").expect("writes");
        store.refresh().expect("a home that can be read");
        store.list(&ThreadListQuery::default()).expect("a list without a cursor");
        let stored = match store.load_path(path) {
            Ok(stored) => stored,
            Err(StoreError::NoRollout { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let direction = SortDirection::Asc;
        let mut query = TurnsQuery { cursor: None, limit: Some(2), direction, view: TurnItemsView::Summary };
        let mut shown = 0;
        loop {
            let page = turns_page(&thread, &stored.turns, &query);
            let Ok(page) = page else { break };
            shown += page.data.len();
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                assert_eq!(shown, stored.turns.len());
                break;
            }
        }
        if store.find(&thread).is_ok() {
            store.set_name(&thread, "name").expect("a name");
            let named = store.load(&thread).expect("loads");
            assert_eq!(named.summary.name.as_deref(), Some("name"));
            assert_eq!(named.turns, stored.turns);
        }
    }
});
