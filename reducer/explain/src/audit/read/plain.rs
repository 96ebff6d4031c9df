//! Splits an answer into sentences and words, and leaves out what is not said: code blocks, block quotes, headings of
//! tables.

use std::ops::Range;

/// Longest sentence that is interpreted, in bytes. A longer one, which no person writes, says nothing.
pub const MAX_SENTENCE_BYTES: usize = 4 << 10;

/// What a word of a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A word or a name.
    Word,
    /// A number, with its sign of percent or its unit.
    Number,
    /// Text between backticks.
    Code,
    /// Text between quotation marks.
    Quote,
    /// A mark of success: a check mark.
    Good,
    /// A mark of failure: a cross, a warning sign.
    Bad,
    /// Punctuation.
    Punctuation,
}

/// A word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub sort: Sort,
    /// Its text, without quotation marks.
    pub text: String,
    /// Its text in lower case.
    pub lower: String,
    /// Where it is in the answer, with quotation marks.
    pub range: Range<usize>,
}

impl Token {
    /// Returns whether it is a word, in lower case.
    pub fn is(&self, word: &str) -> bool {
        self.sort == Sort::Word && self.lower == word
    }

    /// Returns whether it is one of these words, in lower case.
    pub fn is_any(&self, words: &[&str]) -> bool {
        self.sort == Sort::Word && words.contains(&self.lower.as_str())
    }
}

/// A sentence, a point of a list or a row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Where it is in the answer.
    pub range: Range<usize>,
    /// Its words.
    pub tokens: Vec<Token>,
    /// Whether it ends with a question mark.
    pub is_question: bool,
    /// Whether it is a point of a list of tasks that is not checked.
    pub is_open_task: bool,
    /// Whether it is a heading.
    pub is_heading: bool,
    /// Index of the paragraph that it is in.
    pub paragraph: usize,
}

/// Returns whether a character shows nothing and may be left out of words.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e007f}' | '\u{180e}' | '\u{34f}'
    )
}

/// Splits an answer into sentences.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut fence: Option<(u8, usize)> = None;
    let mut paragraph = 0;
    while at < text.len() {
        let start = at;
        let mut line = first_line(&text[at..]);
        at += line.len();
        let trimmed = line.trim();
        if let Some(mark) = fence_of(trimmed) {
            match fence {
                None => fence = Some(mark),
                Some((sign, length)) if mark.0 == sign && mark.1 >= length && trimmed.len() == mark.1 => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if trimmed.is_empty() {
            paragraph += 1;
            continue;
        }
        if trimmed.starts_with('>') {
            continue;
        }
        // A paragraph that was broken into lines goes on with a small letter.
        while !trimmed.starts_with('|') && !trimmed.starts_with('#') && continues(&text[at..]) {
            at += first_line(&text[at..]).len();
        }
        line = &text[start..at];
        line_sentences(line, start, paragraph, &mut found);
    }
    found
}

fn first_line(text: &str) -> &str {
    text.find('\n').map_or(text, |end| &text[..=end])
}

/// Returns whether a line goes on with the sentence of the line before.
fn continues(text: &str) -> bool {
    let line = first_line(text).trim_start();
    let words = line.split_whitespace().take(2).count();
    words > 0 && line.starts_with(|first: char| first.is_lowercase()) && numbered(line).is_none()
}

fn fence_of(line: &str) -> Option<(u8, usize)> {
    let sign = *line.as_bytes().first()?;
    if sign != b'`' && sign != b'~' {
        return None;
    }
    let length = line.bytes().take_while(|byte| *byte == sign).count();
    // A line such as ```` ```x``` ```` is a code span.
    (length >= 3 && !line[length..].contains('`')).then_some((sign, length))
}

fn line_sentences(line: &str, start: usize, paragraph: usize, found: &mut Vec<Sentence>) {
    let mut offset = line.len() - line.trim_start().len();
    let mut rest = &line[offset..];
    let is_title = rest.starts_with('#');
    let mut is_open_task = false;
    // Marks of lists, titles and tasks.
    loop {
        let before = rest.len();
        let hashes = rest.trim_start_matches('#');
        if hashes.len() < rest.len() && hashes.starts_with(' ') {
            rest = hashes.trim_start();
        } else if let Some(tail) = rest
            .strip_prefix("- ")
            .or_else(|| rest.strip_prefix("* "))
            .or_else(|| rest.strip_prefix("• "))
            .or_else(|| rest.strip_prefix("+ "))
        {
            rest = tail.trim_start();
        } else if let Some(tail) = numbered(rest) {
            rest = tail.trim_start();
        } else if let Some(tail) = rest.strip_prefix("[ ] ") {
            is_open_task = true;
            rest = tail;
        }
        offset += before - rest.len();
        if rest.len() == before {
            break;
        }
    }
    let is_table = rest.starts_with('|');
    if is_table && rest.chars().all(|it| matches!(it, '|' | '-' | ':' | ' ' | '\n' | '\r' | '\t')) {
        // The line above it has the names of the columns, and says nothing.
        if found.last().is_some_and(|last: &Sentence| last.range.end <= start && last.paragraph == paragraph) {
            found.pop();
        }
        return;
    }
    let tokens = tokens(rest, start + offset);
    let mut from = 0;
    for index in 0..tokens.len() {
        let is_last = index + 1 == tokens.len();
        let ends = !is_table && ends_sentence(&tokens, index, start, line);
        if ends || is_last {
            let own = &tokens[from..=index];
            from = index + 1;
            let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
            let range = first.range.start..last.range.end;
            if range.len() > MAX_SENTENCE_BYTES || own.iter().all(|token| token.sort == Sort::Punctuation) {
                continue;
            }
            found.push(Sentence {
                range,
                is_question: own.iter().rev().take(3).any(|token| token.sort == Sort::Punctuation && token.text == "?"),
                is_open_task,
                is_heading: is_title && is_last,
                tokens: own.to_vec(),
                paragraph,
            });
        }
    }
}

fn numbered(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    (1..=3).contains(&digits).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))).flatten()
}

