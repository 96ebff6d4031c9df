//! Reads inference requests, parsing only what a request adds to the one before it.
//!
//! Every request of a thread repeats the history so far, so 98 % of its bytes are those of its predecessor. Equal bytes
//! parse equally: [`RequestReader`] finds the common prefix by comparing memory, keeps the item boundaries that end
//! before it, and parses from there. What follows the items is compared in the same way, and items that moved are found
//! by their bytes. A request that shares nothing is parsed as a whole. Both ways give the same result, which tests and
//! [`Options::verify`](crate::Options) check.
//!
//! The files of packed bundles and of bundles in memory are known to share bytes before they are read. Of such a request only what lies behind
//! the shared items is read, so that its cost does not grow with the history.

use std::fmt;
use std::ops::Range;

use hashbrown::HashMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use trace_recorder::format::Text;
use xxhash_rust::xxh3::xxh3_64;

use super::json;
use super::limits::MAX_ITEMS;
use super::normalize::{Normalized, read_item};
use super::prefix::common_prefix;
use super::problem::PayloadProblem;
use crate::model::SchemaVersion;

/// Depth of the fields in a request.
const FIELD_DEPTH: usize = 1;

/// What a request adds to its predecessor.
#[derive(Debug)]
pub(crate) struct RequestDelta {
    /// Number of items at the beginning that equal those of the predecessor, byte for byte. Zero without a predecessor.
    pub(crate) shared: u32,
    /// The other items, in order.
    pub(crate) rest: Vec<Slot>,
    /// The response that the request continues; `None` if the request contains the whole history.
    pub(crate) previous_response_id: Option<Box<str>>,
    /// Why the request cannot be read to its end. The items are then those before the damage.
    pub(crate) problem: Option<PayloadProblem>,
}

/// An item of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The item with this index in the predecessor.
    Predecessor(RequestItem),
    /// A normalized item, or `None` if the item has no place in a conversation.
    Normalized(Option<RunItem>),
}

/// Index of an item in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestItem(pub(crate) u32);

/// Index of a normalized item among those of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunItem(pub(crate) u32);

/// Position of an item's bytes in a request, and its normalized form.
#[derive(Debug, Clone)]
struct Span {
    bytes: Range<usize>,
    /// The outer `None` means that this run has not normalized the item yet.
    normalized: Option<Option<RunItem>>,
}

/// Positions of the parts of a request.
#[derive(Debug, Clone, Default)]
struct Layout {
    /// The contents of the array `input`, without its brackets.
    input: Range<usize>,
    spans: Vec<Span>,
    /// For each member behind `input`, the end of its value, counted from the end of `input`.
    tail_ends: Vec<usize>,
    previous_response_id: Option<Box<str>>,
    /// Whether `previous_response_id` is behind `input`.
    is_previous_in_tail: bool,
    /// Whether a later request may be compared with this one.
    comparable: bool,
}

/// Difference between a request and the one before, if both begin alike.
struct Extension {
    /// Number of items at the beginning that are the same.
    kept: usize,
    /// Positions of the other items.
    added: Vec<Range<usize>>,
    /// Position of the bracket that closes `input`.
    end: usize,
    tail_ends: Vec<usize>,
}

/// A request with its layout, so that the next request of its thread can be compared without reading the file again.
#[derive(Debug, Clone)]
pub(crate) struct KeptRequest {
    text: Vec<u8>,
    offset: usize,
    layout: Layout,
}

impl KeptRequest {
    /// Returns the memory that the request takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.layout.spans.len() * size_of::<Span>()
    }
}

/// Reads the requests of one run in order.
#[derive(Debug)]
pub(crate) struct RequestReader {
    schema: SchemaVersion,
    verify: bool,
    /// The bytes of the last request from `offset` on.
    text: Vec<u8>,
    offset: usize,
    layout: Layout,
    /// Indexes of the items of the present layout by the hash of their bytes. Made when the first item has moved.
    by_bytes: Option<HashMap<u64, u32, foldhash::fast::FixedState>>,
    normalized: Vec<Normalized>,
}

