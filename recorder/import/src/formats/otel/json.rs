//! OTLP as JSON: requests of the collector's protocol, in the forms in which programs write them.
//!
//! Ids are hexadecimal as the protocol requires, or base64 as other writers of protobuf as JSON have them. Integers of 64 bits are
//! texts or numbers, statuses are numbers or names, and members may be spelled as in the protocol's definition.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use trace_recorder::format::import::Place;

use super::span::{Attributes, Span, SpanEvent, Value, id_of_bytes};

/// A request with spans. `S` is what is read of each.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub(super) struct Request<S> {
    #[serde(default = "Vec::new", alias = "resource_spans", rename = "resourceSpans")]
    resource_spans: Vec<ResourceSpans<S>>,
}

#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
struct ResourceSpans<S> {
    resource: Option<Resource>,
    // The second name is that of the protocol before 0.19.
    #[serde(default = "Vec::new", alias = "scope_spans", alias = "instrumentationLibrarySpans", rename = "scopeSpans")]
    scope_spans: Vec<ScopeSpans<S>>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<KeyValue>,
}

#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
struct ScopeSpans<S> {
    #[serde(default = "Vec::new")]
    spans: Vec<S>,
}

/// What the list of a file's sessions needs of a span.
#[derive(Debug, Deserialize)]
pub(super) struct LightSpan<'a> {
    #[serde(borrow, default, alias = "trace_id", rename = "traceId")]
    trace_id: Cow<'a, str>,
    #[serde(borrow, alias = "start_time_unix_nano", rename = "startTimeUnixNano")]
    start: Option<&'a RawValue>,
    #[serde(borrow, default = "Vec::new")]
    attributes: Vec<LightAttribute<'a>>,
}

#[derive(Debug, Deserialize)]
struct LightAttribute<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

impl LightSpan<'_> {
    /// Returns the id of the trace.
    pub(super) fn trace(&self) -> Option<String> {
        id(&self.trace_id)
    }

    /// Returns the start in nanoseconds since the Unix epoch.
    pub(super) fn start(&self) -> Option<u64> {
        time(self.start)
    }

    /// Returns the names of the attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|attribute| &*attribute.key)
    }

    /// Returns the text of an attribute.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.attributes.iter().find(|attribute| attribute.key == name)?.value?;
        let value: AnyValue = serde_json::from_str(value.get()).ok()?;
        value.into_value().as_text().map(str::to_owned)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct FullSpan<'a> {
    #[serde(borrow, default, alias = "trace_id", rename = "traceId")]
    trace_id: Cow<'a, str>,
    #[serde(borrow, default, alias = "span_id", rename = "spanId")]
    span_id: Cow<'a, str>,
    #[serde(borrow, alias = "parent_span_id", rename = "parentSpanId")]
    parent_span_id: Option<&'a RawValue>,
    #[serde(default)]
    name: String,
    #[serde(borrow, alias = "start_time_unix_nano", rename = "startTimeUnixNano")]
    start: Option<&'a RawValue>,
    #[serde(borrow, alias = "end_time_unix_nano", rename = "endTimeUnixNano")]
    end: Option<&'a RawValue>,
    #[serde(default)]
    attributes: Vec<KeyValue>,
    #[serde(borrow)]
    status: Option<Status<'a>>,
    #[serde(default)]
    events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
struct Status<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    #[serde(default)]
    attributes: Vec<KeyValue>,
}

