//! The parts of a request, with their sizes in tokens.

use trace_reducer::model::{InferenceIdx, Trace};

use super::answer::{Basis, Beside, Item, Tokens};
use super::beside::Written;
use super::estimate;
use super::items::Items;

/// Returns the items of a request. `written` describes the last items: those that the payload contains.
pub(super) fn items_of(
    trace: &Trace,
    shown: &Items<'_>,
    inference: InferenceIdx,
    written: Option<&Written>,
) -> Vec<Item> {
    let list = trace.lists.get(trace.inferences[inference].request_items);
    let written = written.map(|written| written.items.as_slice()).unwrap_or_default();
    // The payload of an incremental request contains only its last items. If a payload is damaged, the graph has fewer
    // items than the payload.
    let before = list.len().saturating_sub(written.len());
    let item = |(index, item): (usize, &_)| {
        shown.item(index, *item, index.checked_sub(before).and_then(|index| written.get(index)))
    };
    list.iter().enumerate().map(item).collect()
}

/// Sets the tokens and the share of each part. Returns the token counts of the whole request.
pub(super) fn measure(
    trace: &Trace,
    inference: InferenceIdx,
    items: &mut [Item],
    beside: Option<&mut Beside>,
) -> Tokens {
    let mut parts: Vec<(&mut u64, &mut f64)> =
        items.iter_mut().map(|item| (&mut item.tokens, &mut item.share)).collect();
    if let Some(beside) = beside {
        let texts = beside.instructions.iter_mut().chain(&mut beside.response_format);
        parts.extend(texts.map(|text| (&mut text.tokens, &mut text.share)));
        parts.extend(beside.tools.iter_mut().map(|tool| (&mut tool.tokens, &mut tool.share)));
    }
    let mut estimates: Vec<u64> = parts.iter().map(|(tokens, _)| **tokens).collect();
    let usage = trace.inferences[inference].usage;
    let input = usage.map_or_else(|| estimates.iter().sum(), |usage| usage.input_tokens);
    estimate::scale(&mut estimates, input);
    for ((tokens, share), estimate) in parts.into_iter().zip(estimates) {
        *tokens = estimate;
        *share = share_of(estimate, input);
    }
    Tokens {
        input,
        basis: if usage.is_some() { Basis::Recorded } else { Basis::Estimated },
        cached_input: usage.map(|usage| usage.cached_input_tokens),
        output: usage.map(|usage| usage.output_tokens),
    }
}

/// Returns a share, from 0 to 1.
pub(super) fn share_of(tokens: u64, whole: u64) -> f64 {
    // An estimate is not more exact than four digits.
    if whole == 0 { 0.0 } else { (tokens as f64 / whole as f64 * 10_000.0).round() / 10_000.0 }
}
