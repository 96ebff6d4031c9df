//! `checks`, `changes`, `claims` and `findings`: what an audit knows of a session, and what it tells.

use serde_json::json;
use trace_explain::audit::ledger::{Answer, Change, Run};
use trace_explain::audit::{CheckKind, Claim, Finding, JudgedClaim, Statement};
use trace_explain::object::item_id;
use trace_reducer::model::{ThreadIdx, TurnIdx};

use crate::source::Source;
use crate::table::table;

impl Source<'_> {
    fn run(&self, run: usize) -> &Run {
        &self.ledger().runs[run]
    }

    fn change(&self, change: usize) -> &Change {
        &self.ledger().changes[change]
    }

    fn judged(&self, claim: usize) -> &JudgedClaim {
        &self.audit().1[claim]
    }

    fn finding(&self, finding: usize) -> &Finding {
        &self.audit().0.findings[finding]
    }

    fn tool_of_act(&self, act: usize) -> &str {
        self.text(self.trace.tools[self.ledger().acts[act].tool].id)
    }

    fn thread_of_act(&self, act: usize) -> ThreadIdx {
        self.ledger().acts[act].thread
    }

    fn turn_of_act(&self, act: usize) -> Option<TurnIdx> {
        self.ledger().acts[act].turn
    }

    fn answer_of(&self, claim: usize) -> &Answer {
        &self.ledger().answers[self.judged(claim).answer]
    }

    /// Returns the claim; `None` for an answer in another language.
    fn claim(&self, claim: usize) -> Option<&Claim> {
        self.answer_of(claim).claims.claims.get(self.judged(claim).claim?)
    }
}

fn sort(statement: &Statement) -> &'static str {
    match statement {
        Statement::Check(_) => "check",
        Statement::Measurement(_) => "measurement",
        Statement::Action(_) => "action",
        Statement::Detail(_) => "detail",
        Statement::Child(_) => "child",
    }
}

/// Returns what a claim is about.
fn about(statement: &Statement) -> Option<&'static str> {
    match statement {
        Statement::Check(check) => check.kind.map(CheckKind::as_str),
        Statement::Measurement(measurement) => Some(measurement.of.as_str()),
        Statement::Action(action) => Some(action.action.as_str()),
        Statement::Detail(detail) => Some(detail.sort.as_str()),
        Statement::Child(_) => None,
    }
}

/// Returns the names that bound a claim: the scope of a check, files, a literal.
fn names(statement: &Statement) -> Option<String> {
    let list = match statement {
        Statement::Check(check) => check.scope.join(", "),
        Statement::Measurement(measurement) => measurement.literal.clone(),
        Statement::Action(action) => action.files.join(", "),
        Statement::Detail(detail) => detail.literal.clone(),
        Statement::Child(_) => String::new(),
    };
    (!list.is_empty()).then_some(list)
}

/// Returns the evidence of a finding as a JSON list.
fn evidence(finding: &Finding) -> String {
    serde_json::to_string(&json!(finding.evidence)).unwrap_or_default()
}

table! {
    CHECKS = "checks", "A run of tests, a build, a type checker, a linter or a formatter that only looks, one row for each kind that a \
                        command ran.";
    index ["tool_call_id"];
    rows |s, take| (0..s.ledger().runs.len()).try_for_each(|run| take(&run));
    each (s, key: usize) run = s.run(*key);
    tool_call_id Text "The tool call that ran it." = s.tool_of_act(run.act);
    thread_id Text "Its thread." = s.thread_id(s.thread_of_act(run.act));
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(s.thread_of_act(run.act));
    turn_id Text "Its turn." = s.turn_of_act(run.act).map(|turn| s.turn_id(turn));
    started_seq Integer "Sequence number of the event that started the call." = s.ledger().acts[run.act].started;
    known_seq Integer "Sequence number from which its end was known to the agent." = run.at;
    kind Text "What was checked: `test`, `build`, `types`, `lint`, `format`." = run.check.kind.as_str();
    command Text "The command, without what started it." = &*run.check.command;
    folder Text "The folder in which it ran." = &*run.folder;
    outcome Text "How it ended: `passed`, `failed`, `no_tests`, `did_not_start`, `declined`, `not_finished`, `unknown`."
        = run.check.outcome.as_str();
    basis Text "What the outcome rests on: `summary`, `exit_code`, `both`, `text`, `state`." = run.check.basis.as_str();
    passed Integer "Tests that passed, as far as a summary says." = run.check.counts.passed;
    failed Integer "Tests that failed." = run.check.counts.failed;
    skipped Integer "Tests that were skipped." = run.check.counts.skipped;
    total Integer "All tests." = run.check.counts.total;
    suites Integer "Suites or files of tests." = run.check.counts.suites;
    errors Integer "Errors." = run.check.counts.errors;
    warnings Integer "Warnings." = run.check.counts.warnings;
    problems Integer "Problems of a linter." = run.check.counts.problems;
    failed_tests Text "Names of the tests that failed, as a JSON list; null if none is named."
        = (!run.check.failed.is_empty()).then(|| json!(run.check.failed).to_string());
}

