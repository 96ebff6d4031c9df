//! Payloads other than requests: reads what each event needs from its file.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json;
use super::normalize::{Normalized, read_item};
use super::plain;
use super::problem::PayloadProblem;
use crate::model::{SchemaVersion, Usage};

/// Depth of a member of a payload.
const MEMBER_DEPTH: usize = 1;

/// A response, complete or partial.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) items: Vec<Normalized>,
    pub(crate) usage: Option<Usage>,
}

pub(crate) fn read_response(text: &[u8], schema: SchemaVersion) -> Result<Response, PayloadProblem> {
    let [output, usage] = json::members(text, ["output_items", "token_usage"])?;
    let items = items(output, "no array `output_items`", schema)?;
    let usage = match usage {
        Some(usage) => match plain::usage(usage) {
            Some(usage) => Some(usage),
            None => read_member(usage)?.as_object().and_then(read_usage),
        },
        None => None,
    };
    Ok(Response { items, usage })
}

/// Parses the value of a member of a payload.
fn read_member(member: &RawValue) -> Result<Value, PayloadProblem> {
    let text = member.get().as_bytes();
    if json::too_deep(text, MEMBER_DEPTH) { Err(PayloadProblem::TooDeep) } else { json::parse(text) }
}

fn read_usage(usage: &Map<String, Value>) -> Option<Usage> {
    let count = |name| usage.get(name).and_then(Value::as_i64).map(|count| u64::try_from(count).unwrap_or(0));
    Some(Usage {
        input_tokens: count("input_tokens")?,
        cached_input_tokens: count("cached_input_tokens")?,
        cache_write_input_tokens: count("cache_write_input_tokens").unwrap_or(0),
        output_tokens: count("output_tokens")?,
        reasoning_output_tokens: count("reasoning_output_tokens")?,
    })
}

/// The histories around a compaction.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) input: Vec<Normalized>,
    pub(crate) replacement: Vec<Normalized>,
}

pub(crate) fn read_checkpoint(text: &[u8], schema: SchemaVersion) -> Result<Checkpoint, PayloadProblem> {
    let [input, replacement] = json::members(text, ["input_history", "replacement_history"])?;
    Ok(Checkpoint {
        input: items(input, "no array `input_history`", schema)?,
        replacement: items(replacement, "no array `replacement_history`", schema)?,
    })
}

/// Reads a list of items, one by one.
fn items(
    list: Option<&RawValue>,
    absent: &'static str,
    schema: SchemaVersion,
) -> Result<Vec<Normalized>, PayloadProblem> {
    let list = list.map(json::elements).transpose()?.flatten().ok_or(PayloadProblem::Shape(absent))?;
    list.into_iter().filter_map(|item| read_item(item.get().as_bytes(), schema).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::limits::MAX_DEPTH;

    #[test]
    fn what_a_response_says_twice_or_too_deeply_is_refused() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let read = |text: String| read_response(text.as_bytes(), SchemaVersion::CURRENT);
        for (member, depth, is_fine) in [
            ("token_usage", MAX_DEPTH - 1, true),
            ("token_usage", MAX_DEPTH, false),
            // The last value of a repeated member counts, but the others must be JSON, too.
            ("output_items", MAX_DEPTH - 1, true),
            ("output_items", MAX_DEPTH, false),
        ] {
            let text = format!("{{\"{member}\": {}, \"output_items\": []}}", nested(depth));
            assert_eq!(read(text).is_ok(), is_fine, "{member} {depth}");
        }
        assert!(read(r#"{"output_items": ["\ud800"], "output_items": []}"#.to_owned()).is_err());
        let checkpoint = r#"{"input_history": ["\ud800"], "input_history": [], "replacement_history": []}"#;
        assert!(read_checkpoint(checkpoint.as_bytes(), SchemaVersion::CURRENT).is_err());
    }
}
