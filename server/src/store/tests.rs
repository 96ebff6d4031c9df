//! Unit tests of the store, one behaviour at a time.

mod laws;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use trace_protocol::goal::{ThreadGoal, ThreadGoalStatus};
use trace_protocol::history::{ThreadItemsListAnchor, ThreadItemsListCursor};
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{
    GitInfo, SessionSource, SubAgentSource, ThreadHistoryMode, ThreadSourceKind, ThreadStatus,
};
use trace_protocol::turn::{Turn, TurnItemsView};
use trace_runtime::event::{EventKind, TurnKind, TurnOutcome};
use trace_runtime::item::{CommandItem, CommandSource, Input, ItemKind, WorkStatus};
use trace_runtime::{Event, Item, Settings, ThreadId, TurnId};

use self::laws::{BEGINNING_MS, new_thread, open, settings, told};
use super::page::{ItemsQuery, TurnsQuery, items_of, items_page, newest, turns_page};
use super::*;

const MODE: ThreadHistoryMode = ThreadHistoryMode::Paginated;

fn event(at_ms: i64, kind: EventKind) -> Event {
    Event { at_ms, kind }
}

/// Records a turn in which a user sends a message and the agent answers.
fn say(writer: &ThreadWriter, turn: &str, at_ms: i64, said: &str, answer: &str) {
    let turn = TurnId::from(turn);
    let content = vec![Input::Text { text: said.into(), elements: Vec::new() }];
    let items = [
        (format!("u-{turn}"), ItemKind::UserMessage { client_id: None, content }),
        (format!("a-{turn}"), ItemKind::AgentMessage { text: answer.into(), phase: None }),
    ];
    let started = EventKind::TurnStarted {
        turn: turn.clone(),
        root_turn: turn.clone(),
        kind: TurnKind::Regular,
        context_window: None,
    };
    writer.record(&event(at_ms, started)).unwrap();
    for (id, kind) in items {
        let item = Arc::new(Item { id: id.into(), kind });
        writer.record(&event(at_ms, EventKind::ItemStarted { turn: turn.clone(), item: item.clone() })).unwrap();
        writer.record(&event(at_ms, EventKind::ItemCompleted { turn: turn.clone(), item })).unwrap();
    }
    let outcome = TurnOutcome::Completed { last_message: None };
    writer.record(&event(at_ms + 1, EventKind::TurnEnded { turn, outcome })).unwrap();
}

#[test]
fn a_compaction_is_not_the_newest_work() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    say(&writer, "work", BEGINNING_MS, "do it", "done");
    let last_work = || store.load(writer.id()).unwrap().mail.last_work;
    assert_eq!(last_work(), Some(TurnId::from("work")));
    for kind in [TurnKind::Compact, TurnKind::UserShell] {
        let turn = TurnId::from(kind.name());
        let started =
            EventKind::TurnStarted { turn: turn.clone(), root_turn: turn.clone(), kind, context_window: None };
        writer.record(&event(BEGINNING_MS + 2, started)).unwrap();
        let outcome = TurnOutcome::Completed { last_message: None };
        writer.record(&event(BEGINNING_MS + 3, EventKind::TurnEnded { turn: turn.clone(), outcome })).unwrap();
        assert_eq!(store.load(writer.id()).unwrap().turns.last().unwrap().id, turn.as_str());
        assert_eq!(last_work(), Some(TurnId::from("work")));
    }
    say(&writer, "more", BEGINNING_MS + 4, "and that", "done, too");
    assert_eq!(last_work(), Some(TurnId::from("more")));
}

fn made(store: &Store, number: usize, said: &str) -> ThreadId {
    let writer = store.create(new_thread(number, MODE)).unwrap();
    say(&writer, "turn", BEGINNING_MS, said, "answer");
    writer.id().clone()
}

/// Returns the numbers of the threads of a page.
fn numbers(page: &Page<ThreadSummary>) -> Vec<usize> {
    let number = |summary: &ThreadSummary| summary.id.as_str().rsplit('-').next().unwrap().parse().unwrap();
    page.data.iter().map(number).collect()
}

#[test]
fn nothing_is_on_disk_before_the_first_stored_event() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    let changed = Settings { model: "other".into(), ..settings() };
    writer.record(&event(BEGINNING_MS, EventKind::SettingsChanged { settings: changed.into() })).unwrap();
    writer.record(&event(BEGINNING_MS, EventKind::Warning { message: "w".into() })).unwrap();
    assert!(!writer.is_materialized() && !writer.path().exists() && writer.summary().is_none());
    assert_eq!(store.resolve(writer.id()), Resolution::Unknown);
    let error = store.load(writer.id()).unwrap_err().to_string();
    assert_eq!(error, format!("no rollout found for thread id {}", writer.id()));

    writer.record(&event(BEGINNING_MS, EventKind::Remembered { item: told("x") })).unwrap();
    assert!(writer.is_materialized() && writer.path().exists());
    let stored = store.load(writer.id()).unwrap();
    assert_eq!(stored.settings.model.as_deref(), Some("other"));
    assert_eq!(stored.summary.model.as_deref(), Some("other"));
    assert_eq!(stored.history, [told("x")]);
}

