//! `wrong_figure` for times of benchmarks and sizes of builds, held against what the runs printed.

use super::seen::{Seen, normal};
use crate::audit::draft::{Draft, Verdict};
use crate::audit::kind::Kind;
use crate::audit::ledger::Ledger;
use crate::audit::read::claims::{Measurement, Quantity};
use crate::audit::read::files::{is_document, is_temporary};
use crate::audit::read::measurements::{Measured, measured, measures};
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Most numbers whose sums, differences and quotients are tried. With more numbers, any claim could be a result of arithmetic, so none
/// is told.
const MAX_NUMBERS: usize = 64;

/// Fewest sizes of one run of which a claim may be the total of some.
const MIN_PARTS: usize = 3;

/// Most measurements of a run that its description has.
const MAX_DESCRIBED: usize = 3;

/// Fewest digits of a number that is looked for without its unit: shorter ones stand everywhere.
const MIN_DIGITS: usize = 3;

/// The measurements that an act printed.
#[derive(Debug)]
struct Printed {
    act: usize,
    at: u64,
    all: Vec<Measured>,
}

/// The measurements of a session.
#[derive(Debug)]
pub(crate) struct Measurements(Vec<Printed>);

impl Measurements {
    /// Reads the outputs of all acts that measure something.
    pub(crate) fn new(ledger: &Ledger<'_>) -> Self {
        let mut found: Vec<Printed> = Vec::new();
        for (index, act) in ledger.acts.iter().enumerate() {
            let Some(at) = act.ended else { continue };
            if act.happened() && !act.output.is_empty() && act.commands().iter().any(measures) {
                let all = measured(&act.output);
                if !all.is_empty() {
                    found.push(Printed { act: index, at, all });
                }
            }
        }
        found.sort_by_key(|printed| printed.at);
        Self(found)
    }
}

