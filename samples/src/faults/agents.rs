//! Faults between agents: chains of failures, agents that never finish, undelivered messages, and waits that time out.

use std::io;

use super::places::{Effect, Fault, Place, play};
use super::stage::{Stage, Step};
use super::truth::{Category, Outcome, RootCause, TurnTruth, Verdict};
use super::{Family, Planted};
use crate::session::{Agent, Command, Failure, Refusal, UnderWay};

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    chains(&mut all);
    never_finished(&mut all);
    undelivered(&mut all);
    undelivered_alike(&mut all);
    waits(&mut all);
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

/// A failure that propagates through a chain of agents keeps its root cause. That an agent failed is only a link of the
/// chain.
fn chains(all: &mut Vec<Planted>) {
    let category = Category::AgentFailed;
    all.push(planted(category, "three-deep", "three generations below the root a provider answers 503", |stage| {
        let failure = Failure::status(503, "Service Unavailable", "no capacity");
        let fault = Fault::new(Effect::EndsTurn(failure.clone()), move |stage, agent| {
            let id = stage.session.fail_request_by(agent, &failure)?;
            Ok(RootCause::inference(Category::ProviderError, id))
        });
        play(stage, Place::GreatGrandchild, &fault)
    }));
    all.push(planted(category, "tool-below", "a grandchild completes on top of a call with bad arguments", |stage| {
        let fault = Fault::new(Effect::GoesOn(Step::Patch), |stage, agent| {
            let refusal = Refusal::bad_arguments("[]", "invalid length 0, expected struct with 7 elements");
            Ok(RootCause::tool(Category::ToolBadArguments, stage.session.refuse(agent, &refusal)?))
        });
        play(stage, Place::ForkedGrandchild, &fault)
    }));
    // The root cause is the child's own failure. The agent that it waited for succeeded.
    all.push(planted(
        category,
        "child-not-grandchild",
        "a child fails after its own child succeeded",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let lead = stage.spawn(root, "lead")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let worker = stage.spawn(lead, "worker")?;
            let inner = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 2)?;
            stage.answer(worker)?;
            stage.session.end_wait(inner)?;
            let failure = Failure::context_window();
            let id = stage.session.fail_request_by(lead, &failure)?;
            stage.session.fail_turn_by(lead, &failure)?;
            let cause = RootCause::inference(Category::ContextOverflow, id);
            stage.verdict(lead, Outcome::Failed, &cause);
            stage.session.end_wait(wait)?;
            stage.work(root, 2)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    // One child recovered from a failure, so that failure does not propagate.
    all.push(planted(
        category,
        "not-the-recovered-one",
        "of two children one recovers and one fails",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let children = stage.spawn_all(root, &["first", "second"])?;
            let &[first, second] = children.as_slice() else { unreachable!("two were asked for") };
            let wait = stage.session.begin_wait(root, 60_000)?;
            let retried = stage.session.fail_request_by(first, &Failure::stream_closed())?;
            stage.work(first, 2)?;
            stage.answer(first)?;
            stage.verdict(first, Outcome::Recovered, &RootCause::inference(Category::StreamInterrupted, retried));
            stage.session.end_wait(wait)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(second, 1)?;
            let failure = Failure::usage_limit();
            let id = stage.session.fail_request_by(second, &failure)?;
            stage.session.fail_turn_by(second, &failure)?;
            let cause = RootCause::inference(Category::RateLimited, id);
            stage.verdict(second, Outcome::Failed, &cause);
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
}

/// An agent that the end of the session cuts off is unfinished. The cause is what was in progress in it, and its ancestors
/// are degraded by the same cause. The Codex CLI records such a turn as cancelled, and the turn as a whole was in progress
/// as well, so these verdicts are also accepted.
fn never_finished(all: &mut Vec<Planted>) {
    let category = Category::AgentNeverFinished;
    let request = |name: &str, what: &str, kin: Kin| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, kin)?;
            stage.work(child, 1)?;
            let pending = stage.session.begin_request(child)?;
            let cause = RootCause::inference(category, pending.id());
            cut_off(&mut stage, child, &cause);
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end_cutting_off(vec![UnderWay::Request(pending)])
        })
    };
    all.push(request("in-request", "the root ends while the child's model answers", Kin::Fresh));
    all.push(request("in-request-forked", "the same with a child that knows its parent's history", Kin::Forked));
    all.push(request("in-request-schema-1", "the same as old releases record it", Kin::Fresh).schema_1());

    // The wait timed out, and the agent never ended. The verdict must be about the agent, not about the wait.
    all.push(planted(
        category,
        "after-wait",
        "the root's wait runs out, the root ends, the child still works",
        move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, Kin::Fresh)?;
            let wait = stage.session.begin_wait(root, 30_000)?;
            stage.work(child, 1)?;
            let command = stage.session.begin_command(child, &Command::new("cargo build --release", ""))?;
            let cause = RootCause::tool(category, command.id());
            cut_off(&mut stage, child, &cause);
            stage.session.advance(30_000);
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end_cutting_off(vec![UnderWay::Command(command)])
        },
    ));
    // The provider had not begun its response, so no further event of the request is recorded.
    all.push(planted(category, "in-silence", "the provider is silent when the session ends", move |mut stage| {
        let root = stage.root;
        let child = open_child(&mut stage, Kin::Fresh)?;
        let pending = stage.session.begin_request(child)?;
        let cause = RootCause::inference(category, pending.id());
        cut_off(&mut stage, child, &cause);
        stage.answer(root)?;
        stage.rises_to(&[root], &cause);
        stage.end_cutting_off(vec![UnderWay::SilentRequest(pending)])
    }));
    // The child ended without waiting. It is degraded like the root.
    all.push(planted(category, "grandchild", "a child answers while its own child still works", move |mut stage| {
        let root = stage.root;
        let lead = open_child(&mut stage, Kin::Fresh)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        let worker = stage.spawn(lead, "worker")?;
        stage.work(worker, 1)?;
        let command = stage.session.begin_command(worker, &Command::new("cargo bench", ""))?;
        let cause = RootCause::tool(category, command.id());
        cut_off(&mut stage, worker, &cause);
        stage.answer(lead)?;
        stage.session.end_wait(wait)?;
        stage.work(root, 1)?;
        stage.answer(root)?;
        stage.rises_to(&[lead, root], &cause);
        stage.end_cutting_off(vec![UnderWay::Command(command)])
    }));
    // Both are cut off, the child only because it waited for the grandchild.
    all.push(planted(category, "both", "a child and the child that it waits for are cut off", move |mut stage| {
        let root = stage.root;
        let lead = open_child(&mut stage, Kin::Fresh)?;
        let worker = stage.spawn(lead, "worker")?;
        let wait = stage.session.begin_wait(lead, 600_000)?;
        stage.work(worker, 1)?;
        let pending = stage.session.begin_request(worker)?;
        let cause = RootCause::inference(category, pending.id());
        cut_off(&mut stage, worker, &cause);
        cut_off(&mut stage, lead, &cause);
        stage.or_named(&cause, RootCause::tool(category, wait.id()));
        stage.work(root, 1)?;
        stage.answer(root)?;
        stage.rises_to(&[root], &cause);
        stage.end_cutting_off(vec![UnderWay::Request(pending), UnderWay::Wait(wait)])
    }));
    all.push(planted(
        category,
        "second-task",
        "a child did its first task and is cut off in the second",
        move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, Kin::Fresh)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 1)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            stage.follow_up(root, child)?;
            let command = stage.session.begin_command(child, &Command::new("cargo test --release", ""))?;
            let cause = RootCause::tool(category, command.id());
            cut_off(&mut stage, child, &cause);
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end_cutting_off(vec![UnderWay::Command(command)])
        },
    ));
    // As another recorder writes it: the session ends normally, but the child's turn has no end event.
    all.push(planted(category, "unsaid", "a session ends, and a child's turn has no end at all", move |mut stage| {
        let root = stage.root;
        let child = open_child(&mut stage, Kin::Fresh)?;
        stage.work(child, 2)?;
        let pending = stage.session.begin_request(child)?;
        let cause = RootCause::inference(category, pending.id());
        cut_off(&mut stage, child, &cause);
        stage.answer(root)?;
        stage.rises_to(&[root], &cause);
        stage.end()
    }));
}

