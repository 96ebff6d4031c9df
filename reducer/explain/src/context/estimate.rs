//! Estimates how many tokens a text takes.
//!
//! No tokenizer is at hand that fits every model, and none is needed to say what takes the room: a byte is a byte. Text is
//! counted by its bytes, encrypted text by the bytes that it stands for, an image as a fixed number, and every item with a
//! little for its frame. Where the provider reported the tokens of the whole request, the estimates are scaled so that
//! their sum is that number; the shares then are as good as the assumption that all text is equally dense.

use trace_reducer::model::Part;

/// Bytes of text per token, about what tokenizers make of English and code.
pub const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of the frame of an item: role, kind, ids.
pub const ITEM_TOKENS: u64 = 4;

/// Tokens of an image, or of something else that only the payload holds.
pub const IMAGE_TOKENS: u64 = 1000;

/// Returns the estimate of a text with so many bytes.
pub fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the estimate of an item with this body. Of JSON the graph has only the beginning; `json_bytes` is what the
/// payload says that it has, if that is known.
pub fn of_item(parts: &[Part], json_bytes: Option<u64>) -> u64 {
    let has_json = parts.iter().any(|part| matches!(part, Part::Json { .. }));
    let json = json_bytes.filter(|_| has_json).map(of_bytes).unwrap_or_default();
    let parts: u64 = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Summary(text) => of_bytes(text.len() as u64),
            Part::Code { source, .. } => of_bytes(source.len() as u64),
            // Base64 is a third longer than what it stands for.
            Part::Encoded { value, .. } => of_bytes(value.len() as u64 * 3 / 4),
            Part::Json { summary } if json_bytes.is_none() => of_bytes(summary.len() as u64),
            Part::Json { .. } => 0,
            Part::PayloadRef { .. } => IMAGE_TOKENS,
        })
        .sum();
    ITEM_TOKENS + json + parts
}

/// Scales estimates so that their sum is `total`. The rounding is spread, so that the sum is exact. Estimates are made of
/// bytes that were in memory, so that their sum is far below 2^63; `total` may be any number that somebody reported.
pub fn scale(estimates: &mut [u64], total: u64) {
    let sum: u128 = estimates.iter().map(|estimate| u128::from(*estimate)).sum();
    if sum == 0 {
        return;
    }
    let (mut before, mut told) = (0u128, 0u64);
    for estimate in estimates {
        before += u128::from(*estimate);
        // No more than `total`, which fits.
        let until = (before * u128::from(total) / sum) as u64;
        *estimate = until - told;
        told = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_estimates_sum_up() {
        let mut estimates = [1, 0, 5, 1000, 3];
        scale(&mut estimates, 777);
        assert_eq!(estimates.iter().sum::<u64>(), 777);
        assert_eq!(estimates[1], 0);
        scale(&mut estimates, 0);
        assert_eq!(estimates, [0; 5]);
        scale(&mut estimates, 5);
        assert_eq!(estimates, [0; 5], "there is nothing to scale");
        let mut huge = [1 << 61, 1 << 61];
        scale(&mut huge, u64::MAX);
        assert_eq!(huge.iter().sum::<u64>(), u64::MAX);
    }

    #[test]
    fn every_part_counts() {
        let text = Part::Text("x".repeat(40).into());
        assert_eq!(of_item(std::slice::from_ref(&text), None), ITEM_TOKENS + 10);
        let encoded = Part::Encoded { label: "encrypted_content", value: "x".repeat(80).into() };
        assert_eq!(of_item(&[text, encoded], None), ITEM_TOKENS + 10 + 15);
        let json = Part::Json { summary: "{}".into() };
        assert_eq!(of_item(std::slice::from_ref(&json), None), ITEM_TOKENS + 1);
        assert_eq!(of_item(&[json], Some(400)), ITEM_TOKENS + 100);
        let image = Part::PayloadRef { label: "image".into(), content_sha256: None };
        assert_eq!(of_item(&[image], Some(4_000_000)), ITEM_TOKENS + IMAGE_TOKENS);
    }
}