#[derive(Debug, Deserialize)]
struct KeyValue {
    key: String,
    value: Option<AnyValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyValue {
    #[serde(alias = "string_value")]
    string_value: Option<String>,
    #[serde(alias = "bool_value")]
    bool_value: Option<bool>,
    #[serde(alias = "int_value")]
    int_value: Option<Box<RawValue>>,
    #[serde(alias = "double_value")]
    double_value: Option<Box<RawValue>>,
    #[serde(alias = "array_value")]
    array_value: Option<List>,
    #[serde(alias = "kvlist_value")]
    kvlist_value: Option<Members>,
    #[serde(alias = "bytes_value")]
    bytes_value: Option<String>,
}

#[derive(Debug, Deserialize)]
struct List {
    #[serde(default)]
    values: Vec<AnyValue>,
}

#[derive(Debug, Deserialize)]
struct Members {
    #[serde(default)]
    values: Vec<KeyValue>,
}

impl AnyValue {
    fn into_value(self) -> Value {
        if let Some(text) = self.string_value {
            return Value::Text(text);
        }
        if let Some(value) = self.bool_value {
            return Value::Bool(value);
        }
        if let Some(number) = self.int_value.as_deref().and_then(number) {
            return Value::Int(number);
        }
        if let Some(text) = self.double_value.as_deref().map(unquoted) {
            return text.parse().map_or(Value::Empty, Value::Double);
        }
        if let Some(list) = self.array_value {
            return Value::List(list.values.into_iter().map(Self::into_value).collect());
        }
        if let Some(members) = self.kvlist_value {
            return Value::Map(pairs(members.values).collect());
        }
        let bytes = self.bytes_value.and_then(|text| base64(&text));
        bytes.map_or(Value::Empty, Value::Bytes)
    }
}

fn pairs(list: Vec<KeyValue>) -> impl Iterator<Item = (String, Value)> {
    list.into_iter().map(|pair| (pair.key, pair.value.map_or(Value::Empty, AnyValue::into_value)))
}

/// Calls `take` with each span of a request.
pub(super) fn each_light(text: &[u8], mut take: impl FnMut(&LightSpan<'_>)) -> serde_json::Result<()> {
    let request: Request<LightSpan<'_>> = serde_json::from_slice(text)?;
    for span in spans_of(request.resource_spans) {
        take(&span);
    }
    Ok(())
}

/// Calls `take` with each span of a request whose trace is wanted. Returns how many spans have no ids, so that nothing can be told of them.
pub(super) fn each_span(
    text: &[u8],
    place: Place,
    is_wanted: impl Fn(&str) -> bool,
    mut take: impl FnMut(Span),
) -> serde_json::Result<usize> {
    let request: Request<FullSpan<'_>> = serde_json::from_slice(text)?;
    let mut nameless = 0;
    for span in spans_of(request.resource_spans) {
        let (Some(trace), Some(span_id)) = (id(&span.trace_id), id(&span.span_id)) else {
            nameless += 1;
            continue;
        };
        if !is_wanted(&trace) {
            continue;
        }
        let (is_error, message) = span.status.map_or((false, String::new()), |status| {
            let is_error = status.code.is_some_and(|code| is_error(unquoted(code)));
            (is_error, status.message.unwrap_or_default())
        });
        let event = |event: Event| SpanEvent { name: event.name, attributes: pairs(event.attributes).collect() };
        take(Span {
            place,
            trace,
            id: span_id,
            parent: span.parent_span_id.and_then(|parent| id(unquoted(parent))),
            name: span.name,
            start: time(span.start),
            end: time(span.end),
            attributes: pairs(span.attributes).collect(),
            is_error,
            message,
            events: span.events.into_iter().map(event).collect(),
        });
    }
    Ok(nameless)
}

/// Returns the attributes of the first resource of a request.
pub(super) fn resource(text: &[u8]) -> Attributes {
    let request: Result<Request<serde::de::IgnoredAny>, _> = serde_json::from_slice(text);
    let resource = request.ok().and_then(|request| request.resource_spans.into_iter().find_map(|spans| spans.resource));
    resource.map_or_else(Attributes::default, |resource| pairs(resource.attributes).collect())
}

fn spans_of<S>(resource_spans: Vec<ResourceSpans<S>>) -> impl Iterator<Item = S> {
    resource_spans.into_iter().flat_map(|spans| spans.scope_spans).flat_map(|spans| spans.spans)
}

/// Returns the text of a number or of a text without escapes.
fn unquoted(value: &RawValue) -> &str {
    value.get().trim_matches('"')
}

fn number(value: &RawValue) -> Option<i64> {
    let text = unquoted(value);
    text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|value| value as i64))
}

