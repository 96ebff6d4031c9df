//! Tests that the page shows untrusted texts like the crate `trace-text` does. The script of the page implements the
//! same rules a second time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use trace_text::{Usage, line, look_alike};

/// Compatibility forms of ASCII that a browser can normalize without a table.
fn is_form(c: char) -> bool {
    matches!(c, '\u{fe50}'..='\u{fe6f}' | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}')
}

#[test]
fn the_page_knows_the_same_look_alikes() {
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for c in ('\u{80}'..=char::MAX).filter(|c| !is_form(*c)) {
        if let Some(ascii) = look_alike(c) {
            alike.entry(ascii).or_default().push(format!("{:x}", u32::from(c)));
        }
    }
    let mut table = String::from("export const LOOK_ALIKES = {\n");
    for (ascii, points) in &alike {
        let _ = writeln!(table, "  {ascii:?}: \"{}\",", points.join(" "));
    }
    table.push_str("};\n");
    let script = include_str!("assets/look_alikes.js");
    let (_, known) = script.split_at(script.find("export").expect("a table"));
    assert!(known == table, "put this into viz/src/page/assets/look_alikes.js:\n{table}");
}

#[derive(Deserialize)]
struct Case {
    text: String,
    prose: String,
    command: String,
}

#[test]
fn texts_are_shown_as_the_page_shows_them() {
    // `visible.test.mjs` tests the script with the same cases.
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/page/visible.json")).expect("cases");
    for Case { text, prose, command } in cases {
        assert_eq!(line(&text, Usage::Prose), prose, "{text:?}");
        assert_eq!(line(&text, Usage::Command), command, "{text:?}");
    }
}
