//! Applies the hunks of a patch to the text of a file.
//!
//! A hunk is searched after the previous one: first exactly, then ignoring white space at line ends, then ignoring white
//! space around lines. The first match is taken. Unchanged lines stay as they are in the file.

use super::grammar::{Hunk, Place};

/// Most comparisons of lines for one file. It bounds the time for a file and a patch of many equal lines.
pub const MAX_COMPARED_LINES: u64 = 50_000_000;

/// Why a hunk does not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// The line to go to is missing.
    #[error("no line `{anchor}` behind line {behind}")]
    NoAnchor {
        /// The line to go to.
        anchor: String,
        /// Number of the last line before the search started.
        behind: usize,
    },
    /// The old lines are missing.
    #[error("these lines are not in the file behind line {behind}:\n{lines}")]
    NoLines {
        /// The old lines.
        lines: String,
        /// Number of the last line before the search started.
        behind: usize,
    },
    /// The search needs too many comparisons.
    #[error(
        "the place of a change is too hard to find: more than {MAX_COMPARED_LINES} lines were compared; name lines to go to with `@@ LINE`"
    )]
    TooHard,
}

/// Applies the hunks and returns the new text.
///
/// # Errors
///
/// Returns an error if a hunk does not match after the previous one.
pub fn apply(text: &str, hunks: &[Hunk]) -> Result<String, MatchError> {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\r', '\n'])).collect();
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    let mut search = Search { lines: bare, left: MAX_COMPARED_LINES };
    for hunk in hunks {
        let mut from = at;
        for anchor in &hunk.anchors {
            let found = search.find(from, std::slice::from_ref(anchor), Place::Anywhere)?;
            from = found.ok_or_else(|| MatchError::NoAnchor { anchor: anchor.clone(), behind: from })? + 1;
        }
        let start = if hunk.old.is_empty() {
            // There are no old lines to search: insert after the anchor, or at the end.
            if hunk.anchors.is_empty() || hunk.place == Place::EndOfFile { lines.len() } else { from }
        } else {
            let found = search.find(from, &hunk.old, hunk.place)?;
            found.ok_or_else(|| MatchError::NoLines { lines: hunk.old.join("\n"), behind: from })?
        };
        for line in &lines[at..start] {
            result.push_str(line);
        }
        let end = start + hunk.old.len();
        put(&mut result, &lines[start..end], hunk, ending);
        at = end;
    }
    for line in &lines[at..] {
        result.push_str(line);
    }
    Ok(result)
}

/// Appends the new lines of a hunk. Unchanged lines are taken from the file.
fn put(result: &mut String, old: &[&str], hunk: &Hunk, ending: &str) {
    let mut kept = hunk.kept.iter().peekable();
    for (number, line) in hunk.new.iter().enumerate() {
        terminate(result, ending);
        match kept.next_if(|(_, new)| *new == number) {
            Some((before, _)) => result.push_str(old[*before]),
            None => {
                result.push_str(line);
                result.push_str(ending);
            }
        }
    }
}

fn terminate(text: &mut String, ending: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending);
    }
}

struct Search<'a> {
    /// Lines of the file without line ends.
    lines: Vec<&'a str>,
    /// Remaining number of comparisons.
    left: u64,
}

