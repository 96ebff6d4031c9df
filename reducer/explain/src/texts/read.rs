//! Visits all texts of a session.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde_json::Value;
use trace_reducer::model::{
    Anchor, CellIdx, EdgeIdx, Handle, InferenceIdx, ItemIdx, OperationIdx, Part, Symbol, TerminalRequest, ThreadIdx,
    ToolIdx, Trace,
};

use super::birth::{Birth, Births, item_seq};
use super::calls::Calls;
use super::document;
use super::place::{Aspect, Place};
use crate::object::Object;
use crate::session::Session;

/// Number of sources that a worker reads at a time.
const SOURCES_PER_TASK: usize = 64;

/// Size in bytes of the largest payload whose texts are read. Inputs and outputs of tools are a thousand times smaller,
/// and a parsed document takes many times its size in memory.
pub const MAX_PAYLOAD_BYTES: usize = 32 << 20;

/// All texts of a session.
#[derive(Debug)]
pub struct Texts<'s> {
    session: &'s Session,
    /// Number of payloads that the last call of [`collect`](Self::collect) could not read.
    unread: AtomicU64,
    calls: Calls,
    edges: HashMap<Symbol, EdgeIdx>,
    /// Answers of children, by the id of their edge.
    answers: HashMap<Symbol, usize>,
}

/// A source of texts: an object of the graph, or a payload.
#[derive(Debug)]
enum Source {
    Item(ItemIdx),
    Operation(OperationIdx),
    Code(CellIdx),
    Undelivered(usize),
    AgentResult(usize),
    Payload(Symbol, Vec<Use>),
}

/// What is read from a payload.
#[derive(Debug, Clone, Copy)]
enum Use {
    /// The parts of an item that the graph has cut.
    Whole(ItemIdx),
    Arguments(ToolIdx),
    Request(ToolIdx),
    Printed(ToolIdx),
    Result(ToolIdx),
    CellInitial(CellIdx),
    CellResult(CellIdx),
    /// The instructions and tools of a request.
    Setting(InferenceIdx),
}

