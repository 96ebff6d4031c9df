//! From faults and stops to verdicts: what was made good, what rises, and what a turn's root cause is.

use std::collections::HashMap;

use serde_json::Value;
use trace_reducer::model::{
    Anchor, EdgeKind, ExecutionStatus, Handle, Moment, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx,
};

use super::chain::{self, Teller};
use super::faults::{self, Fault, Faults, Operation, error_message};
use super::stops::{Stop, Stops};
use super::texts::{Reach, request_failure};
use super::words::shortened;
use super::{Category, Confidence, Outcome, Postmortem};
use crate::family::Family;
use crate::object::Object;
use crate::session::Session;

/// Where a failure began, as the judge passes it on from agent to agent.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) category: Category,
    pub(super) object: Object,
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<TurnIdx>,
    pub(super) at: Moment,
    pub(super) message: String,
    pub(super) confidence: Confidence,
    pub(super) http_status: Option<u16>,
    pub(super) exit_code: Option<i64>,
    pub(super) attempts: usize,
    pub(super) rests_on: Vec<Object>,
    pub(super) missing: Vec<String>,
}

impl Cause {
    fn of_fault(fault: &Fault) -> Self {
        Self {
            category: fault.category,
            object: fault.object,
            thread: fault.thread,
            turn: fault.turn,
            at: fault.at,
            message: fault.message.clone(),
            confidence: fault.confidence,
            http_status: fault.http_status,
            exit_code: fault.exit_code,
            attempts: fault.attempts,
            rests_on: fault.rests_on.clone(),
            missing: fault.missing.clone(),
        }
    }

    fn of_stop(stop: Stop, thread: ThreadIdx, turn: TurnIdx) -> Self {
        Self {
            category: stop.category,
            object: stop.object,
            thread,
            turn: Some(turn),
            at: stop.at,
            message: stop.message,
            confidence: stop.confidence,
            http_status: None,
            exit_code: None,
            attempts: 1,
            rests_on: stop.rests_on,
            missing: stop.missing,
        }
    }
}

/// What the judge finds about one turn.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) outcome: Outcome,
    pub(super) cause: Option<Cause>,
    /// What else failed and was not made good.
    pub(super) others: Vec<Cause>,
    /// The child that handed the cause up, if it is not the turn's own.
    pub(super) from_child: Option<ThreadIdx>,
    /// When time was lost: from, until, in milliseconds since the Unix epoch.
    pub(super) lost: Vec<(i64, i64)>,
}

/// A failure of a child, as far as its parents are concerned.
struct Descent {
    child: ThreadIdx,
    turn: Option<TurnIdx>,
    cause: Cause,
    fate: Fate,
}

/// What became of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stands,
    MadeGood,
}

pub(super) fn judge(session: &Session) -> Postmortem {
    let trace = session.trace();
    let family = Family::new(trace);
    let faults = faults::find(session, &family);
    let stops = Stops::new(session, &family);
    let errors = faults::errors_of_turns(session);
    let mut judge = Judge {
        session,
        trace,
        family: &family,
        faults: &faults,
        by_turn: HashMap::new(),
        charged: charged_turns(trace, &family),
        stops: &stops,
        errors: &errors,
        findings: HashMap::new(),
        descents: HashMap::new(),
    };
    for fault in &faults.list {
        if let Some(turn) = judge.turn_of(fault) {
            judge.by_turn.entry(turn).or_default().push(fault);
        }
    }
    for thread in family.order().iter().rev() {
        judge.thread(*thread);
    }
    let teller = Teller::new(session, &family, &errors);
    let mut turns: Vec<TurnIdx> = trace.turns.handles().collect();
    turns.sort_by_key(|turn| trace.turns[*turn].execution.started);
    let verdicts = turns.into_iter().map(|turn| chain::tell(&teller, turn, &judge.findings));
    Postmortem { turns: verdicts.collect() }
}

struct Judge<'s> {
    session: &'s Session,
    trace: &'s Trace,
    family: &'s Family,
    faults: &'s Faults,
    by_turn: HashMap<TurnIdx, Vec<&'s Fault>>,
    /// For each child the turns of its parent that set it to work.
    charged: HashMap<ThreadIdx, Vec<TurnIdx>>,
    stops: &'s Stops<'s>,
    errors: &'s HashMap<Symbol, Value>,
    findings: HashMap<TurnIdx, Finding>,
    /// Children that came out badly, by the turn that they are charged to.
    descents: HashMap<TurnIdx, Vec<Descent>>,
}