/// Abbreviations that do not end a sentence, in lower case.
const ABBREVIATIONS: [&str; 12] = ["e.g", "i.e", "vs", "etc", "cf", "no", "approx", "incl", "resp", "fig", "eq", "al"];

fn ends_sentence(tokens: &[Token], index: usize, start: usize, line: &str) -> bool {
    let token = &tokens[index];
    if token.sort != Sort::Punctuation {
        return false;
    }
    let is_stop = matches!(token.text.as_str(), "." | "!" | "?" | "…");
    if !is_stop {
        return false;
    }
    let Some(next) = tokens.get(index + 1) else { return true };
    if next.sort == Sort::Punctuation && matches!(next.text.as_str(), ")" | "." | "!" | "?" | "\"" | "*") {
        return false;
    }
    let end = token.range.end - start;
    let is_apart =
        line.get(end..).is_some_and(|rest| rest.starts_with(|it: char| it.is_whitespace() || it == '*' || it == '_'));
    if !is_apart {
        return false;
    }
    let before = index.checked_sub(1).map(|before| &tokens[before]);
    let is_short = token.text == "."
        && before.is_some_and(|before| {
            let counts = before.sort == Sort::Number
                && before.text.len() < 3
                && next.sort == Sort::Word
                && next.text.starts_with(char::is_lowercase);
            ABBREVIATIONS.contains(&before.lower.as_str()) || counts
        });
    !is_short
}

/// Signs of success.
const GOOD: [char; 7] = ['✅', '✓', '✔', '☑', '🟢', '🎉', '👍'];

/// Signs of failure.
const BAD: [char; 8] = ['❌', '✗', '✘', '✖', '⚠', '🔴', '🚫', '☒'];