impl<'s> Texts<'s> {
    /// Prepares to visit the texts of a session.
    pub fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let edges = trace.edges.iter().map(|(index, edge)| (edge.id, index)).collect();
        let answers = trace.agent_results.iter().enumerate().map(|(index, result)| (result.edge_id, index)).collect();
        Self { session, unread: AtomicU64::new(0), calls: Calls::new(trace), edges, answers }
    }

    /// Returns the links between items and calls.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Calls `look` with every text of the session, in parallel, and returns the results in an order that does not
    /// change between calls. A payload that cannot be read, is not JSON or is larger than [`MAX_PAYLOAD_BYTES`] has no
    /// texts and counts as [unread](Self::unread).
    pub fn collect<T: Send>(&self, look: impl Fn(&Place, &str) -> Option<T> + Sync) -> Vec<T> {
        let trace = self.session.trace();
        let births = Births::new(trace, &self.calls);
        let sources = self.sources();
        self.unread.store(0, Ordering::Relaxed);
        sources
            .par_chunks(SOURCES_PER_TASK)
            .flat_map_iter(|sources| {
                let mut found = Vec::new();
                for source in sources {
                    self.visit(source, &births, &mut |place, text| found.extend(look(place, text)));
                }
                found
            })
            .collect()
    }

    /// Calls `make` with each object and its texts, in parallel, and returns the results in the order of the objects.
    /// Only the results stay in memory. The texts of a tool call are its arguments, request, output and result; the
    /// text of an interaction edge is its message in the graph. A payload that cannot be read has no texts.
    pub fn of<T: Send>(&self, objects: &[Object], make: impl Fn(Object, Vec<(Aspect, String)>) -> T + Sync) -> Vec<T> {
        let trace = self.session.trace();
        // The order of the texts is not needed, so the session need not be searched for it.
        let births = Births::unknown(trace, &self.calls);
        // Items with texts in one payload are read together: a request with the answers of 2,000 children is parsed once.
        let mut groups: Vec<(Option<Symbol>, Vec<usize>)> = Vec::new();
        let mut group_of: HashMap<Symbol, usize> = HashMap::new();
        for (number, object) in objects.iter().enumerate() {
            let payload = self.payload_of_cut(*object);
            let group = payload.map_or(groups.len(), |id| *group_of.entry(id).or_insert(groups.len()));
            if group == groups.len() {
                groups.push((payload, Vec::new()));
            }
            groups[group].1.push(number);
        }
        let texts_of = |(payload, numbers): &(Option<Symbol>, Vec<usize>)| -> Vec<(usize, T)> {
            let payload = payload.and_then(|id| self.payload(id));
            let texts_of_one = |number: &usize| {
                let object = objects[*number];
                let mut texts = Vec::new();
                let mut take = |place: &Place, text: &str| texts.push((place.aspect, text.to_owned()));
                for source in self.sources_of(object) {
                    self.visit(&source, &births, &mut take);
                }
                if let (Object::Item(item), Some(payload)) = (object, &payload) {
                    visit_payload(trace, Use::Whole(item), payload, &births, &mut take);
                }
                (*number, make(object, texts))
            };
            numbers.iter().map(texts_of_one).collect()
        };
        let mut made: Vec<(usize, T)> = groups.par_iter().flat_map_iter(texts_of).collect();
        made.sort_unstable_by_key(|(number, _)| *number);
        made.into_iter().map(|(_, made)| made).collect()
    }

    /// Returns the payload with the whole texts of an item that the graph has cut.
    fn payload_of_cut(&self, object: Object) -> Option<Symbol> {
        let Object::Item(item) = object else { return None };
        let it = &self.session.trace().items[item];
        it.payload_id.filter(|id| document::is_cut(it) && self.session.payload_of(*id).is_some())
    }

    /// Returns the sources of an object, except for the [payload](Self::payload_of_cut) of an item that the graph has cut.
    fn sources_of(&self, object: Object) -> Vec<Source> {
        let trace = self.session.trace();
        let payload = |id: Option<Symbol>, what: Use| {
            let known = id.filter(|id| self.session.payload_of(*id).is_some());
            known.map(|id| Source::Payload(id, vec![what]))
        };
        match object {
            Object::Item(item) => vec![Source::Item(item)],
            Object::Tool(tool) => {
                let call = &trace.tools[tool];
                let mut sources: Vec<Source> =
                    payload(call.invocation_payload_id, Use::Arguments(tool)).into_iter().collect();
                if let Some(operation) = call.operation {
                    sources.push(Source::Operation(operation));
                } else if let Some((last, begins)) = call.runtime_payload_ids.split_last() {
                    let ended = call.runtime.is_some_and(|runtime| runtime.ended.is_some());
                    sources.extend(begins.iter().filter_map(|begin| payload(Some(*begin), Use::Request(tool))));
                    let last_says = if ended { Use::Printed(tool) } else { Use::Request(tool) };
                    sources.extend(payload(Some(*last), last_says));
                }
                sources.extend(payload(call.result_payload_id, Use::Result(tool)));
                sources
            }
            Object::Operation(operation) => vec![Source::Operation(operation)],
            Object::Cell(cell) => {
                let it = &trace.cells[cell];
                let initial = payload(it.initial_response_payload_id, Use::CellInitial(cell));
                let result = payload(it.result_payload_id, Use::CellResult(cell));
                [Source::Code(cell)].into_iter().chain(initial).chain(result).collect()
            }
            Object::Edge(edge) => {
                let edge = &trace.edges[edge];
                let answer = self.answers.get(&edge.id).map(|answer| Source::AgentResult(*answer));
                let carried = edge.carried_items.first().map(|item| Source::Item(*item));
                carried.or(answer).into_iter().collect()
            }
            Object::Thread(_)
            | Object::Turn(_)
            | Object::Inference(_)
            | Object::Session(_)
            | Object::Compaction(_)
            | Object::CompactionRequest(_)
            | Object::Payload(_) => Vec::new(),
        }
    }

    /// Returns a function that says whether a response of the item's own thread contains an item.
    pub fn written_here(&self) -> impl Fn(ItemIdx) -> bool {
        let births = Births::new(self.session.trace(), &self.calls);
        move |item| births.is_written_here(item)
    }

    /// Returns the number of payloads that the last call of [`collect`](Self::collect) could not read.
    pub fn unread(&self) -> u64 {
        self.unread.load(Ordering::Relaxed)
    }

    /// Returns how many bytes [`collect`](Self::collect) would read: those of the texts of items, code cells and terminal operations,
    /// and of the payloads that hold further ones. No payload is read for it. Counts no further once there are more than `most`.
    pub fn bytes(&self, most: u64) -> u64 {
        let trace = self.session.trace();
        let mut sum = 0_u64;
        for source in self.sources() {
            sum += match source {
                Source::Item(item) => trace.items[item].parts.iter().map(bytes_of_part).sum(),
                Source::Operation(operation) => {
                    let result = trace.operations[operation].result.as_ref();
                    result.map_or(0, |result| (result.stdout.len() + result.stderr.len()) as u64)
                }
                Source::Code(cell) => trace.cells[cell].source_js.len() as u64,
                Source::Undelivered(index) => trace.undelivered[index].text.len() as u64,
                Source::AgentResult(index) => trace.agent_results[index].message.len() as u64,
                Source::Payload(id, _) => self.session.payload_bytes(id).unwrap_or(0),
            };
            if sum > most {
                break;
            }
        }
        sum
    }

    fn sources(&self) -> Vec<Source> {
        let trace = self.session.trace();
        let mut sources: Vec<Source> = Vec::new();
        // Payloads are sorted by index, which is the order in which they were written.
        let mut payloads: BTreeMap<usize, (Symbol, Vec<Use>)> = BTreeMap::new();
        let mut read = |id: Option<Symbol>, what: Use| {
            if let Some(id) = id
                && let Some(payload) = self.session.payload_of(id)
            {
                payloads.entry(payload.index()).or_insert_with(|| (id, Vec::new())).1.push(what);
            }
        };
        for (item, it) in trace.items.iter() {
            if document::is_cut(it) {
                read(it.payload_id, Use::Whole(item));
            }
            sources.push(Source::Item(item));
        }
        for (tool, call) in trace.tools.iter() {
            read(call.invocation_payload_id, Use::Arguments(tool));
            read(call.result_payload_id, Use::Result(tool));
            if let Some(operation) = call.operation {
                sources.push(Source::Operation(operation));
                continue;
            }
            let ended = call.runtime.is_some_and(|runtime| runtime.ended.is_some());
            if let Some((last, begins)) = call.runtime_payload_ids.split_last() {
                read(Some(*last), if ended { Use::Printed(tool) } else { Use::Request(tool) });
                begins.iter().for_each(|begin| read(Some(*begin), Use::Request(tool)));
            }
        }
        for (cell, it) in trace.cells.iter() {
            sources.push(Source::Code(cell));
            read(it.initial_response_payload_id, Use::CellInitial(cell));
            read(it.result_payload_id, Use::CellResult(cell));
        }
        let mut settings: HashSet<(ThreadIdx, Symbol)> = HashSet::new();
        for (inference, call) in trace.inferences.iter() {
            if settings.insert((call.thread, call.model)) {
                read(Some(call.request_payload_id), Use::Setting(inference));
            }
        }
        sources.extend((0..trace.undelivered.len()).map(Source::Undelivered));
        // An answer that nobody received is in both lists.
        let lost: HashSet<Symbol> = trace.undelivered.iter().map(|lost| lost.edge_id).collect();
        let results =
            (0..trace.agent_results.len()).filter(|index| !lost.contains(&trace.agent_results[*index].edge_id));
        sources.extend(results.map(Source::AgentResult));
        sources.extend(payloads.into_values().map(|(id, uses)| Source::Payload(id, uses)));
        sources
    }

    fn payload(&self, id: Symbol) -> Option<Value> {
        let bytes = self.session.read_payload(id).ok()?;
        if bytes.len() > MAX_PAYLOAD_BYTES { None } else { serde_json::from_slice(&bytes).ok() }
    }

    fn visit(&self, source: &Source, births: &Births<'_>, look: &mut dyn FnMut(&Place, &str)) {
        let trace = self.session.trace();
        match source {
            Source::Item(item) => visit_item(trace, *item, births, look),
            Source::Operation(operation) => visit_operation(trace, *operation, births, look),
            Source::Code(cell) => {
                let it = &trace.cells[*cell];
                let place = Place {
                    object: Object::Cell(*cell),
                    thread: it.thread,
                    aspect: Aspect::Source,
                    seq: it.execution.started.seq,
                    birth: births.source(*cell),
                };
                look(&place, &it.source_js);
            }
            Source::Undelivered(index) => {
                let lost = &trace.undelivered[*index];
                let (object, thread) = match lost.source {
                    Anchor::Item(item) => (Object::Item(item), trace.items[item].thread),
                    Anchor::Tool(tool) => (Object::Tool(tool), trace.tools[tool].thread),
                    Anchor::Thread(thread) => (Object::Thread(thread), thread),
                };
                look(&event_place(object, thread, Aspect::Message, lost.seq), &lost.text);
            }
            Source::AgentResult(index) => {
                let result = &trace.agent_results[*index];
                // Without an edge, the parent never read the answer.
                let object =
                    self.edges.get(&result.edge_id).map_or(Object::Thread(result.child), |edge| Object::Edge(*edge));
                let place = event_place(object, result.child, Aspect::Message, result.at.seq);
                look(&place, &result.message);
            }
            Source::Payload(id, uses) => {
                let Some(payload) = self.payload(*id) else {
                    self.unread.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                for what in uses {
                    visit_payload(trace, *what, &payload, births, look);
                }
            }
        }
    }
}

