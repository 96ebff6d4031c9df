//! Tests the types with the peer's schema: they must read everything that it allows, and write only what it allows.
//!
//! Values come from a small generator with a fixed seed that makes values for a JSON schema. With the peer's schema it
//! makes what other clients and servers may send. With the schema of this crate it makes what its types can represent.
//! In both cases the value is read by the type, written again and validated by the peer's schema, which is in
//! `peer-schema/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::declare::{Experimental, SchemaSet, Stability, Tier};
use crate::methods::{
    ClientRequest, METHOD_SHAPES, METHODS, NOTIFICATION_SHAPES, NOTIFICATIONS, SERVER_REQUEST_SHAPES, SERVER_REQUESTS,
    ServerNotification, ServerRequest, UNAVAILABLE_METHODS, UNSENT_NOTIFICATIONS,
};
use crate::schema;
use crate::shape::Shape;

/// Number of values for each type.
const SAMPLES: u32 = 60;

/// Places where the types of this crate accept any JSON and the peer's schema is stricter. This server writes nothing
/// there.
const FREE: &[&str] = &["/history", "/config", "/requirements", "/marketplaces", "/marketplaceLoadErrors"];

/// A request whose form is free JSON in this crate. The peer's schema reports errors for the request as a whole, not
/// for a place in it.
const FREE_FORM: &str = "mcpServer/elicitation/request params";

/// Fields that only this server has, with their types. Clients of the peer ignore them.
const OWN_FIELDS: &[(&str, &str)] = &[
    ("CommandExecutionRequestApprovalParams", "rights"),
    ("McpServerOauthLoginParams", "device"),
    ("McpServerOauthLoginResponse", "userCode"),
    ("McpServerOauthLoginResponse", "verificationUrl"),
];

/// Notifications that are stable in the peer's schema but only sent to connections with the experimental capability.
const WITHHELD: &[&str] = &["thread/readState/changed", "thread/settings/updated"];

/// Reads a file of the peer's schema.
fn peer(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peer-schema").join(name);
    serde_json::from_str(&fs::read_to_string(path).expect("it is in the repository")).expect("JSON")
}

/// A small random number generator with a seed, so that the samples are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is there")
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// Makes values that a schema allows.
struct Generator<'a> {
    document: &'a Value,
    random: Random,
}

impl Generator<'_> {
    fn value(&mut self, schema: &Value, depth: u32) -> Value {
        let Some(schema) = schema.as_object() else { return self.anything() };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            if target.ends_with("/AbsolutePathBuf") || target.ends_with("/AbsolutePath") {
                return json!(format!("/tmp/{}", self.random.below(9)));
            }
            let definition = self.document.pointer(target.trim_start_matches('#')).expect("it is there");
            return self.value(definition, depth);
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            assert_eq!(all.len(), 1);
            let mut value = self.value(&all[0], depth);
            self.add_common(&mut value, schema, depth);
            return value;
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values[self.random.below(values.len())].clone();
        }
        let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key).and_then(Value::as_array));
        let Some(alternatives) = alternatives else { return self.typed(schema, depth) };
        let alternative = match depth {
            // At great depth, take the shortest alternative: null or a string.
            8.. => alternatives.iter().find(|one| one["type"] == "null" || one["type"] == "string"),
            _ => None,
        };
        let alternative = match alternative {
            Some(alternative) => alternative,
            None => &alternatives[self.random.below(alternatives.len())],
        };
        let mut value = self.value(alternative, depth);
        self.add_common(&mut value, schema, depth);
        value
    }

    /// Adds the members that an object with alternatives has in all of them.
    fn add_common(&mut self, value: &mut Value, schema: &Map<String, Value>, depth: u32) {
        if let (Some(members), Value::Object(common)) = (value.as_object_mut(), self.object(schema, depth)) {
            for (name, member) in common {
                members.entry(name).or_insert(member);
            }
        }
    }

    fn typed(&mut self, schema: &Map<String, Value>, depth: u32) -> Value {
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) if depth >= 8 && kinds.contains(&json!("null")) => json!("null"),
            Some(Value::Array(kinds)) => kinds[self.random.below(kinds.len())].clone(),
            Some(kind) => kind.clone(),
            None if schema.contains_key("properties") => json!("object"),
            None => return self.anything(),
        };
        match kind.as_str().expect("the schema has it") {
            "null" => Value::Null,
            "boolean" => json!(self.random.one_in(2)),
            "integer" => self.integer(schema),
            "number" => json!([0.0, 0.5, 1.0, 12345.678][self.random.below(4)]),
            "string" => json!(["a", "B c", "täxt\n", "0", "{\"x\": 1}"][self.random.below(5)]),
            "array" => {
                let length = if depth >= 8 { 0 } else { self.random.below(3) };
                let items = schema.get("items").unwrap_or(&Value::Bool(true));
                (0..length).map(|_| self.value(items, depth + 1)).collect()
            }
            "object" => self.object(schema, depth),
            other => panic!("a schema of type {other}"),
        }
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> Value {
        let choices: &[i64] = match schema.get("format").and_then(Value::as_str) {
            Some("uint16") => &[0, 1, 80, 65535],
            Some("uint32") => &[0, 1, 4_294_967_295],
            Some("int32") => &[-2_147_483_648, -1, 0, 1, 2_147_483_647],
            Some("uint" | "uint64") => &[0, 1, i64::MAX],
            _ => &[i64::MIN, -1, 0, 1, 1_767_225_600_000, i64::MAX],
        };
        let chosen = choices[self.random.below(choices.len())];
        let least = schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::MIN);
        #[expect(clippy::cast_precision_loss, reason = "the bounds of the schemas are small")]
        if (chosen as f64) < least { json!(1) } else { json!(chosen) }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: u32) -> Value {
        let mut members = Map::new();
        let required: BTreeSet<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(name.as_str()) || (depth < 8 && self.random.one_in(2)) {
                members.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        if let Some(Value::Object(additional)) = schema.get("additionalProperties") {
            for name in ["one", "two"].iter().take(self.random.below(3)) {
                members.insert((*name).to_owned(), self.value(&Value::Object(additional.clone()), depth + 1));
            }
        }
        Value::Object(members)
    }

    fn anything(&mut self) -> Value {
        match self.random.below(6) {
            0 => json!({"any": [1, 2.5, null, {"thing": "x"}]}),
            1 => json!([true, "y"]),
            2 => json!(18_446_744_073_709_551_615_u64),
            3 => json!("z"),
            4 => json!(0.25),
            _ => json!({}),
        }
    }
}

