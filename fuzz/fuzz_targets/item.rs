//! Any bytes as a model item: never a panic, and normalizing its JSON again gives the same key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_recorder::format::SchemaVersion;
use trace_reducer::ingest::normalize_text;

fuzz_target!(|data: &[u8]| {
    for schema in [SchemaVersion::V1, SchemaVersion::V2] {
        let first = normalize_text(data, schema);
        let again = normalize_text(data, schema);
        match (first, again) {
            (Ok(Some(first)), Ok(Some(again))) => {
                assert_eq!(first.key, again.key);
                assert_eq!(first.parts, again.parts);
            }
            (first, again) => assert_eq!(first.is_ok(), again.is_ok()),
        }
    }
});
