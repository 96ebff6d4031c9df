//! Tools for wire formats that know only functions with plain names and JSON arguments.
//!
//! The namespace of a tool becomes a prefix of the function name. A tool with free text becomes a function with one string
//! argument. Calls are translated back, so that a call looks the same for all wire formats. Tools of other kinds are left
//! out, because the provider would have to run them.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

/// Most characters of a function name.
pub const NAME_CHARS_MAX: usize = 64;

/// Separates a namespace from a name.
const SEPARATOR: &str = "__";

/// Name of the argument with the text for a tool with free text.
const FREE_TEXT: &str = "input";

/// The functions of a request.
#[derive(Debug, Default)]
pub(super) struct Functions {
    list: Vec<Function>,
    by_wire_name: HashMap<String, usize>,
    by_own_name: HashMap<(Option<String>, String), usize>,
    /// Descriptions of namespaces.
    notes: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Function {
    /// Name of the function on the wire.
    pub(super) wire_name: String,
    pub(super) description: String,
    /// JSON schema of the arguments.
    pub(super) parameters: Value,
    namespace: Option<String>,
    name: String,
    takes: Takes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Arguments,
    FreeText,
}

impl Functions {
    /// Returns the functions for the tools of a request.
    pub(super) fn of(tools: &Value) -> Self {
        let mut functions = Self::default();
        let mut taken = HashSet::new();
        for tool in list(tools) {
            if tool["type"] == "namespace" {
                let Some(namespace) = tool["name"].as_str() else { continue };
                if let Some(text) = tool["description"].as_str().filter(|text| !text.trim().is_empty()) {
                    functions.notes.push(format!("Tools whose names begin with `{namespace}{SEPARATOR}`: {text}"));
                }
                for tool in list(&tool["tools"]) {
                    functions.add(Some(namespace), tool, &mut taken);
                }
            } else {
                functions.add(None, tool, &mut taken);
            }
        }
        functions
    }

    fn add(&mut self, namespace: Option<&str>, tool: &Value, taken: &mut HashSet<String>) {
        let Some(name) = tool["name"].as_str() else { return };
        let mut description = tool["description"].as_str().unwrap_or_default().to_owned();
        let (takes, parameters) = match tool["type"].as_str() {
            Some("function") => (Takes::Arguments, parameters(&tool["parameters"])),
            Some("custom") => {
                if let Some(grammar) = tool["format"]["definition"].as_str() {
                    description.push_str("\n\nThe text has to fit this grammar:\n");
                    description.push_str(grammar);
                }
                let text = json!({ "type": "string", "description": "The whole text." });
                let schema = json!({
                    "type": "object", "properties": { FREE_TEXT: text },
                    "required": [FREE_TEXT], "additionalProperties": false,
                });
                (Takes::FreeText, schema)
            }
            _ => return,
        };
        let own = (namespace.map(str::to_owned), name.to_owned());
        if self.by_own_name.contains_key(&own) {
            return;
        }
        let wire_name = free_name(&plain_name(namespace, name), taken);
        self.by_wire_name.insert(wire_name.clone(), self.list.len());
        self.by_own_name.insert(own.clone(), self.list.len());
        let (namespace, name) = own;
        self.list.push(Function { wire_name, description, parameters, namespace, name, takes });
    }

    pub(super) fn list(&self) -> &[Function] {
        &self.list
    }

    /// Returns the descriptions of namespaces, for which the wire formats have no place.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the name of a tool on the wire, even if the tool is no longer offered.
    pub(super) fn wire_name(&self, namespace: Option<&str>, name: &str) -> String {
        let own = (namespace.map(str::to_owned), name.to_owned());
        match self.by_own_name.get(&own) {
            Some(index) => self.list[*index].wire_name.clone(),
            None => plain_name(namespace, name),
        }
    }

