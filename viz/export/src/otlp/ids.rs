//! Ids of traces and spans, which are hashes of the names of their objects. A session that is exported again has the
//! same ids, so that a backend replaces the old spans.

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use trace_explain::object::name_of;
use trace_reducer::model::{Object, Trace};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Ids of the spans of one session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    trace: TraceId,
    seed: u64,
}

impl Ids {
    pub(crate) fn new(trace: &Trace) -> Self {
        // Use both ids to distinguish sessions: a recorder may use one trace id for many.
        let key = format!("{}\n{}", trace.text(trace.trace_id), trace.text(trace.rollout_id));
        let hash = xxh3_128_with_seed(key.as_bytes(), 0);
        // OTLP does not allow an id of zero.
        Self { trace: TraceId::from_bytes(hash.max(1).to_be_bytes()), seed: (hash >> 64) as u64 }
    }

    /// Returns the ids of an object's span.
    pub(crate) fn of(self, trace: &Trace, object: Object) -> SpanContext {
        self.context(&name_of(trace, object).to_string())
    }

    /// Returns the ids of the session's span.
    pub(crate) fn session(self) -> SpanContext {
        self.context("session")
    }

    fn context(self, name: &str) -> SpanContext {
        let span = xxh3_64_with_seed(name.as_bytes(), self.seed).max(1);
        let span = SpanId::from_bytes(span.to_be_bytes());
        SpanContext::new(self.trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
    }
}
