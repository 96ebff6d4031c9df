//! A text without what surrounds it, and where each piece of it is in the text as it was written.

use std::borrow::Cow;
use std::ops::Range;

/// A decoded text. Detectors look at it, and what they find is mapped back with [`View::raw`].
#[derive(Debug, Default)]
pub(crate) struct View {
    text: String,
    pieces: Vec<Piece>,
}

/// A run of the decoded text, from `clean` to the next piece.
#[derive(Debug)]
struct Piece {
    clean: usize,
    raw: Range<usize>,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The bytes are those of the raw text.
    Copied,
    /// The bytes stand for others, as a line end for `\n`.
    Decoded,
}

impl View {
    /// Returns the decoded text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Appends a range of the raw text as it is.
    pub(crate) fn copy(&mut self, raw_text: &str, raw: Range<usize>) {
        if raw.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if last.source == Source::Copied && last.raw.end == raw.start => last.raw.end = raw.end,
            _ => self.pieces.push(Piece { clean: self.text.len(), raw: raw.clone(), source: Source::Copied }),
        }
        self.text.push_str(&raw_text[raw]);
    }

    /// Appends a character that a range of the raw text stands for.
    pub(crate) fn put(&mut self, decoded: char, raw: Range<usize>) {
        self.pieces.push(Piece { clean: self.text.len(), raw, source: Source::Decoded });
        self.text.push(decoded);
    }

    /// Returns the ranges of the raw text that a range of the decoded text comes from, in order. Ranges that touch are
    /// one.
    pub(crate) fn raw(&self, clean: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.pieces.partition_point(|piece| piece.clean <= clean.start).saturating_sub(1);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate().skip(first) {
            if piece.clean >= clean.end {
                break;
            }
            let end = self.pieces.get(index + 1).map_or(self.text.len(), |next| next.clean);
            let range = match piece.source {
                Source::Decoded => piece.raw.clone(),
                Source::Copied => {
                    let skipped = clean.start.saturating_sub(piece.clean);
                    let cut = end.saturating_sub(clean.end);
                    piece.raw.start + skipped..piece.raw.end - cut
                }
            };
            match ranges.last_mut() {
                Some(last) if last.end >= range.start && last.start <= range.start => {
                    last.end = last.end.max(range.end);
                }
                _ => ranges.push(range),
            }
        }
        ranges
    }
}

/// Views on top of each other: the second decodes what the first made of the text, and so on.
#[derive(Debug, Default)]
pub(crate) struct Layers(Vec<View>);

impl Layers {
    /// Takes one view.
    pub(crate) fn of(view: View) -> Self {
        Self(vec![view])
    }

    /// Decodes once more, unless the decoder has nothing to change.
    pub(crate) fn push(&mut self, raw_text: &str, decode: impl FnOnce(&str) -> Option<View>) {
        if let Some(view) = decode(self.text(raw_text)) {
            self.0.push(view);
        }
    }

    /// Returns how many decoders changed something.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the text of the uppermost view, or the raw text if there is none.
    pub(crate) fn text<'a>(&'a self, raw_text: &'a str) -> &'a str {
        self.0.last().map_or(raw_text, View::text)
    }

    /// Returns the ranges of the raw text that a range of [`Layers::text`] comes from.
    pub(crate) fn raw(&self, clean: &Range<usize>) -> Vec<Range<usize>> {
        let mut ranges = Cow::Borrowed(std::slice::from_ref(clean));
        for view in self.0.iter().rev() {
            ranges = Cow::Owned(ranges.iter().flat_map(|range| view.raw(range)).collect());
        }
        ranges.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_in_a_view_is_mapped_back() {
        let raw = "1 ab\\n2 cd";
        let mut view = View::default();
        view.copy(raw, 2..4);
        view.put('\n', 4..6);
        view.copy(raw, 8..10);
        assert_eq!(view.text(), "ab\ncd");
        for (clean, ranges) in
            [(0..2, &[(2, 4)][..]), (1..2, &[(3, 4)]), (1..3, &[(3, 6)]), (1..4, &[(3, 6), (8, 9)]), (3..5, &[(8, 10)])]
        {
            let raw: Vec<_> = view.raw(&clean).into_iter().map(|range| (range.start, range.end)).collect();
            assert_eq!(raw, ranges, "{clean:?}");
        }
        let mut layers = Layers::default();
        layers.push(raw, |_| Some(view));
        layers.push(raw, |text| {
            let mut view = View::default();
            view.copy(text, 0..2);
            view.copy(text, 3..5);
            Some(view)
        });
        assert_eq!(layers.text(raw), "abcd");
        assert_eq!(layers.raw(&(1..3)), [3..4, 8..9]);
    }
}