impl RequestReader {
    pub(crate) fn new(schema: SchemaVersion, verify: bool) -> Self {
        let layout = Layout::default();
        Self { schema, verify, text: Vec::new(), offset: 0, layout, by_bytes: None, normalized: Vec::new() }
    }

    /// Sets the predecessor of the first request. Another run reads its items, so only its layout is needed.
    pub(crate) fn begin_after(&mut self, text: Vec<u8>) {
        self.layout = parse_whole(&text).unwrap_or_default();
        self.hold(text, 0);
        self.by_bytes = None;
    }

    /// Replaces the bytes that are held of the last request by those from `offset` on.
    pub(crate) fn hold(&mut self, text: Vec<u8>, offset: usize) {
        (self.text, self.offset) = (text, offset);
    }

    /// Returns from which byte on the last request is held.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns from where on a request must be read whose first `known` bytes are those of the request before, or `None` if
    /// it must be read as a whole.
    pub(crate) fn start_behind(&self, known: usize) -> Option<usize> {
        let before = &self.layout;
        if !before.comparable || self.verify || known < before.input.start {
            return None;
        }
        let kept = before.spans.partition_point(|span| span.bytes.end <= known);
        Some(kept.checked_sub(1).map_or(before.input.start, |last| before.spans[last].bytes.end))
    }

    /// Sets the predecessor of the first request to one that was kept from an earlier batch.
    pub(crate) fn begin_after_kept(&mut self, kept: KeptRequest) {
        let KeptRequest { text, offset, layout } = kept;
        (self.text, self.offset, self.layout, self.by_bytes) = (text, offset, layout, None);
    }

    /// Returns the normalized items, and the last request if a later one may be compared with it.
    pub(crate) fn finish(self) -> (Vec<Normalized>, Option<KeptRequest>) {
        let Self { text, offset, mut layout, normalized, .. } = self;
        // The next run cannot refer to items that this run has normalized.
        layout.spans.iter_mut().for_each(|span| span.normalized = None);
        let kept = layout.comparable.then_some(KeptRequest { text, offset, layout });
        (normalized, kept)
    }

    /// Reads a request. Afterwards `text` holds the bytes of the request before, as a buffer for the next.
    ///
    /// `follows` means that the request before belongs to the same thread, so that its item positions can be referred
    /// to.
    pub(crate) fn read(&mut self, text: &mut Vec<u8>, follows: bool) -> RequestDelta {
        if self.offset > 0 {
            // The bytes that the request would be compared with are gone.
            self.begin_after(Vec::new());
        }
        let extension = self.extend(text, 0);
        self.advance(text, 0, extension, follows)
    }

    /// Reads a request of the same thread of which `text` has the bytes from `start` on, a place that
    /// [`start_behind`](Self::start_behind) gave; the bytes before it are those of the request before. Returns `None` if the
    /// request must be read as a whole.
    pub(crate) fn read_behind(&mut self, start: usize, text: &mut Vec<u8>) -> Option<RequestDelta> {
        let extension = self.extend(text, start)?;
        Some(self.advance(text, start, Some(extension), true))
    }

