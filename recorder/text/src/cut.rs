//! Limits the length of texts that stay as they are otherwise, for data that programs read.

use std::borrow::Cow;

/// Stands for what was left out.
pub(crate) const ELLIPSIS: char = '…';

/// Returns the beginning of a text, at most `max_chars` characters. If something is left out, the last of them is `…`.
pub fn cut(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some(_) if max_chars == 0 => Cow::Borrowed(""),
        Some(_) => Cow::Owned(format!("{}{ELLIPSIS}", first(text, max_chars - 1))),
    }
}

/// Returns the beginning and the end of a text, at most `max_chars` characters, with `…` in place of what is left out. For
/// commands: a harmless beginning must not hide what is run.
pub fn cut_middle(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max_chars).is_none() {
        return Cow::Borrowed(text);
    }
    let Some(kept) = max_chars.checked_sub(1) else { return Cow::Borrowed("") };
    let tail = kept / 2;
    let from = text.char_indices().rev().take(tail).last().map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}{ELLIPSIS}{}", first(text, kept - tail), &text[from..]))
}

fn first(text: &str, chars: usize) -> &str {
    &text[..text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüx", 3), "äö…");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("a", 0), "");
    }

    #[test]
    fn both_ends_are_kept() {
        assert_eq!(cut_middle("rm -rf", 6), "rm -rf");
        assert_eq!(cut_middle("echo a; rm -rf é", 9), "echo…rf é");
        assert_eq!(cut_middle("äöüx", 2), "ä…");
        assert_eq!(cut_middle("abc", 1), "…");
        assert_eq!(cut_middle("a", 0), "");
    }
}