#[test]
fn one_writer_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    assert!(matches!(store.create(new_thread(1, MODE)), Err(StoreError::Busy { .. })));
    say(&writer, "turn", BEGINNING_MS, "hello", "hi");
    let id = writer.id().clone();
    assert!(matches!(store.create(new_thread(1, MODE)), Err(StoreError::Exists { .. })));
    for store in [&store, &open(home.path())] {
        assert!(matches!(store.open_writer(&id), Err(StoreError::Busy { .. })));
        assert!(matches!(store.archive(&id), Err(StoreError::Busy { .. })));
        assert!(matches!(store.delete(&id), Err(StoreError::Busy { .. })));
    }
    // The name goes through the open writer of this process. A writer of another process makes the call fail.
    store.set_name(&id, " Name ").unwrap();
    assert_eq!(writer.summary().unwrap().name.as_deref(), Some("Name"));
    assert!(matches!(open(home.path()).set_name(&id, "x"), Err(StoreError::Busy { .. })));

    writer.close();
    assert!(matches!(writer.materialize(), Err(StoreError::Closed { .. })));
    assert!(matches!(writer.set_name("x"), Err(StoreError::Closed { .. })));
    store.set_name(&id, "Other").unwrap();
    let next = store.open_writer(&id).unwrap();
    drop(writer);
    // Dropping the old writer does not affect the new one.
    store.set_name(&id, "Third").unwrap();
    say(&next, "turn-2", BEGINNING_MS, "more", "and more");
    assert_eq!(store.load(&id).unwrap().turns.len(), 2);
}

#[test]
fn threads_are_archived_and_unarchived() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let before = store.find(&id).unwrap();
    let not_there = ThreadId::from("nobody");
    assert!(matches!(store.archive(&not_there), Err(StoreError::Unknown { .. })));
    let error = store.unarchive(&id).unwrap_err().to_string();
    assert_eq!(error, format!("no archived rollout found for thread id {id}"));

    let archived = store.archive(&id).unwrap();
    assert!(archived.archived && archived.path.starts_with(store.home().join("archived_sessions")));
    assert!(archived.path.exists() && !before.path.exists());
    let error = store.open_writer(&id).unwrap_err().to_string();
    assert!(error.contains("is archived"), "{error}");
    assert_eq!(store.load(&id).unwrap().turns.len(), 1);
    assert!(store.list(&ThreadListQuery::default()).unwrap().data.is_empty());
    let query = ThreadListQuery { archived: true, ..ThreadListQuery::default() };
    assert_eq!(numbers(&store.list(&query).unwrap()), [1]);
    assert!(matches!(open(home.path()).resolve(&id), Resolution::Archived(_)));

    assert_eq!(store.unarchive(&id).unwrap(), before);
    assert!(before.path.exists());
    store.delete(&id).unwrap();
    assert!(!before.path.exists());
    assert!(matches!(store.delete(&id), Err(StoreError::Unknown { .. })));
}

#[test]
fn names_repositories_and_goals_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    assert!(matches!(store.set_name(&id, " \n"), Err(StoreError::EmptyName)));
    assert!(matches!(store.set_name(&ThreadId::from("x"), "n"), Err(StoreError::Unknown { .. })));
    assert_eq!(store.set_name(&id, "  A name ").unwrap(), "A name");
    let change = |sha: Option<Option<&str>>, branch: Option<Option<&str>>| GitChange {
        sha: sha.map(|sha| sha.map(str::to_owned)),
        branch: branch.map(|branch| branch.map(str::to_owned)),
        origin_url: None,
    };
    store.change_git(&id, change(Some(Some("abc")), Some(Some("main")))).unwrap();
    let git = store.change_git(&id, change(None, Some(None))).unwrap();
    assert_eq!(git, Some(GitInfo { sha: Some("abc".into()), branch: None, origin_url: None }));
    let writer = store.open_writer(&id).unwrap();
    let goal = ThreadGoal {
        thread_id: id.to_string(),
        created_at: 1,
        objective: "o".into(),
        status: ThreadGoalStatus::Paused,
        time_used_seconds: 0,
        tokens_used: 0,
        updated_at: 2,
        token_budget: Some(7),
    };
    writer.set_goal(Some(&goal)).unwrap();
    drop((writer, store));

    let store = open(home.path());
    let stored = store.load(&id).unwrap();
    assert_eq!((stored.summary.name.as_deref(), stored.summary.git), (Some("A name"), git));
    assert_eq!(stored.goal, Some(goal));
    // A fork keeps the name, but not the goal.
    let (_, copy) = store.fork(&id, &ForkPoint::End, new_thread(2, MODE)).unwrap();
    assert_eq!((copy.summary.name.as_deref(), copy.goal), (Some("A name"), None));
    store.open_writer(&id).unwrap().set_goal(None).unwrap();
    assert_eq!(store.load(&id).unwrap().goal, None);
    assert_eq!(store.change_git(&id, change(Some(None), None)).unwrap(), None);
}

