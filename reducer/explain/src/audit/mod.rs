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
pub use report::{Audit, ClaimCounts, Evidence, Finding, MAX_EVIDENCE, MAX_TEXT_CHARS, Relation, Said};

use draft::{Draft, Proof, Verdict};
use find::unsupported_detail::Seen;

use crate::object::Object;
use crate::postmortem::Confidence;
use crate::session::Session;

/// What an audit tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether findings of low confidence are told, too.
    pub low: bool,
}

/// Holds what the agents of a session said and did against what the recording shows.
pub fn audit(session: &Session, options: Options) -> Audit {
    audit_ledger(&Ledger::new(session), options)
}

/// As [`audit`], with a ledger that is there already.
pub fn audit_ledger(ledger: &Ledger<'_>, options: Options) -> Audit {
    let mut drafts = acts(ledger);
    let (secrets, known_secrets) = find::secret_exposed::find(ledger);
    drafts.extend(secrets);
    drop_second_kinds(&mut drafts);
    let (claims, counts) = claims(ledger, &drafts, options);
    drafts.extend(claims);
    drafts.retain(|draft| options.low || draft.confidence > Confidence::Low);
    drafts.sort_by_key(|a| (a.seq, a.kind));
    let findings = drafts.into_iter().map(|draft| told(ledger, draft, &known_secrets)).collect();
    Audit { findings, claims: counts }
}

fn acts(ledger: &Ledger<'_>) -> Vec<Draft> {
    let mut drafts = find::tests_weakened::find(ledger);
    drafts.extend(find::hardcoded_result::find(ledger));
    drafts.extend(find::check_bypassed::find(ledger));
    drafts.extend(find::destructive_command::find(ledger));
    drafts.extend(find::injected_instruction::find(ledger));
    drafts.extend(find::repeated_call::find(ledger));
    drafts
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

/// Judges all claims.
fn claims(ledger: &Ledger<'_>, acts: &[Draft], options: Options) -> (Vec<Draft>, ClaimCounts) {
    let seen = Seen::new(ledger);
    let mut found: Vec<Draft> = Vec::new();
    let mut counts = ClaimCounts::default();
    // Answers with a claim about a check that was contradicted.
    let mut contradicted: Vec<usize> = Vec::new();
    for (index, answer) in ledger.answers.iter().enumerate() {
        if answer.claims.is_foreign {
            counts.checked += 1;
            counts.unverifiable += 1;
            continue;
        }
        let mut sentence_has_finding: Option<std::ops::Range<usize>> = None;
        for claim in &answer.claims.claims {
            let verdict = match &claim.statement {
                Statement::Check(check) => {
                    let verdict = find::claims_of_checks::judge(ledger, index, &claim.text, check, &contradicted);
                    beside_acts(ledger, index, verdict, acts)
                }
                Statement::Action(action) => find::action_not_done::judge(ledger, index, &claim.text, action),
                Statement::Detail(detail) => find::unsupported_detail::judge(ledger, &seen, index, &claim.text, detail),
                Statement::Child(child) => match find::child_failure_hidden::judge(ledger, index, &claim.text, child) {
                    Some(verdict) => verdict,
                    None => continue,
                },
            };
            counts.checked += 1;
            match verdict {
                Verdict::Supported => counts.supported += 1,
                Verdict::Unverifiable => counts.unverifiable += 1,
                Verdict::Contradicted(draft) if draft.confidence == Confidence::Low && !options.low => {
                    drop(draft);
                    counts.unverifiable += 1;
                }
                Verdict::Contradicted(draft) => {
                    counts.contradicted += 1;
                    if matches!(claim.statement, Statement::Check(_)) {
                        contradicted.push(index);
                    }
                    // One sentence has one finding of a kind, however many things it names.
                    let again = sentence_has_finding.as_ref() == Some(&claim.range)
                        && found
                            .last()
                            .is_some_and(|last: &Draft| last.kind == draft.kind || is_same_check(last, &draft));
                    if !again {
                        sentence_has_finding = Some(claim.range.clone());
                        found.push(*draft);
                    }
                }
            }
        }
    }
    (found, counts)
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
