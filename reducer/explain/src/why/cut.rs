//! Texts of which a part was cut out.
//!
//! What a model gets of a long output is its beginning, a mark that says how much is missing, and its end. A text that lay
//! across the cut is there in part: its beginning ends where the mark begins, or its end begins where the mark ends.

use std::sync::LazyLock;

use regex::Regex;

/// Fewest bytes of a text that must be left of it next to a cut, or half of it if that is less.
pub(super) const MIN_LEFT_BYTES: usize = 16;

/// Shortest text that is looked for next to cuts: half of a shorter one may stand there by chance.
pub(super) const MIN_CUT_BYTES: usize = 12;

/// Most marks of one text that are looked at. What is cut once has one.
pub(super) const MAX_MARKS: usize = 16;

/// The marks that the peer puts in the place of what it cuts out, of which there are several over its releases.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\n?…\s?\d+ (?:tokens|chars|characters|bytes|lines) truncated…\n?",
        r"|\n?\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]\n?",
        r"|\n?…output truncated…\n?",
        r"|\n?\.\.\. \d+ (?:bytes|chars|characters|lines|tokens) omitted \.\.\.\n?",
        r"|<truncated omitted_approx_tokens[^>\n]{0,40}>",
        r"|\n?\[\.\.\. (?:output )?truncated[^\]\n]{0,60}\]\n?",
    ))
    .ok()
});

/// Says whether a text may have a mark in it, which nearly none has.
pub(super) fn may_be_cut(text: &str) -> bool {
    text.contains("truncated") || text.contains("omitted")
}

/// Says whether a cut went through `needle` in `text`.
pub(super) fn goes_through(text: &str, needle: &str) -> bool {
    let Some(marks) = MARKS.as_ref().filter(|_| needle.len() >= MIN_CUT_BYTES && may_be_cut(text)) else {
        return false;
    };
    let wanted = MIN_LEFT_BYTES.min(needle.len().div_ceil(2));
    let (bytes, needle) = (text.as_bytes(), needle.as_bytes());
    marks.find_iter(text).take(MAX_MARKS).any(|mark| {
        // A mark may have taken the line ends around it with it, or not.
        let before = [&bytes[..mark.start()], trim_end_line(&bytes[..mark.start()])];
        let after = [&bytes[mark.end()..], trim_start_line(&bytes[mark.end()..])];
        let left = before.into_iter().map(|head| overlap(head, needle)).max().unwrap_or(0);
        let right = after.into_iter().map(|tail| overlap(needle, tail)).max().unwrap_or(0);
        left.max(right) >= wanted && left < needle.len() && right < needle.len()
    })
}

fn trim_end_line(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

fn trim_start_line(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\n").unwrap_or(text)
}

/// Returns the length of the longest end of `left` that is a beginning of `right`, in time linear in the shorter one.
fn overlap(left: &[u8], right: &[u8]) -> usize {
    let longest = left.len().min(right.len());
    let (left, right) = (&left[left.len() - longest..], &right[..longest]);
    // For each beginning of `right`, the length of the longest shorter one that it ends with.
    let mut falls = vec![0usize; longest];
    let mut length = 0;
    for index in 1..longest {
        while length > 0 && right[index] != right[length] {
            length = falls[length - 1];
        }
        length += usize::from(right[index] == right[length]);
        falls[index] = length;
    }
    let mut matched = 0;
    for byte in left {
        while matched > 0 && (matched == longest || *byte != right[matched]) {
            matched = falls[matched - 1];
        }
        if matched < longest && *byte == right[matched] {
            matched += 1;
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_the_longest() {
        let cases = [("abab", "ababc", 4), ("xxaab", "aabc", 3), ("aaaa", "aa", 2), ("abc", "xyz", 0), ("", "a", 0)];
        for (left, right, length) in cases {
            assert_eq!(overlap(left.as_bytes(), right.as_bytes()), length, "{left} {right}");
        }
    }

    #[test]
    fn marks_are_looked_at_up_to_a_limit() {
        let needle = "one two three four five six seven eight nine ten";
        let text = |marks: usize| {
            format!("{}{}", "…1 tokens truncated… ".repeat(marks), &needle[..30]) + "…1 tokens truncated…"
        };
        assert!(goes_through(&text(MAX_MARKS - 1), needle));
        assert!(!goes_through(&text(MAX_MARKS), needle));
    }

    #[test]
    fn a_cut_goes_through_what_it_left_in_part() {
        let needle = "one two three four five six seven eight nine ten";
        assert!(goes_through("Output:\none two three four…12 tokens truncated…eight nine ten\n", needle));
        assert!(goes_through("one two three four five s…3 chars truncated…", needle));
        assert!(goes_through("…3 chars truncated…ur five six seven eight nine ten and more", needle));
        assert!(goes_through("one two three four\n... 20 bytes omitted ...\nseven eight nine ten", needle));
        assert!(goes_through("one two three four\n[... omitted 3 of 9 lines ...]\n", needle));
        assert!(goes_through("one two three four\n…output truncated…\n", needle));
        assert!(!goes_through("one two …12 tokens truncated… and so on", needle), "too little is left");
        assert!(!goes_through("one two three four five six seven", needle), "nothing was cut");
        assert!(goes_through("abcdef…1 tokens truncated…", "abcdefghijkl"), "half of a short text");
        assert!(!goes_through("abcdef…1 tokens truncated…", "abcdefghijk"), "the text is too short");
    }
}
