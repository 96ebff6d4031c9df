//! The script of `trace demo --team`: a planner, three workers of which one fails and gets its task again, and a
//! reviewer that tells a worker what is wrong.
//!
//! Each agent plays the script in its task. The scripted model pauses between steps, so that the order of events is the
//! same in every run: a wait ends with the first message that arrives, whichever agent sent it. `samples/team.txt` is
//! this prompt, and `samples/team` is a recording of it.

use serde_json::{Value, json};

/// The model name of the agents. `samples/prices.toml` has a price for it.
pub(super) const MODEL: &str = "example-large";

/// The program. This first version does not handle an empty list of numbers.
const PROGRAM: &str = "sum=0\nfor number in \"$@\"; do sum=$((sum + number)); done\necho \"sum is $sum\"\n";
/// The line that is inserted to handle an empty list.
const GUARD: &str = "test $# -gt 0 || { echo \"usage: sum.sh NUMBER...\" >&2; exit 2; }";
/// The test of the program.
const CHECK: &str = "test \"$(sh sum.sh 3 4 5)\" = \"sum is 12\" || { echo \"3 + 4 + 5 is wrong\" >&2; exit 1; }\n\
    if sh sum.sh >/dev/null 2>&1; then echo \"no numbers at all are taken\" >&2; exit 1; fi\necho \"all is well\"\n";
const DOCUMENTATION: &str = "# sum.sh\n\n`sh sum.sh 3 4 5` prints `sum is 12`.\n";

/// Longest time of a wait. The pauses below are much shorter.
const WAIT_MS: u64 = 20_000;

/// Returns the prompt of the planner. It contains the script of the planner.
pub(super) fn prompt() -> String {
    let plan = |code: &str, review: &str, check: &str| {
        let step = |step: &str, status: &str| json!({ "step": step, "status": status });
        let steps = [step("write it, test it, describe it", code), step("review it", review), step("check all", check)];
        json!({ "call": "update_plan", "args": { "plan": steps } })
    };
    let steps = [
        json!([
            { "think": "Three parts that do not need each other to begin: the program, its test, its description." },
            { "say": "I hand out the parts.", "phase": "commentary" },
            plan("in_progress", "pending", "pending"),
        ]),
        json!([
            spawn("code", "Write sum.sh, which adds numbers, and have it reviewed before you are done.", &code()),
            spawn("tests", "Write check.sh, which tests sum.sh.", &tests()),
            spawn("docs", "Describe sum.sh in README.md.", &docs()),
            wait(),
        ]),
        json!([
            { "think": "The model provider refused the tests' request. Its file may be there already: it can go on from there." },
            { "say": "The tests were cut short; I ask for them again.", "phase": "commentary" },
            collaboration("followup_task", &json!({ "target": "tests", "message": task("Go on with check.sh, in fewer words.", &tests_again()) })),
            wait(),
        ]),
        json!([{ "say": "The description is done.", "phase": "commentary" }, wait()]),
        json!([
            plan("in_progress", "in_progress", "pending"),
            spawn("reviewer", "Look at sum.sh, and tell /root/code what is wrong with it.", &reviewer()),
            wait(),
        ]),
        json!([{ "say": "The reviewer found something.", "phase": "commentary" }, wait()]),
        json!([{ "say": "Now the program has to be mended.", "phase": "commentary" }, wait()]),
        json!([plan("completed", "completed", "in_progress"), shell("sh check.sh")]),
        json!([plan("completed", "completed", "completed")]),
        json!([{ "say": "sum.sh is written, tested, described and reviewed: all is well." }]),
    ];
    task("Let a team write a program that adds numbers, with a test and a description.", &steps)
}

/// Writes the program, waits for the review, and fixes the program.
fn code() -> Vec<Value> {
    vec![
        json!([{ "say": "I write the program.", "phase": "commentary" }, add("sum.sh", PROGRAM)]),
        json!([shell("sh sum.sh 3 4 5"), { "sleep": 1.8 }]),
        json!([tell("/root", "sum.sh is there, and can be reviewed."), wait()]),
        json!([
            { "think": "Right: without numbers it says that the sum is 0." },
            { "custom": "apply_patch", "input": patch(&format!("*** Update File: sum.sh\n@@\n+{GUARD}\n sum=0\n")) },
            { "sleep": 1.6 },
        ]),
        json!([shell("sh check.sh"), { "sleep": 0.2 }]),
        json!([{ "say": "sum.sh adds numbers, and says how it is used when there are none." }]),
    ]
}

/// Writes the test, which fails at this point. After that, the model provider refuses a request.
fn tests() -> Vec<Value> {
    vec![
        json!([add("check.sh", CHECK), { "sleep": 0.4 }]),
        json!([shell("sh check.sh"), { "sleep": 0.2 }]),
        json!([{ "status": 400, "code": "invalid_prompt", "message": "the request was refused by a filter" }]),
    ]
}

/// Checks the test again. The program does not pass it yet.
fn tests_again() -> Vec<Value> {
    vec![
        json!([shell("sh -n check.sh"), { "sleep": 2.6 }]),
        json!([{ "say": "check.sh is there. It fails as long as sum.sh takes no numbers at all." }]),
    ]
}

fn docs() -> Vec<Value> {
    vec![
        json!([{ "think": "A line and an example will do." }, add("README.md", DOCUMENTATION), { "sleep": 1.2 }]),
        json!([{ "say": "README.md describes sum.sh." }]),
    ]
}

fn reviewer() -> Vec<Value> {
    vec![
        json!([shell("cat sum.sh"), shell("sh sum.sh"), { "sleep": 0.2 }]),
        json!([tell(
            "/root/code",
            "Without numbers, sum.sh says that the sum is 0. It should say how it is used, and fail."
        )]),
        json!([{ "say": "One thing is to be mended: what happens without numbers. /root/code knows." }]),
    ]
}

/// Returns a task that contains the script for the agent.
fn task(words: &str, steps: &[Value]) -> String {
    format!("{words}\nRUN {}", json!(steps))
}

fn spawn(name: &str, words: &str, steps: &[Value]) -> Value {
    collaboration("spawn_agent", &json!({ "task_name": name, "message": task(words, steps), "fork_turns": "none" }))
}

fn tell(target: &str, message: &str) -> Value {
    collaboration("send_message", &json!({ "target": target, "message": message }))
}

fn wait() -> Value {
    collaboration("wait_agent", &json!({ "timeout_ms": WAIT_MS }))
}

fn collaboration(name: &str, arguments: &Value) -> Value {
    json!({ "call": name, "ns": "collaboration", "args": arguments })
}

fn shell(line: &str) -> Value {
    json!({ "call": "exec_command", "args": { "cmd": line, "login": false } })
}

fn add(file: &str, content: &str) -> Value {
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    json!({ "custom": "apply_patch", "input": patch(&format!("*** Add File: {file}\n{added}")) })
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}