/// Expects that the end of the session cuts off the agent's turn because of `cause`.
pub(super) fn cut_off(stage: &mut Stage, agent: Agent, cause: &RootCause) {
    stage.verdict(agent, Outcome::Unfinished, cause);
    stage.or(agent, Verdict::new(Outcome::Cancelled, cause.clone()));
    stage.or_named(cause, RootCause::turn(cause.category, stage.session.latest_turn_id(agent)));
}

#[derive(Clone, Copy)]
enum Kin {
    Fresh,
    Forked,
}

/// Starts a turn in which the root works and then spawns a child.
fn open_child(stage: &mut Stage, kin: Kin) -> io::Result<Agent> {
    let root = stage.root;
    stage.prompt()?;
    stage.work(root, 1)?;
    match kin {
        Kin::Fresh => stage.spawn(root, "worker"),
        Kin::Forked => stage.fork(root, "clone"),
    }
}

/// An undelivered message is a fault of the sender's turn. The object of the cause is the call that sent the message.
fn undelivered(all: &mut Vec<Planted>) {
    let category = Category::MessageUndelivered;
    let ended = |name: &str, what: &str, kin: Kin| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, kin)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(child, 2)?;
            stage.answer(child)?;
            stage.session.end_wait(wait)?;
            let id = stage.session.send_message(root, child, "Please look at dim.rs as well.")?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        })
    };
    all.push(ended("to-ended-child", "a message to a child that has ended", Kin::Fresh));
    all.push(ended("to-ended-fork", "a message to a child with inherited history that has ended", Kin::Forked));
    all.push(ended("to-ended-child-schema-1", "the same as old releases record it", Kin::Fresh).schema_1());
    // The first message was read. That does not change that the second was not.
    all.push(planted(
        category,
        "second-message",
        "the first of two messages is read, the second comes too late",
        move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, Kin::Fresh)?;
            stage.work(child, 1)?;
            stage.session.send_message(root, child, "Numbers begin at one.")?;
            stage.work(child, 1)?;
            let pending = stage.session.begin_request(child)?;
            let id = stage.session.send_message(root, child, "And zero finds nothing.")?;
            stage.session.answer_pending(pending, "All numbers begin at one now.")?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        },
    ));
    // The parent had sent its last request already. Its own turn is degraded because that of the child is.
    all.push(planted(
        category,
        "to-parent",
        "a child's message comes while its parent has its last word",
        move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, Kin::Fresh)?;
            stage.work(child, 1)?;
            let pending = stage.session.begin_request(root)?;
            let id = stage.session.send_message(child, root, "Wick 0 is used in three more places.")?;
            stage.answer(child)?;
            let cause = RootCause::tool(category, id);
            stage.verdict(child, Outcome::Degraded, &cause);
            stage.session.answer_pending(pending, "Done, as far as I can see.")?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    all.push(planted(
        category,
        "to-ended-sibling",
        "a child writes to its sibling, which has ended",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let children = stage.spawn_all(root, &["north", "south"])?;
            let &[north, south] = children.as_slice() else { unreachable!("two were asked for") };
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(north, 1)?;
            stage.answer(north)?;
            stage.session.end_wait(wait)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let id = stage.session.send_message(south, north, "Did you count the last wick?")?;
            stage.work(south, 1)?;
            stage.answer(south)?;
            let cause = RootCause::tool(category, id);
            stage.verdict(south, Outcome::Degraded, &cause);
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
    all.push(planted(
        category,
        "to-ended-grandchild",
        "a child writes to its own child, which has ended",
        move |mut stage| {
            let root = stage.root;
            let lead = open_child(&mut stage, Kin::Fresh)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            let worker = stage.spawn(lead, "worker")?;
            let inner = stage.session.begin_wait(lead, 60_000)?;
            stage.work(worker, 1)?;
            stage.answer(worker)?;
            stage.session.end_wait(inner)?;
            let id = stage.session.send_message(lead, worker, "One more: the settings.")?;
            stage.answer(lead)?;
            let cause = RootCause::tool(category, id);
            stage.verdict(lead, Outcome::Degraded, &cause);
            stage.session.end_wait(wait)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.rises_to(&[root], &cause);
            stage.end()
        },
    ));
}

/// Messages with texts that do not show which of them was read.
fn undelivered_alike(all: &mut Vec<Planted>) {
    let category = Category::MessageUndelivered;
    let twice = |name: &str, what: &str, first: &'static str, second: &'static str| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, Kin::Fresh)?;
            stage.session.send_message(root, child, first)?;
            stage.work(child, 2)?;
            stage.answer(child)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.session.end_wait(wait)?;
            let id = stage.session.send_message(root, child, second)?;
            stage.work(root, 1)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        })
    };
    let same = "Please count from one.";
    all.push(twice("same-text", "the same message twice, and only the first is read", same, same));
    all.push(twice("same-text-schema-1", "the same as old releases record it", same, same).schema_1());
    all.push(twice("text-within", "a message that is a part of an earlier one is not read", same, "count from one"));
    all.push(twice("text-within-schema-1", "the same as old releases record it", same, "count from one").schema_1());
    all.push(planted(
        category,
        "one-of-two",
        "of two children who are told the same one has ended",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let children = stage.spawn_all(root, &["quick", "slow"])?;
            let &[quick, slow_child] = children.as_slice() else { unreachable!("two were asked for") };
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(slow_child, 1)?;
            stage.work(quick, 1)?;
            stage.answer(quick)?;
            stage.session.end_wait(wait)?;
            stage.session.send_message(root, slow_child, same)?;
            let id = stage.session.send_message(root, quick, same)?;
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(slow_child, 1)?;
            stage.answer(slow_child)?;
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &RootCause::tool(category, id));
            stage.end()
        },
    ));
}

