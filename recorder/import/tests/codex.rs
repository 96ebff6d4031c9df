//! Rollouts of the Codex CLI give the graph that its own recording of the same session gives.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
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

/// Collects what a rollout can tell. The item of the system prompt has another id in each request, and is left out.
fn facts(state: &Value, facts: &mut Facts) {
    let mut add = |kind, fact: String| facts.entry(kind).or_default().push(fact);
    for thread in objects(state, "threads") {
        add("thread", format!("{} {}", text(&thread["thread_id"]), text(&thread["agent_path"])));
        let visible = item_ids(state, &thread["conversation_item_ids"]);
        for id in visible.iter().filter(|id| *id != "null" && !is_made(id)) {
            add("item", format!("{} {id}", text(&thread["thread_id"])));
        }
    }
    for turn in objects(state, "codex_turns") {
        add("turn", format!("{} {}", text(&turn["codex_turn_id"]), text(&turn["execution"]["status"])));
    }
    for call in objects(state, "inference_calls") {
        let seen = item_ids(state, &call["request_item_ids"]);
        let seen: Vec<_> = seen.into_iter().filter(|id| id != "null" && !is_made(id)).collect();
        let made = item_ids(state, &call["response_item_ids"]);
        let status = text(&call["execution"]["status"]);
        let turn = text(&call["codex_turn_id"]);
        add("model call", format!("{turn} {status} {} {}", text(&call["response_id"]), call["usage"]));
        add("request", format!("{turn} {status} {} {seen:?} -> {made:?}", text(&call["response_id"])));
    }
    for call in objects(state, "tool_calls") {
        let operation = call["terminal_operation_id"].as_str().unwrap_or_default();
        let exit_code = &state["terminal_operations"][operation]["result"]["exit_code"];
        let id = text(&call["tool_call_id"]);
        let kind = text(&call["kind"]["type"]);
        add("tool call", format!("{id} {kind} {} {exit_code}", text(&call["execution"]["status"])));
    }
    for edge in objects(state, "interaction_edges") {
        add("edge", format!("{} {}", text(&edge["kind"]), text(&edge["edge_id"])));
    }
    for compaction in objects(state, "compactions") {
        let replaced = item_ids(state, &compaction["replacement_item_ids"]);
        add("compaction", format!("{} {replaced:?}", text(&compaction["codex_turn_id"])));
    }
    for cell in objects(state, "code_cells") {
        let nested = cell["nested_tool_call_ids"].as_array().map_or(0, Vec::len);
        add("cell", format!("{} {} {nested}", text(&cell["code_cell_id"]), text(&cell["runtime_status"])));
    }
}

/// Returns whether an id is one of the system prompt, which a recording makes from a random UUID of version 5.
fn is_made(id: &str) -> bool {
    id.strip_prefix("msg_").is_some_and(|uuid| uuid.as_bytes().get(14) == Some(&b'5'))
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
    let (mut sums, mut differences) = (BTreeMap::<&str, [usize; 4]>::new(), Vec::new());
    for folder in folders(&imports.join("codex")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut recorded, mut ours) = (Facts::new(), Facts::new());
        let mut threads = BTreeSet::new();
        for entry in folder.read_dir().expect("lists").map(|entry| entry.expect("an entry").path()) {
            let file = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.starts_with("expected") {
                let state: Value = serde_json::from_slice(&std::fs::read(&entry).expect("reads")).expect("is JSON");
                facts(&state, &mut recorded);
                threads.extend(objects(&state, "threads").map(|thread| text(&thread["thread_id"])));
            }
        }
        for session in sessions(&folder.join("sessions")).expect("lists") {
            match std::panic::catch_unwind(|| imported(&session)) {
                Ok(state) => facts(&state, &mut ours),
                Err(_) => differences.push(format!("{name}: refused")),
            }
        }
        // A session that two processes wrote has two recordings of one thread.
        for facts in [&mut recorded, &mut ours] {
            for kind in ["thread", "item"] {
                let unique: BTreeSet<_> = facts.remove(kind).unwrap_or_default().into_iter().collect();
                facts.insert(kind, unique.into_iter().collect());
            }
        }
        let kinds: BTreeSet<&str> = recorded.keys().chain(ours.keys()).copied().collect();
        for kind in kinds {
            let empty = Vec::new();
            let (theirs, ours) = (recorded.get(kind).unwrap_or(&empty), ours.get(kind).unwrap_or(&empty));
            let (lost, made_up) = (missing(theirs, ours), missing(ours, theirs));
            let sum = sums.entry(kind).or_default();
            sum[0] += theirs.len();
            sum[1] += lost.len();
            sum[2] += ours.len();
            sum[3] += made_up.len();
            differences.extend(lost.iter().map(|fact| format!("{name}: - {kind} {fact}")));
            differences.extend(made_up.iter().map(|fact| format!("{name}: + {kind} {fact}")));
        }
    }
    let sums: Vec<_> = sums
        .iter()
        .map(|(kind, [all, lost, ours, made_up])| {
            format!("{kind}: {} of {all}, {made_up} of {ours} too many", all - lost)
        })
        .collect();
    differences.retain(|difference| !is_untold(difference));
    assert!(differences.is_empty(), "{}\n{}", differences.join("\n"), sums.join("\n"));
}

/// Returns whether a rollout cannot tell this: attempts that failed and left nothing, and the outputs that the Codex CLI makes up for
/// calls that were open when a child inherited the history.
fn is_untold(difference: &str) -> bool {
    let is_failed_attempt = ["http-500: - ", "agents-failing: - "].iter().any(|start| difference.starts_with(start))
        && difference.contains(" failed null ");
    let is_made_up_output =
        difference.starts_with("agents-forked: ") && (difference.contains("request ") || difference.contains(" fco_"));
    is_failed_attempt || is_made_up_output
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
const AGENTS: &str = "tests/fixtures/codex";

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

    /// Whatever happens to a file, there is an answer, and the bundle that is made of it reduces strictly.
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
        std::fs::write(&path, content).expect("writes");
        if let Ok(bundle) = trace_import::open(&SessionRef::file("codex", &path)) {
            let strict = Options { strict: true, ..Options::default() };
            reduce(&bundle, strict).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
