//! What happened in a recorded session, from the script that the model followed, beside what an import tells.

use std::collections::BTreeMap;

use serde_json::Value;

/// Facts of one kind, such as `tool bash failed`, each with how often it was so.
pub(crate) type Facts = BTreeMap<String, usize>;

/// Names of the tools by which agents start others.
const SPAWNING: [&str; 2] = ["task", "invoke_agent"];

/// Returns what a prompt made the model do: the turn, its model calls and tool calls, and those of the agents that it started.
pub(crate) fn played(prompt: &str) -> Facts {
    let mut facts = Facts::new();
    play("/root", prompt, &mut facts);
    facts
}

fn play(path: &str, prompt: &str, facts: &mut Facts) {
    let script = prompt.strip_prefix("RUN ").unwrap_or_else(|| panic!("no script: {prompt}"));
    let steps: Vec<Vec<Value>> = serde_json::from_str(script).expect("a script");
    let mut add = |fact: String| *facts.entry(fact).or_default() += 1;
    let mut children = Vec::new();
    let mut status = "completed";
    for step in &steps {
        let has_failed = step.iter().any(|part| part["status"].as_u64().is_some_and(|status| status >= 400));
        status = if has_failed { "failed" } else { "completed" };
        add(format!("call {status}"));
        for part in step.iter().filter(|part| !part["call"].is_null()) {
            let (name, args) = (part["call"].as_str().expect("a name"), &part["args"]);
            // A state names the command instead of the tool.
            let shown = if args["command"].is_string() { "command" } else { name };
            add(format!("tool {shown} {}", if fails(name, args) { "failed" } else { "completed" }));
            if SPAWNING.contains(&name) {
                add("edge spawn_agent".to_owned());
                add("edge agent_result".to_owned());
                let child = args["description"].as_str().or(args["agent_name"].as_str()).expect("a name");
                let child = format!("{path}/{}", child.replace(' ', "_"));
                children.push((child, args["prompt"].as_str().expect("a task")));
            }
        }
        if has_failed {
            break;
        }
    }
    add(format!("turn {path} {status}"));
    for (child, prompt) in children {
        play(&child, prompt, facts);
    }
}

/// Returns whether a call of the scripts fails: another exit code than 0, a file or a tool that does not exist, arguments that
/// the tool does not have.
fn fails(name: &str, args: &Value) -> bool {
    let command = args["command"].as_str().unwrap_or_default();
    name == "nope_tool"
        || !args["wrong"].is_null()
        || command == "exit 3"
        || command.starts_with("no_such_command")
        || args.to_string().contains("missing.txt")
}

/// Returns the facts of a state.
pub(crate) fn told(state: &Value) -> Facts {
    let mut facts = Facts::new();
    let mut add = |fact: String| *facts.entry(fact).or_default() += 1;
    let all = |kind: &str| state[kind].as_object().expect("objects").values().cloned().collect::<Vec<_>>();
    let status = |object: &Value| object["execution"]["status"].as_str().expect("a status").to_owned();
    for turn in all("codex_turns") {
        let thread = &state["threads"][turn["thread_id"].as_str().expect("a thread")];
        add(format!("turn {} {}", thread["agent_path"].as_str().expect("a path"), status(&turn)));
    }
    for call in all("inference_calls") {
        add(format!("call {}", status(&call)));
    }
    for tool in all("tool_calls") {
        add(format!("tool {} {}", tool["summary"]["label"].as_str().unwrap_or("command"), status(&tool)));
    }
    for edge in all("interaction_edges") {
        add(format!("edge {}", edge["kind"].as_str().expect("a kind")));
    }
    facts
}

/// How many facts were found, by kind: of how many that are true, and of how many that were told.
#[derive(Debug, Default)]
pub(crate) struct Score(BTreeMap<String, [usize; 3]>);

impl Score {
    /// Compares the facts of a session. Returns those that are missing, with `-` in front of them, and those that are made up, with
    /// `+`.
    pub(crate) fn add(&mut self, truth: &Facts, told: &Facts) -> Vec<String> {
        let mut differences = Vec::new();
        let mut all: Vec<_> = truth.keys().chain(told.keys()).collect();
        all.sort();
        all.dedup();
        for fact in all {
            let count = |facts: &Facts| facts.get(fact).copied().unwrap_or(0);
            let (wanted, found) = (count(truth), count(told));
            let kind = fact.split(' ').next().expect("a word").to_owned();
            let score = self.0.entry(kind).or_default();
            score[0] += wanted.min(found);
            score[1] += wanted;
            score[2] += found;
            differences.extend(std::iter::repeat_n(format!("-{fact}"), wanted.saturating_sub(found)));
            differences.extend(std::iter::repeat_n(format!("+{fact}"), found.saturating_sub(wanted)));
        }
        differences
    }

    /// Returns the score in a line for each kind.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(kind, [found, wanted, told]): (&String, &[usize; 3])| {
            format!("{kind}: {found} of {wanted} found, {} of {told} made up", told - found)
        };
        self.0.iter().map(line).collect()
    }
}

/// Adds facts to others.
pub(crate) fn merge(facts: &mut Facts, more: Facts) {
    for (fact, count) in more {
        *facts.entry(fact).or_default() += count;
    }
}
