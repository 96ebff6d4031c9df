//! The committed schemas say what the types say.

use std::path::{Path, PathBuf};
use std::{env, fs};

use trace_protocol::schema::{self, SchemaSet};
use trace_protocol::table;
use trace_protocol::typescript::typescript;

/// The environment variable that writes the files instead of comparing them.
const REGENERATE: &str = "TRACE_REGENERATE";

/// How the files are written anew.
const HOW: &str = "run `TRACE_REGENERATE=1 cargo test -p trace-protocol --test schema`";

/// Returns where the files are.
fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol")
}

/// Compares a file with what it should be, or writes it.
fn committed(name: &str, text: &str) {
    let path = directory().join(name);
    if env::var_os(REGENERATE).is_some() {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("it is there");
        fs::write(&path, text).expect("it is there");
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "{} is not what the types say: {HOW}", path.display());
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

#[test]
fn the_typescript_files_are_committed() {
    let files = typescript(SchemaSet::Stable);
    let directory = directory().join("typescript");
    if env::var_os(REGENERATE).is_some() {
        let _ = fs::remove_dir_all(&directory);
    }
    for (name, text) in &files {
        committed(&format!("typescript/{}", name.display()), text);
    }
    for entry in fs::read_dir(&directory).expect("the directory is there") {
        let name = PathBuf::from(entry.expect("an entry").file_name());
        assert!(files.contains_key(&name), "typescript/{} is of no type any more: {HOW}", name.display());
    }
}

#[test]
fn the_table_of_methods_is_committed() {
    committed("methods.md", &table::markdown());
}
