//! Faults of tools, after which the turn continues and completes. Successes that are earlier, parallel, in another thread
//! or of another kind of tool do not count as a recovery.

use std::io;

use serde_json::json;

use super::places::{Effect, Fault, Place, play};
use super::stage::{Stage, Step};
use super::truth::{Category, Outcome, RootCause};
use super::{Family, Planted};
use crate::session::{Agent, Cell, Command, Failure, McpCall, Refusal};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    failed(&mut all);
    failed_among_others(&mut all);
    timeouts(&mut all);
    unknown(&mut all);
    bad_arguments(&mut all);
    declined(&mut all);
    patches(&mut all);
    mcp(&mut all);
    cells(&mut all);
    all
}

/// A fault that is one tool call. `after` is a step of another kind that succeeds after it in the same thread.
fn call<A>(category: Category, name: &str, after: Step, act: A) -> impl Fn(Place) -> Planted + use<A>
where
    A: Fn(&mut Stage, Agent) -> io::Result<String> + Clone + Send + Sync + 'static,
{
    object(category, name, after, move |stage, agent| Ok(RootCause::tool(category, act(stage, agent)?)))
}

fn object<A>(category: Category, name: &str, after: Step, act: A) -> impl Fn(Place) -> Planted + use<A>
where
    A: Fn(&mut Stage, Agent) -> io::Result<RootCause> + Clone + Send + Sync + 'static,
{
    let name = name.to_owned();
    move |place| {
        let fault = Fault::new(Effect::GoesOn(after), act.clone());
        let sentence = format!("{}, at {}", name.replace('-', " "), place.name());
        let name = format!("{name}-{}", place.name());
        Planted::new(Family::Fault(category), name, sentence, move |stage| play(stage, place, &fault))
    }
}

fn command(name: &str, command: Command, after: Step) -> impl Fn(Place) -> Planted + use<> {
    call(Category::ToolFailed, &format!("tool-failed-{name}"), after, move |stage, agent| {
        stage.run(agent, command.clone())
    })
}

fn failed(all: &mut Vec<Planted>) {
    let tests = Command::new(
        "cargo test --quiet wick",
        "running 12 tests\n.....F......\ntest result: FAILED. 11 passed; 1 failed\n",
    );
    let tests = command("tests", tests.exits(101).takes(6_300), Step::Patch);
    all.extend([tests(Place::Middle), tests(Place::FirstOfTwoTurns), tests(Place::Grandchild)]);
    // Exit code 1 without any output.
    let silent = command("silent", Command::new("test -f lantern.toml", "").exits(1), Step::Mcp);
    all.extend([silent(Place::Last), silent(Place::MiddleSibling)]);
    let missing = Command::new("lantern-lint src", "bash: line 1: lantern-lint: command not found\n").exits(127);
    let missing = command("not-found", missing, Step::Patch);
    all.extend([missing(Place::SecondTurn), missing(Place::Fork), missing(Place::GreatGrandchild)]);
    let late =
        command("told-late", Command::new("make lint", "make: *** No rule\n").exits(2).reports_late(), Step::Mcp);
    all.extend([late(Place::Middle), late(Place::Child)]);
    let unborn = Refusal::command_not_started("make", "No such file or directory (os error 2)");
    let unborn = refusal(Category::ToolFailed, "tool-failed-not-started", Step::Patch, unborn);
    all.extend([unborn(Place::Middle), unborn(Place::Grandchild)]);
    let killed = command("sigkill", Command::new("cargo build --release", "").exits(137).takes(44_000), Step::Mcp);
    all.extend([killed(Place::Child), killed(Place::First)]);
    let crashed = Command::new("target/debug/lantern light 0", "Segmentation fault (core dumped)\n").exits(139);
    let crashed = command("sigsegv", crashed, Step::Patch);
    all.extend([crashed(Place::BesideChild), crashed(Place::SecondTask)]);
    all.push(crashed(Place::Last).schema_1());

    // Of three parallel commands the middle one fails. Commands of the same response do not count as later.
    all.push(Planted::new(
        Family::Fault(Category::ToolFailed),
        "tool-failed-beside-others",
        "of three commands of one response the middle one fails, and nothing is run after it",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let ids = stage.session.run(
                root,
                &[
                    Command::new("git fetch --quiet", "").takes(300),
                    Command::new("git merge --ff-only origin/main", "fatal: not possible to fast-forward\n")
                        .exits(128)
                        .takes(300),
                    Command::new("git stash list", "").takes(300),
                ],
            )?;
            stage.succeed(root, Step::Mcp)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(Category::ToolFailed, &ids[1]));
            stage.end()
        },
    ));
    // A child inherits the output of a command that failed before it was spawned. The copy is not a cause in the child, and
    // the success of the child is in another thread than the failure.
    all.push(Planted::new(
        Family::Fault(Category::ToolFailed),
        "tool-failed-before-fork",
        "a command fails, then the agent hands all it knows to a child, which succeeds",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let id = stage.run(root, Command::new("cargo doc --no-deps", "error: broken link\n").exits(101))?;
            let child = stage.fork(root, "clone")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 2)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(Category::ToolFailed, id));
            stage.end()
        },
    ));
    // The first failure was recovered, the second was not.
    all.push(Planted::new(
        Family::Fault(Category::ToolFailed),
        "tool-failed-again",
        "a command fails, works, and fails again",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let line = "cargo test --quiet settings";
            stage.run(root, Command::new(line, "test result: FAILED. 3 passed; 2 failed\n").exits(101))?;
            stage.succeed(root, Step::Patch)?;
            stage.run(root, Command::new(line, "test result: ok. 5 passed; 0 failed\n"))?;
            stage.succeed(root, Step::Patch)?;
            let id = stage.run(root, Command::new(line, "test result: FAILED. 4 passed; 1 failed\n").exits(101))?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(Category::ToolFailed, id));
            stage.end()
        },
    ));
}