/// Makes a validator for one definition and the definitions that it refers to.
fn validator(document: &Value, name: &str) -> jsonschema::Validator {
    fn collect<'a>(schema: &'a Value, into: &mut Vec<&'a str>) {
        match schema {
            Value::Object(members) => {
                for (key, member) in members {
                    match member.as_str() {
                        Some(target) if key == "$ref" => into.push(target),
                        _ => collect(member, into),
                    }
                }
            }
            Value::Array(members) => members.iter().for_each(|member| collect(member, into)),
            _ => {}
        }
    }
    let root = format!("#/definitions/{name}");
    let mut needed: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut waiting = vec![root.as_str()];
    while let Some(target) = waiting.pop() {
        let definition = document.pointer(target.trim_start_matches('#')).unwrap_or_else(|| panic!("no {target}"));
        if needed.insert(target, definition).is_none() {
            collect(definition, &mut waiting);
        }
    }
    let mut definitions = json!({"v2": {}});
    for (target, definition) in needed {
        let path = target.trim_start_matches("#/definitions/");
        match path.strip_prefix("v2/") {
            Some(name) => definitions["v2"][name] = definition.clone(),
            None => definitions[path] = definition.clone(),
        }
    }
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": root,
        "definitions": definitions,
    });
    jsonschema::options().with_draft(jsonschema::Draft::Draft7).build(&schema).expect("it is there")
}

/// Returns the shapes of all types on the wire, with the names of the types in the peer's list.
fn shapes(methods: &Value) -> Vec<(String, String, String, Shape)> {
    let mut shapes = Vec::new();
    let mut add = |what: &str, list: &str, name: &str, part: &str, ours: &str, shape: Shape| {
        if let Some(theirs) = methods[list][name][part].as_str() {
            shapes.push((format!("{name} {what}"), theirs.to_owned(), ours.to_owned(), shape));
        }
    };
    for (info, (params, result)) in METHODS.iter().zip(METHOD_SHAPES) {
        add("params", "clientRequests", info.name, "params", info.params, *params);
        add("result", "clientRequests", info.name, "result", info.result, *result);
    }
    for (info, params) in NOTIFICATIONS.iter().zip(NOTIFICATION_SHAPES) {
        add("params", "serverNotifications", info.name, "params", info.params, *params);
    }
    for (info, (params, result)) in SERVER_REQUESTS.iter().zip(SERVER_REQUEST_SHAPES) {
        add("params", "serverRequests", info.name, "params", info.params, *params);
        add("result", "serverRequests", info.name, "result", info.result, *result);
    }
    shapes
}

