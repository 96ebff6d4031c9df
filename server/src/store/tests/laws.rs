//! Laws of stored threads: what was written is read, a truncated file gives a beginning of the thread, and pages
//! together give the whole list.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use trace_protocol::history::ThreadItemsListCursor;
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{SessionSource, SubAgentSource, ThreadHistoryMode, ThreadSortKey};
use trace_protocol::turn::{Turn, TurnItemsView, TurnStatus};
use trace_runtime::event::{EventKind, ThreadUsage, TokenCounts, TurnError, TurnKind, TurnOutcome};
use trace_runtime::item::{
    Activity, CommandAction, CommandItem, CommandSource, FileChange, FileChangeKind, Input, ItemKind, ModelItem,
    WorkStatus,
};
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy};
use trace_runtime::{Event, Item, Settings, ThreadId, TurnId};

use super::super::page::{ItemsQuery, TurnsQuery, items_page, turns_page};
use super::super::*;
use crate::mapping;

/// Time of the first event, in milliseconds since 1970.
pub(super) const BEGINNING_MS: i64 = 1_795_344_783_728;

pub(super) fn settings() -> Settings {
    Settings {
        model: "m".into(),
        provider: "p".into(),
        effort: None,
        summary: None,
        service_tier: None,
        cwd: "/work".into(),
        approval: ApprovalPolicy::Never,
        approvals_reviewer: Some("user".into()),
        sandbox: SandboxPolicy::FullAccess,
        base_instructions: Some("base".into()),
        developer_instructions: None,
        personality: None,
        mode: Mode::Default,
        mode_instructions: None,
    }
}

pub(super) fn new_thread(number: usize, mode: ThreadHistoryMode) -> NewThread {
    let id = ThreadId::from(format!("01a202e3-0000-7000-8000-{number:012}"));
    NewThread {
        session: id.clone(),
        id,
        created_at_ms: BEGINNING_MS - 1000 + i64::try_from(number).unwrap() * 10,
        settings: settings(),
        originator: Some("laws".into()),
        version: "1".into(),
        source: SessionSource::Vscode,
        thread_source: None,
        history_mode: mode,
        forked_from: None,
        parent: None,
        agent_nickname: None,
        agent_role: None,
        agent_path: None,
        dynamic_tools: vec![json!({"type": "function", "name": "f"})],
        git: None,
    }
}

pub(super) fn open(home: &Path) -> Store {
    Store::open(home, TimeZone::UTC).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z '\"$\\\\\n]{0,12}",
        1 => any::<String>().prop_map(|text| text.chars().take(20).collect()),
    ]
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,6}"
}

fn path() -> impl Strategy<Value = PathBuf> {
    "/[a-z %ü]{1,8}(/[a-z.]{1,4})?".prop_map(PathBuf::from)
}

fn status() -> impl Strategy<Value = WorkStatus> {
    prop_oneof![
        Just(WorkStatus::Completed),
        Just(WorkStatus::Failed),
        Just(WorkStatus::Declined),
        Just(WorkStatus::Interrupted)
    ]
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (text(), any::<bool>()).prop_map(|(text, marked)| Input::Text {
            text,
            elements: marked
                .then(|| json!({"byteRange": {"start": 1, "end": 3}, "placeholder": "x"}))
                .into_iter()
                .collect(),
        }),
        1 => text().prop_map(|url| Input::Image { url, detail: Some("high".into()) }),
        1 => path().prop_map(|path| Input::LocalImage { path, detail: None }),
        1 => (word(), path()).prop_map(|(name, path)| Input::Skill { name, path }),
        1 => (word(), text()).prop_map(|(name, path)| Input::Mention { name, path }),
        1 => text().prop_map(|path| Input::Other(json!({"type": "localAudio", "path": path}))),
    ]
}

