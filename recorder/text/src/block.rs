//! Shows a text as a block of numbered rows, for an approval.

use unicode_width::UnicodeWidthChar;

use crate::finding::Findings;
use crate::line::push;
use crate::oddity::{Oddity, SPACE};
use crate::scan::{Seen, Usage, scan};

/// Longest run of spaces that is shown as spaces. A longer run could push the text after it out of sight.
const MAX_SPACES: usize = 16;

/// How much of a text is shown.
#[derive(Debug, Clone, Copy)]
pub struct BlockLimits {
    /// Columns of a row, without its gutter.
    pub columns: usize,
    /// Most rows from the beginning of the text.
    pub head_rows: usize,
    /// Most rows from the end of the text.
    pub tail_rows: usize,
}

/// A text in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The rows before the omitted part, or all rows if nothing is omitted.
    pub head: Vec<Row>,
    /// The omitted part. `None` if the whole text is shown.
    pub left_out: Option<LeftOut>,
    /// The rows after the omitted part.
    pub tail: Vec<Row>,
    /// What is odd about the whole text, including the omitted part.
    pub findings: Findings,
    /// Number of lines of the whole text.
    pub lines: usize,
    /// Number of characters of the whole text.
    pub chars: usize,
}

/// The part that is omitted in the middle of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of omitted characters.
    pub chars: usize,
    /// Number of lines of which at least a part is omitted.
    pub lines: usize,
}

/// A row: a line of the text, or a part of a line that is too long for one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Number of the line, counted from 1. `None` if the row continues a line.
    pub number: Option<usize>,
    /// Number of the line that the row belongs to.
    line: usize,
    /// The parts of the row.
    pub spans: Vec<Span>,
    chars: usize,
}

/// A part of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The displayed text.
    pub text: String,
    /// Whether the text is an escape for characters that are not displayed themselves.
    pub is_escape: bool,
}

impl Row {
    fn new(line: usize, number: Option<usize>) -> Self {
        Self { number, line, spans: Vec::new(), chars: 0 }
    }

    fn push(&mut self, text: &str, is_escape: bool, chars: usize) {
        self.chars += chars;
        match self.spans.last_mut().filter(|last| last.is_escape == is_escape) {
            Some(last) => last.text.push_str(text),
            None => self.spans.push(Span { text: text.to_owned(), is_escape }),
        }
    }