/// Reads samples with the types, writes them and validates the result with the peer's schema. Returns the violations.
fn hold(source: &Value, name_in_source: fn(theirs: &str, ours: &str) -> String, seed: u64) -> Vec<String> {
    let (methods, document) = (peer("methods.json"), peer("experimental.schemas.json"));
    let mut findings = Vec::new();
    for (what, theirs, ours, shape) in shapes(&methods) {
        let validator = validator(&document, &theirs);
        let mut generator = Generator { document: source, random: Random(seed) };
        let definition = json!({"$ref": format!("#/definitions/{}", name_in_source(&theirs, &ours))});
        for _ in 0..SAMPLES {
            let sample = generator.value(&definition, 0);
            let raw = RawValue::from_string(sample.to_string()).expect("JSON");
            match (shape.rewrite)(&raw) {
                Err(error) => findings.push(format!("{what}: cannot read {raw}: {error}")),
                Ok(written) => {
                    if let Err(error) = validator.validate(&written)
                        && what != FREE_FORM
                        && !FREE.iter().any(|place| error.instance_path().as_str().starts_with(place))
                    {
                        findings.push(format!("{what}: {written} at {}: {error}", error.instance_path()));
                    }
                }
            }
        }
    }
    findings
}

/// Fails with the first violations, if there are any.
fn none(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), {
        let mut heads = BTreeSet::new();
        let first = findings.iter().filter(|finding| heads.insert(finding.split(':').next()));
        first.take(20).map(|finding| finding.chars().take(600).collect()).collect::<Vec<String>>().join("\n")
    });
}

#[test]
fn what_the_peer_may_send_is_read_and_written_as_it_allows() {
    let document = peer("experimental.schemas.json");
    none(&hold(&document, |theirs, _| theirs.to_owned(), 0x2545_F491_4F6C_DD1D));
}

#[test]
fn what_our_types_can_say_is_allowed_by_the_peer() {
    let document = schema::json(SchemaSet::Experimental);
    none(&hold(&document, |_, ours| ours.to_owned(), 0x9E37_79B9_7F4A_7C15));
}

#[test]
fn what_clients_may_ask_is_decoded_and_written_again() {
    let (methods, document) = (peer("methods.json"), peer("experimental.schemas.json"));
    let mut findings = Vec::new();
    let mut generator = Generator { document: &document, random: Random(0xDEAD_BEEF_CAFE_F00D) };
    for info in METHODS.iter().filter(|info| matches!(info.tier, Tier::One | Tier::Two)) {
        let params = methods["clientRequests"][info.name]["params"].as_str();
        for _ in 0..SAMPLES {
            let raw = params.map(|params| {
                let sample = generator.value(&json!({"$ref": format!("#/definitions/{params}")}), 0);
                RawValue::from_string(sample.to_string()).expect("JSON")
            });
            match ClientRequest::decode(info.name, raw.as_deref(), Experimental::Enabled) {
                Ok(request) => {
                    assert_eq!(request.method(), info.name);
                    let _ = request.scope();
                    let written = request.params().expect("JSON").to_string();
                    let written = RawValue::from_string(written).expect("JSON");
                    let again = ClientRequest::decode(info.name, Some(&written), Experimental::Enabled);
                    assert_eq!(again.expect("it decodes"), request);
                }
                Err(error) => findings.push(format!("{}: {raw:?}: {error}", info.name)),
            }
        }
    }
    none(&findings);
}