fn action() -> impl Strategy<Value = CommandAction> {
    prop_oneof![
        (text(), word(), path()).prop_map(|(command, name, path)| CommandAction::Read { command, name, path }),
        (text(), option::of(text())).prop_map(|(command, path)| CommandAction::ListFiles { command, path }),
        (text(), option::of(text()), option::of(text())).prop_map(|(command, query, path)| CommandAction::Search {
            command,
            query,
            path
        }),
        text().prop_map(|command| CommandAction::Unknown { command }),
    ]
}

fn change() -> impl Strategy<Value = FileChange> {
    let kind = prop_oneof![
        Just(FileChangeKind::Add),
        Just(FileChangeKind::Delete),
        option::of(path()).prop_map(|moved_to| FileChangeKind::Update { moved_to })
    ];
    (path(), kind, text()).prop_map(|(path, kind, diff)| FileChange { path, kind, diff })
}

fn command() -> impl Strategy<Value = CommandItem> {
    let source = prop_oneof![
        Just(CommandSource::Agent),
        Just(CommandSource::UserShell),
        Just(CommandSource::SessionStart),
        Just(CommandSource::SessionInteraction)
    ];
    let line = prop_oneof![Just("/bin/bash -lc 'echo x; exit 3'".to_owned()), text()];
    let result = (option::of(text()), option::of(any::<i32>()), option::of(0_u64..1 << 40), status());
    (line, path(), source, option::of(word()), vec(action(), 0..3), result).prop_map(
        |(command, cwd, source, process_id, actions, (output, exit_code, duration_ms, status))| CommandItem {
            command,
            cwd,
            source,
            process_id,
            actions,
            output,
            exit_code,
            duration_ms,
            status,
        },
    )
}

fn kind() -> impl Strategy<Value = ItemKind> {
    let activity = prop_oneof![
        Just(Activity::Started),
        Just(Activity::Interacted),
        Just(Activity::Interrupted),
        Just(Activity::Completed)
    ];
    let phase = option::of(prop_oneof![Just("commentary".to_owned()), Just("final_answer".to_owned())]);
    let tool = prop_oneof![Just("wait".to_owned()), Just("sendInput".to_owned()), Just("interruptAgent".to_owned())];
    prop_oneof![
        (option::of(word()), vec(input(), 0..4))
            .prop_map(|(client_id, content)| ItemKind::UserMessage { client_id, content }),
        (text(), phase).prop_map(|(text, phase)| ItemKind::AgentMessage { text, phase }),
        (vec(text(), 0..3), vec(text(), 0..3)).prop_map(|(summary, content)| ItemKind::Reasoning { summary, content }),
        command().prop_map(ItemKind::Command),
        (vec(change(), 0..4), status()).prop_map(|(changes, status)| ItemKind::FileChange { changes, status }),
        (word(), word(), text(), option::of(text()), option::of(text()), status(), option::of(0_u64..1 << 40))
            .prop_map(|(server, tool, argument, result, error, status, duration_ms)| ItemKind::McpCall {
                server,
                tool,
                arguments: json!({"a": argument, "snake_case": 1.5}),
                read_only: duration_ms.map(|duration| duration % 2 == 0),
                result: result.map(|text| json!({"content": [{"type": "text", "text": text}]})),
                error,
                status,
                duration_ms,
            }),
        (option::of(word()), word(), option::of(text()), option::of(any::<bool>()), status()).prop_map(
            |(namespace, tool, content, success, status)| ItemKind::DynamicCall {
                namespace,
                tool,
                arguments: Value::Null,
                content: content.map(|text| json!([{"type": "inputText", "text": text}])),
                success,
                status,
                duration_ms: Some(12),
            }
        ),
        (tool, vec(word(), 0..2), option::of(text()), status()).prop_map(|(tool, receivers, prompt, status)| {
            let receivers = receivers.into_iter().map(ThreadId::from).collect();
            ItemKind::AgentCall { tool, receivers, prompt, status }
        }),
        (activity, word(), text(), option::of(word())).prop_map(|(activity, agent, path, model)| {
            ItemKind::AgentActivity { activity, agent: ThreadId::from(agent), path, model }
        }),
        (text(), option::of(text())).prop_map(|(query, action)| ItemKind::WebSearch {
            query,
            action: action.map(|query| json!({"type": "search", "query": query})),
        }),
        path().prop_map(|path| ItemKind::ImageView { path }),
        text().prop_map(|review| ItemKind::EnteredReview { review }),
        text().prop_map(|review| ItemKind::ExitedReview { review }),
        Just(ItemKind::Compaction),
    ]
}

