//! Shows a text as one line.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use crate::cut::ELLIPSIS;
use crate::oddity::{CARRIAGE_RETURN, LINE_FEED, Oddity, TAB};
use crate::scan::{Scan, Seen, Usage, scan};

/// Most bytes of a preview per column. A limit is needed because characters may have no width.
pub const MAX_PREVIEW_BYTES_PER_COLUMN: usize = 8;

/// Returns a text as one line that is safe to show and hides nothing. Line feeds become `⏎`, carriage returns `␍`, tabs
/// `␉` (a space in prose), and all other odd characters `\u{..}`.
pub fn line(text: &str, usage: Usage) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 16);
    for seen in scan(text, usage) {
        push(&mut line, seen);
    }
    if line == text { Cow::Borrowed(text) } else { Cow::Owned(line) }
}

/// Returns a text in quotes, as one line of at most `max_chars` characters, followed by the number of omitted
/// characters. It is for texts of others within a sentence: they cannot end the quotes.
pub fn quoted(text: &str, max_chars: usize) -> String {
    let mut quoted = String::from("\"");
    let mut chars = 0;
    let mut all = scan(text.trim(), Usage::Prose);
    for seen in all.by_ref().take(max_chars) {
        match seen.c {
            '"' | '\\' => quoted.extend(['\\', seen.c]),
            _ => push(&mut quoted, seen),
        }
        chars += 1;
    }
    quoted.push('"');
    let left_out = if chars == max_chars { all.count() } else { 0 };
    if left_out > 0 {
        let _ = write!(quoted, "… ({left_out} more characters)");
    }
    quoted
}

/// Appends the displayed form of a character.
pub(crate) fn push(line: &mut String, seen: Seen) {
    match (seen.oddity, seen.c) {
        (None, '\t') => line.push(' '),
        (None, c) => line.push(c),
        (Some(Oddity::LineFeed), _) => line.push(LINE_FEED),
        (Some(Oddity::Tab), _) => line.push(TAB),
        (Some(Oddity::Control), '\r') => line.push(CARRIAGE_RETURN),
        (Some(_), c) => write!(line, "{}", c.escape_unicode()).expect("writing to a string cannot fail"),
    }
}

/// Returns a text as one line of at most `max_columns` columns.
///
/// Prose is shown from its beginning, and the rest is replaced by `…`. A run of white space becomes one space, or one
/// `⏎` between spaces if it contains a line feed. A command keeps its white space and both of its ends, with `…` in
/// place of the middle. The omitted part is not read.
pub fn preview(text: &str, usage: Usage, max_columns: usize) -> String {
    match usage {
        Usage::Prose => beginning(text, max_columns),
        Usage::Command => both_ends(text, max_columns),
    }
}

fn beginning(text: &str, max_columns: usize) -> String {
    let mut preview = Fitting::new(max_columns);
    let mut all = scan(text.trim(), Usage::Prose);
    while let Some(seen) = all.next() {
        let is_white = |seen: &Seen| seen.c.is_whitespace();
        if !is_white(&seen) {
            let mut piece = String::new();
            push(&mut piece, seen);
            if !preview.push(&piece) {
                return preview.cut();
            }
            continue;
        }
        let mut ends_line = seen.oddity == Some(Oddity::LineFeed);
        let mut ahead = all.clone();
        while let Some(next) = ahead.next().filter(is_white) {
            ends_line |= next.oddity == Some(Oddity::LineFeed);
            all = ahead.clone();
        }
        if !preview.push(if ends_line { " \u{23ce} " } else { " " }) {
            return preview.cut();
        }
    }
    preview.text
}

