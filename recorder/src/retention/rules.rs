//! Decides which bundles to delete. The decision is a pure function of a list of bundles.

use std::time::{Duration, SystemTime};

use super::candidate::{Candidate, Protection};

/// Rules for deleting bundles. `None` means that there is no such rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Bundles that were last used longer ago are deleted.
    pub max_age: Option<Duration>,
    /// Then the oldest bundles are deleted until the others together have at most this many bytes.
    pub max_bytes: Option<u64>,
}

/// The decision about one bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept: no rule asks to delete it.
    Stays,
    /// It is kept although a rule asks to delete it, because of its [`Protection`].
    Protected,
    /// It is deleted because it is too old.
    TooOld,
    /// It is deleted because all bundles together are too large.
    TooMuch,
}

impl Verdict {
    /// Returns whether the bundle is to be deleted.
    pub fn goes(self) -> bool {
        matches!(self, Self::TooOld | Self::TooMuch)
    }
}

/// Decides about each bundle at the time `now`. The verdicts are in the order of the candidates.
pub fn decide(candidates: &[Candidate], rules: Rules, now: SystemTime) -> Vec<Verdict> {
    let age = |candidate: &Candidate| now.duration_since(candidate.last_used).unwrap_or_default();
    let may_go = |candidate: &Candidate| candidate.protection == Protection::None;
    let mut verdicts: Vec<Verdict> = candidates
        .iter()
        .map(|candidate| match rules.max_age {
            Some(max_age) if age(candidate) > max_age && may_go(candidate) => Verdict::TooOld,
            Some(max_age) if age(candidate) > max_age => Verdict::Protected,
            _ => Verdict::Stays,
        })
        .collect();
    let Some(max_bytes) = rules.max_bytes else { return verdicts };
    let staying = candidates.iter().zip(&verdicts).filter(|(_, verdict)| !verdict.goes());
    let mut bytes: u64 = staying.map(|(candidate, _)| candidate.bytes).fold(0, u64::saturating_add);
    let mut oldest_first: Vec<usize> = (0..candidates.len()).filter(|index| !verdicts[*index].goes()).collect();
    oldest_first.sort_by_key(|index| (candidates[*index].last_used, &candidates[*index].path));
    for index in oldest_first {
        if bytes <= max_bytes {
            break;
        }
        if may_go(&candidates[index]) {
            verdicts[index] = Verdict::TooMuch;
            bytes -= candidates[index].bytes;
        } else {
            verdicts[index] = Verdict::Protected;
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::retention::support::DAY;

    fn now() -> SystemTime {
        UNIX_EPOCH + 1000 * DAY
    }

    /// Decides about bundles that are given as age in days, size in bytes and protection.
    fn verdicts(bundles: &[(u32, u64, Protection)], max_days: Option<u32>, max_bytes: Option<u64>) -> String {
        let candidates: Vec<Candidate> = bundles
            .iter()
            .enumerate()
            .map(|(index, (days, bytes, protection))| Candidate {
                path: PathBuf::from(index.to_string()),
                last_used: now() - *days * DAY,
                bytes: *bytes,
                protection: protection.clone(),
            })
            .collect();
        let rules = Rules { max_age: max_days.map(|days| days * DAY), max_bytes };
        let letter = |verdict: Verdict| match verdict {
            Verdict::Stays => '.',
            Verdict::Protected => 'p',
            Verdict::TooOld => 'o',
            Verdict::TooMuch => 'm',
        };
        decide(&candidates, rules, now()).into_iter().map(letter).collect()
    }

    #[test]
    fn decisions() {
        let free = |days, bytes| (days, bytes, Protection::None);
        let bundles = [free(1, 10), free(5, 10), free(30, 10), free(31, 10), free(60, 10)];
        assert_eq!(verdicts(&bundles, None, None), ".....");
        assert_eq!(verdicts(&bundles, Some(30), None), "...oo", "exactly as old as allowed stays");
        assert_eq!(verdicts(&bundles, None, Some(50)), ".....", "exactly as much as allowed stays");
        assert_eq!(verdicts(&bundles, None, Some(49)), "....m");
        assert_eq!(verdicts(&bundles, None, Some(15)), ".mmmm", "the newest stay");
        assert_eq!(verdicts(&bundles, None, Some(0)), "mmmmm");
        assert_eq!(verdicts(&bundles, Some(30), Some(25)), "..moo", "age first, then size");
        assert_eq!(verdicts(&bundles, Some(0), None), "ooooo");

        let busy = |days| (days, 100, Protection::BeingRecorded);
        assert_eq!(verdicts(&[busy(90), free(1, 10), free(2, 10)], Some(30), None), "p..");
        assert_eq!(verdicts(&[busy(90), free(1, 10), free(2, 10)], None, Some(110)), "p.m", "it counts all the same");
        assert_eq!(verdicts(&[busy(1), free(2, u64::MAX)], None, Some(100)), ".m");
        assert_eq!(verdicts(&[], Some(1), Some(1)), "");
    }

    #[test]
    fn equal_ages_go_in_the_order_of_their_paths() {
        let bundles = [(5, 10, Protection::None), (5, 10, Protection::None), (5, 10, Protection::None)];
        assert_eq!(verdicts(&bundles, None, Some(10)), "mm.");
    }
}
