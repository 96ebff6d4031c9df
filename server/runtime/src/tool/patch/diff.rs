//! Diffs between two versions of a file, for users.

use std::fmt::Write;

/// Most lines, of both texts together, between the first and the last difference that are compared line by line. With more,
/// the diff removes all of them and adds all of them.
pub const MAX_COMPARED_LINES: usize = 10_000;

/// Number of unchanged lines around a difference.
const CONTEXT: usize = 3;

/// Returns the hunks of a unified diff without file names. It is empty if the texts are equal.
pub fn hunks(old: &str, new: &str) -> String {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let prefix = old_lines.iter().zip(&new_lines).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_lines[prefix..], &new_lines[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let differing = old_rest.len() + new_rest.len() - 2 * suffix;
    if differing == 0 {
        return String::new();
    }
    if differing > MAX_COMPARED_LINES {
        return coarse(&old_lines, &new_lines, prefix, suffix);
    }
    let text = diffy::create_patch(old, new).to_string();
    text.find("@@").map_or_else(String::new, |at| text[at..].to_owned())
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn coarse(old: &[&str], new: &[&str], prefix: usize, suffix: usize) -> String {
    let start = prefix.saturating_sub(CONTEXT);
    let after = suffix.min(CONTEXT);
    let (old_end, new_end) = (old.len() - suffix, new.len() - suffix);
    let range = |end: usize| match end + after - start {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        count => format!("{},{count}", start + 1),
    };
    let mut text = format!("@@ -{} +{} @@\n", range(old_end), range(new_end));
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            let _ = write!(text, "{mark}{line}");
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    put(' ', &old[start..prefix]);
    put('-', &old[prefix..old_end]);
    put('+', &new[prefix..new_end]);
    put(' ', &old[old_end..old_end + after]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_texts_are_compared_line_by_line() {
        assert_eq!(hunks("hello\nb\n", "hello\nc\n"), "@@ -1,2 +1,2 @@\n hello\n-b\n+c\n");
        assert_eq!(hunks("a\n", "a\n"), "");
        assert_eq!(hunks("", "a"), "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
    }

    #[test]
    fn large_differences_are_taken_whole() {
        let text = |seed: usize| {
            (0..MAX_COMPARED_LINES).fold(String::new(), |text, line| text + &format!("{}\n", line * 2 + seed))
        };
        let (old, new) =
            (format!("1\n2\n3\n4\n{}x\ny\nz\nlast", text(0)), format!("1\n2\n3\n4\n{}x\ny\nz\nlast", text(1)));
        let diff = hunks(&old, &new);
        assert!(
            diff.starts_with(&format!("@@ -2,{0} +2,{0} @@\n 2\n 3\n 4\n-0\n", MAX_COMPARED_LINES + 6)),
            "{}",
            &diff[..60]
        );
        let patch = format!("--- a\n+++ b\n{diff}");
        assert_eq!(diffy::apply(&old, &diffy::Patch::from_str(&patch).expect("a patch")).expect("fits"), new);
        let added = text(0);
        let patch = format!("--- a\n+++ b\n{}", hunks("", &format!("{added}{added}")));
        assert_eq!(
            diffy::apply("", &diffy::Patch::from_str(&patch).expect("a patch")).expect("fits"),
            format!("{added}{added}")
        );
    }
}
