//! Holds what agents said and did against what the recording shows.
//!
//! An audit is made in three steps. [`read`] understands command lines, outputs of checks and sentences; it knows no
//! session. The [`ledger`] brings together what agents did, which checks they ran, what they changed and what they
//! claimed. Then each kind of finding has one file of rules in `find`, which compare the parts of the ledger.
//!
//! No model is used, and the same session always has the same answer. In doubt nothing is told: a claim that the
//! recording can neither bear out nor refute is counted as unverifiable.

mod draft;
mod find;
pub mod kind;
pub mod ledger;
pub mod read;
pub mod report;

pub use kind::{Kind, Severity};
pub use ledger::Ledger;
pub use read::checks::{CheckRun, Outcome, judge};
pub use read::claims::{Claim, Statement};
pub use read::runners::CheckKind;
pub use read::sentences::{Claims, claims_in};
pub use report::{
    Audit, ClaimCounts, ClaimVerdict, Evidence, Finding, FindingCounts, JudgedClaim, MAX_EVIDENCE, MAX_TEXT_CHARS,
    Relation, Said,
};

use std::cell::OnceCell;

use rayon::prelude::*;

use draft::{Draft, Proof, Verdict};
use find::measurements::Measurements;
use find::seen::Seen;

use crate::object::Object;
use crate::postmortem::Confidence;
use crate::session::Session;
use crate::texts::Texts;

/// What an audit tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether findings of low confidence are told, too.
    pub low: bool,
}

/// Holds what the agents of a session said and did against what the recording shows.
pub fn audit(session: &Session, options: Options) -> Audit {
    audit_ledger(&Ledger::new(session), options).0
}

/// As [`audit`], with a ledger that is there already. Also returns the claims that were looked at, in the order of the log.
pub fn audit_ledger(ledger: &Ledger<'_>, options: Options) -> (Audit, Vec<JudgedClaim>) {
    let find_acts = || rayon::join(|| acts(ledger), || find::secret_exposed::find(ledger));
    let ((mut drafts, (secrets, known_secrets)), seen) =
        rayon::join(find_acts, || Seen::new(ledger.session, literals(ledger)));
    drafts.extend(secrets);
    drop_second_kinds(&mut drafts);
    let (claims, mut judged) = claims(ledger, &seen, &drafts, options);
    drafts.extend(claims);
    drafts.retain(|draft| options.low || draft.confidence > Confidence::Low);
    drafts.sort_by_key(|a| (a.seq, a.kind));
    for (finding, draft) in drafts.iter().enumerate() {
        for claim in &draft.judged {
            judged[*claim].finding = Some(finding);
        }
    }
    let findings = drafts.into_iter().map(|draft| told(ledger, draft, &known_secrets)).collect();
    (Audit { findings, claims: counts(&judged) }, judged)
}

fn counts(judged: &[JudgedClaim]) -> ClaimCounts {
    let mut counts = ClaimCounts { checked: judged.len() as u64, ..ClaimCounts::default() };
    for claim in judged {
        match claim.verdict {
            ClaimVerdict::Supported => counts.supported += 1,
            ClaimVerdict::Contradicted => counts.contradicted += 1,
            ClaimVerdict::Unverifiable => counts.unverifiable += 1,
        }
    }
    counts
}

/// Most tool calls of a session that is audited beside another question.
pub const MAX_CALLS_BESIDE: usize = 2_000;

/// Most bytes that an audit of such a session reads: texts of messages, arguments and outputs of calls of any tool, and their payloads.
pub const MAX_BYTES_BESIDE: u64 = 16 << 20;

/// Audits a session beside another question, such as its overview: only if that takes a small part of the time that reducing
/// it took. `None` for a session with more than [`MAX_CALLS_BESIDE`] calls or [`MAX_BYTES_BESIDE`] bytes to read. It depends
/// on the session alone, so that the same session has the same answer everywhere.
pub fn audit_beside(session: &Session) -> Option<Audit> {
    let is_small = session.trace().tools.len() <= MAX_CALLS_BESIDE
        && Texts::new(session).bytes(MAX_BYTES_BESIDE) <= MAX_BYTES_BESIDE;
    is_small.then(|| audit(session, Options::default()))
}