fn tokens(text: &str, start: usize) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    let push = |found: &mut Vec<Token>, sort: Sort, text: String, range: Range<usize>| {
        let lower = text.to_lowercase();
        found.push(Token { sort, text, lower, range: start + range.start..start + range.end });
    };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = first.len_utf8();
        if let Some(end) = hidden(rest) {
            at += end;
        } else if first == '_'
            && (at == 0 || text[..at].ends_with(|it: char| !it.is_alphanumeric() && it != '_'))
            && is_emphasis(rest)
        {
            at += rest.bytes().take_while(|byte| *byte == b'_').count();
        } else if first.is_whitespace() || is_invisible(first) || first == '*' || first == '_' && !is_name_start(rest) {
            at += length;
        } else if first == '`' {
            let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
            let mark = &rest[..ticks];
            match rest[ticks..].find(mark) {
                Some(end) => {
                    push(&mut found, Sort::Code, rest[ticks..ticks + end].trim().to_owned(), at..at + 2 * ticks + end);
                    at += 2 * ticks + end;
                }
                None => at += ticks,
            }
        } else if let Some(close) = closing_quote(first, &text[..at]) {
            match rest[length..].find(close) {
                Some(end) => {
                    push(
                        &mut found,
                        Sort::Quote,
                        rest[length..length + end].to_owned(),
                        at..at + length + end + close.len_utf8(),
                    );
                    at += length + end + close.len_utf8();
                }
                None => at += length,
            }
        } else if let Some(tail) = rest.strip_prefix("[x] ").or_else(|| rest.strip_prefix("[X] ")) {
            push(&mut found, Sort::Good, "[x]".to_owned(), at..at + 3);
            at += rest.len() - tail.len();
        } else if rest.starts_with(":white_check_mark:") || rest.starts_with(":heavy_check_mark:") {
            let length = 18;
            push(&mut found, Sort::Good, rest[..length].to_owned(), at..at + length);
            at += length;
        } else if rest.starts_with(":x:") {
            push(&mut found, Sort::Bad, ":x:".to_owned(), at..at + 3);
            at += 3;
        } else if GOOD.contains(&first) {
            push(&mut found, Sort::Good, first.to_string(), at..at + length);
            at += length;
        } else if BAD.contains(&first) {
            push(&mut found, Sort::Bad, first.to_string(), at..at + length);
            at += length;
        } else if is_word(first)
            || (first == '-' && is_option(&text[..at], rest))
            || (first == '.' && starts_name(&text[..at], &rest[length..]))
        {
            let mut word = String::new();
            let mut end = at;
            for character in rest.chars() {
                if is_invisible(character) {
                    end += character.len_utf8();
                } else if (word.trim_matches('-').is_empty() && matches!(character, '.' | '-'))
                    || is_word(character)
                    || is_inner(character, &text[end..])
                {
                    word.push(if character == '’' { '\'' } else { character });
                    end += character.len_utf8();
                } else {
                    break;
                }
            }
            let marks: &[char] = &['.', ':', ',', '-', '\'', '/', '_'];
            let trimmed = word.trim_end_matches(marks).to_owned();
            let cut = word.len() - trimmed.len();
            let end = if text.is_char_boundary(end - cut.min(end - at)) { end - cut.min(end - at) } else { end };
            let is_number = trimmed.starts_with(|it: char| it.is_ascii_digit())
                && trimmed.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | ',' | '/' | '%'));
            push(&mut found, if is_number { Sort::Number } else { Sort::Word }, trimmed, at..end);
            at = end.max(at + length);
        } else {
            let shown = match first {
                '—' | '–' | '→' => '-',
                other => other,
            };
            push(&mut found, Sort::Punctuation, shown.to_string(), at..at + length);
            at += length;
        }
    }
    found
}

/// Returns the length of what is struck out or a comment, at the beginning of a text.
fn hidden(rest: &str) -> Option<usize> {
    for (open, close) in [("~~", "~~"), ("<!--", "-->")] {
        if let Some(inner) = rest.strip_prefix(open) {
            return inner.find(close).map(|end| open.len() + end + close.len());
        }
    }
    None
}

/// Returns whether `_` marks words that stand out, and is no part of a name.
fn is_emphasis(rest: &str) -> bool {
    let marks = rest.bytes().take_while(|byte| *byte == b'_').count();
    let mark = &rest[..marks];
    let inner = &rest[marks..];
    inner.find(mark).is_some_and(|end| {
        end > 0
            && inner[end + marks..].chars().next().is_none_or(|it| {
                !it.is_alphanumeric()
                    && it != '('
                    && !(it == '.' && inner[end + marks..].chars().nth(1).is_some_and(char::is_alphanumeric))
            })
    })
}

/// Returns whether a hyphen begins an option of a command.
fn is_option(before: &str, rest: &str) -> bool {
    let is_apart = before.chars().next_back().is_some_and(|it| it == ' ');
    let name = rest.trim_start_matches('-');
    is_apart && rest.len() - name.len() <= 2 && name.starts_with(|it: char| it.is_ascii_lowercase())
}

