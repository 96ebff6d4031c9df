//! Faults over several turns and tasks: a child that fails in more than one turn, tasks from agents other than the parent,
//! agents that are stopped above a failure, and commands in the background.

use std::io;

use serde_json::json;

use super::stage::Stage;
use super::truth::{Category, Outcome, RootCause, TurnTruth};
use super::{Family, Planted};
use crate::session::{Agent, Command, Failure, McpCall, Refusal, UnderWay};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    failing_twice(&mut all);
    stopped_above(&mut all);
    further_up(&mut all);
    background(&mut all);
    words(&mut all);
    without_requests(&mut all);
    all
}

fn planted(
    category: Category,
    name: &str,
    what: &str,
    script: impl Fn(Stage) -> io::Result<Vec<TurnTruth>> + Send + Sync + 'static,
) -> Planted {
    Planted::new(Family::Fault(category), format!("{}-{name}", category.name().replace('_', "-")), what, script)
}

/// Makes the agent's turn fail because of the provider.
fn fail(stage: &mut Stage, agent: Agent, category: Category, failure: &Failure) -> io::Result<RootCause> {
    let id = stage.session.fail_request_by(agent, failure)?;
    stage.session.fail_turn_by(agent, failure)?;
    let cause = RootCause::inference(category, id);
    stage.verdict(agent, Outcome::Failed, &cause);
    Ok(cause)
}

/// A child that fails again has not recovered.
fn failing_twice(all: &mut Vec<Planted>) {
    let busy = || Failure::status(503, "Service Unavailable", "busy");
    all.push(planted(
        Category::ProviderError,
        "again-in-next-turn",
        "a child fails in two turns of its parent, each time by something else",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let cause = fail(&mut stage, child, Category::ProviderError, &busy())?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.prompt()?;
            stage.follow_up(root, child)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let cause = fail(&mut stage, child, Category::ProviderError, &Failure::overloaded())?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    all.push(planted(
        Category::ProviderError,
        "twice-in-one-turn",
        "a child fails twice in one turn of its parent: the first failure is the cause",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let cause = fail(&mut stage, child, Category::ProviderError, &busy())?;
            stage.session.end_wait(wait)?;
            stage.follow_up(root, child)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            fail(&mut stage, child, Category::ProviderError, &Failure::overloaded())?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
}

/// Stopping an agent does not recover a failure below it.
fn stopped_above(all: &mut Vec<Planted>) {
    let stop_lead = |stage: &mut Stage, lead: Agent| -> io::Result<()> {
        let wait = stage.session.begin_wait(lead, 60_000)?;
        stage.session.stop_agent(stage.root, lead, &json!("running"))?;
        stage.verdict(lead, Outcome::Cancelled, &RootCause::tool(Category::InterruptedByAgent, wait.id()));
        stage.session.interrupt_wait(wait)
    };
    all.push(planted(
        Category::ProviderError,
        "below-a-stopped-agent",
        "the root stops its child, and the grandchild fails after that",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let worker = stage.spawn(lead, "worker")?;
            stop_lead(&mut stage, lead)?;
            let cause = fail(&mut stage, worker, Category::ProviderError, &Failure::internal_error())?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    all.push(planted(
        Category::AgentNeverFinished,
        "below-a-stopped-agent",
        "the root stops its child, and the grandchild is cut off by the end of the session",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let worker = stage.spawn(lead, "worker")?;
            stop_lead(&mut stage, lead)?;
            let command = stage.session.begin_command(worker, &Command::new("cargo bench", ""))?;
            let cause = RootCause::tool(Category::AgentNeverFinished, command.id());
            stage.answer(root)?;
            super::agents::cut_off(&mut stage, worker, &cause);
            stage.rises_to(&[root], &cause);
            stage.end_cutting_off(vec![UnderWay::Command(command)])
        },
    ));
}

/// A turn is degraded by failures in the tasks that it gave, whoever spawned the agent, and by agents that it waited for in
/// vain.
fn further_up(all: &mut Vec<Planted>) {
    all.push(planted(
        Category::ProviderError,
        "in-task-from-the-root",
        "the root gives its grandchild a task, in which it fails; the child in between has no part in it",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let outer = stage.session.begin_wait(root, 60_000)?;
            let worker = stage.spawn(lead, "worker")?;
            let inner = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 1)?;
            stage.answer(worker)?;
            stage.session.end_wait(inner)?;
            stage.answer(lead)?;
            stage.session.end_wait(outer)?;
            stage.answer(root)?;
            stage.prompt()?;
            stage.follow_up(root, worker)?;
            let cause = fail(&mut stage, worker, Category::ProviderError, &Failure::internal_error())?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    all.push(planted(
        Category::AgentNeverFinished,
        "wait-in-next-turn",
        "a turn starts a child, the next one waits for it in vain, and it never ends",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(child, &Command::new("cargo bench", ""))?;
            let cause = RootCause::tool(Category::AgentNeverFinished, command.id());
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.prompt()?;
            let wait = stage.session.begin_wait(root, 10_000)?;
            stage.session.advance(10_000);
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            super::agents::cut_off(&mut stage, child, &cause);
            stage.end_cutting_off(vec![UnderWay::Command(command)])
        },
    ));
    // Schema 1 has no events for the end of a session that is killed.
    all.push(
        planted(
            Category::AgentNeverFinished,
            "after-the-last-turn-schema-1",
            "old releases: a child is cut off after the root's last turn, and the session has no end",
            |mut stage| {
                let root = stage.root;
                stage.prompt()?;
                let child = stage.spawn(root, "worker")?;
                let command = stage.session.begin_command(child, &Command::new("cargo bench", ""))?;
                let cause = RootCause::tool(Category::AgentNeverFinished, command.id());
                stage.answer(root)?;
                stage.rises_to(&[root], &cause);
                stage.session.interrupt_command(&command)?;
                stage.verdict(child, Outcome::Unfinished, &cause);
                Ok(stage.die())
            },
        )
        .schema_1(),
    );
}

/// A command in the background fails when it ends. The fault belongs to the turn that is notified of it.
fn background(all: &mut Vec<Planted>) {
    all.push(planted(
        Category::ToolFailed,
        "background-told-in-next-turn",
        "a command goes to the background and fails; the next turn is told",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let command = Command::new("sleep 4; exit 3", "").exits(3).takes(4_000);
            let command = stage.session.begin_background_command(root, &command)?;
            stage.answer(root)?;
            stage.prompt()?;
            let cause = RootCause::tool(Category::ToolFailed, command.id());
            stage.session.outlive_turn(&command)?;
            stage.work(root, 1)?;
            stage.session.poll_command(root, &command, "")?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &cause);
            stage.end()
        },
    ));
    // A command that succeeded while it ran is not a later success.
    all.push(planted(
        Category::ToolFailed,
        "background-after-success",
        "a command in the background fails after another one worked",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let command = Command::new("sleep 9; exit 3", "").exits(3).takes(9_000);
            let command = stage.session.begin_background_command(root, &command)?;
            stage.run(root, Command::new("ls", "src\n"))?;
            let cause = RootCause::tool(Category::ToolFailed, command.id());
            stage.session.outlive_turn(&command)?;
            stage.session.poll_command(root, &command, "")?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &cause);
            stage.end()
        },
    ));
    all.push(Planted::new(
        Family::Recovered,
        "recovered-by-a-server",
        "a command fails, and the next one runs well in the background",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let id = stage.run(root, Command::new("./serve --port 80", "permission denied\n").exits(1))?;
            let server = Command::new("./serve --port 8080", "").takes(600_000);
            let server = stage.session.begin_background_command(root, &server)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Recovered, &RootCause::tool(Category::ToolFailed, id));
            stage.session.kill_command(&server)?;
            stage.end()
        },
    ));
    all.push(Planted::new(
        Family::Healthy,
        "healthy-own-interrupt",
        "an agent ends its own command in the background by ctrl-C",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let server = Command::new("./serve --port 8080", "^C").exits(130).takes(3_000);
            let server = stage.session.begin_background_command(root, &server)?;
            stage.work(root, 1)?;
            stage.session.outlive_turn(&server)?;
            stage.session.poll_command(root, &server, "\u{3}")?;
            stage.answer(root)?;
            stage.end()
        },
    ));
}

