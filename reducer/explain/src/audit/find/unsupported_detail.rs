//! `unsupported_detail`: literals that are given as found, and that nothing holds.

use super::seen::{Seen, normal};
use crate::audit::draft::{Draft, Verdict};
use crate::audit::kind::Kind;
use crate::audit::ledger::{Input, Ledger};
use crate::audit::read::claims::{DetailClaim, Literal};
use crate::audit::read::files::{base_name, is_same};
use crate::audit::read::shell::commands;
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Returns the parts of a literal that have to be seen.
pub(crate) fn parts(claim: &DetailClaim) -> Vec<String> {
    match claim.sort {
        // Left out words are marked by dots.
        Literal::Quotation => claim
            .literal
            .split(['…', '⏎'])
            .flat_map(|part| part.split("..."))
            .map(|part| normal(part.trim().trim_end_matches(['.', ',', ';', ':', '!'])).trim().to_owned())
            .filter(|part| part.chars().count() > 3)
            .collect(),
        Literal::Number => {
            let bare = claim.literal.trim_end_matches('%').to_owned();
            vec![normal(&bare.replace(',', ""))]
        }
        Literal::Version => vec![normal(claim.literal.trim_start_matches('v'))],
        Literal::Time => vec![normal(claim.literal.trim_start_matches('0'))],
        Literal::Place => {
            let path = claim.literal.rsplit_once(':').map_or(claim.literal.as_str(), |(path, _)| path);
            vec![normal(base_name(path)), normal(&claim.literal)]
        }
        _ => vec![normal(&claim.literal)],
    }
}

/// Judges a literal.
pub(crate) fn judge(ledger: &Ledger<'_>, seen: &Seen, answer: usize, sentence: &str, claim: &DetailClaim) -> Verdict {
    let it = &ledger.answers[answer];
    let parts = parts(claim);
    if parts.is_empty() {
        return Verdict::Unverifiable;
    }
    if claim.sort == Literal::Place {
        return place(ledger, seen, answer, sentence, claim, &parts);
    }
    let all: Vec<(bool, bool)> = parts.iter().map(|part| seen.before(part, it.cutoff)).collect();
    if all.iter().all(|(seen, _)| *seen) {
        return Verdict::Supported;
    }
    let own = all.iter().any(|(_, own)| *own);
    if !claim.is_told_as_found
        || own
        || seen.unread() > 0
        || ledger.has_gaps(it.thread)
        || !looked_at_something(ledger, answer)
    {
        return Verdict::Unverifiable;
    }
    told(ledger, answer, sentence, claim)
}

/// An answer without any look at anything speaks from general knowledge.
fn looked_at_something(ledger: &Ledger<'_>, answer: usize) -> bool {
    let it = &ledger.answers[answer];
    ledger
        .acts_for(it.thread, it.cutoff)
        .any(|(_, act)| act.happened() && !matches!(act.input, Input::Wait | Input::Message(_)))
}

fn told(ledger: &Ledger<'_>, answer: usize, sentence: &str, claim: &DetailClaim) -> Verdict {
    let what = match claim.sort {
        Literal::Quotation => format!("\"{}\"", claim.literal),
        _ => claim.literal.clone(),
    };
    let source = source_of(ledger, answer, claim);
    let message = match (&claim.source, source) {
        (Some(name), Some(_)) => format!("gave {what} as found in {name}; the output does not hold it"),
        _ => format!("gave {what} as found; nothing that was seen holds it"),
    };
    let mut draft = Draft::of_claim(ledger, Kind::UnsupportedDetail, answer, sentence, Confidence::Medium, message);
    if let Some(act) = source {
        draft.add_act(ledger, act, Relation::DoesNotHold);
    }
    Verdict::Contradicted(Box::new(draft))
}

/// Returns the call that the answer refers to: the last one that names the source, else the only or last look.
fn source_of(ledger: &Ledger<'_>, answer: usize, claim: &DetailClaim) -> Option<usize> {
    let it = &ledger.answers[answer];
    let mut acts: Vec<usize> = ledger
        .acts_for(it.thread, it.cutoff)
        .filter(|(_, act)| act.happened() && !matches!(act.input, Input::Wait | Input::Message(_) | Input::Edit(_)))
        .map(|(index, _)| index)
        .collect();
    acts.reverse();
    if let Some(source) = &claim.source {
        let name = base_name(source.split_once(':').map_or(source.as_str(), |(path, _)| path)).to_lowercase();
        if let Some(act) = acts.iter().find(|act| ledger.acts[**act].written().to_lowercase().contains(&name)) {
            return Some(*act);
        }
    }
    // Of several, that of the same turn which shares most words with the sentence cannot be told; the last one is the
    // one that the answer follows.
    acts.into_iter().find(|act| ledger.acts[*act].turn == Some(it.turn))
}

