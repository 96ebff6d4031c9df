//! Decides, from faults and stops, what was made good, what is passed up, and what the root cause of each turn is.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;
use trace_reducer::model::{ExecutionStatus, Moment, SchemaVersion, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx};

use super::cause::{Cause, Place};
use super::chain::{self, Teller};
use super::charges::{Charge, HopIdx, Hops, Way, charges};
use super::faults::{self, Fault, Faults, Operation, error_message, short_payload};
use super::finding::Finding;
use super::stops::Stops;
use super::texts::{Reach, request_failure};
use super::verdict::{Category, Confidence, MAX_OTHER_CAUSES, Outcome, Postmortem};
use crate::family::Family;
use crate::object::Object;
use crate::session::Session;

/// Most failures of its children that a stopped turn passes up.
const MAX_PASSED_ON: usize = 16;

/// A failure of a child that concerns the agents above it.
#[derive(Debug, Clone)]
struct Descent {
    child: ThreadIdx,
    turn: Option<TurnIdx>,
    cause: Rc<Cause>,
    /// The hop from the child's turn down to the cause; `None` if the cause is in that turn.
    below: Option<HopIdx>,
    fate: Fate,
}

/// A failure that was passed up to a turn.
#[derive(Debug, Clone)]
struct Charged {
    descent: Descent,
    hop: HopIdx,
}

/// Whether a failure was made good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stands,
    MadeGood,
}

pub(super) fn judge(session: &Session) -> Postmortem {
    let trace = session.trace();
    let family = Family::new(trace);
    let errors = faults::errors_of_turns(session);
    let faults = faults::find(session, &family, &errors);
    let stops = Stops::new(session, &family);
    let mut judge = Judge {
        session,
        trace,
        family: &family,
        faults: &faults,
        by_turn: HashMap::new(),
        charges: charges(trace, &family),
        stops: &stops,
        errors: &errors,
        answered: HashMap::new(),
        tasks: HashMap::new(),
        findings: HashMap::new(),
        charged: HashMap::new(),
        hops: Hops::default(),
    };
    let by_id: HashMap<Symbol, TurnIdx> = trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect();
    for result in &trace.agent_results {
        if let Some(turn) = by_id.get(&result.child_turn_id) {
            judge.answered.entry(*turn).or_insert(result.at);
        }
    }
    for fault in &faults.list {
        if let Some(turn) = judge.turn_of(fault) {
            judge.by_turn.entry(turn).or_default().push(fault);
        }
    }
    for thread in family.order().iter().rev() {
        judge.thread(*thread);
    }
    let teller = Teller::new(session, &errors, &judge.hops);
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
    /// For each thread, the calls that gave it work, in the order of the log.
    charges: HashMap<ThreadIdx, Vec<Charge>>,
    stops: &'s Stops<'s>,
    errors: &'s HashMap<Symbol, Value>,
    /// For each turn, when the parent received its answer.
    answered: HashMap<TurnIdx, Moment>,
    /// The messages of spawning calls that were read so far.
    tasks: HashMap<ToolIdx, Option<Rc<str>>>,
    findings: HashMap<TurnIdx, Finding>,
    /// Failures of children, by the turn that they are charged to.
    charged: HashMap<TurnIdx, Vec<Charged>>,
    hops: Hops,
}

