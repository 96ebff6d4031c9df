//! Reads any bytes as an item of the model. Nothing may panic, and rewriting the JSON of an item must not change the item.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use trace_recorder::format::SchemaVersion;
use trace_reducer::ingest::normalize_text;

fuzz_target!(|data: &[u8]| {
    let respelt = serde_json::from_slice::<Value>(data).ok().and_then(|value| serde_json::to_vec_pretty(&value).ok());
    for schema in [SchemaVersion::V1, SchemaVersion::V2] {
        let item = normalize_text(data, schema);
        let Some(respelt) = &respelt else {
            assert!(item.is_err());
            continue;
        };
        match (item.expect("it is JSON"), normalize_text(respelt, schema).expect("it is JSON too")) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                assert_eq!(one.key, other.key);
                assert_eq!(one.parts, other.parts);
                assert_eq!(one.problem, other.problem);
            }
            (one, other) => panic!("{one:?} became {other:?}"),
        }
    }
});