#[test]
fn lists_match_their_queries() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let one = made(&store, 1, "Needle in a haystack");
    let two = made(&store, 2, "other");
    let mut elsewhere = new_thread(3, MODE);
    elsewhere.settings.cwd = "/elsewhere".into();
    elsewhere.settings.provider = "q".into();
    elsewhere.source = SessionSource::Exec;
    let writer = store.create(elsewhere).unwrap();
    say(&writer, "turn", BEGINNING_MS + 500, "third", "x");
    store.set_name(&two, "Zebra").unwrap();
    let unsaid = store.create(new_thread(4, MODE)).unwrap();
    unsaid.materialize().unwrap();

    let list = |change: &dyn Fn(&mut ThreadListQuery)| {
        let mut query = ThreadListQuery { sources: SourceFilter::Any, ..ThreadListQuery::default() };
        change(&mut query);
        numbers(&store.list(&query).unwrap())
    };
    assert_eq!(list(&|_| {}), [4, 3, 2, 1]);
    // The last thread has no message.
    assert_eq!(list(&|query| query.sources = SourceFilter::Interactive), [2, 1]);
    assert_eq!(list(&|query| query.sources = SourceFilter::Kinds(vec![ThreadSourceKind::Exec])), [3]);
    assert_eq!(list(&|query| query.providers = vec!["q".into()]), [3]);
    assert_eq!(list(&|query| query.cwds = vec!["/elsewhere".into(), "/x".into()]), [3]);
    assert_eq!(list(&|query| query.search_term = Some("zEBRA".into())), [2]);
    assert_eq!(list(&|query| query.search_term = Some("needle".into())), [1]);
    assert_eq!(list(&|query| query.excluded = [one.clone(), two.clone()].into()), [4, 3]);
    assert_eq!(list(&|query| query.direction = SortDirection::Asc), [1, 2, 3, 4]);
    assert_eq!(list(&|query| query.limit = 0).len(), 1);
    assert_eq!(list(&|query| query.unmatched = true), [0; 0]);
    let recent = |query: &mut ThreadListQuery| query.sort_key = trace_protocol::thread::ThreadSortKey::RecencyAt;
    assert_eq!(list(&recent)[0], 3);
    for cursor in ["not a cursor", "", "12|../x", "x|a", "12"] {
        let query = ThreadListQuery { cursor: Some(cursor.into()), ..ThreadListQuery::default() };
        assert!(matches!(store.list(&query), Err(StoreError::InvalidCursor { .. })), "{cursor}");
    }
}

#[test]
fn agents_are_listed_below_their_parents() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let root = made(&store, 1, "hello");
    let agent = |number: usize, parent: &ThreadId| {
        let mut thread = new_thread(number, MODE);
        thread.parent = Some(parent.clone());
        thread.session = root.clone();
        thread.source = SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
            depth: 1,
            parent_thread_id: parent.to_string(),
            agent_nickname: None,
            agent_path: None,
            agent_role: None,
        });
        store.create(thread).unwrap()
    };
    let child = agent(2, &root);
    // The child is known before it has a rollout.
    assert_eq!(store.children(&root), [(child.id().clone(), EdgeStatus::Open)]);
    child.materialize().unwrap();
    let grandchild = agent(3, child.id());
    grandchild.materialize().unwrap();
    assert_eq!(store.descendants(&root), [child.id().clone(), grandchild.id().clone()]);

    let by = |query: &ThreadListQuery| numbers(&store.list(query).unwrap());
    let params =
        trace_protocol::thread::ThreadListParams { parent_thread_id: Some(root.to_string()), ..Default::default() };
    assert_eq!(by(&ThreadListQuery::from(&params)), [2]);
    let params =
        trace_protocol::thread::ThreadListParams { ancestor_thread_id: Some(root.to_string()), ..Default::default() };
    assert_eq!(by(&ThreadListQuery::from(&params)), [3, 2]);
    assert_eq!(by(&ThreadListQuery::default()), [1]);

    store.spawn_edge(&root, child.id(), EdgeStatus::Closed).unwrap();
    assert_eq!(store.children(&root), [(child.id().clone(), EdgeStatus::Closed)]);
    let thread = child.summary().unwrap().to_thread(ThreadStatus::NotLoaded);
    assert_eq!(thread.parent_thread_id.as_deref(), Some(root.as_str()));
    drop((child, grandchild));
    assert_eq!(open(home.path()).children(&root)[0].1, EdgeStatus::Closed);
}

