//! Reads any text as a patch. Nothing may panic, and a patch made from two texts must change one into the other. Also reads
//! any text as a shell line: searching it for a patch and classifying its actions must not panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use trace_runtime::approval::is_harmless;
use trace_runtime::tool::exec::actions::actions;
use trace_runtime::tool::patch::grammar::{FilePatch, parse};
use trace_runtime::tool::patch::{diff, invocation, matching};

fuzz_target!(|texts: (String, String, String)| {
    let (patch, old, new) = texts;
    assert!(!actions(&patch, Path::new("/work")).is_empty());
    is_harmless(&patch);
    if let Some(found) = invocation::find_in_line(&patch) {
        let _ = parse(&found.patch);
    }
    for file in parse(&patch).unwrap_or_default() {
        if let FilePatch::Update { hunks, .. } = file
            && let Ok(changed) = matching::apply(&old, &hunks)
        {
            diff::hunks(&old, &changed);
        }
    }
    // With numbers, all lines of both texts are distinct, so the patch fits in one place only.
    let numbered = |text: &str, side: char| -> Vec<String> {
        text.lines().enumerate().map(|(number, line)| format!("{side}{number} {}", line.trim())).collect()
    };
    let (before, after) = (numbered(&old, 'o'), numbered(&new, 'n'));
    if before.is_empty() {
        return;
    }
    let marked = |mark: char, lines: &[String]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let kept = &before[..before.len() / 2];
    let body = format!("{}{}{}", marked(' ', kept), marked('-', &before[kept.len()..]), marked('+', &after));
    let made = format!("*** Begin Patch\n*** Update File: a\n@@\n{body}*** End Patch\n");
    let files = parse(&made).expect("made by the rules");
    let [FilePatch::Update { hunks, .. }] = &files[..] else { panic!("one update") };
    let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let expected = text(kept) + &text(&after);
    assert_eq!(matching::apply(&text(&before), hunks).expect("fits"), expected);
});
