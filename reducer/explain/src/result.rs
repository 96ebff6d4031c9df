//! The text in the payload of a tool's result.

use serde_json::Value;

/// Returns the error of a tool's result, or its output if there is no error.
pub(crate) fn error_text(result: &Value) -> String {
    match result.get("error") {
        Some(Value::String(error)) => error.clone(),
        Some(error) => error.to_string(),
        None => output_text(result),
    }
}

/// Returns the output in a tool's result as text.
pub(crate) fn output_text(result: &Value) -> String {
    let output = result.get("response_item").and_then(|item| item.get("output")).or_else(|| result.get("value"));
    match output {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(members)) if members.contains_key("content") => joined_texts(&members["content"]),
        Some(list @ Value::Array(_)) => joined_texts(list),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// Returns the texts of a list of content parts, one per line.
pub(crate) fn joined_texts(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = texts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}
