//! `child_failure_hidden`: the work of a child is said to be done although the child failed.

use trace_reducer::model::{ExecutionStatus, ThreadIdx, ToolKind, TurnIdx};

use crate::audit::draft::{Draft, Proof, Verdict};
use crate::audit::find::admission::{answers_of_turn, sentences_of};
use crate::audit::kind::Kind;
use crate::audit::ledger::{Input, Ledger};
use crate::audit::read::children::tells_failure;
use crate::audit::read::claims::ChildClaim;
use crate::audit::report::Relation;
use crate::object::Object;
use crate::postmortem::Confidence;

/// How the last turn of a child stood when the claim was made.
enum Failure {
    /// The turn itself failed, was cut off or had not ended.
    Turn(TurnIdx),
    /// Its last answer says that it did not succeed.
    Answer(usize),
}

/// Judges a claim about the work of children. Returns `None` if the claim refers to no child of the session.
pub(crate) fn judge(ledger: &Ledger<'_>, answer: usize, sentence: &str, claim: &ChildClaim) -> Option<Verdict> {
    let it = &ledger.answers[answer];
    let trace = ledger.session.trace();
    let children: Vec<ThreadIdx> = ledger
        .family
        .children(it.thread)
        .iter()
        .copied()
        .filter(|child| trace.threads[*child].execution.started.seq < it.cutoff)
        .collect();
    if children.is_empty() {
        return None;
    }
    let meant: Vec<ThreadIdx> =
        children.iter().copied().filter(|child| is_meant(ledger, *child, claim, children.len())).collect();
    if meant.is_empty() {
        return None;
    }
    let failed: Vec<(ThreadIdx, Failure)> = meant
        .iter()
        .filter_map(|child| failure_of(ledger, *child, it.cutoff).map(|failure| (*child, failure)))
        .collect();
    let Some((child, failure)) = failed.into_iter().next() else { return Some(Verdict::Supported) };
    // A sentence that names no agent, and of which the agent itself did a part.
    if told_in_turn(ledger, answer) || done_afterwards(ledger, answer, child, &failure) {
        return Some(Verdict::Unverifiable);
    }
    let path = ledger.session.agent_path(child);
    let (message, confidence, proof) = match failure {
        Failure::Turn(turn) => {
            let window = &trace.turns[turn].execution;
            let how = match window.status {
                ExecutionStatus::Failed => "failed",
                ExecutionStatus::Cancelled | ExecutionStatus::Aborted => "was cut off",
                _ => "had not ended",
            };
            let seq = window.ended.filter(|end| end.seq < it.cutoff).unwrap_or(window.started).seq;
            let text = format!("the last turn of {path} {how}");
            let confidence = if claim.names_agents { Confidence::High } else { Confidence::Medium };
            (
                format!("said that the work is done; {text}"),
                confidence,
                Proof { object: Object::Turn(turn), seq: Some(seq), text, relation: Relation::ChildFailed },
            )
        }
        Failure::Answer(index) => {
            let last = &ledger.answers[index];
            let text = last.text.clone();
            (
                format!("said that the work is done; {path} said that it did not succeed"),
                Confidence::Medium,
                Proof { object: Object::Item(last.item), seq: Some(last.seq), text, relation: Relation::ChildFailed },
            )
        }
    };
    let mut draft = Draft::of_claim(ledger, Kind::ChildFailureHidden, answer, sentence, confidence, message);
    draft.evidence.push(proof);
    Some(Verdict::Contradicted(Box::new(draft)))
}

