//! Turns that are interrupted, and recordings that are truncated.

use std::io;

use serde_json::json;

use super::stage::{Stage, Step};
use super::truth::{Category, Outcome, RootCause, TurnTruth};
use super::{Family, Planted};
use crate::session::{Agent, Command};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    by_user(&mut all);
    by_agent(&mut all);
    truncated(&mut all);
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

fn build() -> Command {
    Command::new("cargo build --release", "").takes(60_000)
}

/// The object of the cause is what was in progress, or the turn if nothing was.
fn by_user(all: &mut Vec<Planted>) {
    let category = Category::InterruptedByUser;
    // The killed command looks like a failed one, but it ended after its turn.
    let command = |name: &str, what: &str| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 2)?;
            let command = stage.session.begin_command(root, &build())?;
            stage.session.advance(8_000);
            stage.session.interrupt_command(&command)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.session.kill_command(&command)?;
            stage.end()
        })
    };
    all.push(command("in-command", "the user stops the turn while a command runs"));
    all.push(command("in-command-schema-1", "the same as old releases record it").schema_1());
    // The turn was interrupted, whatever later turns do.
    all.push(planted(
        category,
        "then-more",
        "the user stops a turn; the next one does the same kind of thing well",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let command = stage.session.begin_command(root, &build())?;
            stage.session.advance(3_000);
            stage.session.interrupt_command(&command)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.prompt()?;
            stage.work(root, 2)?;
            stage.answer(root)?;
            stage.session.kill_command(&command)?;
            stage.end()
        },
    ));
    all.push(planted(category, "in-request", "the user stops the turn while the model answers", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 1)?;
        stage.succeed(root, Step::Patch)?;
        let pending = stage.session.begin_request(root)?;
        stage.verdict(root, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
        stage.session.advance(900);
        stage.session.interrupt_request(pending)?;
        stage.end()
    }));
    all.push(planted(
        category,
        "in-silence",
        "the user stops the second turn before the provider answers",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.prompt()?;
            let pending = stage.session.begin_request(root)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
            stage.session.advance(14_000);
            stage.session.interrupt_silent_request(&pending)?;
            stage.end()
        },
    ));
    all.push(planted(category, "between-steps", "the user stops the turn between two steps", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 3)?;
        let turn_id = stage.session.latest_turn_id(root);
        stage.session.interrupt_idle(root)?;
        stage.verdict(root, Outcome::Cancelled, &RootCause::turn(category, turn_id));
        stage.end()
    }));
    // The child continues and succeeds. Its turn is not affected.
    all.push(planted(
        category,
        "in-wait",
        "the user stops the root while it waits; the child goes on",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::tool(category, wait.id()));
            stage.session.interrupt_wait(wait)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.end()
        },
    ));
    all.push(planted(
        category,
        "beside-fork",
        "the user stops the root in a command; its clone goes on",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let child = stage.fork(root, "clone")?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(root, &build())?;
            stage.session.advance(2_000);
            stage.session.interrupt_command(&command)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.kill_command(&command)?;
            stage.end()
        },
    ));
    // The process was not killed and succeeds long after its turn. That is not a recovery.
    all.push(planted(
        category,
        "outlived",
        "the user stops the turn, and its command runs on to a good end",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 2)?;
            let command = stage.session.begin_command(root, &build())?;
            stage.session.advance(2_000);
            stage.session.interrupt_command(&command)?;
            stage.verdict(root, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.prompt()?;
            stage.succeed(root, Step::Patch)?;
            stage.session.outlive_turn(&command)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    // A failure before the interrupt is not its cause.
    all.push(planted(category, "after-failure", "a command fails, then the user stops the turn", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.run(root, Command::new("cargo test --quiet", "test result: FAILED. 2 failed\n").exits(101))?;
        let pending = stage.session.begin_request(root)?;
        stage.verdict(root, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
        stage.session.interrupt_request(pending)?;
        stage.end()
    }));
    // The user may also interrupt a child. Its turn then neither failed nor is it unfinished, and no waiting agent is
    // notified.
    all.push(planted(
        category,
        "of-child",
        "the user stops a child, for which the root waits in vain",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 20_000)?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(child, &build())?;
            stage.session.advance(4_000);
            stage.session.interrupt_command(&command)?;
            stage.verdict(child, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.session.kill_command(&command)?;
            stage.session.advance(16_000);
            stage.session.end_wait(wait)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
}

/// A child that an agent stops on purpose degrades no other turn.
fn by_agent(all: &mut Vec<Planted>) {
    let category = Category::InterruptedByAgent;
    let running = json!("running");
    let command = |name: &str, what: &str, spawn: fn(&mut Stage, Agent, &str) -> io::Result<Agent>| {
        let running = running.clone();
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let child = spawn(&mut stage, root, "worker")?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(child, &build())?;
            stage.work(root, 1)?;
            stage.session.stop_agent(root, child, &running)?;
            stage.session.interrupt_command(&command)?;
            stage.verdict(child, Outcome::Cancelled, &RootCause::tool(category, command.id()));
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.session.kill_command(&command)?;
            stage.end()
        })
    };
    all.push(command("in-command", "the root stops its child while a command runs", Stage::spawn));
    all.push(command("in-command-forked", "the same with a child that knows its parent's history", Stage::fork));
    all.push(command("in-command-schema-1", "the same as old releases record it", Stage::spawn).schema_1());
    all.push(planted(
        category,
        "in-request",
        "the root stops its child while the child's model answers",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            stage.work(child, 2)?;
            let pending = stage.session.begin_request(child)?;
            stage.verdict(child, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
            stage.session.stop_agent(root, child, &json!("running"))?;
            stage.session.interrupt_request(pending)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    all.push(planted(category, "grandchild", "a child stops its own child between two steps", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let lead = stage.spawn(root, "lead")?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        let worker = stage.spawn(lead, "worker")?;
        stage.work(worker, 2)?;
        stage.session.stop_agent(lead, worker, &json!("running"))?;
        let turn_id = stage.session.latest_turn_id(worker);
        stage.session.interrupt_idle(worker)?;
        stage.verdict(worker, Outcome::Cancelled, &RootCause::turn(category, turn_id));
        stage.work(lead, 1)?;
        stage.answer(lead)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
    // The grandchild was not stopped. It succeeds although no agent reads its result.
    all.push(planted(
        category,
        "in-wait",
        "the root stops its child, which waits for its own child",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let worker = stage.spawn(lead, "worker")?;
            let wait = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 1)?;
            stage.session.stop_agent(root, lead, &json!("running"))?;
            stage.verdict(lead, Outcome::Cancelled, &RootCause::tool(category, wait.id()));
            stage.session.interrupt_wait(wait)?;
            stage.work(worker, 1)?;
            stage.answer(worker)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
    // A stopped child does not notify a waiting agent, so a wait for it times out. The child ended before the wait did.
    all.push(planted(category, "then-wait", "the root stops its child and waits for it in vain", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        stage.work(child, 1)?;
        let pending = stage.session.begin_request(child)?;
        stage.verdict(child, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
        stage.session.stop_agent(root, child, &json!("running"))?;
        stage.session.interrupt_request(pending)?;
        let wait = stage.session.begin_wait(root, 10_000)?;
        stage.session.advance(10_000);
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
    all.push(planted(category, "then-task", "the root stops its child and gives it another task", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        let child = stage.spawn(root, "worker")?;
        let command = stage.session.begin_command(child, &build())?;
        stage.session.stop_agent(root, child, &json!("running"))?;
        stage.session.interrupt_command(&command)?;
        stage.verdict(child, Outcome::Cancelled, &RootCause::tool(category, command.id()));
        stage.session.kill_command(&command)?;
        stage.follow_up(root, child)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.end()
    }));
    // A failure from which a stopped child did not recover degrades no other turn either.
    all.push(planted(
        category,
        "after-failure",
        "a child's command fails, then the root stops the child",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            stage.run(child, Command::new("cargo test --quiet", "test result: FAILED. 2 failed\n").exits(101))?;
            let pending = stage.session.begin_request(child)?;
            stage.verdict(child, Outcome::Cancelled, &RootCause::inference(category, pending.id()));
            stage.session.stop_agent(root, child, &json!("running"))?;
            stage.session.interrupt_request(pending)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.end()
        },
    ));
}

/// Every open turn is unfinished because of what was in progress in it, or because of itself if nothing was.
fn truncated(all: &mut Vec<Planted>) {
    let category = Category::RecordingTruncated;
    all.push(planted(category, "in-request", "the recording stops while the model answers", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 2)?;
        let pending = stage.session.begin_request(root)?;
        cut_in(&mut stage, root, &RootCause::inference(category, pending.id()));
        Ok(stage.die())
    }));
    let command = |name: &str, what: &str| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.prompt()?;
            stage.work(root, 1)?;
            let command = stage.session.begin_command(root, &build())?;
            cut_in(&mut stage, root, &RootCause::tool(category, command.id()));
            Ok(stage.die())
        })
    };
    all.push(command("in-command", "the recording stops in the second turn while a command runs"));
    all.push(command("in-command-schema-1", "the same as old releases record it").schema_1());
    all.push(planted(category, "between-steps", "the recording stops between two steps", move |mut stage| {
        let root = stage.root;
        stage.prompt()?;
        stage.work(root, 2)?;
        let turn_id = stage.session.latest_turn_id(root);
        stage.verdict(root, Outcome::Unfinished, &RootCause::turn(category, turn_id));
        Ok(stage.die())
    }));
    let mut torn =
        planted(category, "torn", "the last line of the recording is cut in the middle", move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let command = stage.session.begin_command(root, &build())?;
            cut_in(&mut stage, root, &RootCause::tool(category, command.id()));
            // The incomplete line is the end of the command.
            stage.session.end_command(command)?;
            stage.die_writing_after("tool_call_runtime_started")
        });
    torn.is_torn = true;
    all.push(torn);
    all.push(planted(
        category,
        "in-child",
        "the recording stops while a child works and the root waits",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            stage.work(root, 1)?;
            let child = stage.spawn(root, "worker")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(child, &build())?;
            cut_in(&mut stage, child, &RootCause::tool(category, command.id()));
            cut_in(&mut stage, root, &RootCause::tool(category, wait.id()));
            Ok(stage.die())
        },
    ));
    // The first child has ended and is not affected.
    all.push(planted(
        category,
        "in-grandchild",
        "the recording stops while a grandchild works and two wait",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let done = stage.spawn(root, "done")?;
            stage.work(done, 1)?;
            stage.answer(done)?;
            let lead = stage.fork(root, "lead")?;
            let outer = stage.session.begin_wait(root, 60_000)?;
            let worker = stage.spawn(lead, "worker")?;
            let inner = stage.session.begin_wait(lead, 60_000)?;
            let pending = stage.session.begin_request(worker)?;
            cut_in(&mut stage, worker, &RootCause::inference(category, pending.id()));
            cut_in(&mut stage, lead, &RootCause::tool(category, inner.id()));
            cut_in(&mut stage, root, &RootCause::tool(category, outer.id()));
            Ok(stage.die())
        },
    ));
    // The root's turn ended, but is degraded by a child that did not end.
    all.push(planted(
        category,
        "child-alone",
        "the recording stops after the root's turn, while a child works",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let child = stage.spawn(root, "worker")?;
            stage.work(child, 1)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            let command = stage.session.begin_command(child, &build())?;
            let cause = RootCause::tool(category, command.id());
            cut_in(&mut stage, child, &cause);
            stage.rises_to(&[root], &cause);
            Ok(stage.die())
        },
    ));
}

/// Expects that the agent's turn has no end because the recording is truncated. Naming the turn itself is also accepted.
fn cut_in(stage: &mut Stage, agent: Agent, cause: &RootCause) {
    let turn = RootCause::turn(cause.category, stage.session.latest_turn_id(agent));
    stage.verdict(agent, Outcome::Unfinished, cause);
    stage.or_named(cause, turn);
}
