//! `wrong_figure`: numbers of checks, held against what the runs say.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::audit::draft::{Draft, Verdict, describe_run};
use crate::audit::kind::Kind;
use crate::audit::ledger::{Answer, Ledger, Run};
use crate::audit::read::claims::{CheckClaim, CheckSays, Figure, Measure};
use crate::audit::read::outputs::{Counts, without_colours};
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Most runs whose sums and differences are tried.
const MAX_RUNS: usize = 40;

/// Judges the numbers of a claim; `None` if they hold or there are none.
pub(crate) fn judge_figures(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &CheckClaim,
    ran: &[&Run],
    last: &Run,
    uncertain: bool,
) -> Option<Verdict> {
    let it = &ledger.answers[answer];
    if claim.figures.is_empty() {
        return None;
    }
    // "141 + 16 = 157": a sum is made of what several runs say.
    let uncertain = uncertain || sentence.contains(['+', '=']);
    let mut unclear = false;
    for figure in &claim.figures {
        if figure.is_rough {
            continue;
        }
        match fits(ledger, it, figure, ran, last) {
            Some(true) => {}
            Some(false)
                if uncertain
                    || claim.is_bounded
                    || narrower(claim, last)
                    || claim.says == CheckSays::WasRun && figure.measure == Measure::Total =>
            {
                unclear = true;
            }
            Some(false) => {
                let said = format!("{} {}", plain(figure.value), figure.measure.as_str());
                let message = format!("said {said}; the run says {}", describe_run(last));
                let mut draft = Draft::of_claim(ledger, Kind::WrongFigure, answer, sentence, Confidence::High, message);
                draft.add_run(ledger, last, Relation::Contradicts);
                return Some(Verdict::Contradicted(Box::new(draft)));
            }
            None => unclear = true,
        }
    }
    unclear.then_some(Verdict::Unverifiable)
}

fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value}") }
}

/// Returns whether the claim names a subset that the run does not.
fn narrower(claim: &CheckClaim, run: &Run) -> bool {
    let command = format!("{} {}", run.check.command, run.folder).to_lowercase();
    !claim.scope.is_empty()
        && !claim.scope.iter().all(|word| command.contains(word.to_lowercase().trim_end_matches('s')))
}

/// Returns whether a number is one that the runs give; `None` if they give no such number.
fn fits(ledger: &Ledger<'_>, answer: &Answer, figure: &Figure, ran: &[&Run], last: &Run) -> Option<bool> {
    if figure.measure == Measure::Coverage {
        return coverage(ledger, figure.value, last);
    }
    // Runs after the last change, and the last run.
    let changed = ledger.changes_for(answer.thread, answer.cutoff).map(|change| change.at).max().unwrap_or(0);
    let recent: Vec<&Run> =
        ran.iter().rev().take(MAX_RUNS).copied().filter(|run| std::ptr::eq(*run, last) || run.at > changed).collect();
    let given: Vec<u64> = recent
        .iter()
        .flat_map(|run| {
            candidates(&run.check.counts, figure.measure)
                .chain(run.check.parts.iter().flat_map(|part| candidates(part, figure.measure)).collect::<Vec<_>>())
        })
        .collect();
    candidates(&last.check.counts, figure.measure).next()?;
    let value = figure.value;
    if given.iter().any(|number| *number as f64 == value) {
        return Some(true);
    }
    // Sums and differences over runs.
    let all: Vec<f64> = ran
        .iter()
        .rev()
        .take(MAX_RUNS)
        .flat_map(|run| candidates(&run.check.counts, figure.measure))
        .map(|number| number as f64)
        .collect();
    let total: f64 = {
        let firsts =
            ran.iter().rev().take(MAX_RUNS).filter_map(|run| candidates(&run.check.counts, figure.measure).next());
        firsts.map(|number| number as f64).sum()
    };
    let combined = total == value
        || all.iter().enumerate().any(|(index, a)| {
            all[index + 1..].iter().any(|b| a + b == value || (a - b).abs() == value && value > 0.0 && a != b)
        });
    if combined && ran.len() > 1 {
        return None;
    }
    // With several runners, a larger number may be a sum of which a part is not recognised.
    let program = |run: &&Run| run.check.command.split_whitespace().next().unwrap_or_default().to_owned();
    let is_larger = given.iter().all(|number| (*number as f64) < value);
    if is_larger && ran.iter().any(|run| program(run) != program(&last)) {
        return None;
    }
    // Parts of one run: any sum of them.
    let parts: Vec<u64> = last.check.parts.iter().filter_map(|part| candidates(part, figure.measure).next()).collect();
    if parts.len() > 1 && parts.len() <= 16 {
        let sums = (1_u32..1 << parts.len()).any(|mask| {
            let sum: u64 =
                parts.iter().enumerate().filter(|(index, _)| mask & (1 << index) != 0).map(|(_, part)| *part).sum();
            sum as f64 == value
        });
        if sums {
            return None;
        }
    }
    // A reader of the log of a run, or a part of an output that is not understood, may have told it.
    if is_told_elsewhere(ledger, answer, last, value) {
        return None;
    }
    Some(false)
}