table! {
    CHANGES = "changes", "A file that a call changed, by a patch, a command or a tool.";
    index ["tool_call_id"];
    rows |s, take| (0..s.ledger().changes.len()).try_for_each(|change| take(&change));
    each (s, key: usize) change = s.change(*key);
    tool_call_id Text "The tool call that changed it." = s.tool_of_act(change.act);
    thread_id Text "Its thread." = s.thread_id(s.thread_of_act(change.act));
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(s.thread_of_act(change.act));
    turn_id Text "Its turn." = s.turn_of_act(change.act).map(|turn| s.turn_id(turn));
    ended_seq Integer "Sequence number of the event by which it was done." = change.at;
    path Text "The file; null if any file below `folder` may have changed." = change.path.as_deref();
    effect Text "What happened: `write` or `delete`." = change.effect.as_str();
    folder Text "The folder in which the call ran." = &*change.folder;
}

table! {
    CLAIMS = "claims", "A statement in an answer that the recording may bear out or refute. A statement about several checks is several rows.";
    index ["item_id"];
    rows |s, take| (0..s.audit().1.len()).try_for_each(|claim| take(&claim));
    each (s, key: usize) answer = s.answer_of(*key);
    item_id Text "The message that says it." = item_id(answer.item);
    thread_id Text "Its thread." = s.thread_id(answer.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(answer.thread);
    turn_id Text "Its turn." = s.turn_id(answer.turn);
    seq Integer "Sequence number of the event that shows the message." = answer.seq;
    known_seq Integer "Sequence number of the event that began the inference call: what ended before it is evidence." = answer.cutoff;
    sentence Text "The sentence; null for an answer in another language than English, which counts as one claim."
        = s.claim(*key).map(|claim| &*claim.text);
    sort Text "What is claimed: `check` (it passes, or was run), `measurement` (the time of a benchmark or the size of a build), `action` \
               (it was done), `detail` (it was read or measured), `child` (another agent did it)." = s.claim(*key).map(|claim| sort(&claim.statement));
    about Text "The kind of check (null: all of them, or not said), of action or of literal, or `benchmark` or `build`."
        = s.claim(*key).and_then(|claim| about(&claim.statement));
    names Text "What bounds it: scopes of a check or files, separated by commas, or the literal."
        = s.claim(*key).and_then(|claim| names(&claim.statement));
    verdict Text "`supported`, `contradicted`, or `unverifiable` (the recording can do neither)." = s.judged(*key).verdict.as_str();
    finding Integer "Its finding, `findings.finding`; null without one." = s.judged(*key).finding;
}

table! {
    FINDINGS = "findings", "A finding of `trace audit`: a claim that the recording refutes, or an act that a user should know of.";
    index ["turn_id"];
    rows |s, take| (0..s.audit().0.findings.len()).try_for_each(|finding| take(&finding));
    each (s, key: usize) finding = s.finding(*key);
    finding Integer "Its number in the order of the log, from 0." = *key;
    kind Text "Its kind; `docs/audit.md` has the list." = finding.kind.as_str();
    severity Text "How much it matters: `high`, `medium`, `low`." = finding.severity.as_str();
    confidence Text "How certain it is: `high` or `medium`." = finding.confidence.as_str();
    thread_id Text "The thread of the agent that claimed or acted." = &*finding.thread_id;
    agent_path Text "That thread's place in the tree of agents." = &*finding.agent_path;
    turn_id Text "Its turn." = finding.turn_id.as_deref();
    seq Integer "Sequence number of the event that shows the claim or the act." = finding.seq();
    message Text "The finding in one sentence." = &*finding.message;
    claim_item_id Text "The message with the claim; null for a finding about an act." = finding.claim.as_ref().map(|claim| &*claim.object.id);
    claim Text "The sentence of the claim." = finding.claim.as_ref().map(|claim| &*claim.text);
    evidence Text "The evidence as a JSON list of objects with `object`, `seq`, `text` and `relation`." = evidence(finding);
}
