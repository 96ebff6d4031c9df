//! Rollouts of the Codex CLI give the graph that its own recording of the same session gives.

#![expect(clippy::print_stderr, reason = "the scores are for people")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trace_import::{SessionRef, sessions, summarize};
use trace_reducer::{Options, reduce, state_json};

/// The facts of a graph, by kind.
type Facts = BTreeMap<&'static str, Vec<String>>;

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn objects<'a>(state: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    state[name].as_object().into_iter().flat_map(|objects| objects.values())
}

/// Returns the ids that the items have in the Responses API. Items without one have `-`.
fn item_ids(state: &Value, list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.map(|id| text(&state["conversation_items"][id.as_str().unwrap_or_default()]["responses_item_id"])).collect()
}

/// Collects what a rollout can tell. Items that the Codex CLI makes for a request only are left out: the system prompt, which has another
/// id in each request, and outputs of calls that were open when the history was taken over.
fn facts(state: &Value, facts: &mut Facts) {
    let mut add = |kind, fact: String| facts.entry(kind).or_default().push(fact);
    let item = |id: &Value| text(&state["conversation_items"][id.as_str().unwrap_or_default()]["responses_item_id"]);
    let exit_code = |operation: &Value| {
        let operation = &state["terminal_operations"][operation.as_str().unwrap_or_default()];
        operation["result"]["exit_code"].to_string()
    };
    for thread in objects(state, "threads") {
        let (id, parent) = (text(&thread["thread_id"]), text(&thread["origin"]["parent_thread_id"]));
        add("thread", format!("{id} {} {} of {parent}", text(&thread["agent_path"]), text(&thread["nickname"])));
        let visible = told(item_ids(state, &thread["conversation_item_ids"]));
        for item in &visible {
            add("item", format!("{id} {item}"));
        }
        // Each item with the one before it.
        for pair in visible.windows(2) {
            add("order", format!("{id} {} > {}", pair[0], pair[1]));
        }
    }
    for item in objects(state, "conversation_items").filter(|item| !is_made(&text(&item["responses_item_id"]))) {
        let id = text(&item["responses_item_id"]);
        // A recording that goes on with a thread has the older items again, as seen by the new process.
        if id != "null" && !item["produced_by"].as_array().is_none_or(Vec::is_empty) {
            let mut body = item["body"].clone();
            for part in body["parts"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                part.remove("raw_payload_id");
            }
            add("content", format!("{id} {} {} {} {body}", item["role"], item["kind"], item["call_id"]));
        }
    }
    for turn in objects(state, "codex_turns") {
        let thread = text(&turn["thread_id"]);
        add("turn", format!("{} {thread} {}", text(&turn["codex_turn_id"]), text(&turn["execution"]["status"])));
    }
    for call in objects(state, "inference_calls") {
        let seen = told(item_ids(state, &call["request_item_ids"]));
        let made = item_ids(state, &call["response_item_ids"]);
        let status = text(&call["execution"]["status"]);
        let (turn, response, model) = (text(&call["codex_turn_id"]), text(&call["response_id"]), text(&call["model"]));
        // Calls of one answer begin at the same time.
        let tools = call["tool_call_ids_started_by_response"].as_array();
        let tools: BTreeSet<String> = tools.into_iter().flatten().map(text).collect();
        // A failed attempt that left nothing is marked, because a rollout may lack it.
        let trace = if status == "failed" && made.is_empty() { "without a trace" } else { "" };
        add("model call", format!("{turn} {status} {trace} {response} {model} {} {tools:?}", call["usage"]));
        add("request", format!("{turn} {status} {trace} {response} {seen:?} -> {made:?}"));
    }
    for call in objects(state, "tool_calls") {
        let (id, kind) = (text(&call["tool_call_id"]), text(&call["kind"]["type"]));
        let (status, turn) = (text(&call["execution"]["status"]), text(&call["started_by_codex_turn_id"]));
        let by = text(&call["requester"]["type"]);
        let exit_code = exit_code(&call["terminal_operation_id"]);
        add("tool call", format!("{id} {kind} of {turn} by {by} {status} {exit_code}"));
        for list in ["model_visible_call_item_ids", "model_visible_output_item_ids"] {
            for item in told(item_ids(state, &call[list])) {
                add("tool item", format!("{id} {item}"));
            }
        }
    }
    for edge in objects(state, "interaction_edges") {
        let end = |end: &Value| match end["type"].as_str() {
            Some("conversation_item") => item(&end["item_id"]),
            _ => text(&end["thread_id"]) + &text(&end["tool_call_id"]),
        };
        let ends = (end(&edge["source"]), end(&edge["target"]));
        add("edge", format!("{} {} -> {}", text(&edge["kind"]), ends.0, ends.1));
    }
    for compaction in objects(state, "compactions") {
        let replaced = item_ids(state, &compaction["replacement_item_ids"]);
        add("compaction", format!("{} {replaced:?}", text(&compaction["codex_turn_id"])));
    }
    for request in objects(state, "compaction_requests") {
        let status = text(&request["execution"]["status"]);
        add("compaction request", format!("{} {status}", text(&request["codex_turn_id"])));
    }
    for cell in objects(state, "code_cells") {
        let nested = cell["nested_tool_call_ids"].as_array().map_or(0, Vec::len);
        add("cell", format!("{} {} {nested}", text(&cell["code_cell_id"]), text(&cell["runtime_status"])));
    }
}