/// A turn: its items, the items for the model, whether the history is compacted, and how the turn ends.
#[derive(Debug, Clone)]
struct Plan {
    items: Vec<ItemKind>,
    told: Vec<String>,
    shortened: bool,
    outcome: Option<TurnOutcome>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let outcome = prop_oneof![
        3 => Just(Some(TurnOutcome::Completed { last_message: None })),
        1 => Just(Some(TurnOutcome::Interrupted)),
        1 => (text(), option::of(text())).prop_map(|(message, details)| {
            let kind = trace_runtime::event::ErrorKind::StreamDisconnected { status: Some(500) };
            Some(TurnOutcome::Failed(TurnError { message, details, kind }))
        }),
        1 => Just(None),
    ];
    (vec(kind(), 0..5), vec(text(), 0..4), prop::bool::weighted(0.2), outcome)
        .prop_map(|(items, told, shortened, outcome)| Plan { items, told, shortened, outcome })
}

fn mode() -> impl Strategy<Value = ThreadHistoryMode> {
    prop_oneof![Just(ThreadHistoryMode::Paginated), Just(ThreadHistoryMode::Legacy)]
}

pub(super) fn told(text: &str) -> ModelItem {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}).into()
}

/// The events of several plans, and the thread that a store should load after them.
struct Told {
    events: Vec<Event>,
    turns: Vec<Turn>,
    history: Vec<ModelItem>,
    /// Every item that the model has seen, including those that were removed later.
    ever: Vec<ModelItem>,
}

fn tell(thread: &ThreadId, plans: &[Plan]) -> Told {
    let mut at_ms = BEGINNING_MS;
    let mut told_of = Told { events: Vec::new(), turns: Vec::new(), history: Vec::new(), ever: Vec::new() };
    for (number, plan) in plans.iter().enumerate() {
        let turn_id = TurnId::from(format!("turn-of-{number}"));
        let started_ms = at_ms;
        let mut event = |kind: EventKind| {
            told_of.events.push(Event { at_ms, kind });
            at_ms += 7;
            at_ms - 7
        };
        event(EventKind::TurnStarted {
            turn: turn_id.clone(),
            root_turn: turn_id.clone(),
            kind: TurnKind::Regular,
            context_window: Some(1000),
        });
        event(EventKind::TurnContext { turn: turn_id.clone(), settings: settings().into() });
        let mut items = Vec::new();
        for (position, kind) in plan.items.iter().enumerate() {
            let item = Arc::new(Item { id: format!("i{number}-{position}").as_str().into(), kind: kind.clone() });
            let started = event(EventKind::ItemStarted { turn: turn_id.clone(), item: item.clone() });
            let ended = event(EventKind::ItemCompleted { turn: turn_id.clone(), item: item.clone() });
            items.push(mapping::item::to_wire(thread, &item).with_times(Some(started), Some(ended)));
        }
        for text in &plan.told {
            event(EventKind::Remembered { item: told(text) });
            told_of.history.push(told(text));
            told_of.ever.push(told(text));
        }
        if plan.shortened {
            let short: Vec<ModelItem> = vec![told("short"), told("er")];
            event(EventKind::HistoryReplaced { summary: Some("short".into()), history: short.clone().into() });
            told_of.ever.extend(short.clone());
            told_of.history = short;
        }
        let mut turn = Turn {
            id: turn_id.to_string(),
            items,
            status: TurnStatus::Interrupted,
            items_view: TurnItemsView::Full,
            root_turn_id: Some(turn_id.to_string()),
            started_at: Some(started_ms.div_euclid(1000)),
            ..Turn::default()
        };
        if let Some(outcome) = &plan.outcome {
            let ended = event(EventKind::TurnEnded { turn: turn_id, outcome: outcome.clone() });
            turn.completed_at = Some(ended.div_euclid(1000));
            turn.duration_ms = Some(ended - started_ms);
            turn.status = match outcome {
                TurnOutcome::Completed { .. } => TurnStatus::Completed,
                TurnOutcome::Interrupted => TurnStatus::Interrupted,
                TurnOutcome::Failed(error) => {
                    turn.error = Some(trace_protocol::turn::TurnError {
                        message: error.message.clone(),
                        additional_details: error.details.clone(),
                        codex_error_info: Some(trace_protocol::turn::CodexErrorInfo::ResponseStreamDisconnected {
                            http_status_code: Some(500),
                        }),
                        misalignment: None,
                    });
                    TurnStatus::Failed
                }
            };
        }
        told_of.turns.push(turn);
    }
    told_of
}