fn bytes_of_part(part: &Part) -> u64 {
    let text = match part {
        Part::Text(text) | Part::Summary(text) => text,
        Part::Encoded { value, .. } => value,
        Part::Code { source, .. } => source,
        Part::Json { summary } => summary,
        Part::PayloadRef { .. } => return 0,
    };
    text.len() as u64
}

/// Returns the place of an item that is in no response of its own thread.
pub(crate) fn place_of_item(trace: &Trace, item: ItemIdx) -> Place {
    event_place(Object::Item(item), trace.items[item].thread, Aspect::Json, item_seq(trace, item))
}

fn event_place(object: Object, thread: ThreadIdx, aspect: Aspect, seq: u64) -> Place {
    Place { object, thread, aspect, seq, birth: Birth::event(seq) }
}

fn item_place(trace: &Trace, item: ItemIdx, aspect: Aspect, births: &Births<'_>) -> Place {
    Place {
        object: Object::Item(item),
        thread: trace.items[item].thread,
        aspect,
        seq: item_seq(trace, item),
        birth: births.item(item),
    }
}

fn visit_item(trace: &Trace, item: ItemIdx, births: &Births<'_>, look: &mut dyn FnMut(&Place, &str)) {
    for part in trace.items[item].parts.iter() {
        let (aspect, text) = match part {
            Part::Text(text) => (Aspect::Text, text),
            Part::Summary(text) => (Aspect::Summary, text),
            Part::Encoded { value, .. } => (Aspect::Encoded, value),
            Part::Code { source, .. } => (Aspect::Code, source),
            Part::Json { summary } if !document::is_cut_part(part) => (Aspect::Json, summary),
            Part::Json { .. } | Part::PayloadRef { .. } => continue,
        };
        look(&item_place(trace, item, aspect, births), text);
    }
}

