//! `docs/import.md` lists the codes of this crate, in their order and with their messages.

use trace_import::Code;

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