    /// Returns the item for a call on the wire. `own_id` is the unique part of its `id`.
    pub(super) fn call(&self, wire_name: &str, call_id: &str, arguments: String, own_id: &str) -> Value {
        let function = self.by_wire_name.get(wire_name).map(|index| &self.list[*index]);
        let mut item = Map::new();
        let takes = function.map_or(Takes::Arguments, |function| function.takes);
        let (kind, prefix) = match takes {
            Takes::Arguments => ("function_call", "fc"),
            Takes::FreeText => ("custom_tool_call", "ctc"),
        };
        item.insert("type".to_owned(), json!(kind));
        item.insert("id".to_owned(), json!(format!("{prefix}_{own_id}")));
        item.insert("call_id".to_owned(), json!(call_id));
        item.insert("name".to_owned(), json!(function.map_or(wire_name, |function| &function.name)));
        if let Some(namespace) = function.and_then(|function| function.namespace.as_deref()) {
            item.insert("namespace".to_owned(), json!(namespace));
        }
        match takes {
            Takes::Arguments => item.insert("arguments".to_owned(), json!(arguments)),
            Takes::FreeText => item.insert("input".to_owned(), json!(free_text(arguments))),
        };
        Value::Object(item)
    }
}

/// Returns the arguments for a free text.
pub(super) fn free_text_arguments(text: &str) -> String {
    json!({ FREE_TEXT: text }).to_string()
}

/// Returns the text in the arguments of a tool with free text. If they are not the expected object, they are the text
/// themselves: models sometimes ignore the format.
fn free_text(arguments: String) -> String {
    match serde_json::from_str::<Value>(&arguments) {
        Ok(Value::String(text)) => text,
        Ok(Value::Object(mut members)) => match members.remove(FREE_TEXT) {
            Some(Value::String(text)) => text,
            _ => arguments,
        },
        _ => arguments,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Members that services reject at the top level of a schema.
const NOT_AT_THE_TOP: [&str; 5] = ["oneOf", "anyOf", "allOf", "not", "enum"];

/// Returns a schema that all services accept: an object with its properties.
fn parameters(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Object(members) => members.clone(),
        _ => Map::new(),
    };
    schema.retain(|name, _| !NOT_AT_THE_TOP.contains(&name.as_str()));
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
    Value::Object(schema)
}

/// Returns a name of characters that all services accept.
fn plain_name(namespace: Option<&str>, name: &str) -> String {
    let whole = match namespace {
        Some(namespace) => format!("{namespace}{SEPARATOR}{name}"),
        None => name.to_owned(),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let plain: String =
        whole.chars().take(NAME_CHARS_MAX).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if plain.is_empty() { "unnamed".to_owned() } else { plain }
}

/// Returns a name that no other function has.
fn free_name(name: &str, taken: &mut HashSet<String>) -> String {
    let mut free = name.to_owned();
    let mut number = 2;
    while taken.contains(&free) {
        let end = format!("_{number}");
        free = name[..name.len().min(NAME_CHARS_MAX - end.len())].to_owned() + &end;
        number += 1;
    }
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> Value {
        json!({ "type": "function", "name": name, "description": name, "parameters": { "type": "object" } })
    }

    #[test]
    fn tools_of_all_kinds_become_functions_and_calls_find_back() {
        let functions = Functions::of(&json!([
            function("plain"),
            { "type": "custom", "name": "patch", "description": "p", "format": { "type": "grammar", "definition": "start: X" } },
            { "type": "namespace", "name": "team", "description": "Others.", "tools": [function("ask"), 7] },
            { "type": "web_search" },
            function("plain"),
            function("a.b"),
            function("a_b"),
        ]));
        let names: Vec<&str> = functions.list().iter().map(|function| function.wire_name.as_str()).collect();
        assert_eq!(names, ["plain", "patch", "team__ask", "a_b", "a_b_2"]);
        assert_eq!(functions.notes(), ["Tools whose names begin with `team__`: Others."]);
        assert!(functions.list()[1].description.ends_with("start: X"));
        assert_eq!(functions.list()[0].parameters, json!({ "type": "object", "properties": {} }));
        for function in functions.list() {
            let item = functions.call(&function.wire_name, "c", "{}".to_owned(), "1");
            let (namespace, name) =
                (item.get("namespace").and_then(Value::as_str), item["name"].as_str().expect("a name"));
            assert_eq!(functions.wire_name(namespace, name), function.wire_name);
        }
        let call = functions.call("team__ask", "c", "{\"a\":1}".to_owned(), "1");
        let expected = json!({ "type": "function_call", "id": "fc_1", "call_id": "c", "name": "ask", "namespace": "team", "arguments": "{\"a\":1}" });
        assert_eq!(call, expected);
        assert_eq!(functions.call("nobody", "c", "x".to_owned(), "1")["name"], "nobody");
        assert_eq!(functions.wire_name(Some("gone"), "tool"), "gone__tool");
    }

    #[test]
    fn odd_schemas_become_those_of_objects() {
        let odd = json!({ "type": "array", "properties": null, "anyOf": [{}], "enum": [1], "required": ["a"] });
        assert_eq!(parameters(&odd), json!({ "type": "object", "properties": {}, "required": ["a"] }));
    }

    #[test]
    fn free_text_is_found_also_without_its_form() {
        let functions = Functions::of(&json!([{ "type": "custom", "name": "patch" }]));
        for arguments in [r#"{"input":"*** x"}"#, r#""*** x""#, "*** x"] {
            let item = functions.call("patch", "c", arguments.to_owned(), "1");
            assert_eq!(
                item,
                json!({ "type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "patch", "input": "*** x" })
            );
        }
        assert_eq!(functions.call("patch", "c", r#"{"a":1}"#.to_owned(), "1")["input"], r#"{"a":1}"#);
        assert_eq!(free_text_arguments("a\"b"), r#"{"input":"a\"b"}"#);
    }

    #[test]
    fn long_names_stay_apart() {
        let long = "x".repeat(NAME_CHARS_MAX + 10);
        let functions = Functions::of(&json!([function(&long), function(&(long.clone() + "y"))]));
        let names: Vec<&str> = functions.list().iter().map(|function| function.wire_name.as_str()).collect();
        assert!(names.iter().all(|name| name.len() <= NAME_CHARS_MAX) && names[0] != names[1], "{names:?}");
    }
}