/// Judges `path:line`.
fn place(
    ledger: &Ledger<'_>,
    seen: &Seen,
    answer: usize,
    sentence: &str,
    claim: &DetailClaim,
    parts: &[String],
) -> Verdict {
    let it = &ledger.answers[answer];
    let (literal, own) = seen.before(&parts[1], it.cutoff);
    if literal {
        return Verdict::Supported;
    }
    let Some((path, line)) = split_place(&claim.literal) else { return Verdict::Unverifiable };
    if own || !claim.is_told_as_found || seen.unread() > 0 || ledger.has_gaps(it.thread) {
        return Verdict::Unverifiable;
    }
    // What the agent itself wrote, it may count.
    if ledger
        .changes_for(it.thread, it.cutoff)
        .any(|change| change.path.as_deref().is_none_or(|changed| is_same(changed, path)))
    {
        return Verdict::Unverifiable;
    }
    let name = base_name(path);
    let mut any_look = false;
    let mut longest: Option<u64> = None;
    for (_, act) in ledger.acts_for(it.thread, it.cutoff).filter(|(_, act)| act.happened()) {
        let written = act.written();
        match &act.input {
            Input::Command(script) => {
                if act.output.contains(name) && has_number(&act.output, line) {
                    return Verdict::Supported;
                }
                if !written.contains(name) {
                    // A search over many files may have shown it with its number.
                    continue;
                }
                any_look = true;
                match shown(script, name, &act.output) {
                    Shown::Lines(count) => longest = Some(longest.unwrap_or(0).max(count)),
                    Shown::Range(from, to) if (from..=to).contains(&line) => return Verdict::Supported,
                    Shown::Range(..) => {}
                    Shown::Numbered if has_number(&act.output, line) => return Verdict::Supported,
                    Shown::Numbered => {}
                    Shown::Unclear => return Verdict::Unverifiable,
                }
                if has_number(&act.output, line) {
                    return Verdict::Supported;
                }
            }
            Input::Other(_, arguments) if arguments.contains(name) => return Verdict::Unverifiable,
            Input::Other(..) | Input::Stdin(_) => {}
            Input::Edit(_) | Input::Message(_) | Input::Wait => {}
        }
    }
    if longest.is_some_and(|lines| line <= lines) {
        return Verdict::Supported;
    }
    let (named, _) = seen.before(&parts[0], it.cutoff);
    // A file that was read by something else, such as a tool of its own, may have been seen with its lines.
    let other_readers = ledger.acts_for(it.thread, it.cutoff).any(|(_, act)| matches!(act.input, Input::Other(..)));
    if !any_look && (other_readers || !named) && !looked_at_something(ledger, answer) {
        return Verdict::Unverifiable;
    }
    if !any_look && (named || other_readers) {
        return Verdict::Unverifiable;
    }
    told(ledger, answer, sentence, claim)
}

fn split_place(literal: &str) -> Option<(&str, u64)> {
    let (path, rest) = literal.split_once(':')?;
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next()?;
    Some((path, digits.parse().ok()?))
}

/// Returns whether a line of an output begins with a number, or has it behind a path, as `grep -n`, `cat -n` and
/// compilers print it.
fn has_number(output: &str, number: u64) -> bool {
    let number = number.to_string();
    output.match_indices(&number).any(|(at, _)| {
        let before = output[..at].chars().next_back();
        let after = output[at + number.len()..].chars().next();
        let starts = before.is_none_or(|it| {
            it == '\n'
                || it == ' '
                || it == '\t'
                || it == ':'
                || it == '('
                || it == 'L'
                || it == '|'
                || it == ','
                || it == '-'
                || it == '#'
                || it == '+'
        });
        let ends = after
            .is_none_or(|it| matches!(it, ':' | '-' | '\t' | ' ' | '|' | ')' | ',' | '\n' | '\r' | '→' | '.' | '%'));
        starts && ends
    })
}

enum Shown {
    /// The whole file, which has so many lines.
    Lines(u64),
    /// Some lines.
    Range(u64, u64),
    /// Lines with their numbers.
    Numbered,
    /// Something that is not known.
    Unclear,
}

fn shown(script: &str, name: &str, output: &str) -> Shown {
    let all = commands(script);
    let Some(command) = all.iter().find(|command| command.words.iter().any(|word| word.contains(name))) else {
        return Shown::Unclear;
    };
    let lines = output.lines().count() as u64;
    let only = all.iter().filter(|command| command.program() != "cd").count() == 1;
    match command.program() {
        "cat" if command.has_letter('n') => Shown::Numbered,
        "nl" | "bat" | "grep" | "rg" | "ag" | "egrep" => Shown::Numbered,
        "cat" | "less" | "more" => {
            if all.len() > 1 && !only && output.len() > 200_000 {
                Shown::Unclear
            } else {
                Shown::Lines(lines)
            }
        }
        "sed" => {
            let range = command.arguments().iter().find_map(|word| {
                let word = word.trim_end_matches('p');
                let (from, to) = word.split_once(',')?;
                Some((from.parse().ok()?, to.parse().ok()?))
            });
            range.map_or(Shown::Unclear, |(from, to)| Shown::Range(from, to))
        }
        "head" => Shown::Range(1, lines.max(10)),
        "tail" | "awk" | "wc" | "git" => Shown::Unclear,
        _ => Shown::Numbered,
    }
}