/// Leaves out items without an id, and those that the Codex CLI makes for a request only.
fn told(ids: Vec<String>) -> Vec<String> {
    ids.into_iter().filter(|id| id != "null" && !is_made(id)).collect()
}

/// Returns whether an item is made for a request only: its id has a UUID of version 5 and not, as others do, of version 7.
fn is_made(id: &str) -> bool {
    id.split_once('_').is_some_and(|(_, uuid)| uuid.len() == 36 && uuid.as_bytes()[14] == b'5')
}

fn state_of(bundle: &trace_recorder::Bundle) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(bundle, strict).unwrap_or_else(|error| panic!("{}: {error}", bundle.path().display()));
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

/// Imports a session and asks the Codex CLI whether it makes the same graph of it.
fn imported(session: &SessionRef) -> Value {
    let bundle = trace_import::open(session).unwrap_or_else(|error| panic!("{}: {error}", session.path.display()));
    let state = state_of(&bundle);
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path().join("imported");
    trace_import::write(&bundle, &directory).expect("writes");
    if let Some(theirs) = trace_needs::state_by_peer(&directory) {
        let theirs: Value = serde_json::from_str(&theirs).expect("is JSON");
        assert_eq!(state, theirs, "{}", session.path.display());
    }
    let summary = summarize(session).expect("it can be read");
    assert_eq!(summary.threads as usize, objects(&state, "threads").count(), "{}", session.path.display());
    assert_eq!(summary.turns as usize, objects(&state, "codex_turns").count());
    state
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = folder
        .read_dir()
        .expect("lists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// Returns the facts of one list that are not in the other.
fn missing(from: &[String], other: &[String]) -> Vec<String> {
    let mut left: Vec<&String> = other.iter().collect();
    let mut missing = Vec::new();
    for fact in from {
        match left.iter().position(|other| *other == fact) {
            Some(index) => drop(left.swap_remove(index)),
            None => missing.push(fact.clone()),
        }
    }
    missing
}

#[test]
fn rollouts_tell_what_recordings_of_the_same_sessions_tell() {
    let Some(imports) = trace_needs::imports("rollouts against recordings of the same sessions") else { return };
    let (mut sums, mut differences) = (BTreeMap::<&str, Sum>::new(), Vec::new());
    let mut table = Vec::new();
    for folder in folders(&imports.join("codex")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut recorded, mut ours) = (Facts::new(), Facts::new());
        for entry in folder.read_dir().expect("lists").map(|entry| entry.expect("an entry").path()) {
            let file = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.starts_with("expected") {
                let state: Value = serde_json::from_slice(&std::fs::read(&entry).expect("reads")).expect("is JSON");
                facts(&state, &mut recorded);
            }
        }
        for store in ["sessions", "archived_sessions"].map(|store| folder.join(store)) {
            for session in store.is_dir().then(|| sessions(&store).expect("lists")).into_iter().flatten() {
                match std::panic::catch_unwind(|| imported(&session)) {
                    Ok(state) => facts(&state, &mut ours),
                    Err(_) => differences.push(format!("{name}: refused")),
                }
            }
        }
        // A session that two processes wrote has two recordings of one thread.
        for facts in [&mut recorded, &mut ours] {
            for kind in ["thread", "item", "order", "content"] {
                let unique: BTreeSet<_> = facts.remove(kind).unwrap_or_default().into_iter().collect();
                facts.insert(kind, unique.into_iter().collect());
            }
        }
        // A recording of a thread that was reverted has no turns that were undone; the import shows them.
        if is_reverted(&folder) {
            recorded.remove("order");
            ours.remove("order");
        }
        let mut row = format!("{name:24}");
        let kinds: BTreeSet<&str> = recorded.keys().chain(ours.keys()).copied().collect();
        for kind in kinds {
            let empty = Vec::new();
            let (theirs, ours) = (recorded.get(kind).unwrap_or(&empty), ours.get(kind).unwrap_or(&empty));
            let (mut lost, made_up) = (missing(theirs, ours), missing(ours, theirs));
            lost.retain(|fact| !is_untold(fact));
            let sum = Sum { true_: theirs.len(), lost: lost.len(), told: ours.len(), made_up: made_up.len() };
            sums.entry(kind).or_default().add(&sum);
            let _ = write!(row, "  {kind} {sum}");
            differences.extend(lost.iter().map(|fact| format!("{name}: - {kind} {fact}")));
            differences.extend(made_up.iter().map(|fact| format!("{name}: + {kind} {fact}")));
        }
        table.push(row);
    }
    eprintln!("{}", table.join("\n"));
    for (kind, sum) in &sums {
        eprintln!("{kind:24} recall {:6.2} %, precision {:6.2} % of {}", sum.recall(), sum.precision(), sum.true_);
        assert!(sum.recall() >= 99.0 && sum.precision() >= 99.0, "{kind}: {sum}\n{}", differences.join("\n"));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// How many facts of a kind there are, and how many differ.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    true_: usize,
    lost: usize,
    told: usize,
    made_up: usize,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.true_ += other.true_;
        self.lost += other.lost;
        self.told += other.told;
        self.made_up += other.made_up;
    }

    /// How many of the true facts were told, in percent.
    fn recall(&self) -> f64 {
        100.0 - 100.0 * self.lost as f64 / self.true_.max(1) as f64
    }

    /// How many of the told facts are true, in percent.
    fn precision(&self) -> f64 {
        100.0 - 100.0 * self.made_up as f64 / self.told.max(1) as f64
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{} +{}", self.true_ - self.lost, self.true_, self.made_up)
    }
}

/// Returns whether a folder has the file of a segment, which a revert began. Its name has two ids.
fn is_reverted(folder: &Path) -> bool {
    let entries = folder.read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    entries.into_iter().any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() { is_reverted(&path) } else { name.starts_with("rollout-") && name.contains('_') }
    })
}

