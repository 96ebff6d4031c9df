//! Rollouts of the Codex CLI before 0.169 against what happened: the scripts that the model followed, what the program printed, and
//! the requests that the service received.

#![expect(clippy::print_stderr, reason = "the scores are for people")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::imported::{objects, state};
use crate::scripted::{Facts, Score};
use serde_json::Value;
use trace_import::{SessionRef, summarize};

/// Versions whose next process counts the tokens of a session anew.
const COUNT_ANEW: [&str; 2] = ["codex-0.42.0", "codex-0.58.0"];

/// What the files, or what was printed, cannot tell, and what they tell instead.
const UNTOLD: [(&str, &[&str]); 4] = [
    // The answer and its call are written when the call has ended.
    ("codex-0.42.0/sigint", &["+call cancelled", "-call completed", "-paid", "-tool exec_command open"]),
    // Neither is the end of the turn.
    ("codex-0.58.0/sigint", &["-tool exec_command open", "-turn root cancelled", "+turn root running"]),
    // The program did not print the ends of these commands; the outputs that the model got have them.
    ("codex-0.120.0/resume-exec", &["+exit 0", "+exit 0"]),
    // Failed attempts leave nothing.
    ("codex-0.120.0/http-500", &["-call failed", "-call failed"]),
];

/// A recorded session with what is known about it.
struct Recorded {
    version: String,
    name: String,
    session: SessionRef,
    script: Value,
    requests: Vec<Value>,
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = of.read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn recorded() -> Vec<Recorded> {
    let Some(imports) = trace_needs::imports("older rollouts are not compared with their scripts") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for agent in folders(&imports).into_iter().filter(|agent| name_of(agent).starts_with("codex-0.")) {
        for folder in folders(&agent) {
            let text = |name: &str| fs::read_to_string(folder.join(name)).expect("reads");
            let sessions = trace_import::sessions(&folder).expect("lists");
            let [session] = &sessions[..] else { panic!("{}: {sessions:?}", folder.display()) };
            found.push(Recorded {
                version: name_of(&agent),
                name: format!("{}/{}", name_of(&agent), name_of(&folder)),
                session: session.clone(),
                script: serde_json::from_str(&text("script.json")).expect("is JSON"),
                requests: text("model-requests.jsonl")
                    .lines()
                    .map(|line| serde_json::from_str(line).expect("is JSON"))
                    .collect(),
            });
        }
    }
    assert!(found.len() >= 21, "{} sessions", found.len());
    found
}

impl Recorded {
    fn runs(&self) -> impl Iterator<Item = &Value> {
        self.script["runs"].as_array().expect("runs").iter()
    }

    /// What the program printed in a run, line by line.
    fn printed(run: &Value) -> impl Iterator<Item = Value> {
        let lines = run["stdout"].as_array().expect("lines").iter().filter_map(Value::as_str);
        lines.map(|line| serde_json::from_str(line).expect("is JSON"))
    }

    /// How many different requests each thread sent, the root's first, and how many of them were for a summary. A request that is repeated
    /// after an error is the same one.
    fn asked(&self) -> (Vec<usize>, usize) {
        let (mut threads, mut summaries) = (Vec::new(), 0);
        let mut asked: HashMap<&str, (usize, &Value)> = HashMap::new();
        for request in &self.requests {
            let thread = request["headers"]["session_id"].as_str().expect("a thread");
            let input = &request["input"];
            let (count, last) = asked.entry(thread).or_insert_with(|| {
                threads.push(thread);
                (0, &Value::Null)
            });
            if *last == input {
                continue;
            }
            *last = input;
            let newest = input.as_array().and_then(|items| items.last()).expect("an item");
            if newest.to_string().contains("CONTEXT CHECKPOINT COMPACTION") {
                summaries += 1;
            } else {
                *count += 1;
            }
        }
        (threads.iter().map(|thread| asked[thread].0).collect(), summaries)
    }

