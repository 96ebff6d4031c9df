//! One request, item by item.

use std::collections::BTreeMap;

use trace_reducer::model::{InferenceIdx, Trace};

use super::answer::{Basis, Beside, Item, Request, Sum, Tokens};
use super::beside::{self, Written};
use super::diff::diff;
use super::estimate;
use super::items::Items;
use crate::label::status_name;
use crate::session::Session;

/// How much of each text an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// All of it.
    Whole,
    /// At most so many characters.
    Beginnings {
        /// Characters.
        chars: usize,
    },
}

/// What a request is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Nothing.
    Nothing,
    /// The request before it in its thread.
    RequestBefore,
}

/// Tells what the model saw in a request. Takes time proportional to the graph and the request's payload.
pub fn request(session: &Session, inference: InferenceIdx, texts: Texts, against: Against) -> Request {
    let trace = session.trace();
    let call = &trace.inferences[inference];
    let shown = Items::new(trace, call.thread, texts);
    let mut missing = Vec::new();
    let written = match beside::read(session, call.request_payload_id, texts) {
        Ok(written) => Some(written),
        Err(problem) => {
            missing.push(format!("{problem}: what stands beside the items is not known"));
            None
        }
    };
    let mut items = items_of(trace, &shown, inference, written.as_ref());
    if written.as_ref().is_some_and(|written| written.is_incremental) {
        missing.push(
            "the request goes on from an earlier response: tools that only an earlier request names are not counted"
                .to_owned(),
        );
    }
    let mut beside = written.map(|written| written.beside);
    let tokens = measure(trace, inference, &mut items, beside.as_mut());
    if call.usage.is_none() {
        missing.push("the provider reported no tokens; all numbers are estimated from bytes".to_owned());
    }
    let (number, of) = shown.number(inference);
    let diff = match against {
        Against::Nothing => None,
        Against::RequestBefore => diff(session, &shown, inference, &items, beside.as_ref()),
    };
    Request {
        inference_call_id: trace.text(call.id).to_owned(),
        thread_id: trace.text(trace.threads[call.thread].id).to_owned(),
        agent_path: session.agent_path(call.thread).to_owned(),
        turn_id: trace.text(trace.turns[call.turn].id).to_owned(),
        seq: call.execution.started.seq,
        number,
        of,
        model: trace.text(call.model).to_owned(),
        provider_name: trace.text(call.provider_name).to_owned(),
        status: status_name(call.execution.status),
        error: call.error.as_deref().map(str::to_owned),
        sums: sums(&items, beside.as_ref(), tokens.input),
        tokens,
        items,
        beside,
        diff,
        missing,
    }
}

/// Returns the items of a request; the last ones are those that its payload has.
pub(super) fn items_of(
    trace: &Trace,
    shown: &Items<'_>,
    inference: InferenceIdx,
    written: Option<&Written>,
) -> Vec<Item> {
    let list = trace.lists.get(trace.inferences[inference].request_items);
    let written = written.map(|written| written.items.as_slice()).unwrap_or_default();
    // An incremental request has only its last items in its payload. One whose payload has more was cut off by damage.
    let before = list.len().saturating_sub(written.len());
    let item = |(index, item): (usize, &_)| {
        shown.item(index, *item, index.checked_sub(before).and_then(|index| written.get(index)))
    };
    list.iter().enumerate().map(item).collect()
}

/// Gives every part its tokens and its share, and returns those of the whole.
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

/// Returns a part of a whole, from 0 to 1.
pub(super) fn share_of(tokens: u64, whole: u64) -> f64 {
    // Four digits are more than an estimate is worth.
    if whole == 0 { 0.0 } else { (tokens as f64 / whole as f64 * 10_000.0).round() / 10_000.0 }
}

fn sums(items: &[Item], beside: Option<&Beside>, input: u64) -> Vec<Sum> {
    let mut sums: BTreeMap<&'static str, (usize, u64)> = BTreeMap::new();
    let mut add = |what, tokens| {
        let (count, sum) = sums.entry(what).or_default();
        *count += 1;
        *sum += tokens;
    };
    for item in items {
        add(item.origin.kind.as_str(), item.tokens);
    }
    if let Some(beside) = beside {
        beside.instructions.iter().for_each(|text| add("base_instructions", text.tokens));
        beside.tools.iter().for_each(|tool| add("tools", tool.tokens));
        beside.response_format.iter().for_each(|text| add("response_format", text.tokens));
    }
    let sum = |(what, (count, tokens))| Sum { what, count, tokens, share: share_of(tokens, input) };
    let mut sums: Vec<Sum> = sums.into_iter().map(sum).collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.tokens));
    sums
}