/// Returns whether a rollout need not tell this: an attempt that failed and left nothing.
fn is_untold(fact: &str) -> bool {
    fact.contains(" failed without a trace ")
}

#[test]
fn rollouts_of_older_versions_are_accepted() {
    let Some(imports) = trace_needs::imports("rollouts of older versions") else { return };
    let mut found = Vec::new();
    for agent in folders(&imports) {
        let name = agent.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("codex-0.") {
            continue;
        }
        for folder in folders(&agent) {
            for session in sessions(&folder.join("sessions")).expect("lists") {
                let folder = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push(format!("{name}/{folder}: {}", outline(&imported(&session))));
            }
        }
    }
    insta::assert_snapshot!(found.join("\n"));
}

/// Returns how turns, model calls and tool calls ended, and the edges.
fn outline(state: &Value) -> String {
    let list = |name| objects(state, name);
    let status = |object: &Value| text(&object["execution"]["status"]);
    let turns: Vec<_> = list("codex_turns").map(status).collect();
    let calls: Vec<_> = list("inference_calls").map(status).collect();
    let tools = list("tool_calls").map(|call| {
        let operation = call["terminal_operation_id"].as_str().unwrap_or_default();
        let code = &state["terminal_operations"][operation]["result"]["exit_code"];
        format!("{} {} {code}", text(&call["kind"]["type"]), status(call))
    });
    let mut tools: Vec<_> = tools.collect();
    tools.sort();
    let edges: Vec<_> = list("interaction_edges").map(|edge| text(&edge["kind"])).collect();
    format!("turns {turns:?} calls {calls:?} tools {tools:?} edges {edges:?}")
}