    /// The facts of the session.
    fn truth(&self) -> Facts {
        let mut facts = Facts::new();
        let (asked, summaries) = self.asked();
        let mut asked = asked.into_iter();
        let mut of_root = asked.next().expect("a request");
        let prompts = self.script["prompts"].as_array().expect("prompts").iter().filter_map(Value::as_str);
        let mut children = Vec::new();
        for (prompt, run) in prompts.zip(self.runs()) {
            children.extend(play("root", prompt, run, &mut of_root, &mut facts));
            let codes = Self::printed(run).filter_map(|event| {
                let code = &event["item"]["exit_code"];
                let code = if code.is_null() { &event["msg"]["exit_code"] } else { code };
                code.as_i64()
            });
            codes.for_each(|code| *facts.entry(format!("exit {code}")).or_default() += 1);
        }
        assert_eq!(of_root, 0, "{}: the script explains all requests", self.name);
        let run = self.runs().next().expect("a run");
        for (prompt, mut asked) in children.into_iter().zip(asked) {
            play("child", &prompt, run, &mut asked, &mut facts);
        }
        let answered = facts.get("call completed").copied().unwrap_or_default();
        facts.insert("paid".to_owned(), answered + summaries);
        facts
    }

    /// The tokens of the root's requests, as the program printed them at the end: input, cached input, output.
    fn tokens(&self) -> Option<[u64; 3]> {
        let fields = ["input_tokens", "cached_input_tokens", "output_tokens"];
        let usage =
            |usage: &Value| usage.is_object().then(|| fields.map(|field| usage[field].as_u64().expect("a count")));
        let of_run = |run: &Value| {
            let printed = Self::printed(run);
            printed
                .filter_map(|event| usage(&event["usage"]).or(usage(&event["msg"]["info"]["total_token_usage"])))
                .last()
        };
        let runs: Option<Vec<_>> = self.runs().map(of_run).collect();
        match runs {
            Some(runs) if COUNT_ANEW.contains(&&*self.version) => {
                Some(runs.iter().fold([0; 3], |sum, run| std::array::from_fn(|at| sum[at] + run[at])))
            }
            Some(runs) => runs.last().copied(),
            // A run that failed prints no tokens. The newest sum is in the file.
            None => {
                let text = fs::read_to_string(&self.session.path).expect("reads");
                let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("is JSON"));
                lines.rev().find_map(|line| usage(&line["payload"]["info"]["total_token_usage"]))
            }
        }
    }
}

/// Plays a turn until all requests of its thread are explained. Returns the tasks of the children.
fn play(who: &str, prompt: &str, run: &Value, asked: &mut usize, facts: &mut Facts) -> Vec<String> {
    let script = prompt.strip_prefix("RUN ").expect("a script");
    let steps: Vec<Vec<Value>> = serde_json::from_str(script).expect("a script");
    let mut add = |fact: String| *facts.entry(fact).or_default() += 1;
    let mut children = Vec::new();
    let mut status = "completed";
    let complaints = run["stderr"].as_str().unwrap_or_default();
    for (index, step) in steps.iter().enumerate() {
        if *asked == 0 {
            status = "cancelled";
            break;
        }
        *asked -= 1;
        let is_broken = |part: &Value| {
            let is_refused = part["status"].is_u64() && part["times"].is_null();
            is_refused || !part["drop"].is_null() || !part["failed"].is_null()
        };
        if step.iter().any(is_broken) {
            let retries = Recorded::printed(run).filter(|event| {
                let is_retry = |text: &Value| text.as_str().is_some_and(|text| text.starts_with("Reconnecting"));
                is_retry(&event["message"]) || event["msg"]["type"] == "stream_error"
            });
            (0..=retries.count()).for_each(|_| add("call failed".to_owned()));
            status = "failed";
            break;
        }
        add("call completed".to_owned());
        let is_last = *asked == 0 && index + 1 < steps.len();
        for part in step {
            let Some(name) = part["call"].as_str().or(part["custom"].as_str()) else { continue };
            let args = &part["args"];
            let fails = name == "nope_tool"
                || !args["wrong"].is_null()
                || part["input"].as_str().is_some_and(|input| input.contains("missing.txt"))
                || complaints.contains(&format!("unsupported call: {name}\n"));
            let kind = match name {
                "nope_tool" => "other",
                "wait" => "wait_agent",
                name => name,
            };
            let ended = match (fails, is_last) {
                (true, _) => "failed",
                (_, true) => "open",
                _ => "completed",
            };
            add(format!("tool {kind} {ended}"));
            if name == "spawn_agent" {
                add("edge spawn_agent".to_owned());
                children.push(args["message"].as_str().expect("a task").to_owned());
            }
        }
    }
    add(format!("turn {who} {status}"));
    children
}

