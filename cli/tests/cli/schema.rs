//! Checks that JSON output matches the schemas in `docs/schema/`.

use std::path::Path;

use serde_json::Value;

/// Validates an output against `docs/schema/NAME.schema.json`.
#[track_caller]
pub(crate) fn assert_valid(name: &str, answer: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/schema/{name}.schema.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let answer: Value = serde_json::from_str(answer).expect("the answer is JSON");
    let errors: Vec<String> =
        validator.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}