/// A recorded session of three agents, of which one fails.
const AGENTS: &str = "tests/import/fixtures/codex";

#[test]
fn a_failed_child_is_told_by_its_own_file() {
    let found = sessions(Path::new(AGENTS)).expect("lists");
    assert_eq!(found.len(), 1, "files of children are no sessions of their own");
    let state = imported(&found[0]);
    insta::assert_snapshot!(outline(&state));
    let child = Path::new(AGENTS).read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    let child = child.filter(|path| *path != found[0].path).min().expect("a child");
    let alone = SessionRef::file("codex", &child);
    let state = imported(&alone);
    let threads: Vec<_> = objects(&state, "threads").map(|thread| text(&thread["agent_path"])).collect();
    assert_eq!(threads, ["/root/bad"], "a child keeps its path");
    let summary = summarize(&found[0]).expect("reads");
    let tokens: u64 = summary.spent.iter().map(|spent| spent.usage.input).sum();
    assert_eq!((summary.turns, summary.threads, summary.tool_calls), (3, 3, 6));
    assert_eq!((summary.outcome.as_deref(), summary.model.as_deref()), (Some("completed"), Some("mock-1")));
    assert!(tokens > 0 && summary.agent_version.as_deref() == Some("0.169.0"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    /// Whatever happens to a file, there is an answer, the bundle that is made of it reduces strictly, and lost lines are named.
    #[test]
    fn a_damaged_rollout_gives_an_answer(
        cut in 0.0f64..1.0,
        flips in proptest::collection::vec((0.0f64..1.0, 0u8..=255), 0..8),
        swapped in proptest::collection::vec((0usize..60, 0usize..60), 0..4),
    ) {
        let root = &sessions(Path::new(AGENTS)).expect("lists")[0].path;
        let content = std::fs::read(root).expect("reads");
        let mut lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
        for (a, b) in swapped {
            let count = lines.len();
            lines.swap(a % count, b % count);
        }
        let mut content = lines.concat();
        let length = content.len() as f64;
        for (place, byte) in flips {
            content[(place * length) as usize] = byte;
        }
        content.truncate((cut.max(0.02) * length) as usize);
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(root.file_name().expect("a name"));
        std::fs::write(&path, &content).expect("writes");
        if let Ok(bundle) = trace_import::open(&SessionRef::file("codex", &path)) {
            let strict = Options { strict: true, ..Options::default() };
            reduce(&bundle, strict).unwrap_or_else(|error| panic!("{error}"));
            let is_json = |line: &[u8]| serde_json::from_str::<Box<RawValue>>(&String::from_utf8_lossy(line)).is_ok();
            let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            let lost = lines.filter(|line| !is_json(line)).count() as u64;
            let notes = &bundle.import().expect("an import").notes;
            let named: u64 = notes.iter().filter(|note| note.code == "damaged-line").map(|note| note.count).sum();
            assert!(named >= lost, "{lost} lines are no JSON, {named} are named");
        }
    }
}

const ROOT: &str = "01a20516-0000-7000-8000-000000000001";
const OTHER: &str = "01a20516-0000-7000-8000-000000000002";

/// The lines of a rollout of 0.169.
struct Rollout {
    lines: Vec<Value>,
    ordinal: u64,
    /// Number of the newest item.
    sequence: u64,
}

impl Rollout {
    /// Begins the file of a thread at an ordinal. `more` are members of its first line.
    fn new(thread: &str, ordinal: u64, more: &Value) -> Self {
        let mut meta = json!({"id": thread, "session_id": ROOT, "cwd": "/home/dev", "cli_version": "0.169.0",
            "source": "exec", "history_mode": "paginated", "base_instructions": {"text": "Help."}});
        for (name, value) in more.as_object().into_iter().flatten() {
            meta[name] = value.clone();
        }
        let mut rollout = Self { lines: Vec::new(), ordinal, sequence: ordinal };
        rollout.line("session_meta", &meta);
        rollout.line("turn_context", &json!({"model": "m"}));
        rollout
    }

    fn line(&mut self, tag: &str, payload: &Value) -> &mut Self {
        let timestamp = format!("2026-11-22T21:{:02}:{:02}.000Z", self.ordinal / 60, self.ordinal % 60);
        self.lines.push(json!({"timestamp": timestamp, "ordinal": self.ordinal, "type": tag, "payload": payload}));
        self.ordinal += 1;
        self
    }

    fn event(&mut self, payload: &Value) -> &mut Self {
        self.line("event_msg", payload)
    }

    fn begin(&mut self, turn: &str) -> &mut Self {
        self.event(&json!({"type": "task_started", "turn_id": turn}))
    }

    fn end(&mut self, turn: &str) -> &mut Self {
        self.event(&json!({"type": "task_complete", "turn_id": turn, "last_agent_message": "x"}))
    }

    /// Adds an item. Those of the model have seen everything before them.
    fn item(&mut self, item: &Value) -> &mut Self {
        let seen = self.sequence;
        self.sequence += 1;
        self.line("response_item", item);
        let last = self.lines.last_mut().expect("a line");
        last["metadata"] = json!({"history_sequence": seen + 1, "sampled_through_sequence": seen});
        self
    }

    fn says(&mut self, role: &str, text: &str) -> &mut Self {
        let (id, kind) = (format!("msg_{text}"), if role == "user" { "input_text" } else { "output_text" });
        self.item(&json!({"type": "message", "id": id, "role": role, "content": [{"type": kind, "text": text}]}))
    }

    fn calls(&mut self, call: &str, members: &Value) -> &mut Self {
        let mut item = json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": call, "arguments": "{}"});
        for (name, value) in members.as_object().expect("members") {
            item[name] = value.clone();
        }
        self.item(&item)
    }

    fn output(&mut self, call: &str, kind: &str, text: &str) -> &mut Self {
        self.item(&json!({"type": kind, "id": format!("o_{call}"), "call_id": call, "output": text}))
    }

    fn used(&mut self, response: &str) -> &mut Self {
        self.line(
            "token_usage_record",
            &json!({"response_id": response, "usage": {"input_tokens": 10, "output_tokens": 1}}),
        )
    }

    /// A turn in which the user asks and the model answers.
    fn talk(&mut self, turn: &str) -> &mut Self {
        let (ask, answer) = (format!("ask-{turn}"), format!("answer-{turn}"));
        self.begin(turn).says("user", &ask).says("assistant", &answer).used(turn).end(turn)
    }

    fn write(&self, folder: &Path, id: &str) -> SessionRef {
        let first = self.lines[0]["ordinal"].as_u64().expect("an ordinal");
        let path = folder.join(format!("rollout-2026-11-22T21-00-{first:02}-{id}.jsonl"));
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).expect("writes");
        SessionRef::file("codex", &path)
    }
}

/// What each answered request of a session saw, by the id of the response.
fn seen(state: &Value) -> BTreeMap<String, Vec<String>> {
    let calls = objects(state, "inference_calls");
    calls.map(|call| (text(&call["response_id"]), told(item_ids(state, &call["request_item_ids"])))).collect()
}

fn turns(state: &Value) -> Vec<String> {
    let turns = objects(state, "codex_turns");
    turns.map(|turn| format!("{} {}", text(&turn["codex_turn_id"]), text(&turn["execution"]["status"]))).collect()
}

#[test]
fn a_thread_that_was_reverted_twice_and_forked_has_the_history_of_its_segments() {
    let folder = tempfile::tempdir().expect("a directory");
    let segment = "01a20516-0000-7000-8000-00000000000a";
    let base = |id: &str, end: u64| json!({"history_base": {"thread_id": id, "end_ordinal_exclusive": end}});
    let mut first = Rollout::new(ROOT, 0, &json!({}));
    first.talk("one").talk("undone");
    let root = first.write(folder.path(), ROOT);
    let mut second = Rollout::new(ROOT, 7, &base(ROOT, 7));
    second.talk("two").talk("undone-too");
    second.write(folder.path(), &format!("{ROOT}_{segment}"));
    let mut fork = Rollout::new(OTHER, 14, &base(segment, 14));
    fork.talk("fork");
    let fork = fork.write(folder.path(), OTHER);
    let mut third = Rollout::new(ROOT, 14, &base(segment, 14));
    third.talk("three");
    third.write(folder.path(), &format!("{ROOT}_01a20516-0000-7000-8000-00000000000b"));
    let live = ["msg_ask-one", "msg_answer-one", "msg_ask-two", "msg_answer-two"];
    let with = |last: &str| live.iter().map(|id| (*id).to_owned()).chain([last.to_owned()]).collect::<Vec<_>>();
    assert_eq!(seen(&imported(&root))["three"], with("msg_ask-three"));
    assert_eq!(seen(&imported(&fork))["fork"], with("msg_ask-fork"));
    // A file without a base begins anew.
    let mut anew = Rollout::new(ROOT, 30, &json!({}));
    anew.talk("anew");
    anew.write(folder.path(), &format!("{ROOT}_01a20516-0000-7000-8000-00000000000c"));
    assert_eq!(seen(&imported(&root))["anew"], ["msg_ask-anew"]);
}

#[test]
fn a_review_keeps_its_turn_and_its_thread_asks_no_model() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.talk("one");
    root.event(
        &json!({"type": "item_completed", "turn_id": "asked", "item": {"type": "EnteredReviewMode", "id": "r"}}),
    );
    root.begin("reviewed").says("user", "found").says("assistant", "All is well.").end("asked").talk("two");
    let session = root.write(folder.path(), ROOT);
    let mut child = Rollout::new(OTHER, 30, &json!({"source": {"subagent": "review"}, "parent_thread_id": ROOT}));
    child.talk("reviewed");
    child.write(folder.path(), OTHER);
    let state = imported(&session);
    let ended: Vec<_> = ["asked", "one", "reviewed", "two"].map(|turn| format!("{turn} completed")).into();
    assert_eq!(turns(&state), ended);
    assert_eq!(seen(&state).keys().collect::<Vec<_>>(), ["one", "reviewed", "two"]);
    assert_eq!(state["codex_turns"]["reviewed"]["thread_id"], OTHER);
}

