//! Positions of a fault in a session, and what happens around it.

use std::io;

use super::stage::{Stage, Step};
use super::truth::{Outcome, RootCause, TurnTruth};
use crate::session::{Agent, Failure};

/// Position of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The first step of the only agent.
    First,
    /// Between other steps of the only agent.
    Middle,
    /// The last step of the only agent, before its final answer.
    Last,
    /// The last of two turns.
    SecondTurn,
    /// The first of two turns. The second succeeds at other kinds of things.
    FirstOfTwoTurns,
    /// In the root agent, beside a child in which everything succeeds.
    BesideChild,
    /// In a child.
    Child,
    /// In a child that inherits the history of its parent.
    Fork,
    /// In the second task of a child.
    SecondTask,
    /// In the middle one of three children.
    MiddleSibling,
    /// In a child's child.
    Grandchild,
    /// In a child's child. Both inherit the history of their parents.
    ForkedGrandchild,
    /// In a child's child's child.
    GreatGrandchild,
}

impl Place {
    /// Returns the part of a session's name that describes the position.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "root-first",
            Self::Middle => "root-middle",
            Self::Last => "root-last",
            Self::SecondTurn => "root-second-turn",
            Self::FirstOfTwoTurns => "root-first-turn",
            Self::BesideChild => "root-beside-child",
            Self::Child => "child",
            Self::Fork => "forked-child",
            Self::SecondTask => "child-second-task",
            Self::MiddleSibling => "middle-sibling",
            Self::Grandchild => "grandchild",
            Self::ForkedGrandchild => "forked-grandchild",
            Self::GreatGrandchild => "great-grandchild",
        }
    }
}

/// How a fault affects its turn.
#[derive(Debug, Clone)]
pub(super) enum Effect {
    /// It ends the turn.
    EndsTurn(Failure),
    /// It ends the turn, and no event reports it to the client, as with another recorder than that of the Codex CLI.
    EndsTurnUnsaid(&'static str),
    /// The turn continues with a step of another kind, which succeeds.
    GoesOn(Step),
}

type Plant = Box<dyn Fn(&mut Stage, Agent) -> io::Result<RootCause> + Send + Sync>;

/// A fault, and how it affects its turn.
pub(super) struct Fault {
    plant: Plant,
    effect: Effect,
}

impl Fault {
    pub(super) fn new(
        effect: Effect,
        plant: impl Fn(&mut Stage, Agent) -> io::Result<RootCause> + Send + Sync + 'static,
    ) -> Self {
        Self { plant: Box::new(plant), effect }
    }

