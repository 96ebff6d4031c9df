//! Groups spans into requests.

use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use trace_explain::Session;

use super::content::Content;
use super::names;
use super::spans::Spans;

/// Most spans of one request, and of one line of a file.
pub const MAX_REQUEST_SPANS: usize = 512;
/// A request is complete when the texts of its spans have this many bytes. Collectors accept 4 to 20 MiB.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;
/// Approximate size of a span without its texts.
const SPAN_BYTES: usize = 200;

/// The service name of all spans.
const SERVICE: &str = "rollout-trace";

/// Returns the resource of the spans of all sessions.
pub(super) fn resource() -> Resource {
    Resource::builder_empty().with_attribute(KeyValue::new(names::SERVICE_NAME, SERVICE)).build()
}

/// Returns the spans of a session, ordered by their starts, request by request.
pub(super) fn batches(session: &Session, content: Content) -> impl Iterator<Item = Vec<SpanData>> {
    let mut spans = Spans::new(session, content).peekable();
    std::iter::from_fn(move || {
        spans.peek()?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(span) = spans.next_if(|span| {
            let more = size(span);
            bytes += more;
            batch.is_empty() || (batch.len() < MAX_REQUEST_SPANS && bytes <= MAX_REQUEST_BYTES)
        }) {
            batch.push(span);
        }
        Some(batch)
    })
}

/// Returns the approximate size of a span in bytes.
fn size(span: &SpanData) -> usize {
    let of_value = |value: &Value| match value {
        Value::String(text) => text.as_str().len(),
        _ => 8,
    };
    let of = |attributes: &[KeyValue]| -> usize {
        attributes.iter().map(|attribute| attribute.key.as_str().len() + of_value(&attribute.value)).sum()
    };
    let links: usize = span.links.iter().map(|link| 40 + of(&link.attributes)).sum();
    let events: usize = span.events.iter().map(|event| 40 + of(&event.attributes)).sum();
    SPAN_BYTES + span.name.len() + of(&span.attributes) + links + events
}
