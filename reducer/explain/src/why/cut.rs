//! Texts that were shortened.
//!
//! A model gets of a long output only its beginning, a mark that says how much is missing, and its end. If a text was
//! across the cut, a part of it remains: its beginning directly before the mark, or its end directly after the mark.
//! The same holds for other lines that begin or end alike, so the neighbours of the part are compared with the
//! neighbours of the whole text.

use std::sync::LazyLock;

use regex::Regex;

/// Fewest bytes of a text that must remain next to a cut, or half of the text if that is less.
pub(super) const MIN_LEFT_BYTES: usize = 16;

/// Length of the shortest text in bytes that is searched next to cuts. Half of a shorter one could be there by chance.
pub(super) const MIN_CUT_BYTES: usize = 12;

/// Most marks in one text that are looked at. A text that was shortened once has one mark.
pub(super) const MAX_MARKS: usize = 16;

/// Most bytes at each end of a text that are compared with cuts. Shortened outputs keep less than this.
pub(super) const MAX_END_BYTES: usize = 64 << 10;

/// Most bytes before and after a text that are compared.
pub(super) const MAX_AROUND_BYTES: usize = 1 << 10;

/// Fewest bytes that must be equal if it is not known that the whole text was there.
pub(super) const MIN_ALIKE_BYTES: usize = 64;

/// The marks that the peer writes in place of what it removes. Releases of the peer use different marks.
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

/// Cheap check whether a text may contain a mark. Almost no text does.
pub(super) fn may_be_cut(text: &str) -> bool {
    text.contains("truncated") || text.contains("omitted")
}

/// Cheap check whether a text may end with dots.
pub(super) fn may_be_abridged(text: &str) -> bool {
    text.contains("...") || text.contains('…')
}

/// Returns whether a text contains a mark.
pub(super) fn has_mark(text: &str) -> bool {
    may_be_cut(text) && MARKS.as_ref().is_some_and(|marks| marks.is_match(text))
}

/// Iterates over the parts of a text between its marks. A text without marks is one part.
pub(super) fn between_marks(text: &str) -> impl Iterator<Item = &str> {
    let marks = MARKS.as_ref().filter(|_| may_be_cut(text));
    let mut runs = Vec::new();
    let mut from = 0;
    for mark in marks.into_iter().flat_map(|marks| marks.find_iter(text).take(MAX_MARKS)) {
        runs.push(&text[from..mark.start()]);
        from = mark.end();
    }
    runs.push(&text[from..]);
    runs.into_iter()
}

/// The neighbours of a text where it is complete. They distinguish a cut in this text from a cut in another text that
/// begins or ends alike, such as numbered lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Around {
    before: Box<[u8]>,
    after: Box<[u8]>,
}

impl Around {
    /// Returns the neighbours of the first and of the last occurrence of `needle` in `text`. A shortened output keeps
    /// its beginning and its end, so a cut can be in no other occurrence.
    pub(super) fn of(text: &str, needle: &str) -> Vec<Self> {
        let (bytes, needle) = (text.as_bytes(), needle.as_bytes());
        let places = [memchr::memmem::find(bytes, needle), memchr::memmem::rfind(bytes, needle)];
        let around = |at: usize| {
            let end = at + needle.len();
            Self {
                before: bytes[at.saturating_sub(MAX_AROUND_BYTES)..at].into(),
                after: bytes[end..bytes.len().min(end + MAX_AROUND_BYTES)].into(),
            }
        };
        let mut all: Vec<Self> = places.into_iter().flatten().map(around).collect();
        all.dedup();
        all
    }
}

/// A cut next to which a part of the text may remain: the end of what is before it, and the beginning of what is after
/// it. A side where no part of the text can be is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    head: Box<[u8]>,
    tail: Box<[u8]>,
}

/// How much evidence is required that a cut removed a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// The same command printed the whole text: the neighbours of the part must be those of the whole text.
    SameOutput,
    /// The same command did not print the whole text: a larger part of it must remain.
    More,
}

