//! MinHash sketches: how similar two sessions are, without comparing them.
//!
//! A sketch has [`SLOTS`] values. The share of values that two sketches have in common estimates the share of features that
//! the two sessions have in common (their Jaccard similarity), with a standard error of at most 0.09. Each value has the
//! number of its slot in its upper bits, so a plain join on values compares slots with slots.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Number of values of a sketch.
pub const SLOTS: usize = 32;

/// Bits of a value that come from the hash.
const HASH_BITS: u32 = 32;

/// Makes the sketch of a set of features. Without any feature the sketch is empty.
pub fn sketch<'f>(features: impl IntoIterator<Item = &'f str>) -> Vec<i64> {
    let mut least = [u64::MAX; SLOTS];
    let mut is_empty = true;
    for feature in features {
        is_empty = false;
        let hash = xxh3_64(feature.as_bytes()).to_le_bytes();
        for (slot, least) in least.iter_mut().enumerate() {
            *least = (*least).min(xxh3_64_with_seed(&hash, slot as u64));
        }
    }
    if is_empty {
        return Vec::new();
    }
    let value = |(slot, least): (usize, &u64)| ((slot as i64) << HASH_BITS) | (least >> (64 - HASH_BITS)) as i64;
    least.iter().enumerate().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(one: &[i64], other: &[i64]) -> usize {
        one.iter().filter(|value| other.contains(value)).count()
    }

    #[test]
    fn similar_sets_have_similar_sketches() {
        let words = |range: std::ops::Range<u32>| range.map(|n| n.to_string()).collect::<Vec<_>>();
        let of = |words: &[String]| sketch(words.iter().map(String::as_str));
        let (all, most, few) = (of(&words(0..100)), of(&words(10..100)), of(&words(90..190)));
        assert_eq!(all.len(), SLOTS);
        assert_eq!(common(&all, &of(&words(0..100))), SLOTS);
        let (near, far) = (common(&all, &most), common(&all, &few));
        assert!(near > SLOTS * 3 / 4 && far < SLOTS / 4, "{near} {far}");
        assert!(sketch([]).is_empty());
    }
}