/// Waits that timed out although the agent ended later, without the waiting agent noticing.
fn waits(all: &mut Vec<Planted>) {
    let category = Category::WaitTimeout;
    let late = |name: &str, what: &str, kin: Kin| {
        planted(category, name, what, move |mut stage| {
            let root = stage.root;
            let child = open_child(&mut stage, kin)?;
            let wait = stage.session.begin_wait(root, 30_000)?;
            let cause = RootCause::tool(category, wait.id());
            let command = stage.session.begin_command(child, &slow())?;
            stage.session.advance(30_000);
            stage.session.end_wait(wait)?;
            stage.answer(root)?;
            stage.verdict(root, Outcome::Degraded, &cause);
            stage.session.end_command(command)?;
            stage.answer(child)?;
            stage.end()
        })
    };
    all.push(late("then-answer", "the root's wait runs out, and it answers before its child does", Kin::Fresh));
    all.push(late("then-answer-forked", "the same with a child that knows its parent's history", Kin::Forked));
    all.push(late("then-answer-schema-1", "the same as old releases record it", Kin::Fresh).schema_1());
    // An earlier wait for another child succeeded, which does not count, since it was not later. The commands that follow
    // are not waits.
    all.push(planted(
        category,
        "after-good-wait",
        "the first wait is answered, the second runs out",
        move |mut stage| {
            let root = stage.root;
            stage.prompt()?;
            let children = stage.spawn_all(root, &["quick", "slow"])?;
            let &[quick, slow_child] = children.as_slice() else { unreachable!("two were asked for") };
            let wait = stage.session.begin_wait(root, 60_000)?;
            stage.work(quick, 1)?;
            let command = stage.session.begin_command(slow_child, &slow())?;
            stage.answer(quick)?;
            stage.session.end_wait(wait)?;
            let wait = stage.session.begin_wait(root, 20_000)?;
            let cause = RootCause::tool(category, wait.id());
            stage.session.advance(20_000);
            stage.session.end_wait(wait)?;
            stage.work(root, 2)?;
            let pending = stage.session.begin_request(root)?;
            stage.session.end_command(command)?;
            stage.answer(slow_child)?;
            stage.session.answer_pending(pending, "The slow half is missing.")?;
            stage.verdict(root, Outcome::Degraded, &cause);
            stage.end()
        },
    ));
    all.push(planted(category, "of-child", "a child's wait for its own child runs out", move |mut stage| {
        let root = stage.root;
        let lead = open_child(&mut stage, Kin::Fresh)?;
        let outer = stage.session.begin_wait(root, 600_000)?;
        let worker = stage.spawn(lead, "worker")?;
        let command = stage.session.begin_command(worker, &slow())?;
        let wait = stage.session.begin_wait(lead, 25_000)?;
        let cause = RootCause::tool(category, wait.id());
        stage.session.advance(25_000);
        stage.session.end_wait(wait)?;
        stage.answer(lead)?;
        stage.verdict(lead, Outcome::Degraded, &cause);
        stage.session.end_wait(outer)?;
        stage.work(root, 1)?;
        stage.session.end_command(command)?;
        stage.answer(worker)?;
        stage.answer(root)?;
        stage.rises_to(&[root], &cause);
        stage.end()
    }));
    all.push(planted(category, "second-turn", "the wait of the second turn runs out", move |mut stage| {
        let root = stage.root;
        let child = open_child(&mut stage, Kin::Fresh)?;
        let wait = stage.session.begin_wait(root, 60_000)?;
        stage.work(child, 1)?;
        stage.answer(child)?;
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.prompt()?;
        stage.follow_up(root, child)?;
        let command = stage.session.begin_command(child, &slow())?;
        let wait = stage.session.begin_wait(root, 15_000)?;
        let cause = RootCause::tool(category, wait.id());
        stage.session.advance(15_000);
        stage.session.end_wait(wait)?;
        stage.answer(root)?;
        stage.verdict(root, Outcome::Degraded, &cause);
        stage.session.end_command(command)?;
        stage.answer(child)?;
        stage.end()
    }));
}

fn slow() -> Command {
    Command::new("cargo test --release", "test result: ok. 12 passed; 0 failed\n").takes(41_000)
}
