//! Values that a client offers its user for the argument of a prompt or of a resource.

use serde_json::{Map, Value, json};

use crate::library::{LATEST, Library, Shelf};
use crate::message::RpcError;
use crate::{prompts, resources};

/// Most values of one answer, as the protocol has it.
pub const MAX_COMPLETIONS: usize = 100;

/// Returns the result of `completion/complete`.
pub(crate) fn complete(library: &dyn Library, params: &Map<String, Value>) -> Result<Value, RpcError> {
    let member = |object: &str, name: &str| {
        let text = params.get(object).and_then(|object| object.get(name)).and_then(Value::as_str);
        text.ok_or_else(|| RpcError::invalid_params(format!("`{object}.{name}` has to be a text")))
    };
    let kind = member("ref", "type")?;
    let of = match kind {
        "ref/prompt" => member("ref", "name")?,
        "ref/resource" => member("ref", "uri")?,
        _ => return Err(RpcError::invalid_params("`ref.type` has to be `ref/prompt` or `ref/resource`")),
    };
    let (argument, begun) = (member("argument", "name")?, member("argument", "value")?);
    let mut values = match (kind, of, argument) {
        ("ref/prompt", prompts::DIAGNOSE, "session") | ("ref/resource", resources::PAGE_TEMPLATE, "id") => {
            let shelf = Shelf::of(library).map_err(|problem| RpcError::busy(problem.text()))?;
            let ids = shelf.0.into_iter().map(|entry| entry.id);
            std::iter::once(LATEST.to_owned()).chain(ids).filter(|id| id.starts_with(begun)).collect::<Vec<_>>()
        }
        ("ref/resource", resources::TABLE_TEMPLATE, "table") => {
            let names = resources::table_names().into_iter().filter(|name| name.starts_with(begun));
            names.map(str::to_owned).collect()
        }
        // A resource without arguments is named by its address.
        ("ref/resource", resources::SCHEMA, _) => Vec::new(),
        _ => {
            let of = trace_text::quoted(of, 120);
            let argument = trace_text::quoted(argument, 60);
            return Err(RpcError::invalid_params(format!("{of} has no argument {argument} that is completed")));
        }
    };
    let total = values.len();
    values.truncate(MAX_COMPLETIONS);
    Ok(json!({"completion": {"values": values, "total": total, "hasMore": total > MAX_COMPLETIONS}}))
}