impl Judge<'_> {
    /// Returns the turn of a fault. A call that names no turn belongs to the turn that its thread was in.
    fn turn_of(&self, fault: &Fault) -> Option<TurnIdx> {
        fault.charged.or(fault.cause.turn).or_else(|| {
            let turns = self.family.turns(fault.cause.thread);
            let until = turns.partition_point(|turn| self.trace.turns[*turn].execution.started < fault.began);
            until.checked_sub(1).map(|last| turns[last])
        })
    }

    /// Judges the turns of a thread. Its children must have been judged before.
    fn thread(&mut self, thread: ThreadIdx) {
        let mut failed: Vec<Descent> = Vec::new();
        for child in self.family.children(thread) {
            failed.extend(self.descents_of(*child));
        }
        if !failed.is_empty() {
            let done = self.done_tasks(thread);
            for descent in failed.iter_mut().filter(|descent| descent.fate == Fate::Stands) {
                if self.is_replaced(descent, &done) {
                    descent.fate = Fate::MadeGood;
                }
            }
        }
        for descent in failed {
            self.hand_up(descent);
        }
        for turn in self.family.turns(thread) {
            self.explain_waits(*turn);
            let finding = self.turn(*turn);
            self.findings.insert(*turn, finding);
        }
    }

    fn turn(&self, index: TurnIdx) -> Finding {
        let turn = &self.trace.turns[index];
        let own = self.by_turn.get(&index).map_or(&[][..], |faults| faults);
        let charged = self.charged.get(&index).map_or(&[][..], |charged| charged);
        // In schema 1 every turn that was not stopped has the status completed. The error that the client received is
        // better evidence.
        let is_told_failed = self.errors.contains_key(&turn.id);
        match turn.execution.status {
            ExecutionStatus::Failed => self.failed(index, own, charged),
            ExecutionStatus::Completed if is_told_failed || self.ends_unanswered(index, own) => {
                self.failed(index, own, charged)
            }
            _ if is_told_failed && self.trace.schema_version == SchemaVersion::V1 => self.failed(index, own, charged),
            ExecutionStatus::Completed => self.completed(own, charged),
            _ => self.cut_off(index, own, charged),
        }
    }

    /// Returns whether the last request of a schema-1 turn failed. Schema 1 records such a turn as completed.
    fn ends_unanswered(&self, index: TurnIdx, own: &[&Fault]) -> bool {
        let is_unanswered =
            |fault: &&Fault| fault.operation == Operation::Inference && !self.faults.is_answered_within(fault, index);
        self.trace.schema_version == SchemaVersion::V1 && own.iter().any(is_unanswered)
    }

    fn completed(&self, own: &[&Fault], charged: &[Charged]) -> Finding {
        let own: Vec<&Fault> = own.iter().filter(|fault| !self.is_explained(fault)).copied().collect();
        let mut lost: Vec<(i64, i64)> = own.iter().map(|fault| lost_span(fault)).collect();
        for Charged { descent, .. } in charged {
            lost.extend(self.lost_by(&descent.cause));
            lost.extend(descent.turn.and_then(|turn| self.span_of(turn)));
        }
        // If a child failed and a call of the turn failed too, the child's failure is the cause. Of several, the
        // earliest is.
        let standing = standing(charged);
        let mut causes = self.open(&own, &standing);
        if !causes.is_empty() {
            let cause = Some(causes.remove(0));
            causes.sort_by_key(|cause| cause.at);
            causes.truncate(MAX_OTHER_CAUSES);
            let hop = standing.first().map(|charged| charged.hop);
            return Finding { outcome: Outcome::Degraded, cause, others: causes, hop, lost };
        }
        if let Some(charged) = charged.iter().max_by_key(|charged| charged.descent.cause.at) {
            return risen(Outcome::Recovered, charged, lost);
        }
        match own.last() {
            Some(fault) => own_finding(Outcome::Recovered, Rc::clone(&fault.cause), lost),
            None => Finding { outcome: Outcome::Ok, cause: None, others: Vec::new(), hop: None, lost },
        }
    }

    /// Returns the causes that were not made good: first the failures of children, then the turn's own.
    fn open(&self, own: &[&Fault], standing: &[&Charged]) -> Vec<Rc<Cause>> {
        let mut causes: Vec<Rc<Cause>> = Vec::new();
        for charged in standing {
            // Two children may have failed for the same cause.
            if !causes.iter().rev().take(MAX_OTHER_CAUSES).any(|cause| Rc::ptr_eq(cause, &charged.descent.cause)) {
                causes.push(Rc::clone(&charged.descent.cause));
            }
        }
        let open = own.iter().filter(|fault| !self.faults.is_made_good(fault) && !self.is_explained(fault));
        causes.extend(open.map(|fault| Rc::clone(&fault.cause)));
        causes
    }

    /// Adds the other failures of the turn that were not made good.
    fn with_others(&self, mut finding: Finding, own: &[&Fault], standing: &[&Charged]) -> Finding {
        let mut others = self.open(own, standing);
        if let Some(cause) = &finding.cause {
            // Earlier attempts of the same request are no cause of their own.
            others.retain(|other| other.object != cause.object);
        }
        others.sort_by_key(|other| other.at);
        others.truncate(MAX_OTHER_CAUSES);
        finding.others = others;
        finding
    }

    /// Returns whether a wait ran out because all agents that it waited for never finished.
    fn is_explained(&self, fault: &Fault) -> bool {
        fault.cause.category == Category::WaitTimeout && self.never_finished(fault).is_some()
    }

    /// Returns the first of the turns that a wait waited for, if all of them were cut off; `None` otherwise.
    fn never_finished(&self, fault: &Fault) -> Option<TurnIdx> {
        let awaited = self.family.at_work(fault.cause.thread, fault.cause.at.seq);
        let is_cut_off = |turn: &TurnIdx| {
            let cause = self.findings.get(turn).and_then(|finding| finding.cause.as_ref());
            cause.is_some_and(|cause| cause.category == Category::AgentNeverFinished)
        };
        awaited.iter().all(is_cut_off).then(|| awaited.last().copied()).flatten()
    }

    /// Charges a turn whose wait ran out with the agent that never finished, if another turn gave that agent its work.
    fn explain_waits(&mut self, index: TurnIdx) {
        let waits: Vec<&Fault> = (self.by_turn.get(&index).into_iter().flatten().copied())
            .filter(|fault| fault.cause.category == Category::WaitTimeout && !self.faults.is_made_good(fault))
            .collect();
        for fault in waits {
            let (Some(turn), Object::Tool(tool)) = (self.never_finished(fault), fault.cause.object) else { continue };
            let charged = self.charged.get(&index).map_or(&[][..], |charged| charged);
            if charged.iter().any(|charged| charged.descent.turn == Some(turn)) {
                continue;
            }
            let Some(finding) = self.findings.get(&turn) else { continue };
            let Some(cause) = finding.cause.clone() else { continue };
            let child = self.trace.turns[turn].thread;
            let descent = Descent { child, turn: Some(turn), cause, below: finding.hop, fate: Fate::Stands };
            let charge = Charge { turn: index, at: fault.began, way: Way::Waited(tool) };
            self.charge(charge, descent);
        }
    }

    fn failed(&self, index: TurnIdx, own: &[&Fault], charged: &[Charged]) -> Finding {
        let lost = own.iter().map(|fault| lost_span(fault)).collect();
        let standing = standing(charged);
        let finding = self.failure(index, own, &standing, lost);
        self.with_others(finding, own, &standing)
    }

    fn failure(&self, index: TurnIdx, own: &[&Fault], standing: &[&Charged], lost: Vec<(i64, i64)>) -> Finding {
        // The turn ended because its request was given up, not because of a tool that failed before.
        let request = own.iter().rev().find(|fault| {
            matches!(fault.operation, Operation::Inference | Operation::Compaction)
                && !self.faults.is_answered_within(fault, index)
        });
        if let Some(fault) = request {
            return own_finding(Outcome::Failed, Rc::clone(&fault.cause), lost);
        }
        let told = self.told_failure(index);
        if let Some(cause) = told.as_ref().filter(|cause| cause.confidence > Confidence::Low) {
            return own_finding(Outcome::Failed, Rc::new(cause.clone()), lost);
        }
        if let Some(charged) = standing.first() {
            return risen(Outcome::Failed, charged, lost);
        }
        if let Some(fault) = own.iter().rev().find(|fault| !self.faults.is_made_good(fault)) {
            let missing = "what ended the turn; the last thing that failed in it stands in";
            let cause = Cause::clone(&fault.cause).lacks(Confidence::Low, missing);
            return own_finding(Outcome::Failed, Rc::new(cause), lost);
        }
        let mut cause =
            told.unwrap_or_else(|| self.of_turn(index, Category::Unknown, "the turn failed and nothing in it did"));
        cause.confidence = Confidence::Low;
        own_finding(Outcome::Failed, Rc::new(cause), lost)
    }

    /// Returns the error that the client received at the end of a turn, as a cause.
    fn told_failure(&self, index: TurnIdx) -> Option<Cause> {
        let error = self.errors.get(&self.trace.turns[index].id)?;
        let told = error_message(error).unwrap_or_default();
        let info = error.get("codex_error_info").filter(|info| !info.is_null());
        if told.is_empty() && info.is_none() {
            return None;
        }
        let failure = request_failure(told, info, Reach::Begun);
        let mut cause = self.of_turn(index, failure.category, told);
        cause.http_status = failure.http_status;
        // The text alone does not prove that the error ended the turn.
        cause.confidence = if info.is_some() { failure.confidence.min(Confidence::Medium) } else { Confidence::Low };
        Some(cause)
    }

    fn of_turn(&self, index: TurnIdx, category: Category, message: &str) -> Cause {
        let turn = &self.trace.turns[index];
        let at = turn.execution.ended.unwrap_or(turn.execution.started);
        let place = Place { object: Object::Turn(index), thread: turn.thread, turn: Some(index), at };
        let missing = "the failed request or call that ended the turn";
        Cause::new(category, place, message).lacks(Confidence::Low, missing)
    }

    fn cut_off(&self, index: TurnIdx, own: &[&Fault], charged: &[Charged]) -> Finding {
        let stop = self.stops.of(index);
        // A turn that the end of the session stopped is unfinished, whatever status the shutdown gave it.
        let has_end = self.trace.turns[index].execution.ended.is_some();
        let outcome = match stop.category {
            Category::AgentNeverFinished => Outcome::Unfinished,
            _ if has_end => Outcome::Cancelled,
            _ => Outcome::Unfinished,
        };
        let lost = self.lost_by(&stop);
        self.with_others(own_finding(outcome, Rc::new(stop), lost), own, &standing(charged))
    }

    /// Passes a failure of a child up to the turn that gave the child its work.
    fn hand_up(&mut self, descent: Descent) {
        // Of the turns that gave it work, the last one before the failed turn is charged.
        let started = descent.turn.map(|turn| self.trace.turns[turn].execution.started);
        let before = |charge: &&Charge| started.is_none_or(|at| charge.at < at);
        let charges = self.charges.get(&descent.child).map_or(&[][..], |charges| charges);
        if let Some(charge) = charges.iter().rfind(before).copied() {
            self.charge(charge, descent);
        }
    }

    fn charge(&mut self, charge: Charge, descent: Descent) {
        let hop = self.hops.add(charge, descent.child, descent.turn, descent.below);
        self.charged.entry(charge.turn).or_default().push(Charged { descent, hop });
    }

    /// Returns the failures of a child, turn by turn. A later turn that succeeded makes earlier failures good.
    fn descents_of(&self, child: ThreadIdx) -> Vec<Descent> {
        let turns = self.family.turns(child);
        if turns.is_empty() {
            return self.never_began(child).into_iter().collect();
        }
        let mut fate = Fate::Stands;
        let mut descents = Vec::new();
        for turn in turns.iter().rev() {
            let Some(finding) = self.findings.get(turn) else { continue };
            let is_stopped = match finding.outcome {
                Outcome::Ok | Outcome::Recovered => {
                    fate = Fate::MadeGood;
                    continue;
                }
                Outcome::Failed | Outcome::Degraded | Outcome::Unfinished => false,
                // That a turn was stopped is no failure.
                Outcome::Cancelled => true,
            };
            let descent = |cause: &Rc<Cause>, below: Option<HopIdx>| Descent {
                child,
                turn: Some(*turn),
                cause: Rc::clone(cause),
                below,
                fate,
            };
            if is_stopped {
                // The stop does not make the failures below the turn good, so pass them up.
                let below = self.charged.get(turn).map_or(&[][..], |charged| charged);
                let below = standing(below).into_iter().take(MAX_PASSED_ON);
                descents.extend(below.map(|charged| descent(&charged.descent.cause, Some(charged.hop))));
            } else if let Some(cause) = &finding.cause {
                descents.push(descent(cause, finding.hop));
            }
        }
        descents.reverse();
        descents
    }

    fn never_began(&self, child: ThreadIdx) -> Option<Descent> {
        let thread = &self.trace.threads[child];
        if thread.implied || self.stops.is_closed(child) {
            return None;
        }
        let place = Place { object: Object::Thread(child), thread: child, turn: None, at: self.session.end() };
        let cause = |category| Cause::new(category, place, "the agent was started and has no turn");
        let cause = if self.trace.run_end_after(thread.execution.started.seq).is_some() {
            Cause { confidence: Confidence::Medium, ..cause(Category::AgentNeverFinished) }
        } else {
            cause(Category::RecordingTruncated).lacks(Confidence::Medium, "everything after the last event")
        };
        Some(Descent { child, turn: None, cause: Rc::new(cause), below: None, fate: Fate::Stands })
    }

    /// Returns the tasks that children of a thread completed, each with the start of the last child that completed it.
    fn done_tasks(&mut self, thread: ThreadIdx) -> HashMap<Rc<str>, Moment> {
        let mut done: HashMap<Rc<str>, Moment> = HashMap::new();
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

    /// Returns whether the parent, after it could know of the failure, gave the same task to another child that
    /// completed it.
    fn is_replaced(&mut self, descent: &Descent, done: &HashMap<Rc<str>, Moment>) -> bool {
        if done.is_empty() {
            return false;
        }
        let tool = self.family.birth(descent.child).and_then(|birth| birth.tool);
        let task = tool.and_then(|tool| self.task_of(tool));
        let told =
            descent.turn.and_then(|turn| self.answered.get(&turn).copied().or(self.trace.turns[turn].execution.ended));
        let known = told.unwrap_or(descent.cause.at);
        task.and_then(|task| done.get(&task)).is_some_and(|began| began.seq > known.seq)
    }

    /// Returns the message of a spawning call.
    fn task_of(&mut self, tool: ToolIdx) -> Option<Rc<str>> {
        if let Some(task) = self.tasks.get(&tool) {
            return task.clone();
        }
        let read = || {
            let invocation = short_payload(self.session, self.trace.tools[tool].invocation_payload_id?)?;
            let arguments = invocation.get("payload")?.get("arguments")?.as_str()?;
            let arguments: Value = serde_json::from_str(arguments).ok()?;
            arguments.get("message").and_then(Value::as_str).map(Rc::from)
        };
        let task: Option<Rc<str>> = read();
        self.tasks.insert(tool, task.clone());
        task
    }

    fn span_of(&self, turn: TurnIdx) -> Option<(i64, i64)> {
        let window = &self.trace.turns[turn].execution;
        let end = window.ended.unwrap_or_else(|| self.session.end());
        Some((window.started.unix_ms, end.unix_ms))
    }

    /// Returns the time that the failed operation took.
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

/// Returns the failures that were not made good, earliest cause first.
fn standing(charged: &[Charged]) -> Vec<&Charged> {
    let mut standing: Vec<&Charged> = charged.iter().filter(|charged| charged.descent.fate == Fate::Stands).collect();
    standing.sort_by_key(|charged| charged.descent.cause.at);
    standing
}

fn own_finding(outcome: Outcome, cause: Rc<Cause>, lost: Vec<(i64, i64)>) -> Finding {
    Finding { outcome, cause: Some(cause), others: Vec::new(), hop: None, lost }
}

fn risen(outcome: Outcome, charged: &Charged, lost: Vec<(i64, i64)>) -> Finding {
    let cause = Some(Rc::clone(&charged.descent.cause));
    Finding { outcome, cause, others: Vec::new(), hop: Some(charged.hop), lost }
}

fn lost_span(fault: &Fault) -> (i64, i64) {
    (fault.began.unix_ms, fault.cause.at.unix_ms)
}
