//! Tells findings of an audit while a session runs.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use trace_explain::Session;
use trace_explain::audit::{Finding, Kind, Options, Severity, audit};
use trace_explain::live::{Event, Happening};

/// The pause after an audit is at least this many times as long as it took to make the session and to audit it, so that following
/// a long session costs little.
const PAUSES_PER_AUDIT: u32 = 10;

/// Audits a session when turns have ended, and tells each finding of high severity once.
#[derive(Debug, Default)]
pub(super) struct Auditor {
    told: HashSet<FindingKey>,
    /// Turns that had ended before what is shown. Their findings are not told.
    hidden: HashSet<String>,
    /// Whether a turn has ended since the last audit.
    is_due: bool,
    next: Option<Instant>,
}

impl Auditor {
    /// Notes whether turns have ended.
    pub(super) fn hear<'h>(&mut self, happenings: impl IntoIterator<Item = &'h Happening>) {
        self.is_due |= happenings.into_iter().any(|happening| happening.event == Event::TurnEnded);
    }

    /// Notes that an earlier event is not shown. If it ended a turn, the findings of the turn are not told either.
    pub(super) fn hide(&mut self, happening: &Happening) {
        if happening.event == Event::TurnEnded {
            self.hidden.extend(happening.object.as_ref().map(|turn| turn.id.clone()));
        }
    }

    /// Returns whether the session should be audited now. At the end of a session there is nothing to wait for.
    pub(super) fn is_due(&self, is_over: bool) -> bool {
        self.is_due && (is_over || self.next.is_none_or(|next| Instant::now() >= next))
    }

    /// Makes the session, audits it and returns what was not told before.
    ///
    /// # Errors
    ///
    /// Returns the error of `make`.
    pub(super) fn news<E>(&mut self, make: impl FnOnce() -> Result<Session, E>) -> Result<Vec<Happening>, E> {
        let began = Instant::now();
        self.is_due = false;
        let session = make()?;
        let mut found = audit(&session, Options::default()).findings;
        found.retain(|finding| {
            let is_hidden = finding.turn_id.as_ref().is_some_and(|turn| self.hidden.contains(turn));
            finding.severity == Severity::High && !is_hidden && self.told.insert(FindingKey::of(finding))
        });
        let ended = Instant::now();
        self.next = Some(ended + pause_after(ended - began));
        Ok(found.iter().map(|finding| Happening::of_finding(session.trace(), finding)).collect())
    }
}

/// Returns the pause after an audit that took so long.
fn pause_after(took: Duration) -> Duration {
    took.max(Duration::from_millis(1)) * PAUSES_PER_AUDIT
}

/// What tells a finding from others. The places of events of an imported session may move when it is read again, so they do not count.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FindingKey {
    kind: Kind,
    thread: String,
    turn: Option<String>,
    claim: Option<String>,
    message: String,
}

impl FindingKey {
    fn of(finding: &Finding) -> Self {
        Self {
            kind: finding.kind,
            thread: finding.thread_id.clone(),
            turn: finding.turn_id.clone(),
            claim: finding.claim.as_ref().map(|claim| claim.text.clone()),
            message: finding.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn_ended(id: &str) -> Happening {
        let object = trace_explain::ObjectRef { kind: "codex_turn".to_owned(), id: id.to_owned() };
        Happening { object: Some(object), ..Happening::new(Event::TurnEnded) }
    }

    /// The session `samples/untrue.trace`.
    fn untrue() -> Result<Session, String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/untrue.trace");
        Session::open(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn the_time_that_it_takes_to_make_the_session_counts() {
        let mut auditor = Auditor::default();
        auditor.hear([&turn_ended("a")]);
        assert!(auditor.is_due(false));
        let slow = Duration::from_millis(30);
        let began = Instant::now();
        let made = || {
            std::thread::sleep(slow);
            untrue()
        };
        assert!(auditor.news(made).is_ok_and(|news| !news.is_empty()));
        assert!(auditor.next.is_some_and(|next| next >= began + slow * PAUSES_PER_AUDIT));
        auditor.hear([&turn_ended("b")]);
        assert!(!auditor.is_due(false) && auditor.is_due(true), "the end of a session waits for nothing");
        assert_eq!(pause_after(Duration::ZERO), Duration::from_millis(10));
    }

    #[test]
    fn findings_are_told_once_and_not_of_hidden_turns() {
        let all = Auditor::default().news(untrue).expect("opens");
        let again = |auditor: &mut Auditor| auditor.news(untrue).expect("opens").len();
        let mut auditor = Auditor::default();
        assert_eq!((again(&mut auditor), again(&mut auditor)), (all.len(), 0));

        let session = untrue().expect("opens");
        let found = audit(&session, Options::default()).findings;
        let turn = found.iter().find(|finding| finding.severity == Severity::High).and_then(|it| it.turn_id.clone());
        let turn = turn.expect("a turn");
        let of_turn = |it: &&Finding| it.severity == Severity::High && it.turn_id.as_ref() == Some(&turn);
        let hidden = found.iter().filter(of_turn).count();
        let mut auditor = Auditor::default();
        auditor.hide(&turn_ended(&turn));
        assert_eq!(again(&mut auditor), all.len() - hidden);
    }

    #[test]
    fn two_findings_in_one_answer_are_two() {
        let found = audit(&untrue().expect("opens"), Options::default()).findings;
        let one = found.into_iter().find(|finding| finding.claim.is_some()).expect("a finding about a claim");
        let mut other = one.clone();
        assert_eq!(FindingKey::of(&one), FindingKey::of(&other));
        other.claim.as_mut().expect("a claim").text = "The linter is happy.".to_owned();
        assert_ne!(FindingKey::of(&one), FindingKey::of(&other), "two sentences of one answer");
        let mut other = one.clone();
        other.message = "said that lint checks pass; the last run failed".to_owned();
        assert_ne!(FindingKey::of(&one), FindingKey::of(&other), "two checks of one sentence");
    }
}