/// Sessions with further failures of other kinds, which were recovered or belong to another thread.
fn failed_among_others(all: &mut Vec<Planted>) {
    let category = Category::ToolFailed;
    let red = || Command::new("cargo test --quiet", "test result: FAILED. 9 passed; 3 failed\n").exits(101);
    all.push(Planted::new(
        Family::Fault(category),
        "tool-failed-after-retry",
        "a request is retried with success, then a command fails",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.session.fail_request_by(root, &Failure::stream_closed())?;
            stage.work(root, 1)?;
            let id = stage.run(root, red())?;
            stage.succeed(root, Step::Patch)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        },
    ));
    // The child recovered from its failure, the root did not recover from its own.
    all.push(Planted::new(
        Family::Fault(category),
        "tool-failed-beside-recovered-child",
        "a child mends its own failure, its parent does not",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let failed = stage.run(child, red())?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.verdict(child, Outcome::Recovered, &RootCause::tool(category, failed));
            stage.session.end_wait(wait)?;
            let id = stage.run(root, red())?;
            stage.succeed(root, Step::Mcp)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        },
    ));
    // Two agents with the same name have different parents. Only one of them fails, and only its ancestors are degraded.
    all.push(Planted::new(
        Family::Fault(category),
        "tool-failed-in-namesake",
        "of two grandchildren of one name one completes on top of a failure",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let leads = stage.spawn_all(root, &["east", "west"])?;
            let &[east, west] = leads.as_slice() else { unreachable!("two were asked for") };
            let mut cause = None;
            for lead in [east, west] {
                let worker = stage.spawn(lead, "worker")?;
                let wait = stage.session.begin_wait(lead, 60_000)?;
                stage.work(worker, 1)?;
                if lead == east {
                    cause = Some(RootCause::tool(category, stage.run(worker, red())?));
                }
                stage.answer(worker)?;
                if let Some(cause) = cause.as_ref().filter(|_| lead == east) {
                    stage.rises_to(&[worker], cause);
                }
                stage.session.end_wait(wait)?;
                stage.answer(lead)?;
                if let Some(cause) = cause.as_ref().filter(|_| lead == east) {
                    stage.rises_to(&[lead], cause);
                }
            }
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause.expect("the first one fails"));
            stage.end()
        },
    ));
}