#[test]
fn messages_are_searched() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let one = made(&store, 1, "a Needle, a \"quoted\" needle");
    let two = made(&store, 2, "nothing");
    store.archive(&two).unwrap();
    let search = |term: &str| {
        let params = trace_protocol::history::ThreadSearchParams { search_term: term.into(), ..Default::default() };
        let query = SearchQuery::from(&params);
        store
            .search(&query)
            .map(|page| page.data.into_iter().map(|hit| (hit.thread.id, hit.snippet)).collect::<Vec<_>>())
    };
    let whole = "a Needle, a \"quoted\" needle".to_owned();
    assert_eq!(search("needle").unwrap(), [(one.clone(), whole.clone())]);
    assert_eq!(search("\"QUOTED\"").unwrap(), [(one.clone(), whole)]);
    assert_eq!(search("answer").unwrap(), [(one.clone(), "answer".to_owned())]);
    assert_eq!(search("agentMessage").unwrap(), []);
    assert_eq!(search("nothing").unwrap(), []);
    assert!(matches!(search(" "), Err(StoreError::EmptyTerm)));

    let first = store.search_occurrences(&one, "needle", None, Some(1)).unwrap();
    assert_eq!((first.data[0].item.as_str(), first.data[0].range.clone()), ("u-turn", 2..8));
    let cursor = first.next_cursor.unwrap();
    let second = store.search_occurrences(&one, "needle", Some(&cursor), Some(1)).unwrap();
    assert_eq!((second.data[0].range.clone(), second.next_cursor), (21..27, None));
    for (term, cursor) in [("other", cursor.as_str()), ("needle", "x")] {
        let refused = store.search_occurrences(&one, term, Some(cursor), None);
        assert!(matches!(refused, Err(StoreError::InvalidCursor { .. })));
    }
    let turns = store.load(&one).unwrap().turns;
    let query = TurnsQuery {
        cursor: Some(first.data[0].turn_cursor.clone()),
        limit: Some(1),
        direction: SortDirection::Asc,
        view: TurnItemsView::Full,
    };
    assert_eq!(turns_page(&one, &turns, &query).unwrap().data, turns);
}

#[test]
fn views_and_anchors() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    let id = writer.id().clone();
    assert_eq!(newest::<Turn>(&id, &[]), (None, None));
    say(&writer, "t1", BEGINNING_MS, "one", "1");
    say(&writer, "t2", BEGINNING_MS + 10, "two", "2");
    let turns = store.load(&id).unwrap().turns;
    let (turn, item) = newest(&id, &turns);
    let mut query =
        TurnsQuery { cursor: turn, limit: None, direction: SortDirection::Desc, view: TurnItemsView::NotLoaded };
    let page = turns_page(&id, &turns, &query).unwrap();
    assert_eq!(page.data.iter().map(|turn| turn.id.as_str()).collect::<Vec<_>>(), ["t2", "t1"]);
    assert!(page.data.iter().all(|turn| turn.items.is_empty() && turn.items_view == TurnItemsView::NotLoaded));
    query.view = TurnItemsView::Summary;
    assert_eq!(turns_page(&id, &turns, &query).unwrap().data[0].items, turns[1].items);
    for (cursor, thread) in
        [(query.cursor.clone().unwrap(), "other"), ("x".into(), id.as_str()), ("{}".into(), id.as_str())]
    {
        let query = TurnsQuery { cursor: Some(cursor), ..query.clone() };
        let refused = turns_page(&ThreadId::from(thread), &turns, &query);
        assert!(matches!(refused, Err(StoreError::InvalidCursor { .. })));
    }
    // The cursor of a turn that was dropped is invalid.
    assert!(turns_page(&id, &turns[..1], &query).is_err());

    let anchor = |item: &str| Some(ThreadItemsListCursor::Anchor(ThreadItemsListAnchor::Item { item_id: item.into() }));
    let names = |query: &ItemsQuery| {
        items_page(&id, &turns, query)
            .map(|page| page.data.iter().map(|row| row.item.id().to_owned()).collect::<Vec<_>>())
    };
    let mut query = ItemsQuery {
        turn: None,
        cursor: item.map(ThreadItemsListCursor::Opaque),
        limit: Some(3),
        direction: SortDirection::Desc,
    };
    assert_eq!(names(&query).unwrap(), ["a-t2", "u-t2", "a-t1"]);
    query.cursor = anchor("a-t1");
    assert!(matches!(names(&query), Err(StoreError::AnchorWithoutTurn)));
    query.turn = Some("t1".into());
    assert_eq!(names(&query).unwrap(), ["a-t1", "u-t1"]);
    query.cursor = anchor("a-t2");
    assert!(matches!(names(&query), Err(StoreError::InvalidCursor { .. })));
    query = ItemsQuery { turn: Some("nope".into()), cursor: None, ..query };
    assert_eq!(names(&query).unwrap(), [""; 0]);

    let asked = ["a-t2", "x", "u-t2", "a-t2"].map(str::to_owned);
    let rows = items_of(&turns, "t2", &asked).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].completed_at_ms, Some(BEGINNING_MS + 10));
    assert!(matches!(items_of(&turns, "t3", &asked), Err(StoreError::UnknownTurn { .. })));
}