/// Returns the cuts in `text` that may have removed a part of `needle`.
pub(super) fn through(text: &str, needle: &str) -> Vec<Cut> {
    let Some(marks) = MARKS.as_ref().filter(|_| needle.len() >= MIN_CUT_BYTES && may_be_cut(text)) else {
        return Vec::new();
    };
    let wanted = wanted(needle.len());
    let bytes = text.as_bytes();
    let ends = Ends::of(needle.as_bytes());
    let mut cuts = Vec::new();
    for mark in marks.find_iter(text).take(MAX_MARKS) {
        // The line feeds around the mark may have been removed or kept.
        let before = [&bytes[..mark.start()], trim_end_line(&bytes[..mark.start()])];
        let after = [&bytes[mark.end()..], trim_start_line(&bytes[mark.end()..])];
        let (left, head) = longest(before.map(|head| (overlap(head, ends.first), head)));
        let (right, tail) = longest(after.map(|tail| (overlap(ends.last, tail), tail)));
        if left.max(right) < wanted || left >= needle.len() || right >= needle.len() {
            continue;
        }
        let head = if left < wanted { &[][..] } else { &head[head.len().saturating_sub(left + MAX_AROUND_BYTES)..] };
        let tail = if right < wanted { &[][..] } else { &tail[..tail.len().min(right + MAX_AROUND_BYTES)] };
        cuts.push(Cut { head: head.into(), tail: tail.into() });
    }
    cuts
}

impl Cut {
    /// Returns whether the cut removed a part of `needle`, which elsewhere has the neighbours `around`.
    pub(super) fn went_through<'a>(
        &self,
        needle: &str,
        around: impl Iterator<Item = &'a Around>,
        demand: Demand,
    ) -> bool {
        let ends = Ends::of(needle.as_bytes());
        let wanted = wanted(needle.len());
        let least = match demand {
            Demand::SameOutput => 0,
            Demand::More => MIN_ALIKE_BYTES,
        };
        let mut is_unknown = true;
        for Around { before, after } in around {
            is_unknown = false;
            let left = overlap(&self.head, &[before, ends.first].concat());
            let right = overlap(&[ends.last, after].concat(), &self.tail);
            if left >= (before.len() + wanted).max(least) || right >= (after.len() + wanted).max(least) {
                return true;
            }
        }
        // The neighbours are not known, so both ends must remain, or a large part of one end.
        let (left, right) = (overlap(&self.head, ends.first), overlap(ends.last, &self.tail));
        let is_enough = left.min(right) >= wanted || left.max(right) >= MAX_AROUND_BYTES;
        (is_unknown || demand == Demand::More) && is_enough
    }
}

/// Returns whether `text` contains a beginning of `needle` that its author ended with three dots, at the end of a line
/// or of the text.
pub(super) fn is_abridged(text: &str, needle: &str) -> bool {
    let (bytes, needle) = (text.as_bytes(), needle.as_bytes());
    let Some(start) = needle.get(..MIN_ALIKE_BYTES) else { return false };
    memchr::memmem::find_iter(bytes, start).take(MAX_MARKS).any(|at| {
        let rest = &bytes[at..];
        let alike = rest.iter().zip(needle).take_while(|(here, there)| here == there).count();
        let rest = rest[alike..].trim_ascii_start();
        let behind = rest.strip_prefix(b"...").or_else(|| rest.strip_prefix("…".as_bytes()));
        alike < needle.len() && behind.is_some_and(|behind| matches!(behind.first(), None | Some(b'\n' | b'\r' | b'"')))
    })
}

/// The parts of both ends of a text that are compared with cuts.
struct Ends<'n> {
    first: &'n [u8],
    last: &'n [u8],
}