    /// Goes on to the next request, of which `text` has the bytes from `offset` on.
    fn advance(
        &mut self,
        text: &mut Vec<u8>,
        offset: usize,
        extension: Option<Extension>,
        follows: bool,
    ) -> RequestDelta {
        let mut problem = None;
        let mut previous = std::mem::take(&mut self.layout);
        let (mut layout, kept) = match extension {
            Some(extension) => {
                let kept = extension.kept;
                // The items behind the common prefix may have moved; keep them for `find_moved`.
                let moved = previous.spans.split_off(kept);
                let mut spans = std::mem::replace(&mut previous.spans, moved);
                spans.extend(extension.added.into_iter().map(|bytes| Span { bytes, normalized: None }));
                let layout = Layout {
                    input: previous.input.start..extension.end,
                    spans,
                    tail_ends: extension.tail_ends,
                    previous_response_id: previous.previous_response_id.take(),
                    is_previous_in_tail: previous.is_previous_in_tail,
                    comparable: true,
                };
                (layout, kept)
            }
            None => match parse_whole(text) {
                Ok(layout) => (layout, 0),
                Err(error) => {
                    let (layout, error) = salvage(text, error);
                    problem = Some(error);
                    (layout, 0)
                }
            },
        };
        let mut rest = Vec::with_capacity(layout.spans.len() - kept);
        let shared = if follows { kept } else { 0 };
        for index in shared..layout.spans.len() {
            let span = &layout.spans[index];
            let raw = &text[within(&span.bytes, offset)];
            let known = match span.normalized {
                Some(known) => Some(Slot::Normalized(known)),
                None => self.find_moved(&previous.spans, kept, raw, follows),
            };
            let slot = match known {
                Some(slot) => slot,
                None => match self.normalize(raw) {
                    Ok(normalized) => Slot::Normalized(normalized),
                    Err(error) => {
                        // One invalid item makes the whole document invalid. The items before it are kept.
                        problem.get_or_insert(error);
                        layout.spans.truncate(index);
                        layout.comparable = false;
                        break;
                    }
                },
            };
            if let Slot::Normalized(normalized) = slot {
                layout.spans[index].normalized = Some(normalized);
            }
            rest.push(slot);
        }
        let previous_response_id = layout.previous_response_id.clone();
        self.layout = layout;
        self.by_bytes = None;
        std::mem::swap(&mut self.text, text);
        self.offset = offset;
        RequestDelta { shared: shared as u32, rest, previous_response_id, problem }
    }

    fn normalize(&mut self, raw: &[u8]) -> Result<Option<RunItem>, PayloadProblem> {
        Ok(read_item(raw, self.schema)?.map(|item| {
            let index = u32::try_from(self.normalized.len()).expect("there are fewer than 2^32 items");
            self.normalized.push(item);
            RunItem(index)
        }))
    }

    /// Finds an item with the same bytes in `before`, the items of the predecessor from index `first` on.
    fn find_moved(&mut self, before: &[Span], first: usize, raw: &[u8], follows: bool) -> Option<Slot> {
        if before.is_empty() || self.verify {
            return None;
        }
        let (text, offset) = (&self.text, self.offset);
        let by_bytes = self.by_bytes.get_or_insert_with(|| {
            let mut table = HashMap::with_capacity_and_hasher(before.len(), Default::default());
            // In reverse order, so that of equal items the first one stays in the table.
            for (index, span) in before.iter().enumerate().rev() {
                table.insert(xxh3_64(&text[within(&span.bytes, offset)]), index as u32);
            }
            table
        });
        let index = *by_bytes.get(&xxh3_64(raw))?;
        let span = &before[index as usize];
        if self.text[within(&span.bytes, offset)] != *raw {
            return None;
        }
        match span.normalized {
            Some(known) => Some(Slot::Normalized(known)),
            None => follows.then_some(Slot::Predecessor(RequestItem(first as u32 + index))),
        }
    }