#[test]
fn what_a_client_adds_is_no_answer_and_steering_stops_one() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.says("user", "before").says("assistant", "made up").talk("one");
    root.begin("two").says("user", "go").says("assistant", "I be").says("user", "stop").says("assistant", "Fine.");
    root.used("two").end("two");
    let state = imported(&root.write(folder.path(), ROOT));
    assert_eq!(turns(&state), ["one completed", "two completed"]);
    let mut calls: Vec<_> = objects(&state, "inference_calls").map(|call| text(&call["execution"]["status"])).collect();
    calls.sort();
    assert_eq!(calls, ["cancelled", "completed", "completed"]);
    assert_eq!(seen(&state)["one"], ["msg_before", "msg_made up", "msg_ask-one"]);
}

#[test]
fn a_compaction_that_failed_is_no_model_call_and_its_tokens_count() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.talk("one").begin("two").used("summary");
    let error = json!({"message": "Error running remote compact task: no item", "codex_error_info": null});
    root.event(&json!({"type": "task_complete", "turn_id": "two", "error": error}));
    let session = root.write(folder.path(), ROOT);
    let state = imported(&session);
    assert_eq!(turns(&state), ["one completed", "two failed"]);
    assert_eq!(objects(&state, "inference_calls").count(), 1);
    let requests: Vec<_> =
        objects(&state, "compaction_requests").map(|request| &request["execution"]["status"]).collect();
    assert_eq!(requests, ["failed"]);
    assert_eq!(summarize(&session).expect("reads").spent.len(), 2);
}

