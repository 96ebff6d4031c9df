//! What followed from a text: which inference calls saw it, and which tool calls they made.

use std::collections::HashMap;

use trace_reducer::model::{Handle, InferenceIdx, ItemIdx, Requester, Symbol, ThreadIdx, ToolIdx};

use super::answer::{Followed, Form, SeenBy};
use super::path::Occurrence;
use crate::label::tool_name;
use crate::object::Object;
use crate::session::Session;
use crate::sightings::Sightings;
use crate::texts::Texts;

/// The inference calls that saw a text.
pub(super) struct Forward<'s> {
    session: &'s Session,
    texts: &'s Texts<'s>,
    /// The calls in the order of the log, each with the best form that it saw.
    seen: Vec<(InferenceIdx, Form)>,
}

impl<'s> Forward<'s> {
    pub(super) fn new(session: &'s Session, texts: &'s Texts<'s>, found: &[Occurrence]) -> Self {
        let trace = session.trace();
        let sightings = Sightings::new(trace);
        let mut seen: HashMap<InferenceIdx, Form> = HashMap::new();
        let mut note = |inference: InferenceIdx, form: Form| {
            let known = seen.entry(inference).or_insert(form);
            *known = form.min(*known);
        };
        for form in [Form::Verbatim, Form::Within, Form::JsonEscaped, Form::Truncated] {
            let items: Vec<ItemIdx> =
                found.iter().filter(|hit| hit.form == form).filter_map(|hit| hit.place.item()).collect();
            sightings.of_any(&items).into_iter().for_each(|inference| note(inference, form));
        }
        // Instructions and tools are not items. They are searched once per thread and model.
        let mut settings: HashMap<(ThreadIdx, Symbol), (InferenceIdx, Form)> = HashMap::new();
        for hit in found {
            let Object::Inference(first) = hit.place.object else { continue };
            let call = &trace.inferences[first];
            let known = settings.entry((call.thread, call.model)).or_insert((first, hit.form));
            known.1 = known.1.min(hit.form);
        }
        if !settings.is_empty() {
            for (inference, call) in trace.inferences.iter() {
                if let Some((first, form)) = settings.get(&(call.thread, call.model))
                    && inference.index() >= first.index()
                {
                    note(inference, *form);
                }
            }
        }
        let mut seen: Vec<_> = seen.into_iter().collect();
        seen.sort_unstable_by_key(|(inference, _)| inference.index());
        Self { session, texts, seen }
    }

    pub(super) fn seen_by(&self) -> Vec<SeenBy> {
        let trace = self.session.trace();
        self.seen
            .iter()
            .map(|(inference, form)| {
                let call = &trace.inferences[*inference];
                SeenBy {
                    inference_call_id: trace.text(call.id).to_owned(),
                    thread_id: trace.text(trace.threads[call.thread].id).to_owned(),
                    seq: call.execution.started.seq,
                    form: *form,
                }
            })
            .collect()
    }

    /// Returns the tool calls that the responses made, and those of the code that they ran, in the order of the log.
    pub(super) fn followed_by(&self) -> Vec<Followed> {
        let trace = self.session.trace();
        let calls = self.texts.calls();
        let mut by_tool: HashMap<ToolIdx, InferenceIdx> = HashMap::new();
        let mut by_cell: HashMap<Symbol, InferenceIdx> = HashMap::new();
        for (inference, _) in &self.seen {
            let call = &trace.inferences[*inference];
            for item in call.response_items.iter().filter(|item| trace.items[**item].thread == call.thread) {
                if let Some(tool) = calls.tool_of(trace, *item).filter(|_| trace.items[*item].kind.is_call()) {
                    by_tool.entry(tool).or_insert(*inference);
                }
                if let Some(cell) = calls.cell_of(trace, *item) {
                    by_cell.entry(trace.cells[cell].id).or_insert(*inference);
                }
            }
        }
        let mut followed = Vec::new();
        for (tool, call) in trace.tools.iter() {
            let from_code = || match call.requester {
                Requester::CodeCell(cell) => by_cell.get(&cell),
                Requester::Model => None,
            };
            let Some(inference) = by_tool.get(&tool).or_else(from_code) else { continue };
            followed.push(Followed {
                tool_call_id: trace.text(call.id).to_owned(),
                tool: tool_name(trace, call),
                inference_call_id: trace.text(trace.inferences[*inference].id).to_owned(),
                thread_id: trace.text(trace.threads[call.thread].id).to_owned(),
                agent_path: self.session.agent_path(call.thread).to_owned(),
                seq: call.execution.started.seq,
            });
        }
        followed
    }
}
