//! One request, item by item.

use std::collections::BTreeMap;

use trace_recorder::format::import::CODES_OF_REQUESTS;
use trace_reducer::model::InferenceIdx;

use super::answer::{Beside, Item, Request, Sum};
use super::beside::{self};
use super::diff::diff;
use super::items::Items;
use super::parts::{items_of, measure, share_of};
use super::texts::Texts;
use crate::label::status_name;
use crate::session::Session;

/// What a request is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Nothing.
    Nothing,
    /// The request before it in its thread.
    RequestBefore,
}

/// Describes what the model read in a request. Takes time proportional to the graph and to the payload of the request.
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
    missing.extend(imported(session));
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

/// Returns what the notes of an import say about the requests of the session.
fn imported(session: &Session) -> impl Iterator<Item = String> + '_ {
    let notes = session.bundle().import().into_iter().flat_map(|record| &record.notes);
    notes.filter(|note| CODES_OF_REQUESTS.contains(&note.code.as_str())).map(|note| {
        let message = note.message.trim_end_matches('.');
        format!("{message} ({}, {} in this session)", note.code, note.count)
    })
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