/// Returns a time in nanoseconds. A time of zero is none.
fn time(value: Option<&RawValue>) -> Option<u64> {
    let text = unquoted(value?);
    let time = text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|value| value as u64))?;
    (time > 0).then_some(time)
}

fn is_error(code: &str) -> bool {
    matches!(code, "2" | "STATUS_CODE_ERROR" | "ERROR" | "Error")
}

/// Returns an id in hexadecimal digits.
fn id(text: &str) -> Option<String> {
    let is_hex = matches!(text.len(), 16 | 32) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex {
        return text.bytes().any(|byte| byte != b'0').then(|| text.to_ascii_lowercase());
    }
    match base64(text) {
        Some(bytes) if matches!(bytes.len(), 8 | 16) => id_of_bytes(&bytes),
        // An id of another length is kept, since it still tells spans apart.
        _ => (!text.is_empty() && text != "null").then(|| text.to_owned()),
    }
}

/// Returns the bytes of a text in base64, in the usual alphabet or in that of addresses.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    // One digit alone has too few bits for a byte.
    (digits.len() % 4 != 1).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        each_span(text.as_bytes(), Place { source: 0, line: 1 }, |_| true, |span| spans.push(span)).expect("parses");
        spans
    }

    #[test]
    fn ids_times_statuses_and_values_have_several_forms() {
        let span = |ids: &str, rest: &str| {
            let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{ids},"name":"n",{rest}}}]}}]}}]}}"#);
            spans(&text).remove(0)
        };
        let hex = span(
            r#""traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174","parentSpanId":"""#,
            r#""startTimeUnixNano":"1795382905000000001","endTimeUnixNano":1795382905001000000,"status":{"code":2,"message":"m"}"#,
        );
        let base64 = span(
            r#""trace_id":"W47/95gDgQPSabYzgT/GDA==","spanId":"7uGbfsPBsXQ=","parentSpanId":null"#,
            r#""start_time_unix_nano":1795382905000000001,"status":{"code":"STATUS_CODE_ERROR"},"attributes":[
               {"key":"a","value":{"intValue":"7"}},{"key":"b","value":{"intValue":7}},
               {"key":"c","value":{"doubleValue":1.5}},{"key":"d","value":{"arrayValue":{"values":[{"boolValue":true}]}}},
               {"key":"e","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}},
               {"key":"f","value":{"bytesValue":"AQI="}},{"key":"g","value":{}},{"key":"h"},{"key":"i","value":{"arrayValue":{}}}]"#,
        );
        for span in [&hex, &base64] {
            assert_eq!(
                (span.trace.as_str(), span.id.as_str()),
                ("5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174")
            );
            assert_eq!((&span.parent, span.is_error, span.start_ms()), (&None, true, Some(1_795_382_905_000)));
        }
        assert_eq!((hex.end_ms(), hex.error(), base64.end), (Some(1_795_382_905_001), Some("m"), None));
        let get = |name| base64.attributes.get(name);
        assert_eq!((get("a"), get("b")), (Some(&Value::Int(7)), Some(&Value::Int(7))));
        assert_eq!(get("c"), Some(&Value::Double(1.5)));
        assert_eq!(get("d"), Some(&Value::List(vec![Value::Bool(true)])));
        assert_eq!(get("e"), Some(&Value::Map(vec![("k".into(), Value::Text("v".into()))])));
        assert_eq!(get("f"), Some(&Value::Bytes(vec![1, 2])));
        assert_eq!(
            (get("g"), get("h"), get("i")),
            (Some(&Value::Empty), Some(&Value::Empty), Some(&Value::List(vec![])))
        );
    }

    #[test]
    fn base64_that_is_none_is_refused() {
        assert_eq!(base64("AQI="), Some(vec![1, 2]));
        assert_eq!(base64("A"), None);
        assert_eq!(base64("A*I="), None);
    }
}