impl<'n> Ends<'n> {
    fn of(needle: &'n [u8]) -> Self {
        let length = needle.len().min(MAX_END_BYTES);
        Self { first: &needle[..length], last: &needle[needle.len() - length..] }
    }
}

fn wanted(needle_bytes: usize) -> usize {
    MIN_LEFT_BYTES.min(needle_bytes.div_ceil(2))
}

fn longest(found: [(usize, &[u8]); 2]) -> (usize, &[u8]) {
    let [first, second] = found;
    if second.0 > first.0 { second } else { first }
}

fn trim_end_line(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

fn trim_start_line(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\n").unwrap_or(text)
}

/// Returns the length of the longest suffix of `left` that is a prefix of `right`. Takes time linear in the shorter
/// one.
fn overlap(left: &[u8], right: &[u8]) -> usize {
    let longest = left.len().min(right.len());
    let (left, right) = (&left[left.len() - longest..], &right[..longest]);
    // The prefix function of `right`: for each prefix, the length of its longest proper prefix that is also its suffix.
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

    /// Returns whether a cut in `text` removed a part of `needle`, which is the whole output.
    fn goes_through(text: &str, needle: &str) -> bool {
        let around = Around::of(needle, needle);
        through(text, needle).iter().any(|cut| cut.went_through(needle, around.iter(), Demand::SameOutput))
    }

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

    #[test]
    fn what_is_beside_a_part_must_be_beside_the_whole() {
        let whole: String = (0..900).map(|number| format!("seg {number:03} of the novel;\n")).collect();
        let cut = format!("{}…99 tokens truncated…{}", &whole[..9000 + 12], &whole[18_905..]);
        let is_through = |needle: &str, demand: Demand| {
            let around = Around::of(&whole, needle);
            through(&cut, needle).iter().any(|cut| cut.went_through(needle, around.iter(), demand))
        };
        let gone = &whole[10_010..10_060];
        assert!(!through(&cut, "seg 450 of the novel;").is_empty(), "it looks like its neighbours");
        for demand in [Demand::SameOutput, Demand::More] {
            assert!(!is_through("seg 450 of the novel;", demand), "{demand:?}");
            assert!(!is_through(gone, demand), "{demand:?}");
            assert!(is_through(&whole[8950..9050], demand), "{demand:?}");
        }
        // If the neighbours are not known, one end is not enough.
        let unknown = |needle: &str| {
            through(&cut, needle).iter().any(|cut| cut.went_through(needle, std::iter::empty(), Demand::More))
        };
        assert!(unknown(&whole) && !unknown(&whole[8950..9050]));
    }

    #[test]
    fn no_more_than_the_ends_of_a_long_text_are_held_against_cuts() {
        let long: String = (0..20_000).map(|number| format!("{number} ")).collect();
        let cut = |kept: usize| format!("{}…9 tokens truncated…", &long[..kept]);
        assert!(goes_through(&cut(MAX_END_BYTES), &long));
        assert!(!goes_through(&cut(MAX_END_BYTES + 1), &long));
        let around = Around::of(&format!("{long}x{long}"), "x").remove(0);
        assert_eq!((around.before.len(), around.after.len()), (MAX_AROUND_BYTES, MAX_AROUND_BYTES));
    }

    #[test]
    fn three_dots_end_what_somebody_abridged() {
        let needle: String = (0..40).map(|number| format!("word{number:03} ")).collect();
        let start = &needle[..MIN_ALIKE_BYTES];
        assert!(is_abridged(&format!("it says {start}..."), &needle));
        assert!(is_abridged(&format!("it says {start} …\nand more"), &needle));
        assert!(is_abridged(&format!("{{\"message\":\"{start}...\"}}"), &needle));
        assert!(!is_abridged(&format!("it says {start}... and more"), &needle));
        assert!(!is_abridged(&format!("it says {}...", &needle[..MIN_ALIKE_BYTES - 1]), &needle));
        assert!(!is_abridged(start, &needle));
    }
}
