//! What a graph tells, by classes of facts, so that two graphs can be compared class by class.

use std::collections::BTreeMap;

use serde_json::Value;

/// Facts of a graph. Each is a line, and each class is sorted.
pub(crate) type Facts = BTreeMap<&'static str, Vec<String>>;

/// Returns the facts of a graph.
pub(crate) fn facts(state: &Value) -> Facts {
    let mut facts = Facts::new();
    let mut add = |class: &'static str, fact: String| facts.entry(class).or_default().push(fact);
    for thread in list(state, "threads") {
        let names = [&thread["thread_id"], &thread["agent_path"], &thread["nickname"], &thread["origin"]];
        add("threads", format!("{names:?}"));
        add("statuses of threads", format!("{:?}", [&thread["thread_id"], &thread["execution"]["status"]]));
    }
    for turn in list(state, "codex_turns") {
        let window = &turn["execution"];
        let ids = [&turn["codex_turn_id"], &turn["thread_id"]];
        add("turns", format!("{ids:?} {}", window["status"]));
        add("times of turns", format!("{ids:?} {:?}", times(window)));
    }
    for call in list(state, "inference_calls") {
        let window = &call["execution"];
        let id = &call["inference_call_id"];
        let ids = [id, &call["response_id"], &call["upstream_request_id"], &call["codex_turn_id"]];
        add("requests", format!("{ids:?} {} {} {}", call["model"], call["provider_name"], window["status"]));
        add("tokens", format!("{id} {}", call["usage"]));
        add("times of requests", format!("{id} {:?}", times(window)));
        add("seen items", format!("{id} {:#?}", items(state, &call["request_item_ids"])));
        add("answered items", format!("{id} {:#?}", items(state, &call["response_item_ids"])));
        add("calls of answers", format!("{id} {:?}", sorted(&call["tool_call_ids_started_by_response"])));
    }
    for tool in list(state, "tool_calls") {
        let window = &tool["execution"];
        let id = &tool["tool_call_id"];
        let ids = [id, &tool["model_visible_call_id"], &tool["started_by_codex_turn_id"]];
        add("tool calls", format!("{ids:?} {} {}", tool["kind"], window["status"]));
        add("times of tool calls", format!("{id} {:?}", times(window)));
        let shown = [&tool["model_visible_call_item_ids"], &tool["model_visible_output_item_ids"]];
        add("items of tool calls", format!("{id} {:#?}", shown.map(|ids| items(state, ids))));
    }
    for operation in list(state, "terminal_operations") {
        add("exit codes", format!("{} of {}", operation["result"]["exit_code"], operation["tool_call_id"]));
    }
    for edge in list(state, "interaction_edges") {
        let is_spawn = edge["kind"] == "spawn_agent";
        let target = &edge["target"];
        let item = target["item_id"].as_str().map(|item| &state["conversation_items"][item]["thread_id"]);
        let fact = format!("{} from {} to {}", edge["kind"], edge["source"], item.unwrap_or(&target["thread_id"]));
        add(if is_spawn { "spawns" } else { "other edges" }, fact);
    }
    for cell in list(state, "code_cells") {
        add("code cells", cell["code_cell_id"].to_string());
    }
    for compaction in list(state, "compactions") {
        add("compactions", compaction["compaction_id"].to_string());
    }
    facts.values_mut().for_each(|facts| facts.sort());
    facts
}

fn list<'a>(state: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    state[kind].as_object().into_iter().flat_map(|map| map.values())
}

fn sorted(ids: &Value) -> Vec<&str> {
    let mut ids: Vec<_> = ids.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ids.sort_unstable();
    ids
}

fn times(window: &Value) -> [&Value; 2] {
    [&window["started_at_unix_ms"], &window["ended_at_unix_ms"]]
}

/// Returns what a model sees of items: their roles, kinds and texts.
fn items(state: &Value, ids: &Value) -> Vec<String> {
    let item = |id: &Value| {
        let item = &state["conversation_items"][id.as_str().unwrap_or_default()];
        let texts = item["body"]["parts"].as_array().into_iter().flatten().filter_map(text);
        format!("{} {} {:?}", item["role"], item["kind"], texts.collect::<Vec<_>>().join("\n"))
    };
    ids.as_array().into_iter().flatten().map(item).collect()
}

fn text(part: &Value) -> Option<String> {
    // What only the provider reads is no text.
    if part["type"] == "encoded" {
        return None;
    }
    let text = ["text", "summary", "source", "label"].iter().find_map(|name| part[*name].as_str());
    text.map(str::to_owned)
}

/// Returns the classes in which two graphs differ, with the facts that only one of them has.
pub(crate) fn differences(original: &Facts, again: &Facts) -> BTreeMap<&'static str, (Vec<String>, Vec<String>)> {
    let empty = Vec::new();
    let classes: std::collections::BTreeSet<_> = original.keys().chain(again.keys()).copied().collect();
    let mut found = BTreeMap::new();
    for class in classes {
        let (one, other) = (original.get(class).unwrap_or(&empty), again.get(class).unwrap_or(&empty));
        let lost: Vec<String> = one.iter().filter(|fact| !other.contains(fact)).cloned().collect();
        let new: Vec<String> = other.iter().filter(|fact| !one.contains(fact)).cloned().collect();
        if !lost.is_empty() || !new.is_empty() {
            found.insert(class, (lost, new));
        }
    }
    found
}