#[test]
fn long_output_is_shortened_with_a_note() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    let command = CommandItem {
        command: "seq".into(),
        cwd: "/work".into(),
        source: CommandSource::Agent,
        process_id: None,
        actions: Vec::new(),
        output: Some("0123456789".repeat(2000)),
        exit_code: Some(0),
        duration_ms: Some(1),
        status: WorkStatus::Completed,
    };
    let item = Arc::new(Item { id: "c".into(), kind: ItemKind::Command(command) });
    writer.record(&event(BEGINNING_MS, EventKind::ItemCompleted { turn: "t".into(), item })).unwrap();
    let turns = serde_json::to_value(store.load(writer.id()).unwrap().turns).unwrap();
    let output = turns.pointer("/0/items/0/aggregatedOutput").unwrap().as_str().unwrap().to_owned();
    assert!(output.len() <= 10_000 && output.contains("bytes left out"), "{output}");
}

#[test]
fn a_revert_is_not_stored_twice() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let writer = store.create(new_thread(1, MODE)).unwrap();
    say(&writer, "t1", BEGINNING_MS, "one", "1");
    writer.record(&event(BEGINNING_MS, EventKind::Remembered { item: told("kept") })).unwrap();
    say(&writer, "t2", BEGINNING_MS, "two", "2");
    writer.record(&event(BEGINNING_MS, EventKind::Remembered { item: told("dropped") })).unwrap();
    assert!(matches!(writer.revert(&"t3".into()), Err(StoreError::UnknownTurn { .. })));
    let first = writer.path();
    let left = writer.revert(&"t2".into()).unwrap();
    assert_eq!(left.history, [told("kept")]);
    let lines = || fs::read_to_string(writer.path()).unwrap().lines().count();
    let before = lines();
    let replaced = |history: &[_]| EventKind::HistoryReplaced { summary: None, history: history.into() };
    writer.record(&event(BEGINNING_MS, replaced(&left.history))).unwrap();
    assert_eq!(lines(), before);
    writer.record(&event(BEGINNING_MS, replaced(&[told("new")]))).unwrap();
    assert_eq!(lines(), before + 1);
    assert_eq!(store.load(writer.id()).unwrap().history, [told("new")]);

    // The newest part does not depend on the first one.
    fs::rename(&first, first.with_extension("away")).unwrap();
    assert_eq!(open(home.path()).load(writer.id()).unwrap().turns.len(), 1);
    fs::rename(first.with_extension("away"), &first).unwrap();

    // All turns can be dropped, and a thread with several parts can be archived.
    writer.revert(&"t1".into()).unwrap();
    assert!(store.load(writer.id()).unwrap().turns.is_empty());
    let id = writer.id().clone();
    drop(writer);
    let archived = store.archive(&id).unwrap();
    assert_eq!(fs::read_dir(archived.path.parent().unwrap()).unwrap().count(), 3);
    store.delete(&id).unwrap();
    assert_eq!(fs::read_dir(archived.path.parent().unwrap()).unwrap().count(), 0);
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    store.flush();
    let listed = store.find(&id).unwrap();
    drop(store);
    let index = home.path().join(index::INDEX);
    let sql = |text: &str| rusqlite::Connection::open(&index).unwrap().execute_batch(text).unwrap();
    let count = || -> i64 {
        let connection = rusqlite::Connection::open(&index).unwrap();
        connection.query_row("SELECT count(*) FROM threads", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 1);
    for damage in [
        &(|| fs::write(&index, b"this is no database, but long enough to look at").unwrap()) as &dyn Fn(),
        &|| sql("PRAGMA user_version = 99"),
        &|| sql("DROP TABLE threads"),
        &|| sql("UPDATE threads SET scan = 'x'"),
        &|| sql("UPDATE threads SET size_bytes = 1"),
        &|| sql("INSERT INTO threads VALUES ('/gone', 'x', 0, 0, 0, '', '', '', '', 1, 1, '{}')"),
        &|| fs::remove_file(&index).unwrap(),
    ] {
        damage();
        let store = open(home.path());
        assert_eq!(store.find(&id).unwrap(), listed);
        store.flush();
        drop(store);
        let store = open(home.path());
        assert_eq!(store.list(&ThreadListQuery::default()).unwrap().data.first(), Some(&listed));
        drop(store);
    }
    assert_eq!(count(), 1);
}

#[test]
fn threads_of_other_programs_are_seen() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let other = open(home.path());
    let id = made(&other, 1, "hello");
    store.refresh().unwrap();
    assert_eq!(store.find(&id).unwrap().preview, "hello");
    other.set_name(&id, "Name").unwrap();
    let writer = other.open_writer(&id).unwrap();
    say(&writer, "t2", BEGINNING_MS + 99, "two", "2");
    store.refresh().unwrap();
    assert_eq!(store.find(&id).unwrap(), writer.summary().unwrap());
    drop(writer);
    other.delete(&id).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.resolve(&id), Resolution::Unknown);
}

