//! Tests that the committed schemas agree with the types.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use trace_protocol::typescript::typescript;
use trace_protocol::{SchemaSet, generated, schema, table};

/// Environment variable that makes the tests write the files instead of comparing them.
const REGENERATE: &str = "TRACE_REGENERATE";

/// How to regenerate the files.
const HOW: &str = "run `TRACE_REGENERATE=1 cargo test -p trace-protocol --test schema`";

/// Returns the directory of the files.
fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol")
}

/// Compares a file with its expected content, or writes it.
fn committed(name: &str, text: &str) {
    let path = directory().join(name);
    if env::var_os(REGENERATE).is_some() {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("it is there");
        fs::write(&path, text).expect("it is there");
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "{} does not agree with the types: {HOW}", path.display());
}

fn json(set: SchemaSet) -> String {
    serde_json::to_string_pretty(&schema::json(set)).expect("JSON") + "\n"
}

#[test]
fn the_stable_schema_is_committed() {
    committed("schema.stable.json", &json(SchemaSet::Stable));
}

#[test]
fn the_experimental_schema_is_committed() {
    committed("schema.experimental.json", &json(SchemaSet::Experimental));
}

/// Compares the files of a folder with their expected contents, or writes them.
fn committed_folder(folder: &str, files: &BTreeMap<PathBuf, String>) {
    let directory = directory().join(folder);
    if env::var_os(REGENERATE).is_some() {
        let _ = fs::remove_dir_all(&directory);
    }
    for (name, text) in files {
        committed(&format!("{folder}/{}", name.display()), text);
    }
    for entry in fs::read_dir(&directory).expect("the directory is there") {
        let name = PathBuf::from(entry.expect("an entry").file_name());
        assert!(files.contains_key(&name), "{folder}/{} belongs to no type: {HOW}", name.display());
    }
}

#[test]
fn the_typescript_files_are_committed() {
    let stable = typescript(SchemaSet::Stable);
    let mut experimental = typescript(SchemaSet::Experimental);
    experimental.retain(|name, text| stable.get(name) != Some(text));
    committed_folder("typescript", &stable);
    committed_folder("typescript-experimental", &experimental);

    let mut list =
        "//! The names and texts of the TypeScript files, sorted by name. Written by the test `schema`.\n".to_owned();
    for (name, folder, files) in
        [("STABLE", "typescript", &stable), ("EXPERIMENTAL", "typescript-experimental", &experimental)]
    {
        let what = if name == "STABLE" {
            "Files of the stable set"
        } else {
            "Files that the experimental set adds or replaces"
        };
        writeln!(list, "\n/// {what}.\npub(super) const {name}: &[(&str, &str)] = &[")
            .expect("writing to a string cannot fail");
        for file in files.keys() {
            let file = file.display();
            writeln!(list, "    (\"{file}\", include_str!(\"../../../../docs/protocol/{folder}/{file}\")),")
                .expect("writing to a string cannot fail");
        }
        writeln!(list, "];").expect("writing to a string cannot fail");
    }
    committed("../../server/protocol/src/generated/files.rs", &list);
}

#[test]
fn programs_embed_what_was_generated() {
    if env::var_os(REGENERATE).is_some() {
        // This test program still embeds the files from before.
        return;
    }
    for set in [SchemaSet::Stable, SchemaSet::Experimental] {
        assert!(generated::json_schema(set) == json(set), "the embedded schema is outdated: {HOW}");
        let embedded: BTreeMap<PathBuf, String> =
            generated::typescript(set).map(|(name, text)| (PathBuf::from(name), text.to_owned())).collect();
        assert!(embedded == typescript(set), "the embedded TypeScript files are outdated: {HOW}");
    }
}

#[test]
fn the_table_of_methods_is_committed() {
    committed("methods.md", &table::markdown());
}
