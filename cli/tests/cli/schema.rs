//! Checks that JSON output matches the schemas in `docs/schema/`.

use std::collections::BTreeSet;
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

#[test]
fn the_readme_of_the_schemas_lists_each_of_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    let files = std::fs::read_dir(&folder).expect("lists").map(|entry| entry.expect("an entry").file_name());
    let names = files.filter_map(|name| name.to_str()?.strip_suffix(".schema.json").map(str::to_owned));
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("reads");
    let (_, table) = readme.split_once("\n| schema | command |\n").expect("it has the table");
    let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let listed = cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), listed.collect());
}