    /// Plants the fault in the agent's turn and ends the turn.
    fn strike(&self, stage: &mut Stage, agent: Agent, steps_after: usize) -> io::Result<RootCause> {
        let cause = (self.plant)(stage, agent)?;
        match &self.effect {
            Effect::EndsTurn(failure) => {
                stage.session.fail_turn_by(agent, failure)?;
                stage.verdict(agent, Outcome::Failed, &cause);
            }
            Effect::EndsTurnUnsaid(message) => {
                stage.session.fail_turn_silently(agent)?;
                stage.session.report_error(agent, message)?;
                stage.verdict(agent, Outcome::Failed, &cause);
            }
            Effect::GoesOn(step) => {
                for _ in 0..steps_after {
                    stage.succeed(agent, *step)?;
                }
                stage.answer(agent)?;
                stage.verdict(agent, Outcome::Degraded, &cause);
            }
        }
        Ok(cause)
    }
}

/// Makes an agent above the fault succeed at steps of the same kinds. They are in another thread, so they do not count as a
/// recovery.
fn succeed_elsewhere(stage: &mut Stage, agent: Agent) -> io::Result<()> {
    stage.work(agent, 1)?;
    stage.succeed(agent, Step::Patch)?;
    stage.succeed(agent, Step::Mcp)
}

/// Records a session with the fault at the given position.
pub(super) fn play(mut stage: Stage, place: Place, fault: &Fault) -> io::Result<Vec<TurnTruth>> {
    let stage_mut = &mut stage;
    let root = stage_mut.root;
    match place {
        Place::First | Place::Middle | Place::Last => {
            stage_mut.prompt()?;
            let (before, after) = match place {
                Place::First => (0, 3),
                Place::Middle => (2, 2),
                _ => (3, 0),
            };
            stage_mut.work(root, before)?;
            fault.strike(stage_mut, root, after)?;
        }
        Place::SecondTurn => {
            // Success before a failure is not a recovery.
            stage_mut.prompt()?;
            stage_mut.work(root, 2)?;
            stage_mut.succeed(root, Step::Patch)?;
            stage_mut.answer(root)?;
            stage_mut.session.advance(45_000);
            stage_mut.prompt()?;
            stage_mut.work(root, 1)?;
            fault.strike(stage_mut, root, 1)?;
        }
        Place::FirstOfTwoTurns => {
            stage_mut.prompt()?;
            stage_mut.work(root, 2)?;
            fault.strike(stage_mut, root, 1)?;
            stage_mut.session.advance(45_000);
            stage_mut.prompt()?;
            if let Effect::GoesOn(step) = fault.effect {
                stage_mut.succeed(root, step)?;
                stage_mut.succeed(root, step)?;
            }
            stage_mut.answer(root)?;
        }
        Place::BesideChild => beside_child(stage_mut, fault)?,
        Place::MiddleSibling => middle_sibling(stage_mut, fault)?,
        Place::SecondTask => second_task(stage_mut, fault)?,
        Place::Child => below(stage_mut, &["worker"], Kin::Fresh, fault)?,
        Place::Fork => below(stage_mut, &["clone"], Kin::Forked, fault)?,
        Place::Grandchild => below(stage_mut, &["lead", "worker"], Kin::Fresh, fault)?,
        Place::ForkedGrandchild => below(stage_mut, &["lead", "clone"], Kin::Forked, fault)?,
        Place::GreatGrandchild => below(stage_mut, &["lead", "helper", "worker"], Kin::Fresh, fault)?,
    }
    stage.end()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kin {
    Fresh,
    Forked,
}

/// Records a chain of agents with the fault in the lowest one. Each agent waits for the one below and then continues.
fn below(stage: &mut Stage, names: &[&str], kin: Kin, fault: &Fault) -> io::Result<()> {
    stage.prompt()?;
    stage.work(stage.root, 1)?;
    let mut chain = vec![stage.root];
    let mut waits = Vec::new();
    for name in names {
        let parent = *chain.last().unwrap_or(&stage.root);
        if parent != stage.root {
            stage.work(parent, 1)?;
        }
        let child = match kin {
            Kin::Fresh => stage.spawn(parent, name)?,
            Kin::Forked => stage.fork(parent, name)?,
        };
        waits.push(stage.session.begin_wait(parent, 60_000)?);
        chain.push(child);
    }
    let lowest = chain.pop().unwrap_or(stage.root);
    stage.work(lowest, 2)?;
    let cause = fault.strike(stage, lowest, 1)?;
    for (agent, wait) in chain.into_iter().rev().zip(waits.into_iter().rev()) {
        stage.session.end_wait(wait)?;
        succeed_elsewhere(stage, agent)?;
        stage.answer(agent)?;
        stage.rises_to(&[agent], &cause);
    }
    Ok(())
}

fn beside_child(stage: &mut Stage, fault: &Fault) -> io::Result<()> {
    let root = stage.root;
    stage.prompt()?;
    let child = stage.spawn(root, "helper")?;
    stage.work(root, 1)?;
    stage.work(child, 1)?;
    // The child succeeds after the fault in the order of the log, but in another thread.
    let wait = stage.session.begin_wait(root, 60_000)?;
    stage.work(child, 1)?;
    stage.succeed(child, Step::Patch)?;
    stage.answer(child)?;
    stage.session.end_wait(wait)?;
    fault.strike(stage, root, 2)?;
    Ok(())
}

fn middle_sibling(stage: &mut Stage, fault: &Fault) -> io::Result<()> {
    let root = stage.root;
    stage.prompt()?;
    let children = stage.spawn_all(root, &["north", "middle", "south"])?;
    let &[north, middle, south] = children.as_slice() else { unreachable!("three were asked for") };
    let wait = stage.session.begin_wait(root, 60_000)?;
    for child in [north, middle, south] {
        stage.work(child, 1)?;
    }
    let cause = fault.strike(stage, middle, 1)?;
    stage.session.end_wait(wait)?;
    let wait = stage.session.begin_wait(root, 60_000)?;
    for child in [south, north] {
        stage.work(child, 1)?;
        stage.succeed(child, Step::Patch)?;
        stage.succeed(child, Step::Mcp)?;
        stage.answer(child)?;
    }
    stage.session.end_wait(wait)?;
    stage.work(root, 1)?;
    stage.answer(root)?;
    stage.rises_to(&[root], &cause);
    Ok(())
}

fn second_task(stage: &mut Stage, fault: &Fault) -> io::Result<()> {
    let root = stage.root;
    stage.prompt()?;
    let child = stage.spawn(root, "worker")?;
    let wait = stage.session.begin_wait(root, 60_000)?;
    stage.work(child, 2)?;
    stage.succeed(child, Step::Patch)?;
    stage.succeed(child, Step::Mcp)?;
    stage.answer(child)?;
    stage.session.end_wait(wait)?;
    stage.follow_up(root, child)?;
    let wait = stage.session.begin_wait(root, 60_000)?;
    let cause = fault.strike(stage, child, 1)?;
    stage.session.end_wait(wait)?;
    succeed_elsewhere(stage, root)?;
    stage.answer(root)?;
    stage.rises_to(&[root], &cause);
    Ok(())
}
