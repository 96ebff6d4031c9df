//! OTLP as protobuf: the few fields of the protocol's messages that an importer reads.

use prost::Message;
use trace_recorder::format::import::Place;

use super::span::{Attributes, Span, SpanEvent, Value, id_of_bytes};

/// Code of a status that is an error.
const STATUS_ERROR: i32 = 2;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<ProtoSpan>,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoSpan {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(fixed64, tag = "7")]
    start: u64,
    #[prost(fixed64, tag = "8")]
    end: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    events: Vec<Event>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "3")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "OneValue", tags = "1, 2, 3, 4, 5, 6, 7")]
    value: Option<OneValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum OneValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(message, tag = "5")]
    List(List),
    #[prost(message, tag = "6")]
    Map(Members),
    #[prost(bytes, tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Clone, PartialEq, Message)]
struct List {
    #[prost(message, repeated, tag = "1")]
    values: Vec<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct Members {
    #[prost(message, repeated, tag = "1")]
    values: Vec<KeyValue>,
}

/// Calls `take` with each span of a request. Returns how many spans have no ids, so that nothing can be told of them.
pub(super) fn each_span(
    bytes: &[u8],
    place: Place,
    is_wanted: impl Fn(&str) -> bool,
    mut take: impl FnMut(Span),
) -> Result<usize, prost::DecodeError> {
    let request = Request::decode(bytes)?;
    let mut nameless = 0;
    let scopes = request.resource_spans.into_iter().flat_map(|spans| spans.scope_spans);
    for span in scopes.flat_map(|spans| spans.spans) {
        let (Some(trace), Some(id)) = (id_of_bytes(&span.trace_id), id_of_bytes(&span.span_id)) else {
            nameless += 1;
            continue;
        };
        if !is_wanted(&trace) {
            continue;
        }
        let status = span.status.unwrap_or_default();
        let event = |event: Event| SpanEvent { name: event.name, attributes: pairs(event.attributes).collect() };
        take(Span {
            place,
            trace,
            id,
            parent: id_of_bytes(&span.parent_span_id),
            name: span.name,
            start: (span.start > 0).then_some(span.start),
            end: (span.end > 0).then_some(span.end),
            attributes: pairs(span.attributes).collect(),
            is_error: status.code == STATUS_ERROR,
            message: status.message,
            events: span.events.into_iter().map(event).collect(),
        });
    }
    Ok(nameless)
}

/// Returns the attributes of the first resource of a request.
pub(super) fn resource(bytes: &[u8]) -> Attributes {
    let request = Request::decode(bytes).unwrap_or_default();
    let resource = request.resource_spans.into_iter().find_map(|spans| spans.resource);
    resource.map_or_else(Attributes::default, |resource| pairs(resource.attributes).collect())
}

fn pairs(list: Vec<KeyValue>) -> impl Iterator<Item = (String, Value)> {
    list.into_iter().map(|pair| (pair.key, pair.value.map_or(Value::Empty, value_of)))
}

fn value_of(value: AnyValue) -> Value {
    match value.value {
        None => Value::Empty,
        Some(OneValue::Text(text)) => Value::Text(text),
        Some(OneValue::Bool(value)) => Value::Bool(value),
        Some(OneValue::Int(value)) => Value::Int(value),
        Some(OneValue::Double(value)) => Value::Double(value),
        Some(OneValue::List(list)) => Value::List(list.values.into_iter().map(value_of).collect()),
        Some(OneValue::Map(members)) => Value::Map(pairs(members.values).collect()),
        Some(OneValue::Bytes(bytes)) => Value::Bytes(bytes),
    }
}