#[test]
fn a_rollout_is_read_wherever_it_is() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let stored = store.load(&id).unwrap();
    let place = home.path().join("somewhere.jsonl");
    fs::copy(&stored.summary.path, &place).unwrap();
    let found = store.load_path(&place).unwrap();
    assert_eq!((&found.turns, &found.summary.path), (&stored.turns, &place));
    fs::write(&place, "{}\n").unwrap();
    assert!(matches!(store.load_path(&place), Err(StoreError::NoRollout { .. })));
    assert!(matches!(store.load_path(Path::new("/nowhere")), Err(StoreError::Io { .. })));
}

#[test]
fn invalid_lines_in_the_middle_are_skipped() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let path = store.find(&id).unwrap().path;
    let mut text = fs::read_to_string(&path).unwrap();
    let middle = text.match_indices('\n').nth(2).unwrap().0 + 1;
    text.insert_str(middle, "{\"broken\n\nnot json\n{\"type\":\"later\",\"payload\":{}}\n");
    text.push_str("{\"torn");
    fs::write(&path, text).unwrap();
    store.refresh().unwrap();
    let stored = store.load(&id).unwrap();
    assert_eq!(stored.damage, Damage { skipped_lines: 2, torn_end: true, lost_beginning: false });
    assert_eq!(stored.turns[0].items.len(), 2);
    store.set_name(&id, "Name").unwrap();
    let stored = store.load(&id).unwrap();
    assert_eq!(stored.damage, Damage { skipped_lines: 3, torn_end: false, lost_beginning: false });
    assert_eq!(stored.summary.name.as_deref(), Some("Name"));
}

#[test]
fn a_lost_beginning_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "one");
    let path = store.find(&id).unwrap().path;
    let text = fs::read_to_string(&path).unwrap();
    let base = "\"history_base\":{\"thread_id\":\"gone\",\"end_ordinal_exclusive\":5},";
    let text = text.replacen("\"session_id\"", &format!("{base}\"session_id\""), 1);
    fs::write(path, text).unwrap();
    let stored = open(home.path()).load(&id).unwrap();
    assert!(stored.damage.lost_beginning);
    assert_eq!(stored.turns.len(), 1);
}

#[test]
fn missing_settings_have_defaults() {
    let stored = StoredSettings { model: Some("m2".into()), effort: Some(None), ..StoredSettings::default() };
    let default = Settings { effort: Some("high".into()), ..settings() };
    assert_eq!(stored.over(default), Settings { model: "m2".into(), ..settings() });
}

/// Moves the rollout of a thread out of its server home.
fn moved_out(store: &Store, id: &ThreadId, to: &Path) {
    fs::copy(store.find(id).unwrap().path, to).unwrap();
    store.delete(id).unwrap();
}

#[test]
fn an_adopted_thread_continues_in_its_own_file() {
    for mode in [MODE, ThreadHistoryMode::Legacy] {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = open(home.path());
        let writer = store.create(new_thread(1, mode)).unwrap();
        say(&writer, "t1", BEGINNING_MS, "hello", "hi");
        let id = writer.id().clone();
        drop(writer);
        let folder = fs::canonicalize(elsewhere.path()).unwrap();
        let place = folder.join("odd name.jsonl");
        moved_out(&store, &id, &place);
        let link = folder.join("link.jsonl");
        std::os::unix::fs::symlink(&place, &link).unwrap();

        assert_eq!(store.thread_at(&link).unwrap(), id);
        assert_eq!(store.resolve(&id), Resolution::Unknown);
        let adopted = store.adopt(&link).unwrap();
        assert_eq!((&adopted.id, &adopted.path, adopted.preview.as_str()), (&id, &place, "hello"));
        // Adopting it again changes nothing, and a refresh keeps it.
        assert_eq!(store.adopt(&place).unwrap(), adopted);
        store.refresh().unwrap();
        assert_eq!(store.load(&id).unwrap().turns.len(), 1);
        assert!(store.list(&ThreadListQuery::default()).unwrap().data.is_empty());

        let writer = store.open_writer(&id).unwrap();
        assert!(matches!(open(home.path()).create(new_thread(1, mode)), Err(StoreError::Busy { .. })));
        say(&writer, "t2", BEGINNING_MS + 10, "more", "and more");
        assert_eq!(writer.path(), place);
        assert_eq!(store.load_path(&place).unwrap().turns.len(), 2);
        assert_eq!(store.set_name(&id, "Name").unwrap(), "Name");
        drop(writer);
        for refused in [store.archive(&id).map(drop), store.delete(&id)] {
            let error = refused.unwrap_err();
            assert!(matches!(&error, StoreError::Outside { path, .. } if *path == place), "{error}");
        }
        assert!(place.exists());

        let (copy, stored) = store.fork(&id, &ForkPoint::End, new_thread(2, mode)).unwrap();
        assert!(copy.path().starts_with(store.home()));
        assert_eq!((stored.turns.len(), stored.summary.forked_from), (2, Some(id.clone())));
        drop(copy);
        if mode == MODE {
            // Without its newest turns, the thread continues in the server home and becomes one of its threads.
            let writer = store.open_writer(&id).unwrap();
            writer.revert(&"t2".into()).unwrap();
            assert!(writer.path().starts_with(store.home()) && place.exists());
            drop(writer);
            assert_eq!(numbers(&store.list(&ThreadListQuery::default()).unwrap()), [2, 1]);
            assert_eq!(store.adopt(&place).unwrap(), store.find(&id).unwrap());
            assert!(matches!(open(home.path()).adopt(&place), Err(StoreError::Elsewhere { .. })));
            store.delete(&id).unwrap();
            assert_eq!(store.resolve(&id), Resolution::Unknown);
            assert_eq!(store.load_path(&place).unwrap().turns.len(), 2);
        }
        store.flush();
        drop(store);
        let store = open(home.path());
        assert_eq!(store.resolve(&id), Resolution::Unknown);
        assert_eq!(numbers(&store.list(&ThreadListQuery::default()).unwrap()), [2]);
    }
}

