//! Tests of `config/read` and the methods that write the configuration.

use std::fs;

use serde_json::{Value, json};
use trace_server::config::CONFIG_FILE_NAME;

use crate::support::Machine;

const FILE: &str = "# mine\nmodel = 'a' # good\nunknown = 1\n[agents]\nmax_depth = 2\n";

fn set(key: &str, value: impl Into<Value>) -> Value {
    let value = value.into();
    json!({"keyPath": key, "value": value, "mergeStrategy": "replace"})
}

#[tokio::test]
async fn effective_values_and_their_origins_are_read() {
    let machine = Machine::with(FILE, &["model=flag"], None);
    let client = machine.client().await;
    let file = machine.home.path().join(CONFIG_FILE_NAME);
    let result = client.call("config/read", json!({"includeLayers": true, "cwd": "/"})).await;
    assert_eq!(result["config"]["model"], "flag");
    assert_eq!(result["config"]["unknown"], 1);
    assert_eq!(result["config"]["approval_policy"], "on-request");
    assert_eq!(result["origins"]["model"]["name"], json!({"type": "sessionFlags"}));
    let user = json!({"type": "user", "file": file, "profile": null});
    assert_eq!(result["origins"]["agents.max_depth"]["name"], user);
    let layers = result["layers"].as_array().expect("a list");
    assert_eq!(
        layers.iter().map(|layer| &layer["name"]).collect::<Vec<_>>(),
        [&json!({"type": "sessionFlags"}), &user]
    );
    assert_eq!(layers[1]["config"], json!({"model": "a", "unknown": 1, "agents": {"max_depth": 2}}));
    assert_eq!(layers[1]["version"], result["origins"]["unknown"]["version"]);
    assert_eq!(client.call("config/read", json!({})).await["layers"], Value::Null);
}

#[tokio::test]
async fn a_value_is_written_to_the_users_file() {
    let machine = Machine::with(FILE, &[], None);
    let client = machine.client().await;
    let file = machine.home.path().join(CONFIG_FILE_NAME);
    let written = client.call("config/value/write", set("model", json!("b"))).await;
    assert_eq!((&written["status"], &written["filePath"]), (&json!("ok"), &json!(file)));
    assert_eq!(written["overriddenMetadata"], Value::Null);
    assert_eq!(fs::read_to_string(&file).expect("the file system works"), FILE.replace("'a'", "\"b\""));
    let read = client.call("config/read", json!({"includeLayers": true})).await;
    assert_eq!((&read["config"]["model"], &read["layers"][0]["version"]), (&json!("b"), &written["version"]));

    let edits = json!([set("model", Value::Null), {"keyPath": "agents", "value": {"max_threads": 3}, "mergeStrategy": "upsert"}]);
    let batch = json!({"edits": edits, "expectedVersion": written["version"], "reloadUserConfig": true});
    client.call("config/batchWrite", batch).await;
    assert_eq!(
        fs::read_to_string(&file).expect("the file system works"),
        "unknown = 1\n[agents]\nmax_depth = 2\nmax_threads = 3\n"
    );
}

#[tokio::test]
async fn refused_writes_have_error_codes() {
    let machine = Machine::with(FILE, &[], None);
    let client = machine.client().await;
    let mut stale = set("model", json!("b"));
    stale["expectedVersion"] = json!("sha256:00");
    let mut elsewhere = set("model", json!("b"));
    elsewhere["filePath"] = json!("/tmp/other.toml");
    for (params, code, part) in [
        (set("model", json!(3)), "configValidationError", "expected a string"),
        (set("approval_policy", json!("sometimes")), "configValidationError", "sometimes"),
        (set("model_provider", json!("nobody")), "configValidationError", "nobody"),
        (set("model.x", json!(1)), "configValidationError", "`model` is not a table"),
        (set("", json!(1)), "configValidationError", "empty"),
        (set("a..b", json!(1)), "configValidationError", "empty"),
        (set("a", json!([null])), "configValidationError", "null"),
        (stale, "configVersionConflict", "changed"),
        (elsewhere, "configLayerReadonly", "/tmp/other.toml"),
    ] {
        let error = client.ask("config/value/write", params).await.expect_err("it is refused");
        assert_eq!(error.code, -32600, "{error}");
        assert_eq!(error.data, Some(json!({"config_write_error_code": code})), "{error}");
        assert!(error.message.contains(part), "{error}");
    }
    let file = machine.home.path().join(CONFIG_FILE_NAME);
    assert_eq!(fs::read_to_string(&file).expect("the file system works"), FILE);
}

#[tokio::test]
async fn a_value_below_a_flag_is_written_without_effect() {
    let machine = Machine::with(FILE, &["model=flag"], None);
    let client = machine.client().await;
    let written = client.call("config/value/write", set("model", json!("b"))).await;
    assert_eq!(written["status"], "okOverridden");
    assert_eq!(written["overriddenMetadata"]["effectiveValue"], "flag");
    assert_eq!(written["overriddenMetadata"]["overridingLayer"]["name"], json!({"type": "sessionFlags"}));
}

#[tokio::test]
async fn a_file_that_becomes_invalid_is_reported_and_the_models_stay() {
    let machine = Machine::with("model = 'a'", &[], None);
    let client = machine.client().await;
    fs::write(machine.home.path().join(CONFIG_FILE_NAME), "model = \n").expect("the file system works");
    let (code, message) = client.refused("config/read", json!({})).await;
    assert_eq!(code, -32603);
    assert!(message.contains("config.toml:1:"), "{message}");
    assert_eq!(client.call("model/list", json!({})).await["data"][0]["id"], "a");
}

#[tokio::test]
async fn keys_without_effect_lead_to_a_warning() {
    let warnings = Machine::with(FILE, &[], None).services.config.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].summary.contains("`unknown` is not a known key"), "{}", warnings[0].summary);
    assert!(Machine::new().services.config.warnings().is_empty());
}
