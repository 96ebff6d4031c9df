//! Iterates over a text and decides for each character whether it can be shown as itself.

use unicode_script::{Script, UnicodeScript};

use crate::look_alike::{is_east_asian, is_jamo, is_of_other_alphabet, is_right_to_left, look_alike};
use crate::oddity::{
    MAX_MARKS, Oddity, always, is_invisible, is_mark, is_overlay, is_picture, is_sign, is_space, is_unassigned,
    is_variation_selector,
};

/// Longest word that is judged as a whole, in characters. A longer one counts as several words.
pub const MAX_WORD_CHARS: usize = 256;

/// What stands for something that is no text. Fonts decide what it looks like.
const OBJECT: char = '\u{fffc}';

/// The purpose of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// It is read.
    Prose,
    /// It is executed, opened or approved, so every character matters.
    Command,
}

/// A character of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) c: char,
    /// Why it is not shown as itself. `None` if it is.
    pub(crate) oddity: Option<Oddity>,
}

/// Returns an iterator over the characters of a text.
pub(crate) fn scan(text: &str, usage: Usage) -> Scan<'_> {
    Scan { rest: text, usage, before: None, marks: 0, word_bytes: 0, word: Word::default() }
}

#[derive(Debug, Clone)]
pub(crate) struct Scan<'a> {
    rest: &'a str,
    usage: Usage,
    /// The previous character. `None` if it was not shown as itself.
    before: Option<char>,
    /// Number of marks since the last letter.
    marks: usize,
    /// Bytes that remain of the current word.
    word_bytes: usize,
    word: Word,
}

/// Facts about a word.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    has_ascii_letter: bool,
    /// Whether all of its characters are ASCII or look like ASCII.
    is_ascii_alike: bool,
}

impl Word {
    /// Examines the word at the beginning of a text. Returns its length in bytes too.
    fn of(text: &str) -> (Self, usize) {
        let mut word = Self { has_ascii_letter: false, is_ascii_alike: true };
        let mut bytes = 0;
        for c in text.chars().take(MAX_WORD_CHARS) {
            if !c.is_alphanumeric() && !is_mark(c) && !is_invisible(c) {
                break;
            }
            bytes += c.len_utf8();
            word.has_ascii_letter |= c.is_ascii_alphabetic();
            word.is_ascii_alike &= c.is_ascii() || is_invisible(c) || look_alike(c).is_some();
        }
        (word, bytes)
    }
}

impl Iterator for Scan<'_> {
    type Item = Seen;

    fn next(&mut self) -> Option<Seen> {
        let c = self.rest.chars().next()?;
        if c.is_ascii_graphic() || c == ' ' {
            // Fast path for nearly all characters.
            if !c.is_ascii_alphanumeric() {
                self.word_bytes = 0;
            } else if self.word_bytes == 0 {
                self.look_at_word();
            }
            self.advance(c);
            self.marks = 0;
            self.before = Some(c);
            return Some(Seen { c, oddity: None });
        }
        if self.word_bytes == 0 && c.is_alphanumeric() {
            self.look_at_word();
        }
        let oddity = self.oddity(c);
        self.advance(c);
        if !is_mark(c) {
            self.marks = 0;
        }
        self.before = oddity.is_none().then_some(c);
        Some(Seen { c, oddity })
    }
}