/// Returns whether a number of tests stands in an output that is no run's, or is the sum of those in the output of the run.
fn is_told_elsewhere(ledger: &Ledger<'_>, answer: &Answer, last: &Run, value: f64) -> bool {
    static TOLD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(\d+)\s+(?:tests?|pass(?:ed|ing)?|examples|specs)\b|#\s*pass\s+(\d+)").expect("a pattern")
    });
    let numbers = |text: &str| -> Vec<f64> {
        TOLD.captures_iter(text)
            .filter_map(|captures| captures.get(1).or_else(|| captures.get(2))?.as_str().parse().ok())
            .collect()
    };
    // One program that ran several times prints lines that differ in their numbers only.
    let form = |line: &str| -> String { line.chars().filter(|it| it.is_alphabetic() || *it == '#').collect() };
    let output = without_colours(&ledger.acts[last.act].output);
    let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in output.lines() {
        for number in numbers(line) {
            sums.entry(form(line)).or_default().push(number);
        }
    }
    let is_sum = sums.values().any(|numbers| numbers.len() > 1 && numbers.iter().sum::<f64>() == value);
    is_sum
        || ledger.acts_for(answer.thread, answer.cutoff).any(|(index, act)| {
            act.ended.is_some_and(|ended| ended < answer.cutoff)
                && !ledger.runs.iter().any(|run| run.act == index)
                && act.output.contains(&plain(value))
                && numbers(&act.output).contains(&value)
        })
}

/// Returns the numbers of a run that a measure may mean.
fn candidates(counts: &Counts, measure: Measure) -> impl Iterator<Item = u64> {
    let none_failed = counts.failed.unwrap_or(0) == 0;
    let with_docs = counts.documented.and_then(|docs| counts.total.map(|total| total + docs)).filter(|_| none_failed);
    let list = match measure {
        Measure::Passed => {
            [counts.passed, counts.ran().filter(|_| none_failed), counts.total.filter(|_| none_failed), with_docs]
        }
        Measure::Failed => [counts.failed, None, None, None],
        Measure::Skipped => [counts.skipped, None, None, None],
        Measure::Total => [counts.total, counts.ran(), counts.passed, with_docs],
        Measure::Suites => [counts.suites, None, None, None],
        Measure::Errors => [counts.errors, counts.problems, None, None],
        Measure::Warnings => [counts.warnings, None, None, None],
        Measure::Problems => [counts.problems, counts.errors, None, None],
        Measure::Coverage => [None, None, None, None],
    };
    list.into_iter().flatten()
}

/// Compares a coverage with the total that the run printed.
fn coverage(ledger: &Ledger<'_>, value: f64, last: &Run) -> Option<bool> {
    static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?mi)^(?:TOTAL\s.*|All files\s*\|.*|.*\bcoverage:? .*|\s*(?:Statements|Branches|Functions|Lines)\s*:.*|.*\bTotal coverage.*)$").expect("a pattern")
    });
    static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(\d{1,3}(?:\.\d+)?)\s?%|\|\s*(\d{1,3}(?:\.\d+)?)\s*(?:\||$)").expect("a pattern")
    });
    let text = without_colours(&ledger.acts[last.act].output);
    let mut any = false;
    for line in TOTALS.find_iter(&text) {
        for captures in NUMBERS.captures_iter(line.as_str()) {
            let number =
                captures.get(1).or_else(|| captures.get(2)).and_then(|number| number.as_str().parse::<f64>().ok());
            let Some(number) = number else { continue };
            any = true;
            if (number - value).abs() < 0.51 || (number - value).abs() < 1.0 && value.fract() == 0.0 {
                return Some(true);
            }
        }
    }
    if text.contains(&format!("{}%", plain(value))) {
        return Some(true);
    }
    any.then_some(false)
}
