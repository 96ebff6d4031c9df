//! The output of a command: bytes are decoded as they arrive, and a limited amount of text is kept.
//!
//! [`Decoder`] decodes bytes in pieces of any size. [`HeadAndTail`] keeps the beginning and the end of a long text and counts what
//! is left out. [`ItemOutput`] is the output of an item: its pieces, joined, are the output that the item has at the end.

/// Bytes of the output of a command that its item keeps from the beginning.
pub const ITEM_HEAD_BYTES: usize = 768 * 1024;

/// Bytes of the output of a command that its item keeps from the end.
pub const ITEM_TAIL_BYTES: usize = 256 * 1024;

/// Estimate of the bytes per token.
pub const BYTES_PER_TOKEN: usize = 4;

/// Decodes UTF-8 bytes in pieces of any size. A character is never split. Invalid bytes become `U+FFFD`.
#[derive(Debug, Default)]
pub struct Decoder {
    begun: Vec<u8>,
}

impl Decoder {
    /// Returns the text that these bytes complete. It may be empty.
    pub fn decode(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.begun.len());
        let mut rest = &self.begun[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(std::str::from_utf8(valid).expect("checked up to here"));
                    let Some(length) = error.error_len() else {
                        rest = after;
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[length..];
                }
            }
        }
        self.begun = rest.to_vec();
        text
    }

    /// Returns the text for the remaining bytes at the end.
    pub fn finish(&mut self) -> String {
        if self.begun.is_empty() {
            return String::new();
        }
        self.begun.clear();
        char::REPLACEMENT_CHARACTER.to_string()
    }
}

/// The beginning and the end of a text.
#[derive(Debug, Clone)]
pub struct HeadAndTail {
    head: String,
    tail: String,
    head_limit: usize,
    tail_limit: usize,
    /// Number of bytes of the whole text.
    total: u64,
    /// Number of line ends of the whole text.
    lines: u64,
}

impl HeadAndTail {
    /// Returns an empty text that keeps this many bytes from its beginning and its end.
    pub fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self { head: String::new(), tail: String::new(), head_limit, tail_limit, total: 0, lines: 0 }
    }

    /// Appends text. Returns how many bytes of it went to the beginning.
    pub fn push(&mut self, text: &str) -> usize {
        // Once the head is full it stays closed, so that head and tail are each contiguous.
        let is_open = self.tail.is_empty() && self.cut() == 0;
        let room = if is_open { self.head_limit - self.head.len() } else { 0 };
        self.total += text.len() as u64;
        self.lines += text.bytes().filter(|&byte| byte == b'\n').count() as u64;
        let taken = floor(text, room);
        self.head.push_str(&text[..taken]);
        self.tail.push_str(&text[taken..]);
        if self.tail.len() > self.tail_limit.saturating_mul(2) {
            let from = ceil(&self.tail, self.tail.len() - self.tail_limit);
            self.tail.drain(..from);
        }
        taken
    }

    fn cut(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the text after the beginning, or its last bytes.
    fn end(&self) -> &str {
        &self.tail[ceil(&self.tail, self.tail.len().saturating_sub(self.tail_limit))..]
    }

    /// Returns the number of bytes of the whole text.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Returns an estimate of the number of tokens of the whole text.
    pub fn total_tokens(&self) -> u64 {
        self.total.div_ceil(BYTES_PER_TOKEN as u64)
    }

    /// Returns the number of lines of the whole text.
    pub fn total_lines(&self) -> u64 {
        let open =
            self.tail.chars().next_back().or_else(|| self.head.chars().next_back()).is_some_and(|last| last != '\n');
        self.lines + u64::from(open)
    }

    /// Returns the text, or its beginning and end with the number of omitted bytes, in at most `limit` bytes of text.
    pub fn within(&self, limit: usize) -> Excerpt<'_> {
        if self.cut() == 0 && self.total <= limit as u64 {
            return Excerpt { head: &self.head, tail: &self.tail, left_out: 0 };
        }
        let half = limit / 2;
        if self.cut() == 0 && self.tail.is_empty() {
            let end = floor(&self.head, half);
            let from = ceil(&self.head, self.head.len().saturating_sub(limit - half)).max(end);
            return Excerpt { head: &self.head[..end], tail: &self.head[from..], left_out: (from - end) as u64 };
        }
        let head = &self.head[..floor(&self.head, half)];
        let tail_limit = (limit - half).min(self.tail_limit);
        let tail = &self.tail[ceil(&self.tail, self.tail.len().saturating_sub(tail_limit))..];
        Excerpt { head, tail, left_out: self.total - (head.len() + tail.len()) as u64 }
    }
}