/// Writes a thread, and returns the path of its rollout.
fn write(store: &Store, thread: NewThread, events: &[Event]) -> PathBuf {
    let writer = store.create(thread).unwrap();
    for event in events {
        writer.record(event).unwrap();
    }
    writer.materialize().unwrap();
    writer.path()
}

/// Runs the same cases each time. If `PROPTEST_CASES` is set, runs that number of other cases.
fn config(cases: u32) -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return ProptestConfig::default();
    }
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(0x0074_7261_6365), ..ProptestConfig::default() }
}

/// Returns whether the rows of the first list occur in the second one in the same order.
fn is_within<T: PartialEq>(few: &[T], many: &[T]) -> bool {
    let mut many = many.iter();
    few.iter().all(|row| many.any(|other| other == row))
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn what_was_written_is_read(plans in vec(plan(), 0..5), mode in mode()) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let thread = new_thread(1, mode);
        let id = thread.id.clone();
        let told = tell(&id, &plans);
        write(&store, thread.clone(), &told.events);
        let stored = store.load(&id).unwrap();
        prop_assert_eq!(&stored.turns, &told.turns);
        prop_assert_eq!(&stored.history, &told.history);
        prop_assert_eq!(stored.damage, Damage::default());
        prop_assert_eq!(stored.settings.over(Settings { model: "x".into(), ..settings() }), settings());
        prop_assert_eq!(stored.dynamic_tools, thread.dynamic_tools);
    }

    #[test]
    fn a_fork_has_the_same_content(plans in vec(plan(), 1..5), mode in mode(), upto in any::<prop::sample::Index>()) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let source = new_thread(1, mode);
        let id = source.id.clone();
        let told = tell(&id, &plans);
        write(&store, source, &told.events);
        let upto = upto.index(plans.len());
        let turn = TurnId::from(told.turns[upto].id.as_str());
        for (number, point, count) in [
            (2, ForkPoint::End, plans.len()),
            (3, ForkPoint::Through(turn.clone()), upto + 1),
            (4, ForkPoint::Before(turn.clone()), upto),
        ] {
            let (writer, copy) = store.fork(&id, &point, new_thread(number, mode)).unwrap();
            prop_assert_eq!(&copy.turns[..], &told.turns[..count]);
            prop_assert_eq!(copy.summary.forked_from.as_ref(), Some(&id));
            prop_assert_eq!(&store.load_until(&id, &point).unwrap().history, &copy.history);
            drop(writer);
        }
        prop_assert_eq!(store.load(&id).unwrap().turns, told.turns);
    }

    #[test]
    fn dropped_turns_are_gone(plans in vec(plan(), 1..5), more in vec(plan(), 0..3), mode in mode(), from in any::<prop::sample::Index>()) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let thread = new_thread(1, mode);
        let id = thread.id.clone();
        let told = tell(&id, &plans);
        let writer = store.create(thread).unwrap();
        for event in &told.events {
            writer.record(event).unwrap();
        }
        let from = from.index(plans.len());
        let left = writer.revert(&TurnId::from(told.turns[from].id.as_str())).unwrap();
        prop_assert_eq!(&left.turns[..], &told.turns[..from]);
        prop_assert_eq!(&left.history, &tell(&id, &plans[..from]).history);
        // Later events are stored after the remaining turns.
        let all: Vec<Plan> = plans[..from].iter().chain(&more).cloned().collect();
        let expected = tell(&id, &all);
        for event in &expected.events[tell(&id, &plans[..from]).events.len()..] {
            writer.record(event).unwrap();
        }
        drop(writer);
        for store in [store, open(home.path())] {
            let stored = store.load(&id).unwrap();
            prop_assert_eq!(&stored.turns, &expected.turns);
            prop_assert_eq!(&stored.history, &expected.history);
            prop_assert_eq!(stored.summary.created_at_ms, BEGINNING_MS - 990);
        }
    }

    #[test]
    fn a_truncated_rollout_is_a_beginning(plans in vec(plan(), 1..4), mode in mode(), cut in any::<prop::sample::Index>()) {
        let home = tempfile::tempdir().unwrap();
        let (id, told, path) = {
            let store = open(home.path());
            let thread = new_thread(1, mode);
            let id = thread.id.clone();
            let told = tell(&id, &plans);
            let path = write(&store, thread, &told.events);
            (id, told, path)
        };
        let bytes = std::fs::read(&path).unwrap();
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let cut = first + cut.index(bytes.len() - first + 1);
        std::fs::write(&path, &bytes[..cut.min(bytes.len())]).unwrap();

        let store = open(home.path());
        let stored = store.load(&id).unwrap();
        prop_assert!(stored.turns.len() <= told.turns.len());
        for (found, whole) in stored.turns.iter().zip(&told.turns) {
            prop_assert_eq!(&found.id, &whole.id);
            prop_assert!(is_within(&found.items, &whole.items), "{:?} in {:?}", found.items, whole.items);
            prop_assert!(found.status == whole.status || found.status == TurnStatus::Interrupted);
        }
        prop_assert!(is_within(&stored.history, &told.ever));
        prop_assert_eq!(stored.damage.skipped_lines, 0);

        // The thread continues after the truncated part. The incomplete line does no harm.
        let writer = store.open_writer(&id).unwrap();
        let last = tell(&id, &[Plan { items: Vec::new(), told: vec!["last".into()], shortened: false, outcome: None }]);
        for event in &last.events {
            writer.record(event).unwrap();
        }
        drop(writer);
        let again = store.load(&id).unwrap();
        prop_assert_eq!(again.history.last(), Some(&self::told("last")));
        prop_assert_eq!(again.damage.skipped_lines, u64::from(stored.damage.torn_end));
        prop_assert_eq!(&*store.find(&id).unwrap().preview, &*open(home.path()).find(&id).unwrap().preview);
    }

    #[test]
    fn damage_affects_only_damaged_lines(
        plans in vec(plan(), 1..4),
        mode in mode(),
        hits in vec((any::<prop::sample::Index>(), prop_oneof![Just(b'\n'), Just(b'"'), Just(b'{'), any::<u8>()]), 1..6),
    ) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let thread = new_thread(1, mode);
        let id = thread.id.clone();
        let told = tell(&id, &plans);
        let path = write(&store, thread, &told.events);
        let mut bytes = std::fs::read(&path).unwrap();
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for (place, byte) in &hits {
            let place = first + place.index(bytes.len() - first);
            bytes[place] = *byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let store = open(home.path());
        let stored = store.load(&id).unwrap();
        // Each hit damages two lines at most, and can split them into three.
        prop_assert!(stored.damage.skipped_lines <= 3 * hits.len() as u64);
        turns_page(&id, &stored.turns, &TurnsQuery {
            cursor: None, limit: None, direction: SortDirection::Desc, view: TurnItemsView::Summary,
        }).unwrap();
        store.set_name(&id, "name").unwrap();
        prop_assert_eq!(store.load(&id).unwrap().turns, stored.turns);
    }

    #[test]
    fn pages_of_turns_and_items_add_up(plans in vec(plan(), 0..6), limit in 1_u32..5, ascending in any::<bool>()) {
        let id = ThreadId::from("t");
        let turns = tell(&id, &plans).turns;
        let direction = if ascending { SortDirection::Asc } else { SortDirection::Desc };
        let put = |mut rows: Vec<String>| { if !ascending { rows.reverse(); } rows };

        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let query = TurnsQuery { cursor, limit: Some(limit), direction, view: TurnItemsView::Full };
            let page = turns_page(&id, &turns, &query).unwrap();
            prop_assert!(page.data.len() <= limit as usize);
            // The cursor for the opposite direction leads to the first row of this page.
            if let Some(back) = page.backwards_cursor {
                let query = TurnsQuery { cursor: Some(back), limit: Some(1), ..query };
                prop_assert_eq!(&turns_page(&id, &turns, &query).unwrap().data[0], &page.data[0]);
            }
            found.extend(page.data.into_iter().map(|turn| turn.id));
            cursor = page.next_cursor;
            if cursor.is_none() { break; }
        }
        prop_assert_eq!(found, put(turns.iter().map(|turn| turn.id.clone()).collect()));

        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let query = ItemsQuery { turn: None, cursor, limit: Some(limit), direction };
            let page = items_page(&id, &turns, &query).unwrap();
            found.extend(page.data.into_iter().map(|row| row.item.id().to_owned()));
            cursor = page.next_cursor.map(ThreadItemsListCursor::Opaque);
            if cursor.is_none() { break; }
        }
        let all = turns.iter().flat_map(|turn| &turn.items).map(|shown| shown.id().to_owned()).collect();
        prop_assert_eq!(found, put(all));
    }
}

