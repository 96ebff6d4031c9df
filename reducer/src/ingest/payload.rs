//! Payloads other than requests: reads what each event needs from its file.

use serde_json::{Map, Value};

use super::normalize::{Normalized, normalize};
use super::problem::PayloadProblem;
use crate::model::{SchemaVersion, Usage};

/// A response, complete or partial.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) items: Vec<Normalized>,
    pub(crate) usage: Option<Usage>,
}

pub(crate) fn read_response(value: &Value, schema: SchemaVersion) -> Result<Response, PayloadProblem> {
    let items = items(value, "output_items", "no array `output_items`", schema)?;
    let usage = value.get("token_usage").and_then(Value::as_object).and_then(read_usage);
    Ok(Response { items, usage })
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

pub(crate) fn read_checkpoint(value: &Value, schema: SchemaVersion) -> Result<Checkpoint, PayloadProblem> {
    Ok(Checkpoint {
        input: items(value, "input_history", "no array `input_history`", schema)?,
        replacement: items(value, "replacement_history", "no array `replacement_history`", schema)?,
    })
}

fn items(
    value: &Value,
    field: &str,
    absent: &'static str,
    schema: SchemaVersion,
) -> Result<Vec<Normalized>, PayloadProblem> {
    let items = value.get(field).and_then(Value::as_array).ok_or(PayloadProblem::Shape(absent))?;
    Ok(items.iter().filter_map(|item| normalize(item, schema)).collect())
}
