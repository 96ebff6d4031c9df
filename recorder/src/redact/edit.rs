//! Changes of a text: what is replaced by what, and how they are carried from a decoded text to the one it was written in.

use std::ops::Range;

use super::placeholder::Placeholder;

/// One replaced piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
    /// The placeholders that came in, one per occurrence.
    pub(crate) marks: Vec<Placeholder>,
}

/// Sorts edits and joins those that overlap, so that nothing of either is left. The longer edit gives the joined one
/// its placeholder.
pub(crate) fn merge(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by(|a, b| a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)));
    let mut merged: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match merged.last_mut() {
            Some(last) if edit.span.start < last.span.end => {
                let end = last.span.end.max(edit.span.end);
                if edit.span.len() > last.span.len() {
                    last.text = edit.text;
                    last.marks = edit.marks;
                }
                last.span.end = end;
            }
            _ => merged.push(edit),
        }
    }
    merged
}

/// Returns whether a span overlaps one of many that are sorted and do not overlap.
pub(crate) fn overlaps<T>(many: &[T], span_of: impl Fn(&T) -> &Range<usize>, span: &Range<usize>) -> bool {
    let first = many.partition_point(|one| span_of(one).end <= span.start);
    many.get(first).is_some_and(|one| span_of(one).start < span.end)
}

/// Applies merged edits to a text.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited.extend_from_slice(&text[at..edit.span.start]);
        edited.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end;
    }
    edited.extend_from_slice(&text[at..]);
    edited
}

/// Combines the edits of a text with edits of its edited form.
pub(crate) fn compose(first: Vec<Edit>, second: Vec<Edit>) -> Vec<Edit> {
    let mut composed = Vec::with_capacity(first.len() + second.len());
    for mut edit in second {
        edit.span = origin(&first, edit.span.start, Side::Start)..origin(&first, edit.span.end, Side::End);
        composed.push(edit);
    }
    composed.extend(first);
    merge(composed)
}

#[derive(Clone, Copy)]
enum Side {
    Start,
    End,
}

/// Returns the position in a text that a position in its edited form comes from. A position within an edit maps to the
/// edge of the edit.
fn origin(edits: &[Edit], at: usize, side: Side) -> usize {
    let mut edited_end = 0;
    let mut end = 0;
    for edit in edits {
        let edited_start = edited_end + (edit.span.start - end);
        if at <= edited_start {
            break;
        }
        if at < edited_start + edit.text.len() {
            return match side {
                Side::Start => edit.span.start,
                Side::End => edit.span.end,
            };
        }
        edited_end = edited_start + edit.text.len();
        end = edit.span.end;
    }
    end + (at - edited_end)
}

/// Carries merged edits of a JSON string's value over to its source text, which is between quotes.
pub(crate) fn lift(source: &[u8], edits: &mut [Edit]) {
    let mut places = Places { source, raw: 0, decoded: 0 };
    for edit in edits {
        edit.span = places.advance_to(edit.span.start)..places.advance_to(edit.span.end);
        if edit.text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
            && let Ok(quoted) = serde_json::to_string(&edit.text)
        {
            quoted[1..quoted.len() - 1].clone_into(&mut edit.text);
        }
    }
}

/// Walks over the source of a string and counts what it decodes to.
struct Places<'a> {
    source: &'a [u8],
    raw: usize,
    decoded: usize,
}

impl Places<'_> {
    fn advance_to(&mut self, decoded: usize) -> usize {
        while self.decoded < decoded && self.raw < self.source.len() {
            let (raw, length) = self.unit();
            self.raw += raw;
            self.decoded += length;
        }
        self.raw
    }

    /// Returns how long the next unit is in the source and decoded.
    fn unit(&self) -> (usize, usize) {
        let rest = &self.source[self.raw..];
        if rest[0] != b'\\' {
            return (1, 1);
        }
        if rest.get(1) != Some(&b'u') {
            return (2, 1);
        }
        match hex(rest, 2) {
            0..0x80 => (6, 1),
            0x80..0x800 => (6, 2),
            0xd800..0xdc00 => (12, 4),
            _ => (6, 3),
        }
    }
}

fn hex(text: &[u8], at: usize) -> u32 {
    let digits = text.get(at..at + 4).unwrap_or_default();
    digits.iter().fold(0, |value, digit| value * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(span: Range<usize>, text: &str) -> Edit {
        Edit { span, text: text.to_owned(), marks: Vec::new() }
    }

    #[test]
    fn edits_that_overlap_become_one() {
        let merged =
            merge(vec![edit(8..10, "c"), edit(0..4, "a"), edit(3..9, "b"), edit(12..13, "d"), edit(12..14, "e")]);
        assert_eq!(merged, [edit(0..10, "b"), edit(12..14, "e")]);
        assert_eq!(apply(b"0123456789abcdef", &merged), b"babeef");
    }

    #[test]
    fn edits_of_edited_texts_are_edits_of_the_text() {
        let text = b"0123456789";
        let first = vec![edit(2..4, "abc"), edit(6..7, "")];
        assert_eq!(apply(text, &first), b"01abc45789");
        for (second, result) in [
            (edit(5..7, "X"), "01abcX789"),
            (edit(0..2, "X"), "Xabc45789"),
            (edit(7..8, "X"), "01abc45X89"),
            (edit(4..6, "long enough"), "01long enough5789"),
        ] {
            let composed = compose(first.clone(), vec![second]);
            assert_eq!(String::from_utf8(apply(text, &composed)).expect("ASCII"), result);
        }
    }

    #[test]
    fn edits_find_their_place_among_escapes() {
        let source = br#"a\n\u00e9\u20ac\ud83d\ude00\"z\\end"#;
        let value: String =
            serde_json::from_str(&format!("\"{}\"", std::str::from_utf8(source).expect("ASCII"))).expect("a string");
        for (start, c) in value.char_indices() {
            let mut edits = [edit(start..start + c.len_utf8(), "\n\"")];
            lift(source, &mut edits);
            let edited = apply(source, &edits);
            let read: String =
                serde_json::from_str(&format!("\"{}\"", String::from_utf8(edited).expect("UTF-8"))).expect("a string");
            let mut expected = value.clone();
            expected.replace_range(start..start + c.len_utf8(), "\n\"");
            assert_eq!(read, expected);
        }
    }
}
