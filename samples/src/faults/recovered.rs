//! Failures from which the session recovered: a later step of the same kind in the same thread succeeded, or the same child
//! did.

use std::io;

use serde_json::json;

use super::stage::{Stage, Step};
use super::truth::{Category, Outcome, RootCause, TurnTruth, Verdict};
use super::{Family, Planted};
use crate::session::{Agent, Cell, Command, Failure, McpCall, Refusal};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    requests(&mut all);
    tools(&mut all);
    agents(&mut all);
    all
}

fn planted(
    name: &str,
    what: &str,
    script: impl Fn(Stage) -> io::Result<Vec<TurnTruth>> + Send + Sync + 'static,
) -> Planted {
    Planted::new(Family::Recovered, format!("recovered-{name}"), what, script)
}

/// A request that is repeated in the same turn and then succeeds.
fn requests(all: &mut Vec<Planted>) {
    let retried = |name: &str, what: &str, category: Category, failure: Failure| {
        planted(&format!("retry-{name}"), what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            stage.session.fail_request_by(root, &failure)?;
            let id = stage.session.fail_request_by(root, &failure)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Recovered, &RootCause::inference(category, id));
            stage.end()
        })
    };
    let busy = Failure::status(503, "Service Unavailable", "busy");
    all.push(retried("503", "the third attempt of a request succeeds", Category::ProviderError, busy));
    // What the model said before the cut is kept, and the next attempt continues from there.
    let cut = Failure::stream_closed().after_saying("I will look at the settings first.");
    all.push(retried("cut-stream", "a stream is cut twice, then all is well", Category::StreamInterrupted, cut));
    let limit = Failure::rate_limit("Try again in 2s.");
    all.push(retried("limit-schema-1", "a rate limit passes", Category::RateLimited, limit).schema_1());
    // The grandchild recovered itself, so nothing propagates.
    all.push(planted("retry-in-grandchild", "a grandchild's request succeeds in the second attempt", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let lead = stage.spawn(root, "lead")?;
        let outer = stage.session.begin_wait(root, 60_000)?;
        let worker = stage.fork(lead, "clone")?;
        let inner = stage.session.begin_wait(lead, 60_000)?;
        let failure = Failure::response_failed("The model stumbled.");
        let id = stage.session.fail_request_by(worker, &failure)?;
        stage.work(worker, 1)?;
        stage.answer(worker)?;
        stage.verdict(worker, Outcome::Recovered, &RootCause::inference(Category::ModelError, id));
        stage.session.end_wait(inner)?;
        stage.answer(lead)?;
        stage.session.end_wait(outer)?;
        stage.answer(root)?;
        stage.end()
    }));
    // A later turn of the same thread succeeds. The verdict that the first turn failed is also accepted.
    all.push(planted("next-turn", "a turn fails by the provider, the next one succeeds", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 1)?;
        let failure = Failure::internal_error();
        let id = stage.session.fail_request_by(root, &failure)?;
        stage.session.fail_turn_by(root, &failure)?;
        let cause = RootCause::inference(Category::ProviderError, id);
        stage.verdict(root, Outcome::Recovered, &cause);
        stage.or(root, Verdict::new(Outcome::Failed, cause));
        stage.prompt()?;
        stage.work(root, 1)?;
        stage.answer(root)?;
        stage.end()
    }));
}

type Act = Box<dyn Fn(&mut Stage, Agent) -> io::Result<RootCause> + Send + Sync>;

