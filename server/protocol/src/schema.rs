//! The protocol as a JSON schema: one document with all types, generated from the table of methods.
//!
//! There are two sets. The stable set contains what every client may use, the experimental set contains everything. A
//! type is in a set if a message of the set needs it. A field that only experimental connections receive or may set is
//! not in the stable set.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::declare::SchemaSet;
use crate::envelope::{RequestId, TraceContext};
use crate::error::RpcError;
use crate::methods::{
    METHOD_SHAPES, METHODS, NOTIFICATION_SHAPES, NOTIFICATIONS, SERVER_REQUEST_SHAPES, SERVER_REQUESTS,
};
use crate::shape::Shape;

/// Fields of results, and of types within results, that belong to the experimental set only.
///
/// Results are sent with all fields to every connection; the stable schema just does not list these fields. The
/// experimental fields of params are declared with the methods.
pub const EXPERIMENTAL_RESULT_FIELDS: &[(&str, &[&str])] = &[
    ("GetAccountResponse", &["workspaceRouting"]),
    ("Thread", &["attachedToThreadId", "canAcceptDirectInput", "daybreakEnabled", "environments", "extra"]),
    ("ThreadForkResponse", &["activePermissionProfile", "multiAgentMode", "runtimeWorkspaceRoots"]),
    ("ThreadItemEntry", &["outputDeferred"]),
    ("ThreadItemOutputDeferral", &["commandExecution", "mcpToolCall"]),
    ("ThreadListResponse", &["readStates"]),
    ("ThreadReadResponse", &["readState"]),
    (
        "ThreadResumeResponse",
        &["activePermissionProfile", "initialTurnsPage", "multiAgentMode", "runtimeWorkspaceRoots"],
    ),
    ("ThreadSettings", &["environments", "multiAgentMode"]),
    ("ThreadStartResponse", &["activePermissionProfile", "multiAgentMode", "runtimeWorkspaceRoots"]),
];

/// Returns the fields that the stable set does not contain, by type.
pub(crate) fn experimental_fields() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let params = METHODS.iter().map(|method| (method.params, method.experimental_fields));
    let requests = SERVER_REQUESTS.iter().map(|request| (request.params, request.experimental_fields));
    params.chain(requests).chain(EXPERIMENTAL_RESULT_FIELDS.iter().copied())
}

