//! A finding before it is told: with handles instead of names.

use trace_reducer::model::{ThreadIdx, TurnIdx};

use super::kind::{Kind, Severity};
use super::ledger::{Ledger, Run};
use super::read::outputs::Counts;
use super::report::Relation;
use crate::object::Object;
use crate::postmortem::Confidence;

/// A piece of evidence.
#[derive(Debug, Clone)]
pub(crate) struct Proof {
    pub(crate) object: Object,
    pub(crate) seq: Option<u64>,
    pub(crate) text: String,
    pub(crate) relation: Relation,
}

/// A finding.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    pub(crate) thread: ThreadIdx,
    pub(crate) turn: Option<TurnIdx>,
    /// Index of the answer and the sentence, for findings about claims.
    pub(crate) claim: Option<(usize, String)>,
    pub(crate) evidence: Vec<Proof>,
    pub(crate) message: String,
    /// Where it stands in the log.
    pub(crate) seq: u64,
    /// The act that it is about, for findings about acts.
    pub(crate) act: Option<usize>,
    /// Indices of the judged claims that it is about.
    pub(crate) judged: Vec<usize>,
}

/// The verdict on a claim.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Supported,
    Unverifiable,
    Contradicted(Box<Draft>),
}

impl Draft {
    /// Begins a finding about a claim.
    pub(crate) fn of_claim(
        ledger: &Ledger<'_>,
        kind: Kind,
        answer: usize,
        sentence: &str,
        confidence: Confidence,
        message: String,
    ) -> Self {
        let it = &ledger.answers[answer];
        Self {
            kind,
            severity: kind.severity(),
            confidence,
            thread: it.thread,
            turn: Some(it.turn),
            claim: Some((answer, sentence.to_owned())),
            evidence: Vec::new(),
            message,
            seq: it.seq,
            act: None,
            judged: Vec::new(),
        }
    }

    /// Begins a finding about an act.
    pub(crate) fn of_act(ledger: &Ledger<'_>, kind: Kind, act: usize, confidence: Confidence, message: String) -> Self {
        let it = &ledger.acts[act];
        let mut draft = Self {
            kind,
            severity: kind.severity(),
            confidence,
            thread: it.thread,
            turn: it.turn,
            claim: None,
            evidence: Vec::new(),
            message,
            seq: it.started,
            act: Some(act),
            judged: Vec::new(),
        };
        draft.add_act(ledger, act, Relation::Action);
        draft
    }

    /// Adds an act as evidence.
    pub(crate) fn add_act(&mut self, ledger: &Ledger<'_>, act: usize, relation: Relation) {
        self.add_text(ledger, act, describe_act(ledger, act), relation);
    }

    /// Adds a run as evidence.
    pub(crate) fn add_run(&mut self, ledger: &Ledger<'_>, run: &Run, relation: Relation) {
        self.add_text(ledger, run.act, describe_run(run), relation);
    }

    /// Adds an act as evidence, with a text that says what counts of it.
    pub(crate) fn add_text(&mut self, ledger: &Ledger<'_>, act: usize, text: String, relation: Relation) {
        let it = &ledger.acts[act];
        self.evidence.push(Proof { object: Object::Tool(it.tool), seq: Some(it.started), text, relation });
    }
}

/// Returns what an act was, in a few words.
pub(crate) fn describe_act(ledger: &Ledger<'_>, act: usize) -> String {
    use super::ledger::Input;
    let it = &ledger.acts[act];
    match &it.input {
        Input::Command(script) => script.clone(),
        Input::Edit(edits) => {
            let names: Vec<&str> = edits.iter().map(|edit| super::read::files::base_name(&edit.path)).collect();
            format!("apply_patch {}", names.join(", "))
        }
        Input::Stdin(text) => format!("input: {text}"),
        Input::Message(text) => format!("message: {text}"),
        Input::Wait => "wait".to_owned(),
        Input::Other(name, arguments) => format!("{name} {arguments}"),
    }
}

/// Returns what a run was and what it said: `pytest -q: 1 failed, 4 passed`.
pub(crate) fn describe_run(run: &Run) -> String {
    format!(
        "{}: {}",
        run.check.command,
        describe_counts(&run.check.counts).unwrap_or_else(|| run.check.outcome.as_str().replace('_', " "))
    )
}

fn describe_counts(counts: &Counts) -> Option<String> {
    let parts: Vec<String> = [
        (counts.failed.filter(|failed| *failed > 0), "failed"),
        (counts.passed, "passed"),
        (counts.skipped.filter(|skipped| *skipped > 0), "skipped"),
        (counts.errors, "errors"),
        (counts.problems, "problems"),
        (counts.warnings.filter(|warnings| *warnings > 0), "warnings"),
    ]
    .into_iter()
    .filter_map(|(number, word)| number.map(|number| format!("{number} {word}")))
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