    /// Reads a request by comparing it with the one before. `text` has its bytes from `offset` on, which is where an item
    /// ends, or 0. Returns `None` if the request must be parsed as a whole.
    fn extend(&self, text: &[u8], offset: usize) -> Option<Extension> {
        let before = &self.layout;
        if !before.comparable || self.verify {
            return None;
        }
        let common = offset + common_prefix(self.text.get(offset.checked_sub(self.offset)?..)?, text);
        if common < before.input.start {
            return None;
        }
        let kept = before.spans.partition_point(|span| span.bytes.end <= common);
        let mut at = match kept.checked_sub(1) {
            Some(last) => before.spans[last].bytes.end,
            None => before.input.start,
        };
        let mut added = Vec::new();
        loop {
            let is_first = kept == 0 && added.is_empty();
            at = offset + skip_whitespace(text, at - offset);
            match text.get(at - offset)? {
                b']' => break,
                b',' if !is_first => at += 1,
                _ if is_first => {}
                _ => return None,
            }
            at = offset + skip_whitespace(text, at - offset);
            // Accept only objects: a closing brace ends the value, but a number, for example, may continue with the
            // next byte.
            if *text.get(at - offset)? != b'{' {
                return None;
            }
            let item = delimit(text, at - offset)?;
            if kept + added.len() == MAX_ITEMS {
                return None;
            }
            at = offset + item.end;
            added.push(offset + item.start..at);
        }
        let tail_ends = self.extend_tail(&text[at - offset + 1..])?;
        Some(Extension { kept, added, end: at, tail_ends })
    }

    /// Reads the members behind `input` by comparing them with those of the request before. Returns where their values
    /// end, or `None` if a changed member matters, so that the request must be parsed as a whole.
    fn extend_tail(&self, tail: &[u8]) -> Option<Vec<usize>> {
        let before = &self.text[self.layout.input.end - self.offset + 1..];
        if before == tail {
            return Some(self.layout.tail_ends.clone());
        }
        if self.layout.is_previous_in_tail {
            return None;
        }
        let common = common_prefix(before, tail);
        // Keep a member only if the byte behind it is the same too: without that byte, a number may continue.
        let kept = self.layout.tail_ends.partition_point(|end| *end < common);
        let mut ends = self.layout.tail_ends[..kept].to_vec();
        let at = skip_whitespace(tail, ends.last().copied().unwrap_or(0));
        let rest = match tail.get(at)? {
            b',' => at + 1,
            b'}' => at,
            _ => return None,
        };
        let mut text = String::with_capacity(tail.len() - rest + 1);
        text.push('{');
        text.push_str(std::str::from_utf8(&tail[rest..]).ok()?);
        let is_empty_after_comma = tail[at] == b',' && tail.get(skip_whitespace(tail, rest))? == &b'}';
        let request: Request<'_> = serde_json::from_str(&text).ok()?;
        if is_empty_after_comma || request.input.is_some() || request.names_previous || request.defect.is_some() {
            return None;
        }
        ends.extend(request.value_ends(&text).map(|end| rest + end - 1));
        Some(ends)
    }
}

/// Returns where bytes of a request are in a text that has its bytes from `offset` on.
fn within(bytes: &Range<usize>, offset: usize) -> Range<usize> {
    bytes.start - offset..bytes.end - offset
}

fn skip_whitespace(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')).count()
}

/// Parses a request without comparing it. Only the positions of its items are determined.
fn parse_whole(text: &[u8]) -> Result<Layout, PayloadProblem> {
    let text = std::str::from_utf8(text).map_err(|_| PayloadProblem::Utf8)?;
    let mut request: Request<'_> = serde_json::from_str(text)?;
    if let Some(defect) = request.defect.take() {
        return Err(defect);
    }
    let absent = || PayloadProblem::Shape("no array `input`");
    let input = request.input.ok_or_else(absent)?;
    let items = json::elements(input)?.ok_or_else(absent)?;
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let spans: Vec<Span> = items
        .iter()
        .map(|raw| {
            let start = offset(raw.get());
            Span { bytes: start..start + raw.get().len(), normalized: None }
        })
        .collect();
    let start = offset(input.get());
    // If the last item is a number, a longer number in the next request has it as a prefix; see `extend`.
    let only_objects = items.iter().all(|raw| raw.get().starts_with('{'));
    let end = start + input.get().len();
    let tail_ends = request.value_ends(text).filter(|value| *value > end).map(|value| value - end).collect();
    Ok(Layout {
        input: start + 1..end - 1,
        spans,
        tail_ends,
        previous_response_id: request.previous_response_id,
        is_previous_in_tail: request.is_previous_in_tail,
        comparable: !request.repeated && only_objects,
    })
}