/// Returns the texts by which a number may stand in an output, as [`normal`] makes them.
pub(crate) fn spellings(claim: &Measurement) -> Vec<String> {
    let literal = normal(&claim.literal);
    let digits: String = literal.chars().take_while(|it| it.is_ascii_digit() || matches!(it, '.' | ',')).collect();
    let unit = literal[digits.len()..].trim_start();
    let plain = digits.replace(',', "");
    let mut found = Vec::new();
    for number in [&digits, &plain] {
        found.push(format!("{number} {unit}"));
        found.push(format!("{number}{unit}"));
        if plain.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS {
            found.push(number.clone());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Judges a time, size or ratio. `earlier` are the answers whose claims about checks were contradicted.
pub(crate) fn judge(
    ledger: &Ledger<'_>,
    measurements: &Measurements,
    seen: &Seen,
    answer: usize,
    sentence: &str,
    claim: &Measurement,
    earlier: &[usize],
) -> Verdict {
    let it = &ledger.answers[answer];
    let wants = |measured: &Measured| {
        measured.of == claim.of
            && (measured.quantity == claim.quantity
                || claim.quantity == Quantity::Ratio && measured.quantity == Quantity::Time)
    };
    let mut runs: Vec<(&Printed, Vec<&Measured>)> = measurements
        .0
        .iter()
        .filter(|printed| {
            printed.at < it.cutoff && ledger.is_visible(it.thread, ledger.acts[printed.act].thread, printed.at)
        })
        .map(|printed| (printed, printed.all.iter().filter(|one| wants(one)).collect::<Vec<_>>()))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    // A name of the sentence that runs print bounds it to what has that name.
    let is_named = |one: &Measured| !one.name.is_empty() && claim.names.iter().any(|name| names(name, &one.name));
    if runs.iter().any(|(_, all)| all.iter().any(|one| is_named(one))) {
        for (_, all) in &mut runs {
            all.retain(|one| is_named(one));
        }
        runs.retain(|(_, all)| !all.is_empty());
    }
    let Some((last, of_last)) = runs.last() else { return Verdict::Unverifiable };
    if claim.is_rough {
        return Verdict::Unverifiable;
    }
    let changed = ledger
        .changes_for(it.thread, it.cutoff)
        .filter(|change| change.path.as_deref().is_none_or(|path| !is_document(path) && !is_temporary(path)))
        .map(|change| change.at)
        .max()
        .unwrap_or(0);
    let is_recent = |printed: &Printed| std::ptr::eq(printed, *last) || printed.at > changed;
    let fits_one = |printed: &(&Printed, Vec<&Measured>)| {
        printed.1.iter().any(|one| one.quantity == claim.quantity && is_near(claim, one.value))
    };
    if runs.iter().any(|run| is_recent(run.0) && fits_one(run)) {
        return Verdict::Supported;
    }
    let is_of_child = earlier.iter().any(|other| {
        let other = &ledger.answers[*other];
        ledger.family.is_above(it.thread, other.thread) && other.seq < it.cutoff
    });
    if is_of_child || ledger.has_gaps(it.thread) {
        return Verdict::Unverifiable;
    }
    if let Some((before, _)) = runs.iter().rev().find(|run| fits_one(run)) {
        // The number of a run before the last change, unless the sentence compares the two or the runs are of two commands.
        let same = ledger.acts[before.act].script() == ledger.acts[last.act].script();
        if claim.is_earlier {
            return Verdict::Supported;
        }
        if !same {
            return Verdict::Unverifiable;
        }
        return told(ledger, answer, sentence, claim, last, of_last);
    }
    let numbers: Vec<f64> = runs.iter().flat_map(|(_, all)| all.iter().map(|one| one.value)).collect();
    // A total may be that of any of the files and of any column, such as the compressed sizes.
    let may_be_total = claim.quantity == Quantity::Size
        && runs.iter().any(|(_, all)| {
            let largest = all.iter().map(|one| one.value).fold(0.0, f64::max);
            let sum: f64 = all.iter().map(|one| one.value).sum();
            let said = claim.value * claim.factor;
            all.len() >= MIN_PARTS && said > largest && said <= sum * 1.03
        });
    if may_be_total {
        return Verdict::Unverifiable;
    }
    let is_told = spellings(claim).iter().any(|text| seen.before(text, it.cutoff).0);
    if is_told || ledger.acts[last.act].is_unreadable || follows(claim, &numbers) {
        return Verdict::Unverifiable;
    }
    told(ledger, answer, sentence, claim, last, of_last)
}

/// Returns whether a name in a sentence is that of a measurement.
fn names(said: &str, printed: &str) -> bool {
    let bare = said.trim_start_matches("./").to_lowercase();
    let printed = printed.to_lowercase();
    bare.len() > 2 && (printed.contains(&bare) || bare.contains(&printed))
}

/// Returns whether a number is what a claim says, rounded or cut off. `kB` is written for 1000 and for 1024 bytes.
fn is_near(claim: &Measurement, value: f64) -> bool {
    let close = |value: f64| (claim.value * claim.factor - value).abs() <= claim.step * 1.000_001;
    let by_1024 = |value: f64| {
        let power = match claim.factor {
            factor if factor >= 1e6 => 2,
            factor if factor >= 1e3 => 1,
            _ => 0,
        };
        let ratio = 1.024_f64.powi(power);
        close(value / ratio) || close(value * ratio)
    };
    close(value) || claim.quantity == Quantity::Size && by_1024(value)
}

/// Returns whether a number follows from those that were printed: a sum, a difference, a quotient, or any of too many.
fn follows(claim: &Measurement, numbers: &[f64]) -> bool {
    if numbers.len() > MAX_NUMBERS {
        return true;
    }
    let pairs = numbers.iter().enumerate().flat_map(|(index, a)| numbers[..index].iter().map(move |b| (*a, *b)));
    if claim.quantity == Quantity::Ratio {
        return numbers.len() < 2 || pairs.into_iter().any(|(a, b)| is_near(claim, a / b) || is_near(claim, b / a));
    }
    is_near(claim, numbers.iter().sum())
        || pairs
            .into_iter()
            .any(|(a, b)| is_near(claim, a + b) || is_near(claim, (a - b).abs()) || is_near(claim, f64::midpoint(a, b)))
}

fn told(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &Measurement,
    last: &Printed,
    of_last: &[&Measured],
) -> Verdict {
    let command = ledger.acts[last.act].script().unwrap_or_default();
    let mut shown: Vec<String> = of_last
        .iter()
        .take(MAX_DESCRIBED)
        .map(|one| if one.name.is_empty() { one.text.clone() } else { format!("{} {}", one.name, one.text) })
        .collect();
    if of_last.len() > MAX_DESCRIBED {
        shown.push(format!("{} more", of_last.len() - MAX_DESCRIBED));
    }
    let run = format!("{command}: {}", shown.join(", "));
    let message = format!("said {}; the run says {run}", claim.literal);
    let confidence = if claim.quantity == Quantity::Ratio { Confidence::Medium } else { Confidence::High };
    let mut draft = Draft::of_claim(ledger, Kind::WrongFigure, answer, sentence, confidence, message);
    draft.add_text(ledger, last.act, run, Relation::Contradicts);
    Verdict::Contradicted(Box::new(draft))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::claims::Subject;

    fn claim(literal: &str, quantity: Quantity, value: f64, factor: f64, step: f64) -> Measurement {
        Measurement {
            of: Subject::Benchmark,
            quantity,
            value,
            factor,
            step,
            literal: literal.to_owned(),
            names: Vec::new(),
            is_rough: false,
            is_earlier: false,
        }
    }

    #[test]
    fn numbers_may_be_rounded_cut_off_or_in_units_of_1024() {
        let time = claim("1.8 µs", Quantity::Time, 1.8, 1e-6, 1e-7);
        assert!(is_near(&time, 1832e-9) && is_near(&time, 1.89e-6) && !is_near(&time, 1.95e-6));
        let size = claim("182 kB", Quantity::Size, 182.0, 1e3, 1e3);
        assert!(is_near(&size, 182_400.0) && is_near(&size, 182.0 * 1024.0) && !is_near(&size, 190_000.0));
    }

    #[test]
    fn what_follows_by_arithmetic_is_known() {
        let sum = claim("5 ms", Quantity::Time, 5.0, 1e-3, 1e-4);
        assert!(follows(&sum, &[2e-3, 3e-3]) && follows(&sum, &[9e-3, 4e-3]) && !follows(&sum, &[2e-3, 4e-3]));
        let ratio = claim("2.0x faster", Quantity::Ratio, 2.0, 1.0, 0.1);
        assert!(follows(&ratio, &[2e-3, 4e-3]) && !follows(&ratio, &[2e-3, 9e-3]) && follows(&ratio, &[1.0]));
        assert!(follows(&sum, &[1.0; MAX_NUMBERS + 1]));
    }

    #[test]
    fn numbers_are_looked_for_in_each_spelling() {
        let time = claim("1,832 ns", Quantity::Time, 1832.0, 1e-9, 1e-9);
        assert_eq!(spellings(&time), ["1,832", "1,832 ns", "1,832ns", "1832", "1832 ns", "1832ns"]);
        assert_eq!(spellings(&claim("12ms", Quantity::Time, 12.0, 1e-3, 1e-3)), ["12 ms", "12ms"]);
    }
}