#[test]
fn code_in_the_background_ends_with_the_call_that_waits_for_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.begin("one").says("user", "go");
    root.item(&json!({"type": "custom_tool_call", "id": "ct", "call_id": "code", "name": "exec", "input": "x()"}))
        .used("a");
    root.output("code", "custom_tool_call_output", "Script running with cell ID 7\nWall time 1 seconds\nOutput:\n");
    root.calls("w", &json!({"name": "wait", "arguments": "{\"cell_id\": \"7\"}"})).used("b");
    root.output("w", "function_call_output", "Script failed\nWall time 1 seconds\nOutput:\n");
    root.calls("s", &json!({"name": "write_stdin"})).used("c");
    root.output("s", "function_call_output", "write_stdin failed: Unknown process id 3");
    root.calls("l", &json!({"name": "wait_agent", "namespace": "multi_agent_v1"})).used("d");
    root.output("l", "function_call_output", "agent ids must be non-empty").end("one");
    let user =
        json!({"type": "CommandExecution", "id": "u", "source": "user_shell", "command": ["ls"], "exit_code": 1});
    root.begin("two").event(&json!({"type": "item_completed", "turn_id": "two", "item": user})).end("two");
    let state = imported(&root.write(folder.path(), ROOT));
    let cells: Vec<_> = objects(&state, "code_cells").map(|cell| text(&cell["runtime_status"])).collect();
    assert_eq!(cells, ["failed"]);
    let tools = objects(&state, "tool_calls");
    let tools: Vec<_> =
        tools.map(|call| format!("{} {}", text(&call["tool_call_id"]), text(&call["execution"]["status"]))).collect();
    // What the user ran is no call of the model.
    assert_eq!(tools, ["code completed", "l failed", "s failed", "w failed"]);
}