#[test]
fn a_fork_of_an_outside_file_does_not_depend_on_it() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let place = elsewhere.path().join("x.jsonl");
    fs::copy(store.find(&id).unwrap().path, &place).unwrap();
    let writer = store.open_writer(&id).unwrap();
    say(&writer, "turn-2", BEGINNING_MS, "more", "and more");
    drop(writer);
    // The server home continues with its own file. The other file can only be forked.
    let error = store.adopt(&place).unwrap_err();
    assert!(matches!(&error, StoreError::Elsewhere { path, .. } if *path == store.find(&id).unwrap().path), "{error}");
    let (copy, stored) = store.fork_path(&place, &ForkPoint::End, new_thread(2, MODE)).unwrap();
    assert_eq!((stored.turns.len(), stored.summary.forked_from), (1, Some(id.clone())));
    assert_eq!(store.load(copy.id()).unwrap().turns.len(), 1);
    assert_eq!(store.load_path_until(&place, &ForkPoint::Before("turn".into())).unwrap().turns.len(), 0);
    assert!(matches!(
        store.fork_path(&place, &ForkPoint::Before("nix".into()), new_thread(3, MODE)),
        Err(StoreError::UnknownTurn { .. })
    ));
    assert_eq!(store.load(&id).unwrap().turns.len(), 2);
}

#[test]
fn a_path_that_is_not_a_rollout_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let path = store.find(&id).unwrap().path;
    assert_eq!(store.adopt(&path).unwrap(), store.find(&id).unwrap());
    // A path in the server home may be relative.
    assert_eq!(store.thread_at(path.strip_prefix(store.home()).unwrap()).unwrap(), id);
    // The folder of threads may be a symlink.
    let (sessions, real) = (home.path().join("sessions"), home.path().join("elsewhere"));
    fs::rename(&sessions, &real).unwrap();
    std::os::unix::fs::symlink(&real, &sessions).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.adopt(&path).unwrap(), store.find(&id).unwrap());
    assert_eq!(store.find(&id).unwrap().path, path);

    let text = home.path().join("text");
    fs::write(&text, "{\"type\":\"session_meta\",\"payload\":{\"id\":\"../../x\",\"cwd\":\"/\"}}\n").unwrap();
    for path in [Path::new("/dev/zero"), home.path(), &text] {
        assert!(matches!(store.thread_at(path), Err(StoreError::NoRollout { .. })), "{path:?}");
        assert!(matches!(store.adopt(path), Err(StoreError::NoRollout { .. })));
        assert!(matches!(store.load_path(path), Err(StoreError::NoRollout { .. })));
    }
    assert!(matches!(store.adopt(Path::new("/nowhere")), Err(StoreError::Io { .. })));
}

