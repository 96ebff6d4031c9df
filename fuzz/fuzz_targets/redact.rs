//! Redacts any bytes. Nothing may panic, and JSON must remain JSON of the same shape.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use trace_recorder::redact::{Rules, redact_json};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::default);

fuzz_target!(|data: &[u8]| {
    let once = redact_json(data, &RULES);
    let Ok(before) = serde_json::from_slice::<Value>(data) else { return };
    let after: Value = serde_json::from_slice(&once).expect("JSON stays JSON");
    assert!(is_same_shape(&before, &after));
});

fn is_same_shape(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_same_shape(before, after))
        }
        // Two keys can become the same by redaction.
        (Value::Object(before), Value::Object(after)) => after.len() <= before.len(),
        (Value::String(_), Value::String(_)) => true,
        (before, after) => before == after,
    }
}
