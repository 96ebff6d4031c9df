//! Converts the schemas of tools to a form that every provider accepts.
//!
//! If a provider does not accept one schema, it refuses the whole request, and every later request of the thread. So
//! keywords that providers refuse are removed, and a tool whose schema is too large is not offered. Removing keywords
//! only makes a schema accept more; the server itself validates the arguments.

use serde_json::{Map, Value, json};

/// Most bytes of the schema of one tool, as JSON. A tool with a larger schema is left out.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// Most bytes of all schemas of one server, as JSON. Further tools are left out.
pub const MAX_SCHEMAS_BYTES: usize = 512 * 1024;

/// Most levels of a schema. A deeper schema is replaced by one that accepts everything.
pub const MAX_SCHEMA_DEPTH: usize = 32;

/// The JSON types.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Keywords that providers refuse at the top level, where the schema must describe an object.
const NOT_AT_THE_TOP: [&str; 9] = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else"];

/// Returns the schema of a tool's arguments. It describes an object with properties, and has no keywords that providers
/// refuse.
pub(crate) fn parameters(schema: &Map<String, Value>) -> Value {
    let mut properties = Map::new();
    // Alternatives at the top level are not allowed. Their properties are merged, so that the model still knows the
    // arguments.
    for branch in ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| schema.get(*name)?.as_array()).flatten() {
        for (name, property) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
            properties.entry(name.as_str()).or_insert_with(|| property.clone());
        }
    }
    let mut whole = schema.clone();
    whole.retain(|name, _| !NOT_AT_THE_TOP.contains(&name.as_str()) && name != "$ref");
    whole.insert("type".to_owned(), json!("object"));
    if let Some(Value::Object(own)) = whole.remove("properties") {
        properties.extend(own);
    }
    whole.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(cleaned(whole, 0))
}

fn cleaned(mut schema: Map<String, Value>, depth: usize) -> Map<String, Value> {
    if depth >= MAX_SCHEMA_DEPTH {
        return Map::new();
    }
    schema.retain(|name, value| makes_sense(name, value));
    for (name, value) in &mut schema {
        match (name.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(members),
            ) => {
                for member in members.values_mut() {
                    *member = inner(member.take(), depth);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(members)) => {
                for member in members {
                    *member = inner(member.take(), depth);
                }
            }
            ("items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames", value) => {
                *value = inner(value.take(), depth);
            }
            ("additionalProperties" | "unevaluatedProperties", value) if !value.is_boolean() => {
                *value = inner(value.take(), depth);
            }
            _ => {}
        }
    }
    let is_list = match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_list {
        schema.entry("items").or_insert_with(|| json!({}));
    }
    schema
}

/// Returns a nested schema. Anything that is not a schema is replaced by one that accepts everything.
fn inner(schema: Value, depth: usize) -> Value {
    match schema {
        Value::Object(members) => Value::Object(cleaned(members, depth + 1)),
        _ => json!({}),
    }
}

/// Returns whether a keyword has a valid value. Older drafts of JSON Schema allowed other values.
fn makes_sense(name: &str, value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let is_full = |value: &Value| value.as_array().is_some_and(|values| !values.is_empty());
    match name {
        "type" => is_type(value) || is_full(value) && value.as_array().into_iter().flatten().all(is_type),
        "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => value.is_object(),
        "enum" | "anyOf" | "oneOf" | "allOf" | "prefixItems" => is_full(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "title" | "description" | "pattern" | "format" | "$ref" | "$schema" | "$id" => value.is_string(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: &Value) -> Value {
        parameters(schema.as_object().expect("an object"))
    }

    #[test]
    fn a_schema_becomes_one_of_an_object() {
        let empty = json!({ "type": "object", "properties": {} });
        for odd in [
            json!({}),
            json!({ "type": null, "properties": null }),
            json!({ "type": ["object", "null"], "properties": [] }),
            json!({ "type": "string", "enum": ["a"], "not": {}, "const": 1, "$ref": "#/$defs/a" }),
        ] {
            assert_eq!(shown(&odd), empty, "{odd}");
        }
        let plain = json!({
            "type": "object", "properties": { "a": { "type": "string", "enum": ["x"] } }, "required": ["a"],
            "additionalProperties": false, "$defs": { "b": { "anyOf": [{ "type": "null" }] } },
        });
        assert_eq!(shown(&plain), plain);
    }

    #[test]
    fn alternatives_at_the_top_leave_their_properties() {
        let schema = json!({
            "properties": { "a": { "type": "string" } },
            "anyOf": [{ "properties": { "a": { "type": "null" }, "b": { "type": "integer" } } }, { "required": ["b"] }, 7],
        });
        let expected = json!({
            "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "integer" } },
        });
        assert_eq!(shown(&schema), expected);
    }

    #[test]
    fn what_makes_no_sense_is_lost() {
        let schema = json!({ "required": [1], "properties": {
            "any": true,
            "list": { "type": "array" },
            "maybe": { "type": ["null", "array"], "items": [{ "type": "string" }] },
            "old": { "type": "any", "required": true, "exclusiveMinimum": true, "minLength": -1, "description": "d" },
            "choice": { "anyOf": [{ "type": "array", "items": { "type": "array" } }, "x"], "enum": [] },
        } });
        let expected = json!({ "type": "object", "properties": {
            "any": {},
            "list": { "type": "array", "items": {} },
            "maybe": { "type": ["null", "array"], "items": {} },
            "old": { "description": "d" },
            "choice": { "anyOf": [{ "type": "array", "items": { "type": "array", "items": {} } }, {}] },
        } });
        assert_eq!(shown(&schema), expected);
    }

    #[test]
    fn what_lies_too_deep_may_be_anything() {
        let mut schema = json!({ "type": "string" });
        for _ in 0..MAX_SCHEMA_DEPTH + 3 {
            schema = json!({ "properties": { "a": schema } });
        }
        let mut shown = &shown(&schema);
        let mut depth = 0;
        while let Some(inner) = shown.pointer("/properties/a") {
            (shown, depth) = (inner, depth + 1);
        }
        assert_eq!((depth, shown), (MAX_SCHEMA_DEPTH, &json!({})));
    }
}