#[test]
fn an_incomplete_rollout_is_not_found() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let path = store.find(&id).unwrap().path;
    let name = path.file_name().unwrap().to_str().unwrap();
    let part = name.replace(".jsonl", "_01a202e3-0000-7000-8000-ffffffffffff.jsonl");
    // One process died while it dropped turns, and another one is still writing.
    let left = path.with_file_name(format!(".unfinished-{part}"));
    let busy = path.with_file_name(format!(".unfinished-{}", name.replace("000001", "000002")));
    let first = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    fs::write(&left, &first).unwrap();
    fs::write(&busy, &first).unwrap();
    let writer = store.create(new_thread(2, MODE)).unwrap();
    drop(store);
    let store = open(home.path());
    assert_eq!(store.load(&id).unwrap().turns.len(), 1);
    assert!(!left.exists() && busy.exists());
    drop(writer);

    // A part without a first line does not hide the part before it.
    fs::write(path.with_file_name(&part), "{\"timest").unwrap();
    let store = open(home.path());
    assert_eq!(store.find(&id).unwrap().path, path);
    let writer = store.open_writer(&id).unwrap();
    say(&writer, "turn-2", BEGINNING_MS, "more", "and more");
    writer.revert(&"turn-2".into()).unwrap();
    // The new part is the newest one, even if the clock was set back.
    assert!(writer.path() > path.with_file_name(&part));
    assert_eq!(open(home.path()).load(&id).unwrap().turns.len(), 1);
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let folder = store.find(&id).unwrap().path.parent().unwrap().to_owned();
    let count = || fs::read_dir(&folder).unwrap().count();
    let copy = new_thread(2, MODE);
    let writer = store.create(copy.clone()).unwrap();
    let path = writer.path();
    drop(writer);
    // A folder blocks the path of the file.
    fs::create_dir(&path).unwrap();
    assert!(store.fork(&id, &ForkPoint::End, copy.clone()).is_err());
    fs::remove_dir(&path).unwrap();
    assert_eq!(count(), 1);
    assert_eq!(store.resolve(&copy.id), Resolution::Unknown);
    store.fork(&id, &ForkPoint::End, copy).unwrap();
    assert_eq!(count(), 2);
}

#[test]
fn changes_by_another_program_are_seen() {
    let home = tempfile::tempdir().unwrap();
    let (store, other) = (open(home.path()), open(home.path()));
    let id = made(&other, 1, "one");
    store.refresh().unwrap();
    // The thread has continued in another file.
    let writer = other.open_writer(&id).unwrap();
    say(&writer, "turn-2", BEGINNING_MS, "two", "2");
    writer.revert(&"turn-2".into()).unwrap();
    let part = writer.path();
    drop(writer);
    let writer = store.open_writer(&id).unwrap();
    assert_eq!(writer.path(), part);
    drop(writer);
    // The thread was archived and unarchived.
    let archived = other.archive(&id).unwrap();
    assert_eq!(store.load(&id).unwrap().summary.path, archived.path);
    assert!(matches!(store.open_writer(&id), Err(StoreError::Archived { .. })));
    other.unarchive(&id).unwrap();
    store.refresh().unwrap();
    // All parts are in the folder of the newest one.
    let writer = other.open_writer(&id).unwrap();
    say(&writer, "turn-3", BEGINNING_MS, "three", "3");
    writer.revert(&"turn-3".into()).unwrap();
    drop(writer);
    store.archive(&id).unwrap();
    assert_eq!(fs::read_dir(home.path().join("archived_sessions")).unwrap().count(), 3);
    assert!(matches!(open(home.path()).resolve(&id), Resolution::Archived(_)));
}

#[test]
fn a_thread_that_another_program_has_forked_is_not_deleted() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (id, copy) = (made(&store, 1, "one"), made(&store, 2, "two"));
    let path = store.find(&copy).unwrap().path;
    let base = format!("\"history_base\":{{\"thread_id\":\"{id}\",\"end_ordinal_exclusive\":5}},\"session_id\"");
    let text = fs::read_to_string(&path).unwrap().replacen("\"session_id\"", &base, 1);
    fs::write(&path, text).unwrap();
    assert!(matches!(store.delete(&id), Err(StoreError::Referenced { .. })));
    assert!(store.find(&id).unwrap().path.exists());
}

#[test]
fn an_index_that_another_process_locks_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let id = made(&open(home.path()), 1, "hello");
    let index = home.path().join(index::INDEX);
    let holder = rusqlite::Connection::open(&index).unwrap();
    holder.execute_batch("PRAGMA locking_mode = exclusive; PRAGMA user_version = 99").unwrap();
    assert_eq!(open(home.path()).find(&id).unwrap().preview, "hello");
    holder.execute_batch("PRAGMA user_version = 98").unwrap();
    drop(holder);
    let version: i64 =
        rusqlite::Connection::open(&index).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 98);
}

#[test]
fn many_reverts_take_linear_time() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let id = made(&store, 1, "hello");
    let path = store.find(&id).unwrap().path;
    let mut text = fs::read_to_string(&path).unwrap();
    let event = |payload: &str| format!("{{\"type\":\"event_msg\",\"payload\":{payload}}}\n");
    for number in 0..40_000 {
        text += &event(&format!("{{\"type\":\"task_started\",\"turn_id\":\"t{number}\"}}"));
    }
    text += &event("{\"type\":\"thread_rolled_back\",\"num_turns\":1}").repeat(40_000);
    let call = "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":\"c\"}}\n";
    text += &call.repeat(40_000);
    fs::write(&path, text).unwrap();
    let stored = store.load(&id).unwrap();
    assert_eq!((stored.turns.len(), stored.history.len()), (1, 80_000));
}
