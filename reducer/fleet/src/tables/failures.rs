//! `failures`, `diagnostics` and `findings`: what went wrong, what is damaged, and what a user should know of.

use trace_explain::postmortem::RootCause;
use trace_reducer::model::TurnIdx;

use super::Source;
use super::source::Answers;
use super::table::table;

/// Most bytes of the text of a failure or a diagnostic. The session has the rest.
pub const MAX_MESSAGE_BYTES: usize = 1024;

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_MESSAGE_BYTES)]
}

/// Returns the turn with this id.
fn turn(it: &Answers<'_>, id: Option<&str>) -> Option<TurnIdx> {
    let id = id?;
    it.trace.turns.iter().find(|(_, turn)| it.trace.text(turn.id) == id).map(|(index, _)| index)
}

fn cause<'a>(s: &'a Source<'_>, key: &usize) -> &'a RootCause {
    &s.answers().failures[*key].cause
}

table! {
    FAILURES = "failures", "Something that failed and was not made good. What several turns name as a cause is one row.";
    rows |s| s.known().map(|it| (0..it.failures.len()).collect()).unwrap_or_default();
    each (s, key: usize) failure = &s.answers().failures[*key];
    model s.answers().model_of_turn(turn(s.answers(), failure.cause.turn_id.as_deref())?);
    thread_id Text "The thread in which it failed." = cause(s, key).thread_id.as_str();
    agent_path Text "Place of that agent in the tree of agents." = cause(s, key).agent_path.as_str();
    turn_id Text "The turn in which it failed." = cause(s, key).turn_id.as_deref();
    seq Integer "Sequence number of the event that shows it." = cause(s, key).seq;
    outcome Text "Outcome of the first turn that names it as a cause." = failure.outcome;
    category Text "Category of the postmortem, such as `provider_error`, `rate_limited`, `tool_failed`, `wait_timeout`."
        = cause(s, key).category.as_str();
    confidence Text "Confidence of the verdict: `low`, `medium`, `high`." = cause(s, key).confidence.as_str();
    object_type Text "Type of the object that failed." = cause(s, key).object.kind.as_str();
    object_id Text "Its id. `trace fleet show ADDRESS` and `trace why` take it." = cause(s, key).object.id.as_str();
    tool Text "The tool that failed, if it was one." = failure.tool.as_deref();
    message Text "The error as the evidence shows it, at most 1024 bytes." = cut(&cause(s, key).message);
    signature Text "Equal for failures of one category and tool whose texts differ only in numbers, ids, paths and quoted names."
        = failure.signature.as_str();
    http_status Integer "Status of the provider's HTTP response." = cause(s, key).http_status;
    exit_code Integer "Exit code of a command." = cause(s, key).exit_code;
    signal Integer "The signal that killed a command." = cause(s, key).signal;
    attempts Integer "Number of attempts, including the last one." = cause(s, key).attempts;
    turns Integer "Number of turns whose verdict names it." = failure.turns;
}

/// Index of a diagnostic, or `None` for the reason why a session cannot be read.
type DiagnosticKey = Option<usize>;

fn diagnostics(s: &Source<'_>) -> Vec<DiagnosticKey> {
    match s.known() {
        Some(it) => (0..it.session.diagnostics().iter().count()).map(Some).collect(),
        None => vec![None],
    }
}

table! {
    DIAGNOSTICS = "diagnostics", "A defect that reading a session found, or why the session cannot be read.";
    rows diagnostics;
    each (s, key: DiagnosticKey) found = key.and_then(|index| s.known()?.session.diagnostics().iter().as_slice().get(index));
    model None;
    severity Text "`note`, `warning` or `error`." = found.map_or("error", |it| it.severity().as_str());
    code Text "Kind of the defect; docs/diagnostics.md lists those of the reducer. `session_unreadable`, `session_refused` and \
               `session_panicked` say why a session has no other rows."
        = found.map_or_else(|| s.problem().map_or("", |why| why.code), |it| it.code.as_str());
    seq Integer "Sequence number of the event." = found.and_then(|it| it.seq);
    line Integer "Line of the log." = found.and_then(|it| it.line);
    payload_id Text "The payload." = found.and_then(|it| it.payload_id.as_deref());
    message Text "The defect in one sentence, at most 1024 bytes."
        = found.map_or_else(|| s.problem().map_or("", |why| cut(&why.message)), |it| cut(&it.message));
}

table! {
    FINDINGS = "findings", "A claim that the recording refutes, or an act that a user should know of, as `trace audit` reports it.";
    rows |s| s.known().map(|it| (0..it.audit.findings.len()).collect()).unwrap_or_default();
    each (s, key: usize) finding = &s.answers().audit.findings[*key];
    model s.answers().model_of_turn(turn(s.answers(), finding.turn_id.as_deref())?);
    thread_id Text "Thread of the agent that claimed or acted." = finding.thread_id.as_str();
    agent_path Text "Place of that agent in the tree of agents." = finding.agent_path.as_str();
    turn_id Text "Its turn." = finding.turn_id.as_deref();
    seq Integer "Sequence number at which it stands in the log." = finding.seq();
    kind Text "Kind of the finding, such as `false_success`, `check_not_run`, `tests_weakened`; docs/audit.md lists them."
        = finding.kind.as_str();
    severity Text "`low`, `medium` or `high`." = finding.severity.as_str();
    confidence Text "`medium` or `high`." = finding.confidence.as_str();
    message Text "The finding in one sentence." = cut(&finding.message);
    claim Text "What the agent claimed; null for findings about acts." = finding.claim.as_ref().map(|said| cut(&said.text));
}
