//! OpenTelemetry: spans in OTLP, according to the semantic conventions for generative AI as of [`CONVENTIONS_COMMIT`].
//!
//! A session is one trace. Its root span contains one span per agent, which contains an `invoke_agent` span per turn. A
//! turn contains a `chat` span per request and an `execute_tool` span per tool call. An agent is below the call that
//! spawned it. Messages, tasks and results are links from the span that receives them first to the span that they come
//! from.
//!
//! Spans are made once, as the SDK's [`SpanData`](opentelemetry_sdk::trace::SpanData). They are then either written to
//! a file as OTLP JSON by `opentelemetry-proto`, or sent to a collector by the exporter of `opentelemetry-otlp`, which
//! converts them to the same messages.

mod batches;
mod content;
mod file;
mod ids;
mod names;
mod send;
mod spans;

pub use self::batches::{MAX_REQUEST_BYTES, MAX_REQUEST_SPANS};
pub use self::content::{Content, MAX_CONTENT_BYTES};
pub use self::file::write;
pub use self::names::CONVENTIONS_COMMIT;
pub use self::send::{
    ATTEMPTS, Collector, CollectorError, DEADLINE, MAX_ANSWER_BYTES, REQUEST_TIMEOUT, SendError, Sent,
};
