//! Estimates how many tokens a text takes.
//!
//! There is no tokenizer that fits every model, and none is needed to compare the parts of a request. Text is counted
//! by its bytes, encrypted text by the bytes of its plain text, an image as a fixed number, and each item gets a small
//! constant for its frame. If the provider reported the tokens of the whole request, the estimates are scaled so that
//! they add up to that number. The shares then are correct if all text has the same number of bytes per token.

use trace_reducer::model::Part;

/// Bytes of text per token. Tokenizers need about this many for English and for code.
pub const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of the frame of an item: role, kind and ids.
pub const ITEM_TOKENS: u64 = 4;

/// Tokens of an image, or of other content that only the payload has.
pub const IMAGE_TOKENS: u64 = 1000;

/// Returns the estimated tokens of a text with this many bytes.
pub fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the estimated tokens of an item with these parts. The graph has only the beginning of JSON parts;
/// `json_bytes` is their size in the payload, if it is known.
pub fn of_item(parts: &[Part], json_bytes: Option<u64>) -> u64 {
    let has_json = parts.iter().any(|part| matches!(part, Part::Json { .. }));
    let json = json_bytes.filter(|_| has_json).map(of_bytes).unwrap_or_default();
    let parts: u64 = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Summary(text) => of_bytes(text.len() as u64),
            Part::Code { source, .. } => of_bytes(source.len() as u64),
            // Base64 is a third longer than the data.
            Part::Encoded { value, .. } => of_bytes(value.len() as u64 * 3 / 4),
            Part::Json { summary } if json_bytes.is_none() => of_bytes(summary.len() as u64),
            Part::Json { .. } => 0,
            Part::PayloadRef { .. } => IMAGE_TOKENS,
        })
        .sum();
    ITEM_TOKENS + json + parts
}

/// Scales estimates so that their sum is exactly `total`. The estimates come from texts in memory, so their sum is far
/// below 2^63; `total` comes from a bundle and may be any number.
pub fn scale(estimates: &mut [u64], total: u64) {
    let sum: u128 = estimates.iter().map(|estimate| u128::from(*estimate)).sum();
    if sum == 0 {
        return;
    }
    let (mut before, mut told) = (0u128, 0u64);
    for estimate in estimates {
        before += u128::from(*estimate);
        // The result is at most `total`, so the cast is exact.
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