fn both_ends(text: &str, max_columns: usize) -> String {
    let mut whole = Fitting::new(max_columns);
    if push_all(&mut whole, scan(text, Usage::Command)) {
        return whole.text;
    }
    let tail_columns = max_columns.saturating_sub(1) * 2 / 5;
    let mut head = Fitting::new(max_columns.saturating_sub(1 + tail_columns));
    push_all(&mut head, scan(text, Usage::Command));
    // Scan at most as many characters as fit. If they are wide or escaped, the first of them are dropped again.
    let from = text.char_indices().rev().nth(tail_columns.saturating_sub(1)).map_or(0, |(at, _)| at);
    let mut pieces = Vec::new();
    for seen in scan(&text[from..], Usage::Command) {
        let mut piece = String::new();
        push(&mut piece, seen);
        pieces.push(piece);
    }
    let mut columns = 0;
    let fits = pieces.iter().rev().take_while(|piece| {
        columns += columns_of(piece);
        columns <= tail_columns
    });
    let kept = fits.count();
    format!("{}…{}", head.text, pieces[pieces.len() - kept..].concat())
}

fn push_all(fitting: &mut Fitting, all: Scan<'_>) -> bool {
    for seen in all {
        let mut piece = String::new();
        push(&mut piece, seen);
        if !fitting.push(&piece) {
            return false;
        }
    }
    true
}

/// A line of limited width.
struct Fitting {
    text: String,
    columns: usize,
    max_columns: usize,
    /// Length of the line that leaves room for `…`.
    cut_at: usize,
}

impl Fitting {
    fn new(max_columns: usize) -> Self {
        Self { text: String::new(), columns: 0, max_columns, cut_at: 0 }
    }

    /// Appends a piece if it fits. Returns whether it did.
    fn push(&mut self, piece: &str) -> bool {
        let columns = self.columns + columns_of(piece);
        let max_bytes = self.max_columns.saturating_mul(MAX_PREVIEW_BYTES_PER_COLUMN);
        if columns > self.max_columns || self.text.len() + piece.len() > max_bytes {
            return false;
        }
        self.text.push_str(piece);
        self.columns = columns;
        if columns < self.max_columns {
            self.cut_at = self.text.len();
        }
        true
    }

    fn cut(mut self) -> String {
        self.text.truncate(self.cut_at);
        self.text.truncate(self.text.trim_end().len());
        self.text.push(ELLIPSIS);
        self.text
    }
}