/// Finds the complete items before the damage of a request.
fn salvage(text: &[u8], problem: PayloadProblem) -> (Layout, PayloadProblem) {
    let mut layout = Layout::default();
    if !matches!(problem, PayloadProblem::Shape(_)) {
        layout.spans = whole_items(text).into_iter().map(|bytes| Span { bytes, normalized: None }).collect();
    }
    (layout, problem)
}

/// Skips the members of an object up to `input`, and returns the positions of its complete items.
fn whole_items(text: &[u8]) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut at = skip_whitespace(text, 0);
    if text.get(at) != Some(&b'{') {
        return items;
    }
    loop {
        let Some(key) = delimit(text, at + 1) else { return items };
        at = skip_whitespace(text, key.end);
        if text.get(at) != Some(&b':') {
            return items;
        }
        at = skip_whitespace(text, at + 1);
        if text[key] == *b"\"input\"" {
            break;
        }
        let Some(value) = delimit(text, at) else { return items };
        at = skip_whitespace(text, value.end);
        if text.get(at) != Some(&b',') {
            return items;
        }
    }
    // The opening bracket comes before the first item, and a comma before each other item.
    while matches!(text.get(at), Some(b'[' | b',')) && items.len() < MAX_ITEMS {
        let Some(item) = delimit(text, at + 1).filter(|item| text[item.start] == b'{') else { break };
        at = skip_whitespace(text, item.end);
        items.push(item);
    }
    items
}

/// Returns the position of the JSON value at `at`, after optional white space.
fn delimit(text: &[u8], at: usize) -> Option<Range<usize>> {
    let at = skip_whitespace(text, at.min(text.len()));
    let mut values = serde_json::Deserializer::from_slice(&text[at..]).into_iter::<&RawValue>();
    values.next()?.ok()?;
    Some(at..at + values.byte_offset())
}

/// The fields of a request that are used. All other fields are only validated.
struct Request<'a> {
    input: Option<&'a RawValue>,
    /// Whether one of these fields appears more than once. The last one counts.
    repeated: bool,
    /// Whether the request has the field `previous_response_id`.
    names_previous: bool,
    /// Whether that field is behind `input`.
    is_previous_in_tail: bool,
    previous_response_id: Option<Box<str>>,
    /// The values of the other fields.
    others: Vec<&'a RawValue>,
    /// What is wrong with one of the fields.
    defect: Option<PayloadProblem>,
}

