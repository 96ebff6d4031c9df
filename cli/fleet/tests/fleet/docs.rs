//! The documentation of tables and questions is what the program has. `UPDATE_DOCS=1` writes it.

use std::process::Command;

use trace_fleet::query::named;
use trace_fleet::tables::{self, Column, common};

use yaml_rust2::{Yaml, YamlLoader};

use crate::fixture::repository;

fn rows(columns: &[Column]) -> String {
    let row = |it: &Column| format!("| `{}` | {} | {} |\n", it.name, it.kind.as_str(), it.text);
    format!("| column | type | meaning |\n|---|---|---|\n{}", columns.iter().map(row).collect::<String>())
}

#[test]
fn tables_and_questions_are_documented() {
    let mut text =
        "# Tables and questions of a lake\n\nA test holds this page against the program. `trace fleet tables` and \
                    `trace fleet questions` show the same.\n\n## Columns of all tables\n\n"
            .to_owned();
    text.push_str(&rows(&common::COMMON));
    for table in tables::ALL.iter() {
        text.push_str(&format!("\n## `{}`\n\n{}\n\n", table.name(), table.text()));
        text.push_str(&rows(&table.columns()[common::COMMON.len()..]));
    }
    text.push_str("\n## `costs`\n\n`inference_calls` with a column `money`, which is null without a price table.\n");
    text.push_str("\n## Named questions\n\n| question | parameters | answer |\n|---|---|---|\n");
    for named in named::all() {
        let parameters: Vec<String> = named.parameters.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("| `@{}` | {} | {} |\n", named.name, parameters.join(", "), named.text));
    }
    let path = repository().join("docs/fleet/tables.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("writes");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/fleet/tables.md is out of date; UPDATE_DOCS=1 writes it");
}

/// Returns whether the program understands a command line. `--help` ends it before it does anything.
fn is_understood(arguments: &[String]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    command.args(arguments).arg("--help").output().expect("starts").status.success()
}

/// Collects the lists under the keys that have the command line of a container.
fn command_lines(node: &Yaml, found: &mut Vec<Vec<String>>) {
    match node {
        Yaml::Hash(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value.as_vec()) {
                    (Some("command" | "args"), Some(parts)) => {
                        let part = |part: &Yaml| {
                            part.as_str().expect("a text, in quotes if it looks like a number").to_owned()
                        };
                        found.push(parts.iter().map(part).collect());
                    }
                    _ => command_lines(value, found),
                }
            }
        }
        Yaml::Array(nodes) => nodes.iter().for_each(|node| command_lines(node, found)),
        _ => {}
    }
}

#[test]
fn the_program_understands_the_files_that_start_a_cluster() {
    for (file, expected) in
        [("compose.yaml", &["scheduler", "executor", "query"][..]), ("kubernetes.yaml", &["scheduler", "executor"][..])]
    {
        let text = std::fs::read_to_string(repository().join("docs/fleet").join(file)).expect("reads");
        let documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut found = Vec::new();
        documents.iter().for_each(|document| command_lines(document, &mut found));
        let names: Vec<&str> = found.iter().filter_map(|line| line.first()).map(String::as_str).collect();
        assert_eq!(names, expected, "{file}");
        for line in found {
            assert!(is_understood(&line), "{file}: {line:?}");
        }
    }
    assert!(!is_understood(&["executor".to_owned(), "--no-such-option".to_owned()]));
}

#[test]
fn the_program_understands_the_commands_of_the_page_about_clusters() {
    let text = std::fs::read_to_string(repository().join("docs/fleet/cluster.md")).expect("reads");
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    trace fleet ")).collect();
    assert!(lines.len() >= 6, "{lines:?}");
    for line in lines {
        let line = line.split(" #").next().unwrap_or_default().trim_end().trim_end_matches('&');
        let arguments: Vec<String> = line.split_whitespace().map(|part| part.trim_matches('\'').to_owned()).collect();
        assert!(is_understood(&arguments), "{line}");
    }
}