/// Returns whether a full stop begins a name such as `.gitignore` or a path such as `./ci.sh`.
fn starts_name(before: &str, after: &str) -> bool {
    let is_apart = before.chars().next_back().is_none_or(|it| it.is_whitespace() || matches!(it, '(' | '*' | '|'));
    is_apart && after.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/')
}

fn is_name_start(rest: &str) -> bool {
    rest.starts_with("__") || rest[1..].starts_with(|it: char| it.is_alphanumeric())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '/' | '@' | '~' | '$' | '#' | '%')
}

/// Returns whether a character belongs to the word around it.
fn is_inner(character: char, rest: &str) -> bool {
    let mut next = rest.chars().skip(1).skip_while(|it| is_invisible(*it));
    let follows =
        next.next().is_some_and(|it| it.is_alphanumeric() || matches!(it, '_' | '/' | '*' | '%' | '-' | ':' | '.'));
    matches!(character, '.' | '-' | '\'' | '’' | ':' | ',' | '+' | '*' | '\\' | '=' | '@') && follows && {
        // A comma or colon is part of a number or a place only.
        match character {
            '*' => rest.trim_start_matches('*').starts_with(|it: char| it.is_alphanumeric() || matches!(it, '/' | '.')),
            ',' => rest[1..].starts_with(|it: char| it.is_ascii_digit()),
            ':' => rest[1..].starts_with(|it: char| it.is_ascii_digit() || it == ':' || it == '/'),
            _ => true,
        }
    }
}

fn closing_quote(open: char, before: &str) -> Option<char> {
    let is_start =
        before.chars().next_back().is_none_or(|it| it.is_whitespace() || matches!(it, '(' | '[' | ':' | '=' | '*'));
    match open {
        '"' => Some('"'),
        '“' | '„' => Some('”'),
        '«' => Some('»'),
        '\'' if is_start => Some('\''),
        '‘' if is_start => Some('’'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let words =
            |sentence: &Sentence| sentence.tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>().join(" ");
        sentences(text).iter().map(words).collect()
    }

    #[test]
    fn sentences_are_told_apart() {
        assert_eq!(
            split("All 14 tests pass. The linter, e.g. ruff, is v1.2."),
            ["All 14 tests pass .", "The linter , e.g . ruff , is v1.2 ."]
        );
        assert_eq!(split("- one\n- two `a. b`\n\n3. three"), ["one", "two a. b", "three"]);
        assert_eq!(split("| check | state |\n|---|---|\n| tests | ok |"), ["| tests | ok |"]);
        assert_eq!(split("a/b.rs:12 says **no**"), ["a/b.rs:12 says no"]);
    }

    #[test]
    fn what_is_not_said_is_left_out() {
        assert_eq!(split("```\ntests pass\n```\n> tests pass\nok"), ["ok"]);
        assert_eq!(split("~~~sh\n```\ntests pass\n~~~\nok"), ["ok"]);
        assert!(sentences(&format!("{} pass", "tests ".repeat(2000))).is_empty());
    }

    #[test]
    fn invisible_characters_do_not_split_words() {
        assert_eq!(split("te\u{200b}sts pa\u{ad}ss"), ["tests pass"]);
    }

    #[test]
    fn marks_and_quotations_are_known() {
        let sorts = |text: &str| sentences(text)[0].tokens.iter().map(|token| token.sort).collect::<Vec<_>>();
        assert_eq!(sorts("✅ ok"), [Sort::Good, Sort::Word]);
        assert_eq!(sorts("[x] ok"), [Sort::Good, Sort::Word]);
        assert_eq!(
            sorts("says \"all pass\" 3 1,832 89.6%"),
            [Sort::Word, Sort::Quote, Sort::Number, Sort::Number, Sort::Number]
        );
        assert!(sentences("[ ] run tests")[0].is_open_task && sentences("Do tests pass?")[0].is_question);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_within_its_bounds(text in "\\PC{0,200}") {
            for sentence in sentences(&text) {
                proptest::prop_assert!(text.get(sentence.range.clone()).is_some());
                for token in &sentence.tokens {
                    proptest::prop_assert!(text.get(token.range.clone()).is_some());
                }
            }
        }
    }
}