fn timeouts(all: &mut Vec<Planted>) {
    let slow = |tool: &'static str, limit_ms| {
        call(Category::ToolTimeout, &format!("tool-timeout-mcp-{tool}"), Step::Command, move |stage, agent| {
            let call = McpCall::new("tracker", tool, json!({ "text": "wick" }), "").exceeds(limit_ms);
            stage.session.call_mcp(agent, &call)
        })
    };
    let (search, export) = (slow("search", 10_000), slow("export", 60_000));
    all.extend([search(Place::Middle), search(Place::Child), search(Place::SecondTurn)]);
    all.extend([export(Place::Last), export(Place::Grandchild), export(Place::Fork)]);
    all.push(search(Place::First).schema_1());
    // A command that another program stopped after its own time limit, which the output mentions.
    let command = |stage: &mut Stage, agent| {
        let output = "command timed out after 30000 milliseconds\n";
        stage.run(agent, Command::new("cargo bench", output).exits(124).takes(30_000))
    };
    let command = call(Category::ToolTimeout, "tool-timeout-command", Step::Patch, command);
    all.extend([command(Place::Middle), command(Place::Child)]);
}

fn refusal(category: Category, name: &str, after: Step, refusal: Refusal) -> impl Fn(Place) -> Planted + use<> {
    call(category, name, after, move |stage, agent| stage.session.refuse(agent, &refusal))
}

fn unknown(all: &mut Vec<Planted>) {
    let category = Category::ToolUnknown;
    let function = Refusal::unknown_tool("render_diagram", &json!({ "of": "src/wick.rs" }));
    let function = refusal(category, "tool-unknown-function", Step::Command, function);
    all.extend([function(Place::First), function(Place::Fork), function(Place::FirstOfTwoTurns)]);
    all.push(function(Place::Last).schema_1());
    let custom = Refusal::unknown_custom_tool("draw", "a lantern with three wicks");
    let custom = refusal(category, "tool-unknown-custom", Step::Patch, custom);
    all.extend([custom(Place::Child), custom(Place::Middle)]);
    let remote = Refusal::unknown_tool_of("tracker", "close_everything", &json!({ "really": true }));
    let remote = refusal(category, "tool-unknown-mcp", Step::Command, remote);
    all.extend([remote(Place::Last), remote(Place::Grandchild)]);
}