    /// Returns the text of the row.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

/// Shows a text in rows. A line feed starts a new row with a number. A line that is too long continues in a row without
/// a number. Each escape is a span of its own. Spaces at the end of a line and long runs of spaces are escaped too.
pub fn block(text: &str, usage: Usage, limits: &BlockLimits) -> Block {
    let findings = Findings::of(text, usage);
    let rows = rows(text, usage, limits.columns.max(1));
    let lines = rows.last().map_or(0, |row| row.line);
    let chars = text.chars().count();
    let (mut head, mut tail, mut left_out) = (rows, Vec::new(), None);
    // If omitting would save only one row, show it.
    if head.len() > limits.head_rows + limits.tail_rows + 1 {
        tail = head.split_off(head.len() - limits.tail_rows);
        let out = head.split_off(limits.head_rows);
        let (first, last) = (out.first().map_or(0, |row| row.line), out.last().map_or(0, |row| row.line));
        left_out = Some(LeftOut { chars: out.iter().map(|row| row.chars).sum(), lines: last + 1 - first });
    }
    Block { head, left_out, tail, findings, lines, chars }
}

fn rows(text: &str, usage: Usage, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut number = 0;
    // Scan each line separately, since neither a word nor combining marks extend beyond a line feed.
    for line in text.split('\n') {
        number += 1;
        let mut row = Row::new(number, Some(number));
        let mut used = 0;
        let end_of_text = line.trim_end_matches(' ').len();
        let mut at = 0;
        let mut put = |row: &mut Row, piece: &str, is_escape: bool, chars: usize| {
            let width: usize = piece.chars().map(|c| c.width().unwrap_or(0)).sum();
            if used + width > columns && used > 0 {
                rows.push(std::mem::replace(row, Row::new(number, None)));
                used = 0;
            }
            used += width;
            row.push(piece, is_escape, chars);
        };
        let mut all = scan(line, usage).peekable();
        while let Some(seen) = all.next() {
            let mut run = 1;
            if seen == (Seen { c: ' ', oddity: None }) {
                while all.next_if_eq(&seen).is_some() {
                    run += 1;
                }
                let is_trailing = at >= end_of_text;
                at += run;
                if run > MAX_SPACES {
                    put(&mut row, &format!("{SPACE}×{run}"), true, run);
                } else {
                    for _ in 0..run {
                        if is_trailing {
                            put(&mut row, &SPACE.to_string(), true, 1);
                        } else {
                            put(&mut row, " ", false, 1);
                        }
                    }
                }
                continue;
            }
            at += seen.c.len_utf8();
            let mut piece = String::new();
            push(&mut piece, seen);
            put(&mut row, &piece, seen.oddity.is_some_and(|oddity| oddity != Oddity::LineFeed), run);
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, limits: BlockLimits) -> String {
        let block = block(text, Usage::Command, &limits);
        let row = |row: &Row| {
            let number = row.number.map_or_else(|| "  ".to_owned(), |number| format!("{number:>2}"));
            format!("{number}|{}\n", row.text())
        };
        let mut all: String = block.head.iter().map(row).collect();
        if let Some(LeftOut { chars, lines }) = block.left_out {
            all.push_str(&format!("-- {chars} characters, {lines} lines\n"));
        }
        all.extend(block.tail.iter().map(row));
        all.extend(block.findings.notes().iter().map(|note| format!("!  {note}\n")));
        all
    }

    const LIMITS: BlockLimits = BlockLimits { columns: 30, head_rows: 4, tail_rows: 3 };

    #[test]
    fn a_line_feed_begins_a_row_with_a_number() {
        insta::assert_snapshot!(shown("cat notes.txt # harmless\nrm -rf ~\n", LIMITS), @"
        1|cat notes.txt # harmless
        2|rm -rf ~
        3|
        ");
        insta::assert_snapshot!(shown("", LIMITS), @" 1|");
    }

    #[test]
    fn what_is_odd_stands_apart_and_is_named() {
        insta::assert_snapshot!(shown("g\u{456}t\tpush\r \u{202e}x\u{200b} \u{5d0} ", LIMITS), @r"
         1|g\u{456}t␉push␍ \u{202e}x
          |\u{200b} א␠
        !  contains tabs: U+0009 tab
        !  contains control characters: U+000D carriage return
        !  contains characters that change the direction of text: U+202E right-to-left override
        !  contains invisible characters: U+200B zero width space
        !  contains look-alike characters: U+0456 (Cyrillic, looks like i)
        !  contains text that is written from right to left: its parts may be shown in another order than they have
        ");
        let block = block("a\u{7}b", Usage::Command, &LIMITS);
        let spans: Vec<_> = block.head[0].spans.iter().map(|span| (span.text.as_str(), span.is_escape)).collect();
        assert_eq!(spans, [("a", false), ("\\u{7}", true), ("b", false)]);
    }

    #[test]
    fn long_texts_keep_both_ends_and_say_what_is_left_out() {
        let long = format!("echo {}; rm -rf ~", "a".repeat(1000));
        insta::assert_snapshot!(shown(&long, LIMITS), @"
         1|echo aaaaaaaaaaaaaaaaaaaaaaaaa
          |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        -- 810 characters, 1 lines
          |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          |aaaaaaaaaaaaaaa; rm -rf ~
        ");
        let many: String = (1..=100).map(|number| format!("line {number}\n")).collect();
        insta::assert_snapshot!(shown(&many, LIMITS), @"
         1|line 1
         2|line 2
         3|line 3
         4|line 4
        -- 653 characters, 94 lines
        99|line 99
        100|line 100
        101|
        ");
        let all = BlockLimits { head_rows: usize::MAX / 2, ..LIMITS };
        assert_eq!(block(&many, Usage::Command, &all).left_out, None);
    }

    #[test]
    fn spaces_push_nothing_out_of_sight() {
        insta::assert_snapshot!(shown(&format!("ls{}; rm -rf ~", " ".repeat(5000)), LIMITS), @" 1|ls␠×5000; rm -rf ~");
        insta::assert_snapshot!(shown("a \\ \nb", LIMITS), @r"
        1|a \␠
        2|b
        ");
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_but_what_is_counted(text in "[a-z \n\u{202e}\u{430}漢]{0,400}") {
            let block = block(&text, Usage::Command, &LIMITS);
            let rows = block.head.iter().chain(&block.tail);
            let shown: usize = rows.map(|row| row.chars).sum();
            let left_out = block.left_out.map_or(0, |out| out.chars);
            let feeds = text.matches('\n').count();
            proptest::prop_assert_eq!(shown + left_out + feeds, text.chars().count());
            proptest::prop_assert_eq!(block.lines, feeds + 1);
        }
    }
}