/// Failures whose messages quote other kinds of failures.
fn words(all: &mut Vec<Planted>) {
    let alone = |category: Category, name: &str, what: &str, act: fn(&mut Stage, Agent) -> io::Result<String>| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let id = act(&mut stage, root)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        })
    };
    all.push(alone(
        Category::PatchFailed,
        "quoting-a-rejection",
        "a patch does not fit a file in which calls are rejected by users",
        |stage, root| {
            let problem = "Failed to find expected lines in errors.md:\nthe call was rejected by user";
            stage.session.refuse(root, &Refusal::patch("*** Begin Patch\n*** End Patch\n", problem))
        },
    ));
    for (name, cause) in [
        ("rejecting", "Mcp error: -32000: the user rejected the row"),
        ("timing-out", "Mcp error: -32000: the database timed out"),
    ] {
        all.push(planted(Category::McpError, name, "a server answers with an error of its own", move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let call = McpCall::new("rows", "put", json!({ "row": 4 }), "").breaks(cause);
            let id = stage.session.call_mcp(root, &call)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(Category::McpError, id));
            stage.end()
        }));
    }
    all.push(alone(
        Category::ToolFailed,
        "124-without-timeout",
        "a command looks for the word timeout, and exits with 124",
        |stage, root| stage.run(root, Command::new("grep -c timeout wick.toml; exit 124", "0\n").exits(124)),
    ));
    all.push(planted(
        Category::ProviderError,
        "context-window-in-503",
        "the provider's context window service is overloaded",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let failure = Failure::status(503, "Service Unavailable", "the context window service is overloaded");
            fail(&mut stage, root, Category::ProviderError, &failure)?;
            stage.end()
        },
    ));
}

/// The client was notified of an error although no request of the turn failed, or the other way round.
fn without_requests(all: &mut Vec<Planted>) {
    all.push(
        planted(
            Category::ProviderError,
            "untold-schema-1",
            "old releases: the last request of a turn fails, the turn counts as completed, and nobody is told",
            |mut stage| {
                let root = stage.root;
                stage.prompt()?;
                stage.work(root, 1)?;
                let failure = Failure::status(503, "Service Unavailable", "busy");
                let id = stage.session.fail_request_by(root, &failure)?;
                stage.session.fail_turn_silently(root)?;
                stage.verdict(root, Outcome::Failed, &RootCause::inference(Category::ProviderError, id));
                stage.end()
            },
        )
        .schema_1(),
    );
    all.push(planted(
        Category::ProviderError,
        "without-a-request",
        "a turn fails after a command failed, and only the client is told why",
        |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.run(root, Command::new("false", "").exits(1))?;
            stage.session.fail_turn_by(root, &Failure::internal_error())?;
            let turn_id = stage.session.latest_turn_id(root);
            stage.verdict(root, Outcome::Failed, &RootCause::turn(Category::ProviderError, turn_id));
            stage.end()
        },
    ));
}