/// Returns the number of columns of a text that is safe to show.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> Cow<'_, str> {
        line(text, Usage::Prose)
    }

    fn command(text: &str) -> Cow<'_, str> {
        line(text, Usage::Command)
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}[31mred\u{9b}2J\u{7f}\r\n\tb\u{202e}c\u{e0041}";
        insta::assert_snapshot!(prose(hostile), @r"a\u{1b}[31mred\u{9b}2J\u{7f}␍⏎ b\u{202e}c\u{e0041}");
        insta::assert_snapshot!(command(hostile), @r"a\u{1b}[31mred\u{9b}2J\u{7f}␍⏎␉b\u{202e}c\u{e0041}");
    }

    #[test]
    fn text_of_any_language_stays_as_it_is() {
        for text in [
            "plain, ünïcödé, naïve café, Straße, łódź, Đà Nẵng",
            "Привет, мир! Это путь к файлу.",
            "Καλημέρα κόσμε",
            "漢字と、ノート。教程：第一章（说明）",
            "안녕하세요 세계",
            "مرحبا بالعالم — سلام",
            "می\u{200c}خواهم",
            "שלום עולם",
            "हिन्दी क्\u{200d}ष",
            "ไทย ภาษา",
            "🦀 👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🏳\u{fe0f}\u{200d}🌈 👍🏽",
            "葛\u{e0100}城",
            "Python教程 and C言語",
        ] {
            assert!(matches!(prose(text), Cow::Borrowed(_)), "{text} became {}", prose(text));
            assert!(matches!(command(text), Cow::Borrowed(_)) || text.contains('—'), "{text} became {}", command(text));
        }
        assert_eq!(prose("“quoted” – it’s\u{a0}fine…"), "“quoted” – it’s\u{a0}fine…");
    }

    #[test]
    fn what_hides_or_deceives_in_a_command_is_seen() {
        let table = [
            ("a second line", "ls # look\nrm -rf ~"),
            ("a carriage return", "rm -rf ~\rls      "),
            ("a backspace", "rm -rf ~\u{8}\u{8}\u{8}\u{8}ls"),
            ("an escape", "rm -rf ~\u{1b}[2K\u{1b}[1Gls"),
            ("an escape of one byte", "ls\u{9b}8mrm -rf ~"),
            ("a title of the terminal", "ls\u{1b}]0;x\u{7}"),
            ("a vertical tab", "ls\u{b}rm"),
            ("another line end", "ls\u{2028}rm\u{85}x"),
            ("a zero width space", "r\u{200b}m x"),
            ("a word joiner", "r\u{2060}m x"),
            ("a soft hyphen", "git\u{ad} push"),
            ("a byte order mark", "\u{feff}ls"),
            ("a grapheme joiner", "l\u{34f}s"),
            ("a filler", "ls \u{3164}; x"),
            ("an empty Braille pattern", "ls \u{2800} x"),
            ("a variation selector", "ls\u{fe01} x"),
            ("tags", "ls\u{e0072}\u{e006d}"),
            ("a no-break space", "rm\u{a0}-rf x"),
            ("a wide space", "rm\u{3000}x"),
            ("a direction", "cat \u{202e}txt.exe\u{202c}"),
            ("isolated directions", "echo \u{2067}x\u{2069}"),
            ("a Cyrillic letter", "g\u{456}t push"),
            ("a word of Cyrillic letters", "\u{455}\u{455}\u{4bb} host"),
            ("a Greek letter", "cat /\u{3b5}tc/passwd"),
            ("a wide letter", "ｒｍ x"),
            ("a bold letter", "𝐫𝐦 x"),
            ("a dotless i", "f\u{131}nd ."),
            ("a Greek question mark", "ls\u{37e} x"),
            ("a wide semicolon", "ls； x"),
            ("a slash that is none", "cat a\u{2215}b\u{2044}c"),
            ("quotes that are none", "echo \u{2018}x\u{2019}"),
            ("a hyphen that is none", "rm \u{2010}rf"),
            ("a bar that is none", "a \u{2223} b"),
            ("a letter with many marks", "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}b"),
            ("a mark on a sign", "ls ;\u{335} x"),
            ("a stroke through a letter", "ls l\u{336}s"),
            ("a private character", "ls \u{e000}"),
            ("no character", "ls \u{fdd0}\u{ffff}"),
            ("the sign for a line feed", "ls \u{23ce} rm"),
        ];
        let shown: Vec<String> = table.iter().map(|(what, text)| format!("{what:<26} {}", command(text))).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        a second line              ls # look⏎rm -rf ~
        a carriage return          rm -rf ~␍ls      
        a backspace                rm -rf ~\u{8}\u{8}\u{8}\u{8}ls
        an escape                  rm -rf ~\u{1b}[2K\u{1b}[1Gls
        an escape of one byte      ls\u{9b}8mrm -rf ~
        a title of the terminal    ls\u{1b}]0;x\u{7}
        a vertical tab             ls\u{b}rm
        another line end           ls\u{2028}rm\u{85}x
        a zero width space         r\u{200b}m x
        a word joiner              r\u{2060}m x
        a soft hyphen              git\u{ad} push
        a byte order mark          \u{feff}ls
        a grapheme joiner          l\u{34f}s
        a filler                   ls \u{3164}; x
        an empty Braille pattern   ls \u{2800} x
        a variation selector       ls\u{fe01} x
        tags                       ls\u{e0072}\u{e006d}
        a no-break space           rm\u{a0}-rf x
        a wide space               rm\u{3000}x
        a direction                cat \u{202e}txt.exe\u{202c}
        isolated directions        echo \u{2067}x\u{2069}
        a Cyrillic letter          g\u{456}t push
        a word of Cyrillic letters \u{455}\u{455}\u{4bb} host
        a Greek letter             cat /\u{3b5}tc/passwd
        a wide letter              \u{ff52}\u{ff4d} x
        a bold letter              \u{1d42b}\u{1d426} x
        a dotless i                f\u{131}nd .
        a Greek question mark      ls\u{37e} x
        a wide semicolon           ls\u{ff1b} x
        a slash that is none       cat a\u{2215}b\u{2044}c
        quotes that are none       echo \u{2018}x\u{2019}
        a hyphen that is none      rm \u{2010}rf
        a bar that is none         a \u{2223} b
        a letter with many marks   á́́́\u{301}\u{301}b
        a mark on a sign           ls ;\u{335} x
        a stroke through a letter  ls l\u{336}s
        a private character        ls \u{e000}
        no character               ls \u{fdd0}\u{ffff}
        the sign for a line feed   ls \u{23ce} rm
        ");
        for (what, text) in table {
            assert_ne!(command(text), text, "{what}");
        }
    }

    #[test]
    fn letters_within_a_word_of_another_script_are_seen_in_prose() {
        insta::assert_snapshot!(prose("pаypal, Неllo, αβγ, Δx, μs, рост"), @r"p\u{430}ypal, \u{41d}\u{435}llo, αβγ, Δx, μs, рост");
    }

    #[test]
    fn previews_fit() {
        let preview = |text: &str, columns| preview(text, Usage::Prose, columns);
        assert_eq!(preview("  two\n\n words  ", 20), "two ⏎ words");
        assert_eq!(preview("two \t words", 20), "two words");
        assert_eq!(preview("0123456789", 10), "0123456789");
        assert_eq!(preview("0123456789a", 10), "012345678…");
        assert_eq!(preview("漢字漢字", 8), "漢字漢字");
        assert_eq!(preview("漢字漢字漢", 8), "漢字漢…");
        assert_eq!(preview("\u{1b}\u{1b}\u{1b}", 10), r"\u{1b}…");
        assert!(preview(&format!("a{}", "\u{301}".repeat(10_000)), 10).len() < 100);
        assert_eq!(
            (preview("", 10), preview(" \n ", 10), preview("abc", 0)),
            (String::new(), String::new(), "…".into())
        );
    }

    #[test]
    fn previews_of_commands_have_both_ends() {
        let preview = |text: &str, columns| preview(text, Usage::Command, columns);
        assert_eq!(preview("ls  -l\n rm", 20), "ls  -l⏎ rm");
        let long = format!("echo {}; rm -rf ~", "a".repeat(20_000));
        assert_eq!(preview(&long, 40), "echo aaaaaaaaaaaaaaaaaaa…aaaaa; rm -rf ~");
        assert_eq!(preview(&format!("{}漢字漢字", "x".repeat(30)), 10), "xxxxxx…字");
        assert_eq!(preview(&"\u{1b}".repeat(30), 20), r"\u{1b}\u{1b}…\u{1b}");
    }

    #[test]
    fn quotes_are_not_ended_from_within() {
        assert_eq!(quoted("  a \"b\" \\ c\nYes? ", 100), r#""a \"b\" \\ c⏎Yes?""#);
        assert_eq!(quoted(&"x".repeat(20), 5), "\"xxxxx\"… (15 more characters)");
    }

    proptest::proptest! {
        #[test]
        fn nothing_hostile_is_left(text in "\\PC{0,20}|[\\x00-\\x{ffff}]{0,40}|[a\u{301}\u{200d}\u{fe0f}\u{430}🦀 \n\u{202e}]{0,40}") {
            for usage in [Usage::Prose, Usage::Command] {
                let shown = line(&text, usage);
                proptest::prop_assert!(!shown.contains(crate::is_hostile));
                proptest::prop_assert!(!shown.contains('\n'));
                for columns in [0, 1, 7, 30] {
                    let short = preview(&text, usage, columns);
                    proptest::prop_assert!(columns_of(&short) <= columns.max(1), "{short}");
                    proptest::prop_assert!(!short.contains(crate::is_hostile));
                }
            }
        }
    }
}