/// The facts of an imported session.
fn told(state: &Value, session: &SessionRef) -> Facts {
    let mut facts = Facts::new();
    let mut add = |fact: String| *facts.entry(fact).or_default() += 1;
    let status = |object: &Value| object["execution"]["status"].as_str().expect("a status").to_owned();
    for turn in objects(state, "codex_turns") {
        let who = if turn["thread_id"] == state["root_thread_id"] { "root" } else { "child" };
        add(format!("turn {who} {}", status(turn)));
    }
    for call in objects(state, "inference_calls") {
        add(format!("call {}", status(call)));
    }
    for tool in objects(state, "tool_calls") {
        let ended = status(tool);
        let ended = if ["running", "cancelled", "aborted"].contains(&&*ended) { "open".to_owned() } else { ended };
        add(format!("tool {} {ended}", tool["kind"]["type"].as_str().expect("a kind")));
    }
    for operation in objects(state, "terminal_operations") {
        if let Some(code) = operation["result"]["exit_code"].as_i64() {
            add(format!("exit {code}"));
        }
    }
    for edge in objects(state, "interaction_edges") {
        add(format!("edge {}", edge["kind"].as_str().expect("a kind")));
    }
    for _ in &summarize(session).expect("reads").spent {
        add("paid".to_owned());
    }
    facts
}

#[test]
fn older_rollouts_tell_what_happened() {
    let mut score = Score::default();
    let mut problems = Vec::new();
    for recorded in recorded() {
        let state = state(&recorded.session);
        let differences = score.add(&recorded.truth(), &told(&state, &recorded.session));
        let untold = UNTOLD.iter().find(|(name, _)| *name == recorded.name).map_or(&[][..], |(_, facts)| *facts);
        if differences != untold {
            problems.push(format!("{}: {differences:?}", recorded.name));
        }
        let (asked, _) = recorded.asked();
        assert_eq!(objects(&state, "threads").len(), asked.len(), "{}: agents", recorded.name);
        let model = recorded.requests[0]["model"].as_str();
        assert_eq!(summarize(&recorded.session).expect("reads").model.as_deref(), model, "{}", recorded.name);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    eprintln!("against the scripts:\n{}", score.lines().join("\n"));
}

#[test]
fn older_rollouts_have_the_tokens_that_were_printed() {
    for recorded in recorded() {
        let state = state(&recorded.session);
        let fields = ["input_tokens", "cached_input_tokens", "output_tokens"];
        let calls = objects(&state, "inference_calls");
        let sum = |of_root: bool| {
            let calls = calls.iter().filter(|call| !of_root || call["thread_id"] == state["root_thread_id"]);
            fields.map(|field| calls.clone().filter_map(|call| call["usage"][field].as_u64()).sum::<u64>())
        };
        let (of_root, of_all) = (sum(true), sum(false));
        // Summaries, which only roots have here, are no calls of the graph.
        let spent = summarize(&recorded.session).expect("reads").spent;
        let usages = spent.iter().map(|spent| [spent.usage.input, spent.usage.cached_input, spent.usage.output]);
        let paid = usages.fold([0; 3], |sum: [u64; 3], usage| std::array::from_fn(|at| sum[at] + usage[at]));
        let told: [u64; 3] = std::array::from_fn(|at| of_root[at] + paid[at] - of_all[at]);
        assert_eq!(told, recorded.tokens().unwrap_or_default(), "{}", recorded.name);
    }
}
