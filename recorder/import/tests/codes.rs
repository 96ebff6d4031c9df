//! `docs/import.md` lists the formats and codes of this crate, in their order.

use trace_import::{Code, FORMATS, Knowledge};

#[test]
fn the_document_lists_all_codes() {
    let path = trace_needs::repository().join("docs/import.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let (_, section) = text.split_once("## Codes").expect("the section");
    let listed: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let rows: Vec<String> =
        Code::ALL.iter().map(|code| format!("| `{}` | {} |", code.as_str(), code.message())).collect();
    assert_eq!(listed, rows);
}

#[test]
fn the_document_has_the_table_of_formats() {
    let path = trace_needs::repository().join("docs/import.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let row = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut table = row(&[&["agent", "format"], Knowledge::TITLES].concat());
    table.push_str(&row(&vec!["---"; Knowledge::TITLES.len() + 2]));
    for format in FORMATS {
        let name = format!("`{}`", format.name());
        let known = format.knowledge().columns();
        let known: Vec<&str> = known.iter().map(|known| known.as_str()).collect();
        table.push_str(&row(&[&[format.agent(), &*name], &*known].concat()));
    }
    assert!(text.contains(&table), "{table}");
}

#[test]
fn notes_about_requests_are_known_by_their_codes() {
    for code in trace_recorder::format::import::CODES_OF_REQUESTS {
        assert!(Code::ALL.iter().any(|known| known.as_str() == code), "{code}");
    }
}