fn visit_operation(trace: &Trace, operation: OperationIdx, births: &Births<'_>, look: &mut dyn FnMut(&Place, &str)) {
    let it = &trace.operations[operation];
    let thread = trace.tools[it.tool].thread;
    let begun = Place {
        object: Object::Tool(it.tool),
        thread,
        aspect: Aspect::Request,
        seq: it.execution.started.seq,
        birth: births.arguments(it.tool).max(Birth::event(it.execution.started.seq)),
    };
    match &it.request {
        TerminalRequest::ExecCommand { command, .. } => command.iter().for_each(|word| look(&begun, word)),
        TerminalRequest::WriteStdin { stdin, .. } => look(&begun, stdin),
    }
    if let Some(result) = &it.result {
        let seq = it.execution.ended.unwrap_or(it.execution.started).seq;
        let place = event_place(Object::Tool(it.tool), thread, Aspect::Printed, seq);
        let formatted = result.formatted_output.as_deref().filter(|text| *text != &*result.stdout);
        [&*result.stdout, &*result.stderr, formatted.unwrap_or_default()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .for_each(|text| look(&place, text));
    }
}

fn visit_payload(trace: &Trace, what: Use, payload: &Value, births: &Births<'_>, look: &mut dyn FnMut(&Place, &str)) {
    match what {
        Use::Whole(item) => {
            let it = &trace.items[item];
            let aspect = if it.kind.is_call() || it.kind.is_output() { Aspect::Json } else { Aspect::Text };
            let place = item_place(trace, item, aspect, births);
            document::whole(trace, it, payload, &mut |text| look(&place, text));
        }
        Use::Arguments(tool) => {
            let call = &trace.tools[tool];
            let place = Place {
                object: Object::Tool(tool),
                thread: call.thread,
                aspect: Aspect::Arguments,
                seq: call.execution.started.seq,
                birth: births.arguments(tool),
            };
            document::arguments(payload, &mut |text| look(&place, text));
        }
        Use::Request(tool) => {
            let call = &trace.tools[tool];
            let seq = call.runtime.map_or(call.execution.started.seq, |runtime| runtime.started.seq);
            let place = event_place(Object::Tool(tool), call.thread, Aspect::Request, seq);
            document::requests(payload, &mut |text| look(&place, text));
        }
        Use::Printed(tool) => {
            let call = &trace.tools[tool];
            let ended = call.runtime.and_then(|runtime| runtime.ended).unwrap_or(call.execution.started);
            let place = event_place(Object::Tool(tool), call.thread, Aspect::Printed, ended.seq);
            document::printed(payload, &mut |text| look(&place, text));
        }
        Use::Result(tool) => {
            let call = &trace.tools[tool];
            let ended = call.execution.ended.unwrap_or(call.execution.started);
            let place = event_place(Object::Tool(tool), call.thread, Aspect::Result, ended.seq);
            document::results(payload, &mut |text| look(&place, text));
        }
        Use::CellInitial(cell) => {
            let it = &trace.cells[cell];
            let at = it.initial_response.unwrap_or(it.execution.started);
            let place = event_place(Object::Cell(cell), it.thread, Aspect::Printed, at.seq);
            document::results(payload, &mut |text| look(&place, text));
        }
        Use::CellResult(cell) => {
            let it = &trace.cells[cell];
            let at = it.execution.ended.unwrap_or(it.execution.started);
            let place = event_place(Object::Cell(cell), it.thread, Aspect::Printed, at.seq);
            document::results(payload, &mut |text| look(&place, text));
        }
        Use::Setting(inference) => {
            let call = &trace.inferences[inference];
            let object = Object::Inference(inference);
            let seq = call.execution.started.seq;
            let place = event_place(object, call.thread, Aspect::Instructions, seq);
            document::instructions(payload, &mut |text| look(&place, text));
            let place = event_place(object, call.thread, Aspect::Tools, seq);
            document::tools(payload, &mut |text| look(&place, text));
        }
    }
}
