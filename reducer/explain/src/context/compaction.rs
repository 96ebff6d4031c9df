//! What a compaction did to a history.

use trace_reducer::model::{
    Channel, Compaction, CompactionRequestIdx, InferenceCall, ItemIdx, Part, Symbol, ThreadIdx, Trace,
};

use super::answer::{Basis, Compacted, CompactionRequest, Item, Size, Summary};
use super::estimate;
use super::find::FoundCompaction;
use super::items::Items;
use super::kept::kept;
use super::parts::share_of;
use super::texts::{Texts, shortened};
use crate::label::status_name;
use crate::object::item_id;
use crate::session::Session;

/// Describes what a compaction removed, kept and summarised. Takes time proportional to the graph.
pub fn compaction(session: &Session, found: &FoundCompaction, texts: Texts) -> Compacted {
    match found {
        FoundCompaction::Installed(compaction) => installed(session, &session.trace().compactions[*compaction], texts),
        FoundCompaction::Requested(requests) => requested(session, requests),
    }
}

fn installed(session: &Session, known: &Compaction, texts: Texts) -> Compacted {
    let trace = session.trace();
    let shown = Items::new(trace, known.thread, texts);
    let (before, after) = (&known.input_items, &known.replacement_items);
    let kept = kept(trace, before, after);
    let mut is_kept = vec![false; before.len()];
    for place in kept.iter().flatten() {
        is_kept[*place] = true;
    }
    let is_summary = |item: ItemIdx| trace.items[item].channel == Some(Channel::Summary);
    let mut answer = Compacted {
        items_before: before.len(),
        items_after: after.len(),
        ..empty(session, known.id, known.thread, trace.text(trace.turns[known.turn].id))
    };
    answer.installed_seq = Some(known.installed.seq);
    answer.requests = known.requests.iter().map(|request| request_of(trace, *request)).collect();
    for (index, (item, place)) in after.iter().zip(&kept).enumerate() {
        match place {
            // A kept item is new in the graph; the old item shows which request contained it first.
            Some(place) => {
                let old = shown.item(*place, before[*place], None);
                answer.kept.push(Item { since: old.since, ..shown.item(index, *item, None) });
            }
            None if is_summary(*item) => answer.summaries.push(summary(trace, *item, texts)),
            None => answer.added.push(shown.item(index, *item, None)),
        }
    }
    let gone = before.iter().enumerate().filter(|(index, _)| !is_kept[*index]);
    answer.removed = gone.map(|(index, item)| shown.item(index, *item, None)).collect();
    let of_thread = || trace.inferences.values().filter(|call| call.thread == known.thread && call.usage.is_some());
    let last = of_thread().rfind(|call| call.execution.started.seq < known.installed.seq);
    let first = of_thread().find(|call| call.execution.started.seq > known.installed.seq);
    answer.tokens_before = size(trace, before, last);
    answer.tokens_after = size(trace, after, first);
    let share =
        |items: &mut Vec<Item>, whole: u64| items.iter_mut().for_each(|item| item.share = share_of(item.tokens, whole));
    share(&mut answer.removed, answer.tokens_before.estimated_items);
    share(&mut answer.kept, answer.tokens_after.estimated_items);
    share(&mut answer.added, answer.tokens_after.estimated_items);
    answer
}

fn requested(session: &Session, requests: &[CompactionRequestIdx]) -> Compacted {
    let trace = session.trace();
    let first = &trace.compaction_requests[requests[0]];
    let mut answer = empty(session, first.compaction_id, first.thread, trace.text(trace.turns[first.turn].id));
    answer.requests = requests.iter().map(|request| request_of(trace, *request)).collect();
    answer
}

fn empty(session: &Session, id: Symbol, thread: ThreadIdx, turn_id: &str) -> Compacted {
    let trace = session.trace();
    let nothing = Size { tokens: 0, basis: Basis::Estimated, inference_call_id: None, estimated_items: 0 };
    Compacted {
        compaction_id: trace.text(id).to_owned(),
        thread_id: trace.text(trace.threads[thread].id).to_owned(),
        agent_path: session.agent_path(thread).to_owned(),
        turn_id: turn_id.to_owned(),
        installed_seq: None,
        requests: Vec::new(),
        items_before: 0,
        items_after: 0,
        tokens_before: nothing.clone(),
        tokens_after: nothing,
        summaries: Vec::new(),
        kept: Vec::new(),
        removed: Vec::new(),
        added: Vec::new(),
    }
}

fn summary(trace: &Trace, item: ItemIdx, texts: Texts) -> Summary {
    let parts = &trace.items[item].parts;
    let bytes = parts.iter().map(|part| match part {
        Part::Text(text) | Part::Summary(text) => text.len(),
        Part::Encoded { value, .. } => value.len(),
        _ => 0,
    });
    let readable: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Summary(text) => Some(&**text),
            _ => None,
        })
        .collect();
    Summary {
        item_id: item_id(item),
        text: (!readable.is_empty()).then(|| shortened(&readable.join("\n"), texts).0),
        is_encrypted: parts.iter().any(|part| matches!(part, Part::Encoded { .. })),
        bytes: bytes.sum::<usize>() as u64,
    }
}

fn size(trace: &Trace, items: &[ItemIdx], call: Option<&InferenceCall>) -> Size {
    let estimated: u64 = items.iter().map(|item| estimate::of_item(&trace.items[*item].parts, None)).sum();
    let reported = call.and_then(|call| Some((call, call.usage?)));
    Size {
        tokens: reported.map_or(estimated, |(_, usage)| usage.input_tokens),
        basis: if reported.is_some() { Basis::Recorded } else { Basis::Estimated },
        inference_call_id: reported.map(|(call, _)| trace.text(call.id).to_owned()),
        estimated_items: estimated,
    }
}

fn request_of(trace: &Trace, request: CompactionRequestIdx) -> CompactionRequest {
    let known = &trace.compaction_requests[request];
    let started = known.execution.started.unix_ms;
    CompactionRequest {
        compaction_request_id: trace.text(known.id).to_owned(),
        model: trace.text(known.model).to_owned(),
        status: status_name(known.execution.status),
        error: known.error.as_deref().map(str::to_owned),
        duration_ms: known.execution.ended.map(|ended| ended.unix_ms.saturating_sub(started)),
    }
}