/// An operation on threads.
#[derive(Debug, Clone)]
enum Deed {
    Talk(usize, Plan),
    Name(usize, String),
    Archive(usize),
    Unarchive(usize),
    Delete(usize),
    Fork(usize),
    Revert(usize),
    Git(usize, String),
    Use(usize, u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let which = || 0_usize..5;
    prop_oneof![
        5 => (which(), plan()).prop_map(|(which, plan)| Deed::Talk(which, plan)),
        2 => (which(), word()).prop_map(|(which, name)| Deed::Name(which, name)),
        1 => which().prop_map(Deed::Archive),
        1 => which().prop_map(Deed::Unarchive),
        1 => which().prop_map(Deed::Delete),
        1 => which().prop_map(Deed::Fork),
        1 => which().prop_map(Deed::Revert),
        1 => (which(), word()).prop_map(|(which, branch)| Deed::Git(which, branch)),
        1 => (which(), 0_u64..1000).prop_map(|(which, tokens)| Deed::Use(which, tokens)),
    ]
}

/// Performs operations. An operation that is not possible returns an error and changes nothing.
fn act(store: &Store, deeds: &[Deed]) {
    for (number, deed) in deeds.iter().enumerate() {
        let id = |which: &usize| new_thread(*which, ThreadHistoryMode::Paginated).id;
        match deed {
            Deed::Talk(which, plan) => {
                let mode = if which % 2 == 0 { ThreadHistoryMode::Paginated } else { ThreadHistoryMode::Legacy };
                let writer = match store.open_writer(&id(which)) {
                    Ok(writer) => writer,
                    Err(StoreError::Unknown { .. }) => {
                        let mut thread = new_thread(*which, mode);
                        if *which == 4 {
                            let parent = id(&3);
                            thread.source = SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
                                depth: 1,
                                parent_thread_id: parent.to_string(),
                                agent_nickname: None,
                                agent_path: Some("/root/a".into()),
                                agent_role: None,
                            });
                            thread.parent = Some(parent);
                        }
                        store.create(thread).unwrap()
                    }
                    Err(_) => continue,
                };
                let mut events = tell(writer.id(), std::slice::from_ref(plan)).events;
                for event in &mut events {
                    event.at_ms += i64::try_from(number).unwrap() * 100_000;
                }
                events.iter().for_each(|event| writer.record(event).unwrap());
            }
            Deed::Name(which, name) => drop(store.set_name(&id(which), name)),
            Deed::Archive(which) => drop(store.archive(&id(which))),
            Deed::Unarchive(which) => drop(store.unarchive(&id(which))),
            Deed::Delete(which) => drop(store.delete(&id(which))),
            Deed::Fork(which) => {
                drop(store.fork(&id(which), &ForkPoint::End, new_thread(100 + number, ThreadHistoryMode::Paginated)));
            }
            Deed::Revert(which) => {
                if let Ok(writer) = store.open_writer(&id(which))
                    && let Some(turn) = store.load(&id(which)).unwrap().turns.first()
                {
                    writer.revert(&TurnId::from(turn.id.as_str())).unwrap();
                }
            }
            Deed::Git(which, branch) => {
                let branch = Some(Some(branch.clone()));
                drop(store.change_git(&id(which), GitChange { branch, ..GitChange::default() }));
            }
            Deed::Use(which, tokens) => {
                if let Ok(writer) = store.open_writer(&id(which)) {
                    let total = TokenCounts { total: *tokens, ..TokenCounts::default() };
                    let usage = ThreadUsage { total, ..ThreadUsage::default() };
                    let kind = EventKind::TokensUsed { turn: TurnId::from("x"), usage };
                    writer.record(&Event { at_ms: BEGINNING_MS, kind }).unwrap();
                }
            }
        }
    }
}

