//! `docs/query.md` agrees with the declarations.

use std::path::Path;

use trace_query::describe::describe;
use trace_query::named;

const BEGIN: &str = "<!-- tables: made from the declarations by a test, which says how -->\n";
const END: &str = "<!-- end of tables -->";

/// With `UPDATE_DOCS=1` in the environment, the test writes the section instead of comparing it.
#[test]
fn the_document_is_in_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/query.md");
    let document = std::fs::read_to_string(&path).expect("reads");
    let (before, rest) = document.split_once(BEGIN).expect("the section begins");
    let (section, after) = rest.split_once(END).expect("the section ends");
    let mut expected =
        format!("\n{}\n### Named queries\n\n| query | what it answers |\n|---|---|\n", describe().to_markdown());
    for query in named::all() {
        expected.push_str(&format!("| `@{}` | {} |\n", query.name, query.text));
    }
    expected.push('\n');
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("writes");
        return;
    }
    assert_eq!(section, expected, "UPDATE_DOCS=1 cargo test -p trace-query writes docs/query.md anew");
}

#[test]
fn everything_is_described_in_sentences() {
    let description = describe();
    for table in &description.tables {
        assert!(table.text.ends_with('.'), "{}", table.name);
        for column in &table.columns {
            assert!(column.text.ends_with('.'), "{}.{}: {}", table.name, column.name, column.text);
        }
    }
    for view in &description.views {
        assert!(view.text.ends_with('.') && !view.columns.is_empty(), "{}", view.name);
    }
}

#[test]
fn the_readme_counts_tables_and_named_queries() {
    let readme = include_str!("../../../../README.md");
    for count in [format!("{} tables", describe().tables.len()), format!("{} named queries", named::all().len())] {
        assert!(readme.contains(&count), "README.md does not say {count}");
    }
}

#[test]
fn the_examples_of_the_document_are_answered() {
    let document = include_str!("../../../../docs/query.md");
    let examples: Vec<&str> = document.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 4);
    for sql in examples {
        crate::support::ask("one-agent", sql);
    }
}