impl Search<'_> {
    fn find(&mut self, from: usize, wanted: &[String], place: Place) -> Result<Option<usize>, MatchError> {
        let Some(last) = self.lines.len().checked_sub(wanted.len()) else { return Ok(None) };
        let from = if place == Place::EndOfFile { from.max(last) } else { from };
        let equals: [fn(&str, &str) -> bool; 3] =
            [|a, b| a == b, |a, b| a.trim_end() == b.trim_end(), |a, b| a.trim() == b.trim()];
        for equal in equals {
            for at in from..=last {
                let same = self.lines[at..].iter().zip(wanted).take_while(|(line, wanted)| equal(line, wanted)).count();
                self.left = self.left.checked_sub(same as u64 + 1).ok_or(MatchError::TooHard)?;
                if same == wanted.len() {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tool::patch::grammar::{FilePatch, parse};

    fn patched(text: &str, hunks: &str) -> Result<String, MatchError> {
        let files = parse(&format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n")).expect("is valid");
        let [FilePatch::Update { hunks, .. }] = &files[..] else { panic!("one update") };
        apply(text, hunks)
    }

    #[test]
    fn changes_find_their_place() {
        for (text, hunks, expected) in [
            ("a\nb\nc\n", "@@\n a\n-b\n+x\n c\n", "a\nx\nc\n"),
            ("a\nb\na\nb\n", "@@\n-b\n+1\n@@\n-b\n+2\n", "a\n1\na\n2\n"),
            ("fn f\nx\nfn g\nx\n", "@@ fn g\n-x\n+y\n", "fn f\nx\nfn g\ny\n"),
            ("A\nB\nx\nB\nx\n", "@@ A\n@@ B\n-x\n+y\n", "A\nB\ny\nB\nx\n"),
            ("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n", "x\ny\nz\n"),
            ("a\n", "@@\n+b\n", "a\nb\n"),
            ("a\nc\n", "@@ a\n+b\n", "a\nb\nc\n"),
            ("", "@@\n+b\n", "b\n"),
            ("a \nb\n", "@@\n a\n-b\n+c\n", "a \nc\n"),
            ("  a\nb\n", "@@\n a\n-b\n+c\n", "  a\nc\n"),
            ("a\r\nb\r\n", "@@\n a\n-b\n+c\n", "a\r\nc\r\n"),
            ("a\n\tkept\nb\n", "@@\n-a\n+x\n kept\n-b\n+y\n", "x\n\tkept\ny\n"),
            ("a\nkept \n\nb\n", "@@\n-a\n kept\n\n-b\n+y\n", "kept \n\ny\n"),
            ("a\nb", "@@\n-b\n+c\n", "a\nc\n"),
            ("a\nb", "@@\n-a\n+c\n b\n", "c\nb"),
            ("a\nb", "@@\n-a\n+c\n", "c\nb"),
            ("a\nb\n", "@@\n-a\n-b\n", ""),
            ("a", "@@\n+b\n", "a\nb\n"),
        ] {
            assert_eq!(patched(text, hunks).as_deref(), Ok(expected), "{text:?} {hunks:?}");
        }
    }

    #[test]
    fn a_change_that_fits_nowhere_is_named() {
        assert_eq!(
            patched("a\n", "@@\n-x\n-y\n").expect_err("an error").to_string(),
            "these lines are not in the file behind line 0:\nx\ny"
        );
        assert_eq!(
            patched("a\nb\n", "@@\n-b\n@@\n-a\n").expect_err("an error").to_string(),
            "these lines are not in the file behind line 2:\na"
        );
        assert_eq!(patched("a\n", "@@ z\n-a\n").expect_err("an error").to_string(), "no line `z` behind line 0");
    }

    #[test]
    fn a_search_without_end_is_given_up() {
        let text = "a\n".repeat(40_000);
        let wanted = format!("@@\n{}-b\n", " a\n".repeat(20_000));
        assert_eq!(patched(&text, &wanted), Err(MatchError::TooHard));
    }

    /// Returns the patch from one text to another with every old line as context.
    fn patch_between(old: &str, new: &str) -> String {
        let patch = diffy::create_patch(old, new);
        let mut text = String::from("*** Begin Patch\n*** Update File: a\n");
        for hunk in patch.hunks() {
            text.push_str("@@\n");
            for line in hunk.lines() {
                let (mark, line) = match line {
                    diffy::Line::Context(line) => (' ', line),
                    diffy::Line::Delete(line) => ('-', line),
                    diffy::Line::Insert(line) => ('+', line),
                };
                text.push(mark);
                text.push_str(line);
            }
        }
        text + "*** End Patch\n"
    }

    proptest! {
        #[test]
        fn a_patch_between_two_texts_leads_from_one_to_the_other(old in proptest::collection::vec("[ab]{0,2}[ \t]?[+@ *-]?", 1..12), new in proptest::collection::vec("[ab]{0,2}[ \t]?[+@ *-]?", 0..12)) {
            let (old, new) = (old.iter().map(|line| format!("{line}\n")).collect::<String>(), new.iter().map(|line| format!("{line}\n")).collect::<String>());
            prop_assume!(old != new);
            let patch = patch_between(&old, &new);
            let files = parse(&patch).map_err(|error| TestCaseError::fail(format!("{error}\n{patch}")))?;
            let FilePatch::Update { hunks, .. } = &files[0] else { panic!("an update") };
            // Context lines may repeat in these texts, so a hunk may match earlier than intended. Such cases are skipped.
            let exact = hunks.len() == 1 && hunks[0].old.len() == old.lines().count();
            prop_assume!(exact);
            prop_assert_eq!(apply(&old, hunks).expect("fits"), new);
        }

        #[test]
        fn a_patch_of_distinct_lines_leads_from_one_to_the_other(keep in proptest::collection::vec(0u8..4, 1..60)) {
            let mut old = String::new();
            let mut new = String::new();
            for (number, action) in keep.iter().enumerate() {
                if *action != 1 { old.push_str(&format!("line {number}\n")); }
                match action { 0 | 3 => new.push_str(&format!("line {number}\n")), 1 => new.push_str(&format!("new {number}\n")), _ => {} }
            }
            prop_assume!(old != new);
            let files = parse(&patch_between(&old, &new)).expect("is valid");
            let FilePatch::Update { hunks, .. } = &files[0] else { panic!("an update") };
            prop_assert_eq!(apply(&old, hunks).expect("fits"), new);
        }
    }
}