impl Judge<'_> {
    /// Returns the turn of a fault; a call without one belongs to the turn that its thread was in.
    fn turn_of(&self, fault: &Fault) -> Option<TurnIdx> {
        fault.turn.or_else(|| {
            let turns = self.family.turns(fault.thread);
            let until = turns.partition_point(|turn| self.trace.turns[*turn].execution.started < fault.began);
            until.checked_sub(1).map(|last| turns[last])
        })
    }

    /// Judges the turns of a thread, whose children are judged already.
    fn thread(&mut self, thread: ThreadIdx) {
        let mut failed: Vec<Descent> = Vec::new();
        for child in self.family.children(thread) {
            failed.extend(self.descents_of(*child));
        }
        if !failed.is_empty() {
            let done = self.done_tasks(thread);
            for descent in &mut failed {
                if self.is_replaced(descent, &done) {
                    descent.fate = Fate::MadeGood;
                }
            }
        }
        for descent in failed {
            self.hand_up(descent);
        }
        for turn in self.family.turns(thread) {
            let finding = self.turn(*turn);
            self.findings.insert(*turn, finding);
        }
    }

    fn turn(&self, index: TurnIdx) -> Finding {
        let turn = &self.trace.turns[index];
        let own = self.by_turn.get(&index).map_or(&[][..], |faults| faults);
        let descents = self.descents.get(&index).map_or(&[][..], |descents| descents);
        match turn.execution.status {
            // Schema 1 calls every turn completed that was not stopped; the client was told better.
            ExecutionStatus::Completed if self.errors.contains_key(&turn.id) => self.failed(index, own, descents),
            ExecutionStatus::Completed => self.completed(own, descents),
            ExecutionStatus::Failed => self.failed(index, own, descents),
            ExecutionStatus::Running if turn.execution.ended.is_none() => self.cut_off(index, Outcome::Unfinished),
            _ => self.cut_off(index, Outcome::Cancelled),
        }
    }

    fn completed(&self, own: &[&Fault], descents: &[Descent]) -> Finding {
        let own: Vec<&Fault> = own.iter().filter(|fault| !self.is_explained(fault, descents)).copied().collect();
        let mut lost: Vec<(i64, i64)> = own.iter().map(|fault| lost_span(fault)).collect();
        for descent in descents {
            lost.extend(self.lost_by(&descent.cause));
            lost.extend(descent.turn.and_then(|turn| self.span_of(turn)));
        }
        // What an agent did not do weighs more than a call that failed on the way, and of these the first counts.
        let mut standing: Vec<&Descent> = descents.iter().filter(|descent| descent.fate == Fate::Stands).collect();
        standing.sort_by_key(|descent| descent.cause.at);
        let mut causes = standing.iter().map(|descent| descent.cause.clone()).collect::<Vec<_>>();
        let open = own.iter().filter(|fault| !self.faults.is_made_good(fault));
        causes.extend(open.map(|fault| Cause::of_fault(fault)));
        if !causes.is_empty() {
            let cause = Some(causes.remove(0));
            let from_child = standing.first().map(|descent| descent.child);
            causes.sort_by_key(|cause| cause.at);
            return Finding { outcome: Outcome::Degraded, cause, others: causes, from_child, lost };
        }
        if let Some(descent) = descents.iter().max_by_key(|descent| descent.cause.at) {
            return risen(Outcome::Recovered, descent, lost);
        }
        match own.last() {
            Some(fault) => {
                let cause = Some(Cause::of_fault(fault));
                Finding { outcome: Outcome::Recovered, cause, others: Vec::new(), from_child: None, lost }
            }
            None => Finding { outcome: Outcome::Ok, cause: None, others: Vec::new(), from_child: None, lost },
        }
    }

    /// Says whether a child explains a fault of its parent: a wait for an agent that never finished.
    fn is_explained(&self, fault: &Fault, descents: &[Descent]) -> bool {
        fault.category == Category::WaitTimeout
            && descents.iter().any(|descent| {
                self.trace.threads[descent.child].execution.started.seq < fault.at.seq
                    && descent.cause.category == Category::AgentNeverFinished
            })
    }

    fn failed(&self, index: TurnIdx, own: &[&Fault], descents: &[Descent]) -> Finding {
        let turn = &self.trace.turns[index];
        let lost = own.iter().map(|fault| lost_span(fault)).collect();
        // The request that was given up is what ended the turn; a tool that failed before it is not.
        let request = own.iter().rev().find(|fault| {
            matches!(fault.operation, Operation::Inference | Operation::Compaction)
                && !self.faults.is_answered_within(fault, index)
        });
        if let Some(fault) = request {
            return own_finding(Outcome::Failed, Cause::of_fault(fault), lost);
        }
        let standing = descents.iter().filter(|descent| descent.fate == Fate::Stands);
        if let Some(descent) = standing.min_by_key(|descent| descent.cause.at) {
            return risen(Outcome::Failed, descent, lost);
        }
        if let Some(fault) = own.iter().rev().find(|fault| !self.faults.is_made_good(fault)) {
            let mut cause = Cause::of_fault(fault);
            cause.confidence = Confidence::Low;
            cause.missing.push("what ended the turn; the last thing that failed in it stands in".to_owned());
            return own_finding(Outcome::Failed, cause, lost);
        }
        let told = self.errors.get(&turn.id).and_then(error_message);
        let failure = told.map(|told| request_failure(told, None, Reach::Begun));
        let cause = Cause {
            category: failure.map_or(Category::Unknown, |failure| failure.category),
            object: Object::Turn(index),
            thread: turn.thread,
            turn: Some(index),
            at: turn.execution.ended.unwrap_or(turn.execution.started),
            message: told.map_or_else(|| "the turn failed and nothing in it did".to_owned(), shortened),
            confidence: Confidence::Low,
            http_status: failure.and_then(|failure| failure.http_status),
            exit_code: None,
            attempts: 1,
            rests_on: Vec::new(),
            missing: vec!["the failed request or call that ended the turn".to_owned()],
        };
        own_finding(Outcome::Failed, cause, lost)
    }

    fn cut_off(&self, index: TurnIdx, outcome: Outcome) -> Finding {
        let stop = self.stops.of(index);
        let thread = self.trace.turns[index].thread;
        let cause = Cause::of_stop(stop, thread, index);
        let lost = self.lost_by(&cause);
        own_finding(outcome, cause, lost)
    }

    /// Charges the turn that set a child to work with how the child came out.
    fn hand_up(&mut self, descent: Descent) {
        // Of those that set it to work, the last before it went wrong rests on it.
        let started = descent.turn.map(|turn| self.trace.turns[turn].execution.started);
        let before = |turn: &&TurnIdx| started.is_none_or(|at| self.trace.turns[**turn].execution.started < at);
        let turns = self.charged.get(&descent.child).map_or(&[][..], |turns| turns);
        if let Some(turn) = turns.iter().rfind(before).copied() {
            self.descents.entry(turn).or_default().push(descent);
        }
    }

    /// Returns the failures of a child: the last turn that failed and that no later turn made good, or else the last that
    /// was.
    fn descents_of(&self, child: ThreadIdx) -> Option<Descent> {
        let turns = self.family.turns(child);
        if turns.is_empty() {
            return self.never_began(child);
        }
        let mut fate = Fate::Stands;
        for turn in turns.iter().rev() {
            let finding = self.findings.get(turn)?;
            let rises = match finding.outcome {
                Outcome::Ok | Outcome::Recovered => {
                    fate = Fate::MadeGood;
                    false
                }
                Outcome::Failed | Outcome::Degraded | Outcome::Unfinished => true,
                // Being stopped is nobody's failure, unless it was the session's end that did it.
                Outcome::Cancelled => {
                    finding.cause.as_ref().is_some_and(|cause| cause.category == Category::AgentNeverFinished)
                }
            };
            if rises {
                return Some(Descent { child, turn: Some(*turn), cause: finding.cause.clone()?, fate });
            }
        }
        None
    }

    fn never_began(&self, child: ThreadIdx) -> Option<Descent> {
        let thread = &self.trace.threads[child];
        if thread.implied {
            return None;
        }
        let (category, missing) = if self.trace.ended.is_some() {
            (Category::AgentNeverFinished, Vec::new())
        } else {
            (Category::RecordingTruncated, vec!["everything after the last event".to_owned()])
        };
        let cause = Cause {
            category,
            object: Object::Thread(child),
            thread: child,
            turn: None,
            at: self.session.end(),
            message: "the agent was started and has no turn".to_owned(),
            confidence: Confidence::Medium,
            http_status: None,
            exit_code: None,
            attempts: 1,
            rests_on: Vec::new(),
            missing,
        };
        Some(Descent { child, turn: None, cause, fate: Fate::Stands })
    }

    /// Returns the tasks that children of a thread were spawned for and did, with the start of the last child that did.
    fn done_tasks(&self, thread: ThreadIdx) -> HashMap<String, Moment> {
        let mut done: HashMap<String, Moment> = HashMap::new();
        for child in self.family.children(thread) {
            let last = self.family.turns(*child).last().and_then(|turn| self.findings.get(turn));
            if !last.is_some_and(|finding| matches!(finding.outcome, Outcome::Ok | Outcome::Recovered)) {
                continue;
            }
            let tool = self.family.birth(*child).and_then(|birth| birth.tool);
            if let Some(task) = tool.and_then(|tool| self.task_of(tool)) {
                let began = self.trace.threads[*child].execution.started;
                let latest = done.entry(task).or_insert(began);
                *latest = (*latest).max(began);
            }
        }
        done
    }

    /// Says whether the parent gave a child's task to another child later, and that one did it.
    fn is_replaced(&self, descent: &Descent, done: &HashMap<String, Moment>) -> bool {
        let tool = self.family.birth(descent.child).and_then(|birth| birth.tool);
        let task = if done.is_empty() { None } else { tool.and_then(|tool| self.task_of(tool)) };
        task.and_then(|task| done.get(&task)).is_some_and(|began| began.seq > descent.cause.at.seq)
    }

    /// Returns the message by which a call spawned an agent.
    fn task_of(&self, tool: ToolIdx) -> Option<String> {
        let invocation = self.session.payload(self.trace.tools[tool].invocation_payload_id?).ok()?;
        let arguments = invocation.get("payload")?.get("arguments")?.as_str()?;
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        arguments.get("message").and_then(Value::as_str).map(str::to_owned)
    }

    fn span_of(&self, turn: TurnIdx) -> Option<(i64, i64)> {
        let window = &self.trace.turns[turn].execution;
        let end = window.ended.unwrap_or_else(|| self.session.end());
        Some((window.started.unix_ms, end.unix_ms))
    }

    /// Returns the time that went into what a cause names.
    fn lost_by(&self, cause: &Cause) -> Vec<(i64, i64)> {
        let trace = self.trace;
        let started = match cause.object {
            Object::Inference(inference) => Some(trace.inferences[inference].execution.started),
            Object::Tool(tool) => Some(trace.tools[tool].execution.started),
            Object::Cell(cell) => Some(trace.cells[cell].execution.started),
            Object::Turn(turn) => Some(trace.turns[turn].execution.started),
            _ => None,
        };
        started.map(|started| (started.unix_ms, cause.at.unix_ms)).into_iter().collect()
    }
}

