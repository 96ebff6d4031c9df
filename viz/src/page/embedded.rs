//! The texts and payloads that the file form of the page contains.
//!
//! A session can have gigabytes, but a browser must be able to open the page. Texts are embedded first and payloads
//! second, and in both cases those of failed objects before others. A text or payload that does not fit is left out, and the
//! page says so in its place.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use trace_explain::outcome::Outcome;
use trace_explain::{Object, Session};
use trace_reducer::model::{InferenceCall, InferenceIdx, PayloadIdx, Symbol, Trace};

use super::bodies::{Body, BodySource, PayloadText};
use super::structure::Number;

/// How much the file form may contain, in bytes of text before escaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbedLimits {
    /// Most bytes of all bodies together.
    pub bodies: usize,
    /// Most bytes of one body. Longer ones are truncated.
    pub body: usize,
    /// Most bytes of all payloads.
    pub payloads: usize,
    /// Most bytes of one payload. Larger ones are left out.
    pub payload: usize,
}

impl EmbedLimits {
    /// The default limits. Every browser opens a file of this size without delay.
    pub const DEFAULT: Self = Self { bodies: 12 << 20, body: 256 << 10, payloads: 4 << 20, payload: 64 << 10 };

    /// Returns limits for `bytes` in all, in the proportions of the default.
    pub fn of_bytes(bytes: usize) -> Self {
        let payloads = bytes / 4;
        let bodies = bytes - payloads;
        Self { bodies, body: Self::DEFAULT.body.min(bodies), payloads, payload: Self::DEFAULT.payload.min(payloads) }
    }
}

/// Texts and payloads of a session, by the numbers of their objects. `None` stands for one that was left out.
#[derive(Debug, Serialize)]
pub struct Embedded {
    bodies: BTreeMap<u32, Option<Body>>,
    payloads: BTreeMap<u32, Option<PayloadText>>,
}

/// How many objects are read at a time. Their bodies are all in memory before it is known how many of them fit.
const OBJECTS_PER_STEP: usize = 256;

impl Embedded {
    /// Reads the texts and payloads that a page contains.
    pub fn new(session: &Session, source: &BodySource<'_>, limits: EmbedLimits) -> Self {
        Self { bodies: bodies(session, source, limits), payloads: payloads(session, source, limits) }
    }

    /// Returns how many bodies and payloads were left out.
    pub fn left_out(&self) -> usize {
        let bodies = self.bodies.values().filter(|body| body.is_none()).count();
        bodies + self.payloads.values().filter(|payload| payload.is_none()).count()
    }
}

fn bodies(session: &Session, source: &BodySource<'_>, limits: EmbedLimits) -> BTreeMap<u32, Option<Body>> {
    let has_body = |object: &Object| {
        matches!(
            object,
            Object::Item(_)
                | Object::Inference(_)
                | Object::Cell(_)
                | Object::Tool(_)
                | Object::CompactionRequest(_)
                | Object::Edge(_)
        )
    };
    let (failed, others): (Vec<Object>, Vec<Object>) =
        session.objects().filter(has_body).partition(|object| has_failed(session.trace(), *object));
    let mut bodies = BTreeMap::new();
    let mut left = limits.bodies;
    for objects in [failed, others].iter().flat_map(|objects| objects.chunks(OBJECTS_PER_STEP)) {
        // Nothing fits any more, so the rest need not be read.
        if left == 0 {
            bodies.extend(objects.iter().map(|object| (source.number(*object).0, None)));
            continue;
        }
        for (object, body) in objects.iter().zip(source.bodies(objects, limits.body)) {
            let fits = body.bytes() <= left;
            left = if fits { left - body.bytes() } else { 0 };
            if !body.blocks.is_empty() {
                bodies.insert(source.number(*object).0, fits.then_some(body));
            }
        }
    }
    bodies
}

fn payloads(session: &Session, source: &BodySource<'_>, limits: EmbedLimits) -> BTreeMap<u32, Option<PayloadText>> {
    let trace = session.trace();
    let sizes: HashMap<String, u64> = session
        .bundle()
        .payloads()
        .list()
        .map(|files| files.into_iter().map(|file| (file.path, file.bytes)).collect())
        .unwrap_or_default();
    let failed = payloads_of_failures(session);
    let mut wanted: Vec<(bool, PayloadIdx)> =
        trace.payloads.handles().map(|payload| (!failed.contains(&payload), payload)).collect();
    wanted.sort_unstable_by_key(|(is_fine, payload)| (*is_fine, source.number(Object::Payload(*payload))));
    let mut payloads = BTreeMap::new();
    let mut left = limits.payloads;
    for (_, payload) in wanted {
        let size = sizes.get(trace.text(trace.payloads[payload].path)).map(|bytes| *bytes as usize);
        let Number(number) = source.number(Object::Payload(payload));
        let fits = size.is_some_and(|size| size <= limits.payload && size <= left);
        let text = if fits { source.payload(Number(number), limits.payload).ok() } else { None };
        left -= text.as_ref().map_or(0, |text| text.text.len().min(left));
        payloads.insert(number, text);
    }
    payloads
}

fn has_failed(trace: &Trace, object: Object) -> bool {
    let outcome = match object {
        Object::Tool(tool) => Outcome::of_tool(trace, &trace.tools[tool]),
        Object::Inference(inference) => Outcome::of_window(&trace.inferences[inference].execution),
        Object::Cell(cell) => Outcome::of_window(&trace.cells[cell].execution),
        Object::CompactionRequest(request) => Outcome::of_window(&trace.compaction_requests[request].execution),
        _ => return false,
    };
    outcome != Outcome::Completed
}

fn payloads_of_failures(session: &Session) -> HashSet<PayloadIdx> {
    let trace = session.trace();
    let mut ids: Vec<Symbol> = Vec::new();
    for call in trace.tools.iter().filter(|(index, _)| has_failed(trace, Object::Tool(*index))).map(|(_, call)| call) {
        ids.extend(call.invocation_payload_id);
        ids.extend(&call.runtime_payload_ids);
        ids.extend(call.result_payload_id);
    }
    let is_failed = |(index, _): &(InferenceIdx, &InferenceCall)| has_failed(trace, Object::Inference(*index));
    for (_, call) in trace.inferences.iter().filter(is_failed) {
        ids.push(call.request_payload_id);
        ids.extend(call.response_payload_id);
    }
    ids.into_iter().filter_map(|id| session.payload_of(id)).collect()
}