impl Request<'_> {
    fn check(&mut self, field: &RawValue) {
        if let Err(defect) = json::check(field, FIELD_DEPTH) {
            self.defect.get_or_insert(defect);
        }
    }

    /// Returns where the values of the other fields end in `text`, which the request was read from.
    fn value_ends(&self, text: &str) -> impl Iterator<Item = usize> {
        let start = text.as_ptr() as usize;
        self.others.iter().map(move |raw| raw.get().as_ptr() as usize + raw.get().len() - start)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Request<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RequestVisitor;

        impl<'de> Visitor<'de> for RequestVisitor {
            type Value = Request<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut request = Request {
                    input: None,
                    repeated: false,
                    names_previous: false,
                    is_previous_in_tail: false,
                    previous_response_id: None,
                    others: Vec::new(),
                    defect: None,
                };
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.as_str() {
                        "input" => {
                            if let Some(earlier) = request.input.replace(map.next_value()?) {
                                request.repeated = true;
                                request.check(earlier);
                            }
                        }
                        "previous_response_id" => {
                            request.repeated |= std::mem::replace(&mut request.names_previous, true);
                            request.is_previous_in_tail = request.input.is_some();
                            let raw: &RawValue = map.next_value()?;
                            request.check(raw);
                            request.previous_response_id = serde_json::from_str(raw.get()).ok();
                        }
                        _ => {
                            let raw: &RawValue = map.next_value()?;
                            // Unused fields must be valid too, since the peer parses the whole document.
                            request.check(raw);
                            request.others.push(raw);
                        }
                    }
                }
                Ok(request)
            }
        }

        deserializer.deserialize_map(RequestVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Part;

    fn message(text: &str) -> String {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#)
    }

    fn request(items: &[&str], tail: &str) -> Vec<u8> {
        let items: Vec<String> = items.iter().map(|text| message(text)).collect();
        format!("{{\n  \"model\": \"m\",\n  \"input\": [\n    {}\n  ]{tail}}}", items.join(",\n    ")).into_bytes()
    }

    /// Reads requests of one thread and returns the texts of each.
    fn read_all(requests: &[Vec<u8>], verify: bool) -> Vec<(usize, Vec<String>, Option<String>)> {
        let mut reader = RequestReader::new(SchemaVersion::V2, verify);
        let deltas: Vec<RequestDelta> = requests.iter().map(|text| reader.read(&mut text.clone(), true)).collect();
        let normalized = reader.finish().0;
        let mut before: Vec<Option<RunItem>> = Vec::new();
        let mut told = Vec::new();
        for delta in deltas {
            let mut now = before[..delta.shared as usize].to_vec();
            now.extend(delta.rest.iter().map(|slot| match slot {
                Slot::Predecessor(item) => before[item.0 as usize],
                Slot::Normalized(item) => *item,
            }));
            let texts = now.iter().flatten().map(|item| match &normalized[item.0 as usize].parts[0] {
                Part::Text(text) => text.to_string(),
                part => format!("{part:?}"),
            });
            let mut texts: Vec<String> = texts.collect();
            texts.extend(delta.previous_response_id.map(|id| format!("after {id}")));
            let problem = delta.problem.map(|problem| problem.to_string());
            told.push((delta.shared as usize, texts, problem));
            before = now;
        }
        told
    }

    fn shared(told: &[(usize, Vec<String>, Option<String>)]) -> Vec<usize> {
        told.iter().map(|(shared, ..)| *shared).collect()
    }

    #[test]
    fn a_growing_history_is_read_once() {
        let requests =
            [request(&["a", "b"], ""), request(&["a", "b", "c"], ""), request(&["a", "b", "c", "d", "e"], "")];
        let told = read_all(&requests, false);
        assert_eq!(shared(&told), [0, 2, 3]);
        assert_eq!(told[2].1, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn comparing_and_parsing_agree() {
        let requests = [
            request(&["a", "b", "c"], ", \"tools\": [1]"),
            request(&["a", "b2", "c", "d"], ", \"tools\": [1]"),
            request(&["b2", "c", "d", "a"], ", \"tools\": [1]"),
            request(&["b2", "c"], ", \"tools\": [2]"),
            request(&[], ", \"tools\": [2]"),
            request(&["x"], ", \"tools\": [2]"),
            request(&["x", "y"], ", \"input\": []"),
            request(&["x", "y"], ", \"previous_response_id\": \"r\""),
            request(&["x", "y", "z"], ", \"previous_response_id\": \"r\""),
            request(&["x", "y", "z", "u"], ""),
        ];
        let fast = read_all(&requests, false);
        let slow = read_all(&requests, true);
        assert_eq!(
            fast.iter().map(|told| &told.1).collect::<Vec<_>>(),
            slow.iter().map(|told| &told.1).collect::<Vec<_>>()
        );
        assert_eq!(shared(&fast), [0, 1, 0, 2, 0, 0, 0, 0, 2, 0]);
        assert!(fast.iter().all(|told| told.2.is_none()));
    }

    #[test]
    fn what_changes_behind_the_items_costs_no_whole_parse() {
        let tail =
            |n: u32| format!(", \"tools\": [{{\"a\": 1}}], \"n\": 12, \"metadata\": {{\"turn\": {n}}}, \"z\": 1{n}");
        let requests: Vec<_> = (0..4).map(|n| request(&["a", "b", "c", "d"][..=n as usize], &tail(n))).collect();
        let told = read_all(&requests, false);
        assert_eq!(shared(&told), [0, 1, 2, 3]);
        assert_eq!(told[3].1, ["a", "b", "c", "d"]);
        assert!(told.iter().all(|told| told.2.is_none()));
    }

    #[test]
    fn what_is_known_to_be_shared_is_not_needed() {
        let requests = [
            request(&["a", "b"], ", \"n\": 1"),
            request(&["a", "b", "c"], ", \"n\": 2"),
            request(&["a", "x", "c", "d"], ", \"n\": 2"),
            request(&["a"], ""),
        ];
        let whole = read_all(&requests, false);
        let mut reader = RequestReader::new(SchemaVersion::V2, false);
        reader.read(&mut requests[0].clone(), true);
        for (at, pair) in requests.windows(2).enumerate() {
            let known = common_prefix(&pair[0], &pair[1]);
            let start = reader.start_behind(known).expect("the items are shared");
            if start < reader.offset() {
                reader.hold(pair[0][start..].to_vec(), start);
            }
            let delta = reader.read_behind(start, &mut pair[1][start..].to_vec()).expect("reads");
            assert_eq!(
                (delta.shared as usize, delta.rest.len()),
                (whole[at + 1].0, whole[at + 1].1.len() - whole[at + 1].0)
            );
        }
        assert_eq!(reader.start_behind(3), None, "nothing of the items is known");
    }

    #[test]
    fn damage_behind_the_items_is_seen() {
        for tail in [", \"x\": }", ", ", ", \"x\": \"\\ud800\"", " \"x\": 1", ", \"x\": [1}"] {
            let told = read_all(&[request(&["a"], ", \"x\": 1"), request(&["a", "b"], tail)], false);
            assert!(told[1].2.is_some(), "{tail}");
        }
    }

    #[test]
    fn a_cut_request_keeps_what_stands_before_the_cut() {
        let whole = request(&["a", "b", "c"], "");
        let cut = whole[..whole.len() - 60].to_vec();
        let told = read_all(&[cut, whole], false);
        assert_eq!(told[0].1, ["a", "b"]);
        assert!(told[0].2.as_ref().is_some_and(|problem| problem.contains("EOF")), "{told:?}");
        assert_eq!(told[1].1, ["a", "b", "c"]);
    }

    #[test]
    fn a_defect_beside_the_items_does_not_cost_them() {
        for tail in
            [", \"instructions\": \"\\ud800\"".to_owned(), format!(", \"x\": {}{}", "[".repeat(300), "]".repeat(300))]
        {
            let told = read_all(&[request(&["a", "b"], &tail)], false);
            assert_eq!(told[0].1, ["a", "b"]);
            assert!(told[0].2.as_ref().is_some_and(|problem| !problem.contains("object")), "{told:?}");
        }
    }

    #[test]
    fn only_the_request_s_own_input_is_salvaged() {
        let tools = r#"{"tools": [{"input": [{"type": "object"}]}], "input": ["#;
        let cut = format!("{tools}{}, {{\"type\":", message("a"));
        assert_eq!(read_all(&[cut.into_bytes()], false)[0].1, ["a"]);
    }

    #[test]
    fn wrong_shapes_are_told() {
        for text in ["{}", "[]", r#"{"input":3}"#, r#"{"input":[{]}"#, "\u{feff}{}", r#"{"input":[{"a":"\ud800"}]}"#] {
            let told = read_all(&[text.into()], false);
            assert!(told[0].2.is_some(), "{text}");
        }
    }

    #[test]
    fn a_new_item_after_a_shared_prefix_is_validated() {
        let bad = String::from_utf8(request(&["a", "b"], "")).expect("text").replace("\"b\"", "\"\\ud800\"");
        let told = read_all(&[request(&["a"], ""), bad.into_bytes()], false);
        assert_eq!(told[1].1, ["a"]);
        assert!(told[1].2.is_some());
    }
}