/// Returns the words of a text that say what it is about, without endings.
fn stems(text: &str) -> Vec<String> {
    const PLAIN: [&str; 60] = [
        "the",
        "and",
        "for",
        "all",
        "with",
        "that",
        "this",
        "are",
        "was",
        "were",
        "has",
        "have",
        "been",
        "from",
        "into",
        "you",
        "your",
        "its",
        "not",
        "but",
        "now",
        "then",
        "tell",
        "run",
        "please",
        "should",
        "agent",
        "agents",
        "task",
        "file",
        "files",
        "done",
        "make",
        "use",
        "will",
        "which",
        "when",
        "what",
        "each",
        "any",
        "out",
        "new",
        "them",
        "they",
        "their",
        "every",
        "report",
        "back",
        "result",
        "outcome",
        "also",
        "two",
        "one",
        "is",
        "work",
        "finished",
        "completed",
        "complete",
        "ready",
        "both",
    ];
    let mut found: Vec<String> = text
        .split(|it: char| !it.is_alphanumeric() && it != '_')
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 2 && !PLAIN.contains(&word.as_str()))
        .map(|word| {
            let mut stem = word.as_str();
            for end in ["ations", "ation", "ing", "ies", "ied", "ed", "es", "s", "d", "e"] {
                if let Some(rest) = stem.strip_suffix(end).filter(|rest| rest.chars().count() > 3) {
                    stem = rest;
                    break;
                }
            }
            stem.to_owned()
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

fn is_meant(ledger: &Ledger<'_>, child: ThreadIdx, claim: &ChildClaim, count: usize) -> bool {
    let path = ledger.session.agent_path(child).to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let nick =
        ledger.session.trace().threads[child].nickname.map(|name| ledger.session.trace().text(name).to_lowercase());
    let named = claim
        .words
        .iter()
        .any(|word| *word == name || *word == path || Some(word) == nick.as_ref() || word.replace('-', "_") == name);
    if named {
        return true;
    }
    let names_another = ledger.family.births().any(|(other, _)| {
        let other_path = ledger.session.agent_path(other).to_lowercase();
        let other_name = other_path.rsplit('/').next().unwrap_or("").to_owned();
        other != child && claim.words.iter().any(|word| *word == other_name || *word == other_path)
    });
    if names_another {
        return false;
    }
    if claim.names_agents && (claim.is_about_all || count == 1) {
        return true;
    }
    // What its task was about.
    let task: Vec<String> = ledger
        .family
        .birth(child)
        .and_then(|birth| birth.tool)
        .map(|tool| {
            let act = ledger.acts.iter().find(|act| act.tool == tool);
            act.map_or_else(Vec::new, |act| match &act.input {
                Input::Message(text) => stems(text),
                _ => Vec::new(),
            })
        })
        .unwrap_or_default();
    let said = stems(&claim.words.join(" "));
    let shared = said.iter().filter(|word| task.contains(word)).count();
    shared >= 2 && shared * 3 >= said.len()
}

fn failure_of(ledger: &Ledger<'_>, child: ThreadIdx, cutoff: u64) -> Option<Failure> {
    let trace = ledger.session.trace();
    let turns = ledger.family.turns(child);
    let last = turns.iter().rev().copied().find(|turn| trace.turns[*turn].execution.started.seq < cutoff)?;
    let window = &trace.turns[last].execution;
    let ended = window.ended.filter(|end| end.seq < cutoff);
    let failed =
        matches!(window.status, ExecutionStatus::Failed | ExecutionStatus::Cancelled | ExecutionStatus::Aborted);
    // A child that was stopped after it had answered is judged by its answer.
    let has_answered =
        ledger.answers.iter().any(|answer| answer.thread == child && answer.turn == last && answer.seq < cutoff);
    let stopped = matches!(window.status, ExecutionStatus::Cancelled | ExecutionStatus::Aborted) && has_answered;
    if (ended.is_none() || failed) && !stopped {
        // A child that told its answer before its turn ended in the log has finished.
        let answered = trace.agent_results.iter().any(|result| {
            result.child == child
                && result.at.seq < cutoff
                && trace.symbols.get(trace.text(result.child_turn_id)) == Some(trace.turns[last].id)
        });
        return (failed || !answered).then_some(Failure::Turn(last));
    }
    let answer = ledger
        .answers
        .iter()
        .enumerate()
        .rev()
        .find(|(_, answer)| answer.thread == child && answer.turn == last && answer.seq < cutoff);
    let (index, answer) = answer?;
    let says = tells_not_succeeded(&answer.text);
    says.then_some(Failure::Answer(index))
}

/// Returns whether a child's last answer says that it did not do its work: at its beginning or as a whole, not in
/// passing.
fn tells_not_succeeded(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    const WORDS: [&str; 24] = [
        "i could not",
        "i couldn't",
        "could not be",
        "couldn't",
        "i was unable",
        "unable to",
        "i cannot",
        "i can't",
        "i am not able",
        "not able to",
        "i failed",
        "i gave up",
        "did not succeed",
        "was not successful",
        "not possible to",
        "could not complete",
        "did not finish",
        "not finished",
        "i did not",
        "gave up",
        "without success",
        "remains undone",
        "is not done",
        "blocked by",
    ];
    let first: String = sentences_of(&lower).take(3).collect::<Vec<_>>().join(". ");
    let done =
        ["is done", "all done", "completed successfully", "succeeded", "worked around", "instead i", "but i fixed"]
            .iter()
            .any(|word| lower.contains(word));
    WORDS.iter().any(|word| first.contains(word)) && !done
}

/// Returns whether an answer of the turn tells the failure.
fn told_in_turn(ledger: &Ledger<'_>, answer: usize) -> bool {
    let it = &ledger.answers[answer];
    tells_failure(&answers_of_turn(ledger, Some(it.turn)))
}

/// Returns whether the agent itself or another child did work after the failure.
fn done_afterwards(ledger: &Ledger<'_>, answer: usize, child: ThreadIdx, failure: &Failure) -> bool {
    let it = &ledger.answers[answer];
    let trace = ledger.session.trace();
    let from = match failure {
        Failure::Turn(turn) => {
            trace.turns[*turn].execution.ended.filter(|end| end.seq < it.cutoff).map_or(u64::MAX, |end| end.seq)
        }
        Failure::Answer(index) => ledger.answers[*index].seq,
    };
    let began = trace.threads[child].execution.started.seq;
    let after = |seq: u64| if from == u64::MAX { seq > began } else { seq > from };
    let by_itself = ledger.acts_of(it.thread).iter().map(|act| &ledger.acts[*act]).filter(|act| after(act.started) && act.started < it.cutoff).any(|act| {
        let kind = trace.tools[act.tool].kind;
        let waits = matches!(kind, ToolKind::WaitAgent | ToolKind::CloseAgent);
        let looks = act.script().is_some_and(|script| !script.contains('>') && crate::audit::ledger::changes::changes_of(act.commands()).is_empty() && !act.commands().iter().any(crate::audit::ledger::changes::may_write_anything));
        let other = matches!(&act.input, Input::Other(name, _) if name.contains("list") || name.contains("plan") || name.contains("agent"));
        !waits && !looks && !other && act.happened()
    });
    let by_others = ledger.family.children(it.thread).iter().any(|other| {
        *other != child
            && trace.threads[*other].execution.started.seq < it.cutoff
            && after(trace.threads[*other].execution.started.seq)
            && from != u64::MAX
            && failure_of(ledger, *other, it.cutoff).is_none()
    });
    by_itself || by_others
}
