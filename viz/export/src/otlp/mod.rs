//! OpenTelemetry: spans after the semantic conventions for generative AI, as they were at [`CONVENTIONS_COMMIT`], as OTLP.
//!
//! A session is one trace. Its span holds one per agent, that one `invoke_agent` per turn, and a turn `chat` per request and
//! `execute_tool` per tool call. The agent that a call spawned is below that call; messages, tasks and results are links from
//! the span that has them first to the one that they come from.
//!
//! Spans are made once, as the SDK's [`SpanData`](opentelemetry_sdk::trace::SpanData), and go one of two ways from there:
//! into a file as OTLP JSON by `opentelemetry-proto`, or to a collector by the exporter of `opentelemetry-otlp`, which turns
//! them into the same messages.

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