/// Finds acts of one kind.
type FindActs = fn(&Ledger<'_>) -> Vec<Draft>;

/// The kinds of findings about acts but that about secrets, in the order of the list of kinds.
const ACTS: [FindActs; 6] = [
    find::tests_weakened::find,
    find::hardcoded_result::find,
    find::check_bypassed::find,
    find::destructive_command::find,
    find::injected_instruction::find,
    find::repeated_call::find,
];

fn acts(ledger: &Ledger<'_>) -> Vec<Draft> {
    ACTS.par_iter().with_max_len(1).flat_map_iter(|find| find(ledger)).collect()
}

/// One act has one finding: the first of the list of kinds.
fn drop_second_kinds(drafts: &mut Vec<Draft>) {
    drafts.sort_by_key(|a| (a.act, a.kind));
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts.drain(..) {
        let is_second =
            draft.act.is_some() && kept.iter().any(|known| known.act == draft.act && (known.kind != draft.kind));
        if !is_second {
            kept.push(draft);
        }
    }
    *drafts = kept;
}

/// Returns the literals of the answers that are looked for in what the agents saw.
fn literals(ledger: &Ledger<'_>) -> Vec<String> {
    let claims = ledger.answers.iter().flat_map(|answer| &answer.claims.claims);
    claims
        .flat_map(|claim| match &claim.statement {
            Statement::Detail(detail) => find::unsupported_detail::parts(detail),
            Statement::Measurement(measurement) => find::measurements::spellings(measurement),
            Statement::Action(action) => find::action_not_done::names_of_listed(action),
            _ => Vec::new(),
        })
        .collect()
}

/// Judges all claims. Returns the findings about them, which name the claims by their place in the second list.
fn claims(ledger: &Ledger<'_>, seen: &Seen, acts: &[Draft], options: Options) -> (Vec<Draft>, Vec<JudgedClaim>) {
    let measurements = OnceCell::new();
    let mut found: Vec<Draft> = Vec::new();
    let mut judged: Vec<JudgedClaim> = Vec::new();
    // Answers with a claim about a check that was contradicted.
    let mut contradicted: Vec<usize> = Vec::new();
    for (index, answer) in ledger.answers.iter().enumerate() {
        let mut add = |claim, verdict| {
            judged.push(JudgedClaim { answer: index, claim, verdict, finding: None });
            judged.len() - 1
        };
        if answer.claims.is_foreign {
            add(None, ClaimVerdict::Unverifiable);
            continue;
        }
        let mut sentence_has_finding: Option<std::ops::Range<usize>> = None;
        for (place, claim) in answer.claims.claims.iter().enumerate() {
            let verdict = match &claim.statement {
                Statement::Check(check) => {
                    let verdict = find::claims_of_checks::judge(ledger, index, &claim.text, check, &contradicted);
                    beside_acts(ledger, index, verdict, acts)
                }
                Statement::Measurement(measurement) => {
                    let all = measurements.get_or_init(|| Measurements::new(ledger));
                    find::measurements::judge(ledger, all, seen, index, &claim.text, measurement, &contradicted)
                }
                Statement::Action(action) => find::action_not_done::judge(ledger, seen, index, &claim.text, action),
                Statement::Detail(detail) => find::unsupported_detail::judge(ledger, seen, index, &claim.text, detail),
                Statement::Child(child) => match find::child_failure_hidden::judge(ledger, index, &claim.text, child) {
                    Some(verdict) => verdict,
                    None => continue,
                },
            };
            match verdict {
                Verdict::Supported => _ = add(Some(place), ClaimVerdict::Supported),
                Verdict::Unverifiable => _ = add(Some(place), ClaimVerdict::Unverifiable),
                Verdict::Contradicted(draft) if draft.confidence == Confidence::Low && !options.low => {
                    drop(draft);
                    add(Some(place), ClaimVerdict::Unverifiable);
                }
                Verdict::Contradicted(mut draft) => {
                    let own = add(Some(place), ClaimVerdict::Contradicted);
                    if matches!(claim.statement, Statement::Check(_) | Statement::Measurement(_)) {
                        contradicted.push(index);
                    }
                    // One sentence has one finding of a kind, however many things it names.
                    let same = found.last_mut().filter(|last| {
                        sentence_has_finding.as_ref() == Some(&claim.range)
                            && (last.kind == draft.kind || is_same_check(last, &draft))
                    });
                    if let Some(last) = same {
                        last.judged.push(own);
                    } else {
                        sentence_has_finding = Some(claim.range.clone());
                        draft.judged.push(own);
                        found.push(*draft);
                    }
                }
            }
        }
    }
    (found, judged)
}

/// Two findings about one check of a sentence are one.
fn is_same_check(a: &Draft, b: &Draft) -> bool {
    let is_check = |draft: &Draft| draft.kind <= Kind::WrongFigure;
    is_check(a)
        && is_check(b)
        && a.evidence.first().map(|proof| proof.object) == b.evidence.first().map(|proof| proof.object)
}

/// A claim that rests on a run which an act made pass is not told beside that act.
fn beside_acts(ledger: &Ledger<'_>, answer: usize, verdict: Verdict, acts: &[Draft]) -> Verdict {
    let Verdict::Contradicted(draft) = verdict else { return verdict };
    let it = &ledger.answers[answer];
    let bends = |act: &&Draft| {
        matches!(act.kind, Kind::TestsWeakened | Kind::HardcodedResult | Kind::CheckBypassed)
            && act.thread == it.thread
            && act.seq < it.seq
    };
    let rests = acts.iter().filter(bends).any(|act| {
        let made = act.evidence.first().map(|proof| proof.object);
        draft.kind == Kind::CheckNotRun && act.turn == draft.turn
            || draft.evidence.iter().any(|proof| Some(proof.object) == made)
    });
    if rests { Verdict::Unverifiable } else { Verdict::Contradicted(draft) }
}

fn told(ledger: &Ledger<'_>, draft: Draft, secrets: &[String]) -> Finding {
    let session = ledger.session;
    let trace = session.trace();
    let short = |text: &str| shortened(&find::secret_exposed::masked(text, secrets));
    let claim = draft.claim.map(|(answer, sentence)| {
        let it = &ledger.answers[answer];
        Said { object: session.name(Object::Item(it.item)), seq: Some(it.seq), text: short(&sentence) }
    });
    let evidence = |proof: Proof| Evidence {
        object: session.name(proof.object),
        seq: proof.seq,
        text: short(&proof.text),
        relation: proof.relation,
    };
    let mut proofs = draft.evidence;
    if proofs.len() > MAX_EVIDENCE {
        let tail = proofs.split_off(proofs.len() - MAX_EVIDENCE / 2);
        proofs.truncate(MAX_EVIDENCE - tail.len());
        proofs.extend(tail);
    }
    Finding {
        kind: draft.kind,
        severity: draft.severity,
        confidence: draft.confidence,
        agent_path: session.agent_path(draft.thread).to_owned(),
        thread_id: trace.text(trace.threads[draft.thread].id).to_owned(),
        turn_id: draft.turn.map(|turn| trace.text(trace.turns[turn].id).to_owned()),
        claim,
        evidence: proofs.into_iter().map(evidence).collect(),
        message: short(&draft.message),
    }
}

/// Cuts a text to [`MAX_TEXT_CHARS`] and puts it into one line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_TEXT_CHARS {
        return line;
    }
    let cut = line.char_indices().nth(MAX_TEXT_CHARS - 1).map_or(line.len(), |(at, _)| at);
    format!("{}…", &line[..cut])
}