/// Returns the last character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the first character boundary at or after `at`.
pub(crate) fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// The beginning and the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The beginning, or the first part of the whole text.
    pub head: &'a str,
    /// The end, or the second part of the whole text.
    pub tail: &'a str,
    /// Number of omitted bytes between them.
    pub left_out: u64,
}

/// The output of an item.
#[derive(Debug)]
pub struct ItemOutput {
    kept: HeadAndTail,
    shown: String,
}

impl Default for ItemOutput {
    fn default() -> Self {
        Self { kept: HeadAndTail::new(ITEM_HEAD_BYTES, ITEM_TAIL_BYTES), shown: String::new() }
    }
}

impl ItemOutput {
    /// Appends text. Returns the part of it to show now, or `None` once the limit is reached.
    pub fn push<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let taken = self.kept.push(text);
        let now = &text[..taken];
        self.shown.push_str(now);
        (!now.is_empty()).then_some(now)
    }

    /// Returns the text to show at the end: the end of a long output, and the number of omitted bytes before it.
    pub fn finish(&mut self) -> Option<String> {
        let tail = self.kept.end();
        let left_out = self.kept.total - (self.kept.head.len() + tail.len()) as u64;
        let last = match (left_out, tail) {
            (0, "") => return None,
            (0, tail) => tail.to_owned(),
            (left_out, tail) => format!("\n[... {left_out} bytes left out ...]\n{tail}"),
        };
        self.shown.push_str(&last);
        Some(last)
    }

    /// Returns everything that was shown; `None` if there was nothing.
    pub fn shown(&self) -> Option<String> {
        (!self.shown.is_empty()).then(|| self.shown.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_comes_in_two_pieces_is_not_split() {
        let mut decoder = Decoder::default();
        let bytes = "aé🚀".as_bytes();
        let pieces: Vec<String> = bytes.iter().map(|&byte| decoder.decode(&[byte])).collect();
        assert_eq!(pieces, ["a", "", "é", "", "", "", "🚀"]);
        assert_eq!(decoder.finish(), "");
        assert_eq!(decoder.decode(b"\xff\xf0\x9f"), "\u{fffd}");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }

    #[test]
    fn a_long_output_keeps_both_ends_and_says_what_is_missing() {
        let mut output = ItemOutput::default();
        let mut joined = String::new();
        for _ in 0..30 {
            joined.push_str(output.push(&"q".repeat(100_000)).unwrap_or(""));
        }
        assert_eq!(joined.len(), ITEM_HEAD_BYTES);
        joined.push_str(output.push("TAIL\n").unwrap_or(""));
        joined.push_str(&output.finish().expect("something is left"));
        assert_eq!(output.shown().expect("an output"), joined);
        assert!(joined.ends_with("qTAIL\n"));
        let missing = 3_000_005 - ITEM_HEAD_BYTES - ITEM_TAIL_BYTES;
        assert!(joined.contains(&format!("\n[... {missing} bytes left out ...]\n")));
    }

    #[test]
    fn an_output_between_both_limits_is_whole() {
        let mut output = ItemOutput::default();
        let text = "x".repeat(ITEM_HEAD_BYTES + ITEM_TAIL_BYTES);
        let mut joined = output.push(&text).expect("is shown").to_owned();
        joined.push_str(&output.finish().expect("something is left"));
        assert_eq!(joined, text);
        assert_eq!(ItemOutput::default().shown(), None);
    }

    #[test]
    fn lines_and_tokens_are_counted() {
        let mut kept = HeadAndTail::new(4, 4);
        kept.push("out\nerr\n");
        assert_eq!((kept.total_tokens(), kept.total_lines()), (2, 2));
        kept.push("x");
        assert_eq!((kept.total_tokens(), kept.total_lines()), (3, 3));
    }

    proptest! {
        #[test]
        fn any_cuts_give_the_same_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1usize..7) {
            let mut decoder = Decoder::default();
            let mut text: String = bytes.chunks(cut).map(|piece| decoder.decode(piece)).collect();
            text.push_str(&decoder.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn kept_text_and_what_is_left_out_add_up(pieces in proptest::collection::vec("[aé🚀\n]{0,20}", 0..20), head in 0usize..30, tail in 0usize..30, limit in 0usize..80) {
            let mut kept = HeadAndTail::new(head, tail);
            let whole: String = pieces.concat();
            for piece in &pieces {
                kept.push(piece);
            }
            let excerpt = kept.within(limit);
            prop_assert_eq!(excerpt.head.len() as u64 + excerpt.tail.len() as u64 + excerpt.left_out, whole.len() as u64);
            prop_assert!(whole.starts_with(excerpt.head));
            prop_assert!(whole.ends_with(excerpt.tail));
            prop_assert!(excerpt.head.len() + excerpt.tail.len() <= limit || excerpt.left_out == 0);
        }
    }
}