impl Scan<'_> {
    fn advance(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
        self.word_bytes = self.word_bytes.saturating_sub(c.len_utf8());
    }

    fn look_at_word(&mut self) {
        // A word of ASCII characters needs no examination.
        let ascii = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if self.rest.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
            self.word = Word { has_ascii_letter: true, is_ascii_alike: true };
            self.word_bytes = ascii;
        } else {
            (self.word, self.word_bytes) = Word::of(self.rest);
        }
    }

    fn oddity(&mut self, c: char) -> Option<Oddity> {
        if c == '\t' {
            // In prose a tab is as good as a space.
            return (self.usage == Usage::Command).then_some(Oddity::Tab);
        }
        if let Some(oddity) = always(c) {
            return Some(oddity);
        }
        if is_invisible(c) {
            return (!self.belongs(c)).then_some(Oddity::Invisible);
        }
        if is_mark(c) {
            self.marks += 1;
            return self.is_odd_mark(c).then_some(Oddity::Mark);
        }
        let is_command = self.usage == Usage::Command;
        if is_command && is_sign(c) {
            return Some(Oddity::Symbol);
        }
        if is_command && is_space(c) {
            return Some(Oddity::Space);
        }
        if is_command && (is_unassigned(c) || c == OBJECT) {
            return Some(Oddity::Unassigned);
        }
        self.deceives(c).then_some(Oddity::LookAlike)
    }

    /// Returns whether an invisible character has a legitimate use at its place: it selects the glyph of an emoji or an
    /// ideograph, joins emoji, or joins or separates letters of a script whose letters join.
    fn belongs(&self, c: char) -> bool {
        let Some(before) = self.before else { return false };
        let after = self.rest[c.len_utf8()..].chars().next();
        let is_joining = |c: char| c.is_alphabetic() && !is_east_asian(c) && (is_right_to_left(c) || is_indic(c));
        match c {
            '\u{fe0e}' | '\u{fe0f}' => {
                is_picture(before) || (before.is_ascii_digit() || "#*".contains(before)) && after == Some('\u{20e3}')
            }
            c if is_variation_selector(c) => before.script() == Script::Han,
            '\u{200d}' => {
                let joins_pictures = (is_picture(before) || before == '\u{fe0f}') && after.is_some_and(is_picture);
                joins_pictures || (is_joining(before) || is_mark(before)) && after.is_some_and(is_joining)
            }
            '\u{200c}' => (is_joining(before) || is_mark(before) && is_indic(before)) && after.is_some_and(is_joining),
            _ => false,
        }
    }

    fn is_odd_mark(&self, c: char) -> bool {
        let is_keycap = c == '\u{20e3}' && self.before.is_some_and(|c| c == '\u{fe0f}' || c.is_ascii_digit());
        let has_letter = self.before.is_some_and(|c| !c.is_ascii() || c.is_ascii_alphanumeric());
        let is_command = self.usage == Usage::Command;
        !is_keycap && (self.marks > MAX_MARKS || !has_letter || is_command && is_overlay(c))
    }

    /// Returns whether the neighbours of a sign make clear what it is: a part of a drawing next to another part, or a
    /// multiplication sign that is not within a word.
    fn is_drawn(&self, c: char) -> bool {
        let after = self.rest[c.len_utf8()..].chars().next();
        let beside = || [self.before, after].into_iter().flatten();
        match c {
            '\u{d7}' => beside().all(|c| c == ' ' || c.is_ascii_digit()) && beside().count() == 2,
            c => is_box(c) && beside().any(is_box),
        }
    }

    /// Returns whether a character passes for an ASCII character at its place.
    fn deceives(&self, c: char) -> bool {
        let is_command = self.usage == Usage::Command;
        if c.is_alphanumeric() && is_of_other_alphabet(c) {
            // In a command, a word with letters of two alphabets is suspicious as a whole.
            return match self.usage {
                Usage::Command => self.word.has_ascii_letter || self.word.is_ascii_alike,
                Usage::Prose => self.word.has_ascii_letter && look_alike(c).is_some(),
            };
        }
        let beside = |is_meant: fn(char) -> bool| {
            [self.before, self.rest[c.len_utf8()..].chars().next()].into_iter().flatten().any(is_meant)
        };
        if is_command && self.word.has_ascii_letter && is_jamo(c) && !beside(is_east_asian) {
            return true;
        }
        if is_right_to_left(c) {
            // Its words do not look like a word of ASCII, but a letter or a sign among others does.
            let is_at_home = match c.is_alphanumeric() {
                true => !self.word.has_ascii_letter,
                false => beside(is_right_to_left),
            };
            return is_command && !is_at_home && look_alike(c).is_some();
        }
        if is_picture(c) && !is_command {
            return false;
        }
        let after = || self.rest[c.len_utf8()..].chars().find(|c| *c != ' ');
        if is_east_asian(c) || matches!(c, '\u{ff01}'..='\u{ff5e}') {
            // Wide forms are the punctuation of Chinese and Japanese, and a few letters of these languages are simple
            // strokes.
            let is_at_home = self.before.is_some_and(is_east_asian_or_wide) || after().is_some_and(is_east_asian);
            return !is_at_home && (is_command || self.word.has_ascii_letter) && look_alike(c).is_some();
        }
        if c.is_alphanumeric() {
            // Latin letters beyond ASCII, and letters for formulas.
            let is_formula = matches!(c, '\u{2100}'..='\u{218b}' | '\u{1d400}'..='\u{1d7ff}');
            let is_suspect = is_command && self.word.is_ascii_alike || is_formula && self.word.has_ascii_letter;
            return is_suspect && look_alike(c).is_some();
        }
        is_command && !is_large_picture(c) && !self.is_drawn(c) && look_alike(c).is_some()
    }
}

/// Returns whether a character is a picture that is larger than a sign. Bars, quotes and brackets among the ornaments are not.
fn is_large_picture(c: char) -> bool {
    let is_ornament = matches!(c, '\u{2758}'..='\u{275e}');
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1ffff}') && is_picture(c) && !is_ornament
}

/// Returns whether a character is a part of a drawn box.
fn is_box(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{257f}')
}

fn is_east_asian_or_wide(c: char) -> bool {
    is_east_asian(c) || matches!(c, '\u{ff01}'..='\u{ff5e}')
}

/// Returns whether a character belongs to a script of South or South East Asia or to Mongolian. Their letters are joined
/// and separated by invisible characters.
fn is_indic(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{a8e0}'..='\u{a8ff}')
}