fn bad_arguments(all: &mut Vec<Planted>) {
    let category = Category::ToolBadArguments;
    let garbage = Refusal::bad_arguments("{cmd: ls", "key must be a string at line 1 column 2");
    let garbage = refusal(category, "tool-bad-arguments-no-json", Step::Patch, garbage);
    all.extend([garbage(Place::Middle), garbage(Place::Grandchild)]);
    let missing = Refusal::bad_arguments(r#"{"command":"ls"}"#, "missing field `cmd` at line 1 column 16");
    let missing = refusal(category, "tool-bad-arguments-missing", Step::Mcp, missing);
    all.extend([missing(Place::Child), missing(Place::SecondTurn), missing(Place::MiddleSibling)]);
    all.push(missing(Place::Last).schema_1());
    let shape =
        Refusal::bad_message(r#"{"target":"north","message":7}"#, "invalid type: integer `7`, expected a string");
    let shape = refusal(category, "tool-bad-arguments-message", Step::Command, shape);
    all.extend([shape(Place::First), shape(Place::Fork)]);
}

fn declined(all: &mut Vec<Planted>) {
    let category = Category::ToolDeclined;
    let command = Refusal::declined_command("git push --force");
    let command = refusal(category, "tool-declined-command", Step::Patch, command);
    all.extend([command(Place::Middle), command(Place::Child), command(Place::Grandchild)]);
    all.push(command(Place::Last).schema_1());
    let patch = call(category, "tool-declined-patch", Step::Command, |stage, agent| {
        stage.session.decline_patch(agent, "Cargo.toml.new", "[package]\nname = \"lantern\"\n")
    });
    all.extend([patch(Place::First), patch(Place::Fork), patch(Place::SecondTurn)]);
}

fn patches(all: &mut Vec<Planted>) {
    let category = Category::PatchFailed;
    let mismatch = Refusal::patch(
        "*** Begin Patch\n*** Update File: src/dim.rs\n@@\n-pub fn dimm(\n+pub fn dim(\n*** End Patch\n",
        "Failed to find expected lines in /home/dev/lantern/src/dim.rs:\npub fn dimm(",
    );
    let mismatch = refusal(category, "patch-failed-no-match", Step::Command, mismatch);
    all.extend([mismatch(Place::Last), mismatch(Place::ForkedGrandchild), mismatch(Place::FirstOfTwoTurns)]);
    all.push(mismatch(Place::Child).schema_1());
    let garbage = Refusal::patch(
        "change dim to dimm please",
        "invalid patch: The first line of the patch must be '*** Begin Patch'",
    );
    let garbage = refusal(category, "patch-failed-garbage", Step::Mcp, garbage);
    all.extend([garbage(Place::Middle), garbage(Place::MiddleSibling)]);
    let missing = Refusal::patch(
        "*** Begin Patch\n*** Update File: src/glow.rs\n@@\n-a\n+b\n*** End Patch\n",
        "Failed to read file to update /home/dev/lantern/src/glow.rs: No such file or directory (os error 2)",
    );
    let missing = refusal(category, "patch-failed-no-file", Step::Command, missing);
    all.extend([missing(Place::BesideChild), missing(Place::Child), missing(Place::SecondTask)]);
}

fn mcp(all: &mut Vec<Planted>) {
    let category = Category::McpError;
    let ask = || McpCall::new("weather", "forecast", json!({ "place": "harbour" }), "");
    let remote = |name: &str, mcp: McpCall| {
        call(category, &format!("mcp-error-{name}"), Step::Command, move |stage, agent| {
            stage.session.call_mcp(agent, &mcp)
        })
    };
    let reported = remote("reported", ask().reports("no forecast for this place"));
    all.extend([reported(Place::Middle), reported(Place::Child), reported(Place::Fork)]);
    all.push(reported(Place::Last).schema_1());
    let closed = remote("closed", ask().breaks("Transport closed"));
    all.extend([closed(Place::Last), closed(Place::Grandchild)]);
    let answered = remote("answered", ask().breaks("Mcp error: -32000: the backend is away"));
    all.extend([answered(Place::SecondTurn), answered(Place::MiddleSibling)]);
}

fn cells(all: &mut Vec<Planted>) {
    let category = Category::CodeCellFailed;
    let cell = |name: &str, cell: Cell| {
        object(category, &format!("code-cell-failed-{name}"), Step::Command, move |stage, agent| {
            let id = stage.session.run_cell(agent, &cell)?;
            Ok(RootCause::cell(category, &id))
        })
    };
    let throws = cell(
        "throws",
        Cell::throws("text('counting'); throw new Error('no wicks')", "Error: no wicks\n    at exec_main.mjs:1:25")
            .after_printing("counting"),
    );
    all.extend([throws(Place::Last), throws(Place::Child), throws(Place::Fork)]);
    all.push(throws(Place::Middle).schema_1());
    let syntax = cell("syntax", Cell::throws("let let = (", "SyntaxError: Unexpected strict mode reserved word"));
    all.extend([syntax(Place::First), syntax(Place::Grandchild)]);
    // The command in the cell succeeded, but the code after it failed.
    let nested = Cell::throws(
        "const r = await tools.exec_command({cmd:'ls src'}); text(r.output); JSON.parse(r.output)",
        "SyntaxError: Unexpected token 'd'\n    at exec_main.mjs:1:76",
    )
    .after_printing("dim.rs\nwick.rs\n")
    .runs(&[Command::new("ls src", "dim.rs\nwick.rs\n")]);
    let nested = cell("after-command", nested);
    all.extend([nested(Place::SecondTurn), nested(Place::SecondTask)]);
}