/// A tool that fails and then succeeds in the same thread.
fn tools(all: &mut Vec<Planted>) {
    let again = |name: &str, what: &str, fail: Act, succeed: fn(&mut Stage, Agent) -> io::Result<()>| {
        planted(name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let cause = fail(&mut stage, root)?;
            succeed(&mut stage, root)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Recovered, &cause);
            stage.end()
        })
    };
    let run = |line: &'static str, output: &'static str, exit_code| -> Act {
        Box::new(move |stage, agent| {
            let id = stage.run(agent, Command::new(line, output).exits(exit_code))?;
            Ok(RootCause::tool(Category::ToolFailed, id))
        })
    };
    let refuse = |category, refusal: Refusal| -> Act {
        Box::new(move |stage, agent| Ok(RootCause::tool(category, stage.session.refuse(agent, &refusal)?)))
    };
    all.push(again(
        "tests",
        "tests fail, a patch mends it, the same tests pass",
        run("cargo test --quiet", "test result: FAILED. 11 passed; 1 failed\n", 101),
        |stage, agent| {
            stage.succeed(agent, Step::Patch)?;
            stage.run(agent, Command::new("cargo test --quiet", "test result: ok. 12 passed; 0 failed\n")).map(drop)
        },
    ));
    all.push(again(
        "nothing-found",
        "a search finds nothing and says so by its exit code; the next search finds something",
        run("rg -n candle src", "", 1),
        |stage, agent| stage.run(agent, Command::new("rg -n wick src", "src/wick.rs:3:pub struct Wick\n")).map(drop),
    ));
    all.push(again(
        "declined",
        "the user does not allow a command at first, and then does",
        refuse(Category::ToolDeclined, Refusal::declined_command("git push")),
        |stage, agent| stage.run(agent, Command::new("git push", "Everything up-to-date\n")).map(drop),
    ));
    all.push(again(
        "bad-arguments",
        "a command without its line, then with it",
        refuse(Category::ToolBadArguments, Refusal::bad_arguments("{}", "missing field `cmd` at line 1 column 2")),
        |stage, agent| stage.work(agent, 1),
    ));
    all.push(again(
        "cell",
        "code throws, and the mended code does not",
        Box::new(|stage, agent| {
            let cell = Cell::throws("text(wicks.length)", "ReferenceError: wicks is not defined");
            Ok(RootCause::cell(Category::CodeCellFailed, &stage.session.run_cell(agent, &cell)?))
        }),
        |stage, agent| stage.session.run_cell(agent, &Cell::new("text('3')", "3")).map(drop),
    ));
    let ask = || McpCall::new("weather", "forecast", json!({ "place": "harbour" }), "calm, 14 degrees");
    all.push(again(
        "mcp",
        "the tool of a server reports an error, and then answers",
        Box::new(move |stage, agent| {
            let id = stage.session.call_mcp(agent, &ask().reports("the forecast is being made"))?;
            Ok(RootCause::tool(Category::McpError, id))
        }),
        |stage, agent| {
            let call = McpCall::new("weather", "forecast", json!({ "place": "harbour" }), "calm, 14 degrees");
            stage.session.call_mcp(agent, &call).map(drop)
        },
    ));
    all.push(again(
        "mcp-time",
        "the tool of a server takes too long, and then answers in time",
        Box::new(move |stage, agent| {
            let id = stage.session.call_mcp(agent, &ask().exceeds(5_000))?;
            Ok(RootCause::tool(Category::ToolTimeout, id))
        }),
        |stage, agent| {
            let call = McpCall::new("weather", "forecast", json!({ "place": "harbour" }), "calm, 14 degrees");
            stage.session.call_mcp(agent, &call).map(drop)
        },
    ));
    // The success is in a later turn of the same thread.
    all.push(planted("in-next-turn", "a command fails in the first turn and works in the second", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let line = "cargo doc --no-deps";
        let id = stage.run(root, Command::new(line, "error: unresolved link\n").exits(101))?;
        stage.answer(root)?;
        stage.verdict(root, Outcome::Recovered, &RootCause::tool(Category::ToolFailed, id));
        stage.prompt()?;
        stage.succeed(root, Step::Patch)?;
        stage.run(root, Command::new(line, ""))?;
        stage.answer(root)?;
        stage.end()
    }));
    // The child recovered itself, so nothing propagates.
    all.push(planted("patch-in-child", "a child's patch does not fit, and its next one does", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        let refusal = Refusal::patch("*** Begin Patch\n*** End Patch\n", "invalid patch: it changes nothing");
        let id = stage.session.refuse(child, &refusal)?;
        stage.succeed(child, Step::Patch)?;
        stage.answer(child)?;
        stage.verdict(child, Outcome::Recovered, &RootCause::tool(Category::PatchFailed, id));
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
}

/// A child that fails and then succeeds, and a wait that is repeated.
fn agents(all: &mut Vec<Planted>) {
    // The verdict that the child's first turn failed is also accepted.
    all.push(planted("child-task-again", "a failed child is given its task again and succeeds", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 1)?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        let failure = Failure::status(502, "Bad Gateway", "upstream reset");
        let id = stage.session.fail_request_by(child, &failure)?;
        stage.session.fail_turn_by(child, &failure)?;
        let cause = RootCause::inference(Category::ProviderError, id);
        stage.verdict(child, Outcome::Recovered, &cause);
        stage.or(child, Verdict::new(Outcome::Failed, cause.clone()));
        stage.session.end_wait(wait)?;
        stage.follow_up(root, child)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 2)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.verdict(root, Outcome::Recovered, &cause);
        stage.or(root, Verdict::OK);
        stage.end()
    }));
    // The second task of the child succeeds where the first failed. Both are in its own thread, so nothing propagates. That
    // the parent's turn counts as recovered is also accepted.
    all.push(planted("child-tool-in-next-task", "what a child's first task missed, its second brings", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        let id = stage.run(child, Command::new("cargo bench", "error: no such target\n").exits(101))?;
        stage.answer(child)?;
        let cause = RootCause::tool(Category::ToolFailed, id);
        stage.verdict(child, Outcome::Recovered, &cause);
        stage.session.end_wait(wait)?;
        stage.follow_up(root, child)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.run(child, Command::new("cargo bench", "light: 12 ms\n"))?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.or(root, Verdict::new(Outcome::Recovered, cause));
        stage.end()
    }));
    // The child recovered the failure of the grandchild, so it does not propagate to the root.
    all.push(planted(
        "grandchild-task-again",
        "a failed grandchild is given its task again by the child",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let outer = stage.session.begin_wait(root, 60_000)?;
            let worker = stage.spawn(lead, "worker")?;
            let wait = stage.session.begin_wait(lead, 60_000)?;
            let failure = Failure::too_many_requests();
            let id = stage.session.fail_request_by(worker, &failure)?;
            stage.session.fail_turn_by(worker, &failure)?;
            let cause = RootCause::inference(Category::RateLimited, id);
            stage.verdict(worker, Outcome::Recovered, &cause);
            stage.or(worker, Verdict::new(Outcome::Failed, cause.clone()));
            stage.session.end_wait(wait)?;
            stage.follow_up(lead, worker)?;
            let wait = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 1)?;
            stage.answer(worker)?;
            stage.session.end_wait(wait)?;
            stage.answer(lead)?;
            stage.verdict(lead, Outcome::Recovered, &cause);
            stage.or(lead, Verdict::OK);
            stage.session.end_wait(outer)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    // The same, but in a later turn of the parent.
    all.push(planted(
        "child-task-in-next-turn",
        "a failed child is given its task again in the next turn",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let failure = Failure::overloaded();
            let id = stage.session.fail_request_by(child, &failure)?;
            stage.session.fail_turn_by(child, &failure)?;
            let cause = RootCause::inference(Category::ProviderError, id);
            stage.verdict(child, Outcome::Recovered, &cause);
            stage.or(child, Verdict::new(Outcome::Failed, cause.clone()));
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Recovered, &cause);
            stage.or(root, Verdict::OK);
            stage.prompt()?;
            stage.follow_up(root, child)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    all.push(planted("wait-again", "a wait runs out, the next one brings the child's answer", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 10_000)?;
        let cause = RootCause::tool(Category::WaitTimeout, wait.id());
        let command = Command::new("cargo build --release", "").takes(19_000);
        let command = stage.session.begin_command(child, &command)?;
        stage.session.advance(10_000);
        stage.session.end_wait(wait)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.session.end_command(command)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.verdict(root, Outcome::Recovered, &cause);
        stage.end()
    }));
    all.push(planted("wait-in-next-turn", "a wait runs out, that of the next turn is answered", |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let wait = stage.session.begin_wait(root, 10_000)?;
        let cause = RootCause::tool(Category::WaitTimeout, wait.id());
        stage.work(child, 1)?;
        stage.session.advance(10_000);
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.verdict(root, Outcome::Recovered, &cause);
        stage.prompt()?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
}