#[test]
fn every_method_is_declared_as_the_peer_has_it() {
    let methods = peer("methods.json");
    let stability = |entry: &Value| if entry["stable"] == true { Stability::Stable } else { Stability::Experimental };
    let local = |name: &Value| name.as_str().map_or("NoParams", |name| name.trim_start_matches("v2/")).to_owned();

    let theirs: BTreeMap<_, _> = methods["clientRequests"].as_object().expect("the schema has it").iter().collect();
    for (name, entry) in &theirs {
        if entry["tier"] == 3 {
            let known =
                UNAVAILABLE_METHODS.iter().find(|known| known.name == *name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(known.stability, stability(entry), "{name}");
            continue;
        }
        let info = METHODS.iter().find(|info| info.name == *name).unwrap_or_else(|| panic!("{name} is not declared"));
        assert_eq!(info.stability, stability(entry), "{name}");
        assert_eq!(info.tier, if entry["tier"] == 1 { Tier::One } else { Tier::Two }, "{name}");
        assert_eq!((info.params, info.result), (&*local(&entry["params"]), &*local(&entry["result"])), "{name}");
    }
    for info in METHODS {
        assert_eq!(
            theirs.contains_key(&info.name.to_owned()),
            matches!(info.tier, Tier::One | Tier::Two),
            "{}",
            info.name
        );
    }

    for (name, entry) in methods["serverNotifications"].as_object().expect("the schema has it") {
        let Some(info) = NOTIFICATIONS.iter().find(|info| info.name == name) else {
            assert!(UNSENT_NOTIFICATIONS.contains(&name.as_str()), "{name} is not declared");
            continue;
        };
        let expected = if WITHHELD.contains(&info.name) { Stability::Experimental } else { stability(entry) };
        assert_eq!(info.stability, expected, "{name}");
        assert_eq!(info.params, local(&entry["params"]), "{name}");
    }
    for (name, entry) in methods["serverRequests"].as_object().expect("the schema has it") {
        let info = SERVER_REQUESTS.iter().find(|info| info.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(info.stability, stability(entry), "{name}");
        assert_eq!((info.params, info.result), (&*local(&entry["params"]), &*local(&entry["result"])), "{name}");
    }
}

#[test]
fn scopes_are_those_of_the_peer() {
    let methods = peer("methods.json");
    for info in METHODS.iter().filter(|info| matches!(info.tier, Tier::One | Tier::Two)) {
        let theirs = methods["clientRequests"][info.name]["scope"].as_str().expect("the schema has it");
        let ours = match info.scope.to_string().as_str() {
            "thread or path" => "thread (or path)".to_owned(),
            "config (shared)" => "config (shared read)".to_owned(),
            "connection, process id" => "connection+processId".to_owned(),
            "connection, process handle" => "connection+processHandle".to_owned(),
            "connection, watch id" => "connection+watchId".to_owned(),
            "search session" => "sessionId".to_owned(),
            same => same.to_owned(),
        };
        assert_eq!(ours, theirs, "{}", info.name);
    }
}

/// Returns the fields of a type in one of the peer's schema files.
fn fields(document: &Value, name: &str) -> Option<BTreeSet<String>> {
    let definition = document.pointer(&format!("/definitions/v2/{name}"));
    let definition = definition.or_else(|| document.pointer(&format!("/definitions/{name}")))?;
    Some(definition.get("properties")?.as_object()?.keys().cloned().collect())
}

#[test]
fn both_sets_have_the_fields_of_the_peer_and_no_others() {
    for (set, file) in
        [(SchemaSet::Stable, "stable.schemas.json"), (SchemaSet::Experimental, "experimental.schemas.json")]
    {
        let theirs = peer(file);
        let ours = schema::json(set);
        let mut compared = 0;
        for name in ours["definitions"].as_object().expect("the schema has it").keys() {
            let (Some(expected), Some(mut actual)) = (fields(&theirs, name), fields(&ours, name)) else { continue };
            for (_, field) in OWN_FIELDS.iter().filter(|(owner, _)| owner == name) {
                assert!(actual.remove(*field), "{name} has no field {field}");
            }
            if matches!(name.as_str(), "ErrorResponse" | "Response") {
                continue;
            }
            assert_eq!(actual, expected, "{name} in {set:?}");
            compared += 1;
        }
        assert!(compared > 200, "{compared}");
    }
}

#[test]
fn messages_name_the_thread_that_they_are_about() {
    let (methods, document) = (peer("methods.json"), peer("experimental.schemas.json"));
    let mut generator = Generator { document: &document, random: Random(77) };
    let mut sample = |list: &str, name: &str| {
        let params = methods[list][name]["params"].as_str().expect("the schema has it");
        let value = generator.value(&json!({"$ref": format!("#/definitions/{params}")}), 0);
        let thread = value["threadId"].as_str().or_else(|| value["thread"]["id"].as_str());
        let thread = thread.or_else(|| value["conversationId"].as_str()).map(str::to_owned);
        (RawValue::from_string(value.to_string()).expect("JSON"), thread)
    };
    for info in NOTIFICATIONS.iter().filter(|info| !info.name.starts_with("trace/")) {
        let (raw, thread) = sample("serverNotifications", info.name);
        let notification = ServerNotification::decode(info.name, Some(&raw)).expect("it decodes").expect("it is known");
        assert_eq!(notification.method(), info.name);
        assert_eq!(notification.thread_id(), thread.as_deref(), "{}", info.name);
    }
    for info in SERVER_REQUESTS {
        let (raw, thread) = sample("serverRequests", info.name);
        let request = ServerRequest::decode(info.name, Some(&raw)).expect("it decodes");
        assert_eq!(request.method(), info.name);
        assert_eq!(request.thread_id(), thread.as_deref(), "{}", info.name);
    }
}