/// Returns the JSON schema (draft 7) of a part of the protocol.
///
/// `definitions` contains every type by its name, and `ClientRequest`, `ClientNotification`, `ServerNotification` and
/// `ServerRequest` with one alternative per method. The member `x-result` of a method refers to the type of its result.
#[must_use]
pub fn json(set: SchemaSet) -> Value {
    let mut generator = SchemaSettings::draft07().into_generator();
    let request_id = reference(&mut generator, Shape::of::<RequestId>());
    let trace = reference(&mut generator, Shape::of::<TraceContext>());
    let error = reference(&mut generator, Shape::of::<RpcError>());

    let client_requests = METHODS.iter().zip(METHOD_SHAPES).filter(|(info, _)| set.contains(info.stability));
    let client_requests = client_requests.map(|(info, (params, result))| {
        let params = (info.params != "NoParams").then(|| reference(&mut generator, *params));
        let result = reference(&mut generator, *result);
        message(info.name, Some(&request_id), params, &[("trace", &trace)], Some(result))
    });
    let client_requests: Vec<Value> = client_requests.collect();

    let notifications = NOTIFICATIONS.iter().zip(NOTIFICATION_SHAPES).filter(|(info, _)| set.contains(info.stability));
    let emitted =
        json!({"type": "integer", "format": "int64", "description": "When it was sent, in Unix milliseconds."});
    let notifications = notifications.map(|(info, params)| {
        let params = reference(&mut generator, *params);
        message(info.name, None, Some(params), &[("emittedAtMs", &emitted)], None)
    });
    let notifications: Vec<Value> = notifications.collect();

    let requests = SERVER_REQUESTS.iter().zip(SERVER_REQUEST_SHAPES).filter(|(info, _)| set.contains(info.stability));
    let requests = requests.map(|(info, (params, result))| {
        let params = reference(&mut generator, *params);
        let result = reference(&mut generator, *result);
        message(info.name, Some(&request_id), Some(params), &[], Some(result))
    });
    let requests: Vec<Value> = requests.collect();

    let mut definitions = generator.take_definitions(true);
    if set == SchemaSet::Stable {
        for (name, fields) in experimental_fields() {
            if let Some(definition) = definitions.get_mut(name) {
                remove_fields(definition, fields);
            }
        }
    }
    definitions.insert("ClientRequest".to_owned(), json!({"oneOf": client_requests}));
    definitions
        .insert("ClientNotification".to_owned(), json!({"oneOf": [message("initialized", None, None, &[], None)]}));
    definitions.insert("ServerNotification".to_owned(), json!({"oneOf": notifications}));
    definitions.insert("ServerRequest".to_owned(), json!({"oneOf": requests}));
    definitions.insert(
        "Response".to_owned(),
        json!({
            "type": "object",
            "properties": {"id": request_id, "result": true},
            "required": ["id", "result"],
        }),
    );
    definitions.insert(
        "ErrorResponse".to_owned(),
        json!({
            "type": "object",
            "properties": {"id": request_id, "error": error},
            "required": ["id", "error"],
        }),
    );
    let messages =
        ["ClientRequest", "ClientNotification", "ServerNotification", "ServerRequest", "Response", "ErrorResponse"];
    let kept = reachable(&definitions, &messages);
    let mut definitions: Vec<(String, Value)> =
        definitions.into_iter().filter(|(name, _)| kept.contains(name)).collect();
    definitions.sort_by(|left, right| left.0.cmp(&right.0));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "AppServerProtocol",
        "anyOf": messages.map(|name| json!({"$ref": format!("#/definitions/{name}")})),
        "definitions": definitions.into_iter().collect::<Map<String, Value>>(),
    })
}

/// Adds a type to the definitions and returns a reference to it.
fn reference(generator: &mut SchemaGenerator, shape: Shape) -> Value {
    (shape.json)(generator).to_value()
}

/// Returns the schema of a message with a method.
fn message(
    method: &str,
    id: Option<&Value>,
    params: Option<Value>,
    optional: &[(&str, &Value)],
    result: Option<Value>,
) -> Value {
    let mut properties = Map::new();
    let mut required = vec!["method"];
    if let Some(id) = id {
        properties.insert("id".to_owned(), id.clone());
        required.push("id");
    }
    properties.insert("method".to_owned(), json!({"type": "string", "enum": [method]}));
    if let Some(params) = params {
        properties.insert("params".to_owned(), params);
        required.push("params");
    }
    for (name, schema) in optional {
        properties.insert((*name).to_owned(), (*schema).clone());
    }
    let mut message = json!({"title": method, "type": "object", "properties": properties, "required": required});
    if let Some(result) = result {
        message["x-result"] = result;
    }
    message
}

/// Removes properties from the schema of an object.
fn remove_fields(schema: &mut Value, fields: &[&str]) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !fields.contains(&name.as_str()));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !fields.contains(&name)));
    }
}

/// Returns the names of some definitions and of all definitions that they refer to, directly or indirectly.
fn reachable(definitions: &Map<String, Value>, roots: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<String> = roots.iter().map(|&name| name.to_owned()).collect();
    while let Some(name) = waiting.pop() {
        if let Some(definition) = definitions.get(&name)
            && found.insert(name)
        {
            references(definition, &mut waiting);
        }
    }
    found
}

/// Collects the names of the definitions that a schema refers to.
fn references(schema: &Value, into: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                match member.as_str().and_then(|target| target.strip_prefix("#/definitions/")) {
                    Some(name) if key == "$ref" => into.push(name.to_owned()),
                    _ => references(member, into),
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| references(member, into)),
        _ => {}
    }
}