fn own_finding(outcome: Outcome, cause: Cause, lost: Vec<(i64, i64)>) -> Finding {
    Finding { outcome, cause: Some(cause), others: Vec::new(), from_child: None, lost }
}

fn risen(outcome: Outcome, descent: &Descent, lost: Vec<(i64, i64)>) -> Finding {
    let cause = Some(descent.cause.clone());
    Finding { outcome, cause, others: Vec::new(), from_child: Some(descent.child), lost }
}

fn lost_span(fault: &Fault) -> (i64, i64) {
    (fault.began.unix_ms, fault.at.unix_ms)
}

/// Returns for each child the turns of its parent that set it to work: the one that spawned it, and those that gave it
/// further tasks.
fn charged_turns(trace: &Trace, family: &Family) -> HashMap<ThreadIdx, Vec<TurnIdx>> {
    let mut charged: HashMap<ThreadIdx, Vec<TurnIdx>> = HashMap::new();
    for (child, birth) in family.births() {
        charged.entry(child).or_default().extend(birth.turn);
    }
    for edge in trace.edges.values().filter(|edge| edge.kind == EdgeKind::AssignAgentTask) {
        let (Anchor::Tool(tool), Anchor::Item(item)) = (edge.source, edge.target) else { continue };
        let (call, child) = (&trace.tools[tool], trace.items[item].thread);
        if family.birth(child).is_some_and(|birth| birth.parent == call.thread) {
            charged.entry(child).or_default().extend(call.turn);
        }
    }
    for turns in charged.values_mut() {
        turns.sort_by_key(|turn| turn.index());
        turns.dedup();
    }
    charged
}