#[test]
fn records_of_unknown_types_are_named() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.talk("one").line("new_record", &json!({}));
    root.begin("two").says("user", "go").item(&json!({"type": "hologram_call", "id": "h"})).says("assistant", "Fine.");
    root.used("two").end("two");
    let bundle = trace_import::open(&root.write(folder.path(), ROOT)).expect("imports");
    let notes = &bundle.import().expect("is imported").notes;
    let note = notes.iter().find(|note| note.code == "unknown-record").expect("a note");
    assert!(note.message.ends_with("The types: \"hologram_call\" (1), \"new_record\" (1)."), "{}", note.message);
}

#[test]
fn a_call_id_that_is_used_again_belongs_to_two_calls() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut root = Rollout::new(ROOT, 0, &json!({}));
    root.begin("one").says("user", "go");
    for (number, command) in [(1, "ls"), (2, "cat")] {
        let arguments = json!({ "cmd": command }).to_string();
        root.calls("c", &json!({"name": "exec_command", "id": format!("fc_{number}"), "arguments": arguments}));
        root.used(&number.to_string());
        let output = format!("Process exited with code 0\nOutput:\n{command}");
        let id = format!("o_{number}");
        root.item(&json!({"type": "function_call_output", "id": id, "call_id": "c", "output": output}));
    }
    let session = root.says("assistant", "Fine.").used("3").end("one").write(folder.path(), ROOT);
    let state = imported(&session);
    let items = |call: &Value, list: &str| item_ids(&state, &call[list]).join(" ");
    let tools = objects(&state, "tool_calls").map(|call| {
        let [call_item, output] =
            ["model_visible_call_item_ids", "model_visible_output_item_ids"].map(|list| items(call, list));
        format!("{} {} {call_item} {output}", text(&call["model_visible_call_id"]), text(&call["execution"]["status"]))
    });
    let mut tools: Vec<_> = tools.collect();
    tools.sort();
    assert_eq!(tools, ["c completed fc_1 o_1", "c:line_0_8:2 completed fc_2 o_2"]);
    let bundle = trace_import::open(&session).expect("imports");
    let notes = &bundle.import().expect("an import").notes;
    assert!(notes.iter().any(|note| note.code == "call-id-repeated" && note.count == 1), "{notes:?}");
}