fn everything(store: &Store) -> Vec<ThreadSummary> {
    let mut all = Vec::new();
    for archived in [false, true] {
        let mut query =
            ThreadListQuery { archived, sources: SourceFilter::Any, limit: 3, ..ThreadListQuery::default() };
        loop {
            let page = store.list(&query).unwrap();
            all.extend(page.data);
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                break;
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn a_rebuilt_index_is_equal(deeds in vec(deed(), 0..25)) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        act(&store, &deeds);
        let kept = everything(&store);
        prop_assert_eq!(kept.len(), kept.iter().map(|summary| &summary.id).collect::<HashSet<_>>().len());
        let children = store.children(&new_thread(3, ThreadHistoryMode::Legacy).id);
        drop(store);
        let indexed = open(home.path());
        prop_assert_eq!(&everything(&indexed), &kept);
        drop(indexed);
        std::fs::remove_file(home.path().join(index::INDEX)).unwrap();
        let anew = open(home.path());
        prop_assert_eq!(&everything(&anew), &kept);
        prop_assert_eq!(anew.children(&new_thread(3, ThreadHistoryMode::Legacy).id), children);
    }

    #[test]
    fn pages_of_threads_add_up(deeds in vec(deed(), 0..25), limit in 1_u32..4, ascending in any::<bool>()) {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        act(&store, &deeds);
        for sort_key in [ThreadSortKey::CreatedAt, ThreadSortKey::UpdatedAt, ThreadSortKey::RecencyAt] {
            let direction = if ascending { SortDirection::Asc } else { SortDirection::Desc };
            let whole = ThreadListQuery { sort_key, direction, limit: 100, ..ThreadListQuery::default() };
            let all = store.list(&whole).unwrap().data;
            let mut found: Vec<ThreadSummary> = Vec::new();
            let mut query = ThreadListQuery { limit, ..whole.clone() };
            loop {
                let page = store.list(&query).unwrap();
                // In the opposite direction, that page starts with the first row of this page.
                if let Some(back) = page.backwards_cursor.filter(|_| !found.is_empty()) {
                    let direction = if ascending { SortDirection::Desc } else { SortDirection::Asc };
                    let query = ThreadListQuery { cursor: Some(back), direction, limit: 2, ..whole.clone() };
                    let back = store.list(&query).unwrap().data;
                    prop_assert_eq!(&back[0], &page.data[0]);
                    prop_assert_eq!(back.get(1), found.last());
                }
                found.extend(page.data);
                query.cursor = page.next_cursor;
                if query.cursor.is_none() { break; }
            }
            prop_assert_eq!(found, all);
        }
    }
}
